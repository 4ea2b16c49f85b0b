//! The planproof command: arguments in, results to stdout, progress and messages to stderr, and an exit code that says
//! how it went (see [`failure::ExitCode`]).

// All that is printed goes through `terminal`, and a stderr that cannot be written must end nothing: `tell!` is there for
// it. `clippy.toml` has the rest of the rule.
#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod arguments;
mod commands;
mod config;
mod failure;
mod open_files;
mod progress;
mod render;
mod report_files;
mod secrets;
mod select;
mod signals;
mod spec_source;
mod stored;
mod terminal;
mod values;

use std::process;

use arguments::{Arguments, Command};
use config::Origins;
use failure::{ExitCode, Failure};
use progress::tell;

fn main() {
    let code = match config::parse(std::env::args_os().collect()) {
        Ok(parsed) => {
            if let Some(summary) = parsed.origins.summary() {
                progress::say(&parsed.arguments.global, &summary);
            }
            exit_code(run(&parsed.arguments), &parsed.origins)
        }
        Err(failure) => exit_code(Err(failure), &Origins::default()),
    };
    process::exit(code as i32);
}

/// Says what went wrong, if anything.
fn exit_code(result: Result<ExitCode, Failure>, origins: &Origins) -> ExitCode {
    match result {
        Ok(code) => code,
        // Whoever read our output has had enough, as `head` does; that is no failure.
        Err(Failure::OutputClosed) => ExitCode::Passed,
        Err(failure) => {
            let text = failure.describe();
            tell!("{text}");
            if failure.exit_code() == ExitCode::Usage {
                origins.notes(&text).iter().for_each(|note| tell!("{note}"));
            }
            failure.exit_code()
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let global = &arguments.global;
    match &arguments.command {
        Command::Demo(options) => commands::demo::run(options, global),
        Command::Synth(options) => commands::synth::run(options, global),
        Command::Topics(options) => commands::topics::run(options, global),
        Command::Read(options) => commands::read::run(options, global),
        Command::Check(options) => commands::check::run(options, global),
        Command::Test(options) => commands::test::run(options, global),
        Command::Tables(options) => commands::tables::run(options, global),
        Command::Limit(options) => commands::limit::run(options, global),
        Command::Run(options) => commands::run::run(options, global),
        Command::ServeModel(options) => commands::serve_model::run(options, global),
        Command::ServeTools(options) => commands::serve_tools::run(options, global),
        Command::Runs(options) => commands::runs::run(options, global),
        Command::Report(options) => commands::report::run(options, global),
        Command::Spec(options) => commands::spec::run(options, global),
        Command::Init(options) => commands::init::run(options),
        Command::Completions(options) => commands::completions::run(options),
        Command::Man(options) => commands::man::run(options),
    }
}
