//! The command line. Each family of commands has a module.

mod agent;
mod bench;
mod campaign;
mod check;
mod groups;
mod idle;
mod models;
mod prompts;
mod rules;
mod serve;
mod setup;
mod shard;
mod short;
mod spec;
mod stored;
mod test;
mod view;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use planproof_config::Given;
use planproof_doors::Globals;
use planproof_doors::mnms::arguments::MnmsArguments;
use planproof_doors::orders::arguments::{ReadArguments, SynthArguments};
use planproof_doors::orders::topics::arguments::TopicsArguments;
use planproof_doors::scenarios::arguments::ScenarioArguments;
use planproof_live::arguments::doctor::DoctorArguments;
use planproof_live::arguments::guard::GuardArguments;
use planproof_live::arguments::hook::HookArguments;
use planproof_output::print::Printing;
use planproof_output::values::{Signed, file, whole};

pub(crate) use crate::suites::orders::arguments::LimitArguments;
pub(crate) use agent::*;
pub(crate) use bench::{
    BenchArguments, BenchCommand, CHOOSING, ChoiceArguments, ModelsArguments, ScoreArguments, TestForm,
};
pub(crate) use campaign::*;
pub(crate) use check::CheckArguments;
pub(crate) use groups::in_groups;
pub(crate) use idle::{has_use, without_effect, without_idle_options};
pub(crate) use models::*;
pub(crate) use prompts::PromptsArguments;
pub(crate) use rules::{RulesArguments, RulesCommand};
pub(crate) use serve::*;
pub(crate) use setup::*;
pub(crate) use shard::*;
pub(crate) use short::with_short_helps;
pub(crate) use spec::*;
pub(crate) use stored::*;
pub(crate) use test::{DISSECT, RuleCasesArguments, SHRINK, TestArguments};
pub(crate) use view::ViewArguments;

/// Test how LLM agents plan, on synthesised English tasks whose right order is known, with mock tools and an oracle.
#[derive(Debug, Parser)]
#[command(name = "planproof", version, arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "Examples:\n  planproof demo\n  planproof test tools@sim/careless --cases 20\n  \
                  planproof runs show last\n\n\
                  Exit status: 0 all passed, or a replay matches its recording; 1 failures found; 2 usage, \
                  configuration or input error; 3 otherwise: something outside failed, a replay differs from its \
                  recording, or a campaign was interrupted or ended by a budget.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Print machine-readable output: one JSON document, or JSON lines.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Seed of all random draws: the same seed gives the same cases.
    #[arg(long, global = true, default_value_t = 7, value_parser = whole(0, u64::MAX))]
    pub(crate) seed: u64,
    /// Show no progress on stderr.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Configuration file, or `none` to read none.
    ///
    /// By default the nearest `planproof.toml`: in the current directory or a folder above it, up to the root of the
    /// repository.
    #[arg(long, global = true, env = "PLANPROOF_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Set a configuration key, as in `--set test.cases=20`.
    ///
    /// `KEY=` unsets the key. Repeatable.
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Keep the value of this environment variable out of all output.
    ///
    /// Values of variables whose names suggest a key are kept out anyway. Repeatable.
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) secret: Vec<String>,
    /// File of further providers of models (providers v1): their names, base URLs and variables of keys.
    ///
    /// It decides which key is sent where, so no configuration file can name it.
    #[arg(long, global = true, env = "PLANPROOF_PROVIDERS", value_name = "FILE", value_parser = file())]
    pub(crate) providers: Option<PathBuf>,
    /// Send the key in this environment variable to a server that is named by its URL.
    ///
    /// As in `--key-for https://gpu.example/v1=GPU_API_KEY` for the model `mine=https://gpu.example/v1/qwen3`. Without
    /// it such a server gets no key. Repeatable.
    #[arg(long, global = true, value_name = "URL=VARIABLE")]
    pub(crate) key_for: Vec<String>,
    /// The command line, with what the configuration file and `--set` add to it, quoted for a shell.
    #[arg(skip)]
    pub(crate) command_line: String,
    /// Which arguments the command line, the configuration file or `--set` gives.
    #[arg(skip)]
    pub(crate) given: Given,
}

impl Global {
    /// How to print.
    pub(crate) fn printing(&self) -> Printing {
        Printing { json: self.json, quiet: self.quiet }
    }

    /// What the commands of suites read of them.
    pub(crate) fn of_suites(&self) -> Globals {
        Globals { json: self.json, quiet: self.quiet, seed: self.seed }
    }
}

impl Arguments {
    /// Gives `--compat` to what it is about: the judgement of a suite or the dissection of failures where there is one,
    /// and else the agent. `judges` says whether a suite judges runs by it.
    pub(crate) fn settle(&mut self, judges: impl Fn(&str) -> bool) {
        match &mut self.command {
            Command::Test(test) => {
                if test.sequels.has(DISSECT) {
                    let compat = test.campaign.agent_options.compat.take();
                    test.sequels.follow(compat);
                } else if test.campaign.resume.is_some() {
                    // From the configuration file: on the command line it is refused. A campaign keeps its agent.
                    test.campaign.agent_options.compat = None;
                }
            }
            Command::Bench(bench) if bench.suite.as_deref().is_some_and(judges) => {
                bench.compat = bench.campaign.agent_options.compat.take();
            }
            _ => {}
        }
    }
}

/// The commands. Only the arguments of the one that is called are built: those of all would be most of a short command.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Show a complete test without a key or a network: simulated agents, a table, three findings.
    Demo(Signed<DemoArguments>),
    /// Synthesise cases, one JSON line (case v1) each.
    Synth(Signed<SynthArguments>),
    /// List the topics of cases, or the activities of one topic, or make your own topics.
    Topics(Box<Signed<TopicsArguments>>),
    /// Read the English of cases back into constraints.
    Read(Signed<ReadArguments>),
    /// Judge a plan, or recorded runs of cases.
    Check(Signed<CheckArguments>),
    /// Test how an agent plans.
    Test(Box<Signed<TestArguments>>),
    /// Run an agent on a benchmark, a suite of cases from published data.
    ///
    /// Without a suite, list the suites.
    Bench(Box<Signed<BenchArguments>>),
    /// Score finished predictions for a benchmark, without running an agent.
    Score(Box<Signed<ScoreArguments>>),
    /// Find the number of actions up to which an agent plans well enough.
    Limit(Box<Signed<LimitArguments>>),
    /// Make data for the benchmark mnms: queries with plans over its 33 tools.
    ///
    /// Also makes rating sheets for people, and filters the data by the ratings.
    Mnms(Box<Signed<MnmsArguments>>),
    /// Print stored campaigns in the layout of the paper's tables, beside the published figures.
    ///
    /// For campaigns of `planproof test` and `planproof limit`. The paper is the one on PDoctor (arXiv 2404.17833).
    Tables(Signed<TablesArguments>),
    /// Run an agent on a task with your own tools, and show its trace.
    Run(Signed<RunArguments>),
    /// Print the prompt that an agent asks for a plan with, to start your own from.
    ///
    /// `prompt=FILE` in the name of an agent, as in `plan:prompt=plan.txt@MODEL`, replaces it.
    Prompts(Signed<PromptsArguments>),
    /// Check whether models and their servers can be tested.
    Models(Signed<ModelsCommands>),
    /// Serve a model on this machine over the protocols of OpenAI, Anthropic and Gemini.
    ServeModel(Signed<ServeModelArguments>),
    /// Serve the mock tools of a case over MCP, and judge the calls.
    ServeTools(Signed<ServeToolsArguments>),
    /// Serve a SIMULATION of all servers that the tools of mnms use, and print the settings that point to it.
    ServeMedia(Signed<ServeMediaArguments>),
    /// Write the job, workflow or command line that runs a campaign in shards on many machines.
    Shard(Signed<ShardArguments>),
    /// List, show, export, merge, verify, label or delete stored campaigns, and list or delete lessons.
    Runs(Signed<RunsArguments>),
    /// Write reports of a stored campaign, or compare campaigns.
    Report(Signed<ReportArguments>),
    /// Show campaigns in a browser, also while they run.
    ///
    /// Serves pages on 127.0.0.1 until Ctrl-C. Only whoever has the printed address can open them, and they change
    /// nothing.
    View(Signed<ViewArguments>),
    /// Check, walk through, draw or compile a behaviour specification.
    Spec(Signed<SpecArguments>),
    /// Check rules on the calls of a session, and show what they mean.
    Rules(Signed<RulesArguments>),
    /// Hold an agent to rules while it works: stands before an MCP server, and rejects calls.
    Guard(Signed<GuardArguments>),
    /// Hold a coding agent to rules at its hooks: takes one event on stdin, and answers it.
    Hook(Signed<HookArguments>),
    /// Find the agents that are configured here, and say whether their calls are held to rules.
    Doctor(Signed<DoctorArguments>),
    /// Check cases of your own, and write a first file of them.
    Scenario(Signed<ScenarioArguments>),
    /// Write a starter configuration file.
    Init(Signed<InitArguments>),
    /// Print shell completions.
    Completions(Signed<CompletionsArguments>),
    /// Print the manual page, or write the page of each command to a folder.
    Man(Signed<ManArguments>),
}
