//! Agents that are not ours: a program started for each case, or a service asked for each case.
//!
//! Both get the query and a URL where the case's tools are offered over the Model Context Protocol, and give back
//! text. What they did is judged from the calls that arrived at that URL, never from what they say.
//!
//! Whatever the agent does (hangs, floods, crashes, leaves children behind) ends in an
//! [`EndReason`] and leaves nothing running; see [`CommandAgent`] for what that covers.

mod command;
mod url;

use planproof_trace::{EndReason, EventKind, LimitKind, Recorder};
use tokio_util::sync::CancellationToken;

use crate::RunLimits;

pub use command::CommandAgent;
pub use url::{UrlAgent, UrlError};

/// Most characters of what an agent wrote that a reason repeats.
const QUOTE_CHARS_MAX: usize = 200;

/// What an external agent is run with.
#[derive(Clone, Copy)]
pub struct ExternalRun<'a> {
    /// All that the agent sees of the case, besides its tools.
    pub query: &'a str,
    /// Where its tools are.
    pub mcp_url: &'a str,
    /// What ends the run if nothing else does. `iterations` is watched by whoever counts the tool calls.
    pub limits: &'a RunLimits,
    /// Is cancelled when the agent has called more tools than `limits.iterations`.
    pub limit_reached: &'a CancellationToken,
    /// Takes the query when the run starts and the end the moment it is known, so that a call which a dying agent
    /// still makes is no part of the run.
    pub recorder: &'a Recorder,
}

impl ExternalRun<'_> {
    fn begin(&self) {
        self.recorder.record(EventKind::Query { text: self.query.to_owned() });
    }

    fn end(&self, reason: EndReason) -> EndReason {
        self.recorder.end(reason.clone());
        reason
    }

    /// The end by a limit.
    fn over(&self, limit: LimitKind) -> EndReason {
        let value = match limit {
            LimitKind::WallMilliseconds => self.limits.wall_ms(),
            LimitKind::Iterations => u64::from(self.limits.iterations),
            // Its text is its output.
            LimitKind::OutputBytes | LimitKind::TextBytes => self.limits.output_bytes,
        };
        EndReason::LimitReached { limit, value }
    }
}

/// At most [`QUOTE_CHARS_MAX`] characters of `text`, with a mark where something was left out.
fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(QUOTE_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
