//! The arguments of `planproof guard`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use crate::values::file;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    group(ArgGroup::new("mode").args(["shadow", "enforce"]).required(true)),
    after_help = "Examples:\n  \
              planproof guard --rules rules.yaml --shadow --log guard.jsonl -- npx my-server\n  \
              planproof guard --rules rules.yaml --enforce --log guard.jsonl -- npx my-server\n  \
              planproof guard decide --rules rules.yaml --enforce < questions.jsonl\n  \
              planproof guard replay guard.jsonl --rules new-rules.yaml\n\n\
              Exit status: 0 the client ended the session; 2 the command line is wrong, or the server cannot be \
              started; 3 the server ended by itself."
)]
pub(crate) struct GuardArguments {
    #[command(subcommand)]
    pub(crate) command: Option<GuardCommand>,
    /// Rules on the calls of a session (rules v1). While they cannot be read, `--enforce` rejects every call.
    #[arg(long, required = true, value_name = "FILE", value_parser = file())]
    pub(crate) rules: Option<PathBuf>,
    /// Pass on every call, and say which ones would have been rejected.
    #[arg(long)]
    pub(crate) shadow: bool,
    /// Answer a call that would violate a rule with the reason, and do not pass it on.
    #[arg(long)]
    pub(crate) enforce: bool,
    /// Append every decision and every result to this file (decision v1), before it is passed on.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) log: Option<PathBuf>,
    /// The MCP server (stdio) and its arguments. No shell reads them.
    #[arg(last = true, required = true, value_name = "SERVER")]
    pub(crate) server: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GuardCommand {
    /// Decide on the calls that a program asks about, a line each: for code that makes its calls itself.
    #[command(
        group(ArgGroup::new("decide-mode").args(["shadow", "enforce"]).required(true)),
        after_help = "Examples:\n  \
                  planproof guard decide --rules rules.yaml --enforce --log guard.jsonl < questions.jsonl\n\n\
                  Exit status: 0 stdin has ended; 2 the command line is wrong, or the log cannot be opened."
    )]
    Decide {
        /// Rules on the calls of a session (rules v1). While they cannot be read, `--enforce` rejects every call.
        #[arg(long, value_name = "FILE", value_parser = file())]
        rules: PathBuf,
        /// Approve every call, and say which ones would have been rejected.
        #[arg(long)]
        shadow: bool,
        /// Reject a call that would violate a rule.
        #[arg(long)]
        enforce: bool,
        /// Append every decision and every result to this file (decision v1), before it is answered.
        #[arg(long, value_name = "FILE", value_parser = file())]
        log: Option<PathBuf>,
    },
    /// Take the decisions of a log again with other rules, and show those that change.
    #[command(after_help = "Examples:\n  \
                  planproof guard replay guard.jsonl --rules new-rules.yaml\n\n\
                  Exit status: 0 no decision changes; 1 some do; 2 a file cannot be used.")]
    Replay {
        /// Log of a guard (decision v1); `-` for stdin.
        #[arg(value_name = "LOG")]
        log: PathBuf,
        /// The other rules (rules v1).
        #[arg(long, value_name = "FILE")]
        rules: PathBuf,
    },
}
