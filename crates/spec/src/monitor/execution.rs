//! The execution of calls: what was executed, and which calls of a plan may be.

use std::collections::BTreeSet;

use planproof_trace::ToolCall;
use serde_json::Value;

use super::{Fault, Monitor, check_arguments};
use crate::automaton::Plan;
use crate::{Entered, Fate, Handler};

/// The execution of the calls of a plan ([`Handler::Solve`]), in order: each is checked with its final arguments, and
/// is then executed or denied. [`Monitor::settle`] takes the result.
///
/// A call may be executed if the run can still be in the language of its specification afterwards, even if later
/// calls have to be denied.
#[derive(Debug, Clone)]
pub struct PlanExecution {
    plan: Plan,
    /// The calls to be executed, each with the index of its section.
    waiting: Vec<(usize, usize)>,
    /// The results of the first of them: the call, or `None` if it was denied.
    decided: Vec<Option<ToolCall>>,
}

/// Why a call of a plan must not be executed.
#[derive(Debug, Clone, PartialEq)]
pub struct Denial {
    /// What is wrong with it.
    pub fault: Fault,
    /// Without the call the run can no longer be in the language: it has failed.
    pub is_end: bool,
}

impl PlanExecution {
    /// The same with the calls in this order, by their indices into [`Monitor::calls`]; those that it does not name
    /// come first. Where a requirement is about calls, they stay as they were written, because it is read in that
    /// order.
    #[must_use]
    pub fn in_order(mut self, order: &[usize]) -> Self {
        if !self.plan.has_requirements() {
            self.waiting.sort_by_key(|(call, _)| order.iter().position(|other| other == call));
        }
        self
    }

    /// The call that is next, by its index into [`Monitor::calls`].
    pub fn next(&self) -> Option<usize> {
        self.waiting.get(self.decided.len()).map(|(call, _)| *call)
    }

    /// Checks the next call with its final arguments.
    ///
    /// # Errors
    /// It must not be executed.
    pub fn check(&self, monitor: &Monitor, call: &ToolCall) -> Result<(), Denial> {
        let Some((_, place)) = self.waiting.get(self.decided.len()).copied() else { return Ok(()) };
        let options = &monitor.shared.options;
        let tool = options.tools.iter().flatten().find(|tool| tool.name == call.name);
        let fits =
            tool.map_or(Ok(()), |tool| check_arguments(tool, &call.arguments, options.validator.as_deref()));
        let fault = match fits {
            Err(what) => Fault::Arguments { what },
            Ok(()) if self.plan.may(place, Some(call)) => return Ok(()),
            Ok(()) => {
                let requirement = self.broken_by(monitor, place, call);
                Fault::Forbidden { tool: call.name.clone(), requirement }
            }
        };
        Err(self.denial(fault))
    }

    /// What it means to deny the next call.
    pub fn denial(&self, fault: Fault) -> Denial {
        let next = self.waiting.get(self.decided.len());
        Denial { fault, is_end: next.is_some_and(|(_, place)| !self.plan.may(*place, None)) }
    }

    /// Records that the next call is executed; `None` records a denial.
    pub fn decide(&mut self, call: Option<ToolCall>) {
        if let Some((_, place)) = self.waiting.get(self.decided.len()).copied() {
            self.plan.decide(place, call.as_ref());
            self.decided.push(call);
        }
    }

    /// The requirement that forbids executing the call, if a single one is responsible.
    fn broken_by(&self, monitor: &Monitor, place: usize, call: &ToolCall) -> Option<usize> {
        let mut word: Vec<Entered<'_>> = monitor.word().collect();
        // The monitor does not have the results yet: it takes them when all calls are decided.
        for (decided, (_, place)) in self.decided.iter().zip(&self.waiting) {
            let fate = if decided.is_some() { Fate::Written } else { Fate::Denied };
            word[*place] = Entered { call: decided.as_ref(), fate, ..word[*place] };
        }
        word[place] = Entered { call: Some(call), fate: Fate::Written, ..word[place] };
        monitor.automaton().broken_requirement(word)
    }
}

/// The labels of the calls of a plan. A call without one is known as `#E` with its number.
#[derive(Debug, Clone, Default)]
pub(super) struct Labels {
    labels: BTreeSet<String>,
    /// Bytes that labels have.
    lengths: BTreeSet<usize>,
}

impl Labels {
    /// Records the label of the call with this number, counted from 1.
    pub(super) fn add(&mut self, label: Option<&str>, number: usize) {
        let label = label.map_or_else(|| format!("#E{number}"), str::to_owned);
        // A plain number cannot be referred to.
        if !label.chars().all(|c| c.is_ascii_digit()) {
            self.lengths.insert(label.len());
            self.labels.insert(label);
        }
    }

    /// Whether a label occurs in a string of an argument, at any depth.
    pub(super) fn stand_in(&self, argument: &Value) -> bool {
        match argument {
            Value::String(text) => text.char_indices().any(|(start, _)| {
                // Lengths are in ascending order, so the first one that exceeds the text is the last to try.
                let ends = self.lengths.iter().map(|length| start + length);
                let mut parts = ends.map_while(|end| (end <= text.len()).then(|| text.get(start..end)));
                parts.any(|part| part.is_some_and(|part| self.labels.contains(part)))
            }),
            Value::Array(items) => items.iter().any(|item| self.stand_in(item)),
            Value::Object(object) => object.values().any(|value| self.stand_in(value)),
            _ => false,
        }
    }
}

impl Monitor {
    /// The execution of the waiting calls, if the environment is asked to solve a plan. Empty otherwise.
    pub fn execution(&self) -> PlanExecution {
        let is_solve = self.request().is_some_and(|request| request.handler == Some(Handler::Solve));
        let calls = self.sections.iter().map(|part| part.call.filter(|call| self.calls[*call].is_waiting));
        let places: Vec<Option<usize>> = calls.map(|call| call.filter(|_| is_solve)).collect();
        let word: Vec<Entered<'_>> = self.word().collect();
        let is_waiting: Vec<bool> = places.iter().map(Option::is_some).collect();
        let waiting = places.into_iter().enumerate().filter_map(|(place, call)| Some((call?, place)));
        PlanExecution {
            plan: Plan::new(self.automaton(), &word, &is_waiting),
            waiting: waiting.collect(),
            decided: Vec::new(),
        }
    }

    /// Takes the results of a plan's calls, before the environment writes. From then on the run contains the calls as
    /// executed.
    pub fn settle(&mut self, execution: PlanExecution) {
        for (decided, (call, _)) in execution.decided.into_iter().zip(execution.waiting) {
            let Some(known) = self.calls.get_mut(call) else { continue };
            known.is_waiting = false;
            match decided {
                Some(call) => (known.call, known.fate) = (call, Fate::Written),
                None => known.fate = Fate::Denied,
            }
        }
        // The calls have changed, so all later positions have, too.
        let automaton = std::sync::Arc::clone(&self.shared.automaton);
        let end =
            self.word().try_fold(automaton.start(), |position, entered| automaton.after(position, entered));
        // Allowed calls keep the run in the language.
        debug_assert!(end.is_some());
        self.position = end.unwrap_or(self.position);
    }

    /// Records which calls are executed when the environment writes. Those of a plan are settled before.
    pub(super) fn note_executed(&mut self) {
        let handler = self.request().and_then(|request| request.handler).unwrap_or(Handler::RunCall);
        let (count, from) = (self.calls.len(), self.calls_from);
        let executed = match handler {
            Handler::RunCall => from.max(count.saturating_sub(1))..count,
            Handler::RunCalls | Handler::Summarise => from..count,
            Handler::Evaluate => count..count,
            // Earlier calls, too, which other handlers have skipped.
            Handler::Solve => 0..count,
        };
        self.calls[executed].iter_mut().for_each(|call| call.is_waiting = false);
    }
}
