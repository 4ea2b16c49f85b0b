//! The right answer of a case, for a simulated model that is given it.

use serde_json::{Map, Value};

/// What an agent that is right does.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gold {
    /// Its calls, in order.
    pub calls: Vec<GoldCall>,
    /// How many of its calls come before each later message of the user; empty if there is none.
    pub turns: Vec<usize>,
    /// Its sub-tasks, in order; empty if there are none in words, so that each of its calls counts as one.
    pub sub_tasks: Vec<GoldSubTask>,
    /// Its reasoning in words, before the answer; may be empty.
    pub reasoning: String,
    /// Its final answer.
    pub answer: String,
    /// A final answer that is wrong; empty if the calls decide.
    pub wrong_answer: String,
    /// The calls of an agent that makes a mistake; `None` if none are known, or they are those of a right one.
    pub wrong_calls: Option<Vec<GoldCall>>,
}

/// A call of a right agent.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldCall {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}

/// A sub-task of a right agent.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldSubTask {
    /// What is to be done, in words.
    pub text: String,
    /// The call that does it. In the texts of its arguments `$1` stands for the result of the first sub-task, and so
    /// on.
    pub call: GoldCall,
}
