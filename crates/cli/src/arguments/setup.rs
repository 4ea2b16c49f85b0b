//! The arguments of commands that show planproof or set it up.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof demo\n  \
              planproof demo --html demo.html")]
pub(crate) struct DemoArguments {
    /// HTML report to write; by default `.planproof/demo.html`.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof init\n  \
              planproof init --agent 'command:python agent.py' --force\n  \
              planproof init --schema > planproof.schema.json")]
pub(crate) struct InitArguments {
    /// Agent under test, as with `planproof test`.
    #[arg(long, default_value = "tools@sim/careless", value_name = "AGENT")]
    pub(crate) agent: String,
    /// Overwrite an existing file.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the JSON Schema of the configuration file instead.
    #[arg(long, conflicts_with_all = ["agent", "force"])]
    pub(crate) schema: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              source <(planproof completions bash)\n  \
              mkdir -p ~/.config/fish/completions\n  \
              planproof completions fish > ~/.config/fish/completions/planproof.fish")]
pub(crate) struct CompletionsArguments {
    /// Shell to complete for.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof man | man -l -\n  \
              planproof man ~/.local/share/man/man1")]
pub(crate) struct ManArguments {
    /// Folder for the page of each command, created if needed; without it the main page goes to stdout.
    pub(crate) folder: Option<PathBuf>,
}
