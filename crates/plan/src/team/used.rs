//! The costs and the faults of a team's roles, in one run or in several.

use std::ops::AddAssign;

use planproof_trace::{EndReason, Event, EventKind};
use serde::{Deserialize, Serialize};

use super::{Role, sections};
use crate::team::review::changes_by_person;

/// What one role took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleUse {
    /// Turns of its model.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub turns: u64,
    /// Calls of tools.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub calls: u64,
    /// Tokens that its model read.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub input_tokens: u64,
    /// Tokens that its model wrote.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub output_tokens: u64,
    /// Its faults: unusable replies of the manager, sub-tasks that the supervisor left unchanged, sub-tasks that an
    /// executor failed at, runs without an answer of the deliverer.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub faults: u64,
}

/// What a team took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamUse {
    /// The manager's share.
    pub manager: RoleUse,
    /// The supervisor's.
    pub supervisor: RoleUse,
    /// That of all executors.
    pub executor: RoleUse,
    /// The deliverer's.
    pub deliverer: RoleUse,
    /// Sub-tasks that were finished.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub finished: u64,
    /// Sub-tasks that failed.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub failed: u64,
    /// Sub-tasks that could not start, because one of their dependencies failed.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub blocked: u64,
    /// How often a person changed the work.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub changed_by_person: u64,
}

impl TeamUse {
    /// Reads the data from the events of a run; `None` unless a team worked in it. Takes time in proportion to the
    /// events.
    pub fn of(events: &[Event]) -> Option<Self> {
        let mut used = Self::default();
        let mut is_team = false;
        for event in events {
            if let EventKind::End(EndReason::AgentFailed { reason }) = &event.kind
                && reason.starts_with(&format!("{}:", Role::Deliverer))
            {
                used.deliverer.faults += 1;
            }
            let Some(role) = event.actor.as_ref().and_then(Role::of_actor) else { continue };
            is_team |= role == Role::Manager;
            match &event.kind {
                EventKind::Turn { usage, .. } => {
                    let of_role = used.of_role_mut(role);
                    of_role.turns += 1;
                    of_role.input_tokens += usage.input_tokens;
                    of_role.output_tokens += usage.output_tokens;
                }
                EventKind::Call(_) => used.of_role_mut(role).calls += 1,
                EventKind::Section { state, text, .. } => used.add_section(role, state, text),
                _ => {}
            }
        }
        is_team.then(|| {
            // Blocked sub-tasks are recorded without a particular actor.
            let blocked = events.iter().filter(|event| is_section(event, sections::BLOCKED)).count();
            used.blocked = blocked as u64;
            used.changed_by_person = changes_by_person(events) as u64;
            used
        })
    }

    /// The share of each role, in the order of [`Role::ALL`].
    pub fn roles(&self) -> [(Role, RoleUse); 4] {
        let Self { manager, supervisor, executor, deliverer, .. } = *self;
        let uses = [manager, supervisor, executor, deliverer];
        let mut roles = Role::ALL.into_iter().zip(uses);
        std::array::from_fn(|_| roles.next().unwrap_or((Role::Manager, RoleUse::default())))
    }

    /// The sum of all of these; `None` if none of them has any.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Option<Self>>) -> Option<Self> {
        let mut sum: Option<Self> = None;
        for one in all.into_iter().flatten() {
            *sum.get_or_insert_default() += one;
        }
        sum
    }

    fn add_section(&mut self, role: Role, state: &str, text: &str) {
        match state {
            sections::FAULTS => self.of_role_mut(role).faults += 1,
            sections::RESULT => self.finished += 1,
            sections::FAILURE => {
                self.failed += 1;
                // It is recorded under the executor, even if the supervisor prevented its start.
                let is_of_supervisor = text.starts_with(&format!("{}:", Role::Supervisor));
                let culprit = if is_of_supervisor { Role::Supervisor } else { Role::Executor };
                self.of_role_mut(culprit).faults += 1;
            }
            _ => {}
        }
    }

    fn of_role_mut(&mut self, role: Role) -> &mut RoleUse {
        match role {
            Role::Manager => &mut self.manager,
            Role::Supervisor => &mut self.supervisor,
            Role::Executor => &mut self.executor,
            Role::Deliverer => &mut self.deliverer,
        }
    }
}

impl AddAssign<&Self> for TeamUse {
    fn add_assign(&mut self, other: &Self) {
        for (role, used) in other.roles() {
            let of_role = self.of_role_mut(role);
            of_role.turns += used.turns;
            of_role.calls += used.calls;
            of_role.input_tokens += used.input_tokens;
            of_role.output_tokens += used.output_tokens;
            of_role.faults += used.faults;
        }
        self.finished += other.finished;
        self.failed += other.failed;
        self.blocked += other.blocked;
        self.changed_by_person += other.changed_by_person;
    }
}

fn is_section(event: &Event, wanted: &str) -> bool {
    matches!(&event.kind, EventKind::Section { state, .. } if state == wanted)
}
