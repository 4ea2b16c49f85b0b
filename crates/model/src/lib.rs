//! Language models behind one trait, and a model served as an OpenAI-compatible endpoint.
//!
//! [`Model`] is what agents talk to. [`openai`] and [`anthropic`] speak to servers with those protocols; [`server`] does
//! the reverse and offers any [`Model`] (in practice a simulated one) to agents written elsewhere.

mod chat;
mod connection;
mod content;
mod http;
mod json;
mod kept;
mod lenient;

pub mod anthropic;
pub mod metering;
pub mod openai;
pub mod prices;
pub mod recording;
pub mod run_time;
pub mod server;

pub use chat::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Message, Model, ModelError, ReplyId, ScoredToken, Settings,
};
pub use connection::{ConnectionConfig, Provider, RETRY_WAIT_MAX};
pub use kept::{KEPT_BYTES_MAX, KEPT_REPLIES_MAX, KeepsReplies};
