//! A campaign: whom it is about, how it is run and what it may spend. `planproof test` and `planproof limit`
//! have this in common.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use clap::{Args, ValueEnum};
use planproof_agents::SERVED_VARIABLES;
use planproof_isolation::{AgentMemory, Isolate};
use planproof_model::prices::DOLLARS_MAX;
use planproof_runner::CASES_MAX;

use super::{AgentArguments, JudgeArguments, ModelArguments, ReviewChoice, StoreArguments};
use super::{bench, limit, test};
use crate::report_files::ReportFileArguments;
use crate::values::{MINUTES_MAX, SECONDS_MAX, above_zero, file, host_name, label, whole};

/// Most runs at once: more than there can be cases would be of no use.
const CONCURRENCY_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(CASES_MAX as usize - 1);

/// Most runs of each case.
const REPEATS_MAX: NonZeroU32 = NonZeroU32::MIN.saturating_add(99);

/// Most model turns of a run where nothing is said.
pub(crate) const ITERATIONS: u32 = 50;

/// Options of [`ShapeArguments`](super::ShapeArguments); they mean nothing where the cases are there already.
pub(super) const SHAPE: [&str; 11] = [
    "topic",
    "distractors",
    "sentences_max",
    "sub_sentences_max",
    "list_max",
    "relative_depth",
    "hard",
    "time",
    "day",
    "durations",
    "restarts_max",
];

/// Options that a campaign keeps from its beginning.
const RUNNING: [&str; 23] = [
    "label",
    "samples",
    "summary",
    "evaluator",
    "continuation",
    "examples",
    "compose_executors",
    "concurrency",
    "timeout",
    "iterations",
    "serve_model",
    "env",
    "env_file",
    "cwd",
    "allow_host",
    "isolate",
    "agent_memory",
    "header",
    "body",
    "answer",
    "allow_repeats",
    "allow_distractors",
    "fail_at_once",
];

/// Options of [`RUNNING`] that a replay has for itself: its answers come at once, and its program may be on another
/// machine.
const OF_A_REPLAY: [&str; 12] = [
    "label",
    "concurrency",
    "timeout",
    "env",
    "env_file",
    "cwd",
    "allow_host",
    "isolate",
    "agent_memory",
    "header",
    "body",
    "answer",
];

/// Whether a recording knows what this argument says, so that a replay has it from there.
pub(crate) fn is_recorded(id: &str) -> bool {
    let by_all = SHAPE.contains(&id) || ["seed", "tries_max", "topics"].contains(&id);
    let running = RUNNING.contains(&id) && !OF_A_REPLAY.contains(&id);
    by_all
        || running
        || test::RECORDED.iter().any(|ids| ids.contains(&id))
        || limit::SEARCHING.contains(&id)
        || bench::CHOOSING.contains(&id)
}

/// What a command says of the agent that a campaign is begun with.
pub(super) const BEGINNING: [&str; 2] = ["resume", "replay"];

/// Options that say what becomes of the model's answers, and where they come from.
const RECORDING: [&str; 4] = ["record", "force", "cache", "replay"];

/// What all campaigns have. A command adds to `--resume` and `--replay` which of its own options do not go with them.
#[derive(Debug, Args)]
pub(crate) struct CampaignArguments {
    /// The agent: `tools@MODEL` (our function-calling loop), `responses@MODEL` (the same, with the conversation kept
    /// by the model's server), one of a specification (`direct@MODEL`, `cot@`, `react@`, `rewoo@`, `reflexion@`,
    /// `pass@`, or `spec:FILE@MODEL`), `plan@MODEL` (a plan first, then its calls), `one-step@MODEL`,
    /// `sequential@MODEL`, `hierarchical@MODEL` (sub-tasks with their tools, all at once, one by one, or by groups),
    /// `team@MODEL` (a manager, executors, a supervisor and a deliverer), `fallback:KIND,KIND@MODEL`, `command:PROGRAM
    /// ARGS...` (started for each case), `worker:PROGRAM ARGS...` (kept for all cases), or `url:URL`. With `repair:`
    /// before it, calls after which no correct plan is left are denied, and the agent learns what is right instead.
    /// MODEL is `sim/NAME` (perfect, parallel, in-order, forgetful, careless, clumsy, endless; gold, which is handed
    /// the right answers), `openai/NAME` (OPENAI_API_KEY, OPENAI_BASE_URL), `anthropic/NAME` (ANTHROPIC_API_KEY,
    /// ANTHROPIC_BASE_URL; with every KIND), or `replay/FILE` (the answers of a recording).
    #[arg(conflicts_with = "resume")]
    pub(crate) agent: Option<String>,
    #[command(flatten)]
    pub(crate) agent_options: AgentArguments,
    /// Most runs at once; by default 64 for our own agents and 4 for external ones.
    #[arg(long, value_name = "N", value_parser = whole(NonZeroUsize::MIN, CONCURRENCY_MAX))]
    pub(crate) concurrency: Option<NonZeroUsize>,
    /// Longest time of a run, in seconds, without what it waits for because of rate limits and further
    /// attempts; by default 180, or half as much again as a larger --request-timeout.
    #[arg(long, value_name = "SECONDS", value_parser = above_zero(SECONDS_MAX, "seconds"))]
    pub(crate) timeout: Option<f64>,
    /// Most model turns of a run (for external agents: tool calls, and turns of the model of --serve-model).
    #[arg(long, default_value_t = ITERATIONS, value_name = "N", value_parser = whole(1, u32::MAX))]
    pub(crate) iterations: u32,
    /// Serve this model to a `command:` agent, for which OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL and what the
    /// clients of Anthropic and Gemini read are set, or to a `worker:` or `url:` agent, which gets them with each task.
    #[arg(long, value_name = "MODEL")]
    pub(crate) serve_model: Option<String>,
    #[command(flatten)]
    pub(crate) program: ProgramArguments,
    /// Call the campaign so in listings and reports, in at most 80 characters. `planproof runs label` changes it.
    #[arg(long, value_name = "TEXT", value_parser = label)]
    pub(crate) label: Option<String>,
    /// Show the sub-tasks of `team@MODEL`, `one-step@`, `sequential@` or `hierarchical@` and ask before it goes on:
    /// `plan` whenever some were planned, `each` also after each of them. One run at a time. Answers are read from
    /// standard input, a line each; `help` lists them.
    #[arg(long, value_enum, value_name = "WHEN", default_value = "none", conflicts_with_all = ["replay", "record"])]
    pub(crate) review: ReviewChoice,
    /// Write what happens as it happens, a line of JSON each: runs that begin, each event of each run, how runs ended.
    /// docs/files.md has the format (`stream v1`).
    #[arg(long, value_name = "FILE")]
    pub(crate) stream: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) judge: JudgeArguments,
    #[command(flatten)]
    pub(crate) budget: BudgetArguments,
    #[command(flatten)]
    pub(crate) recording: RecordingArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    /// Resume a campaign that was interrupted or whose budget was used up: its id, the beginning of it, or `last`.
    /// What is finished is kept. New budgets replace the old ones and hold for the campaign as a whole.
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = RUNNING,
        conflicts_with_all = RECORDING
    )]
    pub(crate) resume: Option<String>,
}

/// What a program is started with that is an agent.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Programs and services under test")]
pub(crate) struct ProgramArguments {
    /// Pass this variable of the environment to the `command:` or `worker:` agent, though it looks as if it held a key:
    /// with --serve-model the agent gets none of those (*_API_KEY, *_TOKEN, *_SECRET, *_PASSWORD, AWS_* and
    /// more; docs/ci.md lists them). Repeatable.
    #[arg(long, value_name = "NAME", value_parser = variable_name, requires = "serve_model")]
    pub(crate) env: Vec<String>,
    /// Give the `command:` or `worker:` agent the variables of this file besides, lines of NAME=VALUE. Their values are
    /// kept out of reports and recordings where their names look as if they held keys. The headers of a `url:` agent
    /// may name them.
    #[arg(long, value_name = "FILE")]
    pub(crate) env_file: Option<PathBuf>,
    /// Start the `command:` or `worker:` agent in this directory. A program named by a path, and its arguments, are
    /// from there.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cwd: Option<PathBuf>,
    /// The `command:`, `worker:` or `url:` agent reaches this machine by this name, as from within a container, for
    /// instance host.docker.internal: the URLs that it is given have this name, and requests with it are admitted.
    /// planproof listens on 127.0.0.1 all the same. Repeatable; the first one stands in the URLs.
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    pub(crate) allow_host: Vec<String>,
    /// Keep the `command:` or `worker:` agent from the run store, the files of this command line, planproof itself and
    /// other runs: `strict`, or run nothing where the machine cannot; `best`, as far as it can; `none`. Reports say
    /// what held. Where something does, its cases are drawn by a secret seed unless --seed is given.
    #[arg(long, value_enum, value_name = "HOW", default_value = "best")]
    pub(crate) isolate: IsolateChoice,
    /// Most memory of a run of the `command:` agent, or of a `worker:`, with all programs that it starts: a size as in
    /// 512MiB or 4GiB, or `none`. What takes more is killed, and the run is the agent's failure.
    #[arg(long, value_name = "SIZE", default_value_t = AgentMemory::default(), value_parser = AgentMemory::from_str)]
    pub(crate) agent_memory: AgentMemory,
    /// Send the `url:` agent this header, as in 'Authorization: Bearer ${NAME}', where NAME is a variable of the
    /// environment or of --env-file. Repeatable.
    #[arg(long, value_name = "'NAME: VALUE'")]
    pub(crate) header: Vec<String>,
    /// Send the `url:` agent this body: `chat` or `chat:MODEL` (OpenAI's chat completions), `responses` or
    /// `responses:MODEL` (OpenAI's responses, with the tools as an MCP server), or a file with JSON in which {query},
    /// {mcp_url}, {model_url}, {model_key} and {model} stand for what belongs to the case.
    #[arg(long, value_name = "BODY")]
    pub(crate) body: Option<String>,
    /// Where the answer stands in the reply of the `url:` agent: a JSON pointer, as in /choices/0/message/content, or
    /// `text` if the reply is the answer; by default /answer, or where the protocol of --body has it.
    #[arg(long, value_name = "POINTER")]
    pub(crate) answer: Option<String>,
}

/// How far programs are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IsolateChoice {
    /// Fully, or nothing is run.
    Strict,
    /// As far as the machine can.
    Best,
    /// Not at all: they run as the user.
    None,
}

impl From<IsolateChoice> for Isolate {
    fn from(choice: IsolateChoice) -> Self {
        match choice {
            IsolateChoice::Strict => Self::Strict,
            IsolateChoice::Best => Self::Best,
            IsolateChoice::None => Self::None,
        }
    }
}

/// What commands have that run all their cases.
#[derive(Debug, Args)]
pub(crate) struct AllCasesArguments {
    /// How often each case is run, up to 100 times: the report then says how often all of several runs pass
    /// (pass^k), and how many cases are flaky.
    #[arg(long, default_value_t = NonZeroU32::MIN, value_name = "K", value_parser = whole(NonZeroU32::MIN, REPEATS_MAX))]
    pub(crate) repeat: NonZeroU32,
    /// Exit with 1 if a run failed, also in a replay of a campaign in which it failed. Without `--replay`
    /// that is so anyway.
    #[arg(long)]
    pub(crate) require_pass: bool,
    /// Most findings shown.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = whole(0, usize::MAX))]
    pub(crate) findings: usize,
    #[command(flatten)]
    pub(crate) files: ReportFileArguments,
}

/// The name of a variable that is set, and that planproof does not set itself.
fn variable_name(name: &str) -> Result<String, String> {
    if SERVED_VARIABLES.as_flattened().contains(&name) {
        return Err("--serve-model sets it for the agent".to_owned());
    }
    match std::env::var_os(name) {
        Some(_) => Ok(name.to_owned()),
        None => Err("there is no such variable in the environment".to_owned()),
    }
}

impl CampaignArguments {
    /// The files that the campaign itself is about, with the options that name them.
    pub(crate) fn files(&self) -> Vec<(&'static str, &Path)> {
        let named = [
            ("--record", &self.recording.record),
            ("--cache", &self.recording.cache),
            ("--replay", &self.recording.replay),
            ("--may-differ", &self.recording.may_differ),
            ("--prices", &self.budget.prices),
            (crate::stream::OPTION, &self.stream),
        ];
        let named = named.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)));
        named.chain([("--store", self.store.store.as_path())]).collect()
    }
}

/// What may be spent.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Budget")]
pub(crate) struct BudgetArguments {
    /// Most money that the model's tokens may cost, in US dollars. A request that does not fit any more is
    /// not sent; what is finished by then is kept. Resume a campaign with `--resume` and a larger budget.
    #[arg(long, value_name = "USD", value_parser = above_zero(DOLLARS_MAX, "US dollars"))]
    pub(crate) max_cost: Option<f64>,
    /// Most tokens, read and written together.
    #[arg(long, value_name = "N", value_parser = whole(1, u64::MAX))]
    pub(crate) max_tokens: Option<u64>,
    /// Longest time, from the start of this command. Runs that go on then are ended and count as not run.
    #[arg(long, value_name = "M", value_parser = above_zero(MINUTES_MAX, "minutes"))]
    pub(crate) minutes: Option<f64>,
    /// Prices of models, instead of those that are compiled in (docs/files.md says how they are written).
    #[arg(long, value_name = "FILE", env = "PLANPROOF_PRICES")]
    pub(crate) prices: Option<PathBuf>,
}

/// What becomes of the model's answers, and where they come from.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Recording and replay")]
pub(crate) struct RecordingArguments {
    /// Write the campaign to this file, with all that the model is asked and answers, for `--replay`.
    #[arg(long, value_name = "FILE", value_parser = file(), conflicts_with = "cache")]
    pub(crate) record: Option<PathBuf>,
    /// Overwrite the file of `--record`.
    #[arg(long, requires = "record")]
    pub(crate) force: bool,
    /// Answer from this file what it holds, and ask the model only for the rest, which is added to it: a campaign
    /// that crashed or is repeated does not pay twice.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) cache: Option<PathBuf>,
    /// Run a recorded campaign again with the answers of the file alone: no network, no key, nothing to pay.
    /// Exits with 0 if all comes out as it was recorded, failures included; whatever comes out differently is
    /// reported, and exits with 3. Options that say again what was recorded are fine; one that contradicts it
    /// is an error.
    #[arg(
        long,
        value_name = "FILE",
        value_parser = file(),
        conflicts_with_all = ["record", "cache"]
    )]
    pub(crate) replay: Option<PathBuf>,
    /// What may differ between the requests of the recording and those of the replay: a file with a regular
    /// expression a line, for paths, dates or ids. What they match is left out of both before they are
    /// compared.
    #[arg(long, value_name = "FILE", value_parser = file(), requires = "replay")]
    pub(crate) may_differ: Option<PathBuf>,
}
