//! The arguments of `planproof scenario`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof scenario check refunds.yaml\n  \
              planproof scenario schema > scenario.schema.json")]
pub(crate) struct ScenarioArguments {
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
    /// Print the JSON Schema of files of scenarios, for editors.
    #[command(after_help = "Examples:\n  \
                  planproof scenario schema > scenario.schema.json")]
    Schema,
}
