//! Loads a table of flights into memory.

use std::sync::Arc;

use super::Flights;
use super::columns::{Columns, Table};
use super::reader::FlightReader;
use crate::tables::sheet::TableError;

/// Accepts the lines of the table one at a time, header first, and keeps all rows in memory.
///
/// While loading, a row takes 24 bytes; [`FlightsBuilder::finish`] temporarily needs 16 more.
#[derive(Debug, Clone)]
pub struct FlightsBuilder {
    reader: FlightReader,
    columns: Columns,
}

impl FlightsBuilder {
    /// Starts a file. Its name is used in errors.
    pub fn new(file: &str) -> Self {
        Self { reader: FlightReader::new(file), columns: Columns::default() }
    }

    /// Adds the next line, with or without its line break. Blank lines, and rows with an empty cell, are skipped.
    ///
    /// # Errors
    /// What is wrong with the line.
    pub fn line(&mut self, line: &str) -> Result<(), TableError> {
        self.line_bytes(line.as_bytes())
    }

    /// Adds the next line, given as bytes, as [`FlightsBuilder::line`] does.
    ///
    /// # Errors
    /// What is wrong with the line; it may be that the bytes are not UTF-8.
    pub fn line_bytes(&mut self, line: &[u8]) -> Result<(), TableError> {
        if let Some(row) = self.reader.line_bytes(line)? {
            // Rows are numbered with 32 bits.
            if u32::try_from(self.len()).is_err() {
                return Err(self.reader.fault("there are more than 4 billion flights"));
            }
            self.columns.push(&row);
        }
        Ok(())
    }

    /// The number of flights so far.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are no flights so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sorts the rows. Takes `n log n` time for `n` rows.
    pub fn finish(self) -> Flights {
        Flights::new(self.reader.names().clone(), Arc::new(Table::new(self.columns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Flight;

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
        assert_eq!(all.numbered_between("F9", "B", "A").count(), 2);
        assert_eq!(all.numbered_between("F9", "A", "B").count(), 0);
        assert_eq!(all.cheapest("B", "A", "2022-03-28").as_ref().map(Flight::number).as_deref(), Some("F3"));
        assert_eq!((all.len(), Flights::default().len()), (4, 0));
    }

    #[test]
    fn broken_lines_are_errors_with_their_place() {
        let good = "F9,557,19:27,22:30,6 hours 3 minutes,2022-03-28,B,A,2218.0";
        for (from, to, what) in [
            ("F9", "9", "f.csv:3: `Flight Number` is \"9\"; write F and up to nine digits"),
            ("557", "much", "f.csv:3: `Price` is \"much\"; write dollars, from 0 to 20000000"),
            ("557", "inf", "f.csv:3: `Price` is \"inf\"; write dollars, from 0 to 20000000"),
            ("557", "-1", "f.csv:3: `Price` is \"-1\"; write dollars, from 0 to 20000000"),
            ("2218.0", "inf", "f.csv:3: `Distance` is \"inf\"; write miles, from 0 to 12500"),
            ("2218.0", "-1", "f.csv:3: `Distance` is \"-1\"; write miles, from 0 to 12500"),
            ("2218.0", "NAN", "f.csv:3: `Distance` is \"NAN\"; write miles, from 0 to 12500"),
            ("2218.0", "1e9", "f.csv:3: `Distance` is \"1e9\"; write miles, from 0 to 12500"),
            (
                "03-28",
                "02-31",
                "f.csv:3: `FlightDate` is \"2022-02-31\"; write a day of the calendar as 2022-03-16",
            ),
            (
                "-28",
                "-2\0",
                "f.csv:3: `FlightDate` is \"2022-03-2\\0\"; write a day of the calendar as 2022-03-16",
            ),
            (
                ",A",
                ",A\u{1b}[2J",
                "f.csv:3: `DestCityName` is \"A\\u{1b}[2J\"; write the name of a city, without control characters",
            ),
            (
                ",B",
                ",B\u{85}",
                "f.csv:3: `OriginCityName` is \"B\\u{85}\"; write the name of a city, without control characters",
            ),
            ("19:27", "19:77", "f.csv:3: `DepTime` is \"19:77\"; write a time as 06:05"),
            (",A", "", "f.csv:3: it has 8 cells, the header has 9; is the file cut off?"),
        ] {
            let error = flights(&[good, &good.replace(from, to)]).expect_err("a fault");
            assert_eq!(error.to_string(), what);
        }
        let error = FlightsBuilder::new("f.csv").line_bytes(b"a,\xffb").expect_err("bytes");
        assert_eq!(error.to_string(), "f.csv:1: it is not UTF-8; write the file in UTF-8");
        let error = FlightsBuilder::new("f.csv").line("a,b").expect_err("no header");
        assert_eq!(error.to_string(), "f.csv:1: there is no column `Flight Number` in the header");
    }
}
