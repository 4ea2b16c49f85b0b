//! `test --shrink`.

use serde_json::{Value, json};

use crate::support::{Place, Run, json_lines};

#[test]
fn a_planted_word_is_shrunk_to_one_sentence_that_fails_again() {
    let place = Place::new();
    let line = "test tools@sim/planted/word --cases 60 --actions 8 --shrink --shrink-max 4 --shrink-to small.jsonl -q";
    let report = place.run(&format!("{line} --json")).code(1).json();
    let shrinking = &report["shrinking"];
    assert_eq!(
        (&shrinking["taken"], &shrinking["reproduced"], &shrinking["distinct"]),
        (&json!(4), &json!(4), &json!(1))
    );
    for failure in shrinking["failures"].as_array().unwrap() {
        assert_eq!(
            (&failure["from"]["actions"], &failure["to"]["actions"]),
            (&json!(8), &json!(2)),
            "{failure}"
        );
        assert_eq!(failure["end"], "minimal");
        assert_eq!((&failure["confirmed"], &failure["confirmations"]), (&json!(5), &json!(5)));
        assert!(failure["paragraph"].as_str().unwrap().to_lowercase().contains("in advance of"), "{failure}");
    }
    // The smallest cases are proper ones, and fail again.
    place.run("read small.jsonl --verify").code(0);
    let again = place.run("test tools@sim/planted/word --from small.jsonl -q --json").code(1).json();
    assert_eq!((&again["cases"], &again["failed"]), (&json!(4), &json!(4)));
    // The same seed gives the same.
    let same = place.run(&format!("{line} --json")).code(1).json();
    assert_eq!(shown(&same), shown(&report));
    let shown = place.run(line).code(1);
    for words in [
        "Shrunk 4 failures",
        "1 distinct",
        "actions 8 to 2, ",
        "The same shape is left of cases 7-41, 7-58, 7-29.",
        "5 more runs 5 failed",
    ] {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
}

#[test]
fn without_failures_nothing_is_shrunk() {
    let place = Place::new();
    let report = place.run("test tools@sim/perfect --cases 5 --shrink -q --json").code(0).json();
    assert_eq!((&report["shrinking"]["taken"], &report["shrinking"]["failures"]), (&json!(0), &json!([])));
    let report: Value = place.run("test tools@sim/perfect --cases 5 -q --json").code(0).json();
    assert_eq!(report.get("shrinking"), None);
}

/// What does not depend on the id of the campaign.
fn shown(report: &Value) -> Value {
    let mut shrinking = report["shrinking"].clone();
    assert!(shrinking["campaign"].as_str().unwrap().ends_with(".shrinking"), "{shrinking}");
    shrinking["campaign"] = Value::Null;
    shrinking
}

#[test]
fn what_was_shrunk_is_in_the_store() {
    let place = Place::new();
    let line = "test tools@sim/planted/word --cases 60 --actions 8 --shrink --shrink-max 2";
    let report = place.run(&format!("{line} --html r.html -q --json")).code(1).json();
    for look in ["runs show last --json", "report last --json", "test --resume last -q --json"] {
        let again: Value = serde_json::from_str(&place.run(look).out).unwrap();
        assert_eq!(again["shrinking"], report["shrinking"], "{look}");
    }
    assert_eq!(json_lines(&place.run("runs list --json").code(0).out).len(), 1);
    place.run("report last --html again.html").code(0);
    for page in ["r.html", "again.html"] {
        let page = std::fs::read_to_string(place.path(page)).unwrap();
        assert!(page.contains("Smallest failing queries"), "{page}");
    }
    // The smallest case and its run can be looked at, but not gone on with by themselves.
    let id = report["shrinking"]["campaign"].as_str().unwrap();
    let failure = &report["shrinking"]["failures"][0];
    let (case, repeat) = (&failure["example"]["case"], &failure["example"]["repeat"]);
    let line = format!("runs show {id} --case {} --repeat {repeat}", case.as_str().unwrap());
    let run = place.run(&line).code(0);
    assert!(run.out.contains("order_error"), "{run:?}");
    let run = place.run(&format!("test --resume {id}")).code(2);
    assert!(run.err.contains("resume that one, `planproof test --resume"), "{run:?}");
    assert_eq!(place.run(&format!("runs show {id}")).code(0).err, "");
    // The command of the page runs it again.
    let lines = place.run(&format!("runs export {id} --format cases --case {}", case.as_str().unwrap()));
    place.write("one.jsonl", &lines.code(0).out);
    let again = place.run("test tools@sim/planted/word --from one.jsonl -q --json").code(1).json();
    assert_eq!((&again["cases"], &again["failed"]), (&json!(1), &json!(1)));
    let unknown = place.run(&format!("runs export {id} --format cases --case 7-0.no")).code(2);
    assert!(unknown.err.contains("has no case \"7-0.no\""), "{unknown:?}");
}

#[test]
fn failures_can_be_shrunk_later_and_in_one_way_only() {
    let place = Place::new();
    let line = "test tools@sim/planted/constraint --cases 20 --actions 6";
    place.run(&format!("{line} -q")).code(1);
    let refused = place.run("test --resume last --shrink-to small.jsonl -q").code(2);
    assert!(refused.err.contains("add --shrink"), "{refused:?}");
    let later = place.run("test --resume last --shrink --shrink-max 2 -q --json").code(1).json();
    assert_eq!(later["shrinking"]["taken"], json!(2));
    let to = place.run("test --resume last --shrink-to small.jsonl -q --json").code(1).json();
    assert_eq!(to["shrinking"], later["shrinking"]);
    assert_eq!(json_lines(&std::fs::read_to_string(place.path("small.jsonl")).unwrap()).len(), 2);
    let other = place.run("test --resume last --shrink --shrink-max 5 -q").code(2);
    assert!(
        other.err.contains("--shrink: the shrinking of the campaign was already started with other options"),
        "{other:?}"
    );
    // With a dissection of the same failures beside it, begun at once or later.
    let both = Place::new();
    let how = "--shrink --shrink-max 2 --dissect --dissect-k 1 --dissect-max 3";
    let report = both.run(&format!("{line} {how} -q --json")).code(1).json();
    assert_eq!(shown(&report), shown(&later));
    let dissected = place.run("test --resume last --dissect --dissect-k 1 --dissect-max 3 -q --json");
    let dissected = dissected.code(1).json();
    assert_eq!(shown(&dissected), shown(&later));
    assert_eq!(dissected["dissection"]["causes"], report["dissection"]["causes"]);
}

#[test]
fn a_recorded_shrinking_is_replayed_and_a_cache_pays_once() {
    let place = Place::new();
    let line = "test tools@sim/planted/coin --cases 20 --actions 4 --shrink --shrink-max 4 --shrink-repeat 2";
    let plain = place.run(&format!("{line} -q --json")).code(1).json();
    let recorded = place.run(&format!("{line} --record r.jsonl -q --json")).code(1).json();
    assert_eq!(shown(&recorded), shown(&plain));
    let replayed = place.run("test --replay r.jsonl --shrink-to small.jsonl -q --json").code(0).json();
    assert_eq!(shown(&replayed), shown(&plain));
    assert_eq!(replayed["cost"], Value::Null);
    let first = place.run(&format!("{line} --cache c.jsonl -q --json")).code(1).json();
    let answers = || {
        let text = std::fs::read_to_string(place.path("c.jsonl")).unwrap();
        text.lines().filter(|line| line.contains("\"type\":\"exchange\"")).count()
    };
    let paid = answers();
    assert!(paid > 100, "{paid}");
    let second = place.run(&format!("{line} --cache c.jsonl -q --json")).code(1).json();
    assert_eq!((shown(&first), shown(&second)), (shown(&plain), shown(&plain)));
    assert_eq!(answers(), paid);
    // One whose recording lacks a verdict is replayed as far as it goes.
    let text = std::fs::read_to_string(place.path("r.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.iter().rposition(|line| line.contains("\"type\":\"verdict\"")).unwrap();
    place.write("cut.jsonl", &(lines[..last].join("\n") + "\n"));
    let cut = place.run("test --replay cut.jsonl -q --json").code(1).json();
    assert_eq!(cut["shrinking"]["unfinished"], json!(1));
}

#[test]
#[ignore = "slow"]
fn a_budget_ends_a_shrinking_and_a_larger_one_finishes_it() {
    let line = "test tools@sim/planted/constraint --cases 20 --actions 7 --shrink";
    let whole = Place::new().run(&format!("{line} -q --json")).code(1).json();
    let spent = whole["tokens"]["input"].as_u64().unwrap() + whole["tokens"]["output"].as_u64().unwrap();
    let place = Place::new();
    let part = place.run(&format!("{line} --max-tokens {} -q --json", spent + 9000)).code(1);
    let report = part.json();
    assert_eq!((&report["not_run"], &report["failed"]), (&json!(0), &whole["failed"]));
    assert!(report["shrinking"]["unfinished"].as_u64().unwrap() > 0, "{report}");
    assert!(
        part.err.contains("failures is not finished. Resume with: planproof test --resume")
            && part.err.contains("the shrinking of "),
        "{part:?}"
    );
    let text = place.run("runs show last").code(0).out;
    assert!(text.contains("Not finished: "), "{text}");
    let refused = place.run("test --resume last -q").code(2);
    assert!(refused.err.contains("set a larger one with --max-tokens"), "{refused:?}");
    let resumed = place.run("test --resume last --max-tokens 9000000 -q --json").code(1).json();
    assert_eq!(shown(&resumed), shown(&whole));
    // Time that is over at once ends it as well.
    let place = Place::new();
    place.run("test tools@sim/planted/constraint --cases 20 --actions 7 -q").code(1);
    let line = "test --resume last --shrink --minutes 0.0000001 -q --json";
    let report = place.run(line).code(1).json();
    assert_eq!(report["ended_by"], json!("0.0000001 minutes"));
    assert!(report["shrinking"]["unfinished"].as_u64() > Some(0), "{report}");
    assert_eq!(shown(&place.run("test --resume last --minutes 9 -q --json").code(1).json()), shown(&whole));
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let place = Place::new();
    for options in [
        "--shrink-max 3",
        "--shrink-to small.jsonl",
        "--shrink --shrink-max 0",
        "--shrink --shrink-repeat 101",
    ] {
        place.run(&format!("test tools@sim/perfect --cases 2 {options}")).code(2);
    }
    place.run("test --replay r.jsonl --shrink").code(2);
}

/// The command that is reported runs the same agent on the case, wherever the store is and whatever model is served to
/// it.
#[test]
fn the_command_that_is_reported_runs_a_smallest_case_again() {
    let place = Place::new();
    let agent = &format!("command:sh -c '{} exit 0'", crate::child::look_at_tools());
    let line = "--serve-model sim/perfect --cases 2 --actions 3 --shrink --shrink-max 1 --iterations 40 --allow-repeats -q";
    let mut words = vec!["test", agent, "--store", "my runs.db", "--html", "r.html"];
    words.extend(line.split(' '));
    let shown = place.run_words(&words).code(1).out;
    let again =
        shown.lines().find_map(|line| line.trim().strip_prefix("Again:")).expect("it is reported").trim();
    assert!(again.contains("--serve-model sim/perfect --iterations 40 --allow-repeats --from - "), "{again}");
    assert_eq!(again.matches("--store 'my runs.db'").count(), 2, "{again}");
    let page = std::fs::read_to_string(place.path("r.html")).unwrap();
    assert!(page.contains("<span>sim/perfect</span> <span>--iterations</span>"), "{page}");
    // As a shell has it. There the command is the one that is tested.
    let tested = place.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(format!("planproof() {{ \"$0\" \"$@\"; }}; {again} --json -q"));
    shell.arg(tested.get_program()).current_dir(place.path("."));
    let run = Run::of(shell, "").code(1).json();
    assert_eq!((&run["cases"], &run["failed"], &run["model"]), (&json!(1), &json!(1), &json!("sim/perfect")));
    // So do those that resume it.
    let id = run_id(&place);
    let refused = place.run_words(&["test", "--resume", &format!("{id}.shrinking"), "--store", "my runs.db"]);
    let hint = format!("resume that one, `planproof test --resume {id} --store 'my runs.db'`");
    assert!(refused.code(2).err.contains(&hint), "{hint}");
}

/// The first campaign of the store.
fn run_id(place: &Place) -> String {
    let runs = place.run_words(&["runs", "list", "--json", "--store", "my runs.db"]).code(0);
    json_lines(&runs.out).last().unwrap()["run"].as_str().unwrap().to_owned()
}
