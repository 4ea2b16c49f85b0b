//! A calculator: arithmetic with the precedence that Python and mathematics share, exact for whole numbers.
//!
//! ```text
//! expression  sum of products; + and -, then * / // %, left to right (also written × · ÷ −)
//! sign        + or - before a factor; weaker than a power: -2**2 is -4
//! power       ** or ^, right to left: 2**3**2 is 512, and 2**-1 is 0.5
//! atom        12, 1.5, .5, 1e-3, 1_000, pi, e, name(argument, ...), (expression)
//! ```
//!
//! Integers are exact up to 128 bits; larger values, and every fraction, are 64-bit floating point numbers. `//` and
//! `%` round towards minus infinity, as in Python. A comma only separates arguments, so `1,000` is not a number. There
//! is not an implicit multiplication: `2(3)` and `2pi` are mistakes.
//!
//! The calculators published with agents for question answering drop what they do not understand and evaluate the
//! rest, so there `2^3` is 23, `5%` is 5 and `10 / 5 = 2` is 10/52. Here these are 8 and two mistakes, which are
//! reported to the agent. If nothing is dropped the values are the same, to the 15 digits that are shown. Their
//! answers are in [`published`].

mod functions;
mod number;
mod parser;
pub mod published;
mod tokens;

use std::fmt;
use std::sync::Arc;

use planproof_trace::{Arguments, Tool, ToolCall, ToolResult};
use serde_json::{Value, json};
use thiserror::Error;

use crate::refusal::{no_such_tool, not_an_object, shortened};
use crate::{BoxFuture, Restoring, Toolbox};

pub use number::CalculatorNumber;

/// Longest expression, in bytes.
pub const EXPRESSION_BYTES_MAX: usize = 10_000;
/// Deepest nesting of parentheses, arguments and powers.
pub const DEPTH_MAX: usize = 100;

/// Why an expression has no value. All of these are its author's mistakes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalculatorError {
    pub mistake: Mistake,
    /// The character of the expression, from 1; one past the end if something is missing there.
    pub place: usize,
}

impl fmt::Display for CalculatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at character {}", self.mistake, self.place)
    }
}

impl std::error::Error for CalculatorError {}

/// What can be wrong with an expression.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Mistake {
    /// It is longer than [`EXPRESSION_BYTES_MAX`].
    #[error("the expression is longer than {EXPRESSION_BYTES_MAX} bytes")]
    TooLong,
    /// It is nested deeper than [`DEPTH_MAX`].
    #[error("the expression is nested deeper than {DEPTH_MAX} levels")]
    TooDeep,
    /// Something else should stand there.
    #[error("expected {wanted} but found {found}")]
    Unexpected {
        /// What should stand there.
        wanted: &'static str,
        found: String,
    },
    /// A name that means nothing here.
    #[error("unknown name `{name}`; {hint}")]
    UnknownName { name: String, hint: String },
    /// A function has too many arguments or too few.
    #[error("{function} takes {wanted}, not {given}")]
    ArgumentCount {
        function: &'static str,
        /// How many it takes, in words.
        wanted: String,
        /// How many there are.
        given: usize,
    },
    /// A divisor is 0.
    #[error("division by zero")]
    DivisionByZero,
    /// The function has no real value there.
    #[error("{what}")]
    Undefined {
        /// What has no value, as a sentence.
        what: &'static str,
    },
    /// A function of integers was given another number.
    #[error("{function} takes whole numbers only")]
    NotWhole { function: &'static str },
    /// The value exceeds the range of numbers (about 1.8e308), or the limit of its function.
    #[error("the value is too large")]
    TooLarge,
}

/// The value of an expression. Takes time in proportion to its length.
///
/// # Errors
/// It does not follow the grammar above, or it has no value.
pub fn evaluate(expression: &str) -> Result<CalculatorNumber, CalculatorError> {
    if expression.len() > EXPRESSION_BYTES_MAX {
        return Err(CalculatorError { mistake: Mistake::TooLong, place: 1 });
    }
    parser::Parser::new(tokens::tokens(expression)?).value()
}

/// The tool's name.
const NAME: &str = "calculator";

/// A toolbox whose only tool, `calculator`, takes an `expression` and answers with its value.
#[derive(Debug)]
pub struct Calculator {
    tools: Arc<[Tool]>,
}

impl Calculator {
    /// The calculator.
    pub fn new() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {"expression": {"type": "string", "description": "For example: (3 + 4.5) * 2**10 / sqrt(7)"}},
            "required": ["expression"],
            "additionalProperties": false
        });
        let description = format!(
            "Calculates the value of an arithmetic expression. Operators: + - * / // (division rounded down) % \
             (remainder) ** or ^ (power), parentheses. Constants: pi, e. Functions: {}. Angles are in radians; log(x) \
             is the natural logarithm, log(x, base) another. Write 1000, not 1,000.",
            functions::names()
        );
        let tool = Tool { name: NAME.to_owned(), description, input_schema: schema.into() };
        Self { tools: Arc::from([tool]) }
    }

    fn answer(&self, call: &ToolCall) -> ToolResult {
        if call.name != NAME {
            return no_such_tool(call, &self.tools);
        }
        let arguments = match &call.arguments {
            Arguments::Object(arguments) => arguments,
            Arguments::Malformed(text) => return not_an_object(call, text),
        };
        let (1, Some(Value::String(expression))) = (arguments.len(), arguments.get("expression")) else {
            let text = r#"the arguments of `calculator` do not fit: write {"expression": "2 * (3 + 4)"}"#;
            return ToolResult::error(call.id.clone(), text);
        };
        match evaluate(expression) {
            Ok(value) => ToolResult::ok(call.id.clone(), value.to_string()),
            Err(error) => ToolResult::error(
                call.id.clone(),
                format!("cannot calculate `{}`: {error}", shortened(expression)),
            ),
        }
    }
}

impl Default for Calculator {
    fn default() -> Self {
        Self::new()
    }
}

impl Toolbox for Calculator {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(std::future::ready(self.answer(call)))
    }

    fn restoring(&self) -> Restoring {
        Restoring::Nothing
    }
}
