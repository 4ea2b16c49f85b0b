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
#[derive(Debug, Clone, PartialEq, Default)]
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

/// Whether a cell holds nothing: it is empty, or a dash.
pub fn is_nothing(cell: &str) -> bool {
    matches!(cell.trim(), "" | "-" | "–")
}

/// A count with thousands separators: "1,234".
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        // Groups of three are counted from the last digit.
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

impl Figure {
    /// Whether there is something to show.
    pub fn has_value(&self) -> bool {
        !is_nothing(&self.value)
    }
}

impl Table {
    /// The table without rows and columns that hold nothing; the first column, which names the rows, stays. `None` if
    /// no row is left.
    pub fn shown(&self) -> Option<Self> {
        let rows: Vec<&Vec<String>> =
            self.rows.iter().filter(|row| row.iter().skip(1).any(|cell| !is_nothing(cell))).collect();
        let has_value = |place: usize| {
            place == 0 || rows.iter().any(|row| row.get(place).is_some_and(|cell| !is_nothing(cell)))
        };
        let kept = |cells: &[String]| -> Vec<String> {
            let kept = cells.iter().enumerate().filter(|(place, _)| has_value(*place));
            kept.map(|(_, cell)| cell.clone()).collect()
        };
        (!rows.is_empty()).then(|| Self {
            caption: self.caption.clone(),
            columns: kept(&self.columns),
            rows: rows.iter().map(|row| kept(row)).collect(),
        })
    }

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
    fn what_holds_nothing_is_not_shown() {
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let table = |rows| Table { caption: "c".to_owned(), columns: row(["who", "a", "b", "c"]), rows };
        let shown =
            table(vec![row(["1", "-", "", "7"]), row(["2", "–", "-", "-"]), row(["", "-", "", "8"])]).shown();
        let shown = shown.expect("rows are left");
        assert_eq!(shown.columns, ["who", "c"]);
        assert_eq!(shown.rows, [["1", "7"], ["", "8"]]);
        let whole = table(vec![row(["1", "0", "x", "7"])]);
        assert_eq!(whole.shown().as_ref(), Some(&whole));
        assert_eq!(table(vec![row(["1", "-", "-", "-"])]).shown(), None);
        assert_eq!(table(Vec::new()).shown(), None);
    }

    #[test]
    fn thousands_are_separated() {
        let numbers = [0, 999, 1000, 12_345, 123_456, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "12,345", "123,456", "1,234,567"]);
    }

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
