//! The arguments of `planproof topics`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use planproof_order::synth::{ACTIVITIES_MAX, ACTIVITIES_SHIPPED, TOPICS_MAX};

use super::{BudgetArguments, ModelArguments};
use crate::values::{file, whole};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct TopicsArguments {
    /// A job.
    pub(crate) job: Option<String>,
    /// Look at the topics of this file (topics v1) instead of those that come with planproof; `-` for stdin.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) topics: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<TopicsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TopicsCommand {
    /// Make another bank of topics: ask a model for jobs and what people in them do, check what it lists, and
    /// ask again for what is missing.
    Generate(GenerateArguments),
    /// Make a topic of the tools that your agent will have: their names and schemas stay, what they do is mocked.
    FromMcp(FromMcpArguments),
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArguments {
    /// Whom to ask: `openai/NAME`, `anthropic/NAME`, `replay/FILE` (the answers of a recording or a cache),
    /// or `sim/NAME`, which only repeats the topics that come with planproof.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: String,
    /// Number of jobs.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = whole(1, TOPICS_MAX as u32))]
    pub(crate) jobs: u32,
    /// Number of activities of each job. A job with less than half of them is left out.
    #[arg(long, default_value_t = ACTIVITIES_SHIPPED as u32, value_name = "N", value_parser = whole(2, ACTIVITIES_MAX as u32))]
    pub(crate) activities: u32,
    #[command(flatten)]
    pub(crate) out: OutArguments,
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
}

#[derive(Debug, Args)]
pub(crate) struct FromMcpArguments {
    /// Where the tools are, once for each source, as `planproof run --tools` takes it: `mcp:COMMAND` starts
    /// an MCP server, `mcp+http://...` and `mcp+https://...` ask one; `NAME=` before it puts `NAME_` before
    /// the names of its tools and sends the token in PLANPROOF_TOKEN_NAME. The tools are listed, and never
    /// called.
    #[arg(required = true, value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// Texts for the tools: a JSON object from names to noun phrases, with null for a tool that is to be left
    /// out. Tools that are not in it get a text by rule.
    #[arg(long, value_name = "FILE", value_parser = file(), conflicts_with = "model")]
    pub(crate) names: Option<PathBuf>,
    /// Ask this model for the texts, which are otherwise made of the tools' names by rule. The model is shown names and
    /// descriptions.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The job in the query, as in "You work as an office assistant."
    #[arg(long, default_value = "assistant", value_name = "JOB")]
    pub(crate) job: String,
    #[command(flatten)]
    pub(crate) out: OutArguments,
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
}

/// Where the topics go.
#[derive(Debug, Args)]
pub(crate) struct OutArguments {
    /// Write the topics to this file, for `--topics`; by default to stdout.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file of `--out`.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

/// How a model is asked for topics, and what that may take.
#[derive(Debug, Args)]
pub(crate) struct AskingArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) budget: BudgetArguments,
    /// Answer from this file what it holds, and ask the model only for the rest, which is added to it: what
    /// was interrupted is not paid twice, and `--model replay/FILE` gives the same topics again.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) cache: Option<PathBuf>,
}
