//! A conversation without tools, for agents that ask for one text at a time.

use planproof_model::{ChatRequest, Message, Model, Settings};
use planproof_trace::{EndReason, EventKind, FinishReason, Recorder};

use crate::behaviour::filtered;

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
