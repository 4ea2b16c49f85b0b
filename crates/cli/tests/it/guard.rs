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

#[test]
fn agents_that_write_text_have_no_learning_data() {
    let place = Place::new();
    place.run("test react@sim/careless --cases 3");
    let run = place.run("runs export last --format chat-jsonl").code(2);
    assert!(run.err.contains("which writes its calls as text"), "{run:?}");
}
