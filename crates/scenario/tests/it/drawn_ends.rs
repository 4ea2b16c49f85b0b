//! The right end of a drawn case: whatever is asked and breaks no rule is expected, and nothing else is but the look
//! that shows why something is left undone.
//!
//! The twin knows the query, the world and the rules. It adds one demand to a case, that something which was asked is
//! done, and has the search of hand-written cases look for a session: it tries all values that rules and results name,
//! and shares nothing with the code that draws cases.

use planproof_scenario::{Drawing, RulesShown, Scenarios, listed_tools};
use planproof_suite::{Case, Suite as _};
use planproof_trace::{Draw, Tool};
use serde_json::{Value, json};

fn tools() -> Vec<Tool> {
    let tool = |name: &str, arguments: Value| {
        let properties = arguments.as_object().expect("a map of arguments");
        let required: Vec<&String> = properties.keys().collect();
        json!({"name": name, "description": "A tool.", "input_schema": {
            "type": "object", "properties": properties, "required": required, "additionalProperties": false}})
    };
    let (text, whole, number) =
        (json!({"type": "string"}), json!({"type": "integer"}), json!({"type": "number"}));
    let list = json!([
        tool("get_order", json!({"order_id": whole})),
        tool("refund", json!({"order_id": whole, "amount": number, "reason": text})),
        tool("get_customer", json!({"customer_id": text})),
        tool("send_email", json!({"to": text, "text": text})),
        tool("deploy", json!({"build_id": text, "to": text})),
        tool("get_build", json!({"build_id": text})),
        tool("quote", json!({})),
        tool("pay", json!({"amount": number})),
        tool("log", json!({"from": text, "to": text})),
    ]);
    listed_tools(&list).expect("tools")
}

/// Rules of every kind. What an argument is called must not matter.
const RULES: [&str; 24] = [
    "requires: {call: refund, done: get_order, result: {/refundable: true}}, per: /order_id",
    "never: {call: refund, where: {/amount: {above: 100}}}",
    "at-most: {done: refund, times: 1}, per: /order_id",
    "followed-by: {done: refund, call: send_email}",
    "takes: {call: send_email, argument: /to, from: get_order, value: /customers/*/id}",
    "never: {call: refund, where: {/order_id: 17}}",
    "takes: {call: send_email, argument: /to, from: get_customer, value: /email}",
    "takes: {call: deploy, argument: /to, from: get_build, value: /to}",
    "takes: {call: deploy, argument: /to, from: get_customer, value: /city}",
    "never: {call: pay, where: {/amount: {above: 100}}}",
    "takes: {call: pay, argument: /amount, from: quote, value: /total}",
    "takes: {call: refund, argument: /amount, from: quote, value: /total}",
    "takes: {call: log, argument: /to, from: get_customer, value: /email}",
    "takes: {call: log, argument: /from, from: get_build, value: /by}",
    "never: {call: refund, where: {/reason: {matches: '.*vip.*'}}}",
    "last: {call: send_email}",
    "first: {call: get_customer}",
    "never-after: {call: pay, done: deploy}",
    "requires: {call: pay, failed: get_build}",
    "requires: {call: deploy, done: get_build, result: {/green: true}}, per: /build_id",
    "formula: \"(always (implies done:quote (eventually call:log)))\"",
    "at-least: {call: log, times: 1}",
    "never: {call: deploy, where: {/to: production}}",
    "requires: {call: pay, done: quote, result: {/total: {at-most: 50}}}",
];

/// The rules of the findings that this test comes from, by their numbers above.
const FOUND: [&[usize]; 6] = [&[6], &[9, 10], &[0, 1, 2, 3, 4, 5], &[4, 15], &[14], &[9, 23, 10]];

/// The arguments of a call that the query says, as tests.
fn said(query: &str, arguments: &Value) -> Value {
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let words: Vec<&str> = query.split(|c: char| c.is_whitespace() || ",;\"".contains(c)).collect();
    let is_said = |value: &Value| {
        let shown = shown(value);
        words.iter().any(|word| word.strip_suffix('.').unwrap_or(word) == shown)
            || shown.contains(' ') && query.contains(&shown)
    };
    let entries = arguments.as_object().into_iter().flatten();
    entries
        .filter(|(_, value)| is_said(value))
        .map(|(name, value)| (format!("/{name}"), value.clone()))
        .collect()
}

/// What is wrong with the end of a case, if anything.
fn fault(case: &dyn Case) -> Option<String> {
    let mut line: Value = serde_json::from_str(&case.to_line()).expect("a line");
    let drawn = line["drawn"].take();
    line.as_object_mut().expect("a map").remove("drawn");
    let query = line["query"].as_str().expect("a query").to_owned();
    let with = |demand: Value| {
        let mut line = line.clone();
        line["expect"].as_array_mut().expect("a list").push(json!({"rule": demand}));
        let case = Scenarios::default().read(&line.to_string()).expect("a case");
        case.gold().is_some()
    };
    for asked in drawn["asked"].as_array().expect("a list") {
        let (tool, tests) = (&asked["tool"], said(&query, &asked["arguments"]));
        // What another call says of the same value is not said of this one.
        let is_expected = line["expect"].as_array().expect("a list").iter().any(|expected| {
            let event = &expected["rule"]["at-least"];
            let demanded = event["where"].as_object().into_iter().flatten();
            ["done", "call"].iter().any(|moment| event[moment] == *tool)
                && demanded.into_iter().all(|(pointer, value)| tests.get(pointer) == Some(value))
        });
        if is_expected {
            continue;
        }
        for moment in ["done", "call"] {
            let demand = json!({"id": "twin", "at-least": {"times": 1, moment: tool, "where": tests}});
            if with(demand) {
                return Some(format!(
                    "{tool} with {tests} could be {moment}, and is not expected\n{query}\n{line}"
                ));
            }
        }
    }
    // Whoever does what is expected passes, and so does nobody who leaves any of it out.
    let right = case.gold().expect("a right session").calls;
    for (number, expected) in line["expect"].as_array().expect("a list").iter().enumerate() {
        let tool = &expected["rule"]["at-least"];
        let is_of = |moment: &str| right.iter().any(|call| tool[moment] == *call.tool);
        if !(is_of("done") || is_of("call")) {
            return Some(format!("expectation {number} is in no right session\n{query}\n{line}"));
        }
    }
    None
}

#[test]
#[ignore = "slow"]
fn what_is_asked_and_breaks_no_rule_is_expected() {
    let mut chosen: Vec<Vec<usize>> = FOUND.iter().map(|some| some.to_vec()).collect();
    for number in 0..50 {
        let mut draw = Draw::new(5, number, "drawn-ends");
        let count = 1 + draw.place(3);
        chosen.push((0..count).map(|_| draw.place(RULES.len())).collect());
    }
    let (mut cases, mut left_undone) = (0, 0);
    let mut faults = Vec::new();
    for some in chosen {
        let rules = some.iter().enumerate().map(|(id, rule)| format!("- {{id: r{id}, {}}}\n", RULES[*rule]));
        let text = format!("schema: planproof/rules/v1\nrules:\n{}", rules.collect::<String>());
        let Ok(mut drawing) = Drawing::new(&text, &tools(), RulesShown::Stated) else { continue };
        for case in drawing.cases(1, 8).expect("cases") {
            cases += 1;
            left_undone += usize::from(case.to_line().contains("left_undone"));
            faults.extend(fault(&case).map(|fault| format!("{some:?}: {fault}")));
        }
    }
    assert!(faults.is_empty(), "{} of {cases}\n{}", faults.len(), faults[..faults.len().min(5)].join("\n"));
    assert!(cases > 250 && left_undone > 40, "{cases} cases, {left_undone} of them left undone");
}

#[test]
fn a_rule_about_the_last_call_has_cases_beside_a_flow() {
    let text = "schema: planproof/rules/v1
rules:
  - {id: own, takes: {call: send_email, argument: /to, from: get_order, value: /customers/*/id}}
  - {id: lastly, last: {call: send_email}}
";
    let drawing = Drawing::new(text, &tools(), RulesShown::Stated).expect("cases can be drawn");
    assert_eq!(drawing.not_drawn(), Vec::<&str>::new());
}
