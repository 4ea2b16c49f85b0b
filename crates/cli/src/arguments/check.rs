//! The arguments of `planproof check`.

use std::path::PathBuf;

use clap::Args;
use planproof_doors::orders::arguments::JudgeArguments;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof synth --count 1 --actions 2 > case.jsonl\n  \
              planproof check --case case.jsonl --calls a2,a1\n  \
              planproof check --case cases.jsonl --trace traces.jsonl\n  \
              planproof check --rules rules.yaml traces.jsonl\n  \
              planproof check --rules rules.yaml traces.jsonl --sarif violations.sarif")]
pub(crate) struct CheckArguments {
    /// Recorded sessions to hold against `--rules`; `-` for stdin.
    ///
    /// Traces (trace v1), logs of guards (decision v1), spans of OpenTelemetry (OTLP JSON), logs of sessions of Claude
    /// Code and Codex, and transcripts of OpenAI (chat completions, responses) and Anthropic (messages): a list of
    /// messages, {"messages": [...]}, or one such object a line.
    #[arg(value_name = "TRACE")]
    pub(crate) sessions: Vec<PathBuf>,
    /// Rules to hold the sessions against (rules v1), instead of a case.
    #[arg(long, value_name = "FILE", requires = "sessions", conflicts_with_all = [
        "case", "id", "calls", "trace", "allow_repeats", "allow_distractors", "fail_at_once",
    ])]
    pub(crate) rules: Option<PathBuf>,
    /// Write the sessions as a JUnit XML file, for CI systems.
    #[arg(long, value_name = "FILE", requires = "rules")]
    pub(crate) junit: Option<PathBuf>,
    /// Write the violations as a SARIF 2.1.0 file, for code scanning and editors.
    #[arg(long, value_name = "FILE", requires = "rules")]
    pub(crate) sarif: Option<PathBuf>,
    /// File of cases (case v1 lines); `-` for stdin.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["rules", "sessions"])]
    pub(crate) case: Option<PathBuf>,
    /// Id of the case, if the file holds several and no trace names one.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Plan to judge: action ids or tool names, in the order of the calls.
    ///
    /// In the time form each has its start time, as in a2@09:30, and restart_plan clears the day. A conflict is
    /// reported by the numbers of its sentences, as in report_conflict@1+3.
    #[arg(
        long,
        value_name = "ID,ID,...",
        value_delimiter = ',',
        required_unless_present_any = ["trace", "rules", "sessions"],
        conflicts_with = "trace"
    )]
    pub(crate) calls: Vec<String>,
    /// File of traces (trace v1 lines) to judge, instead of `--calls`.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) judge: JudgeArguments,
}
