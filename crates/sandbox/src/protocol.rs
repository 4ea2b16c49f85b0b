//! The protocol between the host and a worker: one JSON object per line, in turns. The host sends [`ToWorker::Run`];
//! the worker answers with calls, each of which it waits for, and finally with the end.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::limits::SandboxLimits;
use crate::outcome::ProgramEnd;
use crate::program::Entry;

/// The argument that makes a worker of `planproof`.
pub const WORKER_ARGUMENT: &str = "__python-worker";

/// A line from the host.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToWorker {
    Run(Box<Run>),
    /// The result of the call that the worker waits for.
    Result(Value),
    /// That call failed, and the program gets this exception.
    Raise {
        /// The name of a builtin exception.
        kind: String,
        message: String,
    },
}

/// A program and what it may use.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) program: String,
    pub(crate) entry: Entry,
    /// The names of the host's functions.
    pub(crate) functions: Vec<String>,
    pub(crate) limits: SandboxLimits,
}

/// A line from a worker. `printed` is what was printed since the line before.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromWorker {
    /// It has dropped its privileges and waits for its first program.
    Ready,
    /// The program calls a function of the host's.
    Call {
        /// Counted from 1.
        id: u64,
        function: String,
        args: Vec<Value>,
        kwargs: Map<String, Value>,
        printed: String,
    },
    /// The program is over.
    Ended { end: ProgramEnd, printed: String },
}
