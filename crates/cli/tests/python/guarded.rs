//! Agents of other people's frameworks behind `planproof.Guard`, by the hooks in `examples/`.

use std::process::Command;

use serde_json::{Value, json};

use crate::package::package;
use crate::support::{Place, Run, json_lines};
use crate::venvs::{keep_compiled, python, root};

const RULES: &str = "schema: planproof/rules/v1\nrules:\n\
    - {id: look-first, requires: {call: refund, done: get_order, result: {/status: paid}}, per: /order_id, why: Look.}\n\
    - {id: once, at-most: {call: refund, times: 1}, per: /order_id}\n";

pub(crate) fn langgraph() {
    let read = guarded("langgraph", "langgraph_node.py", &json!(["get_order", "refund", "get_order"]));
    let errors: Vec<bool> = read.iter().map(|message| message[0] == "error").collect();
    assert_eq!(errors, [true, false, false, true, false, true], "{read:?}");
    assert_eq!(read[2][1], "refunded");
    assert!(is_denial(&read[0][1], "look-first") && is_denial(&read[5][1], "once"), "{read:?}");
}

pub(crate) fn openai_agents() {
    follows_its_script("openai-agents", "openai_agent.py");
}

pub(crate) fn pydantic_ai() {
    follows_its_script("pydantic-ai", "pydantic_agent.py");
}

/// The model asks for a refund, for the order, and for two refunds.
fn follows_its_script(framework: &str, program: &str) {
    let read = guarded(framework, program, &json!(["get_order", "refund"]));
    assert!(is_denial(&read[0], "look-first") && is_denial(&read[3], "once"), "{read:?}");
    assert!(read[1].as_str().unwrap().contains("paid") && read[2] == "refunded", "{read:?}");
}

fn is_denial(text: &Value, rule: &str) -> bool {
    text.as_str().is_some_and(|text| text.contains(&format!("The call is denied by rule {rule}: ")))
}

/// What the model of a program of `ci/guarded` read. These tools were called, and the log says the same.
fn guarded(framework: &str, program: &str, made: &Value) -> Vec<Value> {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    let mut command = Command::new(python(framework));
    command.arg(root().join("ci/guarded").join(program)).args(["rules.yaml", "log.jsonl"]);
    command.current_dir(place.path(".")).env("PLANPROOF_BINARY", env!("CARGO_BIN_EXE_planproof"));
    let folders = [package(), root().join("examples").join(framework)];
    command.env("PYTHONPATH", std::env::join_paths(folders).unwrap());
    keep_compiled(&mut command);
    let said = Run::of(command, "").code(0).json();
    assert_eq!(said["made"], *made);
    let log = json_lines(&std::fs::read_to_string(place.path("log.jsonl")).unwrap());
    let passed = log.iter().filter(|line| line["action"] == "passed").map(|line| &line["call"]["tool"]);
    assert_eq!(passed.collect::<Vec<_>>(), made.as_array().unwrap().iter().collect::<Vec<_>>());
    let results = log.iter().filter(|line| line["kind"] == "result" && line["is_error"] == false);
    assert_eq!(results.count(), made.as_array().unwrap().len());
    place.run("check --rules rules.yaml log.jsonl").code(0);
    said["read"].as_array().unwrap().clone()
}
