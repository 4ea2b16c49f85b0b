//! Events, traces, and the clock that dates them.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Actor, CallId, ToolCall, ToolResult};

/// Tokens of a model request, as the provider counted them. Zero if the provider did not report them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written, thoughts included.
    pub output_tokens: u64,
    /// Of the tokens read, those that came from the provider's cache. Their price differs; traces do not hold them.
    pub cached_tokens: u64,
    /// Of the tokens read, those that the provider wrote to its cache; like the former.
    pub cache_write_tokens: u64,
    /// Of the tokens written, those of thoughts, as far as the provider counts them apart.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// So many tokens read and written, none of them by way of a cache.
    pub const fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }
    }

    /// The sum of both, or the largest number if that is less.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(other.cache_write_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
        }
    }

    /// The same for so many requests.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_mul(count),
            output_tokens: self.output_tokens.saturating_mul(count),
            cached_tokens: self.cached_tokens.saturating_mul(count),
            cache_write_tokens: self.cache_write_tokens.saturating_mul(count),
            reasoning_tokens: self.reasoning_tokens.saturating_mul(count),
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = self.plus(other);
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
    /// The provider cut it off because of its content.
    ContentFilter,
    /// The caller aborted the reply, because the rest was of no use. No model reports this of itself. The tokens of
    /// such a turn are estimates: a provider counts at the end of a reply.
    Cut,
}

/// How a model is asked to continue a text of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Continuation {
    /// It continues plain text.
    Text,
    /// It continues an unfinished assistant's turn.
    PartialTurn,
    /// It gets an instruction to continue, and its repetitions are removed.
    Chat,
}

impl Continuation {
    /// All of them, the best first.
    pub const ALL: [Self; 3] = [Self::Text, Self::PartialTurn, Self::Chat];

    /// The word used in files and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::PartialTurn => "partial_turn",
            Self::Chat => "chat",
        }
    }
}

impl fmt::Display for Continuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who wrote the content of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Author {
    /// Whoever asks: the question.
    User,
    /// The model.
    Model,
    /// The environment.
    Environment,
}

impl Author {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::User, Self::Model, Self::Environment];

    /// The word used in files and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Model => "model",
            Self::Environment => "environment",
        }
    }
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The cost of holding a model to its specification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Corrections.
    pub corrections: u64,
    /// Corrections that wrote a whole prompt because its beginning was insufficient.
    pub escalations: u64,
    /// Bytes that the model wrote and that were discarded.
    pub discarded_bytes: u64,
    /// How many of its tokens these are, by their share of the bytes.
    pub discarded_tokens: u64,
    /// Tokens read by requests that a correction made necessary: the whole text so far was sent again.
    pub repeated_tokens: u64,
}

/// A named limit of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LimitKind {
    /// Wall-clock time, in milliseconds.
    WallMilliseconds,
    /// Model turns for an in-process agent, tool calls for an external one, and turns of a model that we serve to it.
    Iterations,
    /// Bytes an external agent wrote to stdout or stderr.
    OutputBytes,
    /// Bytes of the text of an agent made from a specification.
    TextBytes,
    /// Tokens of one reply of a model.
    ReplyTokens,
}

impl LimitKind {
    /// All limits.
    pub const ALL: [Self; 5] =
        [Self::WallMilliseconds, Self::Iterations, Self::OutputBytes, Self::TextBytes, Self::ReplyTokens];

    /// The word used in files and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WallMilliseconds => "wall_ms",
            Self::Iterations => "iterations",
            Self::OutputBytes => "output_bytes",
            Self::TextBytes => "text_bytes",
            Self::ReplyTokens => "reply_tokens",
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
    /// The agent itself failed: an external program exited with an error or was killed, or its reply made no sense.
    AgentFailed {
        /// What was seen, for a person.
        reason: String,
    },
    /// Something outside of the agent failed (model unreachable, server error), so the run says nothing about the
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
        /// Everything the agent sees of the case, besides its tools.
        text: String,
    },
    /// A model answered: one turn.
    Turn {
        /// Its text beside its tool calls; may be empty.
        text: String,
        /// Its thoughts, apart from its text; mostly empty.
        reasoning: String,
        /// Number of tool calls in the answer; they follow as [`EventKind::Call`].
        calls: u32,
        /// Why it stopped writing.
        finish: FinishReason,
        /// Tokens of this request.
        usage: Usage,
    },
    /// A model wrote several calls in one reply. Comes before they are executed; some may never be.
    Batch {
        /// Their ids, in the order in which they were written.
        calls: Vec<CallId>,
    },
    /// The execution of a tool call began.
    Call(ToolCall),
    /// The execution of a tool call ended.
    Result(ToolResult),
    /// An agent made from a specification begins. The sections of the same actor up to the end of the run, or up to
    /// its next event of this kind, form its text.
    Spec {
        /// The specification's name.
        name: String,
        /// How its model is asked.
        continuation: Continuation,
    },
    /// A section of such an agent's text is complete.
    Section {
        /// The name of its state.
        state: String,
        /// Who wrote it.
        author: Author,
        /// Its content, without the white space around it.
        text: String,
        /// How the environment produced it, if that matters: who judged, what was chosen and why. Usually empty.
        note: String,
    },
    /// Such an agent's model wrote something that must not come, and was corrected.
    Correction {
        /// What it wrote, in words.
        violation: String,
        /// The text that replaced it.
        appended: String,
        /// Bytes that were discarded since the previous correction.
        discarded_bytes: u64,
    },
    /// The cost of holding such an agent's model to the specification, once its text is complete.
    Tally(Tally),
    /// The run ended. Always the last event; a trace without it was cut off (by a crash of ours or a kill).
    End(EndReason),
}

/// One observable occurrence in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its time, in units of the run's clock (see [`Clock`]), counted from the start of the run.
    pub at: u64,
    /// The agent of the run that caused it; `None` for the only or the outermost one.
    pub actor: Option<Actor>,
    /// What happened.
    pub kind: EventKind,
}

impl Event {
    /// An event of the only or the outermost agent.
    pub fn new(at: u64, kind: EventKind) -> Self {
        Self { at, actor: None, kind }
    }
}

/// The subject of a trace; enough to repeat the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The agent, as on the command line (`tools@sim/perfect`, `command:python my_agent.py`).
    pub agent: String,
    /// The model, if the agent's loop is ours.
    pub model: Option<String>,
    /// A model of the agent is one of our simulations: its results say nothing about any real model.
    pub simulated: bool,
    /// Id of the case.
    pub case: String,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
    /// Seed of the run.
    pub seed: u64,
    /// What dates the events: `"logical"` (a counter of events) or `"milliseconds"`.
    pub clock: String,
    /// Version of planproof that recorded the trace.
    pub version: String,
}

/// The finite sequence of events of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// What it is of.
    pub header: Header,
    /// The events, in the order in which they were observed.
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

/// Counts its calls: the n-th event gets the time n. For runs that must be the same bytes each time.
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
