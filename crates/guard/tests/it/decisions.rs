//! Single decisions.

use planproof_guard::{AskedCall, GuardedSession, PENDING_CALLS_MAX, Refusal};
use serde_json::{Value, json};

use crate::support::rules;

/// The reason why a call is rejected; empty if it is approved.
fn decide(session: &mut GuardedSession, tool: &str, arguments: &Value) -> String {
    let ruling = session.decide(AskedCall { server: None, tool, arguments });
    ruling.refusal.map(|refusal| session.explain(&refusal)).unwrap_or_default()
}

#[test]
fn a_call_counts_when_it_is_approved_and_its_result_when_it_comes() {
    let rules = rules(
        "- {id: look-first, requires: {call: refund, done: get_order}, per: /id, why: Look first.}\n\
         - {id: once, at-most: {call: refund, times: 1}, per: /id}\n\
         - {id: inform, followed-by: {done: refund, call: mail}}\n",
    );
    let mut session = GuardedSession::new(&rules);
    let (one, two) = (json!({"id": 1}), json!({"id": 2}));
    let refused = "The call is denied by rule look-first: A call of refund needs a result of get_order before it, \
                   separately for each /id. Look first.";
    assert_eq!(decide(&mut session, "refund", &one), refused);
    assert_eq!(decide(&mut session, "get_order", &one), "");
    // The call is made, but nothing is looked up yet.
    assert_eq!(decide(&mut session, "refund", &one), refused);
    assert!(session.finished(2, false, &json!({})));
    assert!(!session.finished(2, false, &json!({})), "a second result changes nothing");
    assert!(!session.finished(1, false, &json!({})), "a rejected call has no result");
    assert_eq!(decide(&mut session, "refund", &one), "");
    assert!(decide(&mut session, "refund", &one).contains("rule once"));
    assert_eq!(decide(&mut session, "refund", &two), refused);
    // The obligation begins with the result.
    assert!(session.unsatisfied().is_empty());
    session.finished(4, false, &json!({}));
    assert_eq!(session.unsatisfied().iter().map(|rule| rule.id.as_str()).collect::<Vec<_>>(), ["inform"]);
    assert_eq!(decide(&mut session, "mail", &json!({})), "");
    assert!(session.unsatisfied().is_empty());
    assert_eq!(session.pending().collect::<Vec<_>>(), [7]);
}

#[test]
fn results_that_may_still_come_are_counted() {
    let once = rules("- {id: once, at-most: {done: pay, times: 1}}\n");
    let mut session = GuardedSession::new(&once);
    let none = json!({});
    assert_eq!(decide(&mut session, "pay", &none), "");
    let both = decide(&mut session, "pay", &none);
    assert!(
        both.contains("rule once") && both.contains("has no result yet"),
        "both would be too many: {both}"
    );
    // The first has failed, so there is one left.
    session.finished(1, true, &none);
    assert_eq!(decide(&mut session, "pay", &none), "");
    // It was not made after all.
    assert!(session.take_back(3));
    assert_eq!(decide(&mut session, "pay", &none), "");

    // Whichever of two results comes first.
    let order = rules("- {id: order, never-after: [{done: read}, {done: write}]}\n");
    for (first, second) in [("read", "write"), ("write", "read")] {
        let mut session = GuardedSession::new(&order);
        assert_eq!(decide(&mut session, first, &none), "");
        assert!(decide(&mut session, second, &none).contains("rule order"), "{first}");
        session.finished(1, false, &none);
        assert_eq!(decide(&mut session, second, &none).is_empty(), first == "read");
    }
}

/// A result that nobody knows yet may say anything, so a call is rejected only where whatever it says is wrong.
#[test]
fn what_a_result_will_say_is_not_guessed() {
    // Each rule, with the results of calls of `b` that are approved one after the other, and whether another is then.
    let (good, bad) = (json!({"ok": true}), json!({"ok": false}));
    for (rule, results, approved) in [
        ("never: {done: b, result: {/ok: {not: {is: true}}}}", vec![&good, &good], true),
        ("never: {done: b, result: {/ok: {not: {is: true}}}}", vec![&good, &bad], false),
        ("never: {done: b, result: {/ok: {present: false}}}", vec![&good], true),
        ("never: {done: b, result: {'': {not: {type: object}}}}", vec![&good], true),
        ("never: {done: b, result: {/ok: {is-not: true}}}", vec![&good], true),
        ("never: {done: b, result: {/ok: {not: {type: boolean}}}}", vec![&good, &bad], true),
        ("first: {done: b, result: {/ok: true}}", vec![&good, &bad], true),
        ("first: {done: b, result: {/ok: true}}", vec![&bad], false),
        ("first: {done: b, result: {/ok: {not: {is: true}}}}", vec![&bad], true),
        ("at-most: {done: b, times: 1, result: {/ok: {not: {is: true}}}}", vec![&bad, &good], true),
        ("at-most: {done: b, times: 1, result: {/ok: {not: {is: true}}}}", vec![&bad, &bad], false),
        ("requires: [{done: b, result: {/ok: {not: {is: true}}}}, {done: x}]", vec![&good], true),
        ("never-after: {done: b, call: b, result: {/ok: {not: {is: true}}}}", vec![], true),
        // Whatever it says.
        ("never: {done: b, result: {'': {present: true}}}", vec![], false),
        ("never: {done: b, result: {/ok: {not: {type: boolean, is: 7}}}}", vec![], false),
        ("never: {done: b, result: {/ok: {one-of: [1], is-not: 1}}}", vec![&good], true),
        ("never: {done: b}", vec![], false),
    ] {
        let rules = rules(&format!("- {{id: r, {rule}}}\n"));
        let mut session = GuardedSession::new(&rules);
        for (number, result) in (1..).zip(&results) {
            assert_eq!(decide(&mut session, "b", &json!({})), "", "{rule}");
            assert!(session.finished(number, false, result));
        }
        assert_eq!(decide(&mut session, "b", &json!({})).is_empty(), approved, "{rule} after {results:?}");
    }
    // While it is not known, it may also be the one that is too many: not if it may be another.
    let rules = rules("- {id: r, at-most: {done: b, times: 1, result: {/ok: {not: {is: true}}}}}\n");
    let mut session = GuardedSession::new(&rules);
    for _ in 0..3 {
        assert_eq!(decide(&mut session, "b", &json!({})), "");
    }
}

/// Each rule, the calls that are made, the one that is taken back, one that is then rejected as if that had never been
/// made, and one that is approved.
#[test]
fn a_call_that_is_taken_back_never_happened() {
    for (rule, made, taken_back, rejected, approved) in [
        ("requires: [{call: b}, {call: a}]", "", "a", "b", "a"),
        ("at-most: {call: a, times: 1}", "", "a", "", "a"),
        ("at-most: {call: a, times: 2}", "a", "a", "", "a"),
        ("never-after: [{call: b}, {call: a}]", "", "a", "", "b"),
        ("first: {call: a}", "", "a", "b", "a"),
        ("formula: '(before call:a call:b)'", "", "a", "b", "a"),
        ("at-most: {done: a, times: 1}", "", "a", "", "a"),
        ("requires: [{call: b}, {call: a}], per: /k", "", "a", "b", "a"),
        ("at-most: {call: a, times: 1}, per: /k", "", "a", "", "a"),
        ("at-most: {call: a, times: 2}, per: /k", "a", "a", "", "a"),
        ("never-after: [{call: b}, {call: a}], per: /k", "", "a", "", "b"),
        ("requires: [{call: '*'}, {call: a}]", "", "a", "b", ""),
    ] {
        let rules = rules(&format!("- {{id: r, {rule}}}\n"));
        let arguments = json!({"k": 1});
        let mut session = GuardedSession::new(&rules);
        if !made.is_empty() {
            assert_eq!(decide(&mut session, made, &arguments), "", "{rule}");
        }
        let before = session.verdicts();
        let ruling = session.decide(AskedCall { server: None, tool: taken_back, arguments: &arguments });
        assert_eq!(session.take_back(ruling.number), ruling.refusal.is_none(), "{rule}");
        assert!(!session.take_back(ruling.number), "once: {rule}");
        assert_eq!(session.verdicts(), before, "{rule}");
        assert_eq!(session.pending().count(), usize::from(!made.is_empty()), "{rule}");
        if !rejected.is_empty() {
            assert_ne!(decide(&mut session, rejected, &arguments), "", "{rule}");
        }
        if !approved.is_empty() {
            assert_eq!(decide(&mut session, approved, &arguments), "", "{rule}");
        }
    }
    // What has come since stands on it.
    let rules = rules("- {id: r, at-most: {call: a, times: 1}}\n");
    let mut session = GuardedSession::new(&rules);
    assert_eq!(decide(&mut session, "a", &json!({})), "");
    assert_eq!(decide(&mut session, "b", &json!({})), "");
    assert!(!session.take_back(1));
    assert_ne!(decide(&mut session, "a", &json!({})), "");
}

#[test]
fn what_results_have_violated_is_rejected_from_then_on_for_its_value_alone() {
    let rules = rules(
        "- {id: failures, at-most: {failed: get, times: 1}, per: /id}\n\
         - {id: secret, never: {done: read, result: {/secret: true}}}\n",
    );
    let mut session = GuardedSession::new(&rules);
    let (one, two) = (json!({"id": 1}), json!({"id": 2}));
    for number in [1, 2] {
        assert_eq!(decide(&mut session, "get", &one), "");
        session.finished(number, true, &json!({}));
    }
    assert!(decide(&mut session, "get", &one).contains("rule failures"));
    assert_eq!(decide(&mut session, "get", &two), "");
    session.finished(4, true, &json!({}));
    assert_eq!(decide(&mut session, "get", &two), "");
    session.finished(5, true, &json!({}));
    assert!(decide(&mut session, "get", &two).contains("rule failures"));
    assert_eq!(decide(&mut session, "read", &one), "");
    session.finished(7, false, &json!({"secret": true}));
    assert!(decide(&mut session, "read", &two).contains("rule secret"));
    assert_eq!(decide(&mut session, "other", &two), "");
}

#[test]
fn pending_calls_are_limited() {
    let rules = rules("- {id: never, never: {call: drop}}\n");
    let mut session = GuardedSession::new(&rules);
    let none = json!({});
    for _ in 0..PENDING_CALLS_MAX {
        assert_eq!(decide(&mut session, "wait", &none), "");
    }
    assert!(decide(&mut session, "wait", &none).contains("results of more than 1024 calls have not come"));
    // What a rule says comes first.
    assert!(decide(&mut session, "drop", &none).contains("rule never"));
    session.finished(1, false, &none);
    assert_eq!(decide(&mut session, "wait", &none), "");

    let mut session = GuardedSession::new(&rules);
    let large = json!({"text": "x".repeat(40 * 1024 * 1024)});
    assert_eq!(decide(&mut session, "wait", &large), "");
    let ruling = session.decide(AskedCall { server: None, tool: "wait", arguments: &large });
    assert!(matches!(ruling.refusal, Some(Refusal::TooManyPending { what: "bytes of calls", .. })));
}

#[test]
fn what_cannot_be_remembered_is_rejected() {
    let per = rules("- {id: once, at-most: {call: pay, times: 1}, per: /id}\n");
    let mut session = GuardedSession::new(&per);
    for number in 0..100_000_u64 {
        session.decide(AskedCall { server: None, tool: "pay", arguments: &json!({"id": number}) });
        session.finished(number + 1, false, &Value::Null);
    }
    assert!(decide(&mut session, "pay", &json!({"id": "new"})).contains("more than 100000 values of per"));
    // What is remembered is known still.
    assert!(decide(&mut session, "pay", &json!({"id": 7})).contains("rule once"));
    assert_eq!(decide(&mut session, "other", &json!({"id": "new"})), "");

    let takes = rules("- {id: own, takes: {call: pay, argument: /id, from: list, value: '/*'}}\n");
    let mut session = GuardedSession::new(&takes);
    assert_eq!(decide(&mut session, "list", &json!({})), "");
    session.finished(1, false, &(0..100_001).collect::<Value>());
    assert!(decide(&mut session, "other", &json!({})).contains("more than 100000 values that may be taken"));
}
