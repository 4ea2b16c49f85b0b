//! The order in the middle of a run, after every beginning of it, against a count from the finished calls alone.

use planproof_order::OrderSuite;
use planproof_suite::{Board, Case as _};
use planproof_synth::PlanningCase;
use planproof_trace::{Arguments, CallId, Draw, EndReason, Event, EventKind, ToolCall, ToolResult};

use crate::synthesise;

/// Calls in a drawn order: some are left out, repeated, refused, or begun before the one before is answered.
fn drawn_run(case: &PlanningCase, draw: &mut Draw) -> Vec<Event> {
    let mut actions: Vec<usize> = (0..case.actions.len()).collect();
    draw.shuffle(&mut actions);
    let mut events = vec![Event::new(0, EventKind::Query { text: case.query.clone() })];
    let push = |kind: EventKind, events: &mut Vec<Event>| events.push(Event::new(events.len() as u64, kind));
    for (number, action) in actions.into_iter().enumerate() {
        let times = match draw.below(6) {
            0 => 0,
            1 => 2,
            _ => 1,
        };
        for time in 0..times {
            let id = CallId::new(format!("c{number}-{time}"));
            let (name, arguments) =
                (case.actions[action].tool.clone(), Arguments::Object(serde_json::Map::new()));
            push(EventKind::Call(ToolCall { id: id.clone(), name, arguments }), &mut events);
            let result = match draw.below(5) {
                0 => ToolResult::error(id, "refused"),
                _ => ToolResult::ok(id, "done"),
            };
            push(EventKind::Result(result), &mut events);
        }
    }
    push(EventKind::End(EndReason::Answered { text: "done".to_owned() }), &mut events);
    events
}

/// For each action, the place of its first successful call among all successful ones, from 1.
fn places(case: &PlanningCase, events: &[Event]) -> Vec<Option<usize>> {
    let mut places = vec![None; case.actions.len()];
    let (mut open, mut done) = (None, 0);
    for event in events {
        match &event.kind {
            EventKind::Call(call) => open = case.actions.iter().position(|action| action.tool == call.name),
            EventKind::Result(result) if !result.is_error => {
                done += 1;
                if let Some(action) = open.take() {
                    places[action].get_or_insert(done);
                }
            }
            _ => {}
        }
    }
    places
}

/// How an edge stands by these places: held, broken or open.
fn counted(case: &PlanningCase, places: &[Option<usize>], edge: (usize, usize)) -> &'static str {
    let stated = case.constraints.iter().filter(|it| (it.first, it.second) == edge);
    let states: Vec<Option<bool>> = stated.map(|it| Some(places[it.first]? < places[it.second]?)).collect();
    assert!(!states.is_empty(), "each edge is a constraint");
    match () {
        () if states.contains(&Some(false)) => "broken",
        () if states.contains(&None) => "open",
        () => "held",
    }
}

fn shown(board: &Board, edge: usize) -> &'static str {
    match (board.graph.edges[edge].is_wrong, board.held[edge]) {
        (true, false) => "broken",
        (false, true) => "held",
        (false, false) => "open",
        (true, true) => panic!("no edge is both"),
    }
}

#[test]
fn after_every_beginning_the_board_is_what_the_finished_calls_make_of_it() {
    let mut seen = std::collections::BTreeMap::new();
    let mut canary = 0;
    for index in 0..60 {
        let case = OrderSuite::default().wrap(synthesise(None, false, index));
        let mut draw = Draw::new(7, index, "board");
        for _ in 0..4 {
            let events = drawn_run(case.case(), &mut draw);
            for length in 0..=events.len() {
                let Ok(board) = case.board(&events[..length]) else { continue };
                let places = places(case.case(), &events[..length]);
                let numbers: Vec<Option<usize>> = board.graph.nodes.iter().map(|node| node.number).collect();
                assert_eq!(numbers, places, "case {index}, {length} events");
                for (place, edge) in board.graph.edges.iter().enumerate() {
                    let state = shown(&board, place);
                    assert_eq!(
                        state,
                        counted(case.case(), &places, (edge.from, edge.to)),
                        "case {index}, {length} events"
                    );
                    *seen.entry(state).or_insert(0) += 1;
                    // A count that takes the calls backwards must differ.
                    let backwards: Vec<_> =
                        places.iter().map(|place| place.map(|place| 1000 - place)).collect();
                    canary += usize::from(state != counted(case.case(), &backwards, (edge.from, edge.to)));
                }
                let begun = events[..length].last().and_then(|event| match &event.kind {
                    EventKind::Call(call) => case.case().action_of_tool(&call.name),
                    _ => None,
                });
                let shown = board.begun.iter().position(|begun| *begun);
                assert_eq!(shown, begun, "case {index}, {length} events");
            }
        }
    }
    assert!(seen.len() == 3 && seen.values().all(|count| *count > 200) && canary > 200, "{seen:?} {canary}");
}

#[test]
fn a_case_too_large_or_without_an_order_has_no_board() {
    let case = synthesise(None, false, 0);
    let free = PlanningCase { constraints: Vec::new(), ..case };
    assert!(OrderSuite::default().wrap(free).board(&[]).is_err());
}
