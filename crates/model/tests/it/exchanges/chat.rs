//! Chat completions beyond what every server understands.

use planproof_model::openai::{OPENAI, OpenAiConfig};
use planproof_model::{Capabilities, Model, ReplyId};
use serde_json::json;

use super::{assert_unsupported, assistant, bodies, conversation, ok, user};
use crate::stand_in::{StandIn, completion, reply};

#[tokio::test]
async fn an_unfinished_turn_is_gone_on_from_where_the_server_can() {
    let server = StandIn::start(vec![completion(r#"{"content":" I should pay."}"#, "stop")]).await;
    let request = conversation(vec![user("pay"), assistant("Thought:", vec![])]);
    let model = server.model();
    assert!(!model.capabilities().partial_turn);
    assert_unsupported(
        model.chat(&request).await,
        "openai/m cannot go on from an unfinished turn of its own",
    );
    let stream = model.chat_stream(&request).await.map(|_| ());
    assert_unsupported(stream, "openai/m cannot go on from an unfinished turn of its own");
    assert!(server.requests().is_empty());

    let model = server.model_with(|config| config.partial_turn = true);
    assert!(model.capabilities().partial_turn);
    assert_eq!(model.chat(&request).await.unwrap().text, " I should pay.");
    assert_eq!(
        bodies(&server),
        [json!({
            "model": "m",
            "messages": [{"role": "user", "content": "pay"}, {"role": "assistant", "content": "Thought:"}],
            "continue_final_message": true, "add_generation_prompt": false,
        })]
    );
}

#[test]
fn the_environment_says_whether_turns_may_be_unfinished() {
    for (value, expected) in [("1", true), ("0", false), ("", false), ("yes", false)] {
        let config = OpenAiConfig::from_env(&OPENAI, "m", |name| {
            (name == "OPENAI_PARTIAL_TURN").then(|| value.to_owned())
        });
        assert_eq!(config.partial_turn, expected, "{value:?}");
    }
}

#[tokio::test]
async fn what_a_server_of_unknown_make_can_do_is_supposed() {
    let server = StandIn::start(vec![completion(r#"{"content":"hi"}"#, "stop")]).await;
    let supposed = Capabilities {
        tool_calls: true,
        streaming: true,
        completion: true,
        log_probabilities: true,
        ..Capabilities::default()
    };
    assert_eq!(server.model().capabilities(), supposed);
    let mut request = conversation(vec![user("go on")]);
    request.previous = Some(ReplyId("resp_1".into()));
    let result = server.model().chat(&request).await;
    assert_unsupported(result, "openai/m cannot go on from a reply that its server keeps");
}

#[tokio::test]
async fn a_temperature_that_is_refused_is_left_out_from_then_on() {
    let refusal = json!({"error": {
        "message": "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value",
    }});
    let server = StandIn::start(vec![
        reply("400 Bad Request", "", &refusal.to_string()),
        completion(r#"{"content":"hi"}"#, "stop"),
    ])
    .await;
    let model = server.model_with(|config| config.connection.attempts_max = 1);
    let mut request = conversation(vec![user("hello")]);
    request.settings.temperature = Some(0.0);
    request.settings.seed = Some(7);
    for _ in 0..2 {
        assert_eq!(model.chat(&request).await.unwrap().text, "hi");
    }
    let messages = json!([{"role": "user", "content": "hello"}]);
    let without = json!({"model": "m", "messages": messages, "seed": 7});
    let mut with = without.clone();
    with["temperature"] = 0.0.into();
    assert_eq!(bodies(&server), [with, without.clone(), without]);
}

#[tokio::test]
async fn every_seed_is_sent_as_one_that_every_server_takes() {
    let server = StandIn::start(vec![completion(r#"{"content":"hi"}"#, "stop")]).await;
    let model = server.model();
    let mut request = conversation(vec![user("hello")]);
    for seed in [0, 7, 1 << 31, u64::MAX - 1, u64::MAX, 0x9e37_79b9_7f4a_7c15] {
        request.settings.seed = Some(seed);
        model.chat(&request).await.unwrap();
    }
    let seeds: Vec<i64> = bodies(&server).iter().map(|body| body["seed"].as_i64().unwrap()).collect();
    assert!(seeds.iter().all(|seed| (0..=i64::from(i32::MAX)).contains(seed)), "{seeds:?}");
    assert_eq!(seeds[..2], [0, 7]);
    assert_eq!(seeds.iter().collect::<std::collections::BTreeSet<_>>().len(), seeds.len());
}

#[tokio::test]
async fn each_setting_that_is_refused_is_left_out_from_then_on() {
    let refusal = |message: &str| {
        let error = json!({"error": {"message": message, "type": "invalid_request_error"}});
        reply("400 Bad Request", "", &error.to_string())
    };
    let server = StandIn::start(vec![
        refusal("Unsupported parameter: 'stop' is not supported with this model."),
        refusal(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        reply("422 Unprocessable Entity", "", &json!({"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"],
            "msg": "Extra inputs are not permitted"}]}).to_string()),
        completion(r#"{"content":"hi"}"#, "stop"),
    ])
    .await;
    let model = server.model_with(|config| config.connection.attempts_max = 1);
    let mut request = conversation(vec![user("hello")]);
    request.settings = planproof_model::Settings {
        temperature: Some(0.0),
        output_tokens_max: Some(9),
        seed: Some(7),
        stop: vec!["END".to_owned()],
        grammar: None,
    };
    for _ in 0..2 {
        assert_eq!(model.chat(&request).await.unwrap().text, "hi");
    }
    let messages = json!([{"role": "user", "content": "hello"}]);
    let all = json!({"model": "m", "messages": messages, "temperature": 0.0, "max_tokens": 9, "seed": 7, "stop": ["END"]});
    let without = |names: &[&str], mut body: serde_json::Value| {
        names.iter().for_each(|name| drop(body.as_object_mut().unwrap().remove(*name)));
        body
    };
    let second = without(&["stop"], all.clone());
    let mut third = without(&["max_tokens"], second.clone());
    third["max_completion_tokens"] = 9.into();
    let last = without(&["seed"], third.clone());
    assert_eq!(bodies(&server), [all, second, third, last.clone(), last]);
}

#[tokio::test]
async fn what_a_reasoning_model_refuses_is_not_sent() {
    let server = StandIn::start(vec![completion(r#"{"content":"hi"}"#, "stop")]).await;
    let model = server.model_with(|config| config.model = "openai/gpt-5-mini".to_owned());
    let mut request = conversation(vec![user("hello")]);
    request.settings = planproof_model::Settings {
        temperature: Some(0.0),
        output_tokens_max: Some(9),
        seed: None,
        stop: vec!["END".to_owned()],
        grammar: None,
    };
    model.chat(&request).await.unwrap();
    let messages = json!([{"role": "user", "content": "hello"}]);
    let sent = json!({"model": "openai/gpt-5-mini", "messages": messages, "max_completion_tokens": 9});
    assert_eq!(bodies(&server), [sent]);
    assert!(!model.takes_temperature() && !model.capabilities().completion);
}

#[tokio::test]
async fn a_server_is_asked_once_whether_it_goes_on_from_plain_texts() {
    let text = json!({"choices": [{"index": 0, "text": "!", "finish_reason": "length"}]});
    let missing = reply("404 Not Found", "", "404 page not found");
    for (answer, expected) in [
        (ok(&text), true),
        (missing, false),
        (
            reply(
                "400 Bad Request",
                "",
                r#"{"error":{"message":"the operation does not work with this model"}}"#,
            ),
            false,
        ),
    ] {
        let server = StandIn::start(vec![answer]).await;
        let model = server.model();
        assert!(model.capabilities().completion);
        for _ in 0..2 {
            let settled = model.settle().await.unwrap();
            assert_eq!((settled.completion, settled.log_probabilities), (expected, expected));
            assert_eq!(model.capabilities(), settled);
        }
        assert_eq!(bodies(&server), [json!({"model": "m", "prompt": "Hello", "max_tokens": 1})]);
    }
    let server = StandIn::start(vec![reply("503 Service Unavailable", "", "later"), ok(&text)]).await;
    let model = server.model_with(|config| config.connection.attempts_max = 1);
    assert!(model.settle().await.is_err(), "an outage decides nothing");
    assert!(model.settle().await.unwrap().completion);
}

#[tokio::test]
async fn a_missing_endpoint_is_reported_with_what_to_set() {
    let server = StandIn::start(vec![reply("404 Not Found", "", r#"{"detail":"Not Found"}"#)]).await;
    let error = server.model().chat(&conversation(vec![user("hello")])).await.unwrap_err().to_string();
    let base = &server.base_url;
    assert_eq!(
        error,
        format!(
            "{base}/chat/completions answered 404: Not Found; there is no endpoint /chat/completions: set OPENAI_BASE_URL to \
             the URL up to and without /chat/completions"
        )
    );
    let request = planproof_model::CompletionRequest {
        prompt: "x".to_owned(),
        settings: planproof_model::Settings::default(),
        score_prompt: false,
    };
    let error = server.model().complete(&request).await.unwrap_err().to_string();
    assert!(error.ends_with(
        "without /completions, or have the model asked in conversations (the continuation `chat`)"
    ));
    // A model that is missing is another matter.
    let unknown = r#"{"error":{"message":"The model `m` does not exist."}}"#;
    let server = StandIn::start(vec![reply("404 Not Found", "", unknown)]).await;
    let error = server.model().chat(&conversation(vec![user("hello")])).await.unwrap_err().to_string();
    assert!(error.ends_with("answered 404: The model `m` does not exist."), "{error}");
}

#[tokio::test]
async fn a_request_without_a_temperature_is_not_made_again_for_it() {
    let refusal = json!({"error": {"message": "temperature is not supported"}}).to_string();
    let server = StandIn::start(vec![reply("400 Bad Request", "", &refusal)]).await;
    let request = conversation(vec![user("hello")]);
    assert!(server.model().chat(&request).await.is_err());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn tools_are_sent_as_functions() {
    let server = StandIn::start(vec![ok(&json!({"choices": [{"message": {
        "role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function",
            "function": {"name": "get_weather", "arguments": "{\"city\":\"Rome\"}"}}]}, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99}}))])
    .await;
    let mut request = conversation(vec![user("How is Rome?")]);
    request.tools = [super::weather()].into();
    let reply = server.model().chat(&request).await.unwrap();
    let call = super::call("call_1", "get_weather", r#"{"city":"Rome"}"#);
    assert_eq!(reply, super::says("", vec![call], planproof_trace::FinishReason::ToolCalls, (82, 17)));
    let function = json!({"name": "get_weather", "description": "Tells the weather.", "parameters": super::weather_schema()});
    assert_eq!(bodies(&server)[0]["tools"], json!([{"type": "function", "function": function}]));
}
