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
    place.run("test --replay r.jsonl -q --store b.db").code(1);
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
fn a_missed_correction_reads_well() {
    let place = Place::new();
    let run =
        place.run("test tools@sim/forgets-corrections --turns 2 --cases 12 --seed 7 --actions 3..4").code(1);
    insta::assert_snapshot!(
        run.out
            .split("\nFinding 2")
            .next()
            .unwrap()
            .lines()
            .skip(3)
            .filter(|line| !line.contains("time") && !line.contains("see it"))
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn what_cannot_have_several_messages_is_refused() {
    let place = Place::new();
    let refused = [
        "test tools@sim/perfect --turns 2 --time",
        "test tools@sim/perfect --turns 2 --infeasible 0.2",
        "test tools@sim/perfect --turns 1..2",
        "test tools@sim/perfect --turns 4 --actions 3",
        "test react@sim/perfect --turns 2 --cases 5",
        "test repair:tools@sim/perfect --turns 2 --cases 5",
        "test tools@sim/perfect --turns 2 --cases 5 --faults transient=0.2",
    ];
    let errors: Vec<String> = refused
        .iter()
        .map(|arguments| format!("{arguments}\n{}", place.run(arguments).code(2).err))
        .collect();
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn what_shrinks_and_dissects_leaves_them_out() {
    let place = Place::new();
    let test = "--turns 2 --cases 6 --seed 7";
    let shrunk = place.run(&format!("test tools@sim/forgets-corrections {test} --shrink")).code(1);
    assert!(shrunk.out.contains("arrives in several messages"), "{}", shrunk.out);
    let dissected = place.run(&format!("test tools@sim/forgets-corrections {test} --dissect")).code(1);
    assert!(dissected.out.contains("arrives in several messages"), "{}", dissected.out);
}
