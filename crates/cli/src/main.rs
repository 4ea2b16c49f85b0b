//! The planproof command: arguments in, results to stdout, progress and messages to stderr, and an exit code that says
//! how it went (see [`failure::ExitCode`]).

mod arguments;
mod commands;
mod failure;
mod open_files;
mod progress;
mod render;
mod secrets;
mod select;
mod signals;

use std::process;

use clap::Parser;

use arguments::{Arguments, Command};
use failure::{ExitCode, Failure};

fn main() {
    let arguments = Arguments::parse();
    let result = run(&arguments);
    let code = match result {
        Ok(code) => code,
        // Whoever read our output has had enough, as `head` does; that is no failure.
        Err(Failure::OutputClosed) => ExitCode::Passed,
        Err(failure) => {
            eprintln!("{}", failure.describe());
            failure.exit_code()
        }
    };
    process::exit(code as i32);
}

fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let global = &arguments.global;
    match &arguments.command {
        Command::Demo => commands::demo::run(global),
        Command::Synth(options) => commands::synth::run(options, global),
        Command::Topics(options) => commands::topics::run(options, global),
        Command::Read(options) => commands::read::run(options, global),
        Command::Check(options) => commands::check::run(options, global),
        Command::Test(options) => commands::test::run(options, global),
        Command::ServeModel(options) => commands::serve_model::run(options, global),
        Command::ServeTools(options) => commands::serve_tools::run(options, global),
        Command::Runs(options) => commands::runs::run(options, global),
    }
}
