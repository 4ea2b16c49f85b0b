//! The memory of a campaign's agent: what its runs can recall, the lessons they yield, and both as a part of the
//! report.

use std::sync::Arc;

use planproof_agents::memory::{Lesson, Lessons, MemoryUse, lessons_of};
use planproof_store::NewLesson;
use planproof_suite::{Class, Figure, Section};
use planproof_trace::Event;

use crate::Outcome;

/// The memory of a campaign's agent.
#[derive(Debug, Clone)]
pub struct Memory {
    /// The recallable lessons of each run: the same from the first to the last, even if lessons are added meanwhile.
    pub lessons: Arc<Lessons>,
    /// The key under which the lessons of its runs are stored for later campaigns; `None` to store none.
    pub kept_as: Option<String>,
}

impl Memory {
    /// The same, without storing lessons of its runs: for derived campaigns and for replays.
    #[must_use]
    pub fn without_learning(self) -> Self {
        Self { kept_as: None, ..self }
    }

    /// The lessons of a run with these events and this outcome; none if it is unscored.
    pub(crate) fn learned(&self, events: &[Event], outcome: &Outcome) -> Vec<NewLesson> {
        let (Some(kept_as), Ok(_)) = (&self.kept_as, &outcome.verdict) else { return Vec::new() };
        let new = |Lesson { tool, about, text }| NewLesson { kept_as: kept_as.clone(), tool, about, text };
        lessons_of(events, outcome.class().map(Class::as_str)).into_iter().map(new).collect()
    }
}

/// How many lessons could be recalled, and how many were in prompts.
pub(crate) fn section(used: &MemoryUse) -> Section {
    let MemoryUse { visible, shown, of_same_case, runs } = *used;
    let figure = |name: &'static str, value: u64, note: &str| Figure {
        name,
        value: value.to_string(),
        note: note.to_owned(),
    };
    Section {
        key: "memory",
        title: "Memory of earlier runs",
        intro: "What the agent could recall was learned by campaigns that began before this one, and was the same for \
                all of its runs."
            .to_owned(),
        figures: vec![
            figure("Lessons visible", visible, "those that could be recalled"),
            figure("Lessons shown", shown, "those in prompts; one in two prompts counts twice"),
            figure("Of the same case", of_same_case, "shown lessons learned from runs of the same case"),
            figure("Runs with a lesson", runs, "those in which at least one was shown"),
        ],
        // Only counts, which JSON can always represent.
        json: serde_json::to_value(used).unwrap_or_default(),
        ..Section::default()
    }
}
