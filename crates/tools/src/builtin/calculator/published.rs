//! The calculators that were published with agents for question answering, including their mistakes.
//!
//! Both pass their input to Python, without the parts that they do not understand. [`ibm`] is that of "Formally
//! Specifying the High-Level Behavior of LLM-Based Agents" (arXiv 2310.08535), where it is a tool of the agents:
//! `2^3` is 23 there and `5%` is 5. [`gsm8k`] is that of GSM8K (arXiv 2110.14168), which fills in the value of a
//! calculation that a model has begun to write.
//!
//! Integers beyond 128 bits, which Python represents exactly, become floating point numbers here, and powers of that
//! size take no time.

use super::{DEPTH_MAX, EXPRESSION_BYTES_MAX};

/// The characters that both keep.
const KEPT: &str = "0123456789*+-/.()";

/// From here on Python writes floating point numbers with an exponent.
const EXPONENT_FROM: f64 = 1e16;

/// Below this, too.
const EXPONENT_BELOW: f64 = 1e-4;

/// A value, as Python has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PythonNumber {
    Int(i128),
    /// A `float`; it may be infinite.
    Float(f64),
}

use PythonNumber::{Float, Int};

/// What Python raises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Raised {
    Syntax,
    Type,
    ZeroDivision,
    Overflow,
}

/// The answer of the calculator of the paper on agents by specification. Takes time in proportion to the text.
pub fn ibm(expression: &str) -> String {
    let kept: String = expression.replace('x', "*").chars().filter(|it| KEPT.contains(*it)).collect();
    match evaluate(&kept).and_then(written) {
        Ok(text) => text,
        Err(Raised::ZeroDivision) => "Cannot divide by zero".to_owned(),
        Err(Raised::Syntax) => "<<SYNTAX ERROR>>".to_owned(),
        Err(Raised::Type) => "<<TYPE ERROR>>".to_owned(),
        Err(Raised::Overflow) => "<<OVERFLOW ERROR>>".to_owned(),
    }
}

/// The value that the calculator of GSM8K inserts after a text that ends within `<<...=`; `None` if it inserts
/// nothing. Takes time in proportion to the text.
pub fn gsm8k(text: &str) -> Option<PythonNumber> {
    let (_, rest) = text.rsplit_once("<<")?;
    if rest.contains(">>") {
        return None;
    }
    let (left, _) = rest.split_once('=')?;
    let left = left.replace(',', "");
    if !left.chars().all(|it| KEPT.contains(it)) {
        return None;
    }
    evaluate(&left).ok()
}

/// A value in the tool's format: integers without a fraction, others as Python's `repr`.
fn written(value: PythonNumber) -> Result<String, Raised> {
    match value {
        Int(value) => Ok(value.to_string()),
        Float(value) if !value.is_finite() => Err(Raised::Overflow),
        Float(value) if value.fract() == 0.0 => Ok(format!("{:.0}", if value == 0.0 { 0.0 } else { value })),
        Float(value) if (EXPONENT_BELOW..EXPONENT_FROM).contains(&value.abs()) => Ok(value.to_string()),
        Float(value) => {
            let text = format!("{value:e}");
            // Whole numbers were written above, and large ones are always whole, so the exponent is negative.
            let (mantissa, exponent) = text.split_once("e-").unwrap_or((&text, "0"));
            Ok(format!("{mantissa}e-{exponent:0>2}"))
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token {
    Number(PythonNumber),
    Plus,
    Minus,
    Times,
    Over,
    FloorOver,
    Power,
    Open,
    Close,
}

fn tokens(text: &str) -> Result<Vec<Token>, Raised> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let is_double = bytes.get(at + 1) == Some(byte);
        let (token, length) = match byte {
            b'+' => (Token::Plus, 1),
            b'-' => (Token::Minus, 1),
            b'*' if is_double => (Token::Power, 2),
            b'*' => (Token::Times, 1),
            b'/' if is_double => (Token::FloorOver, 2),
            b'/' => (Token::Over, 1),
            b'(' => (Token::Open, 1),
            b')' => (Token::Close, 1),
            _ => {
                // Only characters of `KEPT` are left, so this is a digit or a point.
                let digits = |from: usize| bytes[from..].iter().take_while(|it| it.is_ascii_digit()).count();
                let whole = digits(at);
                let mut length = whole;
                if bytes.get(at + whole) == Some(&b'.') {
                    length += 1 + digits(at + whole + 1);
                }
                (Token::Number(number(&text[at..at + length])?), length)
            }
        };
        tokens.push(token);
        at += length;
    }
    Ok(tokens)
}

/// A literal: digits with at most one point.
fn number(text: &str) -> Result<PythonNumber, Raised> {
    if text.contains('.') {
        return text.parse().map(Float).map_err(|_| Raised::Syntax);
    }
    // Python refuses an integer that begins with 0, except for one of zeros alone.
    if text.is_empty() || (text.starts_with('0') && text.bytes().any(|it| it != b'0')) {
        return Err(Raised::Syntax);
    }
    text.parse().map(Int).or_else(|_| text.parse().map(Float)).map_err(|_| Raised::Syntax)
}

fn evaluate(text: &str) -> Result<PythonNumber, Raised> {
    if text.len() > EXPRESSION_BYTES_MAX {
        return Err(Raised::Syntax);
    }
    let tokens = tokens(text)?;
    Parser { tokens: &tokens, at: 0, raised: None }.whole()
}

/// Evaluates while parsing. Python parses an expression as a whole first, so a syntax error outranks all other
/// errors; among the others the first counts, after which the evaluation continues with any number.
struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    raised: Option<Raised>,
}

impl Parser<'_> {
    fn next_is(&mut self, wanted: &[Token]) -> Option<Token> {
        let found = self.tokens.get(self.at).copied().filter(|token| wanted.contains(token));
        self.at += usize::from(found.is_some());
        found
    }

    fn or_raise(&mut self, value: Result<PythonNumber, Raised>) -> PythonNumber {
        value.unwrap_or_else(|raised| {
            self.raised.get_or_insert(raised);
            Int(1)
        })
    }

    fn whole(mut self) -> Result<PythonNumber, Raised> {
        let value = self.sum(0)?;
        if self.at < self.tokens.len() {
            return Err(Raised::Syntax);
        }
        self.raised.map_or(Ok(value), Err)
    }

    fn sum(&mut self, depth: usize) -> Result<PythonNumber, Raised> {
        let mut value = self.product(depth)?;
        while let Some(sign) = self.next_is(&[Token::Plus, Token::Minus]) {
            let right = self.product(depth)?;
            value = self.or_raise(calculated(sign, value, right));
        }
        Ok(value)
    }

    fn product(&mut self, depth: usize) -> Result<PythonNumber, Raised> {
        let mut value = self.signed(depth)?;
        while let Some(sign) = self.next_is(&[Token::Times, Token::Over, Token::FloorOver]) {
            let right = self.signed(depth)?;
            value = self.or_raise(calculated(sign, value, right));
        }
        Ok(value)
    }

    fn signed(&mut self, depth: usize) -> Result<PythonNumber, Raised> {
        if depth > DEPTH_MAX {
            return Err(Raised::Syntax);
        }
        match self.next_is(&[Token::Plus, Token::Minus]) {
            Some(Token::Minus) => Ok(match self.signed(depth + 1)? {
                Int(number) => number.checked_neg().map_or(Float(-(number as f64)), Int),
                Float(number) => Float(-number),
            }),
            Some(_) => self.signed(depth + 1),
            None => self.power(depth),
        }
    }

    fn power(&mut self, depth: usize) -> Result<PythonNumber, Raised> {
        let base = self.atom(depth)?;
        match self.next_is(&[Token::Power]) {
            Some(sign) => {
                let exponent = self.signed(depth + 1)?;
                Ok(self.or_raise(calculated(sign, base, exponent)))
            }
            None => Ok(base),
        }
    }

    fn atom(&mut self, depth: usize) -> Result<PythonNumber, Raised> {
        let mut value = if let Some(Token::Number(number)) = self.tokens.get(self.at).copied() {
            self.at += 1;
            number
        } else {
            self.next_is(&[Token::Open]).ok_or(Raised::Syntax)?;
            match self.within(depth)? {
                Some(value) => value,
                // An empty tuple.
                None => self.or_raise(Err(Raised::Type)),
            }
        };
        // A number called like a function.
        while self.next_is(&[Token::Open]).is_some() {
            self.within(depth)?;
            value = self.or_raise(Err(Raised::Type));
        }
        Ok(value)
    }

    /// The content of parentheses, the first of which was read; `None` if it is empty.
    fn within(&mut self, depth: usize) -> Result<Option<PythonNumber>, Raised> {
        if self.next_is(&[Token::Close]).is_some() {
            return Ok(None);
        }
        let value = self.sum(depth + 1)?;
        self.next_is(&[Token::Close]).ok_or(Raised::Syntax)?;
        Ok(Some(value))
    }
}

fn float(number: PythonNumber) -> f64 {
    match number {
        Int(number) => number as f64,
        Float(number) => number,
    }
}

fn calculated(sign: Token, left: PythonNumber, right: PythonNumber) -> Result<PythonNumber, Raised> {
    let divides = matches!(sign, Token::Over | Token::FloorOver);
    if divides && float(right) == 0.0 {
        return Err(Raised::ZeroDivision);
    }
    if let (Int(a), Int(b)) = (left, right) {
        let exact = match sign {
            Token::Plus => a.checked_add(b),
            Token::Minus => a.checked_sub(b),
            Token::Times => a.checked_mul(b),
            Token::FloorOver => floor_quotient(a, b),
            // A negative exponent, and `/` below, give a float in Python, even for a whole result.
            Token::Power => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
            _ => None,
        };
        if let Some(exact) = exact {
            return Ok(Int(exact));
        }
    }
    let (a, b) = (float(left), float(right));
    Ok(Float(match sign {
        Token::Plus => a + b,
        Token::Minus => a - b,
        Token::Times => a * b,
        Token::Over => a / b,
        Token::FloorOver => (a / b).floor(),
        _ => return power(a, b),
    }))
}

fn power(base: f64, exponent: f64) -> Result<PythonNumber, Raised> {
    if base == 0.0 && exponent < 0.0 {
        return Err(Raised::ZeroDivision);
    }
    if base < 0.0 && exponent.fract() != 0.0 {
        // A complex number, which cannot be converted to an integer.
        return Err(Raised::Type);
    }
    let value = base.powf(exponent);
    if value.is_finite() { Ok(Float(value)) } else { Err(Raised::Overflow) }
}

fn floor_quotient(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_unknown_is_dropped() {
        for (expression, answer) in [
            ("6 apples * 7", "42"),
            ("1e3", "13"),
            ("2^3", "23"),
            ("7 x 6", "42"),
            ("00", "0"),
            ("012", "<<SYNTAX ERROR>>"),
            ("012.", "12"),
            ("-2**2", "-4"),
            ("2**-1", "0.5"),
            ("2**3**2", "512"),
            ("-7//2", "-4"),
            ("-7.5//2", "-4"),
            ("0**-1", "Cannot divide by zero"),
            ("()", "<<TYPE ERROR>>"),
            ("2(1/0)", "Cannot divide by zero"),
            ("2(3", "<<SYNTAX ERROR>>"),
            ("1/30000", "3.3333333333333335e-05"),
            ("10.**400", "<<OVERFLOW ERROR>>"),
            ("10.**22", "10000000000000000000000"),
            ("1/0 +", "<<SYNTAX ERROR>>"),
            (".", "<<SYNTAX ERROR>>"),
        ] {
            assert_eq!(ibm(expression), answer, "{expression}");
        }
        assert_eq!(ibm(&"(".repeat(5_000)), "<<SYNTAX ERROR>>");
        assert_eq!(ibm(&"-".repeat(5_000)), "<<SYNTAX ERROR>>");
    }

    #[test]
    fn a_calculation_is_filled_in_where_it_is_begun() {
        for (text, value) in [
            ("<<6*7=", Some(Int(42))),
            ("is <<1,000/8=", Some(Float(125.0))),
            ("<<6*7=42>>", None),
            ("<<6 * 7=", None),
            ("6*7=", None),
            ("<<6*7", None),
        ] {
            assert_eq!(gsm8k(text), value, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "[0-9x*+/().= -]{0,40}") {
            let _ = (ibm(&text), gsm8k(&format!("<<{text}=")));
        }
    }
}
