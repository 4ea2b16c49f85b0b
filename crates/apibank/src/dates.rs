//! Dates and times as the original parses them: `strptime` of Python 3.11 with its error texts, and the normalization
//! that several tools apply first.

use std::fmt::Write;

use crate::api::PythonError;
use crate::python::{is_space, repr_of_text, strip};
use crate::value::PythonValue;

/// Which parts of a date a text contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateFormat {
    /// `2023-04-12`
    Date,
    /// `2023-04-12 08:30:00`
    Time,
    /// `04-12`, in the year 1900.
    MonthDay,
}

impl DateFormat {
    /// The pattern for `strptime`, which appears in error texts.
    pub fn pattern(self) -> &'static str {
        match self {
            Self::Date => "%Y-%m-%d",
            Self::Time => "%Y-%m-%d %H:%M:%S",
            Self::MonthDay => "%m-%d",
        }
    }
}

/// A point in time without a time zone. Later ones are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalDateTime {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
}

/// The year of a text without one.
const YEAR: u32 = 1900;

impl LocalDateTime {
    /// The format of `strftime` on Linux: the year without leading zeros, everything else with two digits.
    pub fn write(&self, format: DateFormat) -> String {
        let mut text = String::new();
        let Self { year, month, day, hour, minute, second } = self;
        if format != DateFormat::MonthDay {
            let _ = write!(text, "{year}-");
        }
        let _ = write!(text, "{month:02}-{day:02}");
        if format == DateFormat::Time {
            let _ = write!(text, " {hour:02}:{minute:02}:{second:02}");
        }
        text
    }

    /// Rejects values that the fields can hold but the calendar lacks.
    fn check(self) -> Result<Self, PythonError> {
        let wrong = |text: &str| Err(PythonError::new("ValueError", text));
        // In the order of Python's `datetime`, which reports only the first fault.
        if self.year == 0 {
            return wrong("year 0 is out of range");
        }
        let is_leap =
            self.year.is_multiple_of(4) && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        let days = match self.month {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        if self.day > days {
            return wrong("day is out of range for month");
        }
        // The pattern admits leap seconds up to 61, which `datetime` then rejects.
        if self.second > 59 {
            return wrong("second must be in 0..59");
        }
        Ok(self)
    }
}

/// A part of a pattern: a number, which tries these forms in order, or a character.
#[derive(Clone, Copy)]
enum Part {
    Year,
    Month,
    Day,
    Hour,
    Sixty,
    Seconds,
    Is(char),
    Spaces,
}

const DATE: [Part; 5] = [Part::Year, Part::Is('-'), Part::Month, Part::Is('-'), Part::Day];
const CLOCK: [Part; 6] = [Part::Spaces, Part::Hour, Part::Is(':'), Part::Sixty, Part::Is(':'), Part::Seconds];

/// Parses a text as `datetime.strptime` does, which also accepts single digits for months and other parts.
///
/// # Errors
/// `ValueError` in Python's words.
pub fn strptime(text: &str, format: DateFormat) -> Result<LocalDateTime, PythonError> {
    let parts: &[&[Part]] = match format {
        DateFormat::Date => &[&DATE],
        DateFormat::Time => &[&DATE, &CLOCK],
        DateFormat::MonthDay => &[&DATE[2..]],
    };
    let mut moment = LocalDateTime { year: YEAR, month: 1, day: 1, hour: 0, minute: 0, second: 0 };
    let mut rest = text;
    for part in parts.iter().copied().flatten() {
        let Some(after) = take(*part, rest, &mut moment) else {
            let (text, pattern) = (repr_of_text(text), format.pattern());
            return Err(PythonError::new(
                "ValueError",
                format!("time data {text} does not match format '{pattern}'"),
            ));
        };
        rest = after;
    }
    // Before the check of the calendar, because Python matches the whole text before it makes a date.
    if !rest.is_empty() {
        return Err(PythonError::new("ValueError", format!("unconverted data remains: {rest}")));
    }
    moment.check()
}

/// The text after this part. A shorter match would never help a later part, so none is tried.
fn take<'t>(part: Part, text: &'t str, moment: &mut LocalDateTime) -> Option<&'t str> {
    // Bytes are enough: no byte of a longer character is a digit or a blank.
    let mut bytes = text.bytes();
    let [first, second] = [bytes.next(), bytes.next()];
    let digit = |byte: Option<u8>| byte.filter(u8::is_ascii_digit).map(|byte| u32::from(byte - b'0'));
    let (one, other) = (digit(first), digit(second));
    let two = one.zip(other).map(|(one, other)| 10 * one + other);
    let two = |most: u32| two.filter(|number| *number <= most);
    let (slot, number, length) = match part {
        Part::Is(character) => return text.strip_prefix(character),
        Part::Spaces => {
            let after = text.trim_start_matches(is_space);
            return (after.len() < text.len()).then_some(after);
        }
        Part::Year => {
            // Exactly four digits, as for Python's `%Y`, which is why some tools pad the year first.
            let digits = text.get(..4).filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()))?;
            (&mut moment.year, digits.parse().ok()?, 4)
        }
        Part::Month => one_or_two(&mut moment.month, two(12), one, 1)?,
        // Python's pattern for days also accepts a blank and one digit.
        Part::Day if first == Some(b' ') => (&mut moment.day, other.filter(|it| *it > 0)?, 2),
        Part::Day => one_or_two(&mut moment.day, two(31), one, 1)?,
        Part::Hour => one_or_two(&mut moment.hour, two(23), one, 0)?,
        Part::Sixty => one_or_two(&mut moment.minute, two(59), one, 0)?,
        Part::Seconds => one_or_two(&mut moment.second, two(61), one, 0)?,
    };
    *slot = number;
    text.get(length..)
}

/// Two digits within the range, or else one.
fn one_or_two(
    slot: &mut u32,
    two: Option<u32>,
    one: Option<u32>,
    least: u32,
) -> Option<(&mut u32, u32, usize)> {
    if let Some(number) = two.filter(|number| *number >= least) {
        return Some((slot, number, 2));
    }
    Some((slot, one.filter(|number| *number >= least)?, 1))
}

/// Same as [`strptime`], for any value.
///
/// # Errors
/// `ValueError`, or `TypeError` if the value is not a text.
pub fn strptime_value(value: &PythonValue, format: DateFormat) -> Result<LocalDateTime, PythonError> {
    match value {
        PythonValue::Text(text) => strptime(text, format),
        other => Err(PythonError::types(format!("strptime() argument 1 must be str, not {}", other.class()))),
    }
}

/// The helper of the original: trims the text, pads the year with zeros to four characters if the text has three
/// parts separated by `-`, and parses it.
///
/// # Errors
/// Same as [`strptime`].
pub fn lenient(text: &str, format: DateFormat) -> Result<LocalDateTime, PythonError> {
    let text = strip(text);
    let year = text.split('-').next().unwrap_or_default();
    if text.matches('-').count() != 2 || year.chars().count() >= 4 {
        return strptime(text, format);
    }
    // `zfill` inserts the zeros after a sign.
    let (sign, digits) = if year.starts_with('+') { year.split_at(1) } else { ("", year) };
    let zeros = "0".repeat(4 - year.chars().count());
    strptime(&format!("{sign}{zeros}{digits}{}", &text[year.len()..]), format)
}

/// Whether two results are equal in the original, where two errors are never equal.
pub fn are_equal<T: PartialEq>(one: &Result<T, PythonError>, other: &Result<T, PythonError>) -> bool {
    matches!((one, other), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(text: &str, format: DateFormat) -> String {
        strptime(text, format).map_or_else(|error| error.text, |moment| moment.write(format))
    }

    #[test]
    fn errors_are_those_of_python() {
        let date = |text| text_of(text, DateFormat::Date);
        assert_eq!(date("2023-4-1"), "2023-04-01");
        assert_eq!(date("2023-04- 1"), "2023-04-01");
        assert_eq!(date("2023-04-32"), "unconverted data remains: 2");
        assert_eq!(date("2023-04-31"), "day is out of range for month");
        assert_eq!(date("2023-02-29"), "day is out of range for month");
        assert_eq!(date("2024-02-29"), "2024-02-29");
        assert_eq!(date("2023-04-01 00:00:00"), "unconverted data remains:  00:00:00");
        assert_eq!(date("0000-01-01"), "year 0 is out of range");
        for text in ["2023-13-01", "2023/04/01", "23-04-01", "2023-04-0", " 2023-04-01", "", "2023-04-é"] {
            let repr = repr_of_text(text);
            assert_eq!(date(text), format!("time data {repr} does not match format '%Y-%m-%d'"));
        }
        let time = |text| text_of(text, DateFormat::Time);
        assert_eq!(time("2023-04-01   1:2:3"), "2023-04-01 01:02:03");
        assert_eq!(time("2023-04-01 23:59:61"), "second must be in 0..59");
        assert_eq!(time("2023-04-01 23:59:75"), "unconverted data remains: 5");
        for text in
            ["2023-04-32 10:00:00", "2023-04-01T10:00:00", "2023-04-01 24:00:00", "2023-04-01 10:60:00"]
        {
            assert!(time(text).starts_with("time data '"), "{text}");
        }
        assert_eq!(text_of("4-1", DateFormat::MonthDay), "04-01");
        assert_eq!(text_of("02-29", DateFormat::MonthDay), "day is out of range for month");
    }

    #[test]
    fn the_helper_pads_years() {
        let read = |text| lenient(text, DateFormat::Date).map(|it| it.write(DateFormat::Date));
        assert_eq!(read(" 23-4-1 "), Ok("23-04-01".to_owned()));
        assert_eq!(read("0023-04-01"), read("23-4-1"));
        assert!(read("+2-4-1").unwrap_err().text.contains("'+002-4-1'"));
        assert!(read("12023-4-1").is_err());
        assert!(!are_equal(&read("x"), &read("x")));
        assert!(are_equal(&read("2023-4-1"), &read("2023-04-01")));
    }
}
