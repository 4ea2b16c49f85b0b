//! Why a reply cannot be read.

use std::fmt;

use thiserror::Error;

/// Why no plan can be read from a reply, and the position.
///
/// It is a model's mistake, and its message is addressed to the model: it says what to mend.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct ParseFault {
    /// What is wrong.
    pub problem: ParseProblem,
    /// The position in the reply, if it is known.
    pub position: Option<TextPosition>,
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextPosition {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
}

/// What keeps a reply from being a plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseProblem {
    /// It is longer than [`TEXT_BYTES_MAX`](crate::limits::TEXT_BYTES_MAX).
    #[error("the reply has {bytes} bytes; at most {limit} are read")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Something is nested deeper than [`NESTING_MAX`](crate::limits::NESTING_MAX).
    #[error("more than {limit} levels are nested in each other")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// An expression is longer than [`CHAIN_LEXEMES_MAX`](crate::limits::CHAIN_LEXEMES_MAX).
    #[error("an expression has a chain of more than {limit} operators, names and values")]
    ChainTooLong {
        /// The limit.
        limit: usize,
    },
    /// There are more than [`STEPS_MAX`](crate::limits::STEPS_MAX).
    #[error("the plan has {steps} steps; at most {limit} are read")]
    TooManySteps {
        /// How many there are.
        steps: usize,
        /// The limit.
        limit: usize,
    },
    /// No object or list stands in it.
    #[error("the reply holds no JSON: there is neither `{{` nor `[` with anything that belongs there")]
    NoJson,
    /// It holds no program.
    #[error("the reply holds no program")]
    NoProgram,
    /// There are several plans or steps where one is required.
    #[error("the reply holds {count} {what} where one is asked for")]
    Several {
        /// `plans`, `steps`, `programs`, or `objects and lists`.
        what: &'static str,
        /// How many there are.
        count: usize,
    },
    /// It is not JSON.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What may stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A number that cannot be represented exactly.
    #[error("the number {written} is too large; write it as a text, in quotes")]
    NumberTooLarge {
        /// The number.
        written: String,
    },
    /// Half of a character.
    #[error("the escape `{written}` is half of a character")]
    LoneSurrogate {
        /// The escape.
        written: String,
    },
    /// It is JSON, but no plan.
    #[error("{expected} is asked for, but this is {found}")]
    OtherShape {
        /// What is asked for.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A step lacks something.
    #[error("step {place} has no `{key}`")]
    KeyMissing {
        /// The place of the step, from 1.
        place: usize,
        /// What it lacks.
        key: &'static str,
    },
    /// A part of a step has the wrong kind.
    #[error("`{key}` of step {place} is {found}, not {expected}")]
    KeyOfOtherKind {
        /// The place of the step, from 1.
        place: usize,
        /// Whose value it is.
        key: &'static str,
        /// What it has to be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A key stands twice in an object.
    #[error("`{key}` is given twice")]
    KeyTwice {
        /// The key.
        key: String,
    },
    /// It is not Python.
    #[error("this is no Python: {message}")]
    Python {
        /// What the compiler would say.
        message: String,
    },
}

impl ParseFault {
    pub(crate) fn new(problem: ParseProblem) -> Self {
        Self { problem, position: None }
    }

    /// A fault at a byte of a text. `offset` may be anywhere, even within a character.
    pub(crate) fn at(problem: ParseProblem, text: &str, offset: usize) -> Self {
        Self { problem, position: Some(TextPosition::of(text, offset)) }
    }

    /// A fault in a text, as one in a larger text that contains it from this position on.
    pub(crate) fn behind(self, start: TextPosition) -> Self {
        let position = self.position.map(|TextPosition { line, column }| TextPosition {
            line: start.line + line - 1,
            // Only the first line of the piece is shifted; the others begin at the same column.
            column: if line == 1 { start.column + column - 1 } else { column },
        });
        Self { position, ..self }
    }
}

impl TextPosition {
    /// The place of a byte of a text.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let before = &text[..text.floor_char_boundary(offset)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for ParseFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.position {
            Some(position) => write!(out, "{position}: {}", self.problem),
            None => write!(out, "{}", self.problem),
        }
    }
}

impl fmt::Display for TextPosition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}, column {}", self.line, self.column)
    }
}
