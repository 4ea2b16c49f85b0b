//! The values of candidates, and how they compare.

use std::collections::BTreeMap;
use std::fmt;

use super::number::{Number, NumberFault};
use super::time::{TimeNotation, read_time};

/// The most characters of a foreign text in a message.
const SHOWN_CHARACTERS_MAX: usize = 60;
/// The shortest unit that loses an `s` at its end: `nights` is `night`, but `ms` is not `m`.
const PLURAL_CHARACTERS_MIN: usize = 4;

/// The value of a field.
///
/// Its `Display` is for messages: texts are quoted and long ones are cut.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldValue {
    /// Texts are equal letter for letter. Some have further meanings: times (`10:40`), and numbers with a unit (`EUR
    /// 30`, `3 nights`).
    Text(String),
    /// An exact number.
    Number(Number),
    /// A truth value.
    Flag(bool),
    /// A list of texts, such as the amenities of a hotel.
    List(Vec<String>),
}

/// A candidate: its fields by name. A field may be missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    fields: BTreeMap<String, FieldValue>,
}

impl Record {
    /// The value of a field, if it is there.
    pub fn get(&self, field: &str) -> Option<&FieldValue> {
        self.fields.get(field)
    }

    /// Its fields, by name.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &FieldValue)> {
        self.fields.iter().map(|(field, value)| (field.as_str(), value))
    }

    /// How many fields it has.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether it has no field at all.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

/// Its fields with their values, for messages: long texts are cut.
impl fmt::Display for Record {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (field, value)) in self.fields().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            write!(out, "{comma}{field} {value}")?;
        }
        Ok(())
    }
}

impl<F: Into<String>, V: Into<FieldValue>> FromIterator<(F, V)> for Record {
    fn from_iter<I: IntoIterator<Item = (F, V)>>(fields: I) -> Self {
        Self { fields: fields.into_iter().map(|(field, value)| (field.into(), value.into())).collect() }
    }
}

impl From<&str> for FieldValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Number> for FieldValue {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for FieldValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl FieldValue {
    /// The kind of value, with its article.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Number(_) => "a number",
            Self::Flag(_) => "a truth value",
            Self::List(_) => "a list",
        }
    }

    /// Its scale and its position on it, as an integer; `Err` if it has no position on any scale.
    pub(super) fn measured(&self) -> Result<(Scale, i64), NumberFault> {
        match self {
            Self::Number(number) => Ok((Scale::Plain, number.micros())),
            Self::Text(text) => match read_time(text.trim()) {
                Some((form, minutes)) => Ok((Scale::Time(form), minutes)),
                None => read_quantity(text),
            },
            Self::Flag(_) | Self::List(_) => Err(NumberFault::NotANumber),
        }
    }
}

/// The common property of values that can be added or ordered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scale {
    /// Numbers without a unit, in millionths.
    Plain,
    /// Numbers with a unit, in millionths of it.
    Unit(Unit),
    /// Times, in minutes.
    Time(TimeNotation),
}

/// A unit, as written beside a number. Comparison ignores case and the plural `s`.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    key: String,
    written: String,
    stands_before: bool,
}

impl PartialEq for Unit {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Unit {}

impl Unit {
    fn new(written: &str, stands_before: bool) -> Self {
        let mut key = written.to_lowercase();
        if key.chars().count() >= PLURAL_CHARACTERS_MIN && key.ends_with('s') {
            key.pop();
        }
        Self { key, written: written.to_owned(), stands_before }
    }

    /// An amount with its unit.
    pub(super) fn with(&self, amount: &str) -> String {
        // `30 EUR`, but `$30` and `30%`.
        let blank = if self.written.chars().all(char::is_alphanumeric) { " " } else { "" };
        if self.stands_before {
            format!("{}{blank}{amount}", self.written)
        } else {
            format!("{amount}{blank}{}", self.written)
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain => write!(out, "numbers without a unit"),
            Self::Unit(unit) => write!(out, "numbers in {}", quoted(&unit.written)),
            Self::Time(form) => write!(out, "times as {}", form.pattern()),
        }
    }
}

/// A number with at most one unit, before or after it.
fn read_quantity(text: &str) -> Result<(Scale, i64), NumberFault> {
    // A number in a unit is refused as well: `2-3 nights` or `1.2.3` would have to be guessed.
    let is_of_number = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == '-';
    let text = text.trim();
    let digits = text.find(|letter: char| letter.is_ascii_digit()).ok_or(NumberFault::NotANumber)?;
    let start = if text[..digits].ends_with('-') { digits - 1 } else { digits };
    let length = text[start..].find(|letter| !is_of_number(letter)).unwrap_or(text.len() - start);
    let number = &text[start..start + length];
    let (before, after) = (text[..start].trim_end(), text[start + length..].trim_start());
    let is_unit = |unit: &str| {
        unit.chars().all(|letter| !is_of_number(letter) && letter != ',' && letter != ':' && letter != '+')
    };
    if !is_unit(before) || !is_unit(after) {
        return Err(NumberFault::NotANumber);
    }
    let scale = match (before, after) {
        ("", "") => Scale::Plain,
        (unit, "") => Scale::Unit(Unit::new(unit, true)),
        ("", unit) => Scale::Unit(Unit::new(unit, false)),
        _ => return Err(NumberFault::NotANumber),
    };
    Ok((scale, Number::read(number)?.micros()))
}

impl fmt::Display for FieldValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(out, "{}", quoted(text)),
            Self::Number(number) => write!(out, "{number}"),
            Self::Flag(flag) => write!(out, "{flag}"),
            Self::List(texts) => {
                write!(out, "[")?;
                for (place, text) in texts.iter().enumerate() {
                    let comma = if place > 0 { ", " } else { "" };
                    write!(out, "{comma}{}", quoted(text))?;
                }
                write!(out, "]")
            }
        }
    }
}

/// A foreign text in quotes, short enough for a message.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", cut(text))
}

/// A foreign text, short enough for a message.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS_MAX) {
        Some((place, _)) => format!("{}…", &text[..place]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(text: &str) -> Option<(String, i64)> {
        FieldValue::from(text).measured().ok().map(|(scale, amount)| (scale.to_string(), amount))
    }

    #[test]
    fn a_text_may_be_a_number_with_a_unit() {
        let is = |text, scale: &str, amount| assert_eq!(measured(text), Some((scale.to_owned(), amount)));
        is("30", "numbers without a unit", 30_000_000);
        is("EUR 30", "numbers in \"EUR\"", 30_000_000);
        is(" 30.5 EUR ", "numbers in \"EUR\"", 30_500_000);
        is("$-2", "numbers in \"$\"", -2_000_000);
        is("3 nights", "numbers in \"nights\"", 3_000_000);
        is("10:40", "times as HH:MM", 640);
        for text in
            ["", "EUR", "1,200", "1 200", "2 x 3", "EUR 30 each", "1.2.3", "--3", "3-4", "10:75", "+3"]
        {
            assert_eq!(measured(text), None, "{text}");
        }
    }

    #[test]
    fn units_are_equal_without_case_and_plural() {
        let unit = |text: &str| FieldValue::from(text).measured().unwrap().0;
        assert_eq!(unit("1 night"), unit("3 Nights"));
        assert_eq!(unit("EUR 3"), unit("3 eur"));
        assert_ne!(unit("EUR 3"), unit("USD 3"));
        assert_ne!(unit("3 m"), unit("3 ms"));
    }

    #[test]
    fn amounts_are_written_as_their_unit_was() {
        let Ok((Scale::Unit(unit), _)) = FieldValue::from("$30").measured() else { panic!("it has a unit") };
        assert_eq!(unit.with("812"), "$812");
        let Ok((Scale::Unit(unit), _)) = FieldValue::from("3 nights").measured() else {
            panic!("it has a unit")
        };
        assert_eq!(unit.with("5"), "5 nights");
    }
}
