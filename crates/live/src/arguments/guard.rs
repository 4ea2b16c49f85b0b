//! The arguments of `planproof guard`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use planproof_guard::GuardMode;
use planproof_output::values::file;
use planproof_tools::mcp::SessionName;

use super::session_name;

/// What `planproof guard` is asked for.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  \
              planproof guard --rules rules.yaml --shadow --log guard.jsonl -- npx my-server\n  \
              planproof guard --rules rules.yaml --enforce --log guard.jsonl -- npx my-server\n  \
              planproof guard --rules rules.yaml --enforce --to http://127.0.0.1:8001 --listen 127.0.0.1:8080\n  \
              planproof guard decide --rules rules.yaml --enforce < questions.jsonl\n  \
              planproof guard replay guard.jsonl --rules new-rules.yaml\n\n\
              Exit status: 0 the client ended the session; 2 the command line is wrong, or the server cannot be \
              started; 3 the server ended by itself."
)]
pub struct GuardArguments {
    #[command(subcommand)]
    pub(crate) command: Option<GuardCommand>,
    /// Rules on the calls of a session (rules v1). While they cannot be read, every call is rejected, unless
    /// `--shadow`.
    #[arg(long, required = true, value_name = "FILE", value_parser = file())]
    pub(crate) rules: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) mode: ModeArguments,
    /// Append every decision and every result to this file (decision v1), before it is passed on.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) log: Option<PathBuf>,
    /// Stand before the MCP server at this URL (streamable HTTP) instead of starting one.
    ///
    /// The headers of a client are passed on to it, with its keys; redirections are followed by nobody.
    #[arg(long, value_name = "URL", value_parser = server_url, requires = "listen", conflicts_with = "server")]
    pub(crate) to: Option<String>,
    /// Where clients find the server of `--to`: an address of this machine, as in 127.0.0.1:8080.
    ///
    /// If the environment has PLANPROOF_GUARD_TOKEN, the path has to begin with it.
    #[arg(long, value_name = "127.0.0.1:PORT", value_parser = loopback, requires = "to")]
    pub(crate) listen: Option<u16>,
    /// What names the session of a request: `url`, `header:NAME` or `auth`; by default all are one session.
    ///
    /// `url` is the last part of the path, as in http://127.0.0.1:8080/mcp/SESSION. `auth` is a digest of the header
    /// Authorization. All sessions are held to the same rules.
    #[arg(long, value_name = "WHAT", value_parser = session, requires = "to")]
    pub(crate) session: Option<SessionName>,
    /// History that all guards of one session share (SQLite), such as the hooks of the agent: they decide as one.
    ///
    /// Its sessions are called as `--session` names them or, where that is absent, as `--session-name` does.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) history: Option<PathBuf>,
    /// Name of the session in `--history`, which all its guards are started with.
    #[arg(long, value_name = "NAME", requires = "history", conflicts_with = "session", value_parser = session_name)]
    pub(crate) session_name: Option<String>,
    /// The MCP server (stdio) and its arguments. No shell reads them.
    #[arg(last = true, required_unless_present = "to", value_name = "SERVER")]
    pub(crate) server: Vec<OsString>,
}

/// The mode of all rules.
#[derive(Debug, Args)]
pub(crate) struct ModeArguments {
    /// Only note what would be rejected, whatever mode the rules have [default: the mode of each rule].
    #[arg(long, conflicts_with = "enforce")]
    pub(crate) shadow: bool,
    /// Reject what violates a rule, whatever mode the rules have [default: the mode of each rule].
    #[arg(long)]
    pub(crate) enforce: bool,
}

impl ModeArguments {
    /// The mode that is asked for; `None` for that of each rule.
    pub(crate) fn asked(&self) -> Option<GuardMode> {
        match (self.shadow, self.enforce) {
            (true, _) => Some(GuardMode::Shadow),
            (false, true) => Some(GuardMode::Enforce),
            (false, false) => None,
        }
    }
}

/// A port of 127.0.0.1.
fn loopback(text: &str) -> Result<u16, String> {
    let port = text.strip_prefix("127.0.0.1:").or_else(|| text.strip_prefix("localhost:"));
    port.and_then(|port| port.parse().ok())
        .ok_or_else(|| "write 127.0.0.1:PORT: the guard listens on this machine alone".to_owned())
}

/// A URL of HTTP without a user.
fn server_url(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    match host {
        "" => Err("write http://HOST/PATH or https://HOST/PATH".to_owned()),
        host if host.contains('@') => {
            Err("leave the user out: clients send their keys in headers".to_owned())
        }
        _ => Ok(text.to_owned()),
    }
}

/// What names sessions.
fn session(text: &str) -> Result<SessionName, String> {
    let is_in_names = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    match (text, text.strip_prefix("header:")) {
        ("url", _) => Ok(SessionName::Path),
        ("auth", _) => Ok(SessionName::Authorization),
        (_, Some(name)) if !name.is_empty() && name.bytes().all(is_in_names) => {
            Ok(SessionName::Header(name.to_ascii_lowercase()))
        }
        _ => Err("write url, header:NAME or auth".to_owned()),
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum GuardCommand {
    /// Decide on the calls that a program asks about, a line each: for code that makes its calls itself.
    #[command(after_help = "Examples:\n  \
                  planproof guard decide --rules rules.yaml --enforce --log guard.jsonl < questions.jsonl\n\n\
                  Exit status: 0 stdin has ended; 2 the command line is wrong, or the log cannot be opened.")]
    Decide {
        /// Rules on the calls of a session (rules v1). While they cannot be read, every call is rejected, unless
        /// `--shadow`.
        #[arg(long, value_name = "FILE", value_parser = file())]
        rules: PathBuf,
        #[command(flatten)]
        mode: ModeArguments,
        /// Append every decision and every result to this file (decision v1), before it is answered.
        #[arg(long, value_name = "FILE", value_parser = file())]
        log: Option<PathBuf>,
    },
    /// Take the decisions of a log again with other rules, and show those that change.
    #[command(after_help = "Examples:\n  \
                  planproof guard replay guard.jsonl --rules new-rules.yaml\n\n\
                  Exit status: 0 no decision changes; 1 some do; 2 a file cannot be used.")]
    Replay {
        /// Logs of guards (decision v1), and folders with them; `-` for stdin.
        #[arg(value_name = "LOG", required = true)]
        logs: Vec<PathBuf>,
        /// The other rules (rules v1).
        #[arg(long, value_name = "FILE")]
        rules: PathBuf,
    },
}
