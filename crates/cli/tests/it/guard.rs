//! `repair:AGENT`, and learning data of failed runs.

use serde_json::{Value, json};

use crate::stand_in::{self, StandIn};
use crate::support::{Place, Run, json_lines};

#[test]
fn the_guard_lifts_a_simulated_model_on_the_same_cases() {
    let place = Place::new();
    let run = place.run("test repair:tools@sim/careless --cases 40 --seed 5").code(0);
    assert!(run.out.contains("the lift over the bare agent on the same cases:"), "{run:?}");
    assert!(run.out.contains("test tools@sim/careless --cases 40 --seed 5\n"), "{run:?}");
    place.run("test tools@sim/careless --cases 40 --seed 5").code(1);
    let newest = json_lines(&place.run("runs list --json").code(0).out).swap_remove(0);
    let bare = newest["run"].as_str().unwrap();
    let run = place.run("test repair:tools@sim/careless --cases 40 --seed 5").code(0);
    assert!(run.out.contains("SIMULATION"), "{run:?}");
    assert!(run.out.contains("Denied by the guard: calls of "), "{run:?}");
    let said = "On the same cases the bare agent passed 37 of 40, behind the guard 40 of 40: 3 fixed, 0 broken.\n\
                Lift of the guard: +7.5 points. A split into fixed and broken as uneven as this comes about by chance with \
                p = 0.250 (exact McNemar test).\n";
    assert!(run.out.contains(said), "{run:?}");
    let text = place.run(&format!("report {bare} last --html page.html")).code(0).out;
    assert!(text.contains("Lift of the guard: +7.5 points. "), "{text}");
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("percentage points gained by the guard: B is A with it"), "{page}");
    let compared = place.run(&format!("report {bare} last --json")).code(0).json();
    assert_eq!(compared["b"]["agent"], "repair:tools@sim/careless");
    assert!(compared["difference"].as_f64().is_some_and(|lift| lift > 0.0), "{compared}");

    let verdicts = json_lines(&place.run("runs export last --format verdicts").code(0).out);
    let held: Vec<&Value> = verdicts.iter().filter(|verdict| verdict["denied"].is_array()).collect();
    assert!(!held.is_empty());
    for verdict in held {
        assert!(verdict["flags"].as_array().unwrap().contains(&json!("denied")), "{verdict}");
        let answer = verdict["denied"][0]["answer"].as_str().unwrap();
        assert!(
            answer.starts_with("Not done: it is too early for \"") && answer.contains("Right now: `"),
            "{answer}"
        );
    }
    let traces = place.run("runs export last").code(0).out;
    assert!(traces.contains("\"is_error\":true,\"denied\":true"), "{traces}");
}

/// Runs an agent with the guard and without; what the guarded runs failed of, and the lift in points.
fn classes_and_lift(place: &Place, agent: &str, options: &str) -> (Value, f64) {
    let run = |agent: &str| {
        let mut words = vec!["test", agent, "--json", "-q"];
        words.extend(options.split_whitespace());
        let run = place.run_words(&words);
        assert!(run.code < 2, "{agent}: {run:?}");
        let id = place.run("runs list --json").code(0).out;
        (run.json(), json_lines(&id)[0]["run"].as_str().unwrap().to_owned())
    };
    let (bare, guarded) = (run(agent), run(&format!("repair:{agent}")));
    assert_eq!(guarded.0["unscored"], 0, "{agent}: {}", guarded.0);
    let compared = place.run(&format!("report {} {} --json", bare.1, guarded.1)).code(0).json();
    assert_eq!(compared["is_lift"], true);
    for verdict in json_lines(&place.run("runs export last --format verdicts").code(0).out) {
        assert_eq!(verdict["first_wrong_call"], Value::Null, "{agent}: {verdict}");
        assert_eq!(verdict["violated"], json!([]), "{agent}: {verdict}");
    }
    (guarded.0["classes"].clone(), compared["difference"].as_f64().unwrap() * 100.0)
}

#[test]
#[ignore = "slow"]
fn every_kind_of_agent_can_be_guarded_and_goes_on() {
    let place = Place::new();
    let none = json!({
        "act_error": 0, "action_lost": 0, "distractor": 0, "order_error": 0, "parameter_error": 0, "repeated": 0, "reply_limit": 0, "timeout": 0,
        "unparsed_call": 0,
    });
    let critique = concat!("spec:", env!("CARGO_MANIFEST_DIR"), "/../../examples/behaviours/critique.spec");
    for kind in ["tools", "responses", "react", "reflexion", "pass", critique] {
        for form in ["", "--time"] {
            let options = format!("--cases 15 --actions 4 --repeat 2 --distractors 1 {form}");
            let (classes, lift) = classes_and_lift(&place, &format!("{kind}@sim/careless"), &options);
            assert_eq!(classes, none, "{kind} {form}");
            assert!(lift > 0.0, "{kind} {form}: {lift}");
        }
    }
    // These write their calls before they see an answer, or make none: what is denied, or never called, is lost.
    for kind in ["rewoo", "fallback:direct,react", "fallback:direct,tools"] {
        let options = "--cases 12 --actions 4";
        let (mut classes, lift) = classes_and_lift(&place, &format!("{kind}@sim/careless"), options);
        let lost = classes["action_lost"].take();
        assert!(lost.as_u64() > Some(0) && lift >= 0.0, "{kind}: {lost} {lift}");
        assert!(
            classes.as_object().unwrap().values().all(|count| count.is_null() || *count == 0),
            "{classes}"
        );
    }
    place.run("test --resume last").code(1);
    place.run("limit repair:tools@sim/careless --from 2 --to 3").code(0);
}

/// Our own loop as somebody else's program: it finds the tools over MCP, and knows nothing of the run it is in.
fn loop_as_a_program() -> String {
    format!("{} run tools@sim/careless - --quiet --tools mcp+", env!("CARGO_BIN_EXE_planproof"))
}

#[test]
#[ignore = "slow"]
fn the_guard_stands_between_a_program_and_the_tools() {
    let place = Place::new();
    let agent = format!("command:sh -c '{}$PLANPROOF_MCP_URL'", loop_as_a_program());
    for form in ["--seed 5", "--seed 5 --time"] {
        // It is planproof, which is hidden from programs.
        let options = format!("--cases 16 --actions 5 --isolate none {form}");
        let (classes, lift) = classes_and_lift(&place, &agent, &options);
        assert!(classes.as_object().unwrap().values().all(|count| *count == 0), "{classes}");
        assert!(lift > 0.0, "{form}: {lift}");
        let traces = place.run("runs export last").code(0).out;
        assert!(traces.contains("\"is_error\":true,\"denied\":true"), "{traces}");
        let report = place.run("report last --html page.html").code(0);
        assert!(report.err.contains("wrote page.html"), "{report:?}");
        let page = std::fs::read_to_string(place.path("page.html")).unwrap();
        assert!(page.contains("A guard denied a call, which was not executed."), "{agent}");
    }
}

#[test]
#[ignore = "slow"]
fn the_guard_stands_between_a_service_and_the_tools() {
    let place = Place::new();
    let service = StandIn::start(|_, request| {
        let text = |field: &str| request[field].as_str().unwrap().to_owned();
        let line = loop_as_a_program() + &text("mcp_url");
        let mut words = line.split_whitespace();
        let mut command = std::process::Command::new(words.next().unwrap());
        command.args(words).args(["--config", "none"]);
        let answered = Run::of(command, &text("query"));
        assert_eq!(answered.code, 0, "{answered:?}");
        stand_in::answer("200 OK", "", &json!({"answer": answered.out}).to_string())
    });
    let agent = format!("url:{}/agent", service.base_url());
    let (classes, lift) = classes_and_lift(&place, &agent, "--cases 16 --actions 5 --seed 5");
    assert!(classes.as_object().unwrap().values().all(|count| *count == 0), "{classes}");
    assert!(lift > 0.0, "{lift}");
}

#[test]
fn what_cannot_be_guarded_is_said() {
    let place = Place::new();
    for (line, said) in [
        ("test repair:nobody@sim/careless", "unknown kind of agent \"nobody\""),
        ("test repair:tools@sim/nobody", "there is no simulated model \"nobody\""),
        ("test repair:", "unknown agent \"\""),
        ("test repair:repair:tools@sim/careless", "more than one repair:"),
        ("run repair:tools@sim/careless task", "repair: is for `test` and `limit`"),
    ] {
        let run = place.run(line).code(2);
        assert!(run.err.contains(said), "{line}: {run:?}");
    }
}

/// A small validator of the forms, apart from what writes them.
fn check_messages(messages: &Value, tools: &Value) {
    let names: Vec<&str> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            assert_eq!(tool["type"], "function");
            assert_eq!(tool["function"]["parameters"]["type"], "object");
            assert!(tool["function"]["description"].is_string());
            tool["function"]["name"].as_str().unwrap()
        })
        .collect();
    let mut open: Vec<&str> = Vec::new();
    for message in messages.as_array().unwrap() {
        match message["role"].as_str().unwrap() {
            "user" => assert!(message["content"].is_string()),
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap();
                let place = open.iter().position(|open| *open == id).expect("it answers a call");
                open.remove(place);
                assert!(message["content"].is_string());
            }
            "assistant" => {
                assert!(open.is_empty(), "a call has no answer");
                let calls = message.get("tool_calls").map(|calls| calls.as_array().unwrap());
                assert!(calls.is_some() || message["content"].is_string(), "{message}");
                for call in calls.into_iter().flatten() {
                    assert_eq!(call["type"], "function");
                    assert!(names.contains(&call["function"]["name"].as_str().unwrap()), "{call}");
                    let arguments = call["function"]["arguments"].as_str().unwrap();
                    assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object());
                    open.push(call["id"].as_str().unwrap());
                }
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn failed_runs_become_learning_data() {
    let place = Place::new();
    for form in ["", "--time"] {
        let run = place.run(&format!("test tools@sim/careless --cases 30 --seed 3 {form} --json -q")).code(1);
        let failed = run.json()["failed"].as_u64().unwrap() as usize;
        let chats = json_lines(&place.run("runs export last --format chat-jsonl").code(0).out);
        assert_eq!(chats.len(), failed);
        for chat in &chats {
            check_messages(&chat["messages"], &chat["tools"]);
            assert_eq!(
                chat["messages"].as_array().unwrap().last().unwrap()["content"],
                "All tasks are done."
            );
            assert_eq!(chat["parallel_tool_calls"], false);
        }
        let pairs = json_lines(&place.run("runs export last --format preference-jsonl").code(0).out);
        assert_eq!(pairs.len(), failed);
        for pair in &pairs {
            check_messages(&pair["input"]["messages"], &pair["input"]["tools"]);
            check_messages(&pair["preferred_output"], &pair["input"]["tools"]);
            check_messages(&pair["non_preferred_output"], &pair["input"]["tools"]);
            assert_ne!(pair["preferred_output"], pair["non_preferred_output"]);
        }
        if form.is_empty() {
            let shown = |line: &Value| serde_json::to_string_pretty(line).unwrap();
            let smallest =
                |lines: &[Value]| shown(lines.iter().min_by_key(|line| shown(line).len()).unwrap());
            insta::assert_snapshot!("chat_line", smallest(&chats));
            insta::assert_snapshot!("preference_line", smallest(&pairs));
        }
    }
}

/// The public descriptions of the forms, as schemas: OpenAI's for conversations, TRL's standard format for texts.
fn line_schema(format: &str, is_text: bool) -> Value {
    let text = json!({ "type": "string", "minLength": 1 });
    let object = |fields: Value| {
        let required: Vec<&String> = fields.as_object().unwrap().keys().collect();
        json!({ "type": "object", "required": required, "properties": fields, "additionalProperties": false })
    };
    let messages = json!({
        "type": "array",
        "minItems": 2,
        "prefixItems": [
            { "properties": { "role": { "const": "system" } } },
            { "properties": { "role": { "const": "user" } } },
        ],
        "items": {
            "type": "object",
            "required": ["role", "content"],
            "properties": {
                "role": { "enum": ["system", "user", "assistant"] },
                "content": text,
                "weight": { "enum": [0, 1] },
            },
            "additionalProperties": false,
        },
    });
    let one = json!({
        "type": "array", "minItems": 1, "maxItems": 1,
        "items": object(json!({ "role": { "const": "assistant" }, "content": text })),
    });
    match (format, is_text) {
        ("chat-jsonl", true) => object(json!({ "prompt": text, "completion": text })),
        ("chat-jsonl", false) => object(json!({ "messages": messages })),
        (_, true) => object(json!({ "prompt": text, "chosen": text, "rejected": text })),
        (_, false) => object(json!({
            "input": object(json!({ "messages": messages })),
            "preferred_output": one, "non_preferred_output": one,
        })),
    }
}

#[test]
fn agents_that_write_text_teach_in_their_own_language() {
    let place = Place::new();
    for (continuation, is_text) in [("text", true), ("partial-turn", false), ("chat", false)] {
        let line =
            format!("test react@sim/careless --continuation {continuation} --cases 20 --seed 3 --json -q");
        let failed = place.run(&line).code(1).json()["failed"].as_u64().unwrap() as usize;
        for format in ["chat-jsonl", "preference-jsonl"] {
            let run = place.run(&format!("runs export last --format {format}")).code(0);
            assert_eq!(run.err, "");
            let lines = json_lines(&run.out);
            let schema = jsonschema::validator_for(&line_schema(format, is_text)).unwrap();
            for line in &lines {
                assert!(schema.is_valid(line), "{:?}: {line}", schema.iter_errors(line).next());
            }
            // A canary: another form is none of it.
            let other = jsonschema::validator_for(&line_schema(format, !is_text)).unwrap();
            assert!(!other.is_valid(&lines[0]));
            match format {
                "preference-jsonl" => assert_eq!(lines.len(), failed),
                _ => assert!(lines.len() > failed, "{} lines of {failed} runs", lines.len()),
            }
            if continuation == "chat" {
                let shown = |line: &Value| serde_json::to_string_pretty(line).unwrap();
                let smallest = shown(lines.iter().min_by_key(|line| shown(line).len()).unwrap());
                insta::assert_snapshot!(format!("text_{}", format.replace('-', "_")), smallest);
            }
        }
    }
}

#[test]
fn what_has_no_learning_data_is_counted_with_the_reason() {
    let place = Place::new();
    let way = "cannot be put right in the language of their agent: its specification";
    for (agent, why) in [
        (
            "rewoo@sim/perfect --time",
            format!("{way} has calls written before it is seen what came of those before"),
        ),
        (
            "fallback:direct,react@sim/perfect",
            "were answered by votes over samples, which call no tools".into(),
        ),
    ] {
        let failed =
            place.run(&format!("test {agent} --cases 4 --actions 3 --json -q")).code(1).json()["failed"]
                .clone();
        for format in ["chat-jsonl", "preference-jsonl"] {
            let run = place.run(&format!("runs export last --format {format}")).code(0);
            assert_eq!(run.out, "");
            assert_eq!(
                run.err,
                format!("{failed} of {failed} failed runs are left out, because they {why}\n")
            );
        }
    }
}
