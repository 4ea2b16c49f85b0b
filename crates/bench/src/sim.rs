//! Simulated models. They prove the plumbing and say nothing of any real model: whatever they produce must be named
//! a simulation wherever it is shown.
//!
//! A simulated model answers through the same [`Model`] trait as a real one, from the request alone: it finds the
//! synthesised paragraph in the user's text, reads it with the reader of `planproof-synth`, and writes one tool call a
//! turn. It has no memory: what it will do follows from the text, the tools and the seed in the request, and where it is
//! follows from the calls already in the conversation, with their answers. So it behaves the same in process and over HTTP.

mod day;
mod planted;
mod script;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use planproof_model::{BoxFuture, Capabilities, ChatReply, ChatRequest, Message, Model, ModelError};
use planproof_synth::START_TIME_ARGUMENT;
use planproof_trace::{Arguments, CallId, FinishReason, TimeOfDay, Tool, ToolCall, Usage};
use serde_json::Map;

pub use planted::Fault;
use script::{Script, Slip, Step};

/// Most scripts kept between the turns of runs; beyond that they are worked out again.
const SCRIPTS_KEPT_MAX: usize = 8192;

/// What stands in front of a tool's name where a model writes a wrong one.
const WRONG_NAME_PREFIX: &str = "do_";

/// What a simulated model does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SimKind {
    /// Nothing.
    Perfect,
    /// Calls the tools in the order of mention, whatever the text says; in the time form each when the one before has ended.
    InOrder,
    /// Forgets actions: each with a chance of 3 % for every action beyond the first, at most 50 %.
    Forgetful,
    /// Misreads sub-sentences: each is ignored with a chance of 5 % for every action beyond the first, at most 60 %,
    /// and what is then open is done in a drawn order.
    Careless,
    /// Writes calls that cannot be executed (a wrong name, an argument that is not wanted, in the time form a start that is
    /// no clock time): each call with a chance of 5 % for every action beyond the first, at most 50 %. Half of the time it
    /// then corrects itself, otherwise it goes on.
    Clumsy,
    /// Plans rightly and then repeats its last call for ever; in the time form it clears the day, for ever.
    Endless,
    /// One planted fault, and nothing else: for the dissection of errors.
    Planted(Fault),
}

impl SimKind {
    /// All kinds but those with a planted fault.
    pub const ALL: [Self; 6] =
        [Self::Perfect, Self::InOrder, Self::Forgetful, Self::Careless, Self::Clumsy, Self::Endless];

    /// The name behind `sim/`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Perfect => "perfect",
            Self::InOrder => "in-order",
            Self::Forgetful => "forgetful",
            Self::Careless => "careless",
            Self::Clumsy => "clumsy",
            Self::Endless => "endless",
            Self::Planted(fault) => fault.as_str(),
        }
    }

    /// The kind of that name.
    pub fn find(name: &str) -> Option<Self> {
        let planted = Fault::ALL.into_iter().map(Self::Planted);
        Self::ALL.into_iter().chain(planted).find(|kind| kind.as_str() == name)
    }

    /// Chance of one mistake with `actions` actions; see the kinds. What a mistake is depends on the kind.
    pub fn mistake_chance(self, actions: usize) -> f64 {
        let more = actions.saturating_sub(1) as f64;
        match self {
            Self::Forgetful => (0.03 * more).min(0.5),
            Self::Careless => (0.05 * more).min(0.6),
            Self::Clumsy => (0.05 * more).min(0.5),
            Self::Perfect | Self::InOrder | Self::Endless | Self::Planted(_) => 0.0,
        }
    }
}

/// A simulated model.
#[derive(Debug)]
pub struct SimModel {
    kind: SimKind,
    name: String,
    scripts: Mutex<HashMap<u64, Arc<Script>>>,
}

impl SimModel {
    /// A model of that kind.
    pub fn new(kind: SimKind) -> Self {
        Self { kind, name: format!("sim/{}", kind.as_str()), scripts: Mutex::default() }
    }

    fn reply(&self, request: &ChatRequest) -> ChatReply {
        let script = self.script(request);
        let (mut made, mut characters) = (0usize, 0usize);
        for message in &request.messages {
            match message {
                Message::Assistant { text, calls } => {
                    made += calls.len();
                    characters += text.len();
                }
                Message::System { text } | Message::User { text } | Message::Tool { text, .. } => {
                    characters += text.len();
                }
            }
        }
        let step = script.step(made, request);
        // Four characters a token is the usual rule of thumb; a simulation has no tokenizer.
        let tokens = |characters: usize| characters.div_ceil(4) as u64;
        let (text, calls, finish, written) = match step {
            Step::Call { tool, start, slip } => {
                let call = write_call(&request.tools, tool, start, slip, made + 1);
                let written = call.name.len();
                (String::new(), vec![call], FinishReason::ToolCalls, written)
            }
            Step::Say(text) => (text.to_owned(), Vec::new(), FinishReason::Stop, text.len()),
        };
        let usage = Usage { input_tokens: tokens(characters), output_tokens: tokens(written) };
        ChatReply { text, calls, finish, usage, id: None }
    }

    fn script(&self, request: &ChatRequest) -> Arc<Script> {
        let key = script::key(request);
        // A panic while the lock is held leaves whole entries only, so the map stays usable.
        let mut scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(script) = scripts.get(&key) {
            return Arc::clone(script);
        }
        drop(scripts);
        let script = Arc::new(Script::write(self.kind, request, key));
        scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        if scripts.len() >= SCRIPTS_KEPT_MAX {
            scripts.clear();
        }
        scripts.insert(key, Arc::clone(&script));
        script
    }
}

/// The `number`-th call of a run, of the tool at that place, as the model writes it.
fn write_call(tools: &[Tool], place: u16, start: Option<u16>, slip: Slip, number: usize) -> ToolCall {
    let tool = tools.get(usize::from(place));
    let name = tool.map_or("", |tool| &tool.name);
    let mut arguments = Map::new();
    if let Some(minute) = start {
        let time = match TimeOfDay::from_minute(minute) {
            Some(_) if slip == Slip::NoClockTime => format!("{} o'clock", minute / 60),
            Some(time) => time.to_string(),
            // The day after; no clock shows that.
            None => format!("{} minutes past midnight", minute - 24 * 60),
        };
        arguments.insert(START_TIME_ARGUMENT.to_owned(), time.into());
    }
    if slip == Slip::ExtraArgument {
        arguments.insert("task".to_owned(), tool.map_or("", script::task_of).into());
    }
    ToolCall {
        id: CallId::new(format!("call_{number}")),
        name: if slip == Slip::WrongName { format!("{WRONG_NAME_PREFIX}{name}") } else { name.to_owned() },
        arguments: Arguments::Object(arguments),
    }
}

impl Model for SimModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { tool_calls: true, streaming: true, ..Capabilities::default() }
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let reply = self.reply(request);
        Box::pin(std::future::ready(Ok(reply)))
    }
}
