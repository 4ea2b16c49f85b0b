//! The arguments of `planproof mnms`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use planproof_assembly::arguments::AskingArguments;
use planproof_mnms::generate::PATH_TOOLS_MAX;
use planproof_output::values::{file, whole};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof mnms tools\n  \
              planproof mnms generate --sequences 40 --out drafts.jsonl\n  \
              planproof mnms sheet drafts drafts.jsonl --raters Ann,Bo,Cy --out sheet.csv")]
pub struct MnmsArguments {
    #[command(subcommand)]
    pub(crate) command: MnmsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MnmsCommand {
    /// List the tools with their arguments and results.
    #[command(after_help = "Examples:\n  \
                  planproof mnms tools\n  \
                  planproof mnms tools --json")]
    Tools,
    /// Show which tools may follow which, and the number of walks.
    Graph(ToolGraphArguments),
    /// Print the prompts for models, with their placeholders.
    ///
    /// `planproof mnms generate --show-prompt` prints one with the placeholders filled in.
    #[command(after_help = "Examples:\n  \
                  planproof mnms prompts\n  \
                  planproof mnms prompts queries")]
    Prompts {
        /// Print only this prompt.
        #[arg(value_enum)]
        prompt: Option<Prompt>,
    },
    /// Make queries with their plans.
    ///
    /// Draws sequences of tools, pairs them with inputs, plans them by rule, and writes the queries by rule or with a
    /// model.
    Generate(GenerateMnmsArguments),
    /// Write a sheet for people to fill in with a spreadsheet program.
    #[command(after_help = "Examples:\n  \
                  planproof mnms sheet drafts drafts.jsonl --raters Ann,Bo,Cy --out sheet.csv\n  \
                  planproof mnms sheet alternatives --out tools.csv")]
    Sheet {
        #[command(subcommand)]
        command: SheetCommand,
    },
    /// Measure how far the raters of filled sheets agree.
    #[command(after_help = "Examples:\n  \
                  planproof mnms agree sheet-ann.csv sheet-bo.csv\n  \
                  planproof mnms agree results-filled.csv --halves")]
    Agree {
        /// Filled sheets; copies of one sheet that different people have filled in count as one sheet.
        #[arg(required = true, value_name = "SHEET")]
        sheets: Vec<PathBuf>,
        /// Expect ratings of 0, 0.5 and 1, as on sheets of results, instead of 0 and 1.
        #[arg(long)]
        halves: bool,
    },
    /// Drop drafts that raters reject, whose results are poor, or whose tools are too frequent.
    ///
    /// A draft is a query with its plan. Each of `--sheet`, `--poor` and `--log` adds a check. The check for frequent
    /// tools is always made.
    Filter(FilterArguments),
    /// Add plans in which tools are replaced by their alternatives.
    Alternatives(AlternativesArguments),
    /// Convert queries with their plans to the published form or to case lines.
    ///
    /// All `planproof mnms` commands that read queries, and `planproof bench mnms --data`, accept both forms.
    #[command(after_help = "Examples:\n  \
                  planproof mnms convert drafts.jsonl --to published --out published.jsonl\n  \
                  planproof mnms convert published.jsonl --to cases")]
    Convert {
        /// File of queries with their plans, in the published form or as case lines; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Form to convert to.
        #[arg(long, value_enum)]
        to: DataForm,
        #[command(flatten)]
        out: MnmsOutArguments,
    },
    /// Compute the mean rating of each setting, and its correlation with metrics.
    #[command(after_help = "Examples:\n  \
                  planproof mnms rate results-filled.csv\n  \
                  planproof mnms rate results-filled.csv --metrics metrics.csv")]
    Rate {
        /// Filled sheets of results.
        #[arg(required = true, value_name = "SHEET")]
        sheets: Vec<PathBuf>,
        /// CSV file with metrics, one row per setting; the first column is `setting`.
        #[arg(long, value_name = "FILE")]
        metrics: Option<PathBuf>,
    },
}

/// Rule by which one tool may follow another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// The 149 pairs of the published graph.
    List,
    /// The rule of the paper: an output of the first tool has the kind of an argument of the second.
    Kinds,
}

/// A form of queries with their plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataForm {
    /// The published form, with plans as Python code.
    Published,
    /// Case lines (`planproof/mnms/v1`), with plans as JSON.
    Cases,
}

/// A prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Prompt {
    /// Asks for queries that a plan solves.
    Queries,
    /// Asks for texts for text and image generation that match a query.
    Rewriting,
    /// Asks for tools that can replace another tool.
    Alternatives,
}

/// A form of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolGraphFormat {
    /// Each tool with the tools that may follow it.
    Text,
    /// For Graphviz.
    Dot,
    /// For Mermaid.
    Mermaid,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof mnms graph\n  \
              planproof mnms graph --by kinds --format dot | dot -Tsvg > tools.svg")]
pub(crate) struct ToolGraphArguments {
    /// Rule by which one tool may follow another.
    #[arg(long, value_enum, default_value_t = By::List)]
    pub(crate) by: By,
    /// Output format; `--json` prints JSON.
    #[arg(long, value_enum, default_value_t = ToolGraphFormat::Text)]
    pub(crate) format: ToolGraphFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof mnms generate --sequences 40 --out drafts.jsonl\n  \
              planproof mnms generate --model openai/gpt-5-mini --max-cost 1 --out written.jsonl\n  \
              planproof mnms generate --inputs media --show-prompt")]
pub(crate) struct GenerateMnmsArguments {
    /// Folder of inputs for plans: pictures, recordings and texts.
    ///
    /// Pictures are .jpg, .jpeg and .png, recordings .flac and .wav, texts .txt. A file inputs.jsonl in the folder
    /// describes them. Without a folder, inputs come from a small built-in set, whose pictures and recordings are names
    /// of files that do not exist.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) inputs: Option<PathBuf>,
    /// Number of tool sequences.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = whole(1usize, 500_000))]
    pub(crate) sequences: usize,
    /// Minimum number of tools per plan.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole(1usize, 100))]
    pub(crate) tools_min: usize,
    /// Maximum number of tools per plan.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = whole(1usize, 100))]
    pub(crate) tools_max: usize,
    /// Number of inputs per sequence.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = whole(1usize, 1000))]
    pub(crate) inputs_each: usize,
    /// Number of queries per sequence and input.
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = whole(1usize, 20))]
    pub(crate) queries: usize,
    /// Rule by which one tool may follow another.
    #[arg(long, value_enum, default_value_t = By::List)]
    pub(crate) by: By,
    /// Model that writes the queries; by default they are written by rule and state each step.
    ///
    /// `PROVIDER/NAME`, `NAME=URL/MODEL`, `replay/FILE`, or a simulation to try the command, `sim/NAME`. The model also
    /// rewrites the texts for text and image generation to match the query.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Print the prompt for the first sequence, and send no request to a model.
    #[arg(long)]
    pub(crate) show_prompt: bool,
    #[command(flatten)]
    pub(crate) out: MnmsOutArguments,
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SheetCommand {
    /// Write a sheet on which people rate whether each plan solves its query.
    #[command(after_help = "Examples:\n  \
                  planproof mnms sheet drafts drafts.jsonl --raters Ann,Bo,Cy --out sheet.csv")]
    Drafts {
        /// File of queries with their plans, in the published form or as case lines; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        sheet: SheetArguments,
    },
    /// Write a sheet on which people rate which tools can replace a tool.
    #[command(after_help = "Examples:\n  \
                  planproof mnms sheet alternatives --raters Ann,Bo --out tools.csv\n  \
                  planproof mnms sheet alternatives --model sim/perfect --out proposed.csv")]
    Alternatives {
        /// Maximum number of tools in a chain that replaces one tool.
        #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole(1usize, PATH_TOOLS_MAX))]
        path_tools: usize,
        /// Model that proposes tools in addition to those that the kinds allow.
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
        #[command(flatten)]
        sheet: SheetArguments,
        #[command(flatten)]
        asking: Box<AskingArguments>,
    },
    /// Write a sheet on which people rate the results of plans with 0, 0.5 or 1.
    #[command(after_help = "Examples:\n  \
                  planproof mnms sheet results drafts.jsonl --result multi-step=executed.jsonl \\\n  \
                    --result step-by-step=other.jsonl --count 5 --out results.csv")]
    Results {
        /// File of queries with their plans, in the published form or as case lines; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Results of the plans in one setting, as `SETTING=FILE`. Repeatable.
        ///
        /// The file has JSON lines with `id` and one of `msg`, `result` and `prediction`.
        #[arg(long = "result", required = true, value_name = "SETTING=FILE")]
        results: Vec<String>,
        /// Number of queries to take, drawn by `--seed` from those with a result in every setting; by default all of
        /// these.
        #[arg(long, value_name = "N", value_parser = whole(1usize, 100_000))]
        count: Option<usize>,
        #[command(flatten)]
        sheet: SheetArguments,
    },
}

/// Who rates, and where the sheet goes.
#[derive(Debug, Args)]
pub(crate) struct SheetArguments {
    /// Names of the raters; each has a column.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', default_value = "1,2,3")]
    pub(crate) raters: Vec<String>,
    #[command(flatten)]
    pub(crate) out: MnmsOutArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof mnms filter drafts.jsonl --sheet filled.csv --log executed.jsonl --out kept.jsonl\n  \
              planproof mnms filter drafts.jsonl --queries-max 2")]
pub(crate) struct FilterArguments {
    /// File of queries with their plans, in the published form or as case lines; `-` for stdin.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Filled sheet of these drafts: drops drafts unless all raters rated them 1. Repeatable.
    #[arg(long, value_name = "SHEET")]
    pub(crate) sheet: Vec<PathBuf>,
    /// Filled sheet of results: drops drafts that any rater rated 0. Repeatable.
    #[arg(long, value_name = "SHEET")]
    pub(crate) poor: Vec<PathBuf>,
    /// Execution log, JSON lines with `id` and `res`: drops drafts whose `res` is 0.
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Tools that count as too frequent; `--queries-max` limits their queries.
    #[arg(long, value_name = "TOOL,...", value_delimiter = ',', default_value = "image generation")]
    pub(crate) frequent: Vec<String>,
    /// Maximum number of different queries per sequence with a frequent tool.
    ///
    /// If a sequence has more, all of them are dropped.
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = whole(0usize, 1_000_000))]
    pub(crate) queries_max: usize,
    #[command(flatten)]
    pub(crate) out: MnmsOutArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof mnms alternatives drafts.jsonl --sheet tools-filled.csv --out more.jsonl")]
pub(crate) struct AlternativesArguments {
    /// File of queries with their plans, in the published form or as case lines; `-` for stdin.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Filled sheet of alternatives: uses those that all raters rated 1. Repeatable.
    #[arg(long, required = true, value_name = "SHEET")]
    pub(crate) sheet: Vec<PathBuf>,
    /// Rule by which one tool may follow another.
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
    /// Overwrite the file of `--out`.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}
