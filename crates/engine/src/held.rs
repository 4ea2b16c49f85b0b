//! What rules between an agent and its tools did, in one run and over a campaign.

use std::collections::{HashMap, VecDeque};

use planproof_suite::{Case, Gold, Guard};
use planproof_trace::{CallId, Event, EventKind, ToolCall, ToolResult};
use serde::{Deserialize, Serialize};

use crate::{RunSummary, wilson};

/// What the rules of a guard did in one run. It follows from the case and the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardUse {
    /// Calls that rules denied.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub rejected: u64,
    /// Calls that rules in shadow mode would have denied.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub noted: u64,
    /// Of both, the calls that were steps of a right plan when the agent asked for them.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub right: u64,
    /// Of both, the calls after which the run could not have passed.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub wrong: u64,
}

impl GuardUse {
    /// Reads it from the events of a run of this case; `None` if rules objected to no call. Costs one decision of the
    /// case's own guard for each of these calls.
    pub fn of(case: &dyn Case, events: &[Event]) -> Option<Self> {
        let is_denied =
            |event: &Event| matches!(&event.kind, EventKind::Result(result) if !result.denied_by.is_empty());
        if !events.iter().any(is_denied) {
            return None;
        }
        let results = results(events);
        let mut oracle = Oracle::of(case);
        let mut found = Self::default();
        for (event, result) in events.iter().zip(&results) {
            match (&event.kind, result) {
                (EventKind::Call(call), Some(result)) if !result.denied_by.is_empty() => {
                    let counted = if result.is_denied { &mut found.rejected } else { &mut found.noted };
                    *counted += 1;
                    match oracle.is_right(call) {
                        Some(true) => found.right += 1,
                        Some(false) => found.wrong += 1,
                        None => {}
                    }
                    oracle.called(call, result);
                }
                (EventKind::Call(call), Some(result)) => oracle.called(call, result),
                _ => {}
            }
            if let EventKind::Result(result) = &event.kind {
                oracle.returned(result);
            }
        }
        Some(found)
    }
}

/// For each event that is a call, its result: the next one with its id, of the same agent.
fn results(events: &[Event]) -> Vec<Option<&ToolResult>> {
    let mut found: Vec<Option<&ToolResult>> = vec![None; events.len()];
    let mut open: HashMap<&CallId, VecDeque<usize>> = HashMap::new();
    for (place, event) in events.iter().enumerate() {
        match &event.kind {
            EventKind::Call(call) => open.entry(&call.id).or_default().push_back(place),
            EventKind::Result(result) => {
                let Some(calls) = open.get_mut(&result.id) else { continue };
                let is_its_own = |at: &usize| events[*at].actor == event.actor;
                if let Some(at) = calls.iter().position(is_its_own).and_then(|at| calls.remove(at)) {
                    found[at] = Some(result);
                }
            }
            _ => {}
        }
    }
    found
}

/// What a case knows of its right plans.
enum Oracle {
    /// The case decides on calls itself.
    Guard { guard: Box<dyn Guard>, calls: u64, open: Vec<(u64, ToolCall)> },
    /// One right sequence of calls, and how many of its first calls the run has made, if it has made no other.
    Gold { gold: Gold, made: Option<usize> },
    /// Nothing.
    Unknown,
}

impl Oracle {
    fn of(case: &dyn Case) -> Self {
        match (case.guard(), case.gold()) {
            (Some(guard), _) => Self::Guard { guard, calls: 0, open: Vec::new() },
            (None, Some(gold)) => Self::Gold { gold, made: Some(0) },
            (None, None) => Self::Unknown,
        }
    }

    fn is_right(&self, call: &ToolCall) -> Option<bool> {
        match self {
            Self::Guard { guard, .. } => guard.is_right(call),
            Self::Gold { gold, made } => is_next(gold, (*made)?, call).then_some(true),
            Self::Unknown => None,
        }
    }

    /// Takes a call with its result, when the call begins.
    fn called(&mut self, call: &ToolCall, result: &ToolResult) {
        if result.is_denied {
            return;
        }
        match self {
            Self::Guard { calls, open, .. } => {
                *calls += 1;
                open.push((*calls, call.clone()));
            }
            Self::Gold { gold, made } => {
                *made = made.filter(|made| is_next(gold, *made, call)).map(|made| made + 1);
            }
            Self::Unknown => {}
        }
    }

    /// Takes a result when it comes.
    fn returned(&mut self, result: &ToolResult) {
        let Self::Guard { guard, open, .. } = self else { return };
        let place = open.iter().position(|(_, call)| call.id == result.id);
        if let Some((number, call)) = place.map(|place| open.remove(place)) {
            guard.after(number, &call, result);
        }
    }
}

/// Whether a call is the one that comes after so many calls of a right sequence.
fn is_next(gold: &Gold, made: usize, call: &ToolCall) -> bool {
    gold.calls.get(made).is_some_and(|next| {
        next.tool == call.name && call.arguments.as_object().is_some_and(|given| *given == next.arguments)
    })
}

/// What the rules of a guard did over the scored runs of a campaign.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct GuardFigures {
    /// Scored runs.
    pub runs: u64,
    /// Runs in which rules denied a call, or in shadow mode would have.
    pub runs_with: u64,
    /// Calls that rules denied.
    pub rejected: u64,
    /// Calls that rules in shadow mode would have denied.
    pub noted: u64,
    /// Of both, calls that were steps of a right plan.
    pub right: u64,
    /// Of both, calls after which the run could not have passed.
    pub wrong: u64,
    /// Runs in which a call was, or would have been, denied that was a step of a right plan.
    pub false_blocks: u64,
    /// Lower end of the 95 % interval (Wilson) of the share of these runs.
    pub false_block_low: f64,
    /// Upper end.
    pub false_block_high: f64,
    /// Runs that passed, and in which a call was denied after which they could not have.
    pub saved: u64,
}

impl GuardFigures {
    /// Sums up the runs.
    pub fn of(runs: &[RunSummary]) -> Self {
        let mut sum = Self::default();
        for run in runs {
            let Some(passed) = run.passed() else { continue };
            sum.runs += 1;
            let Some(used) = run.guard else { continue };
            let GuardUse { rejected, noted, right, wrong } = used;
            sum.runs_with += 1;
            sum.rejected += rejected;
            sum.noted += noted;
            sum.right += right;
            sum.wrong += wrong;
            sum.false_blocks += u64::from(right > 0);
            sum.saved += u64::from(passed && rejected > 0 && wrong > 0);
        }
        let interval = wilson(sum.false_blocks, sum.runs);
        (sum.false_block_low, sum.false_block_high) = (interval.low, interval.high);
        sum
    }

    /// The share of the runs in which a step of a right plan was denied; `None` without scored runs.
    pub fn false_block_rate(&self) -> Option<f64> {
        (self.runs > 0).then(|| self.false_blocks as f64 / self.runs as f64)
    }

    /// Calls of which the case does not know whether they were right.
    pub fn unknown(&self) -> u64 {
        (self.rejected + self.noted).saturating_sub(self.right + self.wrong)
    }
}

/// The rules that the agent of a campaign was held to, and what they did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GuardReport {
    /// The file of the rules, as it was named.
    pub rules: String,
    /// The SHA-256 of its text, in hexadecimal digits.
    pub sha256: String,
    /// Whether any rule was enforced; otherwise violations were only noted.
    pub enforced: bool,
    /// What they did.
    #[serde(flatten)]
    pub figures: GuardFigures,
}
