//! Language models behind one trait, and a model served in the protocols of OpenAI, Anthropic and Gemini.
//!
//! [`Model`] is what agents talk to. [`openai`] and [`anthropic`] speak to servers with those protocols;
//! [`server`] does the reverse and offers any [`Model`] (in practice a simulated one) to agents written
//! elsewhere.
//!
//! # What is where
//!
//! The `Model` trait (`chat.rs`) and what stands behind it:
//! - **providers**. What all share is in `connection.rs`: attempts, rates, time, the key, streams, on one small HTTP
//!   endpoint (`http.rs`); a provider has its wire types only. OpenAI's protocols (`openai.rs`): chat completions,
//!   plain completions (`openai/completions.rs`), and responses, where the server keeps the conversation
//!   (`openai/responses.rs`). Anthropic's messages (`anthropic.rs`).
//! - **models around models**. Recordings (`recording.rs`): one that writes down (`recording/recorder.rs`), one that
//!   answers from the file alone (`recording/replay.rs`) and says how a request differs from the nearest recorded one
//!   (`recording/difference.rs`), what may differ aside (`recording/may_differ.rs`). A meter with budgets
//!   (`metering.rs`) over prices (`prices.rs`, `data/prices.json`). Conversations kept in memory for models whose
//!   server keeps none (`kept.rs`).
//! - **the time of a run**, less what it waits for because of us or of a server (`run_time.rs`).
//! - **the reverse**: any `Model` served on the loopback interface (`server.rs`), for runs that count their requests
//!   apart each at a URL of its own (`server/runs.rs`). Each protocol has a room: chat completions, completions,
//!   responses (`server/responses.rs`), Anthropic's messages (`server/anthropic.rs`), Gemini's content
//!   (`server/gemini.rs`). What a path asks for, and in whose words it is refused, is in `server/target.rs`.

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
pub mod shown_tools;
pub mod simulated;

pub use chat::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Message, Model, ModelError, ReplyId, ScoredToken, Settings,
};
pub use connection::{ConnectionConfig, Provider, RETRY_WAIT_MAX};
pub use kept::{KEPT_BYTES_MAX, KEPT_REPLIES_MAX, KeepsReplies};
