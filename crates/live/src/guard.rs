//! `planproof guard`: rules between an agent and an MCP server that it starts, or one at a URL.

mod decide;
mod http;
mod log_file;
pub(crate) mod lost;
mod relay;
mod replay;
pub(crate) mod said;
mod server_stderr;
pub(crate) mod shared;

use std::path::Path;
use std::sync::Arc;

use planproof_guard::{DecisionLog, GuardMode, GuardModes, HeldKeys, McpGuard, SEAM};
use planproof_output::digest::sha256;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::print::Printing;
use planproof_output::random::random_bytes;
use planproof_output::report_files::must_differ;
use planproof_output::runtime::{runtime, runtime_in_order};
use planproof_output::terminal::inline;
use planproof_output::{progress, secrets, signals, tell, text_files};
use planproof_spec::rules::RuleSet;
use planproof_tools::mcp::SessionName;
use planproof_tools::process::ProcessGroup;
use tokio::process::Command;

use crate::arguments::guard::{GuardArguments, GuardCommand};
use log_file::LogFile;
use relay::Relay;
use shared::{Place, Shared};

/// How many guards stand before a server, for one that starts as that server.
const DEPTH_VARIABLE: &str = "PLANPROOF_GUARDS_BEFORE";

/// Random bytes that name a session.
const SESSION_BYTES: usize = 8;

/// Most faults of unreadable rules that are shown; `rules check` shows all.
const SHOWN_MAX: usize = 10;

/// The keys that we hold with the names of their variables: what guards remember has these names instead.
pub(crate) fn held_keys() -> HeldKeys {
    HeldKeys::new(secrets::held(), secrets::named())
}

/// The command.
///
/// # Errors
/// The command line is wrong, or the guard, its log or its server cannot be started or used.
pub fn run(arguments: &GuardArguments, printing: Printing) -> Result<ExitCode, Failure> {
    match (&arguments.command, &arguments.rules) {
        (Some(GuardCommand::Replay { logs, rules }), _) => replay::run(logs, rules, printing),
        (Some(GuardCommand::Decide { rules, mode, log, .. }), _) => {
            decide::run(rules, mode.asked(), log.as_deref())
        }
        (None, Some(rules)) => stand_between(arguments, rules, printing),
        // The parser requires one of them.
        (None, None) => Err(Failure::usage("--rules is missing")),
    }
}

/// Which one this guard is of those that a call passes one behind the other, from 1. It is the same after a restart.
fn depth() -> u32 {
    let outer = std::env::var(DEPTH_VARIABLE).ok().and_then(|depth| depth.parse::<u32>().ok());
    outer.unwrap_or(0).saturating_add(1)
}

/// A name of a session that no other has.
fn session_name() -> String {
    let session = random_bytes::<SESSION_BYTES>();
    session.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn stand_between(arguments: &GuardArguments, rules: &Path, printing: Printing) -> Result<ExitCode, Failure> {
    let log = match &arguments.log {
        Some(path) => {
            must_differ(path, &[("--rules", rules)])?;
            Some(LogFile::open(path)?)
        }
        None => None,
    };
    let file = rules;
    let (rules, modes, digest) = read(file, arguments.mode.asked());
    if let Ok(rules) = &rules {
        progress::say(printing.quiet, &said::begun(modes, file, rules));
    }
    let history = arguments.history.as_deref().map(Shared::open).transpose()?;
    let name = arguments.session_name.clone();
    if history.is_some() && name.is_none() && arguments.session.is_none() {
        return Err(Failure::usage(
            "--history needs the name of the session: pass --session-name, or with --to also --session",
        ));
    }
    if let (Some(to), Some(port)) = (&arguments.to, arguments.listen) {
        let held = http::HeldTo { rules, modes, digest };
        let named = http::Named { by: arguments.session.clone().unwrap_or(SessionName::One), name };
        return runtime()?.block_on(http::serve(held, log, history, (to, port, named), printing));
    }
    let session = name.as_deref().map_or_else(session_name, secrets::session_kept);
    let shared = history.map(|history| (history, Place::new(&*session)));
    let mut lines = DecisionLog::new(session, SEAM, modes, digest, held_keys());
    let depth = depth();
    if depth > 1 {
        lines = lines.at(depth.to_string());
    }
    if shared.is_some() {
        lines = lines.as_memory();
    }
    let guard = McpGuard::new(rules.as_ref().map_err(Clone::clone), lines);

    // The parser requires the program.
    let Some((program, words)) = arguments.server.split_first() else {
        return Err(Failure::usage("the server is missing: write it behind `--`"));
    };
    let runtime = runtime_in_order()?;
    let ended = runtime.block_on(async {
        // Before there is a server that a signal would leave behind.
        let stop = signals::stop_requested();
        let mut command = Command::new(program);
        // Its environment stays as it is, unless another guard of the same history may stand behind this one.
        if shared.is_some() {
            command.env(DEPTH_VARIABLE, depth.to_string());
        }
        command.args(words).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        // What the server writes to stderr is for whoever reads that of a server without a guard.
        server_stderr::place(&mut command);
        let group = ProcessGroup::start(&mut command).map_err(|error| {
            let program = program.to_string_lossy();
            Failure::usage(format!("the server `{}` cannot be started: {error}", inline(&program)))
        })?;
        Relay::new(guard, log, shared, printing).run(group, stop).await
    });
    // A read of stdin cannot be cancelled, and must not keep the process.
    runtime.shutdown_background();
    ended
}

/// Rules that may be unreadable, for the reason given; the modes that they are in, and the digest of their file.
type Held = (Result<Arc<RuleSet>, String>, GuardModes, String);

/// The rules, or why there are none. A guard without rules stands where it was put, and does what its mode says: it
/// rejects everything, or nothing.
fn read(path: &Path, asked: Option<GuardMode>) -> Held {
    let without = GuardModes::asked(asked, None);
    let then = match without.mode() {
        GuardMode::Enforce => "every call is rejected",
        GuardMode::Shadow => "no call is looked at",
    };
    let text = match text_files::read_text(path) {
        Ok(text) => text,
        Err(failure) => {
            tell!("{}; {then}", failure.describe());
            return (Err("the rules of the guard cannot be read".to_owned()), without, String::new());
        }
    };
    let digest = format!("sha256:{}", sha256(text.as_bytes()));
    match RuleSet::read(&text) {
        Ok(rules) => {
            let modes = GuardModes::asked(asked, Some(&rules));
            (Ok(Arc::new(rules)), modes, digest)
        }
        Err(faults) => {
            for fault in faults.iter().take(SHOWN_MAX) {
                tell!("{}:{fault}", path.display());
            }
            tell!("error: {} cannot be used: see `planproof rules check`; {then}", path.display());
            (Err("the rules of the guard are not valid".to_owned()), without, digest)
        }
    }
}
