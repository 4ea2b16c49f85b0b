//! Numbers of JSON and YAML, by their value and without rounding: a whole number of 64 bits has more digits than a
//! decimal (a floating-point number) holds, so neither is turned into the other.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Number, Value};

/// The bounds of whole numbers: those of `i64` and `u64` together.
const WHOLE_MIN: i128 = i64::MIN as i128;
const WHOLE_MAX: i128 = u64::MAX as i128;

/// A number of JSON. `17` and `17.0` are one number, and all others differ, however close they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct JsonNumber(Form);

/// There is one form for each value.
#[derive(Clone, Copy)]
enum Form {
    /// From [`WHOLE_MIN`] to [`WHOLE_MAX`].
    Whole(i128),
    /// Finite, and either with a fraction or beyond the whole ones.
    Decimal(f64),
}

impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Whole(one), Self::Whole(two)) => one == two,
            (Self::Decimal(one), Self::Decimal(two)) => one == two,
            _ => false,
        }
    }
}

// No decimal is "not a number".
impl Eq for Form {}

impl JsonNumber {
    /// The number that a value is.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Self::of_number(number),
            _ => None,
        }
    }

    fn of_number(number: &Number) -> Option<Self> {
        let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        match whole {
            Some(whole) => Some(Self(Form::Whole(whole))),
            None => Self::of_float(number.as_f64()?),
        }
    }

    /// This floating-point number, if it is finite.
    pub fn of_float(number: f64) -> Option<Self> {
        if !number.is_finite() {
            return None;
        }
        // A conversion from a float keeps the value of those without a fraction, and ends at the bounds.
        let whole = number as i128;
        let is_whole = number.fract() == 0.0 && (WHOLE_MIN..=WHOLE_MAX).contains(&whole);
        Some(Self(if is_whole { Form::Whole(whole) } else { Form::Decimal(number) }))
    }

    /// The number that a text is, as JSON and YAML write it; also with a `+`, and with a point at its beginning or
    /// end.
    ///
    /// # Errors
    /// It looks like a number, and is one that neither a whole number of 64 bits nor a decimal is.
    pub(crate) fn read(text: &str) -> Option<Result<Number, NumberTooLarge>> {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let looks_like_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && digits.chars().all(|c| c.is_ascii_digit() || ".eE+-".contains(c));
        if !looks_like_number {
            return None;
        }
        if let Ok(whole) = text.parse::<i64>() {
            return Some(Ok(Number::from(whole)));
        }
        if let Ok(whole) = text.parse::<u64>() {
            return Some(Ok(Number::from(whole)));
        }
        // What only looks like a number, such as a version or a date, is none.
        let decimal: f64 = text.parse().ok()?;
        let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_exact = !is_whole || format!("{:.0}", decimal.abs()) == digits.trim_start_matches('0');
        Some(Number::from_f64(decimal).filter(|_| is_exact).ok_or(NumberTooLarge))
    }

    /// The number as JSON: without a fraction where there is none.
    pub fn value(self) -> Value {
        match self.0 {
            Form::Whole(whole) => match (i64::try_from(whole), u64::try_from(whole)) {
                (Ok(whole), _) => Value::from(whole),
                (_, Ok(whole)) => Value::from(whole),
                _ => Value::Null,
            },
            Form::Decimal(decimal) => Value::from(decimal),
        }
    }

    /// The floating-point number that is nearest.
    pub fn rounded(self) -> f64 {
        match self.0 {
            Form::Whole(whole) => whole as f64,
            Form::Decimal(decimal) => decimal,
        }
    }

    /// The number that is one above. Of decimals that are so large that one is nothing to them, the next one.
    #[must_use]
    pub fn above(self) -> Self {
        self.moved(1, f64::next_up)
    }

    /// The number that is one below, or the next smaller decimal.
    #[must_use]
    pub fn below(self) -> Self {
        self.moved(-1, f64::next_down)
    }

    fn moved(self, by: i8, next: fn(f64) -> f64) -> Self {
        if let Form::Whole(whole) = self.0 {
            let moved = whole + i128::from(by);
            if (WHOLE_MIN..=WHOLE_MAX).contains(&moved) {
                return Self(Form::Whole(moved));
            }
        }
        let before = self.rounded();
        let moved = before + f64::from(by);
        let moved = Self::of_float(if moved == before { next(before) } else { moved });
        moved.unwrap_or(self)
    }

    /// The largest whole number that is not above this one.
    #[must_use]
    pub fn floor(self) -> Self {
        self.to_whole(f64::floor)
    }

    /// The smallest whole number that is not below this one.
    #[must_use]
    pub fn ceil(self) -> Self {
        self.to_whole(f64::ceil)
    }

    fn to_whole(self, round: fn(f64) -> f64) -> Self {
        match self.0 {
            Form::Whole(_) => self,
            Form::Decimal(decimal) => Self::of_float(round(decimal)).unwrap_or(self),
        }
    }

    /// A number between this one and another, if there is one that is not one of them.
    pub fn between(self, other: Self) -> Option<Self> {
        let middle = match (self.0, other.0) {
            (Form::Whole(one), Form::Whole(two)) if (one - two).abs() > 1 => {
                Self(Form::Whole((one + two) / 2))
            }
            _ => Self::of_float(f64::midpoint(self.rounded(), other.rounded()))?,
        };
        (middle > self.min(other) && middle < self.max(other)).then_some(middle)
    }
}

impl Ord for JsonNumber {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0, other.0) {
            (Form::Whole(one), Form::Whole(two)) => one.cmp(&two),
            (Form::Decimal(one), Form::Decimal(two)) => one.total_cmp(&two),
            (Form::Whole(one), Form::Decimal(two)) => whole_to_decimal(one, two),
            (Form::Decimal(one), Form::Whole(two)) => whole_to_decimal(two, one).reverse(),
        }
    }
}

impl PartialOrd for JsonNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn whole_to_decimal(whole: i128, decimal: f64) -> Ordering {
    // Without its fraction, a decimal that is not beyond all whole numbers is one of them.
    whole.cmp(&(decimal.trunc() as i128)).then_with(|| 0.0_f64.total_cmp(&decimal.fract()))
}

impl fmt::Display for JsonNumber {
    /// As JSON has it, without a fraction where there is none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Form::Whole(whole) => write!(f, "{whole}"),
            Form::Decimal(decimal) => write!(f, "{}", Value::from(decimal)),
        }
    }
}

impl fmt::Debug for JsonNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl From<i64> for JsonNumber {
    fn from(number: i64) -> Self {
        Self(Form::Whole(i128::from(number)))
    }
}

/// A text is a number that nothing here holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberTooLarge;

/// Equality of JSON values, in which `1` and `1.0` are the same number.
pub fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || JsonNumber::of_number(left) == JsonNumber::of_number(right)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| is_same(left, right)))
        }
        _ => left == right,
    }
}

/// One text for equal values: the keys of maps are sorted, and `17.0` is `17`.
pub(crate) fn canonical(value: &Value) -> String {
    fn write(value: &Value, text: &mut String) {
        match value {
            Value::Number(number) => match JsonNumber::of_number(number) {
                Some(number) => text.push_str(&number.to_string()),
                None => text.push_str(&number.to_string()),
            },
            Value::Array(items) => {
                text.push('[');
                for item in items {
                    write(item, text);
                    text.push(',');
                }
                text.push(']');
            }
            Value::Object(entries) => {
                let mut entries: Vec<_> = entries.iter().collect();
                entries.sort_unstable_by_key(|(key, _)| key.as_str());
                text.push('{');
                for (key, item) in entries {
                    text.push_str(&Value::from(key.as_str()).to_string());
                    text.push(':');
                    write(item, text);
                    text.push(',');
                }
                text.push('}');
            }
            other => text.push_str(&other.to_string()),
        }
    }
    let mut text = String::new();
    write(value, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// A number as a fraction of two whole ones of any size: the twin, which knows the bits of a float and nothing of
    /// the code above. Digits to the base 2^32, least first, of `value * 2^1074`, behind the sign.
    fn exactly(value: &Value) -> (bool, Vec<u32>) {
        let (is_negative, mantissa, shift) = match (value.as_i64(), value.as_u64()) {
            (Some(whole), _) => (whole < 0, whole.unsigned_abs(), 1074),
            (_, Some(whole)) => (false, whole, 1074),
            _ => {
                let bits = value.as_f64().expect("a number").to_bits();
                let (exponent, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
                match exponent {
                    0 => (bits >> 63 == 1, fraction, 0),
                    _ => (bits >> 63 == 1, fraction | (1 << 52), exponent - 1),
                }
            }
        };
        let mut digits = vec![0_u32; 70];
        for bit in (0..64).filter(|bit| mantissa >> bit & 1 == 1) {
            let at = bit + shift as usize;
            digits[at / 32] |= 1 << (at % 32);
        }
        (is_negative && mantissa != 0, digits)
    }

    fn twin(one: &Value, two: &Value) -> Ordering {
        let by_size = |one: &[u32], two: &[u32]| one.iter().rev().cmp(two.iter().rev());
        match (exactly(one), exactly(two)) {
            ((false, one), (false, two)) => by_size(&one, &two),
            ((true, one), (true, two)) => by_size(&two, &one),
            ((true, _), _) => Ordering::Less,
            _ => Ordering::Greater,
        }
    }

    fn any_number() -> impl Strategy<Value = Value> {
        // Around powers of two, where floats and whole numbers part.
        let near = (0_u32..70, -3_i64..4, any::<bool>(), any::<bool>()).prop_map(
            |(power, by, is_negative, is_float)| {
                let whole = (1_i128 << power.min(64)) + i128::from(by);
                let whole = if is_negative { -whole } else { whole };
                match (i64::try_from(whole), u64::try_from(whole)) {
                    (Ok(whole), _) if !is_float => json!(whole),
                    (_, Ok(whole)) if !is_float => json!(whole),
                    _ => json!(whole as f64),
                }
            },
        );
        prop_oneof![
            4 => near,
            1 => any::<i64>().prop_map(|it| json!(it)),
            1 => any::<u64>().prop_map(|it| json!(it)),
            1 => prop::num::f64::ANY.prop_filter("finite", |it| it.is_finite()).prop_map(|it| json!(it)),
            1 => (-100_i64..100, 0..4).prop_map(|(it, of)| json!(it as f64 / f64::from(1 << of))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        #[ignore = "slow"]
        fn numbers_are_compared_by_value_without_rounding(one in any_number(), two in any_number()) {
            let (left, right) = (JsonNumber::of(&one).expect("one"), JsonNumber::of(&two).expect("two"));
            let expected = twin(&one, &two);
            prop_assert_eq!(left.cmp(&right), expected, "{} {}", one, two);
            prop_assert_eq!(left == right, expected == Ordering::Equal);
            prop_assert_eq!(is_same(&one, &two), expected == Ordering::Equal);
            prop_assert_eq!(canonical(&one) == canonical(&two), expected == Ordering::Equal);
        }

        #[test]
        #[ignore = "slow"]
        fn a_number_survives_its_text_and_has_others_on_both_sides(one in any_number(), two in any_number()) {
            let number = JsonNumber::of(&one).expect("a number");
            prop_assert_eq!(twin(&number.value(), &one), Ordering::Equal);
            let again = JsonNumber::read(&number.to_string()).expect("a number").expect("of 64 bits");
            prop_assert_eq!(JsonNumber::of_number(&again), Some(number));
            if one.as_f64().is_some_and(|it| it.abs() < f64::MAX) {
                prop_assert!(number.below() < number && number < number.above(), "{number}");
            }
            prop_assert!(number.floor() <= number && number <= number.ceil());
            let other = JsonNumber::of(&two).expect("a number");
            if let Some(middle) = number.between(other) {
                prop_assert!(number.min(other) < middle && middle < number.max(other));
            }
        }
    }

    #[test]
    fn texts_are_numbers_texts_or_too_large() {
        for (text, expected) in [
            ("17", Some(Ok("17"))),
            ("-0", Some(Ok("0"))),
            ("+5", Some(Ok("5"))),
            ("1.", Some(Ok("1.0"))),
            ("1e3", Some(Ok("1000.0"))),
            ("175928847299117063", Some(Ok("175928847299117063"))),
            ("18446744073709551615", Some(Ok("18446744073709551615"))),
            // 2^64 and 10^20 are decimals, and what lies beside them is not.
            ("18446744073709551616", Some(Ok("1.8446744073709552e+19"))),
            ("100000000000000000000", Some(Ok("1e+20"))),
            ("18446744073709551617", Some(Err(()))),
            ("99999999999999999999", Some(Err(()))),
            ("-9223372036854775809", Some(Err(()))),
            ("1e400", Some(Err(()))),
            ("-1e400", Some(Err(()))),
            ("1.2.3", None),
            ("2026-11-28", None),
            ("1e", None),
            (".", None),
            ("", None),
            ("x", None),
        ] {
            let read = JsonNumber::read(text).map(|read| read.map(|it| it.to_string()).map_err(|_| ()));
            assert_eq!(read, expected.map(|it| it.map(str::to_owned)), "{text}");
        }
    }
}
