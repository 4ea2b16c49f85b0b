//! Agents that are not ours: a program started for each case, one that is kept for many cases, or a service asked for
//! each case.
//!
//! All of them get the query and a URL where the case's tools are offered over the Model Context Protocol, and return
//! text. They are judged by the calls that arrived at that URL, never by what they claim.
//!
//! Whatever the agent does (hangs, floods, crashes, leaves children behind) ends in an
//! [`EndReason`] and leaves nothing running; see [`CommandAgent`] for what that covers.

mod command;
mod environment;
mod question;
mod url;
mod worker;

use planproof_trace::{EndReason, EventKind, LimitKind, Recorder};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use crate::RunLimits;

pub use command::CommandAgent;
pub use environment::{ProgramSetting, SERVED_VARIABLES, holds_key};
pub use url::{BodyName, FormError, SERVICE_HEADERS_MAX, ServiceForm, UrlAgent, UrlError, with_variables};
pub use worker::WorkerAgent;

/// Most characters of the beginning, and of the end, of an agent's output that a reason repeats.
const QUOTE_CHARS_MAX: usize = 200;

/// A model that is served to the agent, in the protocols of OpenAI, Anthropic and Gemini.
#[derive(Debug, Clone, Copy)]
pub struct ModelAccess<'a> {
    /// Where: a URL of this run alone, which ends with the version, as OpenAI's clients require. The other clients
    /// accept that as well.
    pub base_url: &'a str,
    /// The key that it takes.
    pub api_key: &'a SecretString,
    pub name: &'a str,
}

/// What an external agent is run with.
#[derive(Clone, Copy)]
pub struct ExternalRun<'a> {
    /// All that the agent sees of the case, besides its tools.
    pub query: &'a str,
    /// What the user says later, each when the agent has answered.
    pub later: &'a [String],
    /// Where its tools are.
    pub mcp_url: &'a str,
    /// The model that is served to it; `None` if it brings its own.
    pub model: Option<ModelAccess<'a>>,
    /// What ends the run if nothing else does. The servers that count tool calls and model turns enforce
    /// `iterations`.
    pub limits: &'a RunLimits,
    /// Cancelled when the agent has made more than `limits.iterations` tool calls or requests to the served model.
    pub limit_reached: &'a CancellationToken,
    /// Takes the query when the run starts, and is closed the moment the end is known, so that a late call by a dying
    /// agent is not part of the run.
    pub recorder: &'a Recorder,
}

impl ExternalRun<'_> {
    fn begin(&self) {
        self.recorder.record(EventKind::Query { text: self.query.to_owned() });
    }

    fn end(&self, reason: EndReason) -> EndReason {
        self.recorder.close();
        reason
    }

    /// The end by a limit.
    fn over(&self, limit: LimitKind) -> EndReason {
        let value = match limit {
            LimitKind::WallMilliseconds => self.limits.wall_ms(),
            LimitKind::Iterations => u64::from(self.limits.iterations),
            // The text of an external agent is its output.
            LimitKind::OutputBytes | LimitKind::TextBytes => self.limits.output_bytes,
            // Replies to an external agent are its own business.
            LimitKind::ReplyTokens => self.limits.reply_tokens.map_or(0, u64::from),
        };
        EndReason::LimitReached { limit, value }
    }
}

/// At most [`QUOTE_CHARS_MAX`] characters of the beginning and of the end of `text`, with a mark where something was
/// left out: the message of a traceback is at its end.
fn shortened(text: &str) -> String {
    let text = text.trim();
    let count = text.chars().count();
    if count <= 2 * QUOTE_CHARS_MAX {
        return text.to_owned();
    }
    let head: String = text.chars().take(QUOTE_CHARS_MAX).collect();
    let tail: String = text.chars().skip(count - QUOTE_CHARS_MAX).collect();
    format!("{head}...{tail}")
}
