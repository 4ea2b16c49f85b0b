//! Tables as text, in the format of the library that the published tools use: one line of names, then one line per
//! row, all cells right-aligned, with one blank between columns and two before numeric columns.

/// Maximum number of decimals of floating-point numbers.
const DECIMALS: usize = 6;

/// A column: its name, and its cells as text.
pub(super) struct Column {
    name: String,
    cells: Vec<String>,
}

impl Column {
    /// Texts, with line breaks and tabs written as `\n` and `\t`.
    pub(super) fn texts<'t>(name: &str, cells: impl Iterator<Item = &'t str>) -> Self {
        let escaped = |cell: &str| cell.replace('\t', "\\t").replace('\r', "\\r").replace('\n', "\\n");
        Self { name: name.to_owned(), cells: cells.map(escaped).collect() }
    }

    /// Whole numbers.
    pub(super) fn integers(name: &str, cells: impl Iterator<Item = i64>) -> Self {
        Self { name: format!(" {name}"), cells: cells.map(|cell| cell.to_string()).collect() }
    }

    /// Floating-point numbers, all with as many decimals as the longest needs, and at least one.
    pub(super) fn floats(name: &str, cells: impl Iterator<Item = f64>) -> Self {
        let cells: Vec<String> = cells.map(|cell| format!("{cell:.DECIMALS$}")).collect();
        let zeros = cells.iter().map(|cell| cell.len() - cell.trim_end_matches('0').len());
        let cut = zeros.min().unwrap_or_default().min(DECIMALS - 1);
        let cut = |cell: &String| cell.get(..cell.len() - cut).unwrap_or_default().to_owned();
        Self { name: format!(" {name}"), cells: cells.iter().map(cut).collect() }
    }
}

/// The text of a table.
pub(super) fn text(columns: &[Column]) -> String {
    let width = |column: &Column| {
        let cells = column.cells.iter().map(|cell| cell.chars().count());
        cells.chain([column.name.chars().count()]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = columns.iter().map(width).collect();
    let line = |cells: Vec<&str>| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
        cells.collect::<Vec<_>>().join(" ")
    };
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let mut lines = vec![line(columns.iter().map(|column| column.name.as_str()).collect())];
    for row in 0..rows {
        let cells = columns.iter().map(|column| column.cells.get(row).map_or("", String::as_str));
        lines.push(line(cells.collect()));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_flush_right() {
        let columns = [
            Column::texts("Name", ["Gil\nand Son", "é"].into_iter()),
            Column::integers("Cost", [5, 120].into_iter()),
            Column::floats("Rating", [4.5, 3.25].into_iter()),
            Column::floats("km", [100.0, -2.0].into_iter()),
        ];
        let expected = "        Name  Cost  Rating    km\n\
            Gil\\nand Son     5    4.50 100.0\n\
            \u{20}          é   120    3.25  -2.0";
        assert_eq!(text(&columns), expected);
    }
}
