//! Simulated models. They prove the plumbing and say nothing of any real model: whatever they produce must be named
//! a simulation wherever it is shown.
//!
//! A simulated model answers through the same [`Model`] trait as a real one, from the request alone: it finds the
//! synthesised paragraph in the user's text, reads it with the reader of `planproof-synth`, and writes one tool call a
//! turn. It has no memory: what it will do follows from the text, the tools and the seed in the request, and where it is
//! follows from the calls already in the conversation, with their answers. So it behaves the same in process and over HTTP.
//!
//! It also answers in text alone, where it is given instructions with an order of sections ([`text`]) instead of tools: in
//! a conversation, as the rest of a turn of its own, or as the rest of a plain text. And it answers the prompts with which
//! agents ask for summaries, judgements, and answers from evidence, and those with which topics are asked for.
//!
//! Told by a guard that a call was not done and what is right instead, it does what is right, a task that it has forgotten
//! too, and then tries again what was held back; only [`SimKind::InOrder`] insists on its own plan, in which what was held
//! back stays undone. So obedient is no real model: what a guard gains with a simulation says nothing of what it gains
//! elsewhere.

mod day;
mod dspy;
mod heed;
mod history;
mod planted;
mod python;
mod report;
mod script;
mod text;
mod tools;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use planproof_model::{
    BoxFuture, Capabilities, ChatReply, ChatRequest, CompletionReply, CompletionRequest, Message, Model,
    ModelError, Settings,
};
use planproof_synth::{SENTENCES_ARGUMENT, START_TIME_ARGUMENT};
use planproof_tools::sample_arguments;
use planproof_trace::{Arguments, CallId, FinishReason, TimeOfDay, Tool, ToolCall, Usage};
use serde_json::{Map, Value};

pub use planted::Fault;
use script::{Script, Slip, Step};
use text::{TOKEN_BYTES, TextReply};

/// Most scripts kept between the turns of runs; beyond that they are worked out again.
const SCRIPTS_KEPT_MAX: usize = 8192;

/// What stands in front of a tool's name where a model writes a wrong one.
const WRONG_NAME_PREFIX: &str = "do_";

/// What it says where it has nothing to do.
const NO_TASKS: &str = "I find no tasks with an order in this request that my tools could do.";

/// What it says where it cannot tell what it has done.
const FOREIGN_TURNS: &str = "I do not understand my turns in this conversation.";

/// Whether a simulated model says with this that it does not understand what it is asked.
pub(crate) fn is_at_a_loss(text: &str) -> bool {
    [NO_TASKS, FOREIGN_TURNS].contains(&text.trim())
}

/// Whether turns of its own in a conversation with tools hold no calls but words that it never said: calls, in a form that
/// nobody told it of.
fn has_foreign_turns(request: &ChatRequest) -> bool {
    let has_calls = |it: &Message| matches!(it, Message::Assistant { calls, .. } if !calls.is_empty());
    let is_foreign = |it: &Message| match it {
        Message::Assistant { text, calls } => calls.is_empty() && !text.trim().is_empty() && !is_own(text),
        _ => false,
    };
    !request.tools.is_empty()
        && !request.messages.iter().any(has_calls)
        && request.messages.iter().any(is_foreign)
}

/// Whether it says this at the end of a run.
fn is_own(text: &str) -> bool {
    [script::ALL_DONE, report::REPORTED, NO_TASKS, FOREIGN_TURNS].contains(&text.trim())
}

/// The argument that is not wanted, where a model writes one. Of a tool that wants arguments, a model forgets them instead.
const EXTRA_ARGUMENT: &str = "task";

/// What a simulated model does wrong, the same in both forms unless something else is said.
///
/// Where it can report a conflict, it looks for one among what it heeds of the text, reports the sentences that this takes,
/// does no task then, and is right about it but for what the kinds say. Told by a guard that there is a conflict where it
/// sees none, it reports all sentences.
///
/// In text, the calls are those of the tool-calling form where query, tools and seed are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SimKind {
    /// Nothing.
    Perfect,
    /// Nothing, and it writes several calls in one reply: of half of the requests all of its plan, of the others what may be
    /// done now in any order. In the time form, where what comes next depends on how long a task took, it first tries all
    /// tasks with guessed times, or goes on to the next task whose duration is not known; once all are, it clears the day
    /// and does them in the same reply. In text it is as the perfect one.
    Parallel,
    /// Calls the tools in the order of mention, whatever the text says; in the time form each when the one before has ended.
    /// It never reports a conflict.
    InOrder,
    /// Forgets actions: each with a chance of 3 % for every action beyond the first, at most 50 %. In the same way sentences of
    /// a conflict; where it forgets all of them, it goes on as if there was none.
    Forgetful,
    /// Misreads sub-sentences: each is ignored with a chance of 5 % for every action beyond the first, at most 60 %,
    /// and what is then open is done in a drawn order. So it misses a conflict with the chance that it ignores one of the
    /// sub-sentences that it takes.
    Careless,
    /// Writes calls that cannot be executed (a wrong name, an argument that is not wanted or none where some are, in the time
    /// form a start that is no clock time): each call with a chance of 5 % for every action beyond the first, at most 50 %. Half of the time it
    /// then corrects itself, otherwise it goes on.
    ///
    /// In text a wrong name is written for the tool; asked again, it corrects itself half of the time, and otherwise writes
    /// the same again, so that whoever holds it to its tools must give up. An argument that is not wanted is harmless
    /// where tools without parameters pass over it. Besides, before a call it breaks the form with the same chance: half of
    /// the time it writes a section that may not come there, otherwise words in front of a mark. Corrected, it goes on.
    Clumsy,
    /// Plans rightly and then repeats its last call for ever; in the time form it clears the day, for ever. Where the text
    /// form lets it write on, its replies end at a limit.
    Endless,
    /// One planted fault, and nothing else: for the dissection of errors.
    Planted(Fault),
}

impl SimKind {
    /// All kinds but those with a planted fault.
    pub const ALL: [Self; 7] = [
        Self::Perfect,
        Self::Parallel,
        Self::InOrder,
        Self::Forgetful,
        Self::Careless,
        Self::Clumsy,
        Self::Endless,
    ];

    /// The name behind `sim/`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Perfect => "perfect",
            Self::Parallel => "parallel",
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
            Self::Perfect | Self::Parallel | Self::InOrder | Self::Endless | Self::Planted(_) => 0.0,
        }
    }
}

/// A simulated model.
#[derive(Debug)]
pub struct SimModel {
    kind: SimKind,
    name: String,
    capabilities: Capabilities,
    scripts: Mutex<HashMap<u64, Arc<Script>>>,
}

impl SimModel {
    /// A model of that kind, which answers in every form.
    pub fn new(kind: SimKind) -> Self {
        let capabilities = Capabilities {
            tool_calls: true,
            streaming: true,
            partial_turn: true,
            completion: true,
            log_probabilities: true,
            server_state: false,
        };
        Self::with_capabilities(kind, capabilities)
    }

    /// As [`new`](Self::new), for tests of agents with models that can do less: it says that it has these capabilities, and
    /// without `completion` it completes nothing.
    pub fn with_capabilities(kind: SimKind, capabilities: Capabilities) -> Self {
        Self { kind, name: format!("sim/{}", kind.as_str()), capabilities, scripts: Mutex::default() }
    }

    fn reply(&self, request: &ChatRequest) -> ChatReply {
        if request.tools.is_empty()
            && let Some(TextReply { text, finish }) =
                dspy::chat(self, request).or_else(|| text::chat(self, request))
        {
            let read = request.messages.iter().map(text_bytes).sum();
            let usage = usage(read, text.len());
            return ChatReply { text, calls: Vec::new(), finish, usage, id: None };
        }
        let characters = request.messages.iter().map(text_bytes).sum();
        let (text, calls) = self.text_and_calls(&history::read(request));
        let written = text.len() + calls.iter().map(|call| call.name.len()).sum::<usize>();
        let finish = if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        ChatReply { text, calls, finish, usage: usage(characters, written), id: None }
    }

    /// What it replies in a conversation of calls and results.
    fn text_and_calls(&self, request: &ChatRequest) -> (String, Vec<ToolCall>) {
        if has_foreign_turns(request) {
            return (FOREIGN_TURNS.to_owned(), Vec::new());
        }
        let written = request.messages.iter().flat_map(|message| match message {
            Message::Assistant { calls, .. } => calls.as_slice(),
            _ => &[],
        });
        let (mut made, mut number) = (0, 1);
        for call in written {
            made += usize::from(!tools::is_of_framework(&request.tools, &call.name));
            number += 1;
        }
        let (_, script) = self.script(request);
        let steps = script.steps(self.kind, made, request);
        let mut calls = Vec::with_capacity(steps.len());
        for step in steps {
            match step {
                Step::Call { tool, start, slip, sentences } => {
                    calls.push(write_call(&request.tools, tool, (start, sentences), slip, number));
                    number += 1;
                }
                Step::Say(NO_TASKS) => {
                    let search = tools::search(&request.tools, &request.messages, number);
                    let text = if search.is_some() { "" } else { NO_TASKS };
                    return (text.to_owned(), search.into_iter().collect());
                }
                Step::Say(text) => match tools::last_words(&request.tools, text, number) {
                    Some(call) => calls.push(call),
                    None => return (text.to_owned(), calls),
                },
            }
        }
        (String::new(), calls)
    }

    fn completion(&self, request: &CompletionRequest) -> CompletionReply {
        let CompletionRequest { prompt, settings, score_prompt } = request;
        let reply = match settings.output_tokens_max {
            Some(0) => text::ended(String::new(), settings),
            _ => text::complete(self, prompt, settings).unwrap_or_else(|| self.words(prompt, settings)),
        };
        CompletionReply {
            usage: usage(prompt.len(), reply.text.len()),
            text: reply.text,
            finish: reply.finish,
            prompt_tokens: if *score_prompt { text::score(prompt) } else { Vec::new() },
        }
    }

    /// What it says to a text that is none of those it knows.
    fn words(&self, prompt: &str, settings: &Settings) -> TextReply {
        let request = ChatRequest {
            messages: vec![Message::User { text: prompt.to_owned() }],
            previous: None,
            tools: Arc::from([]),
            settings: Settings { seed: settings.seed, ..Settings::default() },
        };
        text::ended(self.reply(&request).text, settings)
    }

    /// The script of a request, with the request's key.
    fn script(&self, request: &ChatRequest) -> (u64, Arc<Script>) {
        let key = script::key(request);
        // A panic while the lock is held leaves whole entries only, so the map stays usable.
        let mut scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(script) = scripts.get(&key) {
            return (key, Arc::clone(script));
        }
        drop(scripts);
        let script = Arc::new(Script::write(self.kind, request, key));
        scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        if scripts.len() >= SCRIPTS_KEPT_MAX {
            scripts.clear();
        }
        scripts.insert(key, Arc::clone(&script));
        (key, script)
    }
}

fn text_bytes(message: &Message) -> usize {
    match message {
        Message::System { text }
        | Message::User { text }
        | Message::Assistant { text, .. }
        | Message::Tool { text, .. } => text.len(),
    }
}

/// Tokens for so many bytes.
fn usage(read: usize, written: usize) -> Usage {
    let tokens = |bytes: usize| bytes.div_ceil(TOKEN_BYTES) as u64;
    Usage { input_tokens: tokens(read), output_tokens: tokens(written) }
}

/// When a task starts, as a model writes it.
fn start_text(minute: u16, slip: Slip) -> String {
    match TimeOfDay::from_minute(minute) {
        Some(_) if slip == Slip::NoClockTime => format!("{} o'clock", minute / 60),
        Some(time) => time.to_string(),
        // The day after; no clock shows that.
        None => format!("{} minutes past midnight", minute - 24 * 60),
    }
}

/// The arguments of a call of a tool: what its schema demands, when the task starts or which sentences are reported where
/// that is said, and what goes wrong.
fn write_arguments(
    tool: Option<&Tool>,
    (start, sentences): (Option<String>, u64),
    slip: Slip,
    task: &str,
) -> Map<String, Value> {
    let mut own = tool.map_or_else(Map::new, |tool| sample_arguments(&tool.input_schema));
    let mut arguments = Map::new();
    if let Some(start) = start {
        own.remove(START_TIME_ARGUMENT);
        arguments.insert(START_TIME_ARGUMENT.to_owned(), start.into());
    }
    if sentences != 0 {
        own.remove(SENTENCES_ARGUMENT);
        let numbers: Vec<u64> = report::numbers(sentences).collect();
        arguments.insert(SENTENCES_ARGUMENT.to_owned(), numbers.into());
    }
    match slip {
        Slip::ExtraArgument if own.is_empty() => {
            arguments.insert(EXTRA_ARGUMENT.to_owned(), task.into());
        }
        Slip::ExtraArgument => {}
        _ => arguments.extend(own),
    }
    arguments
}

/// The `number`-th call of a run, of the tool at that place, as the model writes it: with a start, or a report of sentences.
fn write_call(
    tools: &[Tool],
    place: u16,
    (start, sentences): (Option<u16>, u64),
    slip: Slip,
    number: usize,
) -> ToolCall {
    let tool = tools.get(usize::from(place));
    let name = tool.map_or("", |tool| &tool.name);
    let start = start.map(|minute| start_text(minute, slip));
    let arguments = write_arguments(tool, (start, sentences), slip, tool.map_or("", script::task_of));
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
        self.capabilities
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let reply = self.reply(request);
        Box::pin(std::future::ready(Ok(reply)))
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        let reply = if self.capabilities.completion {
            Ok(self.completion(request))
        } else {
            Err(ModelError::Unsupported { model: self.name.clone(), what: "go on from a plain text" })
        };
        Box::pin(std::future::ready(reply))
    }
}
