//! What a writer is given of a run: its start, and its end with the lessons from it.

use planproof_trace::Header;

/// Which run to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunStart<'a> {
    /// The campaign's full id.
    pub campaign: &'a str,
    /// The case's place in the campaign, from 0.
    pub ordinal: u32,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
    /// The header of its trace.
    pub header: &'a Header,
}

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finish<'a> {
    /// Whether the agent passed; `None` if the run could not be scored.
    pub passed: Option<bool>,
    /// The class of its failure.
    pub class: Option<&'a str>,
    /// The verdict, as JSON; stored unchanged.
    pub verdict: &'a str,
    /// How long the run took, in milliseconds.
    pub wall_ms: u64,
    /// Further data from which figures are computed, as JSON; stored unchanged. See [`Store::run_summaries`].
    ///
    /// [`Store::run_summaries`]: crate::Store::run_summaries
    pub summary: Option<&'a str>,
    /// The lessons from the run; stored in the same transaction as its end.
    pub lessons: &'a [NewLesson],
}

/// A lesson that a run teaches as it finishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLesson {
    /// Who may recall it; the store does not interpret this word.
    pub kept_as: String,
    /// The tool that it is about; `None` if it is about a whole run.
    pub tool: Option<String>,
    /// The words by which it can be found.
    pub about: String,
    pub text: String,
}
