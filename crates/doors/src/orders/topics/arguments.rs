//! The arguments of `planproof topics`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use planproof_assembly::arguments::AskingArguments;
use planproof_order::synth::{ACTIVITIES_MAX, ACTIVITIES_SHIPPED, TOPICS_MAX};
use planproof_output::values::{file, whole};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:\n  \
              planproof topics\n  \
              planproof topics 'network engineer'")]
pub struct TopicsArguments {
    /// Job whose activities to list.
    pub(crate) job: Option<String>,
    /// File of topics (topics v1) to list, instead of the built-in ones; `-` for stdin.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) topics: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Option<TopicsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TopicsCommand {
    /// Make a new bank of topics with a model.
    ///
    /// The model is asked for jobs, and for the activities of people in them. Its answers are checked, and it is asked
    /// again for what is missing.
    Generate(GenerateArguments),
    /// Make a topic from the tools of your agent.
    ///
    /// Their names and schemas are kept, and the tools themselves are mocked.
    FromMcp(FromMcpArguments),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof topics generate --model openai/gpt-5-mini --jobs 20 --max-cost 1 --out topics.json\n  \
              planproof topics generate --model sim/perfect --jobs 5")]
pub(crate) struct GenerateArguments {
    /// Model to ask: `PROVIDER/NAME`, `NAME=URL/MODEL`, `replay/FILE` or `sim/NAME`.
    ///
    /// `replay/FILE` gives the answers of a recording or a cache. `sim/NAME` only repeats the built-in topics.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: String,
    /// Number of jobs.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = whole(1, TOPICS_MAX as u32))]
    pub(crate) jobs: u32,
    /// Number of activities per job.
    ///
    /// A job with fewer than half as many is left out.
    #[arg(long, default_value_t = ACTIVITIES_SHIPPED as u32, value_name = "N", value_parser = whole(2, ACTIVITIES_MAX as u32))]
    pub(crate) activities: u32,
    #[command(flatten)]
    pub(crate) out: OutArguments,
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof topics from-mcp 'mcp:python server.py' --out topics.json\n  \
              planproof topics from-mcp mcp+http://127.0.0.1:8000/mcp --job 'office assistant'")]
pub(crate) struct FromMcpArguments {
    /// Sources of the tools, as with `planproof run --tools`.
    ///
    /// `mcp:COMMAND` starts an MCP server; `mcp+http://...` and `mcp+https://...` connect to one. `NAME=` before a
    /// source puts `NAME_` before the names of its tools, and makes planproof send the token in PLANPROOF_TOKEN_NAME to
    /// the server. The tools are listed, and never called.
    #[arg(required = true, value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// JSON file of texts for the tools: an object that maps tool names to noun phrases.
    ///
    /// null leaves a tool out. Tools that the file does not name get a text by rule.
    #[arg(long, value_name = "FILE", value_parser = file(), conflicts_with = "model")]
    pub(crate) names: Option<PathBuf>,
    /// Model that writes the texts; by default they are made by rule from the names.
    ///
    /// The model is shown names and descriptions.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Job in the query, as in "You work as an office assistant."
    #[arg(long, default_value = "assistant", value_name = "JOB")]
    pub(crate) job: String,
    /// Flow of data for the topic: the tool TO takes as ARGUMENT what the tool FROM returns.
    ///
    /// It may be given several times. Flows that the tools' descriptions and output schemas suggest are listed on
    /// stderr.
    #[arg(long = "flow", value_name = "FROM:TO.ARGUMENT")]
    pub(crate) flows: Vec<String>,
    /// Leave the tools' descriptions untouched in cases, to test your own.
    ///
    /// Without it each description is followed by a sentence that names its task, as in `Does the task "invoice
    /// retrieval".`, so that an agent need not guess. With it simulated models do not find the tools, so their runs are
    /// unscored.
    #[arg(long)]
    pub(crate) as_is: bool,
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
    /// Overwrite the file of `--out`.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}
