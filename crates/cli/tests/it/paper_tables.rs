//! The tables of the papers in `planproof tables`: what makes them, making them, and limits at different thresholds.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use planproof_store::Store;
use serde_json::{Value, json};

use crate::stand_in::{StandIn, answer, model_command};
use crate::support::{Place, Run, json_lines};
use crate::until;

fn table(place: &Place, line: &str, code: i32) -> Value {
    place.run(&format!("tables {line} --json -q")).code(code).json()
}

fn campaigns(place: &Place) -> usize {
    place.run("runs list --json").code(0).out.lines().count()
}

#[test]
fn a_paper_lists_its_tables_and_a_table_its_command_lines() {
    let place = Place::new();
    let list = place.run("tables pdoctor").code(0).out;
    assert!(list.contains("Failures by root cause") && list.contains("fig9"), "{list}");
    let listed = place.run("tables mnms --json").code(0).json();
    let made: Vec<&Value> = listed["tables"].as_array().unwrap().iter().map(|table| &table["made"]).collect();
    assert_eq!((made[0], made[1], made[12]), (&json!("run"), &json!("by hand"), &json!("by hand")));
    // Nothing is needed for that, and nothing is made.
    let shown = place.run("tables pdoctor 4").code(0).out;
    assert!(shown.contains("planproof limit react@MODEL --threshold 20% --to 9 "), "{shown}");
    assert!(shown.contains("planproof test tools@MODEL --actions 2..LIMIT "), "{shown}");
    assert!(shown.contains("Assistants API") && shown.contains("holds no campaign of it yet"), "{shown}");
    let shown = place.run("tables pdoctor 1").code(0).out;
    assert!(shown.contains("Nothing is run for it"), "{shown}");
    assert!(!place.path(".planproof").exists());

    for (line, what) in [
        (
            "tables nothing",
            "papers, whose tables can be named as well, are pdoctor, behaviour, mnms, pmc, tptu",
        ),
        (
            "tables pdoctor 8",
            "pdoctor has no table \"8\" that planproof knows; it knows 1, 2, 3, 4, 5, 6, 7, fig8, fig9",
        ),
        ("tables pdoctor 3 4", "name one table of the paper at a time"),
        ("tables pdoctor --run --model sim/perfect", "name a table"),
        ("tables pdoctor 1 --run --model sim/perfect", "nothing can be run for table 1 of pdoctor"),
        ("tables pdoctor 3 --run", "--model"),
        ("tables pdoctor 3 --max-cost 2", "--run"),
        ("tables last --cases 3", "--cases is for a table of a paper"),
        ("tables pdoctor 3 --data gsm8k=a.jsonl", "the table takes no published data"),
        ("tables behaviour 2 --data mnms=a.jsonl", "the table takes data of hotpotqa, triviaqa, gsm8k"),
        ("tables behaviour 2 --data a.jsonl", "write the suite and the file"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(what), "{line}: {run:?}");
    }
    assert!(!place.path(".planproof").exists());
}

#[test]
#[ignore = "slow"]
fn what_a_table_lacks_is_run_once() {
    let place = Place::new();
    let line = "pdoctor 4 --model sim/in-order --cases 12";
    let made = table(&place, &format!("{line} --run"), 0);
    assert_eq!((&made["schema"], &made["small"]), (&json!("planproof/paper-table/v1"), &json!(12)));
    // The cases are drawn within the limit that was found for the same agent.
    let limits = &made["result"]["classes"];
    let within = limits[0]["within"].as_u64().expect("a limit");
    assert_eq!(limits[0]["threshold"], 0.2);
    let command = made["lines"][1]["commands"][0].as_str().unwrap();
    assert!(command.contains(&format!("--actions 2..{within} --cases 12 --dissect")), "{command}");
    let causes = made["result"]["causes"].as_array().unwrap();
    assert!(!causes.is_empty() && causes.iter().all(|row| row["threshold"] == 0.2), "{made}");
    assert_eq!(campaigns(&place), 6);
    // Nothing is run again, and the table is that of its campaigns whether or not something was to be run.
    assert_eq!(table(&place, &format!("{line} --run"), 0), made);
    assert_eq!(table(&place, line, 0), made);
    assert_eq!(campaigns(&place), 6);
    // Another table takes the searches that are there already.
    let other = table(&place, "pdoctor 3 --run --model sim/in-order --cases 12", 0);
    assert_eq!(other["lines"][0]["campaigns"], made["lines"][0]["campaigns"]);
    assert_eq!(campaigns(&place), 6);
    let text = place.run(&format!("tables {line}")).code(0).out;
    assert!(text.contains("A SMALL VERSION. pdoctor limits, 12 cases: "), "{text}");
    assert!(
        text.contains("the paper has") && text.contains("(as table 4, within the limit at 20.0 %)"),
        "{text}"
    );
    assert!(text.contains("Table 4, within the limit at 20.0 %") && !text.contains("Table 3"), "{text}");
    // The whole table has other cases.
    assert!(place.run("tables pdoctor 4").code(0).out.contains("holds no campaign of it yet"));
}

#[test]
#[ignore = "slow"]
fn tables_of_suites_take_the_sections_that_there_are() {
    let place = Place::new();
    let mnms =
        place.run("tables mnms 6 --run --model sim/gold --model sim/gold/0.4 --cases 4 -q").code(0).out;
    let (ours, published) = mnms.split_once("Published figures").expect("both");
    assert!(ours.contains("Like Table 6:") && !ours.contains("Like Table 7:"), "{mnms}");
    assert!(ours.contains("sim/gold/0.4") && ours.contains("SIMULATION"), "{mnms}");
    assert!(published.contains("Published Table 6:") && !published.contains("Table 8:"), "{mnms}");
    let tptu = place.run("tables tptu 9 --run --model sim/gold --cases 2 -q").code(0).out;
    assert!(tptu.contains("nested SQL, direct") && tptu.contains("2           100.0"), "{tptu}");
    let pmc = place.run("tables pmc 4 --run --model sim/gold --limit 2 -q").code(0).out;
    assert!(pmc.contains("tools-cot") && pmc.contains("Completeness"), "{pmc}");
    assert_eq!(pmc.matches("Published figures on level 3").count(), 1, "{pmc}");
}

/// Killed at any moment and called again, it comes to the table of an undisturbed one.
#[test]
#[ignore = "slow"]
fn a_killed_table_goes_on() {
    let undisturbed = Place::new();
    let line = "pdoctor 3 --run --model sim/careless --cases 60";
    let rows = |table: &Value| -> Vec<Value> {
        let mut rows = table["result"]["classes"].as_array().unwrap().clone();
        rows.iter_mut().for_each(|row| row["campaign"] = Value::Null);
        rows
    };
    let whole = table(&undisturbed, line, 0);
    let place = Place::new();
    let finished = || -> u64 {
        let Ok(store) = Store::open_read_only(&place.path(".planproof/runs.db")) else { return 0 };
        store.campaigns().map_or(0, |rows| rows.iter().map(|row| row.passed + row.failed).sum())
    };
    let words: Vec<String> = format!("tables {line} --json -q").split(' ').map(str::to_owned).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut inside = 0;
    for round in 0..6u64 {
        let before = finished();
        let mut child =
            place.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        if round == 0 {
            until("a run is finished", || (finished() > before).then_some(()));
        } else {
            thread::sleep(Duration::from_millis(round * 617 % 250));
        }
        child.kill().expect("is killed");
        inside += u32::from(child.wait().expect("ends").code().is_none());
    }
    assert!(inside > 1, "it was killed before its end {inside} times");
    let resumed = table(&place, line, 0);
    assert_eq!(rows(&resumed), rows(&whole));
    assert_eq!(campaigns(&place), 3, "no campaign was begun twice");
}

#[test]
fn all_campaigns_of_a_table_together_cost_no_more_than_the_limit() {
    let place = Place::new();
    let models = [json!({"model": "openai/one", "input": 2000, "output": 0})];
    let prices = json!({
        "schema": "planproof/prices/v1", "as_of": "2026-01-01", "unit": "USD per million tokens", "models": models
    });
    place.write("p.json", &prices.to_string());
    // A dollar for each request.
    let choice =
        json!({"index": 0, "message": {"role": "assistant", "content": "SELECT 1"}, "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": 500, "completion_tokens": 1, "total_tokens": 501});
    let body = json!({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage});
    let server = StandIn::start(move |_, _| answer("200 OK", "", &body.to_string()));
    let made = |limit: u32, code: i32| {
        let line = format!("tables tptu 9 --run --model openai/one --max-cost {limit} --json -q");
        let mut command = model_command(&place, &line, server.base_url());
        command.env("PLANPROOF_PRICES", place.path("p.json"));
        Run::of(command, "").code(code).json()
    };
    let first = made(10, 3);
    assert!(first["not_run"].as_array().is_some_and(|rows| !rows.is_empty()), "{first}");
    let paid = || -> f64 {
        let rows = json_lines(&place.run("runs list --json").code(0).out);
        rows.iter().filter_map(|row| row["cost"].as_f64()).sum()
    };
    let before = paid();
    assert!((1.0..=13.0).contains(&before), "{before}");
    // What was paid before counts.
    made(20, 3);
    assert!(paid() > before && paid() <= 23.0, "{before}, then {}", paid());
    let whole = made(200, 0);
    assert_eq!((&whole["not_run"], paid()), (&json!([]), 40.0));
}

#[test]
fn limits_at_different_thresholds_stand_apart() {
    let place = Place::new();
    place.run("limit tools@sim/careless --to 9 --threshold 20% --cases-max 40 --past-limit -q").code(0);
    place.run("limit tools@sim/careless --to 9 --cases-max 40 --past-limit -q").code(0);
    place.run("test tools@sim/careless --cases 60 --actions 2..9 -q").code(1);
    let ids: Vec<String> = json_lines(&place.run("runs list --json").code(0).out)
        .iter()
        .map(|run| run["run"].as_str().unwrap().to_owned())
        .collect();
    let [test, usual, paper] = [&ids[0], &ids[1], &ids[2]];
    let all = format!("tables {test} {usual} {paper}");
    let tables = place.run(&format!("{all} --json")).code(0).json();
    assert_eq!(tables["published"]["threshold"], 0.2);
    // The campaign without a limit of its own has a row within each.
    let rows: Vec<(&Value, &Value)> = tables["classes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (&row["campaign"], &row["threshold"]))
        .collect();
    let [test, usual, paper] = [test, usual, paper].map(|id| json!(id));
    let [low, high] = [json!(0.2), json!(0.8)];
    assert_eq!(rows, [(&test, &high), (&test, &low), (&usual, &high), (&paper, &low)]);
    assert_eq!(tables["errors"].as_array().unwrap().len(), 3);
    let text = place.run(&all).code(0).out;
    let (_, at_paper) =
        text.split_once("(as table 3, within the limit at 20.0 %)").expect("that of the paper");
    let (at_paper, others) = at_paper
        .split_once(
            "(within the limit at 80.0 %; not comparable with table 3, which has the limit at 20.0 %)",
        )
        .expect("ours");
    let (others, _) = others.split_once("PUBLISHED").expect("the published ones");
    let has = |text: &str, id: &Value| text.contains(id.as_str().unwrap());
    assert_eq!([&test, &usual, &paper].map(|id| has(at_paper, id)), [true, false, true], "{text}");
    assert!(has(others, &usual) && has(others, &test), "{text}");
    // Without a search all failures count, which is none of the paper's limits either.
    let alone = place.run(&format!("tables {}", ids[0])).code(0).out;
    assert!(alone.contains("(all failures; not comparable with table 3"), "{alone}");
}
