//! The search for a right session: a shortest one in which calls that are due are made and all rules hold.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use planproof_spec::rules::search::SampleCall;
use planproof_spec::rules::{
    CallRule, EventPattern, Phase, RuleDemand, RuleSet, RuleVerdict, Session, SessionEvent, SessionMemory,
};

use crate::limits::DRAWN_SEARCH_MAX;

/// What a search came to.
#[derive(Debug, PartialEq)]
pub(super) enum Witness {
    /// The numbers of the calls, in their order.
    Session(Vec<usize>),
    /// There is none among these calls.
    None,
    /// There were too many sessions.
    TooMany,
}

/// Calls among which right sessions are looked for, with those that can be what a rule demands. Sets of calls are bits.
pub(super) struct Searched<'a> {
    rules: &'a Arc<RuleSet>,
    calls: &'a [SampleCall],
    /// For each rule.
    demanded: Vec<u32>,
    /// For each call those that rules may demand because of it.
    follows: Vec<u32>,
    /// Whether a call may be demanded by what comes after it, so that no search by demand alone is complete.
    is_forward: bool,
}

impl<'a> Searched<'a> {
    /// `calls` are at most 32.
    pub(super) fn new(rules: &'a Arc<RuleSet>, calls: &'a [SampleCall]) -> Self {
        let of_rule = |rule: &CallRule| {
            let patterns: Vec<&EventPattern> = match &rule.demand {
                RuleDemand::Requires { needed, .. } => vec![needed],
                RuleDemand::FollowedBy { then, .. } => vec![then],
                RuleDemand::Takes { from, .. } => vec![from],
                RuleDemand::AtLeast(_, event) | RuleDemand::First(event) | RuleDemand::Last(event) => {
                    vec![event]
                }
                RuleDemand::Formula { events, .. } => events.iter().collect(),
                RuleDemand::NeverAfter { .. } | RuleDemand::Never(_) | RuleDemand::AtMost(..) => Vec::new(),
            };
            let is_one = |call: &SampleCall| patterns.iter().any(|pattern| can_be(pattern, call));
            let places = calls.iter().enumerate().filter(|(_, call)| is_one(call));
            places.fold(0, |bits, (place, _)| bits | 1 << place)
        };
        let demanded: Vec<u32> = rules.rules().iter().map(of_rule).collect();
        let of_call = |call: &SampleCall| {
            let begun = rules.rules().iter().zip(&demanded).filter(|(rule, _)| begins(rule, call));
            begun.fold(0, |bits, (_, demanded)| bits | demanded)
        };
        let follows = calls.iter().map(of_call).collect();
        let is_forward = rules.rules().iter().any(|rule| {
            matches!(
                rule.demand,
                RuleDemand::FollowedBy { .. } | RuleDemand::Formula { .. } | RuleDemand::Last(_)
            )
        });
        Self { rules, calls, demanded, follows, is_forward }
    }

    /// The shortest session in which the calls that are `due` are made, and all rules hold in the end, among those that
    /// make each call once something demands it.
    pub(super) fn session(&self, due: &BTreeSet<usize>) -> Witness {
        self.search(bits(due), false)
    }

    /// Whether there is a session in which a call is made and all rules hold. Where none makes each call once something
    /// demands it, whatever may come to be demanded is tried anywhere.
    pub(super) fn with(&self, call: usize) -> Witness {
        match self.search(1 << call, false) {
            Witness::None if self.is_forward => self.search(1 << call, true),
            found => found,
        }
    }

    fn search(&self, due: u32, all: bool) -> Witness {
        let count = self.rules.rules().len();
        let start = Session::new(self.rules);
        let is_right = |session: &Session, made: u32| {
            made & due == due && (0..count).all(|rule| session.verdict(rule).is_held_at_end())
        };
        if is_right(&start, 0) {
            return Witness::Session(Vec::new());
        }
        let possible = if all { self.may_be_demanded(due | self.open_demands(&start)) } else { 0 };
        #[expect(clippy::mutable_key_type, reason = "a digest that has been asked for never changes")]
        let mut seen: HashSet<(u32, SessionMemory)> = HashSet::new();
        // The last call of each session that was reached, and the number of the session before it.
        let mut steps: Vec<(usize, Option<usize>)> = Vec::new();
        let mut open = VecDeque::from([(start, 0_u32, None)]);
        while let Some((session, made, reached)) = open.pop_front() {
            let mut wanted = match all {
                true => possible,
                false => due & !made | self.open_demands(&session),
            };
            let mut tried = 0_u32;
            while wanted & !tried != 0 {
                let number = (wanted & !tried).trailing_zeros() as usize;
                tried |= 1 << number;
                let mut next = session.clone();
                if !self.calls[number].observe(&mut next) {
                    return Witness::TooMany;
                }
                // What it violates may demand another call before it.
                let mut is_violated = false;
                for rule in (0..count).filter(|rule| next.verdict(*rule) == RuleVerdict::Violated) {
                    is_violated = true;
                    wanted |= self.demanded[rule];
                }
                if is_violated {
                    continue;
                }
                let made = made | 1 << number;
                if is_right(&next, made) {
                    let mut way = vec![number];
                    let mut at = reached;
                    while let Some((number, before)) = at.and_then(|at: usize| steps.get(at)) {
                        way.push(*number);
                        at = *before;
                    }
                    way.reverse();
                    return Witness::Session(way);
                }
                if seen.insert((made & due, next.memory())) {
                    if seen.len() >= DRAWN_SEARCH_MAX {
                        return Witness::TooMany;
                    }
                    steps.push((number, reached));
                    open.push_back((next, made, Some(steps.len() - 1)));
                }
            }
        }
        Witness::None
    }

    /// These calls and all that rules may demand because of them, one after the other.
    fn may_be_demanded(&self, calls: u32) -> u32 {
        let mut all = calls;
        loop {
            let places = (0..self.follows.len()).filter(|place| all & 1 << place != 0);
            let more = places.fold(all, |bits, place| bits | self.follows[place]);
            if more == all {
                return all;
            }
            all = more;
        }
    }

    /// The calls that rules demand which would be violated if the session ended now.
    fn open_demands(&self, session: &Session) -> u32 {
        let open = (0..self.demanded.len()).filter(|rule| !session.verdict(*rule).is_held_at_end());
        open.fold(0, |bits, rule| bits | self.demanded[rule])
    }
}

fn bits(calls: &BTreeSet<usize>) -> u32 {
    calls.iter().fold(0, |bits, call| bits | 1 << call)
}

/// Whether a rule may demand something because of a call.
fn begins(rule: &CallRule, call: &SampleCall) -> bool {
    match &rule.demand {
        RuleDemand::Requires { trigger, .. } | RuleDemand::FollowedBy { trigger, .. } => {
            can_be(trigger, call)
        }
        RuleDemand::Takes { event, .. } => can_be(event, call),
        RuleDemand::Formula { events, .. } => events.iter().any(|event| can_be(event, call)),
        RuleDemand::First(_) | RuleDemand::Last(_) => true,
        RuleDemand::AtLeast(..)
        | RuleDemand::NeverAfter { .. }
        | RuleDemand::Never(_)
        | RuleDemand::AtMost(..) => false,
    }
}

/// Whether a call, or what comes of it, is one of these events.
fn can_be(pattern: &EventPattern, call: &SampleCall) -> bool {
    let event = |moment| SessionEvent::new(moment, &call.tool, &call.arguments);
    let came = match &call.outcome {
        Some(Ok(result)) => pattern.matches(&event(Phase::Done).with_outcome(result)),
        Some(Err(error)) => pattern.matches(&event(Phase::Failed).with_outcome(error)),
        None => false,
    };
    came || pattern.matches(&event(Phase::Call))
}
