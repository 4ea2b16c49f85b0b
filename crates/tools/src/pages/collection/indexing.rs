//! Building the databases of a collection.
//!
//! Reading files, storing texts and indexing their words run on a thread each, because each takes a good part of the
//! time and none needs the results of the others. Therefore texts and words are in two databases.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::files::{self, Document, Item};
use super::{BYTES_MAX, CollectionError, DOCUMENT_BYTES_MAX, DOCUMENTS_MAX, REDIRECTS_MAX, title_key};

/// Memory cache of each database, in kibibytes.
const CACHE_KIBIBYTES: i64 = 32 << 10;
/// Bytes of words that SQLite collects before it writes a part of the index. Fewer parts are merged less often.
const COLLECTED_BYTES: u32 = 48 << 20;
/// Bytes of documents that are sent to another thread together.
const BATCH_BYTES: usize = 256 << 10;
/// Batches that may wait for a thread.
const BATCHES_MAX: usize = 8;

/// With larger pages than usual, texts are in fewer pieces.
const PRAGMAS: &str = "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;";
const TEXTS: &str = "
    CREATE TABLE document (id INTEGER PRIMARY KEY, title TEXT NOT NULL, folded TEXT NOT NULL, text TEXT NOT NULL);
    CREATE TABLE redirect (folded TEXT PRIMARY KEY, title TEXT NOT NULL) WITHOUT ROWID;";
/// Created last, which is faster than updating them.
const TITLES: &str = "
    CREATE INDEX document_title ON document (title);
    CREATE INDEX document_folded ON document (folded);";
/// The index keeps no text: that is in the other database.
const WORDS: &str = "
    CREATE VIRTUAL TABLE entry USING fts5 (title, text, content = '', tokenize = 'unicode61 remove_diacritics 2');";

type Result<T> = std::result::Result<T, CollectionError>;

/// A document with its number, from 1.
type Numbered = (u32, Document);

/// The databases of a collection.
#[derive(Debug)]
pub(super) struct Databases {
    /// Titles and texts, and titles that redirect to others.
    pub(super) texts: Connection,
    pub(super) words: Connection,
}

/// Builds the databases of the documents and redirects in these files of a folder, and returns the number of
/// documents.
pub(super) fn index(files: &[PathBuf], folder: &Path, stop: &AtomicBool) -> Result<(Databases, u32)> {
    let (mut texts, mut words) = (temporary()?, temporary()?);
    let stored = thread::scope(|scope| {
        let (to_texts, read) = sync_channel(BATCHES_MAX);
        let (to_words, numbered) = sync_channel(BATCHES_MAX);
        scope.spawn(move || read_batches(files, stop, &to_texts));
        let into_words = &mut words;
        let indexing = scope.spawn(move || index_words(into_words, &numbered));
        let stored = store(&mut texts, folder, &read, to_words);
        // A thread that can no longer send ends.
        drop(read);
        let indexed = indexing.join().unwrap_or_else(|panic| resume_unwind(panic));
        // An error of the other thread comes first, because storing
        // ends early, without an error, if that thread has ended.
        indexed.map_err(CollectionError::from).and(stored)
    })?;
    Ok((Databases { texts, words }, stored))
}

fn temporary() -> rusqlite::Result<Connection> {
    // An empty name is a temporary database of this connection alone, which spills to disk.
    let database = Connection::open("")?;
    database.execute_batch(PRAGMAS)?;
    database.pragma_update(None, "cache_size", -CACHE_KIBIBYTES)?;
    Ok(database)
}

/// Reads all files, and sends their contents, in order; finally the error, if there was one.
fn read_batches(files: &[PathBuf], stop: &AtomicBool, to: &SyncSender<Result<Vec<Item>>>) {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    let read = files::read(files, stop, |item| {
        bytes += match &item {
            Item::Document(Document { title, text }) => title.len() + text.len(),
            Item::Redirect { from, to } => from.len() + to.len(),
        };
        batch.push(item);
        if bytes < BATCH_BYTES {
            return Ok(());
        }
        bytes = 0;
        // A receiver that has ended has its own error to report.
        to.send(Ok(std::mem::take(&mut batch))).map_err(|_| CollectionError::GivenUp)
    });
    // The data read before a fault may contain an earlier one.
    if to.send(Ok(batch)).is_ok()
        && let Err(error) = read
    {
        let _ = to.send(Err(error));
    }
}

/// Stores the received data, and forwards the documents. Ends early if the receiver has ended.
fn store(
    texts: &mut Connection,
    folder: &Path,
    received: &Receiver<Result<Vec<Item>>>,
    to: SyncSender<Arc<Vec<Numbered>>>,
) -> Result<u32> {
    let too_large = |what| CollectionError::TooLarge { path: folder.to_owned(), what };
    texts.execute_batch(TEXTS)?;
    let transaction = texts.transaction()?;
    let (mut documents, mut redirects, mut bytes) = (0u32, 0u32, 0u64);
    {
        let mut into_table =
            transaction.prepare("INSERT INTO document (id, title, folded, text) VALUES (?1, ?2, ?3, ?4)")?;
        let mut into_redirect =
            transaction.prepare("INSERT OR IGNORE INTO redirect (folded, title) VALUES (?1, ?2)")?;
        for batch in received {
            let mut numbered = Vec::new();
            for item in batch? {
                let document = match item {
                    Item::Document(document) => document,
                    Item::Redirect { from, to } => {
                        redirects += 1;
                        if redirects > REDIRECTS_MAX {
                            return Err(too_large(format!("it holds more than {REDIRECTS_MAX} redirects")));
                        }
                        into_redirect.execute(params![title_key(&from), to])?;
                        continue;
                    }
                };
                documents += 1;
                bytes += (document.title.len() + document.text.len()) as u64;
                if documents > DOCUMENTS_MAX {
                    return Err(too_large(format!("it holds more than {DOCUMENTS_MAX} documents")));
                }
                if bytes > BYTES_MAX {
                    return Err(too_large(format!("its documents have more than {} GiB", BYTES_MAX >> 30)));
                }
                numbered.push((documents, document));
            }
            // Sent before it is stored, so that both threads work on it at the same time.
            let numbered = Arc::new(numbered);
            if to.send(Arc::clone(&numbered)).is_err() {
                break;
            }
            for (number, Document { title, text }) in &*numbered {
                into_table.execute(params![number, title, title_key(title), text])?;
            }
        }
    }
    // The other thread has everything that it needs.
    drop(to);
    transaction.commit()?;
    if documents == 0 {
        return Err(CollectionError::Empty { path: folder.to_owned() });
    }
    texts.execute_batch(TITLES)?;
    refuse_large_pages(texts, folder)?;
    Ok(documents)
}

/// Indexes the words of what is received.
fn index_words(words: &mut Connection, received: &Receiver<Arc<Vec<Numbered>>>) -> rusqlite::Result<()> {
    words.execute_batch(WORDS)?;
    words.execute("INSERT INTO entry (entry, rank) VALUES ('hashsize', ?1)", [COLLECTED_BYTES])?;
    let transaction = words.transaction()?;
    {
        let mut into_entry =
            transaction.prepare("INSERT INTO entry (rowid, title, text) VALUES (?1, ?2, ?3)")?;
        for batch in received {
            for (number, Document { title, text }) in &*batch {
                into_entry.execute(params![number, title, text])?;
            }
        }
    }
    transaction.commit()
}

/// Documents that share a title are read together, so their total size is limited.
fn refuse_large_pages(index: &Connection, folder: &Path) -> Result<()> {
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
