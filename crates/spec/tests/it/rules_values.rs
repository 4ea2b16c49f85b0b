//! The values that are tried to find out what rules mean: what is claimed of rules holds for all values.

use std::sync::Arc;

use planproof_spec::rules::search::SampleCall;
use planproof_spec::rules::{Oddity, RuleSet, RulesReview, Session};
use proptest::prelude::*;
use serde_json::{Value, json};

fn rules(text: &str) -> Arc<RuleSet> {
    let read = RuleSet::read(&format!("schema: planproof/rules/v1\nrules:\n{text}"));
    Arc::new(read.unwrap_or_else(|faults| panic!("{text}: {}", faults[0])))
}

/// Rules with what is odd about them.
#[test]
fn what_is_odd_holds_for_all_values() {
    let cases: [(&str, &[&str]); 21] = [
        (
            "- {id: look-first, requires: {call: refund, done: get_order}, per: /order_id}\n\
             - {id: vip, never: {call: refund, where: {/order_id: 17}}}\n",
            &[],
        ),
        (
            "- {id: vip, never: {call: ban, where: {/user_id: 17}}}\n\
             - {id: own, takes: {call: ban, argument: /user_id, from: find, value: /id}}\n",
            &[],
        ),
        (
            "- {id: int, never: {call: ban, where: {/user_id: {not: {type: integer}}}}}\n\
             - {id: own, takes: {call: ban, argument: /user_id, from: find, value: /id}}\n",
            &[],
        ),
        (
            "- {id: small, never: {call: pay, where: {/amount: {above: 100}}}}\n\
             - {id: own, takes: {call: pay, argument: /amount, from: quote, value: /total}}\n",
            &[],
        ),
        (
            "- {id: names, never: {call: mail, where: {/text: {not: {matches: '.*order [0-9]+.*'}}}}}\n\
             - {id: signs, never: {call: mail, where: {/text: {not: {matches: '.*Regards.*'}}}}}\n",
            &[],
        ),
        (
            "- {id: a, never: {call: bash, where: {/command: {matches: '.*rm -rf.*'}}}}\n\
             - {id: b, never: {call: bash, where: {/command: {matches: '.*sudo.*'}}}}\n\
             - {id: c, never: {call: bash, where: {/command: {not: {matches: '(git|ls|cat|rm|sudo) .*'}}}}}\n",
            &[],
        ),
        (
            "- {id: a, never: {call: bash, where: {/command: {matches: 'sudo rm .*'}}}}\n\
             - {id: b, never: {call: bash, where: {/command: {matches: 'sudo .*'}}}}\n",
            &["`a` follows from `b`: leave it out"],
        ),
        ("- {id: reason, never: {call: refund, where: {/reason: {present: false}}}}\n", &[]),
        (
            "- {id: r, requires: {call: refund, done: get_order, result: {/reason: {present: false}}}}\n\
             - {id: r3, never-after: {call: refund, done: get_order, result: {/ok: {present: false}}}}\n",
            &[],
        ),
        ("- {id: c, never: {call: pay, where: {/amount: {above: 1, below: 2}}}}\n", &[]),
        (
            "- {id: c, never: {call: pay, where: {/amount: {above: 1, below: 2, type: integer}}}}\n",
            &["no session violates `c`: it says nothing"],
        ),
        (
            "- {id: f, never-after: {call: refund, where: {/order_id: 17}, done: close}, per: /order_id}\n",
            &[],
        ),
        ("- {id: each, at-least: {call: log, times: 1}, per: /order_id}\n", &[]),
        // Each call needs a value of its own.
        (
            "- {id: new, at-most: {call: '*', times: 1}, per: /k}\n- {id: many, at-least: {call: a, times: 4}}\n",
            &[],
        ),
        // Places in lists and entries of maps.
        (
            "- {id: a, never: {call: n, where: {/l: {type: object}}}}\n\
             - {id: b, never: {call: n, where: {/l/0: x}}}\n",
            &[],
        ),
        (
            "- {id: a, never: {call: n, where: {/l: {type: array}}}}\n\
             - {id: b, never: {call: n, where: {/l/0: x}}}\n",
            &[],
        ),
        (
            "- {id: a, never: {call: n, where: {/l/0: {present: false}}}}\n\
             - {id: b, never: {call: n, where: {/l/1: x}}}\n",
            &[],
        ),
        (
            "- {id: a, never: {call: n, where: {/l: [x]}}}\n- {id: b, never: {call: n, where: {/l/0: x}}}\n",
            &[],
        ),
        // Several values of one result.
        (
            "- {id: once, at-most: {call: find, times: 1}}\n\
             - {id: own, takes: {call: ban, argument: /id, from: find, value: /ids/*}}\n\
             - {id: two, formula: '(implies (eventually call:ban) (and (eventually (call:ban (= id \"a\"))) \
             (eventually (call:ban (= id \"b\")))))'}\n",
            &[],
        ),
        (
            "- {id: a, never: {call: t, where: {/x: {at-least: 5}}}}\n\
             - {id: b, never: {call: t, where: {/x: {above: 7.5}}}}\n",
            &["`b` follows from `a`: leave it out"],
        ),
        (
            "- {id: a, never: {call: t, where: {/x: {not: {matches: 'a.*'}}}}}\n\
             - {id: b, never: {call: t, where: {/x: {matches: '.*'}}}}\n",
            &["`t` can never be called: `a` and `b` contradict one another"],
        ),
    ];
    for (text, expected) in cases {
        let review = rules(text).review();
        let shown: Vec<String> = review.oddities.iter().map(ToString::to_string).collect();
        assert_eq!(shown, expected, "{text}");
    }
}

/// Rules on one place that each list so many values, of which each two lists have some in common.
fn listing(rules: usize, values: usize, value: impl Fn(usize) -> String) -> String {
    let rule = |rule: usize| {
        let listed = (0..values).map(|number| value(rule * values * 3 / 4 + number));
        let listed: Vec<String> = listed.collect();
        format!("- {{id: r{rule}, never: {{call: t, where: {{/x: {{one-of: [{}]}}}}}}}}\n", listed.join(", "))
    };
    (0..rules).map(rule).collect()
}

/// Such files took minutes: each value was compared with each value of each rule, again for each rule.
#[test]
#[ignore = "slow"]
fn long_lists_are_reviewed_in_time() {
    let text = |number: usize| format!("v{number}");
    for (file, is_decided) in [
        (listing(1, 16_000, text), true),
        (listing(1, 16_000, |number| number.to_string()), true),
        (listing(1, 200_000, text), false),
        (listing(10, 1000, text), true),
        (listing(50, 3000, text), false),
        (listing(50, 3000, |number| number.to_string()), false),
    ] {
        let begun = std::time::Instant::now();
        let rules = rules(&file);
        let review = rules.review();
        // Every rule can be violated, and none is said to follow from others.
        for (number, meaning) in review.meanings.iter().enumerate() {
            let calls = meaning.violation.session().unwrap();
            let mut session = Session::new(&rules);
            calls.iter().for_each(|call| assert!(call.observe(&mut session)));
            assert!(!session.verdict(number).is_held_at_end(), "r{number}");
        }
        assert!(review.oddities.is_empty(), "{:?}", review.oddities);
        let alone = review.meanings.iter().all(|meaning| meaning.alone.session().is_some());
        assert!(alone || !is_decided, "{}", &file[..80]);
        assert!(begun.elapsed().as_secs() < 120, "{:?} for {}", begun.elapsed(), &file[..80]);
    }
}

#[test]
fn a_pointer_with_a_number_leads_into_a_list() {
    let rules = rules("- {id: a, never: {call: note, where: {/lines/1/text: a}}}\n");
    let calls = rules.review().meanings[0].violation.session().map(<[SampleCall]>::to_vec).unwrap();
    assert_eq!(calls[0].arguments, json!({"lines": [null, {"text": "a"}]}));
}

fn value_text() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("1"), Just("2"), Just("a"), Just("ab"), Just("1.5"), Just("true")]
}

fn tests_text() -> BoxedStrategy<String> {
    let one = prop_oneof![
        value_text().prop_map(|value| format!("is: {value}")),
        value_text().prop_map(|value| format!("is-not: {value}")),
        (value_text(), value_text()).prop_map(|(one, two)| format!("one-of: [{one}, {two}]")),
        (1..4).prop_map(|bound| format!("above: {bound}")),
        (1..4).prop_map(|bound| format!("at-most: {bound}")),
        prop_oneof![Just("a.*"), Just(".*b"), Just("[ab]*"), Just(".*1.*")]
            .prop_map(|expression| format!("matches: '{expression}'")),
        prop_oneof![Just("integer"), Just("string"), Just("number")].prop_map(|name| format!("type: {name}")),
        any::<bool>().prop_map(|present| format!("present: {present}")),
    ];
    let plain = one.clone().prop_filter("no present within not", |test| !test.starts_with("present"));
    prop_oneof![3 => one, 1 => plain.prop_map(|test| format!("not: {{{test}}}"))].boxed()
}

fn where_text(key: &'static str) -> BoxedStrategy<String> {
    let pointer = prop_oneof![4 => Just("/k"), 2 => Just("/v"), 1 => Just("/l/0")];
    let test = (pointer, tests_text()).prop_map(|(pointer, tests)| format!("{pointer}: {{{tests}}}"));
    prop_oneof![
        2 => Just(String::new()),
        3 => test.prop_map(move |test| format!(", {key}: {{{test}}}")),
    ]
    .boxed()
}

fn event_text() -> BoxedStrategy<String> {
    let tool = prop_oneof![3 => Just("a"), 2 => Just("b"), 1 => Just("'*'")];
    let done = prop_oneof![
        3 => Just(("call", String::new())).boxed(),
        1 => where_text("result").prop_map(|tests| ("done", tests)).boxed(),
    ];
    (done, tool, where_text("where"))
        .prop_map(|((moment, result), tool, tests)| format!("{{{moment}: {tool}{tests}{result}}}"))
        .boxed()
}

fn rule_text() -> BoxedStrategy<String> {
    let times = |event: String, times: u32| format!("{}, times: {times}}}", &event[..event.len() - 1]);
    let pair = prop_oneof![Just("requires"), Just("followed-by"), Just("never-after")];
    let demand = prop_oneof![
        4 => event_text().prop_map(|event| format!("never: {event}")),
        3 => (pair, event_text(), event_text()).prop_map(|(name, one, two)| format!("{name}: [{one}, {two}]")),
        1 => (event_text(), 1..3_u32).prop_map(move |(event, count)| format!("at-most: {}", times(event, count))),
        1 => (event_text(), 1..3_u32).prop_map(move |(event, count)| format!("at-least: {}", times(event, count))),
        1 => event_text().prop_map(|event| format!("first: {event}")),
        2 => (prop_oneof![Just("/k"), Just("/v")], prop_oneof![Just("/k"), Just("/l/*")])
            .prop_map(|(argument, value)| format!("takes: {{call: a, argument: {argument}, from: b, value: {value}}}")),
    ];
    let per = prop_oneof![3 => Just(""), 1 => Just(", per: /k"), 1 => Just(", per: /v")];
    (demand, per).prop_map(|(demand, per)| format!("{demand}{per}")).boxed()
}

/// Calls with few values, but others than those that the rules name.
fn calls(pool: &[Value]) -> Vec<SampleCall> {
    let with = |key: &str, value: &Value| if value.is_null() { json!({}) } else { json!({ key: value }) };
    let mut objects: Vec<Value> =
        pool.iter().flat_map(|value| [with("k", value), with("v", value)]).collect();
    objects.push(json!({"k": pool[0], "v": pool[1]}));
    objects.push(json!({"l": [pool[0], pool[1]]}));
    objects.push(json!({"l": {"0": pool[1]}, "k": pool[0]}));
    let mut unique: Vec<Value> = Vec::new();
    for object in objects {
        if !unique.contains(&object) {
            unique.push(object);
        }
    }
    let mut calls = Vec::new();
    for tool in ["a", "b", "c"] {
        for arguments in &unique {
            let call = |outcome| SampleCall { tool: tool.to_owned(), arguments: arguments.clone(), outcome };
            calls.push(call(None));
            if tool == "b" {
                calls.extend(unique.iter().take(5).map(|result| call(Some(Ok(result.clone())))));
                calls.push(call(Some(Ok(unique.last().unwrap().clone()))));
            } else {
                calls.push(call(Some(Ok(json!({})))));
            }
        }
    }
    calls
}

/// Whether a session of up to so many of these calls is as wanted.
fn find(
    start: &Session,
    calls: &[SampleCall],
    length: usize,
    used: &mut Vec<SampleCall>,
    is_goal: &dyn Fn(&Session, &[SampleCall]) -> bool,
) -> bool {
    if is_goal(start, used) {
        return true;
    }
    length > 0
        && calls.iter().any(|call| {
            let mut next = start.clone();
            used.push(call.clone());
            let is_found = call.observe(&mut next) && find(&next, calls, length - 1, used, is_goal);
            if !is_found {
                used.pop();
            }
            is_found
        })
}

/// Whether a session of these calls is as wanted.
type Goal = Box<dyn Fn(&Session, &[SampleCall]) -> bool>;

/// A session that shows that a claim is false, if there is one among those of these calls.
fn refuted(
    rules: &Arc<RuleSet>,
    review: &RulesReview,
    calls: &[SampleCall],
    length: usize,
) -> Option<String> {
    let number = |id: &String| rules.rules().iter().position(|rule| rule.id == *id).unwrap();
    let held =
        |session: &Session, of: &[usize]| of.iter().all(|rule| session.verdict(*rule).is_held_at_end());
    for oddity in &review.oddities {
        let is_goal: Goal = match oddity {
            Oddity::NeverViolated(id) => {
                let rule = number(id);
                Box::new(move |session, _| !held(session, &[rule]))
            }
            Oddity::Contradiction(ids) => {
                let of: Vec<usize> = ids.iter().map(number).collect();
                Box::new(move |session, _| held(session, &of))
            }
            Oddity::Implied { rule, by, .. } => {
                let (rule, by): (usize, Vec<usize>) = (number(rule), by.iter().map(number).collect());
                Box::new(move |session, _| !held(session, &[rule]) && held(session, &by))
            }
            Oddity::Unusable { tools, rules } => {
                let (tools, of): (Vec<String>, Vec<usize>) =
                    (tools.clone(), rules.iter().map(number).collect());
                Box::new(move |session, used| {
                    let is_one = |call: &SampleCall| tools.is_empty() || tools.contains(&call.tool);
                    used.iter().any(is_one) && held(session, &of)
                })
            }
            _ => continue,
        };
        let mut used = Vec::new();
        if find(&Session::new(rules), calls, length, &mut used, &is_goal) {
            return Some(format!("{oddity}: {used:?}"));
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 25 } else { 3000 }))]

    #[test]
    #[ignore = "slow"]
    fn no_claim_is_refuted_by_brute_force(
        texts in prop::collection::vec(rule_text(), 1..4),
        pool in Just(vec![
            json!(1), json!(2), json!("a"), json!("ab"), json!(1.5), json!("b1"), json!(3), json!("b"), json!(-2),
            json!("zz"), json!(true), json!([1]), Value::Null, json!(2.5), json!("a1"), json!("bb"),
        ]).prop_shuffle(),
    ) {
        let lines: Vec<String> = texts.iter().enumerate().map(|(number, rule)| format!("- {{id: r{number}, {rule}}}\n")).collect();
        let rules = rules(&lines.concat());
        let review = rules.review();
        // Short sessions of many values, and longer ones of few.
        let all = refuted(&rules, &review, &calls(&pool), 1);
        let some = refuted(&rules, &review, &calls(&pool[..5]), 2);
        let few = refuted(&rules, &review, &calls(&pool[..2]), 3);
        for refuted in [all, some, few] {
            prop_assert_eq!(refuted, None, "{}", lines.concat());
        }
    }
}
