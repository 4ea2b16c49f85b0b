//! The roles of a team that works on a graph of sub-tasks, and the words by which its prompts and its trace are read.
//! (The roles are those of PMC, section 4; the words are ours.) Who writes them, who plays a role in a simulation, and
//! who reads a trace share these alone. What a person is shown who watches a team is in
//! `team/review.rs`, executors that a manager puts together in `team/crew.rs`,
//! and what its roles took in a run in `team/used.rs`.

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
    /// All roles, in the order in which they come to work.
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

    /// The sentence by which a shipped prompt says whose it is.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Manager => "You are the manager of a team.",
            Self::Supervisor => "You are the supervisor of a team.",
            Self::Executor => "You are an executor of a team.",
            Self::Deliverer => "You are the deliverer of a team.",
        }
    }

    /// The role of an actor of a team, if it is one.
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

/// The headings of shipped prompts. Each stands on a line of its own, and what it is of goes on to the next one.
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

    /// Before the result of the sub-task whose id follows.
    pub const RESULT_OF: &str = "## ";
}

/// The states of a team's sections in a trace. The note of one that is about a sub-task is the id of that.
pub mod sections {
    /// Of the manager: a graph in order, as JSON. The last one is carried out.
    pub const GRAPH: &str = "graph";

    /// What is wrong with a reply, which its author is then asked to mend.
    pub const FAULTS: &str = "faults";

    /// The executors that the manager composed, as JSON.
    pub const EXECUTORS: &str = "executors";

    /// A sub-task as its executor is given it.
    pub const SUB_TASK: &str = "sub_task";

    /// A sub-task has started. Its text is the name of the executor.
    pub const STARTED: &str = "started";

    /// What a sub-task gave. It has finished.
    pub const RESULT: &str = "result";

    /// Why a sub-task gave nothing. It has failed.
    pub const FAILURE: &str = "failure";

    /// Why a sub-task could not start: what it needs has failed.
    pub const BLOCKED: &str = "blocked";

    /// Why the result or the failure of a sub-task no longer counts: it has to run again.
    pub const UNDONE: &str = "undone";

    /// Of the deliverer: what the solver proved of the candidates and constraints that it was given.
    pub const PROOF: &str = "proof";

    /// Those that change how far a graph is.
    pub const OF_PROGRESS: [&str; 6] = [GRAPH, STARTED, RESULT, FAILURE, BLOCKED, UNDONE];
}

/// The graph that the team of a run carried out, with how far each sub-task came; `None` where there is none. Its form
/// is that of the last one in the trace, which is also what a person made of it. A sub-task that was started and has no
/// result yet is running. Takes time in proportion to the events, times the sub-tasks.
pub fn graph_of_run(events: &[Event]) -> Option<GraphDrawing> {
    let mut drawing: Option<(SubTaskGraph, Vec<SubTaskState>)> = None;
    for event in events {
        if let (EventKind::End(_), Some((_, states))) = (&event.kind, &mut drawing) {
            // What ran when the run ended did not come to an end of its own.
            let running = states.iter_mut().filter(|state| **state == SubTaskState::Running);
            running.for_each(|state| *state = SubTaskState::Ready);
        }
        let EventKind::Section { state, text, note, .. } = &event.kind else { continue };
        if state == sections::GRAPH {
            let graph: SubTaskGraph = serde_json::from_str(text).ok()?;
            let states = graph.sub_tasks.iter().map(|sub_task| {
                // Whatever a person did not touch keeps the state that it had.
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
