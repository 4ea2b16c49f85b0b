//! Values of rows: read whatever their type, because a damaged file may hold any, and text that is written unchecked.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql};

use crate::Unit;

/// A text or blob; `None` for any other type.
pub(crate) fn bytes<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<Option<&'r [u8]>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
        _ => None,
    })
}

/// An integer; `None` for any other type.
pub(crate) fn integer(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<i64>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Integer(number) => Some(number),
        _ => None,
    })
}

/// A unit in two columns; numbers that none can have become the greatest.
pub(crate) fn unit(row: &Row<'_>, column: usize) -> rusqlite::Result<Unit> {
    let number =
        |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok()).unwrap_or(u32::MAX);
    Ok(Unit { ordinal: number(integer(row, column)?), repeat: number(integer(row, column + 1)?) })
}

/// Text known to be UTF-8, which SQLite can take without another check.
pub(crate) struct Text<'a>(pub(crate) &'a [u8]);

impl ToSql for Text<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}
