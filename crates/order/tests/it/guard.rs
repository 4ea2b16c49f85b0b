//! The guard between agent and tools.

use std::sync::Arc;

use planproof_engine::Campaign;
use planproof_order::{GuardState, OrderOutcome, RightCall};
use planproof_sim::{SimKind, SimModel};
use planproof_synth::{
    ActionId, Bound, ConstraintId, Day, Flag, JudgeOptions, OrderClass, PlanningCase, START_TIME_ARGUMENT,
    SynthesisOptions, TimeOptions, clock_time, judge, start_arguments,
};
use planproof_trace::{Arguments, CallId, EndReason, Event, EventKind, ToolCall, ToolResult};

use crate::{campaign, cases, run_typed};

const COUNT: u64 = 120;

fn both_forms() -> [Arc<[PlanningCase]>; 2] {
    let basic =
        SynthesisOptions { actions_min: 3, actions_max: 6, distractors: 1, ..SynthesisOptions::default() };
    let timed = SynthesisOptions {
        time: Some(TimeOptions::default()),
        actions_min: 3,
        actions_max: 5,
        ..SynthesisOptions::default()
    };
    [cases(basic, COUNT), cases(timed, COUNT)]
}

fn with_guard(kind: SimKind, cases: Arc<[PlanningCase]>) -> Campaign {
    let mut campaign = campaign(Arc::new(SimModel::new(kind)), cases);
    campaign.agent.guarded = true;
    campaign.agent.name = format!("repair:{}", campaign.agent.name);
    campaign
}

fn verdicts(outcomes: &[OrderOutcome]) -> impl Iterator<Item = &planproof_synth::OracleVerdict> {
    outcomes.iter().map(|outcome| outcome.verdict.as_ref().expect("nothing outside fails"))
}

/// Models that do as they are told and leave nothing out pass every case; nobody makes an order error.
#[tokio::test]
#[ignore = "slow"]
async fn nothing_wrong_is_executed() {
    for cases in both_forms() {
        for kind in SimKind::ALL {
            let bare = run_typed(&campaign(Arc::new(SimModel::new(kind)), &*cases)).await;
            let outcomes = run_typed(&with_guard(kind, cases.clone())).await;
            assert_eq!(outcomes.len(), cases.len());
            for verdict in verdicts(&outcomes) {
                assert_eq!(verdict.first_wrong_call, None, "{kind:?}: {verdict:?}");
                assert!(verdict.violated.is_empty(), "{kind:?}: {verdict:?}");
                for class in [OrderClass::OrderError, OrderClass::Repeated, OrderClass::Distractor] {
                    assert!(!verdict.flags.contains(&Flag::Class(class)), "{kind:?}: {verdict:?}");
                }
                assert_eq!(verdict.denied.is_empty(), !verdict.flags.contains(&Flag::Denied));
            }
            let passed = |outcomes: &[OrderOutcome]| verdicts(outcomes).filter(|it| it.passed).count();
            let (before, after) = (passed(&bare), passed(&outcomes));
            let denied = verdicts(&outcomes).filter(|it| !it.denied.is_empty()).count();
            match kind {
                SimKind::Perfect | SimKind::Parallel | SimKind::Careless => {
                    assert_eq!(after, cases.len(), "{kind:?}");
                }
                // It does not heed the guard, so that what was denied is lost.
                SimKind::InOrder => assert_eq!(after, cases.len() - denied),
                SimKind::Forgetful => assert!(after > before && after < cases.len(), "{before} {after}"),
                SimKind::Clumsy => assert!(after >= before, "{before} {after}"),
                SimKind::Endless => assert_eq!(after, 0),
                _ => {
                    unreachable!("it is none of all kinds")
                }
            }
            if kind == SimKind::Careless {
                assert!(before < cases.len() && denied >= cases.len() - before, "{before} {denied}");
            }
        }
    }
}

/// The twin: a call is objected to exactly where the oracle, asked for the run so far with it, finds it wrong.
#[test]
fn objections_are_the_oracles() {
    let mut counts = [0; 2];
    for cases in both_forms() {
        for case in cases.iter().take(30) {
            let mut state = GuardState::new(case.clone(), JudgeOptions::default());
            let mut made: Vec<ToolCall> = Vec::new();
            while !state.is_complete() {
                for tool in &case.tools {
                    let call = call(case, &tool.name, &made);
                    let is_wrong = state.objection(&call).is_some();
                    assert_eq!(
                        is_wrong,
                        is_wrong_after(case, &made, &call),
                        "{}: {call:?} after {made:?}",
                        case.id
                    );
                    counts[usize::from(is_wrong)] += 1;
                }
                let right = state.right_now()[0];
                let tool = case.actions[right.action].tool.clone();
                let arguments =
                    right.start.map_or_else(Arguments::none, |start| start_arguments(clock_time(start)));
                let call = ToolCall { id: CallId::new(made.len().to_string()), name: tool, arguments };
                assert_eq!(state.objection(&call), None);
                state.executed(&call);
                made.push(call);
            }
            assert!(state.right_now().is_empty());
            let call = call(case, &case.actions[0].tool, &made);
            let objection = state.objection(&call).expect("it is done");
            assert!(objection.ends_with("All tasks are done: no more calls are needed."), "{objection}");
        }
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

/// A call of the tool, in the time form when the latest task has ended.
fn call(case: &PlanningCase, tool: &str, made: &[ToolCall]) -> ToolCall {
    let arguments = match &case.time {
        Some(time) if case.action_of_tool(tool).is_some() => {
            let minute = made.last().map_or(time.day.start, |last| {
                let start = last.arguments.as_object().and_then(|it| it[START_TIME_ARGUMENT].as_str());
                let start = start.and_then(planproof_trace::TimeOfDay::parse).expect("it is one of ours");
                start.minute() + time.durations[case.action_of_tool(&last.name).expect("it is an action's")]
            });
            start_arguments(clock_time(minute))
        }
        _ => Arguments::none(),
    };
    ToolCall { id: CallId::new("next"), name: tool.to_owned(), arguments }
}

/// By the verdict: the call brings what no continuation makes good.
fn is_wrong_after(case: &PlanningCase, made: &[ToolCall], call: &ToolCall) -> bool {
    let mut events = Vec::new();
    for call in made.iter().chain([call]) {
        events.push(Event::new(0, EventKind::Call(call.clone())));
        events.push(Event::new(0, EventKind::Result(ToolResult::ok(call.id.clone(), ""))));
    }
    events.push(Event::new(0, EventKind::End(EndReason::Answered { text: String::new() })));
    let verdict = judge(case, &events, JudgeOptions::default()).expect("it has an end");
    if case.is_restart(&call.name) {
        return false;
    }
    let lasting = [OrderClass::Repeated, OrderClass::Distractor, OrderClass::ParameterError];
    verdict.first_wrong_call.is_some()
        || lasting.iter().any(|class| verdict.flags.contains(&Flag::Class(*class)))
}

/// A constraint of the time form in plain words: what has to hold of the starts of all actions.
enum Rule {
    Before(usize, usize),
    EndsBy(usize, u16),
    StartsFrom(usize, u16),
}

/// A case of the time form, for the slow twin.
struct Plain {
    durations: Vec<u16>,
    day: (u16, u16),
    /// In the order of the case's constraints.
    rules: Vec<(ConstraintId, Rule)>,
}

impl Plain {
    fn of(case: &PlanningCase) -> Self {
        let time = case.time.as_ref().expect("it is of the time form");
        let before = case.constraints.iter().map(|it| (it.id.clone(), Rule::Before(it.first, it.second)));
        let bounds = time.bounds.iter().map(|it| {
            let rule = match it.bound {
                Bound::EndsBy(minute) => Rule::EndsBy(it.action, minute),
                Bound::StartsFrom(minute) => Rule::StartsFrom(it.action, minute),
            };
            (it.id.clone(), rule)
        });
        let day = (time.day.start, time.day.end);
        Self { durations: time.durations.clone(), day, rules: before.chain(bounds).collect() }
    }

    /// Whether some order of what is left, everything as early as it can be, keeps to these rules: all continuations.
    fn can_go_on(&self, calls: &[(usize, u16)], rules: &[usize]) -> bool {
        let end = |(action, start): (usize, u16)| start + self.durations[action];
        let left: Vec<usize> =
            (0..self.durations.len()).filter(|action| calls.iter().all(|call| call.0 != *action)).collect();
        if left.is_empty() {
            let start = |action: usize| calls.iter().find(|call| call.0 == action).expect("all are called").1;
            return calls.windows(2).all(|two| end(two[0]) <= two[1].1)
                && calls.iter().all(|call| call.1 >= self.day.0 && end(*call) <= self.day.1)
                && rules.iter().all(|rule| match self.rules[*rule].1 {
                    Rule::Before(first, second) => start(first) + self.durations[first] <= start(second),
                    Rule::EndsBy(action, minute) => start(action) + self.durations[action] <= minute,
                    Rule::StartsFrom(action, minute) => start(action) >= minute,
                });
        }
        left.into_iter().any(|action| {
            let from = rules.iter().filter_map(|rule| match self.rules[*rule].1 {
                Rule::StartsFrom(other, minute) if other == action => Some(minute),
                _ => None,
            });
            let minute = calls.last().map_or(self.day.0, |call| end(*call));
            let mut calls = calls.to_vec();
            calls.push((action, from.chain([minute]).max().expect("there is one")));
            self.can_go_on(&calls, rules)
        })
    }
}

fn timed_call(case: &PlanningCase, (action, start): (usize, u16), number: usize) -> ToolCall {
    let arguments = start_arguments(clock_time(start));
    ToolCall { id: CallId::new(number.to_string()), name: case.actions[action].tool.clone(), arguments }
}

/// The time form against the slow twin: calls and starts that the guard lets through, the starts that it
/// names, where a run went wrong, and the smallest set of constraints that forbade it, among all sets.
#[test]
fn in_the_time_form_guard_and_explanation_agree_with_all_continuations() {
    let options = SynthesisOptions {
        time: Some(TimeOptions {
            day: Day { start: 480, end: 660 },
            duration_min: Some(15),
            duration_max: Some(45),
            restarts_max: None,
        }),
        actions_min: 2,
        actions_max: 4,
        ..SynthesisOptions::default()
    };
    let (mut counts, mut sizes) = ([0; 2], std::collections::BTreeMap::new());
    for (number, case) in cases(options, 40).iter().enumerate() {
        let plain = Plain::of(case);
        let all: Vec<usize> = (0..plain.rules.len()).collect();
        let mut draw = planproof_trace::Draw::new(11, number as u64, "test/guard");
        let mut state = GuardState::new(case.clone(), JudgeOptions::default());
        let mut calls: Vec<(usize, u16)> = Vec::new();
        while calls.len() < case.actions.len() {
            let minute = calls.last().map_or(plain.day.0, |call| call.1 + plain.durations[call.0]);
            for action in (0..case.actions.len()).filter(|action| calls.iter().all(|call| call.0 != *action))
            {
                let is_right = |start: u16| plain.can_go_on(&[&calls[..], &[(action, start)]].concat(), &all);
                let first = (minute..plain.day.1).find(|start| is_right(*start));
                let named = state.right_now().into_iter().find(|right| right.action == action);
                assert_eq!(named.map(|right| right.start), first.map(Some), "{} {calls:?} {action}", case.id);
                for start in (minute.saturating_sub(7)..plain.day.1 + 20).step_by(3) {
                    let call = timed_call(case, (action, start), calls.len());
                    let is_wrong = state.objection(&call).is_some();
                    assert_eq!(is_wrong, !is_right(start), "{} {calls:?} {action} at {start}", case.id);
                    counts[usize::from(is_wrong)] += 1;
                    if is_wrong && start >= minute {
                        let core = core_of(case, &calls, (action, start), &state.right_now());
                        check_core(&plain, &[&calls[..], &[(action, start)]].concat(), &core);
                        *sizes.entry(core.len()).or_insert(0) += 1;
                    }
                }
            }
            let right = state.right_now();
            let next = right[draw.place(right.len())];
            let next = (next.action, next.start.expect("a start"));
            state.executed(&timed_call(case, next, calls.len()));
            calls.push(next);
        }
    }
    assert!(counts.iter().all(|count| *count > 1000), "{counts:?}");
    assert!((0..=2).all(|size| sizes.contains_key(&size)), "{sizes:?}");
}

/// The core of the verdict on right calls and a wrong one, which must be the first wrong one; what was
/// correct at that point is what the guard says.
fn core_of(
    case: &PlanningCase,
    calls: &[(usize, u16)],
    wrong: (usize, u16),
    right_now: &[RightCall],
) -> Vec<ConstraintId> {
    let mut events = Vec::new();
    for (number, call) in calls.iter().chain([&wrong]).enumerate() {
        let call = timed_call(case, *call, number);
        events.push(Event::new(0, EventKind::Call(call.clone())));
        events.push(Event::new(0, EventKind::Result(ToolResult::ok(call.id, ""))));
    }
    events.push(Event::new(0, EventKind::End(EndReason::Answered { text: String::new() })));
    let verdict = judge(case, &events, JudgeOptions::default()).expect("it has an end");
    assert_eq!(verdict.first_wrong_call, Some(calls.len()), "{}: {calls:?} {wrong:?}", case.id);
    let starts = &verdict.time.as_ref().expect("it is of the time form").next_starts[calls.len()];
    let right = verdict.correct_next[calls.len()].iter().map(ActionId::as_str).zip(starts.iter().copied());
    let named = |it: &RightCall| (case.actions[it.action].id.as_str(), it.start.expect("a start"));
    assert!(right.eq(right_now.iter().map(named)), "{}: {calls:?}", case.id);
    verdict.core
}

/// Of all sets of constraints the core is one of those that cannot hold after these calls while all of their parts can.
fn check_core(plain: &Plain, calls: &[(usize, u16)], core: &[ConstraintId]) {
    let places: Vec<usize> = (0..plain.rules.len()).collect();
    let of_core = places.iter().filter(|place| core.contains(&plain.rules[**place].0));
    let core_set: u32 = of_core.map(|place| 1 << place).sum();
    assert_eq!(core_set.count_ones() as usize, core.len());
    let can_hold = |set: u32| {
        let rules: Vec<usize> = places.iter().copied().filter(|place| set >> place & 1 == 1).collect();
        plain.can_go_on(calls, &rules)
    };
    assert!(!can_hold(core_set), "{calls:?}: {core:?} can hold");
    let mut part = core_set;
    while part > 0 {
        part = (part - 1) & core_set;
        assert!(can_hold(part), "{calls:?}: a part of {core:?} cannot hold");
    }
}
