//! The command line. Each family of commands has a module.

mod agent;
mod bench;
mod campaign;
mod cases;
mod groups;
mod limit;
mod mnms;
mod serve;
mod setup;
mod spec;
mod stored;
mod test;
mod topics;

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::values::{Signed, whole};
pub(crate) use agent::*;
pub(crate) use bench::{
    BenchArguments, BenchCommand, CHOOSING, ChoiceArguments, ModelsArguments, ScoreArguments, TestForm,
};
pub(crate) use campaign::*;
pub(crate) use cases::*;
pub(crate) use groups::in_groups;
pub(crate) use limit::LimitArguments;
pub(crate) use mnms::*;
pub(crate) use serve::*;
pub(crate) use setup::*;
pub(crate) use spec::*;
pub(crate) use stored::*;
pub(crate) use test::TestArguments;
pub(crate) use topics::{
    AskingArguments, FromMcpArguments, GenerateArguments, OutArguments, TopicsArguments, TopicsCommand,
};

/// Test how LLM agents plan: synthesised tasks in English whose right order is known, mock tools, and an oracle.
#[derive(Debug, Parser)]
#[command(name = "planproof", version, arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
#[command(
    after_help = "Exit status: 0 all passed, or a replay is as recorded; 1 failures found; 2 usage, configuration or input error; \
                        3 something outside failed, a replay differs from its recording, or a campaign was \
                        interrupted or ended by a budget, and nothing else."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Write one machine-readable document, or JSON lines, to stdout.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Seed of all that is drawn: the same seed gives the same cases.
    #[arg(long, global = true, default_value_t = 7, value_parser = whole(0, u64::MAX))]
    pub(crate) seed: u64,
    /// No progress on stderr.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// The configuration file, or `none` for none; by default the nearest `planproof.toml` of this folder and those
    /// above it up to the repository's root.
    #[arg(long, global = true, env = "PLANPROOF_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Set a key as the configuration file does, as in `--set test.cases=20`; `KEY=` unsets it.
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Keep the value of this variable of the environment out of all that is written, as is done with variables whose
    /// names say that they hold a key. Repeatable.
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) secret: Vec<String>,
    /// The command line, with what the configuration file and `--set` add to it, quoted for a shell.
    #[arg(skip)]
    pub(crate) command_line: String,
    /// Which arguments the command line, the configuration file or `--set` gives.
    #[arg(skip)]
    pub(crate) given: Given,
}

/// The ids of the arguments that are given; defaults and the environment do not count.
#[derive(Debug, Default)]
pub(crate) struct Given(BTreeSet<String>);

impl Given {
    pub(crate) fn new(ids: impl IntoIterator<Item = String>) -> Self {
        Self(ids.into_iter().collect())
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.0.contains(id)
    }
}

/// The commands. Only the arguments of the one that is called are built: those of all would be most of a short command.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Show the main job, without a key or a network: simulated agents, a table, three findings.
    Demo(Signed<DemoArguments>),
    /// Synthesise cases: one case v1 document a line.
    Synth(Signed<SynthArguments>),
    /// List the topics that cases are drawn from, or the activities of one; make topics of your own.
    Topics(Box<Signed<TopicsArguments>>),
    /// Read English back into constraints.
    Read(Signed<ReadArguments>),
    /// Judge one plan of one case.
    Check(Signed<CheckArguments>),
    /// Test how an agent plans.
    Test(Box<Signed<TestArguments>>),
    /// Run an agent on a benchmark: a suite of cases from published data. Without a suite, list those that there are.
    Bench(Box<Signed<BenchArguments>>),
    /// Score finished predictions for a benchmark, without a model.
    Score(Box<Signed<ScoreArguments>>),
    /// Find up to how many actions an agent plans well enough.
    Limit(Box<Signed<LimitArguments>>),
    /// Make data for the benchmark mnms: queries and plans over its 33 tools, sheets for people who rate them, and what
    /// is kept.
    Mnms(Box<Signed<MnmsArguments>>),
    /// Print former campaigns in the shape of the paper's tables, and the paper's own figures beside them.
    Tables(Signed<TablesArguments>),
    /// Run an agent on a task with your own tools, and show what it does.
    Run(Signed<RunArguments>),
    /// Offer a model on this machine, in the protocols of OpenAI, Anthropic and Gemini.
    ServeModel(Signed<ServeModelArguments>),
    /// Offer the mock tools of one case over MCP, and judge the calls.
    ServeTools(Signed<ServeToolsArguments>),
    /// Offer a SIMULATION of all servers that the tools of mnms ask, and print the settings that lead to it.
    ServeMedia(Signed<ServeMediaArguments>),
    /// Look at former campaigns in the run store.
    Runs(Signed<RunsArguments>),
    /// Write reports of a former campaign, or compare two.
    Report(Signed<ReportArguments>),
    /// Check a behaviour specification, or walk through it.
    Spec(Signed<SpecArguments>),
    /// Write a configuration file to begin with.
    Init(Signed<InitArguments>),
    /// Print the completions for a shell.
    Completions(Signed<CompletionsArguments>),
    /// Print the manual page, or write one for each command into a folder.
    Man(Signed<ManArguments>),
}
