//! The outcome of a request, as a whole reply or as a stream.

use futures::stream;
use planproof_trace::{FinishReason, ToolCall, Usage};

use crate::chat::{state_of, text_and_calls};
use crate::{
    BoxStream, ChatDelta, ChatReply, CompletionReply, Message, ModelError, ReplyId, TurnState, run_time,
};

/// What came of a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    /// The reply to a conversation, in one piece.
    Chat(ChatReply),
    /// The reply to a plain text, in one piece.
    Completion(CompletionReply),
    /// A reply in pieces.
    Stream(StreamedReply),
    Error {
        message: String,
        /// The HTTP status, if a server refused: an agent may act on it.
        status: Option<u16>,
    },
    /// The caller stopped waiting before there was an answer, like a run whose time is over.
    GivenUp,
}

/// A reply in pieces. The places of the cuts matter to an agent that reads along and stops early.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StreamedReply {
    /// All but the end.
    pub(super) deltas: Vec<ChatDelta>,
    pub(super) end: StreamEnd,
}

/// How a stream ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum StreamEnd {
    Complete { finish: FinishReason, usage: Usage, id: Option<ReplyId> },
    Broken { message: String },
    LeftOff,
}

/// Why a stream that was not read to its end is not available as a whole.
fn left_off() -> ModelError {
    let difference = "when it was recorded, nobody read the reply to its end".to_owned();
    ModelError::NotRecorded { difference }
}

fn recorded(message: &str) -> ModelError {
    ModelError::Recorded { message: message.to_owned(), status: None }
}

impl Outcome {
    /// The error that an agent gets as such.
    pub(super) fn of_error(error: &ModelError) -> Self {
        Self::Error { message: error.to_string(), status: error.status() }
    }

    /// Whether it is a reply, complete.
    pub(super) fn is_complete(&self) -> bool {
        match self {
            Self::Chat(_) | Self::Completion(_) => true,
            Self::Stream(reply) => matches!(reply.end, StreamEnd::Complete { .. }),
            Self::Error { .. } | Self::GivenUp => false,
        }
    }

    /// The id of the reply, if the server stores it.
    pub(super) fn id(&self) -> Option<&ReplyId> {
        match self {
            Self::Chat(reply) => reply.id.as_ref(),
            Self::Stream(StreamedReply { end: StreamEnd::Complete { id, .. }, .. }) => id.as_ref(),
            _ => None,
        }
    }

    /// The same outcome with this id of the reply.
    pub(super) fn with_id(mut self, new: Option<ReplyId>) -> Self {
        match &mut self {
            Self::Chat(reply) => reply.id = new,
            Self::Stream(StreamedReply { end: StreamEnd::Complete { id, .. }, .. }) => *id = new,
            _ => {}
        }
        self
    }

    /// The addition of a complete reply to the conversation.
    pub(super) fn turn(&self) -> Option<Message> {
        let (text, calls, state) = match self {
            Self::Chat(reply) => (reply.text.clone(), reply.calls.clone(), reply.state.clone()),
            Self::Stream(reply) if self.is_complete() => {
                let (text, calls) = reply.text_and_calls();
                (text, calls, state_of(&reply.deltas))
            }
            _ => return None,
        };
        Some(Message::Assistant { text, calls, state })
    }

    /// What a complete reply adds to a plain text.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Chat(reply) => Some(reply.text.clone()),
            Self::Completion(reply) => Some(reply.text.clone()),
            Self::Stream(reply) if self.is_complete() => Some(reply.text_and_calls().0),
            _ => None,
        }
    }

    /// As returned by [`Model::chat`](crate::Model::chat) of this model. Never ready if the caller stopped waiting.
    pub(super) async fn into_chat(self, model: &str) -> Result<ChatReply, ModelError> {
        match self {
            Self::Chat(reply) => Ok(reply),
            Self::Completion(CompletionReply { text, finish, usage, .. }) => Ok(ChatReply {
                text,
                calls: Vec::new(),
                finish,
                usage,
                id: None,
                state: TurnState::default(),
            }),
            Self::Stream(reply) => {
                let (text, calls) = reply.text_and_calls();
                match reply.end {
                    StreamEnd::Complete { finish, usage, id } => {
                        Ok(ChatReply { text, calls, finish, usage, id, state: state_of(&reply.deltas) })
                    }
                    StreamEnd::Broken { message } => Err(recorded(&message)),
                    StreamEnd::LeftOff => Err(left_off()),
                }
            }
            Self::Error { message, status } => Err(ModelError::Recorded { message, status }),
            Self::GivenUp => {
                // The caller waits until it gives up, as it did when this was recorded. If its time ends meanwhile,
                // that is again during a request to the model.
                let _request = run_time::Request::begin(&model.into());
                std::future::pending().await
            }
        }
    }

    /// As returned by [`Model::complete`](crate::Model::complete).
    pub(super) async fn into_completion(self, model: &str) -> Result<CompletionReply, ModelError> {
        match self {
            Self::Completion(reply) => Ok(reply),
            other => {
                let ChatReply { text, finish, usage, .. } = other.into_chat(model).await?;
                Ok(CompletionReply { text, finish, usage, prompt_tokens: Vec::new() })
            }
        }
    }

    /// As returned by [`Model::chat_stream`](crate::Model::chat_stream), in the pieces in which it came.
    pub(super) async fn into_stream(
        self,
        model: &str,
    ) -> Result<BoxStream<'static, Result<ChatDelta, ModelError>>, ModelError> {
        let reply = match self {
            Self::Stream(reply) => reply,
            other => {
                let deltas = other.into_chat(model).await?.into_deltas().map(Ok);
                return Ok(Box::pin(stream::iter(deltas)));
            }
        };
        let end = match reply.end {
            StreamEnd::Complete { finish, usage, id } => Ok(ChatDelta::End { finish, usage, id }),
            StreamEnd::Broken { message } => Err(recorded(&message)),
            StreamEnd::LeftOff => Err(left_off()),
        };
        Ok(Box::pin(stream::iter(reply.deltas.into_iter().map(Ok).chain([end]))))
    }
}

impl StreamedReply {
    /// What the pieces add up to.
    pub(super) fn text_and_calls(&self) -> (String, Vec<ToolCall>) {
        text_and_calls(&self.deltas)
    }
}
