//! What a run did instead of what a demand asks for, in a few words.

use planproof_spec::rules::{CallRule, EventPattern, Phase, RuleDemand, ToolNames};
use serde_json::Value;

use super::is_fault;
use crate::case::Scenario;
use crate::judge::{MadeCall, ScenarioDetail, is_of_later_message};

/// The run of a case.
pub(super) struct Instead<'a> {
    pub(super) case: &'a Scenario,
    pub(super) detail: &'a ScenarioDetail,
}

impl<'a> Instead<'a> {
    /// What was done instead of what the demand with this id asks for.
    pub(super) fn of(&self, id: &str) -> Option<String> {
        let outcome = self.detail.rules.iter().find(|outcome| outcome.id == *id)?;
        let call = outcome.call.and_then(|number| Some((number, self.detail.calls.get(number - 1)?)));
        let call = call.map(|(number, call)| self.named(number, call));
        let Some(rule) = self.case.rules.rules().iter().find(|rule| rule.id == *id) else {
            return call.map(|call| format!("{call} was called"));
        };
        Some(match (&rule.demand, call) {
            (RuleDemand::Requires { .. }, Some(call)) => format!("{call} came without it"),
            (RuleDemand::NeverAfter { .. }, Some(call)) => format!("{call} came after it"),
            (RuleDemand::First(_), Some(call)) => format!("{call} came first"),
            (RuleDemand::AtMost(1.., _), Some(call)) => format!("{call} came as well"),
            (RuleDemand::Takes { .. }, Some(call)) => match &outcome.had {
                Some(had) => format!("{call} has {had}"),
                None => format!("{call} has a value from elsewhere"),
            },
            (RuleDemand::Formula { .. }, Some(call)) => format!("it cannot hold since {call}"),
            (_, Some(call)) => format!("{call} came"),
            (RuleDemand::AtLeast(times, event), None) => self.due(id, event, *times),
            (RuleDemand::FollowedBy { trigger, then }, None) => {
                self.came_before(rule, trigger, then).unwrap_or_else(|| {
                    match self.calls().any(|(_, call)| then.is_of(&call.tool) && !call.is_error) {
                        true => "none came after it".to_owned(),
                        false => self.due(id, then, 1),
                    }
                })
            }
            (RuleDemand::Last(event), None) => self.last(event),
            (RuleDemand::Formula { .. }, None) => "it does not at the end".to_owned(),
            (_, None) => return None,
        })
    }

    /// The calls with their numbers.
    fn calls(&self) -> impl DoubleEndedIterator<Item = (usize, &'a MadeCall)> + ExactSizeIterator {
        self.detail.calls.iter().enumerate().map(|(place, call)| (place + 1, call))
    }

    /// `#3 refund`, and that there is no such tool.
    fn named(&self, number: usize, call: &MadeCall) -> String {
        let is_known = self.case.line.tools.iter().any(|tool| tool.name == call.tool);
        format!(
            "#{number} {}{}",
            call.tool,
            if is_known { "" } else { ", which is not a tool of this case," }
        )
    }

    /// What came of a call that has to come, or to be made so often.
    fn due(&self, id: &str, event: &EventPattern, times: u32) -> String {
        let of_tool: Vec<(usize, &MadeCall)> =
            self.calls().filter(|(_, call)| event.is_of(&call.tool)).collect();
        let subject = event.tools.as_ref().map(ToolNames::written);
        if of_tool.is_empty() {
            return subject
                .map_or_else(|| "no tool was called".to_owned(), |name| format!("{name} was not called"));
        }
        let subject = subject.unwrap_or("a tool");
        if is_of_later_message(self.case, id) {
            let what = if event.moment == Phase::Call { "call" } else { "result" };
            return match times {
                0 | 1 => format!("no such {what} of {subject} came when it was due"),
                times => format!("fewer than {times} such {what}s of {subject} came when they were due"),
            };
        }
        let fitting: Vec<(usize, &MadeCall)> =
            of_tool.into_iter().filter(|(_, call)| has_arguments_of(call, event)).collect();
        let so = if event.arguments.is_empty() { "" } else { " with these arguments" };
        let failed = fitting.iter().filter(|(_, call)| call.is_error).count();
        match fitting.as_slice() {
            [] => format!("{subject} was called with other arguments alone"),
            [(number, call)] if event.moment == Phase::Done && call.is_error => {
                format!("#{number} {} {}", call.tool, self.came_to_nothing(call))
            }
            all if event.moment == Phase::Done && failed == all.len() => {
                format!("{subject} was called{so} {failed} times, and answered with an error each time")
            }
            [_] if times > 1 => format!("{subject} was called{so} once"),
            all if times > 1 => format!("{subject} was called{so} {} times", all.len()),
            _ => format!("{subject} was called, and nothing came of it that fulfils this"),
        }
    }

    /// How a call ended that was answered with an error.
    fn came_to_nothing(&self, call: &MadeCall) -> &'static str {
        if is_fault(self.case, call) { "failed" } else { "was refused" }
    }

    /// A call that would have been right behind the last one that had to be followed by it, and came before it.
    fn came_before(&self, rule: &CallRule, trigger: &EventPattern, then: &EventPattern) -> Option<String> {
        let group =
            |call: &MadeCall| rule.per.as_ref().map(|per| arguments_of(call)?.pointer(per.as_str()).cloned());
        let has_come = |call: &MadeCall| match trigger.moment {
            Phase::Call => true,
            Phase::Done => call.result.is_some() && !call.is_error,
            Phase::Failed => call.is_error,
        };
        let triggers = self.calls().rev().filter(|(_, call)| {
            trigger.is_of(&call.tool) && has_arguments_of(call, trigger) && has_come(call)
        });
        triggers.into_iter().find_map(|(at, of)| {
            let would_do = |(_, call): &(usize, &MadeCall)| {
                then.is_of(&call.tool) && has_arguments_of(call, then) && group(call) == group(of)
            };
            if self.calls().skip(at).any(|call| would_do(&call)) {
                return None;
            }
            let (number, call) = self.calls().take(at - 1).rev().find(would_do)?;
            Some(format!("#{number} {} came before #{at} {}", call.tool, of.tool))
        })
    }

    /// Which call came last, and which should have.
    fn last(&self, event: &EventPattern) -> String {
        let Some((at, last)) = self.calls().next_back().filter(|_| self.detail.is_whole()) else {
            return "another call came last".to_owned();
        };
        let named = self.named(at, last);
        let earlier =
            self.calls().rev().find(|(_, call)| event.is_of(&call.tool) && has_arguments_of(call, event));
        match earlier.filter(|(number, _)| *number != at) {
            Some((number, call)) => format!("{named} came after #{number} {}", call.tool),
            None => format!("the last call was {}", named.trim_end_matches(',')),
        }
    }
}

/// The arguments of a call. A long text of them was cut, and is not JSON any more.
fn arguments_of(call: &MadeCall) -> Option<Value> {
    serde_json::from_str(&call.arguments).ok()
}

/// Whether the arguments of a call are those of an event, as far as they are known.
fn has_arguments_of(call: &MadeCall, event: &EventPattern) -> bool {
    arguments_of(call)
        .is_none_or(|arguments| event.arguments.iter().all(|check| check.holds(Some(&arguments))))
}
