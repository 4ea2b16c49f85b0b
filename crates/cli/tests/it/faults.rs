//! Tools that fail: on the command line, in a recording and in files of cases.

use std::fs;

use crate::support::Place;

const FAULTS: &str = "transient=0.3,permanent=0.1,empty=0.05,vanish=0.05";

#[test]
fn every_agent_meets_the_same_world() {
    let place = Place::new();
    let test = format!("--cases 30 --actions 3..6 --seed 7 --faults {FAULTS}");
    let run =
        place.run(&format!("test tools@sim/perfect {test} --repeat 2 --record r.jsonl --store a.db")).code(0);
    assert!(run.out.contains("60 of 60"), "{}", run.out);
    // With the options that were recorded or without them, and not with others.
    place.run("test --replay r.jsonl -q --store b.db").code(0);
    place.run(&format!("test tools@sim/perfect {test} --repeat 2 --replay r.jsonl -q --store b.db")).code(0);
    let other = place.run("test --replay r.jsonl --faults transient=0.5 -q --store b.db").code(2);
    assert!(other.err.contains("recorded with other faults of tools"), "{}", other.err);
    // The same cases again, and from a file, have the same failures; another seed has others.
    let first = place.run("runs export last --format cases --store a.db").code(0).out;
    assert!(first.contains("\"faults\""));
    place.write("cases.jsonl", &first);
    place.run("test tools@sim/perfect --from cases.jsonl --store c.db -q").code(0);
    place.run("test tools@sim/perfect --like last --store a.db -q").code(0);
    assert_eq!(place.run("runs export last --format cases --store c.db").code(0).out, first);
    let traces = place.run("runs export last --format traces --store c.db").code(0).out;
    assert!(traces.contains("This is temporary: try again."));
}

#[test]
fn each_mistake_is_named() {
    let place = Place::new();
    let run = place
        .run("test tools@sim/no-retry --cases 12 --seed 7 --actions 3..4 --faults transient=0.4")
        .code(1);
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
    let page = place
        .run("test tools@sim/ignores-failures --cases 12 --seed 7 --faults permanent=0.4 --html p.html")
        .code(1);
    assert!(page.out.contains("went_on_after_failure"), "{}", page.out);
    let html = fs::read_to_string(place.path("p.html")).unwrap();
    assert!(html.contains("No longer due") && html.contains("had failed"));
}

#[test]
#[ignore = "slow"]
fn verdicts_do_not_depend_on_how_a_failure_is_sent() {
    let place = Place::new();
    let classes = |model: &str, form: &str| {
        let line = format!(
            "test tools@sim/{model} --cases 12 --seed 7 --actions 3..4 --faults \
             transient=0.4,permanent=0.1,vanish=0.05{form} --record r.jsonl --json -q"
        );
        let run = place.run(&line);
        let replayed = place.run("test --replay r.jsonl --json -q").code(0).json();
        fs::remove_file(place.path("r.jsonl")).unwrap();
        let report = run.json();
        assert_eq!(replayed["classes"], report["classes"], "{model} {form}");
        (report["passed"].clone(), report["classes"].clone())
    };
    for model in ["perfect", "no-retry", "ignores-failures", "gives-up", "retries-forever"] {
        let as_results = classes(model, "");
        for form in [",as=rpc", ",as=closed", ",as=timeout:1ms", ",as=mixed:1ms"] {
            assert_eq!(classes(model, form), as_results, "{model} {form}");
        }
    }
    for seed in 1..4 {
        let line = format!("bench scenario tools@sim/gold --faults {FAULTS},as=mixed:1ms --seed {seed} -q");
        place.run(&line).code(0);
    }
}

#[test]
fn cases_that_cannot_have_faults_are_one_error() {
    let place = Place::new();
    for (line, expected) in [
        ("test tools@sim/perfect --time --faults transient=0.1", "with clock times"),
        ("test tools@sim/perfect --infeasible 1 --faults transient=0.1", "or a conflict cannot fail"),
        ("bench gsm8k cot@sim/gold --faults transient=0.1", "the tools of the suite gsm8k cannot fail"),
        ("test tools@sim/perfect --faults transient", "`transient` is not NAME=SHARE"),
        ("test tools@sim/perfect --faults often=1", "`often=1` names none of"),
        ("test tools@sim/perfect --faults slow=1:1h", "has no delay such as"),
        (
            "test tools@sim/perfect --faults transient=1,as=loud",
            "write as=result, rpc, closed, timeout or mixed",
        ),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(expected), "{line}: {}", run.err);
    }
    place.run("limit tools@sim/perfect --faults transient=0.1").code(2);
    // A shop of our own, in which everything fails.
    for seed in 1..4 {
        place.run(&format!("bench scenario tools@sim/gold --faults {FAULTS} --seed {seed} -q")).code(0);
    }
}

/// Nobody can pass on a value that no answer had.
#[test]
fn a_value_that_was_lost_in_an_empty_answer_is_not_demanded() {
    let place = Place::new();
    place.write("release.json", include_str!("../../../../examples/own-tools/release.json"));
    let line = "test tools@sim/perfect --topics release.json --cases 60 --seed 7 -q --faults";
    place.run(&format!("{line} empty=0.5")).code(0);
    place.run(&format!("{line} transient=0.2,permanent=0.1,empty=0.1,vanish=0.05")).code(0);
    // What was returned is demanded as ever.
    let careless = line.replace("perfect", "careless");
    let run = place.run(&format!("{careless} empty=0.1 --actions 6")).code(1);
    assert!(run.out.contains("wrong_value"), "{}", run.out);
}
