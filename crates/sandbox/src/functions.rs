//! The host's side of a program's calls.

use std::pin::Pin;

use serde_json::{Map, Value};

/// A call that a program made.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramCall {
    /// One of [`Functions::names`].
    pub function: String,
    /// What was given by place.
    pub args: Vec<Value>,
    /// Keyword arguments, in the order of the call.
    pub kwargs: Map<String, Value>,
}

/// An exception that a call raises in the program, which may catch it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallError {
    /// The name of a builtin exception, such as `TypeError`; any other name becomes `RuntimeError`.
    pub kind: String,
    pub message: String,
}

impl CallError {
    /// A `RuntimeError`.
    pub fn runtime(message: impl Into<String>) -> Self {
        Self { kind: "RuntimeError".into(), message: message.into() }
    }

    /// A `TypeError`, for example for invalid arguments.
    pub fn arguments(message: impl Into<String>) -> Self {
        Self { kind: "TypeError".into(), message: message.into() }
    }
}

/// The result of a call, when it is there.
pub type CallFuture<'a> = Pin<Box<dyn Future<Output = Result<Value, CallError>> + Send + 'a>>;

/// Functions of the host that a program may call, usually the tools of a plan. A name that the program defines itself
/// is the program's, and builtins of Python are unchanged: such calls do not arrive here.
pub trait Functions: Send + Sync {
    /// Their names, identifiers of Python.
    fn names(&self) -> Vec<String>;

    /// Makes a call. The program waits, and its time limit is paused. Calls come one after the other. An object
    /// becomes a dict, an array a list.
    fn call(&self, call: ProgramCall) -> CallFuture<'_>;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct NoFunctions;

impl Functions for NoFunctions {
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn call(&self, call: ProgramCall) -> CallFuture<'_> {
        Box::pin(async move { Err(CallError::runtime(format!("there is no function {}", call.function))) })
    }
}
