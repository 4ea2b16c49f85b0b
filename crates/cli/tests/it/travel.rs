//! `planproof bench travelplanner` and `planproof score travelplanner`, on data of our own.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::Place;

/// Our own data set.
fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../travel/data/own")
}

/// Our own data in the layout of the published folder, below `data`.
fn publish(place: &Place) {
    copy(&own().join("database"), &place.path("data/database"));
    fs::create_dir_all(place.path("data/queries")).unwrap();
    fs::copy(own().join("queries.jsonl"), place.path("data/queries/validation.jsonl")).unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => fs::copy(entry.path(), target).map(|_| ()).unwrap(),
        }
    }
}

#[test]
#[ignore = "slow"]
fn every_agent_with_the_key_plans_trips() {
    let place = Place::new();
    for line in [
        "tools@sim/gold",
        "react@sim/gold --compat original",
        "direct@sim/gold --mode sole-planning",
        "cot@sim/gold --mode sole-planning --hints on",
        "react@sim/gold --mode sole-planning",
        "two-stage@sim/gold",
        "two-stage@sim/gold --compat original --hints on",
        "two-stage:planner=sim/gold@sim/gold",
        "team@sim/gold --hints on",
        "team:deliver=solver@sim/gold",
        "direct@sim/gold --mode reading",
        "solver",
        "solver-cheapest",
        "solver-from-text",
        "reader --mode reading",
    ] {
        let report = place.run(&format!("bench travelplanner {line} --days 3 --json -q")).code(0).json();
        assert_eq!((&report["failed"], &report["unscored"]), (&json!(0), &json!(0)), "{line}: {report}");
        assert!(report["passed"].as_u64() > Some(5), "{line}: {report}");
    }
    let report = place.run("bench travelplanner greedy --json -q").code(1).json();
    assert_eq!((&report["classes"]["restaurants"], &report["failed"]), (&json!(20), &json!(20)), "{report}");
}

#[test]
fn teams_have_executors_for_each_field() {
    let place = Place::new();
    place.run("bench travelplanner team@sim/gold --limit 1 -q").code(0);
    let shown = place.run("runs show last --case travelplanner-own-1").code(0).out;
    for executor in ["transport", "accommodation", "meals", "sights"] {
        assert!(shown.contains(executor), "{executor}: {shown}");
    }
    let listed = place.run("runs list --json").code(0).out;
    assert!(listed.contains("team:roles=travelplanner@sim/gold"), "{listed}");
    place.run("bench travelplanner team@sim/gold --hints on --limit 1 -q").code(0);
    let listed = place.run("runs list --json").code(0).out;
    assert!(listed.contains("team:roles=travelplanner-hints@sim/gold"), "{listed}");
    // What stands in the case and in the trace is enough to judge again.
    let again = place.run("runs show last --judge-again --json").code(0).json();
    assert_eq!(again["passed"], 1, "{again}");
    let report = place.run("bench travelplanner team@sim/gold --json -q").code(0).json();
    assert_eq!(report["stated"]["budget"], json!({"right": 20, "of": 20}), "{report}");
}

/// What a model that knows nothing of trips writes are not actions.
#[test]
fn the_published_loop_stops_a_run() {
    let place = Place::new();
    let line = "bench travelplanner two-stage@sim/perfect --limit 2 --compat original --json -q";
    let report = place.run(line).code(1).json();
    assert_eq!((&report["classes"]["stopped"], &report["failed"]), (&json!(2), &json!(2)), "{report}");
    let shown = place.run("runs show last --case travelplanner-own-1").code(0).out;
    assert!(shown.contains("stopped after call 0: the same action three times in a row"), "{shown}");
    let refused = |line: &str, what: &str| {
        let run = place.run(line).code(2);
        assert!(run.err.contains(what), "{line}: {run:?}");
    };
    refused(
        "bench gsm8k two-stage@sim/gold --limit 1",
        "two-stage is for travelplanner, whose tools it works with",
    );
    refused(
        "bench travelplanner two-stage@sim/gold --mode reading --limit 1",
        "two-stage is for travelplanner with --mode two-stage",
    );
    refused("bench travelplanner two-stage:samples=3@sim/gold", "two-stage has no option samples");
    refused(
        "bench travelplanner two-stage:planner=gpt@sim/gold",
        "write the name of a model, as in openai/gpt-5",
    );
}

#[test]
fn a_report_says_who_sees_what_beside_published_rates() {
    let place = Place::new();
    let report = place.run("bench travelplanner greedy --html r.html --json -q").code(1).json();
    assert_eq!(report["travelplanner"]["final"], json!({"passed": 0, "of": 20}), "{report}");
    assert_eq!(report["arms"]["mode"], "two-stage");
    let page = fs::read_to_string(place.path("r.html")).unwrap();
    assert!(page.contains("without a model") && !page.contains("a model of its own"));
    assert!(!page.contains("Published figures"), "its rows stand in the tables of rates already");
    for words in ["Who sees what", "published, table 1: test set, with hints", "40.26", "Within Current City"]
    {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn published_folders_are_read() {
    let place = Place::new();
    publish(&place);
    let line = "bench travelplanner solver tools@sim/gold --data data --set validation --days 3 --json -q";
    place.run(line).code(0);
    let report = place
        .run("bench travelplanner solver --data data --set validation --limit 4 --json -q")
        .code(0)
        .json();
    assert_eq!(report["passed"], 4, "{report}");
    place.run("runs show last --judge-again").code(0);
    // Other tables are another case.
    let file = place.path("data/database/attractions/attractions.csv");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\n")).unwrap();
    let run = place.run("runs show last --judge-again");
    assert!(format!("{}{}", run.out, run.err).contains("differ from those"), "{run:?}");
}

/// A price that changes behind the first megabyte, at the same length, makes other tables as well: the agent is not
/// blamed for it.
#[test]
fn flights_that_change_anywhere_leave_runs_unscored() {
    let place = Place::new();
    publish(&place);
    let file = place.path("data/database/flights/clean_Flights_2022.csv");
    let own = fs::read_to_string(&file).unwrap();
    let (header, rows) = own.split_once('\n').unwrap();
    let others = "F9,1,06:05,07:05,1 hours 0 minutes,2022-03-01,Nowhere,Elsewhere,1.0\n".repeat(20_000);
    let table = |rows: &str| format!("{header}\n{others}{rows}");
    assert!(others.len() > 1 << 20);
    fs::write(&file, table(rows)).unwrap();
    let line = "bench travelplanner solver --data data --set validation --limit 4 --json -q";
    assert_eq!(place.run(line).code(0).json()["passed"], 4);
    assert_eq!(place.run("runs show last --judge-again --json").code(0).json()["passed"], 4);
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    // Every price becomes 9 something.
    let dearer: String = rows
        .lines()
        .map(|row| {
            let (number, rest) = row.split_once(',').unwrap();
            format!("{number},9{}\n", &rest[1..])
        })
        .collect();
    assert_eq!(table(&dearer).len(), table(rows).len());
    fs::write(&file, table(&dearer)).unwrap();
    fs::File::options().append(true).open(&file).unwrap().set_modified(time).unwrap();
    let again = place.run("runs show last --judge-again --json");
    assert!(again.err.contains("differ from those") || again.out.contains("\"unscored\":4"), "{again:?}");
    assert!(!again.out.contains("\"failed\":4"), "{again:?}");
}

#[test]
fn cases_name_their_tables_as_the_user_did() {
    let place = Place::new();
    publish(&place);
    place.run("bench travelplanner solver --data data --set validation --limit 2 -q").code(0);
    let cases = place.run("runs export last --format cases").code(0).out;
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        assert_eq!(case["tables"]["path"], "data", "{line}");
    }
    // Elsewhere the same cases want the same folder, and say so.
    let elsewhere = Place::new();
    elsewhere.write("cases.jsonl", &cases);
    let run = elsewhere.run("bench travelplanner tools@sim/gold --from cases.jsonl -q").code(2);
    assert!(run.err.contains("the tables of the case lie in data, as --data was written"), "{run:?}");
    assert!(run.err.contains("or put the folder, or a link to it, here"), "{run:?}");
    copy(&place.path("data"), &elsewhere.path("data"));
    elsewhere.run("bench travelplanner tools@sim/gold --from cases.jsonl -q").code(0);
}

#[test]
fn bad_data_is_one_clear_error() {
    let place = Place::new();
    publish(&place);
    let refused = |line: &str, what: &str| {
        let run = place.run(&format!("bench travelplanner {line}")).code(2);
        assert!(run.err.starts_with("error: ") && run.err.contains(what), "{line}: {run:?}");
        assert_eq!(run.err.lines().count(), 1, "{run:?}");
    };
    refused("solver --data nowhere --set validation", "nowhere: it is not a folder");
    refused("solver --data data", "choose the queries of data with --set: there are validation");
    refused("solver --data data --set test", "sets with queries are validation");
    refused("solver --data data --set validation --mode sole-planning", "there is no reference information");
    let run = place.run("bench travelplanner solver --compat published").code(2);
    assert!(run.err.contains("original"), "{run:?}");
    refused("solver --days 400", "there is no --days 400");
    refused("tools@sim/gold --mode reading --days 31", "holds no case");
    let run = place.run("bench gsm8k tools@sim/gold --days 3").code(2);
    assert!(run.err.contains("--days is for travelplanner here, not for gsm8k"), "{run:?}");
    let run = place.run("bench gsm8k tools@sim/gold --set validation").code(2);
    assert!(run.err.contains("write --set KEY=VALUE"), "{run:?}");
    let run = place.run("bench gsm8k solver").code(2);
    assert!(run.err.contains("the suite gsm8k has no agent `solver` of its own"), "{run:?}");
    let broken = |name: &str, text: &str, what: &str| {
        let file = place.path(&format!("data/{name}"));
        let before = fs::read(&file).unwrap();
        fs::write(&file, text).unwrap();
        refused("solver --data data --set validation", what);
        fs::write(&file, before).unwrap();
    };
    let flights = fs::read_to_string(place.path("data/database/flights/clean_Flights_2022.csv")).unwrap();
    let (header, _) = flights.split_once('\n').unwrap();
    broken(
        "database/flights/clean_Flights_2022.csv",
        &format!("{header}\nF1,2\n"),
        "clean_Flights_2022.csv:2: ",
    );
    broken("database/restaurants/clean_restaurant_2022.csv", "Name,City\n", "there is no column");
    broken(
        "database/restaurants/clean_restaurant_2022.csv",
        "Name,Average Cost,Cuisines,Aggregate Rating,City\nA,cheap,Thai,4,Reno\n",
        "clean_restaurant_2022.csv:2: `Average Cost` is \"cheap\"; write a number",
    );
    broken("queries/validation.jsonl", "{\"idx\": 1}\n", "validation.jsonl:1: ");
    fs::remove_file(place.path("data/database/background/citySet.txt")).unwrap();
    refused("solver --data data --set validation", "citySet.txt: there is no such file");
}

#[test]
fn finished_plans_are_scored() {
    let place = Place::new();
    fs::copy(own().join("plans.jsonl"), place.path("plans.jsonl")).unwrap();
    for options in ["", "--compat original"] {
        let report = place.run(&format!("score travelplanner plans.jsonl {options} --json")).code(0).json();
        assert_eq!(report["passed"], 20, "{options}: {report}");
    }
    let queries = fs::read_to_string(place.path("plans.jsonl")).unwrap();
    let plan = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let mut lines: Vec<Value> = queries.lines().map(plan).collect();
    // Wrong keys, nothing, a number for a text, no list, and a trip of 400 days.
    lines[0]["plan"] = json!([{"day": 1}]);
    lines[1]["plan"] = Value::Null;
    lines[2]["plan"][0]["lunch"] = json!(12);
    lines[3]["plan"] = json!("by train");
    let day = lines[4]["plan"][0].clone();
    lines[4]["plan"] = Value::Array(vec![day; 400]);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    place.write("bad.jsonl", &text);
    for options in ["", "--compat original"] {
        let report = place.run(&format!("score travelplanner bad.jsonl {options} --json")).code(1).json();
        assert_eq!((&report["passed"], &report["failed"]), (&json!(15), &json!(5)), "{options}: {report}");
        assert_eq!(report["classes"]["undelivered"], 1, "{report}");
    }
    place.write("torn.jsonl", "{\"idx\": 1, \"plan\": [");
    let run = place.run("score travelplanner torn.jsonl").code(2);
    assert!(run.err.contains("torn.jsonl:1: "), "{run:?}");
}
