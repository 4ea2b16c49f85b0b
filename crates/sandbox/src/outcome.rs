//! How a run of a program ended.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The outcome of a program. All its behaviour ends here and never in an `Err`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramOutcome {
    pub end: ProgramEnd,
    /// Its output, as far as it was received: output that a killed worker had not sent is lost.
    pub printed: String,
    /// How many calls reached the host.
    pub calls: usize,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramEnd {
    /// It came to its end.
    Finished {
        /// What the entry point returned.
        value: Returned,
    },
    /// It raised an uncaught exception, or is not Python.
    Raised(Exception),
    /// It is Python, perhaps correct, that the sandbox cannot run. This says nothing about the plan.
    Unsupported {
        /// What the sandbox lacks.
        lack: Lack,
        /// Where, if known, counted from 1.
        line: Option<u32>,
    },
    /// It reached a limit.
    Limit(Limit),
    /// It was not run.
    Refused {
        /// What in its text is refused.
        found: String,
    },
    /// The worker died for a reason other than the limits.
    Crashed { how: String },
}

/// What an entry point returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Returned {
    /// A value that JSON has too; tuples become lists.
    Json(Value),
    /// Any other: the beginning of its `repr`.
    Other(String),
}

/// An exception that ended a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// The name of its type, such as `KeyError`.
    pub kind: String,
    /// Its message, cut to [`MESSAGE_BYTES_MAX`](crate::limits::MESSAGE_BYTES_MAX).
    pub message: String,
    /// The line of the program where it was raised, counted from 1, if it was raised in one.
    pub line: Option<u32>,
}

/// A feature of Python that the sandbox lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    /// A module, by its full name.
    Module(String),
    /// A member of a module that is there.
    Member(String),
    /// A builtin function or class.
    Builtin(String),
    /// A part of the language.
    Syntax(String),
    /// Files, clocks, the environment: the function that was called.
    System(String),
    /// A missing ability of a supported feature, in the interpreter's words.
    Ability(String),
}

/// The limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// [`SandboxLimits::time`](crate::SandboxLimits::time).
    Time,
    /// [`SandboxLimits::memory_bytes`](crate::SandboxLimits::memory_bytes).
    Memory,
    /// [`SandboxLimits::calls`](crate::SandboxLimits::calls).
    Calls,
    /// [`SandboxLimits::output_bytes`](crate::SandboxLimits::output_bytes).
    Output,
    /// [`SandboxLimits::recursion`](crate::SandboxLimits::recursion), or nesting that the interpreter does not support.
    Recursion,
    /// [`SandboxLimits::program_bytes`](crate::SandboxLimits::program_bytes).
    ProgramBytes,
    /// [`SandboxLimits::value_bytes`](crate::SandboxLimits::value_bytes).
    ValueBytes,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "time",
            Self::Memory => "memory",
            Self::Calls => "calls",
            Self::Output => "output",
            Self::Recursion => "recursion",
            Self::ProgramBytes => "bytes of the program",
            Self::ValueBytes => "bytes of a value",
        })
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Module(name) => write!(f, "the module {name}"),
            Self::Member(text) | Self::Ability(text) => f.write_str(text),
            Self::Builtin(name) => write!(f, "the builtin {name}"),
            Self::Syntax(what) => write!(f, "the syntax of {what}"),
            Self::System(name) => write!(f, "{name}(), which needs the system"),
        }
    }
}

impl fmt::Display for ProgramEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished { value: Returned::Json(value) } => write!(f, "finished with {value}"),
            Self::Finished { value: Returned::Other(repr) } => write!(f, "finished with {repr}"),
            Self::Raised(Exception { kind, message, line }) => {
                write!(f, "{kind}")?;
                at_line(f, *line)?;
                if message.is_empty() { Ok(()) } else { write!(f, ": {message}") }
            }
            Self::Unsupported { lack, line } => {
                write!(f, "the sandbox does not have {lack}")?;
                at_line(f, *line)
            }
            Self::Limit(limit) => write!(f, "limit reached: {limit}"),
            Self::Refused { found } => write!(f, "refused, because it has `{found}`"),
            Self::Crashed { how } => write!(f, "the worker died: {how}"),
        }
    }
}

fn at_line(f: &mut fmt::Formatter<'_>, line: Option<u32>) -> fmt::Result {
    line.map_or(Ok(()), |line| write!(f, " (line {line})"))
}
