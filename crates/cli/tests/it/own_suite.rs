//! A suite that planproof does not come with has all that a campaign has: it is `examples/own_suite.rs`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::crash::{Moment, kill};
use crate::support::{Place, Run, json_lines};

/// The example's program, with these words.
fn own(place: &Place, words: &[&str]) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_planproof")).with_file_name("examples").join("own_suite");
    place.command_of(&program, words)
}

fn run(place: &Place, line: &str) -> Run {
    Run::of(own(place, &line.split_whitespace().collect::<Vec<_>>()), "")
}

#[test]
fn a_suite_from_outside_is_killed_resumed_replayed_compared_and_reported() {
    let place = Place::new();
    // It is right about the seventh case alone.
    place.write("agent.sh", "sleep 0.1; echo 14");
    let slowly = ["bench", "doubles", "command:sh agent.sh", "--limit", "12", "--concurrency", "2"];
    kill(&place, own(&place, &slowly), &Moment::AfterProgress(Duration::ZERO));
    let resumed = run(&place, "bench doubles --resume last --json --quiet").code(1).json();
    assert_eq!([&resumed["cases"], &resumed["passed"]], [12, 1], "{resumed}");

    let good = "bench doubles direct@sim/gold --set sim.noise=0.3 --json --quiet";
    let recorded = run(&place, &format!("{good} --record gold.jsonl")).code(1).json();
    let replayed = run(&place, "bench doubles --replay gold.jsonl --json --quiet").code(0).json();
    assert_eq!(replayed["passed"], recorded["passed"]);
    run(&place, "bench doubles cot@sim/gold --quiet --limit 40").code(0);
    let ids: Vec<Value> = json_lines(&run(&place, "runs list --json").out);
    let better = run(&place, &format!("report {} {} --json", ids[1]["run"], ids[0]["run"]).replace('"', ""));
    assert_eq!(better.code(0).json()["changes"]["fixed"], recorded["failed"]);

    let files = "--html r.html --csv r.csv --junit r.xml --inspect r.eval --step-summary r.md";
    run(&place, &format!("report {} {files}", ids[1]["run"].as_str().unwrap())).code(0);
    for file in ["r.html", "r.csv", "r.xml", "r.md"] {
        let text = fs::read_to_string(place.path(file)).unwrap();
        assert!(text.contains("not-double"), "{file}: {text}");
    }
    assert!(fs::metadata(place.path("r.eval")).unwrap().len() > 0);
    assert!(run(&place, "bench").code(0).out.contains("twice a number"));
}

#[test]
fn a_suite_from_outside_has_options_and_a_folder_of_data() {
    let place = Place::new();
    for (file, text) in
        [("numbers/a.txt", "3 5"), ("numbers/b.txt", "8"), ("planproof.toml", "[bench]\nat-least = 8\n")]
    {
        fs::create_dir_all(place.path("numbers")).unwrap();
        place.write(file, text);
    }
    let report = |line: &str| {
        run(&place, &format!("bench doubles direct@sim/gold {line} --json --quiet")).code(0).json()
    };
    // Eight to forty, from the configuration file.
    assert_eq!(report("")["cases"], 33);
    assert_eq!(report("--data numbers")["cases"], 1);
    assert_eq!(report("--data numbers --at-least 5 --politely")["cases"], 2);
    let cases = run(&place, "runs export last --format cases").code(0).out;
    assert_eq!(cases, "5 please\n8 please\n");
    // What was chosen and asked is in the cases that the campaign keeps.
    run(&place, "bench doubles --resume last --quiet").code(0);
    for (line, words) in [
        ("bench gsm8k direct@sim/gold --at-least 3", "--at-least is for doubles here, not for gsm8k"),
        (
            "bench doubles direct@sim/gold --level 3",
            "--level is for apibank and travelplanner here, not for doubles",
        ),
        ("bench doubles --resume last --politely", "cannot be used with"),
        ("bench doubles direct@sim/gold --at-least none", "--at-least"),
        ("bench doubles direct@sim/gold --data agents", "cannot read agents"),
        ("bench doubles two-stage@sim/gold", "two-stage is for travelplanner, whose tools it works with"),
    ] {
        let refused = run(&place, line).code(2);
        assert!(refused.err.contains(words), "{line}: {}", refused.err);
    }
    let help = run(&place, "bench --help").code(0).out;
    assert!(help.contains("Take only numbers from this one on (`doubles`)"), "{help}");
}

#[test]
fn a_suite_from_outside_has_a_sequel() {
    let place = Place::new();
    let test = "bench doubles direct@sim/gold --set sim.noise=0.5 --limit 12 --json --quiet";
    let report = run(&place, &format!("{test} --next 3 --record next.jsonl")).code(1).json();
    let failed = report["failed"].as_u64().unwrap();
    let asked = report["next"]["asked"].as_u64().unwrap();
    assert!(failed > 0 && asked >= failed && asked <= 3 * failed, "{report}");
    // It is in the store, in what is read back, in its recording, and in its own place of the list.
    let shown = run(&place, "runs show last --json").code(0).json();
    assert_eq!(shown["next"], report["next"]);
    let replayed = run(&place, "bench doubles --replay next.jsonl --json --quiet").code(0).json();
    assert_eq!(replayed["next"], report["next"]);
    assert_eq!(json_lines(&run(&place, "runs list --json").code(0).out).len(), 2);
    // It can follow later, and only once.
    run(&place, test).code(1);
    let later = run(&place, "bench doubles --resume last --next 3 --json --quiet").code(1).json();
    assert_eq!(later["next"], report["next"]);
    let other = run(&place, "bench doubles --resume last --next 2").code(2);
    assert!(
        other.err.contains("the next of the campaign was already started with other options"),
        "{other:?}"
    );
    let none = run(&place, "bench gsm8k direct@sim/gold --next 2").code(2);
    assert!(none.err.contains("--next is for doubles here, not for gsm8k"), "{none:?}");
}
