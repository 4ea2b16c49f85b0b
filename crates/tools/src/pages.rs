//! `search` and `lookup`: tools that find a page by its title and read on in it.
//!
//! `search` answers with the first sentences of the page, or with the most similar titles; `lookup` with the next
//! sentence of that page that contains a text, as `(Result 1 / 3) ...`. Pages come from a [`PageSource`]: a folder of
//! documents ([`Collection`]) or a MediaWiki server ([`Wiki`]). The [`Dialect`] defines the wording of the answers
//! and what counts as a sentence: ours, or that of a published agent, including its quirks. The state between two
//! calls, the page and the position in it, is in a [`Reader`], one for each run.

mod collection;
mod dialect;
mod escapes;
mod reader;
mod search_tools;
mod sentences;
mod wiki;

use thiserror::Error;

use crate::BoxFuture;

pub use collection::{
    BYTES_MAX, Collection, CollectionError, DEPTH_MAX, DOCUMENT_BYTES_MAX, DOCUMENTS_MAX, QUERY_STEPS_MAX,
    QUERY_WORDS_MAX, REDIRECTS_MAX,
};
pub use dialect::{Dialect, SENTENCES_MAX, Style};
pub use escapes::{NotPython, unescaped};
pub use reader::{Observation, Reader};
pub use search_tools::{OBSERVATION_CHARACTERS_MAX, SearchTools, TITLE_BYTES_MAX};
pub use wiki::{ANSWER_BYTES_MAX, ATTEMPTS_MAX, RETRY_AFTER_MAX, Wiki, WikiError};

/// Most titles that are offered instead of a missing page.
pub const SIMILAR_MAX: usize = 5;

/// A source's result for a title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageLookup {
    /// The page with that title, or the target of its redirect.
    Page {
        title: String,
        /// Its text, without markup; paragraphs are lines.
        text: String,
    },
    /// The title is that of several pages.
    Ambiguous {
        /// Their titles, [`SIMILAR_MAX`] at most.
        titles: Vec<String>,
    },
    /// There is no such page.
    Missing {
        /// The most similar titles, the best first, [`SIMILAR_MAX`] at most.
        similar: Vec<String>,
    },
}

/// Why a source of pages is unavailable. The agent is informed, and its run continues.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct SourceFailure(pub String);

/// Where pages come from. One source serves any number of runs at the same time.
pub trait PageSource: Send + Sync {
    /// A noun phrase for the description of the tools: "a wiki", "a collection of 12 documents".
    fn description(&self) -> String;

    /// The result for a title. Any text is searched literally: no character has a special meaning.
    ///
    /// # Errors
    /// The source is unavailable, or a limit of its own was reached.
    fn find<'a>(&'a self, title: &'a str) -> BoxFuture<'a, Result<PageLookup, SourceFailure>>;
}
