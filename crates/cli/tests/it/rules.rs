//! `planproof rules`: the whole screen, faults with their places, and the document of `--json`.

use crate::support::Place;

const SHOP: &str = r#"schema: planproof/rules/v1
rules:
  - {id: look-first, requires: {call: refund, done: get_order}, per: /order_id, why: "Refund only what was looked up."}
  - {id: eligible, requires: {call: refund, done: get_order, result: {/refundable: true}}, per: /order_id}
  - {id: lookups, at-most: {failed: get_order, times: 1}}
"#;

#[test]
fn rules_are_shown_in_words_and_by_examples() {
    let place = Place::new();
    place.write("rules.yaml", SHOP);
    let run = place.run("rules check rules.yaml").code(0);
    insta::assert_snapshot!(run.out);
    assert_eq!(run.err, "");
    place.run("rules check rules.yaml --deny-warnings").code(2);
    let document = place.run("rules check rules.yaml --json").code(0).json();
    assert_eq!(document["usable"], true);
    assert_eq!(document["rules"][2]["violated_by"][1]["error"], serde_json::json!({}));
    assert_eq!(document["warnings"][0], "`look-first` follows from `eligible`: leave it out");
}

#[test]
fn a_faulty_file_is_refused_with_every_place() {
    let place = Place::new();
    place.write("good.yaml", SHOP);
    place.write(
        "bad.yaml",
        "schema: planproof/rules/v1\nrules:\n- {id: x, nevr: {call: a}}\n- {never: {call: a}}\n",
    );
    let run = place.run("rules check bad.yaml good.yaml").code(2);
    assert!(run.out.starts_with("bad.yaml: 2 faults\ngood.yaml: 3 rules"), "{}", run.out);
    for line in [
        "bad.yaml:3:11: a rule has no key `nevr`; did you mean `never`?",
        "bad.yaml:4:3: the rule has no id; write `id: NAME`",
        "1 of 2 rules files cannot be used",
    ] {
        assert!(run.err.contains(line), "{line} is not in {}", run.err);
    }
    // A tool that nobody has is found with the tools at hand, and the nearest name is shown.
    place.write("tools.yaml", "schema: planproof/rules/v1\nrules:\n- {id: x, never: {call: calculater}}\n");
    let run = place.run("rules check tools.yaml --tools calculator").code(2);
    assert!(run.err.contains("no tool is called `calculater`; did you mean `calculator`?"), "{}", run.err);
    place.run("rules check nothing.yaml").code(2);
}

#[test]
fn the_schema_is_printed_as_it_is() {
    let place = Place::new();
    assert_eq!(place.run("rules schema").code(0).out, planproof_spec::rules::JSON_SCHEMA);
}
