//! Made-up flights, as many as one likes.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use planproof_trace::Draw;

/// As many as the published table has.
const CITIES: u32 = 311;
/// Ways between two cities. The published table has some thousand.
const WAYS: u32 = 6_000;
/// From the first of January on.
const DAYS: u32 = 90;
const DAYS_OF_MONTH: u32 = 30;
const MINUTES_OF_DAY: u32 = 24 * 60;

/// A row: what one asks for, and its line.
pub(crate) struct Row {
    pub(crate) number: String,
    pub(crate) date: String,
    pub(crate) origin: String,
    pub(crate) destination: String,
}

/// The row of a place, and its line without a line break. Days and ways are in no order, as the worst for an index.
pub(crate) fn row(seed: u64, place: u32, line: &mut String) -> Row {
    let mut draw = Draw::new(seed, u64::from(place), "flight");
    let mut way = Draw::new(seed, u64::from(draw.below(WAYS)), "way");
    let (from, by) = (way.below(CITIES), 1 + way.below(CITIES - 1));
    let (day, departure, minutes) = (draw.below(DAYS), draw.below(MINUTES_OF_DAY), 40 + draw.below(320));
    let city = |number: u32| format!("City of Number {}", number % CITIES);
    let row = Row {
        number: format!("F{:07}", 3_000_000 + place),
        date: format!("2022-{:02}-{:02}", day / DAYS_OF_MONTH + 1, day % DAYS_OF_MONTH + 1),
        origin: city(from),
        destination: city(from + by),
    };
    let clock = |minutes: u32| format!("{:02}:{:02}", minutes % MINUTES_OF_DAY / 60, minutes % 60);
    line.clear();
    // Writing into a text cannot fail.
    let _ = write!(
        line,
        "{},{},{},{},{} hours {} minutes,{},{},{},{}.0",
        row.number,
        30 + draw.below(900),
        clock(departure),
        clock(departure + minutes),
        minutes / 60,
        minutes % 60,
        row.date,
        row.origin,
        row.destination,
        minutes * 8,
    );
    row
}

/// Writes a table of so many rows.
pub(crate) fn write(path: &Path, seed: u64, rows: u32) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    out.write_all(
        b"Flight Number,Price,DepTime,ArrTime,ActualElapsedTime,FlightDate,OriginCityName,DestCityName,Distance\n",
    )?;
    let mut line = String::new();
    for place in 0..rows {
        row(seed, place, &mut line);
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    out.flush()
}
