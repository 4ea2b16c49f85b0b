//! The `search` and `lookup` that ours imitate.

/// Most sentences that can be asked for as the beginning of a page.
pub const SENTENCES_MAX: usize = 100;

/// How pages are split and answers are worded.
///
/// | | `Own` | `React` | `Ibm` |
/// |---|---|---|---|
/// | what is read of a page | all but headings | lines of more than 2 words | up to the first heading |
/// | a sentence ends | at `.`, `!` or `?`, but not after initials and titles such as `Dr.` | at `. ` | at `. ` |
/// | sentences that `search` shows | 5 | 5 | 2 |
/// | each sentence | as it stands | with one more `.`, so the last one of a line has two | in `search` with one more `.` |
/// | `lookup` heeds case | no | no, but another case begins anew | yes |
/// | an empty `lookup` | is a mistake | finds every sentence | finds every sentence |
/// | `lookup` before `search` | is a mistake | `No more results.` | a sentence that says so |
/// | after another `search` | `lookup` begins anew | begins anew | the same text goes on at result 2 of the old page |
/// | a title of several pages | their titles | the title in square brackets is searched | as a missing page |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// ReAct's without its quirks.
    #[default]
    Own,
    /// The environment published with ReAct (arXiv 2210.03629), with its round trip through backslash escapes
    /// ([`unescaped`](super::unescaped)). A line for which that fails, such as one with a lone backslash at its end,
    /// is left unchanged.
    React,
    /// The tools published with "Formally Specifying the High-Level Behavior of LLM-Based Agents" (arXiv 2310.08535).
    Ibm,
}

impl Dialect {
    /// The dialect with that name in names of tools: `react` or `ibm`.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "react" => Some(Self::React),
            "ibm" => Some(Self::Ibm),
            _ => None,
        }
    }
}

/// A dialect, and how much `search` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    pub dialect: Dialect,
    /// How many sentences of a page `search` shows, from 1 to [`SENTENCES_MAX`].
    pub sentences: usize,
}

impl Style {
    /// The style of a dialect as published: 5 sentences, or 2.
    pub fn new(dialect: Dialect) -> Self {
        let sentences = match dialect {
            Dialect::Own | Dialect::React => 5,
            Dialect::Ibm => 2,
        };
        Self { dialect, sentences }
    }
}

impl Default for Style {
    fn default() -> Self {
        Self::new(Dialect::default())
    }
}
