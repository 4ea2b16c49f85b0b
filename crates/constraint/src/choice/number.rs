//! Exact decimal numbers: as integers of millionths, never as floats.

use std::fmt;

/// The most decimal places of a number.
pub const DECIMALS_MAX: u32 = 6;
/// The largest absolute value: up to here a JSON number is read exactly.
pub const NUMBER_MAX: i64 = 1_000_000_000_000;

/// Millionths in one.
pub(super) const MICROS: i64 = 1_000_000;
/// Most digits of a number that are read; one with more is too large or has too many decimals anyway.
const DIGITS_MAX: usize = 400;

/// A decimal number of at most [`DECIMALS_MAX`] places, between -[`NUMBER_MAX`] and [`NUMBER_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Number {
    micros: i64,
}

/// Why a text is no [`Number`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NumberFault {
    /// It is not written as a number.
    #[error("it is not a number of digits with at most one decimal point")]
    NotANumber,
    /// It has more than [`DECIMALS_MAX`] decimal places.
    #[error("it has more than {DECIMALS_MAX} decimal places")]
    TooManyDecimals,
    /// It lies beyond [`NUMBER_MAX`].
    #[error("it lies beyond {NUMBER_MAX}")]
    TooLarge,
}

impl Number {
    /// One.
    pub const ONE: Self = Self { micros: MICROS };

    /// An integer; `None` beyond [`NUMBER_MAX`].
    pub fn whole(number: i64) -> Option<Self> {
        (-NUMBER_MAX..=NUMBER_MAX).contains(&number).then(|| Self { micros: number * MICROS })
    }

    /// Reads digits with an optional sign and an optional decimal point, such as `-12.50`.
    ///
    /// # Errors
    /// [`NumberFault`]; thousands separators are not accepted, because their meaning differs between countries.
    pub fn read(text: &str) -> Result<Self, NumberFault> {
        Self::read_scaled(text, 0)
    }

    /// The same with an exponent, as in JSON.
    pub(super) fn read_json(text: &str) -> Result<Self, NumberFault> {
        match text.split_once(['e', 'E']) {
            None => Self::read(text),
            Some((mantissa, exponent)) => {
                let exponent = exponent.strip_prefix('+').unwrap_or(exponent);
                let exponent: i32 = exponent.parse().map_err(|_| NumberFault::TooLarge)?;
                Self::read_scaled(mantissa, exponent)
            }
        }
    }

    fn read_scaled(text: &str, exponent: i32) -> Result<Self, NumberFault> {
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
        let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !are_digits(whole) || !are_digits(decimals) {
            return Err(NumberFault::NotANumber);
        }
        if whole.len() + decimals.len() > DIGITS_MAX {
            return Err(NumberFault::TooLarge);
        }
        // Zeros at the end are stripped first: `1.50000000` has one decimal place that counts,
        // and `1e3` written out has none.
        let all = format!("{whole}{decimals}");
        let stripped = all.trim_end_matches('0');
        let Ok(places) = i32::try_from(decimals.len()) else { return Err(NumberFault::TooLarge) };
        let Ok(zeros) = i32::try_from(all.len() - stripped.len()) else { return Err(NumberFault::TooLarge) };
        let mantissa = stripped.trim_start_matches('0');
        if mantissa.is_empty() {
            return Ok(Self::default());
        }
        // The factor for the digits, as a power of ten, that yields millionths.
        let power = exponent.saturating_add(zeros - places + DECIMALS_MAX.cast_signed());
        // Below zero there are digits that count beyond the last allowed place.
        let power = u32::try_from(power).map_err(|_| NumberFault::TooManyDecimals)?;
        let factor = 10_i64.checked_pow(power).ok_or(NumberFault::TooLarge)?;
        let digits: i64 = mantissa.parse().map_err(|_| NumberFault::TooLarge)?;
        let micros = digits.checked_mul(factor).ok_or(NumberFault::TooLarge)?;
        if micros > NUMBER_MAX * MICROS {
            return Err(NumberFault::TooLarge);
        }
        Ok(Self { micros: if is_negative { -micros } else { micros } })
    }

    /// How many millionths it is.
    pub fn micros(self) -> i64 {
        self.micros
    }
}

impl fmt::Display for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(out, i128::from(self.micros), DECIMALS_MAX)
    }
}

/// Writes an integer in units of 10 to the power of `-places`, without trailing zeros.
pub(super) fn write_scaled(out: &mut impl fmt::Write, parts: i128, places: u32) -> fmt::Result {
    let one = 10_u128.pow(places);
    let sign = if parts < 0 { "-" } else { "" };
    let (whole, rest) = (parts.unsigned_abs() / one, parts.unsigned_abs() % one);
    write!(out, "{sign}{whole}")?;
    if rest > 0 {
        let decimals = format!("{rest:0width$}", width = places as usize);
        write!(out, ".{}", decimals.trim_end_matches('0'))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_exactly() {
        let micros = |text| Number::read_json(text).map(Number::micros);
        assert_eq!(micros("0.1"), Ok(100_000));
        assert_eq!(micros("-12.50"), Ok(-12_500_000));
        assert_eq!(micros("1.5e-5"), Ok(15));
        assert_eq!(micros("1e3"), Ok(1_000_000_000));
        assert_eq!(micros("0.0000010"), Ok(1));
        assert_eq!(micros("0.0000001"), Err(NumberFault::TooManyDecimals));
        assert_eq!(micros("1e-400"), Err(NumberFault::TooManyDecimals));
        assert_eq!(micros("0e-400"), Ok(0));
        assert_eq!(micros("1000000000000"), Ok(1_000_000_000_000_000_000));
        assert_eq!(micros("1000000000000.000001"), Err(NumberFault::TooLarge));
        assert_eq!(micros("1e99999999999"), Err(NumberFault::TooLarge));
        assert_eq!([Number::whole(i64::MAX), Number::whole(i64::MIN)], [None; 2]);
        for text in ["", ".", "1.", ".5", "1,200", "+1", "--1", "1 2", "٣"] {
            assert_eq!(micros(text), Err(NumberFault::NotANumber), "{text}");
        }
    }

    #[test]
    fn numbers_are_written_without_zeros_at_the_end() {
        for text in ["0", "7", "-0.5", "812.45", "0.000001", "1000000000000"] {
            assert_eq!(Number::read(text).unwrap().to_string(), text);
        }
        assert_eq!(Number::read("12.500").unwrap().to_string(), "12.5");
    }
}
