//! Tokens to a value, by recursive descent. No tree is built: each part is evaluated as it is parsed.

use super::number::decimal;
use super::tokens::{Kind, Operator, Token};
use super::{CalculatorError, CalculatorNumber, DEPTH_MAX, Mistake, functions};

type Result<T> = std::result::Result<T, CalculatorError>;

pub(super) struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// `tokens` must end with [`Kind::End`].
    pub(super) fn new(tokens: Vec<Token<'a>>) -> Self {
        Self { tokens, at: 0, depth: 0 }
    }

    /// The value of the whole.
    pub(super) fn value(mut self) -> Result<CalculatorNumber> {
        let value = self.expression()?;
        match self.next().kind {
            Kind::End => Ok(value),
            Kind::Comma => Err(self.unexpected(
                "the end (a comma only separates arguments of a function: write 1000 for 1,000)",
            )),
            Kind::Close => Err(self.unexpected("the end (this parenthesis was never opened)")),
            _ => Err(self.unexpected("an operator")),
        }
    }

    fn next(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    /// Takes the next token. The end token is never consumed.
    fn take(&mut self) -> Token<'a> {
        let token = self.next();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    /// Takes the next token if it is one of these operators.
    fn take_operator(&mut self, wanted: &[Operator]) -> Option<(Operator, usize)> {
        match self.next() {
            Token { kind: Kind::Operator(operator), place, .. } if wanted.contains(&operator) => {
                self.at += 1;
                Some((operator, place))
            }
            _ => None,
        }
    }

    fn unexpected(&self, wanted: &'static str) -> CalculatorError {
        let Token { kind, text, place } = self.next();
        let found = if kind == Kind::End { "the end".to_owned() } else { format!("`{text}`") };
        CalculatorError { mistake: Mistake::Unexpected { wanted, found }, place }
    }

    /// Parses one level deeper.
    fn deeper(&mut self, read: fn(&mut Self) -> Result<CalculatorNumber>) -> Result<CalculatorNumber> {
        if self.depth >= DEPTH_MAX {
            return Err(CalculatorError { mistake: Mistake::TooDeep, place: self.next().place });
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn expression(&mut self) -> Result<CalculatorNumber> {
        let mut value = self.product()?;
        while let Some((operator, place)) = self.take_operator(&[Operator::Plus, Operator::Minus]) {
            let right = self.product()?;
            let result = if operator == Operator::Plus { value.plus(right) } else { value.minus(right) };
            value = at(place, result)?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<CalculatorNumber> {
        use Operator::{FloorOver, Over, Remainder, Times};
        let mut value = self.signed()?;
        while let Some((operator, place)) = self.take_operator(&[Times, Over, FloorOver, Remainder]) {
            let right = self.signed()?;
            let result = match operator {
                Over => value.over(right),
                FloorOver => value.floor_over(right),
                Remainder => value.remainder(right),
                _ => value.times(right),
            };
            value = at(place, result)?;
        }
        Ok(value)
    }

    fn signed(&mut self) -> Result<CalculatorNumber> {
        // Signs are counted in a loop and not by recursion, so that a long row of them needs no depth.
        let mut is_negative = false;
        while let Some((operator, _)) = self.take_operator(&[Operator::Plus, Operator::Minus]) {
            is_negative ^= operator == Operator::Minus;
        }
        let value = self.power()?;
        Ok(if is_negative { value.negated() } else { value })
    }

    fn power(&mut self) -> Result<CalculatorNumber> {
        let base = self.atom()?;
        match self.take_operator(&[Operator::Power]) {
            Some((_, place)) => {
                let exponent = self.deeper(Self::signed)?;
                at(place, base.power(exponent))
            }
            None => Ok(base),
        }
    }

    fn atom(&mut self) -> Result<CalculatorNumber> {
        match self.next() {
            Token { kind: Kind::Number(number), place, .. } => {
                self.take();
                match number {
                    CalculatorNumber::Integer(_) => Ok(number),
                    // A literal such as `1e999` is infinite. That is reported here, where its position is known.
                    CalculatorNumber::Decimal(value) => at(place, decimal(value)),
                }
            }
            Token { kind: Kind::Open, .. } => {
                self.take();
                let value = self.deeper(Self::expression)?;
                self.close("`)`")?;
                Ok(value)
            }
            Token { kind: Kind::Name, text, place } => {
                self.take();
                self.named(&text.to_lowercase(), place)
            }
            _ => {
                let before = self.at.checked_sub(1).map(|before| self.tokens[before].kind);
                Err(self.unexpected(if before == Some(Kind::Operator(Operator::Remainder)) {
                    "a divisor (`%` is the remainder of a division: write 5/100 for 5 per cent)"
                } else {
                    "a number, a name or `(`"
                }))
            }
        }
    }

    /// A constant, or a function with its arguments.
    fn named(&mut self, name: &str, place: usize) -> Result<CalculatorNumber> {
        if let Some(constant) = functions::constant(name) {
            return Ok(constant);
        }
        let Some(function) = functions::find(name) else {
            let mistake = Mistake::UnknownName { name: name.to_owned(), hint: functions::hint(name) };
            return Err(CalculatorError { mistake, place });
        };
        if self.next().kind != Kind::Open {
            return Err(self.unexpected("`(` and the arguments of the function"));
        }
        self.take();
        let mut arguments = Vec::new();
        if self.next().kind != Kind::Close {
            arguments.push(self.deeper(Self::expression)?);
            while self.next().kind == Kind::Comma {
                self.take();
                arguments.push(self.deeper(Self::expression)?);
            }
        }
        self.close("`,` or `)`")?;
        at(place, function.call(&arguments))
    }

    fn close(&mut self, wanted: &'static str) -> Result<()> {
        if self.next().kind != Kind::Close {
            return Err(self.unexpected(wanted));
        }
        self.take();
        Ok(())
    }
}

fn at<T>(place: usize, result: std::result::Result<T, Mistake>) -> Result<T> {
    result.map_err(|mistake| CalculatorError { mistake, place })
}
