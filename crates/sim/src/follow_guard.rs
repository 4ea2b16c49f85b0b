//! How a simulated model reacts to a guard, and its progress in turns of which some were denied.
//!
//! A model that follows the guard makes one of the calls named as right, the first one in its own plan, and then
//! repeats the denied call. [`SimKind::InOrder`] does not: it keeps to its plan, and denied calls stay undone.

use std::collections::VecDeque;

use memchr::memmem;
use planproof_model::shown_tools::shown_place;
use planproof_synth::{GUARD_NOT_DONE, GUARD_RIGHT_NOW, START_TIME_ARGUMENT};
use planproof_trace::{TimeOfDay, Tool};

use crate::SimKind;
use crate::report::{REPORTED, Report, report_tool};
use crate::step::{Slip, Step};

/// A call that the guard names as right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Advised {
    /// The place of its tool.
    pub(crate) tool: u16,
    /// Its start in minutes from midnight, if the guard names one.
    pub(crate) start: Option<u16>,
}

/// Whether a tool's answer says that the call was denied.
pub(crate) fn is_denied(answer: &str) -> bool {
    // Every turn looks at all answers so far; a searcher of `str` takes longer to set up than to search these.
    memmem::find(answer.as_bytes(), GUARD_NOT_DONE.as_bytes()).is_some()
}

/// The calls that an answer names as right: each a tool in backticks, then the task, then perhaps a start.
pub(crate) fn advice(answer: &str, tools: &[Tool]) -> Vec<Advised> {
    let Some((_, right_calls)) = answer.split_once(GUARD_RIGHT_NOW) else { return Vec::new() };
    // Names are in backticks, so after the first piece a name and the text behind it alternate.
    let mut pieces = right_calls.split('`').skip(1);
    let mut advised = Vec::new();
    while let (Some(name), Some(rest)) = (pieces.next(), pieces.next()) {
        let Some(place) = shown_place(tools, name, "") else { continue };
        let start = rest.split_once(START_TIME_ARGUMENT).and_then(|(_, start)| start.split('"').nth(1));
        advised.push(Advised {
            tool: u16::try_from(place).unwrap_or(u16::MAX),
            start: start.and_then(TimeOfDay::parse).map(TimeOfDay::minute),
        });
    }
    advised
}

/// A model's progress in turns that were known from the start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    /// The next turn that was not tried yet.
    at: usize,
    /// Denied turns, to be repeated.
    again: VecDeque<usize>,
    /// Its next call, which the guard named.
    advised: Option<u16>,
    /// Tools that it has called because the guard named them.
    followed: Vec<u16>,
    /// Calls that have no answer yet.
    open: VecDeque<Made>,
    /// The guard said that there is a conflict to report; the plan no longer applies.
    is_told_of_conflict: bool,
}

/// Where a call came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    /// A turn of the plan.
    Turn(usize),
    /// Advice, or the turns after the end of the plan.
    Other,
}

impl Progress {
    /// The next turn; `None` at the end of the plan. Also its index in the plan, if it is tried for the first time.
    pub(crate) fn next(&self, calls: &[Step], report: Option<Report>) -> (Option<Step>, Option<usize>) {
        if let Some(tool) = self.advised {
            let sentences = report.filter(|report| report.tool == tool).map_or(0, |report| report.all);
            return (Some(Step::Call { tool, start: None, slip: Slip::None, sentences }), None);
        }
        match self.turn(calls) {
            Some((turn, is_new)) => (calls.get(turn).copied(), is_new.then_some(turn)),
            None => (None, None),
        }
    }

    /// What follows at the end of the plan.
    pub(crate) fn end(&self, end: Step, report: Option<Report>) -> Step {
        let has_reported = report.is_some_and(|report| self.followed.contains(&report.tool));
        if has_reported { Step::Say(REPORTED) } else { end }
    }

    /// Which turn of the plan is next, and whether it is new.
    fn turn(&self, calls: &[Step]) -> Option<(usize, bool)> {
        if self.is_told_of_conflict {
            return None;
        }
        // A task that was done on the guard's advice needs no turn any more.
        let is_open = |turn: &usize| tool_of(calls, *turn).is_some_and(|tool| !self.followed.contains(&tool));
        let again = self.again.iter().copied().find(is_open);
        again
            .map(|turn| (turn, false))
            .or_else(|| (self.at..calls.len()).find(is_open).map(|turn| (turn, true)))
    }

    /// Records a call. `is_made_good` says whether a call with a mistake turned out right, so that the turn that
    /// would correct it is skipped.
    pub(crate) fn called(&mut self, calls: &[Step], is_made_good: impl Fn(Slip) -> bool) {
        if let Some(tool) = self.advised.take() {
            self.followed.push(tool);
            self.open.push_back(Made::Other);
            return;
        }
        let Some((turn, is_new)) = self.turn(calls) else {
            self.open.push_back(Made::Other);
            return;
        };
        self.open.push_back(Made::Turn(turn));
        if !is_new {
            // If it is denied once more, the answer adds it again.
            self.again.retain(|other| *other != turn);
            return;
        }
        self.at = turn + 1;
        let Some(Step::Call { tool, slip, .. }) = calls.get(turn) else { return };
        if *slip != Slip::None && is_made_good(*slip) && is_right_call(calls.get(self.at), *tool) {
            self.at += 1;
        }
    }

    /// Records the answer to the first unanswered call.
    pub(crate) fn answered(&mut self, kind: SimKind, calls: &[Step], tools: &[Tool], answer: &str) {
        let Some(made) = self.open.pop_front() else { return };
        if kind == SimKind::InOrder || !is_denied(answer) {
            return;
        }
        if let Made::Turn(turn) = made {
            self.again.push_back(turn);
        }
        let advice = advice(answer, tools);
        let report = report_tool(tools);
        self.is_told_of_conflict |= advice.iter().any(|advised| Some(advised.tool) == report);
        let planned = self.again.iter().copied().chain(self.at..calls.len());
        let mut planned = planned.filter_map(|turn| tool_of(calls, turn));
        let own = planned.find(|tool| advice.iter().any(|advised| advised.tool == *tool));
        self.advised = own.or_else(|| advice.first().map(|advised| advised.tool));
    }

    /// How many calls have no answer yet.
    pub(crate) fn open(&self) -> usize {
        self.open.len()
    }

    /// Whether it has followed advice, or is about to.
    pub(crate) fn has_followed_advice(&self) -> bool {
        self.advised.is_some() || !self.followed.is_empty()
    }

    /// The turn that was not tried yet.
    pub(crate) fn at(&self) -> usize {
        self.at
    }
}

fn tool_of(calls: &[Step], turn: usize) -> Option<u16> {
    match calls.get(turn)? {
        Step::Call { tool, .. } => Some(*tool),
        Step::Say(_) => None,
    }
}

/// Whether it is a call of that tool without a mistake.
pub(crate) fn is_right_call(step: Option<&Step>, tool: u16) -> bool {
    matches!(step, Some(Step::Call { tool: other, slip: Slip::None, .. }) if *other == tool)
}
