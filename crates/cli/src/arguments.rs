//! The command line.

mod limit;
mod topics;

use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::Range;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use planproof_bench::{CANDIDATE_RUNS_MAX, DissectOptions, ShrinkOptions, TRIALS_MAX};
use planproof_model::prices::DOLLARS_MAX;
use planproof_synth::{Day, Options, TimeOptions};
use planproof_trace::TimeOfDay;

use crate::failure::Failure;
use crate::report_files::ReportFileArguments;
use crate::values::{MINUTES_MAX, SECONDS_MAX, above_zero, file, whole};
pub(crate) use limit::LimitArguments;
pub(crate) use topics::{
    AskingArguments, FromMcpArguments, GenerateArguments, OutArguments, TopicsArguments, TopicsCommand,
};

/// Test how LLM agents plan: synthesised tasks in English whose right order is known, mock tools, and an oracle.
#[derive(Debug, Parser)]
#[command(name = "planproof", version, arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
#[command(
    after_help = "Exit status: 0 all passed; 1 failures found; 2 usage, configuration or input error; \
                        3 something outside failed, or a replay differs from its recording, and nothing else."
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
    /// The command line, with what the configuration file and `--set` add to it, quoted for a shell.
    #[arg(skip)]
    pub(crate) command_line: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the main job, without a key or a network: simulated agents, a table, three findings.
    Demo(DemoArguments),
    /// Synthesise cases: one case v1 document a line.
    Synth(SynthArguments),
    /// List the topics that cases are drawn from, or the activities of one; make topics of your own.
    Topics(Box<TopicsArguments>),
    /// Read English back into constraints.
    Read(ReadArguments),
    /// Judge one plan of one case.
    Check(CheckArguments),
    /// Test how an agent plans.
    Test(Box<TestArguments>),
    /// Find up to how many actions an agent plans well enough.
    Limit(Box<LimitArguments>),
    /// Print former campaigns in the shape of the paper's tables, and the paper's own figures beside them.
    Tables(TablesArguments),
    /// Run an agent on a task with your own tools, and show what it does.
    Run(RunArguments),
    /// Offer a model as an OpenAI-compatible endpoint on this machine.
    ServeModel(ServeModelArguments),
    /// Offer the mock tools of one case over MCP, and judge the calls.
    ServeTools(ServeToolsArguments),
    /// Look at former campaigns in the run store.
    Runs(RunsArguments),
    /// Write reports of a former campaign, or compare two.
    Report(ReportArguments),
    /// Check a behaviour specification, or walk through it.
    Spec(SpecArguments),
    /// Write a configuration file to begin with.
    Init(InitArguments),
    /// Print the completions for a shell.
    Completions(CompletionsArguments),
    /// Print the manual page, or write one for each command into a folder.
    Man(ManArguments),
}

/// How cases are drawn.
#[derive(Debug, Clone, Args)]
pub(crate) struct CaseArguments {
    /// Number of actions: one number, or a range with both ends included.
    #[arg(long, default_value = "3..5", value_name = "N..M", value_parser = parse_range)]
    pub(crate) actions: (u32, u32),
    /// Place of the first case in the seed's sequence.
    #[arg(long, default_value_t = 0, value_name = "INDEX", value_parser = whole(0, u64::MAX))]
    pub(crate) first: u64,
    #[command(flatten)]
    pub(crate) shape: ShapeArguments,
}

/// How cases are drawn, whatever their number of actions.
#[derive(Debug, Clone, Args)]
pub(crate) struct ShapeArguments {
    /// Draw from the topics of this file (topics v1; `planproof topics generate` and `planproof topics from-mcp` write one)
    /// instead of those that come with planproof; `-` for stdin. With `--from`, dissection takes its tasks from it.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) topics: Option<PathBuf>,
    /// The job of all cases (`planproof topics` lists them); by default each case draws one.
    #[arg(long, value_name = "JOB")]
    pub(crate) topic: Option<String>,
    /// Number of tools that belong to no task of the case.
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = whole(0, u32::MAX))]
    pub(crate) distractors: u32,
    /// Most sentences; by default as many as actions.
    #[arg(long, value_name = "N", value_parser = whole(0, u32::MAX))]
    pub(crate) sentences_max: Option<u32>,
    /// Most sub-sentences of a sentence.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = whole(0, u8::MAX))]
    pub(crate) sub_sentences_max: u8,
    /// Most actions of a list; by default 2, and 3 from six actions on.
    #[arg(long, value_name = "N", value_parser = whole(0, u8::MAX))]
    pub(crate) list_max: Option<u8>,
    /// Levels of relative clauses: 0 for none, 1 for relative clauses without another one inside, up to 3.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole(0, u8::MAX))]
    pub(crate) relative_depth: u8,
    /// Most tries for one sentence.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = whole(0, u32::MAX))]
    pub(crate) tries_max: u32,
    /// The time form: tasks have start times and hidden durations, and the text names clock times.
    #[arg(long)]
    pub(crate) time: bool,
    /// Within which all tasks have to be done (time form).
    #[arg(long, default_value = "08:00-20:00", value_name = "HH:MM-HH:MM", value_parser = parse_day)]
    #[arg(requires = "time")]
    pub(crate) day: Day,
    /// Minutes that a task takes (time form): one number, or a range with both ends included; by default up to 180, and
    /// so that the tasks fill about two thirds of the day.
    #[arg(long, value_name = "N..M", value_parser = parse_minutes, requires = "time")]
    pub(crate) durations: Option<(u16, u16)>,
    /// How often the agent can clear the day to plan again (time form); by default as often as there are actions.
    #[arg(long, value_name = "N", value_parser = whole(0, u32::MAX), requires = "time")]
    pub(crate) restarts_max: Option<u32>,
}

impl CaseArguments {
    /// The places in the seed's sequence of so many cases from `--first` on.
    pub(crate) fn places(&self, count: u64) -> Result<Range<u64>, Failure> {
        let end = self.first.checked_add(count);
        end.map(|end| self.first..end).ok_or_else(|| {
            Failure::usage(format!("--first {}: there are no {count} cases from there on", self.first))
        })
    }

    pub(crate) fn options(&self) -> Options {
        self.shape.options(self.actions)
    }
}

impl ShapeArguments {
    /// The options of cases with a number of actions between these, both included.
    pub(crate) fn options(&self, (actions_min, actions_max): (u32, u32)) -> Options {
        Options {
            actions_min,
            actions_max,
            sentences_max: self.sentences_max,
            tries_max: self.tries_max,
            list_max: self.list_max,
            sub_sentences_max: self.sub_sentences_max,
            relative_depth: self.relative_depth,
            distractors: self.distractors,
            topic: self.topic.clone(),
            time: self.time.then(|| TimeOptions {
                day: self.day,
                duration_min: self.durations.map(|(shortest, _)| shortest),
                duration_max: self.durations.map(|(_, longest)| longest),
                restarts_max: self.restarts_max,
            }),
        }
    }
}

fn parse_day(text: &str) -> Result<Day, &'static str> {
    let minute = |text: &str| match text {
        // The one time that only ends a day.
        "24:00" => Some(24 * 60),
        text => TimeOfDay::parse(text).map(TimeOfDay::minute),
    };
    text.split_once('-')
        .and_then(|(start, end)| Some(Day { start: minute(start)?, end: minute(end)? }))
        .ok_or("write two clock times with a hyphen between them, as in 08:00-20:00")
}

fn parse_minutes(text: &str) -> Result<(u16, u16), &'static str> {
    let (low, high) = parse_range(text)?;
    let minutes = |number: u32| u16::try_from(number).map_err(|_| "no task takes so many minutes");
    Ok((minutes(low)?, minutes(high)?))
}

fn parse_range(text: &str) -> Result<(u32, u32), &'static str> {
    let number = |part: &str| {
        part.parse::<u32>().map_err(|_| "write a whole number or a range of two, as in 4 or 3..5")
    };
    match text.split_once("..") {
        None => number(text).map(|both| (both, both)),
        Some((low, high)) => Ok((number(low)?, number(high.strip_prefix('=').unwrap_or(high))?)),
    }
}

#[derive(Debug, Args)]
pub(crate) struct SynthArguments {
    #[command(flatten)]
    pub(crate) cases: CaseArguments,
    /// Number of cases.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = whole(0, u64::MAX))]
    pub(crate) count: u64,
    /// Print the queries as text instead of JSON.
    #[arg(long, conflicts_with = "json")]
    pub(crate) text: bool,
    /// Print to stderr how many draws it took, and in how many ways the grammar expands.
    #[arg(long)]
    pub(crate) statistics: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReadArguments {
    /// File of case v1 lines; `-` for stdin.
    #[arg(required_unless_present = "text", conflicts_with = "text")]
    pub(crate) file: Option<PathBuf>,
    /// Compare what the text says with the constraints of the case: the same pairs, one reading, every action
    /// mentioned.
    #[arg(long, conflicts_with = "text")]
    pub(crate) verify: bool,
    /// Read this paragraph.
    #[arg(long, requires = "task")]
    pub(crate) text: Option<String>,
    /// A task that the paragraph speaks of; once for each.
    #[arg(long, value_name = "TEXT")]
    pub(crate) task: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// File of case v1 lines; `-` for stdin.
    #[arg(long, value_name = "FILE")]
    pub(crate) case: PathBuf,
    /// Which case of the file; needed if it holds several and no trace names one.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// The plan: action ids or tool names, in the order of the calls; in the time form each with its start, as in
    /// a2@09:30, and restart_plan.
    #[arg(
        long,
        value_name = "ID,ID,...",
        value_delimiter = ',',
        required_unless_present = "trace",
        conflicts_with = "trace"
    )]
    pub(crate) calls: Vec<String>,
    /// File of trace v1 lines: the runs of this case are judged.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) judge: JudgeArguments,
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

/// What counts as a failure.
#[derive(Debug, Clone, Args)]
pub(crate) struct JudgeArguments {
    /// A repeated action is flagged but does not fail the case.
    #[arg(long)]
    pub(crate) allow_repeats: bool,
    /// The call of a tool that belongs to no task is flagged but does not fail the case.
    #[arg(long)]
    pub(crate) allow_distractors: bool,
}

/// The run store where none is named.
pub(crate) const STORE_DEFAULT: &str = ".planproof/runs.db";

#[derive(Debug, Clone, Args)]
pub(crate) struct StoreArguments {
    /// The run store; it is made if it does not exist.
    #[arg(
        long,
        global = true,
        env = "PLANPROOF_STORE",
        default_value = STORE_DEFAULT,
        value_name = "FILE",
        value_parser = file()
    )]
    pub(crate) store: PathBuf,
    /// Most pages of 4 KiB that the run store may take.
    #[arg(long, global = true, value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) store_pages_max: Option<NonZeroU32>,
}

/// Options that say how cases are drawn; they mean nothing where the cases are there already.
const DRAWING: [&str; 13] = [
    "cases",
    "actions",
    "first",
    "topic",
    "distractors",
    "sentences_max",
    "sub_sentences_max",
    "list_max",
    "relative_depth",
    "time",
    "day",
    "durations",
    "restarts_max",
];

/// Options that a campaign keeps from its beginning.
const RUNNING: [&str; 13] = [
    "topics",
    "samples",
    "summary",
    "evaluator",
    "continuation",
    "from",
    "repeat",
    "concurrency",
    "timeout",
    "iterations",
    "serve_model",
    "allow_repeats",
    "allow_distractors",
];

/// Options that say whether and how failures are dissected; a recording knows it by itself.
const DISSECTING: [&str; 5] = ["dissect", "dissect_k", "dissect_reruns", "dissect_max", "compat"];

/// Options that say what becomes of the model's answers, and where they come from.
const RECORDING: [&str; 4] = ["record", "force", "cache", "replay"];

/// Most cases of one campaign.
pub(crate) const CASES_MAX: u64 = 100_000;

/// Most runs at once: more than there can be cases would be of no use.
const CONCURRENCY_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(CASES_MAX as usize - 1);

/// What a campaign may spend.
#[derive(Debug, Clone, Args)]
pub(crate) struct BudgetArguments {
    /// Most money that the model's tokens may cost, in US dollars. A request that does not fit any more is not sent; what
    /// was not run can be run later with `--resume` and a larger budget.
    #[arg(long, value_name = "USD", value_parser = above_zero(DOLLARS_MAX, "US dollars"))]
    pub(crate) max_cost: Option<f64>,
    /// Most tokens, read and written together.
    #[arg(long, value_name = "N", value_parser = whole(1, u64::MAX))]
    pub(crate) max_tokens: Option<u64>,
    /// Longest time of the campaign, from the start of this command. Runs that go on then are ended and count as not run.
    #[arg(long, value_name = "M", value_parser = above_zero(MINUTES_MAX, "minutes"))]
    pub(crate) minutes: Option<f64>,
    /// Prices of models, in the place of those that are compiled in (docs/files.md says how they are written).
    #[arg(long, value_name = "FILE", env = "PLANPROOF_PRICES")]
    pub(crate) prices: Option<PathBuf>,
}

/// Whether the cause of each failure is looked for.
#[derive(Debug, Default, Args)]
pub(crate) struct DissectArguments {
    /// Look for the cause of each failure: ask the agent the same again, then with other words, another topic, another
    /// paragraph of the same meaning. With `--resume` also of a campaign that was finished without it.
    #[arg(long)]
    pub(crate) dissect: bool,
    /// Variants of each kind for each failure; by default 5.
    #[arg(long, value_name = "N", value_parser = whole(1, TRIALS_MAX), requires = "dissect")]
    pub(crate) dissect_k: Option<u32>,
    /// Reruns of each failed case before anything is changed; by default 3.
    #[arg(long, value_name = "N", value_parser = whole(0, TRIALS_MAX), requires = "dissect")]
    pub(crate) dissect_reruns: Option<u32>,
    /// Most failures that are dissected, drawn by the seed; by default all.
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), requires = "dissect")]
    pub(crate) dissect_max: Option<u32>,
    /// Do as the published algorithm is printed: its last step names the constraint as the cause after the first variant
    /// that fails.
    #[arg(long, value_enum, value_name = "HOW", requires = "dissect")]
    pub(crate) compat: Option<DissectCompat>,
}

/// Whom dissection follows where it departs from the published algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DissectCompat {
    /// The published algorithm.
    Original,
}

impl DissectArguments {
    /// How failures are dissected; `None` where they are not.
    pub(crate) fn options(&self) -> Option<DissectOptions> {
        let default = DissectOptions::default();
        self.dissect.then(|| DissectOptions {
            variants: self.dissect_k.unwrap_or(default.variants),
            reruns: self.dissect_reruns.unwrap_or(default.reruns),
            errors_max: self.dissect_max,
            original: self.compat == Some(DissectCompat::Original),
        })
    }
}

/// Whether failures are made smaller.
#[derive(Debug, Default, Args)]
pub(crate) struct ShrinkArguments {
    /// Make the smallest failures smaller still: fewer actions, requirements and words, as long as the agent fails in the
    /// same way, in 2 of 3 runs.
    #[arg(long, conflicts_with_all = ["resume", "record", "replay"])]
    pub(crate) shrink: bool,
    /// Most failures that are shrunk; by default 3.
    #[arg(long, value_name = "N", value_parser = whole(1, usize::MAX), requires = "shrink")]
    pub(crate) shrink_max: Option<usize>,
    /// Most runs of the agent for each of them; by default 200.
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), requires = "shrink")]
    pub(crate) shrink_runs: Option<u32>,
    /// Most runs of one smaller case, of which more than half have to fail; by default 3.
    #[arg(long, value_name = "N", value_parser = whole(1, CANDIDATE_RUNS_MAX), requires = "shrink")]
    pub(crate) shrink_repeat: Option<u32>,
    /// Write the smallest cases as case v1 lines, for `--from`.
    #[arg(long, value_name = "FILE", value_parser = file(), requires = "shrink")]
    pub(crate) shrink_to: Option<PathBuf>,
}

impl ShrinkArguments {
    /// How failures are shrunk, and how many; `None` where they are not.
    pub(crate) fn options(&self) -> Option<(ShrinkOptions, usize)> {
        let default = ShrinkOptions::default();
        let runs = self.shrink_repeat.unwrap_or(default.runs);
        let runs_max = self.shrink_runs.unwrap_or(default.runs_max);
        let options = ShrinkOptions { runs, failures: runs / 2 + 1, runs_max, ..default };
        self.shrink.then(|| (options, self.shrink_max.unwrap_or(3)))
    }
}

/// What becomes of the model's answers, and where they come from.
#[derive(Debug, Default, Args)]
pub(crate) struct RecordingArguments {
    /// Write the campaign to this file, with all that the model is asked and answers, for `--replay`.
    #[arg(long, value_name = "FILE", value_parser = file(), conflicts_with = "cache")]
    pub(crate) record: Option<PathBuf>,
    /// Overwrite the file of `--record`.
    #[arg(long, requires = "record")]
    pub(crate) force: bool,
    /// Answer from this file what it holds, and ask the model only for the rest, which is added to it: a campaign that
    /// crashed or is repeated does not pay twice.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) cache: Option<PathBuf>,
    /// Run a recorded campaign again with the answers of the file alone: no network, no key, nothing to pay. Whatever
    /// comes out differently from the recording is told and exits with 3.
    #[arg(
        long,
        value_name = "FILE",
        value_parser = file(),
        conflicts_with_all = DRAWING,
        conflicts_with_all = RUNNING,
        conflicts_with_all = DISSECTING,
        conflicts_with_all = ["record", "cache", "max_cost", "max_tokens", "minutes"]
    )]
    pub(crate) replay: Option<PathBuf>,
}

/// Most runs of each case.
pub(crate) const REPEATS_MAX: NonZeroU32 = NonZeroU32::MIN.saturating_add(99);

/// Options of agents that are made from a specification.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AgentArguments {
    /// Take so many samples and answer as most of them do (`direct`, `cot`; `fallback:` takes 5 where nothing is said).
    #[arg(long, value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) samples: Option<NonZeroU32>,
    /// What an agent that summarises reads: the likelier of summary and results, or always the one.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) summary: Option<SummaryChoice>,
    /// Who judges the answers that an agent proposes: `none`, `model` (its own), or the name of a model.
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

#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    /// The agent: `tools@MODEL` (our function-calling loop), `responses@MODEL` (the same, with the conversation kept by
    /// the model's server), one of a specification (`direct@MODEL`, `cot@`, `react@`, `rewoo@`, `reflexion@`, `pass@`, or
    /// `spec:FILE@MODEL`), `fallback:KIND,KIND@MODEL`, `command:PROGRAM ARGS...`, or `url:URL`. With `repair:` before it, calls
    /// after which no correct plan is left are held back, and the agent is told what is right instead. MODEL is `sim/NAME`
    /// (perfect, in-order, forgetful, careless, clumsy, endless), `openai/NAME` (OPENAI_API_KEY, OPENAI_BASE_URL), `anthropic/NAME`
    /// (ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL; only with `tools@`), or `replay/FILE` (the answers of a recording).
    #[arg(required_unless_present_any = ["resume", "replay"], conflicts_with = "resume")]
    pub(crate) agent: Option<String>,
    #[command(flatten)]
    pub(crate) agent_options: AgentArguments,
    /// Number of cases.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = whole(1, CASES_MAX))]
    pub(crate) cases: u64,
    #[command(flatten)]
    pub(crate) draw: CaseArguments,
    /// Take the cases from a file of case v1 lines instead of drawing them; `-` for stdin.
    #[arg(long, value_name = "FILE", conflicts_with_all = DRAWING)]
    pub(crate) from: Option<PathBuf>,
    /// How often each case is run, up to 100 times: the report then says how often all of several runs pass (pass^k), and
    /// how many cases are flaky.
    #[arg(long, default_value_t = NonZeroU32::MIN, value_name = "K", value_parser = whole(NonZeroU32::MIN, REPEATS_MAX))]
    pub(crate) repeat: NonZeroU32,
    /// Most runs at once; by default 64 for our own agents and 4 for external ones.
    #[arg(long, value_name = "N", value_parser = whole(NonZeroUsize::MIN, CONCURRENCY_MAX))]
    pub(crate) concurrency: Option<NonZeroUsize>,
    /// Longest time of a run, in seconds.
    #[arg(long, default_value_t = 180.0, value_name = "SECONDS", value_parser = above_zero(SECONDS_MAX, "seconds"))]
    pub(crate) timeout: f64,
    /// Most model turns of a run (for external agents: tool calls).
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = whole(1, u32::MAX))]
    pub(crate) iterations: u32,
    /// Serve this model to a `command:` agent: OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL are set for
    /// it.
    #[arg(long, value_name = "MODEL")]
    pub(crate) serve_model: Option<String>,
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) judge: JudgeArguments,
    #[command(flatten)]
    pub(crate) dissect: DissectArguments,
    #[command(flatten)]
    pub(crate) shrink: ShrinkArguments,
    /// Most findings shown.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = whole(0, usize::MAX))]
    pub(crate) findings: usize,
    #[command(flatten)]
    pub(crate) files: ReportFileArguments,
    #[command(flatten)]
    pub(crate) budget: BudgetArguments,
    #[command(flatten)]
    pub(crate) recording: RecordingArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    /// Go on with a campaign that was interrupted or whose budget was used up: its id, the beginning of it, or `last`.
    /// What is finished is kept. New budgets take the place of the old ones and hold for the campaign as a whole.
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = DRAWING,
        conflicts_with_all = RUNNING,
        conflicts_with_all = RECORDING
    )]
    pub(crate) resume: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeModelArguments {
    /// The model: `sim/NAME`, or `openai/NAME` or `anthropic/NAME` to pass requests on.
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) asking: ModelArguments,
    /// Port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 0, value_parser = whole(0, u16::MAX))]
    pub(crate) port: u16,
    /// How long the model thinks before each answer, in milliseconds.
    #[arg(long, default_value_t = 0, value_name = "MS", value_parser = whole(0, u64::MAX))]
    pub(crate) think: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ServeToolsArguments {
    /// File of case v1 lines; `-` for stdin.
    #[arg(long, value_name = "FILE")]
    pub(crate) case: PathBuf,
    /// Which case of the file, if it holds several.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 0, value_parser = whole(0, u16::MAX))]
    pub(crate) port: u16,
    /// Speak MCP over stdin and stdout instead of HTTP; the verdict goes to stderr.
    #[arg(long, conflicts_with = "port")]
    pub(crate) stdio: bool,
    /// Write the trace (trace v1) to this file at the end.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RunsArguments {
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    #[command(subcommand)]
    pub(crate) command: RunsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List campaigns, the newest first.
    List,
    /// Show a campaign's report, or one of its cases in full.
    Show {
        /// Id of the campaign, the beginning of it, or `last`.
        run: String,
        /// Show this case: the query with the violated words marked, and the trace.
        #[arg(long, value_name = "ID")]
        case: Option<String>,
        /// Which of its runs, where cases are run several times: from 0.
        #[arg(long, default_value_t = 0, value_name = "N", value_parser = whole(0, u32::MAX), requires = "case")]
        repeat: u32,
        /// Most findings shown.
        #[arg(long, default_value_t = 3, value_name = "N", value_parser = whole(0, usize::MAX))]
        findings: usize,
        /// Judge all runs again from their traces, instead of adding up what is stored of them.
        #[arg(long, conflicts_with = "case")]
        judge_again: bool,
    },
    /// Write a campaign's data to stdout.
    Export {
        /// Id of the campaign, the beginning of it, or `last`.
        run: String,
        /// What to write.
        #[arg(long, value_enum, default_value_t = ExportFormat::Traces)]
        format: ExportFormat,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Id of the campaign, the beginning of it, or `last`.
    pub(crate) run: String,
    /// With a second campaign the two are compared case by case, the first as what was before; with more of them there is
    /// one table, a row for each.
    #[arg(value_name = "OTHER")]
    pub(crate) others: Vec<String>,
    #[command(flatten)]
    pub(crate) files: ReportFileArguments,
    /// Most findings shown, where no file is written.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = whole(0, usize::MAX))]
    pub(crate) findings: usize,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[derive(Debug, Args)]
pub(crate) struct TablesArguments {
    /// Ids of campaigns, the beginnings of them, or `last`. Of a search for a limit, failures are counted within the limit.
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Write the page with the findings here; by default `.planproof/demo.html`.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// The agent to be tested, as `planproof test` takes it.
    #[arg(long, default_value = "tools@sim/careless", value_name = "AGENT")]
    pub(crate) agent: String,
    /// Replace a file that is there already.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the JSON Schema of the configuration file instead.
    #[arg(long, conflicts_with_all = ["agent", "force"])]
    pub(crate) schema: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// The folder; it is made if it does not exist. Without it the main page goes to stdout.
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Trace v1 lines of all finished runs.
    Traces,
    /// Case v1 lines.
    Cases,
    /// Verdict v1 lines of all finished runs; unscored ones as `{"case": ID, "unscored": why}`.
    Verdicts,
    /// Failed runs done right, as conversations for fine-tuning.
    ChatJsonl,
    /// Failed runs as choices between the agent's first wrong message and a right one, for preference tuning.
    PreferenceJsonl,
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

#[derive(Debug, Args)]
pub(crate) struct SpecArguments {
    #[command(subcommand)]
    pub(crate) command: SpecCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SpecCommand {
    /// Check specifications: all that is wrong with them at once, with the lines.
    Check {
        /// Files of specifications, or names of shipped ones (direct, cot, react, rewoo, reflexion, pass); `-` for
        /// stdin.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
        /// Warnings count as errors.
        #[arg(long)]
        deny_warnings: bool,
        #[command(flatten)]
        dialect: DialectArguments,
    },
    /// Walk through a specification: what may come next at each step, and whether a run may end there.
    Step {
        /// A file of a specification, or the name of a shipped one; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: String,
        /// The states that are proposed, in order. `STATE=TOOL` says which tool is called by the call that this state
        /// completes. A state that may not come next is refused, and the walk stays where it is.
        #[arg(long, value_name = "STATE,STATE,...", value_delimiter = ',')]
        states: Vec<String>,
        #[command(flatten)]
        dialect: DialectArguments,
    },
    /// Print a specification in its usual form.
    Print {
        /// A file of a specification, or the name of a shipped one; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: String,
        #[command(flatten)]
        dialect: DialectArguments,
    },
    /// Print the states of a specification and which may follow which, as a graph.
    Graph {
        /// A file of a specification, or the name of a shipped one; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: String,
        /// What to print the graph as.
        #[arg(long, value_enum, default_value_t = GraphFormat::Dot, value_name = "FORMAT")]
        format: GraphFormat,
        #[command(flatten)]
        dialect: DialectArguments,
    },
    /// Print a grammar of the texts that a specification allows, for servers that hold a model to a grammar.
    Compile {
        /// A file of a specification, or the name of a shipped one; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: String,
        /// The language of the grammar.
        #[arg(long, value_enum, value_name = "LANGUAGE")]
        to: GrammarLanguage,
        /// The names of the tools: the grammar takes no other where a tool's name is demanded.
        #[arg(long, value_name = "TOOL,TOOL,...", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
        tools: Vec<String>,
        #[command(flatten)]
        dialect: DialectArguments,
    },
}

/// What `spec graph` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// For Graphviz.
    Dot,
    /// For Mermaid, which Markdown on GitHub and GitLab shows.
    Mermaid,
    /// A picture, of up to 40 states.
    Svg,
}

/// What `spec compile` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GrammarLanguage {
    /// A regular expression without look-around.
    Regex,
    /// The grammars of llama.cpp.
    Gbnf,
    /// The variant of Lark that llguidance reads.
    Lark,
}

/// Which reading of specifications.
#[derive(Debug, Args)]
pub(crate) struct DialectArguments {
    /// Follow the published implementation where it departs from the paper or from us.
    #[arg(long, value_enum, default_value_t = Compat::Ours, value_name = "WHOSE")]
    pub(crate) compat: Compat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compat {
    /// What the documentation says.
    Ours,
    /// As the published code does.
    Original,
}
