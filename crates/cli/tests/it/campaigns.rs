//! `planproof test` with simulated models, and what `planproof runs` shows of it.

use serde_json::{Value, json};

use crate::support::{Place, json_lines};

/// Report of a campaign, checked for what all reports have in common.
fn report(place: &Place, line: &str, code: i32) -> Value {
    let run = place.run(&format!("{line} --json -q")).code(code);
    assert_eq!(run.err, "");
    let report = run.json();
    assert_eq!(report["schema"], "planproof/report/v1");
    let number = |key: &str| report[key].as_u64().unwrap();
    assert_eq!(number("cases"), number("passed") + number("failed") + number("unscored"));
    let classes: u64 =
        report["classes"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(classes, number("failed"));
    report
}

#[test]
fn each_simulated_model_fails_as_it_should() {
    let place = Place::new();
    for (model, class, failed) in [
        ("perfect", None, 0..=0),
        ("in-order", Some("order_error"), 150..=299),
        ("forgetful", Some("action_lost"), 30..=200),
        ("careless", Some("order_error"), 15..=150),
        ("clumsy", Some("act_error"), 30..=200),
        ("endless", Some("timeout"), 300..=300),
    ] {
        let line = format!("test tools@sim/{model} --cases 300 --distractors 1");
        let report = report(&place, &line, i32::from(class.is_some()));
        assert_eq!(report["agent"], format!("tools@sim/{model}"));
        assert_eq!(report["model"], format!("sim/{model}"));
        assert_eq!((&report["simulated"], &report["unscored"]), (&json!(true), &json!(0)));
        let count = report["failed"].as_u64().unwrap();
        assert!(failed.contains(&count), "{model}: {count} failed");
        if let Some(class) = class {
            assert_eq!(report["classes"][class], count, "{model}: another class of failure: {report}");
        }
    }
    let listed = place.run("runs list").code(0).out;
    assert_eq!(listed.matches("(simulation)").count(), 6, "{listed}");
}

#[test]
fn a_simulation_is_named_one() {
    let place = Place::new();
    let run = place.run("test tools@sim/careless --cases 60").code(1);
    assert!(run.out.contains("SIMULATION"), "{run:?}");
    assert!(run.out.contains(" (order_error "), "{run:?}");
    assert!(run.out.contains("Finding 1: order_error"), "{run:?}");
    assert!(run.err.contains(": 60 cases\n"), "{run:?}");
    assert!(place.run("runs show last").code(0).out.contains("SIMULATION"));
}

#[test]
fn exported_traces_are_the_same_bytes_each_time() {
    let traces = |line: &str| {
        let place = Place::new();
        place.run(line).code(1);
        place.run("runs export last").code(0).out
    };
    let first = traces("test tools@sim/careless --cases 200 --actions 3..8 -q");
    assert_eq!(first.lines().filter(|line| line.contains("\"schema\"")).count(), 200);
    // Neither time nor the order in which runs end shows in them.
    assert!(first == traces("test tools@sim/careless --cases 200 --actions 3..8 -q --concurrency 3"));
    assert!(first != traces("test tools@sim/careless --cases 200 --actions 3..8 -q --seed 8"));
    // Nor whether the conversation goes along or is kept.
    let kept = traces("test responses@sim/careless --cases 200 --actions 3..8 -q");
    assert!(kept == traces("test responses@sim/careless --cases 200 --actions 3..8 -q --concurrency 3"));
    assert!(kept.replace("responses@sim/careless", "tools@sim/careless") == first);
}

#[test]
fn former_campaigns_can_be_looked_at() {
    let place = Place::new();
    let printed = report(&place, "test tools@sim/perfect --cases 20", 0);
    let careless = report(&place, "test tools@sim/careless --cases 40", 1);
    let list = json_lines(&place.run("runs list --json").code(0).out);
    let agents: Vec<&Value> = list.iter().map(|campaign| &campaign["agent"]).collect();
    assert_eq!(agents, ["tools@sim/careless", "tools@sim/perfect"], "the newest first");
    assert_eq!(list[1]["finished"], 20);
    assert_eq!((&list[0]["passed"], &list[0]["failed"]), (&careless["passed"], &careless["failed"]));

    let id = list[1]["run"].as_str().unwrap();
    let mut shown = place.run(&format!("runs show {id} --json")).code(0).json();
    // Times are kept in whole milliseconds.
    shown["agent_seconds"] = printed["agent_seconds"].clone();
    assert_eq!(shown, printed);
    let last = place.run("runs show last").code(0).out;
    assert!(last.contains("Finding 1") && last.contains('«'), "{last}");
    let case = last.lines().find_map(|line| line.split_once(" --case ")).unwrap().1;
    let case = place.run(&format!("runs show last --case {case}")).code(0).out;
    assert!(
        case.starts_with("case 7-") && case.contains("order_error") && case.contains("\ntrace:\n"),
        "{case}"
    );
    assert!(case.contains('«'), "{case}");

    let export =
        |format: &str| json_lines(&place.run(&format!("runs export {id} --format {format}")).code(0).out);
    assert_eq!(export("cases"), json_lines(&place.run("synth --count 20").code(0).out));
    let verdicts = export("verdicts");
    assert_eq!(verdicts.len(), 20);
    assert!(
        verdicts
            .iter()
            .all(|verdict| verdict["schema"] == "planproof/verdict/v1" && verdict["passed"] == true)
    );
    assert_eq!(export("traces").iter().filter(|line| line["schema"] == "planproof/trace/v1").count(), 20);
}

#[test]
fn the_store_can_be_named_anywhere_in_the_line() {
    let place = Place::new();
    place.run("test tools@sim/perfect --cases 2 -q --store sub/other.db").code(0);
    assert!(place.path("sub/other.db").exists() && !place.path(".planproof").exists());
    for line in ["runs list --store sub/other.db", "runs --store sub/other.db list"] {
        assert!(place.run(line).code(0).out.contains("tools@sim/perfect"));
    }
    let mut command = place.command(&["runs", "list"]);
    command.env("PLANPROOF_STORE", "sub/other.db");
    assert!(crate::support::Run::of(command, "").code(0).out.contains("tools@sim/perfect"));
}

#[test]
fn a_finished_campaign_is_not_run_again() {
    let place = Place::new();
    let first = report(&place, "test tools@sim/careless --cases 50", 1);
    let (_, before) = crate::stored::finished(&place).unwrap();
    let again = report(&place, "test --resume last", 1);
    let (_, after) = crate::stored::finished(&place).unwrap();
    assert_eq!(before, after);
    assert_eq!((&again["classes"], &again["by_size"]), (&first["classes"], &first["by_size"]));
}

#[test]
fn cases_of_a_file_are_used_as_they_are() {
    let place = Place::new();
    place.write(
        "cases.jsonl",
        &place.run("synth --count 30 --seed 3 --actions 6 --distractors 2").code(0).out,
    );
    let from_file = report(&place, "test tools@sim/in-order --from cases.jsonl", 1);
    let drawn = report(&place, "test tools@sim/in-order --cases 30 --seed 3 --actions 6 --distractors 2", 1);
    assert_eq!((&from_file["passed"], &from_file["by_size"]), (&drawn["passed"], &drawn["by_size"]));
}

#[test]
fn few_iterations_are_a_timeout() {
    let place = Place::new();
    let report = report(&place, "test tools@sim/perfect --cases 20 --actions 4 --iterations 4", 1);
    // Four calls are made, but the answer would be the fifth turn.
    assert_eq!(report["classes"]["timeout"], 20);
    assert_eq!(report["flags"]["action_lost"], 0);
}
