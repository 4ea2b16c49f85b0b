//! `planproof guard decide`: decisions for programs that make their calls themselves.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Place, Run, json_lines};

const RULES: &str = "schema: planproof/rules/v1\nrules:\n\
    - {id: look-first, requires: {call: refund, done: look}, per: /id, why: Look.}\n\
    - {id: few, at-most: {call: pay, times: 3}}\n";

fn decided(place: &Place, options: &str, questions: &str) -> Run {
    let words = format!("guard decide --rules rules.yaml {options}");
    Run::of(place.command(&words.split_whitespace().collect::<Vec<_>>()), questions)
}

#[test]
fn each_line_has_its_answer() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    let long = format!("{{\"id\":9,\"do\":\"before\",\"tool\":\"{}\"}}", "x".repeat(17 * 1024 * 1024));
    let questions = [
        r#"{"id":1,"do":"before","tool":"refund","arguments":{"id":7}}"#,
        "",
        r#"{"id":2,"do":"before","tool":"look","arguments":{"id":7}}"#,
        r#"{"id":3,"do":"after","number":2,"result":"found"}"#,
        "nonsense",
        &long,
        r#"{"id":4,"do":"before","tool":"refund","arguments":{"id":7}}"#,
    ];
    let run = decided(&place, "--enforce --log log.jsonl", &questions.join("\n")).code(0);
    assert_eq!(run.err, "");
    let answers = json_lines(&run.out);
    assert_eq!((&answers[0]["schema"], &answers[0]["rules"]), (&json!("planproof/decide/v1"), &json!(2)));
    let verdicts: Vec<&Value> = answers[1..].iter().map(|answer| &answer["verdict"]).collect();
    let expected = ["reject", "approve", "", "reject", "reject", "approve"];
    let expected: Vec<Value> =
        expected.iter().map(|word| if word.is_empty() { Value::Null } else { json!(word) }).collect();
    assert_eq!(verdicts, expected.iter().collect::<Vec<_>>());
    assert!(answers[5]["fault"].as_str().unwrap().contains("bytes"), "{}", answers[5]);
    // The log has what was answered, and the end of the session.
    let log = json_lines(&std::fs::read_to_string(place.path("log.jsonl")).unwrap());
    assert_eq!((&log[0], log.len()), (&answers[1]["decision"], 5));
    assert_eq!((&log[4]["kind"], &log[4]["pending"]), (&json!("end"), &json!([3])));
    place.run("check --rules rules.yaml log.jsonl").code(0);
    place.run("guard replay log.jsonl --rules rules.yaml").code(0);
    // Watching, it approves the same calls, and says why it would not.
    let answers = json_lines(&decided(&place, "--shadow", &questions.join("\n")).code(0).out);
    assert!(answers[1]["reason"].as_str().unwrap().contains("look-first"), "{}", answers[1]);
    assert!(answers[1..].iter().all(|answer| answer["verdict"] != "reject"));
}

#[test]
fn what_is_wrong_is_said() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    let question = r#"{"do":"before","tool":"look"}"#;
    assert!(decided(&place, "--shadow --enforce", "").code(2).err.contains("cannot be used with"));
    assert!(decided(&place, "--enforce --log no/such/log", "").code(2).err.contains("cannot write --log"));
    assert!(decided(&place, "--enforce --log rules.yaml", "").code(2).err.contains("rules.yaml"));
    // Rules that cannot be used reject everything, or where it only watches nothing.
    place.write("rules.yaml", "schema: planproof/rules/v1\nrules:\n- {id: a, sometimes: {call: b}}\n");
    for (option, verdict) in [("--enforce", "reject"), ("", "reject"), ("--shadow", "approve")] {
        let run = decided(&place, option, question).code(0);
        let answers = json_lines(&run.out);
        assert!(answers[0]["fault"].as_str().unwrap().contains("not valid"), "{run:?}");
        assert_eq!(answers[1]["verdict"], verdict);
        assert!(run.err.contains("rules.yaml:3"), "{run:?}");
    }
}

/// Without a mode on the command line, each rule is in its own.
#[test]
fn rules_are_in_modes_of_their_own() {
    let place = Place::new();
    place.write("rules.yaml", &RULES.replace("{id: few,", "{id: few, mode: shadow,"));
    let questions = [r#"{"do":"before","tool":"pay"}"#; 4].join("\n");
    let refund = r#"{"do":"before","tool":"refund","arguments":{"id":7}}"#;
    let run = decided(&place, "--log log.jsonl", &format!("{questions}\n{refund}")).code(0);
    let answers = json_lines(&run.out);
    assert_eq!((&answers[0]["mode"], &answers[0]["by_rule"]), (&json!("enforce"), &json!(true)));
    assert_eq!((&answers[4]["verdict"], &answers[4]["rules"][0]["id"]), (&json!("approve"), &json!("few")));
    assert_eq!(answers[5]["verdict"], "reject");
    let log = json_lines(&std::fs::read_to_string(place.path("log.jsonl")).unwrap());
    assert_eq!((&log[3]["action"], &log[3]["mode"]), (&json!("noted"), &json!("shadow")));
    assert_eq!((&log[4]["action"], &log[4]["mode"]), (&json!("blocked"), &json!("enforce")));
    place.run("guard replay log.jsonl --rules rules.yaml").code(0);
}

/// A program that is killed loses no approval: each that it heard of is in the log.
#[test]
#[cfg(unix)]
fn what_was_approved_is_in_the_log() {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    for kill_after in [1, 2, 3, 50] {
        let words = ["guard", "decide", "--rules", "rules.yaml", "--enforce", "--log", "log.jsonl"];
        let mut command = place.command(&words);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut to = child.stdin.take().unwrap();
        let mut from = BufReader::new(child.stdout.take().unwrap()).lines();
        let greeting: Value = serde_json::from_str(&from.next().unwrap().unwrap()).unwrap();
        let mut approved = 0;
        for _ in 0..kill_after {
            writeln!(to, "{}", json!({"do": "before", "tool": "pay"})).unwrap();
            let answer: Value = serde_json::from_str(&from.next().unwrap().unwrap()).unwrap();
            approved += usize::from(answer["verdict"] == "approve");
        }
        assert_eq!(approved, kill_after.min(3));
        child.kill().unwrap();
        child.wait().unwrap();
        let log = json_lines(&std::fs::read_to_string(place.path("log.jsonl")).unwrap());
        let logged =
            log.iter().filter(|line| line["session"] == greeting["session"] && line["action"] == "passed");
        assert_eq!(logged.count(), approved);
    }
}
