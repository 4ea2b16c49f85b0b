//! What the published code says of calls of level 3, where the kit that records it is at hand. Where it is not, the
//! tests are *ignored*, which the usual harness cannot say at run time; with `PLANPROOF_CI` set they fail.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

#[path = "../../qa/tests/support/kit.rs"]
mod recorded;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use planproof_apibank::api::ApiFault;
use planproof_apibank::call;
use planproof_apibank::level3::{carry_out, data, is_same, read_call};
use planproof_apibank::record::ApiRecord;
use planproof_apibank::world::{ApiCompat, ApiWorld};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let trials = vec![
        trial("calls_give_what_was_published", "lv3_expected.jsonl", calls_give_what_was_published),
        trial("records_compare_as_published", "lv3_check_pairs_expected.jsonl", records_compare_as_published),
        trial("right_calls_leave_no_trace_in_searches", "lv3_cases.jsonl", right_searches_leave_no_trace),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test that needs a file of the kit.
fn trial(name: &str, needs: &str, test: fn()) -> Trial {
    recorded::trial(name, kit(needs), test)
}

fn kit(name: &str) -> PathBuf {
    recorded::path("apibank", name)
}

fn lines(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(kit(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap()
}

fn world(compat: ApiCompat) -> ApiWorld {
    data::read(&std::fs::read_to_string(kit("lv3_databases.json")).unwrap(), compat).unwrap()
}

/// What a text comes to, in the form of the kit.
fn outcome(text: &str, world: &mut ApiWorld) -> (Value, Option<ApiRecord>) {
    let extracted = call::extract(text);
    let Some((api, arguments)) = read_call(text, world) else {
        return (json!({"extracted": extracted, "parsed": null, "status": "NO_API_CALL"}), None);
    };
    let parsed = json!({"api_name": api, "params": arguments});
    let named = |status: &str, kind: Option<&str>, error: Option<&str>, record: Option<&ApiRecord>| {
        json!({
            "extracted": extracted, "parsed": parsed, "status": status, "result": record, "error_type": kind,
            "error": error,
        })
    };
    match carry_out(&api, &arguments, world) {
        Ok(record) if record.exception.as_text() == Some("the formula never comes to an end") => {
            (named("HANG", None, None, None), None)
        }
        Ok(record) => (named("OK", None, None, Some(&record)), Some(record)),
        Err(ApiFault::Raised(error)) => (named("RAISED", Some(&error.kind), Some(&error.text), None), None),
        Err(error) => panic!("{text}: {error}"),
    }
}

fn is_like(expected: &Value, found: &Value) -> bool {
    ["extracted", "parsed", "status", "result", "error_type", "error"]
        .iter()
        .all(|name| expected[name] == found[name])
}

fn calls_give_what_was_published() {
    let cases: BTreeMap<String, String> = lines("lv3_cases.jsonl")
        .iter()
        .map(|it| (text(it, "id").to_owned(), text(it, "text").to_owned()))
        .collect();
    let mut shared = world(ApiCompat::Original);
    let fresh = world(ApiCompat::Original);
    let found: BTreeMap<&str, [Value; 2]> = cases
        .iter()
        .map(|(id, text)| (id.as_str(), [outcome(text, &mut fresh.clone()).0, outcome(text, &mut shared).0]))
        .collect();
    let expected = lines("lv3_expected.jsonl");
    let mut wrong = Vec::new();
    for case in &expected {
        let found = &found[text(case, "id")];
        for (name, found) in ["fresh", "shared_in_order"].iter().zip(found) {
            if !is_like(&case[name], found) {
                wrong.push(format!("{} {name}: {found} instead of {}", case["id"], case[name]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(expected.len() >= 142, "only {} cases were compared", expected.len());
    let differ = found.values().filter(|[fresh, shared]| fresh != shared).count();
    assert_eq!((found.len(), differ), (241, 4));
}

fn records_compare_as_published() {
    let inputs: BTreeMap<u64, Value> = lines("lv3_check_pairs_inputs.jsonl")
        .into_iter()
        .map(|it| (it["line"].as_u64().unwrap(), it))
        .collect();
    let fresh = world(ApiCompat::Original);
    let record = |text: &str| outcome(text, &mut fresh.clone()).1.unwrap();
    let expected = lines("lv3_check_pairs_expected.jsonl");
    for case in &expected {
        let input = &inputs[&case["line"].as_u64().unwrap()];
        let (predicted, gold) = (record(text(input, "pred_text")), record(text(input, "gold_text")));
        let (is_correct, error) = match is_same(text(input, "api"), &predicted, &gold, ApiCompat::Original) {
            Ok(is_correct) => (is_correct, None),
            Err(error) => (false, Some(error.to_string())),
        };
        assert_eq!(
            (case["correct"].as_bool().unwrap(), case["error"].as_str()),
            (is_correct, error.as_deref()),
            "{input}"
        );
    }
    assert!(expected.len() >= 240, "only {} pairs were compared", expected.len());
}

/// The same searches twice, over the original's databases: in the right mode the second time gives the same.
fn right_searches_leave_no_trace() {
    let mut world = world(ApiCompat::Right);
    let mut count = 0;
    for case in lines("lv3_cases.jsonl") {
        let text = text(&case, "text");
        if text.contains("Search(") || text.contains("Availability(") {
            let first = outcome(text, &mut world).0;
            assert_eq!(first, outcome(text, &mut world).0, "{text}");
            count += 1;
        }
    }
    assert!(count >= 17, "only {count} searches were made");
}
