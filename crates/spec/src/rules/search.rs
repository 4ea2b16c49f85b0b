//! Sessions that show what rules mean: the shortest that violates one, that only this one rejects, or that calls a tool
//! although all rules hold.
//!
//! Sample events are drawn from the tests of the rules: for each value that a rule looks at, values on both sides of
//! each test. They are put together to sessions, breadth first, and each session is held against the rules by the same
//! automata as any other, so a session that is found is right by construction. The values stand for all that the rules
//! can tell apart. Where not all of them could be tried, or there were too many sessions, a search that finds nothing
//! says so, and nothing follows from it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::outcomes::{CallWorld, FixedOutcomes};
use super::samples::{SampleHints, Samples};
use super::{Phase, RuleSet, Session, SessionEvent, ToolNames};
use crate::limits::{RULE_SEARCH_MAX, RULES_PAIRED_MAX, RULES_SINGLE_MAX, RULES_TRIPLED_MAX};

pub use super::samples::{arguments_for, joined, put};
pub use super::tried::{concerns, has_enough_values, knows_all_outcomes, outcomes_of};

/// A call of a sample session, with what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// Its result, its error, or nothing if neither came.
    pub outcome: Option<Result<Value, Value>>,
}

/// `refund {"order_id":1} returns {"ok":true}`, or `refund {"order_id":1} is done` where it does not matter what it
/// returns.
impl fmt::Display for SampleCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tool)?;
        let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
        if !is_empty(&self.arguments) {
            write!(f, " {}", self.arguments)?;
        }
        match &self.outcome {
            None => f.write_str(", whose result has not come"),
            Some(Ok(result)) if is_empty(result) => f.write_str(" is done"),
            Some(Ok(result)) => write!(f, " returns {result}"),
            Some(Err(error)) if is_empty(error) => f.write_str(" has failed"),
            Some(Err(error)) => write!(f, " fails with {error}"),
        }
    }
}

impl SampleCall {
    /// The calls of a session, with their results and errors.
    pub fn all_to_json(calls: &[Self]) -> Vec<Value> {
        let calls = calls.iter().map(|call| {
            let mut object = json!({ "tool": call.tool, "arguments": call.arguments });
            match &call.outcome {
                Some(Ok(result)) => object["result"] = result.clone(),
                Some(Err(error)) => object["error"] = error.clone(),
                None => {}
            }
            object
        });
        calls.collect()
    }

    /// Makes the call in a session, with what came of it. False if a rule would have to remember too much.
    pub fn observe(&self, session: &mut Session) -> bool {
        let event = |moment| SessionEvent::new(moment, &self.tool, &self.arguments);
        let call = session.observe(&event(Phase::Call));
        let outcome = match &self.outcome {
            None => Ok(()),
            Some(Ok(result)) => session.observe(&event(Phase::Done).with_outcome(result)),
            Some(Err(error)) => session.observe(&event(Phase::Failed).with_outcome(error)),
        };
        call.is_ok() && outcome.is_ok()
    }
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// A shortest session.
    Session(Vec<SampleCall>),
    /// There is none.
    None,
    /// There were too many sessions, or values, to look at all of them.
    TooMany,
}

impl Found {
    /// The session, if there is one.
    pub fn session(&self) -> Option<&[SampleCall]> {
        match self {
            Self::Session(calls) => Some(calls),
            Self::None | Self::TooMany => None,
        }
    }
}

/// The shortest session that a rule rejects, whatever the others say.
pub fn violation(rules: &RuleSet, rule: usize) -> Found {
    violation_with(rules, rule, &[])
}

/// The same, in which one of these tools stands for any that the rule does not name.
pub(super) fn violation_with(rules: &RuleSet, rule: usize, others: &[String]) -> Found {
    let alone = only(rules, &[rule]);
    let hints = SampleHints { others, ..SampleHints::default() };
    search(&alone, hints, |_| false, |session, _| !session.verdict(0).is_held_at_end(), |_| true)
}

/// The shortest session that a rule rejects and that all others accept. [`Found::None`]: the others imply it.
pub fn only_violation(rules: &RuleSet, rule: usize) -> Found {
    only_violation_with(rules, rule, &[])
}

/// The same, in which one of these tools stands for any that no rule names.
pub(super) fn only_violation_with(rules: &RuleSet, rule: usize, others: &[String]) -> Found {
    // Rules that share no tool with it, not even through others, have no say.
    let group = connected(rules, rule);
    match violation_within(rules, rule, &group, others) {
        // Too much to find out by all rules together may be easy to find out by a few of them.
        Found::TooMany => {
            let by: Vec<usize> = group.into_iter().filter(|other| *other != rule).collect();
            match few(&by, |some| is_implied(rules, rule, some)) {
                Some(_) => Found::None,
                None => Found::TooMany,
            }
        }
        found => found,
    }
}

/// One, two or three of these for which something holds, if there are any. Two and three are only looked for among few.
pub fn few(all: &[usize], holds: impl Fn(&[usize]) -> bool) -> Option<Vec<usize>> {
    if all.len() > RULES_SINGLE_MAX {
        return None;
    }
    if let Some(one) = all.iter().find(|one| holds(&[**one])) {
        return Some(vec![*one]);
    }
    let pairs = || all.iter().enumerate().flat_map(|(at, one)| all[at + 1..].iter().map(|two| [*one, *two]));
    if all.len() <= RULES_PAIRED_MAX
        && let Some(pair) = pairs().find(|pair| holds(pair))
    {
        return Some(pair.to_vec());
    }
    let threes = pairs().flat_map(|[one, two]| {
        let others = all.iter().skip_while(move |other| **other != two).skip(1);
        others.map(move |three| [one, two, *three])
    });
    threes.filter(|_| all.len() <= RULES_TRIPLED_MAX).find(|three| holds(three)).map(|three| three.to_vec())
}

/// Whether some other rules imply a rule.
pub(super) fn is_implied(rules: &RuleSet, rule: usize, by: &[usize]) -> bool {
    let mut group = by.to_vec();
    group.push(rule);
    group.sort_unstable();
    violation_within(rules, rule, &group, &[]) == Found::None
}

/// Whether no session satisfies a rule. With `per`, sessions without any value are left out of account.
pub(super) fn can_never_be_held(rules: &RuleSet, rule: usize) -> bool {
    rules.compiled[rule].outlook(rules.compiled[rule].start()).is_none()
}

/// The rules that have something to do with a tool.
pub(super) fn naming(rules: &RuleSet, tool: &str) -> Vec<usize> {
    let names = |number: &usize| {
        let patterns = rules.rules[*number].patterns();
        patterns.iter().any(|pattern| pattern.tools.as_ref().is_none_or(|tools| tools.written() == tool))
    };
    let first = (0..rules.rules.len()).find(names);
    first.map(|first| connected(rules, first)).unwrap_or_default()
}

fn violation_within(rules: &RuleSet, rule: usize, group: &[usize], others: &[String]) -> Found {
    let some = only(rules, group);
    let Some(place) = group.iter().position(|other| *other == rule) else { return Found::None };
    search(
        &some,
        SampleHints { first: Some(place), others, ..SampleHints::default() },
        |_| false,
        |session, _| {
            (0..group.len()).all(|other| session.verdict(other).is_held_at_end() != (other == place))
        },
        |session| {
            // Another rule that is violated for good stays so.
            (0..group.len())
                .all(|other| other == place || session.verdict(other) != super::RuleVerdict::Violated)
        },
    )
}

/// The shortest session that holds all of these rules. [`Found::None`]: they contradict one another.
pub fn held_by(rules: &RuleSet, of: &[usize]) -> Found {
    let some = only(rules, of);
    let are_held = |session: &Session| session.verdicts().iter().all(|verdict| verdict.is_held_at_end());
    // The usual case, for which no samples are needed.
    if are_held(&Session::new(&some)) {
        return Found::Session(Vec::new());
    }
    search(
        &some,
        SampleHints::default(),
        |_| false,
        |session, _| are_held(session),
        |session| !session.verdicts().contains(&super::RuleVerdict::Violated),
    )
}

/// The shortest session in which a tool is called, and all of these rules are held. [`Found::None`]: together they make
/// the tool unusable.
pub fn use_of(rules: &RuleSet, of: &[usize], tool: &str) -> Found {
    let some = only(rules, of);
    search(
        &some,
        SampleHints { tool: Some(tool), ..SampleHints::default() },
        |call| call.tool == tool,
        |session, is_used| is_used && session.verdicts().iter().all(|verdict| verdict.is_held_at_end()),
        |session| session.verdicts().iter().all(|verdict| *verdict != super::RuleVerdict::Violated),
    )
}

/// What a session has to be like.
#[derive(Debug, Clone, Copy, Default)]
pub struct WantedSession<'a> {
    /// The numbers of rules that it holds.
    pub holds: &'a [usize],
    /// The numbers of rules of which it violates at least one, unless there are none.
    pub violates: &'a [usize],
    /// A tool that it calls.
    pub calls: Option<&'a str>,
}

/// The shortest session of these calls that is as wanted.
pub fn session_of_calls(rules: &RuleSet, calls: &[SampleCall], wanted: WantedSession<'_>) -> Found {
    session_in(&FixedOutcomes, (), rules, calls, wanted)
}

/// The shortest session of these calls that is as wanted, in a world that is in this state.
pub fn session_in<W: CallWorld>(
    world: &W,
    state: W::State,
    rules: &RuleSet,
    calls: &[SampleCall],
    wanted: WantedSession<'_>,
) -> Found {
    let WantedSession { holds, violates, calls: used } = wanted;
    let group: Vec<usize> = holds.iter().chain(violates).copied().collect();
    let some = only(rules, &group);
    let held = |session: &Session, range: std::ops::Range<usize>| {
        range.into_iter().all(|rule| session.verdict(rule).is_held_at_end())
    };
    let is_goal = |session: &Session, is_used: bool| {
        (is_used || used.is_none())
            && held(session, 0..holds.len())
            && (violates.is_empty() || !held(session, holds.len()..group.len()))
    };
    let start = Session::new(&some);
    if is_goal(&start, false) {
        return Found::Session(Vec::new());
    }
    search_from(
        (world, state),
        start,
        calls,
        |call| used.is_some_and(|tool| call.tool == tool),
        is_goal,
        |session| {
            (0..holds.len()).all(|rule| session.verdict(rule) != super::RuleVerdict::Violated)
                && (violates.is_empty()
                    || (holds.len()..group.len())
                        .any(|rule| session.verdict(rule) != super::RuleVerdict::Held))
        },
    )
}

/// A session of these calls that holds all rules, not always a shortest one: where there are too many sessions to go
/// through, those that hold most rules are continued first. `None`: none was found among
/// [`RULE_SEARCH_MAX`](crate::limits::RULE_SEARCH_MAX) sessions.
pub fn any_session_of_calls(rules: &Arc<RuleSet>, calls: &[SampleCall]) -> Option<Vec<SampleCall>> {
    any_session_in(&FixedOutcomes, (), rules, calls)
}

/// The same in a world that is in this state.
pub fn any_session_in<W: CallWorld>(
    world: &W,
    state: W::State,
    rules: &Arc<RuleSet>,
    calls: &[SampleCall],
) -> Option<Vec<SampleCall>> {
    match any_continuation((world, state), Session::new(rules), calls) {
        Found::Session(calls) => Some(calls),
        Found::None | Found::TooMany => None,
    }
}

/// The calls by which a session has to be continued so that the rules of these numbers are held at its end, whatever
/// becomes of the others. A shortest such continuation unless there are too many; none at all if they are held already.
pub fn continuation(session: &Session, calls: &[SampleCall], holds: &[usize]) -> Found {
    continuation_in(&FixedOutcomes, (), session, calls, holds)
}

/// The same in a world that the session has brought into this state.
pub fn continuation_in<W: CallWorld>(
    world: &W,
    state: W::State,
    session: &Session,
    calls: &[SampleCall],
    holds: &[usize],
) -> Found {
    let start = Session {
        rules: only(&session.rules, holds),
        states: holds.iter().map(|rule| session.states[*rule].clone()).collect(),
    };
    let is_held = |session: &Session| session.verdicts().iter().all(|verdict| verdict.is_held_at_end());
    if is_held(&start) {
        return Found::Session(Vec::new());
    }
    let is_hopeful = |session: &Session| !session.verdicts().contains(&super::RuleVerdict::Violated);
    if !is_hopeful(&start) {
        return Found::None;
    }
    let from = (world, state);
    match search_from(
        from.clone(),
        start.clone(),
        calls,
        |_| false,
        |session, _| is_held(session),
        is_hopeful,
    ) {
        Found::TooMany => any_continuation(from, start, calls),
        found => found,
    }
}

/// A session that was reached: its last call, with what came of it, and the number of the session before it.
type Reached = (SampleCall, Option<usize>);

/// The calls on the way to a session that was reached, and one more.
fn way(reached: &[Reached], before: Option<usize>, last: SampleCall) -> Found {
    let mut way = vec![last];
    let mut at = before;
    while let Some((call, before)) = at.and_then(|at| reached.get(at)) {
        way.push(call.clone());
        at = *before;
    }
    way.reverse();
    Found::Session(way)
}

fn any_continuation<W: CallWorld>(
    (world, state): (&W, W::State),
    start: Session,
    calls: &[SampleCall],
) -> Found {
    let open_rules =
        |session: &Session| session.verdicts().iter().filter(|verdict| !verdict.is_held_at_end()).count();
    #[expect(clippy::mutable_key_type, reason = "a digest that has been asked for never changes")]
    let mut seen = HashSet::new();
    let mut reached: Vec<Reached> = Vec::new();
    let mut sessions: Vec<(Session, W::State)> = Vec::new();
    // The sessions to continue: those with fewest open rules first, of these the shortest.
    let mut open = BinaryHeap::from([Reverse((0, 0, 0))]);
    let mut first = Some((start, state));
    while let Some(Reverse((_, length, number))) = open.pop() {
        // The first session is number 0, and the number of each other one is its place plus 1.
        let (session, state, at) = match first.take() {
            Some((session, state)) => (session, state, None),
            None => {
                let (session, state) = sessions[number - 1].clone();
                (session, state, Some(number - 1))
            }
        };
        for call in calls {
            for (call, state) in world.outcomes(&state, call) {
                let mut next = session.clone();
                if !call.observe(&mut next) || next.verdicts().contains(&super::RuleVerdict::Violated) {
                    continue;
                }
                let left = open_rules(&next);
                if left == 0 {
                    return way(&reached, at, call.into_owned());
                }
                if seen.insert((next.memory(), world.memory(&state))) {
                    if seen.len() >= RULE_SEARCH_MAX {
                        return Found::TooMany;
                    }
                    reached.push((call.into_owned(), at));
                    sessions.push((next, state));
                    open.push(Reverse((left, length + 1, reached.len())));
                }
            }
        }
    }
    Found::None
}

/// The tools that rules name, in the order of the alphabet.
pub fn tools(rules: &RuleSet) -> Vec<String> {
    let patterns = rules.rules.iter().flat_map(|rule| rule.patterns());
    let names: BTreeSet<String> =
        patterns.filter_map(|pattern| Some(pattern.tools.as_ref()?.written().to_owned())).collect();
    names.into_iter().collect()
}

/// The rules that have something to do with one, itself among them, in order: they name one tool, or any, or are
/// connected so through others.
pub fn connected(rules: &RuleSet, rule: usize) -> Vec<usize> {
    let tools = |number: usize| -> BTreeSet<Option<&str>> {
        let rule = &rules.rules[number];
        let named = rule.patterns().into_iter().map(|pattern| pattern.tools.as_ref().map(ToolNames::written));
        // A rule that counts every event, or that demands something of each session, has a say in every session.
        let compiled = &rules.compiled[number];
        let is_idle = compiled.ignores_others
            && compiled.outlook(compiled.start()).is_some_and(|outlook| outlook.accepts);
        named.chain((rule.concerns_any_tool() || !is_idle).then_some(None)).collect()
    };
    let of: Vec<BTreeSet<Option<&str>>> = (0..rules.rules.len()).map(tools).collect();
    let mut group = BTreeSet::from([rule]);
    let mut open = vec![rule];
    while let Some(at) = open.pop() {
        for (other, tools) in of.iter().enumerate() {
            let is_near = tools.contains(&None) || of[at].contains(&None) || !tools.is_disjoint(&of[at]);
            if is_near && group.insert(other) {
                open.push(other);
            }
        }
    }
    group.into_iter().collect()
}

/// These rules alone, by their numbers, in this order. Numbers of rules that there are not are left out.
pub fn only(rules: &RuleSet, numbers: &[usize]) -> Arc<RuleSet> {
    let numbers: Vec<usize> = numbers.iter().copied().filter(|number| *number < rules.rules.len()).collect();
    Arc::new(RuleSet::new(
        numbers.iter().map(|number| rules.rules[*number].clone()).collect(),
        numbers.iter().map(|number| rules.compiled[*number].clone()).collect(),
    ))
}

/// Goes through the sessions of these calls, shortest first, from the one without a call on. `is_goal` and `is_hopeful`
/// (can a longer session still be one?) are given the session and whether it has a call that `is_marked`.
fn search(
    rules: &Arc<RuleSet>,
    hints: SampleHints<'_>,
    is_marked: impl Fn(&SampleCall) -> bool,
    is_goal: impl Fn(&Session, bool) -> bool,
    is_hopeful: impl Fn(&Session) -> bool,
) -> Found {
    let start = Session::new(rules);
    if is_goal(&start, false) {
        return Found::Session(Vec::new());
    }
    // Two values of each class show most, among far fewer sessions than as many as may be needed.
    let needed = rules.copies();
    for copies in [2, needed].into_iter().take(if needed > 2 { 2 } else { 1 }) {
        let samples = Samples::with(rules, hints, copies);
        let world = (&FixedOutcomes, ());
        match search_from(world, start.clone(), &samples.calls, &is_marked, &is_goal, &is_hopeful) {
            Found::None if samples.are_all => return Found::None,
            // A value that was left out may be the one that it takes.
            Found::None => {}
            found => return found,
        }
    }
    Found::TooMany
}

/// The same for continuations of a session, itself not among them, in a world that is in a state.
fn search_from<W: CallWorld>(
    (world, state): (&W, W::State),
    start: Session,
    calls: &[SampleCall],
    is_marked: impl Fn(&SampleCall) -> bool,
    is_goal: impl Fn(&Session, bool) -> bool,
    is_hopeful: impl Fn(&Session) -> bool,
) -> Found {
    #[expect(clippy::mutable_key_type, reason = "a digest that has been asked for never changes")]
    let mut seen = HashSet::new();
    let mut reached: Vec<Reached> = Vec::new();
    let mut open = VecDeque::from([(start, state, false, None)]);
    while let Some((session, state, marked, at)) = open.pop_front() {
        for call in calls {
            for (call, state) in world.outcomes(&state, call) {
                let mut next = session.clone();
                if !call.observe(&mut next) {
                    return Found::TooMany;
                }
                let marked = marked || is_marked(&call);
                if is_goal(&next, marked) {
                    return way(&reached, at, call.into_owned());
                }
                if is_hopeful(&next) && seen.insert((marked, next.memory(), world.memory(&state))) {
                    if seen.len() >= RULE_SEARCH_MAX {
                        return Found::TooMany;
                    }
                    reached.push((call.into_owned(), at));
                    open.push_back((next, state, marked, Some(reached.len() - 1)));
                }
            }
        }
    }
    Found::None
}
