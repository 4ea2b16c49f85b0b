//! The arguments of `planproof scenario`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use planproof_campaign::CASES_MAX;
use planproof_output::values::{file, whole};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof scenario init --tools 'mcp:python server.py' --out cases.yaml\n  \
              planproof scenario check refunds.yaml")]
pub struct ScenarioArguments {
    #[command(subcommand)]
    pub(crate) command: ScenarioCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ScenarioCommand {
    /// Check whether cases of your own can be satisfied, before anything runs.
    ///
    /// Prints for each case a shortest right session, or what is to blame where there is none; and names expectations
    /// that contradict one another or never matter. The exit status is 1 if a case cannot be satisfied.
    #[command(after_help = "Examples:\n  \
                  planproof scenario check refunds.yaml\n  \
                  planproof scenario check refunds.yaml --deny-warnings --json")]
    Check {
        /// Files of scenarios (scenario v1, YAML or JSON); `-` for stdin.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
        /// Treat warnings like cases that cannot be satisfied.
        #[arg(long)]
        deny_warnings: bool,
    },
    /// Write a first file of scenarios for your tools, with one case to edit.
    #[command(after_help = "Examples:\n  \
                  planproof scenario init --tools 'mcp:python server.py' --out cases.yaml\n  \
                  planproof scenario init --tools tools.json")]
    Init {
        /// Tools of the file: sources as with `planproof run --tools`, or a JSON file with a list of tools. Repeatable.
        ///
        /// `mcp:COMMAND` starts an MCP server. The tools are listed, and never called. A JSON file has the list in the
        /// form of MCP, OpenAI or Anthropic.
        #[arg(long, required = true, value_name = "SOURCE")]
        tools: Vec<String>,
        #[command(flatten)]
        out: DraftArguments,
    },
    /// Make cases of recorded sessions that went well.
    ///
    /// Each has the query of the session, its tools, and a world that gives its results. What the session did is
    /// proposed in comments: uncomment what every right agent must do.
    #[command(after_help = "Examples:\n  \
                  planproof scenario from-trace conversations.jsonl --out cases.yaml\n  \
                  planproof scenario from-trace conversations.jsonl --accept")]
    FromTrace {
        /// File of sessions: traces (trace v1), or transcripts of OpenAI or Anthropic; `-` for stdin.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Expect what is proposed, instead of writing it in comments.
        #[arg(long)]
        accept: bool,
        #[command(flatten)]
        out: DraftArguments,
    },
    /// Turn synthesised cases into scenarios that you can edit.
    ///
    /// All cases of a file share their tools. Cases of the time form, those that contradict themselves and those in
    /// which a tool takes what another returned cannot be written as scenarios.
    #[command(after_help = "Examples:\n  \
                  planproof synth --count 3 --actions 4 | planproof scenario from-cases - --out synthesised.yaml")]
    FromCases {
        /// File of cases (case v1 lines); `-` for stdin.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Id of the case to turn into a scenario; by default all.
        #[arg(long, value_name = "ID")]
        id: Option<String>,
        #[command(flatten)]
        out: DraftArguments,
    },
    /// Draw cases in which the rules of a file matter, as scenarios that you can edit.
    ///
    /// They are those of `planproof test AGENT --rules FILE` with the same seed.
    #[command(after_help = "Examples:\n  \
                  planproof scenario from-rules --rules rules.yaml --tools tools.json --cases 20 --out drawn.yaml")]
    FromRules {
        /// File of rules (rules v1).
        #[arg(long, value_name = "FILE", value_parser = file(), required = true)]
        rules: Option<PathBuf>,
        /// Tools of the cases: sources as with `planproof run --tools`, or a JSON file with a list. Repeatable.
        #[arg(long, value_name = "SOURCE", required = true)]
        tools: Vec<String>,
        /// Number of cases.
        #[arg(long, default_value_t = 50, value_name = "N", value_parser = whole(1, CASES_MAX))]
        cases: u64,
        #[command(flatten)]
        out: DraftArguments,
    },
    /// Print the JSON Schema of files of scenarios, for editors.
    #[command(after_help = "Examples:\n  \
                  planproof scenario schema > scenario.schema.json")]
    Schema,
}

/// Where a first file goes.
#[derive(Debug, Args)]
pub(crate) struct DraftArguments {
    /// Write the scenarios to this file; by default to stdout.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite the file of `--out`.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}
