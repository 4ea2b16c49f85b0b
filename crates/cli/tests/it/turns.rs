//! Orders whose text arrives in several messages: on the command line, in the store, in recordings and in files.

use std::fs;

use crate::support::Place;

const TURNS: &str = "--turns 2..3 --cases 30 --seed 7";

#[test]
fn whoever_does_what_is_due_passes() {
    let place = Place::new();
    for model in ["gold", "perfect", "parallel"] {
        let run = place.run(&format!("test tools@sim/{model} {TURNS} --distractors 2 -q")).code(0);
        assert!(run.out.contains("30 of 30"), "{}", run.out);
    }
}

#[test]
fn a_campaign_is_stored_recorded_and_replayed() {
    let place = Place::new();
    let test = format!("{TURNS} --record r.jsonl --store a.db");
    place.run(&format!("test tools@sim/forgets-corrections {test} --html p.html --junit j.xml")).code(1);
    let html = fs::read_to_string(place.path("p.html")).unwrap();
    assert!(html.contains("missed_correction") && html.contains("[message 2]"));
    place.run("test --replay r.jsonl -q --store b.db").code(0);
    let other = place.run("test --replay r.jsonl --turns 2 -q --store b.db").code(2);
    assert!(other.err.contains("turns"), "{}", other.err);
    let cases = place.run("runs export last --format cases --store a.db").code(0).out;
    assert!(cases.contains("\"turns\":{\"messages\""));
    place.write("cases.jsonl", &cases);
    place.run("read cases.jsonl --verify").code(0);
    place.run("test tools@sim/perfect --from cases.jsonl --store c.db -q").code(0);
    place.run("test tools@sim/perfect --like last --store a.db -q").code(0);
    assert_eq!(place.run("runs export last --format cases --store c.db").code(0).out, cases);
    let traces = place.run("runs export last --format traces --store c.db").code(0).out;
    assert!(traces.contains("until my next message"));
}

#[test]
fn a_missed_correction_is_quoted_and_put_right_turn_by_turn() {
    let place = Place::new();
    let run =
        place.run("test tools@sim/forgets-corrections --turns 2 --cases 12 --seed 7 --actions 3..4").code(1);
    for words in ["missed_correction", "[message 2] «", "in turn 1", "right:", "until my next"] {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
}

#[test]
fn what_cannot_have_several_messages_is_refused() {
    let place = Place::new();
    for (arguments, error) in [
        ("--turns 2 --time", "'--turns <N..M>' cannot be used with '--time'"),
        ("--turns 2 --infeasible 0.2", "cannot be used with"),
        ("--turns 1..2", "turns is 1..2; it must be a number or a rising range within 2..5"),
        ("--turns 4 --actions 3", "--actions is 3; it must be at least 7 for 4 messages"),
        ("--turns 2 --cases 5 --faults transient=0.2", "several messages or a conflict cannot fail"),
    ] {
        let run = place.run(&format!("test tools@sim/perfect {arguments}")).code(2);
        assert!(run.err.contains(error), "{arguments}: {}", run.err);
    }
    let react = place.run("test react@sim/perfect --turns 2 --cases 5").code(2);
    assert!(react.err.contains("has later messages of the user"), "{}", react.err);
    let guarded = place.run("test repair:tools@sim/perfect --turns 2 --cases 5").code(2);
    assert!(guarded.err.contains("has no guard for these cases"), "{}", guarded.err);
}

#[test]
fn what_shrinks_and_dissects_leaves_them_out() {
    let place = Place::new();
    let test = "--turns 2 --cases 6 --seed 7";
    let shrunk = place.run(&format!("test tools@sim/forgets-corrections {test} --shrink")).code(1);
    assert!(shrunk.out.contains("arrives in several messages"), "{}", shrunk.out);
    let dissected = place.run(&format!("test tools@sim/forgets-corrections {test} --dissect")).code(1);
    assert!(dissected.out.contains("undecided"), "{}", dissected.out);
    assert!(dissected.out.contains("several messages"), "the reason: {}", dissected.out);
}
