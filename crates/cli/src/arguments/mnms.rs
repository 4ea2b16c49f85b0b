//! The arguments of `planproof mnms`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use planproof_mnms::generate::PATH_TOOLS_MAX;

use super::AskingArguments;
use crate::values::{file, whole};

#[derive(Debug, Args)]
pub(crate) struct MnmsArguments {
    #[command(subcommand)]
    pub(crate) command: MnmsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MnmsCommand {
    /// List the tools, with what they take and give.
    Tools,
    /// Show which tool may follow which, and how many walks there are.
    Graph(ToolGraphArguments),
    /// Print what models are asked, with the gaps that are filled in.
    Prompts {
        /// Only this one.
        #[arg(value_enum)]
        prompt: Option<Prompt>,
    },
    /// Make queries with their plans: draw sequences of tools, pair them with inputs, plan them by rule, and write
    /// the queries by rule or by a model.
    Generate(GenerateMnmsArguments),
    /// Write a sheet for people to fill in with a spreadsheet program.
    Sheet {
        #[command(subcommand)]
        command: SheetCommand,
    },
    /// Say how far the raters of filled sheets agree.
    Agree {
        /// The sheets; several copies of one, each filled in by another person, count as one.
        #[arg(required = true, value_name = "SHEET")]
        sheets: Vec<PathBuf>,
        /// Ratings are 0, 0.5 and 1, as in sheets of results, and not only 0 and 1.
        #[arg(long)]
        halves: bool,
    },
    /// Keep what all raters rated 1, whose tools gave good results, and whose tools are not too frequent.
    Filter(FilterArguments),
    /// Add the plans that come of replacing tools of a plan by others.
    Alternatives(AlternativesArguments),
    /// Write queries with their plans in the other form: as the published files have them, or as lines of cases. All
    /// commands here, and `bench mnms --data`, read both.
    Convert {
        /// Queries with their plans, in either form; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The form that is wanted.
        #[arg(long, value_enum)]
        to: DataForm,
        #[command(flatten)]
        out: MnmsOutArguments,
    },
    /// Say how good rated results are, and how far metrics go along with them.
    Rate {
        /// Filled sheets of results.
        #[arg(required = true, value_name = "SHEET")]
        sheets: Vec<PathBuf>,
        /// A table of metrics in CSV, whose first column is `setting`.
        #[arg(long, value_name = "FILE")]
        metrics: Option<PathBuf>,
    },
}

/// What makes one tool follow another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// The 149 pairs of the published graph.
    List,
    /// The rule of the paper: an output of the first is of the kind of an argument of the second.
    Kinds,
}

/// A form of queries with their plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataForm {
    /// That of the published files: plans are texts of Python.
    Published,
    /// Lines of cases (`planproof/mnms/v1`): plans are JSON.
    Cases,
}

/// A prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Prompt {
    /// Asks for queries that a plan solves.
    Queries,
    /// Asks for the texts of text and image generation, faithful to a query.
    Rewriting,
    /// Asks for tools that do what another does.
    Alternatives,
}

/// A form of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolGraphFormat {
    /// Each tool with those that may follow it.
    Text,
    /// For Graphviz.
    Dot,
    /// For Mermaid.
    Mermaid,
}

#[derive(Debug, Args)]
pub(crate) struct ToolGraphArguments {
    /// What makes one tool follow another.
    #[arg(long, value_enum, default_value_t = By::List)]
    pub(crate) by: By,
    /// What to print it as; `--json` gives it as JSON.
    #[arg(long, value_enum, default_value_t = ToolGraphFormat::Text)]
    pub(crate) format: ToolGraphFormat,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateMnmsArguments {
    /// A folder of pictures (.jpg, .jpeg, .png), recordings (.flac, .wav) and texts (.txt) to begin plans with,
    /// and an inputs.jsonl that says what they are; by default names of files that nobody has.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) inputs: Option<PathBuf>,
    /// Number of sequences of tools.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = whole(1usize, 500_000))]
    pub(crate) sequences: usize,
    /// Fewest tools of a plan.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole(1usize, 100))]
    pub(crate) tools_min: usize,
    /// Most tools of a plan.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = whole(1usize, 100))]
    pub(crate) tools_max: usize,
    /// Number of inputs that each sequence is paired with.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = whole(1usize, 1000))]
    pub(crate) inputs_each: usize,
    /// Number of queries for each sequence with an input.
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = whole(1usize, 20))]
    pub(crate) queries: usize,
    /// What makes one tool follow another.
    #[arg(long, value_enum, default_value_t = By::List)]
    pub(crate) by: By,
    /// Who writes the queries, and then the texts of text and image generation anew: `openai/NAME`,
    /// `anthropic/NAME`, `replay/FILE` or, to try the command, a simulation, `sim/NAME`. Without it, queries are
    /// written by rule and say each step.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Print what the model would be asked for the first sequence, and ask nothing.
    #[arg(long)]
    pub(crate) show_prompt: bool,
    #[command(flatten)]
    pub(crate) out: MnmsOutArguments,
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SheetCommand {
    /// On which people say whether each plan solves its query.
    Drafts {
        /// Queries with their plans, in the published form or as lines of cases; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        sheet: SheetArguments,
    },
    /// On which people say which tools can stand for a tool.
    Alternatives {
        /// Most tools that replace one.
        #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole(1usize, PATH_TOOLS_MAX))]
        path_tools: usize,
        /// A model that proposes tools beside those that kinds allow.
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
        #[command(flatten)]
        sheet: SheetArguments,
        #[command(flatten)]
        asking: Box<AskingArguments>,
    },
    /// On which people say how good the results of plans are, 0, 0.5 or 1.
    Results {
        /// Queries with their plans, in the published form or as lines of cases; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// What plans gave in a setting, as `SETTING=FILE`: lines of JSON with `id` and `msg`, `result` or
        /// `prediction`. May be given several times.
        #[arg(long = "result", required = true, value_name = "SETTING=FILE")]
        results: Vec<String>,
        /// Only N queries, drawn by --seed among those with a result in every setting.
        #[arg(long, value_name = "N", value_parser = whole(1usize, 100_000))]
        count: Option<usize>,
        #[command(flatten)]
        sheet: SheetArguments,
    },
}

/// Who rates, and where the sheet goes.
#[derive(Debug, Args)]
pub(crate) struct SheetArguments {
    /// The raters: a column for each.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_value = "1,2,3")]
    pub(crate) raters: Vec<String>,
    #[command(flatten)]
    pub(crate) out: MnmsOutArguments,
}

#[derive(Debug, Args)]
pub(crate) struct FilterArguments {
    /// Queries with their plans, in the published form or as lines of cases; `-` for stdin.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// A filled sheet of these drafts: what not all raters rated 1 goes. May be given several times.
    #[arg(long, value_name = "SHEET")]
    pub(crate) sheet: Vec<PathBuf>,
    /// A filled sheet about results: what anybody rated 0 goes. May be given several times.
    #[arg(long, value_name = "SHEET")]
    pub(crate) poor: Vec<PathBuf>,
    /// An execution log, lines of JSON with `id` and `res`: what has `res` 0 goes.
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Tools that come too often.
    #[arg(long, value_name = "TOOL,...", value_delimiter = ',', default_value = "image generation")]
    pub(crate) frequent: Vec<String>,
    /// Most different queries of a sequence of tools with a frequent one; with more, all of them go.
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = whole(0usize, 1_000_000))]
    pub(crate) queries_max: usize,
    #[command(flatten)]
    pub(crate) out: MnmsOutArguments,
}

#[derive(Debug, Args)]
pub(crate) struct AlternativesArguments {
    /// Queries with their plans, in the published form or as lines of cases; `-` for stdin.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// A filled sheet of alternatives: those that all raters rated 1 are used. May be given several times.
    #[arg(long, required = true, value_name = "SHEET")]
    pub(crate) sheet: Vec<PathBuf>,
    /// What makes one tool follow another.
    #[arg(long, value_enum, default_value_t = By::List)]
    pub(crate) by: By,
    #[command(flatten)]
    pub(crate) out: MnmsOutArguments,
}

/// Where a file goes.
#[derive(Debug, Args)]
pub(crate) struct MnmsOutArguments {
    /// Write to this file; by default to stdout.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file of `--out`.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}
