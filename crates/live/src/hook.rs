//! `planproof hook`: rules at the hooks of coding agents. An agent starts it for each event and reads its answer.

mod install;
mod memory;

use std::ffi::OsString;
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use clap::error::ErrorKind;
use planproof_guard::{
    DecisionLog, GuardMode, GuardModes, HookAnswer, HookDialect, HookEvent, HookOutput, HookPayload,
    HookReply, HookSession, PAYLOAD_BYTES_MAX, UnreadPayload, shown,
};
use planproof_output::digest::sha256;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::print::Printing;
use planproof_output::terminal::inline;
use planproof_output::{secrets, tell, terminal, text_files};
use planproof_spec::rules::RuleSet;

use crate::arguments::hook::{HookAgent, HookArguments, HookCommand};
use crate::guard::held_keys;
use crate::guard::said::refused;
use crate::line::{LiveCommand, LiveLine, ReadLine};
use memory::Memory;

/// How long a hook that is asked for help waits for an event, which would show that an agent has started it.
const EVENT_MAX: Duration = Duration::from_secs(2);

/// Hexadecimal digits that tell the hooks of an agent apart.
const PLACE_DIGITS: usize = 8;

/// The commands below this one, which people type and no agent does.
const COMMANDS: [&str; 2] = ["install", "uninstall"];

/// The whole command, for a command line that begins with its name: a wrong one, and a fault of ours, deny the call.
/// Returns the exit status, or `None` for help and for commands below this one, which are handled as usual.
pub fn main(words: &[OsString], read: ReadLine) -> Option<u8> {
    if words.get(2).is_some_and(|word| COMMANDS.iter().any(|command| word == command)) {
        return None;
    }
    let refuse = |why: &str| refuse(probable(words).as_ref(), why, GuardMode::Enforce);
    Some(match read(words) {
        Ok(LiveLine { command: LiveCommand::Hook(arguments), secret }) => {
            if let Err(failure) = secrets::hold_variables(&secret) {
                return Some(refuse(&failure.describe()));
            }
            if arguments.command.is_some() {
                return None;
            }
            let caught = catch_unwind(AssertUnwindSafe(|| take_event(&arguments)));
            caught.unwrap_or_else(|_| refuse("the guard has failed"))
        }
        Ok(_) => refuse("the command line of the hook is wrong"),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            if !is_event_at_hand() {
                return None;
            }
            tell!("{}", error.render());
            refuse("the command line of the hook asks for help")
        }
        Err(error) => {
            tell!("{}", error.render());
            refuse("the command line of the hook is wrong")
        }
    })
}

/// Whether somebody writes to stdin, as agents do and people who ask for help do not.
fn is_event_at_hand() -> bool {
    if std::io::stdin().is_terminal() {
        return false;
    }
    let (found, answer) = mpsc::channel();
    // Nobody can be asked whether something is there, and nothing may ever come.
    thread::spawn(move || {
        let read = std::io::stdin().read(&mut [0]);
        let _ = found.send(matches!(read, Ok(1)));
    });
    answer.recv_timeout(EVENT_MAX).unwrap_or(false)
}

/// The dialect that a wrong command line is probably for; `None` for that of another agent.
pub(crate) fn probable(words: &[OsString]) -> Option<HookDialect> {
    if words.iter().any(|word| word.as_encoded_bytes().starts_with(b"--dialect")) {
        return None;
    }
    let named = words.get(2).and_then(|word| HookDialect::named(word.to_str()?));
    named.or_else(|| HookDialect::named(HookAgent::ClaudeCode.seam()))
}

/// The command in the usual way, as where an option of all commands stands before its name.
///
/// # Errors
/// A configuration cannot be changed. What is wrong with an event is an answer.
pub fn run_any(arguments: &HookArguments, printing: Printing) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Some(HookCommand::Install(arguments)) => install::install(arguments, printing),
        Some(HookCommand::Uninstall(arguments)) => install::uninstall(arguments, printing),
        None => Ok(match take_event(arguments) {
            0 => ExitCode::Passed,
            // The exact status matters only to an agent, and an agent's call goes through `main`.
            _ => ExitCode::Usage,
        }),
    }
}

/// Takes one event, and gives the exit status.
fn take_event(arguments: &HookArguments) -> u8 {
    let started = Instant::now();
    let held = &arguments.held;
    let read = held.rules.as_deref().map(read_rules);
    let known = read.as_ref().and_then(|read| Some(&*read.as_ref().ok()?.0));
    let modes = GuardModes::asked(held.mode.asked(), known);
    let mode = modes.mode();
    let folder = held.state.as_deref().map(Memory::Folder);
    let memory = folder.or(held.history.as_deref().map(Memory::History));
    let named = arguments.session_name.as_deref();
    let Some((read, memory)) = read.zip(memory) else {
        return refuse(None, "the command line of the hook is wrong", mode);
    };
    let digest = read.as_ref().map(|(_, digest)| digest.clone()).unwrap_or_default();
    let asked = Asked { memory, named, modes, digest, started };
    let dialect = match dialect(arguments) {
        Ok(dialect) => dialect,
        Err(why) => {
            asked.forget(named.as_slice(), UNKNOWN_SEAM);
            return refuse(None, &why, mode);
        }
    };
    let payload = match read_payload(&dialect) {
        Ok(payload) => payload,
        Err(unread) => return asked.not_read(&dialect, &unread),
    };
    let read = match (read, &payload.event) {
        // What came of a call is kept, and learnt from as soon as the rules can be read again.
        (Err(why), HookEvent::After { .. }) => {
            tell!("error: {}", inline(&why));
            RuleSet::read(NO_RULES).map(Arc::new).map_err(|_| why)
        }
        (read, _) => read.map(|(rules, _)| rules),
    };
    let taken = read.and_then(|rules| asked.take(&rules, &payload));
    match (taken, &payload.event) {
        (Ok(answer), _) => {
            let is_carried_out = matches!(answer.reply, HookReply::Deny(_) | HookReply::Keep(_));
            if let Some(reason) = answer.reason
                && !is_carried_out
                && (mode == GuardMode::Shadow || modes.is_by_rule())
            {
                let session = asked.named.unwrap_or(&payload.session);
                let about = match &payload.event {
                    HookEvent::Before(call) => shown(Some(call), session, &secrets::held()),
                    _ => format!("the end of session {session}"),
                };
                tell!("{}", refused(false, &about, &reason));
            }
            say(&dialect.output(&answer.reply))
        }
        (Err(why), HookEvent::Before(_)) => refuse(Some(&dialect), &why, mode),
        (Err(why), event) => {
            tell!("error: {}", inline(&why));
            // Only a call can be denied, so those that come after a result that nobody knows are.
            if matches!(event, HookEvent::After { .. }) {
                asked.forget(&[&payload.session], &payload.seam);
            }
            0
        }
    }
}

/// Rules that demand nothing.
const NO_RULES: &str = "schema: planproof/rules/v1\nrules: []\n";

/// What the log calls a hook whose dialect is not known.
const UNKNOWN_SEAM: &str = "hook";

/// What a hook is asked to do with an event.
struct Asked<'a> {
    memory: Memory<'a>,
    /// The session's name, if it is not the agent's.
    named: Option<&'a str>,
    modes: GuardModes,
    /// That of the rules; empty if they cannot be read.
    digest: String,
    started: Instant,
}

impl Asked<'_> {
    fn log(&self, session: &str, seam: &str) -> DecisionLog {
        let log = DecisionLog::new(session, seam, self.modes, &*self.digest, held_keys());
        log.at(place()).as_memory()
    }

    /// Decides on an event, and has it in the log before it is answered.
    fn take(&self, rules: &Arc<RuleSet>, payload: &HookPayload) -> Result<HookAnswer, String> {
        let session = &*secrets::session_kept(self.named.unwrap_or(&payload.session));
        let log = self.log(session, &payload.seam);
        let modes = (self.modes.mode(), self.modes.is_by_rule());
        let made_with = format!("planproof {} {} {modes:?}", env!("CARGO_PKG_VERSION"), self.digest);
        self.memory.take(session, rules, made_with, &log, |mut session: HookSession| {
            let microseconds = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
            session.take(&payload.event, &log, microseconds)
        })
    }

    /// Answers a payload that cannot be read. If it may be about what came of a call, no further one is approved.
    fn not_read(&self, dialect: &HookDialect, unread: &UnreadPayload) -> u8 {
        let sessions: Vec<&str> = match self.named {
            Some(named) => vec![named],
            None => unread.sessions.iter().map(String::as_str).collect(),
        };
        if unread.may_tell {
            self.forget(&sessions, &unread.seam);
        } else if let ([session], true) = (&*sessions, unread.may_ask) {
            self.note(session, unread);
        }
        if unread.may_ask {
            return refuse(Some(dialect), &unread.why, self.modes.mode());
        }
        tell!("error: {}", inline(&unread.why));
        0
    }

    /// Notes that what came of a call of one of these sessions, or without one of any, is not known.
    fn forget(&self, sessions: &[&str], seam: &str) {
        let kept: Vec<String> = sessions.iter().map(|session| secrets::session_kept(session)).collect();
        let line = |session: &str| self.log(session, seam).unread();
        match self.memory.forget(&kept, &line) {
            Ok(()) if self.modes.mode() == GuardMode::Shadow => {
                tell!("shadow: with --enforce, every further call of the session would be denied");
            }
            Ok(()) => tell!("warning: every further call of the session is denied; begin a new one"),
            Err(why) => tell!("error: {}", inline(&why)),
        }
    }

    /// Has a call that cannot be read in the log. It is not made or, in shadow mode, does not count.
    fn note(&self, session: &str, unread: &UnreadPayload) {
        let log = self.log(&secrets::session_kept(session), &unread.seam);
        // The answer does not depend on it.
        let _ = self.memory.append(&secrets::session_kept(session), &log.unclear(&unread.why));
    }
}

/// The dialect that is asked for.
pub(crate) fn dialect(arguments: &HookArguments) -> Result<HookDialect, String> {
    match (&arguments.dialect, arguments.agent) {
        (Some(path), _) => {
            let text = text_files::read_text(path).map_err(|failure| match failure {
                Failure::Usage(why) => why,
                _ => format!("{} cannot be read", path.display()),
            })?;
            HookDialect::read(&text)
                .map_err(|fault| format!("the dialect {} is not valid: {fault}", path.display()))
        }
        (None, Some(agent)) => {
            HookDialect::named(agent.seam()).ok_or_else(|| "the agent is not known".to_owned())
        }
        // The parser requires one of them.
        (None, None) => Err("the command line of the hook is wrong".to_owned()),
    }
}

/// Denies a call for a reason that is not a rule, or in shadow mode only names it. Without a dialect, in all ways at
/// once that agents understand.
fn refuse(dialect: Option<&HookDialect>, why: &str, mode: GuardMode) -> u8 {
    tell!("error: {}", inline(why));
    let reason = format!("The call is denied: {why}.");
    match (dialect, mode) {
        (Some(dialect), GuardMode::Enforce) => say(&dialect.output(&HookReply::Deny(reason))),
        (Some(dialect), GuardMode::Shadow) => say(&dialect.output(&HookReply::Allow)),
        (None, GuardMode::Enforce) => say(&HookDialect::denial_of_unknown(&reason)),
        (None, GuardMode::Shadow) => 0,
    }
}

/// Says what the agent reads, and gives the exit status.
fn say(output: &HookOutput) -> u8 {
    if let Some(stderr) = &output.stderr {
        tell!("{}", inline(stderr));
    }
    if let Some(answer) = &output.stdout {
        // Without a reader there is nobody to deny anything to.
        let _ = writeln!(terminal::answer(), "{answer}");
    }
    output.status
}

fn read_payload(dialect: &HookDialect) -> Result<HookPayload, UnreadPayload> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().take(PAYLOAD_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
    let fault = match read {
        Err(error) => Some(format!("the payload of the hook cannot be read: {error}")),
        Ok(_) if bytes.len() > PAYLOAD_BYTES_MAX => {
            Some(format!("the payload of the hook has more than {PAYLOAD_BYTES_MAX} bytes"))
        }
        Ok(_) => None,
    };
    match fault {
        Some(why) => Err(UnreadPayload::of(&bytes, dialect, why)),
        None => HookPayload::read(&bytes, dialect),
    }
}

/// The rules, and the digest of their file.
fn read_rules(path: &Path) -> Result<(Arc<RuleSet>, String), String> {
    let text = text_files::read_text(path).map_err(|failure| match failure {
        Failure::Usage(why) => why,
        _ => "the rules of the guard cannot be read".to_owned(),
    })?;
    let rules = RuleSet::read(&text).map_err(|faults| {
        let first = faults.first().map(ToString::to_string).unwrap_or_default();
        format!("the rules of the guard are not valid: {}:{first}", path.display())
    })?;
    Ok((Arc::new(rules), format!("sha256:{}", sha256(text.as_bytes()))))
}

/// Which of several hooks of an agent this is: that of its command line, which is the same for each event.
fn place() -> String {
    let words: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsString::into_encoded_bytes).collect();
    sha256(&words.join(&0)).chars().take(PLACE_DIGITS).collect()
}
