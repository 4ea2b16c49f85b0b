//! Agents under test that are held to rules: `--guard`.

use std::time::Duration;

use serde_json::{Value, json};

use crate::child;
use crate::crash::kill_and_resume;
use crate::support::{Place, json_lines};

const RULES: &str = "schema: planproof/rules/v1\nrules:\n\
  - {id: look-first, requires: {call: refund, done: get_order}, per: /order_id, why: Look first.}\n\
  - {id: small, never: {call: refund, where: {/amount: {above: 100}}}}\n";

const TOOLS: &str = r#"[
  {"name": "get_order", "input_schema": {"type": "object", "properties": {"order_id": {"type": "integer"}}, "required": ["order_id"], "additionalProperties": false}},
  {"name": "refund", "input_schema": {"type": "object", "properties": {"order_id": {"type": "integer"}, "amount": {"type": "number"}}, "required": ["order_id", "amount"], "additionalProperties": false}}
]"#;

/// Rules that deny a step of every plan with three actions.
const FEW: &str = "schema: planproof/rules/v1\nrules:\n  - {id: few, at-most: {call: \"*\", times: 2}}\n";

fn place() -> Place {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    place.write("shadow.yaml", &RULES.replace("rules:", "mode: shadow\nrules:"));
    place.write("few.yaml", FEW);
    place.write("tools.json", TOOLS);
    place
}

fn line(agent: &str, more: &str) -> String {
    format!("test {agent} --rules rules.yaml --tools tools.json --cases 8 --seed 5 {more}")
}

#[test]
fn any_agent_is_held_to_rules_and_the_report_says_what_that_did() {
    let place = place();
    // This agent violates the rule of each case.
    let bare = place.run(&line("at-once", "--json -q")).code(1).json();
    assert_eq!((&bare["passed"], &bare["guard"]), (&0.into(), &Value::Null));
    let held = place.run(&line("at-once", "--guard rules.yaml --json -q"));
    let held = held.json();
    let guard = &held["guard"];
    assert_eq!(guard["rules"], "rules.yaml");
    assert!(guard["rejected"].as_u64() >= Some(8) && guard["runs_with"] == 8, "{guard}");
    assert_eq!((&guard["noted"], &guard["false_blocks"]), (&0.into(), &0.into()));
    // No run violates a rule any more, in the words of any other command.
    let trace = place.run("runs export last").code(0).out;
    place.write("traces.jsonl", &trace);
    place.run("check --rules rules.yaml traces.jsonl").code(0);
    let denied: Vec<Value> =
        json_lines(&trace).into_iter().filter(|event| event["denied"] == json!(true)).collect();
    assert_eq!(Some(denied.len() as u64), guard["rejected"].as_u64());
    assert!(denied.iter().all(|event| event["denied_by"].as_array().is_some_and(|ids| !ids.is_empty())));
    // The campaign that has no guard is the one to compare with.
    let text = place.run(&line("at-once", "--guard rules.yaml --html page.html")).out;
    assert!(text.contains("Guard: rules.yaml denied "), "{text}");
    assert!(text.contains("On the same cases the bare agent passed 0 of 8, behind the guard "), "{text}");
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("rules.yaml denied "), "{page}");
    // The right plan loses nothing.
    let right = place.run(&line("tools@sim/gold", "--guard rules.yaml --json -q")).code(0).json();
    let guard = &right["guard"];
    assert_eq!((&right["passed"], &guard["runs"], &guard["rejected"]), (&8.into(), &8.into(), &0.into()));
    assert!(guard["false_block_low"] == 0.0 && guard["false_block_high"].as_f64() < Some(0.4), "{guard}");
    // What is stored is shown again.
    assert_eq!(place.run("report last --json").code(0).json()["guard"], *guard);
}

#[test]
fn shadow_mode_denies_nothing_and_counts_the_same() {
    let place = place();
    let bare = place.run(&line("at-once", "--json -q")).code(1).json();
    let shadow = place.run(&line("at-once", "--guard shadow.yaml --json -q")).code(1).json();
    for key in ["passed", "classes", "flags"] {
        assert_eq!(shadow[key], bare[key], "{key}");
    }
    let guard = &shadow["guard"];
    assert_eq!(
        (&guard["enforced"], &guard["rejected"], &guard["runs_with"]),
        (&json!(false), &0.into(), &8.into())
    );
    let trace = place.run("runs export last").code(0).out;
    assert!(trace.contains("\"denied_by\":[\"") && !trace.contains("\"denied\":"), "{trace}");
}

#[test]
fn rules_that_deny_right_plans_are_found_out() {
    let place = place();
    let line = "test tools@sim/perfect --cases 20 --actions 3..3 --seed 5 --guard few.yaml";
    let report = place.run(&format!("{line} --json -q")).code(1).json();
    let guard = &report["guard"];
    assert_eq!(
        (&guard["false_blocks"], &guard["wrong"], &guard["saved"]),
        (&20.into(), &0.into(), &0.into())
    );
    let text = place.run(line).code(1).out;
    let said =
        "False blocks: 20 of 20 runs (100.0 %, 95 % interval 83.9 to 100.0 %) lost a step of a right plan";
    assert!(text.replace("\n  ", " ").contains(said), "{text}");
    // Both guards at once: that of the case denies first.
    place.run("test repair:tools@sim/careless --cases 20 --seed 5 --guard few.yaml --json -q").code(1);
}

#[test]
fn bad_rules_are_errors_before_anything_runs() {
    let place = place();
    place.write("near.yaml", &RULES.replace("call: refund", "call: refunds"));
    place.write("bad.yaml", "schema: planproof/rules/v1\nrules: 7\n");
    for (file, said) in [
        (
            "near.yaml",
            "near.yaml:3:37: no tool is called `refunds`, so rule `look-first` can never match; did you mean `refund`?",
        ),
        ("bad.yaml", "bad.yaml:2:8: `rules` is "),
        ("none.yaml", "none.yaml"),
    ] {
        let run = place.run(&line("at-once", &format!("--guard {file}"))).code(2);
        assert!(run.err.contains(said), "{run:?}");
    }
    assert!(!place.path(".planproof/runs.db").exists());
}

#[test]
fn the_rules_are_kept_with_the_campaign() {
    let place = place();
    let line = "test tools@sim/careless --cases 12 --seed 5 --guard few.yaml -q";
    let run = |more: &str| place.run(&format!("{line} {more}")).code(1);
    run("--record r.jsonl");
    let traces = |run: &str| place.run(&format!("runs export {run}")).code(0).out;
    let of_run = traces("last");
    // The file is needed no more, neither for a replay nor to resume.
    place.write("other.yaml", &FEW.replace("times: 2", "times: 1"));
    let replayed = |more: &str| place.run(&format!("test --replay r.jsonl -q {more}"));
    let other = replayed("--guard other.yaml").code(2);
    assert!(
        other.err.contains("recorded with the rules few.yaml that differ from --guard other.yaml"),
        "{other:?}"
    );
    replayed("--guard few.yaml").code(0);
    std::fs::remove_file(place.path("few.yaml")).unwrap();
    replayed("").code(0);
    assert_eq!(traces("last"), of_run);
    assert!(place.run("test --resume last --guard other.yaml").code(2).err.contains("--guard"));
    place.run("test --resume last -q").code(0);

    // So they are with the parts of a campaign.
    place.write("few.yaml", FEW);
    for part in [1, 2] {
        run(&format!("--shard {part}/2 --store s{part}.db"));
    }
    let other = line.replace("few.yaml", "other.yaml");
    let again = place.run(&format!("{other} --shard 1/2 --store s1.db")).code(2);
    assert!(again.err.contains("--guard was few.yaml ("), "{again:?}");
    place.run("runs merge s1.db s2.db --into all.db").code(0);
    assert_eq!(place.run("runs export last --store all.db").code(0).out, of_run);
}

/// A program gets the denial over MCP, as text and as data, and its tool does not get the call.
#[test]
fn a_program_reads_why_its_call_was_denied() {
    let place = Place::new();
    place.write("once.yaml", &FEW.replace("times: 2", "times: 1"));
    child::test(&place, "call call-and-tell", "--cases 1 --guard once.yaml --json -q").code(1);
    let trace = json_lines(&place.run("runs export last").code(0).out);
    let end = trace.last().unwrap();
    let answer: Value = end["text"]
        .as_str()
        .unwrap()
        .lines()
        .find_map(|line| serde_json::from_str(line).ok())
        .unwrap_or_else(|| panic!("{end}"));
    assert_eq!((&answer["isError"], &answer["structuredContent"]["rejected"]), (&json!(true), &json!(true)));
    assert_eq!(answer["structuredContent"]["rules"][0]["id"], "few");
    assert_eq!(answer["content"][0]["text"], answer["structuredContent"]["reason"]);
    let denied = trace.iter().filter(|event| event["denied_by"] == json!(["few"])).count();
    assert_eq!(denied, 1);
}

/// A campaign that is killed again and again, and whose rules are gone by then, comes to the same as one that is not.
#[test]
#[ignore = "slow"]
fn a_killed_campaign_is_held_to_the_same_rules() {
    let line = "test tools@sim/careless --cases 1200 --seed 5 --guard few.yaml --concurrency 4";
    let (killed, whole) = (place(), place());
    let words: Vec<&str> = line.split(' ').collect();
    kill_and_resume(&killed, &words, 6, Duration::from_millis(120), |_, _| {
        let _ = std::fs::remove_file(killed.path("few.yaml"));
    });
    assert!(!killed.path("few.yaml").exists());
    whole.run(&format!("{line} -q")).code(1);
    for what in ["runs export last", "runs export last --format verdicts"] {
        assert!(killed.run(what).code(0).out == whole.run(what).code(0).out, "{what}");
    }
    let [killed, whole] =
        [killed, whole].map(|place| place.run("report last --json").code(0).json()["guard"].clone());
    assert!(whole["rejected"].as_u64() > Some(100), "{whole}");
    assert_eq!(killed, whole);
}

/// An agent's specification may name rules, as seen from its own file.
#[test]
fn a_specification_names_the_rules_of_its_agent() {
    let place = place();
    std::fs::create_dir_all(place.path("agents")).unwrap();
    std::fs::rename(place.path("few.yaml"), place.path("agents/few.yaml")).unwrap();
    let react = place.run("spec print react").code(0).out;
    let held = |rules: &str| react.replacen("\n", &format!("\n  (:rules \"{rules}\")\n"), 1);
    place.write("agents/held.spec", &held("few.yaml"));
    place.write("free.spec", &react);
    let checked = place.run("spec check agents/held.spec").code(0);
    assert!(
        place.run("spec print agents/held.spec").code(0).out.contains("(:rules \"few.yaml\")"),
        "{checked:?}"
    );
    let test = |agent: &str, more: &str| {
        place.run(&format!("test {agent}@sim/perfect --cases 6 --actions 3..3 --seed 5 {more} --json -q"))
    };
    let report = test("spec:agents/held.spec", "").code(1).json();
    assert_eq!(
        (&report["guard"]["rules"], &report["guard"]["runs_with"]),
        (&json!("agents/few.yaml"), &6.into())
    );
    assert_eq!(test("spec:free.spec", "").code(0).json()["guard"], Value::Null);
    // What the command line names is in its place.
    place.write("lax.yaml", &FEW.replace("times: 2", "times: 20"));
    assert_eq!(
        test("spec:agents/held.spec", "--guard lax.yaml").code(0).json()["guard"]["rules"],
        "lax.yaml"
    );
    // Rules that cannot be used are errors before anything runs, and `spec check` finds them.
    place.write("agents/none.spec", &held("none.yaml"));
    assert!(test("spec:agents/none.spec", "").code(2).err.contains("agents/none.yaml"));
    assert!(place.run("spec check agents/none.spec").code(2).err.contains("agents/none.yaml"));
    // All agents of a matrix are held to the same.
    let matrix = place
        .run("bench order spec:agents/held.spec@sim/perfect spec:free.spec@sim/perfect --limit 2")
        .code(2);
    assert!(matrix.err.contains("pass --guard agents/few.yaml"), "{matrix:?}");
}
