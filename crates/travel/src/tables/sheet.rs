//! A CSV parser with a header that yields one row at a time, and errors that say where they are.

use csv::{ReaderBuilder, StringRecord};

/// Cells that the published loader treats as empty, besides empty ones.
const EMPTY: [&str; 18] = [
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
];

/// A table that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {what}", line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct TableError {
    /// The file, by its path in the published archive.
    pub file: String,
    /// The line number, from 1.
    pub line: Option<u64>,
    /// What is wrong, and how to fix it.
    pub what: String,
}

impl TableError {
    /// Creates an error in a line.
    pub(crate) fn at(file: &str, line: u64, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: Some(line), what: what.into() }
    }
}

/// Whether the published loader treats a cell as empty.
pub(crate) fn is_empty(cell: &str) -> bool {
    cell.is_empty() || EMPTY.contains(&cell)
}

/// The cells of one row, in the order in which the columns were requested.
pub(crate) struct Row<'r> {
    file: &'r str,
    line: u64,
    columns: &'r [(usize, &'static str)],
    record: &'r StringRecord,
}

impl<'r> Row<'r> {
    /// The line in the file, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The text of a column.
    pub(crate) fn text(&self, column: usize) -> &'r str {
        self.columns.get(column).and_then(|&(at, _)| self.record.get(at)).unwrap_or_default()
    }

    /// The number in a column.
    ///
    /// # Errors
    /// The cell is not a number of this type.
    pub(crate) fn number<T: std::str::FromStr>(&self, column: usize) -> Result<T, TableError> {
        let text = self.text(column);
        text.trim().parse().map_err(|_| {
            let name = self.columns.get(column).map_or("", |&(_, name)| name);
            TableError::at(self.file, self.line, format!("`{name}` is {text:?}; write a number"))
        })
    }

    /// A finite, non-negative number in a column.
    ///
    /// # Errors
    /// The cell is not such a number.
    pub(crate) fn amount(&self, column: usize) -> Result<f64, TableError> {
        let number: f64 = self.number(column)?;
        if number.is_finite() && number >= 0.0 {
            return Ok(number);
        }
        let name = self.columns.get(column).map_or("", |&(_, name)| name);
        Err(TableError::at(self.file, self.line, format!("`{name}` is {number}; write 0 or more")))
    }
}

/// Parses all rows; with `drops`, those with an empty cell are left out.
///
/// # Errors
/// The text is not CSV, a column is missing, or `make` rejects a row.
pub(crate) fn read<T>(
    (text, file): (&str, &str),
    names: &[&'static str],
    drops: bool,
    mut make: impl FnMut(&Row<'_>) -> Result<T, TableError>,
) -> Result<Vec<T>, TableError> {
    // A byte order mark would become part of the first column's name.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = ReaderBuilder::new().from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| csv_error(file, &error))?.clone();
    let mut columns = Vec::with_capacity(names.len());
    for &name in names {
        let Some(at) = header.iter().position(|cell| cell == name) else {
            let there = header.iter().collect::<Vec<_>>().join(", ");
            return Err(TableError::at(file, 1, format!("there is no column `{name}`; there is {there}")));
        };
        columns.push((at, name));
    }
    let mut all = Vec::new();
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| csv_error(file, &error))? {
        // Before the row is parsed, because an empty cell is not a number.
        if drops && columns.iter().any(|&(at, _)| is_empty(record.get(at).unwrap_or_default())) {
            continue;
        }
        let line = record.position().map_or(0, csv::Position::line);
        all.push(make(&Row { file, line, columns: &columns, record: &record })?);
    }
    Ok(all)
}

fn csv_error(file: &str, error: &csv::Error) -> TableError {
    let line = error.position().map(csv::Position::line);
    let what = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!(
                "it has {len} cells, the header has {expected_len}; is a quote missing, or the file cut off?"
            )
        }
        _ => error.to_string(),
    };
    TableError { file: file.to_owned(), line, what }
}
