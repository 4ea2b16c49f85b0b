//! The arguments of `planproof prompts`.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof prompts plan > plan.txt\n  \
              planproof prompts one-step:form=lists\n  \
              planproof bench mnms plan:prompt=plan.txt@openai/gpt-5-mini")]
pub(crate) struct PromptsArguments {
    /// Agent, with its options and with or without a model: `plan`, `one-step`, `sequential` or `hierarchical`.
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
}
