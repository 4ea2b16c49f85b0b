//! Checks of models and their servers: `planproof models check`, and the one before a campaign.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::stand_in::{self, StandIn};
use crate::support::{Place, Run};

/// A server like llama.cpp's, with two slots, each with a context of that many tokens. `says` answers requests to the
/// model.
fn llama_cpp(
    context: u64,
    has_tools: bool,
    says: impl Fn(&Value) -> String + Send + Sync + 'static,
) -> StandIn {
    StandIn::start_with_heads(move |_, head, body| {
        let path = head.split(' ').nth(1).unwrap_or_default();
        let page = |page: Value| stand_in::answer("200 OK", "", &page.to_string());
        match path {
            "/v1/models" => page(json!({"data": [{"id": "qwen", "owned_by": "llamacpp"}]})),
            "/props" => page(json!({
                "build_info": "b6123-abc",
                "model_path": "/m/qwen-Q4_K_M.gguf",
                "chat_template": "{{ messages }}",
                "chat_template_caps": {"supports_tools": has_tools},
                "default_generation_settings": {"n_ctx": context},
                "total_slots": 2,
            })),
            "/v1/chat/completions" => says(body),
            _ => stand_in::answer("404 Not Found", "", "{}"),
        }
    })
}

/// Calls what it is offered, with the arguments of the check's questions, and keeps to a grammar of one word.
fn calls(body: &Value) -> String {
    if let Some(grammar) = body["grammar"].as_str() {
        return stand_in::say(grammar.strip_prefix("root ::= \"").unwrap().trim_end_matches('"'));
    }
    let Some(tools) = body["tools"].as_array() else { return stand_in::say("1") };
    if body["messages"].as_array().is_some_and(|messages| messages.len() > 1) {
        return stand_in::say("Done.");
    }
    let call = |tool: &Value| {
        let name = &tool["function"]["name"];
        let arguments = if *name == "note_number" { "{\"number\": 7}" } else { "{\"word\": \"blue\"}" };
        json!({"id": name, "type": "function", "function": {"name": name, "arguments": arguments}})
    };
    let calls: Vec<Value> = tools.iter().map(call).collect();
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
    let usage = json!({"prompt_tokens": 11, "completion_tokens": 7});
    stand_in::answer("200 OK", "", &json!({"choices": [choice], "usage": usage}).to_string())
}

/// Writes a call as text.
fn writes(_: &Value) -> String {
    stand_in::say("```json\n{\"name\": \"note_number\", \"arguments\": {\"number\": 7}}\n```")
}

fn run(place: &Place, server: &StandIn, line: &str) -> Run {
    let mut command = place.command(&line.split_whitespace().collect::<Vec<_>>());
    command.env("LLAMACPP_BASE_URL", server.base_url()).env_remove("PLANPROOF_NO_CHECK");
    Run::of(command, "")
}

/// How many requests to the model there were.
fn asked(server: &StandIn) -> usize {
    server.bodies().iter().filter(|body| body["messages"].is_array()).count()
}

#[test]
fn a_server_that_is_right_has_nothing_to_mend() {
    let (place, server) = (Place::new(), llama_cpp(8192, true, calls));
    let found = run(&place, &server, "models check llamacpp/any").code(0);
    for line in [
        "llama.cpp b6123-abc, Q4_K_M, context 8192",
        "two calls came back at once",
        "the same reply twice",
        "held to a grammar",
    ] {
        assert!(found.out.contains(line), "{}", found.out);
    }
    assert_eq!(asked(&server), 8);
    let document = run(&place, &server, "models check llamacpp/any --json -q").code(0).json();
    assert_eq!(document[0]["server"]["quantisation"], "Q4_K_M");
    assert!(document[0]["findings"].as_array().unwrap().iter().all(|it| it["standing"] != "wrong"));
}

#[test]
fn each_fault_is_named_with_what_mends_it() {
    let place = Place::new();
    for (server, expected) in [
        (llama_cpp(512, true, calls), vec!["512 tokens", "start llama-server with -c "]),
        (
            llama_cpp(8192, true, writes),
            vec!["the call came back as text", "run with --parse-text-calls", "--jinja"],
        ),
        (
            llama_cpp(8192, false, |_| stand_in::say("Hello.")),
            vec!["no place for tools", "--chat-template-file"],
        ),
        (
            llama_cpp(8192, true, |body| match body["tools"].is_array() {
                true => stand_in::answer("400 X", "", "{\"error\": \"tools param requires --jinja flag\"}"),
                false => stand_in::say("1"),
            }),
            vec!["requires --jinja flag", "start llama-server with --jinja"],
        ),
    ] {
        let found = run(&place, &server, "models check llamacpp/any").code(1);
        for words in expected {
            assert!(found.out.contains(words), "{words}: {}", found.out);
        }
    }
    // Another program, and none at all.
    let page =
        StandIn::start(|_, _| stand_in::answer("404 Not Found", "", "<html><title>It works</title></html>"));
    let found = run(&place, &page, "models check llamacpp/any");
    assert!(found.code == 1 && found.out.contains("It works"), "{found:?}");
    let mut command = place.command(&["models", "check", "vllm/x"]);
    command.env("VLLM_BASE_URL", "http://127.0.0.1:1/v1");
    let found = Run::of(command, "").code(3);
    assert!(found.out.contains("`vllm serve MODEL") && found.out.contains("VLLM_BASE_URL"), "{found:?}");
}

#[test]
fn a_grammar_that_is_not_kept_is_said_and_spoils_nothing_else() {
    let place = Place::new();
    let refuses = |body: &Value| match body["grammar"].is_string() {
        true => stand_in::answer("400 X", "", "{\"error\": \"grammars are switched off\"}"),
        false => calls(body),
    };
    let ignores = |body: &Value| match body["grammar"].is_string() {
        true => stand_in::say("Blue."),
        false => calls(body),
    };
    for (server, words) in [
        (llama_cpp(8192, true, refuses), "grammars are switched off"),
        (llama_cpp(8192, true, ignores), "and there came: Blue."),
    ] {
        let found = run(&place, &server, "models check llamacpp/any --json -q").code(0).json();
        let findings = found[0]["findings"].as_array().unwrap();
        let line = findings.iter().find(|line| line["about"] == "grammar").unwrap();
        assert_eq!(line["standing"], "unsure");
        assert!(line["seen"].as_str().unwrap().contains(words), "{line}");
        assert!(line["mend"].as_str().unwrap().ends_with("with --grammar off"), "{line}");
    }
    // A server of a program that is not known is sent none.
    let server = StandIn::start(|_, body| calls(body));
    let mut command = place.command(&["models", "check", "openai/m", "--json", "-q"]);
    command.env("OPENAI_BASE_URL", server.base_url()).env("OPENAI_API_KEY", stand_in::KEY);
    let found = Run::of(command, "");
    assert!(!found.out.contains("grammar"), "{found:?}");
    assert!(server.requests() > 0 && server.bodies().iter().all(|body| body["grammar"].is_null()));
}

#[test]
fn reports_mend_calls_as_text_like_the_check() {
    let as_text = |body: &Value| {
        let name = body["tools"][0]["function"]["name"].as_str().unwrap_or("note_number");
        stand_in::say(&format!("```json\n{{\"name\": \"{name}\", \"arguments\": {{}}}}\n```"))
    };
    let place = Place::new();
    for (has_tools, beginning) in [
        (true, "run with --parse-text-calls, because llama-server does not read"),
        (false, "start llama-server with --jinja and, because this template has no place"),
    ] {
        let server = llama_cpp(8192, has_tools, as_text);
        let check = run(&place, &server, "models check llamacpp/any --json -q").code(1).json();
        let findings = check[0]["findings"].as_array().unwrap();
        let mend = findings.iter().find(|line| line["about"] == "tools").unwrap()["mend"].as_str().unwrap();
        assert!(mend.starts_with(beginning), "{mend}");
        let report = run(&place, &server, "test tools@llamacpp/any --cases 1 --actions 3 --json -q").json();
        assert_eq!(report["classes"]["unparsed_call"], 1, "{report}");
        let advice = report["advice"][0].as_str().unwrap();
        assert!(advice.ends_with(&format!("{mend}.")), "{advice}");
        assert_eq!(place.run("runs show last --json").json()["advice"], report["advice"]);
    }
}

#[test]
fn as_many_runs_at_once_as_the_server_has_slots() {
    let most_at_once = |options: &str| {
        let (now, seen) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        let most = Arc::clone(&seen);
        let server = llama_cpp(8192, true, move |body| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(50));
            now.fetch_sub(1, Ordering::SeqCst);
            calls(body)
        });
        let line = format!("test tools@llamacpp/any --cases 6 --actions 3 -q --json {options}");
        let report = run(&Place::new(), &server, &line).json();
        assert_eq!(report["servers"]["llamacpp/any"]["slots"], 2);
        seen.load(Ordering::SeqCst)
    };
    assert!(most_at_once("") <= 2);
    assert!(most_at_once("--concurrency 6") > 2);
}

#[test]
fn a_campaign_is_checked_before_its_first_run_and_says_what_served_it() {
    let (place, server) = (Place::new(), llama_cpp(512, true, calls));
    let line = "test tools@llamacpp/any --cases 1 --actions 3 --record record.jsonl";
    let found = run(&place, &server, line);
    assert!(
        found.err.contains("start llama-server with -c 2048") || found.err.contains("-c 4096"),
        "{}",
        found.err
    );
    assert!(found.out.contains("server: llamacpp/any at "), "{}", found.out);
    let checked = asked(&server);
    // The same with nothing to warn of costs two requests more than without a check.
    let count = |line: &str, context: u64| {
        let (place, server) = (Place::new(), llama_cpp(context, true, calls));
        let found = run(&place, &server, line);
        assert!(!found.err.contains("warning"), "{}", found.err);
        asked(&server)
    };
    let bare = "test tools@llamacpp/any --cases 1 --actions 3";
    assert_eq!(count(bare, 8192), count(&format!("{bare} --no-check"), 8192) + 2);
    assert!(checked > 0);
    let shown = place.run("runs show last --json").json();
    assert_eq!(shown["servers"]["llamacpp/any"]["context"], 512);
    assert!(place.run("runs show last").out.contains("llama.cpp b6123-abc, Q4_K_M, context 512"));
    // What was recorded of the check is in nobody's way.
    place.run("test --replay record.jsonl --store again.db -q").code(0);
    // A simulation has no server.
    let mut command = place.command(&["test", "tools@sim/perfect", "--cases", "1"]);
    command.env_remove("PLANPROOF_NO_CHECK");
    assert!(!Run::of(command, "").code(0).out.contains("server:"));
}

/// A model that writes its calls as text needs `--parse-text-calls`; an agent that has it is not advised to use it.
#[test]
fn an_agent_that_reads_calls_from_text_is_not_warned_of_them() {
    let says = |body: &Value| match body["messages"].as_array().is_some_and(|messages| messages.len() > 1) {
        true => stand_in::say("Done."),
        false => stand_in::say("```json\n{\"name\": \"note_number\", \"arguments\": {\"number\": 7}}\n```"),
    };
    let (place, server) = (Place::new(), llama_cpp(8192, true, says));
    let line = "test tools@llamacpp/any --cases 1 --actions 3";
    assert!(run(&place, &server, line).err.contains("run with --parse-text-calls"));
    let found = run(&place, &server, &format!("{line} --parse-text-calls"));
    assert!(!found.err.contains("warning"), "{}", found.err);
}

#[test]
fn thinking_is_switched_for_ollama_alone() {
    let place = Place::new();
    let run = place.run("test tools@vllm/m --think off --cases 1").code(2);
    assert!(run.err.contains("--think is for models of ollama/"), "{run:?}");
}
