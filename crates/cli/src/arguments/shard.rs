//! The arguments of `planproof shard`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use planproof_output::values::{file, whole};

/// Most shards of a plan: no campaign has more cases.
const SHARDS_MAX: NonZeroU32 = NonZeroU32::MIN.saturating_add(99_999);

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof shard plan --for slurm --shards 40 -- test tools@openai/gpt-5-mini")]
pub(crate) struct ShardArguments {
    #[command(subcommand)]
    pub(crate) command: ShardCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ShardCommand {
    /// Write what a scheduler needs to run a campaign in shards: a job, a workflow or a command line.
    ///
    /// No program is started and no server asked. The output says how it is submitted, and how the shards are merged.
    #[command(after_help = "Examples:\n  \
                  planproof shard plan --for slurm --shards 40 -- test tools@openai/gpt-5-mini\n  \
                  planproof shard plan --for parallel --shards 8 -- test tools@sim/careless --cases 4000")]
    Plan(ShardPlanArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ShardPlanArguments {
    /// Scheduler that runs the shards.
    #[arg(long = "for", value_enum, value_name = "SCHEDULER")]
    pub(crate) scheduler: Scheduler,
    /// Number of shards; more than machines keep all of them busy to the end.
    #[arg(long, value_name = "N", value_parser = whole(NonZeroU32::MIN, SHARDS_MAX))]
    pub(crate) shards: NonZeroU32,
    /// Folder of the shards' run stores, which all machines share; by default `shards`.
    ///
    /// The pods of Kubernetes have a volume instead.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
    /// Image with planproof and the agent, for Kubernetes.
    #[arg(long, default_value = "planproof:latest", value_name = "IMAGE")]
    pub(crate) image: String,
    /// File that the campaign reads (an agent's program, cases, rules), for the pods of Kubernetes. Repeatable.
    ///
    /// The files are written into a ConfigMap, which is the current directory of the campaign, so name them there
    /// without a folder. Together they may have 768 KiB. Elsewhere all machines have the files anyway.
    #[arg(long = "with", value_name = "FILE", value_parser = file())]
    pub(crate) files: Vec<PathBuf>,
    /// The campaign: `test` or `bench` with its arguments, without --shard and --store.
    #[arg(required = true, last = true, value_name = "ARGUMENTS")]
    pub(crate) line: Vec<String>,
}

/// What runs the shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scheduler {
    /// An array job for sbatch.
    Slurm,
    /// An Indexed Job and its volume for kubectl.
    Kubernetes,
    /// A workflow with a matrix of jobs, and a job that merges.
    Github,
    /// A command line for GNU parallel.
    Parallel,
}
