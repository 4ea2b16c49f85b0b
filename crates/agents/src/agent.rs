//! An agent under test of any kind, and the inputs of one run.

use std::fmt;
use std::sync::Arc;

use planproof_isolation::Account;
use planproof_model::{BoxFuture, Model};
use planproof_tools::Toolbox;
use planproof_tools::mcp::McpError;
use planproof_trace::{EndReason, Event, Recorder};
use thiserror::Error;

use crate::memory::Lessons;
use crate::team::Reviewing;
use crate::{RunLimits, Surroundings};

/// An agent under test. The caller need not know its kind.
pub trait Agent: Send + Sync + fmt::Debug {
    /// Runs the agent until its end; the caller records the end. Everything before it, from the query on, is recorded
    /// by then. Dropping the future ends the run and everything that was started for it.
    ///
    /// # Errors
    /// The surroundings that the agent needs are not available. Anything that goes wrong in the run itself is an end
    /// of the run.
    fn run<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Result<Ran, RunError>>;

    /// Whether the agent can resume a run that was cut off, from [`RunContext::earlier`]. Other agents start the run
    /// again.
    fn can_resume(&self) -> bool {
        false
    }

    /// The model that answers what a case leaves to a judge, after the run and before its end; none by default. The
    /// agent itself does not use it.
    fn judge(&self) -> Option<&dyn Model> {
        None
    }

    /// Whether it can call the tools of a case at all. One that cannot fails every case that takes calls, which says
    /// nothing about its model.
    fn can_call(&self) -> bool {
        true
    }

    /// Whether it takes what the user says after it has ended its turn, and remembers what came before.
    fn can_converse(&self) -> bool {
        false
    }

    /// The most turns of a model that it takes for one call of a tool if nothing goes wrong; 1 by default.
    fn turns_per_call(&self) -> u32 {
        1
    }

    /// Whether all of it is our code, so that only a model can make its behaviour depend on the time.
    fn is_in_process(&self) -> bool {
        true
    }

    /// Which layers keep it from cheating, and which of them hold; `None` if it is not a program of the user's.
    fn isolation(&self) -> Option<&Account> {
        None
    }

    /// Where the user has to place the details of the served model, as words that complete a sentence, if the agent
    /// cannot run without a served model; `None` if it can.
    fn needs_served_model(&self) -> Option<&'static str> {
        None
    }
}

/// What an agent is run with.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    /// All that the agent sees of the case, besides its tools.
    pub query: &'a str,
    /// What the user says later, each when the agent has ended its turn. Only an agent that
    /// [converses](Agent::can_converse) is given any.
    pub later: &'a [String],
    pub toolbox: &'a Arc<dyn Toolbox>,
    /// What ends the run if nothing else does.
    pub limits: &'a RunLimits,
    /// Seed of the run, handed to the model.
    pub seed: u64,
    pub recorder: &'a Recorder,
    /// What was recorded of this run before it was cut off; empty for a new run.
    pub earlier: &'a [Event],
    /// The person who reviews the work of a team; `None` for no review.
    pub reviewing: Option<&'a Reviewing>,
    /// The lessons of earlier runs that an agent with a memory can recall; `None` for no lessons.
    pub memory: Option<&'a Lessons>,
    /// The servers around agents that are not our code.
    pub surroundings: &'a Surroundings,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub end: EndReason,
    /// How the run used its surroundings; `None` if it needs none.
    pub contact: Option<Contact>,
    /// A budget refused a request to the model that we serve to the agent.
    pub was_refused: bool,
    /// A person stopped the run. It counts as not run, and can be resumed.
    pub was_stopped: bool,
}

impl Ran {
    /// The run of an agent that needs no surroundings.
    pub fn in_process(end: EndReason) -> Self {
        Self { end, contact: None, was_refused: false, was_stopped: false }
    }
}

/// How a run used its surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contact {
    /// The variable or field that gave the agent the URL of its tools.
    pub tools_at: &'static str,
    /// Whether it requested its tools in any way; also true if there were none to request.
    pub connected: bool,
    /// How many replies the served model gave; `None` if the agent brings its own model.
    pub model_answers: Option<u32>,
    /// A request was missing from the recording that answers, which is no fault of the surroundings.
    pub not_recorded: bool,
}

/// Why an agent cannot be run. None of these reasons is the agent's fault.
#[derive(Debug, Error)]
pub enum RunError {
    /// The tools cannot be offered.
    #[error(transparent)]
    Tools(#[from] McpError),
    /// The model cannot be served.
    #[error("cannot serve {name} to the agent: {source}")]
    Serve {
        name: String,
        /// The operating system's word.
        source: std::io::Error,
    },
}
