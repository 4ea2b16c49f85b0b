//! The arguments of `planproof doctor`.

use clap::Args;

/// What `planproof doctor` is asked for.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof doctor\n  \
              planproof doctor --try --yes --project\n\n\
              Exit status: 0 every call of every agent found is held to rules; 1 some are not, or no agent was found; 2 \
              nobody can be asked.")]
pub struct DoctorArguments {
    /// Start what guards the agents, as they do, and send the call `planproof_canary`, which every guard rejects.
    ///
    /// Each command line is shown before. A guard starts the server behind it.
    #[arg(long = "try")]
    pub(crate) try_out: bool,
    /// With `--try`, also start what the files of the project in this folder name.
    #[arg(long, requires = "try_out")]
    pub(crate) project: bool,
    /// With `--try`, start them without asking.
    #[arg(long, requires = "try_out")]
    pub(crate) yes: bool,
}
