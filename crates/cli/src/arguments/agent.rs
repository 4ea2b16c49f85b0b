//! The arguments of `planproof run`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use planproof_agents::REPLY_TOKENS;
use planproof_assembly::arguments::{AgentArguments, ModelArguments, Think};
use planproof_output::values::{SECONDS_MAX, above_zero, whole};

/// When a person is asked about the work on sub-tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewChoice {
    /// When sub-tasks have been planned, before the first one starts.
    Plan,
    /// As with `plan`, and after each sub-task.
    Each,
    /// Never.
    None,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof run tools@openai/gpt-5-mini 'What is 17 * 23?' --tools calculator\n  \
              planproof run react@openai/gpt-5-mini 'When is the deadline?' --tools search:documents\n  \
              planproof run tools@anthropic/claude-haiku-4-5 'List the issues' --tools 'mcp:python server.py'")]
pub(crate) struct RunArguments {
    /// Agent to run, as in `tools@openai/gpt-5-mini`.
    ///
    /// Agents with a model: `tools@MODEL` (our function-calling loop), `tools-cot@MODEL` (the same, but the model
    /// reasons before each call), `responses@MODEL` (the same, but the model's server keeps the conversation),
    /// `plan@MODEL` (writes a plan, then makes its calls), `one-step@MODEL`, `sequential@MODEL`, `hierarchical@MODEL`
    /// (divide the task into sub-tasks with their tools: all at once, one by one, or in groups), `team@MODEL` (a
    /// manager, executors, a supervisor and a deliverer).
    ///
    /// Agents from a specification: `direct@MODEL`, `cot@MODEL`, `react@MODEL`, `rewoo@MODEL`, `reflexion@MODEL`,
    /// `pass@MODEL`, or `spec:FILE@MODEL`. `fallback:KIND,KIND@MODEL` takes samples of the first agent, and asks the
    /// second if no two samples agree.
    ///
    /// External agents: `command:PROGRAM ARGS...`, `worker:PROGRAM ARGS...`, `url:URL`. They reach the tools at an MCP
    /// URL that planproof serves.
    ///
    /// MODEL is `PROVIDER/NAME`, as in `openai/gpt-5-mini` or `ollama/qwen3:4b` (reads PROVIDER_BASE_URL and
    /// PROVIDER_API_KEY; docs/models.md lists the providers), `NAME=URL/MODEL` (any server that speaks OpenAI's
    /// protocol, as in `mine=http://127.0.0.1:8000/v1/qwen3`), or `sim/NAME` (a simulated model).
    pub(crate) agent: String,
    #[command(flatten)]
    pub(crate) agent_options: AgentArguments,
    /// Task for the agent; `-` reads it from stdin.
    pub(crate) task: String,
    /// Tools that the agent may call. Repeatable, once per source.
    ///
    /// `mcp:COMMAND` starts an MCP server; `mcp+http://...` and `mcp+https://...` connect to one. `search:FOLDER`
    /// searches documents, `wiki:URL` a MediaWiki server. `calculator` and `python` are built in. `everyday:FILE` has
    /// tools for programs, documents, translations and more, and calls the servers that FILE names. `made:FILE` has the
    /// tools that agents make and keep in FILE.
    ///
    /// `NAME=` before a source puts `NAME_` before the names of its tools, and makes planproof send the token in
    /// PLANPROOF_TOKEN_NAME to the server. The tools are real, and so are the effects of calls.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) tools: Vec<String>,
    /// Deny calls that violate these rules (rules v1).
    ///
    /// The agent reads which rule denied the call, and why. What the rules still demand when it has answered is
    /// reported, and the exit status is 1.
    #[arg(long, value_name = "FILE", requires = "tools")]
    pub(crate) rules: Option<PathBuf>,
    /// Write the trace (trace v1) to this file while the agent runs.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Show planned sub-tasks, and ask before the agent continues.
    ///
    /// For `team@MODEL`, `one-step@MODEL`, `sequential@MODEL` and `hierarchical@MODEL`.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "none")]
    pub(crate) review: ReviewChoice,
    /// System message for the model.
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Time limit of the run, in seconds.
    ///
    /// Time spent waiting for rate limits and between attempts at a request does not count. By default 180, or 1.5
    /// times `--request-timeout` if that is 180 or more; for a model on this machine, 1800 instead of 180.
    #[arg(long, value_name = "SECONDS", value_parser = above_zero(SECONDS_MAX, "seconds"))]
    pub(crate) timeout: Option<f64>,
    /// Maximum number of model turns (of tool calls, for external agents).
    #[arg(long, default_value_t = NonZeroU32::MIN.saturating_add(49), value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) iterations: NonZeroU32,
    /// Maximum number of tokens of one reply of the model.
    ///
    /// For our own agents. A reply that reaches it without a call ends the run.
    #[arg(long, default_value_t = REPLY_TOKENS, value_name = "N", value_parser = whole(1, u32::MAX))]
    pub(crate) reply_tokens: u32,
    /// Time limit of one tool call, in seconds.
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS", value_parser = above_zero(SECONDS_MAX, "seconds"))]
    pub(crate) tool_timeout: f64,
    /// Do not ask before giving the agent the tools of an MCP server.
    ///
    /// Without a terminal, planproof does not ask.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Whether a model of `ollama/` thinks before it replies; by default it decides.
    #[arg(long, value_enum, value_name = "WHEN")]
    pub(crate) think: Option<Think>,
    #[command(flatten)]
    pub(crate) model: ModelArguments,
}
