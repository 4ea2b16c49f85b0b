//! A row as numbers, and the names that they refer to.

use std::collections::BTreeMap;

/// Origin, destination and day, as indices into [`FlightNames`].
pub type Leg = [u16; 3];

/// A row of the table of flights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlightRow {
    /// Its route and day.
    pub leg: Leg,
    /// The code of its number, from [`code_of`].
    pub code: u32,
    /// The price for one person, in US cents.
    pub cents: i32,
    /// The departure, in minutes of the day.
    pub departure: u16,
    /// The arrival, in minutes of the day.
    pub arrival: u16,
    /// The flight time in minutes.
    pub minutes: u16,
    /// The distance in miles.
    pub miles: f32,
}

/// The names to which the numbers in rows refer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlightNames {
    /// The names of cities.
    pub cities: Names,
    /// The dates, such as `2022-03-16`.
    pub dates: Names,
}

/// Texts with numbers, assigned from 0 in the order of insertion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    numbers: BTreeMap<String, u16>,
    names: Vec<String>,
}

impl Names {
    /// The number of a name, which is assigned if it has none; `None` if there are too many names.
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

    /// The name with a number, or an empty text if there is none.
    pub fn name(&self, number: u16) -> &str {
        self.names.get(usize::from(number)).map_or("", String::as_str)
    }

    /// All names, in the order of their numbers.
    pub fn all(&self) -> &[String] {
        &self.names
    }
}

/// Maximum number of digits of a flight number, so that it fits into four bytes with a leading 1, which preserves
/// zeros.
const DIGITS_MAX: usize = 9;

/// The code of a number such as `F0123`: its digits after a leading 1.
pub fn code_of(number: &str) -> Option<u32> {
    let digits = number.strip_prefix('F')?;
    let are_digits = (1..=DIGITS_MAX).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_digit());
    are_digits.then(|| digits.bytes().fold(1, |code, digit| code * 10 + u32::from(digit - b'0')))
}

/// The number that a code stands for.
pub(super) fn number_of(code: u32) -> String {
    let digits = code.to_string();
    format!("F{}", digits.get(1..).unwrap_or_default())
}
