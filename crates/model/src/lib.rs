//! Language models behind one trait, and a model served as an OpenAI-compatible endpoint.
//!
//! [`Model`] is what agents talk to. [`openai`] speaks to any server with the OpenAI protocol; [`server`] does the
//! reverse and offers any [`Model`] (in practice a simulated one) to agents written elsewhere.

mod chat;
mod content;
mod http;

pub mod metering;
pub mod openai;
pub mod prices;
pub mod recording;
pub mod server;

pub use chat::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Message, Model, ModelError, ReplyId, ScoredToken, Settings,
};
