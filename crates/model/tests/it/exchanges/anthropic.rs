//! Anthropic's messages.

use futures::StreamExt;
use planproof_model::anthropic::{ANTHROPIC, AnthropicModel};
use planproof_model::{Capabilities, ChatDelta, ConnectionConfig, Message, Model, ModelError, ReplyId};
use planproof_trace::{CallId, FinishReason, Tool, Usage};
use serde_json::{Value, json};

use super::{
    answer, assert_unsupported, assistant, bodies, call, conversation, ok, plain, says, user, weather,
    weather_schema,
};
use crate::stand_in::{KEY, StandIn, chunked, reply, taken_apart};

fn named(server: &StandIn, name: &str) -> AnthropicModel {
    AnthropicModel::new(name, &server.connection(&ANTHROPIC)).expect("a usable configuration")
}

fn model(server: &StandIn) -> AnthropicModel {
    named(server, "claude-sonnet-4-5")
}

fn message(content: &Value, stop: &str, usage: &Value) -> Value {
    json!({"id": "msg_01", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
        "content": content, "stop_reason": stop, "stop_sequence": null, "usage": usage})
}

#[tokio::test]
async fn a_conversation_is_sent_as_blocks() {
    let content = json!([
        {"type": "thinking", "thinking": "hm", "signature": "x"},
        {"type": "text", "text": "I'll look."},
        {"type": "tool_use", "id": "toolu_01", "name": "get_weather", "input": {"city": "Rome"}},
    ]);
    let usage = json!({"input_tokens": 21, "cache_creation_input_tokens": 188086, "cache_read_input_tokens": 4,
        "cache_creation": {"ephemeral_5m_input_tokens": 188086}, "output_tokens": 393, "service_tier": "standard"});
    let server = StandIn::start(vec![ok(&message(&content, "tool_use", &usage))]).await;
    let model = model(&server);
    assert_eq!(model.name(), "anthropic/claude-sonnet-4-5");
    let capabilities =
        Capabilities { tool_calls: true, streaming: true, partial_turn: true, ..Capabilities::default() };
    assert_eq!(model.capabilities(), capabilities);
    let mut request = conversation(vec![
        Message::System { text: "Be brief.".into() },
        user("How are Paris and Rome?"),
        assistant(
            "",
            vec![call("toolu_00", "get_weather", "{\"city\":\"Paris\"}"), call("toolu_0", "pay", "{}")],
        ),
        answer("toolu_00", "sunny"),
        answer("toolu_0", "done"),
    ]);
    request.tools = [weather()].into();
    request.settings.temperature = Some(0.0);
    request.settings.output_tokens_max = Some(99);
    request.settings.seed = Some(7);
    request.settings.stop = vec!["END".into()];
    let reply = model.chat(&request).await.unwrap();
    let calls = vec![call("toolu_01", "get_weather", "{\"city\":\"Rome\"}")];
    assert_eq!((reply.usage.cached_tokens, reply.usage.cache_write_tokens), (4, 188_086));
    assert_eq!(plain(reply), says("I'll look.", calls, FinishReason::ToolCalls, (21 + 188_086 + 4, 393)));
    let (head, body) = taken_apart(&server.requests()[0]);
    let head = head.to_lowercase();
    assert!(head.starts_with("post /v1/messages http/1.1\r\n"), "{head}");
    for line in
        [&format!("x-api-key: {KEY}"), "anthropic-version: 2023-06-01", "content-type: application/json"]
    {
        assert!(head.lines().any(|found| found == line), "{line} is not in {head}");
    }
    assert!(!head.contains("authorization"), "{head}");
    assert_eq!(
        body,
        json!({
            "model": "claude-sonnet-4-5", "max_tokens": 99, "system": "Be brief.", "temperature": 0.0,
            "stop_sequences": ["END"], "stream": false,
            "tools": [{"name": "get_weather", "description": "Tells the weather.", "input_schema": weather_schema()}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "How are Paris and Rome?"}]},
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "toolu_00", "name": "get_weather", "input": {"city": "Paris"}},
                    {"type": "tool_use", "id": "toolu_0", "name": "pay", "input": {}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_00", "content": "sunny"},
                    {"type": "tool_result", "tool_use_id": "toolu_0", "content": "done"},
                ]},
            ],
        })
    );
}

#[tokio::test]
async fn models_stop_for_several_reasons() {
    for (stop, expected) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("refusal", FinishReason::ContentFilter),
    ] {
        let body = message(
            &json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
            stop,
            &Value::Null,
        );
        let server = StandIn::start(vec![ok(&body)]).await;
        let reply = model(&server).chat(&conversation(vec![user("go")])).await.unwrap();
        assert_eq!(reply, says("ab", vec![], expected, (0, 0)), "{stop}");
        let expected = json!({"model": "claude-sonnet-4-5", "max_tokens": 4096,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "go"}]}]});
        assert_eq!(bodies(&server), [expected]);
    }
}

#[tokio::test]
async fn an_unfinished_turn_and_its_reply_make_one_text() {
    let body = message(&json!([{"type": "text", "text": " I should pay."}]), "end_turn", &Value::Null);
    let server = StandIn::start(vec![ok(&body)]).await;
    let request = conversation(vec![user("pay"), assistant("Thought: ", vec![])]);
    assert_eq!(model(&server).chat(&request).await.unwrap().text, "I should pay.");
    assert_eq!(
        bodies(&server)[0]["messages"][1],
        json!({"role": "assistant", "content": [{"type": "text", "text": "Thought:"}]})
    );
    // Models from 4.6 on answer 400 to such a request, so it is not made.
    let model = named(&server, "claude-opus-4-6");
    assert!(!model.capabilities().partial_turn);
    let words = "anthropic/claude-opus-4-6 cannot go on from an unfinished turn of its own";
    assert_unsupported(model.chat(&request).await, words);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn what_the_protocol_does_not_know_is_refused() {
    let server = StandIn::start(vec![ok(&message(
        &json!([{"type": "text", "text": "hi"}]),
        "end_turn",
        &Value::Null,
    ))])
    .await;
    let model = model(&server);
    let mut request = conversation(vec![user("go")]);
    request.previous = Some(ReplyId("resp_1".into()));
    let words = "anthropic/claude-sonnet-4-5 cannot go on from a reply that its server keeps";
    assert_unsupported(model.chat(&request).await, words);

    let mut request = conversation(vec![user("go")]);
    request.tools = [weather(), Tool::without_arguments("pay the bill", "Pays.")].into();
    let error = model.chat_stream(&request).await.map(|_| ()).unwrap_err();
    let words = "anthropic/claude-sonnet-4-5 takes no tool named \"pay the bill\": a name is 1 to 128 of a-z, A-Z, 0-9, _ and -";
    assert_eq!(error, ModelError::Configuration { what: words.into() });

    let mut request = conversation(vec![user("go")]);
    request.settings.temperature = Some(1.5);
    let error = model.chat(&request).await.unwrap_err();
    let words = "the temperature is 1.5; anthropic/claude-sonnet-4-5 takes 0 to 1";
    assert_eq!(error, ModelError::Configuration { what: words.into() });
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_temperature_that_is_deprecated_is_left_out() {
    let refusal = json!({"type": "error", "error": {"type": "invalid_request_error",
        "message": "`temperature` is deprecated for this model."}});
    let answers = vec![
        reply("400 Bad Request", "", &refusal.to_string()),
        ok(&message(&json!([{"type": "text", "text": "hi"}]), "end_turn", &Value::Null)),
    ];
    let server = StandIn::start(answers).await;
    let mut request = conversation(vec![user("go")]);
    request.settings.temperature = Some(0.0);
    assert_eq!(named(&server, "kimi-k2").chat(&request).await.unwrap().text, "hi");
    let sent: Vec<_> = bodies(&server).iter().map(|body| body["temperature"].clone()).collect();
    assert_eq!(sent, [json!(0.0), Value::Null]);
}

#[tokio::test]
async fn what_the_newest_models_refuse_is_not_sent() {
    let answer = message(&json!([{"type": "text", "text": "hi"}]), "end_turn", &Value::Null);
    let server = StandIn::start(vec![ok(&answer)]).await;
    let mut request = conversation(vec![user("go")]);
    request.settings.temperature = Some(0.0);
    request.settings.stop = vec!["\n".to_owned(), "END".to_owned()];
    assert_eq!(named(&server, "claude-opus-4-7").chat(&request).await.unwrap().text, "hi");
    let body = &bodies(&server)[0];
    assert_eq!((&body["temperature"], &body["stop_sequences"]), (&Value::Null, &json!(["END"])));
}

#[test]
fn the_environment_is_read_through_the_lookup() {
    let config = ConnectionConfig::from_env(&ANTHROPIC, |name| match name {
        "ANTHROPIC_BASE_URL" => Some("http://h:1".into()),
        "ANTHROPIC_API_KEY" => Some(KEY.into()),
        _ => None,
    });
    assert_eq!(config.base_url, "http://h:1");
    assert!(config.key.is_some() && !format!("{config:?}").contains(KEY));
    let mut config = ConnectionConfig::from_env(&ANTHROPIC, |_| None);
    assert_eq!(config.base_url, "https://api.anthropic.com");
    config.base_url = "http://h".into();
    let error = AnthropicModel::new("m", &config).err();
    assert_eq!(error, Some(ModelError::MissingKey { variable: "ANTHROPIC_API_KEY" }));
}

#[tokio::test]
async fn the_version_may_be_in_the_base_url_or_not() {
    for suffix in ["", "/", "/v1", "/v1/", "/gateway", "/gateway/v1"] {
        let server = StandIn::start(vec![ok(&message(
            &json!([{"type": "text", "text": "hi"}]),
            "end_turn",
            &Value::Null,
        ))])
        .await;
        let mut config = server.connection(&ANTHROPIC);
        config.base_url = format!("{}{suffix}", server.base_url.trim_end_matches("/v1"));
        let model = AnthropicModel::new("m", &config).unwrap();
        model.chat(&conversation(vec![user("go")])).await.unwrap();
        let path =
            format!("POST {}/v1/messages HTTP/1.1", suffix.trim_end_matches('/').trim_end_matches("/v1"));
        assert!(server.requests()[0].starts_with(&path), "{suffix}");
    }
}

fn events(events: &[Value]) -> String {
    let event = |data: &Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().expect("a type"));
    events.iter().map(event).collect()
}

#[tokio::test]
async fn a_stream_of_blocks_is_read() {
    let start = json!({"type": "message_start", "message": {"id": "msg_01", "type": "message", "role": "assistant",
        "content": [], "model": "claude-sonnet-4-5", "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 472, "cache_read_input_tokens": 3, "output_tokens": 2}}});
    let begin = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta =
        |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    let piece = |json: &str| json!({"type": "input_json_delta", "partial_json": json});
    let body = events(&[
        start,
        begin(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
        delta(0, json!({"type": "signature_delta", "signature": "x"})),
        stop(0),
        begin(1, json!({"type": "text", "text": ""})),
        json!({"type": "ping"}),
        delta(1, json!({"type": "text_delta", "text": " Okay"})),
        stop(1),
        begin(2, json!({"type": "tool_use", "id": "toolu_01", "name": "get_weather", "input": {}})),
        delta(2, piece("")),
        delta(2, piece("{\"city\":")),
        delta(2, piece(" \"Rome\"}")),
        stop(2),
        begin(3, json!({"type": "tool_use", "id": "toolu_02", "name": "pay", "input": {}})),
        stop(3),
        // A server that tells the arguments at once.
        begin(4, json!({"type": "tool_use", "id": "toolu_03", "name": "pay", "input": {"x": 1}})),
        stop(4),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null},
            "usage": {"output_tokens": 89}}),
        json!({"type": "message_stop"}),
    ]);
    let server = StandIn::start(vec![chunked([body.as_bytes()])]).await;
    let model = model(&server);
    let request = conversation(vec![user("go"), assistant("Well: ", vec![])]);
    let deltas: Vec<_> = model.chat_stream(&request).await.unwrap().map(Result::unwrap).collect().await;
    let kept = json!([
        {"form": "messages", "of": "item",
            "fields": [["signature", "x"], ["thinking", "hm"], ["type", "thinking"]]},
        {"form": "messages", "of": "text"},
        {"form": "messages", "of": "call", "call": 0},
        {"form": "messages", "of": "call", "call": 1},
        {"form": "messages", "of": "call", "call": 2},
    ]);
    let state = ChatDelta::State(serde_json::from_str(&kept.to_string()).unwrap());
    let usage = Usage { cached_tokens: 3, ..Usage::new(475, 89) };
    let begins =
        |index, id, name: &str| ChatDelta::CallStart { index, id: CallId::new(id), name: name.into() };
    let arguments = |index, fragment: &str| ChatDelta::CallArguments { index, fragment: fragment.into() };
    assert_eq!(
        deltas,
        [
            ChatDelta::Text("Okay".into()),
            begins(0, "toolu_01", "get_weather"),
            arguments(0, "{\"city\":"),
            arguments(0, " \"Rome\"}"),
            begins(1, "toolu_02", "pay"),
            begins(2, "toolu_03", "pay"),
            arguments(2, "{\"x\":1}"),
            // Without pieces it has no arguments, which is sure only at the end.
            arguments(1, "{}"),
            state,
            ChatDelta::End { finish: FinishReason::ToolCalls, usage, id: None },
        ]
    );
    assert_eq!(bodies(&server)[0]["stream"], true);
}

#[tokio::test]
async fn an_overloaded_server_is_asked_again() {
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let start = json!({"type": "message_start", "message": {"content": []}});
    let text =
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "hi"}});
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}});
    let stop = json!({"type": "message_stop"});
    let early = events(&[start.clone(), overloaded.clone()]);
    let good = events(&[start.clone(), text.clone(), delta, stop]);
    let late = events(&[start, text, overloaded.clone()]);
    let server = StandIn::start(vec![
        reply("529 Overloaded", "retry-after-ms: 1\r\n", &overloaded.to_string()),
        chunked([early.as_bytes()]),
        chunked([good.as_bytes()]),
        chunked([late.as_bytes()]),
    ])
    .await;
    let model = model(&server);
    let request = conversation(vec![user("go")]);
    let deltas: Vec<_> = model.chat_stream(&request).await.unwrap().collect().await;
    assert_eq!(deltas.len(), 2, "{deltas:?}");
    assert_eq!(server.requests().len(), 3);
    let deltas: Vec<_> = model.chat_stream(&request).await.unwrap().collect().await;
    let [Ok(ChatDelta::Text(_)), Err(ModelError::Status { status: 529, message, .. })] = &deltas[..] else {
        panic!("{deltas:?}")
    };
    assert_eq!((message.as_str(), server.requests().len()), ("Overloaded", 4));
}
