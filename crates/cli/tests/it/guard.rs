//! `repair:AGENT`, and learning data of failed runs.

use serde_json::{Value, json};

use crate::support::{Place, json_lines};

#[test]
fn the_guard_lifts_a_simulated_model_on_the_same_cases() {
    let place = Place::new();
    place.run("test tools@sim/careless --cases 40 --seed 5").code(1);
    let bare = place.run("runs list --json").code(0).json()["run"].as_str().unwrap().to_owned();
    let run = place.run("test repair:tools@sim/careless --cases 40 --seed 5").code(0);
    assert!(run.out.contains("SIMULATION"), "{run:?}");
    assert!(run.out.contains("Held back by the guard: calls of "), "{run:?}");
    assert!(run.out.contains("the lift over the bare agent on the same cases:"), "{run:?}");
    assert!(run.out.contains("test tools@sim/careless --cases 40 --seed 5\n"), "{run:?}");
    let compared = place.run(&format!("report {bare} last --json")).code(0).json();
    assert_eq!(compared["b"]["agent"], "repair:tools@sim/careless");
    assert!(compared["difference"].as_f64().is_some_and(|lift| lift > 0.0), "{compared}");

    let verdicts = json_lines(&place.run("runs export last --format verdicts").code(0).out);
    let held: Vec<&Value> = verdicts.iter().filter(|verdict| verdict["held_back"].is_array()).collect();
    assert!(!held.is_empty());
    for verdict in held {
        assert!(verdict["flags"].as_array().unwrap().contains(&json!("held_back")), "{verdict}");
        let told = verdict["held_back"][0]["answer"].as_str().unwrap();
        assert!(
            told.starts_with("Not done: it is too early for \"") && told.contains("Right now: `"),
            "{told}"
        );
    }
    let traces = place.run("runs export last").code(0).out;
    assert!(traces.contains("\"is_error\":true,\"held_back\":true"), "{traces}");
}

#[test]
fn every_kind_of_agent_can_be_guarded_and_goes_on() {
    let place = Place::new();
    for agent in ["repair:react@sim/careless", "repair:responses@sim/careless"] {
        place.run(&format!("test {agent} --cases 15 --actions 4 --repeat 2")).code(0);
    }
    place.run("test repair:tools@sim/careless --time --cases 15").code(0);
    place.run("test --resume last").code(0);
    place.run("limit repair:tools@sim/careless --from 2 --to 3").code(0);
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
        ("direct@sim/perfect", format!("{way} leaves no way to make the calls")),
        (
            "rewoo@sim/perfect --time",
            format!("{way} has calls written before it is seen what came of those before"),
        ),
        ("direct@sim/perfect --samples 3", "were answered by votes over samples, which call no tools".into()),
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
