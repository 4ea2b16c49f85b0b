//! The arguments of `planproof serve-model`, `planproof serve-tools` and `planproof serve-media`.

use std::path::PathBuf;

use clap::Args;

use super::ModelArguments;
use crate::values::{host_name, whole};

#[derive(Debug, Args)]
pub(crate) struct ServeModelArguments {
    /// The model: `sim/NAME`, or `openai/NAME` or `anthropic/NAME` to pass requests on, whichever protocol they come
    /// in.
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) asking: ModelArguments,
    /// Port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 0, value_parser = whole(0, u16::MAX))]
    pub(crate) port: u16,
    /// Requests may have this name in `Host`, too, as those from within a container, for instance
    /// host.docker.internal. planproof listens on 127.0.0.1 all the same. Repeatable.
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    pub(crate) allow_host: Vec<String>,
    /// How long the model thinks before each answer, in milliseconds.
    #[arg(long, default_value_t = 0, value_name = "MS", value_parser = whole(0, u64::MAX))]
    pub(crate) think: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ServeToolsArguments {
    /// File of case v1 lines; `-` for stdin.
    #[arg(long, value_name = "FILE")]
    pub(crate) case: PathBuf,
    /// Which case of the file, if it holds several.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 0, value_parser = whole(0, u16::MAX))]
    pub(crate) port: u16,
    /// Requests may have this name in `Host`, too, as those from within a container, for instance
    /// host.docker.internal. planproof listens on 127.0.0.1 all the same. Repeatable; the first one stands in the URL.
    #[arg(long, value_name = "NAME", value_parser = host_name, conflicts_with = "stdio")]
    pub(crate) allow_host: Vec<String>,
    /// Speak MCP over stdin and stdout instead of HTTP; the verdict goes to stderr.
    #[arg(long, conflicts_with = "port")]
    pub(crate) stdio: bool,
    /// Write the trace (trace v1) to this file at the end.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeMediaArguments {
    /// Port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 0, value_parser = whole(0, u16::MAX))]
    pub(crate) port: u16,
    /// Write this folder of what requests name into the settings as well; seen from the file that they go to.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) input: Option<PathBuf>,
    /// The same for the folder of what tools make.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
}
