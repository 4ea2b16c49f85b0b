//! The guard between an agent and its tools.

use std::fmt;

use planproof_trace::{ToolCall, ToolResult};
use serde_json::Value;

/// A guard's decision on a call before it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may be made.
    Allow,
    /// It may be made, but rules with these ids, which are only watched, would deny it. Never empty.
    Note(Vec<String>),
    /// It is denied.
    Deny(GuardDenial),
}

/// What a guard answers instead of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GuardDenial {
    /// The answer for the agent: the reason, and the right calls at this point where they are known.
    pub text: String,
    /// The ids of the rules that deny the call, for guards that have rules.
    pub rules: Vec<String>,
    /// The reason as data, for agents over MCP.
    pub structured: Option<Value>,
}

impl GuardDenial {
    /// A denial in these words alone.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The result that the agent gets for the call.
    pub fn result(self, call: &ToolCall) -> ToolResult {
        let Self { text, rules, structured } = self;
        ToolResult { structured, ..ToolResult::denied(call.id.clone(), text).denied_by(rules) }
    }
}

/// A guard of one run. It sees every call before its tool does, and executed calls once more with their results. Each
/// call has a number, from 1 on in the order in which the guard is asked, because an agent's ids need not be unique.
pub trait Guard: Send {
    /// Whether the call may be made.
    fn before(&mut self, number: u64, call: &ToolCall) -> Decision;

    /// A call was allowed and has its result; `is_error` there says that its tool refused it. A call whose result never
    /// comes is not reported.
    fn after(&mut self, number: u64, call: &ToolCall, result: &ToolResult);

    /// Whether it decides on a call only once the calls before have their results. Otherwise calls run side by side,
    /// and those without a result are pending.
    fn is_sequential(&self) -> bool {
        true
    }

    /// What the case says of a call that is to be made now: `true` if it is a step of a right plan from here on,
    /// `false` if the run could not pass after it, and `None` if neither is known, or it makes no difference. Guards
    /// that do not know the case's right plans say nothing.
    fn is_right(&self, call: &ToolCall) -> Option<bool> {
        let _ = call;
        None
    }
}

/// What gives each run of a campaign a guard, whatever its case is.
pub trait Guarding: fmt::Debug + Send + Sync {
    /// A guard for a run that has not begun.
    fn guard(&self) -> Box<dyn Guard>;
}
