//! The definitions of rules, implemented literally, as a reference for the automata. Slow.
//!
//! It shares nothing with the automata except the rules themselves and the test whether an event is one of those that a
//! pattern describes.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::session::targets;
use super::{CallRule, EventPattern, RuleDemand, SessionEvent};
use crate::number::canonical;
use crate::{Requirement, RequirementKind};

/// Whether a rule is held by a session that has ended. Takes time in the cube of the number of events.
pub fn is_held(rule: &CallRule, session: &[SessionEvent<'_>]) -> bool {
    let Some(per) = &rule.per else { return is_held_by(&rule.demand, session) };
    let mut by_value: BTreeMap<Option<String>, Vec<SessionEvent<'_>>> = BTreeMap::new();
    for event in session {
        let value = event.arguments.pointer(per.as_str()).map(canonical);
        by_value.entry(value).or_default().push(*event);
    }
    by_value.values().all(|session| is_held_by(&rule.demand, session))
}

fn is_held_by(demand: &RuleDemand, session: &[SessionEvent<'_>]) -> bool {
    let places = |pattern: &EventPattern| -> Vec<usize> {
        (0..session.len()).filter(|place| pattern.matches(&session[*place])).collect()
    };
    match demand {
        RuleDemand::Requires { trigger, needed } => {
            let needed = places(needed);
            places(trigger).iter().all(|place| needed.iter().any(|before| before < place))
        }
        RuleDemand::FollowedBy { trigger, then } => {
            let then = places(then);
            places(trigger).iter().all(|place| then.iter().any(|after| after > place))
        }
        RuleDemand::NeverAfter { event, after } => {
            let after = places(after);
            places(event).iter().all(|place| after.iter().all(|before| before >= place))
        }
        RuleDemand::Never(event) => places(event).is_empty(),
        RuleDemand::AtMost(times, event) => places(event).len() <= *times as usize,
        RuleDemand::AtLeast(times, event) => places(event).len() >= *times as usize,
        RuleDemand::First(event) => {
            let of_moment = session.iter().find(|seen| seen.moment == event.moment);
            of_moment.is_none_or(|seen| event.matches(seen))
        }
        RuleDemand::Last(event) => {
            let of_moment = (0..session.len()).rev().find(|place| session[*place].moment == event.moment);
            of_moment.is_none_or(|place| event.matches(&session[place]))
        }
        RuleDemand::Takes { event, argument, from, value } => places(event).into_iter().all(|place| {
            let earlier = session[..place].iter().filter(|earlier| from.matches(earlier));
            let offered: Vec<&Value> = earlier
                .filter_map(|earlier| earlier.outcome)
                .flat_map(|outcome| targets(outcome, value))
                .collect();
            let taken = session[place].arguments.pointer(argument.as_str());
            taken.is_some_and(|taken| offered.iter().any(|value| canonical(value) == canonical(taken)))
        }),
        RuleDemand::Formula { requirement, events, .. } => {
            Places { events, session, known: HashMap::new() }.holds(requirement, 0)
        }
    }
}

/// A session and the events of a formula, with what is known of its parts.
struct Places<'s> {
    events: &'s [EventPattern],
    session: &'s [SessionEvent<'s>],
    /// By the address of a part, which is borrowed, so that no address is reused.
    known: HashMap<(*const Requirement, usize), bool>,
}

impl Places<'_> {
    /// Whether a formula holds at a place of the session; the place after the last is allowed.
    fn holds(&mut self, formula: &Requirement, place: usize) -> bool {
        let question = (std::ptr::from_ref(formula), place);
        if let Some(answer) = self.known.get(&question) {
            return *answer;
        }
        let mut from_here = place..self.session.len();
        let answer = match &formula.kind {
            RequirementKind::True => true,
            RequirementKind::False => false,
            RequirementKind::State(index) => {
                let pattern = index.parse::<usize>().ok().and_then(|index| self.events.get(index));
                pattern.zip(self.session.get(place)).is_some_and(|(pattern, event)| pattern.matches(event))
            }
            // Calls are among the events.
            RequirementKind::Call(_) => false,
            RequirementKind::Not(operand) => !self.holds(operand, place),
            RequirementKind::And(operands) => operands.iter().all(|operand| self.holds(operand, place)),
            RequirementKind::Or(operands) => operands.iter().any(|operand| self.holds(operand, place)),
            RequirementKind::Implies(first, second) => !self.holds(first, place) || self.holds(second, place),
            RequirementKind::Always(operand) => from_here.all(|later| self.holds(operand, later)),
            RequirementKind::Eventually(operand) => from_here.any(|later| self.holds(operand, later)),
            RequirementKind::Next(operand) => {
                place + 1 < self.session.len() && self.holds(operand, place + 1)
            }
            RequirementKind::Until(first, second) => from_here
                .any(|end| self.holds(second, end) && (place..end).all(|between| self.holds(first, between))),
            RequirementKind::Before(first, second) => from_here.all(|later| {
                !self.holds(second, later) || (place..later).any(|earlier| self.holds(first, earlier))
            }),
            RequirementKind::AtMost(count, operand) => {
                from_here.filter(|later| self.holds(operand, *later)).count() <= *count as usize
            }
        };
        self.known.insert(question, answer);
        answer
    }
}
