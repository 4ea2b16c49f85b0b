//! The values that calls take from earlier tools. **(ours)**

use std::collections::BTreeSet;

use planproof_constraint::Status;
use serde_json::Value;

use super::{CallRecord, Flag, OrderClass, PASSED_CHARACTERS_MAX, WrongValue, both_ends};
use crate::case::{ConstraintId, PlanningCase};
use crate::order_form::Rule;

/// For each flow, in the order of the case's constraints, the value that the first call of its later task passed.
pub(super) struct Passed {
    flows: Vec<Flow>,
}

struct Flow {
    /// Its place among the constraints.
    place: usize,
    first: usize,
    second: usize,
    argument: String,
    /// The value was returned before the call that takes it. An empty answer returns none.
    is_known: bool,
    /// The index of the call among those of actions, and the value, if there was one.
    call: Option<(usize, Option<Value>)>,
}

/// The values that were wrong.
pub(super) struct Wrong {
    pub(super) values: Vec<WrongValue>,
    /// The first call with a wrong value, and the flow.
    first: Option<(usize, ConstraintId)>,
}

impl Passed {
    pub(super) fn of(case: &PlanningCase) -> Self {
        let flows = case.constraints.iter().enumerate().filter_map(|(place, stated)| match &stated.rule {
            Some(Rule::Flow { argument, .. }) => {
                let (first, second, argument) = (stated.first, stated.second, argument.clone());
                Some(Flow { place, first, second, argument, is_known: false, call: None })
            }
            _ => None,
        });
        Self { flows: flows.collect() }
    }

    /// Records an executed call of an action, which is the `number`-th of them.
    pub(super) fn note(&mut self, action: usize, number: usize, call: &CallRecord<'_>) {
        if !call.is_empty {
            let taken = self.flows.iter_mut().filter(|flow| flow.first == action && flow.call.is_none());
            taken.for_each(|flow| flow.is_known = true);
        }
        // Only the first execution of a task counts; a repeat has its own flag.
        for flow in self.flows.iter_mut().filter(|flow| flow.second == action && flow.call.is_none()) {
            let value = call.arguments.as_object().and_then(|arguments| arguments.get(&flow.argument));
            flow.call = Some((number, value.cloned()));
        }
    }

    /// The values that differ from the returned ones, for flows in the right order.
    pub(super) fn wrong(self, case: &PlanningCase, statuses: &[Status], flags: &mut BTreeSet<Flag>) -> Wrong {
        let mut wrong = Wrong { values: Vec::new(), first: None };
        for Flow { place, argument, call, .. } in self.flows.into_iter().filter(|flow| flow.is_known) {
            let stated = &case.constraints[place];
            // If the order is wrong or a task is missing, the agent could not know the value.
            let (Some(Rule::Flow { value, .. }), Some((call, passed)), Some(Status::Satisfied)) =
                (&stated.rule, call, statuses.get(place))
            else {
                continue;
            };
            if passed.as_ref() == Some(value) {
                continue;
            }
            if wrong.first.as_ref().is_none_or(|(first, _)| call < *first) {
                wrong.first = Some((call, stated.id.clone()));
            }
            let passed = passed.map(cut);
            wrong.values.push(WrongValue {
                id: stated.id.clone(),
                argument,
                passed,
                expected: value.clone(),
            });
        }
        if !wrong.values.is_empty() {
            flags.insert(Flag::Class(OrderClass::WrongValue));
        }
        wrong
    }
}

impl Wrong {
    /// The first wrong call and the core, unless those of the order come earlier.
    pub(super) fn or_later(
        &self,
        call: Option<usize>,
        core: Vec<ConstraintId>,
    ) -> (Option<usize>, Vec<ConstraintId>) {
        match (&self.first, call) {
            (Some((first, id)), call) if call.is_none_or(|call| *first < call) => {
                (Some(*first), vec![id.clone()])
            }
            _ => (call, core),
        }
    }
}

/// A value as a verdict keeps it.
fn cut(value: Value) -> Value {
    match value {
        Value::String(text) => both_ends(&text, PASSED_CHARACTERS_MAX).into(),
        Value::Number(_) => value,
        other => both_ends(&other.to_string(), PASSED_CHARACTERS_MAX).into(),
    }
}
