//! What a trace says of recalled lessons.

use planproof_plan::subtasks::sections;
use planproof_trace::{Event, EventKind};
use serde::{Deserialize, Serialize};

use super::{Known, LessonSource};

/// What runs with a memory recalled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryUse {
    /// How many lessons could be recalled; the maximum over several runs.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub visible: u64,
    /// How many were in prompts; one in two prompts counts twice.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub shown: u64,
    /// How many of those were taught by a run of the same case.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub of_same_case: u64,
    /// Runs with at least one lesson in a prompt.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub runs: u64,
}

impl MemoryUse {
    /// Reads the figures from the events of a run of that case; `None` unless its agent has a memory. Takes time in
    /// proportion to the events.
    pub fn of(events: &[Event], case: &str) -> Option<Self> {
        let mut used: Option<Self> = None;
        for event in events {
            let EventKind::Section { state, note, .. } = &event.kind else { continue };
            match (state.as_str(), &mut used) {
                (sections::MEMORY, None) => {
                    used = note.parse().ok().map(|visible| Self { visible, ..Self::default() });
                }
                (sections::LESSONS, Some(used)) => {
                    let sources: Vec<(String, String, u32)> = serde_json::from_str(note).unwrap_or_default();
                    used.shown += sources.len() as u64;
                    used.of_same_case += sources.iter().filter(|(_, of, _)| of == case).count() as u64;
                    used.runs = 1;
                }
                _ => {}
            }
        }
        used
    }

    /// The figures of several runs; `None` if none of them has a memory.
    pub fn sum<'a>(runs: impl IntoIterator<Item = &'a Option<Self>>) -> Option<Self> {
        runs.into_iter().flatten().copied().reduce(|sum, of_run| Self {
            visible: sum.visible.max(of_run.visible),
            shown: sum.shown + of_run.shown,
            of_same_case: sum.of_same_case + of_run.of_same_case,
            runs: sum.runs + of_run.runs,
        })
    }
}

/// The runs that taught these lessons, as the note of a section has them.
pub(crate) fn sources(recalled: &[&Known]) -> String {
    let source = |known: &&Known| {
        let LessonSource { campaign, case, repeat } = &known.source;
        serde_json::json!([campaign, case, repeat])
    };
    recalled.iter().map(source).collect::<serde_json::Value>().to_string()
}
