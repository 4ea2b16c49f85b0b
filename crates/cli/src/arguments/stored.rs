//! The run store, and the arguments of commands that read it.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use planproof_campaign::CASES_MAX;
use planproof_model::prices::DOLLARS_MAX;
use planproof_output::values::{above_zero, file, whole};
use planproof_store::Fingerprint;

use super::ShownArguments;
use crate::report_files::ReportFileArguments;
use crate::values::{fingerprint, gate_metric, label, percent};

/// The run store where none is named.
pub(crate) const STORE_DEFAULT: &str = ".planproof/runs.db";

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run store")]
pub(crate) struct StoreArguments {
    /// Run store; it is created if it does not exist.
    #[arg(
        long,
        global = true,
        env = "PLANPROOF_STORE",
        default_value = STORE_DEFAULT,
        value_name = "FILE",
        value_parser = file()
    )]
    pub(crate) store: PathBuf,
    /// Maximum size of the run store, in pages of 4 KiB.
    #[arg(long, global = true, value_name = "N", value_parser = whole(NonZeroU32::MIN, NonZeroU32::MAX))]
    pub(crate) store_pages_max: Option<NonZeroU32>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof runs list\n  \
              planproof runs show last\n  \
              planproof runs export last --format verdicts > verdicts.jsonl")]
pub(crate) struct RunsArguments {
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    #[command(subcommand)]
    pub(crate) command: RunsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List campaigns, newest first.
    #[command(after_help = "Examples:\n  \
                  planproof runs list\n  \
                  planproof runs list --json --store results/runs.db")]
    List,
    /// Show the report of a campaign or matrix, or one case of a campaign in full.
    ///
    /// A matrix consists of the campaigns of one `planproof bench` with several agents, models or settings.
    #[command(after_help = "Examples:\n  \
                  planproof runs show last\n  \
                  planproof runs show last --case 7-9\n  \
                  planproof runs show last --judge-again")]
    Show {
        /// Campaign or matrix: its id, a prefix of the id, or `last`.
        run: String,
        /// Show this case: the query with the violated words marked, and the trace.
        #[arg(long, value_name = "ID")]
        case: Option<String>,
        /// With --case, which of its runs to show, counted from 0.
        #[arg(long, default_value_t = 0, value_name = "N", value_parser = whole(0, u32::MAX), requires = "case")]
        repeat: u32,
        /// With --case, draw the graph of the team's sub-tasks instead of the trace.
        #[arg(long, value_enum, value_name = "FORM", requires = "case", conflicts_with = "json")]
        graph: Option<GraphForm>,
        #[command(flatten)]
        shown: ShownArguments,
        /// Judge all runs again from their traces, instead of using the stored verdicts.
        #[arg(long, conflicts_with = "case")]
        judge_again: bool,
    },
    /// Write the data of a campaign to stdout.
    #[command(after_help = "Examples:\n  \
                  planproof runs export last > traces.jsonl\n  \
                  planproof runs export last --format cases > cases.jsonl\n  \
                  planproof runs export last --baseline main.json\n  \
                  planproof bench gsm8k cot@sim/gold --limit 2 -q\n  \
                  planproof runs export last --format official > predictions.jsonl")]
    Export {
        /// Campaign: its id, a prefix of the id, or `last`.
        run: String,
        /// What to export.
        #[arg(long, value_enum, default_value_t = ExportFormat::Traces)]
        format: ExportFormat,
        /// Export only the case with this id. Only with `--format cases`.
        #[arg(long, value_name = "ID")]
        case: Option<String>,
        /// With `--format official`, which run of each case to export, counted from 0.
        #[arg(long, value_name = "N", value_parser = whole(0, u32::MAX))]
        repeat: Option<u32>,
        /// Write the results of all cases to this file instead, for `--baseline`; `-` for stdout.
        ///
        /// One line per case, without any text of a case, a trace or a prompt.
        #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "case", "repeat"])]
        baseline: Option<PathBuf>,
    },
    /// Put the shards of a campaign together, as one machine would have run it.
    ///
    /// Takes what is finished, and says what is missing with the command that runs it (exit status 3). The new store is
    /// written beside its place and takes its name when it is complete; an earlier merge of these shards is replaced.
    #[command(after_help = "Examples:\n  \
                  planproof runs merge shard-1.db shard-2.db --into all.db\n  \
                  planproof runs merge shards/*.db --into all.db")]
    Merge {
        /// Run stores of shards, as `planproof test --shard` makes them.
        #[arg(required = true, value_name = "STORE", value_parser = file())]
        stores: Vec<PathBuf>,
        /// Run store to write.
        #[arg(long, value_name = "FILE", value_parser = file())]
        into: PathBuf,
    },
    /// Check that the stored data of a campaign or matrix is what was written when its runs ended.
    #[command(after_help = "Examples:\n  \
                  planproof runs verify last")]
    Verify {
        /// Campaign or matrix: its id, a prefix of the id, or `last`.
        run: String,
        /// Expected fingerprint of the seal of one campaign, not of a matrix, as printed when it was run.
        #[arg(long, value_name = "FINGERPRINT", value_parser = fingerprint)]
        seal: Option<Fingerprint>,
    },
    /// Set the label of a campaign in listings and reports; without TEXT, remove it.
    #[command(after_help = "Examples:\n  \
                  planproof runs label last 'new prompt'\n  \
                  planproof runs label last")]
    Label {
        /// Campaign: its id, a prefix of the id, or `last`.
        run: String,
        /// New label: one line of up to 80 characters.
        #[arg(value_parser = label)]
        text: Option<String>,
    },
    /// Delete campaigns with their runs and lessons, and free their space.
    ///
    /// Without `--yes`, it only lists what would be deleted, and exits with 2. A campaign that another process is
    /// running is not deleted.
    #[command(after_help = "Examples:\n  \
                  planproof runs delete 1a20e65\n  \
                  planproof runs delete 1a20e65 --yes")]
    Delete {
        /// Campaigns or matrices: their ids, prefixes of the ids, or `last`.
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<String>,
        /// Really delete; otherwise only list what would be deleted.
        #[arg(long)]
        yes: bool,
    },
    /// List the lessons that runs taught agents with a memory, oldest first.
    #[command(after_help = "Examples:\n  \
                  planproof runs lessons\n  \
                  planproof runs lessons last --tool send_mail")]
    Lessons {
        /// List only lessons of this campaign: its id, a prefix of the id, or `last`.
        run: Option<String>,
        /// List only lessons about this tool.
        #[arg(long, value_name = "NAME")]
        tool: Option<String>,
        /// Maximum number of lessons listed; if there are more, the oldest are left out.
        #[arg(long, default_value_t = 100, value_name = "N", value_parser = whole(1, u32::MAX))]
        most: u32,
    },
    /// Delete lessons, so that no later campaign recalls them.
    ///
    /// An unfinished campaign that can recall them can no longer be resumed.
    #[command(group = ArgGroup::new("which").args(["run", "tool", "all"]).required(true).multiple(true))]
    #[command(after_help = "Examples:\n  \
                  planproof runs forget last\n  \
                  planproof runs forget --all")]
    Forget {
        /// Delete lessons of this campaign: its id, a prefix of the id, or `last`.
        run: Option<String>,
        /// Delete lessons about this tool, of that campaign or of all campaigns.
        #[arg(long, value_name = "NAME")]
        tool: Option<String>,
        /// Delete all lessons.
        #[arg(long, conflicts_with_all = ["run", "tool"])]
        all: bool,
    },
}

/// How a graph of sub-tasks is drawn.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum GraphForm {
    /// Text for a terminal.
    Lines,
    /// For Graphviz.
    Dot,
    /// For Mermaid, which Markdown viewers draw.
    Mermaid,
    /// An SVG picture.
    Svg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Trace v1 lines of all finished runs.
    Traces,
    /// Case v1 lines.
    Cases,
    /// Verdict v1 lines of all finished runs; unscored ones as `{"case": ID, "unscored": why}`.
    Verdicts,
    /// Answers of a benchmark's runs as predictions in its published form, for the authors' evaluator or leaderboard.
    ///
    /// For `travelplanner`, `mnms`, `apibank` (calls), `gsm8k`, `hotpotqa` and `triviaqa`.
    Official,
    /// Failed runs, corrected, as conversations for fine-tuning.
    ChatJsonl,
    /// Failed runs as pairs of the agent's first wrong message and a right one, for preference tuning.
    PreferenceJsonl,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof report last --html report.html\n  \
              planproof report last --otlp traces.jsonl\n  \
              planproof report 1a20e65 last\n  \
              planproof report 1a20e65 last --fail-if-worse\n  \
              planproof report 1a20e65 1a20f31 last")]
pub(crate) struct ReportArguments {
    /// Campaign or matrix: its id, a prefix of the id, or `last`.
    pub(crate) run: String,
    /// Other campaigns to compare with.
    ///
    /// With one, the two campaigns are compared case by case, RUN as the earlier one. With several, one table has a row
    /// for each campaign.
    #[arg(value_name = "OTHER")]
    pub(crate) others: Vec<String>,
    /// With one OTHER, exit with 1 if it is worse than RUN, by more than this many percentage points (by default 5%).
    ///
    /// The first line is the answer. Exit status 0: the loss is below the margin with 95 % confidence; 1: worse; 3:
    /// there are too few cases to tell, and the line says how many would do. docs/gate.md has more.
    #[arg(long, value_name = "P%", num_args = 0..=1, default_missing_value = "5%", value_parser = percent)]
    pub(crate) fail_if_worse: Option<f64>,
    /// Another figure that must not be worse either: one of the suite, such as `f1`, or calls=10%. Repeatable.
    ///
    /// Figures of a suite have to be from 0 to 1, and more is better. `calls`, `rounds` and `tokens` are those of runs
    /// that passed, and may rise by 10%, or as much as is written behind them. With several figures, p-values are
    /// corrected (Holm).
    #[arg(long, value_name = "NAME[=P%]", value_parser = gate_metric)]
    pub(crate) gate_metric: Vec<String>,
    #[command(flatten)]
    pub(crate) files: ReportFileArguments,
    /// Write the runs and their verdicts as traces of OpenTelemetry, or send them to a collector.
    ///
    /// A file gets OTLP JSON, a run a line. A URL as in http://127.0.0.1:6006/v1/traces gets one request a run.
    #[arg(long, value_name = "FILE|URL", conflicts_with = "others")]
    pub(crate) otlp: Option<String>,
    /// Send this header with `--otlp URL`, as in 'Authorization: Bearer ${NAME}', where NAME is a variable of the
    /// environment. Repeatable.
    #[arg(long, value_name = "HEADER", requires = "otlp")]
    pub(crate) otlp_header: Vec<String>,
    /// Expected fingerprint of the seal of one campaign, not of a matrix, as printed when it was run.
    #[arg(long, value_name = "FINGERPRINT", value_parser = fingerprint, conflicts_with = "others")]
    pub(crate) seal: Option<Fingerprint>,
    #[command(flatten)]
    pub(crate) shown: ShownArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof tables last\n  \
              planproof tables 1a20e65 1a20f31\n  \
              planproof tables pdoctor\n  \
              planproof tables pdoctor 3 --run --model sim/careless --cases 5\n\n\
              Exit status: 0 printed, and with --run all of it was run; 2 usage or input error; 3 something was not \
              run, or not completed.")]
pub(crate) struct TablesArguments {
    /// Campaigns: their ids, prefixes of the ids, or `last`. Or a paper, alone or with one of its tables.
    ///
    /// Campaigns are shown in the layout of PDoctor's tables. For a campaign of `planproof limit`, only failures within
    /// the limit are counted.
    ///
    /// The papers are `pdoctor`, `behaviour`, `mnms`, `pmc` and `tptu`. A paper alone lists its tables; with a table,
    /// as in `pdoctor 3`, the command lines that make the table are printed, then the table as far as the campaigns of
    /// the run store fill it.
    #[arg(required = true, value_name = "RUN|PAPER")]
    pub(crate) runs: Vec<String>,
    /// Run what the table of the paper still lacks, then print it.
    ///
    /// The same command continues where the last one stopped.
    #[arg(long, requires = "model")]
    pub(crate) run: bool,
    /// Model for the agents of the table. Repeatable.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Vec<String>,
    /// Maximum cost of all that the table takes, in US dollars, together with what was paid for it before.
    ///
    /// A request that would exceed it is not sent.
    #[arg(long, value_name = "USD", requires = "run", value_parser = above_zero(DOLLARS_MAX, "US dollars"))]
    pub(crate) max_cost: Option<f64>,
    /// Make a small version of the table, for a trial: this many cases in each campaign.
    ///
    /// In a search for a limit, for each number of actions.
    #[arg(long, visible_alias = "limit", value_name = "N", value_parser = whole(1, CASES_MAX))]
    pub(crate) cases: Option<u64>,
    /// Published data of a suite of the table, as in `gsm8k=test.jsonl`. Repeatable, once per suite.
    ///
    /// Without it the suite uses its own cases.
    #[arg(long, value_name = "SUITE=FILE", value_parser = suite_data)]
    pub(crate) data: Vec<(String, PathBuf)>,
    /// Pages for the questions of `hotpotqa` and `triviaqa`, as with `planproof bench --pages`.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) pages: Option<String>,
    /// TOML file of the servers and folders for the tools of `mnms`, as with `planproof bench --media`.
    #[arg(long, value_name = "FILE")]
    pub(crate) media: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

/// A suite and its data.
fn suite_data(text: &str) -> Result<(String, PathBuf), &'static str> {
    match text.split_once('=') {
        Some((suite, file)) if !suite.is_empty() && !file.is_empty() => Ok((suite.to_owned(), file.into())),
        _ => Err("write the suite and the file, as in gsm8k=test.jsonl"),
    }
}
