//! Tools that fail: what is left to do, and what an agent made of the failures. **(ours)**
//!
//! What has to be done is what can be done. A task whose tool has failed for good is no longer due, nor is any task
//! that has to come after it; such a task must not be done. A task whose tool has failed for the moment stays due.

use std::collections::BTreeSet;

use planproof_constraint::{Order, Variable};
use planproof_trace::faults::SeenFault;

use super::{CallRecord, Flag, OrderClass, Refused};
use crate::case::PlanningCase;

/// Most calls of a tool after it has reported that it will not work again.
const RETRIES_MAX: usize = 3;

/// A call that failed because its tool did.
struct Failure<'c, 'a> {
    call: &'c CallRecord<'a>,
    fault: SeenFault,
    answered: u64,
}

/// The failures of a run.
pub(super) struct Failures<'c, 'a>(Vec<Failure<'c, 'a>>);

impl<'c, 'a> Failures<'c, 'a> {
    pub(super) fn of(case: &PlanningCase, calls: &'c [CallRecord<'a>]) -> Self {
        if case.faults.is_none() {
            return Self(Vec::new());
        }
        let failures = calls.iter().filter_map(|call| {
            let (answered, error) = call.answered?;
            Some(Failure { call, fault: SeenFault::of(call.tool, error?)?, answered })
        });
        Self(failures.collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a call failed because its tool did.
    pub(super) fn include(&self, call: &CallRecord<'_>) -> bool {
        self.0.iter().any(|failure| failure.call.start == call.start)
    }

    /// The failures in words, in order.
    pub(super) fn listed(&self) -> Vec<Refused> {
        let answer = |failure: &Failure<'_, '_>| failure.fault.text(failure.call.tool);
        self.0.iter().map(|it| Refused { tool: it.call.tool.to_owned(), answer: answer(it) }).collect()
    }

    /// The actions that are no longer due, as a set, given those that were done.
    pub(super) fn waived(&self, case: &PlanningCase, order: &Order, done: u64) -> u64 {
        let dead = self.dead(case, done);
        let after = planproof_constraint::variables_in(dead).map(|it| order.successors(it));
        (after.fold(dead, |all, set| all | set)) & !done
    }

    /// The actions that were not done and whose tools have failed for good.
    fn dead(&self, case: &PlanningCase, done: u64) -> u64 {
        let last = self.0.iter().filter(|failure| failure.fault.is_final());
        let actions = last.filter_map(|failure| case.action_of_tool(failure.call.tool));
        actions.fold(0, |all, action| all | Variable::new(action).bit()) & !done
    }

    /// What the agent made of the failures. `done` are the actions that were executed, `lost` those that were due and
    /// were not.
    pub(super) fn flags(
        &self,
        case: &PlanningCase,
        order: &Order,
        calls: &[CallRecord<'_>],
        (done, lost): (u64, &[usize]),
        flags: &mut BTreeSet<Flag>,
    ) {
        let mut note = |class| {
            flags.insert(Flag::Class(class));
        };
        let is_known = |failure: &Failure<'_, '_>, call: &CallRecord<'_>| {
            let is_same_reply = call.batch.is_some() && call.batch == failure.call.batch;
            failure.answered < call.start && !is_same_reply
        };
        let again = |failure: &Failure<'_, '_>| {
            let later = calls.iter().filter(|call| call.tool == failure.call.tool);
            later.filter(|call| is_known(failure, call)).count()
        };
        if self.0.iter().any(|it| it.fault == SeenFault::Vanished && again(it) > 0) {
            note(OrderClass::CalledVanished);
        }
        if self.0.iter().any(|it| it.fault.is_final() && again(it) > RETRIES_MAX) {
            note(OrderClass::RetriedForever);
        }
        let dead = self.dead(case, done);
        let mut executed = 0;
        for call in calls {
            let Some(action) = case.action_of_tool(call.tool) else { continue };
            let is_done = matches!(call.answered, Some((_, None)));
            let before = order.predecessors(Variable::new(action));
            let failed_before = self.0.iter().any(|failure| {
                let of = case.action_of_tool(failure.call.tool).map(|it| Variable::new(it).bit());
                let is_missing = of.is_some_and(|bit| before & bit & !executed != 0);
                // A call that failed itself did nothing, so it is not a mistake while the other may still get through.
                is_missing && is_known(failure, call) && (is_done || failure.fault.is_final())
            });
            if failed_before {
                note(OrderClass::WentOnAfterFailure);
            } else if is_done && before & dead != 0 {
                // It came too early, whatever became of the other.
                note(OrderClass::OrderError);
            }
            if is_done {
                executed |= Variable::new(action).bit();
            }
        }
        let attempts = |action: usize| {
            self.0.iter().filter(|failure| case.action_of_tool(failure.call.tool) == Some(action)).count()
        };
        if lost.iter().any(|action| attempts(*action) == 1) {
            note(OrderClass::NoRetry);
        }
        let has_stopped = || {
            let last = self.0.iter().max_by_key(|failure| failure.answered);
            last.is_some_and(|last| !calls.iter().any(|call| is_known(last, call)))
        };
        if lost.iter().any(|action| attempts(*action) > 1) || (!lost.is_empty() && has_stopped()) {
            note(OrderClass::GaveUp);
        }
    }
}
