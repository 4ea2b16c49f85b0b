//! The arguments of `planproof serve-model`, `planproof serve-tools` and `planproof serve-media`.

use std::path::PathBuf;

use clap::Args;
use planproof_assembly::arguments::ModelArguments;
use planproof_output::values::whole;

use crate::values::host_name;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof serve-model sim/careless --port 8080\n  \
              planproof serve-model openai/gpt-5-mini --allow-host host.docker.internal")]
pub(crate) struct ServeModelArguments {
    /// Model to serve: `sim/NAME`, `PROVIDER/NAME` or `NAME=URL/MODEL`.
    ///
    /// Requests to a model of the last two kinds are forwarded to its server, whichever of the protocols the client
    /// uses. Clients must send the key that PLANPROOF_SERVE_KEY holds, or else the random one that is printed.
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) asking: ModelArguments,
    /// Port on 127.0.0.1; 0 chooses a free one.
    #[arg(long, default_value_t = 0, value_parser = whole(0, u16::MAX))]
    pub(crate) port: u16,
    /// Host name that requests may use in their `Host` header, for example from a container.
    ///
    /// An example is host.docker.internal. planproof still listens on 127.0.0.1 only. Repeatable.
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    pub(crate) allow_host: Vec<String>,
    /// Delay before each answer, in milliseconds.
    #[arg(long, default_value_t = 0, value_name = "MS", value_parser = whole(0, u64::MAX))]
    pub(crate) think: u64,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof serve-tools --case case.jsonl\n  \
              planproof serve-tools --scenarios cases.yaml --id refund-17\n  \
              planproof serve-tools --case case.jsonl --stdio --trace trace.jsonl")]
pub(crate) struct ServeToolsArguments {
    /// File of cases (case v1 lines); `-` for stdin.
    #[arg(long, value_name = "FILE", required_unless_present = "scenarios")]
    pub(crate) case: Option<PathBuf>,
    /// File of scenarios (scenario v1) to take the case from; `-` for stdin.
    ///
    /// The tools answer as the world of the case does, with its state and its faults.
    #[arg(long, value_name = "FILE", conflicts_with = "case")]
    pub(crate) scenarios: Option<PathBuf>,
    /// Id of the case, if the file holds several.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Port on 127.0.0.1; 0 chooses a free one.
    #[arg(long, default_value_t = 0, value_parser = whole(0, u16::MAX))]
    pub(crate) port: u16,
    /// Host name that requests may use in their `Host` header, for example from a container.
    ///
    /// An example is host.docker.internal. planproof still listens on 127.0.0.1 only. Repeatable; the URL contains the
    /// first name.
    #[arg(long, value_name = "NAME", value_parser = host_name, conflicts_with = "stdio")]
    pub(crate) allow_host: Vec<String>,
    /// Serve over stdin and stdout instead of HTTP; the verdict goes to stderr.
    #[arg(long, conflicts_with = "port")]
    pub(crate) stdio: bool,
    /// Write the trace (trace v1) to this file at the end.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
              planproof serve-media > media.toml\n  \
              planproof serve-media --port 8090 --input pictures --output made > media.toml")]
pub(crate) struct ServeMediaArguments {
    /// Port on 127.0.0.1; 0 chooses a free one.
    #[arg(long, default_value_t = 0, value_parser = whole(0, u16::MAX))]
    pub(crate) port: u16,
    /// Folder with the input files of the tools; the printed settings name it.
    ///
    /// A relative path is resolved from the folder of the settings file.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) input: Option<PathBuf>,
    /// Folder for the files that the tools write; the printed settings name it.
    ///
    /// A relative path is resolved from the folder of the settings file.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
}
