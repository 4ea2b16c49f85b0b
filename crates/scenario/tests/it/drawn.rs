//! Cases drawn from rules: each rule matters in its cases, a right agent passes all of them, and simulated planners
//! fail where they ought to.

use std::collections::{BTreeMap, BTreeSet};

use planproof_scenario::{Drawing, RulesShown, Scenario, Scenarios, draft_of_drawn, listed_tools};
use planproof_suite::{Case, CaseSelection, Data, Gold, Judged, Suite as _};
use planproof_trace::Tool;
use serde_json::{Value, json};

use crate::judged;

/// One rule of each kind, for tools with arguments of several types.
const RULES: &str = r#"schema: planproof/rules/v1
rules:
  - {id: eligible, requires: {call: refund, done: get_order, result: {/refundable: true}}, per: /order_id}
  - {id: instead, requires: {call: refund, failed: cancel_order}, per: /order_id}
  - {id: small, never: {call: refund, where: {/amount: {above: 100}}}}
  - {id: once, at-most: {done: get_order, times: 1}, per: /order_id}
  - {id: own-id, takes: {call: send_email, argument: /customer_id, from: find_customer, value: /found/*/id}}
  - {id: answered, followed-by: {done: open_ticket, call: close_ticket}, per: /ticket_id}
  - {id: silent, never-after: {call: send_email, done: close_ticket}}
  - {id: noted, formula: "(always (implies done:cancel_order (eventually call:write_note)))"}
"#;

fn tools() -> Vec<Tool> {
    let tool = |name: &str, arguments: Value| {
        let properties = arguments.as_object().expect("a map of arguments");
        let required: Vec<&String> = properties.keys().collect();
        json!({"name": name, "description": "A tool.", "input_schema": {
            "type": "object", "properties": properties, "required": required, "additionalProperties": false}})
    };
    let list = json!([
        tool("get_order", json!({"order_id": {"type": "integer"}})),
        tool("refund", json!({"order_id": {"type": "integer"}, "amount": {"type": "number", "minimum": 0}})),
        tool("cancel_order", json!({"order_id": {"type": "integer"}})),
        tool("find_customer", json!({"email": {"type": "string"}})),
        tool("send_email", json!({"customer_id": {"type": "string"}, "text": {"type": "string"}})),
        tool("open_ticket", json!({"ticket_id": {"type": "string"}, "priority": {"enum": ["low", "high"]}})),
        tool("close_ticket", json!({"ticket_id": {"type": "string"}})),
        tool("write_note", json!({"text": {"type": "string"}})),
    ]);
    listed_tools(&list).expect("tools")
}

fn drawing(shown: RulesShown) -> Drawing {
    Drawing::new(RULES, &tools(), shown).expect("cases can be drawn")
}

fn cases(count: usize) -> Vec<Scenario> {
    let cases = drawing(RulesShown::Stated).cases(3, count).expect("cases");
    assert_eq!(cases.len(), count);
    cases
}

fn calls(gold: Gold) -> Vec<(String, Value)> {
    gold.calls.into_iter().map(|call| (call.tool, Value::Object(call.arguments))).collect()
}

/// The class of a run that makes these calls, whether the rule of the case was held, and the document.
fn ended(case: &Scenario, calls: &[(String, Value)]) -> (Option<String>, bool, String) {
    let named: Vec<(&str, Value)> =
        calls.iter().map(|(tool, arguments)| (tool.as_str(), arguments.clone())).collect();
    let verdict = judged(case, &named);
    let held = verdict.scored.score("rule_held") == Some(1.0);
    (verdict.class().map(|class| class.as_str().to_owned()), held, verdict.detail)
}

fn acting(case: &Scenario, agent: &str) -> Vec<(String, Value)> {
    calls(case.act(agent, 0).expect("an agent of the suite").expect("its calls"))
}

fn drawn(case: &Scenario) -> Value {
    serde_json::from_str::<Value>(&case.to_line()).expect("JSON")["drawn"].clone()
}

#[test]
#[ignore = "slow"]
fn each_rule_matters_in_its_cases() {
    let mut manners: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut ends: BTreeMap<String, BTreeSet<bool>> = BTreeMap::new();
    let mut queries = BTreeSet::new();
    for case in cases(300) {
        let id = case.card().id.clone();
        let (about, line) = (drawn(&case), case.to_line());
        let rule = about["rule"].as_str().unwrap().to_owned();
        let manner = about["manner"].as_str().unwrap().to_owned();
        assert!(queries.insert(case.prompt().to_owned()), "{id}: {}", case.prompt());
        // The line is the whole case, and the calls of the right session pass it.
        let again = Scenarios::default().read(&line).expect("a case");
        assert_eq!((again.to_line(), again.prompt()), (line.clone(), case.prompt()), "{id}");
        let right = calls(case.gold().expect("a right session"));
        let (class, held, detail) = ended(&case, &right);
        assert!(class.is_none() && held, "{id}: {line}\n{detail}");
        // Calls in the order of mention violate the rule.
        let (class, held, detail) = ended(&case, &acting(&case, "at-once"));
        assert!(class.is_some() && !held, "{id}: {line}\n{detail}");
        // An agent that acts rightly but for what must be left undone fails where there is such a thing.
        let (class, held, detail) = ended(&case, &acting(&case, "unconditional"));
        assert_eq!(class.is_some(), manner == "left_undone", "{id}: {line}\n{detail}");
        assert_eq!(held, class.is_none(), "{id}: {line}\n{detail}");
        ends.entry(rule.clone()).or_default().insert(right.iter().any(|(tool, _)| tool == "refund"));
        manners.entry(rule).or_default().insert(manner);
    }
    let shown: Vec<String> = manners
        .iter()
        .map(|(rule, manners)| format!("{rule}: {}", manners.iter().cloned().collect::<Vec<_>>().join(", ")))
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
    // A condition is drawn both ways: there are right ends with a refund and without one.
    assert_eq!(ends["eligible"], BTreeSet::from([false, true]));
}

#[test]
#[ignore = "slow"]
fn the_same_seed_gives_the_same_cases() {
    let lines = |cases: Vec<Scenario>| cases.iter().map(Case::to_line).collect::<Vec<_>>();
    let all = lines(cases(24));
    assert_eq!(all, lines(cases(24)));
    // Each case depends on its number alone.
    let mut drawing = drawing(RulesShown::Stated);
    let of_number = |line: &String| {
        let value: Value = serde_json::from_str(line).unwrap();
        let id = value["id"].as_str().unwrap().to_owned();
        id.rsplit_once('-').unwrap().1.parse::<u64>().unwrap()
    };
    for line in all.iter().rev() {
        assert_eq!(&drawing.case(3, of_number(line)).expect("a case").to_line(), line);
    }
    insta::assert_snapshot!(
        all.iter()
            .take(8)
            .map(|line| {
                let value: Value = serde_json::from_str(line).unwrap();
                format!("{}: {}", value["id"].as_str().unwrap(), value["query"].as_str().unwrap())
            })
            .collect::<Vec<_>>()
            .join("\n")
    );
    let other = drawing.cases(4, 24).expect("cases");
    assert!(lines(other).iter().all(|line| !all.contains(line)));
}

#[test]
fn what_is_drawn_can_be_written_as_a_file() {
    let cases = cases(16);
    let text = draft_of_drawn(&cases).expect("a file");
    let data = Some(Data { text: &text, file: "drawn.yaml" });
    let read = Scenarios::default().load(data, &CaseSelection::First, None).expect("cases");
    for (case, read) in cases.iter().zip(&read) {
        assert_eq!((case.prompt(), &case.card().id), (read.prompt(), &read.card().id));
        // The same calls pass and fail.
        for calls in [calls(case.gold().unwrap()), acting(case, "at-once")] {
            let named: Vec<(&str, Value)> =
                calls.iter().map(|(tool, arguments)| (tool.as_str(), arguments.clone())).collect();
            let (one, two) = (judged(case, &named), judged(&**read, &named));
            assert_eq!(one.class(), two.class(), "{}", one.detail);
        }
    }
}

#[test]
#[ignore = "slow"]
fn rules_are_stated_or_in_a_policy_or_hidden() {
    let ids: Vec<&str> =
        vec!["eligible", "instead", "small", "once", "own-id", "answered", "silent", "noted"];
    let policy = RulesShown::policy(
        "Be kind. Refund only what is eligible! [eligible, small]\nLook once. [once]",
        &ids,
    );
    let prompts = |shown: RulesShown| drawing(shown).cases(3, 40).expect("cases");
    let stated = prompts(RulesShown::Stated);
    let hidden = prompts(RulesShown::Hidden);
    let policy = prompts(policy.expect("a policy"));
    for ((stated, hidden), policy) in stated.iter().zip(&hidden).zip(&policy) {
        let query = hidden.prompt();
        assert!(
            stated.prompt().starts_with(&format!("{query}\n\nThese rules hold:\n- A call of refund needs"))
        );
        assert_eq!(policy.prompt(), format!("Be kind. Refund only what is eligible!\nLook once.\n\n{query}"));
        assert!(!query.contains("rules"), "{query}");
    }
    // A finding quotes the sentence of the policy.
    let case = policy.iter().find(|case| drawn(case)["rule"] == "eligible").expect("a case");
    let calls = acting(case, "at-once");
    let named: Vec<(&str, Value)> =
        calls.iter().map(|(tool, arguments)| (tool.as_str(), arguments.clone())).collect();
    let explained = case.explain(&judged(case, &named));
    let marked: Vec<&str> =
        explained.pieces().into_iter().filter_map(|(text, mark)| mark.map(|_| text)).collect();
    assert!(marked.contains(&"Refund only what is eligible!"), "{marked:?}");
}

#[test]
fn the_report_has_a_row_for_each_rule() {
    let cases = cases(16);
    let suite = Scenarios::default();
    let cards: Vec<_> = cases.iter().map(|case| case.card().clone()).collect();
    let verdicts: Vec<_> = cases
        .iter()
        .enumerate()
        .map(|(number, case)| {
            let agent = if number % 3 == 0 { "at-once" } else { "unconditional" };
            let calls = acting(case, agent);
            let named: Vec<(&str, Value)> =
                calls.iter().map(|(tool, arguments)| (tool.as_str(), arguments.clone())).collect();
            judged(case, &named)
        })
        .collect();
    let runs: Vec<Judged<'_>> = (0..)
        .zip(cards.iter().zip(&verdicts))
        .map(|(ordinal, (card, verdict))| Judged { ordinal, repeat: 0, card, scored: Some(&verdict.scored) })
        .collect();
    let sections = suite.sections(&runs, &cards, 1);
    let table = &sections[0].tables[0];
    let rows: Vec<String> = table.rows.iter().map(|row| row.join(" | ")).collect();
    insta::assert_snapshot!(format!(
        "{}\n{}\n{}",
        sections[0].intro,
        table.columns.join(" | "),
        rows.join("\n")
    ));
    // Rules for which there are no cases are counted, wherever the report is made.
    let few = drawing(RulesShown::Stated).cases(3, 5).expect("cases");
    let cards: Vec<_> = few
        .iter()
        .map(|case| Scenarios::default().read(&case.to_line()).expect("a case").card().clone())
        .collect();
    let section = &suite.sections(&[], &cards, 1)[0];
    assert!(section.intro.ends_with("Warning: 3 rules matter in none of the cases."), "{}", section.intro);
    assert_eq!(section.json["rules_without_case"], 3);
    // The identity of a case does not depend on the others.
    assert_eq!(few[0].identity(), cases[0].identity());
    // Cases of one's own have no such table.
    assert!(suite.sections(&[], &[planproof_suite::Card::new("x", 1)], 1).is_empty());
}

#[test]
fn rules_without_cases_are_named() {
    let rules = |rules: &str| format!("schema: planproof/rules/v1\nrules:\n{rules}");
    let drawing = Drawing::new(
        &rules(
            "- {id: a, requires: {call: refund, done: get_order}}\n- {id: b, at-most: {call: refund, times: 900}}\n",
        ),
        &tools(),
        RulesShown::Stated,
    );
    assert_eq!(drawing.expect("cases can be drawn").not_drawn(), ["b"]);
    let none = Drawing::new(
        &rules("- {id: b, at-most: {call: refund, times: 900}}\n"),
        &tools(),
        RulesShown::Stated,
    );
    assert!(none.expect_err("no case").what.starts_with("no case can be drawn"));
    let none = Drawing::new(&rules("- {id: b, never: {call: refund}}\n"), &[], RulesShown::Stated);
    assert!(none.expect_err("no tools").what.contains("there are 0 tools"));
    let many: String =
        (0..101).map(|number| format!("- {{id: r{number}, never: {{call: refund}}}}\n")).collect();
    let refused = Drawing::new(&rules(&many), &tools(), RulesShown::Stated).expect_err("too many");
    assert_eq!(refused.what, "there are 101 rules; cases are drawn from up to 100: split the file");
    // Where there are few queries, there are few cases, and no two of one query.
    let bare = listed_tools(&json!([
        {"name": "log_in", "input_schema": {"type": "object", "properties": {}, "additionalProperties": false}},
        {"name": "work", "input_schema": {"type": "object", "properties": {}, "additionalProperties": false}},
    ]))
    .expect("tools");
    let text = rules("- {id: first, requires: {call: work, done: log_in}}\n");
    let mut drawing = Drawing::new(&text, &bare, RulesShown::Stated).expect("cases can be drawn");
    let queries: Vec<String> =
        drawing.cases(1, 50).expect("cases").iter().map(|case| case.prompt().to_owned()).collect();
    assert!((1..=4).contains(&queries.len()), "{queries:?}");
    assert_eq!(queries.iter().collect::<BTreeSet<_>>().len(), queries.len());
}
