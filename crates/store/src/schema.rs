//! The tables, and whether a file has them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use rusqlite_migration::{M, Migrations};

use crate::StoreError;
use crate::error::Place;

/// Marks a file as ours: "PlPr".
const APPLICATION_ID: i64 = 0x506c_5072;

/// Size of the write-ahead log at which it is moved into the file, in pages of 4 KiB. Moving waits for the disk.
const CHECKPOINT_PAGES: i64 = 4096;

/// Memory for the writing thread's pages, in KiB: runs that are written at the same time touch different pages. Where
/// they do not suffice, a page comes from the operating system's cache.
const CACHE_KIB: i64 = 8 * 1024;

const RETRY_AFTER: Duration = Duration::from_millis(5);

/// Published steps never change; new ones are added at the end.
const MIGRATIONS: &[M<'static>] = &[
    M::up(include_str!("schema/1.sql")),
    M::up(include_str!("schema/2.sql")),
    M::up(include_str!("schema/3.sql")),
    M::up(include_str!("schema/4.sql")),
    M::up(include_str!("schema/5.sql")),
    M::up(include_str!("schema/6.sql")),
    M::up(include_str!("schema/7.sql")),
    M::up(include_str!("schema/8.sql")),
];

/// The version from which on cases and runs have summaries.
pub(crate) const SUMMARY_VERSION: i64 = 3;

/// The version from which on campaigns can lead to others.
pub(crate) const PARENT_VERSION: i64 = 4;

/// The version from which on campaigns can be asked for together.
pub(crate) const MATRIX_VERSION: i64 = 5;

/// The version from which on runs can teach lessons.
pub(crate) const LESSON_VERSION: i64 = 6;

/// The version from which on finished runs have digests, and campaigns chains.
pub(crate) const DIGEST_VERSION: i64 = 7;

/// The version from which on campaigns can have labels.
pub(crate) const LABEL_VERSION: i64 = 8;

pub(crate) fn version_supported() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Opens a file for reading and writing, and makes it a store if it is new or empty.
pub(crate) fn open(place: &Place) -> Result<Connection, StoreError> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = connect(place, place.path.as_os_str(), flags)?;
    let started = Instant::now();
    let patience = Duration::from_millis(u64::from(place.limits.busy_ms));
    // SQLite does not wait by itself where two programs set up the same file at the same time.
    loop {
        match set_up(&mut connection, place) {
            Err(StoreError::Busy { .. }) if started.elapsed() < patience => thread::sleep(RETRY_AFTER),
            Err(error) => return Err(error),
            Ok(()) => return Ok(connection),
        }
    }
}

/// Opens a store for reading, and gives its version: an older one is read as it is, since nothing may be changed.
pub(crate) fn open_read_only(place: &Place) -> Result<(Connection, i64), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |file: &OsStr, flags| {
        let connection = connect(place, file, flags)?;
        let version = version(&connection, place)?;
        Ok((connection, version))
    };
    let opened = open(place.path.as_os_str(), flags);
    let opened = match opened {
        // SQLite cannot make the files beside it that readers and writers share. Where nobody can write, nobody needs
        // to share, and the file is read as one that does not change.
        Err(StoreError::CannotOpen { .. } | StoreError::ReadOnly { .. }) if place.path.is_file() => {
            if log_of(&place.path).metadata().is_ok_and(|log| log.len() > 0) {
                return Err(StoreError::LogNotReadable { path: place.path.clone() });
            }
            open(&unchanging(&place.path), flags | OpenFlags::SQLITE_OPEN_URI)
        }
        opened => opened,
    };
    match opened? {
        (connection, Some(version)) => Ok((connection, version)),
        // An empty file.
        (_, None) => Err(StoreError::NotAStore { path: place.path.clone() }),
    }
}

/// The write-ahead log of a store: what was committed and not yet moved into the file.
fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// A file by the URI that says to SQLite that it does not change.
fn unchanging(path: &Path) -> OsString {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(*byte));
            }
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    (uri + "?immutable=1").into()
}

fn connect(place: &Place, file: &OsStr, flags: OpenFlags) -> Result<Connection, StoreError> {
    let open = || {
        let connection = Connection::open_with_flags(Path::new(file), flags)?;
        connection.busy_timeout(Duration::from_millis(u64::from(place.limits.busy_ms)))?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // A hostile file must not be able to run code through its schema.
        connection.pragma_update(None, "trusted_schema", false)?;
        // Statements are kept. Without this, one that has a limit or uses a partial index is compiled anew whenever a
        // value is bound to it, as SQLite might find a better way for that value.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(connection)
    };
    open().map_err(|error| place.error(error))
}

/// Gives a connection the memory that writing takes.
pub(crate) fn enlarge_cache(connection: &Connection, place: &Place) -> Result<(), StoreError> {
    connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(|error| place.error(error))
}

fn set_up(connection: &mut Connection, place: &Place) -> Result<(), StoreError> {
    let error = |error| place.error(error);
    // Nothing may be changed in a file before it is known to be ours.
    let version = version(connection, place)?;
    let mode: String =
        connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(error)?;
    if mode != "wal" {
        connection.pragma_update(None, "journal_mode", "wal").map_err(error)?;
    }
    connection.pragma_update(None, "synchronous", "normal").map_err(error)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES).map_err(error)?;
    if let Some(pages) = place.limits.pages_max {
        connection.pragma_update(None, "max_page_count", pages).map_err(error)?;
    }
    if version == Some(version_supported()) { Ok(()) } else { migrate(connection, place) }
}

fn migrate(connection: &mut Connection, place: &Place) -> Result<(), StoreError> {
    let Err(migration_error) = Migrations::from_slice(MIGRATIONS).to_latest(connection) else {
        return Ok(());
    };
    // Another program may have been faster.
    if version(connection, place)? == Some(version_supported()) {
        return Ok(());
    }
    match migration_error {
        rusqlite_migration::Error::RusqliteError { err, .. } => Err(place.error(err)),
        other => Err(StoreError::Failed { path: place.path.clone(), what: other.to_string() }),
    }
}

/// The schema version of a file that is ours, `None` of one that is empty; an error for all other files.
fn version(connection: &Connection, place: &Place) -> Result<Option<i64>, StoreError> {
    let read = || {
        // In one transaction, so that a file which another program is just setting up is seen before or after.
        let transaction = connection.unchecked_transaction()?;
        let number = |sql: &str| transaction.query_row(sql, [], |row| row.get::<_, i64>(0));
        let numbers = (
            number("PRAGMA application_id")?,
            number("SELECT count(*) FROM sqlite_schema")?,
            number("PRAGMA user_version")?,
        );
        transaction.commit()?;
        Ok(numbers)
    };
    let (application_id, objects, found) = read().map_err(|error| place.error(error))?;
    let supported = version_supported();
    match application_id {
        0 if objects == 0 && found == 0 => Ok(None),
        APPLICATION_ID if found > supported => {
            Err(StoreError::Newer { path: place.path.clone(), found, supported })
        }
        APPLICATION_ID if found >= 1 && objects > 0 => Ok(Some(found)),
        APPLICATION_ID => Err(place.damaged("the tables are missing")),
        _ => Err(StoreError::NotAStore { path: place.path.clone() }),
    }
}
