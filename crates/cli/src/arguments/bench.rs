//! The arguments of `planproof bench` and `planproof score`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use planproof_agents::REPLY_TOKENS;
use planproof_assembly::arguments::{AskingArguments, CompatChoice};
use planproof_campaign::CASES_MAX;
use planproof_doors::SuiteArguments;
use planproof_doors::orders::arguments::parse_range;
use planproof_model::prices::DOLLARS_MAX;
use planproof_output::values::{above_zero, file, whole};

use super::{AllCasesArguments, CampaignArguments, ShownArguments};
use crate::report_files::ReportFileArguments;
use crate::values::{CaseCount, case_count};

/// Options that say which cases there are, beside those of suites.
pub(crate) const CHOOSING: [&str; 6] = ["data", "limit", "cases", "shuffle", "places", "from"];

/// Options that cases from a file do not go with: they are made already. Those of suites say the same of themselves.
const CHOOSING_ANEW: [&str; 5] = ["data", "limit", "shuffle", "places", "compat"];

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    mut_arg("resume", |arg| arg.conflicts_with_all(CHOOSING).conflicts_with_all(["repeat", "compat", "faults", "fail_over"])),
    after_help = "Examples:\n  planproof bench\n  planproof bench gsm8k react@sim/gold --limit 5\n  \
                  planproof bench gsm8k cot@openai/gpt-5-mini --data test.jsonl --limit 100\n\n\
                  The exit status is as in `planproof --help`."
)]
pub(crate) struct BenchArguments {
    /// Suite, as in `gsm8k`. Without one, the suites are listed.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    #[command(flatten)]
    pub(crate) campaign: CampaignArguments,
    /// More agents to run on the same cases, compared in one table.
    ///
    /// The campaigns of such a command form a matrix. They share one budget, and one id for `--resume`,
    /// `planproof report`, and `planproof runs show`, `verify` and `delete`.
    #[arg(value_name = "AGENT")]
    pub(crate) others: Vec<String>,
    /// Model for agents that are named without one, as in `direct`.
    ///
    /// Repeatable: each agent runs with each model. `--set agent.KEY=V1,V2` runs the agents with each value of an
    /// option.
    #[arg(id = "model", long, value_name = "MODEL")]
    pub(crate) models: Vec<String>,
    #[command(flatten)]
    pub(crate) choice: ChoiceArguments,
    /// As many cases as it takes to decide whether the agent is worse: `auto`, with --baseline.
    ///
    /// The two campaigns are compared after 63 cases, 125 and so on up to 2,000, until the answer is worse or not
    /// worse, a budget is used up, or all cases of the data or of the baseline are run. A number means the same as with
    /// --limit. docs/gate.md has more.
    #[arg(long, value_name = "N", value_parser = case_count(), conflicts_with = "limit")]
    pub(crate) cases: Option<u64>,
    /// Read the cases from this file, one JSON line each; `-` for stdin.
    ///
    /// `planproof runs export --format cases` writes such files.
    #[arg(long, value_name = "FILE", conflicts_with_all = CHOOSING_ANEW)]
    pub(crate) from: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) of_suite: SuiteArguments<false>,
    /// How runs are judged, from `--compat`, where the suite has such an option.
    #[arg(skip)]
    pub(crate) compat: Option<CompatChoice>,
    #[command(flatten)]
    pub(crate) all: AllCasesArguments,
    #[command(subcommand)]
    pub(crate) command: Option<BenchCommand>,
}

/// What is a benchmark of its own.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Make a dated table of models on the same `planproof test` cases, with a recording for each row.
    ///
    /// Finished rows are kept: the same command continues where the last one stopped.
    Models(ModelsArguments),
}

/// Models by one protocol.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  planproof bench models openai/gpt-5-mini anthropic/claude-haiku-4-5 --estimate\n  \
                  planproof bench models openai/gpt-5-mini anthropic/claude-haiku-4-5 --max-cost 2\n\n\
                  Exit status: 0 all rows are complete; 2 usage or input error; 3 a row was not run, or not \
                  completed.")]
pub(crate) struct ModelsArguments {
    /// Models, as in `openai/gpt-5-mini`, each in our function-calling loop.
    ///
    /// Agents with a model are also possible, as in `react@openai/gpt-5-mini`.
    #[arg(required = true, value_name = "MODEL")]
    pub(crate) agents: Vec<String>,
    /// Number of cases.
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = whole(1, CASES_MAX))]
    pub(crate) cases: u64,
    /// Number of actions: one number, or a range with both ends included.
    #[arg(long, default_value = "3..8", value_name = "N..M", value_parser = parse_range)]
    pub(crate) actions: (u32, u32),
    /// Form of the cases. Repeatable: each model has a row for each form.
    #[arg(long, value_enum, value_name = "FORM", default_value = "basic")]
    pub(crate) form: Vec<TestForm>,
    /// Maximum cost of all rows together, in US dollars.
    ///
    /// A request that would exceed it is not sent.
    #[arg(long, value_name = "USD", value_parser = above_zero(DOLLARS_MAX, "US dollars"))]
    pub(crate) max_cost: Option<f64>,
    /// Estimate the cost, and send no request to a model.
    ///
    /// The estimate is based on the prices, and on the tokens that a simulated model uses.
    #[arg(long, conflicts_with = "max_cost")]
    pub(crate) estimate: bool,
    /// Maximum number of tokens of one reply of a model.
    ///
    /// Sent with every request. Small models ramble: 512 is plenty for them.
    #[arg(long, default_value_t = REPLY_TOKENS, value_name = "N", value_parser = whole(1, u32::MAX))]
    pub(crate) reply_tokens: u32,
    /// Folder for the recordings, one per row.
    #[arg(long, value_name = "FOLDER", default_value = "recordings")]
    pub(crate) recordings: PathBuf,
    /// File of model prices, instead of the built-in ones.
    ///
    /// docs/files.md describes the format.
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
    /// Published data of the benchmark: a file or a folder.
    ///
    /// Without it, the suite uses a few cases that come with planproof. With `travelplanner`, `--set train`,
    /// `--set validation` or `--set test` chooses the queries of the folder.
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,
    /// Maximum number of cases.
    #[arg(long, value_name = "N", value_parser = whole(1, usize::MAX))]
    pub(crate) limit: Option<usize>,
    /// Draw the cases from the data with this seed.
    ///
    /// By default they are taken in the order of the data.
    #[arg(long, value_name = "SEED", value_parser = whole(0, u64::MAX))]
    pub(crate) shuffle: Option<u64>,
    /// JSON file with the positions of the cases to take, counted from 0.
    ///
    /// They are taken in the order of the file, as for a published sample.
    #[arg(long, value_name = "FILE", conflicts_with = "shuffle")]
    pub(crate) places: Option<PathBuf>,
}

impl BenchArguments {
    /// How many cases there may be; `None` for all.
    pub(crate) fn cases_max(&self) -> Option<usize> {
        let count = self.cases.map(|cases| CaseCount::from(cases).most() as usize);
        count.or(self.choice.limit)
    }

    /// Whether only as many cases are run as it takes to compare the campaign with a baseline.
    pub(crate) fn until_decided(&self) -> bool {
        self.cases.map(CaseCount::from) == Some(CaseCount::Auto)
    }
}

impl ChoiceArguments {
    /// The same choice, of at most so many cases.
    pub(crate) fn at_most(&self, limit: Option<usize>) -> Self {
        Self { data: self.data.clone(), limit, shuffle: self.shuffle, places: self.places.clone() }
    }

    /// All cases of the same data.
    pub(crate) fn all_of(choice: &Self) -> Self {
        Self { data: choice.data.clone(), limit: None, shuffle: None, places: None }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  planproof score gsm8k predictions.jsonl --data test.jsonl\n  \
                  planproof score mnms programs.jsonl --format code --compat original --data mnms.jsonl\n  \
                  planproof score gsm8k predictions.jsonl --data test.jsonl --html report.html\n\n\
                  Exit status: 0 all are right; 1 some are wrong or missing; 2 usage or input error; 3 the judge model \
                  was not available.")]
pub(crate) struct ScoreArguments {
    /// Suite, as in `gsm8k`.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: String,
    /// File of predictions, one JSON line each; `-` for stdin.
    ///
    /// A line is like {"id": "gsm8k-1", "prediction": "... #### 18"}. Predictions without ids belong to the cases in
    /// order.
    #[arg(value_name = "FILE")]
    pub(crate) predictions: PathBuf,
    #[command(flatten)]
    pub(crate) of_suite: SuiteArguments<true>,
    /// Execution log of the predictions of `mnms`, for the pass rate.
    ///
    /// JSON lines such as {"id": 1, "res": 1}, where `res` is 0 for a failed execution.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) log: Option<PathBuf>,
    /// Model that judges whether a value of `mnms` that differs from the right one means the same.
    #[arg(long, value_name = "MODEL")]
    pub(crate) judge: Option<String>,
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(flatten)]
    pub(crate) choice: ChoiceArguments,
    #[command(flatten)]
    pub(crate) shown: ShownArguments,
    #[command(flatten)]
    pub(crate) files: ReportFileArguments,
}
