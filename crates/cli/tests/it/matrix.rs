//! All combinations of agents, models and settings in one command.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use planproof_store::Store;
use serde_json::{Value, json};

use crate::bench::data;
use crate::support::{Place, Run, json_lines, send};
use crate::until;

/// Two agents with two models each, of which one errs, and an agent that names its own.
const LINE: &str =
    "bench gsm8k direct cot react@sim/gold/0.6 --model sim/gold --model sim/gold/0.3 --data data.jsonl";

/// The table without what differs from one matrix to the next: its ids and times.
pub(crate) fn figures(table: &Value) -> Value {
    let mut table = table.clone();
    table["matrix"] = Value::Null;
    for row in table["combinations"].as_array_mut().expect("combinations") {
        row["campaign"] = Value::Null;
        row["agent_seconds"] = Value::Null;
        row["seal"] = Value::Null;
    }
    table
}

fn column(table: &Value, key: &str) -> Vec<Value> {
    let rows = table["combinations"].as_array().expect("combinations");
    rows.iter().map(|row| row[key].clone()).collect()
}

/// Finished runs of the newest matrix.
pub(crate) fn finished(place: &Place) -> u64 {
    let Ok(store) = Store::open_read_only(&place.path(".planproof/runs.db")) else { return 0 };
    let Ok(Some(matrix)) = store.matrix("last") else { return 0 };
    let campaigns = store.campaigns_of_matrix(&matrix.id).expect("reads");
    campaigns.iter().map(|campaign| campaign.passed + campaign.failed).sum()
}

#[test]
fn every_combination_is_a_line_and_is_compared_with_the_first() {
    let place = Place::new();
    place.write("data.jsonl", &data(30));
    let run = place.run(&format!("{LINE} --html m.html --json -q")).code(1);
    let table = run.json();
    assert_eq!(
        column(&table, "agent"),
        ["direct@sim/gold", "direct@sim/gold/0.3", "cot@sim/gold", "cot@sim/gold/0.3", "react@sim/gold/0.6"]
    );
    assert_eq!(column(&table, "number"), [1, 2, 3, 4, 5]);
    assert_eq!(column(&table, "kind")[4], "react");
    assert_eq!(column(&table, "model")[1], "sim/gold/0.3");
    for row in table["combinations"].as_array().expect("combinations") {
        let [passed, failed] = ["passed", "failed"].map(|key| row[key].as_u64().expect("a count"));
        assert_eq!((passed + failed, &row["not_run"]), (30, &json!(0)), "{row}");
        assert_eq!(row["rate"].as_f64(), Some(passed as f64 / 30.0));
        assert!(row["metrics"]["strict"]["value"].is_number() && row["tokens"]["input"].as_u64() > Some(0));
        let Some(first) = row["against_first"].as_object() else {
            assert_eq!(row["number"], 1);
            continue;
        };
        // The first one passes all, so whatever fails is broken.
        assert_eq!((&first["fixed"], &first["broken"]), (&json!(0), &json!(failed)), "{row}");
        let [low, difference, high] =
            ["low", "difference", "high"].map(|key| first[key].as_f64().expect("a number"));
        assert!(low <= difference && difference <= high, "{row}");
        assert!((difference + failed as f64 / 30.0).abs() < 1e-12, "{row}");
    }
    let page = fs::read_to_string(place.path("m.html")).expect("a page");
    assert!(page.contains("5 combinations on the same cases") && page.contains("sim/gold/0.6"));

    // Its campaigns are ordinary ones.
    let listed = json_lines(&place.run("runs list --json").code(0).out);
    let id = table["matrix"].as_str().expect("an id");
    assert_eq!(listed.len(), 5);
    assert!(listed.iter().all(|row| row["matrix"] == id), "{listed:?}");
    let second = place.run(&format!("runs show {id}.2 --json")).code(0).json();
    assert_eq!(second["passed"], column(&table, "passed")[1]);
    let pair = place.run(&format!("report {id}.1 {id}.2 --json")).code(0).json();
    let against = &table["combinations"][1]["against_first"];
    assert_eq!(
        (&pair["difference"], &pair["interval"]["low"]),
        (&against["difference"], &against["low"]),
        "{pair}"
    );
    // It is found again, by its id and as the newest.
    for line in [format!("report {id} --json"), "report last --json".into(), "runs show last --json".into()] {
        assert_eq!(place.run(&line).code(0).json(), table, "{line}");
    }
    let text = place.run(&format!("report {id}")).code(0).out;
    assert!(text.contains("5 combinations on 30 cases") && text.contains("SIMULATION"), "{text}");
    place.run("report last --html again.html").code(0);
    assert_eq!(fs::read_to_string(place.path("again.html")).expect("a page"), page);
}

#[test]
fn settings_multiply_and_are_part_of_the_agent() {
    let place = Place::new();
    let line = "bench gsm8k direct cot --model sim/gold/0.5 --set samples=1,3 --set agent.examples=on,off \
                --set bench.limit=4 --json -q";
    let table = place.run(line).code(1).json();
    assert_eq!((&table["cases"], column(&table, "number").len()), (&json!(4), 8));
    assert_eq!(column(&table, "agent")[1], "direct:samples=1,examples=off@sim/gold/0.5");
    assert_eq!(column(&table, "kind")[7], "cot");
    assert_eq!(column(&table, "settings")[6], json!({"samples": "3", "examples": "on"}));
    // A value that leaves the option out, a second --set of the same key, and what the command line says of all.
    let line = "bench gsm8k react --model sim/gold --set evaluator=,none --set evaluator=model --examples off \
                --limit 2 --json -q";
    let table = place.run(line).code(0).json();
    let settings = [
        json!({"examples": "off"}),
        json!({"evaluator": "none", "examples": "off"}),
        json!({"evaluator": "model", "examples": "off"}),
    ];
    assert_eq!(column(&table, "settings"), settings);
    // One combination is a campaign like any other.
    let report = place.run("bench gsm8k direct --model sim/gold --set samples=3 --json -q").code(0).json();
    assert_eq!(
        (&report["schema"], &report["agent"]),
        (&json!("planproof/report/v1"), &json!("direct:samples=3@sim/gold"))
    );
}

/// Killed at any moment and resumed, it comes to the same table as one that nobody disturbed.
#[test]
#[ignore = "slow"]
fn a_killed_matrix_goes_on_to_the_same_table() {
    let undisturbed = Place::new();
    undisturbed.write("data.jsonl", &data(250));
    let line = format!("{LINE} --repeat 2 --concurrency 2 --json -q");
    let whole = undisturbed.run(&line).code(1).json();

    let place = Place::new();
    place.write("data.jsonl", &data(250));
    let mut words: Vec<&str> = line.split(' ').collect();
    let mut inside = 0;
    for round in 0..12u64 {
        let before = finished(&place);
        let mut child =
            place.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        if round == 0 {
            until("a run is finished", || (finished(&place) > before).then_some(()));
        } else {
            thread::sleep(Duration::from_millis(round * 617 % 250));
        }
        child.kill().expect("is killed");
        if child.wait().expect("ends").code().is_none() {
            inside += u32::from(finished(&place) < 2500);
        }
        words = vec!["bench", "gsm8k", "--resume", "last", "--json", "-q"];
    }
    assert!(inside > 1, "it was killed before its end {inside} times");
    let table = place.run("bench gsm8k --resume last --json -q").code(1).json();
    assert_eq!(figures(&table), figures(&whole));
    assert_eq!(finished(&place), 2500);
    // Nothing is left to do, and nothing is done.
    assert_eq!(place.run("bench gsm8k --resume last --json -q").code(1).json(), table);
}

#[test]
fn one_budget_holds_for_all_and_a_larger_one_goes_on() {
    let place = Place::new();
    place.write("data.jsonl", &data(30));
    let whole = place.run(&format!("{LINE} --json -q")).code(1).json();
    let part = place.run(&format!("{LINE} --max-tokens 9000 --json -q"));
    let table = part.json();
    assert_eq!(table["ended_by"], "9000 tokens");
    assert!(part.err.contains("Ended by the budget of 9000 tokens: "), "{part:?}");
    let not_run: Vec<u64> = column(&table, "not_run").iter().filter_map(Value::as_u64).collect();
    assert!(not_run[0] == 0 && not_run[4] == 30, "{not_run:?}");
    let spent = |table: &Value| -> u64 {
        let tokens = column(table, "tokens");
        tokens.iter().map(|it| it["input"].as_u64().unwrap_or(0) + it["output"].as_u64().unwrap_or(0)).sum()
    };
    assert!(spent(&table) <= 9000, "{table}");
    let id = table["matrix"].as_str().expect("an id");
    // A budget that what is spent exceeds already.
    let run = place.run("bench gsm8k --resume last --max-tokens 100").code(2);
    assert!(run.err.contains("is used up: set a larger one with --max-tokens\n"), "{run:?}");
    let run = place.run(&format!("bench gsm8k --resume {id}.2")).code(2);
    assert!(
        run.err.contains(&format!("resume the matrix, `planproof bench gsm8k --resume {id}`")),
        "{run:?}"
    );
    let rest = place.run("bench gsm8k --resume last --max-tokens 9000000 --json -q").code(1).json();
    assert_eq!(figures(&rest), figures(&whole));
}

/// A server that is down says nothing of the combinations that do not ask it.
#[test]
fn a_broken_set_up_stops_its_own_combinations_alone() {
    let place = Place::new();
    let line =
        "bench gsm8k direct cot --model openai/m --model sim/gold --attempts 1 --concurrency 1 --json -q";
    let mut command = place.command(&line.split(' ').collect::<Vec<_>>());
    command
        .env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        .env("OPENAI_API_KEY", "sk-unused-key-of-this-test");
    let run = Run::of(command, "").code(3);
    let table = run.json();
    assert_eq!(column(&table, "passed"), [0, 10, 0, 10]);
    let kept = column(&table, "unscored")
        .iter()
        .zip(column(&table, "not_run"))
        .fold(0, |sum, (a, b)| sum + a.as_u64().unwrap_or_default() + b.as_u64().unwrap_or_default());
    assert_eq!(kept, 20);
    assert!(run.err.contains("Combination 3 was stopped, because its set-up is broken: "), "{run:?}");
    assert!(run.err.contains(" runs are unscored. Try them again: planproof bench gsm8k --resume "));
}

#[test]
#[ignore = "slow"]
fn an_interrupted_matrix_says_how_it_goes_on() {
    let place = Place::new();
    place.write("data.jsonl", &data(3000));
    let line = "bench gsm8k react cot --model sim/gold --data data.jsonl --concurrency 1 --html m.html";
    let mut command = place.command(&line.split(' ').collect::<Vec<_>>());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    until("a run is finished", || (finished(&place) > 0).then_some(()));
    send(&child, "INT");
    let output = child.wait_with_output().expect("ends");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(
        stderr.contains("error: interrupted: ")
            && stderr.contains("resume with `planproof bench gsm8k --resume ")
    );
    let id = stderr.rsplit("--resume ").next().and_then(|rest| rest.split('`').next()).expect("an id");
    assert!(!id.contains('.'), "it is that of the matrix: {stderr}");
    let page = fs::read_to_string(place.path("m.html")).expect("what is finished is reported");
    assert!(page.contains("not finished"));
    place.run(&format!("bench gsm8k --resume {id} -q")).code(0);
}

#[test]
fn each_combination_is_recorded_by_itself() {
    let place = Place::new();
    place.run("bench gsm8k direct react --model sim/gold/0.2 --record r.jsonl -q").code(1);
    assert!(!place.path("r.jsonl").exists());
    for (file, agent) in [("r.1.jsonl", "direct@sim/gold/0.2"), ("r.2.jsonl", "react@sim/gold/0.2")] {
        let report = place.run(&format!("bench gsm8k --replay {file} --json")).code(0).json();
        assert_eq!((&report["agent"], &report["replay"]), (&json!(agent), &json!(true)));
    }
    let run = place.run("bench gsm8k direct react --model sim/gold/0.2 --record r.jsonl").code(2);
    assert!(run.err.contains("r.1.jsonl already; overwrite it with --force"), "{run:?}");
    place.run("bench gsm8k direct react --model sim/gold/0.2 --record r.jsonl --force -q").code(1);
    // One cache serves all.
    let line = "bench gsm8k direct react --model sim/gold --cache c.jsonl --json -q";
    let first = place.run(line).code(0).json();
    assert_eq!(figures(&place.run(line).code(0).json())["combinations"][1]["passed"], 10);
    assert_eq!(first["combinations"][1]["passed"], 10);
}

#[test]
fn what_cannot_be_combined_is_said_before_anything_runs() {
    let place = Place::new();
    let many: Vec<String> = (1..=101).map(|number| number.to_string()).collect();
    let too_many = format!("bench gsm8k direct --model sim/gold --set samples={}", many.join(","));
    for (line, error) in [
        ("bench gsm8k direct cot", "; or name its model with --model\n"),
        ("bench gsm8k cot@sim/gold carless", "unknown agent \"carless\": did you mean tools@sim/careless?\n"),
        ("bench gsm8k nobody cot --model sim/gold", "unknown kind of agent \"nobody\""),
        ("bench gsm8k direct cot@ --model sim/gold", "combination 2, cot@: unknown model \"\""),
        ("bench gsm8k direct@sim/gold cot@sim/gold --model sim/gold", "--model sim/gold has no effect"),
        ("bench gsm8k direct direct --model sim/gold", "the combination direct@sim/gold occurs twice"),
        ("bench gsm8k direct --model sim/gold --set samples=2,2", "samples=2@sim/gold occurs twice"),
        (
            "bench gsm8k direct cot --model sim/nobody",
            "combination 1, direct@sim/nobody: there is no simulated",
        ),
        ("bench gsm8k direct cot --model openai/m", "combination 1, direct@openai/m: no API key"),
        ("bench gsm8k direct cot --model sim/gold --set depth=1,2", "options of agents are samples, "),
        ("bench gsm8k direct cot --model sim/gold --set agent.depth=1,2", "no option \"depth\" of an agent"),
        (
            "bench gsm8k direct cot --model sim/gold --set samples=1,x",
            "\"x\" is no value of the option samples",
        ),
        (
            "bench gsm8k direct tools --model sim/gold --set samples=1,3",
            "the combination of tools@sim/gold with samples=1 is not possible: --samples is for agents",
        ),
        (
            "bench gsm8k direct react --model sim/gold --set samples=3",
            "combination 2, react:samples=3@sim/gold: ",
        ),
        (
            "bench gsm8k repair:direct cot --model sim/gold",
            "combination 1, repair:direct@sim/gold: the suite",
        ),
        (too_many.as_str(), "make 101 combinations; a matrix has at most 100"),
        ("bench gsm8k direct cot --model sim/gold --csv r.csv", "--csv is for one campaign"),
        ("bench gsm8k direct cot --model sim/gold --replay r.jsonl", "--replay is for one campaign"),
        ("bench gsm8k direct cot --model sim/gold --html - --json", "both write to stdout"),
        ("bench gsm8k direct cot --model sim/gold --max-cost 1", "the price of sim/gold is not known"),
        ("bench gsm8k --resume last --set samples=2", "--set samples: name the agents that it is for"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.starts_with("error: ") && run.err.contains(error), "{line}: {run:?}");
        assert!(!place.path(".planproof").exists(), "{line}: nothing was begun");
    }
    place.run("bench gsm8k direct cot --model sim/gold --limit 1 -q").code(0);
    for (line, error) in [
        (
            "bench order --resume last",
            "is one of `planproof bench gsm8k`; resume it with `planproof bench gsm8k --resume",
        ),
        ("bench gsm8k --resume nothing", "nothing"),
        // What is stored may be named again, but not something else.
        ("bench gsm8k direct react --model sim/gold --resume last", "named: react@sim/gold"),
        (
            "bench gsm8k direct --model sim/gold --resume last",
            "has 2 combinations, and the command line names 1",
        ),
        ("report last --junit r.xml", "--junit is for one campaign"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(error), "{line}: {run:?}");
    }
}

/// By which what is stored of it can be held to what was printed, as of any campaign.
#[test]
fn each_combination_says_by_what_it_is_sealed_and_what_is_damaged() {
    let place = Place::new();
    let line = "bench gsm8k direct react --model sim/gold --limit 4";
    let run = place.run(&format!("{line} -q")).code(0);
    let table = place.run("report last --json").code(0).json();
    let id = table["matrix"].as_str().expect("an id").to_owned();
    let seals: Vec<String> =
        column(&table, "seal").iter().map(|seal| seal.as_str().expect("a seal").to_owned()).collect();
    assert_ne!(seals[0], seals[1]);
    place.run("report last --html sound.html").code(0);
    let page = fs::read_to_string(place.path("sound.html")).expect("a page");
    for (place_of, seal) in seals.iter().enumerate() {
        let number = place_of + 1;
        assert!(run.out.contains(&format!("Combination {number}: seal {seal}\n")), "{run:?}");
        assert!(page.contains(&format!("Row {number}: seal <code>{seal}</code>")), "{page}");
        place.run(&format!("runs verify {id}.{number} --seal {seal}")).code(0);
        let shown = place.run(&format!("runs show {id}.{number} --json")).code(0).json();
        assert_eq!(shown["seal"], seal.as_str());
        place.run(&format!("report {id}.{number} --seal {seal}")).code(0);
        // No fingerprint stands for all combinations, so a check of all by one could never pass.
        for command in ["runs verify", "report"] {
            let refused = place.run(&format!("{command} {id} --seal {seal}")).code(2);
            assert!(refused.err.contains(&format!("the first as {id}.1")), "{refused:?}");
        }
    }
    assert!(!page.contains("Damaged:") && table["combinations"][1]["damaged"].is_null());

    let store = rusqlite::Connection::open(place.path(".planproof/runs.db")).expect("opens");
    let second = format!("{id}.2");
    let change = "UPDATE run SET passed = 1 - passed WHERE ordinal = 3 AND campaign = \
                  (SELECT key FROM campaign WHERE id = ?1)";
    assert_eq!(store.execute(change, [&second]).expect("writes"), 1);
    drop(store);
    let reported = place.run("report last").code(3);
    assert!(reported.out.contains("Combination 2: 1 damaged, left out; "), "{reported:?}");
    assert!(reported.err.contains(&format!("damaged: campaign {second}, case ")), "{reported:?}");
    let table = place.run("report last --json").code(3).json();
    let damaged = column(&table, "damaged");
    assert!(damaged[0].is_null() && damaged[1].as_array().map(Vec::len) == Some(1), "{damaged:?}");
    assert_eq!(column(&table, "not_run"), [0, 1]);
    place.run("report last --html page.html").code(3);
    let page = fs::read_to_string(place.path("page.html")).expect("a page");
    assert!(page.contains("Damaged:") && page.contains("1 run of row 2 of the run store"), "{page}");
}
