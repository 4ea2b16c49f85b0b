//! Responses, and conversations that the server keeps.

use futures::StreamExt;
use planproof_model::openai::{OPENAI, ResponsesModel};
use planproof_model::{Capabilities, ChatDelta, Message, Model, ModelError, ReplyId};
use planproof_trace::{CallId, FinishReason, Usage};
use serde_json::{Value, json};

use super::{
    answer, assert_unsupported, assistant, bodies, call, conversation, ok, plain, says, user, weather,
    weather_schema,
};
use crate::stand_in::{StandIn, chunked, reply, taken_apart};

fn model(server: &StandIn) -> ResponsesModel {
    ResponsesModel::new("gpt-x", &server.connection(&OPENAI)).expect("a usable configuration")
}

fn response(status: &str, output: &Value) -> Value {
    json!({"id": "resp_67ca", "object": "response", "created_at": 1, "status": status, "error": null,
        "incomplete_details": null, "output": output,
        "usage": {"input_tokens": 36, "input_tokens_details": {"cached_tokens": 8}, "output_tokens": 87,
            "output_tokens_details": {"reasoning_tokens": 64}, "total_tokens": 123}})
}

fn message(parts: &Value) -> Value {
    json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": parts})
}

fn text(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

#[tokio::test]
async fn a_conversation_is_sent_once_and_then_gone_on_from() {
    let first = response(
        "completed",
        &json!([
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": null},
            message(&json!([text("Let me "), text("see.")])),
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_weather",
             "arguments": "{\"city\":\"Rome\"}", "status": "completed"},
        ]),
    );
    let server = StandIn::start(vec![ok(&first)]).await;
    let model = model(&server);
    assert_eq!(model.name(), "openai/gpt-x");
    let capabilities =
        Capabilities { tool_calls: true, streaming: true, server_state: true, ..Capabilities::default() };
    assert_eq!(model.capabilities(), capabilities);
    let mut request = conversation(vec![
        Message::System { text: "Be brief.".into() },
        user("How is Paris?"),
        assistant(
            "Wait.",
            vec![call("c0", "get_weather", "{\"city\":\"Paris\"}"), call("c1", "get_weather", "{oops")],
        ),
        answer("c0", "sunny"),
        answer("c1", "no such city"),
        assistant("Sunny.", vec![]),
        user("And Rome?"),
    ]);
    request.tools = [weather()].into();
    request.settings.temperature = Some(0.0);
    request.settings.output_tokens_max = Some(99);
    request.settings.seed = Some(7);
    let reply = model.chat(&request).await.unwrap();
    let expected = says(
        "Let me see.",
        vec![call("call_1", "get_weather", "{\"city\":\"Rome\"}")],
        FinishReason::ToolCalls,
        (36, 87),
    );
    assert_eq!(
        (reply.id.clone(), plain(reply)),
        (Some(ReplyId("resp_67ca".into())), {
            planproof_model::ChatReply { id: Some(ReplyId("resp_67ca".into())), ..expected }
        })
    );

    let next = planproof_model::ChatRequest {
        messages: vec![answer("call_1", "rain")],
        previous: Some(ReplyId("resp_67ca".into())),
        ..request.clone()
    };
    model.chat(&next).await.unwrap();
    let (head, _) = taken_apart(&server.requests()[0]);
    assert!(head.starts_with("POST /v1/responses HTTP/1.1\r\n"), "{head}");
    let tools = json!([{"type": "function", "name": "get_weather", "description": "Tells the weather.",
        "parameters": weather_schema(), "strict": false}]);
    let settings = |mut body: Value| {
        for (name, value) in [
            ("model", json!("gpt-x")),
            ("tools", tools.clone()),
            ("temperature", json!(0.0)),
            ("max_output_tokens", json!(99)),
            ("store", json!(true)),
        ] {
            body[name] = value;
        }
        body
    };
    assert_eq!(
        bodies(&server)[0],
        settings(json!({"input": [
            {"type": "message", "role": "system", "content": "Be brief."},
            {"type": "message", "role": "user", "content": "How is Paris?"},
            {"type": "message", "role": "assistant", "content": "Wait."},
            {"type": "function_call", "call_id": "c0", "name": "get_weather", "arguments": "{\"city\":\"Paris\"}"},
            {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": "{oops"},
            {"type": "function_call_output", "call_id": "c0", "output": "sunny"},
            {"type": "function_call_output", "call_id": "c1", "output": "no such city"},
            {"type": "message", "role": "assistant", "content": "Sunny."},
            {"type": "message", "role": "user", "content": "And Rome?"},
        ]}))
    );
    assert_eq!(
        bodies(&server)[1],
        settings(json!({
            "previous_response_id": "resp_67ca",
            "input": [{"type": "function_call_output", "call_id": "call_1", "output": "rain"}],
        }))
    );
}

#[tokio::test]
async fn responses_end_in_several_ways() {
    let refusal = message(&json!([{"type": "refusal", "refusal": "I cannot."}]));
    let mut cut = response("incomplete", &json!([message(&json!([text("half")]))]));
    cut["incomplete_details"] = json!({"reason": "max_output_tokens"});
    let mut filtered = cut.clone();
    filtered["incomplete_details"] = json!({"reason": "content_filter"});
    for (body, text, finish) in [
        (response("completed", &json!([refusal])), "I cannot.", FinishReason::Stop),
        (cut, "half", FinishReason::Length),
        (filtered, "half", FinishReason::ContentFilter),
        (response("completed", &json!([])), "", FinishReason::Stop),
    ] {
        let server = StandIn::start(vec![ok(&body)]).await;
        let reply = model(&server).chat(&conversation(vec![user("go")])).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.finish), (text, finish));
    }
    for (status, error, expected) in [
        ("failed", json!({"code": "server_error", "message": "oops"}), "answered 500: oops"),
        ("failed", json!({"code": "rate_limit_exceeded", "message": "later"}), "answered 429: later"),
        ("failed", json!({"code": "invalid_prompt", "message": "no"}), "answered 400: no"),
        ("failed", Value::Null, "gave no reply: the response failed, and no error is told"),
        ("in_progress", Value::Null, "the response's status is not that of one that has ended"),
        ("cancelled", Value::Null, "gave no reply: the response failed, and no error is told"),
    ] {
        let mut body = response(status, &json!([]));
        body["error"] = error;
        let server = StandIn::start(vec![ok(&body)]).await;
        let error = model(&server).chat(&conversation(vec![user("go")])).await.unwrap_err();
        assert!(error.to_string().ends_with(expected), "{error}");
    }
}

#[tokio::test]
async fn a_forgotten_reply_is_told_from_other_refusals() {
    let not_found = json!({"error": {"message": "Previous response with id 'resp_9' not found.",
        "type": "invalid_request_error", "param": "previous_response_id", "code": "previous_response_not_found"}});
    let other = json!({"error": {"message": "The model `gpt-x` does not exist"}});
    for (status, body, previous, is_forgotten) in [
        ("400 Bad Request", &not_found, Some("resp_9"), true),
        ("404 Not Found", &not_found, Some("resp_9"), true),
        ("404 Not Found", &json!({"detail": "Not Found"}), Some("resp_9"), true),
        ("400 Bad Request", &other, Some("resp_9"), false),
        ("404 Not Found", &other, None, false),
    ] {
        let server = StandIn::start(vec![reply(status, "", &body.to_string())]).await;
        let mut request = conversation(vec![answer("c", "done")]);
        request.previous = previous.map(|id| ReplyId(id.to_owned()));
        let model = model(&server);
        let whole = model.chat(&request).await.unwrap_err();
        let streamed = model.chat_stream(&request).await.map(|_| ()).unwrap_err();
        assert_eq!(whole, streamed);
        let said = "it no longer keeps the reply resp_9 that the conversation goes on from (";
        assert_eq!(whole.to_string().contains(said), is_forgotten, "{whole}");
        assert_eq!(server.requests().len(), 2, "neither is tried again");
    }
}

#[tokio::test]
async fn what_the_protocol_does_not_know_is_refused() {
    let server = StandIn::start(vec![ok(&response("completed", &json!([])))]).await;
    let model = model(&server);
    let partial = conversation(vec![user("go"), assistant("Thought:", vec![])]);
    assert_unsupported(
        model.chat(&partial).await,
        "openai/gpt-x cannot go on from an unfinished turn of its own",
    );
    let mut stopped = conversation(vec![user("go")]);
    stopped.settings.stop = vec!["END".into()];
    let words = "openai/gpt-x cannot stop at given texts over the responses protocol";
    assert_unsupported(model.chat_stream(&stopped).await.map(|_| ()), words);
    assert!(server.requests().is_empty());
}

/// Events by their types, as the documentation has them.
fn events(events: &[Value]) -> String {
    let event = |(number, data): (usize, &Value)| {
        let mut data = data.clone();
        data["sequence_number"] = number.into();
        format!("event: {}\ndata: {data}\n\n", data["type"].as_str().expect("a type"))
    };
    events.iter().enumerate().map(event).collect()
}

async fn streamed(body: &[Value]) -> Vec<Result<ChatDelta, ModelError>> {
    let server = StandIn::start(vec![chunked([events(body).as_bytes()])]).await;
    let model = model(&server);
    let request = conversation(vec![user("go")]);
    match model.chat_stream(&request).await {
        Ok(deltas) => deltas.collect().await,
        Err(error) => vec![Err(error)],
    }
}

#[tokio::test]
async fn items_are_reported_once_however_often_the_server_sends_them() {
    let function = |arguments: &str| {
        json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "pay",
        "arguments": arguments})
    };
    let completed =
        |output: &Value| json!({"type": "response.completed", "response": response("completed", output)});
    let usage = Usage { cached_tokens: 8, reasoning_tokens: 64, ..Usage::new(36, 87) };
    let end = |finish| ChatDelta::End { finish, usage, id: Some(ReplyId("resp_67ca".into())) };
    let expected = vec![
        Ok(ChatDelta::Text("On it.".into())),
        Ok(ChatDelta::CallStart { index: 0, id: CallId::new("call_1"), name: "pay".into() }),
        Ok(ChatDelta::CallArguments { index: 0, fragment: "{\"x\":1}".into() }),
        Ok(end(FinishReason::ToolCalls)),
    ];
    let words = message(&json!([text("On it.")]));
    let output = json!([words, function("{\"x\":1}")]);
    let delta = json!({"type": "response.output_text.delta", "output_index": 0, "delta": "On it."});
    let added = json!({"type": "response.output_item.added", "output_index": 1, "item": function("")});
    let done = |index: u64, item: &Value| json!({"type": "response.output_item.done", "output_index": index, "item": item});
    let arguments =
        json!({"type": "response.function_call_arguments.done", "output_index": 1, "arguments": "{\"x\":1}"});
    for body in [
        // Told whole at the end only; item by item; with pieces; with the arguments at their end.
        vec![completed(&output)],
        vec![done(0, &words), done(1, &output[1]), completed(&output)],
        vec![delta.clone(), done(0, &words), added.clone(), done(1, &output[1]), completed(&output)],
        vec![delta.clone(), added.clone(), arguments.clone(), done(1, &output[1]), completed(&output)],
        // The list at the end may leave items out, so that places shift.
        vec![delta.clone(), done(1, &output[1]), completed(&json!([output[1]]))],
        vec![delta.clone(), done(1, &output[1]), completed(&json!([]))],
        // A call that only the list knows.
        vec![delta.clone(), completed(&output)],
    ] {
        assert_eq!(streamed(&body).await, expected, "{body:?}");
    }
    // Refusals are words; thoughts are not.
    let body = [
        json!({"type": "response.reasoning_text.delta", "output_index": 0, "delta": "hm"}),
        json!({"type": "response.refusal.delta", "output_index": 1, "delta": "I cannot."}),
        json!({"type": "response.incomplete", "response": {"id": "resp_67ca", "status": "incomplete",
            "incomplete_details": {"reason": "content_filter"}, "usage": response("", &json!([]))["usage"]}}),
    ];
    let expected = [Ok(ChatDelta::Text("I cannot.".into())), Ok(end(FinishReason::ContentFilter))];
    assert_eq!(streamed(&body).await, expected);
}

#[tokio::test]
async fn streams_fail_in_several_ways() {
    let delta = json!({"type": "response.output_text.delta", "output_index": 0, "delta": "On"});
    let failed = json!({"type": "response.failed", "response": {"id": "resp_1", "status": "failed",
        "error": {"code": "rate_limit_exceeded", "message": "later"}}});
    let flat = json!({"type": "error", "code": "invalid_prompt", "message": "no", "param": null});
    let nested = json!({"type": "error", "error": {"type": "server_error", "message": "oops"}});
    let untold = json!({"type": "response.failed", "response": {}});
    let empty = json!({"type": "response.completed"});
    for (last, words) in [
        (failed, "answered 429: later"),
        (flat, "answered 400: no"),
        (nested, "answered 500: oops"),
        (untold, "gave no reply: the response failed, and no error is told"),
        (empty, "`response.completed` without its `response`"),
    ] {
        let deltas = streamed(&[delta.clone(), last]).await;
        let [Ok(ChatDelta::Text(_)), Err(error)] = &deltas[..] else { panic!("{deltas:?}") };
        assert!(error.to_string().ends_with(words), "{error}");
    }
}
