//! The planproof command as a function, [`main`], which accepts suites of others in addition to its own (the example
//! `own_suite` is such a program): arguments in, results to stdout, progress and messages to stderr, and an exit code
//! for the result (see [`ExitCode`](planproof_output::failure::ExitCode)).
//!
//! # Module layout
//!
//! - Arguments: `arguments.rs`, with those of all campaigns in `arguments/campaign.rs`, and which of them a command or
//!   a mode has no use for in `arguments/idle.rs`; the bounds of numbers among them in `values.rs`.
//! - They are parsed, with what the configuration file adds to them, in `command_line.rs`; what was probably meant with
//!   a command line that is refused is in `command_line/mistakes.rs`. The crate `config` has the file, and knows none.
//! - Names become agents, models and tools in the crate `assembly`. The kinds of cases are in the crate `doors`, with
//!   what they need of the world and commands of their own; campaigns and judgements of some are in `suites.rs`.
//! - A module for each command: `commands.rs`. `test`, `bench` and `limit` are one campaign each
//!   (`commands/campaign.rs`), whose life is the crate `campaign`: here are what a command asks for
//!   (`commands/campaign/plan.rs`), the prepared campaign (`commands/campaign/prepare.rs`), its observers
//!   (`commands/campaign/carry_out.rs`), whether options beside a replay agree with the recording
//!   (`commands/campaign/agreement.rs`), and what is printed of it with its exit code
//!   (`commands/campaign/conclusion.rs`). Several campaigns of one command are a matrix (`commands/bench/matrix.rs`).
//! - Campaigns read back (`stored.rs`) with their options (`stored_options.rs`), reports as files (`report_files.rs`),
//!   damage found in a run store (`damage.rs`), and whether what a store or a recording does outside is wanted
//!   (`wanted.rs`).
//! - Rendering (`render.rs`). The tables of the papers are data (`data/paper-tables.toml`). Everything that is printed
//!   or written goes through the crate `output`; errors of campaigns become failures in `assembly`. The crate
//!   `live` has `guard`, `hook` and `doctor`.
//!
//! With an undocumented argument the program is a worker of `planproof-sandbox` or a launcher of `planproof-isolation`,
//! and none of this.

// As in the crate `output`; `clippy.toml` has the rest of the rule.
#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod arguments;
mod command_line;
mod commands;
mod damage;
mod render;
mod report_files;
mod review;
mod stored;
mod stored_options;
mod stream;
mod suites;
mod values;
mod wanted;

use std::process;
use std::sync::Arc;

pub use planproof_suite as suite;
pub use planproof_trace as trace;

use clap::CommandFactory as _;
use planproof_assembly::providers;
use planproof_config::Configured;
use planproof_live::{doctor, guard, hook};
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::{open_files, progress, secrets, signals, tell};
use planproof_suite::Suite;

use arguments::{Arguments, Command};

/// A configuration file written anew in a form of our own, or why it cannot be used. Only the fuzz targets call it,
/// which reach nothing else of the command.
///
/// # Errors
/// The file cannot be used.
#[doc(hidden)]
pub fn configuration_written_anew(text: &str) -> Result<String, String> {
    planproof_config::written_anew(&command_line::LINE, text)
}

/// The command: executes the arguments of the process, with these suites in addition to planproof's own, and ends the
/// process with the resulting exit code. All features of campaigns are available for them, too, by `planproof bench
/// NAME`.
///
/// Workers of the Python sandbox are this program again, so call it before anything else. Suites that share a name,
/// also with one of planproof's own, are an error, and so is a second call.
pub fn main(own: impl IntoIterator<Item = Arc<dyn Suite>>) -> ! {
    // The same holds for a launcher, which takes namespaces and must not have threads.
    planproof_isolation::launcher_main();
    // A worker has nothing else: no configuration, no runtime, no open files.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == planproof_sandbox::WORKER_ARGUMENT) {
        planproof_sandbox::worker::main();
    }
    // A hook has exit codes of its own: at most of ours, agents let a call pass.
    let words: Vec<_> = std::env::args_os().collect();
    if words.get(1).is_some_and(|word| word == "hook")
        && let Some(code) = hook::main(&words, values::live_line)
    {
        process::exit(i32::from(code));
    }
    secrets::hold_passwords(&words);
    planproof_assembly::register_roles(planproof_doors::shipped_roles().copied());
    let registered = planproof_doors::register(own.into_iter().collect(), Arguments::command);
    let code = match registered.and_then(|()| command_line::parse(std::env::args_os().collect())) {
        Ok(parsed) => {
            if let Some(summary) = parsed.configured.summary() {
                // A file that may have come with a repository does not hide itself.
                match parsed.configured.is_hushed_from_above() {
                    true => tell!("{summary}"),
                    false => progress::say(parsed.arguments.global.quiet, &summary),
                }
            }
            exit_code(run(&parsed.arguments), &parsed.configured)
        }
        Err(failure) => exit_code(Err(failure), &Configured::default()),
    };
    process::exit(code as i32);
}

/// Says what went wrong, if anything.
fn exit_code(result: Result<ExitCode, Failure>, configured: &Configured) -> ExitCode {
    match result {
        // The output about a damaged store is incomplete, also if nobody reads it to its end.
        Ok(ExitCode::Passed) | Err(Failure::OutputClosed) if damage::is_found() => ExitCode::Outside,
        Ok(code) => code,
        // The reader of our output has stopped, as `head` does; that is not a failure.
        Err(Failure::OutputClosed) => ExitCode::Passed,
        Err(failure) => {
            let text = failure.describe();
            tell!("{text}");
            // Only then can the fault lie in a setting, which the user may not have typed for this command.
            if failure.exit_code() == ExitCode::Usage {
                configured.notes(&text).iter().for_each(|note| tell!("{note}"));
            }
            failure.exit_code()
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    open_files::must_have_some()?;
    signals::survive_large_files();
    let global = &arguments.global;
    progress::be_quiet(global.quiet);
    // Before the command writes anything that may hold one of them.
    secrets::hold_variables(&global.secret)?;
    // A plan of shards has those of the campaign in it.
    if !matches!(arguments.command, Command::Shard(_)) {
        providers::set_up(global.providers.as_deref(), &global.key_for)?;
    }
    match &arguments.command {
        Command::Demo(options) => suites::orders::demo::run(options, global),
        Command::Synth(options) => planproof_doors::orders::synth::run(options, &global.of_suites()),
        Command::Topics(options) => planproof_doors::orders::topics::run(options, &global.of_suites()),
        Command::Read(options) => planproof_doors::orders::read::run(options, &global.of_suites()),
        Command::Check(options) => commands::check::run(options, global),
        Command::Test(options) => commands::test::run(options, global),
        Command::Bench(options) => commands::bench::run(options, global),
        Command::Score(options) => commands::score::run(options, global),
        Command::Mnms(options) => planproof_doors::mnms::run(options, &global.of_suites()),
        Command::Tables(options) => commands::tables::run(options, global),
        Command::Limit(options) => suites::orders::limit::run(options, global),
        Command::Run(options) => commands::run::run(options, global),
        Command::Prompts(options) => commands::prompts::run(options, global),
        Command::Models(options) => commands::models::run(options, global),
        Command::ServeModel(options) => commands::serve_model::run(options, global),
        Command::ServeTools(options) => commands::serve_tools::run(options, global),
        Command::ServeMedia(options) => commands::serve_media::run(options, global),
        Command::Shard(options) => commands::shard::run(options, global),
        Command::Runs(options) => commands::runs::run(options, global),
        Command::Report(options) => commands::report::run(options, global),
        Command::View(options) => commands::view::run(options, global),
        Command::Spec(options) => commands::spec::run(options, global),
        Command::Rules(options) => commands::rules::run(options, global),
        Command::Guard(options) => guard::run(options, global.printing()),
        Command::Hook(options) => hook::run_any(options, global.printing()),
        Command::Doctor(options) => doctor::run(options, global.printing(), values::live_line),
        Command::Scenario(options) => planproof_doors::scenarios::command::run(options, &global.of_suites()),
        Command::Init(options) => commands::init::run(options),
        Command::Completions(options) => commands::completions::run(options),
        Command::Man(options) => commands::man::run(options),
    }
}
