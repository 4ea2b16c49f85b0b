//! A row as numbers, and the names behind them.

use std::collections::BTreeMap;

/// Origin, destination and day as numbers of [`FlightNames`].
pub type Leg = [u16; 3];

/// A row of the table of flights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlightRow {
    /// Where and when it goes.
    pub leg: Leg,
    /// The code of its number, as by [`code_of`].
    pub code: u32,
    /// For one person, in US cents.
    pub cents: i32,
    /// Minutes of the day.
    pub departure: u16,
    /// Minutes of the day.
    pub arrival: u16,
    /// Minutes in the air.
    pub minutes: u16,
    /// How far it is.
    pub miles: f32,
}

/// The names that rows give by their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlightNames {
    /// Of cities.
    pub cities: Names,
    /// Of days, such as `2022-03-16`.
    pub dates: Names,
}

/// Texts with numbers, from 0 in the order in which they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    numbers: BTreeMap<String, u16>,
    names: Vec<String>,
}

impl Names {
    /// The number of a name, which it gets now if it has none; nothing if there are too many.
    pub fn add(&mut self, name: &str) -> Option<u16> {
        if let Some(&number) = self.numbers.get(name) {
            return Some(number);
        }
        let number = u16::try_from(self.names.len()).ok()?;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        Some(number)
    }

    /// The number of a name.
    pub fn number(&self, name: &str) -> Option<u16> {
        self.numbers.get(name).copied()
    }

    /// The name with a number, or an empty text where there is none.
    pub fn name(&self, number: u16) -> &str {
        self.names.get(usize::from(number)).map_or("", String::as_str)
    }

    /// All names in the order of their numbers.
    pub fn all(&self) -> &[String] {
        &self.names
    }
}

/// How many digits a flight number may have, so that it fits into four bytes with a leading one that keeps zeros.
const DIGITS_MAX: usize = 9;

/// The number of a text such as `F0123`: its digits behind a one.
pub fn code_of(number: &str) -> Option<u32> {
    let digits = number.strip_prefix('F')?;
    let are_digits = (1..=DIGITS_MAX).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_digit());
    are_digits.then(|| digits.bytes().fold(1, |code, digit| code * 10 + u32::from(digit - b'0')))
}

/// The text of a code.
pub(super) fn number_of(code: u32) -> String {
    let digits = code.to_string();
    format!("F{}", digits.get(1..).unwrap_or_default())
}
