//! What the environment can do to write a state's content.

use std::fmt;

/// What writes the content of a state of the environment. A specification names it; whoever runs agents does it. The
/// list is closed: another name is a fault of the specification.
///
/// *Collected calls* are those completed since the environment wrote last. Where nothing is collected, the content says
/// so. What a tool answers is text; a call of a tool that does not exist, or that refuses, answers with its error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Handler {
    /// Runs the last of the collected calls; the others are not executed. The content is its result.
    RunCall,
    /// Runs all collected calls, at the same time where the tools allow it and no requirement speaks of
    /// calls. The content is the results in the order of the calls, in a numbered list if there are several.
    RunCalls,
    /// Runs all collected calls as [`Handler::RunCalls`] does, and asks a model to summarise the results for the
    /// question and the sub-goal (the content of the state before the first of the calls). The content is the summary
    /// or the results, whichever the agent's own model finds likelier for its length; where the model gives no
    /// probabilities, the choice is an option of the run.
    Summarise,
    /// Judges the content of the state before: the answer that the agent proposes. The content says whether it is right
    /// and, where a judge knows it, why not.
    Evaluate,
    /// Runs the calls of the whole run that have not been executed, in the order in which they were written,
    /// with the result of an earlier call put in where its label stands in the arguments of a later one. A
    /// call that must not be executed with these is denied. Then asks a model to answer the question from
    /// plans and results. The content is the answer.
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

    /// It makes nothing of a run without calls.
    pub fn needs_calls(self) -> bool {
        !matches!(self, Self::Evaluate)
    }
}

impl fmt::Display for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
