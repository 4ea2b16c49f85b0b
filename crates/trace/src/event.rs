//! Events, traces, and the clock that dates them.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{ToolCall, ToolResult};

/// Tokens a model request took, as the provider counted them. Zero where the provider did not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
    }
}

/// Why a model stopped writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It wants tools executed.
    ToolCalls,
    /// It reached its token limit.
    Length,
    /// The provider cut it off for its content.
    ContentFilter,
}

/// A named limit of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LimitKind {
    /// Wall-clock time, in milliseconds.
    WallMilliseconds,
    /// Model turns for an in-process agent, tool calls for an external one.
    Iterations,
    /// Bytes an external agent wrote to stdout or stderr.
    OutputBytes,
}

impl LimitKind {
    /// The word used in files and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WallMilliseconds => "wall_ms",
            Self::Iterations => "iterations",
            Self::OutputBytes => "output_bytes",
        }
    }
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReason {
    /// The agent gave its final answer.
    Answered {
        /// What it said.
        text: String,
    },
    /// A limit was reached first.
    LimitReached {
        /// Which limit.
        limit: LimitKind,
        /// The limit's value, in the unit of its name.
        value: u64,
    },
    /// The agent itself broke: an external program exited with an error or was killed, or its reply made no sense.
    AgentFailed {
        /// What was seen, for a person.
        reason: String,
    },
    /// Something outside of the agent failed (model unreachable, server error), so the run says nothing of the
    /// agent and stays unscored.
    Unscored {
        /// What failed, for a person.
        reason: String,
    },
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// The agent was given this query.
    Query {
        /// All the agent sees of the case, besides its tools.
        text: String,
    },
    /// A model answered: one turn.
    Turn {
        /// What it said beside its tool calls; may be empty.
        text: String,
        /// Number of tool calls in the answer; they follow as [`EventKind::Call`].
        calls: u32,
        /// Why it stopped writing.
        finish: FinishReason,
        /// Tokens of this request.
        usage: Usage,
    },
    /// The execution of a tool call began.
    Call(ToolCall),
    /// The execution of a tool call ended.
    Result(ToolResult),
    /// The run ended. Always the last event; a trace without it was cut off (by a crash of ours or a kill).
    End(EndReason),
}

/// One observable occurrence in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When, in units of the run's clock (see [`Clock`]), counted from the start of the run.
    pub at: u64,
    /// What happened.
    pub kind: EventKind,
}

/// What a trace is of; enough to run it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The agent, as it is written on the command line (`tools@sim/perfect`, `command:python my_agent.py`).
    pub agent: String,
    /// The model, where the agent's loop is ours.
    pub model: Option<String>,
    /// The model is one of our simulations: its results say nothing of any real model.
    pub simulated: bool,
    /// Id of the case.
    pub case: String,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
    /// Seed of the run.
    pub seed: u64,
    /// What dates the events: `"logical"` (a counter of events) or `"milliseconds"`.
    pub clock: String,
    /// Version of planproof that recorded it.
    pub version: String,
}

/// The finite sequence of events of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// What it is of.
    pub header: Header,
    /// What happened, in the order it was observed.
    pub events: Vec<Event>,
}

impl Trace {
    /// How the run ended; `None` if the trace was cut off.
    pub fn end(&self) -> Option<&EndReason> {
        match self.events.last() {
            Some(Event { kind: EventKind::End(reason), .. }) => Some(reason),
            _ => None,
        }
    }

    /// Tokens over all turns.
    pub fn usage(&self) -> Usage {
        let mut total = Usage::default();
        for event in &self.events {
            if let EventKind::Turn { usage, .. } = event.kind {
                total += usage;
            }
        }
        total
    }
}

/// Dates events. A parameter of every run, so that a run of a simulated model can be the same bytes each time.
pub trait Clock: Send + Sync {
    /// Time since the start of the run, in the clock's unit; never goes backwards.
    fn now(&self) -> u64;

    /// The unit: `"logical"` or `"milliseconds"`.
    fn unit(&self) -> &'static str;
}

/// Counts how often it was asked: the n-th event is dated n. For runs that must be the same bytes each time.
#[derive(Debug, Default)]
pub struct LogicalClock(AtomicU64);

impl Clock for LogicalClock {
    fn now(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    fn unit(&self) -> &'static str {
        "logical"
    }
}
