//! Reads flights line by line, because the published table is longer than what one wants to hold as text.

use csv::{ReaderBuilder, StringRecord};

use super::flights::{Columns, Flights, Names, code_of};
use super::sheet::{self, TableError};
use super::times::{read_clock, read_elapsed};

/// The columns in the order in which the cells are handed on.
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

/// How many cells a row may have.
const CELLS_MAX: usize = 64;

/// The highest price in dollars, so that cents fit.
const PRICE_MAX: f64 = 20_000_000.0;

/// Takes the lines of the table one after the other, the header first.
///
/// While it is read, a row takes 24 bytes; [`FlightsBuilder::finish`] takes 16 more for a while.
#[derive(Debug, Clone)]
pub struct FlightsBuilder {
    file: String,
    line: u64,
    /// Where each of [`COLUMNS`] stands, once the header was read, and how many cells there are.
    header: Option<([usize; COLUMNS.len()], usize)>,
    columns: Columns,
    cities: Names,
    dates: Names,
}

impl FlightsBuilder {
    /// Begins to read a file, whose name is for errors.
    pub fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            line: 0,
            header: None,
            columns: Columns::default(),
            cities: Names::default(),
            dates: Names::default(),
        }
    }

    /// Takes the next line, without or with its line break. Blank lines, and rows with an empty cell, are skipped.
    ///
    /// # Errors
    /// What is wrong with the line.
    pub fn line(&mut self, line: &str) -> Result<(), TableError> {
        self.line += 1;
        let line = line.trim_end_matches(['\n', '\r']);
        if line.is_empty() {
            return Ok(());
        }
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

    /// How many flights there are so far.
    pub fn len(&self) -> usize {
        self.columns.code.len()
    }

    /// Whether there are none so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn fault(&self, what: impl Into<String>) -> TableError {
        TableError::at(&self.file, self.line, what)
    }

    fn cells(&mut self, cells: &[&str]) -> Result<(), TableError> {
        let Some((places, count)) = self.header else {
            let mut places = [0; COLUMNS.len()];
            for (place, name) in places.iter_mut().zip(COLUMNS) {
                let at = cells.iter().position(|cell| cell.trim_start_matches('\u{feff}') == name);
                *place =
                    at.ok_or_else(|| self.fault(format!("there is no column `{name}` in the header")))?;
            }
            self.header = Some((places, cells.len()));
            return Ok(());
        };
        if cells.len() != count {
            let what = format!("it has {} cells, the header has {count}; is the file cut off?", cells.len());
            return Err(self.fault(what));
        }
        let cells = places.map(|at| cells.get(at).copied().unwrap_or_default());
        if cells.iter().any(|cell| sheet::is_empty(cell)) {
            return Ok(());
        }
        self.row(cells)
    }

    fn row(&mut self, cells: [&str; COLUMNS.len()]) -> Result<(), TableError> {
        let [number, price, departure, arrival, elapsed, date, origin, destination, miles] = cells;
        if u32::try_from(self.len()).is_err() {
            return Err(self.fault("there are more than 4 billion flights"));
        }
        let code = code_of(number).ok_or_else(|| self.wrong(0, number, "F and up to nine digits"))?;
        let dollars: Option<f64> = price.parse().ok().filter(|price| (0.0..=PRICE_MAX).contains(price));
        let dollars = dollars.ok_or_else(|| self.wrong(1, price, "dollars"))?;
        let departure = read_clock(departure).ok_or_else(|| self.wrong(2, departure, "a time as 06:05"))?;
        let arrival = read_clock(arrival).ok_or_else(|| self.wrong(3, arrival, "a time as 06:05"))?;
        let minutes = read_elapsed(elapsed).ok_or_else(|| self.wrong(4, elapsed, "as 2 hours 24 minutes"))?;
        let miles: f32 = miles.parse().map_err(|_| self.wrong(8, miles, "miles"))?;
        let date = self.dates.add(date).ok_or_else(|| self.fault("there are too many dates"))?;
        let origin = self.cities.add(origin).ok_or_else(|| self.fault("there are too many cities"))?;
        let destination =
            self.cities.add(destination).ok_or_else(|| self.fault("there are too many cities"))?;
        let columns = &mut self.columns;
        columns.code.push(code);
        columns.cents.push((dollars * 100.0).round() as i32);
        columns.departure.push(departure);
        columns.arrival.push(arrival);
        columns.minutes.push(minutes);
        columns.date.push(date);
        columns.origin.push(origin);
        columns.destination.push(destination);
        columns.miles.push(miles);
        Ok(())
    }

    fn wrong(&self, column: usize, cell: &str, wanted: &str) -> TableError {
        let name = COLUMNS.get(column).copied().unwrap_or_default();
        self.fault(format!("`{name}` is {cell:?}; write {wanted}"))
    }

    /// Sorts what was read. Takes `n log n` time for `n` rows.
    pub fn finish(self) -> Flights {
        let Self { mut columns, cities, dates, .. } = self;
        let rows = u32::try_from(columns.code.len()).unwrap_or(u32::MAX);
        let mut order: Vec<u32> = (0..rows).collect();
        order.sort_unstable_by_key(|&row| (columns.leg(row as usize), row));
        let mut by_number: Vec<u32> = (0..rows).collect();
        by_number.sort_unstable_by_key(|&row| (columns.code.get(row as usize).copied(), row));
        let mut place = vec![0; order.len()];
        for (at, &row) in (0..).zip(&order) {
            if let Some(place) = place.get_mut(row as usize) {
                *place = at;
            }
        }
        for row in &mut by_number {
            *row = place.get(*row as usize).copied().unwrap_or_default();
        }
        drop(place);
        reorder(&mut columns.code, &order);
        reorder(&mut columns.cents, &order);
        reorder(&mut columns.departure, &order);
        reorder(&mut columns.arrival, &order);
        reorder(&mut columns.minutes, &order);
        reorder(&mut columns.date, &order);
        reorder(&mut columns.origin, &order);
        reorder(&mut columns.destination, &order);
        reorder(&mut columns.miles, &order);
        Flights { columns, by_number, cities, dates }
    }
}

/// Puts a column into the order of rows.
fn reorder<T: Copy>(column: &mut Vec<T>, order: &[u32]) {
    let mut ordered = Vec::with_capacity(order.len());
    ordered.extend(order.iter().filter_map(|&row| column.get(row as usize)));
    *column = ordered;
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "Flight Number,Price,DepTime,ArrTime,ActualElapsedTime,FlightDate,OriginCityName,\
        DestCityName,Distance";

    fn flights(rows: &[&str]) -> Result<Flights, TableError> {
        let mut builder = FlightsBuilder::new("f.csv");
        builder.line(HEADER)?;
        for row in rows {
            builder.line(row)?;
        }
        Ok(builder.finish())
    }

    #[test]
    fn legs_and_numbers_are_found_in_the_order_of_the_file() {
        let all = flights(&[
            "F9,557,19:27,22:30,6 hours 3 minutes,2022-03-28,B,A,2218.0\r\n",
            "F007,30,11:47,12:34,0 hours 47 minutes,2022-03-09,A,\"B, C\",106.5",
            "F3,31,11:47,12:34,0 hours 47 minutes,2022-03-28,B,A,106.0",
            "F9,32,11:47,12:34,0 hours 47 minutes,2022-03-09,B,A,106.0",
            "F10,32,,12:34,0 hours 47 minutes,2022-03-09,B,A,106.0",
            "",
        ])
        .expect("flights");
        let numbers: Vec<String> = all.on("B", "A", "2022-03-28").map(|it| it.number()).collect();
        assert_eq!(numbers, ["F9", "F3"]);
        let prices: Vec<f64> = all.numbered("F9").map(|it| it.price()).collect();
        assert_eq!(prices, [557.0, 32.0]);
        let one = all.numbered("F007").next().expect("a flight");
        assert_eq!(
            (one.destination, one.miles, one.departs(), one.takes()),
            ("B, C", 106.5, "11:47".to_owned(), "0 hours 47 minutes".to_owned())
        );
        assert_eq!(
            [all.numbered("F7").count(), all.numbered("F").count(), all.numbered("F10").count()],
            [0; 3]
        );
        assert_eq!(all.on("A", "B", "2022-03-28").count() + all.on("B", "A", "2022-04-01").count(), 0);
        assert_eq!((all.len(), all.bytes()), (4, 4 * 28));
    }

    #[test]
    fn broken_lines_are_errors_with_their_place() {
        let good = "F9,557,19:27,22:30,6 hours 3 minutes,2022-03-28,B,A,2218.0";
        for (from, to, what) in [
            ("F9", "9", "f.csv:3: `Flight Number` is \"9\"; write F and up to nine digits"),
            ("557", "much", "f.csv:3: `Price` is \"much\"; write dollars"),
            ("19:27", "19:77", "f.csv:3: `DepTime` is \"19:77\"; write a time as 06:05"),
            (",A", "", "f.csv:3: it has 8 cells, the header has 9; is the file cut off?"),
        ] {
            let error = flights(&[good, &good.replace(from, to)]).expect_err("a fault");
            assert_eq!(error.to_string(), what);
        }
        let error = FlightsBuilder::new("f.csv").line("a,b").expect_err("no header");
        assert_eq!(error.to_string(), "f.csv:1: there is no column `Flight Number` in the header");
    }
}
