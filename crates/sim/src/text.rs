//! The text form: a model gets instructions with an order of sections, and continues the text from its current end.
//!
//! The model finds the line with the order, the list of sections and the tools in the instructions, reads how far the
//! text has got, and derives from it which calls were made and what they returned. From there on it has the same
//! script as in the tool-calling form: if the tools, the question and the seed are the same, so are the calls. The
//! content of a section follows from the sections before it alone, so a text may be cut anywhere and continued from
//! there; only a mistake may turn out differently, because the cut looks as if the model were asked again.
//!
//! - The model takes the shortest path to the next call that the order allows, and likewise to the end when no call
//!   is left. If no call can follow any more, the text is brought to its end.
//! - Calls are written side by side, without a section of the environment between them, if the order allows that
//!   and the order of these calls does not matter to the model. If it matters, the environment is allowed in between,
//!   if possible. Otherwise the model writes all of them in turn, and assumes that each succeeds (in the time form:
//!   within the guessed time).
//! - Sections that are neither tool, arguments nor label hold a short sentence, the last one the answer.
//! - An order without calls gets an answer that names the plan, and so does a plain question. The model knows the
//!   tasks of the shipped topics by heart, because no tools are listed in that case.

mod going_on;
mod instructions;
mod key;
mod order;
mod outline;
mod plain;
pub(crate) mod reply;
mod score;
mod scripted_run;
mod sections;
pub(crate) mod tool_data;
mod topics;
mod write;

use std::sync::Arc;

use planproof_model::{ChatRequest, Message, Settings};
use planproof_synth::TopicBank;
use planproof_trace::{FinishReason, Tool};

use crate::calling::Calling;
use crate::handed::Handed;
use instructions::Instructions;
use key::KeyWriter;
use order::Role;
use reply::{REPLY_BYTES_MAX, TextReply, ended};
use scripted_run::ScriptedRun;
use sections::Text;
use write::Writer;

pub(crate) use score::score;

/// A text to continue, with its instructions.
#[derive(Debug)]
pub(crate) struct Begun {
    instructions: Instructions,
    /// Empty if it is the first section of the text.
    question: String,
    text: String,
}

impl Begun {
    /// The text of a conversation that holds instructions.
    pub(crate) fn in_chat(request: &ChatRequest) -> Option<Self> {
        let mut messages = request.messages.iter();
        let (instructions, rest) = messages.by_ref().find_map(|message| match message {
            Message::System { text } | Message::User { text } => Instructions::find(text),
            Message::Assistant { .. } | Message::Tool { .. } => None,
        })?;
        let (mut question, mut text) = (String::new(), rest.to_owned());
        for message in messages {
            match message {
                // Later messages say how to continue, which is clear from the text itself.
                Message::User { text: begin } if text.is_empty() && question.is_empty() => {
                    if instructions.lists_question() { &mut text } else { &mut question }.push_str(begin);
                }
                Message::Assistant { text: rest, .. } => {
                    if !text.is_empty() && !text.ends_with('\n') {
                        text.push('\n');
                    }
                    text.push_str(rest);
                }
                Message::System { .. } | Message::User { .. } | Message::Tool { .. } => {}
            }
        }
        Some(Self { instructions, question, text })
    }

    /// The text after the instructions of a prompt.
    pub(crate) fn in_prompt(prompt: &str) -> Option<Self> {
        let (instructions, text) = Instructions::find(prompt)?;
        Some(Self { instructions, question: String::new(), text: text.to_owned() })
    }

    /// The existing text, the question first.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.question, self.text)
    }

    /// The output of a model that was given the calls and the answer.
    pub(crate) fn go_on_with(&self, handed: &Handed, settings: &Settings) -> TextReply {
        let text = Text::split(&self.text, &self.instructions);
        let mut writer = KeyWriter::new(&self.instructions, handed);
        written(settings, |out| going_on::go_on(&mut writer, &text, REPLY_BYTES_MAX, out))
    }
}

/// The reply to a prompt for a summary or a judgement; `None` for any other.
pub(crate) fn aside(prompt: &str, settings: &Settings) -> Option<TextReply> {
    plain::aside(prompt).map(|text| ended(text, settings))
}

/// The output; `write` returns whether it came to an end.
fn written(settings: &Settings, write: impl FnOnce(&mut String) -> bool) -> TextReply {
    let mut out = String::new();
    let is_over = write(&mut out);
    let reply = ended(out, settings);
    let finish = if is_over { reply.finish } else { FinishReason::Length };
    TextReply { finish, ..reply }
}

/// The reply to a conversation without tools. `None` if it neither holds instructions nor asks for a side text.
pub(crate) fn chat(model: &Calling, request: &ChatRequest) -> Option<TextReply> {
    let Some(begun) = Begun::in_chat(request) else {
        let last = request.messages.iter().rev().find_map(|message| match message {
            Message::User { text } => Some(text.as_str()),
            Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
        });
        return topics::answer(model.kind, request)
            .or_else(|| tool_data::answer(model.kind, request))
            .or_else(|| last.and_then(plain::answer))
            .or_else(|| {
                last.filter(|_| is_plain_question(request))
                    .and_then(|question| plan_in_words(model, question, &request.settings))
            })
            .map(|text| ended(text, &request.settings));
    };
    Some(write_on(model, &begun, &request.settings))
}

/// The continuation of a plain text with instructions or a request for a side text; else `None`.
pub(crate) fn complete(model: &Calling, prompt: &str, settings: &Settings) -> Option<TextReply> {
    match Begun::in_prompt(prompt) {
        Some(begun) => Some(write_on(model, &begun, settings)),
        None => plain::answer(prompt).map(|text| ended(text, settings)),
    }
}

fn write_on(model: &Calling, begun: &Begun, settings: &Settings) -> TextReply {
    let Begun { instructions, .. } = begun;
    let text = Text::split(&begun.text, instructions);
    let question = if instructions.lists_question() { text.question() } else { begun.question.trim() };
    // No tools are listed if none can be called.
    let calls_none = !instructions.sections.iter().any(|it| matches!(it.role, Role::Tool | Role::Arguments));
    let tools = match calls_none && instructions.tools.is_empty() {
        true => known_tasks(question),
        false => Arc::clone(&instructions.tools),
    };
    let request = about(question, tools, settings);
    let known = model.known(&request);
    let run = ScriptedRun::new(model.kind, &known.script, known.key, &request);
    let mut writer = Writer::new(model.kind, instructions, run);
    written(settings, |out| going_on::go_on(&mut writer, &text, REPLY_BYTES_MAX, out))
}

fn about(question: &str, tools: Arc<[Tool]>, settings: &Settings) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User { text: question.to_owned() }],
        previous: None,
        tools,
        settings: Settings { seed: settings.seed, ..Settings::default() },
    }
}

/// The tasks of the shipped topics that a question names, each as a tool that does it, in the order of mention.
fn known_tasks(question: &str) -> Arc<[Tool]> {
    let lower = question.to_lowercase();
    let is_of_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let activities = TopicBank::shipped().topics().iter().flat_map(|topic| &topic.activities);
    let mut found: Vec<(usize, &str)> = activities
        .filter_map(|activity| {
            let text = activity.text.as_str();
            let mut places = lower.match_indices(text);
            // Only whole words count: a task may occur within another word.
            let place = places.find(|(at, found)| {
                let (before, after) =
                    (lower[..*at].chars().next_back(), lower[at + found.len()..].chars().next());
                !is_of_word(before) && !is_of_word(after)
            });
            place.map(|(at, _)| (at, text))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    let tool = |(_, text): &(usize, &str)| {
        Tool::without_arguments(text.replace(' ', "_"), format!("Does the task \"{text}\"."))
    };
    found.iter().map(tool).collect()
}

/// Whether the user's message is a question, and the whole reply is to be its answer, as for agents without tools.
fn is_plain_question(request: &ChatRequest) -> bool {
    let is_told = |message: &Message| match message {
        Message::System { text } => {
            text.contains("Answer the question. Your whole message is taken for the answer")
        }
        Message::User { .. } | Message::Assistant { .. } | Message::Tool { .. } => false,
    };
    request.messages.iter().any(is_told)
}

/// The plan for a plain question, if it names tasks.
fn plan_in_words(model: &Calling, question: &str, settings: &Settings) -> Option<String> {
    let tools = known_tasks(question);
    if tools.is_empty() {
        return None;
    }
    let request = about(question, tools, settings);
    let known = model.known(&request);
    Some(ScriptedRun::new(model.kind, &known.script, known.key, &request).in_words())
}
