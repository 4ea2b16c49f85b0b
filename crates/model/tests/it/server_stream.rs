//! The server's event sequences, exactly.

use std::sync::Arc;

use planproof_model::{ChatReply, ReplyId};
use serde_json::{Value, json};

use crate::scripted::{Scripted, says, scripted};
use crate::server::{post, start};

/// The events of a stream: name (empty where there is none) and data.
fn events(body: &str) -> Vec<(String, String)> {
    body.split_terminator("\n\n")
        .map(|event| match event.split_once('\n') {
            Some((name, data)) => (
                name.strip_prefix("event: ").expect("a name").to_owned(),
                data.strip_prefix("data: ").expect("data").to_owned(),
            ),
            None => (String::new(), event.strip_prefix("data: ").expect("data").to_owned()),
        })
        .collect()
}

#[tokio::test]
async fn chat_completions_stream_in_the_known_order() {
    let model = scripted(vec![says("Hé, you", &[("c1", "pay", "{\"a\":1}"), ("c2", "ask", "{}")])]);
    let address = start(model, |_| {}).await;
    let mut request = json!({"model": "x", "stream": true, "stream_options": {"include_usage": true},
        "messages": [{"role": "user", "content": "hi"}]});
    let answer = post(address, "/v1/chat/completions", &request).await;
    assert!(answer.head.contains("content-type: text/event-stream"), "{}", answer.head);
    let chunk = |delta: &str, finish: &str| {
        format!(
            r#"{{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1000,"model":"x","choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]}}"#
        )
    };
    let expected = [
        chunk(r#"{"role":"assistant","content":""}"#, "null"),
        chunk(r#"{"content":"Hé, "}"#, "null"),
        chunk(r#"{"content":"you"}"#, "null"),
        chunk(r#"{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"pay","arguments":""}}]}"#, "null"),
        chunk(r#"{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"ask","arguments":""}}]}"#, "null"),
        chunk(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}"#, "null"),
        chunk(r#"{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}"#, "null"),
        chunk(r#"{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}"#, "null"),
        chunk("{}", "\"tool_calls\""),
        r#"{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1000,"model":"x","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}"#.to_owned(),
        "[DONE]".to_owned(),
    ];
    let expected: Vec<_> = expected.into_iter().map(|data| (String::new(), data)).collect();
    assert_eq!(events(&answer.body), expected);

    request["stream_options"] = Value::Null;
    let without_usage = events(&post(address, "/v1/chat/completions", &request).await.body);
    assert_eq!(without_usage.len(), expected.len() - 1);
    assert!(without_usage.iter().all(|(_, data)| !data.contains("usage")));
}

#[tokio::test]
async fn responses_stream_in_the_known_order() {
    let script = says("Hé, you", &[("c1", "pay", "{\"a\":1}"), ("c2", "ask", "{}")]);
    let model = scripted(vec![script.clone(), says("ok", &[])]);
    let address = start(model.clone(), |_| {}).await;
    let answer = post(address, "/v1/responses", &json!({"model": "x", "stream": true, "input": "hi"})).await;
    let events = events(&answer.body);
    let mut sent = Vec::new();
    for (number, (name, data)) in events.iter().enumerate() {
        let data: Value = serde_json::from_str(data).expect("JSON");
        assert_eq!((&data["type"], &data["sequence_number"]), (&json!(name), &json!(number)));
        sent.push(data);
    }
    // Each event as one line: its kind, its item, its content.
    let lines: Vec<String> = sent
        .iter()
        .map(|data| {
            let mut words =
                vec![data["type"].as_str().expect("a type").trim_start_matches("response.").to_owned()];
            words.extend(data.get("output_index").map(Value::to_string));
            for field in ["item_id", "content_index", "delta", "text", "name", "arguments"] {
                words.extend(
                    data.get(field).map(|value| value.as_str().map_or(value.to_string(), str::to_owned)),
                );
            }
            words.extend(
                data["item"]["status"].as_str().map(|status| format!("{} {status}", data["item"]["id"])),
            );
            words.extend(data["part"]["text"].as_str().map(|text| format!("part '{text}'")));
            words.extend(data["response"]["status"].as_str().map(str::to_owned));
            words.join(" ")
        })
        .collect();
    assert_eq!(
        lines,
        [
            "created in_progress",
            "in_progress in_progress",
            "output_item.added 0 \"msg_1_0\" in_progress",
            "content_part.added 0 msg_1_0 0 part ''",
            "output_text.delta 0 msg_1_0 0 Hé, ",
            "output_text.delta 0 msg_1_0 0 you",
            "output_text.done 0 msg_1_0 0 Hé, you",
            "content_part.done 0 msg_1_0 0 part 'Hé, you'",
            "output_item.done 0 \"msg_1_0\" completed",
            "output_item.added 1 \"fc_1_0\" in_progress",
            "function_call_arguments.delta 1 fc_1_0 {\"a\"",
            "function_call_arguments.delta 1 fc_1_0 :1}",
            "function_call_arguments.done 1 fc_1_0 pay {\"a\":1}",
            "output_item.done 1 \"fc_1_0\" completed",
            "output_item.added 2 \"fc_1_1\" in_progress",
            "function_call_arguments.delta 2 fc_1_1 {}",
            "function_call_arguments.done 2 fc_1_1 ask {}",
            "output_item.done 2 \"fc_1_1\" completed",
            "completed completed",
        ]
    );
    assert_eq!(sent[2]["item"]["content"], json!([]));
    assert_eq!(sent[9]["item"]["arguments"], "");
    // The last event carries what a plain answer would have been.
    let plain = start(scripted(vec![script]), |_| {}).await;
    let plain = post(plain, "/v1/responses", &json!({"model": "x", "input": "hi"})).await.json();
    assert_eq!(sent[18]["response"], plain);
    // A streamed answer can be gone on from, too.
    let outputs = json!([
        {"type": "function_call_output", "call_id": "c2", "output": "2"},
        {"type": "function_call_output", "call_id": "c1", "output": "1"},
    ]);
    let next = json!({"stream": true, "previous_response_id": "resp_1", "input": outputs});
    assert_eq!(post(address, "/v1/responses", &next).await.status, 200);
    assert_eq!(model.asked()[1].messages.len(), 4);
}

#[tokio::test]
async fn an_empty_reply_is_an_empty_message() {
    let address = start(scripted(vec![says("", &[])]), |_| {}).await;
    let plain = post(address, "/v1/responses", &json!({"input": "hi"})).await.json();
    assert_eq!(plain["output"][0]["content"][0]["text"], "");
    let streamed = post(address, "/v1/responses", &json!({"input": "hi", "stream": true})).await;
    let last: Value = serde_json::from_str(&events(&streamed.body).pop().expect("an event").1).expect("JSON");
    assert_eq!(last["response"]["output"][0]["content"], plain["output"][0]["content"]);
    let chat = post(address, "/v1/chat/completions", &json!({"messages": []})).await.json();
    assert_eq!(chat["choices"][0]["message"]["content"], "");
}

#[tokio::test]
async fn a_model_that_breaks_off_is_reported_within_the_stream() {
    let mut model = Scripted::new(vec![Ok(says("Hello", &[]))]);
    model.breaks_off = true;
    let address = start(Arc::new(model), |_| {}).await;
    let body = json!({"stream": true, "input": "hi", "messages": []});
    let chat = events(&post(address, "/v1/chat/completions", &body).await.body);
    assert!(
        chat.last().is_some_and(|(_, data)| data.starts_with(r#"{"error":{"message":"u did not answer"#)),
        "{chat:?}"
    );
    let responses = events(&post(address, "/v1/responses", &body).await.body);
    let (name, data) = responses.last().expect("an event");
    let data: Value = serde_json::from_str(data).expect("JSON");
    assert_eq!((name.as_str(), &data["response"]["status"]), ("response.failed", &json!("failed")));
    assert_eq!(data["response"]["error"]["code"], "server_error");
    // What failed cannot be gone on from.
    let next = post(address, "/v1/responses", &json!({"input": "x", "previous_response_id": "resp_1"})).await;
    assert_eq!(next.status, 400);
}

#[tokio::test]
async fn a_reply_that_the_model_names_ends_its_stream_as_well() {
    let named = ChatReply { id: Some(ReplyId("kept-1".to_owned())), ..says("Hello", &[]) };
    let address = start(scripted(vec![named.clone(), named]), |_| {}).await;
    let body = json!({"stream": true, "input": "hi", "messages": []});
    let chat = events(&post(address, "/v1/chat/completions", &body).await.body);
    assert_eq!(chat.last().map(|(_, data)| data.as_str()), Some("[DONE]"));
    let responses = events(&post(address, "/v1/responses", &body).await.body);
    assert_eq!(responses.last().map(|(name, _)| name.as_str()), Some("response.completed"));
}
