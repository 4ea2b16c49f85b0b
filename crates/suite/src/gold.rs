//! The right answer of a case, for a simulated model that is handed it.

use serde_json::{Map, Value};

/// What an agent that is right does.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gold {
    /// Its calls, in order.
    pub calls: Vec<GoldCall>,
    /// Its reasoning in words, before the answer; may be empty.
    pub reasoning: String,
    /// Its final answer.
    pub answer: String,
    /// A final answer that is wrong.
    pub wrong_answer: String,
}

/// A call of a right agent.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldCall {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}
