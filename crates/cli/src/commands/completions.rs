//! `planproof completions`: shell completion.

use std::io::Write as _;

use clap::CommandFactory as _;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::terminal;

use crate::arguments::{Arguments, CompletionsArguments, without_idle_options};

pub(crate) fn run(arguments: &CompletionsArguments) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    let mut root = without_idle_options(Arguments::command());
    clap_complete::generate(arguments.shell, &mut root, "planproof", &mut script);
    terminal::document().write_all(&script)?;
    Ok(ExitCode::Passed)
}
