//! Sheets that people fill in with a spreadsheet program: a row for each item to rate, and a column for each rater.
//! They are CSV as in RFC 4180, in UTF-8.
//!
//! The first column is `id`. Columns whose names begin with `rating ` belong to raters, and the rest of the name is
//! the rater's name. All other columns are for reading only. A text that a spreadsheet would take for a formula is
//! prefixed with an apostrophe.

use std::collections::{BTreeMap, BTreeSet};

use csv::{QuoteStyle, ReaderBuilder, Terminator, WriterBuilder};

/// Maximum number of rows of a sheet.
pub const ROWS_MAX: usize = 100_000;
/// Maximum number of raters of a sheet.
pub const RATERS_MAX: usize = 100;
/// The prefix of the raters' columns.
const RATING: &str = "rating ";

/// The ratings that are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// 0 or 1.
    Binary,
    /// 0, 0.5 or 1, as the figures of Table 15 imply: 70.00 % of 85 examples are 59.5.
    Halves,
}

/// A row to be rated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetRow {
    /// Its id, unique in a sheet.
    pub id: String,
    /// The texts shown to raters, one per column.
    pub shown: Vec<String>,
}

/// Ratings of one or more sheets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ratings {
    /// The raters who rated anything, in the order of the columns.
    pub raters: Vec<String>,
    /// The ratings of each row, by rater, in the order of the rows.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
}

/// What is wrong with a sheet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SheetError {
    /// It is not valid CSV.
    #[error("line {line}: {why}")]
    Csv {
        /// The number of the line, from 1; 0 if there is none.
        line: u64,
        why: String,
    },
    /// The column `id` is missing.
    #[error("there is no column \"id\"")]
    NoIds,
    /// There is no column for ratings.
    #[error("there is no column for ratings, whose name would begin with \"{RATING}\"")]
    NoRaters,
    /// Two columns have the same name.
    #[error("there are two columns \"{name}\"")]
    SameColumn { name: String },
    /// There are no ratings.
    #[error("there is no rating in it")]
    NoRatings,
    /// A limit is exceeded.
    #[error("there are more than {ROWS_MAX} rows or {RATERS_MAX} raters")]
    TooMany,
    /// A row has the id of an earlier one.
    #[error("line {line}: id \"{id}\" is in an earlier row already")]
    Twice {
        /// The number of the line.
        line: u64,
        id: String,
    },
    /// A rating is not on the scale.
    #[error("line {line}: rating \"{rating}\" by {rater} is none of {scale}")]
    Rating {
        /// The number of the line.
        line: u64,
        rating: String,
        rater: String,
        /// The ratings that are allowed.
        scale: &'static str,
    },
    /// An id does not belong to anything that was to be rated.
    #[error("id \"{id}\" is none of those that were to be rated")]
    Unknown { id: String },
    /// Rows are missing.
    #[error("{count} rows are missing, the first of id \"{first}\"")]
    Missing {
        count: usize,
        /// The id of the first.
        first: String,
    },
    /// One rater rated the same row in two sheets.
    #[error("{rater} rated \"{id}\" in two sheets")]
    RatedTwice { rater: String, id: String },
}

impl Scale {
    fn as_str(self) -> &'static str {
        match self {
            Self::Binary => "0, 1",
            Self::Halves => "0, 0.5, 1",
        }
    }

    fn read(self, text: &str) -> Option<f64> {
        // Locales with a decimal comma write `0,5`; some programs write `1.0`.
        let value: f64 = text.replace(',', ".").parse().ok()?;
        let is_there = value == 0.0 || value == 1.0 || (self == Self::Halves && value == 0.5);
        is_there.then_some(value)
    }
}

/// Writes a sheet with these columns between the id and the ratings. Each row shows as many texts as there are
/// columns.
pub fn write_sheet(columns: &[&str], rows: &[SheetRow], raters: &[String]) -> String {
    let mut writer = WriterBuilder::new()
        .quote_style(QuoteStyle::Necessary)
        .terminator(Terminator::CRLF)
        .flexible(true)
        .from_writer(Vec::new());
    let names = raters.iter().map(|rater| format!("{RATING}{rater}"));
    let header =
        ["id".to_owned()].into_iter().chain(columns.iter().map(|name| (*name).to_owned())).chain(names);
    // Writing into memory cannot fail.
    let _ = writer.write_record(header);
    for row in rows {
        let shown = [&row.id].into_iter().chain(&row.shown).map(|text| guarded(text));
        let _ = writer.write_record(shown.chain(raters.iter().map(|_| String::new())));
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Escapes a text that a spreadsheet would take for a formula.
fn guarded(text: &str) -> String {
    let apostrophe = if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { "'" } else { "" };
    format!("{apostrophe}{text}")
}

/// Parses a filled sheet, with commas or semicolons between its cells. An empty cell is not a rating, and a column
/// without ratings is not a rater.
///
/// # Errors
/// Says what is wrong, with the line.
pub fn read_sheet(text: &str, scale: Scale) -> Result<Ratings, SheetError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let header = text.lines().next().unwrap_or_default();
    // Where the decimal separator is a comma, spreadsheet programs separate cells with semicolons.
    let delimiter = if header.contains(';') && !header.contains(',') { b';' } else { b',' };
    let mut reader = ReaderBuilder::new().delimiter(delimiter).flexible(false).from_reader(text.as_bytes());
    let names = reader.headers().map_err(|error| csv_error(&error))?.clone();
    let mut seen = BTreeSet::new();
    // Columns without a name may repeat; nothing is read from them.
    if let Some(name) = names.iter().find(|name| !name.is_empty() && !seen.insert(*name)) {
        return Err(SheetError::SameColumn { name: name.to_owned() });
    }
    let id = names.iter().position(|name| name.trim() == "id").ok_or(SheetError::NoIds)?;
    let raters: Vec<(usize, String)> = names
        .iter()
        .enumerate()
        .filter_map(|(place, name)| Some((place, name.trim_start().strip_prefix(RATING)?.trim().to_owned())))
        .collect();
    if raters.is_empty() {
        return Err(SheetError::NoRaters);
    }
    let (mut rows, mut ids) = (Vec::new(), BTreeSet::new());
    for record in reader.records() {
        let record = record.map_err(|error| csv_error(&error))?;
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |place: usize| record.get(place).unwrap_or_default().trim();
        // The apostrophe of `guarded`, which a spreadsheet program may have kept or removed.
        let id = cell(id).strip_prefix('\'').unwrap_or(cell(id)).to_owned();
        if !ids.insert(id.clone()) {
            return Err(SheetError::Twice { line, id });
        }
        let rating = |(place, rater): &(usize, String)| match cell(*place) {
            "" => Ok(None),
            text => scale.read(text).map(Some).ok_or_else(|| SheetError::Rating {
                line,
                rating: text.to_owned(),
                rater: rater.clone(),
                scale: scale.as_str(),
            }),
        };
        rows.push((id, raters.iter().map(rating).collect::<Result<Vec<_>, _>>()?));
        if rows.len() > ROWS_MAX || raters.len() > RATERS_MAX {
            return Err(SheetError::TooMany);
        }
    }
    let raters = raters.into_iter().map(|(_, rater)| rater).collect();
    let ratings = Ratings { raters, rows }.without_empty_columns();
    if ratings.raters.is_empty() { Err(SheetError::NoRatings) } else { Ok(ratings) }
}

fn csv_error(error: &csv::Error) -> SheetError {
    let line = error.position().map_or(0, csv::Position::line);
    let why = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("it has {len} cells, and the header {expected_len}")
        }
        _ => error.to_string(),
    };
    SheetError::Csv { line, why }
}

impl Ratings {
    fn without_empty_columns(mut self) -> Self {
        let is_used = |place: usize| self.rows.iter().any(|(_, ratings)| ratings[place].is_some());
        let kept: Vec<usize> = (0..self.raters.len()).filter(|place| is_used(*place)).collect();
        self.raters = kept.iter().map(|place| self.raters[*place].clone()).collect();
        for (_, ratings) in &mut self.rows {
            *ratings = kept.iter().map(|place| ratings[*place]).collect();
        }
        self
    }

    /// Merges the ratings of another sheet, by id and by the name of the rater.
    ///
    /// # Errors
    /// The same rater rated one row in both sheets.
    pub fn join(&mut self, other: &Self) -> Result<(), SheetError> {
        let places: Vec<usize> = other
            .raters
            .iter()
            .map(|rater| {
                self.raters.iter().position(|known| known == rater).unwrap_or_else(|| {
                    self.raters.push(rater.clone());
                    self.raters.len() - 1
                })
            })
            .collect();
        // Each row gets a cell for every rater before ratings are merged, so that indices are valid below.
        let width = self.raters.len();
        self.rows.iter_mut().for_each(|(_, ratings)| ratings.resize(width, None));
        let mut by_id: BTreeMap<String, usize> =
            self.rows.iter().enumerate().map(|(place, (id, _))| (id.clone(), place)).collect();
        for (id, ratings) in &other.rows {
            let row = *by_id.entry(id.clone()).or_insert_with(|| {
                self.rows.push((id.clone(), vec![None; width]));
                self.rows.len() - 1
            });
            for (place, rating) in places.iter().zip(ratings) {
                let slot = &mut self.rows[row].1[*place];
                if slot.is_some() && rating.is_some() {
                    let rater = self.raters[*place].clone();
                    return Err(SheetError::RatedTwice { rater, id: id.clone() });
                }
                *slot = slot.or(*rating);
            }
        }
        Ok(())
    }

    /// Checks that the rows have exactly these ids.
    ///
    /// # Errors
    /// Names the first unknown id, or says how many rows are missing.
    pub fn must_be_of<'i>(&self, ids: impl IntoIterator<Item = &'i str>) -> Result<(), SheetError> {
        let mut missing: Vec<&str> = ids.into_iter().collect();
        let known: BTreeSet<&str> = missing.iter().copied().collect();
        if let Some((id, _)) = self.rows.iter().find(|(id, _)| !known.contains(id.as_str())) {
            return Err(SheetError::Unknown { id: id.clone() });
        }
        let there: BTreeSet<&str> = self.rows.iter().map(|(id, _)| id.as_str()).collect();
        missing.retain(|id| !there.contains(id));
        match missing.first() {
            None => Ok(()),
            Some(first) => Err(SheetError::Missing { count: missing.len(), first: (*first).to_owned() }),
        }
    }

    /// The ids of the rows that all raters rated 1.
    pub fn unanimous(&self) -> BTreeSet<&str> {
        let all_ones = |ratings: &[Option<f64>]| ratings.iter().all(|rating| *rating == Some(1.0));
        self.rows.iter().filter(|(_, ratings)| all_ones(ratings)).map(|(id, _)| id.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<SheetRow> {
        let row = |id: &str, query: &str| SheetRow { id: id.to_owned(), shown: vec![query.to_owned()] };
        vec![row("0", "=1+1, \"so\"\nand on"), row("1", "Zwei; drei"), row("-2", "")]
    }

    fn raters() -> Vec<String> {
        vec!["Ann".to_owned(), "Bo".to_owned()]
    }

    #[test]
    fn a_sheet_comes_back_as_it_was_filled_in() {
        let sheet = write_sheet(&["query"], &rows(), &raters());
        assert_eq!(
            sheet,
            "id,query,rating Ann,rating Bo\r\n0,\"'=1+1, \"\"so\"\"\nand on\",,\r\n1,Zwei; drei,,\r\n'-2,,,\r\n"
        );
        let filled =
            sheet.replace("drei,,", "drei, 1.0 ,0").replace("on\",,", "on\",1,").replace("-2,,,", "-2,,0,0");
        let ratings = read_sheet(&filled, Scale::Binary).unwrap();
        assert_eq!(ratings.raters, ["Ann", "Bo"]);
        assert_eq!(
            ratings.rows,
            [
                ("0".to_owned(), vec![Some(1.0), None]),
                ("1".to_owned(), vec![Some(1.0), Some(0.0)]),
                ("-2".to_owned(), vec![Some(0.0), Some(0.0)]),
            ]
        );
        assert_eq!(read_sheet(&sheet, Scale::Binary), Err(SheetError::NoRatings));
    }

    #[test]
    fn sheets_of_other_places_are_read() {
        let sheet = "\u{feff}id;query;rating Ann\r\n4;x;0,5\r\n5;y;1\r\n";
        let ratings = read_sheet(sheet, Scale::Halves).unwrap();
        assert_eq!(ratings.rows[0], ("4".to_owned(), vec![Some(0.5)]));
        assert!(read_sheet(sheet, Scale::Binary).is_err());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (sheet, why) in [
            ("", "there is no column \"id\""),
            ("query,rating Ann\nx,1\n", "there is no column \"id\""),
            ("id,query\n1,x\n", "there is no column for ratings"),
            ("id,rating A,rating A\n1,1,1\n", "there are two columns \"rating A\""),
            ("id,rating A\n1,1\n1,0\n", "line 3: id \"1\" is in an earlier row already"),
            ("id,rating A\n1,1\n2,2\n", "line 3: rating \"2\" by A is none of 0, 1"),
            ("id,rating A\n1,yes\n", "line 2: rating \"yes\" by A is none of 0, 1"),
            ("id,rating A\n1,NaN\n", "line 2: rating \"NaN\""),
            ("id,rating A\n1,0.5\n", "line 2: rating \"0.5\""),
            ("id,rating A\n1,1,0\n", "line 2: it has 3 cells, and the header 2"),
            ("id,rating A\n1,\n", "there is no rating in it"),
        ] {
            let said = read_sheet(sheet, Scale::Binary).unwrap_err().to_string();
            assert!(said.contains(why), "{sheet:?}: {said}");
        }
        let many: String = (0..=ROWS_MAX).map(|id| format!("{id},1\n")).collect();
        assert_eq!(read_sheet(&format!("id,rating A\n{many}"), Scale::Binary), Err(SheetError::TooMany));
    }

    #[test]
    fn ids_must_be_those_that_were_to_be_rated() {
        let ratings = read_sheet("id,rating A\n1,1\n2,0\n", Scale::Binary).unwrap();
        assert_eq!(ratings.must_be_of(["2", "1"]), Ok(()));
        assert_eq!(ratings.must_be_of(["1"]), Err(SheetError::Unknown { id: "2".to_owned() }));
        let missing = SheetError::Missing { count: 2, first: "3".to_owned() };
        assert_eq!(ratings.must_be_of(["1", "2", "3", "4"]), Err(missing));
    }

    #[test]
    fn sheets_of_several_raters_are_joined_by_id() {
        let read = |text| read_sheet(text, Scale::Binary).unwrap();
        let mut all = read("id,rating A,rating B\n1,1,\n2,0,\n");
        all.join(&read("id,rating A,rating B\n2,,1\n1,,1\n3,,0\n")).unwrap();
        assert_eq!(all.raters, ["A", "B"]);
        let ids: Vec<_> = all.rows.iter().map(|(id, ratings)| (id.as_str(), ratings.as_slice())).collect();
        assert_eq!(
            ids,
            [("1", &[Some(1.0), Some(1.0)][..]), ("2", &[Some(0.0), Some(1.0)]), ("3", &[None, Some(0.0)])]
        );
        assert_eq!(all.unanimous(), BTreeSet::from(["1"]));
        let again = all.join(&read("id,rating B\n3,1\n"));
        assert_eq!(again, Err(SheetError::RatedTwice { rater: "B".to_owned(), id: "3".to_owned() }));
    }
}
