//! The roles of a team that works on a graph of sub-tasks, and the words by which its prompts and its trace are read.
//! (The roles are those of PMC, section 4; the words are ours.) Who writes them, who plays a role in a simulation, and
//! who reads a trace share these alone.

use std::fmt;

use planproof_trace::{Actor, Event, EventKind, Usage};

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

    /// What a sub-task gave. It has finished.
    pub const RESULT: &str = "result";

    /// Why a sub-task gave nothing. It has failed.
    pub const FAILURE: &str = "failure";

    /// Why a sub-task could not start: what it needs has failed.
    pub const BLOCKED: &str = "blocked";
}

/// What one role took in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RoleUse {
    /// Turns of its model.
    pub turns: u64,
    /// Calls of tools.
    pub calls: u64,
    /// Tokens.
    pub usage: Usage,
}

impl RoleUse {
    /// What each role took in the run of these events, in the order of [`Role::ALL`].
    pub fn of_run(events: &[Event]) -> [(Role, Self); 4] {
        let mut used = Role::ALL.map(|role| (role, Self::default()));
        for event in events {
            let Some(role) = event.actor.as_ref().and_then(Role::of_actor) else { continue };
            let Some((_, of_role)) = used.iter_mut().find(|(other, _)| *other == role) else { continue };
            match &event.kind {
                EventKind::Turn { usage, .. } => {
                    of_role.turns += 1;
                    of_role.usage += *usage;
                }
                EventKind::Call(_) => of_role.calls += 1,
                _ => {}
            }
        }
        used
    }
}
