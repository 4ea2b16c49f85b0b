//! The tables of a database in a few lines, for authors of statements.

use std::fmt::Write as _;

use rusqlite::Connection;

/// Most bytes of the lines. Tables that do not fit are counted.
pub const SCHEMA_BYTES_MAX: usize = 8 * 1024;

/// Most tables whose columns are read.
const TABLES_MAX: usize = 500;

/// The tables and views, one per line: `Person(id TEXT, name TEXT)`. If there are none, a line says so.
pub(super) fn describe(database: &Connection) -> rusqlite::Result<String> {
    let mut names = database.prepare(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
         ORDER BY rowid",
    )?;
    let names: Vec<String> = names.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut columns = database.prepare("SELECT name, type FROM pragma_table_info(?1)")?;
    let mut text = String::new();
    for (place, name) in names.iter().take(TABLES_MAX).enumerate() {
        let column = |row: &rusqlite::Row<'_>| -> rusqlite::Result<String> {
            let (name, kind): (String, String) = (row.get(0)?, row.get(1)?);
            Ok(format!("{} {kind}", identifier(&name)).trim_end().to_owned())
        };
        let columns: Vec<String> = columns.query_map([name], column)?.collect::<rusqlite::Result<_>>()?;
        let line = format!("{}({})\n", identifier(name), columns.join(", "));
        if text.len() + line.len() > SCHEMA_BYTES_MAX {
            let _ = writeln!(text, "and {} more", names.len() - place);
            break;
        }
        text.push_str(&line);
    }
    if names.is_empty() {
        text.push_str("(there are no tables)\n");
    }
    text.truncate(text.trim_end().len());
    Ok(text)
}

/// A name in SQL: quoted unless it is a plain word.
fn identifier(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"").replace('\n', " ")) }
}
