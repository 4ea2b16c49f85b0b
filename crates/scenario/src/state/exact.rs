//! Numbers of a world's state: whole ones of 64 bits, and decimals of up to 15 digits, with which sums are exact.

use std::cmp::Ordering;

use planproof_spec::JsonNumber;
use serde_json::{Number, Value};

/// Digits of a number with a fraction. With so many, a decimal and the floating-point number nearest to it are written
/// alike.
const DIGITS_MAX: u32 = 15;
/// Digits behind the point.
const FRACTION_MAX: u32 = 15;

/// A decimal: `mantissa / 10^scale`, without zeros at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exact {
    mantissa: i128,
    scale: u32,
}

impl Exact {
    fn new(mut mantissa: i128, mut scale: u32) -> Self {
        while scale > 0 && mantissa % 10 == 0 {
            mantissa /= 10;
            scale -= 1;
        }
        Self { mantissa, scale }
    }

    /// The number that a value is, as it is written. [`None`]: it is none, or one of those that are not kept exactly.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        let Value::Number(number) = value else { return None };
        // A whole number is what it is, not what the shortest text of a decimal says.
        if let Some(whole) = JsonNumber::of(value).and_then(|number| number.value().as_i64()) {
            return Some(Self::new(i128::from(whole), 0));
        }
        // The shortest text that is read as this number, which is how it was written if it has few digits.
        let text = format!("{:e}", number.as_f64()?);
        let (digits, exponent) = text.split_once('e')?;
        let exponent: i32 = exponent.parse().ok()?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()? - exponent;
        let exact = match u32::try_from(scale) {
            Ok(scale) if scale <= FRACTION_MAX + DIGITS_MAX => Self::new(mantissa, scale),
            Ok(_) => return None,
            Err(_) => {
                let zeros = scale.unsigned_abs();
                let factor = 10_i128.checked_pow(zeros).filter(|_| zeros <= 20)?;
                Self::new(mantissa.checked_mul(factor)?, 0)
            }
        };
        exact.is_kept().then_some(exact)
    }

    /// Whether JSON has this very number.
    fn is_kept(self) -> bool {
        match self.scale {
            0 => i64::try_from(self.mantissa).is_ok(),
            scale => scale <= FRACTION_MAX && self.mantissa.unsigned_abs() < 10_u128.pow(DIGITS_MAX),
        }
    }

    /// The mantissas of two numbers with one scale. None of them overflows: a mantissa has at most 19 digits, and is
    /// multiplied by at most 10^15.
    fn aligned(self, other: Self) -> (i128, i128, u32) {
        let scale = self.scale.max(other.scale);
        let with = |number: Self| number.mantissa * 10_i128.pow(scale - number.scale);
        (with(self), with(other), scale)
    }

    /// The sum, if it is kept exactly.
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let (one, two, scale) = self.aligned(other);
        Some(Self::new(one + two, scale)).filter(|sum| sum.is_kept())
    }

    /// The difference, if it is kept exactly.
    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        self.plus(Self { mantissa: -other.mantissa, ..other })
    }

    pub(crate) fn compare(self, other: Self) -> Ordering {
        let (one, two, _) = self.aligned(other);
        one.cmp(&two)
    }

    /// The number as JSON: whole where there is no fraction.
    pub(crate) fn value(self) -> Value {
        match i64::try_from(self.mantissa) {
            Ok(whole) if self.scale == 0 => Value::from(whole),
            // It has at most 15 digits, so what is read is what was written.
            _ => {
                let read = format!("{}e-{}", self.mantissa, self.scale).parse().unwrap_or_default();
                Number::from_f64(read).map_or(Value::Null, Value::Number)
            }
        }
    }
}

/// Compares two numbers by value. [`None`]: one of them is none.
pub(crate) fn compare(one: &Value, two: &Value) -> Option<Ordering> {
    Some(JsonNumber::of(one)?.cmp(&JsonNumber::of(two)?))
}

/// The value with each number written in one way, so that `40.0` is `40`.
pub(crate) fn plain(value: &Value) -> Value {
    Exact::of(value).map_or_else(|| value.clone(), Exact::value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Option<String> {
        let value: Value = serde_json::from_str(text).expect("JSON");
        Exact::of(&value).map(|number| number.value().to_string())
    }

    #[test]
    fn numbers_are_kept_as_they_are_written_or_not_at_all() {
        for (text, kept) in [
            ("0", Some("0")),
            ("-0.0", Some("0")),
            ("40.0", Some("40")),
            ("12.50", Some("12.5")),
            ("1e3", Some("1000")),
            ("0.000001", Some("1e-6")),
            ("1e-15", Some("1e-15")),
            ("9223372036854775807", Some("9223372036854775807")),
            ("-9223372036854775808", Some("-9223372036854775808")),
            ("9223372036854775808", None),
            ("1e19", None),
            ("1e300", None),
            ("1e-16", None),
            ("0.1234567890123456", None),
            ("123456789012345.6", None),
        ] {
            assert_eq!(read(text).as_deref(), kept, "{text}");
        }
        assert_eq!(Exact::of(&json!("1")), None);
    }

    #[test]
    fn sums_are_exact_or_there_are_none() {
        let of = |value: Value| Exact::of(&value).expect("a number");
        let sum = |one: Value, two: Value| of(one).plus(of(two)).map(Exact::value);
        assert_eq!(sum(json!(0.1), json!(0.2)), Some(json!(0.3)));
        assert_eq!(sum(json!(0.5), json!(0.5)), Some(json!(1)));
        assert_eq!(sum(json!(i64::MAX), json!(1)), None);
        assert_eq!(sum(json!(i64::MAX), json!(-1)), Some(json!(i64::MAX - 1)));
        assert_eq!(sum(json!(9_007_199_254_740_992_i64), json!(1)), Some(json!(9_007_199_254_740_993_i64)));
        assert_eq!(sum(json!(9_007_199_254_740_992_i64), json!(0.5)), None);
        assert_eq!(of(json!(i64::MIN)).minus(of(json!(1))), None);
        assert_eq!(of(json!(100)).minus(of(json!(99.9))).map(Exact::value), Some(json!(0.1)));
    }

    #[test]
    fn numbers_are_compared_by_value() {
        let order = |one: Value, two: Value| compare(&one, &two);
        assert_eq!(order(json!(40.0), json!(40)), Some(Ordering::Equal));
        assert_eq!(order(json!(i64::MAX), json!(i64::MAX - 1)), Some(Ordering::Greater));
        assert_eq!(order(json!(0.3), json!(0.1)), Some(Ordering::Greater));
        assert_eq!(order(json!(1e300), json!(1)), Some(Ordering::Greater));
        assert_eq!(order(json!("1"), json!(1)), None);
    }
}
