//! Tools that fail: what is still demanded of a run, and what a right agent does.
//!
//! What has to be done is what can be done. A demand is waived if, before a failure, the run could still have been
//! continued so that it holds together with what was held, and after the failure it could not. So a demand that an
//! agent itself made impossible is never waived. A tool that answers with nothing several times in a row is *silent*:
//! its calls are made with success, and what needs one of its results is like what needs a tool that failed for good.

use std::collections::{BTreeMap, BTreeSet};

use planproof_spec::rules::search::{Found, SampleCall};
use planproof_spec::rules::{
    EventPattern, Phase, RecordedEvent, RuleDemand, RuleEnd, RuleVerdict, Session, SessionEvent,
};
use planproof_trace::faults::{FaultyRun, SeenFault, ToolFault, ToolFaults};
use serde_json::Value;

use crate::case::Scenario;
use crate::limits::{EMPTY_ANSWERS_MAX, FAILURES_WEIGHED_MAX, PLAYED_CALLS_MAX, RETRIES_MAX};
use crate::line::LineCall;
use crate::state::Values;
use crate::turns;

/// Why it is not known what is still demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Undecided;

/// A failed call in a session, by its events.
struct Failure<'s> {
    /// The place of its result.
    place: usize,
    tool: &'s str,
    fault: SeenFault,
}

/// What tools can still do: calls of the others, of which the silent ones give empty results.
#[derive(Clone, Default)]
struct Working {
    lost: BTreeSet<String>,
    silent: BTreeSet<String>,
    /// Empty answers of each tool, one after the other.
    empty_in_row: BTreeMap<String, usize>,
}

impl Working {
    /// Takes the result of a call. One that says something ends the silence of its tool.
    fn answered(&mut self, tool: &str, result: &Value) {
        let count = self.empty_in_row.entry(tool.to_owned()).or_default();
        *count = if result.as_str() == Some("") { *count + 1 } else { 0 };
        match *count >= EMPTY_ANSWERS_MAX {
            true => self.silent.insert(tool.to_owned()),
            false => self.silent.remove(tool),
        };
    }

    fn calls(&self, calls: &[SampleCall]) -> Vec<SampleCall> {
        calls.iter().filter(|call| !self.lost.contains(&call.tool)).cloned().collect()
    }
}

/// The failures of a session.
pub(crate) struct Failures<'s> {
    session: &'s [RecordedEvent],
    all: Vec<Failure<'s>>,
}

impl<'s> Failures<'s> {
    pub(crate) fn of(case: &Scenario, session: &'s [RecordedEvent]) -> Self {
        let seen = session.iter().enumerate().filter_map(|(place, event)| {
            let error = event.outcome.as_ref().filter(|_| event.phase == Phase::Failed)?.as_str()?;
            Some(Failure { place, tool: &event.tool, fault: SeenFault::of(&event.tool, error)? })
        });
        let all = if case.line.faults.is_some() { seen.collect() } else { Vec::new() };
        Self { session, all }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The calls of the tool after a failure, by their numbers from 1.
    fn calls_after(&self, failure: &Failure<'_>) -> Vec<usize> {
        let calls = self.session.iter().enumerate().filter(|(_, event)| event.phase == Phase::Call);
        let numbered = calls
            .enumerate()
            .filter(|(_, (place, event))| *place > failure.place && event.tool == failure.tool);
        numbered.map(|(number, _)| number + 1).collect()
    }

    /// The first call of a tool that was known to be gone.
    pub(crate) fn called_vanished(&self) -> Option<usize> {
        let gone = self.all.iter().filter(|failure| failure.fault == SeenFault::Vanished);
        gone.filter_map(|failure| self.calls_after(failure).first().copied()).min()
    }

    /// The first call too many of a tool that was known not to work again.
    pub(crate) fn retried_forever(&self) -> Option<usize> {
        let last = self.all.iter().filter(|failure| failure.fault.is_final());
        last.filter_map(|failure| self.calls_after(failure).get(RETRIES_MAX).copied()).min()
    }

    /// Whether a call of these events had failed before another call of the session, by its number from 1.
    pub(crate) fn include(&self, pattern: &EventPattern, before_call: usize) -> bool {
        let mut call = 0;
        let place = self.session.iter().position(|event| {
            call += usize::from(event.phase == Phase::Call);
            call == before_call
        });
        let is_of = |failure: &Failure<'_>| {
            let event = &self.session[failure.place];
            EventPattern { moment: Phase::Failed, outcome: Vec::new(), ..pattern.clone() }
                .matches(&event.as_seen())
        };
        self.all.iter().any(|failure| place.is_none_or(|place| failure.place < place) && is_of(failure))
    }

    /// How an agent left a demand that has to do with these tools, if it could have met it.
    pub(crate) fn left(&self, demand: &RuleDemand) -> Left {
        let patterns = match demand {
            RuleDemand::FollowedBy { then, .. } => vec![then],
            RuleDemand::AtLeast(_, event) | RuleDemand::Last(event) => vec![event],
            _ => Vec::new(),
        };
        let is_of = |failure: &&Failure<'_>| {
            let call = SessionEvent::new(Phase::Failed, failure.tool, &self.session[failure.place].arguments);
            let any = |pattern: &&EventPattern| EventPattern {
                moment: Phase::Failed,
                outcome: Vec::new(),
                ..(*pattern).clone()
            };
            patterns.iter().any(|pattern| any(pattern).matches(&call))
        };
        let attempts = self.all.iter().filter(is_of).count();
        let has_stopped =
            self.all.iter().max_by_key(|failure| failure.place).is_some_and(|last| {
                !self.session[last.place..].iter().any(|event| event.phase == Phase::Call)
            });
        match attempts {
            1 => Left::NotRetried,
            0 if !has_stopped => Left::Alone,
            _ => Left::GivenUp,
        }
    }
}

/// How an agent left a demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// Failures have nothing to do with it.
    Alone,
    /// A call failed for the moment and was not made again.
    NotRetried,
    /// It was not made often enough, or nothing was done after the last failure.
    GivenUp,
}

/// The numbers of the demands that failures of tools made impossible. `ends` is what became of them in the session.
pub(crate) fn waived(
    case: &Scenario,
    session: &[RecordedEvent],
    ends: &[RuleEnd],
) -> Result<BTreeSet<usize>, Undecided> {
    let mut waived = BTreeSet::new();
    let is_held = |rule: &usize| ends[*rule].verdict.is_held_at_end();
    let unheld: Vec<usize> = (0..ends.len()).filter(|rule| !is_held(rule)).collect();
    if case.line.faults.is_none() || unheld.is_empty() {
        return Ok(waived);
    }
    let calls = case.possible_calls(case.line.only.as_deref());
    let mut state = Session::new(&case.bound);
    let mut values = case.beginning.clone();
    let mut working = Working::default();
    let mut weighed = 0;
    let open = without_outcome(session);
    for (place, event) in session.iter().enumerate() {
        let seen = event.as_seen();
        // A call changes the world when it is made, and its outcome comes before the next call; one that was cut off
        // has none.
        if event.phase == Phase::Call && open.contains(&place) {
            change(case, &mut values, event);
        }
        let fault = match (event.phase, event.outcome.as_ref().and_then(Value::as_str)) {
            (Phase::Failed, Some(error)) => SeenFault::of(&event.tool, error),
            // An empty answer says as little as a failure that passes.
            (Phase::Done, Some("")) => Some(SeenFault::Transient),
            _ => None,
        };
        let did_nothing = event.phase == Phase::Failed && fault.is_some();
        let before_it = working.clone();
        let is_known =
            working.lost.contains(&event.tool) || working.silent.contains(&event.tool) && !did_nothing;
        if let Some(result) = event.outcome.as_ref().filter(|_| event.phase == Phase::Done) {
            working.answered(&event.tool, result);
        }
        // That a lost tool fails again changes nothing.
        let Some(fault) = fault.filter(|_| !is_known && weighed < FAILURES_WEIGHED_MAX) else {
            state.observe(&seen).map_err(|_| Undecided)?;
            if event.phase != Phase::Call && !did_nothing {
                change(case, &mut values, event);
            }
            continue;
        };
        weighed += 1;
        let mut before = state.clone();
        let answer = case.answer(&values, &event.tool, &event.arguments);
        observe_outcome(&mut before, &event.tool, &event.arguments, &answer.outcome)?;
        state.observe(&seen).map_err(|_| Undecided)?;
        // The world as it would be if the tool had worked. A tool that answers with nothing did its work.
        let values_before = answer.after.unwrap_or_else(|| values.clone());
        if !did_nothing {
            values.clone_from(&values_before);
        }
        if fault.is_final() {
            working.lost.insert(event.tool.clone());
        }
        let (before_calls, after_calls) = (before_it.calls(&calls), working.calls(&calls));
        let (before_calls, after_calls) =
            ((&*before_calls, &before_it.silent), (&*after_calls, &working.silent));
        let kept: Vec<usize> =
            (0..ends.len()).filter(|rule| is_held(rule) || state.verdict(*rule).is_held_at_end()).collect();
        for rule in unheld.iter().filter(|rule| !kept.contains(rule)) {
            if waived.contains(rule)
                || state.verdict(*rule) == RuleVerdict::Violated
                    && before.verdict(*rule) == RuleVerdict::Violated
            {
                continue;
            }
            let holds: Vec<usize> = kept.iter().copied().chain([*rule]).collect();
            let could = is_possible(case, &values_before, &before, before_calls, &holds)?;
            if could && !is_possible(case, &values, &state, after_calls, &holds)? {
                waived.insert(*rule);
            }
        }
    }
    Ok(waived)
}

/// The places of the calls that have no outcome.
fn without_outcome(session: &[RecordedEvent]) -> BTreeSet<usize> {
    let mut open: Vec<usize> = Vec::new();
    for (place, event) in session.iter().enumerate() {
        if event.phase == Phase::Call {
            open.push(place);
        } else if let Some(found) = open.iter().position(|call| {
            let call = &session[*call];
            call.tool == event.tool && call.arguments == event.arguments
        }) {
            open.remove(found);
        }
    }
    open.into_iter().collect()
}

/// Makes the changes of a call that its tool carried out.
fn change(case: &Scenario, values: &mut Values, event: &RecordedEvent) {
    if case.beginning.is_empty() {
        return;
    }
    if let Some(after) = case.answer(values, &event.tool, &event.arguments).after {
        *values = after;
    }
}

fn is_possible(
    case: &Scenario,
    values: &Values,
    session: &Session,
    calls: (&[SampleCall], &BTreeSet<String>),
    holds: &[usize],
) -> Result<bool, Undecided> {
    match case.continuation(values, session, calls, holds) {
        Found::Session(_) => Ok(true),
        Found::None => Ok(false),
        Found::TooMany => Err(Undecided),
    }
}

fn observe_outcome(
    session: &mut Session,
    tool: &str,
    arguments: &Value,
    outcome: &Result<Value, Value>,
) -> Result<(), Undecided> {
    let (phase, outcome) = match outcome {
        Ok(result) => (Phase::Done, result),
        Err(error) => (Phase::Failed, error),
    };
    let event = SessionEvent::new(phase, tool, arguments).with_outcome(outcome);
    session.observe(&event).map_err(|_| Undecided)
}

impl Scenario {
    /// The calls of a right agent in this world, with those that fail.
    pub(crate) fn right_calls(&self) -> Option<&[SampleCall]> {
        match &self.line.faults {
            None => self.right().session(),
            Some(faults) => self.played(faults).map(|(calls, _)| calls.as_slice()),
        }
    }

    fn played(&self, faults: &ToolFaults) -> Option<&(Vec<SampleCall>, Vec<u32>)> {
        self.played.get_or_init(|| played(self, faults).map(turns::apart)).as_ref()
    }

    /// The number of the message before each of these calls, from 1.
    pub(crate) fn messages_of_right_calls(&self) -> &[u32] {
        match &self.line.faults {
            None => self.messages_of_calls(),
            Some(faults) => self.played(faults).map_or(&[], |(_, turns)| turns),
        }
    }

    /// How many of these calls come before each later message of the user.
    pub(crate) fn calls_before_messages(&self) -> Vec<usize> {
        turns::before_each(self.messages_of_right_calls(), &self.line)
    }
}

/// The session of an agent that knows all demands and all tools, in the world that has these faults. [`None`] if what
/// can be done is not decided.
fn played(case: &Scenario, faults: &ToolFaults) -> Option<Vec<SampleCall>> {
    // The calls of the right session that a drawn case comes with are known, and have the values of the query.
    let drawn = case.line.drawn.iter().flat_map(|drawn| &drawn.right);
    let mut calls: Vec<SampleCall> = drawn
        .map(|LineCall { tool, arguments }| {
            let arguments = Value::Object(arguments.clone());
            let outcome = Some(case.answer(&case.beginning, tool, &arguments).outcome);
            SampleCall { tool: tool.clone(), arguments, outcome }
        })
        .collect();
    calls.extend(case.possible_calls(case.line.only.as_deref()));
    let mut session = Session::new(&case.bound);
    let mut values = case.beginning.clone();
    let mut run = FaultyRun::default();
    let mut made: Vec<SampleCall> = Vec::new();
    let mut wanted: Vec<usize> = (0..case.bound.rules().len()).collect();
    let mut working = Working::default();
    while made.len() < PLAYED_CALLS_MAX {
        let way = match case.continuation(&values, &session, (&calls, &working.silent), &wanted) {
            Found::Session(way) => way,
            Found::TooMany => return None,
            // What is impossible by now is left out: as little as possible, and nothing that holds already.
            Found::None => {
                let (held, open): (Vec<usize>, Vec<usize>) =
                    wanted.iter().partition(|rule| session.verdict(**rule).is_held_at_end());
                wanted = held;
                for rule in open {
                    wanted.push(rule);
                    if !is_possible(case, &values, &session, (&calls, &working.silent), &wanted).ok()? {
                        wanted.pop();
                    }
                }
                continue;
            }
        };
        let Some(call) = way.into_iter().next() else { return Some(made) };
        session.observe(&SessionEvent::new(Phase::Call, &call.tool, &call.arguments)).ok()?;
        let fault = run.next(faults, &call.tool);
        let form = run.form(faults, &call.tool);
        let failed = |fault: SeenFault| Err(Value::from(fault.text_as(&call.tool, form)));
        let mut worked = || {
            let answer = case.answer(&values, &call.tool, &call.arguments);
            values = answer.after.unwrap_or_else(|| values.clone());
            answer.outcome
        };
        let outcome = match fault {
            Some(ToolFault::Transient) => failed(SeenFault::Transient),
            Some(ToolFault::Permanent) => failed(SeenFault::Permanent),
            Some(ToolFault::Vanished) => failed(SeenFault::Vanished),
            Some(ToolFault::Empty) => worked().map(|_| Value::from("")),
            Some(ToolFault::Slow(_)) | None => worked(),
        };
        if matches!(fault, Some(ToolFault::Permanent | ToolFault::Vanished)) {
            calls.retain(|other| other.tool != call.tool);
        }
        observe_outcome(&mut session, &call.tool, &call.arguments, &outcome).ok()?;
        if let Ok(result) = &outcome {
            working.answered(&call.tool, result);
        }
        made.push(SampleCall { outcome: Some(outcome), ..call });
    }
    None
}
