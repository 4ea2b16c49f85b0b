//! A suite's own figures over all judged runs, as plain data that every report renders.

use serde_json::Value;

/// A figure of a campaign that is more than a pass rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// The word used in files.
    pub name: &'static str,
    /// The words for it in tables.
    pub title: &'static str,
    /// Its value; `None` if it is unknown, for example without runs.
    pub value: Option<f64>,
    /// Its 95 % interval, if there is one.
    pub interval: Option<(f64, f64)>,
    /// It is a share, which is shown in per cent.
    pub is_share: bool,
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Its key in files, if [`json`](Self::json) is the value of a field of that name.
    pub key: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// An introduction, in a sentence or two.
    pub intro: String,
    /// Single figures, if a page has room for them.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
    /// The same as lines of text for a terminal, if the figures would be less clear there.
    pub lines: Vec<String>,
    /// The same for programs.
    pub json: Value,
}

impl Section {
    /// Whether it has nothing for human readers, and only appears in machine-readable output.
    pub fn is_for_programs(&self) -> bool {
        self.figures.is_empty() && self.tables.is_empty() && self.lines.is_empty()
    }
}

/// One figure of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// What it is.
    pub name: &'static str,
    /// Its value, as it is read.
    pub value: String,
    /// What else there is to say of it.
    pub note: String,
}

/// A table of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it shows; may be empty.
    pub caption: String,
    /// Its columns. The first names the rows.
    pub columns: Vec<String>,
    /// Its rows, each as long as there are columns.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Whether the column at `place` contains words: it names the rows, or one of its cells begins with a letter.
    /// Words are left-aligned, figures right-aligned.
    pub fn has_words(&self, place: usize) -> bool {
        let is_word = |cell: &String| cell.chars().next().is_some_and(char::is_alphabetic);
        place == 0 || self.rows.iter().filter_map(|row| row.get(place)).any(is_word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_of_words_or_of_figures() {
        let row = |cells: [&str; 5]| cells.map(str::to_owned).to_vec();
        let table = Table {
            caption: String::new(),
            columns: row(["who", "source", "rate", "change", "nothing"]),
            rows: vec![row(["1st", "this run", "4 of 5", "-", ""]), row(["2nd", "", "98.3", "+1.5", ""])],
        };
        let words: Vec<bool> = (0..5).map(|place| table.has_words(place)).collect();
        assert_eq!(words, [true, true, false, false, false]);
    }
}
