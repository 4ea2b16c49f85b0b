//! The arguments of `planproof view`.

use std::path::PathBuf;

use clap::Args;
use planproof_output::values::{file, whole};

use super::stored::STORE_DEFAULT;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof view\n  \
              planproof view --open --port 8080\n  \
              planproof view --store shard-1.db --store shard-2.db")]
pub(crate) struct ViewArguments {
    /// Run store to show. Repeatable, for shards that run side by side.
    #[arg(long, env = "PLANPROOF_STORE", default_value = STORE_DEFAULT, value_name = "FILE", value_parser = file())]
    pub(crate) store: Vec<PathBuf>,
    /// Open the address in the browser as well.
    #[arg(long)]
    pub(crate) open: bool,
    /// Port on 127.0.0.1; 0 chooses a free one.
    #[arg(long, default_value_t = 0, value_parser = whole(0, u16::MAX))]
    pub(crate) port: u16,
}
