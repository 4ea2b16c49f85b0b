//! What a sub-task has calculated, as a formula with a value. Two wordings mean the same if they have the same value.

mod parse;
mod units;

use std::f64::consts::E;

pub(crate) use parse::{Earlier, arithmetic, read};
pub(crate) use units::Unit;

/// Most numbers of a sequence.
const SEQUENCE_MAX: usize = 10_000;
/// The largest number whose factorial is a floating-point number.
const FACTORIAL_MAX: f64 = 170.0;
/// Longest binary number, in digits, that a floating-point number shows exactly.
const BINARY_DIGITS_MAX: usize = 15;

/// A calculation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Formula {
    Number(f64),
    /// What an earlier step gave, by its place from 0.
    Result(usize),
    List(Vec<Formula>),
    /// The whole numbers from one to another, or those of a parity among them.
    Range {
        from: Box<Formula>,
        to: Box<Formula>,
        parity: Option<Parity>,
    },
    /// An operation on operands.
    Apply(Operation, Vec<Formula>),
}

/// Which whole numbers are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parity {
    Even,
    Odd,
}

/// What is done with operands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Operation {
    Sum,
    Product,
    Average,
    /// The distance of two numbers, whichever is the larger.
    Difference,
    Subtract,
    Divide,
    /// A part of a whole, in per cent.
    Percentage,
    /// A number in per cent.
    PerCent,
    Remainder,
    WholeQuotient,
    Power,
    /// The root of the first operand whose degree is the second.
    Root,
    /// The logarithm of the first operand to the base that is the second.
    Logarithm,
    Factorial,
    CommonDivisor,
    CommonMultiple,
    /// An angle in degrees, in radians.
    Radians,
    Sine,
    Cosine,
    Tangent,
    Up,
    Down,
    Nearest,
    Convert(Unit, Unit),
    /// The digits of a number to base 2, read as a decimal number.
    Binary,
    TrailingZeros,
    /// Of two points, each with two coordinates.
    Distance,
    SphereVolume,
}

/// One number or several.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    One(f64),
    Many(Vec<f64>),
}

impl Value {
    fn numbers(self) -> Vec<f64> {
        match self {
            Self::One(number) => vec![number],
            Self::Many(numbers) => numbers,
        }
    }
}

impl Formula {
    /// Whether it calculates anything.
    pub(crate) const fn is_calculation(&self) -> bool {
        matches!(self, Self::Apply(..))
    }

    /// Whether many operands give the same value, so that it says little.
    pub(crate) const fn is_coarse(&self) -> bool {
        use Operation::{
            CommonDivisor, CommonMultiple, Down, Nearest, Remainder, TrailingZeros, Up, WholeQuotient,
        };
        matches!(
            self,
            Self::Apply(
                CommonDivisor
                    | CommonMultiple
                    | Down
                    | Nearest
                    | Remainder
                    | TrailingZeros
                    | Up
                    | WholeQuotient,
                _
            )
        )
    }

    /// Whether it needs what an earlier step gave.
    pub(crate) fn has_result(&self) -> bool {
        match self {
            Self::Number(_) | Self::Range { .. } => false,
            Self::Result(_) => true,
            Self::List(operands) | Self::Apply(_, operands) => operands.iter().any(Self::has_result),
        }
    }

    /// Its value, with what the earlier steps gave; `None` if it has no single finite one.
    pub(crate) fn value(&self, results: &[Option<f64>]) -> Option<f64> {
        match self.evaluate(results)? {
            Value::One(number) => Some(number).filter(|number| number.is_finite()),
            Value::Many(_) => None,
        }
    }

    fn evaluate(&self, results: &[Option<f64>]) -> Option<Value> {
        Some(match self {
            Self::Number(number) => Value::One(*number),
            Self::Result(place) => Value::One((*results.get(*place)?)?),
            Self::List(items) => {
                let items: Option<Vec<Value>> = items.iter().map(|item| item.evaluate(results)).collect();
                Value::Many(items?.into_iter().flat_map(Value::numbers).collect())
            }
            Self::Range { from, to, parity } => {
                let (from, to) = (from.value(results)?, to.value(results)?);
                if from.fract() != 0.0
                    || to.fract() != 0.0
                    || !(0.0..SEQUENCE_MAX as f64).contains(&(to - from))
                {
                    return None;
                }
                let is_kept = |number: &f64| match parity {
                    None => true,
                    Some(Parity::Even) => number % 2.0 == 0.0,
                    Some(Parity::Odd) => number % 2.0 != 0.0,
                };
                // The difference is small enough for a count.
                let count = (to - from) as usize + 1;
                Value::Many((0..count).map(|by| from + by as f64).filter(is_kept).collect())
            }
            Self::Apply(operation, operands) => {
                let operands: Option<Vec<Value>> =
                    operands.iter().map(|operand| operand.evaluate(results)).collect();
                operation.apply(operands?)?
            }
        })
    }
}

impl Operation {
    /// Whether it makes one number of all its operands.
    const fn is_of_all(self) -> bool {
        matches!(
            self,
            Self::Sum
                | Self::Product
                | Self::Average
                | Self::Difference
                | Self::CommonDivisor
                | Self::CommonMultiple
                | Self::Distance
        )
    }

    fn apply(self, operands: Vec<Value>) -> Option<Value> {
        if self.is_of_all() {
            let all: Vec<f64> = operands.into_iter().flat_map(Value::numbers).collect();
            return self.of_all(&all).map(Value::One);
        }
        let mut operands = operands.into_iter();
        let first = operands.next()?;
        let second = match operands.next() {
            Some(Value::One(number)) => Some(number),
            Some(Value::Many(_)) => return None,
            None => None,
        };
        match first {
            Value::One(number) => self.of_one(number, second).map(Value::One),
            // The squares of numbers are the squares of each.
            Value::Many(numbers) => {
                let each: Option<Vec<f64>> = numbers.into_iter().map(|it| self.of_one(it, second)).collect();
                each.map(Value::Many)
            }
        }
    }

    fn of_all(self, all: &[f64]) -> Option<f64> {
        if all.len() < 2 {
            return None;
        }
        Some(match (self, all) {
            (Self::Sum, _) => all.iter().sum(),
            (Self::Product, _) => all.iter().product(),
            (Self::Average, _) => all.iter().sum::<f64>() / all.len() as f64,
            (Self::Difference, [a, b]) => (a - b).abs(),
            (Self::Distance, [a, b, c, d]) => (a - c).hypot(b - d),
            (Self::CommonDivisor, _) => all.iter().copied().reduce(common_divisor)?,
            (Self::CommonMultiple, _) => {
                all.iter().copied().reduce(|a, b| (a * b).abs() / common_divisor(a, b))?
            }
            _ => return None,
        })
    }

    fn of_one(self, first: f64, second: Option<f64>) -> Option<f64> {
        Some(match (self, second) {
            (Self::Subtract, Some(second)) => first - second,
            (Self::Divide, Some(second)) => first / second,
            (Self::Percentage, Some(second)) => 100.0 * first / second,
            (Self::Remainder, Some(second)) => first.rem_euclid(second),
            (Self::WholeQuotient, Some(second)) => (first / second).floor(),
            (Self::Power, Some(second)) => first.powf(second),
            (Self::Root, Some(degree)) => first.powf(1.0 / degree),
            (Self::Logarithm, Some(base)) => first.ln() / if base == E { 1.0 } else { base.ln() },
            (Self::PerCent, None) => first / 100.0,
            (Self::Factorial, None) => factorial(first)?,
            (Self::Radians, None) => first.to_radians(),
            (Self::Sine, None) => first.sin(),
            (Self::Cosine, None) => first.cos(),
            (Self::Tangent, None) => first.tan(),
            (Self::Up, None) => first.ceil(),
            (Self::Down, None) => first.floor(),
            (Self::Nearest, None) => first.round(),
            (Self::Convert(from, to), None) => from.convert(to, first)?,
            (Self::Binary, None) => binary(first)?,
            (Self::TrailingZeros, None) => trailing_zeros(first)?,
            (Self::SphereVolume, None) => 4.0 / 3.0 * std::f64::consts::PI * first.powi(3),
            _ => return None,
        })
    }
}

fn is_count(number: f64) -> bool {
    number.fract() == 0.0 && number >= 0.0
}

fn factorial(number: f64) -> Option<f64> {
    (is_count(number) && number <= FACTORIAL_MAX).then(|| (1..=number as u32).map(f64::from).product())
}

/// The zeros at the end of the factorial of a number: how often 5 divides it.
fn trailing_zeros(number: f64) -> Option<f64> {
    if !is_count(number) || number > 1e9 {
        return None;
    }
    let (mut left, mut zeros) = (number, 0.0);
    while left >= 5.0 {
        left = (left / 5.0).floor();
        zeros += left;
    }
    Some(zeros)
}

fn binary(number: f64) -> Option<f64> {
    if !is_count(number) || number > 1e9 {
        return None;
    }
    let digits = format!("{:b}", number as u64);
    (digits.len() <= BINARY_DIGITS_MAX).then(|| digits.parse().ok())?
}

fn common_divisor(a: f64, b: f64) -> f64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    // For fractions this ends as well, with a number that divides nothing that a text means.
    while b > 0.5 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests;
