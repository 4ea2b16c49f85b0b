//! A conversation without tools, for agents that ask for one text at a time.

use std::borrow::Cow;

use planproof_measure::echo::outside_of_echo;
use planproof_model::{ChatRequest, Message, Model, Settings};
use planproof_trace::{EndReason, EventKind, FinishReason, Recorder};

use crate::behaviour::filtered;

/// The heading in our prompts before what to reply, and in which form.
const REPLY: &str = "\n# Reply\n";

/// The part of a reply that is not an echo of what we asked for in this conversation: small models repeat the
/// instruction on the form of a reply, and what stands in it is not theirs.
pub(crate) fn outside_of_instructions<'r>(reply: &'r str, messages: &[Message]) -> Cow<'r, str> {
    let instruction = |message: &Message| match message {
        // Without the heading, as where a fault is to be mended, the last paragraph is the instruction.
        Message::User { text } => {
            let parts = text.rsplit_once(REPLY).or_else(|| text.trim_end().rsplit_once("\n\n"));
            Some(parts.map_or(text.as_str(), |(_, instruction)| instruction).to_owned())
        }
        Message::System { .. } | Message::Assistant { .. } | Message::Tool { .. } => None,
    };
    let asked: Vec<String> = messages.iter().filter_map(instruction).collect();
    outside_of_echo(reply, &asked.join("\n"))
}

/// Asks a model for the next text of a conversation, and records its turn. A text that was cut off at the model's
/// limit is returned as far as it goes: the caller is the best judge of what is missing.
///
/// # Errors
/// The end of the run, if the model is unavailable or refuses to write.
pub(crate) async fn ask(
    model: &dyn Model,
    messages: Vec<Message>,
    settings: Settings,
    recorder: &Recorder,
) -> Result<String, EndReason> {
    let request = ChatRequest { messages, tools: [].into(), settings, previous: None };
    let reply =
        model.chat(&request).await.map_err(|error| EndReason::Unscored { reason: error.to_string() })?;
    recorder.record(EventKind::Turn {
        text: reply.text.clone(),
        calls: 0,
        finish: reply.finish,
        usage: reply.usage,
    });
    match reply.finish {
        FinishReason::ContentFilter => Err(filtered()),
        _ => Ok(reply.text),
    }
}
