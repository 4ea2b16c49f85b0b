//! The cost of holding the models of agents made from specifications to them, over runs.

use std::collections::BTreeSet;

use planproof_agents::behaviour::evaluator::JudgedBy;
use planproof_trace::{Continuation, Event, EventKind, Tally};
use serde::{Deserialize, Serialize};

/// The cost of holding a model to its specification, in one run or in several, and how it was asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MonitorUse {
    pub corrections: u64,
    /// Corrections that wrote a whole prompt because its beginning was insufficient.
    pub escalations: u64,
    /// Discarded tokens of the model, by their share of the bytes.
    pub discarded_tokens: u64,
    /// Tokens that the model read again because a correction required another request.
    pub repeated_tokens: u64,
    /// How it was asked to continue its text: `text`, `partial_turn`, `chat`. The same in all runs of one agent.
    pub continuations: BTreeSet<&'static str>,
    /// The judge of proposed answers, as in `nobody` or `judge openai/gpt-5-mini`; empty if the specification has no
    /// such state, or no run reached it.
    pub judged_by: BTreeSet<String>,
}

impl MonitorUse {
    /// Reads the data from the events of a run; `None` unless an agent made from a specification began in it. If
    /// there are several such agents, as with a fallback or samples, all are counted.
    pub fn of(events: &[Event]) -> Option<Self> {
        let mut found = None;
        for event in events {
            match &event.kind {
                EventKind::Spec { continuation, .. } => {
                    found.get_or_insert_with(Self::default).continuations.insert(continuation.as_str());
                }
                EventKind::Section { note, .. } => {
                    if let (Some(found), Some(judge)) = (&mut found, JudgedBy::from_note(note)) {
                        found.judged_by.insert(judge.to_string());
                    }
                }
                EventKind::Tally(tally) => found.get_or_insert_with(Self::default).add_tally(tally),
                _ => {}
            }
        }
        found
    }

    /// Adds what another run took.
    pub fn add(&mut self, other: &Self) {
        self.corrections += other.corrections;
        self.escalations += other.escalations;
        self.discarded_tokens += other.discarded_tokens;
        self.repeated_tokens += other.repeated_tokens;
        self.continuations.extend(&other.continuations);
        self.judged_by.extend(other.judged_by.iter().cloned());
    }

    /// The sum of all of these; `None` if none of them has any.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Option<Self>>) -> Option<Self> {
        let mut sum: Option<Self> = None;
        for one in all.into_iter().flatten() {
            sum.get_or_insert_with(Self::default).add(one);
        }
        sum
    }

    fn add_tally(&mut self, tally: &Tally) {
        self.corrections += tally.corrections;
        self.escalations += tally.escalations;
        self.discarded_tokens += tally.discarded_tokens;
        self.repeated_tokens += tally.repeated_tokens;
    }
}

/// The same as it is stored with a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MonitorText {
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    corrections: u64,
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    escalations: u64,
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    discarded_tokens: u64,
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    repeated_tokens: u64,
    continuations: Vec<String>,
    judged_by: BTreeSet<String>,
}

impl From<&MonitorUse> for MonitorText {
    fn from(used: &MonitorUse) -> Self {
        Self {
            corrections: used.corrections,
            escalations: used.escalations,
            discarded_tokens: used.discarded_tokens,
            repeated_tokens: used.repeated_tokens,
            continuations: used.continuations.iter().map(|&word| word.to_owned()).collect(),
            judged_by: used.judged_by.clone(),
        }
    }
}

impl MonitorText {
    /// The stored data; `None` if they name an unknown continuation.
    pub(crate) fn read(self) -> Option<MonitorUse> {
        let known =
            |word: &String| Continuation::ALL.map(Continuation::as_str).into_iter().find(|at| at == word);
        Some(MonitorUse {
            corrections: self.corrections,
            escalations: self.escalations,
            discarded_tokens: self.discarded_tokens,
            repeated_tokens: self.repeated_tokens,
            continuations: self.continuations.iter().map(known).collect::<Option<_>>()?,
            judged_by: self.judged_by,
        })
    }
}
