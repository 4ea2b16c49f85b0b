//! Parses flights line by line, because the published table is too large to keep as text.

use csv::{ReaderBuilder, StringRecord};

use super::row::{FlightNames, FlightRow, code_of};
use crate::query::is_date;
use crate::tables::sheet::{self, TableError};
use crate::tables::times::{read_clock, read_elapsed};

/// The columns, in the order in which their cells are used.
const COLUMNS: [&str; 9] = [
    "Flight Number",
    "Price",
    "DepTime",
    "ArrTime",
    "ActualElapsedTime",
    "FlightDate",
    "OriginCityName",
    "DestCityName",
    "Distance",
];

/// Maximum number of cells of a row.
const CELLS_MAX: usize = 64;

/// The maximum price in dollars, so that cents fit.
const PRICE_MAX: f64 = 20_000_000.0;

/// The maximum distance in miles: no two places on earth are farther apart.
const MILES_MAX: f32 = 12_500.0;

/// Parses the lines of the table one at a time, header first.
#[derive(Debug, Clone)]
pub struct FlightReader {
    file: String,
    line: u64,
    /// The positions of [`COLUMNS`], and the number of cells; set by the header.
    header: Option<([usize; COLUMNS.len()], usize)>,
    names: FlightNames,
}

impl FlightReader {
    /// Starts a file. Its name is used in errors.
    pub fn new(file: &str) -> Self {
        Self { file: file.to_owned(), line: 0, header: None, names: FlightNames::default() }
    }

    /// Parses the next line, with or without its line break. Returns `None` for the header, blank lines, and rows
    /// with an empty cell. Takes less than a microsecond.
    ///
    /// # Errors
    /// What is wrong with the line.
    pub fn line(&mut self, line: &str) -> Result<Option<FlightRow>, TableError> {
        self.line += 1;
        let line = line.trim_end_matches(['\n', '\r']);
        if line.is_empty() {
            return Ok(None);
        }
        // Few lines have quotes. All others are split without the CSV parser and without an allocation.
        if line.contains('"') {
            let mut reader = ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
            let mut record = StringRecord::new();
            reader.read_record(&mut record).map_err(|error| self.fault(error.to_string()))?;
            let cells: Vec<&str> = record.iter().collect();
            return self.cells(&cells);
        }
        let mut cells = [""; CELLS_MAX];
        let mut count = 0;
        for (place, cell) in cells.iter_mut().zip(line.split(',')) {
            *place = cell;
            count += 1;
        }
        self.cells(cells.get(..count).unwrap_or_default())
    }

    /// Parses the next line, given as bytes, as [`FlightReader::line`] does.
    ///
    /// # Errors
    /// What is wrong with the line; it may be that the bytes are not UTF-8.
    pub fn line_bytes(&mut self, line: &[u8]) -> Result<Option<FlightRow>, TableError> {
        let Ok(text) = std::str::from_utf8(line) else {
            self.line += 1;
            return Err(self.fault("it is not UTF-8; write the file in UTF-8"));
        };
        self.line(text)
    }

    /// The names to which the numbers in the rows so far refer.
    pub fn names(&self) -> &FlightNames {
        &self.names
    }

    /// Creates an error in the last line.
    pub fn fault(&self, what: impl Into<String>) -> TableError {
        TableError::at(&self.file, self.line, what)
    }

    fn cells(&mut self, cells: &[&str]) -> Result<Option<FlightRow>, TableError> {
        let Some((places, count)) = self.header else {
            let mut places = [0; COLUMNS.len()];
            for (place, name) in places.iter_mut().zip(COLUMNS) {
                let at = cells.iter().position(|cell| cell.trim_start_matches('\u{feff}') == name);
                *place =
                    at.ok_or_else(|| self.fault(format!("there is no column `{name}` in the header")))?;
            }
            self.header = Some((places, cells.len()));
            return Ok(None);
        };
        // A line break within quotes also shows here, because the table is read line by line.
        if cells.len() != count {
            let what = format!("it has {} cells, the header has {count}; is the file cut off?", cells.len());
            return Err(self.fault(what));
        }
        let cells = places.map(|at| cells.get(at).copied().unwrap_or_default());
        if cells.iter().any(|cell| sheet::is_empty(cell)) {
            return Ok(None);
        }
        self.row(cells).map(Some)
    }

    fn row(&mut self, cells: [&str; COLUMNS.len()]) -> Result<FlightRow, TableError> {
        let [number, price, departure, arrival, elapsed, date, origin, destination, miles] = cells;
        let code = code_of(number).ok_or_else(|| self.wrong(0, number, "F and up to nine digits"))?;
        let dollars: Option<f64> = price.parse().ok().filter(|price| (0.0..=PRICE_MAX).contains(price));
        let dollars = dollars.ok_or_else(|| self.wrong(1, price, "dollars, from 0 to 20000000"))?;
        let departure = read_clock(departure).ok_or_else(|| self.wrong(2, departure, "a time as 06:05"))?;
        let arrival = read_clock(arrival).ok_or_else(|| self.wrong(3, arrival, "a time as 06:05"))?;
        let minutes = read_elapsed(elapsed).ok_or_else(|| self.wrong(4, elapsed, "as 2 hours 24 minutes"))?;
        let distance: Option<f32> = miles.parse().ok().filter(|miles| (0.0..=MILES_MAX).contains(miles));
        let miles = distance.ok_or_else(|| self.wrong(8, miles, "miles, from 0 to 12500"))?;
        // A name that has a number was looked at when it got it.
        if self.names.dates.number(date).is_none() && !is_date(date) {
            return Err(self.wrong(5, date, "a day of the calendar as 2022-03-16"));
        }
        for (column, city) in [(6, origin), (7, destination)] {
            if self.names.cities.number(city).is_none() && city.contains(char::is_control) {
                return Err(self.wrong(column, city, "the name of a city, without control characters"));
            }
        }
        let FlightNames { cities, dates } = &mut self.names;
        let leg = cities.add(origin).zip(cities.add(destination)).zip(dates.add(date));
        let ((origin, destination), date) =
            leg.ok_or_else(|| self.fault("there are too many cities or dates"))?;
        let leg = [origin, destination, date];
        Ok(FlightRow {
            leg,
            code,
            cents: (dollars * super::CENTS).round() as i32,
            departure,
            arrival,
            minutes,
            miles,
        })
    }

    fn wrong(&self, column: usize, cell: &str, wanted: &str) -> TableError {
        let name = COLUMNS.get(column).copied().unwrap_or_default();
        self.fault(format!("`{name}` is {cell:?}; write {wanted}"))
    }
}
