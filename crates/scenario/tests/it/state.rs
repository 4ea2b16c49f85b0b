//! Worlds that remember: what calls need and change, what is found out before anything runs, and what runs are judged.

use planproof_scenario::{CaseOddity, Scenarios};
use planproof_spec::rules::search::Found;
use planproof_suite::{Case, Data, Suite as _, Toolbox};
use planproof_trace::Arguments;
use planproof_trace::faults::{FaultShares, ToolFaults};
use serde_json::{Value, json};

use super::{futures_now, gold, judged, load, run};

/// A file with one case, of these lines.
fn bank(case: &str) -> String {
    format!(
        "schema: planproof/scenario/v1
tools:
  - {{name: login, description: Logs in., arguments: {{user: string}}}}
  - {{name: balance, description: Says what there is.}}
  - {{name: deposit, description: Puts in., arguments: {{amount: number}}}}
  - {{name: withdraw, description: Takes out., arguments: {{amount: number}}}}
  - {{name: close, description: Closes the account.}}
cases:
  - id: a
    query: Do it, please.
{case}"
    )
}

const WORLD: &str = "    state: {logged_in: false, balance: 100, user: null}
    world:
      login: [{sets: {logged_in: true, user: {$argument: /user}}, returns: {welcome: {$argument: /user}}}]
      balance: [{needs: logged_in, otherwise: log in first, returns: {balance: {$state: balance}, of: {$state: user}}}]
      deposit: [{where: {/amount: {above: 0}}, needs: logged_in, otherwise: log in first, adds: {balance: {$argument: /amount}}}, {fails: no such amount}]
      withdraw:
        - {where: {/amount: {at-most: 0}}, fails: no such amount}
        - {needs: {logged_in: false}, fails: log in first}
        - {needs: {balance: {at-least: {$argument: /amount}}}, otherwise: not enough, subtracts: {balance: {$argument: /amount}}, returns: {left: {$state: balance}}}
      close: [{needs: {logged_in: true, balance: 0}, otherwise: there is money left, sets: {logged_in: false}}]
";

fn case(expect: &str) -> String {
    bank(&format!("{WORLD}    expect:\n{expect}"))
}

fn one(text: &str) -> std::sync::Arc<dyn Case> {
    load(text).unwrap_or_else(|error| panic!("{error}")).remove(0)
}

/// The results of calls, one after the other, in a world of their own.
fn results(case: &dyn Case, calls: &[(&str, Value)]) -> Vec<String> {
    results_of(&*case.toolbox().expect("tools"), calls)
}

/// The same of these tools.
fn results_of(tools: &dyn Toolbox, calls: &[(&str, Value)]) -> Vec<String> {
    use planproof_trace::{CallId, ToolCall};
    let result = |(tool, arguments): &(&str, Value)| {
        let Value::Object(arguments) = arguments.clone() else { panic!("arguments") };
        let arguments = Arguments::Object(arguments);
        let call = ToolCall { id: CallId::new("1"), name: (*tool).to_owned(), arguments };
        let result = futures_now(tools.execute(&call));
        format!("{}{}", if result.is_error { "! " } else { "" }, result.text)
    };
    calls.iter().map(result).collect()
}

#[test]
fn calls_need_set_and_change_values() {
    let case = one(&case("      - {do: [close]}\n"));
    let calls = [
        ("balance", json!({})),
        ("withdraw", json!({"amount": 1})),
        ("login", json!({"user": 7})),
        ("login", json!({"user": "ann"})),
        ("balance", json!({})),
        ("withdraw", json!({"amount": 40.5})),
        ("withdraw", json!({"amount": 59.6})),
        ("withdraw", json!({"amount": 59.4})),
        ("withdraw", json!({"amount": -1})),
        ("close", json!({})),
        ("withdraw", json!({"amount": 0.1})),
        ("close", json!({})),
        ("balance", json!({})),
    ];
    let expected = [
        "! log in first",
        "! log in first",
        "! invalid arguments: at /user: 7 is not of type \"string\"",
        "{\"welcome\":\"ann\"}",
        "{\"balance\":100,\"of\":\"ann\"}",
        "{\"left\":59.5}",
        "! not enough",
        "{\"left\":0.1}",
        "! no such amount",
        "! there is money left",
        "{\"left\":0}",
        "done",
        "! log in first",
    ];
    assert_eq!(results(&*case, &calls), expected);
    // Each run has a world of its own.
    assert_eq!(results(&*case, &calls[..1]), expected[..1]);
}

#[test]
fn a_right_session_follows_the_state_and_a_planner_that_does_not_is_found() {
    let case = one(&case("      - {do: [close], words: Do it}\n"));
    let right = gold(&*case);
    let names: Vec<&str> = right.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.len(), 3, "{right:?}");
    assert_eq!(names[2], "close");
    let calls: Vec<(&str, Value)> = right.iter().map(|(name, args)| (name.as_str(), args.clone())).collect();
    assert!(judged(&*case, &calls).passed(), "{}", judged(&*case, &calls).detail);
    // It forgets to log in.
    let verdict = judged(&*case, &[("withdraw", json!({"amount": 100})), ("close", json!({}))]);
    assert_eq!(verdict.class().map(planproof_suite::Class::as_str), Some("missing_call"));
    let explained = case.explain(&verdict);
    let facts: Vec<String> = explained.facts.iter().map(|fact| format!("{fact:?}")).collect();
    assert!(facts.iter().any(|fact| fact.contains("there is money left")), "{facts:?}");
    assert_eq!(explained.marks.len(), 1);
}

#[test]
fn a_refund_cannot_be_made_twice() {
    let text = |more: &str| {
        format!(
            "schema: planproof/scenario/v1
tools:
  - {{name: refund, description: Refunds an order., arguments: {{order_id: integer}}}}
cases:
  - id: a
    query: Refund order 17.
    state: {{refunded: false}}
    world:
      refund: [{{where: {{/order_id: 17}}, needs: {{refunded: false}}, otherwise: it is refunded already, sets: {{refunded: true}}}}]
    expect:
      - {{with: {{done: refund, where: {{/order_id: 17}}}}, words: Refund order 17}}
{more}"
        )
    };
    let case = one(&text("      - {never: {failed: refund}}\n"));
    let refund = ("refund", json!({"order_id": 17}));
    assert!(judged(&*case, std::slice::from_ref(&refund)).passed());
    let twice = judged(&*case, &[refund.clone(), refund.clone()]);
    assert_eq!(twice.class().map(planproof_suite::Class::as_str), Some("forbidden_call"));
    // Nobody can refund it twice with success.
    let error =
        load(&text("      - {at-least: {done: refund, times: 2}}\n")).expect_err("it cannot be satisfied");
    assert!(error.contains("cannot be satisfied"), "{error}");
}

/// What `scenario check` says of a file with one case.
fn reviewed(text: &str) -> planproof_scenario::CaseReview {
    let data = Data { text, file: "cases.yaml" };
    Scenarios::default().review(data).unwrap_or_else(|error| panic!("{error:?}")).remove(0)
}

#[test]
fn what_cannot_be_done_with_any_amount_is_refused() {
    for (expect, possible) in [
        // Both together are too much, unless something is deposited in between.
        (
            "      - {with: {done: withdraw, where: {/amount: 60}}}\n      - {with: {done: withdraw, where: {/amount: 50}}}\n",
            Some(4),
        ),
        (
            "      - {with: {done: withdraw, where: {/amount: 60}}}\n      - {with: {done: withdraw, where: {/amount: 50}}}\n      - {never: {call: deposit}}\n",
            None,
        ),
        (
            "      - {with: {done: withdraw, where: {/amount: {above: 100}}}}\n      - {never: {call: deposit}}\n",
            None,
        ),
        ("      - {with: {done: withdraw, where: {/amount: {above: 100}}}}\n", Some(3)),
        // The balance is 93 after some withdrawal, and 0 needs another one.
        ("      - {with: {done: balance, result: {/balance: 93}}}\n", Some(3)),
        (
            "      - {with: {done: balance, result: {/balance: 93}}}\n      - {do: [close]}\n      - {never: {call: deposit}}\n",
            Some(5),
        ),
        ("      - {with: {done: balance, result: {/of: bob}}}\n", Some(2)),
        ("      - {with: {done: balance, result: {/of: bob}}}\n      - {never: {done: login}}\n", None),
    ] {
        let review = reviewed(&case(expect));
        match possible {
            None => assert_eq!(review.right, Found::None, "{expect}"),
            Some(calls) => {
                let right =
                    review.right.session().unwrap_or_else(|| panic!("{expect}: {:?}", review.oddities));
                assert_eq!(right.len(), calls, "{expect}: {right:?}");
            }
        }
    }
}

#[test]
fn faults_of_a_state_are_reported_where_they_stand() {
    let long = format!(
        "    state: {{{}}}\n    expect:\n      - {{do: [login]}}\n",
        (0..101).map(|n| format!("v{n}: 1")).collect::<Vec<_>>().join(", ")
    );
    let mut shown = Vec::new();
    for lines in [
        "state: [a]",
        "state: {a: [1]}",
        "state: {a: 1e300}",
        "state: {logged_in: false}\n    world: {close: [{needs: loged_in}]}",
        "state: {logged_in: false}\n    world: {close: [{needs: balance}]}",
        "world: {close: [{needs: logged_in}]}",
        "state: {a: false}\n    world: {close: {needs: a}}",
        "state: {a: false}\n    world: {close: [{needs: []}]}",
        "state: {a: false}\n    world: {close: [{needs: {a: 1}}]}",
        "state: {a: false}\n    world: {close: [{needs: {a: {above: 1}}}]}",
        "state: {a: 1}\n    world: {close: [{needs: {a: {abov: 1}}}]}",
        "state: {a: 1}\n    world: {close: [{needs: {a: {matches: x}}}]}",
        "state: {a: 1}\n    world: {close: [{otherwise: no, returns: 1}]}",
        "state: {a: 1}\n    world: {close: [{sets: {a: yes please}}]}",
        "state: {a: 1}\n    world: {close: [{sets: {a: {b: 1}}}]}",
        "state: {a: 1}\n    world: {close: [{sets: {a: 2}, adds: {a: 1}}]}",
        "state: {a: 1}\n    world: {close: [{sets: {a: 2}, fails: no}]}",
        "state: {a: no}\n    world: {close: [{adds: {a: 1}}]}",
        "state: {a: false}\n    world: {close: [{adds: {a: 1}}]}",
        "state: {a: 1}\n    world: {withdraw: [{adds: {a: {$argument: /amuont}}}]}",
        "state: {a: 1}\n    world: {login: [{adds: {a: {$argument: /user}}}]}",
        "state: {a: 1}\n    world: {login: [{sets: {a: {$argument: user}}}]}",
        "state: {a: 1}\n    world: {login: [{returns: {it: {$state: b}}}]}",
        "state: {a: 1}\n    world: {login: [{returns: {$state: a, b: 1}}]}",
        "state: {a: 1}\n    world: {login: [{where: {/user: x}}]}",
    ] {
        let text = bank(&format!("    {lines}\n    expect:\n      - {{do: [login]}}\n"));
        let error = load(&text).expect_err(lines);
        shown.push(format!("{}\n  {error}", lines.replace("\n    ", "; ")));
    }
    shown.push(load(&bank(&long)).expect_err("too many values"));
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn oddities_of_a_state_are_named() {
    let odd = "    state: {ready: false, count: 0, vip: true, spare: 1}
    world:
      login: [{where: {/user: ann}, sets: {ready: true}}, {where: {/user: ann}, returns: again}]
      deposit: [{needs: {ready: true, count: {above: 2}}, otherwise: no, returns: 1}]
      close: [{needs: [ready, vip], otherwise: no, sets: {count: 2}}]
    expect:
      - {do: [close]}
";
    let review = reviewed(&bank(odd));
    let words: Vec<&str> = review
        .oddities
        .iter()
        .map(|oddity| match oddity {
            CaseOddity::OfState(what) => what.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    insta::assert_snapshot!(words.join("\n"));
    // What is odd about no state is not said of the bank.
    assert_eq!(reviewed(&case("      - {do: [close]}\n")).oddities, []);
}

#[test]
fn a_value_that_cannot_be_kept_is_an_error_that_changes_nothing() {
    let text = bank(&format!(
        "    state: {{count: {}}}
    world:
      login: [{{adds: {{count: 1}}, returns: {{$state: count}}}}]
      withdraw: [{{subtracts: {{count: {{$argument: /amount}}}}, returns: {{$state: count}}}}]
    expect:
      - {{do: [login]}}
",
        i64::MAX - 1
    ));
    let case = one(&text);
    let login = ("login", json!({"user": "x"}));
    let calls = [
        login.clone(),
        login.clone(),
        ("withdraw", json!({"amount": 0.5})),
        ("withdraw", json!({"amount": 1e300})),
        ("withdraw", json!({"amount": 2})),
    ];
    let shown = results(&*case, &calls);
    insta::assert_snapshot!(shown.join("\n"));
    let verdict = judged(&*case, &calls);
    assert!(verdict.passed());
    assert_eq!(verdict.scored.flags, ["no_value_in_world"]);
}

#[test]
fn data_that_looks_like_a_quotation_can_be_written() {
    let lines = "    state: {a: 1}
    world:
      login: [{returns: {a: {$literal: {$state: a}}, b: [{$state: a}], c: {$other: 1}}, sets: {a: 2}}]
    expect:
      - {do: [login]}
";
    let login = [("login", json!({"user": "x"}))];
    assert_eq!(
        results(&*one(&bank(lines)), &login),
        ["{\"a\":{\"$state\":\"a\"},\"b\":[2],\"c\":{\"$other\":1}}"]
    );
    // Without a state, there is nothing to quote.
    let plain =
        "    world:\n      login: [{returns: {$state: a, b: 1}}]\n    expect:\n      - {do: [login]}\n";
    assert_eq!(results(&*one(&bank(plain)), &login), ["{\"$state\":\"a\",\"b\":1}"]);
}

#[test]
fn cases_share_the_state_of_their_file_and_keep_what_they_need() {
    let text = "schema: planproof/scenario/v1
tools:
  - {name: a, description: A.}
state: {ready: false, count: 3}
cases:
  - {id: one, query: Do a., world: {a: [{needs: ready, otherwise: no}]}, state: {ready: true}, expect: [{do: [a]}]}
  - {id: two, query: Do a., world: {a: [{adds: {count: 1}, returns: {$state: count}}]}, expect: [{do: [a]}]}
  - {id: three, query: Do a., expect: [{do: [a]}]}
";
    let cases = load(text).expect("cases");
    let of = |number: usize| -> Value { serde_json::from_str(&cases[number].to_line()).expect("JSON") };
    assert_eq!(of(0)["state"], json!({"ready": true}));
    assert_eq!(of(1)["state"], json!({"count": 3}));
    assert_eq!(of(2).get("state"), None);
    assert_eq!(results(&*cases[1], &[("a", json!({})), ("a", json!({}))]), ["4", "5"]);
    // A case with a state makes its calls one after the other, and a line of it is the same case.
    assert!(cases[1].toolbox().expect("tools").is_strictly_sequential());
    assert!(!cases[2].toolbox().expect("tools").is_strictly_sequential());
    for case in &cases {
        let again = Scenarios::default().read(&case.to_line()).expect("a case");
        assert_eq!(again.to_line(), case.to_line());
        assert_eq!(gold(&*again), gold(&**case));
    }
}

#[test]
fn tools_that_fail_change_nothing() {
    let shares = |text: &str| FaultShares::parse(text).expect("shares");
    let base = one(&case("      - {do: [close]}\n"));
    for text in [
        "transient=0.5",
        "transient=0.3,empty=0.3",
        "slow=0.5:1ms",
        "permanent=0.2,transient=0.2",
        "vanish=0.3",
    ] {
        for seed in 0..6 {
            let faults = ToolFaults::new(seed, shares(text));
            let case = base.with_faults(&faults).expect("scenarios have faults").expect("a case");
            let right = gold(&*case);
            let calls: Vec<(&str, Value)> =
                right.iter().map(|(name, arguments)| (name.as_str(), arguments.clone())).collect();
            if text.contains("slow") {
                // It waits, which this clock does not.
                assert_eq!(calls.len(), 3);
                continue;
            }
            let verdict = case.judge(&run(&*case, &calls)).expect("a verdict");
            assert!(verdict.passed(), "{text}, seed {seed}: {}", verdict.detail);
        }
    }
}

#[test]
fn calls_that_are_made_again_bring_the_world_back_to_where_it_was() {
    let case = one(&case("      - {do: [close]}\n"));
    let tools = case.toolbox().expect("tools");
    assert_eq!(tools.restoring(), planproof_suite::Restoring::Again);
    let calls = [
        ("login", json!({"user": "ann"})),
        ("withdraw", json!({"amount": 30})),
        ("withdraw", json!({"amount": 90})),
        ("deposit", json!({"amount": 5})),
        ("balance", json!({})),
        ("withdraw", json!({"amount": 75})),
        ("close", json!({})),
    ];
    let whole = results(&*case, &calls);
    // Wherever a run is cut off, its calls are made again for another, which begins anew, and what follows is the same.
    for cut in 0..calls.len() {
        let begun = case.toolbox().expect("tools");
        results_of(&*begun, &calls[..cut]);
        let restored = begun.for_run().expect("its calls change something");
        results_of(&*restored, &calls[..cut]);
        assert_eq!(results_of(&*restored, &calls[cut..]), whole[cut..]);
    }
    assert_eq!(whole.last().map(String::as_str), Some("done"));
}
