//! An agent under test, of whatever kind.

use planproof_model::BoxFuture;

use crate::behaviour::voting::VotingAgent;
use crate::{BehaviourAgent, CommandAgent, FunctionCallingAgent, InProcessRun, UrlAgent};

/// An agent under test.
#[derive(Debug, Clone)]
pub enum Agent {
    /// Our function-calling loop.
    FunctionCalling(FunctionCallingAgent),
    /// Made from a specification; the loop is ours.
    Behaviour(BehaviourAgent),
    /// Samples of another one, which take a vote.
    Voting(VotingAgent),
    /// A program started for each case.
    Command(CommandAgent),
    /// A service asked for each case.
    Url(UrlAgent),
}

impl Agent {
    /// Runs it, if its loop is ours, until the end, which is the last event recorded. `None` for any other agent.
    pub fn run_in_process<'a>(&'a self, run: InProcessRun<'a>) -> Option<BoxFuture<'a, ()>> {
        match self {
            Self::FunctionCalling(agent) => Some(agent.run(run)),
            Self::Behaviour(agent) => Some(agent.run(run)),
            Self::Voting(agent) => Some(agent.run(run)),
            Self::Command(_) | Self::Url(_) => None,
        }
    }

    /// Whether its loop is ours, so that it runs in this process.
    pub fn is_in_process(&self) -> bool {
        match self {
            Self::FunctionCalling(_) | Self::Behaviour(_) | Self::Voting(_) => true,
            Self::Command(_) | Self::Url(_) => false,
        }
    }
}
