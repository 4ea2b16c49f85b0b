//! The arguments of `planproof rules`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof rules check rules.yaml\n  \
              planproof rules schema > rules.schema.json")]
pub(crate) struct RulesArguments {
    #[command(subcommand)]
    pub(crate) command: RulesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Check rules, and show what they mean.
    ///
    /// Prints each rule in words, the shortest session that violates it, and the shortest that it alone rejects; and
    /// names rules that say nothing, follow from others, contradict one another or make a tool unusable.
    #[command(after_help = "Examples:\n  \
                  planproof rules check rules.yaml\n  \
                  planproof rules check rules.yaml --tools calculator --deny-warnings")]
    Check {
        /// Files of rules (rules v1, YAML or JSON); `-` for stdin.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
        /// Treat warnings as errors.
        #[arg(long)]
        deny_warnings: bool,
        /// Also check that there are such tools and arguments: sources as with `planproof run --tools`, or a JSON file
        /// with a list of tools. Repeatable.
        #[arg(long, value_name = "SOURCE")]
        tools: Vec<String>,
    },
    /// Print the JSON Schema of files of rules, for editors.
    #[command(after_help = "Examples:\n  \
                  planproof rules schema > rules.schema.json")]
    Schema,
}
