//! The options of synthesis, their faults, and its counters.

use thiserror::Error;

use crate::infeasible::InfeasibleShare;
use crate::messages::MessageRange;
use crate::time_form::TimeOptions;

/// What to synthesise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SynthesisOptions {
    /// Fewest actions, at least 2.
    pub actions_min: u32,
    /// Most actions, at most [`ACTIONS_MAX`]. The number of a case is drawn evenly from the range.
    pub actions_max: u32,
    /// Most sentences; `None` for the number of actions.
    pub sentences_max: Option<u32>,
    /// Most tries for one sentence, the paper's K.
    pub tries_max: u32,
    /// Most actions of a list; `None` for 2, and 3 from six actions on.
    pub list_max: Option<u8>,
    /// Most sub-sentences of a sentence.
    pub sub_sentences_max: u8,
    /// Levels of relative clauses: 0 for none, 1 for relative clauses without another one inside.
    pub relative_depth: u8,
    /// Number of tools that belong to no action, from other topics.
    pub distractors: u32,
    /// The job of all cases; `None` draws one for each case.
    pub topic: Option<String>,
    /// The time form, with start times, durations and clock times; `None` for the basic form.
    pub time: Option<TimeOptions>,
    /// The share of cases that contradict themselves on purpose. Each case then offers the tool that reports this;
    /// apart from that, the feasible ones are the same as without it. `None` for feasible cases alone, without the
    /// tool.
    pub infeasible: Option<InfeasibleShare>,
    /// How many messages the text arrives in; `None` for one. Only feasible cases of the basic form can have several.
    /// A case with `n` actions has at most `n / 2` of them, rounded up.
    pub turns: Option<MessageRange>,
    /// Only feasible cases that every heuristic of [`OneLook`](crate::OneLook) fails; infeasible ones stay as they are.
    pub hard: bool,
}

impl Default for SynthesisOptions {
    /// The paper's setting for its main experiment: 3 to 5 actions (section 6.1).
    fn default() -> Self {
        Self {
            actions_min: 3,
            actions_max: 5,
            sentences_max: None,
            tries_max: 50,
            list_max: None,
            sub_sentences_max: 3,
            relative_depth: 1,
            distractors: 0,
            topic: None,
            time: None,
            infeasible: None,
            turns: None,
            hard: false,
        }
    }
}

/// Why no case can be synthesised.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SynthesisError {
    /// An option is out of its range.
    #[error("{option} is {value}; it must be {range}")]
    Option {
        option: &'static str,
        /// What was asked for.
        value: String,
        range: String,
    },
    /// The bank has no such topic.
    #[error("no topic \"{job}\" in the topic bank; `planproof topics` lists them")]
    UnknownTopic {
        /// The job asked for.
        job: String,
    },
    /// A tool of the user's own is not usable in the time form.
    #[error("the tool `{tool}` cannot take part in the time form: {reason}; take it out of the topic bank")]
    NoStartTime { tool: String, reason: String },
    /// The options leave no room for a case.
    #[error(
        "no case found in {draws} draws: the options leave too little room to mention all {actions} actions"
    )]
    NoRoom {
        /// How many paragraphs were drawn.
        draws: u32,
        /// How many actions each had to mention.
        actions: usize,
    },
    /// The options leave no room for a case that every one-look heuristic fails.
    #[error(
        "no hard case found in {draws} draws: with {actions} actions and these options one order or another that takes no \
         planning is nearly always right; ask for more actions"
    )]
    NothingHard {
        /// How many paragraphs were drawn.
        draws: u32,
        /// How many actions each had to mention.
        actions: usize,
    },
    /// The options leave no room for several messages.
    #[error(
        "no case found in {draws} draws: with {actions} actions and these options no text can be divided into {messages} \
         messages; ask for more actions or fewer messages"
    )]
    NoMessages {
        /// How many paragraphs were drawn.
        draws: u32,
        /// How many actions each had to mention.
        actions: usize,
        /// How many messages there were to be.
        messages: u32,
    },
    /// The options leave no room for a contradiction.
    #[error(
        "no infeasible case found in {draws} draws: the options leave too little room to mention all {actions} actions and \
         to contradict that in one way alone"
    )]
    NoContradiction {
        /// How many paragraphs were drawn.
        draws: u32,
        /// How many actions each had to mention.
        actions: usize,
    },
}

/// Counters of synthesis, summed over cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SynthesisCounts {
    pub sentences_drawn: u64,
    /// Sentences rejected because they contradicted the paragraph so far.
    pub unsatisfiable: u64,
    /// Sentences rejected because the search for a schedule reached its limit.
    pub undecided: u64,
    /// Sentences rejected because they had two readings.
    pub ambiguous: u64,
    /// Sentences rejected because a sub-sentence needed more actions than the case has.
    pub too_wide: u64,
    /// Paragraphs discarded because they could not mention every action, mentioned no clock time in the time form, or
    /// could not be divided into messages.
    pub discarded: u64,
    /// Paragraphs discarded because a one-look heuristic would have passed, if only hard cases were requested.
    pub easy: u64,
    /// Sentences rejected because they did not make an infeasible case: there was no contradiction, or more than one,
    /// or it could not be known from the text.
    pub no_conflict: u64,
    /// Calls of the satisfiability check. A search for the smallest conflict of a paragraph counts as one.
    pub solver_calls: u64,
}

/// Runs each piece of the solver's work, so that a caller can time it: this crate reads no clock.
pub trait SolverTimer {
    /// Must run `work` once and return what it returns.
    fn solver<T>(&mut self, work: impl FnOnce() -> T) -> T;
}

/// Times nothing.
impl SolverTimer for () {
    fn solver<T>(&mut self, work: impl FnOnce() -> T) -> T {
        work()
    }
}
