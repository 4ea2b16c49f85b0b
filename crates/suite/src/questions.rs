//! What a verdict leaves to a judge model, where a campaign has one: the case asks, whoever runs it has the questions
//! answered before the run ends, and the answers stand in the trace, so that judging again asks no model.

use std::collections::BTreeMap;

use planproof_trace::{Event, EventKind};

/// The actor in a trace under which a judge model is asked.
pub const JUDGE: &str = "judge";

/// The state of sections with its answers. The note is the key of the question.
pub const ANSWERED: &str = "judged";

/// Something that a judge model is asked about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// By what the answer is found again: no other question of the run has it.
    pub key: String,
    /// All that the model is shown.
    pub text: String,
}

/// What a judge model answered, by the keys of the questions; of a question that was asked twice the last answer.
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

/// Whether an event is one of asking a judge, and none of the agent's.
pub fn is_of_judge(event: &Event) -> bool {
    event.actor.as_ref().is_some_and(|actor| actor.as_str() == JUDGE)
}
