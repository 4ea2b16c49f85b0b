//! Flights, in columns: 28 bytes a row, so that the 3.8 million rows of the published table take about 107 MB.
//!
//! Rows lie in the order of their leg (origin, destination, day), and within a leg in that of the file, so a leg is two
//! binary searches. An index of four bytes a row finds flight numbers.

use std::collections::BTreeMap;

use super::times::{clock, elapsed};

/// Cents of a dollar.
const CENTS: f64 = 100.0;

/// A flight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flight<'t> {
    code: u32,
    /// For one person, in US cents.
    pub cents: i32,
    /// Minutes of the day.
    pub departure: u16,
    /// Minutes of the day.
    pub arrival: u16,
    /// Minutes in the air.
    pub minutes: u16,
    /// Such as `2022-03-16`.
    pub date: &'t str,
    /// Where it starts.
    pub origin: &'t str,
    /// Where it lands.
    pub destination: &'t str,
    /// How far that is.
    pub miles: f32,
}

impl Flight<'_> {
    /// Its number, such as `F3573659`.
    pub fn number(&self) -> String {
        number_of(self.code)
    }

    /// For one person, in US dollars.
    pub fn price(&self) -> f64 {
        f64::from(self.cents) / CENTS
    }

    /// When it starts, such as `06:05`.
    pub fn departs(&self) -> String {
        clock(self.departure)
    }

    /// When it lands, such as `06:05`.
    pub fn arrives(&self) -> String {
        clock(self.arrival)
    }

    /// How long it takes, such as `2 hours 24 minutes`.
    pub fn takes(&self) -> String {
        elapsed(self.minutes)
    }
}

/// All flights.
#[derive(Debug, Clone, Default)]
pub struct Flights {
    pub(super) columns: Columns,
    /// Rows in the order of their numbers; rows of one number in the order of the file.
    pub(super) by_number: Vec<u32>,
    pub(super) cities: Names,
    pub(super) dates: Names,
}

/// One value a row in each.
#[derive(Debug, Clone, Default)]
pub(super) struct Columns {
    pub(super) code: Vec<u32>,
    pub(super) cents: Vec<i32>,
    pub(super) departure: Vec<u16>,
    pub(super) arrival: Vec<u16>,
    pub(super) minutes: Vec<u16>,
    pub(super) date: Vec<u16>,
    pub(super) origin: Vec<u16>,
    pub(super) destination: Vec<u16>,
    pub(super) miles: Vec<f32>,
}

impl Columns {
    /// What rows are sorted by.
    pub(super) fn leg(&self, row: usize) -> Option<[u16; 3]> {
        Some([*self.origin.get(row)?, *self.destination.get(row)?, *self.date.get(row)?])
    }
}

/// Texts with numbers, from 0 in the order in which they came.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    numbers: BTreeMap<String, u16>,
    names: Vec<String>,
}

impl Names {
    /// The number of a name; nothing if there are too many.
    pub(super) fn add(&mut self, name: &str) -> Option<u16> {
        if let Some(&number) = self.numbers.get(name) {
            return Some(number);
        }
        let number = u16::try_from(self.names.len()).ok()?;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        Some(number)
    }

    fn number(&self, name: &str) -> Option<u16> {
        self.numbers.get(name).copied()
    }

    fn name(&self, number: u16) -> &str {
        self.names.get(usize::from(number)).map_or("", String::as_str)
    }
}

impl Flights {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.columns.code.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Those of a leg on a day such as `2022-03-16`, in the order of the file. Costs two binary searches.
    pub fn on(&self, origin: &str, destination: &str, date: &str) -> impl Iterator<Item = Flight<'_>> {
        let leg = || {
            Some([self.cities.number(origin)?, self.cities.number(destination)?, self.dates.number(date)?])
        };
        let rows = leg().map_or(0..0, |leg| self.first_row(|it| it < leg)..self.first_row(|it| it <= leg));
        rows.filter_map(|row| self.row(row))
    }

    /// Those with a number such as `F3573659`, in the order of the file.
    pub fn numbered(&self, number: &str) -> impl Iterator<Item = Flight<'_>> {
        let rows = code_of(number).map_or(&[][..], |code| {
            let of = |row: u32| self.columns.code.get(row as usize).copied().unwrap_or_default();
            let begin = self.by_number.partition_point(|&row| of(row) < code);
            let rest = self.by_number.get(begin..).unwrap_or_default();
            rest.get(..rest.partition_point(|&row| of(row) <= code)).unwrap_or_default()
        });
        rows.iter().filter_map(|&row| self.row(row as usize))
    }

    /// How many bytes the columns and the index take.
    pub fn bytes(&self) -> usize {
        let columns = &self.columns;
        let words = [columns.code.capacity(), columns.cents.capacity(), columns.miles.capacity()];
        let halves = [&columns.departure, &columns.arrival, &columns.minutes, &columns.date];
        let ends = [&columns.origin, &columns.destination];
        let halves = halves.into_iter().chain(ends).map(Vec::capacity).sum::<usize>();
        4 * (words.into_iter().sum::<usize>() + self.by_number.capacity()) + 2 * halves
    }

    /// The first row whose leg does not come before.
    fn first_row(&self, is_before: impl Fn([u16; 3]) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.columns.leg(middle).is_some_and(&is_before) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn row(&self, row: usize) -> Option<Flight<'_>> {
        let columns = &self.columns;
        let [origin, destination, date] = columns.leg(row)?;
        Some(Flight {
            code: *columns.code.get(row)?,
            cents: *columns.cents.get(row)?,
            departure: *columns.departure.get(row)?,
            arrival: *columns.arrival.get(row)?,
            minutes: *columns.minutes.get(row)?,
            date: self.dates.name(date),
            origin: self.cities.name(origin),
            destination: self.cities.name(destination),
            miles: *columns.miles.get(row)?,
        })
    }
}

/// How many digits a flight number may have, so that it fits into four bytes with a leading one that keeps zeros.
const DIGITS_MAX: usize = 9;

/// The number of a text such as `F0123`: its digits behind a one.
pub(super) fn code_of(number: &str) -> Option<u32> {
    let digits = number.strip_prefix('F')?;
    let are_digits = (1..=DIGITS_MAX).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_digit());
    are_digits.then(|| digits.bytes().fold(1, |code, digit| code * 10 + u32::from(digit - b'0')))
}

fn number_of(code: u32) -> String {
    let digits = code.to_string();
    format!("F{}", digits.get(1..).unwrap_or_default())
}
