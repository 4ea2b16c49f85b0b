//! The run store, and the arguments of commands that read it.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use planproof_store::Fingerprint;

use crate::report_files::ReportFileArguments;
use crate::values::{file, fingerprint, label, whole};

/// The run store where none is named.
pub(crate) const STORE_DEFAULT: &str = ".planproof/runs.db";

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run store")]
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
        /// Draw the graph of sub-tasks that a team worked on, instead of the trace.
        #[arg(long, value_enum, value_name = "FORM", requires = "case", conflicts_with = "json")]
        graph: Option<GraphForm>,
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
        /// Only the case of that id; with `--format cases`.
        #[arg(long, value_name = "ID")]
        case: Option<String>,
    },
    /// Check whether what is stored of a campaign is what was written when its runs ended.
    Verify {
        /// Id of the campaign or matrix, the beginning of it, or `last`.
        run: String,
        /// The seal that was printed when it was run: the stored one must be the same.
        #[arg(long, value_name = "FINGERPRINT", value_parser = fingerprint)]
        seal: Option<Fingerprint>,
    },
    /// Call a campaign so in listings and reports; without TEXT it has no label any more.
    Label {
        /// Id of the campaign, the beginning of it, or `last`.
        run: String,
        /// One line of at most 80 characters.
        #[arg(value_parser = label)]
        text: Option<String>,
    },
    /// Delete campaigns with their runs and lessons, and give their space back. Says what would go unless --yes is
    /// given. One that another process is running is not deleted.
    Delete {
        /// Ids of campaigns or matrices, or the beginnings of them.
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<String>,
        /// Delete them.
        #[arg(long)]
        yes: bool,
    },
    /// List what runs taught agents that have a memory, the oldest first.
    Lessons {
        /// Only what this campaign taught: its id, the beginning of it, or `last`.
        run: Option<String>,
        /// Only lessons about this tool.
        #[arg(long, value_name = "NAME")]
        tool: Option<String>,
        /// Most lessons listed: the newest.
        #[arg(long, default_value_t = 100, value_name = "N", value_parser = whole(1, u32::MAX))]
        most: u32,
    },
    /// Delete lessons, so that no later campaign recalls them. A campaign that can recall them and is not finished can
    /// no longer be resumed.
    #[command(group = ArgGroup::new("which").args(["run", "tool", "all"]).required(true).multiple(true))]
    Forget {
        /// What this campaign taught: its id, the beginning of it, or `last`.
        run: Option<String>,
        /// Lessons about this tool, of that campaign or of all.
        #[arg(long, value_name = "NAME")]
        tool: Option<String>,
        /// All lessons.
        #[arg(long, conflicts_with_all = ["run", "tool"])]
        all: bool,
    },
}

/// How a graph of sub-tasks is drawn.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum GraphForm {
    /// Text for a terminal.
    Lines,
    /// The language of Graphviz.
    Dot,
    /// The language of Mermaid, which Markdown viewers draw.
    Mermaid,
    /// A picture.
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
    /// Failed runs done right, as conversations for fine-tuning.
    ChatJsonl,
    /// Failed runs as choices between the agent's first wrong message and a right one, for preference tuning.
    PreferenceJsonl,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Id of the campaign, the beginning of it, or `last`.
    pub(crate) run: String,
    /// With a second campaign the two are compared case by case, the first as what was before; with more of
    /// them there is one table, a row for each.
    #[arg(value_name = "OTHER")]
    pub(crate) others: Vec<String>,
    #[command(flatten)]
    pub(crate) files: ReportFileArguments,
    /// The seal that was printed when the campaign was run: the stored one must be the same.
    #[arg(long, value_name = "FINGERPRINT", value_parser = fingerprint, conflicts_with = "others")]
    pub(crate) seal: Option<Fingerprint>,
    /// Most findings shown, where no file is written.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = whole(0, usize::MAX))]
    pub(crate) findings: usize,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}

#[derive(Debug, Args)]
pub(crate) struct TablesArguments {
    /// Ids of campaigns, the beginnings of them, or `last`. Of a search for a limit, failures are counted
    /// within the limit.
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}
