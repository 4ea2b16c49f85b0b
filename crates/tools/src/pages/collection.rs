//! A folder of documents, searched with SQLite's full-text index.
//!
//! The index is made anew whenever the collection is opened, in a private temporary database of SQLite: it cannot be
//! stale, nothing is written beside the documents, and a large one is on disk instead of in memory. Only constant
//! statements are executed, whatever an agent writes is a bound parameter, and once the index is made the database
//! takes no more changes.

mod dump;
mod files;
mod wikitext;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};
use thiserror::Error;

use super::reader::folded;
use super::{Found, PageSource, SIMILAR_MAX, SourceFailure};
use crate::BoxFuture;
use files::{Document, Item};

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
/// Most words of a title that similar titles are looked for with; the rest is passed over.
pub const QUERY_WORDS_MAX: usize = 32;
/// Most steps of SQLite's virtual machine for a list of similar titles. What has been found by then is the list.
pub const QUERY_STEPS_MAX: u64 = 50_000_000;

/// How many steps pass between two looks at the count.
const STEPS_BETWEEN: i32 = 10_000;
/// Kibibytes of the database that are kept in memory.
const CACHE_KIBIBYTES: i64 = 64 << 10;
/// Documents that are ranked for a list of similar titles; several may share one.
const RANKED_MAX: u32 = 50;

/// The index without content keeps no text: that is in the table.
const TABLES: &str = "
    CREATE TABLE document (id INTEGER PRIMARY KEY, title TEXT NOT NULL, folded TEXT NOT NULL, text TEXT NOT NULL);
    CREATE TABLE redirect (folded TEXT PRIMARY KEY, title TEXT NOT NULL) WITHOUT ROWID;
    CREATE VIRTUAL TABLE entry USING fts5 (title, text, content = '', tokenize = 'unicode61 remove_diacritics 2');";
/// Made last, which is faster than keeping them up to date.
const INDEXES: &str = "
    CREATE INDEX document_title ON document (title);
    CREATE INDEX document_folded ON document (folded);";
/// A word in the title counts as much as ten in the text. Only the best are joined, so that no others are read.
const SIMILAR: &str = "
    SELECT document.title
    FROM (SELECT rowid AS id, bm25(entry, 10.0, 1.0) AS score FROM entry WHERE entry MATCH ?1
          ORDER BY score, id LIMIT ?2) AS best
    JOIN document ON document.id = best.id
    ORDER BY best.score, best.id";

/// Why a folder cannot be used as a collection.
#[derive(Debug, Error)]
pub enum CollectionError {
    /// Nothing is there, or no folder.
    #[error("{} is no folder: give one that holds .txt, .md, .jsonl or .xml files, or a .jsonl or .xml file", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// A file or folder cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The operating system's word.
        source: std::io::Error,
    },
    /// It holds no documents.
    #[error("{} holds no documents: they are .txt, .md, .jsonl and .xml files", path.display())]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// A document is none.
    #[error("{}{}: {what}", path.display(), line.map(|line| format!(", line {line}")).unwrap_or_default())]
    Document {
        /// The file.
        path: PathBuf,
        /// The line of a `.jsonl` file, from 1.
        line: Option<u64>,
        /// What is wrong.
        what: String,
    },
    /// A limit was reached.
    #[error("{} is too large: {what}", path.display())]
    TooLarge {
        /// The folder.
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
    index: Mutex<Connection>,
    /// Steps that the statement under way has taken.
    steps: Arc<AtomicU64>,
    documents: u32,
}

impl Collection {
    /// Reads all documents of a folder and of those in it, and makes the index. Hidden files and folders and links to
    /// folders are passed over, and so is every file whose name does not end in one of these:
    ///
    /// - `.txt`: a document. Its title is the file's name, with blanks for underscores.
    /// - `.md`: the same; if the first line is a heading (`# ...`), that is the title.
    /// - `.jsonl`: a document a line, an object with the texts `title` and `text`; other fields are passed over.
    /// - `.xml`: the dump of a MediaWiki server, of which the pages of the main namespace are documents, as plain text
    ///   without templates and tables; a redirect leads to its page.
    ///
    /// One file of the last two kinds can be named instead of a folder.
    ///
    /// Documents of the same title are one page, in the order in which they are read: by path, then by line. Takes time
    /// in proportion to the text, in seconds for 100 MB; gives up soon after `stop` is set.
    ///
    /// # Errors
    /// There is no such folder, it holds no documents or something that is none, or a limit is reached.
    pub fn open(folder: &Path, stop: &AtomicBool) -> Result<Self, CollectionError> {
        let files = files::list(folder, stop)?;
        // An empty name is a temporary database of this connection alone, which spills to disk.
        let mut index = Connection::open("")?;
        index.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
        index.pragma_update(None, "cache_size", -CACHE_KIBIBYTES)?;
        index.execute_batch(TABLES)?;
        let (mut documents, mut bytes) = (0u32, 0u64);
        let transaction = index.transaction()?;
        {
            let mut into_table = transaction
                .prepare("INSERT INTO document (id, title, folded, text) VALUES (?1, ?2, ?3, ?4)")?;
            let mut into_entry =
                transaction.prepare("INSERT INTO entry (rowid, title, text) VALUES (?1, ?2, ?3)")?;
            let mut into_redirect =
                transaction.prepare("INSERT OR IGNORE INTO redirect (folded, title) VALUES (?1, ?2)")?;
            let mut redirects = 0;
            files::read(&files, stop, |item| {
                let too_large = |what| CollectionError::TooLarge { path: folder.to_owned(), what };
                let Document { title, text } = match item {
                    Item::Document(document) => document,
                    Item::Redirect { from, to } => {
                        redirects += 1;
                        if redirects > REDIRECTS_MAX {
                            return Err(too_large(format!("it holds more than {REDIRECTS_MAX} redirects")));
                        }
                        into_redirect.execute(params![title_key(&from), to])?;
                        return Ok(());
                    }
                };
                documents += 1;
                bytes += (title.len() + text.len()) as u64;
                if documents > DOCUMENTS_MAX {
                    return Err(too_large(format!("it holds more than {DOCUMENTS_MAX} documents")));
                }
                if bytes > BYTES_MAX {
                    return Err(too_large(format!("its documents have more than {} GiB", BYTES_MAX >> 30)));
                }
                into_table.execute(params![documents, title, title_key(&title), text])?;
                into_entry.execute(params![documents, title, text])?;
                Ok(())
            })?;
        }
        transaction.commit()?;
        if documents == 0 {
            return Err(CollectionError::Empty { path: folder.to_owned() });
        }
        index.execute_batch(INDEXES)?;
        refuse_large_pages(&index, folder)?;
        index.execute_batch("PRAGMA query_only = ON;")?;
        let steps = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&steps);
        index.progress_handler(
            STEPS_BETWEEN,
            Some(move || {
                let between = u64::from(STEPS_BETWEEN.unsigned_abs());
                counted.fetch_add(between, Ordering::Relaxed) + between > QUERY_STEPS_MAX
            }),
        )?;
        Ok(Self { inner: Arc::new(Inner { index: Mutex::new(index), steps, documents }) })
    }

    /// How many documents it holds.
    pub fn documents(&self) -> u32 {
        self.inner.documents
    }

    /// The page of that title: first as it is written, then whatever its case and blanks; else the titles that share
    /// most words with it or whose documents do. Takes milliseconds, during which other searches wait.
    ///
    /// # Errors
    /// SQLite cannot read its temporary database.
    pub fn look_for(&self, title: &str) -> Result<Found, SourceFailure> {
        let index = self.inner.index.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.inner.look_for(&index, title);
        found.map_err(|error| SourceFailure(format!("the documents cannot be searched: {error}")))
    }
}

impl Inner {
    fn look_for(&self, index: &Connection, wanted: &str) -> rusqlite::Result<Found> {
        self.steps.store(0, Ordering::Relaxed);
        let mut texts = index.prepare_cached("SELECT text FROM document WHERE title = ?1 ORDER BY id")?;
        let mut text_of = |title: &str| -> rusqlite::Result<Option<String>> {
            let texts = texts.query_map([title], |row| row.get::<_, String>(0))?;
            let texts = texts.collect::<rusqlite::Result<Vec<_>>>()?;
            Ok((!texts.is_empty()).then(|| texts.join("\n")))
        };
        if let Some(text) = text_of(wanted)? {
            return Ok(Found::Page { title: wanted.to_owned(), text });
        }
        let mut titles =
            index.prepare_cached("SELECT title FROM document WHERE folded = ?1 ORDER BY id LIMIT 1")?;
        let title: Option<String> = titles.query_row([title_key(wanted)], |row| row.get(0)).optional()?;
        if let Some(title) = title
            && let Some(text) = text_of(&title)?
        {
            return Ok(Found::Page { title, text });
        }
        let mut redirects = index.prepare_cached("SELECT title FROM redirect WHERE folded = ?1")?;
        let title: Option<String> = redirects.query_row([title_key(wanted)], |row| row.get(0)).optional()?;
        if let Some(title) = title
            && let Some(text) = text_of(&title)?
        {
            return Ok(Found::Page { title, text });
        }
        Ok(Found::Missing { similar: self.similar(index, wanted)? })
    }

    /// Titles with all the words first, then the best of those documents that have any.
    fn similar(&self, index: &Connection, wanted: &str) -> rusqlite::Result<Vec<String>> {
        let words = query_words(wanted);
        let mut similar: Vec<String> = Vec::new();
        if words.is_empty() {
            return Ok(similar);
        }
        let mut statement = index.prepare_cached(SIMILAR)?;
        for query in [format!("title : ({})", words.join(" AND ")), words.join(" OR ")] {
            self.steps.store(0, Ordering::Relaxed);
            let mut rows = statement.query(params![query, RANKED_MAX])?;
            while similar.len() < SIMILAR_MAX {
                match rows.next() {
                    Ok(Some(row)) => {
                        let title: String = row.get(0)?;
                        if !similar.contains(&title) {
                            similar.push(title);
                        }
                    }
                    Ok(None) => break,
                    Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => break,
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(similar)
    }
}

impl PageSource for Collection {
    fn description(&self) -> String {
        match self.inner.documents {
            1 => "a collection of 1 document".to_owned(),
            count => format!("a collection of {count} documents"),
        }
    }

    fn find<'a>(&'a self, title: &'a str) -> BoxFuture<'a, Result<Found, SourceFailure>> {
        let (collection, title) = (self.clone(), title.to_owned());
        Box::pin(async move {
            let found = tokio::task::spawn_blocking(move || collection.look_for(&title)).await;
            found.unwrap_or_else(|error| Err(SourceFailure(format!("the search broke off: {error}"))))
        })
    }
}

/// Documents that share a title are read together, so together they must not be too large.
fn refuse_large_pages(index: &Connection, folder: &Path) -> Result<(), CollectionError> {
    let sql = "SELECT title FROM document GROUP BY title HAVING sum(octet_length(text)) > ?1 LIMIT 1";
    let title: Option<String> = index.query_row(sql, [DOCUMENT_BYTES_MAX], |row| row.get(0)).optional()?;
    match title {
        None => Ok(()),
        Some(title) => Err(CollectionError::TooLarge {
            path: folder.to_owned(),
            what: format!(
                "the documents with the title {title:?} have more than {DOCUMENT_BYTES_MAX} bytes together"
            ),
        }),
    }
}

/// A title without differences of case, blanks and underscores.
fn title_key(title: &str) -> String {
    folded(&title.replace('_', " "))
}

/// The words of a title, each as a string of FTS5's query language, in which only the quote has a meaning. What holds
/// neither letter nor digit is no word. A NUL would end the query, so it separates words.
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
