//! The client against our own server: what a model says arrives as it was said.

use std::sync::Arc;

use futures::StreamExt;
use planproof_model::openai::{OpenAiConfig, OpenAiModel};
use planproof_model::{ChatDelta, ChatReply, ChatRequest, Message, Model, Settings};
use planproof_trace::{Arguments, CallId, FinishReason, Tool, ToolCall, Usage};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::scripted::{Scripted, says, scripted};
use crate::server::start;

async fn connect(model: Arc<Scripted>) -> OpenAiModel {
    let address = start(model, |config| config.key = Some("k".into())).await;
    let mut config = OpenAiConfig::new("x");
    config.connection.base_url = format!("http://{address}/case/7/v1/");
    config.connection.key = Some("k".into());
    config.connection.attempts_max = 1;
    OpenAiModel::new(config).expect("a usable configuration")
}

/// The reply that a stream adds up to.
async fn streamed(model: &OpenAiModel, request: &ChatRequest) -> ChatReply {
    let mut deltas = model.chat_stream(request).await.expect("a stream");
    let mut reply = says("", &[]);
    let mut calls: Vec<(CallId, String, String)> = Vec::new();
    while let Some(delta) = deltas.next().await {
        match delta.expect("no error") {
            ChatDelta::Text(text) => reply.text.push_str(&text),
            ChatDelta::CallStart { index, id, name } => {
                assert_eq!(index, calls.len());
                calls.push((id, name, String::new()));
            }
            ChatDelta::CallArguments { index, fragment } => calls[index].2.push_str(&fragment),
            ChatDelta::End { finish, usage, id: _ } => (reply.finish, reply.usage) = (finish, usage),
        }
    }
    let call =
        |(id, name, text): (_, _, String)| ToolCall { id, name, arguments: Arguments::from_text(&text) };
    reply.calls = calls.into_iter().map(call).collect();
    reply
}

#[tokio::test]
async fn a_conversation_with_parallel_calls_survives_the_journey() {
    let script = vec![
        says("One moment.", &[("c1", "pay", "{\"to\":\"Zoë\",\"n\":[1,2.5,null]}"), ("c2", "pay", "{oops")]),
        says("Paid.", &[]),
    ];
    let scripted = scripted(script.clone());
    let model = connect(Arc::clone(&scripted)).await;
    let tools: Arc<[Tool]> = Arc::from([Tool::without_arguments("pay", "Pays \"someone\".")]);
    let settings = Settings {
        temperature: Some(0.25),
        output_tokens_max: Some(99),
        seed: Some(u64::MAX),
        stop: vec!["END".into()],
    };
    let mut request = ChatRequest {
        messages: vec![
            Message::System { text: "s".into() },
            Message::User { text: "pay\u{0} \u{1f680}".into() },
        ],
        tools,
        settings,
        previous: None,
    };
    for said in script {
        let reply = model.chat(&request).await.unwrap();
        assert_eq!(reply, said);
        let asked = scripted.asked().pop().unwrap();
        assert_eq!(
            (&asked.messages, &asked.settings, &asked.tools),
            (&request.messages, &request.settings, &request.tools)
        );
        request.messages.push(Message::Assistant { text: reply.text, calls: reply.calls.clone() });
        request
            .messages
            .extend(reply.calls.into_iter().map(|call| Message::Tool { id: call.id, text: "ok".into() }));
    }
}

#[tokio::test]
async fn an_orphan_answer_is_noticed() {
    let model = connect(scripted(vec![says("hi", &[])])).await;
    let messages = vec![Message::Tool { id: CallId::new("c1"), text: "ok".into() }];
    let request =
        ChatRequest { messages, tools: Arc::from([]), settings: Settings::default(), previous: None };
    let error = model.chat(&request).await.unwrap_err().to_string();
    assert!(error.contains("502") && error.contains("message 0 answers c1"), "{error}");
}

#[tokio::test]
async fn many_requests_at_once_get_each_their_own_answer() {
    let scripted = scripted(vec![says("hi", &[])]);
    let model = connect(Arc::clone(&scripted)).await;
    let requests: Vec<_> = (0..500)
        .map(|number| ChatRequest {
            messages: vec![Message::User { text: format!("{number}") }],
            tools: Arc::from([Tool::without_arguments(format!("tool_{number}"), "d")]),
            settings: Settings::default(),
            previous: None,
        })
        .collect();
    let replies = futures::future::join_all(requests.iter().map(|request| model.chat(request))).await;
    assert!(replies.iter().all(|reply| reply.as_ref().is_ok_and(|reply| reply.text == "hi")));
    for asked in scripted.asked() {
        let Message::User { text } = &asked.messages[0] else { panic!("a user speaks") };
        assert_eq!(asked.tools[0].name, format!("tool_{text}"));
    }
}

fn any_reply() -> impl Strategy<Value = ChatReply> {
    let arguments = prop_oneof![
        any::<String>().prop_map(|text| Arguments::from_text(&text)),
        proptest::collection::btree_map(any::<String>(), any::<String>(), 0..3).prop_map(|fields| {
            Arguments::Object(fields.into_iter().map(|(name, value)| (name, value.into())).collect())
        }),
    ];
    // A call without a name is announced by no server of ours, and blank arguments are the empty object.
    let call = ("[a-z]{1,8}", arguments);
    (any::<String>(), proptest::collection::vec(call, 0..4), any::<u32>()).prop_map(
        |(text, calls, tokens)| {
            let calls: Vec<_> = calls
                .into_iter()
                .enumerate()
                .map(|(index, (name, arguments))| ToolCall {
                    id: CallId::new(format!("c{index}")),
                    name,
                    arguments,
                })
                .collect();
            let finish = if calls.is_empty() { FinishReason::Length } else { FinishReason::ToolCalls };
            ChatReply {
                text,
                calls,
                finish,
                usage: Usage { input_tokens: u64::from(tokens), output_tokens: 1 },
                id: None,
            }
        },
    )
}

#[test]
fn streaming_and_plain_replies_are_what_was_said() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let config = Config { cases: 64, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&any_reply(), |said| {
            runtime.block_on(async {
                let model = connect(scripted(vec![said.clone()])).await;
                let request = ChatRequest {
                    messages: vec![Message::User { text: "hi".into() }],
                    tools: Arc::from([]),
                    settings: Settings::default(),
                    previous: None,
                };
                let plain = model.chat(&request).await.expect("an answer");
                let pieces = streamed(&model, &request).await;
                prop_assert_eq!(&plain, &said);
                prop_assert_eq!(&pieces, &said);
                Ok(())
            })
        })
        .unwrap();
}
