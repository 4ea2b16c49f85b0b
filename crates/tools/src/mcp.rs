//! A toolbox offered over the Model Context Protocol, to external agents.
//!
//! [`McpServer`] serves any number of runs over streamable HTTP on the loopback interface. Each run has a URL of its
//! own with an unguessable token in the path, and everything that belongs to the run depends on that URL: several
//! frameworks open a new protocol session for each tool call, and the newest protocol has no sessions at all, so a
//! session identifies nothing. One URL serves both protocol eras, `server/discover` (2026-07-28) and `initialize`
//! (2024-11-05 to 2025-11-25), statelessly and in plain JSON.
//!
//! [`serve_stdio`] offers one toolbox to the program that started us. [`BetweenServer`] stands between clients and the
//! server of somebody else (`mcp/between.rs`, with the messages in streams in `mcp/events.rs`).
//!
//! Protection against other programs and web pages on the same machine: the token, the check of the `Host` header
//! (loopback names only), and the refusal of every request with an `Origin` header, which only browsers send.

mod between;
mod events;
mod handler;
mod listed;
mod server;
mod stdio;
mod streams;
mod token;
mod written;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use planproof_trace::Recorder;
use thiserror::Error;

use crate::Toolbox;

pub use between::{
    Between, BetweenConfig, BetweenServer, BindError, Exchange, HTTP_MESSAGE_BYTES_MAX, Passage,
    SESSION_BYTES_MAX, SessionName,
};
pub use server::{McpRun, McpServer};
pub use stdio::{serve_stdio, serve_stream, standard_streams};
pub use token::{AccessToken, TOKEN_BYTES};
pub use written::{EARLIER_CALLS_WAIT_MAX, WRITTEN_REPLIES_MAX, WrittenCalls};

/// Most bytes of one request: a tool call with its arguments.
pub const REQUEST_BYTES_MAX: usize = 1024 * 1024;

/// Most runs open at once on one server.
pub const RUNS_MAX: usize = 4096;

/// How long answers of mock tools are delayed, so that concurrent calls overlap: much longer than a framework takes
/// to send the calls of one reply, much shorter than a model takes for the next one.
pub const OVERLAP_HOLD: Duration = Duration::from_millis(50);

/// What one run offers.
#[derive(Clone)]
pub struct RunTools {
    pub toolbox: Arc<dyn Toolbox>,
    /// Takes the events. Once its run has ended, calls are answered by an error result.
    pub recorder: Recorder,
    /// Most tool calls of the run; later ones are answered by an error result and not recorded.
    pub calls_max: u32,
    /// The output of the run's model, if it is known.
    pub written: Option<Arc<WrittenCalls>>,
    /// How long the answer to a call is delayed until no other call has arrived, so that concurrent calls are seen to
    /// overlap, however fast the tools are. Not for calls that are known from the model's output, nor if only one is
    /// made at a time.
    pub hold: Duration,
}

/// Why tools cannot be served. None of these is the agent's fault.
#[derive(Debug, Error)]
pub enum McpError {
    /// The port cannot be had.
    #[error("cannot listen on {address} for tool calls: {source}; choose another port")]
    Bind {
        address: SocketAddr,
        /// The operating system's word.
        source: io::Error,
    },
    /// Too many runs are open at once.
    #[error("{limit} runs have their tools open already: run fewer cases at once")]
    TooManyRuns { limit: usize },
    /// The token belongs to an open run: its randomness has repeated itself.
    #[error("an access token was drawn twice: the source of randomness is broken")]
    TokenInUse,
    /// The conversation over stdin and stdout broke.
    #[error("the client on stdin and stdout went away or broke the protocol: {reason}")]
    Stream { reason: String },
}
