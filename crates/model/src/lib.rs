//! Language models behind one trait, and a model served in the protocols of OpenAI, Anthropic and Gemini.
//!
//! [`Model`] is what agents talk to. [`openai`] and [`anthropic`] speak to servers with those protocols;
//! [`server`] does the reverse and offers any [`Model`] (in practice a simulated one) to agents written
//! elsewhere.
//!
//! # Module layout
//!
//! The `Model` trait (`chat.rs`) and its implementations:
//! - **providers**. Their common part is in `connection.rs`: attempts, rates, time, the key, on one small HTTP endpoint
//!   (`http.rs`); streams and documents, whichever a server sends (`connection/stream.rs`, `connection/events.rs`), how
//!   long it may be silent (`connection/silence.rs`), the calls in the pieces of a stream (`connection/calls.rs`),
//!   thoughts in the text (`connection/thoughts.rs`), the words for the end of a reply (`connection/ending.rs`) and for
//!   errors (`connection/fault.rs`). A provider has its wire types only. OpenAI's protocols (`openai.rs`): chat
//!   completions, plain completions (`openai/completions.rs`), and responses, where the server stores the conversation
//!   (`openai/responses.rs`). Anthropic's messages (`anthropic.rs`). Ollama's chat (`ollama.rs`). Which names mean
//!   which server (`providers.rs`, `data/providers.json`).
//! - **wrappers**. Recordings (`recording.rs`): one that writes exchanges down (`recording/recorder.rs`), one that
//!   answers from the file alone (`recording/replay.rs`) and reports how a request differs from the nearest recorded
//!   one (`recording/difference.rs`), ignoring what may differ (`recording/may_differ.rs`). A meter with budgets
//!   (`metering.rs`) over prices (`prices.rs`, `data/prices.json`). Conversations kept in memory for models whose
//!   server stores none (`kept.rs`).
//! - **facts**: what a server says of itself and of a model, from pages that ask no model (`facts.rs`), whether both
//!   can be tested at all (`check.rs`), and what makes calls out of a model's text (`unread_calls.rs`).
//! - **what comes with a reply**: its token counts (`counts.rs`), and state that its server wants back with the turn
//!   (`turn_state.rs`).
//! - **pages**: the text of an error page of HTML (`page.rs`).
//! - **the time of a run**, without its waits for us or for a server (`run_time.rs`).
//! - **the reverse**: any `Model` served on the loopback interface (`server.rs`), each run at a URL of its own if
//!   its requests are counted (`server/runs.rs`). Each protocol has a module: chat completions, completions,
//!   responses (`server/responses.rs`), Anthropic's messages (`server/anthropic.rs`), Gemini's content
//!   (`server/gemini.rs`). `server/target.rs` says what a path requests, and in which protocol errors are reported.

mod chat;
pub mod check;
mod connection;
mod content;
mod counts;
mod facts;
mod http;
mod json;
mod kept;
mod lenient;
mod page;
mod turn_state;
mod unread_calls;

pub mod anthropic;
pub mod metering;
pub mod ollama;
pub mod openai;
pub mod prices;
pub mod providers;
pub mod recording;
pub mod run_time;
pub mod server;
pub mod shown_tools;
pub mod simulated;

pub use chat::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Message, Model, ModelError, ReplyId, ScoredToken, Settings,
};
pub use connection::loading::{LOADING_MAX, LoadingNotice, NoticeOfLoading};
pub use connection::{ConnectionConfig, Protocol, Provider, RETRY_WAIT_MAX};
pub use facts::{LISTED_MODELS_MAX, ServerFacts, Software};
pub use kept::{KEPT_BYTES_MAX, KEPT_REPLIES_MAX, KeepsReplies};
pub use page::{PAGE_CHARACTERS_MAX, page_text};
pub use turn_state::{StatePart, TurnState};
pub use unread_calls::advice_on_unread_calls;
