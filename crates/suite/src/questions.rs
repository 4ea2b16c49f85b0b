//! The questions that a verdict leaves to a judge model, if a campaign has one: the case asks, the campaign has the
//! questions answered before the run ends, and the answers are in the trace, so that judging again asks no model.

use std::collections::BTreeMap;

use planproof_trace::{Event, EventKind};

/// The actor of a judge model in a trace.
pub const JUDGE: &str = "judge";

/// The state of sections with its answers. The note is the key of the question.
pub const ANSWERED: &str = "judged";

/// A question to a judge model about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The key of the answer: no other question of the run has it.
    pub key: String,
    /// All that the model is shown.
    pub text: String,
}

/// A judge model's answers, by the keys of the questions; the last one for a question that was asked twice.
pub fn answers(events: &[Event]) -> BTreeMap<&str, &str> {
    let mut answers = BTreeMap::new();
    for event in events.iter().filter(|event| is_of_judge(event)) {
        if let EventKind::Section { state, text, note, .. } = &event.kind
            && state == ANSWERED
        {
            answers.insert(note.as_str(), text.as_str());
        }
    }
    answers
}

/// Whether an event belongs to a judge's work rather than the agent's.
pub fn is_of_judge(event: &Event) -> bool {
    event.actor.as_ref().is_some_and(|actor| actor.as_str() == JUDGE)
}
