//! Agents created from a specification, with models that follow their instructions and models that do not.

mod adversary;
mod asking;
mod handling;
mod misbehaviour;
mod published;
mod words;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt as _;
use planproof_agents::{BehaviourAgent, BehaviourOptions, RunLimits};
use planproof_model::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Message, Model, ModelError, Settings, TurnState,
};
use planproof_spec::{Automaton, Compat, load, shipped};
use planproof_tools::{MockTool, MockTools, SchemaCache};
use planproof_trace::{Event, FinishReason, Tool, Usage, WrittenObject, notation};
use serde_json::json;

use crate::{QUERY, events_of_run};

/// The next reply of a scripted model.
#[derive(Clone)]
struct Line {
    text: String,
    finish: FinishReason,
}

fn stop(text: &str) -> Line {
    Line { text: text.into(), finish: FinishReason::Stop }
}

fn length(text: &str) -> Line {
    Line { text: text.into(), finish: FinishReason::Length }
}

/// Replies as scripted, repeats the last reply, and records its requests.
struct Scripted {
    capabilities: Capabilities,
    /// The size of a streamed piece in bytes; a piece has at least one character.
    piece: usize,
    script: Mutex<VecDeque<Line>>,
    asked: Mutex<Vec<String>>,
    settings: Mutex<Vec<Settings>>,
}

impl Scripted {
    fn new(capabilities: Capabilities, piece: usize, script: impl IntoIterator<Item = Line>) -> Arc<Self> {
        let script = Mutex::new(script.into_iter().collect());
        Arc::new(Self { capabilities, piece, script, asked: Mutex::default(), settings: Mutex::default() })
    }

    /// The texts that it was sent, with their roles.
    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// How it was asked, for each of these texts.
    fn settings(&self) -> Vec<Settings> {
        self.settings.lock().unwrap().clone()
    }

    fn next(&self, asked: String, settings: &Settings) -> ChatReply {
        self.asked.lock().unwrap().push(asked);
        self.settings.lock().unwrap().push(settings.clone());
        let mut script = self.script.lock().unwrap();
        let line = if script.len() > 1 { script.pop_front() } else { script.front().cloned() };
        let Line { text, finish } = line.expect("the script says something");
        let usage = Usage::new(100, 10);
        ChatReply { text, calls: Vec::new(), finish, usage, id: None, state: TurnState::default() }
    }

    fn stream(&self, reply: &ChatReply) -> BoxStream<'_, Result<ChatDelta, ModelError>> {
        let mut pieces: Vec<ChatDelta> = Vec::new();
        let mut rest = reply.text.as_str();
        while !rest.is_empty() {
            let (piece, more) = rest.split_at(rest.ceil_char_boundary(self.piece.min(rest.len())));
            pieces.push(ChatDelta::Text(piece.to_owned()));
            rest = more;
        }
        pieces.push(ChatDelta::End { finish: reply.finish, usage: reply.usage, id: None });
        futures::stream::iter(pieces.into_iter().map(Ok)).boxed()
    }
}

/// A conversation as one text.
fn shown(request: &ChatRequest) -> String {
    assert!(request.tools.is_empty(), "such an agent asks for text alone");
    let shown = |message: &Message| match message {
        Message::System { text } => format!("<system>{text}"),
        Message::User { text } => format!("<user>{text}"),
        Message::Assistant { text, .. } => format!("<assistant>{text}"),
        Message::Tool { text, .. } => format!("<tool>{text}"),
    };
    request.messages.iter().map(shown).collect()
}

impl Model for Scripted {
    fn name(&self) -> &str {
        "sim/scripted"
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        assert!(!self.capabilities.streaming, "what streams is asked to");
        Box::pin(std::future::ready(Ok(self.next(shown(request), &request.settings))))
    }

    fn chat_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        let reply = self.next(shown(request), &request.settings);
        Box::pin(std::future::ready(Ok(self.stream(&reply))))
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        let ChatReply { text, finish, usage, .. } = self.next(request.prompt.clone(), &request.settings);
        Box::pin(std::future::ready(Ok(CompletionReply { text, finish, usage, prompt_tokens: Vec::new() })))
    }

    fn complete_stream<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        let reply = self.next(request.prompt.clone(), &request.settings);
        Box::pin(std::future::ready(Ok(self.stream(&reply))))
    }
}

const WHOLE: Capabilities = Capabilities {
    completion: true,
    tool_calls: false,
    streaming: false,
    partial_turn: false,
    log_probabilities: false,
    conversational: false,
    grammar: false,
    server_state: false,
};
const STREAMED: Capabilities = Capabilities { streaming: true, ..WHOLE };

fn spec_of(name: &str) -> Arc<Automaton> {
    spec(shipped(name).unwrap())
}

fn spec(source: &str) -> Arc<Automaton> {
    load(source, Compat::Ours).unwrap().automaton
}

/// `wash` takes nothing, `bake` takes a number of loaves and a text, `say` a text.
fn tools() -> MockTools {
    let schema = WrittenObject::from;
    let tool = |name: &str, schema| Tool {
        name: name.into(),
        description: "Does\nit.".into(),
        input_schema: schema,
    };
    let loaves = json!({"type": "object", "properties": {"loaves": {"type": "integer", "minimum": 1},
        "flour": {"type": "string"}}, "required": ["loaves"]});
    let words = json!({"type": "object", "properties": {"words": {"type": "string"}}});
    let tools = [
        Tool::without_arguments("wash", "Washes the car."),
        tool("bake", schema(loaves)),
        tool("say", schema(words)),
    ];
    let mocks = tools.map(|tool| MockTool { answer: format!("{} is done", tool.name), tool });
    MockTools::new(mocks.into(), &SchemaCache::default()).unwrap()
}

fn limits(iterations: u32) -> RunLimits {
    RunLimits { wall: Duration::from_secs(20), iterations, ..RunLimits::default() }
}

async fn events_of(agent: &BehaviourAgent, limits: RunLimits) -> Vec<Event> {
    events_of_run(agent, Arc::new(tools()), &limits, 7).await
}

fn agent(model: &Arc<Scripted>, automaton: Arc<Automaton>) -> BehaviourAgent {
    BehaviourAgent::new(Arc::clone(model) as Arc<_>, automaton, BehaviourOptions::default()).unwrap()
}

/// The events of a run, one per line.
async fn run(model: &Arc<Scripted>, automaton: Arc<Automaton>) -> String {
    lines(&events_of(&agent(model, automaton), limits(50)).await)
}

fn lines(events: &[Event]) -> String {
    let lines = events.iter().map(|event| notation::print(std::slice::from_ref(event)));
    // Times and ids give the position of an event in the list, which the line shows already.
    lines
        .map(|line| {
            line.split_once(' ').map_or(line.clone(), |(at, rest)| {
                if at.starts_with('@') { rest.to_owned() } else { line.clone() }
            }) + "\n"
        })
        .collect()
}
