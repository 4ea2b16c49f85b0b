//! Chat completions beyond what every server understands.

use planproof_model::openai::OpenAiConfig;
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
        let config =
            OpenAiConfig::from_env("m", |name| (name == "OPENAI_PARTIAL_TURN").then(|| value.to_owned()));
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
