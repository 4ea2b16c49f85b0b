//! The client's streamed requests.

use std::time::Duration;

use futures::StreamExt;
use planproof_model::{ChatDelta, Model, ModelError};
use planproof_trace::{CallId, FinishReason, Usage};

use crate::stand_in::{Answer, KEY, StandIn, chunked, json, question, reply, stream_head};

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
        start(1, "b", "ask"),
        arguments(0, "\"é\"}"),
        ChatDelta::End {
            finish: FinishReason::ToolCalls,
            usage: Usage { input_tokens: 3, output_tokens: 4 },
            id: None,
        },
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
    for number in 0..count {
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
async fn a_stream_that_is_cut_off_is_an_error() {
    let half = &STREAM.as_bytes()[..400];
    let chunk = [format!("{:x}\r\n", half.len()).as_bytes(), half, b"\r\n"].concat();
    let head = |headers| stream_head(headers);
    let unfinished = b"data: {\"choices\":[{\"finish_reason\":\"\"}]}\n\n".to_vec();
    for (bytes, requests) in [
        ([head("transfer-encoding: chunked\r\n"), chunk].concat(), 1),
        ([head("content-length: 9999\r\n"), half.to_vec()].concat(), 1),
        // Without a length the end of the connection looks like the end of the body.
        ([head("connection: close\r\n"), half.to_vec()].concat(), 1),
        // Nothing has been passed on yet, so it can be asked for again.
        ([head("connection: close\r\n"), vec![]].concat(), 3),
        ([head("connection: close\r\n"), unfinished].concat(), 3),
    ] {
        let server = StandIn::start(vec![Answer::SendAndClose(bytes)]).await;
        let error = stream(&server.model()).await.unwrap_err();
        assert!(
            matches!(&error, ModelError::Unreachable { reason, .. } if reason.contains("middle of the reply")),
            "{error:?}"
        );
        assert_eq!(server.requests().len(), requests, "what has been passed on is not asked again");
    }
}

#[tokio::test]
async fn a_stream_that_stops_ends_at_the_time_limit() {
    let mut pieces = stream_head("connection: close\r\n");
    pieces.extend_from_slice(&STREAM.as_bytes()[..300]);
    let server = StandIn::start(vec![Answer::Send(vec![pieces])]).await;
    let model = server.model_with(|config| config.connection.request_timeout = Duration::from_millis(60));
    assert!(matches!(stream(&model).await, Err(ModelError::TimedOut { .. })));
}

#[tokio::test]
async fn a_stream_of_something_else_says_so() {
    let event = |body: &str| chunked([format!("data: {body}\n\n").as_bytes()]);
    let many: String = (0..1001)
        .map(|index| format!(r#"{{"index":{index},"id":"c{index}","function":{{"name":"n"}}}},"#))
        .collect();
    let many = format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{}]}}}}]}}"#, many.trim_end_matches(','));
    let endless = vec![b'x'; 17 << 20];
    for (answer, words) in [
        (json("{}"), "content type application/json"),
        (event("{oops"), "no part of a chat completion"),
        (event(&format!(r#"{{"choices":"{KEY}"}}"#)), "[key]"),
        (event(&many), "more than 1000 tool calls"),
        (chunked([&b"nonsense\n\n"[..]]), "no server-sent events"),
        (chunked([&b"data: \xff\xfe\n\n"[..]]), "utf8"),
        (chunked([&endless[..]]), "larger than"),
    ] {
        let server = StandIn::start(vec![answer]).await;
        let error = stream(&server.model()).await.unwrap_err();
        assert!(
            matches!(&error, ModelError::Malformed { what, .. } if what.contains(words)),
            "{words}: {error:?}"
        );
    }
    let server = StandIn::start(vec![event(r#"{"error":{"message":"overloaded","code":"x"}}"#)]).await;
    let error = stream(&server.model()).await.unwrap_err();
    assert!(matches!(error, ModelError::Status { status: 500, .. }), "{error:?}");
}

#[tokio::test]
async fn a_stream_is_asked_for_again_until_it_begins() {
    let server = StandIn::start(vec![
        reply("429 Busy", "retry-after-ms: 1\r\n", ""),
        reply("500 Oops", "", ""),
        chunked([STREAM.as_bytes()]),
    ])
    .await;
    assert_eq!(stream(&server.model()).await, Ok(expected()));
    assert_eq!(server.requests().len(), 3);
}
