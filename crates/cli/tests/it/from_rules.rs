//! Cases drawn from rules: `planproof test --rules` and `planproof scenario from-rules`.

use crate::support::Place;

const RULES: &str = "schema: planproof/rules/v1\nrules:\n\
  - {id: eligible, requires: {call: refund, done: get_order, result: {/refundable: true}}, per: /order_id}\n\
  - {id: small, never: {call: refund, where: {/amount: {above: 100}}}}\n";

const TOOLS: &str = r#"[
  {"name": "get_order", "input_schema": {"type": "object", "properties": {"order_id": {"type": "integer"}}, "required": ["order_id"], "additionalProperties": false}},
  {"name": "refund", "input_schema": {"type": "object", "properties": {"order_id": {"type": "integer"}, "amount": {"type": "number"}}, "required": ["order_id", "amount"], "additionalProperties": false}}
]"#;

fn place() -> Place {
    let place = Place::new();
    place.write("rules.yaml", RULES);
    place.write("tools.json", TOOLS);
    place
}

#[test]
fn rules_are_tested_and_reported_one_by_one() {
    let place = place();
    let line = |agent: &str, more: &str| {
        format!("test {agent} --rules rules.yaml --tools tools.json --cases 12 --seed 5 --json -q {more}")
    };
    let right = place.run(&line("tools@sim/gold", "")).code(0).json();
    assert_eq!((&right["passed"], &right["suite"]), (&12.into(), &"scenario".into()));
    let wrong = place.run(&line("at-once", "")).code(1).json();
    assert_eq!(wrong["passed"], 0);
    let rows = wrong["by_rule"]["rules"].as_array().expect("a table").clone();
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!((&row["cases"], &row["held"], &row["violated"]), (&6.into(), &0.into(), &6.into()));
        let smallest = row["smallest_finding"].as_str().unwrap();
        assert!(smallest.starts_with(row["rule"].as_str().unwrap()), "{row}");
    }
    // The same seed gives the same cases, whoever is tested; and so does what is stored.
    let lines = |run: &str| place.run(&format!("runs export {run} --format cases")).code(0).out;
    let of_last = lines("last");
    place.run(&line("unconditional", "")).code(1);
    assert_eq!(lines("last"), of_last);
    assert!(place.run("runs show last --details").code(0).out.contains("eligible"));
    // A file of the same cases has the same queries.
    place
        .run("scenario from-rules --rules rules.yaml --tools tools.json --cases 12 --seed 5 --out d.yaml")
        .code(0);
    let written = std::fs::read_to_string(place.path("d.yaml")).unwrap();
    for line in of_last.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(written.contains(case["query"].as_str().unwrap()), "{case}");
    }
    let of_file = place.run("test tools@sim/gold --scenarios d.yaml --json -q").code(0).json();
    assert_eq!(of_file["passed"], 12);
    place.run("scenario check d.yaml").code(0);
}

#[test]
fn the_agent_is_shown_the_rules_as_asked_for() {
    let place = place();
    let prompts = |policy: &str| {
        let line = format!("test at-once --rules rules.yaml --tools tools.json --cases 2 --json -q {policy}");
        place.run(&line).code(1);
        place.run("runs export last").code(0).out
    };
    assert!(prompts("").contains("These rules hold:"));
    assert!(!prompts("--policy hidden").contains("These rules hold:"));
    place.write("policy.txt", "Refund only what is eligible. [eligible]\nBe kind.\n");
    let shown = prompts("--policy policy.txt");
    assert!(shown.contains("Refund only what is eligible.\\nBe kind.\\n\\nPlease "), "{shown}");
    place.write("policy.txt", "Be kind.\nRefund only what is eligible. [elegible-x]\n");
    let run = place.run("test at-once --rules rules.yaml --tools tools.json --policy policy.txt").code(2);
    assert!(run.err.contains("policy.txt:2:31: no rule has the id `elegible-x`"), "{}", run.err);
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let place = place();
    let run = |rules: &str| {
        place.write("other.yaml", &format!("schema: planproof/rules/v1\nrules:\n{rules}"));
        place.run("test at-once --rules other.yaml --tools tools.json --cases 3 -q")
    };
    let unknown = run("  - {id: x, at-most: {call: refund, times: 1}, per: /orderid}\n").code(2);
    assert!(unknown.err.contains("other.yaml:3:53: `per` of rule `x` has /orderid"), "{}", unknown.err);
    let none = run("  - {id: x, at-most: {call: refund, times: 900}}\n").code(2);
    assert!(none.err.contains("other.yaml: no case can be drawn"), "{}", none.err);
    let some =
        run("  - {id: x, at-most: {call: refund, times: 900}}\n  - {id: y, never: {call: refund}}\n").code(1);
    assert!(some.err.contains("other.yaml: warning: no case exercises `x`"), "{}", some.err);
    for (line, part) in [
        ("test at-once --rules rules.yaml", "--tools"),
        ("test at-once --tools tools.json", "--rules"),
        ("test at-once --rules rules.yaml --tools tools.json --scenarios d.yaml", "--scenarios"),
        ("test at-once --rules rules.yaml --tools tools.json --actions 3", "--actions"),
        ("test at-once --policy hidden", "--rules"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(part), "{line}: {}", run.err);
    }
    // Agents of these cases alone say so elsewhere.
    place.write("own.yaml", "schema: planproof/scenario/v1\ntools: [{name: a}]\ncases:\n  - {id: x, query: Do a., expect: [{do: [a]}]}\n");
    for agent in ["at-once", "unconditional"] {
        let run = place.run(&format!("test {agent} --scenarios own.yaml")).code(2);
        let said = format!("case x: {agent} plays in cases that are drawn from rules");
        assert!(run.err.contains(&said), "{}", run.err);
    }
}
