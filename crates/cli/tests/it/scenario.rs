//! `planproof scenario`: the whole screen, what is to blame, the document of `--json`, and first files.

use std::fs;

use serde_json::{Value, json};

use crate::child::call_tool;
use crate::stand_in::{StandIn, answer, call, say};
use crate::support::{Place, Run};

const SHOP: &str = r#"schema: planproof/scenario/v1
tools:
  - {name: get_order, arguments: {order_id: integer}}
  - {name: refund, arguments: {order_id: integer}}
  - {name: send_email}
cases:
  - id: refund-17
    query: "Refund order 17. Check the order before you refund it. Tell the customer by email."
    world:
      get_order: [{where: {/order_id: 17}, returns: {refundable: true}}, {fails: "no such order"}]
    expect:
      - {do: [get_order, refund, send_email]}
      - {requires: {call: refund, done: get_order}, words: "Check the order before you refund it"}
      - {followed-by: {done: refund, call: send_email}, words: "Tell the customer by email"}
  - id: not-refunded
    query: "Refund order 18, but do not refund it before the customer agrees."
    expect:
      - {do: [refund]}
      - {never: {call: refund}, words: "do not refund it"}
  - id: lost
    query: "Refund order 19 if it can be refunded."
    world:
      get_order: [{fails: "no such order"}]
    expect:
      - {do: [refund]}
      - {requires: {call: refund, done: get_order}, words: "if it can be refunded"}
  - id: nothing
    query: "Refund nothing twice."
    expect:
      - {at-most: {call: refund, times: 1}, words: twice}
      - {at-most: {call: refund, times: 2}}
"#;

fn read(place: &Place, file: &str) -> String {
    fs::read_to_string(place.path(file)).unwrap()
}

#[test]
fn cases_are_checked_before_anything_runs() {
    let place = Place::new();
    place.write("shop.yaml", SHOP);
    let run = place.run("scenario check shop.yaml").code(1);
    insta::assert_snapshot!(run.out);
    assert_eq!(run.err, "");
    let document = place.run("scenario check shop.yaml --json").code(1).json();
    let cases = document["cases"].as_array().unwrap();
    assert_eq!(document["usable"], false);
    let satisfiable: Vec<_> = cases.iter().map(|case| &case["satisfiable"]).collect();
    assert_eq!(satisfiable, [true, false, false, true]);
    assert_eq!(cases[0]["session"][0]["result"], json!({"refundable": true}));
    assert_eq!(cases[1]["to_blame"][1]["words"], "do not refund it");
    assert_eq!((&cases[1]["world_lacks"], &cases[2]["world_lacks"]), (&json!(false), &json!(true)));
    // The same place is named where the file is used.
    let run = place.run("bench scenario tools@sim/gold --data shop.yaml").code(2);
    assert!(run.err.contains("shop.yaml:15:5: case `not-refunded` cannot be satisfied"), "{}", run.err);
}

#[test]
fn warnings_and_bad_files_have_exit_statuses_of_their_own() {
    let place = Place::new();
    let good: String = SHOP.lines().take(14).map(|line| format!("{line}\n")).collect();
    place.write("good.yaml", &good);
    place.write("odd.yaml", &format!("{good}      - {{with: {{call: refund}}}}\n"));
    place.write("bad.yaml", &good.replace("query", "qery"));
    place.run("scenario check good.yaml --deny-warnings").code(0);
    let run = place.run("scenario check odd.yaml").code(0);
    assert!(
        run.out.contains("warning: `e4` in line 15 never decides a verdict: it follows from `e1` in line 12"),
        "{}",
        run.out
    );
    place.run("scenario check odd.yaml --deny-warnings").code(1);
    // One bad file hides no other.
    let run = place.run("scenario check bad.yaml good.yaml").code(2);
    assert!(run.out.starts_with("bad.yaml: 1 fault\ngood.yaml: 1 case, no warnings\n"), "{}", run.out);
    assert!(run.err.contains("bad.yaml:8:5: a case has no key `qery`"), "{}", run.err);
    let document = place.run("scenario check bad.yaml --json").code(2).json();
    assert_eq!(document["faults"][0], "bad.yaml:8:5: a case has no key `qery`; did you mean `query`?");
    place.run("scenario check nothing.yaml").code(2);
}

#[test]
fn the_schema_of_scenarios_is_printed_as_it_is() {
    let place = Place::new();
    assert_eq!(place.run("scenario schema").code(0).out, planproof_scenario::JSON_SCHEMA);
}

#[test]
fn a_test_runs_scenarios_as_the_benchmark_does() {
    let place = Place::new();
    let good: String = SHOP.lines().take(14).map(|line| format!("{line}\n")).collect();
    place.write("good.yaml", &good);
    let of_test = place.run("test tools@sim/gold --scenarios good.yaml --json -q").code(0).json();
    let of_bench = place.run("bench scenario tools@sim/gold --data good.yaml --json -q").code(0).json();
    for key in ["suite", "cases", "passed", "agent", "unit"] {
        assert_eq!(of_test[key], of_bench[key], "{key}");
    }
    assert_eq!(of_test["passed"], 1);
    // An agent that fails is shown the words that it did not follow, and the campaign can be shown and resumed.
    let server = StandIn::start(|number, _| match number {
        0 => call(1, "refund", r#"{"order_id": 17}"#),
        _ => say("Done."),
    });
    let line = ["test", "tools@openai/m", "--scenarios", "good.yaml"];
    let run = Run::of(server.command(&place, &line), "").code(1);
    assert!(run.out.contains("order_error"), "{}", run.out);
    assert!(place.run("runs show last").code(0).out.contains("Check the order before you refund it"));
    assert!(run.out.contains("planproof runs show"), "{}", run.out);
    let run = place.run("test --resume last").code(2);
    assert!(run.err.contains("resume it with `planproof bench scenario --resume "), "{}", run.err);
    // What is about synthesised cases does not go with it.
    for option in [
        "--cases 3",
        "--actions 3",
        "--hard",
        "--topic x",
        "--from f",
        "--shrink",
        "--dissect",
        "--allow-repeats",
    ] {
        let run = place.run(&format!("test tools@sim/gold --scenarios good.yaml {option}")).code(2);
        let (name, _) = option.split_once(' ').unwrap_or((option, ""));
        assert!(run.err.contains("--scenarios <FILE>") && run.err.contains(name), "{option}: {}", run.err);
        assert_eq!(run.err.matches("error").count(), 1, "{}", run.err);
    }
    // The file of the configuration is used, and what the command line says of synthesised cases rules it out.
    place.write("planproof.toml", "[test]\nscenarios = \"good.yaml\"\n");
    assert_eq!(place.run("test tools@sim/gold --json -q").code(0).json()["suite"], of_bench["suite"]);
    let run = place.run("test tools@sim/perfect --cases 2 --json -q").code(0);
    assert_eq!(run.json()["cases"], 2);
    place.run("test tools@sim/gold --scenarios nothing.yaml").code(2);
}

#[test]
fn first_files_are_written_and_never_lost() {
    let place = Place::new();
    place.write(
        "tools.json",
        &json!({"tools": [{"name": "get_order", "inputSchema": {"type": "object"}}]}).to_string(),
    );
    // Twice the same, to stdout and to a file; what is written is accepted as it is.
    let shown = place.run("scenario init --tools tools.json").code(0).out;
    let run = place.run("scenario init --tools tools.json --out first.yaml").code(0);
    assert_eq!((read(&place, "first.yaml"), run.out.as_str()), (shown, ""));
    assert!(
        run.err.contains("wrote first.yaml. Edit the case, then: planproof scenario check first.yaml"),
        "{}",
        run.err
    );
    let run = place.run("scenario check first.yaml").code(0);
    assert!(run.out.starts_with("first.yaml: 1 case, no warnings\n"), "{}", run.out);
    place.run("test tools@sim/gold --scenarios first.yaml -q").code(0);
    place.run("scenario init --tools calculator --out both.yaml").code(0);
    place.run("scenario check both.yaml").code(0);
    place.write("first.yaml", "mine\n");
    let run = place.run("scenario init --tools tools.json --out first.yaml").code(2);
    assert!(run.err.contains("there is a first.yaml already; --force overwrites it"), "{}", run.err);
    assert_eq!(read(&place, "first.yaml"), "mine\n");
    place.run("scenario init --tools tools.json --out tools.json --force").code(2);
    place.run("scenario init --tools tools.json --out first.yaml --force").code(0);
    place.run("scenario init --tools nothing.json").code(2);
    place.write("text.json", "[1]");
    assert!(place.run("scenario init --tools text.json").code(2).err.contains("tool 1 has no name"));
}

#[test]
fn a_recorded_session_becomes_a_case() {
    let place = Place::new();
    let call = |id: &str, name: &str, input: serde_json::Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let result = |id: &str, text: &str| json!({"type": "tool_result", "tool_use_id": id, "content": text});
    let session = json!({
        "tools": [{"name": "get_order", "description": "Looks an order up.", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Refund order 17."}]},
            {"role": "assistant", "content": [call("1", "get_order", json!({"order_id": 17}))]},
            {"role": "user", "content": [result("1", "{\"ticket\": \"t-9\"}")]},
            {"role": "assistant", "content": [call("2", "refund", json!({"ticket": "t-9"}))]},
            {"role": "user", "content": [result("2", "done")]},
        ]
    });
    place.write("good.jsonl", &format!("{session}\n"));
    // Nothing is expected unasked.
    place.run("scenario from-trace good.jsonl --out cases.yaml").code(0);
    let run = place.run("scenario check cases.yaml").code(2);
    assert!(run.err.contains("nothing is expected in case `session-1`"), "{}", run.err);
    place.run("scenario from-trace good.jsonl --accept --out cases.yaml").code(2);
    place.run("scenario from-trace good.jsonl --accept --out cases.yaml --force").code(0);
    let text = read(&place, "cases.yaml");
    for line in [
        "query: \"Refund order 17.\"",
        "description: \"Looks an order up.\"",
        "- {where: {/order_id: 17}, returns: {ticket: t-9}}",
        "- {takes: {argument: \"/ticket\", call: refund, from: get_order, value: \"/ticket\"}}",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    place.run("scenario check cases.yaml --deny-warnings").code(0);
    place.run("test tools@sim/gold --scenarios cases.yaml -q").code(0);
    // A trace of our own.
    place.run("test tools@sim/perfect --cases 1 -q --store r.db").code(0);
    place.write("trace.jsonl", &place.run("runs export last --store r.db").code(0).out);
    let text = place.run("scenario from-trace trace.jsonl --accept").code(0).out;
    place.write("own.yaml", &text);
    place.run("test tools@sim/gold --scenarios own.yaml -q").code(0);
    place.write("diary.txt", "Dear diary\n");
    assert!(place.run("scenario from-trace diary.txt").code(2).err.contains("no session is found here"));
}

#[test]
fn synthesised_cases_become_scenarios() {
    let place = Place::new();
    place.write("cases.jsonl", &place.run("synth --count 4 --actions 3..6 --distractors 1").code(0).out);
    place.run("scenario from-cases cases.jsonl --out own.yaml").code(0);
    let run = place.run("scenario check own.yaml").code(0);
    assert!(run.out.starts_with("own.yaml: 4 cases, "), "{}", run.out);
    place.run("test tools@sim/gold --scenarios own.yaml -q").code(0);
    // The shortest right session does each task once.
    let document = place.run("scenario check own.yaml --json").code(0).json();
    for (case, line) in document["cases"].as_array().unwrap().iter().zip(read(&place, "cases.jsonl").lines())
    {
        let synthesised: serde_json::Value = serde_json::from_str(line).unwrap();
        let actions = synthesised["actions"].as_array().unwrap().len();
        assert_eq!(case["session"].as_array().unwrap().len(), actions, "{case}");
    }
    let ids = place.run("scenario from-cases cases.jsonl --id 7-1").code(0).out;
    assert!(ids.contains("id: \"7-1\"") && !ids.contains("id: \"7-2\""), "{ids}");
    let timed = place.run("synth --count 1 --time").code(0).out;
    place.write("timed.jsonl", &timed);
    let run = place.run("scenario from-cases timed.jsonl").code(2);
    assert!(run.err.contains("case 7-0 cannot be a scenario: it is of the time form"), "{}", run.err);
}

#[test]
#[ignore = "slow"]
fn the_examples_can_be_satisfied_and_forbid_something() {
    let place = Place::new();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/own-cases");
    for (desk, cases) in [("crm", 10), ("release", 10), ("travel", 11)] {
        let file = format!("{examples}/{desk}/cases.yaml");
        let document = place.run(&format!("scenario check {file} --deny-warnings --json")).code(0).json();
        assert_eq!(document["cases"].as_array().unwrap().len(), cases, "{desk}");
        let run =
            place.run(&format!("test tools@sim/gold --scenarios {file} --json -q --store r.db")).code(0);
        assert_eq!(run.json()["passed"], cases, "{desk}");
        // A canary: nobody passes by doing nothing.
        let server = StandIn::start(|_, _| say("Done."));
        let line = ["test", "tools@openai/m", "--scenarios", &file, "--json", "-q", "--store", "r.db"];
        let run = Run::of(server.command(&place, &line), "").code(1);
        assert_eq!(run.json()["failed"], cases, "{desk}");
    }
}

#[test]
fn what_the_user_says_later_is_said_when_the_agent_has_answered() {
    let place = Place::new();
    place.write("turns.yaml", concat!(
        "schema: planproof/scenario/v1\n",
        "tools:\n  - {name: get_order, arguments: {id: integer}}\n  - {name: refund, arguments: {id: integer}}\n",
        "cases:\n  - id: meant-18\n    query: Refund order 17.\n    turns: [\"No, I meant order 18.\"]\n",
        "    expect:\n      - {with: {done: refund, where: {/id: 18}}, words: I meant order 18}\n",
        "      - {never: {call: refund, where: {/id: 17}}, from: 2}\n",
        "      - {requires: {call: refund, done: get_order}, per: /id}\n",
    ));
    let out = place.run("test tools@sim/gold --scenarios turns.yaml --record r.jsonl").code(0).out;
    assert!(out.contains("1 of 1"), "{out}");
    place.run("bench scenario --replay r.jsonl -q").code(0);
    let trace = place.run("runs show last --case meant-18").code(0).out;
    assert!(trace.contains("query \"No, I meant order 18.\""), "{trace}");
    // Whoever takes no note of it fails in its class.
    let out = place.run("test first-message --scenarios turns.yaml").code(1).out;
    let finding = out.split("\n\n").find(|part| part.starts_with("Finding 1")).unwrap();
    let shown: Vec<&str> = finding.lines().filter(|line| !line.contains("see it")).collect();
    insta::assert_snapshot!(shown.join("\n"));
    a_service_carries_the_conversation(&place);
    for agent in ["react@sim/gold", "command:true", "team@sim/gold"] {
        let error = place.run(&format!("test {agent} --scenarios turns.yaml")).code(2).err;
        assert!(error.contains("case meant-18 has later messages of the user"), "{error}");
    }
}

/// A service that waits for the correction passes, and one that takes each request for a new case says nothing.
fn a_service_carries_the_conversation(place: &Place) {
    let service = |says: Value| {
        StandIn::start(move |_, body| {
            if body["query"] == "No, I meant order 18." {
                assert_eq!(body["messages"][0]["content"], "Refund order 17.");
                let url = body["mcp_url"].as_str().unwrap();
                for tool in ["get_order", "refund"] {
                    call_tool(url, tool, &json!({"id": 18}));
                }
            }
            answer("200 OK", "", &says.to_string())
        })
    };
    let test = |says: Value, form: &str, status: i32| {
        let service = service(says);
        place.run(&format!("test url:{}/run --scenarios turns.yaml {form}", service.base_url())).code(status)
    };
    let passed = test(json!({"answer": "Done.", "conversations": true}), "", 0);
    assert!(passed.out.contains("1 of 1"), "{passed:?}");
    let unscored = test(json!({"answer": "Done."}), "", 3);
    let said = format!("{}{}", unscored.out, unscored.err);
    assert!(said.contains("the service does not say that it carries conversations"), "{unscored:?}");
    place.write("body.json", r#"{"input": "{query}", "tools": "{mcp_url}"}"#);
    let refused = test(json!({"answer": "Done."}), "--body body.json", 2);
    assert!(refused.err.contains("has later messages") && refused.err.contains("{messages}"), "{refused:?}");
}

#[test]
fn a_simulated_mistake_fails_whatever_the_case_is() {
    let place = Place::new();
    place.write(
        "shop.yaml",
        &SHOP.replace(
            "cases:\n",
            "cases:\n  - {id: look, query: Look at order 3., expect: [{do: [get_order]}]}\n",
        ),
    );
    let kept = fs::read_to_string(place.path("shop.yaml")).unwrap();
    let end = kept.find("  - id: not-refunded").unwrap();
    place.write("right.yaml", &kept[..end]);
    for cases in ["--scenarios right.yaml", "--cases 30", "--cases 10 --turns 2..3", "--cases 5 --time"] {
        let right = place.run(&format!("test tools@sim/gold {cases} -q --json")).code(0).json();
        assert_eq!(right["failed"], 0, "{cases}");
        let wrong = place.run(&format!("test tools@sim/gold/1 {cases} -q --json")).code(1).json();
        assert_eq!((&wrong["passed"], &wrong["unscored"]), (&json!(0), &json!(0)), "{cases}: {wrong}");
    }
    // A model that reads orders has nothing to say about other queries, and that is not the agent's failure.
    let run = place.run("test tools@sim/careless --scenarios right.yaml -q").code(3);
    assert!(run.out.contains("sim/careless does not understand this query"), "{}", run.out);
    assert!(run.out.contains("sim/gold/0.2"), "{}", run.out);
    let run = place.run("test at-onc --scenarios right.yaml").code(2);
    assert!(run.err.contains("did you mean at-once?"), "{}", run.err);
}
