//! `planproof rules`: the whole screen, faults with their places, and the document of `--json`.

use serde_json::json;

use crate::stand_in::{StandIn, call, say};
use crate::support::{Place, Run, json_lines};

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
    // A rule with a reason of its own is noted only.
    place.run("rules check rules.yaml --deny-warnings").code(0);
    place.write("plain.yaml", &SHOP.replace(", why: \"Refund only what was looked up.\"", ""));
    place.run("rules check plain.yaml --deny-warnings").code(2);
    let plain = place.run("rules check plain.yaml --json").code(0).json();
    assert_eq!(plain["warnings"][0], "`look-first` follows from `eligible`: leave it out");
    let document = place.run("rules check rules.yaml --json").code(0).json();
    assert_eq!(document["usable"], true);
    assert_eq!(document["rules"][2]["violated_by"][1]["error"], serde_json::json!({}));
    assert_eq!(document["warnings"], json!([]));
    assert_eq!(document["notes"][0], "`look-first` follows from `eligible`: all that it adds is its `why`");
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
    let expected = "tools.yaml:3:25: no tool is called `calculater`, so rule `x` can never match; did you mean `calculator`?";
    assert!(run.err.contains(expected), "{}", run.err);
    // So is an argument that the tool does not have.
    let rule = "{id: x, at-most: {call: calculator, times: 1}, per: /expresion}";
    place.write("tools.yaml", &format!("schema: planproof/rules/v1\nrules:\n- {rule}\n"));
    place.run("rules check tools.yaml").code(0);
    let run = place.run("rules check tools.yaml --tools calculator").code(2);
    let expected = "tools.yaml:3:55: `per` of rule `x` has /expresion, and calculator has no such argument; did you mean \
                    `/expression`?";
    assert!(run.err.contains(expected), "{}", run.err);
    place.run("rules check nothing.yaml").code(2);
}

#[test]
fn the_schema_is_printed_as_it_is() {
    let place = Place::new();
    assert_eq!(place.run("rules schema").code(0).out, planproof_spec::rules::JSON_SCHEMA);
}

#[test]
fn recorded_sessions_are_held_against_rules() {
    let place = Place::new();
    place.write("rules.yaml", SHOP);
    // One good and one bad session in each form.
    let chat = |order: u32| {
        json!({"messages": [
            {"role": "user", "content": "Refund 17."},
            {"role": "assistant", "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "get_order", "arguments": "{\"order_id\": 17}"}}]},
            {"role": "tool", "tool_call_id": "1", "content": "{\"refundable\": true}"},
            {"role": "assistant", "tool_calls": [
                {"id": "2", "type": "function",
                 "function": {"name": "refund", "arguments": format!("{{\"order_id\": {order}}}")}}]},
        ]})
    };
    let responses = |order: u32| {
        json!({"input": [
            {"role": "user", "content": "Refund 17."},
            {"type": "function_call", "call_id": "1", "name": "get_order", "arguments": "{\"order_id\": 17}"},
            {"type": "function_call_output", "call_id": "1", "output": "{\"refundable\": true}"},
            {"type": "function_call", "call_id": "2", "name": "refund", "arguments": format!("{{\"order_id\": {order}}}")},
        ]})
    };
    let messages = |order: u32| {
        json!({"messages": [
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "1", "name": "get_order", "input": {"order_id": 17}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "{\"refundable\": true}"}]}]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "2", "name": "refund", "input": {"order_id": order}}]},
        ]})
    };
    let all = [chat(17), chat(18), responses(17), responses(18), messages(17), messages(18)];
    let lines: String = all.iter().map(|session| format!("{session}\n")).collect();
    place.write("lines.jsonl", &lines);
    let run = place.run("check --rules rules.yaml lines.jsonl").code(1);
    insta::assert_snapshot!(run.out);
    // The same sessions in one document, and one of them as a bare list.
    place.write("list.json", &json!(all).to_string());
    place.write("bare.json", &all[1]["messages"].to_string());
    let run = place.run("check --rules rules.yaml --json list.json bare.json").code(1);
    let held: Vec<bool> = json_lines(&run.out)
        .iter()
        .map(|line| line["rules"].as_array().unwrap().iter().all(|rule| rule["held"] == true))
        .collect();
    assert_eq!(held, [true, false, true, false, true, false, false]);
    place.write("text.txt", "Dear diary\n");
    assert!(place.run("check --rules rules.yaml text.txt").code(2).err.contains("no session is found here"));
}

#[test]
fn files_and_folders_of_sessions_are_all_read() {
    let place = Place::new();
    place.write("rules.yaml", "schema: planproof/rules/v1\nrules:\n- {id: none, never: {call: pay}}\n");
    let call = |id: u32| json!({"id": id.to_string(), "function": {"name": "pay", "arguments": "{}"}});
    let session = |calls: u32| {
        let calls: Vec<_> = (1..=calls).map(call).collect();
        json!({"messages": [{"role": "assistant", "tool_calls": calls}]}).to_string()
    };
    for folder in ["logs/deep", "empty"] {
        std::fs::create_dir_all(place.path(folder)).unwrap();
    }
    place.write("logs/a.jsonl", "");
    place.write("logs/b.jsonl", &session(3));
    place.write("logs/deep/c.json", &session(0));
    place.write("logs/notes.txt", "Dear diary");
    let run = place.run("check --rules rules.yaml logs").code(1);
    assert!(
        run.out.contains("violated at call 1: pay {}\n    and 2 times more; --json names them"),
        "{}",
        run.out
    );
    assert!(run.out.ends_with("2 sessions, 1 violates rules: none 1\n"), "{}", run.out);
    let lines = json_lines(&place.run("check --rules rules.yaml logs --json").code(1).out);
    assert_eq!(lines[0]["rules"][0]["calls"], json!([1, 2, 3]));
    assert_eq!(lines[1]["rules"][0]["calls"], json!([]));
    // A file that is none does not keep the others from being read.
    let run = place.run("check --rules rules.yaml logs/notes.txt logs/b.jsonl logs/nothing.jsonl").code(2);
    assert!(run.out.contains("violated at call 1"), "{}", run.out);
    assert!(run.err.contains("logs/notes.txt: no session is found here"), "{}", run.err);
    assert!(run.err.contains("2 of 3 files cannot be used"), "{}", run.err);
    place.write("empty/notes.txt", "");
    let run = place.run("check --rules rules.yaml empty").code(2);
    assert!(run.err.contains("the folder empty has no file that ends in .jsonl"), "{}", run.err);
}

#[test]
fn calls_of_a_document_have_their_own_lines() {
    let place = Place::new();
    place.write("rules.yaml", "schema: planproof/rules/v1\nrules:\n- {id: none, never: {call: pay}}\n");
    let named = "[\n {\"role\": \"assistant\", \"tool_calls\": [\n  {\"id\": \"1\", \"function\": {\"name\": \"look\"}},\n\
                 \n  {\"id\": \"2\",\n   \"function\": {\"name\": \"pay\"}}]}\n]\n";
    let unnamed = "{\"messages\": [\n {\"role\": \"user\", \"content\": \"Pay.\"},\n {\"role\": \"assistant\", \"tool_calls\": [\n\
                   \n  {\"function\": {\"name\": \"pay\"}}]}]}\n";
    for (text, line) in [(named, 5), (unnamed, 5)] {
        place.write("session.json", text);
        place.run("check --rules rules.yaml session.json --sarif s.sarif").code(1);
        let sarif: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(place.path("s.sarif")).unwrap()).unwrap();
        let place_of = "/runs/0/results/0/locations/0/physicalLocation/region/startLine";
        assert_eq!(sarif.pointer(place_of), Some(&json!(line)), "{text}");
    }
}

#[test]
fn results_without_ids_belong_to_the_calls_in_their_order() {
    let place = Place::new();
    // A refund needs a look at the same order that says it is refundable; each result is about another order.
    place.write("rules.yaml", SHOP);
    let call = |name: &str, order: u32| json!({"function": {"name": name, "arguments": {"order_id": order}}});
    let result =
        |refundable: bool| json!({"role": "tool", "content": json!({"refundable": refundable}).to_string()});
    let session = |refunded: u32| {
        json!({"messages": [
            {"role": "assistant", "tool_calls": [call("get_order", 17), call("get_order", 18)]},
            result(true),
            result(false),
            {"role": "assistant", "tool_calls": [call("refund", refunded)]},
        ]})
    };
    // Results that name their tools, in another order than the calls.
    let named = json!({"messages": [
        {"role": "assistant", "tool_calls": [call("get_stock", 17), call("get_order", 17)]},
        {"role": "tool", "name": "get_order", "content": "{\"refundable\": true}"},
        {"role": "tool", "name": "get_stock", "content": "{\"refundable\": false}"},
        {"role": "assistant", "tool_calls": [call("refund", 17)]},
    ]});
    // A result too many is nobody's.
    let more = json!({"messages": [
        {"role": "assistant", "tool_calls": [call("get_order", 17)]},
        result(false),
        result(true),
        {"role": "assistant", "tool_calls": [call("refund", 17)]},
    ]});
    let lines: String =
        [session(17), session(18), named, more].iter().map(|session| format!("{session}\n")).collect();
    place.write("lines.jsonl", &lines);
    let run = place.run("check --rules rules.yaml --json lines.jsonl").code(1);
    let held: Vec<bool> = json_lines(&run.out)
        .iter()
        .map(|line| line["rules"].as_array().unwrap().iter().all(|rule| rule["held"] == true))
        .collect();
    assert_eq!(held, [true, false, true, false]);
}

#[test]
fn traces_are_held_against_rules() {
    let place = Place::new();
    place.run("test tools@sim/perfect --cases 3 --actions 4 --seed 7 -q --store r.db").code(0);
    place.write("traces.jsonl", &place.run("runs export last --store r.db").code(0).out);
    let rules = |demand: &str| format!("schema: planproof/rules/v1\nrules:\n- {{id: x, {demand}}}\n");
    place.write("calm.yaml", &rules("at-most: {done: \"*\", times: 4}"));
    place.write("strict.yaml", &rules("at-most: {call: \"*\", times: 3}"));
    let run = place.run("check --rules calm.yaml traces.jsonl").code(0);
    assert!(run.out.ends_with("3 sessions, none violates a rule\n"), "{}", run.out);
    let run = place.run("check --rules strict.yaml traces.jsonl").code(1);
    assert_eq!(run.out.matches("violated at call 4").count(), 3, "{}", run.out);
}

#[test]
fn findings_on_a_case_of_ones_own_quote_its_words() {
    let place = Place::new();
    // It refunds before it looks, and forgets the email.
    let server = StandIn::start(|number, _| match number {
        0 => call(1, "refund", r#"{"order_id": 17}"#),
        1 => call(2, "get_order", r#"{"order_id": 17}"#),
        _ => say("Bob has his money."),
    });
    let line =
        ["bench", "scenario", "tools@openai/m", "--limit", "1", "--store", "r.db", "--seed", "7", "--json"];
    let run = Run::of(server.command(&place, &line), "").code(1);
    assert_eq!(run.json()["classes"]["order_error"], 1, "{}", run.out);
    let shown = place.run("runs show last --store r.db").code(0).out;
    let finding = &shown[shown.find("Finding").unwrap()..];
    let lines = finding.split("\n\n").next().unwrap().lines();
    // The last line has the id of the campaign.
    let lines: Vec<&str> = lines.filter(|line| !line.trim_start().starts_with("see it:")).collect();
    insta::assert_snapshot!(lines.join("\n"));
    // And the right session, which planproof found, passes.
    let run = place.run("bench scenario tools@sim/gold --store r.db --json").code(0);
    assert_eq!(run.json()["passed"], 2);
}
