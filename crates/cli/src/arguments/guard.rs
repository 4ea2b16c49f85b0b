//! The arguments of `planproof guard`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use crate::values::{file, session_name};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    group(ArgGroup::new("mode").args(["shadow", "enforce"]).required(true)),
    after_help = "Examples:\n  \
              planproof guard --rules rules.yaml --shadow --log guard.jsonl -- npx my-server\n  \
              planproof guard --rules rules.yaml --enforce --log guard.jsonl -- npx my-server\n  \
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
    /// History that all guards of one session share (SQLite), such as the hooks of the agent: they decide as one.
    #[arg(long, value_name = "FILE", requires = "session_name", value_parser = file())]
    pub(crate) history: Option<PathBuf>,
    /// Name of the session in `--history`, which all its guards are started with.
    #[arg(long, value_name = "NAME", requires = "history", value_parser = session_name)]
    pub(crate) session_name: Option<String>,
    /// The MCP server (stdio) and its arguments. No shell reads them.
    #[arg(last = true, required = true, value_name = "SERVER")]
    pub(crate) server: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GuardCommand {
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
