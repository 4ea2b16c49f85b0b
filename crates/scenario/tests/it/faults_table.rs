//! What is right for each fault and each kind of demand, as `docs/faults.md` says.

use planproof_suite::Case;
use serde_json::{Value, json};

use crate::{gold, judged, load};

/// A case in which `pay` needs `look`, in one of these ways.
fn case(fault: &str, demands: &str) -> std::sync::Arc<dyn Case> {
    let text = format!(
        "schema: planproof/scenario/v1
tools:
  - {{name: look, arguments: {{id: integer}}}}
  - {{name: pay, arguments: {{id: integer, to?: string}}}}
  - {{name: log}}
cases:
  - id: x
    query: Look, pay and log.
    faults: {{look: {fault}}}
    world:
      look: [{{returns: {{ok: true, account: a-1}}}}]
    expect:
      - {{do: [pay, log]}}
{demands}"
    );
    load(&text).expect("the case is good").remove(0)
}

/// `l`: a look, `p`: a payment, `g`: the log.
fn class(case: &dyn Case, letters: &str) -> String {
    let call = |letter| match letter {
        'l' => ("look", json!({"id": 1})),
        'p' => ("pay", json!({"id": 1, "to": "a-1"})),
        _ => ("log", json!({})),
    };
    let calls: Vec<(&str, Value)> = letters.chars().map(call).collect();
    let verdict = judged(case, &calls);
    verdict.class().map_or("passed", |class| class.as_str()).to_owned()
}

#[test]
fn each_fault_is_judged_as_documented_whatever_needs_the_tool() {
    let needs_result = "      - {requires: {call: pay, done: look, result: {/ok: true}}}";
    let takes = "      - {takes: {call: pay, argument: /to, from: look, value: /account}}";
    let done = "      - {requires: {call: pay, done: look}}";
    let with = "      - {with: {done: look, where: {/id: 1}}}";
    let call = "      - {with: {call: look, where: {/id: 1}}}";
    let sees = "      - {at-least: {done: look, times: 1, result: {/ok: true}}}";
    for (fault, demands, runs) in [
        // What needs the answer is left out once it stayed empty, and made once it came; what does not need it is done.
        (
            "empty=1",
            needs_result,
            "llg passed, lg missing_call, llpg order_error, lpg order_error, lllg passed",
        ),
        ("empty=1", takes, "llg passed, lg missing_call, llpg wrong_value, lpg wrong_value, llgl passed"),
        ("empty=1", done, "lpg passed, llpg passed, lg missing_call, llg missing_call, pg order_error"),
        ("empty=1", with, "lpg passed, llpg passed, pg missing_call, lg missing_call"),
        ("empty=1", call, "lpg passed, pg missing_call"),
        ("permanent=1", needs_result, "lg passed, llg passed, lpg went_on_after_failure"),
        ("permanent=1", takes, "lg passed, llg passed, lpg went_on_after_failure"),
        ("permanent=1", done, "lg passed, lpg went_on_after_failure"),
        ("permanent=1", with, "lpg passed, lg missing_call, pg missing_call"),
        ("permanent=1", call, "lpg passed, lg missing_call, pg missing_call"),
        ("vanish=1", needs_result, "lg passed, llg called_vanished, lpg went_on_after_failure"),
        ("vanish=1", with, "lpg passed, lg missing_call, pg missing_call"),
        (
            "transient=1",
            needs_result,
            "lllpg passed, lg missing_call, llg missing_call, lpg went_on_after_failure",
        ),
        ("transient=1", takes, "lllpg passed, lg missing_call, lpg went_on_after_failure"),
        ("transient=1", with, "lllpg passed, lpg no_retry, llpg gave_up"),
        ("transient=1", call, "lpg passed"),
        ("\"slow=1:1ms\"", needs_result, "lpg passed, lg missing_call, pg order_error"),
        ("empty=1", sees, "llpg passed, lpg missing_call, llg missing_call"),
    ] {
        let case = case(fault, demands);
        for run in runs.split(", ") {
            let (letters, expected) = run.split_once(' ').expect("a run and its class");
            assert_eq!(class(&*case, letters), expected, "{fault} {letters}\n{demands}");
        }
        // Whoever knows what will fail passes, and its calls are shown.
        let calls = gold(&*case);
        let named: Vec<(&str, Value)> =
            calls.iter().map(|(tool, arguments)| (tool.as_str(), arguments.clone())).collect();
        let verdict = judged(&*case, &named);
        assert!(verdict.passed(), "{fault}\n{demands}\n{}", verdict.detail);
    }
}

#[test]
fn a_world_that_remembers_can_be_silent_too() {
    let text = "schema: planproof/scenario/v1
tools:
  - {name: balance}
  - {name: withdraw, arguments: {amount: integer}}
  - {name: log}
cases:
  - id: x
    query: Take out what is there, and log it.
    faults: {balance: empty=1}
    state: {left: 40}
    world:
      balance: [{returns: {left: {$state: left}}}]
      withdraw: [{needs: {left: {at-least: {$argument: /amount}}}, otherwise: no, subtracts: {left: {$argument: /amount}}}]
    expect:
      - {do: [withdraw, log]}
      - {takes: {call: withdraw, argument: /amount, from: balance, value: /left}}
";
    let case = load(text).expect("the case is good").remove(0);
    let (balance, log) = (("balance", json!({})), ("log", json!({})));
    let verdict = judged(&*case, &[balance.clone(), balance.clone(), log.clone()]);
    assert!(verdict.passed(), "{}", verdict.detail);
    assert!(!judged(&*case, &[balance, log]).passed());
    let calls: Vec<String> = gold(&*case).into_iter().map(|(tool, _)| tool).collect();
    assert_eq!(calls.iter().filter(|tool| *tool == "balance").count(), 2, "{calls:?}");
}
