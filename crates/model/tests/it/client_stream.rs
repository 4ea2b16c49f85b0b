//! The client's streamed requests.

use futures::StreamExt;
use planproof_model::{ChatDelta, Model, ModelError};
use planproof_trace::{CallId, FinishReason, Usage};

use crate::stand_in::{KEY, StandIn, chunked, question};

const STREAM: &str = concat!(
    ": a comment\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}],\"obfuscation\":\"x\"}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"né \"}}]}\r\n\r\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"日本 🚀\"}},{\"index\":1,\"delta\":{\"content\":\"other\"}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"content\":null,\"tool_calls\":[{\"index\":3,\"id\":\"a\",\"type\":\"function\",",
    "\"function\":{\"name\":\"pay\",\"arguments\":\"\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":3,\"function\":{\"arguments\":\"{\\\"x\\\":\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":9,\"id\":\"b\",\"function\":{\"name\":\"ask\"}},",
    "{\"index\":3,\"function\":{\"arguments\":\"\\\"é\\\"}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\n",
    "data: [DONE]\n\n",
);

fn expected() -> Vec<ChatDelta> {
    let start =
        |index, id, name: &str| ChatDelta::CallStart { index, id: CallId::new(id), name: name.into() };
    let arguments = |index, fragment: &str| ChatDelta::CallArguments { index, fragment: fragment.into() };
    vec![
        ChatDelta::Text("né ".into()),
        ChatDelta::Text("日本 🚀".into()),
        start(0, "a", "pay"),
        arguments(0, "{\"x\":"),
        arguments(0, "\"é\"}"),
        // It has no arguments, which shows only at the end.
        start(1, "b", "ask"),
        arguments(1, "{}"),
        ChatDelta::End { finish: FinishReason::ToolCalls, usage: Usage::new(3, 4), id: None },
    ]
}

async fn stream(model: &dyn Model) -> Result<Vec<ChatDelta>, ModelError> {
    let request = question();
    let items: Vec<_> = model.chat_stream(&request).await?.collect().await;
    let errors = items.iter().filter(|item| item.is_err()).count();
    assert!(
        errors == 0 || (errors == 1 && items.last().is_some_and(Result::is_err)),
        "an error is the last item"
    );
    let result: Result<Vec<_>, _> = items.into_iter().collect();
    assert!(!format!("{result:?}").contains(KEY));
    result
}

#[tokio::test]
async fn a_stream_may_be_cut_anywhere() {
    let bytes = STREAM.as_bytes();
    let mut answers = vec![chunked([bytes]), chunked(bytes.chunks(1))];
    answers.extend((1..bytes.len()).map(|at| chunked([&bytes[..at], &bytes[at..]])));
    let count = answers.len();
    let server = StandIn::start(answers).await;
    let model = server.model();
    // Only its end shows that the first text of a model is not a thought. The calls show it as well.
    let mut first = expected();
    first.splice(..2, [ChatDelta::Text("né 日本 🚀".into())]);
    assert_eq!(stream(&model).await, Ok(first));
    for number in 1..count {
        assert_eq!(stream(&model).await, Ok(expected()), "answer {number}");
    }
    assert_eq!(server.requests().len(), count);
    assert!(server.requests()[0].ends_with(r#""stream":true,"stream_options":{"include_usage":true}}"#));
}

#[tokio::test]
async fn a_stream_may_lack_what_servers_leave_out() {
    let chunk = |body: &str| format!("data: {body}\n\n");
    let text = chunk(r#"{"choices":[{"delta":{"content":"a"}}]}"#);
    let stop = chunk(r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#);
    let whole = vec![
        ChatDelta::Text("a".into()),
        ChatDelta::End { finish: FinishReason::Stop, usage: Usage::default(), id: None },
    ];
    for body in [
        // No usage; neither a reason to finish; no [DONE].
        format!("{text}{stop}data: [DONE]\n\n"),
        format!("{text}data: [DONE]\n\n"),
        format!("{text}{stop}"),
        format!("\u{feff}event: x\nid: 1\nretry: 5\n{text}{stop}data: [DONE]\n\nthis is not read any more"),
    ] {
        let server = StandIn::start(vec![chunked([body.as_bytes()])]).await;
        assert_eq!(stream(&server.model()).await, Ok(whole.clone()), "{body}");
    }
    // Neither places nor ids, and a name that comes late.
    let calls = [
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"pay","arguments":"}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"ask","arguments":{"x":1}}}]}}]}"#,
        "[DONE]",
    ];
    let body: String = calls.iter().map(|body| chunk(body)).collect();
    let server = StandIn::start(vec![chunked([body.as_bytes()])]).await;
    let start =
        |index, id, name: &str| ChatDelta::CallStart { index, id: CallId::new(id), name: name.into() };
    let arguments = |index, fragment: &str| ChatDelta::CallArguments { index, fragment: fragment.into() };
    assert_eq!(
        stream(&server.model()).await,
        Ok(vec![
            start(0, "unnamed_call_0", "pay"),
            arguments(0, "{}"),
            start(1, "b", "ask"),
            arguments(1, "{\"x\":1}"),
            ChatDelta::End { finish: FinishReason::ToolCalls, usage: Usage::default(), id: None },
        ])
    );
}

#[tokio::test]
async fn places_and_ids_are_used_in_several_ways() {
    let call =
        |fields: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{{fields}}}]}}}}]}}\n\n");
    let start =
        |index, id, name: &str| ChatDelta::CallStart { index, id: CallId::new(id), name: name.into() };
    let arguments = |index, fragment: &str| ChatDelta::CallArguments { index, fragment: fragment.into() };
    let two = vec![
        start(0, "a", "pay"),
        arguments(0, "{}"),
        start(1, "b", "ask"),
        arguments(1, "{\"x\":"),
        arguments(1, "1}"),
    ];
    for calls in [
        // The id again with every piece, and no places.
        [
            r#""id":"a","function":{"name":"pay","arguments":"{}"}"#,
            r#""id":"b","function":{"name":"ask","arguments":"{\"x\":"}"#,
            r#""id":"b","function":{"arguments":"1}"}"#,
        ],
        // The name again, too.
        [
            r#""id":"a","function":{"name":"pay","arguments":"{}"}"#,
            r#""id":"b","function":{"name":"ask","arguments":"{\"x\":"}"#,
            r#""id":"b","function":{"name":"ask","arguments":"1}"}"#,
        ],
        // The same place for all calls.
        [
            r#""index":0,"id":"a","function":{"name":"pay","arguments":"{}"}"#,
            r#""index":0,"id":"b","function":{"name":"ask","arguments":"{\"x\":"}"#,
            r#""index":0,"function":{"arguments":"1}"}"#,
        ],
        // Another id with every piece, at a place of its own.
        [
            r#""index":0,"id":"a","function":{"name":"pay","arguments":"{}"}"#,
            r#""index":1,"id":"b","function":{"name":"ask","arguments":"{\"x\":"}"#,
            r#""index":1,"id":"c","function":{"arguments":"1}"}"#,
        ],
    ] {
        let body = calls.map(call).concat() + "data: [DONE]\n\n";
        let server = StandIn::start(vec![chunked([body.as_bytes()])]).await;
        let mut expected = two.clone();
        expected.push(ChatDelta::End { finish: FinishReason::ToolCalls, usage: Usage::default(), id: None });
        assert_eq!(stream(&server.model()).await, Ok(expected), "{body}");
    }
}

#[tokio::test]
async fn a_stream_of_something_else_says_so() {
    let event = |body: &str| chunked([format!("data: {body}\n\n").as_bytes()]);
    let many: String = (0..1001)
        .map(|index| format!(r#"{{"index":{index},"id":"c{index}","function":{{"name":"n"}}}},"#))
        .collect();
    let many = format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{}]}}}}]}}"#, many.trim_end_matches(','));
    for (answer, words) in [
        (event("{oops"), "no part of a chat completion"),
        (event(&format!(r#"{{"choices":"{KEY}"}}"#)), "[key]"),
        (event(&many), "more than 1000 tool calls"),
        (event("[DONE]"), "without a part of a chat completion"),
    ] {
        let server = StandIn::start(vec![answer]).await;
        let error = stream(&server.model()).await.unwrap_err();
        assert!(
            matches!(&error, ModelError::Malformed { what, .. } if what.contains(words)),
            "{words}: {error:?}"
        );
    }
}
