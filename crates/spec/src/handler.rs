//! The ways in which the environment can write a state's content.

use std::fmt;

/// The writer of a state of the environment. A specification names it; the agent loop implements it. The list is
/// closed: another name is a fault of the specification.
///
/// *Collected calls* are those completed since the environment wrote last. If there are none, the content says so.
/// The answer of a tool is text; a call of a nonexistent tool, or a refused one, is answered by its error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Handler {
    /// Runs the last of the collected calls and ignores the others. The content is its result.
    RunCall,
    /// Runs all collected calls, concurrently if the tools allow it and no requirement is about calls. The content is
    /// the results in the order of the calls, in a numbered list if there are several.
    RunCalls,
    /// Runs all collected calls as [`Handler::RunCalls`] does, and asks a model to summarise the results for the
    /// question and the sub-goal (the content of the state before the first of the calls). The content is the summary
    /// or the results, whichever the agent's own model finds likelier for its length; if the model reports no
    /// probabilities, an option of the run decides.
    Summarise,
    /// Judges the content of the previous state: the answer that the agent proposes. The content says whether it is
    /// right and, if the judge knows it, why not.
    Evaluate,
    /// Runs the unexecuted calls of the whole run, in the order in which they were written, with labels in the
    /// arguments of a later call replaced by the results of earlier ones. A call that must not be executed with these
    /// is denied. Then asks a model to answer the question from plans and results. The content is the answer.
    Solve,
}

impl Handler {
    /// All handlers.
    pub const ALL: [Self; 5] = [Self::RunCall, Self::RunCalls, Self::Summarise, Self::Evaluate, Self::Solve];

    /// The name in a specification.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RunCall => "run-call",
            Self::RunCalls => "run-calls",
            Self::Summarise => "summarise",
            Self::Evaluate => "evaluate",
            Self::Solve => "solve",
        }
    }

    /// The handler of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|handler| handler.as_str() == name)
    }

    /// It has no effect in a run without calls.
    pub fn needs_calls(self) -> bool {
        !matches!(self, Self::Evaluate)
    }
}

impl fmt::Display for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
