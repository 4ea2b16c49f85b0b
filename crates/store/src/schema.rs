//! The tables, and whether a file has them.

mod tables;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use rusqlite_migration::{M, Migrations};

use crate::StoreError;
use crate::error::Place;

/// Marks a file as ours: "PlPr".
const APPLICATION_ID: i64 = 0x506c_5072;

/// Size of the write-ahead log, in pages of 4 KiB, at which it is moved into the file. Moving waits for the disk.
const CHECKPOINT_PAGES: i64 = 4096;

/// Bytes of a page of a store that grows run by run, and the unit of [`StoreLimits::pages_max`](crate::StoreLimits).
const PAGE_BYTES: u32 = 4096;

/// Bytes of a page of a store that is filled at once. The events of most runs fit into such a page, and of smaller ones
/// they would take another one.
const BULK_PAGE_BYTES: u32 = 4 * PAGE_BYTES;

/// Page cache of the writing thread, in KiB: runs that are written at the same time touch different pages. Other
/// pages come from the operating system's cache.
const CACHE_KIB: i64 = 8 * 1024;

/// Page cache of a connection that fills a new store, in KiB. Indexes are sorted in it.
const BULK_CACHE_KIB: i64 = 64 * 1024;

/// Maximum size of a text in the store: an event has at most [`StoreLimits::event_bytes_max`](crate::StoreLimits), and
/// events that were written together share a row. SQLite allocates no more for a file that claims to hold more.
const VALUE_BYTES_MAX: i32 = 256 << 20;

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

/// The first version in which cases and runs have summaries.
pub(crate) const SUMMARY_VERSION: i64 = 3;

/// The first version with derived campaigns.
pub(crate) const PARENT_VERSION: i64 = 4;

/// The first version with matrices.
pub(crate) const MATRIX_VERSION: i64 = 5;

/// The first version with lessons.
pub(crate) const LESSON_VERSION: i64 = 6;

/// The first version in which finished runs have digests, and campaigns have chains.
pub(crate) const DIGEST_VERSION: i64 = 7;

/// The first version in which campaigns can have labels.
pub(crate) const LABEL_VERSION: i64 = 8;

pub(crate) fn version_supported() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Opens a file for reading and writing, and creates the store if the file is new or empty.
pub(crate) fn open(place: &Place) -> Result<Connection, StoreError> {
    // A link that somebody put there would have a file made wherever it leads.
    if place.path.is_symlink() && !place.path.exists() {
        let reason = "it is a link to a file that does not exist: remove it, or create that file".to_owned();
        return Err(StoreError::CannotOpen { path: place.path.clone(), reason });
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = connect(place, place.path.as_os_str(), flags)?;
    let started = Instant::now();
    let patience = Duration::from_millis(u64::from(place.limits.busy_ms));
    // SQLite itself does not wait when two programs set up the same file at the same time.
    loop {
        match set_up(&mut connection, place) {
            Err(StoreError::Busy { .. }) if started.elapsed() < patience => thread::sleep(RETRY_AFTER),
            Err(error) => return Err(error),
            Ok(()) => return Ok(connection),
        }
    }
}

/// Creates the store in a file that is new, for many rows at once.
pub(crate) fn create_for_bulk(place: &Place) -> Result<Connection, StoreError> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = connect(place, place.path.as_os_str(), flags)?;
    // Before the first table; it cannot change afterwards.
    connection.pragma_update(None, "page_size", BULK_PAGE_BYTES).map_err(|error| place.error(error))?;
    set_up(&mut connection, place)?;
    Ok(connection)
}

/// Opens a store for reading and returns its version; `None` for a file without tables. An older store is read in its
/// own version, since nothing may be changed.
pub(crate) fn open_read_only(place: &Place) -> Result<Option<(Connection, i64)>, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |file: &OsStr, flags| {
        let connection = connect(place, file, flags)?;
        let version = version(&connection, place)?;
        Ok((connection, version))
    };
    let opened = open(place.path.as_os_str(), flags);
    let opened = match opened {
        // SQLite cannot create the files that readers and writers share. If nobody can write, nothing needs to be
        // shared, and the file is opened as immutable.
        Err(StoreError::CannotOpen { .. } | StoreError::ReadOnly { .. }) if place.path.is_file() => {
            // An immutable file is read without its log, so the latest commits would be missing without a sign of it.
            if log_of(&place.path).metadata().is_ok_and(|log| log.len() > 0) {
                return Err(StoreError::LogNotReadable { path: place.path.clone() });
            }
            open(&unchanging(&place.path), flags | OpenFlags::SQLITE_OPEN_URI)
        }
        opened => opened,
    };
    let (connection, version) = opened?;
    Ok(version.map(|version| (connection, version)))
}

/// The write-ahead log of a store, which holds commits that are not yet in the file.
fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

/// The URI of a file that tells SQLite that the file is immutable.
fn unchanging(path: &Path) -> OsString {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(*byte));
            }
            // `?`, `#` and `%` have a meaning in a URI.
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    (uri + "?immutable=1").into()
}

fn connect(place: &Place, file: &OsStr, flags: OpenFlags) -> Result<Connection, StoreError> {
    // SQLite would read from a pipe or a device until it ends.
    if place.path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(place.not_a_store());
    }
    // Nor would it ever be done opening a pipe that lies where one of its files should.
    for suffix in ["-journal", "-wal", "-shm"] {
        let mut sibling = place.path.as_os_str().to_owned();
        sibling.push(suffix);
        let sibling = PathBuf::from(sibling);
        if sibling.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            let what =
                format!("{} is not a file, as SQLite needs it: remove what is there", sibling.display());
            return Err(StoreError::Failed { path: place.path.clone(), what });
        }
    }
    let open = || {
        let connection = Connection::open_with_flags(Path::new(file), flags)?;
        connection.busy_timeout(Duration::from_millis(u64::from(place.limits.busy_ms)))?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // A hostile file must not be able to run code through its schema.
        connection.pragma_update(None, "trusted_schema", false)?;
        // Statements are cached. Without this, SQLite recompiles a statement that has a limit or uses a partial
        // index whenever a value is bound to it, in case it finds a better plan for that value.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)?;
        place.patience.watch(&connection)?;
        Ok(connection)
    };
    open().map_err(|error| place.error(error))
}

/// Gives a connection the cache that writing needs.
pub(crate) fn enlarge_cache(connection: &Connection, place: &Place) -> Result<(), StoreError> {
    set_cache(connection, CACHE_KIB).map_err(|error| place.error(error))
}

/// Gives a connection the cache that filling a new store needs.
pub(crate) fn enlarge_cache_for_bulk(connection: &Connection) -> rusqlite::Result<()> {
    set_cache(connection, BULK_CACHE_KIB)
}

fn set_cache(connection: &Connection, kib: i64) -> rusqlite::Result<()> {
    // SQLite takes a negative number for KiB, and a positive one for pages.
    connection.pragma_update(None, "cache_size", -kib)
}

fn set_up(connection: &mut Connection, place: &Place) -> Result<(), StoreError> {
    let error = |error| place.error(error);
    // Nothing may be changed in a file before it is known to be a run store.
    let version = version(connection, place)?;
    let mode: String =
        connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(error)?;
    if mode != "wal" {
        connection.pragma_update(None, "journal_mode", "wal").map_err(error)?;
    }
    // Unlike the journal mode, these are not stored in the file; each connection that writes sets them.
    connection.pragma_update(None, "synchronous", "normal").map_err(error)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES).map_err(error)?;
    if let Some(pages) = place.limits.pages_max {
        let bytes: u32 = connection.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(error)?;
        let pages = u64::from(pages) * u64::from(PAGE_BYTES) / u64::from(bytes.max(1));
        let pages = u32::try_from(pages.max(1)).unwrap_or(u32::MAX);
        connection.pragma_update(None, "max_page_count", pages).map_err(error)?;
    }
    if version == Some(version_supported()) {
        return Ok(());
    }
    // A step may fill new columns from the rows that are there.
    place.patience.begin_unlimited();
    let migrated = migrate(connection, place);
    place.patience.begin();
    migrated
}

fn migrate(connection: &mut Connection, place: &Place) -> Result<(), StoreError> {
    let Err(migration_error) = Migrations::from_slice(MIGRATIONS).to_latest(connection) else {
        return Ok(());
    };
    // Another program may have migrated it first.
    if version(connection, place)? == Some(version_supported()) {
        return Ok(());
    }
    match migration_error {
        rusqlite_migration::Error::RusqliteError { err, .. } => Err(place.error(err)),
        other => Err(StoreError::Failed { path: place.path.clone(), what: other.to_string() }),
    }
}

/// The schema version of a run store, or `None` for an empty file; any other file is an error.
fn version(connection: &Connection, place: &Place) -> Result<Option<i64>, StoreError> {
    let supported = version_supported();
    let read = || {
        // In one transaction, so that a file that another program is setting up is seen either before or after.
        let transaction = connection.unchecked_transaction()?;
        let number = |sql: &str| transaction.query_row(sql, [], |row| row.get::<_, i64>(0));
        let numbers = (
            number("PRAGMA application_id")?,
            number("SELECT count(*) FROM sqlite_schema")?,
            number("PRAGMA user_version")?,
        );
        let is_known = numbers.0 == APPLICATION_ID && (1..=supported).contains(&numbers.2);
        let difference = if is_known { tables::difference(&transaction, numbers.2)? } else { None };
        transaction.commit()?;
        Ok((numbers, difference))
    };
    let ((application_id, objects, found), difference) = read().map_err(|error| place.error(error))?;
    match application_id {
        // No program has set an id, so the file may belong to any of them unless it is empty.
        0 if objects == 0 && found == 0 => Ok(None),
        APPLICATION_ID if found > supported => {
            Err(StoreError::Newer { path: place.path.clone(), found, supported })
        }
        APPLICATION_ID if found >= 1 && objects > 0 => match difference {
            Some(what) => Err(StoreError::Altered { path: place.path.clone(), what }),
            None => Ok(Some(found)),
        },
        APPLICATION_ID => Err(place.damaged("the tables are missing")),
        _ => Err(place.not_a_store()),
    }
}
