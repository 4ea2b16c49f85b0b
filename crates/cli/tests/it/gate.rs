//! Campaigns that are compared with an earlier one: `--baseline`, `--fail-if-worse`, `--success-min P%:proved`.

use std::fs;

use serde_json::json;

use crate::support::Place;

#[test]
fn a_campaign_is_held_to_the_newest_finished_one_with_a_label() {
    let place = Place::new();
    place.run("test tools@sim/perfect --cases 120 --label main -q").code(0);
    let worse = place.run("test tools@sim/careless --cases 120 --baseline main").code(1);
    assert!(worse.out.starts_with("worse: fixed 0, broke "), "{worse:?}");
    assert!(worse.out.lines().nth(1).unwrap().contains("Broken: 7-9 (order_error), "), "{worse:?}");
    // The label is given again, and the newest one counts.
    place.run("test tools@sim/careless --cases 120 --label main -q").code(1);
    let same =
        "test tools@sim/careless --cases 120 --baseline main --json -q --junit j.xml --step-summary s.md";
    let report = place.run(same).code(0).json();
    assert_eq!(report["gate"]["answer"], "not_worse");
    assert_eq!((&report["gate"]["broken"], &report["gate"]["cases"]), (&json!(0), &json!(120)));
    let headline = report["gate"]["headline"].as_str().unwrap();
    let text = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    assert!(text("j.xml").contains(&format!("name=\"planproof.gate\" value=\"{headline}\"")));
    assert!(text("s.md").contains("\n\n**not worse"), "{}", text("s.md"));
    let few = place.run("test tools@sim/careless --cases 20 --baseline main -q").code(3);
    assert!(few.out.starts_with("cannot tell: ") && few.out.contains(" would do\n"), "{few:?}");
    // A wide margin tolerates what a narrow one does not.
    place.run("test tools@sim/careless --cases 20 --baseline main --margin 30% -q").code(0);
}

#[test]
fn a_baseline_file_is_small_and_the_same_each_time() {
    let place = Place::new();
    place.run("test tools@sim/careless --cases 100 -q").code(1);
    place.run("runs export last --baseline a.json").code(0);
    place.run("test tools@sim/careless --cases 100 -q").code(1);
    let out = place.run("runs export last --baseline -").code(0).out;
    let text = fs::read_to_string(place.path("a.json")).unwrap();
    assert_eq!(text, out);
    assert!(text.len() < 100 * 200 && text.lines().count() < 120, "{} {text}", text.len());
    // No words of a case: those of the first query.
    let case = place.run("runs export last --format cases --case 7-0").code(0).json();
    let actions = case["actions"].as_array().unwrap();
    assert!(
        actions.len() > 1 && actions.iter().all(|action| !text.contains(action["text"].as_str().unwrap()))
    );
    place.run("test tools@sim/careless --cases 100 --baseline a.json -q --store other.db").code(0);
    let worse = place.run("report last last --fail-if-worse").code(0);
    assert!(worse.out.starts_with("not worse: "), "{worse:?}");
}

#[test]
#[ignore = "slow"]
fn as_many_cases_are_run_as_it_takes() {
    let place = Place::new();
    place.run("test tools@sim/careless --cases 600 --label main -q").code(1);
    let auto = |agent: &str, status: i32| {
        place.run(&format!("test {agent} --cases auto --baseline main --json -q")).code(status).json()
    };
    let report = auto("tools@sim/in-order", 1);
    assert_eq!((&report["cases"], &report["not_run"]), (&json!(75), &json!(0)));
    assert_eq!((&report["gate"]["answer"], &report["gate"]["looks"]), (&json!("worse"), &json!([75])));
    let report = auto("tools@sim/careless", 0);
    let cases = report["cases"].as_u64().unwrap();
    assert_eq!(
        (&report["gate"]["answer"], report["gate"]["cases"].as_u64()),
        (&json!("not_worse"), Some(cases))
    );
    assert!([75, 150, 300, 600].contains(&cases));
    // What was not needed is not missing.
    let shown = place.run("runs show last --json").code(0);
    assert_eq!(shown.json()["cases"], json!(cases));
    assert!(!shown.err.contains("not finished"), "{shown:?}");
    assert_eq!(place.run("runs show last --judge-again --json -q").code(0).json()["cases"], json!(cases));
    place.run("runs export last --baseline b.json").code(0);
    // A resumed one needs the baseline again, and has its answer already.
    let resumed = place.run("test --resume last").code(2);
    assert!(resumed.err.contains("name it with --baseline"), "{resumed:?}");
    let again = place.run("test --resume last --baseline main --json -q").code(0);
    assert_eq!(again.json()["cases"], json!(cases));
    for (line, error) in [
        ("test tools@sim/careless --cases auto", "name a --baseline"),
        ("test tools@sim/careless --cases auto --baseline b.json --record r.jsonl", "cannot be recorded"),
        ("test tools@sim/careless --cases 0", "it must be a whole number from 1 to 100000"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(error), "{run:?}");
    }
}

#[test]
fn a_benchmark_runs_as_many_cases_as_it_takes_as_well() {
    let place = Place::new();
    let line =
        |n: u32| json!({"question": format!("What is {n} and 1?"), "answer": format!("#### {}", n + 1)});
    let data: Vec<String> = (0..400).map(|n| line(n).to_string()).collect();
    place.write("data.jsonl", &data.join("\n"));
    place.run("bench gsm8k direct@sim/gold --data data.jsonl --label main -q").code(0);
    let auto = |agent: &str, more: &str, status: i32| {
        let line =
            format!("bench gsm8k {agent} --data data.jsonl --cases auto --baseline main --json -q {more}");
        place.run(&line).code(status).json()
    };
    let report = auto("direct@sim/gold/0.5", "", 1);
    assert_eq!((&report["gate"]["answer"], &report["gate"]["looks"]), (&json!("worse"), &json!([50])));
    let report = auto("direct@sim/gold", "--margin 10%", 0);
    let cases = report["cases"].as_u64().unwrap();
    assert!(report["gate"]["answer"] == "not_worse" && cases < 400, "{report}");
    // No more than the baseline has.
    place.run("bench gsm8k direct@sim/gold --data data.jsonl --cases 60 --label few -q").code(0);
    let few =
        place.run("bench gsm8k direct@sim/gold/0.1 --data data.jsonl --cases auto --baseline few --json -q");
    assert_eq!(few.json()["gate"]["cases"], json!(60), "{few:?}");
    for (line, error) in [
        ("bench gsm8k direct@sim/gold --cases auto", "name a --baseline"),
        ("bench gsm8k direct@sim/gold cot@sim/gold --cases auto", "compares one agent with a baseline"),
        ("bench gsm8k direct@sim/gold --cases 5 --limit 5", "cannot be used with"),
        ("bench gsm8k --resume last --cases 5", "cannot be used with"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(error), "{run:?}");
    }
}

#[test]
fn what_cannot_be_a_baseline_is_refused_before_anything_is_run() {
    let place = Place::new();
    let none = place.run("test tools@sim/careless --cases 10 --baseline main").code(2);
    assert!(none.err.contains("and no run store .planproof/runs.db with"), "{none:?}");
    place.run("test tools@sim/perfect --cases 10 -q").code(0);
    place.run("runs export last --baseline a.json").code(0);
    let seeds = place.run("test tools@sim/careless --cases 10 --seed 8 --baseline a.json").code(2);
    assert!(
        seeds.err.contains("they have no case in common; the baseline was drawn with the seed 7"),
        "{seeds:?}"
    );
    let rules = place.run("test tools@sim/careless --cases 10 --allow-repeats --baseline a.json").code(2);
    assert!(
        rules.err.contains("repeated_fails is true in the baseline, and false in the campaign"),
        "{rules:?}"
    );
    for (name, error) in [
        ("main", "in the run store .planproof/runs.db no campaign with this label or id"),
        ("gone.json", "--baseline gone.json: there is no such file"),
    ] {
        let run = place.run(&format!("test tools@sim/careless --cases 10 --baseline {name}")).code(2);
        assert!(run.err.contains(error), "{run:?}");
    }
    fs::write(place.path("half.json"), &fs::read_to_string(place.path("a.json")).unwrap()[..300]).unwrap();
    let half = place.run("test tools@sim/careless --cases 10 --baseline half.json").code(2);
    assert!(half.err.starts_with("error: --baseline half.json: line 1"), "{half:?}");
    // None of them left a campaign.
    assert_eq!(place.run("runs list --json -q").code(0).out.lines().count(), 1);
    let over = place.run("test tools@sim/careless --cases 10 --baseline a.json --junit a.json").code(2);
    assert!(over.err.contains("a.json is the file of --baseline"), "{over:?}");
    let search = "limit tools@sim/perfect --to 2 --cases-per-pair 1 -q";
    place.run(search).code(0);
    let limit = place.run("runs export last --baseline b.json").code(2);
    assert!(limit.err.contains("is a search for a limit"), "{limit:?}");
    let idle = place.run("test tools@sim/perfect --cases 10 --margin 3%").code(2);
    assert!(idle.err.contains("--margin has no effect on `planproof test` without --baseline"), "{idle:?}");
}

/// Whatever says before the first run that there will be no answer ends the command then: nothing is stored.
#[test]
fn a_baseline_that_cannot_give_an_answer_is_refused_before_anything_is_run() {
    let place = Place::new();
    place.run("test tools@sim/perfect --cases 100 --label main -q").code(0);
    place.run("runs export last --baseline a.json").code(0);
    place.run("test tools@sim/perfect --cases 60 --label few -q").code(0);
    let good = fs::read_to_string(place.path("a.json")).unwrap();
    place.write("effort.json", &good.replacen("\"calls\":", "\"calls\":-", 1));
    place.write("digest.json", &good.replacen("\"digest\":\"", "\"digest\":\"zz", 1));
    place.write("repeats.json", &good.replace("\"repeats\": 1", "\"repeats\": 0"));
    place.write(
        "unscored.json",
        &good.replace("\"runs\":1", "\"runs\":0,\"unscored\":1").replace("\"passed\":1", "\"passed\":0"),
    );
    place.write("empty.json", "");
    place.write("list.json", "[]");
    fs::create_dir(place.path("folder")).unwrap();
    // Somebody changed a figure of a run in the store.
    fs::copy(place.path(".planproof/runs.db"), place.path("damaged.db")).unwrap();
    let store = rusqlite::Connection::open(place.path("damaged.db")).unwrap();
    store.execute("UPDATE run SET wall_ms = 77777 WHERE ordinal < 3", []).unwrap();
    drop(store);
    for (more, error) in [
        ("--baseline effort.json", "its effort is none"),
        ("--baseline digest.json", "its digest is not one of 32 hexadecimal digits"),
        ("--baseline repeats.json", "its repeats are 0"),
        ("--baseline unscored.json", "case \"7-0\": no run passed, and yet it has an effort"),
        ("--baseline empty.json", "--baseline empty.json: the file is empty"),
        ("--baseline list.json", "--baseline list.json: it is not a JSON object"),
        ("--baseline folder", "--baseline folder: it is a folder"),
        ("--baseline /dev/null", "it is not a file but a pipe or a device"),
        ("--baseline=", "--baseline is empty"),
        ("--baseline nofile --store new.db", "no file of this name, and no run store new.db"),
        ("--baseline main --store damaged.db", "is damaged, so it cannot be a baseline"),
        ("--baseline a.json --gate-metric CALLS", "no run has a figure \"CALLS\""),
        (
            "--baseline a.json --gate-metric calls --gate-metric calls=3%",
            "the figure \"calls\" is named twice",
        ),
        (
            "--baseline a.json --cases auto --first 50",
            "50 of the 100 cases of the campaign are not in the baseline",
        ),
    ] {
        let cases = if more.contains("--cases") { "" } else { "--cases 100" };
        let run = place.run(&format!("test tools@sim/careless {cases} {more}")).code(2);
        assert!(run.err.contains(error), "{more}: {run:?}");
    }
    assert_eq!(place.run("runs list --json -q").code(0).out.lines().count(), 2, "nothing was stored");
    assert!(!place.path("new.db").exists());
    let export = place.run("runs export main --baseline b.json --store damaged.db").code(2);
    assert!(export.err.contains("name its id"), "{export:?}");
}

/// The line about looks names those that happened, also where a budget ends the campaign between two of them.
#[test]
#[ignore = "slow"]
fn only_looks_that_happened_are_reported() {
    let place = Place::new();
    place.run("test tools@sim/perfect --cases 200 --label main -q").code(0);
    place.run("test tools@sim/perfect --cases 60 --label few -q").code(0);
    let line = "test tools@sim/perfect --cases auto --baseline main --concurrency 1 --json -q";
    let ended = place.run(&format!("{line} --max-tokens 20000")).code(3).json();
    let (cases, looks) = (ended["gate"]["cases"].as_u64().unwrap(), &ended["gate"]["looks"]);
    assert!(cases < 50 && *looks == json!([cases]), "{ended}");
    // With another baseline its cases would have no pair.
    let other = place.run("test --resume last --baseline few --max-tokens 2000000").code(2);
    assert!(other.err.contains("140 of the 200 cases of the campaign are not in the baseline"), "{other:?}");
    let resumed =
        place.run("test --resume last --baseline main --max-tokens 2000000 --json -q").code(0).json();
    let looks = resumed["gate"]["looks"].as_array().unwrap();
    assert_eq!(looks.last(), Some(&resumed["gate"]["cases"]), "{resumed}");
    assert!(looks.iter().all(|look| [50, 100, 200].contains(&look.as_u64().unwrap())), "{resumed}");
}

#[test]
fn numbers_are_refused_with_what_suits_them() {
    let place = Place::new();
    for (line, error) in [
        (
            "test tools@sim/perfect --baseline x --margin 0",
            "write a percentage above 0 and up to 100, as in 5%",
        ),
        ("report a b --fail-if-worse 0%", "write a percentage above 0 and up to 100, as in 5%"),
        ("test tools@sim/perfect --success-min 90%:prooved", "only be `:proved`, as in 90%:proved"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(error), "{run:?}");
    }
    place.run("test tools@sim/perfect --cases 30 -q").code(0);
    let wide = place.run("report last last --fail-if-worse 99.999%").code(0);
    assert!(wide.out.contains("a loss of 99.999 points is ruled out"), "{wide:?}");
}

#[test]
fn a_rate_is_proved_by_its_interval() {
    let place = Place::new();
    let line = |cases: u32, least: &str| {
        format!("test tools@sim/careless --cases {cases} --success-min {least}:proved")
    };
    // 161 of 200 passed: 74.5 to 85.4 %.
    assert!(place.run(&line(200, "70%")).code(0).err.contains("proved to reach --success-min 70%"));
    assert!(place.run(&line(200, "90%")).code(1).err.contains("proved to be below --success-min 90%"));
    assert!(place.run(&line(200, "80%")).code(3).err.contains("too few to tell whether they reach"));
    place.run("test tools@sim/careless --cases 200 --success-min 80% -q").code(0);
}
