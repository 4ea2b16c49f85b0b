//! Numbers: exact if they are integers that fit, else floating point.

use std::fmt;

use super::Mistake;

/// Significant digits of a displayed fraction. One less than 64-bit numbers always distinguish, so that 0.1 + 0.2 is
/// shown as 0.3.
const DIGITS_SHOWN: usize = 15;

/// Whole floating point numbers below this are exact, and shown in full.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Floating point numbers below this fit into 128 bits.
const INTEGER_MAX: f64 = 1.7e38;

/// The value of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CalculatorNumber {
    /// A whole number, exactly.
    Integer(i128),
    /// Any other: finite, to about 16 significant digits.
    Decimal(f64),
}

use CalculatorNumber::{Decimal, Integer};

/// As people write numbers: integers without a fraction, others with at most 15 significant digits, very large and
/// very small ones as `1.5e-7`. The output can be read back.
impl fmt::Display for CalculatorNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Integer(value) => write!(f, "{value}"),
            Decimal(value) if value.fract() == 0.0 && value.abs() < EXACT_MAX => {
                write!(f, "{}", value as i64)
            }
            Decimal(value) => write_fraction(f, value),
        }
    }
}

fn write_fraction(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    let text = format!("{:.*e}", DIGITS_SHOWN - 1, value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_end_matches('0');
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if value < 0.0 {
        f.write_str("-")?;
    }
    // The position of the point among the digits.
    match exponent {
        -5..0 => write!(f, "0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1)),
        0..15 => {
            let whole = exponent.unsigned_abs() as usize + 1;
            match digits.split_at_checked(whole) {
                Some((digits, "")) => f.write_str(digits),
                Some((digits, fraction)) => write!(f, "{digits}.{fraction}"),
                // Trailing zeros were trimmed above, and those before the point are needed.
                None => write!(f, "{digits:0<whole$}"),
            }
        }
        _ => match digits.split_at(1) {
            (digit, "") => write!(f, "{digit}e{exponent}"),
            (digit, fraction) => write!(f, "{digit}.{fraction}e{exponent}"),
        },
    }
}

/// A floating point result, if it is finite.
pub(super) fn decimal(value: f64) -> Result<CalculatorNumber, Mistake> {
    if value.is_nan() {
        return Err(Mistake::Undefined { what: "the value is not a real number" });
    }
    if value.is_infinite() { Err(Mistake::TooLarge) } else { Ok(Decimal(value)) }
}

/// A floating point number that is whole, exact where it fits.
pub(super) fn whole(value: f64) -> CalculatorNumber {
    if value.abs() < INTEGER_MAX { Integer(value as i128) } else { Decimal(value) }
}

impl CalculatorNumber {
    /// The nearest floating point number.
    pub fn to_f64(self) -> f64 {
        match self {
            Integer(value) => value as f64,
            Decimal(value) => value,
        }
    }

    /// The number itself if it is an integer and known exactly.
    pub fn to_integer(self) -> Option<i128> {
        match self {
            Integer(value) => Some(value),
            Decimal(value) => (value.fract() == 0.0 && value.abs() < EXACT_MAX).then_some(value as i128),
        }
    }

    fn is_zero(self) -> bool {
        self.to_f64() == 0.0
    }

    pub(super) fn negated(self) -> Self {
        match self {
            Integer(value) => value.checked_neg().map_or(Decimal(-(value as f64)), Integer),
            Decimal(value) => Decimal(-value),
        }
    }

    pub(super) fn plus(self, other: Self) -> Result<Self, Mistake> {
        self.exactly(other, i128::checked_add, |a, b| a + b)
    }

    pub(super) fn minus(self, other: Self) -> Result<Self, Mistake> {
        self.exactly(other, i128::checked_sub, |a, b| a - b)
    }

    pub(super) fn times(self, other: Self) -> Result<Self, Mistake> {
        self.exactly(other, i128::checked_mul, |a, b| a * b)
    }

    pub(super) fn over(self, other: Self) -> Result<Self, Mistake> {
        other.must_divide()?;
        let exact = |a: i128, b: i128| (a.checked_rem(b)? == 0).then_some(a.checked_div(b)?);
        self.exactly(other, exact, |a, b| a / b)
    }

    /// The quotient, rounded towards minus infinity.
    pub(super) fn floor_over(self, other: Self) -> Result<Self, Mistake> {
        other.must_divide()?;
        self.exactly(other, floor_quotient, floor_quotient_decimal)
    }

    /// The remainder of [`floor_over`](Self::floor_over): it has the sign of the divisor.
    pub(super) fn remainder(self, other: Self) -> Result<Self, Mistake> {
        other.must_divide()?;
        self.exactly(other, floor_remainder, floor_remainder_decimal)
    }

    pub(super) fn power(self, exponent: Self) -> Result<Self, Mistake> {
        if let (Integer(base), Integer(exponent)) = (self, exponent)
            && let Some(value) = whole_power(base, exponent)
        {
            return Ok(Integer(value));
        }
        let (base, exponent) = (self.to_f64(), exponent.to_f64());
        if base == 0.0 && exponent < 0.0 {
            return Err(Mistake::DivisionByZero);
        }
        if base < 0.0 && exponent.fract() != 0.0 {
            return Err(Mistake::Undefined {
                what: "a negative number to a power that is not whole is not a real number",
            });
        }
        decimal(base.powf(exponent))
    }

    fn must_divide(self) -> Result<(), Mistake> {
        if self.is_zero() { Err(Mistake::DivisionByZero) } else { Ok(()) }
    }

    /// The exact result if both are integers and it fits, else the floating point one.
    fn exactly(
        self,
        other: Self,
        exact: impl Fn(i128, i128) -> Option<i128>,
        rounded: impl Fn(f64, f64) -> f64,
    ) -> Result<Self, Mistake> {
        if let (Integer(a), Integer(b)) = (self, other)
            && let Some(value) = exact(a, b)
        {
            return Ok(Integer(value));
        }
        decimal(rounded(self.to_f64(), other.to_f64()))
    }
}

/// `None` if the exponent is negative or the power does not fit.
fn whole_power(base: i128, exponent: i128) -> Option<i128> {
    match base {
        // Only powers of 0, 1 and -1 can fit if the exponent exceeds 32 bits.
        0 | 1 if exponent > 0 => Some(base),
        -1 if exponent >= 0 => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        _ => base.checked_pow(u32::try_from(exponent).ok()?),
    }
}

fn floor_quotient(a: i128, b: i128) -> Option<i128> {
    // Rust rounds towards zero, which is one too many if the signs differ and something is left over.
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

fn floor_remainder(a: i128, b: i128) -> Option<i128> {
    let remainder = a.checked_rem(b)?;
    Some(if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder })
}

fn floor_remainder_decimal(a: f64, b: f64) -> f64 {
    let remainder = a % b;
    if remainder != 0.0 && (remainder < 0.0) != (b < 0.0) { remainder + b } else { remainder }
}

fn floor_quotient_decimal(a: f64, b: f64) -> f64 {
    // The dividend is a multiple of `b` except for rounding errors.
    ((a - floor_remainder_decimal(a, b)) / b).round()
}
