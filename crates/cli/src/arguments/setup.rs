//! The arguments of commands that show planproof or set it up.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Write the page with the findings here; by default `.planproof/demo.html`.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// The agent to be tested, as `planproof test` takes it.
    #[arg(long, default_value = "tools@sim/careless", value_name = "AGENT")]
    pub(crate) agent: String,
    /// Replace a file that is there already.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the JSON Schema of the configuration file instead.
    #[arg(long, conflicts_with_all = ["agent", "force"])]
    pub(crate) schema: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// The folder; it is made if it does not exist. Without it the main page goes to stdout.
    pub(crate) folder: Option<PathBuf>,
}
