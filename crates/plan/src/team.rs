//! The roles of a team that works on a graph of sub-tasks, and the words that structure its prompts and its trace.
//! (The roles are those of PMC, section 4; the words are ours.) The authors of prompts, simulated roles, and the
//! readers of traces share only these. The view of a person who watches a team is in `team/review.rs`, executors that
//! a manager composes in `team/crew.rs`, and the costs of its roles in a run in `team/used.rs`.

pub mod crew;
pub mod review;
mod used;

use std::fmt;

pub use used::{RoleUse, TeamUse};

use planproof_trace::{Actor, Event, EventKind};

use crate::graph::{GraphDrawing, SubTaskGraph, SubTaskState};

/// Who does what in a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Divides the task into a graph of sub-tasks.
    Manager,
    /// Rewrites a sub-task from the results that it needs.
    Supervisor,
    /// Carries out a sub-task.
    Executor,
    /// Makes the answer from all results.
    Deliverer,
}

impl Role {
    /// All roles, in the order of their first work.
    pub const ALL: [Self; 4] = [Self::Manager, Self::Supervisor, Self::Executor, Self::Deliverer];

    /// Its name, which is also that of its actor in a trace. Executors are actors within that one.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manager => "manager",
            Self::Supervisor => "supervisor",
            Self::Executor => "executor",
            Self::Deliverer => "deliverer",
        }
    }

    /// The sentence by which a shipped prompt names its role.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Manager => "You are the manager of a team.",
            Self::Supervisor => "You are the supervisor of a team.",
            Self::Executor => "You are an executor of a team.",
            Self::Deliverer => "You are the deliverer of a team.",
        }
    }

    /// The role of an actor of a team, if it has one.
    pub fn of_actor(actor: &Actor) -> Option<Self> {
        let first = actor.as_str().split('/').next()?;
        Self::ALL.into_iter().find(|role| role.as_str() == first)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// The headings of shipped prompts. Each is on a line of its own, and its part extends to the next one.
pub mod headings {
    /// The task of the whole team, as the case states it.
    pub const TASK: &str = "# Task";

    /// The tools that executors can be given.
    pub const TOOLS: &str = "# Tools";

    /// The executors with what they can do.
    pub const EXECUTORS: &str = "# Executors";

    /// One sub-task.
    pub const SUB_TASK: &str = "# Sub-task";

    /// What has to hold.
    pub const CONSTRAINTS: &str = "# Constraints";

    /// What sub-tasks gave.
    pub const RESULTS: &str = "# Results";

    /// What to reply, and in which form.
    pub const REPLY: &str = "# Reply";

    /// Precedes the result of the sub-task whose id follows.
    pub const RESULT_OF: &str = "## ";
}

/// The states of a team's sections in a trace. The note of one about a sub-task is its id.
pub mod sections {
    /// By the manager: a valid graph, as JSON. The last one is carried out.
    pub const GRAPH: &str = "graph";

    /// The fault of a reply, which its author is then asked to mend.
    pub const FAULTS: &str = "faults";

    /// The executors that the manager composed, as JSON.
    pub const EXECUTORS: &str = "executors";

    /// A sub-task in the form for its executor.
    pub const SUB_TASK: &str = "sub_task";

    /// A sub-task has started. Its text is the name of the executor.
    pub const STARTED: &str = "started";

    /// The result of a sub-task, which has finished.
    pub const RESULT: &str = "result";

    /// Why a sub-task has no result. It has failed.
    pub const FAILURE: &str = "failure";

    /// Why a sub-task could not start: one of its dependencies has failed.
    pub const BLOCKED: &str = "blocked";

    /// Why the result or the failure of a sub-task no longer counts: it has to run again.
    pub const UNDONE: &str = "undone";

    /// By the deliverer: what the solver proved about the given candidates and constraints.
    pub const PROOF: &str = "proof";

    /// Those that change how far a graph is.
    pub const OF_PROGRESS: [&str; 6] = [GRAPH, STARTED, RESULT, FAILURE, BLOCKED, UNDONE];
}

/// The graph that the team of a run carried out, with the state of each sub-task; `None` if there is none. Its form
/// is that of the last one in the trace, including a person's changes. A sub-task that was started and has no result
/// yet is running. Takes time in proportion to the events times the sub-tasks.
pub fn graph_of_run(events: &[Event]) -> Option<GraphDrawing> {
    let mut drawing: Option<(SubTaskGraph, Vec<SubTaskState>)> = None;
    for event in events {
        if let (EventKind::End(_), Some((_, states))) = (&event.kind, &mut drawing) {
            // Sub-tasks that were running at the end of the run did not end by themselves.
            let running = states.iter_mut().filter(|state| **state == SubTaskState::Running);
            running.for_each(|state| *state = SubTaskState::Ready);
        }
        let EventKind::Section { state, text, note, .. } = &event.kind else { continue };
        if state == sections::GRAPH {
            let graph: SubTaskGraph = serde_json::from_str(text).ok()?;
            let states = graph.sub_tasks.iter().map(|sub_task| {
                // Sub-tasks that a person did not change keep their state.
                let (before, states) = drawing.as_ref()?;
                let place = before.sub_tasks.iter().position(|other| other == sub_task)?;
                states.get(place).copied()
            });
            let states = states.map(|state| state.unwrap_or(SubTaskState::Waiting)).collect();
            drawing = Some((graph, states));
            continue;
        }
        let of_state = match state.as_str() {
            sections::STARTED => SubTaskState::Running,
            sections::RESULT => SubTaskState::Finished,
            sections::FAILURE => SubTaskState::Failed,
            sections::BLOCKED => SubTaskState::Blocked,
            sections::UNDONE => SubTaskState::Waiting,
            _ => continue,
        };
        let Some((graph, states)) = &mut drawing else { continue };
        let place = graph.sub_tasks.iter().position(|sub_task| sub_task.id == *note);
        if let Some(shown) = place.and_then(|place| states.get_mut(place)) {
            *shown = of_state;
        }
    }
    drawing.map(|(graph, states)| GraphDrawing::new(graph, states))
}
