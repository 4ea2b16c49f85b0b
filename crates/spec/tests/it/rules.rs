//! Rules of sessions: the automata against the definitions, and what a file may say.

use std::sync::Arc;

use planproof_spec::rules::search::{self, Found};
use planproof_spec::rules::{
    Oddity, Phase, RecordedEvent, RuleSet, RuleVerdict, Session, SessionEvent, textbook,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// An event that owns its values.
#[derive(Debug, Clone)]
struct Event {
    moment: Phase,
    tool: &'static str,
    arguments: Value,
    outcome: Option<Value>,
}

impl Event {
    fn seen(&self) -> SessionEvent<'_> {
        let event = SessionEvent::new(self.moment, self.tool, &self.arguments);
        self.outcome.as_ref().map_or(event, |outcome| event.with_outcome(outcome))
    }
}

fn rules(text: &str) -> Arc<RuleSet> {
    let read = RuleSet::read(&format!("schema: planproof/rules/v1\nrules:\n{text}"));
    Arc::new(read.unwrap_or_else(|faults| panic!("{text}: {}", faults[0])))
}

/// A few tools, arguments and results, so that rules often meet.
fn event() -> impl Strategy<Value = Event> {
    let moment = prop_oneof![4 => Just(Phase::Call), 4 => Just(Phase::Done), 1 => Just(Phase::Failed)];
    let tool = prop_oneof![Just("a"), Just("b"), Just("c")];
    let arguments = prop_oneof![
        Just(json!({})),
        Just(json!({"k": 1, "n": 5})),
        Just(json!({"k": 1.0, "n": 50, "v": "x"})),
        Just(json!({"k": 2, "n": 500, "v": "y"})),
        Just(json!({"k": "1", "v": 7})),
    ];
    let outcome = prop_oneof![
        Just(json!({"ok": true, "v": "x"})),
        Just(json!({"ok": false, "v": ["y", 7]})),
        Just(json!("a text")),
    ];
    (moment, tool, arguments, outcome).prop_map(|(moment, tool, arguments, outcome)| {
        let outcome = (moment != Phase::Call).then_some(outcome);
        Event { moment, tool, arguments, outcome }
    })
}

fn tool() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("a"), Just("b"), Just("c"), Just("\"*\"")]
}

fn event_text() -> impl Strategy<Value = String> {
    let tests = prop_oneof![
        3 => Just(String::new()),
        1 => Just(", where: {/n: {above: 50}}".to_owned()),
        1 => Just(", where: {/k: 1}".to_owned()),
        1 => Just(", where: {/v: {one-of: [x, 7]}, /n: {present: true}}".to_owned()),
        1 => Just(", where: {/v: {type: string}}".to_owned()),
        1 => Just(", where: {/n: {not: {type: integer, at-most: 50}}}".to_owned()),
    ];
    let moment = prop_oneof![
        Just(("call", "")),
        Just(("done", "")),
        Just(("done", ", result: {/ok: true}")),
        Just(("failed", "")),
        Just(("failed", ", error: {/ok: {is-not: true}}")),
    ];
    (moment, tool(), tests)
        .prop_map(|((moment, outcome), tool, tests)| format!("{{{moment}: {tool}{tests}{outcome}}}"))
}

fn formula() -> impl Strategy<Value = String> {
    let atom = prop_oneof![
        Just("call:a".to_owned()),
        Just("done:b".to_owned()),
        Just("failed:*".to_owned()),
        Just("(call:c (> n 50))".to_owned()),
    ];
    atom.prop_recursive(3, 8, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            inner.clone().prop_map(|f| format!("(not {f})")),
            inner.clone().prop_map(|f| format!("(always {f})")),
            inner.clone().prop_map(|f| format!("(eventually {f})")),
            inner.clone().prop_map(|f| format!("(next {f})")),
            inner.prop_map(|f| format!("(at-most 1 {f})")),
            two.clone().prop_map(|(f, g)| format!("(and {f} {g})")),
            two.clone().prop_map(|(f, g)| format!("(or {f} {g})")),
            two.clone().prop_map(|(f, g)| format!("(implies {f} {g})")),
            two.clone().prop_map(|(f, g)| format!("(until {f} {g})")),
            two.prop_map(|(f, g)| format!("(before {f} {g})")),
        ]
    })
}

/// A rule, without its id.
fn rule() -> impl Strategy<Value = String> {
    let per = prop_oneof![2 => Just(""), 1 => Just(", per: /k"), 1 => Just(", per: /v")];
    let pair = prop_oneof![Just("requires"), Just("followed-by"), Just("never-after")];
    let demand = prop_oneof![
        3 => (pair, event_text(), event_text()).prop_map(|(name, f, g)| format!("{name}: [{f}, {g}]")),
        1 => event_text().prop_map(|f| format!("never: {f}")),
        1 => (0..3_u32, event_text()).prop_map(|(n, f)| format!("at-most: {}, times: {n}}}", f.trim_end_matches('}').to_owned() + &"}".repeat(f.len() - f.trim_end_matches('}').len() - 1))),
        1 => (0..3_u32, event_text()).prop_map(|(n, f)| format!("at-least: {}, times: {n}}}", f.trim_end_matches('}').to_owned() + &"}".repeat(f.len() - f.trim_end_matches('}').len() - 1))),
        1 => event_text().prop_map(|f| format!("last: {f}")),
        1 => (tool(), tool(), prop_oneof![Just("/v"), Just("/v/*"), Just("/v/0")])
            .prop_map(|(f, g, value)| format!("takes: {{call: {f}, argument: /v, from: {g}, value: {value}}}")),
        2 => formula().prop_map(|f| format!("formula: '{f}'")),
    ];
    (demand, per).prop_map(|(demand, per)| format!("{demand}{per}"))
}

fn file() -> impl Strategy<Value = String> {
    prop::collection::vec(rule(), 1..4).prop_map(|rules| {
        let lines = rules.iter().enumerate().map(|(number, rule)| format!("- {{id: r{number}, {rule}}}\n"));
        lines.collect()
    })
}

/// Some events of every kind, to continue a session with.
fn continuations() -> Vec<Event> {
    let mut all = Vec::new();
    for tool in ["a", "b", "c"] {
        for arguments in [json!({"k": 1, "n": 100, "v": "x"}), json!({})] {
            let event = |moment, outcome| Event { moment, tool, arguments: arguments.clone(), outcome };
            all.push(event(Phase::Call, None));
            all.push(event(Phase::Done, Some(json!({"ok": true, "v": "x"}))));
            all.push(event(Phase::Failed, Some(json!({"ok": false}))));
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 2000 } else { 20_000 }))]

    #[test]
    #[ignore = "slow"]
    fn the_automata_agree_with_the_definitions(text in file(), session in prop::collection::vec(event(), 0..12)) {
        let rules = rules(&text);
        let mut running = Session::new(&rules);
        let seen: Vec<SessionEvent<'_>> = session.iter().map(Event::seen).collect();
        for length in 0..=seen.len() {
            if length > 0 {
                let before = running.verdicts();
                let foreseen = running.would_violate(&seen[length - 1]);
                running.observe(&seen[length - 1]).unwrap();
                let is_new = |rule: &usize| {
                    before[*rule] != RuleVerdict::Violated && running.verdict(*rule) == RuleVerdict::Violated
                };
                let came: Vec<usize> = (0..before.len()).filter(is_new).collect();
                prop_assert_eq!(foreseen, came, "{}", text);
            }
            for (number, rule) in rules.rules().iter().enumerate() {
                let expected = textbook::is_held(rule, &seen[..length]);
                let verdict = running.verdict(number);
                prop_assert_eq!(verdict.is_held_at_end(), expected, "{} after {} events: {}", text, length, rule);
                // What is final is final, by the definitions.
                if matches!(verdict, RuleVerdict::Held | RuleVerdict::Violated) {
                    for next in continuations() {
                        for after in continuations().iter().step_by(5) {
                            let mut longer = seen[..length].to_vec();
                            longer.push(next.seen());
                            prop_assert_eq!(textbook::is_held(rule, &longer), expected, "{}", text);
                            longer.push(after.seen());
                            prop_assert_eq!(textbook::is_held(rule, &longer), expected, "{}", text);
                        }
                    }
                }
            }
        }
    }

}

proptest! {
    // A search looks at up to some thousand sessions.
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 20 } else { 1000 }))]

    #[test]
    #[ignore = "slow"]
    fn witnesses_are_what_they_are_said_to_be(text in file()) {
        let rules = rules(&text);
        for number in 0..rules.rules().len() {
            if let Found::Session(calls) = search::only_violation(&rules, number) {
                let events = events_of(&calls);
                let seen: Vec<SessionEvent<'_>> = events.iter().map(Event::seen).collect();
                for (other, rule) in rules.rules().iter().enumerate() {
                    prop_assert_eq!(textbook::is_held(rule, &seen), other != number, "{}: {:?}", text, calls);
                }
            }
        }
    }
}

fn events_of(calls: &[search::SampleCall]) -> Vec<Event> {
    let mut events = Vec::new();
    for call in calls {
        // The names in these tests live as long as the program.
        let tool: &'static str = Box::leak(call.tool.clone().into_boxed_str());
        let mut add = |moment, outcome: Option<&Value>| {
            events.push(Event { moment, tool, arguments: call.arguments.clone(), outcome: outcome.cloned() });
        };
        add(Phase::Call, None);
        match &call.outcome {
            Some(Ok(result)) => add(Phase::Done, Some(result)),
            Some(Err(error)) => add(Phase::Failed, Some(error)),
            None => {}
        }
    }
    events
}

/// The rules of the documentation.
const SHOP: &str = r#"
- {id: look-first, requires: {call: refund, done: get_order}, per: /order_id, why: "Refund only what was looked up."}
- {id: eligible, requires: {call: refund, done: get_order, result: {/refundable: true}}, per: /order_id}
- {id: once, at-most: {call: refund, times: 1}, per: /order_id}
- {id: small, never: {call: refund, where: {/amount: {above: 100}}}}
- {id: tell, followed-by: {done: refund, call: send_email}}
- {id: not-closed, never-after: {call: reply, done: close_ticket}}
- {id: own-id, takes: {call: create_ticket, argument: /customer_id, from: search_customer, value: /customer_id}}
- {id: last, last: {call: log_out}}
- {id: other, formula: "(always (implies call:a (eventually done:b)))"}
"#;

#[test]
fn rules_in_words_with_their_shortest_violations() {
    let rules = rules(SHOP);
    let shown = |found: Found| match found {
        Found::Session(calls) => calls
            .iter()
            .map(|call| {
                let outcome = match &call.outcome {
                    Some(Ok(result)) => format!(" -> {result}"),
                    Some(Err(error)) => format!(" fails: {error}"),
                    None => String::new(),
                };
                format!("{} {}{outcome}", call.tool, call.arguments)
            })
            .collect::<Vec<_>>()
            .join("; "),
        Found::None => "none".to_owned(),
        Found::TooMany => "too many".to_owned(),
    };
    let lines: Vec<String> = (0..rules.rules().len())
        .map(|number| {
            let rule = &rules.rules()[number];
            let violation = shown(search::violation(&rules, number));
            let only = shown(search::only_violation(&rules, number));
            format!("{}: {rule}\n  violated by: {violation}\n  by it alone: {only}", rule.id)
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let cases = [
        ("rules: []", "1:1: the file names no schema"),
        ("schema: planproof/rules/v2\nrules: []", "1:9: the schema is the text `planproof/rules/v2`"),
        ("schema: planproof/rules/v1", "1:1: the file has no rules"),
        (
            "schema: planproof/rules/v1\nrule: []\nrules: []",
            "2:1: a file of rules has no key `rule`; did you mean `rules`?",
        ),
        ("schema: planproof/rules/v1\nrules: {}", "2:8: `rules` is a map, not a list"),
        ("- {never: {call: a}}", "4:3: the rule has no id"),
        ("- {id: x}", "4:3: the rule demands nothing"),
        ("- {id: x, first: {call: a, times: 2}}", "4:28: `first` has no key `times`; leave it out"),
        ("- {id: x, nevr: {call: a}}", "4:11: a rule has no key `nevr`; did you mean `never`?"),
        (
            "- {id: x, never: {call: a}, last: {call: b}}",
            "4:3: the rule demands two things: `never` and `last`",
        ),
        ("- {id: x, never: {cal: a}}", "4:18: `never` names no event"),
        ("- {id: x, requires: {call: a}}", "4:21: `requires` names one event, and takes two"),
        ("- {id: x, at-most: {call: a}}", "4:20: `at-most` does not say how often"),
        ("- {id: x, at-most: {call: a, times: -1}}", "4:37: `times` is `-1`"),
        ("- {id: x, at-most: {call: a, times: 1.5}}", "4:37: `times` is `1.5`"),
        ("- {id: x, never: {call: a}, per: [/a, /b]}", "4:34: `per` is a list, not a pointer"),
        (
            "- {id: x, never: {call: a}, per: order_id}",
            "4:34: `per` has `order_id`, which is not a JSON pointer; write `/order_id`",
        ),
        ("- {id: x, never: {call: a, where: {amount: 1}}}", "4:36: `where` has `amount`"),
        ("- {id: x, never: {call: a, where: {/n: {over: 1}}}}", "4:41: there is no test `over`"),
        (
            "- {id: x, never: {call: a, where: {/n: {above: '1'}}}}",
            "4:48: `above` is the text `1`, not a number",
        ),
        (
            "- {id: x, never: {call: a, where: {/n: {matches: '('}}}}",
            "4:50: `matches` is not a regular expression",
        ),
        ("- {id: x, never: {call: a, result: {/n: 1}}}", "4:28: `result` without `done`"),
        ("- {id: x, never: {call: 17}}", "4:25: `call` is `17`, not the name of a tool"),
        ("- {id: x, formula: 'call:a call:b'}", "4:20: in the formula: there are 2 formulas"),
        ("- {id: x, formula: '(alway call:a)'}", "4:20: in the formula: "),
        ("- {id: x, formula: 'pay'}", "4:20: in the formula: `pay` is not an event"),
        ("- {id: x, takes: {call: a, argument: /v, from: b}}", "4:18: `takes` has no `value`"),
        (
            "- {id: x, takes: {call: a, argument: /v/*, from: b, value: /v/*}}",
            "4:38: `argument` has `/v/*`, and `*` stands for every element only in the `value` of `takes`",
        ),
        (
            "- {id: x, never: {call: a}}\n- {id: x, never: {call: b}}",
            "5:3: two rules have the id `x`: the first stands in line 4",
        ),
        ("- {id: x, never: &n {call: a}}", "4:18: an anchor is not allowed here"),
    ];
    for (text, expected) in cases {
        let whole = if text.starts_with('-') {
            format!("schema: planproof/rules/v1\naliases: {{}}\nrules:\n{text}")
        } else {
            text.to_owned()
        };
        let faults = RuleSet::read(&whole).expect_err(text);
        let shown: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert!(shown.iter().any(|fault| fault.contains(expected)), "{text}: {shown:?} lack {expected}");
        assert!(faults.iter().all(|fault| !fault.help.is_empty()));
    }
}

#[test]
fn names_of_tools_have_servers_and_aliases() {
    let text = "schema: planproof/rules/v1\naliases: {refund: [pay.refund, shop/give_back]}\n\
                rules:\n- {id: x, never: {call: refund}}\n- {id: y, never: {call: crm/find}}\n";
    let rules = Arc::new(RuleSet::read(text).unwrap());
    let verdicts = |server: Option<&str>, tool: &str| {
        let mut session = Session::new(&rules);
        let arguments = json!({});
        session
            .observe(&SessionEvent { server, ..SessionEvent::new(Phase::Call, tool, &arguments) })
            .unwrap();
        (session.verdict(0) == RuleVerdict::Violated, session.verdict(1) == RuleVerdict::Violated)
    };
    assert_eq!(verdicts(None, "refund"), (true, false));
    assert_eq!(verdicts(Some("any"), "refund"), (true, false));
    assert_eq!(verdicts(None, "pay.refund"), (true, false));
    assert_eq!(verdicts(Some("shop"), "give_back"), (true, false));
    assert_eq!(verdicts(None, "give_back"), (false, false));
    assert_eq!(verdicts(Some("crm"), "find"), (false, true));
    assert_eq!(verdicts(None, "crm/find"), (false, true));
    assert_eq!(verdicts(Some("other"), "find"), (false, false));
    let unknown = rules.unknown_tools(&["shop/give_back".to_owned(), "crm/fnd".to_owned()]);
    let shown: Vec<String> = unknown.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        ["5:25: no tool is called `crm/find`, so rule `y` can never match; did you mean `crm/fnd`?"]
    );
}

#[test]
fn a_call_counts_once_for_a_rule_that_its_result_violates_too() {
    let rules = rules("- {id: f, formula: \"call:b\"}\n- {id: n, never: {call: a}}\n");
    let event = |phase| RecordedEvent {
        phase,
        server: None,
        tool: "a".to_owned(),
        arguments: Arc::new(json!({})),
        outcome: (phase == Phase::Done).then(|| json!("ok")),
    };
    let events = [Phase::Call, Phase::Done, Phase::Call, Phase::Done].map(event);
    assert_eq!(rules.violating_calls(&events).unwrap(), [vec![1, 2], vec![1, 2]]);
}

#[test]
fn pointers_to_the_whole_and_numbers_are_said_in_words() {
    for (rule, said) in [
        (
            "requires: {call: a, done: b, result: {\"\": yes}}",
            "A call of a needs a result of b with a whole value \"yes\" before it",
        ),
        (
            "takes: {call: a, argument: /x, from: b, value: \"\"}",
            "A call of a takes its /x from an earlier result of b",
        ),
        (
            "never: {call: a, where: {/x: {above: 175928847299117063}}}",
            "A call of a with /x above 175928847299117063 never comes",
        ),
        (
            "never: {call: a, where: {/x: {at-most: 18446744073709551615}}}",
            "A call of a with /x of at most 18446744073709551615 never comes",
        ),
        ("never: {call: a, where: {/x: {below: 0.1}}}", "A call of a with /x below 0.1 never comes"),
        ("never: {call: a, where: {/x: 17.0}}", "A call of a with /x 17.0 never comes"),
    ] {
        assert_eq!(rules(&format!("- {{id: r, {rule}}}\n")).rules()[0].to_string(), said);
    }
}

#[test]
fn what_is_remembered_is_bounded() {
    let rules = rules("- {id: x, at-most: {call: a, times: 1}, per: /k}\n");
    let mut session = Session::new(&rules);
    let too_many = (0..200_000).find_map(|number| {
        let arguments = json!({"k": number});
        session.observe(&SessionEvent::new(Phase::Call, "a", &arguments)).err()
    });
    let text = too_many.expect("a limit").to_string();
    assert_eq!(text, "rule `x` has to remember more than 100000 values of per");
}

#[test]
fn rules_imply_and_contradict_one_another() {
    let rules = rules(
        "- {id: first, requires: {call: b, done: a}}\n\
         - {id: weaker, requires: [{call: b}, {call: a}]}\n\
         - {id: barred, never: {call: a}}\n\
         - {id: unrelated, never: {call: z}}\n",
    );
    // A result without a call is not a session of calls: whoever did `a` called it.
    assert_eq!(search::only_violation(&rules, 1), Found::None);
    assert!(search::only_violation(&rules, 3).session().is_some());
    assert_eq!(search::use_of(&rules, &[0, 1, 2, 3], "b"), Found::None);
    assert!(search::use_of(&rules, &[0, 1], "b").session().is_some());
    assert_eq!(search::connected(&rules, 3), [3]);
    let oddities = |text: &str| -> Vec<String> {
        self::rules(text).review().oddities.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        oddities(
            "- {id: first, requires: {call: b, done: a}}\n- {id: weaker, requires: [{call: b}, {call: a}]}\n\
             - {id: barred, never: {call: a}}\n"
        ),
        [
            "`weaker` follows from `first`: leave it out",
            // Whoever calls `b` needs `a`, which is forbidden, and is meant to be.
            "`a` can never be called: `barred` says so",
            "`b` can never be called: `weaker` and `barred` contradict one another",
        ]
    );
    assert_eq!(
        oddities("- {id: x, requires: {call: a, done: b}}\n- {id: y, requires: {call: b, done: a}}\n"),
        ["`a` and `b` can never be called: `x` and `y` contradict one another"]
    );
    assert_eq!(
        oddities(
            "- {id: x, at-most: {call: a, times: 1}}\n- {id: y, formula: '(or call:a (not call:a))'}\n\
             - {id: z, formula: '(and call:b (not call:b))'}\n- {id: v, requires: [{call: c}, {call: c}]}\n"
        ),
        ["no session violates `y`: it says nothing", "no session satisfies `z`: it contradicts itself",]
    );
    // A demand is violated by the session without a call, so it says something, and may contradict others.
    assert_eq!(oddities("- {id: must, at-least: {call: a, times: 1}}\n"), [""; 0]);
    assert_eq!(oddities("- {id: must, formula: '(eventually done:a)'}\n"), [""; 0]);
    assert_eq!(
        oddities(
            "- {id: other, at-most: {call: b, times: 1}}\n- {id: barred, never: {call: a}}\n\
             - {id: must, at-least: {call: a, times: 1}}\n- {id: last, last: {call: c}}\n"
        ),
        ["no session satisfies `barred` and `must`: they contradict one another"]
    );
    assert_eq!(
        oddities(
            "- {id: must, at-least: {call: a, times: 1}}\n- {id: then, followed-by: {call: a, call: b}}\n\
             - {id: small, at-most: {call: '*', times: 1}}\n"
                .replace("{call: a, call: b}", "[{call: a}, {call: b}]")
                .as_str()
        ),
        ["no session satisfies `must`, `then` and `small`: they contradict one another"]
    );
    // What is forbidden outright is named, and is no warning; neither is a rule that is there for its reason.
    let review = self::rules(
        "- {id: barred, never: {call: a}}\n- {id: once, at-most: {call: a, times: 1}, why: Once.}\n",
    )
    .review();
    assert!(review.oddities.iter().all(Oddity::is_note), "{:?}", review.oddities);
    assert_eq!(
        review.oddities.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "`once` follows from `barred`: all that it adds is its `why`",
            "`a` can never be called: `barred` says so",
        ]
    );
    assert_eq!(
        oddities(
            "- {id: barred, at-most: {call: '*', times: 0}}\n- {id: once, at-most: {done: a, times: 1}}\n"
        ),
        ["`once` follows from `barred`: leave it out", "no tool can ever be called: `barred` says so"]
    );
    assert_eq!(
        oddities("- {id: v, requires: [{call: c}, {call: c}]}\n"),
        ["`c` can never be called: `v` rejects every session with it"]
    );
    // Rules that contradict one another at every call are named once, whatever tools there are.
    assert_eq!(
        oddities(
            "- {id: a, first: {call: login}}\n- {id: b, first: {call: hello}}\n\
             - {id: c, requires: {call: pay, done: login}}\n"
        ),
        ["no tool can ever be called: `a` and `b` contradict one another"]
    );
    // Each of many values counts, although not all of them are tried for each rule.
    let many: String = (0..9)
        .map(|amount| format!("- {{id: r{amount}, never: {{call: a, where: {{/x: {amount}}}}}}}\n"))
        .collect();
    assert_eq!(oddities(&many), [""; 0]);
    assert_eq!(oddities(SHOP), ["`look-first` follows from `eligible`: all that it adds is its `why`"]);
}

/// Each test of types, on values of all of them.
#[test]
fn types_are_those_of_json() {
    let values = [
        ("400", json!({"n": 400})),
        ("400.0", json!({"n": 400.0})),
        ("0.5", json!({"n": 0.5})),
        ("text", json!({"n": "400"})),
        ("true", json!({"n": true})),
        ("list", json!({"n": [400]})),
        ("map", json!({"n": {"value": 400}})),
        ("null", json!({"n": null})),
        ("nothing", json!({})),
    ];
    for (tests, passing) in [
        ("type: number", "400 400.0 0.5"),
        ("type: integer", "400 400.0"),
        ("type: string", "text"),
        ("type: boolean", "true"),
        ("type: array", "list"),
        ("type: object", "map"),
        ("type: null", "null"),
        ("type: [string, 'null']", "text null"),
        ("not: {type: number}", "text true list map null nothing"),
        ("not: {at-most: 100}", "400 400.0 text true list map null nothing"),
        ("not: {type: number, at-most: 100}", "400 400.0 text true list map null nothing"),
        ("not: {type: [string, boolean]}", "400 400.0 0.5 list map null nothing"),
        ("not: {type: number}, present: true", "text true list map null"),
        ("not: {is-not: 400}", "400 400.0 nothing"),
        ("not: {one-of: [400, '400']}", "0.5 true list map null nothing"),
        ("not: {matches: '[0-9]+'}", "400 400.0 0.5 true list map null nothing"),
    ] {
        let rules = rules(&format!("- {{id: x, never: {{call: t, where: {{/n: {{{tests}}}}}}}}}\n"));
        let found: Vec<&str> = values
            .iter()
            .filter(|(_, arguments)| {
                let mut session = Session::new(&rules);
                session.observe(&SessionEvent::new(Phase::Call, "t", arguments)).unwrap();
                session.verdict(0) == RuleVerdict::Violated
            })
            .map(|(name, _)| *name)
            .collect();
        assert_eq!(found.join(" "), passing, "{tests}");
        // The search finds both sides of each test.
        assert!(search::violation(&rules, 0).session().is_some(), "{tests}");
        assert!(search::use_of(&rules, &[0], "t").session().is_some(), "{tests}");
    }
    let words = |tests: &str| {
        let rules = rules(&format!("- {{id: x, never: {{call: t, where: {{/n: {{{tests}}}}}}}}}\n"));
        rules.rules()[0].to_string()
    };
    assert_eq!(words("type: [number, string]"), "A call of t with /n of type number or string never comes");
    assert_eq!(
        words("not: {type: number, at-most: 9}"),
        "A call of t with no /n of type number and of at most 9 never comes"
    );
}

#[test]
fn the_schema_for_editors_accepts_what_is_read() {
    let schema: Value = serde_json::from_str(planproof_spec::rules::JSON_SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let file = |rule: Value| json!({"schema": "planproof/rules/v1", "rules": [rule]});
    // JSON is YAML, so one text is good for both.
    for (rule, expected) in [
        (
            json!({"id": "x", "requires": {"call": "a", "done": "b", "result": {"/ok": true}}, "per": "/k"}),
            true,
        ),
        (json!({"id": "x", "requires": [{"call": "a"}, {"call": "b"}], "why": "Because."}), true),
        (json!({"id": "x", "followed-by": {"done": "a", "call": "b"}}), true),
        (
            json!({"id": "x", "never-after": {"call": "a", "failed": "b", "error": {"/code": {"at-least": 500}}}}),
            true,
        ),
        (
            json!({"id": "x", "never": {"call": "*", "where": {"/a~1b": {"one-of": [1, "x"], "present": true}}}}),
            true,
        ),
        (json!({"id": "x", "at-most": {"done": "a", "times": 2}}), true),
        (json!({"id": "x", "at-least": {"call": "a", "where": {"/k": 1}, "times": 1}}), true),
        (json!({"id": "x", "first": {"call": "a"}}), true),
        (json!({"id": "x", "last": {"call": "a"}}), true),
        (
            json!({"id": "x", "takes": {"call": "a", "argument": "/k", "from": "b", "value": "/items/*/k"}}),
            true,
        ),
        (json!({"id": "x", "formula": "(always (not call:a))"}), true),
        (json!({"id": "x", "never": {"call": "a", "where": {"/n": {"type": ["number", "null"]}}}}), true),
        (json!({"id": "x", "never": {"call": "a", "where": {"/n": {"type": null}}}}), true),
        (json!({"id": "x", "never": {"call": "a", "where": {"/n": {"not": {"type": "integer"}}}}}), true),
        (json!({"id": "x", "never": {"call": "a", "where": {"/n": {"type": "numbers"}}}}), false),
        (json!({"id": "x", "never": {"call": "a", "where": {"/n": {"type": []}}}}), false),
        (json!({"id": "x", "never": {"call": "a", "where": {"/n": {"not": {}}}}}), false),
        (json!({"id": "x", "never": {"call": "a", "where": {"/n": {"not": 7}}}}), false),
        (json!({"id": "x", "never": {"call": "a", "where": {"/n": {"not": {"present": true}}}}}), false),
        (json!({"id": "x", "never": {"call": "a", "where": {"/n": {"not": {"not": {"is": 1}}}}}}), false),
        (json!({"id": "x", "never": {"done": "a", "result": {"": {"matches": "(?s).*denied.*"}}}}), true),
        (json!({"never": {"call": "a"}}), false),
        (json!({"id": "x"}), false),
        (json!({"id": "x", "never": {"call": "a"}, "last": {"call": "b"}}), false),
        (json!({"id": "x", "never": {"call": "a", "done": "b"}}), false),
        (json!({"id": "x", "requires": {"call": "a"}}), false),
        (json!({"id": "x", "at-most": {"call": "a"}}), false),
        (json!({"id": "x", "never": {"call": "a"}, "per": "k"}), false),
        (json!({"id": "x", "never": {"call": "a", "where": {"/n": {"over": 1}}}}), false),
        (json!({"id": "x", "nevr": {"call": "a"}}), false),
    ] {
        let text = file(rule);
        assert_eq!(validator.is_valid(&text), expected, "{text}");
        assert_eq!(RuleSet::read(&text.to_string()).is_ok(), expected, "{text}");
    }
}
