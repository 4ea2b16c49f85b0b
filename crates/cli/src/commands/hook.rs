//! `planproof hook`: rules at the hooks of coding agents. An agent starts it for each event and reads its answer.

mod install;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use clap::error::ErrorKind;
use planproof_guard::{
    DecisionLog, GuardMode, GuardModes, HookAnswer, HookDialect, HookEvent, HookOutput, HookPayload,
    HookReply, HookSession, LoggedLine, PAYLOAD_BYTES_MAX, shown,
};
use planproof_spec::rules::RuleSet;
use planproof_store::HistorySnapshot;

use crate::arguments::{Arguments, Command, Global, HookAgent, HookArguments, HookCommand};
use crate::assembly::secrets;
use crate::commands::guard::said::refused;
use crate::commands::guard::shared;
use crate::digest::sha256;
use crate::failure::{ExitCode, Failure};
use crate::progress::tell;
use crate::terminal::{self, inline};
use crate::{text_files, values};

/// How long the hook of one event waits for that of another of the same session.
const LOCK_MAX: Duration = Duration::from_secs(5);

/// How long it waits before it looks again.
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// How long a hook that is asked for help waits for an event, which would show that an agent has started it.
const EVENT_MAX: Duration = Duration::from_secs(2);

/// Longest log of a session, in bytes. Every call after that is rejected.
const STATE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Lines of a history after which the state of a session is kept, so that they are not read again.
const SNAPSHOT_LINES: usize = 256;

/// Hexadecimal digits that tell the hooks of an agent apart.
const PLACE_DIGITS: usize = 8;

/// Hexadecimal digits of a session's file.
const NAME_DIGITS: usize = 32;

/// The commands below this one, which people type and no agent does.
const COMMANDS: [&str; 2] = ["install", "uninstall"];

/// The whole command, for a command line that begins with its name: a wrong one, and a fault of ours, deny the call.
/// Returns the exit status, or `None` for help and for commands below this one, which are handled as usual.
pub(crate) fn main(words: &[OsString]) -> Option<u8> {
    if words.get(2).is_some_and(|word| COMMANDS.iter().any(|command| word == command)) {
        return None;
    }
    let parsed = values::command().try_get_matches_from(words);
    let arguments =
        parsed.and_then(|matches| <Arguments as clap::FromArgMatches>::from_arg_matches(&matches));
    let refuse = |why: &str| refuse(probable(words).as_ref(), why, GuardMode::Enforce);
    Some(match arguments {
        Ok(Arguments { command: Command::Hook(arguments), global }) => {
            if let Err(failure) = secrets::hold_variables(&global.secret) {
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
pub(in crate::commands) fn probable(words: &[OsString]) -> Option<HookDialect> {
    if words.iter().any(|word| word.as_encoded_bytes().starts_with(b"--dialect")) {
        return None;
    }
    let named = words.get(2).and_then(|word| HookDialect::named(word.to_str()?));
    named.or_else(|| HookDialect::named(HookAgent::ClaudeCode.seam()))
}

/// The command in the usual way, as where an option of all commands stands before its name.
pub(crate) fn run_any(arguments: &HookArguments, global: &Global) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Some(HookCommand::Install(arguments)) => install::install(arguments, global),
        Some(HookCommand::Uninstall(arguments)) => install::uninstall(arguments, global),
        None => Ok(match take_event(arguments) {
            0 => ExitCode::Passed,
            // The exact status matters only to an agent, and an agent's call goes through `main`.
            _ => ExitCode::Usage,
        }),
    }
}

/// The parts of the command line of a hook that say where its session is.
struct Asked<'a> {
    memory: Memory<'a>,
    /// The session's name, if it is not the agent's.
    session: Option<&'a str>,
}

/// Where the session so far is.
enum Memory<'a> {
    /// A folder with a file for each session.
    Folder(&'a Path),
    /// A history that other guards of the session share.
    History(&'a Path),
}

/// Takes one event, and gives the exit status.
fn take_event(arguments: &HookArguments) -> u8 {
    let started = Instant::now();
    let held = &arguments.held;
    let read = held.rules.as_deref().map(read_rules);
    let known = read.as_ref().and_then(|read| Some(&*read.as_ref().ok()?.0));
    let modes = GuardModes::asked(held.mode.asked(), known);
    let mode = modes.mode();
    let dialect = match dialect(arguments) {
        Ok(dialect) => dialect,
        Err(why) => return refuse(None, &why, mode),
    };
    let payload = match read_payload(&dialect) {
        Ok(payload) => payload,
        Err(why) => return refuse(Some(&dialect), &why, mode),
    };
    let folder = held.state.as_deref().map(Memory::Folder);
    let memory = folder.or(held.history.as_deref().map(Memory::History));
    let (Some(read), Some(memory)) = (read, memory) else {
        return refuse(Some(&dialect), "the command line of the hook is wrong", mode);
    };
    let asked = Asked { memory, session: arguments.session_name.as_deref() };
    let taken = read.and_then(|(rules, digest)| take(&asked, &rules, &digest, &payload, modes, started));
    match (taken, &payload.event) {
        (Ok(answer), _) => {
            let is_carried_out = matches!(answer.reply, HookReply::Deny(_) | HookReply::Keep(_));
            if let Some(reason) = answer.reason
                && !is_carried_out
                && (mode == GuardMode::Shadow || modes.is_by_rule())
            {
                let session = asked.session.unwrap_or(&payload.session);
                let about = match &payload.event {
                    HookEvent::Before(call) => shown(Some(call), session, &secrets::held()),
                    _ => format!("the end of session {session}"),
                };
                tell!("{}", refused(false, &about, &reason));
            }
            say(&dialect.output(&answer.reply))
        }
        (Err(why), HookEvent::Before(_)) => refuse(Some(&dialect), &why, mode),
        // Only a call can be denied. What is not known of a result stays pending.
        (Err(why), _) => {
            tell!("error: {}", inline(&why));
            0
        }
    }
}

/// The dialect that is asked for.
pub(in crate::commands) fn dialect(arguments: &HookArguments) -> Result<HookDialect, String> {
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

fn read_payload(dialect: &HookDialect) -> Result<HookPayload, String> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().take(PAYLOAD_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("the payload of the hook cannot be read: {error}"))?;
    if bytes.len() > PAYLOAD_BYTES_MAX {
        return Err(format!("the payload of the hook has more than {PAYLOAD_BYTES_MAX} bytes"));
    }
    HookPayload::read(&bytes, dialect)
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

/// Decides on an event, and has it in the log before it is answered.
fn take(
    asked: &Asked<'_>,
    rules: &Arc<RuleSet>,
    digest: &str,
    payload: &HookPayload,
    modes: GuardModes,
    started: Instant,
) -> Result<HookAnswer, String> {
    let session = &*secrets::session_kept(asked.session.unwrap_or(&payload.session));
    let log = DecisionLog::new(session, &*payload.seam, modes, digest, secrets::held_with_names());
    let log = log.at(place()).as_memory();
    let decide = |mut session: HookSession| {
        let microseconds = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        session.take(&payload.event, &log, microseconds)
    };
    match asked.memory {
        Memory::Folder(folder) => in_folder(folder, session, rules, &log, decide),
        Memory::History(path) => {
            let modes = (modes.mode(), modes.is_by_rule());
            let made_with = format!("planproof {} {digest} {modes:?}", env!("CARGO_PKG_VERSION"));
            in_history(path, session, rules, made_with, &log, decide)
        }
    }
}

/// Which of several hooks of an agent this is: that of its command line, which is the same for each event.
fn place() -> String {
    let words: Vec<Vec<u8>> = std::env::args_os().skip(1).map(OsString::into_encoded_bytes).collect();
    sha256(&words.join(&0)).chars().take(PLACE_DIGITS).collect()
}

/// Decides on an event after the lines of the session's file, and writes to it what came of that.
fn in_folder(
    folder: &Path,
    session: &str,
    rules: &Arc<RuleSet>,
    log: &DecisionLog,
    decide: impl FnOnce(HookSession) -> HookAnswer,
) -> Result<HookAnswer, String> {
    let cannot = |error: std::io::Error| {
        format!("the log of the session in {} cannot be used: {error}", folder.display())
    };
    fs::create_dir_all(folder).map_err(cannot)?;
    let name = sha256(session.as_bytes());
    let path = folder.join(format!("{}.jsonl", &name[..NAME_DIGITS.min(name.len())]));
    let options = OpenOptions::new().read(true).append(true).create(true).clone();
    let mut file = planproof_files::open_own(&path, &options).map_err(cannot)?;
    lock(&file)?;
    let answer = decide(HookSession::resume(rules, read_log(&file, &path)?.into_iter(), log));
    if let Some(line) = &answer.line {
        file.write_all(format!("{line}\n").as_bytes()).map_err(cannot)?;
    }
    // The lock ends with the file.
    Ok(answer)
}

/// The same in one turn of the history, so that no other guard of the session decides in between.
fn in_history(
    path: &Path,
    session: &str,
    rules: &Arc<RuleSet>,
    made_with: String,
    log: &DecisionLog,
    decide: impl FnOnce(HookSession) -> HookAnswer,
) -> Result<HookAnswer, String> {
    let mut history = shared::open(path)?;
    let turn = history.turn(session).map_err(|error| error.to_string())?;
    let kept = turn.snapshot().map_err(|error| error.to_string())?.filter(|kept| kept.made_with == made_with);
    let resumed = kept.and_then(|kept| {
        let state = serde_json::from_str(&kept.state).ok()?;
        Some((HookSession::with_state(rules, &state, log)?, kept.number))
    });
    let (mut session, first) =
        resumed.unwrap_or_else(|| (HookSession::resume(rules, std::iter::empty(), log), 0));
    let (lines, number) = shared::lines_after(&turn, first)?;
    lines.iter().for_each(|line| session.apply(line, log));
    if lines.len() >= SNAPSHOT_LINES
        && let Some(state) = session.state(log)
    {
        let snapshot = HistorySnapshot { number, made_with, state: state.to_string() };
        turn.keep(&snapshot).map_err(|error| error.to_string())?;
    }
    let answer = decide(session);
    if let Some(line) = &answer.line {
        turn.append(line).map_err(|error| error.to_string())?;
    }
    turn.commit().map_err(|error| error.to_string())?;
    Ok(answer)
}

fn lock(file: &File) -> Result<(), String> {
    let until = Instant::now() + LOCK_MAX;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(LOCK_PAUSE),
            Err(TryLockError::WouldBlock) => {
                return Err(format!("another hook of the session has not ended within {LOCK_MAX:?}"));
            }
            Err(TryLockError::Error(error)) => {
                return Err(format!("the log of the session cannot be locked: {error}"));
            }
        }
    }
}

/// What every line of a log begins with. Nothing else is cut off: it could be the end of another file.
const LINE_BEGIN: &str = "{\"kind\":\"";

/// The lines so far. A last one that was cut off is removed: its call was never answered for.
fn read_log(file: &File, path: &Path) -> Result<Vec<LoggedLine>, String> {
    let cannot = |what: String| format!("the log of the session {} cannot be read: {what}", path.display());
    let mut text = String::new();
    let read = file.take(STATE_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|error| cannot(error.to_string()))?;
    if text.len() as u64 > STATE_BYTES_MAX {
        return Err(cannot(format!(
            "it has more than {STATE_BYTES_MAX} bytes; begin a new session, because no call is decided on without all \
             that came before it"
        )));
    }
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let rest = &text[whole..];
    if !rest.starts_with(LINE_BEGIN) && !LINE_BEGIN.starts_with(rest) {
        return Err(cannot("its end is not a decision; is it another file?".to_owned()));
    }
    if whole < text.len() {
        file.set_len(whole as u64).map_err(|error| cannot(error.to_string()))?;
    }
    let lines = text[..whole].lines().enumerate();
    lines
        .map(|(number, line)| {
            LoggedLine::read(line).map_err(|fault| cannot(format!("line {}: {fault}", number + 1)))
        })
        .collect()
}
