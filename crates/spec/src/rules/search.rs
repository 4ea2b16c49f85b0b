//! Sessions that show what rules mean: the shortest that violates one, that only this one rejects, or that calls a tool
//! although all rules hold.
//!
//! Sample events are drawn from the tests of the rules: for each value that a rule looks at, values on both sides of
//! each test. They are put together to sessions, breadth first, and each session is held against the rules by the same
//! automata as any other, so a session that is found is right by construction. Where none is found, although all
//! sessions of these values were looked at, there is none for all practical purposes; where there were too many of
//! them, the search says so.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashSet, VecDeque};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::outcomes::{CallWorld, FixedOutcomes};
use super::{
    CallRule, EventPattern, Phase, Pointer, RuleDemand, RuleSet, RuleTest, Session, SessionEvent, ToolNames,
    ValueCheck, ValueType,
};
use crate::limits::RULE_SEARCH_MAX;

/// Sample values of one place.
const VALUES_MAX: usize = 6;
/// Sample arguments, and sample results, of one tool.
const SAMPLES_MAX: usize = 24;

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

impl SampleCall {
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
    /// There were too many sessions to look at all of them.
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
    let alone = only(rules, &[rule]);
    let samples = Samples::of(&alone);
    search(&alone, &samples.calls, |_| false, |session, _| !session.verdict(0).is_held_at_end(), |_| true)
}

/// The shortest session that a rule rejects and that all others accept. [`Found::None`]: the others imply it.
pub fn only_violation(rules: &RuleSet, rule: usize) -> Found {
    // Rules that share no tool with it, not even through others, have no say.
    violation_within(rules, rule, &connected(rules, rule))
}

/// Whether some other rules imply a rule.
pub(super) fn is_implied(rules: &RuleSet, rule: usize, by: &[usize]) -> bool {
    let mut group = by.to_vec();
    group.push(rule);
    group.sort_unstable();
    violation_within(rules, rule, &group) == Found::None
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

fn violation_within(rules: &RuleSet, rule: usize, group: &[usize]) -> Found {
    let some = only(rules, group);
    let Some(place) = group.iter().position(|other| *other == rule) else { return Found::None };
    let samples = Samples::of(&some);
    search(
        &some,
        &samples.calls,
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
    let samples = Samples::of(&some);
    search(
        &some,
        &samples.calls,
        |_| false,
        |session, _| are_held(session),
        |session| !session.verdicts().contains(&super::RuleVerdict::Violated),
    )
}

/// The shortest session in which a tool is called, and all of these rules are held. [`Found::None`]: together they make
/// the tool unusable.
pub fn use_of(rules: &RuleSet, of: &[usize], tool: &str) -> Found {
    let some = only(rules, of);
    let samples = Samples::with(&some, Some(tool));
    search(
        &some,
        &samples.calls,
        |call| call.tool == tool,
        |session, is_used| is_used && session.verdicts().iter().all(|verdict| verdict.is_held_at_end()),
        |session| session.verdicts().iter().all(|verdict| *verdict != super::RuleVerdict::Violated),
    )
}

/// Results and errors of a tool that rules tell apart.
pub fn outcomes_of(rules: &RuleSet, tool: &str) -> Vec<Result<Value, Value>> {
    let calls = Samples::with(rules, Some(tool)).calls.into_iter().filter(|call| call.tool == tool);
    let mut outcomes = Vec::new();
    for outcome in calls.filter_map(|call| call.outcome) {
        if !outcomes.contains(&outcome) {
            outcomes.push(outcome);
        }
    }
    outcomes
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

/// An object with the entries of both; where both have one, the second's.
pub fn joined(first: &Value, second: &Value) -> Value {
    match (first, second) {
        (Value::Object(first), Value::Object(second)) => {
            let mut all = first.clone();
            for (key, value) in second {
                let value = first.get(key).map_or_else(|| value.clone(), |before| joined(before, value));
                all.insert(key.clone(), value);
            }
            Value::Object(all)
        }
        _ => second.clone(),
    }
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
    Arc::new(RuleSet {
        rules: numbers.iter().map(|number| rules.rules[*number].clone()).collect(),
        compiled: numbers.iter().map(|number| rules.compiled[*number].clone()).collect(),
    })
}

/// Goes through the sessions of these calls, shortest first, from the one without a call on. `is_goal` and `is_hopeful` (can a longer session still be
/// one?) are given the session and whether it has a call that `is_marked`.
fn search(
    rules: &Arc<RuleSet>,
    calls: &[SampleCall],
    is_marked: impl Fn(&SampleCall) -> bool,
    is_goal: impl Fn(&Session, bool) -> bool,
    is_hopeful: impl Fn(&Session) -> bool,
) -> Found {
    let start = Session::new(rules);
    if is_goal(&start, false) {
        return Found::Session(Vec::new());
    }
    search_from((&FixedOutcomes, ()), start, calls, is_marked, is_goal, is_hopeful)
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

/// Calls of all tools that rules name, and of one that none names.
struct Samples {
    calls: Vec<SampleCall>,
}

/// The values that are looked at within the arguments or the outcomes of a tool.
type Places = BTreeMap<String, Vec<Value>>;

impl Samples {
    fn of(rules: &RuleSet) -> Self {
        Self::with(rules, None)
    }

    /// The calls, with some of one more tool.
    fn with(rules: &RuleSet, tool: Option<&str>) -> Self {
        let mut names: Vec<String> = tools(rules);
        names.extend(tool.filter(|tool| !names.iter().any(|name| name == tool)).map(str::to_owned));
        // A tool that no rule names; the rules that hold for any tool concern it.
        if rules.rules.iter().any(CallRule::concerns_any_tool) {
            let mut other = "other".to_owned();
            while names.contains(&other) {
                other.push('_');
            }
            names.push(other);
        }
        let mut calls = Vec::new();
        for tool in names {
            let mut arguments = Places::new();
            let (mut results, mut errors) = (Places::new(), Places::new());
            for rule in &rules.rules {
                let concerns = |pattern: &EventPattern| {
                    pattern.tools.as_ref().is_none_or(|tools| tools.match_tool(None, &tool))
                };
                let patterns = rule.patterns();
                let concerned: Vec<&&EventPattern> =
                    patterns.iter().filter(|pattern| concerns(pattern)).collect();
                for pattern in &concerned {
                    add(&mut arguments, &pattern.arguments);
                    add(
                        if pattern.moment == Phase::Failed { &mut errors } else { &mut results },
                        &pattern.outcome,
                    );
                }
                if concerned.is_empty() {
                    continue;
                }
                // Two values are enough to tell a rule for each value from one for all of them.
                if let Some(per) = &rule.per {
                    arguments.entry(per.as_str().to_owned()).or_default().extend([json!(1), json!(2)]);
                }
                if let RuleDemand::Takes { event, argument, from, value } = &rule.demand {
                    if concerns(event) {
                        arguments
                            .entry(argument.as_str().to_owned())
                            .or_default()
                            .extend([json!("a"), json!("b")]);
                    }
                    if concerns(from) {
                        results.entry(value.as_str().to_owned()).or_default().push(json!("a"));
                    }
                }
            }
            let failures_matter = rules
                .rules
                .iter()
                .any(|rule| rule.patterns().iter().any(|pattern| pattern.moment == Phase::Failed));
            let results = combinations(&results);
            let errors = if failures_matter { combinations(&errors) } else { Vec::new() };
            for arguments in combinations(&arguments) {
                let call = |outcome| SampleCall { tool: tool.clone(), arguments: arguments.clone(), outcome };
                calls.extend(results.iter().map(|result| call(Some(Ok(result.clone())))));
                calls.extend(errors.iter().map(|error| call(Some(Err(error.clone())))));
                calls.push(call(None));
            }
        }
        Self { calls }
    }
}

/// Adds values on both sides of each test.
fn add(places: &mut Places, checks: &[ValueCheck]) {
    for check in checks {
        let values = places.entry(check.pointer.as_str().to_owned()).or_default();
        values.append(&mut samples(&check.test));
    }
}

/// Values for a test: the first passes it, if we know one that does, and the last does not.
fn samples(test: &RuleTest) -> Vec<Value> {
    match test {
        RuleTest::Is(value) => vec![value.clone(), other_than(value)],
        RuleTest::IsNot(value) => vec![other_than(value), value.clone()],
        RuleTest::OneOf(all) => all.iter().take(2).cloned().chain([json!("something else")]).collect(),
        RuleTest::Above(bound) => vec![number(bound + 1.0), number(*bound)],
        RuleTest::AtMost(bound) => vec![number(*bound), number(bound + 1.0)],
        RuleTest::AtLeast(bound) => vec![number(*bound), number(bound - 1.0)],
        RuleTest::Below(bound) => vec![number(bound - 1.0), number(*bound)],
        RuleTest::Matches(pattern) => {
            pattern.sample().into_iter().map(Value::from).chain([json!("something else")]).collect()
        }
        RuleTest::Type(types) => {
            let passing = types.first().map(|one| sample_of(*one));
            let failing = ValueType::ALL.into_iter().map(sample_of);
            let failing = failing.filter(|value| !test.holds(Some(value))).take(1);
            passing.into_iter().chain(failing).collect()
        }
        // The other way round, and a value of another type.
        RuleTest::Not(tests) => {
            let of_tests: Vec<Value> = tests.iter().flat_map(samples).chain([json!("something")]).collect();
            let (passing, failing) = of_tests.into_iter().partition(|value| test.holds(Some(value)));
            let (passing, failing): (Vec<Value>, Vec<Value>) = (passing, failing);
            passing.into_iter().chain(failing).collect()
        }
        RuleTest::Present(true) => vec![json!("something"), Value::Null],
        RuleTest::Present(false) => Vec::new(),
    }
}

/// A value of a type.
pub(super) fn sample_of(kind: ValueType) -> Value {
    match kind {
        ValueType::String => json!("something"),
        ValueType::Number => json!(1.5),
        ValueType::Integer => json!(1),
        ValueType::Boolean => json!(true),
        ValueType::Object => json!({}),
        ValueType::Array => json!([]),
        ValueType::Null => Value::Null,
    }
}

/// Arguments that pass some tests, as far as values for one test after the other do.
pub fn arguments_for(checks: &[ValueCheck]) -> Value {
    let mut arguments = json!({});
    for check in checks {
        // Where there are several tests of one place, a value for one of them may pass all.
        let of_place = |other: &&ValueCheck| other.pointer == check.pointer;
        let passes_all = |value: &Value| {
            let mut with = json!({});
            put(&mut with, &check.pointer, value.clone());
            checks.iter().filter(of_place).all(|other| other.holds(Some(&with)))
        };
        let candidates: Vec<Value> =
            checks.iter().filter(of_place).flat_map(|other| samples(&other.test)).collect();
        if let Some(value) = candidates.into_iter().find(passes_all) {
            put(&mut arguments, &check.pointer, value);
        }
    }
    arguments
}

fn other_than(value: &Value) -> Value {
    match value {
        Value::Bool(value) => json!(!value),
        Value::Number(value) => number(value.as_f64().unwrap_or(0.0) + 1.0),
        Value::String(value) if value == "something else" => json!("something"),
        _ => json!("something else"),
    }
}

/// A number as people write it: without a fraction where there is none.
pub(super) fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

/// Objects with each choice of values, up to [`SAMPLES_MAX`]. Among the choices for a place is that nothing is there,
/// but comes last.
fn combinations(places: &Places) -> Vec<Value> {
    let mut all = vec![json!({})];
    for (pointer, values) in places {
        let mut choices: Vec<Option<Value>> = Vec::new();
        for value in values {
            if !choices.contains(&Some(value.clone())) && choices.len() < VALUES_MAX {
                choices.push(Some(value.clone()));
            }
        }
        choices.push(None);
        let mut next = Vec::new();
        for choice in &choices {
            for object in &all {
                let mut object = object.clone();
                if let Some(value) = choice {
                    put(&mut object, &Pointer::made(pointer.as_str()), value.clone());
                }
                if next.len() < SAMPLES_MAX && !next.contains(&object) {
                    next.push(object);
                }
            }
        }
        all = next;
    }
    all
}

/// Puts a value where a pointer leads, making the objects on the way. `*` makes a list with one element.
pub fn put(within: &mut Value, pointer: &Pointer, value: Value) {
    let mut at = within;
    for part in pointer.parts() {
        if part == "*" {
            if !at.is_array() {
                *at = json!([null]);
            }
            match at {
                Value::Array(items) if !items.is_empty() => at = &mut items[0],
                _ => return,
            }
        } else {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            match at {
                Value::Object(entries) => at = entries.entry(part).or_insert(Value::Null),
                _ => return,
            }
        }
    }
    *at = value;
}
