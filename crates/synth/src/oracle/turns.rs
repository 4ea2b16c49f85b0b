//! The turns of a run: which message each call follows, and which demands bind it. **(ours)**
//!
//! Messages of the user are events of the order, like tasks: a task that is due in a turn comes after the message that
//! begins it and before the message that follows. So a turn that is ended too early is an early message.

use planproof_constraint::{Status, Variable};
use planproof_trace::{Event, EventKind};

use super::OrderClass;
use crate::case::{ConstraintId, PlanningCase};
use crate::messages::{OrderTurns, TurnDemand};

/// The turns of a case and of a run of it; nothing for a case of one message.
pub(super) struct RunTurns<'a> {
    turns: Option<&'a OrderTurns>,
    /// The variable of each later message that came, with its position in the trace.
    messages: Vec<(Variable, u64)>,
    actions: usize,
}

/// The positions of what the user said after the query.
pub(super) fn later_messages(events: &[Event]) -> Vec<u64> {
    let queries = (0u64..).zip(events);
    let queries = queries
        .filter(|(_, event)| event.actor.is_none() && matches!(event.kind, EventKind::Query { .. }))
        .map(|(place, _)| place);
    queries.skip(1).collect()
}

impl<'a> RunTurns<'a> {
    pub(super) fn of(case: &'a PlanningCase, places: Vec<u64>) -> Self {
        let turns = case.turns.as_ref();
        let last = turns.map_or(1, OrderTurns::messages);
        let messages = (2..=last).map(|message| case.message_variable(message)).zip(places).collect();
        Self { turns, messages, actions: case.actions.len() }
    }

    /// The messages that came, in order.
    pub(super) fn messages(&self) -> impl Iterator<Item = (Variable, u64)> {
        self.messages.iter().copied()
    }

    /// The turn that a position of the trace belongs to; `None` if there is one turn.
    pub(super) fn turn_at(&self, position: u64) -> Option<u32> {
        self.turns?;
        let before = self.messages.iter().filter(|(_, place)| *place < position).count();
        Some(u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1))
    }

    /// The dropped tasks, as a set.
    pub(super) fn dropped(&self) -> u64 {
        let Some(turns) = self.turns else { return 0 };
        let dropped = (0..self.actions).filter(|action| turns.is_dropped(*action));
        dropped.fold(0, |set, action| set | Variable::new(action).bit())
    }

    /// The variable for the time after the run, as a set; empty if there is none.
    pub(super) fn end(&self) -> u64 {
        let Some(turns) = self.turns else { return 0 };
        let place = self.actions + turns.messages() as usize - 1;
        if self.dropped() == 0 { 0 } else { Variable::new(place).bit() }
    }

    /// Takes out of the statuses what does not bind: what was done before a message is not judged by what it says.
    pub(super) fn bind(&self, case: &PlanningCase, starts: &[Option<u64>], statuses: &mut [Status]) {
        let Some(turns) = self.turns else { return };
        let in_turn = |action: usize| starts[action].and_then(|start| self.turn_at(start));
        for (stated, status) in case.constraints.iter().zip(statuses.iter_mut()) {
            if in_turn(stated.second).is_some_and(|turn| turn < turns.arrival(stated)) {
                *status = Status::Satisfied;
            }
        }
        let demands = turns.demands.iter().zip(statuses.iter_mut().skip(case.constraints.len()));
        for (demand, status) in demands {
            match (demand.kind, in_turn(demand.action)) {
                (TurnDemand::Never(_), None) => *status = Status::Satisfied,
                (TurnDemand::Never(_), Some(_)) => *status = Status::Violated,
                // A later message never came, so the task waited for it.
                (TurnDemand::NotBefore(due), Some(turn)) if turn < due => *status = Status::Violated,
                (TurnDemand::ByTurn(due), Some(turn)) if turn <= due => *status = Status::Satisfied,
                (TurnDemand::NotBefore(_) | TurnDemand::ByTurn(_), _) => {}
            }
        }
    }

    /// The class of a violation.
    pub(super) fn class_of(
        &self,
        case: &PlanningCase,
        violated: &ConstraintId,
        starts: &[Option<u64>],
    ) -> OrderClass {
        let Some(turns) = self.turns else { return OrderClass::OrderError };
        if turns.change_to(violated).is_some() {
            return OrderClass::MissedCorrection;
        }
        let demand = turns.demands.iter().find(|demand| demand.id == *violated);
        match demand.map(|demand| (demand.kind, demand.action)) {
            None => OrderClass::OrderError,
            // Before the message that drops it, the task had to wait.
            Some((TurnDemand::Never(message), action)) => {
                let turn = starts.get(action).copied().flatten().and_then(|start| self.turn_at(start));
                match turn.is_some_and(|turn| turn >= message) && action < case.actions.len() {
                    true => OrderClass::MissedCorrection,
                    false => OrderClass::OutOfTurn,
                }
            }
            Some((TurnDemand::NotBefore(_) | TurnDemand::ByTurn(_), _)) => OrderClass::OutOfTurn,
        }
    }

    /// The demand that a wrong call violates by its turn, as a place among the constraints: it is judged before orders,
    /// which may not have been stated by then.
    pub(super) fn core(&self, case: &PlanningCase, sequence: &[Variable], call: usize) -> Option<usize> {
        let turns = self.turns?;
        let action = sequence.get(call)?.index();
        let before = sequence[..call].iter().filter(|variable| variable.index() >= self.actions).count();
        let turn = u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1);
        let is_violated = |kind: TurnDemand| match kind {
            TurnDemand::NotBefore(due) => turn < due,
            TurnDemand::Never(_) => true,
            TurnDemand::ByTurn(_) => false,
        };
        let mut demands = turns.demands.iter();
        let place = demands.position(|demand| demand.action == action && is_violated(demand.kind))?;
        Some(case.constraints.len() + place)
    }
}
