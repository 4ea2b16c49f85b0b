//! A folder of documents, searched with SQLite's full-text index.
//!
//! The index is built anew whenever the collection is opened, in private temporary databases of SQLite: it cannot be
//! stale, nothing is written beside the documents, and a large one is on disk instead of in memory. Only constant
//! statements are executed, an agent's text is always a bound parameter, and once the index is built the databases
//! accept no changes.
//!
//! # Module layout
//!
//! The search is here, the building of the databases in `collection/indexing.rs`, the documents of files in
//! `collection/files.rs`, dumps of MediaWiki in `collection/dump.rs`, and their markup in `collection/wikitext.rs`.

mod dump;
mod files;
mod indexing;
mod wikitext;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};
use thiserror::Error;

use super::reader::folded;
use super::{PageLookup, PageSource, SIMILAR_MAX, SourceFailure};
use crate::BoxFuture;
use indexing::Databases;

/// Most documents of a collection. A million short ones is what it is made for.
pub const DOCUMENTS_MAX: u32 = 2_000_000;
/// Most titles that lead to others.
pub const REDIRECTS_MAX: u32 = 20_000_000;
/// Most bytes of all documents together.
pub const BYTES_MAX: u64 = 4 << 30;
/// Most bytes of one document, and of all that share a title.
pub const DOCUMENT_BYTES_MAX: u32 = 4 << 20;
/// Deepest nesting of folders.
pub const DEPTH_MAX: usize = 32;
/// Most words of a title in a search for similar titles; the rest is ignored.
pub const QUERY_WORDS_MAX: usize = 32;
/// Most steps of SQLite's virtual machine for a list of similar titles. The list then consists of the results so far.
pub const QUERY_STEPS_MAX: u64 = 50_000_000;

/// Number of steps between two checks of the count.
const STEPS_BETWEEN: i32 = 10_000;
/// Documents that are ranked for a list of similar titles; several may share one.
const RANKED_MAX: u32 = 50;

/// A word in the title counts ten times as much as one in the text.
const BEST: &str = "
    SELECT rowid, bm25(entry, 10.0, 1.0) AS score FROM entry WHERE entry MATCH ?1 ORDER BY score, rowid LIMIT ?2";

/// Why a folder cannot be used as a collection.
#[derive(Debug, Error)]
pub enum CollectionError {
    /// Nothing is there, or no folder.
    #[error("{} is not a folder: give one that holds .txt, .md, .jsonl or .xml files, or a .jsonl or .xml file", path.display())]
    NotAFolder { path: PathBuf },
    /// A file or folder cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        /// The operating system's word.
        source: std::io::Error,
    },
    /// A link leads to a file outside of the folder.
    #[error(
        "{} leads to a file outside of {}, which an agent could then read: put a copy there instead of the link",
        path.display(),
        folder.display()
    )]
    LinkOut {
        path: PathBuf,
        /// The folder of the documents.
        folder: PathBuf,
    },
    /// It holds no documents.
    #[error("{} holds no documents: they are .txt, .md, .jsonl and .xml files", path.display())]
    Empty { path: PathBuf },
    /// A document is none.
    #[error("{}{}: {what}", path.display(), line.map(|line| format!(", line {line}")).unwrap_or_default())]
    Document {
        path: PathBuf,
        /// The line of a `.jsonl` file, from 1.
        line: Option<u64>,
        what: String,
    },
    /// A limit was reached.
    #[error("{} is too large: {what}", path.display())]
    TooLarge {
        path: PathBuf,
        /// Which limit, in words.
        what: String,
    },
    /// Nobody waits for it any more.
    #[error("the indexing was given up")]
    GivenUp,
    /// SQLite cannot make the index.
    #[error("the index cannot be made: {0}")]
    Index(#[from] rusqlite::Error),
}

impl CollectionError {
    /// Whether the user has to mend the command line or the documents.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::Index(_) | Self::GivenUp)
    }
}

/// A folder of documents. Cloning is cheap, and the clones are the same collection.
#[derive(Debug, Clone)]
pub struct Collection {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    databases: Mutex<Databases>,
    /// Steps of the current statement so far.
    steps: Arc<AtomicU64>,
    documents: u32,
}

impl Collection {
    /// Reads all documents of a folder and its subfolders, and builds the index. Hidden files and folders and links
    /// to folders are ignored, and so is every file whose name does not end in one of these:
    ///
    /// - `.txt`: a document. Its title is the file's name, with blanks for underscores.
    /// - `.md`: the same; if the first line is a heading (`# ...`), that is the title.
    /// - `.jsonl`: a document per line, an object with the texts `title` and `text`; other fields are ignored.
    /// - `.xml`: the dump of a MediaWiki server, with the pages of the main namespace as documents, as plain text
    ///   without templates and tables; a redirect leads to its page.
    ///
    /// One file of the last two kinds can be named instead of a folder.
    ///
    /// Documents with the same title are one page, in reading order: by path, then by line. Takes time in proportion
    /// to the text, in seconds for 100 MB, on three threads that wait for each other; gives up soon after `stop` is
    /// set.
    ///
    /// # Errors
    /// There is no such folder, it contains no documents or an invalid one, or a limit is reached.
    pub fn open(folder: &Path, stop: &AtomicBool) -> Result<Self, CollectionError> {
        let files = files::list(folder, stop)?;
        let (databases, documents) = indexing::index(&files, folder, stop)?;
        // Steps are counted from here on, because building takes more of them than a search may.
        let steps = Arc::new(AtomicU64::new(0));
        for database in [&databases.texts, &databases.words] {
            let counted = Arc::clone(&steps);
            database.execute_batch("PRAGMA query_only = ON;")?;
            database.progress_handler(
                STEPS_BETWEEN,
                Some(move || {
                    let between = u64::from(STEPS_BETWEEN.unsigned_abs());
                    counted.fetch_add(between, Ordering::Relaxed) + between > QUERY_STEPS_MAX
                }),
            )?;
        }
        Ok(Self { inner: Arc::new(Inner { databases: Mutex::new(databases), steps, documents }) })
    }

    /// How many documents it holds.
    pub fn documents(&self) -> u32 {
        self.inner.documents
    }

    /// The page with that title: first as written, then ignoring case and blanks; else the titles that share most
    /// words with it or whose documents do. Takes milliseconds, during which other searches wait.
    ///
    /// # Errors
    /// SQLite cannot read its temporary database.
    pub fn look_for(&self, title: &str) -> Result<PageLookup, SourceFailure> {
        let databases = self.inner.databases.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.inner.look_for(&databases, title);
        found.map_err(|error| SourceFailure(format!("the documents cannot be searched: {error}")))
    }
}

impl Inner {
    fn look_for(&self, databases: &Databases, wanted: &str) -> rusqlite::Result<PageLookup> {
        self.steps.store(0, Ordering::Relaxed);
        let index = &databases.texts;
        let mut texts = index.prepare_cached("SELECT text FROM document WHERE title = ?1 ORDER BY id")?;
        let mut text_of = |title: &str| -> rusqlite::Result<Option<String>> {
            let texts = texts.query_map([title], |row| row.get::<_, String>(0))?;
            let texts = texts.collect::<rusqlite::Result<Vec<_>>>()?;
            Ok((!texts.is_empty()).then(|| texts.join("\n")))
        };
        if let Some(text) = text_of(wanted)? {
            return Ok(PageLookup::Page { title: wanted.to_owned(), text });
        }
        let mut titles =
            index.prepare_cached("SELECT title FROM document WHERE folded = ?1 ORDER BY id LIMIT 1")?;
        let title: Option<String> = titles.query_row([title_key(wanted)], |row| row.get(0)).optional()?;
        if let Some(title) = title
            && let Some(text) = text_of(&title)?
        {
            return Ok(PageLookup::Page { title, text });
        }
        // Redirects come last, so that none of them hides a page with that title.
        let mut redirects = index.prepare_cached("SELECT title FROM redirect WHERE folded = ?1")?;
        let title: Option<String> = redirects.query_row([title_key(wanted)], |row| row.get(0)).optional()?;
        if let Some(title) = title
            && let Some(text) = text_of(&title)?
        {
            return Ok(PageLookup::Page { title, text });
        }
        Ok(PageLookup::Missing { similar: self.similar(databases, wanted)? })
    }

    /// Titles with all the words first, then the best of the documents with any of them.
    fn similar(&self, databases: &Databases, wanted: &str) -> rusqlite::Result<Vec<String>> {
        let words = query_words(wanted);
        let mut similar: Vec<String> = Vec::new();
        if words.is_empty() {
            return Ok(similar);
        }
        let mut titles = databases.texts.prepare_cached("SELECT title FROM document WHERE id = ?1")?;
        for query in [format!("title : ({})", words.join(" AND ")), words.join(" OR ")] {
            if similar.len() >= SIMILAR_MAX {
                break;
            }
            for document in self.best(&databases.words, &query)? {
                let title: String = titles.query_row([document], |row| row.get(0))?;
                if similar.len() < SIMILAR_MAX && !similar.contains(&title) {
                    similar.push(title);
                }
            }
        }
        Ok(similar)
    }

    /// The best matches of a full-text query, as far as they are found within the limit of steps.
    fn best(&self, words: &Connection, query: &str) -> rusqlite::Result<Vec<i64>> {
        self.steps.store(0, Ordering::Relaxed);
        let mut statement = words.prepare_cached(BEST)?;
        let mut rows = statement.query(params![query, RANKED_MAX])?;
        let mut found = Vec::new();
        loop {
            match rows.next() {
                Ok(Some(row)) => found.push(row.get(0)?),
                Ok(None) => break,
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => break,
                Err(error) => return Err(error),
            }
        }
        // The caller's next statement needs steps of its own, even if this one has used up all.
        drop(rows);
        self.steps.store(0, Ordering::Relaxed);
        Ok(found)
    }
}

impl PageSource for Collection {
    fn description(&self) -> String {
        match self.inner.documents {
            1 => "a collection of 1 document".to_owned(),
            count => format!("a collection of {count} documents"),
        }
    }

    fn find<'a>(&'a self, title: &'a str) -> BoxFuture<'a, Result<PageLookup, SourceFailure>> {
        let (collection, title) = (self.clone(), title.to_owned());
        Box::pin(async move {
            let found = tokio::task::spawn_blocking(move || collection.look_for(&title)).await;
            found.unwrap_or_else(|error| Err(SourceFailure(format!("the search broke off: {error}"))))
        })
    }
}

/// A title normalised for case, blanks and underscores.
fn title_key(title: &str) -> String {
    folded(&title.replace('_', " "))
}

/// The words of a title, each as a string of FTS5's query language, in which only the quote has a meaning. A text
/// without letters and digits is not a word. A NUL would end the query, so it separates words.
fn query_words(title: &str) -> Vec<String> {
    let words = title.split(|c: char| c.is_whitespace() || c.is_control());
    let words = words.filter(|word| word.chars().any(char::is_alphanumeric));
    words.take(QUERY_WORDS_MAX).map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_query_are_strings() {
        assert_eq!(query_words("a \"b\" AND c*"), ["\"a\"", "\"\"\"b\"\"\"", "\"AND\"", "\"c*\""]);
        assert_eq!(query_words("x\0y - !!! \u{1f600}"), ["\"x\"", "\"y\""]);
        assert_eq!(query_words(&"w ".repeat(100)).len(), QUERY_WORDS_MAX);
    }
}
