//! `planproof guard`: rules between an agent and an MCP server that it starts, or one at a URL.

mod decide;
mod http;
mod relay;
mod replay;
pub(super) mod said;
pub(super) mod shared;

use std::path::Path;
use std::sync::Arc;

use planproof_guard::{DecisionLog, GuardMode, McpGuard, SEAM};
use planproof_spec::rules::RuleSet;
use planproof_tools::mcp::SessionName;
use planproof_tools::process::ProcessGroup;
use tokio::process::Command;

use super::{runtime, runtime_in_order};
use crate::arguments::{Global, GuardArguments, GuardCommand};
use crate::failure::{ExitCode, Failure};
use crate::progress::{self, tell};
use crate::report_files::must_differ;
use crate::spec_source::sha256;
use crate::terminal::inline;
use crate::{secrets, select};
use relay::{LogFile, Relay};
use shared::Shared;

/// Random bytes that name a session.
const SESSION_BYTES: usize = 8;

/// Most faults of unreadable rules that are shown; `rules check` shows all.
const SHOWN_MAX: usize = 10;

pub(crate) fn run(arguments: &GuardArguments, global: &Global) -> Result<ExitCode, Failure> {
    match (&arguments.command, &arguments.rules) {
        (Some(GuardCommand::Replay { logs, rules }), _) => replay::run(logs, rules, global),
        (Some(GuardCommand::Decide { rules, enforce, log, .. }), _) => {
            decide::run(rules, mode(*enforce), log.as_deref())
        }
        (None, Some(rules)) => stand_between(arguments, rules, global),
        // The parser requires one of them.
        (None, None) => Err(Failure::usage("--rules is missing")),
    }
}

fn mode(enforce: bool) -> GuardMode {
    if enforce { GuardMode::Enforce } else { GuardMode::Shadow }
}

/// A name of a session that no other has.
fn session_name() -> String {
    let session = select::random_bytes::<SESSION_BYTES>();
    session.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn stand_between(arguments: &GuardArguments, rules: &Path, global: &Global) -> Result<ExitCode, Failure> {
    let mode = mode(arguments.enforce);
    let log = match &arguments.log {
        Some(path) => {
            must_differ(path, &[("--rules", rules)])?;
            Some(LogFile::open(path)?)
        }
        None => None,
    };
    let file = rules;
    let (rules, digest) = read(file, mode);
    if let Ok(rules) = &rules {
        progress::say(global, &said::begun(mode, file, rules));
    }
    if let (Some(to), Some(port)) = (&arguments.to, arguments.listen) {
        let held = http::HeldTo { rules, mode, digest };
        let name = arguments.session.clone().unwrap_or(SessionName::One);
        return runtime()?.block_on(http::serve(held, log, (to, port, name), global));
    }
    let shared = match (&arguments.history, &arguments.session_name) {
        (Some(path), Some(name)) => Some(Shared::open(path, name)?),
        // The parser requires both.
        _ => None,
    };
    let session = arguments.session_name.clone().unwrap_or_else(session_name);
    let lines = DecisionLog::new(session, SEAM, mode, digest, secrets::held());
    let guard = McpGuard::new(rules.as_ref().map_err(Clone::clone), mode, lines);

    // The parser requires the program.
    let Some((program, words)) = arguments.server.split_first() else {
        return Err(Failure::usage("the server is missing: write it behind `--`"));
    };
    let runtime = runtime_in_order()?;
    let ended = runtime.block_on(async {
        let mut command = Command::new(program);
        // What the server writes to stderr is for whoever reads that of a server without a guard.
        command.args(words).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let group = ProcessGroup::start(&mut command).map_err(|error| {
            let program = program.to_string_lossy();
            Failure::usage(format!("the server `{}` cannot be started: {error}", inline(&program)))
        })?;
        Relay::new(guard, log, shared, mode, global).run(group).await
    });
    // A read of stdin cannot be cancelled, and must not keep the process.
    runtime.shutdown_background();
    ended
}

/// The rules with the digest of their file, or why there are none. A guard without rules stands where it was put, and
/// does what its mode says: it rejects everything, or nothing.
fn read(path: &Path, mode: GuardMode) -> (Result<Arc<RuleSet>, String>, String) {
    let then = match mode {
        GuardMode::Enforce => "every call is rejected",
        GuardMode::Shadow => "no call is looked at",
    };
    let text = match select::read_text(path) {
        Ok(text) => text,
        Err(failure) => {
            tell!("{}; {then}", failure.describe());
            return (Err("the rules of the guard cannot be read".to_owned()), String::new());
        }
    };
    let digest = format!("sha256:{}", sha256(text.as_bytes()));
    match RuleSet::read(&text) {
        Ok(rules) => (Ok(Arc::new(rules)), digest),
        Err(faults) => {
            for fault in faults.iter().take(SHOWN_MAX) {
                tell!("{}:{fault}", path.display());
            }
            tell!("error: {} cannot be used: see `planproof rules check`; {then}", path.display());
            (Err("the rules of the guard are not valid".to_owned()), digest)
        }
    }
}
