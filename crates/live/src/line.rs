//! Command lines of planproof in configurations of others, which the command's own parser reads.

use std::ffi::OsString;

use crate::arguments::guard::GuardArguments;
use crate::arguments::hook::HookArguments;

/// The command of a command line.
#[derive(Debug)]
pub enum LiveCommand {
    /// `planproof guard`.
    Guard(Box<GuardArguments>),
    /// `planproof hook`.
    Hook(Box<HookArguments>),
    /// Any other one.
    Other,
}

/// A command line that is right.
#[derive(Debug)]
pub struct LiveLine {
    /// The command.
    pub command: LiveCommand,
    /// The variables that `--secret` names.
    pub secret: Vec<String>,
}

/// Reads a command line, the name of the program first, as the command does. The errors are those of its parser, which
/// also takes a request for help for one.
pub type ReadLine = fn(&[OsString]) -> Result<LiveLine, clap::Error>;

/// The reader of tests, which knows no command but those of this crate.
#[cfg(test)]
pub(crate) fn read_alone(words: &[OsString]) -> Result<LiveLine, clap::Error> {
    use clap::Parser as _;

    #[derive(Debug, clap::Parser)]
    enum Alone {
        Guard(GuardArguments),
        Hook(HookArguments),
    }

    let command = match Alone::try_parse_from(words)? {
        Alone::Guard(arguments) => LiveCommand::Guard(Box::new(arguments)),
        Alone::Hook(arguments) => LiveCommand::Hook(Box::new(arguments)),
    };
    Ok(LiveLine { command, secret: Vec::new() })
}
