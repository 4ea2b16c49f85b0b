//! The result of a statement, and its text for an agent.

use std::fmt;

use rusqlite::types::ValueRef;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum SqlValue {
    Null,
    /// A whole number.
    Integer(i64),
    /// Another number. SQLite has no NaN.
    Real(f64),
    /// A text. Invalid UTF-8 in it was replaced.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

impl From<ValueRef<'_>> for SqlValue {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(bytes) => Self::Text(String::from_utf8_lossy(bytes).into_owned()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
        }
    }
}

impl SqlValue {
    /// The value as a number, if it is one.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Real(number) => Some(*number),
            Self::Null | Self::Text(_) | Self::Blob(_) => None,
        }
    }
}

/// As one cell of a row: a text without line breaks and bars of its own, a number that shows whether it is an
/// integer.
impl fmt::Display for SqlValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Real(number) => write!(f, "{number:?}"),
            Self::Text(text) => write_cell(text, f),
            Self::Blob(bytes) => {
                f.write_str("x'")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str("'")
            }
        }
    }
}

fn write_cell(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for character in text.chars() {
        match character {
            '\\' => f.write_str("\\\\")?,
            '|' => f.write_str("\\|")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            other if other.is_control() => write!(f, "\\u{{{:x}}}", u32::from(other))?,
            other => write!(f, "{other}")?,
        }
    }
    Ok(())
}

/// Which limit left rows out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// [`SqlLimits::rows`](super::SqlLimits::rows).
    Rows,
    /// [`SqlLimits::result_bytes`](super::SqlLimits::result_bytes).
    Bytes,
}

/// The result of a statement.
///
/// As a text it is a line of column names, a line for each row, and the number of rows:
///
/// ```text
/// Name | Age
/// Ann Lee | 31
/// Bo Sund | NULL
/// 2 rows
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// The names of the columns, as SQLite makes them.
    pub columns: Vec<String>,
    /// The rows, each as long as there are columns.
    pub rows: Vec<Vec<SqlValue>>,
    /// Why there are no more rows, if more were selected.
    pub cut: Option<Cut>,
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_line(self.columns.iter(), |name, f| write_cell(name, f), f)?;
        for row in &self.rows {
            f.write_str("\n")?;
            write_line(row.iter(), fmt::Display::fmt, f)?;
        }
        let count = self.rows.len();
        match (self.cut, count) {
            (None, 0) => f.write_str("\nno rows"),
            (None, 1) => f.write_str("\n1 row"),
            (None, count) => write!(f, "\n{count} rows"),
            (Some(Cut::Rows), count) => {
                write!(f, "\nthe first {count} rows, which is the most; add a condition, or count with SQL")
            }
            (Some(Cut::Bytes), count) => {
                write!(f, "\nthe first {count} rows, all that fits; select fewer columns, or add a condition")
            }
        }
    }
}

fn write_line<T>(
    cells: impl Iterator<Item = T>,
    write: impl Fn(T, &mut fmt::Formatter<'_>) -> fmt::Result,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            f.write_str(" | ")?;
        }
        write(cell, f)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_a_line_each() {
        let text = |text: &str| SqlValue::Text(text.to_owned());
        let mut rows = Rows {
            columns: vec!["a|b".into(), "c".into()],
            rows: vec![
                vec![text("x\ny\u{7}"), SqlValue::Null],
                vec![SqlValue::Real(35.0), SqlValue::Blob(vec![0, 171])],
            ],
            cut: None,
        };
        assert_eq!(rows.to_string(), "a\\|b | c\nx\\ny\\u{7} | NULL\n35.0 | x'00ab'\n2 rows");
        rows.cut = Some(Cut::Rows);
        assert!(
            rows.to_string()
                .ends_with("\nthe first 2 rows, which is the most; add a condition, or count with SQL")
        );
        (rows.rows, rows.cut) = (Vec::new(), None);
        assert_eq!(rows.to_string(), "a\\|b | c\nno rows");
    }
}
