//! The view of a person who watches a team, and the person's decisions: plain data with a JSON form, so that a
//! terminal, a web page and a test share one protocol.

use std::collections::BTreeMap;

use planproof_trace::{Actor, Event, EventKind};
use serde::{Deserialize, Serialize};

use crate::graph::{GraphDrawing, SubTask, SubTaskGraph, SubTaskState};

/// The name of a person's actor in a trace.
pub const PERSON: &str = "person";

/// The states of a person's sections in a trace. The note of one about a sub-task is its id.
pub mod decisions {
    /// The team goes on.
    pub const APPROVED: &str = "approved";

    /// A sub-task was changed. The text is the new sub-task, as JSON.
    pub const EDITED: &str = "edited";

    /// A sub-task was taken out.
    pub const DROPPED: &str = "dropped";

    /// A sub-task is to run once more.
    pub const RERUN: &str = "rerun";
}

/// The progress of a team when a person is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// The task of the team.
    pub task: String,
    /// Why the person is asked now.
    pub moment: ReviewReason,
    /// The graph as it is now.
    pub graph: SubTaskGraph,
    /// The states of its sub-tasks, in their order.
    pub states: Vec<SubTaskState>,
    /// The results of sub-tasks, or why they have none, by their ids.
    pub results: BTreeMap<String, String>,
    /// The names of the executors.
    pub executors: Vec<String>,
    /// Why the last decision was impossible; nothing has changed then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Why a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "at")]
pub enum ReviewReason {
    /// The graph exists, and nothing has started yet.
    Planned,
    /// A sub-task has ended.
    Ended {
        /// Its id.
        sub_task: String,
    },
}

/// What a person decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do", deny_unknown_fields)]
pub enum ReviewDecision {
    /// The team goes on.
    Approve,
    /// This sub-task replaces the one with its id. It and all its dependents run again.
    Edit {
        /// The sub-task.
        sub_task: SubTask,
    },
    /// A sub-task is removed. Its dependents inherit its dependencies.
    Drop {
        /// Its id.
        id: String,
    },
    /// A sub-task and all its dependents run again.
    Rerun {
        /// Its id.
        id: String,
    },
    /// The run is stopped, and can be resumed from its current state.
    Stop,
}

impl Review {
    /// The graph with the states, to be drawn.
    pub fn drawing(&self) -> GraphDrawing {
        GraphDrawing::new(self.graph.clone(), self.states.clone())
    }
}

/// How often a person changed the team's work in the run of these events: edited, dropped or repeated sub-tasks.
pub fn changes_by_person(events: &[Event]) -> usize {
    let is_person = |actor: &Option<Actor>| actor.as_ref().is_some_and(|actor| actor.as_str() == PERSON);
    let is_change = |event: &&Event| match &event.kind {
        EventKind::Section { state, .. } => state != decisions::APPROVED,
        _ => false,
    };
    events.iter().filter(|event| is_person(&event.actor)).filter(is_change).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_has_a_form_in_json() {
        let id = || "hotel".to_owned();
        let sub_task = SubTask {
            id: id(),
            task: "Find a hotel.".to_owned(),
            executor: "worker".to_owned(),
            after: Vec::new(),
            constraints: Vec::new(),
        };
        for (decision, json) in [
            (ReviewDecision::Approve, r#"{"do":"approve"}"#),
            (ReviewDecision::Stop, r#"{"do":"stop"}"#),
            (ReviewDecision::Rerun { id: id() }, r#"{"do":"rerun","id":"hotel"}"#),
            (
                ReviewDecision::Edit { sub_task },
                r#"{"do":"edit","sub_task":{"id":"hotel","task":"Find a hotel.","executor":"worker","after":[],"constraints":[]}}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&decision).unwrap(), json);
            assert_eq!(serde_json::from_str::<ReviewDecision>(json).unwrap(), decision);
        }
        assert!(serde_json::from_str::<ReviewDecision>(r#"{"do":"drop","id":"a","why":"b"}"#).is_err());
    }
}
