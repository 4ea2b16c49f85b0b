//! `planproof bench` and `planproof score`: everything a campaign has works for a suite that is as different from
//! orders as can be.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::crash::{Moment, kill};
use crate::stored::{assert_kept, finished};
use crate::support::{Place, json_lines};

/// Problems of our own in the format of the data, with answers 1 to that number.
pub(crate) fn data(problems: usize) -> String {
    let line = |number: usize| {
        let question =
            format!("A shelf holds {number} books and then none is added. How many books does it hold?");
        let answer = format!("It holds {number}+0=<<{number}+0={number}>>{number} books.\n#### {number}");
        format!("{}\n", json!({ "question": question, "answer": answer }))
    };
    (1..=problems).map(line).collect()
}

#[test]
fn the_suites_are_listed() {
    let place = Place::new();
    let listed = place.run("bench").code(0).out;
    assert!(
        listed.starts_with("order         tasks ") && listed.contains("\ngsm8k         word problems"),
        "{listed}"
    );
    let suites = place.run("bench --json").code(0).json();
    assert_eq!(suites[1]["suite"], "gsm8k");
    let run = place.run("bench none tools@sim/gold").code(2);
    assert_eq!(
        run.err,
        "error: there is no suite `none`; there are order, gsm8k, hotpotqa, triviaqa, mnms, apibank, tptu, scenario, travelplanner\n"
    );
    let run = place.run("bench gsm8k").code(2);
    assert!(run.err.starts_with("error: name the agent, as in `planproof bench gsm8k "), "{run:?}");
    assert!(!place.path(".planproof").exists(), "nothing was begun");
}

#[test]
fn every_way_of_answering_solves_the_problems_of_our_own() {
    let place = Place::new();
    for agent in ["tools", "direct", "cot", "react", "rewoo", "pass"] {
        let report = place.run(&format!("bench gsm8k {agent}@sim/gold --json -q")).code(0).json();
        assert_eq!((&report["suite"], &report["passed"]), (&json!("gsm8k"), &json!(10)), "{agent}: {report}");
        assert_eq!((&report["unit"], &report["metrics"]["strict"]["value"]), (&json!("steps"), &json!(1.0)));
    }
    let report = place.run("bench gsm8k cot@sim/gold --samples 3 --limit 4 --json -q").code(0).json();
    assert_eq!(
        (&report["passed"], &report["agent"]),
        (&json!(4), &json!("cot:samples=3@sim/gold")),
        "{report}"
    );
    let fallback = "bench gsm8k fallback:direct,react@sim/gold/1 --limit 4 --json -q";
    assert_eq!(place.run(fallback).code(1).json()["classes"]["wrong_answer"], 4);
}

#[test]
fn a_folder_stands_for_its_only_file_of_lines() {
    let place = Place::new();
    let folder = place.path("gsm8k");
    fs::create_dir(&folder).unwrap();
    let line = "bench gsm8k direct@sim/gold --data gsm8k --json -q";
    let refused = |count: usize| {
        let run = place.run(line).code(2);
        let says = format!(
            "error: gsm8k is a folder with {count} .jsonl files, and only a single one is read \
            without its name"
        );
        assert!(run.err.starts_with(&says), "{run:?}");
    };
    fs::write(folder.join("LICENSE"), "").unwrap();
    refused(0);
    fs::write(folder.join("test.jsonl"), data(3)).unwrap();
    assert_eq!(place.run(line).code(0).json()["passed"], 3);
    fs::write(folder.join("train.jsonl"), data(1)).unwrap();
    refused(2);
}

#[test]
fn a_campaign_is_recorded_replayed_compared_and_reported() {
    let place = Place::new();
    place.write("data.jsonl", &data(40));
    let files = "--html r.html --junit r.xml --csv r.csv --inspect r.json --step-summary r.md";
    let line = format!(
        "bench gsm8k react@sim/gold/0.3 --data data.jsonl --repeat 2 --record r.jsonl {files} -q --json"
    );
    let recorded = place.run(&line).code(1).json();
    let [passed, failed] = ["passed", "failed"].map(|key| recorded[key].as_u64().unwrap());
    assert!(passed > 30 && failed > 5 && passed + failed == 80, "{recorded}");
    assert_eq!(recorded["classes"]["wrong_answer"], failed);
    for key in ["solver", "synthesis_seconds", "infeasible"] {
        assert_eq!(recorded[key], Value::Null, "orders have it alone: {key}");
    }
    for (file, words) in [
        ("r.html", "Published figures"),
        ("r.html", "Success by number of steps"),
        ("r.xml", "<failure type=\"wrong_answer\" message=\"answered "),
        ("r.csv", "\"found"),
        ("r.json", "\"suite\":\"gsm8k\""),
        ("r.md", "### The strict rule"),
    ] {
        let text = fs::read_to_string(place.path(file)).unwrap();
        assert!(text.contains(words) || file == "r.csv" && text.contains("extracted"), "{file}: {words}");
    }
    let replayed = place.run("bench gsm8k --replay r.jsonl").code(0);
    assert!(replayed.out.starts_with("REPLAY: "), "{replayed:?}");
    let said = format!("as recorded: {failed} runs of 80 failed then and now; --require-pass exits with 1\n");
    assert!(replayed.err.ends_with(&said), "{replayed:?}");
    place.run("bench gsm8k react@sim/gold/0.3 --data data.jsonl --replay r.jsonl -q").code(0);
    let run = place.run("bench gsm8k --replay r.jsonl --data data.jsonl --limit 3").code(2);
    assert!(run.err.contains("recorded with 40 cases that are not the 3 that are requested now"), "{run:?}");
    // Another answer is a difference, though its class is the same.
    let text = fs::read_to_string(place.path("r.jsonl")).unwrap();
    let (before, verdict) = text.split_once("\"essence\":\"answer ").unwrap();
    let (answer, rest) = verdict.split_once(',').unwrap();
    place.write("other.jsonl", &format!("{before}\"essence\":\"answer 777,{rest}"));
    let run = place.run("bench gsm8k --replay other.jsonl").code(3);
    assert!(run.err.contains("answer 777,") && run.err.contains(&format!("answer {answer},")), "{run:?}");
    // Compared with one that is right, and looked at.
    place.run("bench gsm8k react@sim/gold --data data.jsonl -q").code(0);
    let ids: Vec<String> = json_lines(&place.run("runs list --json").code(0).out)
        .iter()
        .map(|run| run["run"].as_str().unwrap().to_owned())
        .collect();
    let compared = place.run(&format!("report {} {} --json", ids.last().unwrap(), ids[0])).code(0).json();
    assert_eq!((&compared["unit"], &compared["common"]), (&json!("steps"), &json!(40)), "{compared}");
    assert!(compared["changes"]["fixed"].as_u64() > Some(0), "{compared}");
    place.run(&format!("report {} {} {}", ids.last().unwrap(), ids[0], ids[1])).code(0);
    let shown = place.run("runs show last --case gsm8k-3").code(0).out;
    assert!(
        shown.contains("A shelf holds 3 books")
            && shown.contains("  read:     the answer read is 3, which is right\n"),
        "{shown}"
    );
    let again = place.run("runs show last --judge-again --json").code(0).json();
    assert_eq!(again["by_size"], place.run("runs show last --json").code(0).json()["by_size"]);
    // What is about orders alone says so.
    for line in ["tables last", "runs export last --format chat-jsonl"] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(" is of the suite gsm8k; "), "{line}: {run:?}");
    }
    // A case of a campaign can be run again by itself.
    let cases = place.run("runs export last --format cases --case gsm8k-3").code(0).out;
    place.write("case.jsonl", &cases);
    place.run("bench gsm8k react@sim/gold --from case.jsonl -q").code(0);
}

#[test]
#[ignore = "slow"]
fn a_budget_and_kills_lose_nothing() {
    let place = Place::new();
    place.write("data.jsonl", &data(60));
    let whole = place.run("bench gsm8k tools@sim/gold/0.5 --data data.jsonl -q --json").code(1).json();
    let line = "bench gsm8k tools@sim/gold/0.5 --data data.jsonl --concurrency 1 --max-tokens 3000 \
                --reply-tokens 100 -q --json";
    let part = place.run(line).json();
    let left = part["not_run"].as_u64().unwrap();
    assert!(left > 0 && left < 60, "{part}");
    let (id, before) = finished(&place).unwrap();
    assert!(place.run("test --resume last").code(2).err.contains("`planproof bench gsm8k --resume "));
    let rest = place.run("bench gsm8k --resume last --max-tokens 9000000 -q --json").code(1).json();
    for key in ["passed", "failed", "by_size", "metrics", "classes", "flags"] {
        assert_eq!(rest[key], whole[key], "{key}");
    }
    let (same, after) = finished(&place).unwrap();
    assert_eq!(same, id);
    assert_kept(&before, &after);
    // Killed, and killed again.
    place.write("data.jsonl", &data(3000));
    let begin = ["bench", "gsm8k", "react@sim/gold/0.5", "--data", "data.jsonl", "--concurrency", "1", "-q"];
    kill(&place, place.command(&begin), &Moment::AfterProgress(Duration::from_millis(20)));
    let (id, before) = finished(&place).unwrap();
    let resume = ["bench", "gsm8k", "--resume", "last", "-q"];
    kill(&place, place.command(&resume), &Moment::AfterProgress(Duration::from_millis(5)));
    let report = place.run("bench gsm8k --resume last -q --json").code(1).json();
    assert_eq!((report["runs"].as_u64(), report["not_run"].as_u64()), (Some(3000), Some(0)));
    let (same, after) = finished(&place).unwrap();
    assert_eq!((same, after.len()), (id, 3000));
    assert_kept(&before, &after);
}

#[test]
fn finished_predictions_are_scored_without_a_model() {
    let place = Place::new();
    place.write("data.jsonl", &data(4));
    place.write(
        "p.jsonl",
        "{\"id\":\"gsm8k-2\",\"prediction\":\"#### 2\"}\n{\"id\":\"gsm8k-1\",\"prediction\":\"It is 1.\"}\n\
         {\"id\":\"gsm8k-3\",\"prediction\":\"4\"}\n",
    );
    let run = place.run("score gsm8k p.jsonl --data data.jsonl --json").code(1);
    let report = run.json();
    assert_eq!((&report["passed"], &report["failed"]), (&json!(2), &json!(2)), "{report}");
    assert_eq!(
        report["classes"],
        json!({
            "agent_failed": 0, "missing": 1, "no_answer": 0, "reply_limit": 0, "timeout": 0, "unparsed_call": 0,
            "wrong_answer": 1,
        })
    );
    assert_eq!(report["metrics"]["strict"]["value"], json!(0.25));
    assert_eq!(run.err, "1 case has no prediction and counts as failed: gsm8k-4\n");
    let run = place.run("score gsm8k p.jsonl --data data.jsonl --details").code(1);
    assert!(
        run.out.contains("predictions of p.jsonl, 4 cases") && run.out.contains("Published figures"),
        "{run:?}"
    );
    assert!(!place.path(".planproof").exists(), "nothing is stored");
    place.write("p.jsonl", "{\"prediction\":\"#### 1\"}\n");
    place.run("score gsm8k p.jsonl --data data.jsonl --limit 1").code(0);
}

/// Half an emoji, as an escape and as bytes, and in the data as well.
#[test]
fn halves_of_characters_in_predictions_and_data_stop_nothing() {
    let place = Place::new();
    place.write("data.jsonl", &data(2).replacen("\"question\":\"", "\"question\":\"\\ud83d ", 1));
    let predictions: &[u8] =
        b"\xef\xbb\xbf{\"prediction\":\"\\ude00 #### 1\"}\n{\"prediction\":\"\xed\xa0\xbd #### 2\"}\n";
    std::fs::write(place.path("p.jsonl"), predictions).unwrap();
    let report = place.run("score gsm8k p.jsonl --data data.jsonl --json").code(0).json();
    assert_eq!(report["passed"], json!(2), "{report}");
}

#[test]
fn what_the_user_got_wrong_is_reported_with_its_place() {
    let place = Place::new();
    place.write("broken.jsonl", &(data(2) + "{\"question\": \"?\"}\n"));
    place.write("order.jsonl", &place.run("synth --count 1").code(0).out);
    place.write("p.jsonl", "{\"id\":\"gsm8k-9\",\"prediction\":\"1\"}\n");
    place.write("places.json", "[0, 99]");
    for (line, error) in [
        ("bench gsm8k tools@sim/gold --data broken.jsonl", "broken.jsonl:3:17: missing field `answer`"),
        ("bench gsm8k tools@sim/gold --data none.jsonl", "none.jsonl"),
        ("bench gsm8k tools@sim/gold --from order.jsonl", "order.jsonl, line 1: "),
        ("bench gsm8k tools@sim/gold --places places.json", "place 99 is beyond the last of 10 cases"),
        ("bench gsm8k tools@sim/gold --allow-repeats", "--allow-repeats has no effect on `planproof bench`"),
        ("bench gsm8k tools@sim/gold/2", "`2` is no share of wrong answers"),
        (
            "bench gsm8k repair:tools@sim/gold",
            "the suite gsm8k has no guard for these cases: name the agent without repair:",
        ),
        ("bench --resume last", "name the suite, as in `planproof bench gsm8k --resume last`"),
        ("bench order tools@sim/perfect", "the suite order takes no data"),
        ("score gsm8k p.jsonl", "p.jsonl:1: no problem has the id `gsm8k-9`"),
        ("score order p.jsonl", "the suite order takes no data"),
        ("test tools@sim/perfect --from p.jsonl", "p.jsonl, line 1"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.starts_with("error: ") && run.err.contains(error), "{line}: {run:?}");
    }
    assert!(!place.path(".planproof").exists(), "nothing was begun");
    // What nobody handed it the answers to is not a failure of the agent.
    place.run("bench gsm8k tools@sim/perfect --limit 3 -q").code(3);
}

#[test]
fn predicted_plans_are_scored_in_either_form_and_by_either_rules() {
    let place = Place::new();
    let plan = "[{'id': 0, 'name': 'get location', 'args': {'city': 'Oslo'}}, {'id': 1, 'name': 'get weather', 'args': \
                {'lon': '<node-0>.lon', 'lat': '<node-0>.lat'}}]";
    let code = "def solve():\n    output0 = get_location(city=\"Oslo\")\n    output1 = get_weather(lon=output0['lon'], \
                lat=output0['lat'])\n    result = {0: output0, 1: output1}\n    return result";
    let line = |id: u32| {
        json!({"id": id, "user_request": "?", "plan_str": plan, "code_str": code}).to_string() + "\n"
    };
    place.write("data.jsonl", &(line(7) + &line(8)));
    let nodes: Value = serde_json::from_str(&plan.replace('\'', "\"")).unwrap();
    let lines = |right: Value, wrong: Value| {
        let lines = [json!({"id": 8, "prediction": right}), json!({"id": 7, "prediction": wrong})];
        lines.map(|line| line.to_string() + "\n").concat()
    };
    place.write("nodes.jsonl", &lines(nodes.clone(), json!([nodes[0], {"name": "no tool"}])));
    place.write("code.jsonl", &lines(json!(code), json!("x = get_location(city='Oslo')")));
    let score = |line: &str| place.run(&format!("score mnms {line} --data data.jsonl --json")).code(1).json();
    let report = score("nodes.jsonl");
    assert_eq!((&report["passed"], &report["failed"]), (&json!(1), &json!(1)), "{report}");
    assert_eq!(report["metrics"]["edge_f1"]["value"], json!(2.0 / 3.0), "{report}");
    let report = score("code.jsonl --format code --alternatives");
    assert_eq!(report["metrics"]["ast_equal"]["value"], json!(0.5), "{report}");
    let report = score("nodes.jsonl --compat original");
    let published = &report["published_metrics"];
    // The malformed node spoils its plan, and of 33 tools only two occur.
    assert_eq!(published["metrics"]["plan_tool_accuracy"], json!(50.0), "{published}");
    assert_eq!(published["metrics"]["tool_macro_recall"], json!(3.03), "{published}");
    place.write("one.jsonl", "{\"id\": 7, \"prediction\": []}\n");
    let run = place.run("score mnms one.jsonl --data data.jsonl").code(1);
    assert_eq!(run.err, "1 case has no prediction and counts as failed: mnms-8\n");
    for (line, error) in [
        (
            "score mnms one.jsonl --data data.jsonl --compat original",
            "one.jsonl: 1 of the cases have no prediction",
        ),
        ("score mnms one.jsonl --data data.jsonl --format xml", "cannot be scored with format=xml"),
        (
            "score mnms one.jsonl --limit 1",
            "one.jsonl: 1 of the predictions are for examples that the data does not have: 7",
        ),
        ("score mnms data.jsonl --data data.jsonl", "data.jsonl:1: missing field `prediction`"),
        ("score tptu one.jsonl --compat original", "mnms, apibank and travelplanner here, not for tptu"),
        ("score gsm8k one.jsonl --compat right", "there is no `right` to be compatible with: write original"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.starts_with("error: ") && run.err.contains(error), "{line}: {run:?}");
    }
}
