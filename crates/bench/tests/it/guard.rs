//! The guard between agent and tools.

use std::sync::Arc;

use planproof_bench::{Campaign, Outcome, SimKind, SimModel, Standing};
use planproof_synth::{
    Case, Class, Flag, JudgeOptions, Options, START_TIME_ARGUMENT, TimeOptions, clock_time, judge,
    start_arguments,
};
use planproof_trace::{Arguments, CallId, EndReason, Event, EventKind, ToolCall, ToolResult};

use crate::{campaign, cases, run};

const COUNT: u64 = 120;

fn both_forms() -> [Arc<[Case]>; 2] {
    let basic = Options { actions_min: 3, actions_max: 6, distractors: 1, ..Options::default() };
    let timed =
        Options { time: Some(TimeOptions::default()), actions_min: 3, actions_max: 5, ..Options::default() };
    [cases(basic, COUNT), cases(timed, COUNT)]
}

fn with_guard(kind: SimKind, cases: Arc<[Case]>) -> Campaign {
    let mut campaign = campaign(Arc::new(SimModel::new(kind)), cases);
    campaign.agent.guarded = true;
    campaign.agent.name = format!("repair:{}", campaign.agent.name);
    campaign
}

fn verdicts(outcomes: &[Outcome]) -> impl Iterator<Item = &planproof_synth::Verdict> {
    outcomes.iter().map(|outcome| outcome.verdict.as_ref().expect("nothing outside fails"))
}

/// Models that do as they are told and leave nothing out pass every case; nobody makes an order error.
#[tokio::test]
async fn nothing_wrong_is_executed() {
    for cases in both_forms() {
        for kind in SimKind::ALL {
            let bare =
                run(&campaign(Arc::new(SimModel::new(kind)), cases.clone()), None, &Default::default()).await;
            let outcomes = run(&with_guard(kind, cases.clone()), None, &Default::default()).await;
            assert_eq!(outcomes.len(), cases.len());
            for verdict in verdicts(&outcomes) {
                assert_eq!(verdict.first_wrong_call, None, "{kind:?}: {verdict:?}");
                assert!(verdict.violated.is_empty(), "{kind:?}: {verdict:?}");
                for class in [Class::OrderError, Class::Repeated, Class::Distractor] {
                    assert!(!verdict.flags.contains(&Flag::Class(class)), "{kind:?}: {verdict:?}");
                }
                assert_eq!(verdict.held_back.is_empty(), !verdict.flags.contains(&Flag::HeldBack));
            }
            let passed = |outcomes: &[Outcome]| verdicts(outcomes).filter(|it| it.passed).count();
            let (before, after) = (passed(&bare), passed(&outcomes));
            let held_back = verdicts(&outcomes).filter(|it| !it.held_back.is_empty()).count();
            match kind {
                SimKind::Perfect | SimKind::Careless => assert_eq!(after, cases.len(), "{kind:?}"),
                // It does not heed the guard, so that what was held back is lost.
                SimKind::InOrder => assert_eq!(after, cases.len() - held_back),
                SimKind::Forgetful => assert!(after > before && after < cases.len(), "{before} {after}"),
                SimKind::Clumsy => assert!(after >= before, "{before} {after}"),
                SimKind::Endless => assert_eq!(after, 0),
                SimKind::Planted(_) => assert_eq!(after, cases.len()),
            }
            if kind == SimKind::Careless {
                assert!(before < cases.len() && held_back >= cases.len() - before, "{before} {held_back}");
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
            let mut standing = Standing::new(case, JudgeOptions::default());
            let mut made: Vec<ToolCall> = Vec::new();
            while !standing.is_complete() {
                for tool in &case.tools {
                    let call = call(case, &tool.name, &made);
                    let is_wrong = standing.objection(&call).is_some();
                    assert_eq!(
                        is_wrong,
                        is_wrong_after(case, &made, &call),
                        "{}: {call:?} after {made:?}",
                        case.id
                    );
                    counts[usize::from(is_wrong)] += 1;
                }
                let right = standing.right_now()[0];
                let tool = case.actions[right.action].tool.clone();
                let arguments =
                    right.start.map_or_else(Arguments::none, |start| start_arguments(clock_time(start)));
                let call = ToolCall { id: CallId::new(made.len().to_string()), name: tool, arguments };
                assert_eq!(standing.objection(&call), None);
                standing.executed(&call);
                made.push(call);
            }
            assert!(standing.right_now().is_empty());
            let call = call(case, &case.actions[0].tool, &made);
            let told = standing.objection(&call).expect("it is done");
            assert!(told.ends_with("All tasks are done: no more calls are needed."), "{told}");
        }
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

/// A call of the tool, in the time form when the latest task has ended.
fn call(case: &Case, tool: &str, made: &[ToolCall]) -> ToolCall {
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
fn is_wrong_after(case: &Case, made: &[ToolCall], call: &ToolCall) -> bool {
    let mut events = Vec::new();
    for call in made.iter().chain([call]) {
        events.push(Event { at: 0, kind: EventKind::Call(call.clone()) });
        events.push(Event { at: 0, kind: EventKind::Result(ToolResult::ok(call.id.clone(), "")) });
    }
    events.push(Event { at: 0, kind: EventKind::End(EndReason::Answered { text: String::new() }) });
    let verdict = judge(case, &events, JudgeOptions::default()).expect("it has an end");
    if case.is_restart(&call.name) {
        return false;
    }
    let lasting = [Class::Repeated, Class::Distractor, Class::ParameterError];
    verdict.first_wrong_call.is_some()
        || lasting.iter().any(|class| verdict.flags.contains(&Flag::Class(*class)))
}
