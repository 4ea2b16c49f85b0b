//! What a case demands, drawn after every beginning of a run, against a count from the finished calls alone.

use planproof_suite::{Board, Case};
use planproof_trace::{Arguments, CallId, Draw, EndReason, Event, EventKind, ToolCall, ToolResult};
use serde_json::Map;

use crate::load;

const FILE: &str = "
schema: planproof/scenario/v1
tools:
  - {name: look, description: Looks., arguments: {}}
  - {name: pay, description: Pays., arguments: {}}
  - {name: tell, description: Tells., arguments: {}}
  - {name: close, description: Closes., arguments: {}}
cases:
  - id: a
    query: Look, then pay, then tell. Nothing more after closing.
    expect:
      - {id: first-look, requires: {call: pay, done: look}}
      - {id: then-tell, followed-by: {done: pay, call: tell}}
      - {id: closed, never-after: {call: pay, done: close}}
      - {id: pays, at-least: {call: pay, times: 1}}
      - {id: once, at-most: {call: close, times: 1}}
";

const TOOLS: [&str; 4] = ["look", "pay", "tell", "close"];

/// Calls in a drawn order; some fail, and some are begun before the one before is answered.
fn drawn_run(draw: &mut Draw) -> Vec<Event> {
    let mut kinds = vec![EventKind::Query { text: "q".to_owned() }];
    let mut late: Option<EventKind> = None;
    for number in 0..draw.below(8) {
        let id = CallId::new(format!("c{number}"));
        let name = TOOLS[draw.below(4) as usize].to_owned();
        kinds.push(EventKind::Call(ToolCall {
            id: id.clone(),
            name,
            arguments: Arguments::Object(Map::new()),
        }));
        let result = EventKind::Result(match draw.below(4) {
            0 => ToolResult::error(id, "refused"),
            _ => ToolResult::ok(id, "done"),
        });
        kinds.extend(late.take());
        if draw.below(3) == 0 {
            late = Some(result);
        } else {
            kinds.push(result);
        }
    }
    kinds.extend(late);
    kinds.push(EventKind::End(EndReason::Answered { text: "done".to_owned() }));
    kinds.into_iter().enumerate().map(|(at, kind)| Event::new(at as u64, kind)).collect()
}

/// A finished call: its tool, whether it failed, and the places of its beginning and its end.
type Finished<'e> = (&'e str, bool, usize, usize);

fn finished(events: &[Event]) -> Vec<Finished<'_>> {
    let mut calls = Vec::new();
    for (place, event) in events.iter().enumerate() {
        let EventKind::Call(call) = &event.kind else { continue };
        let end = events.iter().enumerate().find_map(|(end, event)| match &event.kind {
            EventKind::Result(result) if result.id == call.id => Some((end, result.is_error)),
            _ => None,
        });
        calls.extend(end.map(|(end, is_error)| (call.name.as_str(), is_error, place, end)));
    }
    calls
}

/// How the three arrows stand, by the meaning of their rules.
fn counted(events: &[Event]) -> [(&'static str, &'static str, &'static str); 3] {
    let calls = finished(events);
    let is_over = matches!(events.last().map(|it| &it.kind), Some(EventKind::End(_)));
    let of = |tool: &'static str| calls.iter().filter(move |call| call.0 == tool);
    let done = |tool: &'static str| of(tool).filter(|call| !call.1);
    let state = |is_broken: bool, is_held: bool| match (is_broken, is_held) {
        (true, _) => "broken",
        (false, true) => "held",
        (false, false) => "open",
    };
    let pays_early = of("pay").any(|pay| !done("look").any(|look| look.3 < pay.2));
    let untold = done("pay").any(|pay| !of("tell").any(|tell| tell.2 > pay.3));
    let pays_late = of("pay").any(|pay| done("close").any(|close| close.3 < pay.2));
    let (pays, paid, closed) =
        (of("pay").next().is_some(), done("pay").next().is_some(), done("close").next().is_some());
    [
        ("look", "pay", state(pays_early, pays)),
        ("pay", "tell", state(untold && is_over, paid && !untold)),
        ("pay", "close", state(pays_late, pays && closed)),
    ]
}

fn shown(board: &Board) -> Vec<(String, String, &'static str)> {
    let name = |node: usize| board.graph.nodes[node].name.clone();
    let edges = board.graph.edges.iter().zip(&board.held);
    edges
        .map(|(edge, held)| {
            let state = match (edge.is_wrong, held) {
                (true, false) => "broken",
                (false, true) => "held",
                (false, false) => "open",
                (true, true) => panic!("no arrow is both"),
            };
            (name(edge.from), name(edge.to), state)
        })
        .collect()
}

#[test]
fn after_every_beginning_the_board_is_what_the_finished_calls_make_of_it() {
    let case: std::sync::Arc<dyn Case> = load(FILE).expect("loads").remove(0);
    let mut draw = Draw::new(7, 0, "boards");
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..1500 {
        let events = drawn_run(&mut draw);
        for length in 1..=events.len() {
            let events = &events[..length];
            let board = case.board(events).expect("is drawn");
            let counted = counted(events).map(|(from, to, state)| (from.to_owned(), to.to_owned(), state));
            assert_eq!(shown(&board), counted, "{events:?}");
            for (_, _, state) in counted {
                *seen.entry(state).or_insert(0) += 1;
            }
            let calls = finished(events);
            for (node, begun) in board.graph.nodes.iter().zip(&board.begun) {
                let first = calls.iter().position(|call| call.0 == node.name && !call.1);
                assert_eq!(node.number, first.map(|place| place + 1), "{} {events:?}", node.name);
                let all = events
                    .iter()
                    .filter(|event| matches!(&event.kind, EventKind::Call(call) if call.name == node.name));
                assert_eq!(*begun, all.count() > calls.iter().filter(|call| call.0 == node.name).count());
            }
        }
    }
    assert!(seen.len() == 3 && seen.values().all(|count| *count > 500), "{seen:?}");
}

#[test]
fn a_case_of_formulas_alone_has_no_board() {
    let text = "
schema: planproof/scenario/v1
tools:
  - {name: look, description: Looks., arguments: {}}
cases:
  - id: a
    query: Look.
    expect:
      - {formula: '(eventually call:look)'}
";
    let case = load(text).expect("loads").remove(0);
    assert!(case.board(&[]).unwrap_err().contains("formulas"));
}
