//! `planproof limit` and `planproof tables`.

use std::fs;

use serde_json::{Value, json};

use crate::servers::Served;
use crate::stand_in::model_command;
use crate::support::{Place, Run, json_lines};

/// The report of a search.
fn search(place: &Place, line: &str, code: i32) -> Value {
    let run = place.run(&format!("limit {line} --json -q")).code(code);
    let report = run.json();
    assert_eq!(report["schema"], "planproof/limit/v1");
    report
}

fn without_times(mut report: Value) -> Value {
    for name in ["solver", "synthesis_seconds", "agent_seconds", "run_seconds", "cost", "ended_by", "seal"] {
        report["campaign"][name] = Value::Null;
    }
    report
}

#[test]
#[ignore = "slow"]
fn a_limit_is_found_shown_and_stored() {
    let place = Place::new();
    let run = place.run("limit tools@sim/careless --threshold 50% --html l.html").code(0);
    assert!(run.out.contains("SIMULATION") && run.out.contains("\nLimit: "), "{run:?}");
    assert!(
        run.out.contains(" 50.0 % ")
            && run.out.contains("┊ threshold")
            && run.out.contains("intervals that hold at every look"),
        "{run:?}"
    );
    let page = fs::read_to_string(place.path("l.html")).unwrap();
    assert!(page.contains("Success by difficulty") && page.matches("<figure class=\"chart\">").count() == 2);

    // It is a campaign like others, but does not resume as one.
    let shown = place.run("runs show last").code(0);
    assert!(shown.out.starts_with("tools@sim/careless, ") && shown.err.is_empty(), "{shown:?}");
    let wrong = place.run("test --resume last").code(2);
    assert!(
        wrong.err.contains("is a search for a limit; resume it with `planproof limit --resume"),
        "{wrong:?}"
    );
    let again = search(&place, "--resume last", 0);
    let limit = again["limit"].as_u64().unwrap();
    // What it came to is said first, then what failed, then the figures.
    let at = |text: &str| run.out.find(text).unwrap_or_else(|| panic!("no {text:?} in {run:?}"));
    assert!(at(&format!("\nLimit:      {limit} actions")) < at("\nDecided: "), "{run:?}");
    assert!(at("\nDecided: ") < at("\nFinding 1: ") && at("\nFinding 3: ") < at(" Actions "), "{run:?}");
    assert!(at("\nFindings 1 to 3 of ") < at("\n  planproof runs show "), "{run:?}");
    place.run("test tools@sim/perfect --cases 2 -q").code(0);
    assert!(place.run("limit --resume last").code(2).err.contains("is no search for a limit"));

    search(&place, &format!("tools@sim/careless --threshold 50 --at-least {limit}"), 0);
    search(&place, &format!("tools@sim/careless --threshold 50 --at-least {}", limit + 1), 1);
    // The time form, and an agent that cannot plan.
    let time = search(&place, "tools@sim/perfect --time --to 3 --cases-max 20", 0);
    assert_eq!((&time["outcome"], &time["levels"][1]["passed"]), (&json!("above_to"), &json!(20)));
    let endless = search(&place, "tools@sim/endless --to 3", 0);
    assert_eq!((&endless["outcome"], &endless["limit"]), (&json!("below_from"), &Value::Null));
}

#[test]
#[ignore = "slow"]
fn a_search_whose_budget_ends_it_goes_on() {
    let place = Place::new();
    let whole = search(&place, "tools@sim/careless --threshold 20% --to 6", 0);
    let part = search(&place, "tools@sim/careless --threshold 20% --to 6 --max-tokens 40000", 3);
    assert_eq!(part["outcome"], "not_finished");
    assert!(part["campaign"]["not_run"].as_u64().unwrap() > 0, "{part}");
    let rest = search(&place, "--resume last --max-tokens 100000000", 0);
    let runs = whole["campaign"]["runs"].as_u64().unwrap();
    assert_eq!(without_times(rest), without_times(whole));
    // Of the cases that were planned only those that were run are kept, and the others are not missing.
    let cases = place.run("runs export last --format cases").code(0).out;
    assert_eq!(cases.lines().count() as u64, runs);
    assert!(cases.lines().all(|case| case.contains("\"query\"")), "{cases}");
    for again in ["", " --judge-again"] {
        let shown = place.run(&format!("runs show last{again}")).code(0);
        assert!(shown.out.contains(&format!(" {runs} cases")), "{shown:?}");
        assert!(!shown.out.contains("Not run:"), "{shown:?}");
    }
}

#[test]
#[ignore = "slow"]
fn a_recorded_search_is_replayed_without_server_network_or_key() {
    let place = Place::new();
    let served = Served::start(&place, "serve-model sim/careless");
    let line =
        "limit tools@openai/sim/careless --to 5 --threshold 85% --cases-max 60 --seed 3 --distractors 1";
    let asked = |line: &str| Run::of(model_command(&place, line, &served.base_url), "");
    let recorded = asked(&format!("{line} --record r.jsonl -q --json")).code(0).json();
    let cut = asked(&format!("{line} --max-tokens 20000 --record cut.jsonl -q --json")).code(3).json();
    assert!(recorded["campaign"]["runs"].as_u64().unwrap() > cut["campaign"]["runs"].as_u64().unwrap());
    drop(served);

    let elsewhere = Place::new();
    let recording = fs::read_to_string(place.path("r.jsonl")).unwrap();
    elsewhere.write("r.jsonl", &recording);
    fs::copy(place.path("cut.jsonl"), elsewhere.path("cut.jsonl")).unwrap();
    let replayed = search(&elsewhere, "--replay r.jsonl", 0);
    assert_eq!(replayed["campaign"]["replay"], true);
    let same = |report: Value| {
        let mut report = without_times(report);
        report["campaign"]["replay"] = Value::Null;
        report
    };
    assert_eq!(same(replayed), same(recorded));
    let text = elsewhere.run("limit --replay r.jsonl -q").code(0).out;
    assert!(text.starts_with("REPLAY: ") && text.contains("\nLimit: "), "{text}");
    // A search that a budget ended is replayed as far as it came, and nothing is asked beyond that.
    let run = elsewhere.run("limit --replay cut.jsonl -q --json").code(0);
    assert!(run.err.starts_with("Ended by the budget of 20000 tokens: ") && !run.err.contains("--resume"));
    assert_eq!(same(run.json()), same(cut));

    // What comes out otherwise is told, and each command replays its own campaigns.
    let (passed, failed) = (r#""passed":true,"class":null"#, r#""passed":false,"class":"action_lost""#);
    elsewhere.write("other.jsonl", &recording.replacen(passed, failed, 1));
    let run = elsewhere.run("limit --replay other.jsonl -q").code(3);
    assert!(run.err.starts_with("error: the replay differs from its recording other.jsonl in 1 place:"));
    let run = elsewhere.run("test --replay r.jsonl").code(2);
    assert!(run.err.contains("is a search for a limit; replay it with `planproof limit --replay r.jsonl`"));
    elsewhere.run("test tools@sim/perfect --cases 2 --record test.jsonl -q").code(0);
    let run = elsewhere.run("limit --replay test.jsonl").code(2);
    assert!(run.err.contains("is no search for a limit; replay it with `planproof test --replay"), "{run:?}");
    elsewhere.run("limit --replay r.jsonl --to 4").code(2);
    elsewhere.run("limit --resume last --threshold 4%").code(2);
}

#[test]
fn the_answers_of_a_search_are_paid_once() {
    let place = Place::new();
    let served = Served::start(&place, "serve-model sim/careless");
    let line = "limit tools@openai/sim/careless --to 3 --cases-max 20 --cache c.jsonl -q --json";
    let first = Run::of(model_command(&place, line, &served.base_url), "").code(0).json();
    drop(served);
    let again = Run::of(model_command(&place, line, "http://127.0.0.1:9"), "").code(0).json();
    assert_eq!(without_times(again), without_times(first));
}

#[test]
fn searches_that_make_no_sense_are_refused() {
    let place = Place::new();
    for (line, what) in [
        ("--from 1", "--from is 1; it must be a whole number from 2 to 64"),
        ("--from 5 --to 4", "the first not above the last"),
        ("--to 65", "--to is 65; it must be a whole number from 2 to 64"),
        ("--threshold 0%", "write a percentage above 0 and up to 100"),
        ("--threshold x", "write a percentage above 0 and up to 100"),
        ("--threshold 0.8", "write 80% for a share of 0.8, or 0.8% for less than one per cent"),
        ("--threshold 0.55", "write 55% for a share of 0.55"),
        ("--at-least 13", "--at-least must be one of the numbers searched, 2 to 12"),
        ("--cases-max 100000 --cases-per-pair 100000", "a campaign has at most 100000"),
    ] {
        let run = place.run(&format!("limit tools@sim/perfect {line}")).code(2);
        assert!(run.err.contains(what), "{line}: {run:?}");
    }
    assert!(!place.path(".planproof").exists());
}

#[test]
#[ignore = "slow"]
fn tables_hold_campaigns_and_published_figures_apart() {
    let place = Place::new();
    place.run("test tools@sim/forgetful --cases 50 -q").code(1);
    place.run("test tools@sim/clumsy --cases 30 --time -q").code(1);
    place.run("limit tools@sim/careless --threshold 60% -q").code(0);
    let ids: Vec<String> = json_lines(&place.run("runs list --json").code(0).out)
        .iter()
        .map(|run| run["run"].as_str().unwrap().to_owned())
        .collect();
    let tables = place.run(&format!("tables {} --json", ids.join(" "))).code(0).json();
    assert_eq!(tables["schema"], "planproof/tables/v1");
    let row = |table: &str, place: usize| &tables[table][place];
    assert_eq!(
        (&row("errors", 2)["agent"], &row("errors", 2)["generated"]),
        (&json!("tools@sim/forgetful"), &json!(50))
    );
    assert_eq!(row("classes", 2)["classes"]["action_lost"], row("errors", 2)["errors"]);
    assert_eq!((&row("errors", 1)["time"], &row("errors", 0)["time"]), (&json!(true), &json!(false)));
    // Within the limit there are fewer failures than in the whole search.
    let within = row("classes", 0)["within"].as_u64().unwrap();
    assert!(within >= 2 && row("classes", 0)["failures"].as_u64() < row("errors", 0)["errors"].as_u64());
    let text = place.run(&format!("tables {}", ids.join(" "))).code(0).out;
    let (ours, published) = text.split_once("PUBLISHED FIGURES").unwrap();
    assert!(ours.contains("tools@sim/careless *") && !ours.contains("GPT-4"), "{text}");
    assert!(published.contains("61.57") && !published.contains("sim/"), "{text}");
    place.run("tables nothing").code(2);
}
