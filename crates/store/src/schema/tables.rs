//! Whether a file has the tables of a run store, and nothing else.
//!
//! A view can stand where a table is expected, and a trigger can act when a row is written: both come with the file,
//! so somebody else can make a query of ours compute anything, for any time. The schema of a file is therefore compared
//! with that of a new store of the same version before anything is read from it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rusqlite::Connection;
use rusqlite_migration::Migrations;

use super::MIGRATIONS;

/// A store has some thirty objects; of a file with many more, these are enough to refuse it.
const OBJECTS_MAX: u32 = 200;

/// Tables in which SQLite keeps statistics if somebody calls `ANALYZE`. They change no result.
const STATISTICS: [(&str, &str); 2] = [
    ("sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    ("sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
];

/// Kind, table and SQL of each object, by its name.
type Objects = BTreeMap<String, (String, String, Option<String>)>;

/// How the schema of a file differs from that of a new store of the same version, in words; `None` if it does not.
///
/// # Errors
/// SQLite cannot read the schema, or cannot make one in memory.
pub(super) fn difference(connection: &Connection, version: i64) -> rusqlite::Result<Option<String>> {
    // Most files have the newest version, and one process opens many.
    static NEWEST: OnceLock<Objects> = OnceLock::new();
    let found = objects(connection)?;
    let older;
    let ours = if version != super::version_supported() {
        older = of_version(version)?;
        &older
    } else if let Some(newest) = NEWEST.get() {
        newest
    } else {
        let newest = of_version(version)?;
        NEWEST.get_or_init(|| newest)
    };
    for (name, object) in &found {
        let (kind, table, sql) = object;
        let is_ours = ours.get(name) == Some(object);
        let is_statistic = kind == "table"
            && table == name
            && STATISTICS.iter().any(|known| (known.0, Some(known.1)) == (name.as_str(), sql.as_deref()));
        if !is_ours && !is_statistic {
            // Debug form: the name comes from the file.
            let what = if ours.contains_key(name) { "is not the one of a run store" } else { "was added" };
            return Ok(Some(format!("the {} {name:?} {what}", word(kind))));
        }
    }
    let missing = ours.iter().find(|(name, _)| !found.contains_key(*name));
    Ok(missing.map(|(name, (kind, ..))| format!("the {} {name:?} is missing", word(kind))))
}

/// The kind of an object as a word of ours, whatever the file says.
fn word(kind: &str) -> &'static str {
    ["table", "index", "view", "trigger"].into_iter().find(|known| *known == kind).unwrap_or("object")
}

/// The objects of a new store of a version.
fn of_version(version: i64) -> rusqlite::Result<Objects> {
    let mut connection = Connection::open_in_memory()?;
    let version = usize::try_from(version).unwrap_or_default();
    match Migrations::from_slice(MIGRATIONS).to_version(&mut connection, version) {
        Err(rusqlite_migration::Error::RusqliteError { err, .. }) => Err(err),
        // The caller knows that there is such a version.
        other => {
            debug_assert!(other.is_ok(), "{other:?}");
            objects(&connection)
        }
    }
}

fn objects(connection: &Connection) -> rusqlite::Result<Objects> {
    let mut statement = connection.prepare("SELECT name, type, tbl_name, sql FROM sqlite_schema LIMIT ?1")?;
    let rows = statement
        .query_map([OBJECTS_MAX], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?))))?;
    rows.collect()
}
