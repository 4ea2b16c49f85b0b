//! Bad rules, scenarios, topics and options: each is one clear error with its place, soon, and nothing is begun.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::support::Place;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct All {
    bad: Vec<Bad>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bad {
    what: String,
    line: String,
    says: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// The bytes of files that are not texts, as hexadecimal digits.
    #[serde(default)]
    bytes: BTreeMap<String, String>,
}

const TOOLS: &str = r#"[
 {"name": "get_order", "description": "Looks up an order.", "input_schema": {"type": "object",
  "properties": {"order_id": {"type": "integer"}}, "required": ["order_id"], "additionalProperties": false}},
 {"name": "refund", "description": "Refunds an order.", "input_schema": {"type": "object",
  "properties": {"order_id": {"type": "integer"}, "amount": {"type": "number"}, "note": {"type": "string"},
   "tags": {"type": "array"}, "speed": {"type": "string", "enum": ["fast", "slow"]}},
  "required": ["order_id", "amount"], "additionalProperties": false}}]"#;

const RULES: &str = "schema: planproof/rules/v1\nrules:\n";

const SHOP: &str = "schema: planproof/scenario/v1\ntools:\n  - {name: get_order, arguments: {order_id: integer}}\n  \
                    - {name: refund, arguments: {order_id: integer, tags?: array, note?: string}}\n";

/// Longer than any takes on a machine that is busy, and shorter than what grows with its input takes.
const SECONDS_MAX: u64 = 30;

/// A text in which `<<N|TEXT>>` stands for so many copies.
fn written(text: &str) -> String {
    let case = format!("{SHOP}cases:\n  - id: one\n    query: \"Refund order 17.\"\n");
    let mut text = match text.split_once('\n') {
        Some(("RULES", rest)) => format!("{RULES}{rest}"),
        Some(("SHOP", rest)) => format!("{SHOP}{rest}"),
        Some(("CASE", rest)) => format!("{case}{rest}"),
        _ => text.to_owned(),
    };
    text = text.replace("NUL", "\0");
    while let Some(start) = text.find("<<") {
        let Some((count, rest)) = text[start + 2..].split_once('|') else { break };
        let Ok(count) = count.parse::<usize>() else { break };
        let Some((piece, behind)) = rest.split_once(">>") else { break };
        let copies: String = match piece.contains('#') {
            true => (0..count).map(|number| piece.replace('#', &number.to_string())).collect(),
            false => piece.repeat(count),
        };
        text = format!("{}{copies}{behind}", &text[..start]);
    }
    text
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
#[ignore = "slow"]
fn rules() {
    each_is_one_error(include_str!("../data/bad_input/rules.toml"));
}

#[test]
#[ignore = "slow"]
fn scenarios() {
    each_is_one_error(include_str!("../data/bad_input/scenarios.toml"));
}

#[test]
fn options_topics_and_first_files() {
    each_is_one_error(include_str!("../data/bad_input/others.toml"));
}

#[track_caller]
fn each_is_one_error(table: &str) {
    let All { bad } = toml::from_str(table).unwrap();
    let place = Place::new();
    let mut wrong = Vec::new();
    for Bad { what, line, says, files, bytes } in &bad {
        place.write("tools.json", TOOLS);
        for (name, text) in files {
            place.write(name, &written(text));
        }
        for (name, hex) in bytes {
            fs::write(place.path(name), bytes_of(hex)).unwrap();
        }
        let start = Instant::now();
        let run = place.run(line);
        let took = start.elapsed();
        for name in files.keys().chain(bytes.keys()) {
            fs::remove_file(place.path(name)).unwrap();
        }
        // Of many faults, the first ones are shown.
        let is_once = run.err.matches(says.as_str()).count() == 1;
        let is_short = run.err.lines().count() <= 60 && run.err.len() < 20_000;
        if run.code != 2 || !is_once || !is_short || took > Duration::from_secs(SECONDS_MAX) {
            let err: String = run.err.chars().take(600).collect();
            wrong.push(format!("{what}: {line}\n  exit {}, {took:?}, expected: {says}\n  {err}", run.code));
        }
    }
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), bad.len(), wrong.join("\n"));
    assert!(!place.path(".planproof").exists(), "the store was touched");
}
