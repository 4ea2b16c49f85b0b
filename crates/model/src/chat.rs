//! The conversation with a model: requests, replies, errors, and the [`Model`] trait.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub use futures::future::BoxFuture;
pub use futures::stream::BoxStream;
use planproof_trace::{Arguments, CallId, FinishReason, Tool, ToolCall, Usage};
use thiserror::Error;

use crate::TurnState;
use crate::facts::ServerFacts;

/// One item of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    System {
        text: String,
    },
    /// What the user says.
    User {
        text: String,
    },
    /// What the model said.
    Assistant {
        /// The text; may be empty beside tool calls.
        text: String,
        /// The tools it called.
        calls: Vec<ToolCall>,
        /// What its server wants back with this turn.
        state: TurnState,
    },
    /// What a tool answered.
    Tool {
        /// The call it answers.
        id: CallId,
        text: String,
    },
}

impl Message {
    /// What a model said, without state of its server.
    pub fn assistant(text: String, calls: Vec<ToolCall>) -> Self {
        Self::Assistant { text, calls, state: TurnState::default() }
    }
}

/// How to write. Every `None` leaves the choice to the provider.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// 0 (always the likeliest token) to 2.
    pub temperature: Option<f64>,
    /// Most tokens to write.
    pub output_tokens_max: Option<u32>,
    /// Asks for repeatable sampling, if the provider offers it.
    pub seed: Option<u64>,
    /// Texts that end the output. If a model accepts none, or fewer, the rest is left to the reader of the reply.
    pub stop: Vec<String>,
    /// A grammar in GBNF, the notation of llama.cpp, that the server holds every token of the output to. Only for a
    /// model with [`Capabilities::grammar`].
    pub grammar: Option<Arc<str>>,
}

/// The id of a reply that the server has stored, so that a later request can continue from it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReplyId(pub String);

/// A request to a model in a conversation.
///
/// If the last message is [`Message::Assistant`] without calls, the model is asked to continue that very message;
/// only a model with [`Capabilities::partial_turn`] understands this.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    /// The conversation so far, or the part of it after [`previous`](Self::previous).
    pub messages: Vec<Message>,
    /// The stored reply that this request continues from: the server inserts the conversation up to and including
    /// that reply before `messages`. Only for a model with [`Capabilities::server_state`].
    pub previous: Option<ReplyId>,
    /// The tools it may call; shared by all turns of a run.
    pub tools: Arc<[Tool]>,
    pub settings: Settings,
}

impl ChatRequest {
    /// Whether the model is asked to continue the conversation's last message.
    pub fn is_partial_turn(&self) -> bool {
        matches!(self.messages.last(), Some(Message::Assistant { calls, .. }) if calls.is_empty())
    }
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatReply {
    pub text: String,
    /// The tools it called, in the order it wrote them.
    pub calls: Vec<ToolCall>,
    pub finish: FinishReason,
    pub usage: Usage,
    /// The id of this reply, if the server stores it ([`Capabilities::server_state`]).
    pub id: Option<ReplyId>,
    /// What the server wants back with this turn ([`Message::Assistant`]).
    pub state: TurnState,
}

/// A part of a reply that is still being written.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatDelta {
    Text(String),
    /// A tool call begins.
    CallStart {
        /// Its place among the calls of this reply, from 0.
        index: usize,
        id: CallId,
        name: String,
    },
    /// More of a call's arguments.
    CallArguments {
        index: usize,
        /// The next piece of the text.
        fragment: String,
    },
    /// What the server wants back with this turn. Comes at most once, just before the end.
    State(TurnState),
    /// The reply is complete.
    End {
        /// Why the model stopped.
        finish: FinishReason,
        usage: Usage,
        /// The id of the reply, if the server stores it.
        id: Option<ReplyId>,
    },
}

/// What an endpoint supports. An agent that needs more is refused before it starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Takes tools and calls them in structured form.
    pub tool_calls: bool,
    /// Can send a reply while it is being written.
    pub streaming: bool,
    /// Continues an unfinished assistant's turn.
    pub partial_turn: bool,
    /// Was trained on conversations, as its server says: such a model is asked to continue a turn of its own rather
    /// than a plain text, where it can do both.
    pub conversational: bool,
    /// Continues a plain text ([`Model::complete`]).
    pub completion: bool,
    /// Reports the log-probabilities of the tokens of a given text ([`CompletionRequest::score_prompt`]).
    pub log_probabilities: bool,
    /// Holds its output to a grammar ([`Settings::grammar`]).
    pub grammar: bool,
    /// Stores conversations, so that a request need only hold what is new ([`ChatRequest::previous`]).
    pub server_state: bool,
}

/// A plain text for a model to continue.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletionRequest {
    /// The text so far.
    pub prompt: String,
    /// How to write. `output_tokens_max` 0 asks for no new text, which is useful with `score_prompt`.
    pub settings: Settings,
    /// Ask for the log-probabilities of the prompt's tokens as well.
    pub score_prompt: bool,
}

/// A token and its likelihood after everything before it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredToken {
    /// Its text. A token may hold a part of a character, whose text is then U+FFFD.
    pub text: String,
    /// Natural logarithm of its probability; `None` for the first token of a prompt, which has no context.
    pub log_probability: Option<f64>,
}

/// How a model went on.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletionReply {
    /// What it wrote, without the prompt.
    pub text: String,
    pub finish: FinishReason,
    pub usage: Usage,
    /// The prompt's tokens, if they were requested; else empty.
    pub prompt_tokens: Vec<ScoredToken>,
}

/// Why a model was unavailable. None of these reasons is the agent's fault.
#[derive(Debug, Clone, Error, PartialEq)]
pub enum ModelError {
    /// No key.
    #[error("no API key: set {variable}")]
    MissingKey {
        /// The environment variable that should hold it.
        variable: &'static str,
    },
    /// The configuration makes no sense.
    #[error("{what}")]
    Configuration {
        /// What is wrong and what to do.
        what: String,
    },
    /// Nobody answered.
    #[error("cannot reach {url}: {reason}")]
    Unreachable {
        url: String,
        /// The operating system's message, and where the URL comes from.
        reason: String,
    },
    /// The connection broke after the request was sent, so that the server may have done the work.
    #[error("cannot reach {url}: {reason}")]
    Broken {
        url: String,
        /// As for [`Unreachable`](Self::Unreachable).
        reason: String,
    },
    /// No answer in time.
    #[error("{url} did not answer within {limit:?}")]
    TimedOut { url: String, limit: Duration },
    /// The server refused.
    #[error("{url} answered {status}: {message}")]
    Status {
        url: String,
        status: u16,
        /// The server's own message, shortened to a line.
        message: String,
        /// How long the server asks to wait before another try.
        retry_after: Option<Duration>,
    },
    /// The model cannot do that.
    #[error("{model} cannot {what}")]
    Unsupported {
        model: String,
        /// The requested capability, as a phrase that follows "cannot".
        what: &'static str,
    },
    /// A budget of the campaign leaves no room for this request. Nothing was sent.
    #[error("the budget of {budget} leaves no room for another request")]
    BudgetUsedUp {
        /// The budget, with its unit.
        budget: String,
    },
    /// The recording that should answer does not hold this request.
    #[error("the recording does not hold this request: {difference}")]
    NotRecorded {
        /// How the request differs from the nearest one recorded.
        difference: String,
    },
    /// The recording holds this error instead of a reply.
    #[error("{message}")]
    Recorded {
        /// The error's message when it was recorded.
        message: String,
        /// The HTTP status, if a server refused.
        status: Option<u16>,
    },
    /// The recording cannot be written, so no more requests are sent.
    #[error("{what}")]
    NotWritten {
        /// Which file, and why.
        what: String,
    },
    /// The server answered, and its answer is not a reply: it says that the provider failed, or there is nothing in it.
    #[error("{url} gave no reply: {what}")]
    Failed {
        url: String,
        /// What it says, or what is missing.
        what: String,
    },
    /// The answer does not follow this protocol.
    #[error("{url} sent an answer that is not understood: {what}")]
    Malformed {
        url: String,
        /// What is wrong with it.
        what: String,
    },
}

impl ModelError {
    /// Whether the same request may succeed later: unreachable, broken, timed out, an answer that is not a reply, 408,
    /// 409, 429 or 5xx.
    pub fn is_transient(&self) -> bool {
        // Without a wildcard, so that whoever adds an error has to decide.
        match self {
            Self::Unreachable { .. } | Self::Broken { .. } | Self::TimedOut { .. } | Self::Failed { .. } => {
                true
            }
            Self::Status { status, .. } => matches!(status, 408 | 409 | 429) || *status >= 500,
            Self::MissingKey { .. }
            | Self::Configuration { .. }
            | Self::Unsupported { .. }
            | Self::BudgetUsedUp { .. }
            | Self::NotRecorded { .. }
            | Self::Recorded { .. }
            | Self::NotWritten { .. }
            | Self::Malformed { .. } => false,
        }
    }

    /// The HTTP status with which a server refused, now or when it was recorded.
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } => Some(*status),
            Self::Recorded { status, .. } => *status,
            _ => None,
        }
    }

    /// Whether the server found the request itself invalid, which is the mistake of whoever made it.
    pub(crate) fn is_invalid_request(&self) -> bool {
        matches!(self.status(), Some(400 | 413 | 422))
    }

    /// Whether the server may have done the work, and charge for it, although there is no answer.
    pub fn may_be_charged(&self) -> bool {
        matches!(
            self,
            Self::Broken { .. } | Self::TimedOut { .. } | Self::Failed { .. } | Self::Malformed { .. }
        )
    }
}

/// One text-generating endpoint with its settings. Cheap to share; one instance serves all runs of a campaign.
pub trait Model: Send + Sync {
    /// The name on the command line: `openai/gpt-5-mini`, `sim/perfect`.
    fn name(&self) -> &str;

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// The certain capabilities: asks the server if only the server knows, and from then on returns the same as
    /// [`capabilities`](Self::capabilities). Before that, capabilities beyond the protocol are a guess.
    ///
    /// # Errors
    /// The server did not answer.
    fn settle(&self) -> BoxFuture<'_, Result<Capabilities, ModelError>> {
        Box::pin(std::future::ready(Ok(self.capabilities())))
    }

    /// Whether it is one of our simulations, whose results say nothing about any real model.
    fn is_simulated(&self) -> bool {
        false
    }

    /// How its requests differ from what they were asked to be, because the server refused fields or values of them: a
    /// sentence each, without a full stop. A refused temperature is reported by
    /// [`takes_temperature`](Self::takes_temperature) alone.
    fn changed_requests(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether it accepts a temperature, as far as is known: `false` once it has refused one. Later requests are then
    /// sent without, so that its answers vary with the server's default.
    fn takes_temperature(&self) -> bool {
        true
    }

    /// What the server says of itself and of this model, without asking the model. Waits while the model is being
    /// loaded. `None` for a model without a server, or whose server has nothing to say.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses the key.
    fn server_facts(&self) -> BoxFuture<'_, Result<Option<ServerFacts>, ModelError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Asks for a whole reply. Retries transient failures, within the implementation's limits.
    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>>;

    /// Asks for a reply as a stream. The stream ends after [`ChatDelta::End`] or an error. A model that cannot stream
    /// sends its whole reply at once, as this default does.
    fn chat_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(async move {
            let reply = self.chat(request).await?;
            let stream: BoxStream<'a, _> = Box::pin(futures::stream::iter(reply.into_deltas().map(Ok)));
            Ok(stream)
        })
    }

    /// Asks the model to continue a plain text.
    fn complete<'a>(
        &'a self,
        _request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        let model = self.name().to_owned();
        Box::pin(async move { Err(ModelError::Unsupported { model, what: "continue a plain text" }) })
    }

    /// As [`complete`](Self::complete), as a stream: [`ChatDelta::Text`] and a [`ChatDelta::End`]. Scores of a
    /// prompt's tokens are not streamed. The default sends the whole text at once.
    fn complete_stream<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(async move {
            let CompletionReply { text, finish, usage, .. } = self.complete(request).await?;
            let reply =
                ChatReply { text, calls: Vec::new(), finish, usage, id: None, state: TurnState::default() };
            let stream: BoxStream<'a, _> = Box::pin(futures::stream::iter(reply.into_deltas().map(Ok)));
            Ok(stream)
        })
    }
}

impl ChatReply {
    /// The reply as the deltas of a stream that sends each part whole.
    pub fn into_deltas(self) -> impl Iterator<Item = ChatDelta> + Send {
        let Self { text, calls, finish, usage, id, state } = self;
        let words = (!text.is_empty()).then_some(ChatDelta::Text(text));
        let calls = calls.into_iter().enumerate().flat_map(|(index, call)| {
            let fragment = call.arguments.to_text();
            [
                ChatDelta::CallStart { index, id: call.id, name: call.name },
                ChatDelta::CallArguments { index, fragment },
            ]
        });
        let state = (!state.is_empty()).then_some(ChatDelta::State(state));
        let end = ChatDelta::End { finish, usage, id };
        words.into_iter().chain(calls).chain(state).chain(std::iter::once(end))
    }
}

/// What the parts of a reply add up to.
pub(crate) fn text_and_calls(deltas: &[ChatDelta]) -> (String, Vec<ToolCall>) {
    let mut text = String::new();
    // By index, because the pieces of several calls may interleave.
    let mut calls: BTreeMap<usize, (CallId, String, String)> = BTreeMap::new();
    for delta in deltas {
        match delta {
            ChatDelta::Text(piece) => text.push_str(piece),
            ChatDelta::CallStart { index, id, name } => {
                calls.insert(*index, (id.clone(), name.clone(), String::new()));
            }
            ChatDelta::CallArguments { index, fragment } => {
                if let Some((.., arguments)) = calls.get_mut(index) {
                    arguments.push_str(fragment);
                }
            }
            ChatDelta::State(_) | ChatDelta::End { .. } => {}
        }
    }
    let calls = calls.into_values().map(|(id, name, arguments)| ToolCall {
        id,
        name,
        arguments: Arguments::from_text(&arguments),
    });
    (text, calls.collect())
}

/// The state in the parts of a reply.
pub(crate) fn state_of(deltas: &[ChatDelta]) -> TurnState {
    let state = deltas.iter().rev().find_map(|delta| match delta {
        ChatDelta::State(state) => Some(state.clone()),
        _ => None,
    });
    state.unwrap_or_default()
}

/// Puts the results of one message's calls into the order of the calls, whichever came first: neither the request to
/// a model nor its key in a recording may depend on that.
pub(crate) fn order_results(messages: &mut [Message]) {
    let mut rest = messages;
    while let Some(first) = rest.iter().position(|message| matches!(message, Message::Tool { .. })) {
        let (before, results) = rest.split_at_mut(first);
        let count = results.iter().take_while(|message| matches!(message, Message::Tool { .. })).count();
        let (results, after) = results.split_at_mut(count);
        // Only results directly after an assistant's message answer its calls. The sort is stable: results of unknown
        // calls come last, in the order in which they came.
        if let Some(Message::Assistant { calls, .. }) = before.last() {
            results.sort_by_key(|message| match message {
                Message::Tool { id, .. } => {
                    calls.iter().position(|call| call.id == *id).unwrap_or(calls.len())
                }
                _ => calls.len(),
            });
        }
        rest = after;
    }
}
