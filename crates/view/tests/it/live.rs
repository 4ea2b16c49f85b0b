//! Pages that change.

use std::fs;

use planproof_store::Unit;
use serde_json::Value;

use crate::support::{Campaign, Directory, Events, calls};

/// The next state, past signs of life.
fn state(events: &mut Events) -> (String, Value) {
    loop {
        let [id, kind, data] = events.next().expect("the stream continues");
        if kind == "state" {
            return (id, serde_json::from_str(&data).expect("is JSON"));
        }
    }
}

fn html<'a>(state: &'a Value, part: &str) -> &'a str {
    state["parts"][part]["html"].as_str().unwrap_or_default()
}

#[test]
#[ignore = "slow"]
fn a_run_is_followed_event_by_event_and_its_order_is_that_of_the_finished_calls() {
    let directory = Directory::new();
    let store = directory.store();
    let campaign = Campaign::create(&store, "abc", "agent", 1, 1);
    let (unit, case) = (Unit { ordinal: 0, repeat: 0 }, &campaign.cases[0]);
    let mut order = campaign.right(0);
    order.reverse();
    let events = calls(case, &order);
    let site = directory.serve();
    let mut live = site.live("0/abc/0/0", None);
    assert!(html(&state(&mut live).1, "state").contains("not begun"));
    let run = campaign.start(unit);
    let mut done: Vec<usize> = Vec::new();
    let mut rows = 0;
    for (place, event) in events.iter().enumerate() {
        campaign.append(run, event);
        if place % 2 == 0 && place > 0 && place / 2 <= order.len() {
            done.push(order[place / 2 - 1]);
        }
        // One commit may show in two states: what is waited for is the state after this event.
        let wanted = format!("data-events=\"{}\"", place + 1);
        let shown = loop {
            let (_, shown) = state(&mut live);
            if let Some(trace) = shown["parts"]["trace"]["rows"].as_array() {
                rows = shown["parts"]["trace"]["from"].as_u64().expect("is a number") as usize + trace.len();
            }
            if html(&shown, "state").contains(&wanted) {
                break shown;
            }
        };
        let board = html(&shown, "board");
        if board.is_empty() {
            continue;
        }
        for edge in board.split("data-edge=\"").skip(1) {
            let ends: Vec<usize> = edge
                .split('"')
                .next()
                .unwrap()
                .split('-')
                .map(|end| end.parse().expect("is a place"))
                .collect();
            let shown = edge.split("data-state=\"").nth(1).unwrap().split('"').next().unwrap();
            let place = |action: usize| done.iter().position(|it| *it == action);
            let counted = match (place(ends[0]), place(ends[1])) {
                (Some(first), Some(second)) if first < second => "held",
                (Some(_), Some(_)) => "broken",
                _ => "open",
            };
            assert_eq!(shown, counted, "after {done:?} of {order:?}");
        }
    }
    assert_eq!(rows, order.len() + 1, "each call, and the end");
    campaign.finish(run, unit, &events);
    let last = loop {
        let [_, kind, data] = live.next().expect("the stream continues");
        match kind.as_str() {
            "state" => {
                let shown: Value = serde_json::from_str(&data).expect("is JSON");
                if html(&shown, "state").contains("failed") {
                    assert!(html(&shown, "verdict").contains("First wrong call"), "{shown}");
                }
            }
            "done" => break live.next(),
            _ => {}
        }
    };
    assert_eq!(last, None, "nothing follows");
}

#[test]
fn a_browser_that_comes_back_gets_the_latest_state_unless_it_has_it() {
    let directory = Directory::new();
    let store = directory.store();
    let campaign = Campaign::create(&store, "abc", "agent", 3, 1);
    let site = directory.serve();
    let (first, _) = state(&mut site.live("0/abc/", None));
    let mut same = site.live("0/abc/", Some(&first));
    assert_eq!(same.next().expect("a comment")[1], ":unchanged");
    campaign.run(0, 0, &campaign.right(0));
    let (second, change) = state(&mut same);
    assert_ne!(first, second);
    assert!(change["parts"]["runs"]["rows"].to_string().contains("passed"), "{change}");
    drop(same);
    // Whatever it had, the first state after a gap is whole.
    for last in [first.as_str(), "nonsense"] {
        let (name, whole) = state(&mut site.live("0/abc/", Some(last)));
        assert_eq!((name.as_str(), &whole["parts"]["runs"]["from"]), (second.as_str(), &Value::from(0)));
    }
    // The page itself names the state that it has.
    assert!(site.get("0/abc/").body.contains(&format!("data-last=\"{second}\"")));
}

#[test]
fn the_last_state_comes_before_the_end() {
    let directory = Directory::new();
    let store = directory.store();
    let campaign = Campaign::create(&store, "abc", "agent", 1, 1);
    let site = directory.serve();
    let mut live = site.live("0/abc/", None);
    state(&mut live);
    campaign.run(0, 0, &campaign.right(0));
    site.0.end();
    let mut kinds = Vec::new();
    let mut figures = String::new();
    while let Some([_, kind, data]) = live.next() {
        if kind == "state" {
            let shown: Value = serde_json::from_str(&data).expect("is JSON");
            figures = html(&shown, "figures").to_owned();
        }
        kinds.push(kind);
    }
    assert_eq!(kinds.last().map(String::as_str), Some("ended"), "{kinds:?}");
    assert!(figures.contains("data-passed=\"1\""), "{figures}");
}

#[test]
fn a_store_that_is_removed_while_it_is_watched_is_said_to_be_gone() {
    let directory = Directory::new();
    let store = directory.store();
    Campaign::create(&store, "abc", "agent", 1, 1);
    let site = directory.serve();
    let mut live = site.live("0/abc/", None);
    state(&mut live);
    drop(store);
    fs::remove_file(directory.file("runs.db")).expect("is removed");
    let [_, kind, data] = live.next().expect("the stream continues");
    assert!(kind == "fault" && data.contains("is not there any more"), "{kind} {data}");
}
