//! An agent under test, of whatever kind, and what it is run with.

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

/// An agent under test. Whoever runs one need not know of what kind it is.
pub trait Agent: Send + Sync + fmt::Debug {
    /// Runs it until its end, which is for the caller to record. All that comes before it, from the query on,
    /// is recorded by then. Dropping the future ends the run, with all that was started for it.
    ///
    /// # Errors
    /// What it needs around it cannot be had. What goes wrong in the run itself is an end of it.
    fn run<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Result<Ran, RunError>>;

    /// Whether it can resume a run that was cut off, from [`RunContext::earlier`]. Any other begins the run anew.
    fn can_resume(&self) -> bool {
        false
    }

    /// The model that is asked whatever a case leaves to a judge, after the run and before its end; nobody by default.
    /// The agent itself has nothing to do with it.
    fn judge(&self) -> Option<&dyn Model> {
        None
    }

    /// Whether all of it is our code, so that nothing in it depends on the time but a model may.
    fn is_in_process(&self) -> bool {
        true
    }

    /// What keeps it from what would let it cheat, and what of that holds; `None` where it is no program of the user's.
    fn isolation(&self) -> Option<&Account> {
        None
    }

    /// Where it is to be given what belongs to the model that is served to it, so that it cannot be run without one, in
    /// words that complete a sentence; `None` if it can.
    fn needs_served_model(&self) -> Option<&'static str> {
        None
    }
}

/// What an agent is run with.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    /// All that the agent sees of the case, besides its tools.
    pub query: &'a str,
    /// The tools.
    pub toolbox: &'a Arc<dyn Toolbox>,
    /// What ends the run if nothing else does.
    pub limits: &'a RunLimits,
    /// Seed of the run, handed to the model.
    pub seed: u64,
    /// Takes the events.
    pub recorder: &'a Recorder,
    /// What was recorded of this run before it was cut off, if it was; empty otherwise.
    pub earlier: &'a [Event],
    /// Who is asked about the work of a team; nobody without one.
    pub reviewing: Option<&'a Reviewing>,
    /// The lessons of earlier runs that an agent with a memory can recall; nothing without one.
    pub memory: Option<&'a Lessons>,
    /// What agents have around them that are not our code.
    pub surroundings: &'a Surroundings,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub end: EndReason,
    /// What it had to do with its surroundings; `None` where it needs none.
    pub contact: Option<Contact>,
    /// A budget refused a request that it made to the model which we serve to it.
    pub was_refused: bool,
    /// A person stopped it. It counts as not run, and can be resumed.
    pub was_stopped: bool,
}

impl Ran {
    /// The run of an agent that needs no surroundings.
    pub fn in_process(end: EndReason) -> Self {
        Self { end, contact: None, was_refused: false, was_stopped: false }
    }
}

/// What a run had to do with its surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contact {
    /// What told the agent where its tools are.
    pub tools_at: &'static str,
    /// It asked for its tools, in whatever way, or there were none to ask for.
    pub connected: bool,
    /// How often the model answered that is served to it; `None` where it brings its own.
    pub model_answers: Option<u32>,
    /// A request of it was not in the recording that answers, which is no fault of the surroundings.
    pub not_recorded: bool,
}

/// Why an agent cannot be run. None of these is its fault.
#[derive(Debug, Error)]
pub enum RunError {
    /// The tools cannot be offered.
    #[error(transparent)]
    Tools(#[from] McpError),
    /// The model cannot be served.
    #[error("cannot serve {name} to the agent: {source}")]
    Serve {
        /// The model.
        name: String,
        /// The operating system's word.
        source: std::io::Error,
    },
}
