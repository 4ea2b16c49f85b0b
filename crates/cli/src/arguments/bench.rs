//! The arguments of `planproof bench` and `planproof score`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use planproof_model::prices::DOLLARS_MAX;
use planproof_runner::CASES_MAX;

use super::cases::parse_range;
use super::{AllCasesArguments, AskingArguments, CampaignArguments};
use crate::values::{above_zero, file, whole};

/// Options that say which cases there are.
pub(crate) const CHOOSING: [&str; 7] = ["data", "limit", "shuffle", "places", "days", "level", "from"];

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    mut_arg("resume", |arg| arg.conflicts_with_all(CHOOSING).conflicts_with("repeat")),
    mut_arg("allow_repeats", |arg| arg.hide(true)),
    mut_arg("allow_distractors", |arg| arg.hide(true)),
    mut_arg("fail_at_once", |arg| arg.hide(true)),
    after_help = "Examples:\n  planproof bench\n  planproof bench gsm8k cot@openai/gpt-5-mini --data test.jsonl --limit 100\n\n\
                  Without a suite it lists those that there are. Exit status as of `planproof test`."
)]
pub(crate) struct BenchArguments {
    /// The suite, as `gsm8k`. Without one, those that there are are listed.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    #[command(flatten)]
    pub(crate) campaign: CampaignArguments,
    /// More agents: then all of them are run on the same cases, and one table compares them.
    #[arg(value_name = "AGENT", conflicts_with = "resume")]
    pub(crate) others: Vec<String>,
    /// The model of agents that are named without one, as `direct`; repeated, each of them is run with each model.
    /// `--set agent.KEY=V1,V2` runs them with each value of an option.
    #[arg(long = "model", value_name = "MODEL", conflicts_with = "resume")]
    pub(crate) models: Vec<String>,
    #[command(flatten)]
    pub(crate) choice: ChoiceArguments,
    /// Take the cases from a file of case lines instead, as `runs export --format cases` writes them; `-` for stdin.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "limit", "shuffle", "places", "days", "level"])]
    pub(crate) from: Option<PathBuf>,
    /// The servers and folders that the tools of `mnms` work with, as TOML; without it, these tools are simulated.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub(crate) media: Option<PathBuf>,
    /// The pages that the tools of `hotpotqa` and `triviaqa` search: search:FOLDER or wiki:URL, as `--tools` of `run`
    /// takes them. Without it, questions of your own data come without tools.
    #[arg(long, value_name = "SOURCE", conflicts_with = "resume")]
    pub(crate) pages: Option<String>,
    /// By which rule answers of `hotpotqa`, `triviaqa` and `gsm8k` pass: `official`, or `paper`, that of the code of
    /// the paper on agents by specification. Without it, `paper` for `gsm8k` and `official` for the others.
    #[arg(long, value_name = "RULE", conflicts_with_all = ["resume", "from"])]
    pub(crate) scoring: Option<String>,
    /// What agents of `travelplanner` are asked for: `two-stage`, with the tools of the sandbox; `sole-planning`,
    /// with all that they need in the prompt; or `reading`, to write the fields of the query and no plan.
    #[arg(long, value_name = "MODE", conflicts_with_all = ["resume", "from"])]
    pub(crate) mode: Option<String>,
    /// Give the planners of `travelplanner` the unconventional hints of the paper on collaborating agents: `on` or
    /// `off`.
    #[arg(long, value_name = "on", conflicts_with_all = ["resume", "from"])]
    pub(crate) hints: Option<String>,
    /// Judge plans of `travelplanner` as the published evaluator does, with its faults.
    #[arg(long, value_name = "original", conflicts_with_all = ["resume", "from"])]
    pub(crate) compat: Option<String>,
    #[command(flatten)]
    pub(crate) all: AllCasesArguments,
    #[command(subcommand)]
    pub(crate) command: Option<BenchCommand>,
}

/// What is a benchmark of its own.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Make a dated table of models on the same cases to order, each with a recording to publish. What is finished is
    /// kept: the same command continues where the last one ended.
    Models(ModelsArguments),
}

/// Models by one protocol.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  planproof bench models openai/gpt-5-mini anthropic/claude-haiku-4-5 --estimate\n  \
                  planproof bench models openai/gpt-5-mini anthropic/claude-haiku-4-5 --max-cost 2\n\n\
                  Exit status: 0 all rows are there; 2 usage or input error; 3 a row was not run, or not to its end.")]
pub(crate) struct ModelsArguments {
    /// The models, as `openai/gpt-5-mini`, each in our function-calling loop; or agents with a model, as
    /// `react@openai/gpt-5-mini`.
    #[arg(required = true, value_name = "MODEL")]
    pub(crate) agents: Vec<String>,
    /// Number of cases.
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = whole(1, CASES_MAX))]
    pub(crate) cases: u64,
    /// Number of actions: one number, or a range with both ends included.
    #[arg(long, default_value = "3..8", value_name = "N..M", value_parser = parse_range)]
    pub(crate) actions: (u32, u32),
    /// A form of the cases; repeated, each model has a row for each.
    #[arg(long, value_enum, value_name = "FORM", default_value = "basic")]
    pub(crate) form: Vec<TestForm>,
    /// Most money that all rows together may cost, in US dollars. A request that does not fit any more is not sent.
    #[arg(long, value_name = "USD", value_parser = above_zero(DOLLARS_MAX, "US dollars"))]
    pub(crate) max_cost: Option<f64>,
    /// Say what it would cost, by the tokens of a simulated model and the prices; no model is asked.
    #[arg(long, conflicts_with = "max_cost")]
    pub(crate) estimate: bool,
    /// The folder of the recordings, one for each row.
    #[arg(long, value_name = "FOLDER", default_value = "recordings")]
    pub(crate) recordings: PathBuf,
    /// Prices of models, instead of those that are compiled in (docs/files.md says how they are written).
    #[arg(long, value_name = "FILE", env = "PLANPROOF_PRICES", value_parser = file())]
    pub(crate) prices: Option<PathBuf>,
}

/// A form of cases to order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestForm {
    /// Tasks in an order.
    Basic,
    /// Tasks in an order, at clock times.
    Time,
}

impl TestForm {
    /// The word for it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Time => "time",
        }
    }

    /// What `planproof test` is given for it.
    pub(crate) fn options(self) -> &'static [&'static str] {
        match self {
            Self::Basic => &[],
            Self::Time => &["--time"],
        }
    }
}

/// Which cases of which data.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cases")]
pub(crate) struct ChoiceArguments {
    /// The benchmark's own data, as it is published; without it, a few cases that come with planproof. `--set NAME`
    /// says which of several sets in a folder.
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// Most cases.
    #[arg(long, value_name = "N", value_parser = whole(1, usize::MAX))]
    pub(crate) limit: Option<usize>,
    /// Draw the cases from the data by this seed, instead of taking them in its order.
    #[arg(long, value_name = "SEED", value_parser = whole(0, u64::MAX))]
    pub(crate) shuffle: Option<u64>,
    /// Take the cases at the places that this JSON file lists, counted from 0, in their order: a published sample.
    #[arg(long, value_name = "FILE", conflicts_with = "shuffle")]
    pub(crate) places: Option<PathBuf>,
    /// Cases of `travelplanner` with trips of this many days only.
    #[arg(long, value_name = "N", value_parser = whole(1, usize::MAX))]
    pub(crate) days: Option<usize>,
    /// Cases of `travelplanner` of this level only: `easy`, `medium` or `hard`.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) level: Option<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 all are right; 1 some are wrong or missing; 2 usage or input error; 3 the judge model \
                  could not be had."
)]
pub(crate) struct ScoreArguments {
    /// The suite, as `gsm8k`.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: String,
    /// The predictions, a line of JSON each, as in {"id": "gsm8k-1", "prediction": "... #### 18"}; `-` for stdin.
    /// Without ids they belong to the cases in their order.
    #[arg(value_name = "FILE")]
    pub(crate) predictions: PathBuf,
    /// In which form the predictions are, where there are several: for `mnms` json, which are lists of nodes, or code.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Score as the published evaluator does, with its faults, where there is one that differs from ours.
    #[arg(long, value_name = "original")]
    pub(crate) compat: Option<String>,
    /// By which rule answers pass, as of `planproof bench`.
    #[arg(long, value_name = "RULE")]
    pub(crate) scoring: Option<String>,
    /// Compare each prediction with the one of several right plans that fits it best, with `--compat original`, too:
    /// without it that is always so.
    #[arg(long)]
    pub(crate) alternatives: bool,
    /// A log of what came of carrying the predictions of `mnms` out: lines of JSON as {"id": 1, "res": 1}, where `res`
    /// is 0 for what went wrong. From it comes the pass rate.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) log: Option<PathBuf>,
    /// A model that is asked whether values of `mnms` that differ from the right ones say the same in other words.
    #[arg(long, value_name = "MODEL")]
    pub(crate) judge: Option<String>,
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(flatten)]
    pub(crate) choice: ChoiceArguments,
}
