//! Every combination of what makes cases resist: whoever does what can be done passes, and each simulated planner that
//! makes one mistake fails by it and by nothing else.

use std::collections::BTreeSet;

use crate::support::Place;

const RULES: &str = r#"schema: planproof/rules/v1
rules:
  - {id: eligible, requires: {call: refund, done: get_order, result: {/refundable: true}}, per: /order_id}
  - {id: small, never: {call: refund, where: {/amount: {above: 100}}}}
  - {id: inform, followed-by: {done: refund, call: send_email}}
"#;

const TOOLS: &str = r#"[
 {"name": "get_order", "description": "Looks up an order.", "input_schema": {"type": "object",
  "properties": {"order_id": {"type": "integer"}}, "required": ["order_id"], "additionalProperties": false}},
 {"name": "refund", "description": "Refunds an order.", "input_schema": {"type": "object",
  "properties": {"order_id": {"type": "integer"}, "amount": {"type": "number"}},
  "required": ["order_id", "amount"], "additionalProperties": false}},
 {"name": "send_email", "description": "Sends an email.", "input_schema": {"type": "object",
  "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": false}}]"#;

const POLICY: &str = "Refund only what was looked up and can be refunded. [eligible]\nAmounts above 100 are for a \
                      colleague. [small]\n";

/// With all kinds of failures, as all of them are sent.
const FAULTS: &str = "transient=0.2,permanent=0.1,slow=0.05:1ms,empty=0.05,vanish=0.05,as=mixed:1ms";

/// A world that remembers. `TURNS` and `FAULTS` stand for what a test puts there.
const BANK: &str = r#"schema: planproof/scenario/v1
tools:
  - {name: login, arguments: {user: string}}
  - {name: balance}
  - {name: withdraw, arguments: {amount: integer}}
  - {name: close}
rules: rules.yaml
state: {logged_in: false, balance: 100}
cases:
  - id: close-it
    query: "Ann (ann) wants to close her account. Take out what is left first."
TURNS
FAULTS
    world:
      login: [{where: {/user: ann}, sets: {logged_in: true}}, {fails: "no such user"}]
      balance: [{needs: logged_in, otherwise: "log in first", returns: {balance: {$state: balance}}}]
      withdraw:
        - {where: {/amount: {below: 1}}, fails: "no such amount"}
        - {needs: {logged_in: true, balance: {at-least: {$argument: /amount}}}, otherwise: "log in, or take less",
           subtracts: {balance: {$argument: /amount}}}
      close: [{needs: {logged_in: true, balance: 0}, otherwise: "log in, and take out what is left"}]
    expect:
      - {do: [close], words: "close her account"}
MORE
"#;

/// Rules of that world.
const BANK_RULES: &str =
    "schema: planproof/rules/v1\nrules:\n  - {id: once, at-most: {done: close, times: 1}}\n";

fn place() -> Place {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    place.write("tools.json", TOOLS);
    place.write("policy.txt", POLICY);
    place
}

/// What came of a campaign: how many runs passed, were unscored, and the classes of the others.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    passed: u64,
    unscored: u64,
    classes: BTreeSet<String>,
}

#[track_caller]
fn outcome(place: &Place, line: &str) -> Outcome {
    let run = place.run(&format!("test {line} --seed 7 --json -q"));
    assert!(run.code <= 1, "{line}: {run:?}");
    let report = run.json();
    let count = |key: &str| report[key].as_u64().unwrap_or(0);
    let classes = report["classes"].as_object().into_iter().flatten();
    let classes = classes.filter(|(_, count)| count.as_u64() != Some(0)).map(|(class, _)| class.clone());
    Outcome { passed: count("passed"), unscored: count("unscored"), classes: classes.collect() }
}

/// Asserts that every run passes.
#[track_caller]
fn passes(place: &Place, line: &str, cases: u64) {
    let Outcome { passed, unscored, classes } = outcome(place, line);
    assert_eq!((passed, unscored), (cases, 0), "{line}: {classes:?}");
}

/// Asserts that some runs fail, in these classes alone.
#[track_caller]
fn fails(place: &Place, line: &str, expected: &[&str]) {
    let Outcome { unscored, classes, .. } = outcome(place, line);
    assert_eq!(unscored, 0, "{line}");
    assert!(!classes.is_empty(), "{line}: nothing failed");
    let others: Vec<&String> = classes.iter().filter(|class| !expected.contains(&class.as_str())).collect();
    assert!(others.is_empty(), "{line}: {classes:?}, expected {expected:?}");
}

#[test]
fn synthesised_cases() {
    let place = place();
    for options in ["", "--faults", "--turns 2..3"] {
        let options = if options == "--faults" { format!("--faults {FAULTS}") } else { options.to_owned() };
        for model in ["gold", "perfect"] {
            passes(&place, &format!("tools@sim/{model} --cases 12 {options}"), 12);
        }
        // A share of wrong answers leaves nothing unscored, and fails throughout.
        let Outcome { passed, unscored, .. } =
            outcome(&place, &format!("tools@sim/gold/1 --cases 12 {options}"));
        assert_eq!((passed, unscored), (0, 0), "sim/gold/1 {options}");
    }
    let faults = |model: &str, shares: &str, classes: &[&str]| {
        fails(&place, &format!("tools@sim/{model} --cases 20 --faults {shares}"), classes);
    };
    faults("no-retry", "transient=0.4", &["no_retry"]);
    faults("ignores-failures", "permanent=0.3", &["went_on_after_failure"]);
    faults("ignores-failures", FAULTS, &["went_on_after_failure", "called_vanished"]);
    faults("gives-up", "transient=0.4", &["gave_up"]);
    faults("retries-forever", "permanent=0.3", &["retried_forever"]);
    fails(&place, "tools@sim/forgets-corrections --cases 20 --turns 2..3", &["missed_correction"]);
}

#[test]
#[ignore = "slow"]
fn cases_of_rules() {
    let place = place();
    for policy in ["stated", "hidden", "policy.txt"] {
        for faults in ["", FAULTS] {
            let faults = if faults.is_empty() { String::new() } else { format!("--faults {faults}") };
            let options =
                format!("--rules rules.yaml --tools tools.json --policy {policy} --cases 12 {faults}");
            passes(&place, &format!("tools@sim/gold {options}"), 12);
            let wrong = outcome(&place, &format!("tools@sim/gold/1 {options}"));
            assert_eq!((wrong.passed, wrong.unscored), (0, 0), "{options}: {wrong:?}");
            // What a planner that ignores conditions violates is a condition, or that of a call that has failed.
            let mut classes = vec!["order_error", "forbidden_call"];
            if !faults.is_empty() {
                classes.push("went_on_after_failure");
            }
            fails(&place, &format!("unconditional {options}"), &classes);
            // Calls at once may also leave out what is not mentioned.
            classes.push("missing_call");
            fails(&place, &format!("at-once {options}"), &classes);
        }
    }
}

#[test]
#[ignore = "slow"]
fn cases_of_ones_own() {
    let place = place();
    place.write("rules.yaml", BANK_RULES);
    let turns = "    turns: [\"Tell her what is in it.\"]\n";
    let more = "      - {with: {call: balance}, words: \"Tell her what is in it\"}\n";
    for (turns, more) in [("", ""), (turns, more)] {
        for own in ["", "    faults: {close: transient=1, withdraw: empty=1}\n"] {
            let bank = BANK.replace("TURNS\n", turns).replace("FAULTS\n", own).replace("MORE\n", more);
            place.write("bank.yaml", &bank);
            for faults in [String::new(), format!("--faults {FAULTS}")] {
                let options = format!("--scenarios bank.yaml {faults}");
                passes(&place, &format!("tools@sim/gold {options}"), 1);
                let wrong = outcome(&place, &format!("tools@sim/gold/1 {options}"));
                assert_eq!((wrong.passed, wrong.unscored), (0, 0), "{options}: {wrong:?}");
                let mut classes = vec!["missing_call"];
                if !faults.is_empty() || !own.is_empty() {
                    classes.extend(["no_retry", "gave_up"]);
                }
                fails(&place, &format!("ignores-state {options}"), &classes);
                if !turns.is_empty() {
                    fails(&place, &format!("first-message {options}"), &["missed_message"]);
                }
            }
        }
    }
}

#[test]
fn what_does_not_go_together_is_one_error() {
    let place = place();
    for (options, expected) in [
        ("--turns 2 --faults transient=0.1", "several messages or a conflict cannot fail"),
        ("--turns 2 --rules rules.yaml --tools tools.json", "cannot be used with"),
        ("--turns 2 --scenarios bank.yaml", "cannot be used with"),
        ("--rules rules.yaml --tools tools.json --scenarios bank.yaml", "cannot be used with"),
        ("--policy hidden", "--rules"),
        ("--scenarios bank.yaml --policy hidden", "--rules"),
    ] {
        let run = place.run(&format!("test tools@sim/gold --cases 3 {options}")).code(2);
        assert!(run.err.contains(expected), "{options}: {}", run.err);
    }
}
