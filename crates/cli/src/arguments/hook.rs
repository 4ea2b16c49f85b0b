//! The arguments of `planproof hook`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use crate::values::file;

/// The agents whose hooks are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookAgent {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
}

impl HookAgent {
    /// What the log calls this place of a guard.
    pub(crate) fn seam(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }
}

#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("mode").args(["shadow", "enforce"]).required(true)),
    after_help = "Examples:\n  \
              planproof hook claude-code --rules rules.yaml --enforce --state guard < event.json\n\n\
              Exit status: always 0, also where something is wrong, because agents let a call pass at any other: then \
              the answer on stdout denies the call."
)]
pub(crate) struct HookArguments {
    /// The agent that starts the hook for each event.
    #[arg(value_name = "AGENT")]
    pub(crate) agent: HookAgent,
    /// Rules on the calls of a session (rules v1). While they cannot be read, `--enforce` rejects every call.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) rules: PathBuf,
    /// Deny nothing, and only log what would have been rejected.
    #[arg(long)]
    pub(crate) shadow: bool,
    /// Deny a call that would violate a rule.
    #[arg(long)]
    pub(crate) enforce: bool,
    /// Folder with a log of each session (decision v1), which is also the memory of the hook.
    #[arg(long, value_name = "FOLDER", value_parser = file())]
    pub(crate) state: PathBuf,
}
