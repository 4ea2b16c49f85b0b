//! Our own loop, with the conversation in every request and with the conversation stored on the server.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use planproof_agents::{FunctionCallingAgent, RunLimits};
use planproof_model::openai::{OPENAI, ResponsesModel};
use planproof_model::server::{ServerConfig, serve};
use planproof_model::{
    BoxFuture, Capabilities, ChatReply, ChatRequest, ConnectionConfig, KeepsReplies, Message, Model,
    ModelError, ReplyId, TurnState,
};
use planproof_tools::{MockTool, MockTools, SchemaCache};
use planproof_trace::{
    Arguments, CallId, EndReason, Event, EventKind, FinishReason, LimitKind, Tool, ToolCall, Usage,
};
use tokio::net::TcpListener;

use crate::{QUERY, events_of_run};

/// Replies as scripted, and records its requests.
#[derive(Default)]
struct Scripted {
    capabilities: Capabilities,
    script: Mutex<VecDeque<Result<ChatReply, ModelError>>>,
    asked: Mutex<Vec<ChatRequest>>,
}

impl Scripted {
    fn new(server_state: bool, script: impl IntoIterator<Item = Result<ChatReply, ModelError>>) -> Arc<Self> {
        let capabilities = Capabilities { tool_calls: true, server_state, ..Capabilities::default() };
        let script = Mutex::new(script.into_iter().collect());
        Arc::new(Self { capabilities, script, asked: Mutex::default() })
    }

    /// Its requests: the reply that each continues, and the messages.
    fn asked(&self) -> Vec<(Option<String>, Vec<Message>)> {
        let asked = self.asked.lock().unwrap();
        let seen = |request: &ChatRequest| {
            (request.previous.as_ref().map(|ReplyId(id)| id.clone()), request.messages.clone())
        };
        asked.iter().map(seen).collect()
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        "sim/scripted"
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        self.asked.lock().unwrap().push(request.clone());
        let reply = self.script.lock().unwrap().pop_front().expect("the script is not at its end");
        Box::pin(std::future::ready(reply))
    }
}

fn call(id: &str, tool: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), name: tool.into(), arguments: Arguments::none() }
}

fn says(text: &str, calls: &[(&str, &str)], id: Option<&str>) -> Result<ChatReply, ModelError> {
    Ok(ChatReply {
        text: text.into(),
        calls: calls.iter().map(|(id, tool)| call(id, tool)).collect(),
        finish: if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls },
        usage: Usage::new(3, 2),
        id: id.map(|id| ReplyId(id.to_owned())),
        state: TurnState::default(),
    })
}

fn user(text: &str) -> Message {
    Message::User { text: text.into() }
}

fn answer(id: &str, text: &str) -> Message {
    Message::Tool { id: CallId::new(id), text: text.into() }
}

/// Two tools that answer by their names.
fn tools() -> MockTools {
    let mocks = ["wash", "bake"].map(|name| MockTool {
        tool: Tool::without_arguments(name, "Does it."),
        answer: format!("{name}: done"),
    });
    MockTools::new(mocks.into(), &SchemaCache::default()).unwrap()
}

async fn events_of(agent: &FunctionCallingAgent) -> Vec<Event> {
    let limits = RunLimits { wall: Duration::from_secs(20), ..RunLimits::default() };
    events_of_run(agent, Arc::new(tools()), &limits, 7).await
}

fn end(events: &[Event]) -> &EndReason {
    match events.last() {
        Some(Event { kind: EventKind::End(reason), .. }) => reason,
        other => panic!("no end but {other:?}"),
    }
}

/// Two calls at once, another call, and an answer.
fn script() -> [Result<ChatReply, ModelError>; 3] {
    [
        says("First this.", &[("c1", "wash"), ("c2", "bake")], Some("r1")),
        says("", &[("c3", "wash")], Some("r2")),
        says("Done.", &[], Some("r3")),
    ]
}

#[test]
fn a_kind_needs_what_its_model_can_do() {
    let with = |tool_calls, server_state| -> Arc<dyn Model> {
        let capabilities = Capabilities { tool_calls, server_state, ..Capabilities::default() };
        Arc::new(Scripted { capabilities, ..Scripted::default() })
    };
    for (tool_calls, server_state) in [(false, false), (false, true), (true, false), (true, true)] {
        let model = with(tool_calls, server_state);
        let plain = FunctionCallingAgent::new(Arc::clone(&model));
        assert_eq!(plain.as_ref().map(FunctionCallingAgent::kind), tool_calls.then_some("tools"));
        let stateful = FunctionCallingAgent::with_server_state(model);
        let is_able = tool_calls && server_state;
        assert_eq!(stateful.as_ref().map(FunctionCallingAgent::kind), is_able.then_some("responses"));
    }
}

#[tokio::test]
async fn the_conversation_goes_along_with_every_request() {
    let model = Scripted::new(false, script());
    events_of(&FunctionCallingAgent::new(model.clone()).unwrap()).await;
    let asked = model.asked();
    assert!(asked.iter().all(|(previous, _)| previous.is_none()));
    assert_eq!(asked.iter().map(|(_, messages)| messages.len()).collect::<Vec<_>>(), [1, 4, 6]);
}

#[tokio::test]
async fn a_server_that_keeps_the_conversation_gets_only_what_is_new() {
    let model = Scripted::new(true, script());
    let agent = FunctionCallingAgent::with_server_state(model.clone()).unwrap();
    let events = events_of(&agent).await;
    assert_eq!(
        model.asked(),
        [
            (None, vec![user(QUERY)]),
            (Some("r1".into()), vec![answer("c1", "wash: done"), answer("c2", "bake: done")]),
            (Some("r2".into()), vec![answer("c3", "wash: done")]),
        ]
    );
    assert_eq!(end(&events), &EndReason::Answered { text: "Done.".into() });
    // Where the conversation is stored makes no difference to what happens.
    let plain = FunctionCallingAgent::new(Scripted::new(false, script())).unwrap();
    assert_eq!(events_of(&plain).await, events);
}

#[tokio::test]
async fn the_server_knows_its_calls_by_the_ids_it_gave() {
    let script =
        [says("", &[("c", "wash"), ("c", "bake"), ("", "wash")], Some("r1")), says("Done.", &[], Some("r2"))];
    let model = Scripted::new(true, script);
    let agent = FunctionCallingAgent::with_server_state(model.clone()).unwrap();
    let events = events_of(&agent).await;
    let ids: std::collections::BTreeSet<_> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Call(call) => Some(call.id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(ids.len(), 3, "in the trace each call has an id of its own: {ids:?}");
    assert_eq!(
        model.asked()[1].1,
        [answer("c", "wash: done"), answer("c", "bake: done"), answer("", "wash: done")]
    );
}

#[tokio::test]
async fn a_reply_without_an_id_leaves_the_run_unscored() {
    let model = Scripted::new(true, [says("", &[("c", "wash")], None)]);
    let events = events_of(&FunctionCallingAgent::with_server_state(model).unwrap()).await;
    assert_eq!(
        end(&events),
        &EndReason::Unscored {
            reason: "sim/scripted gave its reply no id, so that the next request cannot go on from it".into()
        }
    );
    // An answer does not need one.
    let model = Scripted::new(true, [says("Done.", &[], None)]);
    let events = events_of(&FunctionCallingAgent::with_server_state(model).unwrap()).await;
    assert_eq!(end(&events), &EndReason::Answered { text: "Done.".into() });
}

/// A model behind our own server, asked over the responses protocol.
async fn behind_a_server(model: Arc<dyn Model>, responses_max: usize) -> (String, Arc<dyn Model>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let server = ServerConfig { responses_max, ..ServerConfig::default() };
    tokio::spawn(serve(listener, model, server, std::future::pending()));
    let mut config = ConnectionConfig::new(&OPENAI);
    config.base_url.clone_from(&base_url);
    (base_url, Arc::new(ResponsesModel::new("m", &config).unwrap()))
}

#[tokio::test]
async fn our_own_server_keeps_the_conversation() {
    let scripted = Scripted::new(false, script());
    let (_, model) = behind_a_server(scripted.clone(), 100).await;
    let events = events_of(&FunctionCallingAgent::with_server_state(model).unwrap()).await;
    assert_eq!(end(&events), &EndReason::Answered { text: "Done.".into() });
    // The model behind the server sees the whole conversation, as if it had been sent each time.
    let plain = Scripted::new(false, script());
    let plain_events = events_of(&FunctionCallingAgent::new(plain.clone()).unwrap()).await;
    assert_eq!(scripted.asked(), plain.asked());
    assert_eq!(events, plain_events);
}

#[tokio::test]
async fn a_forgotten_conversation_leaves_the_run_unscored() {
    let (base_url, model) = behind_a_server(Scripted::new(false, script()), 0).await;
    let events = events_of(&FunctionCallingAgent::with_server_state(model).unwrap()).await;
    assert_eq!(
        end(&events),
        &EndReason::Unscored {
            reason: format!(
                "{base_url}/responses answered 400: it no longer keeps the reply resp_1 that the conversation goes on \
                 from (Previous response with id 'resp_1' not found.)"
            )
        }
    );
    let kept = Arc::new(KeepsReplies::with_limits(Scripted::new(false, script()), 0, 1 << 20));
    let events = events_of(&FunctionCallingAgent::with_server_state(kept).unwrap()).await;
    assert_eq!(
        end(&events),
        &EndReason::Unscored {
            reason: "sim/scripted no longer keeps the reply kept_1 that the conversation goes on from: at most 0 replies \
                     and 1048576 bytes are kept"
                .into()
        }
    );
}

#[tokio::test]
async fn any_model_can_be_made_to_keep_its_replies() {
    let scripted = Scripted::new(false, script());
    let kept = Arc::new(KeepsReplies::new(scripted.clone()));
    assert_eq!((kept.name(), kept.is_simulated()), ("sim/scripted", false));
    let events = events_of(&FunctionCallingAgent::with_server_state(kept).unwrap()).await;
    let plain = Scripted::new(false, script());
    assert_eq!(events, events_of(&FunctionCallingAgent::new(plain.clone()).unwrap()).await);
    assert_eq!(scripted.asked(), plain.asked());
}

/// A reply that was cut after so many tokens.
fn cut(text: &str, calls: &[(&str, &str)], output_tokens: u64) -> Result<ChatReply, ModelError> {
    let reply = says(text, calls, None)?;
    Ok(ChatReply { finish: FinishReason::Length, usage: Usage::new(3, output_tokens), ..reply })
}

async fn limited(script: impl IntoIterator<Item = Result<ChatReply, ModelError>>) -> EndReason {
    let agent = FunctionCallingAgent::new(Scripted::new(false, script)).unwrap();
    let limits = RunLimits { reply_tokens: Some(100), ..RunLimits::default() };
    end(&events_of_run(&agent, Arc::new(tools()), &limits, 7).await).clone()
}

#[tokio::test]
async fn every_request_has_the_limit_of_its_reply() {
    let model = Scripted::new(false, script());
    events_of(&FunctionCallingAgent::new(model.clone()).unwrap()).await;
    let asked = model.asked.lock().unwrap();
    assert!(asked.iter().all(|request| request.settings.output_tokens_max == Some(4096)), "{asked:?}");
}

#[tokio::test]
async fn who_cut_a_reply_decides_what_it_means() {
    let limit = EndReason::LimitReached { limit: LimitKind::ReplyTokens, value: 100 };
    assert_eq!(limited([cut("On and on", &[], 100)]).await, limit);
    // The calls of a reply count, whatever ended it.
    let called = [cut("", &[("c1", "wash")], 100), says("Done.", &[], None)];
    assert_eq!(limited(called).await, EndReason::Answered { text: "Done.".into() });
    for (reply, expected) in [
        (
            cut("On", &[], 60),
            "the server cut the reply at 60 tokens, where 100 were allowed; raise its context",
        ),
        (cut("", &[("c1", "wash")], 60), "the server cut the reply at 60 tokens"),
        (
            cut("", &[], 100),
            "still thinking when its reply reached the limit of 100 tokens; raise --reply-tokens",
        ),
    ] {
        let EndReason::Unscored { reason } = limited([reply]).await else { panic!("{expected}") };
        assert!(reason.contains(expected), "{reason}");
    }
}

#[tokio::test]
async fn a_cut_prompt_leaves_the_run_unscored() {
    let read = |input_tokens| {
        let reply = says("", &[("c", "wash")], None).unwrap();
        Ok(ChatReply { usage: Usage::new(input_tokens, 2), ..reply })
    };
    for (prompts, before) in
        [([600, 590], "after 600 of a shorter one"), ([512, 512], "after 512 of a shorter one")]
    {
        let EndReason::Unscored { reason } = limited(prompts.map(read)).await else { panic!("{prompts:?}") };
        assert!(reason.starts_with("the context of the server is too small: it read"), "{reason}");
        assert!(reason.contains(before) && reason.contains("OLLAMA_CONTEXT_LENGTH"), "{reason}");
    }
}

/// A call as Qwen writes it.
const WRITTEN: &str = "```json\n{\"name\": \"wash\", \"arguments\": {}}\n```";

#[tokio::test]
async fn calls_as_text_are_made_only_on_request() {
    let script = || [says(WRITTEN, &[], Some("r1")), says("Done.", &[], Some("r2"))];
    let plain = events_of(&FunctionCallingAgent::new(Scripted::new(false, script())).unwrap()).await;
    assert_eq!(end(&plain), &EndReason::Answered { text: WRITTEN.into() });

    let model = Scripted::new(false, script());
    let agent = FunctionCallingAgent::new(model.clone()).unwrap().parsing_text_calls();
    let events = events_of(&agent).await;
    assert_eq!(end(&events), &EndReason::Answered { text: "Done.".into() });
    let is_made = |event: &Event| matches!(&event.kind, EventKind::Call(call) if call.name == "wash");
    assert_eq!(events.iter().filter(|event| is_made(event)).count(), 1);
    let asked = model.asked();
    let said = Message::assistant(WRITTEN.into(), Vec::new());
    assert_eq!(asked[1].1[1..], [said, user("Result of wash:\nwash: done")]);

    // At a server that keeps the conversation, only the results are new.
    let model = Scripted::new(true, script());
    let agent = FunctionCallingAgent::with_server_state(model.clone()).unwrap().parsing_text_calls();
    events_of(&agent).await;
    assert_eq!(model.asked()[1], (Some("r1".into()), vec![user("Result of wash:\nwash: done")]));
}
