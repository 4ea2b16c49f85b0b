//! Small campaigns written by hand: one with a run of every kind, and one with hostile texts.

use planproof_constraint::Variable;
use planproof_synth::{PlanningCase, SynthesisOptions};
use planproof_trace::{
    Arguments, CallId, EndReason, Event, EventKind, FinishReason, LimitKind, ToolCall, ToolResult, Usage,
};

use crate::campaigns::{TestCampaign, cases, dated};

/// A run of every kind: passed, wrong order, refused calls, unscored, timed out, an external agent with overlapping
/// calls, an external agent that failed, not run.
pub(crate) fn mixed(agent: &str, model: Option<&str>) -> TestCampaign {
    let cases = cases(SynthesisOptions::default(), 8);
    let runs = vec![
        Some(in_process(&cases[0], right_plan(&cases[0]))),
        Some(in_process(&cases[1], right_plan(&cases[1]).into_iter().rev().collect())),
        Some(with_refused_calls(&cases[2])),
        Some(ended(
            &cases[3],
            EndReason::Unscored { reason: "cannot reach http://127.0.0.1:1: refused".into() },
        )),
        Some(ended(
            &cases[4],
            EndReason::LimitReached { limit: LimitKind::WallMilliseconds, value: 180_000 },
        )),
        Some(external(&cases[5])),
        Some(ended(
            &cases[6],
            EndReason::AgentFailed { reason: "exit status 1\nTraceback: no module".into() },
        )),
        None,
    ];
    let mut campaign = TestCampaign::of_runs(agent, model, cases, runs);
    campaign.report.ended_by = Some("0.50 USD".to_owned());
    campaign
}

/// Two runs, one failed and one unscored, in which every text that is not ours is `text`. The id of the second case
/// has the suffix `2`, because ids must differ.
pub(crate) fn hostile(text: &str) -> TestCampaign {
    let mut cases = cases(SynthesisOptions::default(), 2);
    for (case, behind) in cases.iter_mut().zip(["", "2"]) {
        case.id = format!("{text}{behind}");
        case.topic = text.to_owned();
        case.query = text.to_owned();
        case.paragraph = format!("{text} {} {text}", case.paragraph);
        for source in case.constraints.iter_mut().flat_map(|stated| &mut stated.sources) {
            let moved = text.chars().count() as u32 + 1;
            (source.start, source.end) = (source.start + moved, source.end + moved);
        }
        for action in &mut case.actions {
            action.text = text.to_owned();
        }
    }
    let call = |number: usize| {
        EventKind::Call(ToolCall {
            id: CallId::new(format!("{text}{number}")),
            name: text.to_owned(),
            arguments: Arguments::Malformed(text.to_owned()),
        })
    };
    let result = |number: usize| {
        EventKind::Result(ToolResult::error(CallId::new(format!("{text}{number}")), text.to_owned()))
    };
    let mut events = called(&cases[0], right_plan(&cases[0]).into_iter().rev().collect(), true);
    events.extend([
        call(100),
        result(100),
        EventKind::End(EndReason::AgentFailed { reason: text.to_owned() }),
    ]);
    let runs =
        vec![Some(dated(events)), Some(ended(&cases[1], EndReason::Unscored { reason: text.to_owned() }))];
    let mut campaign = TestCampaign::of_runs(text, Some(text), cases, runs);
    campaign.id = text.to_owned();
    campaign.command_line = text.to_owned();
    campaign
}

/// The positions of a correct plan's actions.
fn right_plan(case: &PlanningCase) -> Vec<usize> {
    let order = case.problem().order().expect("drawn cases can be solved");
    order.first_sequence().into_iter().map(Variable::index).collect()
}

fn turn(text: &str, calls: u32) -> EventKind {
    let finish = if calls > 0 { FinishReason::ToolCalls } else { FinishReason::Stop };
    EventKind::Turn { text: text.into(), reasoning: String::new(), calls, finish, usage: Usage::new(100, 7) }
}

fn call(case: &PlanningCase, action: usize) -> (EventKind, EventKind) {
    let tool = &case.actions[action].tool;
    let id = CallId::new(format!("call_{action}"));
    let call = ToolCall { id: id.clone(), name: tool.clone(), arguments: Arguments::none() };
    (EventKind::Call(call), EventKind::Result(ToolResult::ok(id, case.mock_answer(tool))))
}

fn called(case: &PlanningCase, plan: Vec<usize>, with_turns: bool) -> Vec<EventKind> {
    let mut events = vec![EventKind::Query { text: case.query.clone() }];
    for action in plan {
        let (call, result) = call(case, action);
        events.extend(with_turns.then(|| turn("", 1)));
        events.extend([call, result]);
    }
    events
}

fn in_process(case: &PlanningCase, plan: Vec<usize>) -> Vec<Event> {
    let mut events = called(case, plan, true);
    events.extend([turn("All done.", 0), EventKind::End(EndReason::Answered { text: "All done.".into() })]);
    dated(events)
}

/// Two calls in one turn, both refused, and then an answer.
fn with_refused_calls(case: &PlanningCase) -> Vec<Event> {
    let call = |id: &str, name: &str, arguments| {
        EventKind::Call(ToolCall { id: CallId::new(id), name: name.into(), arguments })
    };
    let refused = |id: &str, text: &str| EventKind::Result(ToolResult::error(CallId::new(id), text));
    dated(vec![
        EventKind::Query { text: case.query.clone() },
        turn("Two at once.", 2),
        call("x", "fly_to_the_moon", Arguments::none()),
        refused("x", "there is no tool \"fly_to_the_moon\""),
        call("y", &case.actions[0].tool, Arguments::from_text("{\"a\":")),
        refused("y", "the arguments are not a JSON object"),
        turn("I give up.", 0),
        EventKind::End(EndReason::Answered { text: "I give up.".into() }),
    ])
}

fn ended(case: &PlanningCase, reason: EndReason) -> Vec<Event> {
    dated(vec![EventKind::Query { text: case.query.clone() }, EventKind::End(reason)])
}

/// The correct plan without turns, with the first two calls at once.
fn external(case: &PlanningCase) -> Vec<Event> {
    let plan = right_plan(case);
    let mut events = vec![EventKind::Query { text: case.query.clone() }];
    let ((first, first_result), (second, second_result)) = (call(case, plan[0]), call(case, plan[1]));
    events.extend([first, second, first_result, second_result]);
    for &action in &plan[2..] {
        let (call, result) = call(case, action);
        events.extend([call, result]);
    }
    events.push(EventKind::End(EndReason::Answered { text: "Everything is done.".into() }));
    dated(events)
}
