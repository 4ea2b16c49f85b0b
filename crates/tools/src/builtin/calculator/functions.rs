//! Constants and functions.

use std::cmp::Ordering;

use super::number::{decimal, whole};
use super::{CalculatorNumber, Mistake};

/// Largest integer whose factorial can be represented.
const FACTORIAL_MAX: i128 = 170;

type Result = std::result::Result<CalculatorNumber, Mistake>;

pub(super) struct Function {
    name: &'static str,
    /// Fewest and most arguments.
    arguments: (usize, usize),
    value: fn(&[CalculatorNumber]) -> Result,
}

/// Any number of arguments, except none.
const SOME: (usize, usize) = (1, usize::MAX);

const FUNCTIONS: [Function; 28] = [
    function("sqrt", (1, 1), |x| sqrt(x[0])),
    function("abs", (1, 1), |x| if x[0].to_f64() < 0.0 { Ok(x[0].negated()) } else { Ok(x[0]) }),
    function("round", (1, 2), |x| round(x[0], x.get(1).copied())),
    function("floor", (1, 1), |x| Ok(to_whole(x[0], f64::floor))),
    function("ceil", (1, 1), |x| Ok(to_whole(x[0], f64::ceil))),
    function("ln", (1, 1), |x| logarithm(x[0], f64::ln)),
    function("log", (1, 2), |x| log(x[0], x.get(1).copied())),
    function("log2", (1, 1), |x| logarithm(x[0], f64::log2)),
    function("log10", (1, 1), |x| logarithm(x[0], f64::log10)),
    function("exp", (1, 1), |x| decimal(x[0].to_f64().exp())),
    function("sin", (1, 1), |x| decimal(x[0].to_f64().sin())),
    function("cos", (1, 1), |x| decimal(x[0].to_f64().cos())),
    function("tan", (1, 1), |x| decimal(x[0].to_f64().tan())),
    function("asin", (1, 1), |x| arc(x[0], f64::asin)),
    function("acos", (1, 1), |x| arc(x[0], f64::acos)),
    function("atan", (1, 1), |x| decimal(x[0].to_f64().atan())),
    function("atan2", (2, 2), |x| decimal(x[0].to_f64().atan2(x[1].to_f64()))),
    function("min", SOME, |x| Ok(extreme(x, Ordering::Less))),
    function("max", SOME, |x| Ok(extreme(x, Ordering::Greater))),
    function("sum", SOME, sum),
    function("mean", SOME, |x| sum(x)?.over(CalculatorNumber::Integer(x.len() as i128))),
    function("factorial", (1, 1), |x| factorial(x[0])),
    function("gcd", SOME, |x| fold_whole("gcd", x, |a, b| Some(gcd(a, b)))),
    function("lcm", SOME, |x| fold_whole("lcm", x, lcm)),
    function("mod", (2, 2), |x| x[0].remainder(x[1])),
    function("pow", (2, 2), |x| x[0].power(x[1])),
    function("hypot", (2, 2), |x| decimal(x[0].to_f64().hypot(x[1].to_f64()))),
    function("cbrt", (1, 1), |x| decimal(x[0].to_f64().cbrt())),
];

const fn function(
    name: &'static str,
    arguments: (usize, usize),
    value: fn(&[CalculatorNumber]) -> Result,
) -> Function {
    Function { name, arguments, value }
}

/// The constant of that name.
pub(super) fn constant(name: &str) -> Option<CalculatorNumber> {
    match name {
        "pi" | "π" => Some(CalculatorNumber::Decimal(std::f64::consts::PI)),
        "e" => Some(CalculatorNumber::Decimal(std::f64::consts::E)),
        _ => None,
    }
}

/// The function of that name.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

/// The names of all functions, as a list in a sentence.
pub(super) fn names() -> String {
    FUNCTIONS.map(|function| function.name).join(", ")
}

/// What to write instead of an unknown name.
pub(super) fn hint(name: &str) -> String {
    match name {
        "x" => "for a multiplication write `*`".to_owned(),
        _ => format!("the names are pi, e, {}", names()),
    }
}

impl Function {
    pub(super) fn call(&self, arguments: &[CalculatorNumber]) -> Result {
        let (fewest, most) = self.arguments;
        if (fewest..=most).contains(&arguments.len()) {
            return (self.value)(arguments);
        }
        let plural =
            |count: usize| if count == 1 { "1 argument".to_owned() } else { format!("{count} arguments") };
        let wanted = match (fewest, most) {
            (fewest, usize::MAX) => format!("at least {}", plural(fewest)),
            (fewest, most) if fewest == most => plural(most),
            (fewest, most) => format!("{fewest} to {}", plural(most)),
        };
        Err(Mistake::ArgumentCount { function: self.name, wanted, given: arguments.len() })
    }
}

fn sqrt(x: CalculatorNumber) -> Result {
    if x.to_f64() < 0.0 {
        return Err(Mistake::Undefined { what: "the square root of a negative number is not a real number" });
    }
    if let Some(square) = x.to_integer() {
        // The root of a perfect square is exact, even beyond the precision of floating point numbers.
        let root = square.isqrt();
        if root * root == square {
            return Ok(CalculatorNumber::Integer(root));
        }
    }
    decimal(x.to_f64().sqrt())
}

fn to_whole(x: CalculatorNumber, rounding: fn(f64) -> f64) -> CalculatorNumber {
    match x {
        CalculatorNumber::Integer(_) => x,
        CalculatorNumber::Decimal(value) => whole(rounding(value)),
    }
}

/// Rounds halves away from zero, based on the number as written: 2.675 to two digits is 2.68, although the floating
/// point number is slightly less.
fn round(x: CalculatorNumber, digits: Option<CalculatorNumber>) -> Result {
    let Some(digits) = digits.unwrap_or(CalculatorNumber::Integer(0)).to_integer() else {
        return Err(Mistake::NotWhole { function: "round, for the number of digits," });
    };
    // Beyond these bounds every number is unchanged or zero.
    let digits = digits.clamp(-400, 400) as i32;
    match x {
        CalculatorNumber::Integer(value) => Ok(round_integer(value, digits)),
        CalculatorNumber::Decimal(value) => {
            let rounded = round_decimal(value, digits);
            if digits > 0 { decimal(rounded) } else { Ok(whole(rounded)) }
        }
    }
}

fn round_integer(value: i128, digits: i32) -> CalculatorNumber {
    if digits >= 0 {
        return CalculatorNumber::Integer(value);
    }
    // Half of a unit that is too large exceeds every representable number.
    let Some(unit) = 10i128.checked_pow(digits.unsigned_abs()) else { return CalculatorNumber::Integer(0) };
    let left = value % unit;
    let down = value - left;
    // Not compared with twice the rest, which can exceed 128 bits.
    if left.abs() < unit - left.abs() {
        return CalculatorNumber::Integer(down);
    }
    let up = down.checked_add(unit * left.signum());
    up.map_or_else(|| whole(round_decimal(value as f64, digits)), CalculatorNumber::Integer)
}

fn round_decimal(value: f64, digits: i32) -> f64 {
    // The shortest digits that identify this number.
    let text = format!("{:e}", value.abs());
    let Some((mantissa, exponent)) = text.split_once('e') else { return value };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let mut written: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    // The last digit that is kept stands more than one place above the first digit of the number.
    let Ok(kept) = usize::try_from(exponent + 1 + digits) else { return 0.0 };
    if kept >= written.len() {
        return value;
    }
    let goes_up = written[kept] >= b'5';
    written.truncate(kept);
    if goes_up {
        let nines = written.iter().rev().take_while(|digit| **digit == b'9').count();
        written[kept - nines..].fill(b'0');
        match kept.checked_sub(nines + 1) {
            Some(place) => written[place] += 1,
            // All digits were nines, or none is kept, so rounding up makes one digit more.
            None => written.insert(0, b'1'),
        }
    }
    let written = String::from_utf8_lossy(&written);
    // The leading 0 is for the case that no digit is kept.
    let magnitude: f64 = format!("0{written}e{}", -digits).parse().unwrap_or(value.abs());
    magnitude.copysign(value)
}

fn logarithm(x: CalculatorNumber, function: fn(f64) -> f64) -> Result {
    if x.to_f64() <= 0.0 {
        return Err(Mistake::Undefined { what: "only numbers above 0 have a logarithm" });
    }
    decimal(function(x.to_f64()))
}

fn log(x: CalculatorNumber, base: Option<CalculatorNumber>) -> Result {
    let Some(base) = base else { return logarithm(x, f64::ln) };
    let base = base.to_f64();
    if base <= 0.0 || base == 1.0 {
        return Err(Mistake::Undefined { what: "the base of a logarithm must be above 0 and not 1" });
    }
    // Exact for integer powers, which a quotient of natural logarithms is not.
    if base == 2.0 {
        logarithm(x, f64::log2)
    } else if base == 10.0 {
        logarithm(x, f64::log10)
    } else {
        decimal(logarithm(x, f64::ln)?.to_f64() / base.ln())
    }
}

fn arc(x: CalculatorNumber, function: fn(f64) -> f64) -> Result {
    if x.to_f64().abs() > 1.0 {
        return Err(Mistake::Undefined { what: "asin and acos are defined from -1 to 1" });
    }
    decimal(function(x.to_f64()))
}

/// The extreme argument in this direction; the first one among equals.
fn extreme(numbers: &[CalculatorNumber], wanted: Ordering) -> CalculatorNumber {
    let compare = |a: CalculatorNumber, b: CalculatorNumber| match (a, b) {
        (CalculatorNumber::Integer(a), CalculatorNumber::Integer(b)) => a.cmp(&b),
        (a, b) => a.to_f64().total_cmp(&b.to_f64()),
    };
    let mut found = numbers[0];
    for number in &numbers[1..] {
        if compare(*number, found) == wanted {
            found = *number;
        }
    }
    found
}

fn sum(numbers: &[CalculatorNumber]) -> Result {
    numbers.iter().try_fold(CalculatorNumber::Integer(0), |sum, number| sum.plus(*number))
}

fn factorial(x: CalculatorNumber) -> Result {
    let number = x.to_integer().ok_or(Mistake::NotWhole { function: "factorial" })?;
    if number < 0 {
        return Err(Mistake::Undefined { what: "a negative number has no factorial" });
    }
    if number > FACTORIAL_MAX {
        return Err(Mistake::TooLarge);
    }
    (1..=number).try_fold(CalculatorNumber::Integer(1), |product, factor| {
        product.times(CalculatorNumber::Integer(factor))
    })
}

fn fold_whole(
    function: &'static str,
    numbers: &[CalculatorNumber],
    join: impl Fn(i128, i128) -> Option<i128>,
) -> Result {
    let mut joined: Option<i128> = None;
    for number in numbers {
        let number = number.to_integer().ok_or(Mistake::NotWhole { function })?;
        let number = number.checked_abs().ok_or(Mistake::TooLarge)?;
        joined = Some(match joined {
            None => number,
            Some(joined) => join(joined, number).ok_or(Mistake::TooLarge)?,
        });
    }
    Ok(CalculatorNumber::Integer(joined.unwrap_or_default()))
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn lcm(a: i128, b: i128) -> Option<i128> {
    // The division comes first, so that the product exceeds 128 bits only if the result does.
    if a == 0 || b == 0 { Some(0) } else { (a / gcd(a, b)).checked_mul(b) }
}
