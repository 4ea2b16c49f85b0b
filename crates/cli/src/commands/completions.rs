//! `planproof completions`: shell completion.

use std::io::Write as _;

use clap::CommandFactory as _;

use crate::arguments::{Arguments, CompletionsArguments};
use crate::failure::{ExitCode, Failure};
use crate::terminal;

pub(crate) fn run(arguments: &CompletionsArguments) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "planproof", &mut script);
    terminal::document().write_all(&script)?;
    Ok(ExitCode::Passed)
}
