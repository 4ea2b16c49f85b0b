//! `POST …/chat/completions`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use planproof_trace::{Arguments, CallId, FinishReason, ToolCall, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Number;
use serde_json::value::RawValue;

use super::error::ApiError;
use super::request::{Stop, forbids_tools, settings};
use super::shared::{Shared, json};
use super::sse::{self, Events, Narrator};
use super::target::Protocol;
use crate::chat::order_results;
use crate::content::{Content, arguments_text};
use crate::openai::chat::state;
use crate::turn_state::{PartOf, StateFields, StateForm, StatePart};
use crate::{ChatDelta, ChatReply, ChatRequest, Message, TurnState};

#[derive(Deserialize)]
struct WireRequest<'a> {
    #[serde(default)]
    model: String,
    #[serde(borrow)]
    messages: Vec<WireMessage<'a>>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_choice: Option<&'a RawValue>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    temperature: Option<f64>,
    max_completion_tokens: Option<u32>,
    max_tokens: Option<u32>,
    seed: Option<Number>,
    stop: Option<Stop>,
}

/// What a stream tells beside the reply.
#[derive(Deserialize)]
pub(super) struct StreamOptions {
    pub(super) include_usage: Option<bool>,
}

#[derive(Deserialize)]
struct WireMessage<'a> {
    role: Role,
    content: Option<Content>,
    #[serde(borrow)]
    tool_calls: Option<Vec<WireCall<'a>>>,
    tool_call_id: Option<String>,
    name: Option<String>,
    /// The only call of a message, in the form of the oldest clients.
    #[serde(borrow)]
    function_call: Option<WireFunction<'a>>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Role {
    System,
    Developer,
    User,
    Assistant,
    Tool,
    /// The result of a call, in the form of the oldest clients.
    Function,
    /// Roles that later versions of the protocol may add.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct WireCall<'a> {
    id: String,
    #[serde(borrow)]
    function: WireFunction<'a>,
}

#[derive(Deserialize)]
struct WireFunction<'a> {
    name: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

fn message(place: usize, message: WireMessage<'_>) -> Result<Message, ApiError> {
    let text = message.content.map(|content| content.into_text("\n")).unwrap_or_default();
    Ok(match message.role {
        // `developer` is the newer name of the role `system`.
        Role::System | Role::Developer | Role::Other => Message::System { text },
        Role::User => Message::User { text },
        Role::Assistant => {
            // The oldest form has no ids: a result names the function.
            let only = message.function_call.map(|function| (function.name.clone(), function));
            let calls = message.tool_calls.into_iter().flatten().map(|call| (call.id, call.function));
            let calls = calls.chain(only).map(|(id, function)| {
                let arguments = match function.arguments {
                    None => Arguments::none(),
                    Some(raw) => Arguments::from_text(
                        &arguments_text(raw).map_err(|error| ApiError::not_understood(&error))?,
                    ),
                };
                Ok(ToolCall { id: CallId::new(id), name: function.name, arguments })
            });
            Message::assistant(text, calls.collect::<Result<_, ApiError>>()?)
        }
        Role::Tool | Role::Function => match message.tool_call_id.or(message.name) {
            Some(id) => Message::Tool { id: CallId::new(id), text },
            None => {
                let param = format!("messages[{place}].tool_call_id");
                return Err(ApiError::invalid(
                    param,
                    format!("messages[{place}]: a tool message needs tool_call_id"),
                ));
            }
        },
    })
}

/// Answers one request.
pub(super) async fn answer(shared: &Arc<Shared>, body: &[u8]) -> Result<Response, ApiError> {
    let wire: WireRequest<'_> =
        serde_json::from_slice(body).map_err(|error| ApiError::not_understood(&error))?;
    // The second is the old name of the first.
    let limit = wire.max_completion_tokens.or(wire.max_tokens);
    let messages = wire.messages.into_iter().enumerate().map(|(place, wire)| message(place, wire));
    let mut messages = messages.collect::<Result<Vec<_>, _>>()?;
    state::add_to_messages(&mut messages, body);
    order_results(&mut messages);
    let request = ChatRequest {
        tools: Arc::clone(&shared.openai_tools.get(wire.tools, forbids_tools(wire.tool_choice))?.tools),
        settings: settings(wire.temperature, limit, wire.seed.as_ref(), wire.stop)?,
        messages,
        previous: None,
    };
    let envelope = Envelope {
        id: format!("chatcmpl-{}", shared.next_completion()),
        created: (shared.config.clock)(),
        model: wire.model,
    };
    // The body decides and not the header `Accept`: clients send `application/json` there even if they want a stream.
    if wire.stream == Some(true) {
        let include_usage = wire.stream_options.is_some_and(|options| options.include_usage == Some(true));
        return sse::answer(shared, request, ChunkNarrator { envelope, include_usage }).await;
    }
    shared.think().await;
    let reply = shared.model.chat(&request).await?;
    envelope.completion(&reply)
}

/// The fields that every object of one answer shares.
struct Envelope {
    id: String,
    created: u64,
    model: String,
}

#[derive(Serialize)]
struct Completion<'a, C> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: &'a [C],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<WireUsage>,
}

/// Token counts in the format of completions of either kind.
#[derive(Serialize)]
pub(super) struct WireUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_tokens_details: Option<InputDetails>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_tokens_details: Option<OutputDetails>,
}

#[derive(Serialize)]
struct OutputDetails {
    reasoning_tokens: u64,
}

#[derive(Serialize)]
struct InputDetails {
    cached_tokens: u64,
    cache_write_tokens: u64,
}

impl From<Usage> for WireUsage {
    fn from(usage: Usage) -> Self {
        Self {
            prompt_tokens: usage.input_tokens,
            completion_tokens: usage.output_tokens,
            total_tokens: usage.input_tokens.saturating_add(usage.output_tokens),
            prompt_tokens_details: (usage.cached_tokens > 0 || usage.cache_write_tokens > 0).then_some(
                InputDetails {
                    cached_tokens: usage.cached_tokens,
                    cache_write_tokens: usage.cache_write_tokens,
                },
            ),
            completion_tokens_details: (usage.reasoning_tokens > 0)
                .then_some(OutputDetails { reasoning_tokens: usage.reasoning_tokens }),
        }
    }
}

/// The finish reason in the terms of completions of either kind.
pub(super) fn finish_word(finish: FinishReason) -> &'static str {
    match finish {
        FinishReason::Stop | FinishReason::Cut => "stop",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::Length => "length",
        FinishReason::ContentFilter => "content_filter",
    }
}

#[derive(Serialize)]
struct FunctionBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    arguments: Cow<'a, str>,
    #[serde(flatten)]
    state: StateFields<'a>,
}

#[derive(Serialize)]
struct CallBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'static str>,
    function: FunctionBody<'a>,
    #[serde(flatten)]
    state: StateFields<'a>,
}

impl Envelope {
    fn completion(&self, reply: &ChatReply) -> Result<Response, ApiError> {
        #[derive(Serialize)]
        struct Choice<'a> {
            index: u32,
            message: MessageBody<'a>,
            logprobs: Option<()>,
            finish_reason: &'static str,
        }
        #[derive(Serialize)]
        struct MessageBody<'a> {
            role: &'static str,
            content: Option<&'a str>,
            refusal: Option<()>,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            tool_calls: Vec<CallBody<'a>>,
            #[serde(flatten)]
            state: StateFields<'a>,
            #[serde(skip_serializing_if = "Option::is_none")]
            planproof_state: Option<String>,
        }
        let tool_calls = reply.calls.iter().enumerate().map(|(index, call)| CallBody {
            index: None,
            id: Some(call.id.as_str()),
            r#type: Some("function"),
            function: FunctionBody {
                name: Some(&call.name),
                arguments: call.arguments.to_text().into(),
                state: fields(&reply.state, PartOf::Function, Some(index)),
            },
            state: fields(&reply.state, PartOf::Call, Some(index)),
        });
        let message = MessageBody {
            role: "assistant",
            // A message of calls alone has null, but an empty reply is an empty text.
            content: (!reply.text.is_empty() || reply.calls.is_empty()).then_some(reply.text.as_str()),
            refusal: None,
            tool_calls: tool_calls.collect(),
            state: fields(&reply.state, PartOf::Turn, None),
            planproof_state: reply.state.sealed(is_given),
        };
        let choice = Choice { index: 0, message, logprobs: None, finish_reason: finish_word(reply.finish) };
        let completion = Completion {
            id: &self.id,
            object: "chat.completion",
            created: self.created,
            model: &self.model,
            choices: &[choice],
            usage: Some(reply.usage.into()),
        };
        json(StatusCode::OK, &completion)
    }

    fn chunk(&self, choices: &[ChunkChoice<'_>], usage: Option<WireUsage>, out: &mut Events) {
        out.data(&Completion {
            id: &self.id,
            object: "chat.completion.chunk",
            created: self.created,
            model: &self.model,
            choices,
            usage,
        });
    }

    fn delta(&self, delta: Delta<'_>, finish: Option<FinishReason>, out: &mut Events) {
        self.chunk(&[ChunkChoice { index: 0, delta, finish_reason: finish.map(finish_word) }], None, out);
    }
}

#[derive(Serialize)]
struct ChunkChoice<'a> {
    index: u32,
    delta: Delta<'a>,
    finish_reason: Option<&'static str>,
}

#[derive(Serialize, Default)]
struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<[CallBody<'a>; 1]>,
    #[serde(flatten)]
    state: StateFields<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    planproof_state: Option<String>,
}

/// Whether a client gets state as a field of this protocol. Parts of the content are not given as such, because most
/// clients read it as a text.
fn is_given(part: &StatePart) -> bool {
    part.form() == StateForm::Chat && part.of() != PartOf::Item
}

fn fields(state: &TurnState, of: PartOf, call: Option<usize>) -> StateFields<'_> {
    StateFields(state.part(StateForm::Chat, of, call))
}

/// Sends a reply in chunks: the role, the parts, an empty one with the finish reason, the usage if requested.
struct ChunkNarrator {
    envelope: Envelope,
    include_usage: bool,
}

impl Narrator for ChunkNarrator {
    type Request = ChatRequest;

    fn begin(&mut self, out: &mut Events) {
        let delta = Delta { role: Some("assistant"), content: Some(""), ..Delta::default() };
        self.envelope.delta(delta, None, out);
    }

    fn tell(&mut self, delta: ChatDelta, out: &mut Events) {
        let no_state = StateFields::default();
        let call = |index, id: Option<_>, name, arguments| {
            let kind = id.is_some().then_some("function");
            let function = FunctionBody { name, arguments, state: no_state };
            Delta {
                tool_calls: Some([CallBody {
                    index: Some(index),
                    id,
                    r#type: kind,
                    function,
                    state: no_state,
                }]),
                ..Delta::default()
            }
        };
        match &delta {
            ChatDelta::Text(text) => {
                self.envelope.delta(Delta { content: Some(text), ..Delta::default() }, None, out);
            }
            ChatDelta::CallStart { index, id, name } => {
                self.envelope.delta(call(*index, Some(id.as_str()), Some(name), "".into()), None, out);
            }
            ChatDelta::CallArguments { index, fragment } => {
                self.envelope.delta(call(*index, None, None, fragment.into()), None, out);
            }
            ChatDelta::State(state) => {
                let (of_turn, planproof_state) = (fields(state, PartOf::Turn, None), state.sealed(is_given));
                if of_turn.0.is_some() || planproof_state.is_some() {
                    self.envelope.delta(
                        Delta { state: of_turn, planproof_state, ..Delta::default() },
                        None,
                        out,
                    );
                }
                let calls: BTreeSet<usize> = state.parts().iter().filter_map(StatePart::call).collect();
                for index in calls.into_iter().filter(|_| state.parts().iter().any(is_given)) {
                    let function = FunctionBody {
                        name: None,
                        arguments: "".into(),
                        state: fields(state, PartOf::Function, Some(index)),
                    };
                    let state = fields(state, PartOf::Call, Some(index));
                    let call = CallBody { index: Some(index), id: None, r#type: None, function, state };
                    self.envelope.delta(Delta { tool_calls: Some([call]), ..Delta::default() }, None, out);
                }
            }
            ChatDelta::End { .. } => {}
        }
    }

    fn end(self, finish: FinishReason, usage: Usage, _: ChatRequest, _: &Shared, out: &mut Events) {
        self.envelope.delta(Delta::default(), Some(finish), out);
        // Clients that did not request it may not expect a chunk without choices.
        if self.include_usage {
            self.envelope.chunk(&[], Some(usage.into()), out);
        }
        out.done();
    }

    fn fail(self, error: &ApiError, out: &mut Events) {
        out.data(&error.body(Protocol::OpenAi));
    }
}
