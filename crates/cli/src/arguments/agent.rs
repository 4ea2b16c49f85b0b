//! How an agent and its model are asked, and the arguments of `planproof run`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::values::{SECONDS_MAX, above_zero, whole};

/// Options of agents that are made from a specification.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AgentArguments {
    /// Take so many samples and answer as most of them do (`direct`, `cot`; `fallback:` takes 5 where nothing is said).
    #[arg(long, value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) samples: Option<NonZeroU32>,
    /// What an agent that summarises reads: the likelier of summary and results, or always the one.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) summary: Option<SummaryChoice>,
    /// Who judges the answers that an agent proposes: `none`, `model` (its own), the name of a model, or
    /// `program:COMMAND`, started for each answer, which reads it as JSON and accepts it with exit status 0 or refuses it
    /// with 1 and its reason on stdout.
    #[arg(long, value_name = "WHO")]
    pub(crate) evaluator: Option<String>,
    /// How the model is asked to go on with its text, where not in the best way that it has.
    #[arg(long, value_enum, value_name = "WAY")]
    pub(crate) continuation: Option<Way>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryChoice {
    /// Whichever the model finds likelier; where it tells no probabilities, the shorter one.
    Auto,
    /// The summary.
    Summary,
    /// The results; none is made.
    Results,
}

impl SummaryChoice {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Summary => "summary",
            Self::Results => "results",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// It continues plain text.
    Text,
    /// It continues a message of its own.
    PartialTurn,
    /// It is told to go on.
    Chat,
}

/// How a model behind a server is asked. Simulated models in process need none of it.
#[derive(Debug, Clone, Args)]
pub(crate) struct ModelArguments {
    /// Most requests begun a second, over all runs.
    #[arg(long, value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) requests_per_second: Option<NonZeroU32>,
    /// Longest time of one model request, in seconds.
    #[arg(long, default_value_t = 600.0, value_name = "SECONDS", value_parser = above_zero(SECONDS_MAX, "seconds"))]
    pub(crate) request_timeout: f64,
    /// Attempts at a model request that fails for a passing reason (no connection, 408, 409, 429, 5xx), the first
    /// included. `retry-after` is honoured.
    #[arg(long, default_value_t = NonZeroU32::MIN.saturating_add(3), value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) attempts: NonZeroU32,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The agent: `tools@MODEL` (our function-calling loop), `responses@MODEL` (the same, with the conversation kept by
    /// the model's server), one of a specification (`direct@MODEL`, `cot@`, `react@`, `rewoo@`, `reflexion@`, `pass@`, or
    /// `spec:FILE@MODEL`), `fallback:KIND,KIND@MODEL`, `command:PROGRAM ARGS...`, or `url:URL`; the last two find the tools
    /// at an MCP URL of ours. MODEL is `openai/NAME` (OPENAI_API_KEY, OPENAI_BASE_URL), `anthropic/NAME`
    /// (ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL; not with `responses@`), or `sim/NAME`.
    pub(crate) agent: String,
    #[command(flatten)]
    pub(crate) agent_options: AgentArguments,
    /// What it is asked to do; `-` takes it from stdin.
    pub(crate) task: String,
    /// Tools it may call, once for each source: `mcp:COMMAND` starts an MCP server, `mcp+http://...` and
    /// `mcp+https://...` ask one, `search:FOLDER` and `wiki:URL` search documents and a MediaWiki server, `calculator` is
    /// built in. `NAME=` before it puts `NAME_` before the names of its tools and sends the token in
    /// PLANPROOF_TOKEN_NAME. The tools really do what they do.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) tools: Vec<String>,
    /// Write the trace (trace v1) to this file while the agent runs.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Standing instructions to the model, as its system message.
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Longest time of the run, in seconds.
    #[arg(long, default_value_t = 180.0, value_name = "SECONDS", value_parser = above_zero(SECONDS_MAX, "seconds"))]
    pub(crate) timeout: f64,
    /// Most model turns (for external agents: tool calls).
    #[arg(long, default_value_t = NonZeroU32::MIN.saturating_add(49), value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) iterations: NonZeroU32,
    /// Longest time of one tool call, in seconds.
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS", value_parser = above_zero(SECONDS_MAX, "seconds"))]
    pub(crate) tool_timeout: f64,
    /// Do not ask before an agent gets tools that are not ours. Without a terminal nobody is asked anyway.
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) model: ModelArguments,
}
