//! The lines of a recording as types, and their conversion from and to the types in memory.

use std::borrow::Cow;
use std::sync::Arc;

use planproof_trace::{Arguments, CallId, FinishReason, Tool, ToolCall, Usage, WrittenObject};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::outcome::{Outcome, StreamEnd, StreamedReply};
use crate::chat::state_of;
use crate::{
    Capabilities, ChatDelta, ChatReply, CompletionReply, Message, ReplyId, ScoredToken, Settings, TurnState,
};

/// The part of a line that identifies its type.
#[derive(Deserialize)]
pub(super) struct Head<'a> {
    #[serde(borrow)]
    pub(super) schema: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) r#type: Option<Cow<'a, str>>,
}

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HeaderLine {
    pub(super) schema: String,
    pub(super) version: String,
    pub(super) command: String,
}

/// The file was opened again to continue it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionLine {
    pub(super) r#type: String,
    pub(super) version: String,
    pub(super) command: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelLine {
    pub(super) r#type: String,
    pub(super) number: u32,
    pub(super) name: String,
    pub(super) simulated: bool,
    capabilities: Vec<Capability>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Capability {
    ToolCalls,
    Streaming,
    PartialTurn,
    Conversational,
    Completion,
    LogProbabilities,
    Grammar,
    ServerState,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolsLine<'a> {
    r#type: Cow<'a, str>,
    pub(super) number: u32,
    #[serde(borrow)]
    tools: Vec<WireTool<'a>>,
}

/// The schema is kept as text while the line is read, so that even the deepest JSON nesting can be read back.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireTool<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    description: Cow<'a, str>,
    input_schema: Box<RawValue>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetupLine<'a> {
    r#type: Cow<'a, str>,
    pub(super) number: u32,
    pub(super) model: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens_max: Option<u32>,
    /// In decimal digits, because many readers lose precision above 2^53.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    stop: Vec<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    grammar: Option<Cow<'a, str>>,
}

/// A request and its outcome. The request is in `messages` or in `prompt`, the outcome in one of the last four
/// fields.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExchangeLine<'a> {
    pub(super) r#type: Cow<'a, str>,
    pub(super) number: u32,
    pub(super) setup: u32,
    /// The exchange whose conversation or text, including its reply, comes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<u32>,
    /// Only so many messages of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first: Option<u32>,
    /// The exchange whose stored reply the request continues from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) previous: Option<u32>,
    /// The same by the server's own id, if the reply is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) previous_id: Option<Cow<'a, str>>,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub(super) messages: Option<Vec<WireMessage<'a>>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(super) prompt: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) score_prompt: bool,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(super) reply: Option<WireReply<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<WireStream<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Cow<'a, str>>,
    /// The HTTP status of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) given_up: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape serde wants")]
fn is_false(value: &bool) -> bool {
    !value
}

/// A structure instead of a tagged enumeration, because serde would parse the calls' arguments before their text can
/// be kept.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireMessage<'a> {
    role: Role,
    /// Of the call that it answers.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<WireCall<'a>>,
    #[serde(default, skip_serializing_if = "TurnState::is_empty")]
    state: TurnState,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    System,
    User,
    Assistant,
    Tool,
}

/// The arguments are kept as text while the line is read, as is a tool's schema.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireCall<'a> {
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments_text: Option<Cow<'a, str>>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WireFinish {
    Stop,
    ToolCalls,
    Length,
    ContentFilter,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireReply<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<WireCall<'a>>,
    finish: WireFinish,
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    input_tokens: u64,
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    output_tokens: u64,
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "planproof_trace::bounded::count")]
    reasoning_tokens: u64,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    /// Pairs of text and log-probability.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    prompt_tokens: Vec<(Cow<'a, str>, Option<f64>)>,
    #[serde(default, skip_serializing_if = "TurnState::is_empty")]
    state: TurnState,
}

/// A reply that came in pieces. It has a `finish` if it was complete, an `error` if it broke off, and neither if the
/// caller stopped reading.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireStream<'a> {
    #[serde(borrow)]
    deltas: Vec<WireDelta<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finish: Option<WireFinish>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "planproof_trace::bounded::some_count"
    )]
    input_tokens: Option<u64>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "planproof_trace::bounded::some_count"
    )]
    output_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "planproof_trace::bounded::count")]
    reasoning_tokens: u64,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'a, str>>,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    error: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "TurnState::is_empty")]
    state: TurnState,
}

/// A text is a string, because it is by far the most frequent kind.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WireDelta<'a> {
    Text(Cow<'a, str>),
    Start { call: usize, id: Cow<'a, str>, name: Cow<'a, str> },
    Arguments { arguments: usize, text: Cow<'a, str> },
}

/// The values of `type` in lines that are written here.
pub(super) mod types {
    pub(in super::super) const SESSION: &str = "session";
    pub(in super::super) const MODEL: &str = "model";
    pub(in super::super) const TOOLS: &str = "tools";
    pub(in super::super) const SETUP: &str = "setup";
    pub(in super::super) const EXCHANGE: &str = "exchange";
}

/// Appends a line with its end.
pub(super) fn write(line: &impl Serialize, out: &mut Vec<u8>) {
    // All keys are strings, and floats that JSON cannot represent become null.
    serde_json::to_writer(&mut *out, line).expect("writing JSON into memory cannot fail");
    out.push(b'\n');
}

impl ModelLine {
    pub(super) fn new(number: u32, name: &str, simulated: bool, capabilities: Capabilities) -> Self {
        let Capabilities {
            tool_calls,
            streaming,
            partial_turn,
            conversational,
            completion,
            log_probabilities,
            grammar,
            server_state,
        } = capabilities;
        let all = [
            (tool_calls, Capability::ToolCalls),
            (streaming, Capability::Streaming),
            (partial_turn, Capability::PartialTurn),
            (conversational, Capability::Conversational),
            (completion, Capability::Completion),
            (log_probabilities, Capability::LogProbabilities),
            (grammar, Capability::Grammar),
            (server_state, Capability::ServerState),
        ];
        let capabilities =
            all.into_iter().filter(|(has, _)| *has).map(|(_, capability)| capability).collect();
        Self { r#type: types::MODEL.to_owned(), number, name: name.to_owned(), simulated, capabilities }
    }

    pub(super) fn capabilities(&self) -> Capabilities {
        let has = |capability| self.capabilities.contains(&capability);
        Capabilities {
            tool_calls: has(Capability::ToolCalls),
            streaming: has(Capability::Streaming),
            partial_turn: has(Capability::PartialTurn),
            conversational: has(Capability::Conversational),
            completion: has(Capability::Completion),
            log_probabilities: has(Capability::LogProbabilities),
            grammar: has(Capability::Grammar),
            server_state: has(Capability::ServerState),
        }
    }
}

impl<'a> ToolsLine<'a> {
    pub(super) fn new(number: u32, tools: &'a [Tool]) -> Self {
        let tools = tools.iter().map(|tool| WireTool {
            name: tool.name.as_str().into(),
            description: tool.description.as_str().into(),
            input_schema: to_raw_value(&tool.input_schema).unwrap_or_default(),
        });
        Self { r#type: types::TOOLS.into(), number, tools: tools.collect() }
    }

    pub(super) fn into_tools(self) -> Result<Arc<[Tool]>, String> {
        let tools = self.tools.into_iter().map(|tool| {
            let input_schema = WrittenObject::read(tool.input_schema.get())
                .map_err(|error| format!("the input schema of `{}` is no object: {error}", tool.name))?;
            Ok(Tool {
                name: tool.name.into_owned(),
                description: tool.description.into_owned(),
                input_schema,
            })
        });
        tools.collect()
    }
}

impl<'a> SetupLine<'a> {
    pub(super) fn new(number: u32, model: u32, tools: Option<u32>, settings: &'a Settings) -> Self {
        Self {
            r#type: types::SETUP.into(),
            number,
            model,
            tools,
            temperature: settings.temperature,
            output_tokens_max: settings.output_tokens_max,
            seed: settings.seed.map(|seed| seed.to_string().into()),
            stop: settings.stop.iter().map(|stop| stop.as_str().into()).collect(),
            grammar: settings.grammar.as_deref().map(Cow::Borrowed),
        }
    }

    pub(super) fn settings(&self) -> Result<Settings, String> {
        let seed = self.seed.as_deref().map(|seed| {
            // `parse` alone would accept a plus sign.
            let is_decimal = seed.bytes().all(|byte| byte.is_ascii_digit());
            seed.parse()
                .ok()
                .filter(|_| is_decimal)
                .ok_or_else(|| format!("`seed` must be a whole number below 2^64 as a string, not {seed:?}"))
        });
        Ok(Settings {
            temperature: self.temperature,
            output_tokens_max: self.output_tokens_max,
            seed: seed.transpose()?,
            stop: self.stop.iter().map(|stop| stop.clone().into_owned()).collect(),
            grammar: self.grammar.as_deref().map(Into::into),
        })
    }
}

impl<'a> WireMessage<'a> {
    pub(super) fn new(message: &'a Message) -> Self {
        let mut state = TurnState::default();
        let (role, id, text, calls) = match message {
            Message::System { text } => (Role::System, None, text, &[][..]),
            Message::User { text } => (Role::User, None, text, &[][..]),
            Message::Assistant { text, calls, state: kept } => {
                state = kept.clone();
                (Role::Assistant, None, text, &calls[..])
            }
            Message::Tool { id, text } => (Role::Tool, Some(id.as_str().into()), text, &[][..]),
        };
        let calls = calls.iter().map(WireCall::new).collect();
        Self { role, id, text: text.as_str().into(), calls, state }
    }

    pub(super) fn into_message(self) -> Result<Message, String> {
        if self.id.is_some() != (self.role == Role::Tool) {
            return Err("a message has an `id` if its role is `tool`".to_owned());
        }
        if !(self.calls.is_empty() && self.state.is_empty()) && self.role != Role::Assistant {
            return Err("a message has `calls` and `state` only if its role is `assistant`".to_owned());
        }
        let text = self.text.into_owned();
        Ok(match self.role {
            Role::System => Message::System { text },
            Role::User => Message::User { text },
            Role::Assistant => Message::Assistant { text, calls: into_calls(self.calls)?, state: self.state },
            Role::Tool => Message::Tool { id: CallId::new(self.id.unwrap_or_default()), text },
        })
    }
}

impl<'a> WireCall<'a> {
    fn new(call: &'a ToolCall) -> Self {
        let (arguments, arguments_text) = match &call.arguments {
            Arguments::Object(object) => (to_raw_value(object).ok(), None),
            Arguments::Malformed(text) => (None, Some(text.as_str().into())),
        };
        let (id, name) = (call.id.as_str().into(), call.name.as_str().into());
        Self { id, name, arguments, arguments_text }
    }

    fn into_call(self) -> Result<ToolCall, String> {
        let arguments = match (self.arguments, self.arguments_text) {
            (Some(object), None) => Arguments::Object(
                serde_json::from_str(object.get())
                    .map_err(|error| format!("the arguments of `{}` are no object: {error}", self.name))?,
            ),
            (None, Some(text)) => Arguments::Malformed(text.into_owned()),
            _ => return Err("a call has either `arguments` or `arguments_text`".to_owned()),
        };
        Ok(ToolCall { id: CallId::new(self.id), name: self.name.into_owned(), arguments })
    }
}

fn usage(input_tokens: u64, output_tokens: u64, reasoning_tokens: u64) -> Usage {
    Usage { reasoning_tokens, ..Usage::new(input_tokens, output_tokens) }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn into_calls(calls: Vec<WireCall<'_>>) -> Result<Vec<ToolCall>, String> {
    calls.into_iter().map(WireCall::into_call).collect()
}

impl<'a> WireReply<'a> {
    fn of_chat(reply: &'a ChatReply) -> Self {
        Self {
            text: reply.text.as_str().into(),
            calls: reply.calls.iter().map(WireCall::new).collect(),
            finish: reply.finish.into(),
            input_tokens: reply.usage.input_tokens,
            output_tokens: reply.usage.output_tokens,
            reasoning_tokens: reply.usage.reasoning_tokens,
            id: reply.id.as_ref().map(|id| id.0.as_str().into()),
            prompt_tokens: Vec::new(),
            state: reply.state.clone(),
        }
    }

    fn of_completion(reply: &'a CompletionReply) -> Self {
        let token = |token: &'a ScoredToken| (token.text.as_str().into(), token.log_probability);
        Self {
            text: reply.text.as_str().into(),
            calls: Vec::new(),
            finish: reply.finish.into(),
            input_tokens: reply.usage.input_tokens,
            output_tokens: reply.usage.output_tokens,
            reasoning_tokens: reply.usage.reasoning_tokens,
            id: None,
            prompt_tokens: reply.prompt_tokens.iter().map(token).collect(),
            state: TurnState::default(),
        }
    }

    fn into_chat(self) -> Result<ChatReply, String> {
        if !self.prompt_tokens.is_empty() {
            return Err("the reply of a conversation has no `prompt_tokens`".to_owned());
        }
        Ok(ChatReply {
            text: self.text.into_owned(),
            calls: into_calls(self.calls)?,
            finish: self.finish.into(),
            usage: usage(self.input_tokens, self.output_tokens, self.reasoning_tokens),
            id: self.id.map(|id| ReplyId(id.into_owned())),
            state: self.state,
        })
    }

    fn into_completion(self) -> Result<CompletionReply, String> {
        if !self.calls.is_empty() || self.id.is_some() {
            return Err("the reply to a plain text has neither `calls` nor an `id`".to_owned());
        }
        let token = |(text, log_probability): (Cow<'_, str>, _)| ScoredToken {
            text: text.into_owned(),
            log_probability,
        };
        Ok(CompletionReply {
            text: self.text.into_owned(),
            finish: self.finish.into(),
            usage: usage(self.input_tokens, self.output_tokens, self.reasoning_tokens),
            prompt_tokens: self.prompt_tokens.into_iter().map(token).collect(),
        })
    }
}

impl<'a> WireStream<'a> {
    fn new(reply: &'a StreamedReply) -> Self {
        let mut stream = Self {
            deltas: reply.deltas.iter().filter_map(WireDelta::new).collect(),
            finish: None,
            input_tokens: None,
            output_tokens: None,
            reasoning_tokens: 0,
            id: None,
            error: None,
            state: state_of(&reply.deltas),
        };
        match &reply.end {
            StreamEnd::Complete { finish, usage, id } => {
                stream.finish = Some((*finish).into());
                stream.input_tokens = Some(usage.input_tokens);
                stream.output_tokens = Some(usage.output_tokens);
                stream.reasoning_tokens = usage.reasoning_tokens;
                stream.id = id.as_ref().map(|id| id.0.as_str().into());
            }
            StreamEnd::Broken { message } => stream.error = Some(message.as_str().into()),
            StreamEnd::LeftOff => {}
        }
        stream
    }

    fn into_reply(self) -> Result<StreamedReply, String> {
        let end = match (self.finish, self.error) {
            (Some(finish), None) => {
                let (Some(input_tokens), Some(output_tokens)) = (self.input_tokens, self.output_tokens)
                else {
                    return Err("a stream with a `finish` has `input_tokens` and `output_tokens`".to_owned());
                };
                let usage = usage(input_tokens, output_tokens, self.reasoning_tokens);
                let id = self.id.map(|id| ReplyId(id.into_owned()));
                StreamEnd::Complete { finish: finish.into(), usage, id }
            }
            (None, Some(message)) => StreamEnd::Broken { message: message.into_owned() },
            (None, None) => StreamEnd::LeftOff,
            (Some(_), Some(_)) => return Err("a stream has either a `finish` or an `error`".to_owned()),
        };
        let state = Some(self.state).filter(|state| !state.is_empty()).map(ChatDelta::State);
        Ok(StreamedReply {
            deltas: self.deltas.into_iter().map(WireDelta::into_delta).chain(state).collect(),
            end,
        })
    }
}

impl<'a> WireDelta<'a> {
    fn new(delta: &'a ChatDelta) -> Option<Self> {
        Some(match delta {
            ChatDelta::Text(text) => Self::Text(text.as_str().into()),
            ChatDelta::CallStart { index, id, name } => {
                let (id, name) = (id.as_str().into(), name.as_str().into());
                Self::Start { call: *index, id, name }
            }
            ChatDelta::CallArguments { index, fragment } => {
                Self::Arguments { arguments: *index, text: fragment.as_str().into() }
            }
            // The state is a field of its own, because this kind of value cannot hold JSON as it came.
            ChatDelta::State(_) | ChatDelta::End { .. } => return None,
        })
    }

    fn into_delta(self) -> ChatDelta {
        match self {
            Self::Text(text) => ChatDelta::Text(text.into_owned()),
            Self::Start { call, id, name } => {
                ChatDelta::CallStart { index: call, id: CallId::new(id), name: name.into_owned() }
            }
            Self::Arguments { arguments, text } => {
                ChatDelta::CallArguments { index: arguments, fragment: text.into_owned() }
            }
        }
    }
}

impl<'a> ExchangeLine<'a> {
    /// A line without a question so far.
    pub(super) fn new(number: u32, setup: u32, outcome: &'a Outcome) -> Self {
        let mut line = Self {
            r#type: types::EXCHANGE.into(),
            number,
            setup,
            after: None,
            first: None,
            previous: None,
            previous_id: None,
            messages: None,
            prompt: None,
            score_prompt: false,
            reply: None,
            stream: None,
            error: None,
            status: None,
            given_up: false,
        };
        match outcome {
            Outcome::Chat(reply) => line.reply = Some(WireReply::of_chat(reply)),
            Outcome::Completion(reply) => line.reply = Some(WireReply::of_completion(reply)),
            Outcome::Stream(reply) => line.stream = Some(WireStream::new(reply)),
            Outcome::Error { message, status } => {
                line.error = Some(message.as_str().into());
                line.status = *status;
            }
            Outcome::GivenUp => line.given_up = true,
        }
        line
    }

    /// Its outcome; takes it out of the line.
    pub(super) fn take_outcome(&mut self) -> Result<Outcome, String> {
        let is_chat = self.messages.is_some();
        let status = self.status.take();
        if status.is_some() && self.error.is_none() {
            return Err("an exchange has a `status` only with an `error`".to_owned());
        }
        match (self.reply.take(), self.stream.take(), self.error.take(), self.given_up) {
            (Some(reply), None, None, false) if is_chat => reply.into_chat().map(Outcome::Chat),
            (Some(reply), None, None, false) => reply.into_completion().map(Outcome::Completion),
            (None, Some(stream), None, false) => stream.into_reply().map(Outcome::Stream),
            (None, None, Some(message), false) => {
                Ok(Outcome::Error { message: message.into_owned(), status })
            }
            (None, None, None, true) => Ok(Outcome::GivenUp),
            _ => Err("an exchange has one of `reply`, `stream`, `error` and `given_up`".to_owned()),
        }
    }
}

impl From<FinishReason> for WireFinish {
    fn from(finish: FinishReason) -> Self {
        match finish {
            // That a reply was cut is the caller's doing, never the model's.
            FinishReason::Stop | FinishReason::Cut => Self::Stop,
            FinishReason::ToolCalls => Self::ToolCalls,
            FinishReason::Length => Self::Length,
            FinishReason::ContentFilter => Self::ContentFilter,
        }
    }
}

impl From<WireFinish> for FinishReason {
    fn from(finish: WireFinish) -> Self {
        match finish {
            WireFinish::Stop => Self::Stop,
            WireFinish::ToolCalls => Self::ToolCalls,
            WireFinish::Length => Self::Length,
            WireFinish::ContentFilter => Self::ContentFilter,
        }
    }
}

/// Whether a text is one complete JSON value: a line torn in the middle is none.
pub(super) fn is_whole(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}
