//! `--replay` beside the options that a recording was made with, what it exits with, and what gates it.

use std::fs;

use crate::recording::{agent_command, with_agent};
use crate::support::Place;

/// Fourteen careless runs, some of which fail, with options of every family.
const RECORDED: &str = "test tools@sim/careless --cases 14 --actions 3..6 --distractors 1 --seed 3 --first 7 --iterations 40 \
                        --allow-repeats --repeat 2";

#[test]
fn options_that_agree_with_the_recording_pass() {
    let place = Place::new();
    place.run(&format!("{RECORDED} --record r.jsonl -q")).code(1);
    // All at once, as a script has them that records and replays with one list of options.
    place.run(&format!("{RECORDED} --replay r.jsonl -q")).code(0);
    // And those that say nothing of what was recorded.
    let others = "--minutes 5 --max-cost 1 --max-tokens 9 --concurrency 2 --timeout 60 --requests-per-second 9 --attempts 2 \
                  --request-timeout 30 --junit j.xml --html p.html --findings 1 --store other.db";
    place.run(&format!("test --replay r.jsonl {others} -q")).code(0);
    assert!(place.path("other.db").exists() && place.path("j.xml").exists());
    // A file of cases, topics, and the options of a search.
    place.write("cases.jsonl", &place.run("synth --count 3 --seed 11").code(0).out);
    place.run("test tools@sim/perfect --from cases.jsonl --record f.jsonl -q").code(0);
    place.run("test tools@sim/perfect --from cases.jsonl --replay f.jsonl -q").code(0);
    place.run("test tools@sim/perfect --cases 3 --replay f.jsonl -q").code(0);
    let search =
        "limit tools@sim/perfect --from 2 --to 3 --cases-max 4 --threshold 29% --distractors 1 --seed 5";
    place.run(&format!("{search} --record l.jsonl -q")).code(0);
    place.run(&format!("{search} --replay l.jsonl -q")).code(0);
    let time =
        "test tools@sim/perfect --cases 2 --time --day 07:30-19:00 --durations 10..50 --restarts-max 3";
    place.run(&format!("{time} --record t.jsonl -q")).code(0);
    place.run(&format!("{time} --replay t.jsonl -q")).code(0);
    let found =
        "test tools@sim/in-order --cases 4 --dissect --dissect-k 1 --shrink --shrink-max 1 --shrink-runs 9";
    place.run(&format!("{found} --record d.jsonl -q")).code(1);
    place.run(&format!("{found} --replay d.jsonl -q")).code(0);
}

#[test]
fn options_that_contradict_the_recording_are_one_error_with_both_values() {
    let place = Place::new();
    place.run(&format!("{RECORDED} --record r.jsonl -q")).code(1);
    place.write("cases.jsonl", &place.run("synth --count 3 --seed 11").code(0).out);
    for (options, contradictions) in [
        ("--cases 15", "recorded with --cases 14, now with --cases 15"),
        ("--seed 4", "recorded with --seed 3, now with --seed 4"),
        ("--actions 4", "recorded with --actions 3..6, now with --actions 4"),
        ("--time", "recorded without --time, now with --time"),
        ("--topic chef", "recorded without --topic, now with --topic chef"),
        ("--iterations 50", "recorded with --iterations 40, now with --iterations 50"),
        ("--allow-distractors", "recorded without --allow-distractors, now with --allow-distractors"),
        ("--repeat 3", "recorded with --repeat 2, now with --repeat 3"),
        ("--infeasible 0.5", "recorded without --infeasible, now with --infeasible 0.5"),
        ("--dissect", "recorded without --dissect, now with --dissect"),
        ("--serve-model sim/x", "recorded without --serve-model, now with --serve-model sim/x"),
        ("--from cases.jsonl", "recorded with 14 cases that are not the 3 of --from cases.jsonl now"),
        (
            "--seed 4 --cases 9 --allow-repeats",
            "recorded with --seed 3, now with --seed 4; recorded with --cases 14, now with --cases 9",
        ),
        ("--set test.cases=2", "recorded with --cases 14, now with --cases 2"),
    ] {
        let run = place.run(&format!("test --replay r.jsonl {options}")).code(2);
        let expected = format!(
            "error: the recording r.jsonl does not match the command line: {contradictions}; leave out what \
             contradicts it, or record again\n"
        );
        assert!(run.err.starts_with(&expected), "{options}: {run:?}");
    }
    let run = place.run("test tools@sim/clumsy --replay r.jsonl --cases 14").code(2);
    assert!(
        run.err.contains(": recorded was the agent tools@sim/careless, now tools@sim/clumsy; "),
        "{run:?}"
    );
    place.run("bench gsm8k direct@sim/gold --samples 3 --limit 2 --record s.jsonl -q");
    let run = place.run("bench gsm8k --replay s.jsonl --samples 5").code(2);
    assert!(run.err.contains(": recorded with --samples 3, now with --samples 5; "), "{run:?}");
    place.run("test --replay r.jsonl --record x.jsonl").code(2);
    // The file is for all campaigns; the recording that is named knows its own options.
    place.write("planproof.toml", "seed = 9\n[test]\ncases = 30\nminutes = 5\n");
    place.run("test --replay r.jsonl -q").code(0);
}

#[test]
fn a_replay_that_is_as_recorded_passes_unless_more_is_asked_for() {
    let place = Place::new();
    let recorded = place.run("test tools@sim/in-order --cases 20 --record r.jsonl -q --json").code(1).json();
    let replayed = place.run("test --replay r.jsonl").code(0);
    assert!(replayed.out.contains("\nFinding 1: "), "what failed is shown: {replayed:?}");
    let failed = recorded["failed"].as_u64().unwrap();
    let said = format!("as recorded: {failed} runs of 20 failed then and now; --require-pass exits with 1\n");
    assert!(replayed.err.ends_with(&said), "{replayed:?}");
    place.run("test --replay r.jsonl --require-pass -q").code(1);
    let passed = recorded["passed"].as_u64().unwrap();
    for (least, code, verdict) in [("100%", 1, "is below"), ("1", 0, "reaches")] {
        let run = place.run(&format!("test --replay r.jsonl --success-min {least}")).code(code);
        let least = least.trim_end_matches('%');
        let said = format!("{passed} of 20 scored runs passed, which {verdict} --success-min {least}%\n");
        assert!(run.err.ends_with(&said), "{run:?}");
    }
    place.run("test tools@sim/in-order --cases 20 --require-pass -q").code(1);
    place.run("test tools@sim/perfect --cases 2 --require-pass -q").code(0);
    // A replay that its own budget ends did not show that all is as recorded.
    // How many cases begin before that budget is known to have ended depends on the machine.
    let ended = place.run("test --replay r.jsonl --minutes 0.0000001 -q --json");
    let report = ended.json();
    assert!(report["not_run"].as_u64() > Some(0), "{ended:?}");
    let failed_there = report["failed"].as_u64() > Some(0);
    ended.code(if failed_there { 1 } else { 3 });
    // A recording that was ended by a budget is as whole as one that was not.
    place
        .run("test tools@sim/perfect --cases 20 --concurrency 1 --max-tokens 9000 --record b.jsonl -q")
        .code(3);
    let replayed = place.run("test --replay b.jsonl -q --json").code(0).json();
    assert!(replayed["not_run"].as_u64() > Some(0), "{replayed}");
    place.run("test --replay b.jsonl --require-pass -q").code(3);
    // One that is cut off is not.
    let text = fs::read_to_string(place.path("r.jsonl")).unwrap();
    let cut: Vec<&str> = text.lines().take(text.lines().count() - 1).collect();
    place.write("cut.jsonl", &(cut.join("\n") + "\n"));
    place.run("test --replay cut.jsonl -q").code(1);
}

#[test]
fn a_recording_has_no_more_runs_of_a_case_than_a_campaign() {
    let place = Place::new();
    place.run("test tools@sim/perfect --cases 2 --repeat 2 --record r.jsonl -q").code(0);
    let recorded = fs::read_to_string(place.path("r.jsonl")).unwrap();
    for repeats in ["0", "101", "4294967295"] {
        place.write("r.jsonl", &recorded.replacen("\"repeats\":2", &format!("\"repeats\":{repeats}"), 1));
        let run = place.run("test --replay r.jsonl -q").code(2);
        assert!(
            run.err.contains(&format!("it has {repeats} runs of each case; 1 to 100 are possible")),
            "{run:?}"
        );
    }
}

#[test]
fn what_may_differ_is_left_out_of_the_comparison() {
    let place = Place::new();
    let agent = agent_command();
    let test = ["test", &agent, "--cases", "3", "-q", "--replay", "r.jsonl"];
    let but = |file: &'static str| [&test[..], &["--may-differ", file]].concat();
    let record =
        ["test", &agent, "--cases", "3", "-q", "--serve-model", "sim/perfect", "--record", "r.jsonl"];
    with_agent(&place, &record, "On 2026-11-20 in /builds/ann/work, please:").code(1);
    let (another_day, another_way) =
        ("On 2026-11-23 in /builds/ci/7, please:", "On 2026-11-23 in /builds/ci/7, do:");
    place.write("differ.txt", "# days and folders\n\\d{4}-\\d\\d-\\d\\d\n/builds/[\\w/]+\n");
    with_agent(&place, &test, another_day).code(3);
    with_agent(&place, &but("differ.txt"), another_day).code(0);
    // What differs besides is reported, and that alone.
    let run = with_agent(&place, &but("differ.txt"), another_way).code(3);
    assert!(run.err.contains("recorded \"... differ 2], please:"), "{run:?}");
    assert!(run.err.contains("now \"... differ 2], do:") && !run.err.contains("2026"), "{run:?}");
    // One pattern is not enough.
    place.write("days.txt", "\\d{4}-\\d\\d-\\d\\d\n");
    let run = with_agent(&place, &but("days.txt"), another_day).code(3);
    assert!(run.err.contains("/builds/ann/work") && run.err.contains("/builds/ci/7"), "{run:?}");
    // It is kept, and mistakes in it are reported.
    let long = format!("a\n{}\n", "b".repeat(10_001));
    for (text, error) in [
        ("a\n(\n", "line 2: unclosed group"),
        ("\n", "it holds 0 patterns; a file has 1 to 100"),
        (&long, "line 2: a pattern has at most 10000 bytes"),
    ] {
        place.write("bad.txt", text);
        let run = with_agent(&place, &but("bad.txt"), another_day).code(2);
        assert_eq!(run.err, format!("error: --may-differ bad.txt: {error}\n"));
    }
    place.run("test tools@sim/perfect --cases 1 --may-differ differ.txt").code(2);
}
