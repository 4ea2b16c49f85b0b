//! The arguments of `planproof models`.

use clap::{Args, Subcommand};
use planproof_assembly::arguments::ModelArguments;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof models check llamacpp/any\n  \
              planproof models check ollama/qwen3:4b mine=http://127.0.0.1:8000/v1/qwen3")]
pub(crate) struct ModelsCommands {
    #[command(subcommand)]
    pub(crate) command: ModelsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Check whether models and their servers can be tested, and say what to change.
    ///
    /// Asks what the server is, whether it knows the model, whether its context is large enough, whether it understands
    /// tools, and whether it keeps limits, stop texts and seeds. Takes 7 requests to each model.
    Check(CheckModelsArguments),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof models check llamacpp/any\n  \
              planproof models check ollama/qwen3:4b mine=http://127.0.0.1:8000/v1/qwen3")]
pub(crate) struct CheckModelsArguments {
    /// Models: `PROVIDER/NAME` or `NAME=URL/MODEL`.
    #[arg(required = true, value_name = "MODEL")]
    pub(crate) models: Vec<String>,
    #[command(flatten)]
    pub(crate) asking: ModelArguments,
}
