//! The arguments of `planproof hook`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use planproof_output::values::file;

use super::guard::ModeArguments;
use super::session_name;
use crate::coding_agents::Scope;

/// The agents whose hooks are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookAgent {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// OpenCode, whose plugin starts the hook.
    #[value(name = "opencode")]
    OpenCode,
}

impl HookAgent {
    /// What the log calls this place of a guard, which is also the agent's name on the command line.
    pub(crate) fn seam(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::OpenCode => "opencode",
        }
    }
}

/// What `planproof hook` is asked for.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    group(ArgGroup::new("who").args(["agent", "dialect"]).required(true)),
    group(ArgGroup::new("memory").args(["state", "history"]).required(true)),
    after_help = "Examples:\n  \
              planproof hook claude-code --rules rules.yaml --enforce --state guard < event.json\n  \
              planproof hook install codex --rules rules.yaml --shadow --dry-run\n\n\
              Exit status: always 0, also where something is wrong, because agents let a call pass at any other: then \
              the answer on stdout denies the call. With --dialect, the status is that of its file, and 2 where that \
              cannot be read."
)]
pub struct HookArguments {
    #[command(subcommand)]
    pub(crate) command: Option<HookCommand>,
    /// The agent that starts the hook for each event.
    #[arg(value_name = "AGENT")]
    pub(crate) agent: Option<HookAgent>,
    /// File that says how another agent reports to its hooks and is answered (dialect v1).
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub(crate) dialect: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) held: HeldArguments,
    /// Name of the session in `--history` [default: the agent's name for it].
    #[arg(long, value_name = "NAME", requires = "history", value_parser = session_name)]
    pub(crate) session_name: Option<String>,
}

/// What a hook holds calls to, and its memory. A hook that is installed is started with the same.
#[derive(Debug, Args)]
pub(crate) struct HeldArguments {
    /// Rules on the calls of a session (rules v1), read at each event. While they cannot be read, every call is denied,
    /// unless `--shadow`.
    #[arg(long, required = true, value_name = "FILE", value_parser = file())]
    pub(crate) rules: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) mode: ModeArguments,
    /// Folder with a log of each session (decision v1), which is also the memory of the hook. `hook install` has a
    /// default: `guard` in planproof's folder of the user's state.
    #[arg(long, value_name = "FOLDER", value_parser = file())]
    pub(crate) state: Option<PathBuf>,
    /// History in place of that folder (SQLite), which all guards of one session share, such as `planproof guard`
    /// before a server of the agent: they decide as one.
    #[arg(long, value_name = "FILE", conflicts_with = "state", value_parser = file())]
    pub(crate) history: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// Write the hooks into an agent's configuration, and keep everything else there as it is.
    #[command(after_help = "Examples:\n  \
                      planproof hook install claude-code --rules rules.yaml --shadow --dry-run\n  \
                      planproof hook install codex --rules rules.yaml --enforce --project --yes\n\n\
                      Exit status: 0 the hooks are there, or would be; 1 you did not agree; 2 the rules or the \
                      configuration cannot be used, or nobody can be asked; 3 it cannot be written.")]
    Install(InstallArguments),
    /// Remove the hooks of planproof from an agent's configuration, and nothing else.
    #[command(after_help = "Examples:\n  \
                  planproof hook uninstall claude-code --dry-run\n\n\
                  Exit status: 0 no hook of planproof is there, or would be; 1 you did not agree; 2 the configuration \
                  cannot be used, or nobody can be asked; 3 it cannot be written.")]
    Uninstall(UninstallArguments),
}

#[derive(Debug, Args)]
pub(crate) struct InstallArguments {
    /// The agent.
    #[arg(value_name = "AGENT")]
    pub(crate) agent: HookAgent,
    #[command(flatten)]
    pub(crate) held: HeldArguments,
    #[command(flatten)]
    pub(crate) edit: EditArguments,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallArguments {
    /// The agent.
    #[arg(value_name = "AGENT")]
    pub(crate) agent: HookAgent,
    #[command(flatten)]
    pub(crate) edit: EditArguments,
}

/// How a configuration is changed.
#[derive(Debug, Args)]
pub(crate) struct EditArguments {
    /// Change the configuration of the project in this folder, not the user's.
    #[arg(long, conflicts_with = "user")]
    pub(crate) project: bool,
    /// Change the user's configuration, for all projects (the default).
    #[arg(long)]
    pub(crate) user: bool,
    /// Only show what would change.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write without asking.
    #[arg(long)]
    pub(crate) yes: bool,
}

impl EditArguments {
    pub(crate) fn scope(&self) -> Scope {
        if self.project { Scope::Project } else { Scope::User }
    }
}
