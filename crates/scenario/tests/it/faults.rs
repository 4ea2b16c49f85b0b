//! Worlds whose tools fail: what is still demanded, and what an agent made of the failures.

use planproof_suite::Case;
use planproof_trace::Draw;
use planproof_trace::faults::{FaultShares, ToolFaults};
use serde_json::{Value, json};

use crate::{gold, judged, load, run};

/// A case over Bob's order, in which these tools fail, with what else is expected.
fn case(faults: &str, expected: &str) -> std::sync::Arc<dyn Case> {
    let text = format!(
        "schema: planproof/scenario/v1
tools:
  - {{name: find, arguments: {{email: string}}}}
  - {{name: order, arguments: {{id: integer}}}}
  - {{name: refund, arguments: {{id: integer}}}}
  - {{name: mail, arguments: {{to: string}}}}
  - {{name: close}}
cases:
  - id: bob
    query: Refund order 17, and mail Bob.
    faults: {faults}
    world:
      find: [{{returns: {{customer: c-81}}}}]
      order: [{{where: {{/id: 17}}, returns: {{refundable: true}}}}, {{fails: no such order}}]
    expect:
      - {{do: [refund, mail]}}
      - {{requires: {{call: refund, done: order, result: {{/refundable: true}}}}}}
      - {{takes: {{call: mail, argument: /to, from: find, value: /customer}}}}
{expected}"
    );
    load(&text).expect("the case is good").remove(0)
}

/// The calls behind these letters.
fn calls(letters: &str) -> Vec<(&'static str, Value)> {
    let call = |letter| match letter {
        'f' => ("find", json!({"email": "b"})),
        'o' => ("order", json!({"id": 17})),
        'r' => ("refund", json!({"id": 17})),
        'm' => ("mail", json!({"to": "c-81"})),
        _ => ("close", json!({})),
    };
    letters.chars().map(call).collect()
}

#[test]
fn what_is_demanded_is_what_can_be_done() {
    let once = "      - {at-most: {call: refund, times: 1}}";
    let closed = "      - {never-after: {call: mail, call-before: 1, done: close}}";
    let closed = closed.replace("call-before: 1, ", "");
    for (faults, expected, letters, class) in [
        ("{order: transient=1}", "", "foorm", "went_on_after_failure"),
        // Two failures, then it gets through.
        ("{order: transient=1}", "", "fooorm", "passed"),
        ("{order: transient=1}", "", "fom", "missing_call"),
        ("{refund: transient=1}", "", "forrrm", "passed"),
        ("{refund: transient=1}", "", "form", "no_retry"),
        ("{refund: transient=1}", "", "forrm", "gave_up"),
        // The one try that is allowed has failed, so there is nothing left to do.
        ("{refund: transient=1}", once, "form", "passed"),
        ("{refund: transient=1}", once, "forrm", "forbidden_call"),
        ("{refund: permanent=1}", "", "form", "passed"),
        ("{refund: permanent=1}", "", "for", "gave_up"),
        ("{refund: permanent=1}", "", "forf", "missing_call"),
        ("{refund: permanent=1}", "", "forrrrm", "passed"),
        ("{refund: permanent=1}", "", "forrrrrm", "retried_forever"),
        ("{refund: vanish=1}", "", "form", "passed"),
        ("{refund: vanish=1}", "", "forrm", "called_vanished"),
        // What needs the lost call is no longer due, and must not be made.
        ("{order: permanent=1}", "", "fom", "passed"),
        ("{order: permanent=1}", "", "form", "went_on_after_failure"),
        ("{order: permanent=1}", "", "from", "order_error"),
        ("{find: permanent=1}", "", "for", "passed"),
        ("{find: permanent=1}", "", "form", "went_on_after_failure"),
        ("{find: permanent=1, order: vanish=1}", "", "fo", "passed"),
        // What the agent itself made impossible stays due.
        ("{refund: permanent=1}", &closed, "focrm", "order_error"),
        ("{refund: permanent=1}", &closed, "focr", "gave_up"),
        ("{refund: permanent=1}", &closed, "forcf", "missing_call"),
        // An answer that says nothing does not show that the order can be refunded.
        ("{order: empty=1}", "", "fom", "missing_call"),
        ("{\"*\": slow=1:1ms}", "", "", "missing_call"),
    ] {
        let case = case(faults, expected);
        let verdict = judged(&*case, &calls(letters));
        let found = verdict.class().map_or("passed", |class| class.as_str());
        assert_eq!(found, class, "{faults} {letters}\n{}", verdict.detail);
    }
}

#[test]
#[ignore = "slow"]
fn the_session_that_is_shown_as_right_passes_in_every_world() {
    let expected = [
        "",
        "      - {at-most: {call: refund, times: 1}}",
        "      - {at-most: {done: order, times: 1}}\n      - {last: {call: mail}}",
        "      - {followed-by: {done: refund, done-too: 1, call: close}}",
        "      - {followed-by: {failed: refund, call: close}}",
        "      - {do: [close]}\n      - {never-after: {call: mail, done: close}}",
    ];
    let (mut failed, mut unplayed) = (0, 0);
    for (number, expected) in expected.iter().enumerate() {
        let expected = expected.replace("done-too: 1, ", "");
        let plain = case("{}", &expected);
        for seed in 0..60 {
            let mut draw = Draw::new(seed, number as u64, "worlds");
            let mut share = || f64::from(draw.below(30)) / 100.0;
            let shares = FaultShares {
                transient: share(),
                permanent: share(),
                vanish: share() / 3.0,
                empty: share() / 3.0,
                ..FaultShares::default()
            };
            let case =
                plain.with_faults(&ToolFaults::new(seed, shares)).expect("it has tools").expect("they fail");
            let Some(_) = case.gold() else {
                unplayed += 1;
                continue;
            };
            let calls = gold(&*case);
            let named: Vec<(&str, Value)> =
                calls.iter().map(|(tool, arguments)| (tool.as_str(), arguments.clone())).collect();
            let verdict = judged(&*case, &named);
            assert!(verdict.passed(), "{expected} {shares} {seed}\n{}", verdict.detail);
            failed += usize::from(verdict.scored.flags.contains(&"tool_failed"));
            // Whoever leaves out its last call leaves something undone, unless that call failed for good.
            let Some(((tool, _), before)) = named.split_last() else { continue };
            let was_last_lost = run(&*case, &named).iter().rev().nth(1).is_some_and(
                |event| matches!(&event.kind, planproof_trace::EventKind::Result(result) if result.is_error),
            );
            if !was_last_lost {
                assert!(!judged(&*case, before).passed(), "{expected} {shares} {seed} without {tool}");
            }
            // A case is the same after it was stored.
            let again =
                planproof_suite::Suite::read(&planproof_scenario::Scenarios::default(), &case.to_line());
            assert_eq!(again.expect("it reads").to_line(), case.to_line());
        }
    }
    assert!(failed > 150 && unplayed == 0, "{failed} with failures, {unplayed} without a session");
}

#[test]
fn faults_are_read_with_their_faults() {
    let fault = |faults: &str| {
        let text = format!(
            "schema: planproof/scenario/v1\ntools:\n  - {{name: a}}\nfaults: {faults}\ncases:\n  - {{id: x, query: Do it., expect: [{{do: [a]}}]}}\n"
        );
        load(&text).err().unwrap_or_default()
    };
    assert_eq!(fault("{a: transient=0.5, \"*\": slow=0.1:2s}"), "");
    insta::assert_snapshot!(
        [
            "[a]",
            "{b: transient=1}",
            "{a: transient=2}",
            "{a: 1}",
            "{a: often=1}",
            "{a: empty=0.9,vanish=0.2}",
            "{a: \"empty=0.9,vanish=0.2\"}"
        ]
        .map(fault)
        .join("\n")
    );
}
