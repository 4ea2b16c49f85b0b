//! The client's plain requests: what it sends, what it makes of answers, and how it fails.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use planproof_model::openai::{OPENAI, OpenAiConfig, OpenAiModel};
use planproof_model::{LoadingNotice, Model, ModelError};
use planproof_trace::{Arguments, FinishReason, Tool, Usage};

use crate::stand_in::{KEY, StandIn, completion, json, question, reply};

fn error_of(result: Result<impl std::fmt::Debug, ModelError>) -> ModelError {
    let error = result.expect_err("this must fail");
    assert!(!format!("{error} {error:?}").contains(KEY), "the key is in an error: {error:?}");
    error
}

#[tokio::test]
async fn a_request_carries_the_key_and_the_conversation() {
    let server = StandIn::start(vec![completion(r#"{"role":"assistant","content":"hi"}"#, "stop")]).await;
    let model = server.model();
    assert_eq!(model.name(), "openai/m");
    assert!(!model.is_simulated());
    let mut request = question();
    request.tools = [Tool::without_arguments("pay", "Pays.")].into();
    let reply = model.chat(&request).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("hi", FinishReason::Stop));
    assert_eq!(reply.usage, Usage::new(11, 7));
    assert_eq!(model.chat(&request).await.unwrap(), reply);
    let sent = server.requests();
    assert_eq!(sent[0], sent[1]);
    let (head, body) = sent[0].split_once("\r\n\r\n").unwrap();
    let head = head.to_lowercase();
    assert!(head.starts_with("post /v1/chat/completions http/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("authorization: bearer {KEY}")), "{head}");
    assert!(
        head.contains("content-type: application/json") && head.contains("\r\nhost: 127.0.0.1:"),
        "{head}"
    );
    assert_eq!(
        body,
        concat!(
            r#"{"model":"m","messages":[{"role":"user","content":"hello"}],"tools":[{"type":"function","#,
            r#""function":{"name":"pay","description":"Pays.","parameters":"#,
            r#"{"additionalProperties":false,"properties":{},"type":"object"}}}],"stream":false}"#
        )
    );
}

#[tokio::test]
async fn a_model_that_is_still_being_loaded_is_waited_for() {
    let loading = |headers: &str| {
        let body = r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#;
        reply("503 Service Unavailable", headers, body)
    };
    let (soon, later) = ("retry-after-ms: 1\r\n", "");
    // More often than there are attempts, and with failures in between.
    let mut answers = vec![loading(soon); 7];
    answers.push(reply("500 Internal Server Error", soon, "oops"));
    answers.extend(vec![loading(soon); 7]);
    answers.push(completion(r#"{"content":"hi"}"#, "stop"));
    let server = StandIn::start(answers).await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&told);
    let notice = LoadingNotice(Arc::new(move |error: &ModelError, max: Duration| {
        noted.lock().unwrap().push(format!("{error} {max:?}"));
    }));
    let model = server.model_with(|config| config.connection.loading_notice = Some(notice));
    assert_eq!(model.chat(&question()).await.unwrap().text, "hi");
    assert_eq!(server.requests().len(), 16);
    let url = &server.base_url;
    assert_eq!(*told.lock().unwrap(), [format!("{url}/chat/completions answered 503: Loading model 600s")]);

    // Not for ever.
    let server = StandIn::start(vec![loading(later)]).await;
    let begun = Instant::now();
    let model = server.model_with(|config| config.connection.loading_max = Duration::from_millis(100));
    let error = error_of(model.chat(&question()).await);
    assert!(
        matches!(&error, ModelError::Status { status: 503, .. })
            && begun.elapsed() >= Duration::from_millis(100)
    );
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn replies_of_many_dialects_are_read() {
    let server = StandIn::start(vec![
        completion(
            r#"{"content":null,"tool_calls":[
                {"id":"a","type":"function","function":{"name":"pay","arguments":"{\"x\":1}"}},
                {"id":"b","type":"function","function":{"name":"pay","arguments":"{oops"}},
                {"id":"","function":{"name":"pay","arguments":{"y":[2]}}},
                {"function":{"name":"pay"}}]}"#,
            "tool_calls",
        ),
        completion(r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#, "length"),
        completion(r#"{"content":null,"refusal":"no","reasoning_content":"hm"}"#, "content_filter"),
        json(r#"{"choices":[{"message":{"content":"first"}},{"message":{"content":"second"}}]}"#),
        json(r#"{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"n"}}]},"finish_reason":"eos"}]}"#),
        json(
            r#"{"choices":[{"message":{},"finish_reason":null}],"usage":{"completion_tokens":1},"error":null}"#,
        ),
    ])
    .await;
    let model = server.model();
    let reply = model.chat(&question()).await.unwrap();
    let ids: Vec<_> = reply.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "unnamed_call_2", "unnamed_call_3"]);
    let arguments: Vec<_> = reply.calls.iter().map(|call| call.arguments.to_text()).collect();
    assert_eq!(arguments, [r#"{"x":1}"#, "{oops", r#"{"y":[2]}"#, "{}"]);
    assert_eq!(reply.calls[1].arguments, Arguments::Malformed("{oops".into()));
    for (text, finish, calls) in [
        ("ab", FinishReason::Length, 0),
        ("no", FinishReason::ContentFilter, 0),
        ("first", FinishReason::Stop, 0),
        ("", FinishReason::ToolCalls, 1),
        ("", FinishReason::Stop, 0),
    ] {
        let reply = model.chat(&question()).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.finish, reply.calls.len()), (text, finish, calls));
    }
}

#[tokio::test]
async fn a_busy_server_is_asked_again_when_it_says() {
    // The seconds between the date and the moment are more than is ever waited.
    let date = "date: Fri, 20 Nov 2026 10:00:00 GMT\r\nretry-after: Fri, 20 Nov 2026 10:01:00 GMT\r\n";
    let server = StandIn::start(vec![
        reply("429 Too Many Requests", "retry-after: 0.2\r\n", r#"{"error":{"message":"slow down"}}"#),
        reply("503 Unavailable", "retry-after-ms: 100\r\n", ""),
        reply("503 Unavailable", date, ""),
        completion(r#"{"content":"hi"}"#, "stop"),
    ])
    .await;
    let model = server.model_with(|config| {
        config.connection.attempts_max = 4;
        config.connection.wait_max = Duration::from_millis(250);
    });
    let begun = Instant::now();
    assert_eq!(model.chat(&question()).await.unwrap().text, "hi");
    assert!(begun.elapsed() >= Duration::from_millis(550), "{:?}", begun.elapsed());
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_broken_server_is_given_up_after_the_last_attempt() {
    let body = format!(r#"{{"error":{{"message":"oh\n  no {KEY}","type":"server_error"}}}}"#);
    let server = StandIn::start(vec![reply("500 Oops", "", &body)]).await;
    let error = error_of(server.model().chat(&question()).await);
    assert_eq!(server.requests().len(), 3);
    let url = format!("{}/chat/completions", server.base_url);
    assert_eq!(
        error,
        ModelError::Status { url, status: 500, message: "oh no [key]".into(), retry_after: None }
    );
}

#[tokio::test]
async fn answers_of_no_known_protocol_say_what_is_wrong() {
    for (answer, words) in [
        (json("not json"), "expected"),
        (json(&format!("<html>\n<body>{KEY}</body>")), "it begins with: [key]"),
        (json("[]"), "no chat completion"),
        (json("{}"), "no `choices`"),
        (json(r#"{"choices":[{}]}"#), "no `message`"),
        (json(r#"{"choices":[{"message":{"content":7}}]}"#), "expected a string or an array"),
    ] {
        let server = StandIn::start(vec![answer]).await;
        let error = error_of(server.model().chat(&question()).await);
        assert_eq!(server.requests().len(), 1, "{error}");
        let ModelError::Malformed { what, .. } = error else { panic!("{error:?}") };
        assert!(what.contains(words), "{what}");
    }
}

#[tokio::test]
async fn requests_keep_to_the_rate() {
    let server = StandIn::start(vec![completion(r#"{"content":"hi"}"#, "stop")]).await;
    let model = server.model_with(|config| config.connection.requests_per_second = NonZeroU32::new(20));
    let begun = Instant::now();
    let request = question();
    let replies = futures::future::join_all((0..26).map(|_| model.chat(&request))).await;
    assert!(replies.iter().all(Result::is_ok));
    // Twenty begin at once, the other six 50 ms apart.
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(290) && took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn the_environment_is_read_through_the_lookup() {
    let config = OpenAiConfig::from_env(&OPENAI, "m", |name| match name {
        "OPENAI_BASE_URL" => Some(" http://h:1/v1 ".into()),
        "OPENAI_API_KEY" => Some(KEY.into()),
        _ => None,
    });
    assert_eq!(config.connection.base_url, "http://h:1/v1");
    assert!(!format!("{config:?}").contains(KEY));
    assert!(OpenAiModel::new(config).is_ok());

    let mut unset = OpenAiConfig::from_env(&OPENAI, "m", |_| Some("  ".into()));
    assert_eq!(unset.connection.base_url, "https://api.openai.com/v1");
    unset.connection.base_url = "http://h/v1".into();
    let error = OpenAiModel::new(unset).err();
    assert_eq!(error, Some(ModelError::MissingKey { variable: "OPENAI_API_KEY" }));
}

#[tokio::test]
async fn a_server_on_this_machine_needs_no_key() {
    let server = StandIn::start(vec![completion(r#"{"content":"hi"}"#, "stop")]).await;
    let model = server.model_with(|config| config.connection.key = None);
    assert_eq!(model.chat(&question()).await.unwrap().text, "hi");
    assert!(!server.requests()[0].to_lowercase().contains("authorization"));
}

#[test]
fn senseless_configurations_are_refused() {
    let refused = |change: fn(&mut OpenAiConfig)| {
        let mut config = OpenAiConfig::new("m");
        config.connection.key = Some(KEY.into());
        config.connection.base_url = "http://127.0.0.1:1/v1".into();
        change(&mut config);
        matches!(OpenAiModel::new(config), Err(ModelError::Configuration { .. }))
    };
    assert!(!refused(|_| {}));
    assert!(refused(|config| config.model.clear()));
    assert!(refused(|config| config.connection.attempts_max = 0));
    assert!(refused(|config| config.connection.base_url.clear()));
    assert!(refused(|config| config.connection.key = Some("a\nb".into())));
}
