//! `POST …/responses`.

mod events;
mod input;
mod output;

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::Number;
use serde_json::value::RawValue;

use super::error::ApiError;
use super::request::{OfferedTools, Stop, forbids_tools, settings};
use super::shared::{Shared, json};
use super::sse;
use crate::chat::order_results;
use crate::{ChatReply, ChatRequest, Message};
use events::EventNarrator;
use input::Input;
use output::{Envelope, Item, Outcome};

#[derive(Deserialize)]
struct WireRequest<'a> {
    #[serde(default)]
    model: String,
    instructions: Option<String>,
    previous_response_id: Option<String>,
    #[serde(borrow)]
    input: Input<'a>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_choice: Option<&'a RawValue>,
    stream: Option<bool>,
    store: Option<bool>,
    temperature: Option<f64>,
    max_output_tokens: Option<u32>,
    seed: Option<Number>,
    stop: Option<Stop>,
}

/// The parts of a request that the answer still needs after the model has replied.
struct ReplyContext {
    envelope: Envelope,
    number: u64,
    offered: Arc<OfferedTools>,
    /// The first message is the request's own `instructions`, which do not apply to the next answer.
    has_instructions: bool,
    store: bool,
}

impl ReplyContext {
    /// Stores the conversation, ended by the model's reply, for a later `previous_response_id`.
    fn keep(&self, shared: &Shared, request: ChatRequest, reply: ChatReply) {
        if !self.store {
            return;
        }
        let mut messages = request.messages;
        if self.has_instructions {
            messages.remove(0);
        }
        messages.push(Message::Assistant { text: reply.text, calls: reply.calls, state: reply.state });
        shared.responses.keep(self.number, messages);
    }
}

/// Answers one request.
pub(super) async fn answer(shared: &Arc<Shared>, body: &[u8]) -> Result<Response, ApiError> {
    let wire: WireRequest<'_> =
        serde_json::from_slice(body).map_err(|error| ApiError::not_understood(&error))?;
    let earlier = match &wire.previous_response_id {
        None => Vec::new(),
        Some(id) => output::response_number(id)
            .and_then(|number| shared.responses.conversation(number))
            .ok_or_else(|| ApiError::unknown_response(id))?,
    };
    let has_instructions = wire.instructions.is_some();
    let mut messages = Vec::with_capacity(earlier.len() + 2);
    // The instructions come first, and `keep` removes them from there.
    messages.extend(wire.instructions.map(|text| Message::System { text }));
    messages.extend(earlier);
    let more_tools = wire.input.tools();
    wire.input.append_to(&mut messages, &shared.responses, body)?;
    order_results(&mut messages);
    let are_forbidden = forbids_tools(wire.tool_choice);
    let mut offered = shared.openai_tools.get(wire.tools, are_forbidden)?;
    // Newer clients offer tools in the conversation, too.
    for tools in more_tools {
        offered = offered.with(&*shared.openai_tools.get(Some(tools), are_forbidden)?);
    }
    let request = ChatRequest {
        messages,
        tools: Arc::clone(&offered.tools),
        settings: settings(wire.temperature, wire.max_output_tokens, wire.seed.as_ref(), wire.stop)?,
        previous: None,
    };
    // Numbered before the model is asked, because the first event of a stream names the response.
    let number = shared.responses.next();
    let envelope = Envelope {
        id: output::response_id(number),
        created_at: (shared.config.clock)(),
        model: wire.model,
        previous_response_id: wire.previous_response_id,
    };
    let context =
        ReplyContext { envelope, number, offered, has_instructions, store: wire.store != Some(false) };
    if wire.stream == Some(true) {
        return sse::answer(shared, request, EventNarrator::new(context)).await;
    }
    shared.think().await;
    let reply = shared.model.chat(&request).await?;
    let items = Item::all_of(number, &reply, &context.offered);
    let response =
        json(StatusCode::OK, &context.envelope.response(Outcome::Ended(reply.finish, reply.usage), &items))?;
    context.keep(shared, request, reply);
    Ok(response)
}
