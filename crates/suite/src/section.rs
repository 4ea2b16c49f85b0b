//! What only a suite can make of all judged runs, as plain data that every report draws.

use serde_json::Value;

/// A figure of a campaign that is more than a rate of runs that passed.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// The word used in files.
    pub name: &'static str,
    /// The words for it in tables.
    pub title: &'static str,
    /// Its value; `None` where nothing is known of it, as without runs.
    pub value: Option<f64>,
    /// Its 95 % interval, where there is one.
    pub interval: Option<(f64, f64)>,
    /// It is a share, which people read in per cent.
    pub is_share: bool,
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The word used in files, where [`json`](Self::json) is the value of a field of that name.
    pub key: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What it is about, in a sentence or two.
    pub intro: String,
    /// Single figures, where a page has room for them.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
    /// The same as lines of text for a terminal, where the figures would say it worse.
    pub lines: Vec<String>,
    /// The same for programs.
    pub json: Value,
}

impl Section {
    /// Whether it has nothing that a person could read, and stands only in what programs read.
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
    /// Whether the column at `place` is read as words: it names the rows, or one of its cells begins with a letter.
    /// Words are aligned at their beginning, figures at their end.
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
