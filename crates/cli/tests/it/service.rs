//! Services as agents that are asked in other forms than ours.

use serde_json::{Value, json};

use crate::child::call_all_tools;
use crate::stand_in::{StandIn, answer, say};
use crate::support::{Place, Run};

const SECRET: &str = "s3cr3t-w0rd-9";

/// The campaign of a service in this form, and its report: each tool is called once, in the order of the list, so that
/// of cases with two actions no action is lost.
fn test(place: &Place, service: &StandIn, form: &[&str]) -> Value {
    let agent = format!("url:{}/run", service.base_url());
    let words = ["test", &agent, "--cases", "4", "--actions", "2", "-q", "--json"];
    let mut command = place.command(&words.into_iter().chain(form.iter().copied()).collect::<Vec<_>>());
    command.env("SERVICE_KEY", SECRET);
    let run = Run::of(command, "");
    assert!(run.code <= 1, "{run:?}");
    let report = run.json();
    assert_eq!((&report["unscored"], &report["classes"]["act_error"]), (&json!(0), &json!(0)), "{report}");
    let passed = report["passed"].as_u64().unwrap();
    assert_eq!(passed + report["classes"]["order_error"].as_u64().unwrap(), 4, "{report}");
    let stored = place.run("runs list --json").code(0).out + &place.run("runs export last").code(0).out;
    assert!(!stored.contains(SECRET), "the key is stored: {stored}");
    assert!(stored.contains("What I did: all."), "{stored}");
    report
}

#[test]
fn a_service_that_speaks_chat_completions() {
    let service = StandIn::start_with_heads(|_, head, body| {
        assert!(head.to_lowercase().contains(&format!("authorization: bearer {SECRET}")), "{head}");
        assert_eq!(body["model"], "planner");
        assert!(body["messages"][0]["content"].as_str().unwrap().len() > 20);
        call_all_tools(body["metadata"]["mcp_url"].as_str().unwrap());
        say("What I did: all.")
    });
    let header = "Authorization: Bearer ${SERVICE_KEY}";
    let place = Place::new();
    test(&place, &service, &["--body", "chat:planner", "--header", header]);
    // What is stored suffices to go on, and has the name of the variable alone.
    let mut resumed = place.command(&["test", "--resume", "last", "-q", "--json"]);
    resumed.env("SERVICE_KEY", SECRET);
    assert!(Run::of(resumed, "").code <= 1);
    let resumed = place.run("test --resume last -q").code(2);
    assert!(resumed.err.contains("names the variable SERVICE_KEY"), "{resumed:?}");
}

#[test]
fn a_service_that_speaks_responses() {
    let service = StandIn::start(|_, body| {
        assert_eq!(body["model"], "agent");
        let tool = &body["tools"][0];
        assert_eq!((&tool["type"], &tool["require_approval"]), (&json!("mcp"), &json!("never")));
        call_all_tools(tool["server_url"].as_str().unwrap());
        let text = json!({"type": "output_text", "text": "What I did: all.", "annotations": []});
        let message = json!({"type": "message", "role": "assistant", "content": [text]});
        answer("200 OK", "", &json!({"output": [{"type": "mcp_call"}, message]}).to_string())
    });
    test(&Place::new(), &service, &["--body", "responses"]);
}

#[test]
fn a_service_with_a_body_of_its_own() {
    let service = StandIn::start_with_heads(|_, head, body| {
        assert!(body["session"]["user"].as_str().unwrap().starts_with("planproof: "));
        assert_eq!((&body["model"]["name"], &body["n"]), (&json!("sim/perfect"), &json!(1)));
        assert!(body["model"]["url"].as_str().unwrap().starts_with("http://127.0.0.1:"));
        assert!(head.contains(SECRET), "{head}");
        let url = head.lines().find_map(|line| line.strip_prefix("x-tools: ")).unwrap();
        call_all_tools(url.trim());
        answer("200 OK", "", &json!({"data": {"said": ["What I did: all."]}}).to_string())
    });
    let place = Place::new();
    place.write("my.env", &format!("MY_TOKEN={SECRET}\n"));
    place.write(
        "body.json",
        r#"{"session": {"user": "planproof: {query}"}, "n": 1, "model": {"name": "{model}", "url": "{model_url}"}}"#,
    );
    let form = ["--body", "body.json", "--answer", "/data/said/0", "--serve-model", "sim/perfect"];
    let headers =
        ["--header", "X-Tools: {mcp_url}", "--header", "X-Key: ${MY_TOKEN}", "--env-file", "my.env"];
    test(&place, &service, &[&form[..], &headers[..]].concat());
}

#[test]
fn forms_that_are_none() {
    let place = Place::new();
    place.write("half.json", r#"{"input": "{query}"}"#);
    place.write("model.json", r#"["{query}", "{mcp_url}", "{model_url}"]"#);
    let url = "test url:http://127.0.0.1:1/x --cases 1";
    for (words, message) in [
        (
            vec!["--body", "half.json"],
            "half.json: the body does not say where its tools are: write {mcp_url}",
        ),
        (vec!["--body", "nothing.json"], "cannot read "),
        (vec!["--body", "model.json"], "name it with --serve-model"),
        (vec!["--answer", "answer"], "--answer: `answer` is no place of an answer"),
        (vec!["--header", "X-Api-Key: sk-1"], "--header: the header `X-Api-Key` would be stored"),
        (vec!["--header", "X: ${NO_SUCH_VARIABLE}"], "names the variable NO_SUCH_VARIABLE, which is neither"),
    ] {
        let words: Vec<&str> = url.split(' ').chain(words).collect();
        let run = place.run_words(&words).code(2);
        assert!(run.err.contains(message), "{run:?}");
    }
    for option in ["--body chat", "--answer text", "--header X:y"] {
        let run = place.run(&format!("test tools@sim/perfect {option}")).code(2);
        let name = option.split(' ').next().unwrap();
        assert!(run.err.contains(&format!("{name} is for a url: agent")), "{run:?}");
    }
}
