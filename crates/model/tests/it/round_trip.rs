//! The client against our own server: what a model says arrives as it was said.

use std::sync::Arc;

use planproof_model::anthropic::{ANTHROPIC, AnthropicModel};
use planproof_model::openai::{OPENAI, OpenAiConfig, OpenAiModel, ResponsesModel};
use planproof_model::{ChatReply, ChatRequest, ConnectionConfig, Message, Model, Settings, TurnState};
use planproof_trace::{Arguments, CallId, FinishReason, Tool, ToolCall, Usage};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::protocol::added_up;
use crate::scripted::{Scripted, says, scripted};
use crate::server::start;

async fn connection(model: Arc<Scripted>) -> ConnectionConfig {
    let address = start(model, |config| config.key = Some("k".into())).await;
    ConnectionConfig {
        base_url: format!("http://{address}/case/7/v1/"),
        key: Some("k".into()),
        attempts_max: 1,
        ..ConnectionConfig::new(&OPENAI)
    }
}

async fn connect(model: Arc<Scripted>) -> OpenAiModel {
    let config = OpenAiConfig { connection: connection(model).await, ..OpenAiConfig::new("x") };
    OpenAiModel::new(config).expect("a usable configuration")
}

async fn connect_to_responses(model: Arc<Scripted>) -> ResponsesModel {
    ResponsesModel::new("x", &connection(model).await).expect("a usable configuration")
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
        grammar: None,
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
        // Seeds that not every server takes are folded.
        let settings = Settings { seed: Some(3), ..request.settings.clone() };
        assert_eq!(
            (&asked.messages, &asked.settings, &asked.tools),
            (&request.messages, &settings, &request.tools)
        );
        request.messages.push(Message::assistant(reply.text, reply.calls.clone()));
        request
            .messages
            .extend(reply.calls.into_iter().map(|call| Message::Tool { id: call.id, text: "ok".into() }));
    }
}

#[tokio::test]
async fn a_conversation_survives_the_journey_in_anthropics_protocol() {
    let script = vec![
        says("One moment.", &[("c1", "pay", "{\"to\":\"Zoë\",\"n\":[1,2.5,null]}"), ("c2", "pay", "{}")]),
        says("Paid.", &[]),
    ];
    let scripted = scripted(script.iter().flat_map(|reply| [reply.clone(), reply.clone()]).collect());
    let config = ConnectionConfig {
        base_url: connection(Arc::clone(&scripted)).await.base_url.trim_end_matches("v1/").to_owned(),
        key: Some("k".into()),
        attempts_max: 1,
        ..ConnectionConfig::new(&ANTHROPIC)
    };
    let model = AnthropicModel::new("claude-sonnet-4-5", &config).expect("a usable configuration");
    let settings = Settings {
        temperature: Some(0.25),
        output_tokens_max: Some(99),
        seed: None,
        stop: vec!["END".into()],
        grammar: None,
    };
    let messages = vec![Message::System { text: "s".into() }, Message::User { text: "pay \u{1f680}".into() }];
    let tools: Arc<[Tool]> = Arc::from([Tool::without_arguments("pay", "Pays \"someone\".")]);
    let mut request = ChatRequest { messages, tools, settings, previous: None };
    for said in script {
        assert_eq!(model.chat(&request).await.unwrap(), said);
        assert_eq!(added_up(model.chat_stream(&request).await.unwrap()).await.unwrap(), said);
        for asked in scripted.asked().iter().rev().take(2) {
            assert_eq!(
                (&asked.messages, &asked.settings, &asked.tools),
                (&request.messages, &request.settings, &request.tools)
            );
        }
        request.messages.push(Message::assistant(said.text, said.calls.clone()));
        let answers = said.calls.into_iter().map(|call| Message::Tool { id: call.id, text: "ok".into() });
        request.messages.extend(answers);
    }
}

#[tokio::test]
async fn an_orphan_answer_is_noticed() {
    let model = connect(scripted(vec![says("hi", &[])])).await;
    let messages = vec![Message::Tool { id: CallId::new("c1"), text: "ok".into() }];
    let request =
        ChatRequest { messages, tools: Arc::from([]), settings: Settings::default(), previous: None };
    let error = model.chat(&request).await.unwrap_err().to_string();
    assert!(error.contains("424") && error.contains("message 0 answers c1"), "{error}");
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
                usage: Usage::new(u64::from(tokens), 1),
                id: None,
                state: TurnState::default(),
            }
        },
    )
}

#[tokio::test]
async fn a_kept_conversation_is_the_one_that_was_had() {
    let script = vec![
        says("One moment.", &[("c1", "pay", "{\"to\":\"Zoë\"}"), ("c2", "pay", "{oops")]),
        says("Paid.", &[]),
        says("Bye.", &[]),
    ];
    let scripted = scripted(script);
    let model = connect_to_responses(Arc::clone(&scripted)).await;
    let mut request = ChatRequest {
        messages: vec![Message::System { text: "s".into() }, Message::User { text: "pay".into() }],
        tools: Arc::from([Tool::without_arguments("pay", "Pays.")]),
        settings: Settings { temperature: Some(0.5), output_tokens_max: Some(99), ..Settings::default() },
        previous: None,
    };
    let mut whole = request.messages.clone();
    for next in [
        vec![
            Message::Tool { id: CallId::new("c1"), text: "ok".into() },
            Message::Tool { id: CallId::new("c2"), text: "no".into() },
        ],
        vec![Message::User { text: "thanks".into() }],
        vec![],
    ] {
        let reply = model.chat(&request).await.unwrap();
        let asked = scripted.asked().pop().unwrap();
        assert_eq!((&asked.messages, &asked.settings), (&whole, &request.settings));
        whole.push(Message::assistant(reply.text, reply.calls));
        whole.extend(next.clone());
        request.messages = next;
        request.previous = reply.id;
    }
}

#[test]
fn streaming_and_plain_replies_are_what_was_said() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let config = Config { cases: 64, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&any_reply(), |said| {
            runtime.block_on(async {
                let request = ChatRequest {
                    messages: vec![Message::User { text: "hi".into() }],
                    tools: Arc::from([]),
                    settings: Settings::default(),
                    previous: None,
                };
                let models: [Box<dyn Model>; 2] = [
                    Box::new(connect(scripted(vec![said.clone()])).await),
                    Box::new(connect_to_responses(scripted(vec![said.clone()])).await),
                ];
                for model in models {
                    let whole = model.chat(&request).await.expect("an answer");
                    prop_assert_eq!(ChatReply { id: None, ..whole }, said.clone());
                    let deltas = model.chat_stream(&request).await.expect("a stream");
                    let pieces = added_up(deltas).await.expect("no error");
                    prop_assert_eq!(ChatReply { id: None, ..pieces }, said.clone());
                }
                Ok(())
            })
        })
        .unwrap();
}
