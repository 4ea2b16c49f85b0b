//! A campaign: whom it is about, how it is run and what it may spend. `planproof test` and `planproof limit`
//! have this in common.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::time::Duration;

use clap::builder::Resettable;
use clap::{Args, ValueEnum};
use planproof_agents::{BodyName, REPLY_TOKENS, SERVED_VARIABLES};
use planproof_assembly::arguments::{AgentArguments, BudgetArguments, ModelArguments, Think};
use planproof_campaign::{CASES_MAX, REPEATS_MAX, Shard};
use planproof_isolation::{AgentMemory, Isolate};
use planproof_output::failure::Failure;
use planproof_output::values::{SECONDS_MAX, above_zero, file, whole};
use planproof_suite::{EffortLimits, OptionUse};
use planproof_trace::faults::FaultShares;

use super::{ReviewChoice, StoreArguments};
use super::{bench, test};
use crate::report_files::ReportFileArguments;
use crate::suites::orders::arguments::SEARCHING;
use crate::values::{SuccessMin, gate_metric, host_name, label, percent, success_min};
use planproof_doors::has;
use planproof_doors::orders::arguments::JudgeArguments;

/// Most runs at once: more than there can be cases would be of no use.
const CONCURRENCY_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(CASES_MAX as usize - 1);

/// Options of `ShapeArguments` in the crate `doors`; they mean nothing where the cases are there already.
pub(crate) const SHAPE: [&str; 11] = [
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
const RUNNING: [&str; 18] = [
    "label",
    "guard",
    "samples",
    "summary",
    "evaluator",
    "continuation",
    "examples",
    "grammar",
    "correction",
    "compose_executors",
    "parse_text_calls",
    "concurrency",
    "timeout",
    "iterations",
    "reply_tokens",
    "allow_repeats",
    "allow_distractors",
    "fail_at_once",
];

/// Options that say what a campaign does outside, beside those of its suite. It keeps them as well, and they may be
/// named again with `--resume`, where a store is not the user's own.
pub(crate) const ACTING: [&str; 12] = [
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
    "record",
    "cache",
];

/// Whether a resumed campaign has this argument from its beginning, so that the configuration file says nothing of it.
pub(crate) fn is_kept(id: &str) -> bool {
    ["agent", "others", "model", "fail_over"].contains(&id)
        || RUNNING.contains(&id)
        || ACTING.contains(&id)
        || has(id, OptionUse::Tools)
}

/// Options of [`RUNNING`] that a replay has for itself: its answers come at once.
const OF_A_REPLAY: [&str; 3] = ["label", "concurrency", "timeout"];

/// Whether a recording knows what this argument says, so that a replay has it from there. How a program is started is
/// not among it: it may be on another machine.
pub(crate) fn is_recorded(id: &str) -> bool {
    let by_all = SHAPE.contains(&id) || ["seed", "tries_max", "topics"].contains(&id);
    let running = (RUNNING.contains(&id) || id == "serve_model") && !OF_A_REPLAY.contains(&id);
    by_all
        || running
        || test::RECORDED.iter().any(|ids| ids.contains(&id))
        || SEARCHING.contains(&id)
        || bench::CHOOSING.contains(&id)
        || has(id, OptionUse::Chosen)
}

/// What a command says of the agent that a campaign is begun with.
pub(crate) const BEGINNING: [&str; 2] = ["resume", "replay"];

/// Options that say what becomes of the model's answers, which a resumed campaign cannot change.
const RECORDING: [&str; 2] = ["force", "replay"];

/// What all campaigns have. A command adds to `--resume` and `--replay` which of its own options do not go with them.
#[derive(Debug, Clone, Args)]
pub(crate) struct CampaignArguments {
    /// Agent under test, as in `tools@openai/gpt-5-mini` or `command:python agent.py`.
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
    /// External agents: `command:PROGRAM ARGS...` (started for each case), `worker:PROGRAM ARGS...` (kept for all
    /// cases), `url:URL`.
    ///
    /// With `planproof test` and `planproof limit`, `repair:` before any of these denies calls after which no correct
    /// plan is left, and names the right calls to the agent. With `planproof bench travelplanner`, there are also
    /// `two-stage@MODEL` and agents without a model, such as `greedy`.
    ///
    /// MODEL is `PROVIDER/NAME`, as in `openai/gpt-5-mini` or `ollama/qwen3:4b` (reads PROVIDER_BASE_URL and
    /// PROVIDER_API_KEY; docs/models.md lists the providers), `NAME=URL/MODEL` (any server that speaks OpenAI's
    /// protocol, as in `mine=http://127.0.0.1:8000/v1/qwen3`), `sim/NAME` (a simulated model that needs no key: perfect,
    /// parallel, in-order, forgetful, careless, clumsy, endless, text-calls, rambling; echo, which repeats what it is
    /// asked; or gold, which is given the right answers), or `replay/FILE` (the answers in a recording).
    // An argument without a name stands under none of the headings of options.
    #[arg(help_heading = Resettable::Reset)]
    pub(crate) agent: Option<String>,
    #[command(flatten)]
    pub(crate) agent_options: AgentArguments,
    /// Maximum number of concurrent runs.
    ///
    /// By default 64 for our own agents, or as many as a server of llama.cpp has slots, and 4 for external ones.
    #[arg(long, value_name = "N", value_parser = whole(NonZeroUsize::MIN, CONCURRENCY_MAX))]
    pub(crate) concurrency: Option<NonZeroUsize>,
    /// Time limit of a run, in seconds.
    ///
    /// Time spent waiting for rate limits and between attempts at a request does not count. By default 180, or 1.5
    /// times `--request-timeout` if that is 180 or more; for a model on this machine, 1800 instead of 180.
    #[arg(long, value_name = "SECONDS", value_parser = above_zero(SECONDS_MAX, "seconds"))]
    pub(crate) timeout: Option<f64>,
    /// Maximum number of model turns of a run.
    ///
    /// By default 50, or more in cases in which a right agent may need more. For external agents: of tool calls, and of
    /// turns of the model of `--serve-model`.
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX))]
    pub(crate) iterations: Option<u32>,
    /// Maximum number of tokens of one reply of the model.
    ///
    /// For our own agents, and sent with every request. A run in which a reply reaches it without a call ends as
    /// `reply_limit`.
    #[arg(long, default_value_t = REPLY_TOKENS, value_name = "N", value_parser = whole(1, u32::MAX))]
    pub(crate) reply_tokens: u32,
    /// Serve this model to the `command:`, `worker:` or `url:` agent.
    ///
    /// A `command:` agent finds it through environment variables: OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL, and
    /// those that clients of Anthropic and Gemini read. A `worker:` or `url:` agent gets their values with each task.
    #[arg(long, value_name = "MODEL")]
    pub(crate) serve_model: Option<String>,
    /// Hold the agent to these rules (rules v1): a call that would violate one is denied.
    ///
    /// The agent reads which rule denied the call, and why; the tool never sees the call. The report says how many
    /// calls were denied, how many runs that saved, and in how many a step of a right plan was denied (false blocks).
    /// `mode: shadow` in the file, or for a rule, only counts them. A rule about a tool that no case has is an error.
    #[arg(help_heading = "Agent", long, value_name = "FILE", value_parser = file())]
    pub(crate) guard: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) program: ProgramArguments,
    /// Label of the campaign in listings and reports, up to 80 characters.
    ///
    /// `planproof runs label` changes it.
    #[arg(help_heading = "Campaign", long, value_name = "TEXT", value_parser = label)]
    pub(crate) label: Option<String>,
    /// Show planned sub-tasks, and ask before the agent continues.
    ///
    /// For `team@MODEL`, `one-step@MODEL`, `sequential@MODEL` and `hierarchical@MODEL`. Runs one case at a time.
    /// Answers are read from standard input, one per line; `help` lists them.
    #[arg(help_heading = "Campaign", long, value_enum, value_name = "WHEN", default_value = "none", conflicts_with_all = ["replay", "record"])]
    pub(crate) review: ReviewChoice,
    /// Write events to this file as they happen, one JSON line each.
    ///
    /// There is a line when a run starts, for each event of its trace, and when it ends. docs/files.md describes the
    /// format (`stream v1`).
    #[arg(help_heading = "Campaign", long, value_name = "FILE")]
    pub(crate) stream: Option<PathBuf>,
    /// Show the campaign in a browser while it runs.
    ///
    /// Prints an address on this machine, which ends with the campaign. `planproof view` shows it at any time.
    #[arg(help_heading = "Campaign", long)]
    pub(crate) view: bool,
    /// Do not check the models and their servers before the first run.
    ///
    /// The check takes at most two requests to each model behind a server, which are recorded and counted, and warns of
    /// what would spoil the results, such as a context that is too small. `planproof models check` asks more.
    #[arg(help_heading = "Campaign", long, env = "PLANPROOF_NO_CHECK")]
    pub(crate) no_check: bool,
    /// Whether a model of `ollama/` thinks before it replies; by default it decides.
    #[arg(help_heading = "Agent", long, value_enum, value_name = "WHEN", conflicts_with = "resume")]
    pub(crate) think: Option<Think>,
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
    /// Resume an interrupted campaign, or one whose budget was used up.
    ///
    /// RUN is its id, a prefix of the id, or `last`; for `planproof bench` also the id of a matrix. Finished runs are
    /// kept. New budgets replace the old ones and apply to the campaign as a whole.
    ///
    /// A campaign that you did not begin yourself, in this place, starts no program, asks no model or service, and uses
    /// no file unless you name them again, with AGENT and the options that it was begun with. The message has the line.
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
    /// Pass this environment variable to the agent even if it may hold a key.
    ///
    /// For `command:` and `worker:` agents. With `--serve-model` the agent gets no variables whose names suggest a key
    /// (*_API_KEY, *_TOKEN, *_SECRET, *_PASSWORD, AWS_* and more; docs/ci.md lists them). Repeatable.
    #[arg(long, value_name = "NAME", value_parser = variable_name, requires = "serve_model")]
    pub(crate) env: Vec<String>,
    /// Add the variables of this file (lines of NAME=VALUE) to the environment of the agent.
    ///
    /// For `command:` and `worker:` agents; the headers of a `url:` agent may also use them. Values whose names suggest
    /// a key are kept out of reports and recordings.
    #[arg(long, value_name = "FILE")]
    pub(crate) env_file: Option<PathBuf>,
    /// Start the agent in this directory.
    ///
    /// For `command:` and `worker:` agents. The program and its arguments are resolved from there if they are relative
    /// paths.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) cwd: Option<PathBuf>,
    /// Host name by which the agent reaches this machine, for example from a container.
    ///
    /// An example is host.docker.internal. The URLs that a `command:`, `worker:` or `url:` agent gets contain the name,
    /// and requests to that name are accepted. planproof still listens on 127.0.0.1 only. Repeatable; the URLs contain
    /// the first name.
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    pub(crate) allow_host: Vec<String>,
    /// How strictly to isolate the agent from the run store, planproof and other runs.
    ///
    /// For `command:` and `worker:` agents. The files that this command line names are protected as well. Reports say
    /// which protections were in place. Cases are drawn with a secret seed, except with `none`, `--seed` or `--cache`.
    #[arg(long, value_enum, value_name = "HOW", default_value = "best")]
    pub(crate) isolate: IsolateChoice,
    /// Memory limit of a run of the agent, as in 512MiB or 4GiB, or `none`.
    ///
    /// It covers a `command:` or `worker:` agent and all programs that it starts. If they exceed it, all of them are
    /// killed, and the run counts as a failure of the agent.
    #[arg(long, value_name = "SIZE", default_value_t = AgentMemory::default(), value_parser = AgentMemory::from_str)]
    pub(crate) agent_memory: AgentMemory,
    /// Send this header to the `url:` agent, as in 'Authorization: Bearer ${NAME}'.
    ///
    /// NAME is an environment variable or a variable of `--env-file`. Repeatable.
    #[arg(long, value_name = "'NAME: VALUE'")]
    pub(crate) header: Vec<String>,
    /// Request body for the `url:` agent: `chat`, `responses`, or a JSON file.
    ///
    /// `chat` or `chat:MODEL` is OpenAI's chat completions; `responses` or `responses:MODEL` is OpenAI's responses,
    /// with the tools as an MCP server. In a file, {query}, {mcp_url}, {model_url}, {model_key} and {model} are
    /// replaced by the values of the case.
    #[arg(long, value_name = "BODY")]
    pub(crate) body: Option<String>,
    /// Where the reply of the `url:` agent holds the answer.
    ///
    /// A JSON pointer, as in /choices/0/message/content, or `text` if the whole reply is the answer. By default
    /// /answer, or the place that the protocol of `--body` defines.
    #[arg(long, value_name = "POINTER")]
    pub(crate) answer: Option<String>,
}

/// How far programs are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IsolateChoice {
    /// Fully; run nothing if the machine cannot.
    Strict,
    /// As far as the machine can.
    Best,
    /// Not at all: agents run as the user.
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

/// How much of a report the terminal shows.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ShownArguments {
    /// Maximum number of findings (distinct failures) shown, if no file is written.
    #[arg(help_heading = "Results", long, default_value_t = 3, value_name = "N", value_parser = whole(0, usize::MAX))]
    pub(crate) findings: usize,
    /// Also show the suite's own tables, published figures, and the cost of corrections.
    #[arg(help_heading = "Results", long)]
    pub(crate) details: bool,
}

/// What commands have that run all their cases.
#[derive(Debug, Args)]
pub(crate) struct AllCasesArguments {
    /// Number of runs per case, up to 100.
    ///
    /// With several runs the report says how often all of them pass (pass^k), and how many cases are flaky.
    #[arg(help_heading = "Campaign", long, default_value_t = NonZeroU32::MIN, value_name = "K", value_parser = whole(NonZeroU32::MIN, REPEATS_MAX))]
    pub(crate) repeat: NonZeroU32,
    /// Let the tools of the cases fail: `transient=0.2,permanent=0.1,slow=0.1:5s,empty=0.05,vanish=0.05`.
    ///
    /// The shares of calls, 0 to 1, that fail and work when tried again (at most twice in a row), that fail like all
    /// later calls of the tool, that are answered late, that are answered with an empty text, and after which the tool
    /// is gone. The same case has the same failures for every agent. A run passes if everything was done that could
    /// be. `as=rpc`, `closed`, `timeout:5s` or `mixed` sends failures over MCP as errors of the protocol or not at all.
    #[arg(help_heading = "Campaign", long, value_name = "SHARES", value_parser = FaultShares::parse)]
    pub(crate) faults: Option<FaultShares>,
    /// Run only this part of the cases, as in `3/40`: the third of 40 shards, for one of many machines.
    ///
    /// All machines give the same options; each makes all cases and runs its own, so that nothing has to be handed out.
    /// `--max-cost` and `--max-tokens` are those of all shards together, and each may spend its part. The same command
    /// resumes a shard that its --store has, and waits for a process that runs it. `planproof runs merge` makes one
    /// campaign of all shards. docs/scale.md has more.
    #[arg(help_heading = "Campaign", long, value_name = "I/N", value_parser = shard)]
    pub(crate) shard: Option<Shard>,
    /// Exit with 1 if a run failed, even in a replay.
    ///
    /// A replay otherwise exits with 0 if all failures are as recorded. Without `--replay`, failures give exit status 1
    /// anyway.
    #[arg(help_heading = "Results", long)]
    pub(crate) require_pass: bool,
    /// Exit with 0 despite failures if at least this share of the scored runs passed.
    ///
    /// With several agents, each of them has to. A replay is held to it as well, even if all failures are as recorded.
    /// Runs without a score give exit status 3 all the same. As in `90%:proved`, the whole 95 % interval of the success
    /// rate has to be on one side: exit status 0 if it is above, 1 if it is below, 3 if it spans the value.
    #[arg(help_heading = "Results", long, value_name = "P%[:proved]", value_parser = success_min)]
    pub(crate) success_min: Option<SuccessMin>,
    /// Exit with 1 if a run passed but took too much, as in `calls=2x,rounds=+1,tokens=8000`.
    ///
    /// Limits of a run's tool calls, of the rounds in which it makes them (calls that are made together are one round),
    /// and of its tokens: a number; `2x`, a multiple of what the case needs at the least; or `+1`, so much more than
    /// that. Verdicts stay as they are, and reports count the runs over a limit apart. With `--success-min`, such runs
    /// count as failed. docs/ci.md has more.
    #[arg(help_heading = "Results", long, value_name = "LIMITS", value_parser = EffortLimits::parse)]
    pub(crate) fail_over: Option<EffortLimits>,
    #[command(flatten)]
    pub(crate) gate: GateArguments,
    #[command(flatten)]
    pub(crate) shown: ShownArguments,
    #[command(flatten)]
    pub(crate) files: ReportFileArguments,
}

/// Whether a campaign is worse than an earlier one.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Gate on regression")]
pub(crate) struct GateArguments {
    /// Compare with an earlier campaign, case by case, and exit with 1 if this one is worse.
    ///
    /// A baseline file of `planproof runs export --baseline`; or the label of a campaign of the run store, of which the
    /// newest finished one counts; or its id, a prefix of the id, or `last`. Exit status 0: the loss is below the
    /// margin with 95 % confidence; 1: worse; 3: too few cases to tell, and the message says how many would do. Runs
    /// without a score are left out, and are not failures. docs/gate.md has more.
    #[arg(long, value_name = "RUN|FILE|LABEL", conflicts_with = "require_pass")]
    pub(crate) baseline: Option<String>,
    /// The loss that is tolerated, in percentage points; by default 5%.
    #[arg(long, value_name = "P%", value_parser = percent)]
    pub(crate) margin: Option<f64>,
    /// Another figure that must not be worse either: one of the suite, such as `f1`, or calls=10%. Repeatable.
    ///
    /// Figures of a suite have to be from 0 to 1, and more is better. `calls`, `rounds` and `tokens` are those of runs
    /// that passed, and may rise by 10%, or as much as is written behind them. With several figures, p-values are
    /// corrected (Holm).
    #[arg(long, value_name = "NAME[=P%]", value_parser = gate_metric)]
    pub(crate) gate_metric: Vec<String>,
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

/// Which of how many shards.
fn shard(text: &str) -> Result<Shard, String> {
    Shard::from_str(text).map_err(str::to_owned)
}

impl GateArguments {
    /// The file of the baseline, if it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.baseline.as_deref().map(Path::new).filter(|path| path.is_file())
    }
}

impl CampaignArguments {
    /// How its models are asked.
    ///
    /// # Errors
    /// A request may take as long as a run.
    pub(crate) fn asking(&self, wall: Duration) -> Result<ModelArguments, Failure> {
        let within = self.model.within(wall)?;
        Ok(ModelArguments { think: self.think.map(Think::is_on), ..within })
    }

    /// The files that the campaign itself is about, with the options that name them.
    pub(crate) fn files(&self) -> Vec<(&'static str, &Path)> {
        let named = [
            ("--record", &self.recording.record),
            ("--cache", &self.recording.cache),
            ("--replay", &self.recording.replay),
            ("--may-differ", &self.recording.may_differ),
            ("--prices", &self.budget.prices),
            ("--guard", &self.guard),
            (crate::stream::OPTION, &self.stream),
        ];
        let named = named.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)));
        // The store is among them, so that no report replaces it.
        named.chain([("--store", self.store.store.as_path())]).collect()
    }

    /// The files that no output of the command may replace: those of [`files`](Self::files), and the ones that the
    /// agent is set up with.
    pub(crate) fn taken_files(&self) -> Vec<(&'static str, &Path)> {
        let ProgramArguments { env_file, body, .. } = &self.program;
        let body = match body.as_deref().map(BodyName::parse) {
            Some(BodyName::File(path)) => Some(Path::new(path)),
            Some(BodyName::Chat(_) | BodyName::Responses(_)) | None => None,
        };
        let named = [("--env-file", env_file.as_deref()), ("--body", body)];
        let named = named.into_iter().filter_map(|(option, path)| Some((option, path?)));
        self.files().into_iter().chain(named).collect()
    }
}

/// What becomes of the model's answers, and where they come from.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Recording and replay")]
pub(crate) struct RecordingArguments {
    /// Record the campaign to this file, for `--replay`.
    ///
    /// The file holds all model requests and answers.
    #[arg(long, value_name = "FILE", value_parser = file(), conflicts_with = "cache")]
    pub(crate) record: Option<PathBuf>,
    /// Overwrite the file of `--record`.
    #[arg(long, requires = "record")]
    pub(crate) force: bool,
    /// Cache of model answers: reuse those in this file, and add new ones.
    ///
    /// You do not pay twice for a campaign that crashed or is repeated.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) cache: Option<PathBuf>,
    /// Repeat a recorded campaign with the answers in this file only.
    ///
    /// Needs no network and no key, and costs nothing. Exits with 0 if everything is as recorded, failures included.
    /// Differences are reported, and give exit status 3. Options may repeat what was recorded; one that contradicts it
    /// is an error.
    #[arg(
        long,
        value_name = "FILE",
        value_parser = file(),
        conflicts_with_all = ["record", "cache"]
    )]
    pub(crate) replay: Option<PathBuf>,
    /// File of regular expressions for what may differ from the recording.
    ///
    /// One per line, for paths, dates or ids. Matching text is removed from the requests of both the recording and the
    /// replay before they are compared.
    #[arg(long, value_name = "FILE", value_parser = file(), requires = "replay")]
    pub(crate) may_differ: Option<PathBuf>,
}
