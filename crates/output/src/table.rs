//! Tables that fit the terminal.

use std::fmt;
use std::ops::{Deref, DerefMut};

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle};
use planproof_suite::is_nothing;

use crate::layout::wrap;
use crate::terminal;

/// A line under the head and nothing else.
const HEAD_LINE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// The least width of a wrapped title of a row, in characters.
const TITLE_COLUMNS_MIN: usize = 24;

/// The indentation of continuation lines.
const INDENT: &str = "    ";

/// A table. If the terminal is too narrow for it, each row becomes a record with a line for each column, so that ids
/// and figures are never broken.
#[derive(Debug)]
pub struct TextTable(comfy_table::Table);

/// A table whose columns but the first are aligned to the right.
pub fn table(head: &[&str]) -> TextTable {
    let mut table = comfy_table::Table::new();
    table.load_style(HEAD_LINE).set_content_arrangement(ContentArrangement::Disabled).set_header(head);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    TextTable(table)
}

impl Deref for TextTable {
    type Target = comfy_table::Table;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for TextTable {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl fmt::Display for TextTable {
    /// With `#`, text follows on the next line. Rows that became records need a blank line before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = terminal::columns().map(usize::from);
        let end = if f.alternate() && !self.fits() { "\n" } else { "" };
        write!(f, "{}{end}", self.shown(columns))
    }
}

impl TextTable {
    /// Whether the table fits the terminal, if there is one, so that its rows do not become records.
    pub fn fits(&self) -> bool {
        terminal::columns().is_none_or(|columns| width(&self.whole()) <= usize::from(columns))
    }

    /// The table within `columns` columns; without a limit, row by row.
    fn shown(&self, columns: Option<usize>) -> String {
        let whole = self.whole();
        match columns.filter(|columns| width(&whole) > *columns) {
            Some(columns) => {
                let narrow = self.narrowed(width(&whole).saturating_sub(columns));
                narrow.filter(|text| width(text) <= columns).unwrap_or_else(|| self.records(columns))
            }
            None => whole,
        }
    }

    /// The table with titles of rows that are wrapped at words, so that it has `excess` columns less; `None` if that
    /// leaves too little room for them.
    fn narrowed(&self, excess: usize) -> Option<String> {
        let titles =
            || self.0.row_iter().filter_map(|row| row.cell_iter().next()).map(comfy_table::Cell::content);
        let longest = titles().map(|title| title.chars().count()).max()?;
        let room = longest.checked_sub(excess).filter(|room| *room >= TITLE_COLUMNS_MIN)?;
        if titles().any(|title| title.split(' ').any(|word| word.chars().count() > room)) {
            return None;
        }
        let mut table = self.0.clone();
        for row in table.row_iter_mut() {
            let cells: Vec<String> = row.cell_iter().map(comfy_table::Cell::content).collect();
            let titled = cells.iter().enumerate().map(|(place, text)| match place {
                0 => wrap(text, room),
                _ => text.clone(),
            });
            *row = comfy_table::Row::from(titled.collect::<Vec<_>>());
        }
        Some(Self(table).whole())
    }

    /// The places of columns in which no row has a value; never the first, which names the rows.
    fn empty_columns(&self) -> Vec<usize> {
        let columns = 1..self.0.header().map_or(0, |head| head.cell_iter().count());
        let has_value = |place: usize| {
            let mut cells = self.0.row_iter().filter_map(|row| row.cell_iter().nth(place));
            cells.any(|cell| !is_nothing(&cell.content()))
        };
        columns.filter(|place| self.0.row_count() > 0 && !has_value(*place)).collect()
    }

    /// Row by row, without the blanks that the last column is padded with, and without empty columns.
    fn whole(&self) -> String {
        let mut table = self.0.clone();
        for place in self.empty_columns() {
            if let Some(column) = table.column_mut(place) {
                column.set_constraint(ColumnConstraint::Hidden);
            }
        }
        table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    /// Each row as a record.
    fn records(&self, columns: usize) -> String {
        let one_line = |cell: &comfy_table::Cell| cell.content().replace('\n', " ");
        let head: Vec<String> =
            self.0.header().into_iter().flat_map(|head| head.cell_iter()).map(one_line).collect();
        // The first column is the title of the record and is not aligned with the others.
        let empty = self.empty_columns();
        let shown = head.iter().enumerate().skip(1).filter(|(place, _)| !empty.contains(place));
        let longest = shown.map(|(_, name)| name.chars().count()).max().unwrap_or_default();
        let mut records = Vec::new();
        for row in self.0.row_iter() {
            let mut lines = Vec::new();
            for (place, (name, cell)) in head.iter().zip(row.cell_iter()).enumerate() {
                if empty.contains(&place) {
                    continue;
                }
                let value = one_line(cell);
                let line = match (place, name.as_str()) {
                    (0, "") => value,
                    (0, name) => format!("{name}: {value}"),
                    (_, name) => {
                        let name = format!("{name}:");
                        format!("  {name:<width$} {value}", width = longest + 1)
                    }
                };
                lines.push(line);
            }
            records.push(lines.iter().map(|line| folded(line, columns)).collect::<Vec<_>>().join("\n"));
        }
        records.join("\n\n")
    }
}

/// Characters of the longest line.
fn width(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or_default()
}

/// A line wrapped at words if it is too long.
fn folded(line: &str, columns: usize) -> String {
    if line.chars().count() <= columns {
        return line.to_owned();
    }
    let begin = line.len() - line.trim_start().len();
    // All lines are wrapped to one width, which leaves room for the larger of both indentations.
    let folded = wrap(line.trim_start(), columns.saturating_sub(INDENT.len()));
    let below = format!("\n{INDENT}");
    format!("{}{}", &line[..begin], folded.lines().collect::<Vec<_>>().join(&below))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn campaigns() -> TextTable {
        let mut shown = table(&["Agent", "Run", "Success (% [95 %])", "Failures"]);
        shown.add_row([
            "tools@sim/clumsy",
            "1a20d1413a8c6",
            "70.0 [57.5, 80.1]",
            "act_error 18, action_lost 3",
        ]);
        shown.add_row(["tools@sim/perfect", "1a20d14122a29", "100.0 [94.0, 100.0]", "-"]);
        shown
    }

    #[test]
    fn a_table_that_fits_is_a_table() {
        let shown = campaigns();
        for columns in [None, Some(120)] {
            let text = shown.shown(columns);
            assert_eq!(text.lines().count(), 4, "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
            assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
        }
    }

    #[test]
    fn columns_without_any_value_are_left_out() {
        let mut shown = table(&["Agent", "Cost", "Passed", "p"]);
        shown.add_row(["-", "-", "7", ""]);
        shown.add_row(["b", "-", "-", "-"]);
        for columns in [None, Some(8)] {
            let text = shown.shown(columns);
            assert!(text.contains("Agent") && text.contains("Passed") && text.contains('7'), "{text}");
            assert!(!text.contains("Cost") && !text.contains("p:") && !text.contains("  p"), "{text}");
        }
        // Without rows nothing is known of the columns.
        assert!(table(&["Agent", "Cost"]).shown(None).contains("Cost"));
    }

    #[test]
    fn a_narrow_terminal_has_records_with_whole_ids() {
        for columns in [40, 80] {
            let text = campaigns().shown(Some(columns));
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
            for whole in
                ["Agent: tools@sim/clumsy", "1a20d1413a8c6", "70.0 [57.5, 80.1]", "Agent: tools@sim/perfect"]
            {
                assert!(text.contains(whole), "{whole} in {text}");
            }
        }
    }
}
