//! Where the sessions of a hook are between its events: a folder with a log for each, or a history.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use planproof_guard::{DecisionLog, HookAnswer, HookSession, LoggedLine};
use planproof_output::digest::sha256;
use planproof_spec::rules::RuleSet;
use planproof_store::HistorySnapshot;

use crate::guard::{lost, shared};

/// How long the hook of one event waits for that of another of the same session.
const LOCK_MAX: Duration = Duration::from_secs(5);

/// How long it waits before it looks again.
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// Longest log of a session, in bytes. Every call after that is rejected.
const STATE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bytes of the first line of a log, in which its session stands. A longer name is not found.
const NAME_BYTES_MAX: u64 = 128 * 1024;

/// Lines of a history after which the state of a session is kept, so that they are not read again.
const SNAPSHOT_LINES: usize = 256;

/// Hexadecimal digits of a session's file.
const NAME_DIGITS: usize = 32;

/// How the name of a session's file ends.
const LOG_EXTENSION: &str = "jsonl";

/// What every line of a log begins with. Nothing else is cut off: it could be the end of another file.
const LINE_BEGIN: &str = "{\"kind\":\"";

/// Where the session so far is.
pub(super) enum Memory<'a> {
    /// A folder with a file for each session.
    Folder(&'a Path),
    /// A history that other guards of the session share.
    History(&'a Path),
}

impl Memory<'_> {
    /// Decides on an event after all that the session has had so far, and keeps what came of that before anybody else
    /// decides. `made_with` says what the state of a session depends on beside its lines.
    ///
    /// # Errors
    /// It cannot be read or written, in a sentence without a full stop. Nothing of the event is kept.
    pub(super) fn take(
        &self,
        session: &str,
        rules: &Arc<RuleSet>,
        made_with: String,
        log: &DecisionLog,
        decide: impl FnOnce(HookSession) -> HookAnswer,
    ) -> Result<HookAnswer, String> {
        match self {
            Self::Folder(folder) => {
                let mut file = SessionFile::open(folder, session)?;
                let lines = file.read(&|| log.unread())?;
                let answer = decide(HookSession::resume(rules, lines.into_iter(), log));
                if let Some(line) = &answer.line {
                    file.append(line)?;
                }
                // The lock ends with the file.
                Ok(answer)
            }
            Self::History(path) => in_history(path, session, rules, made_with, log, decide),
        }
    }

    /// Has these sessions, or without one all that have begun here, approve no further call. `line` is the line that
    /// says so of a session. Where there is no room for it, a mark says so that needs none.
    ///
    /// # Errors
    /// Even that was not possible, for the reason given.
    pub(super) fn forget(&self, sessions: &[String], line: &dyn Fn(&str) -> String) -> Result<(), String> {
        match self {
            Self::Folder(folder) => {
                if sessions.is_empty() {
                    return forget_all_in(folder, line);
                }
                sessions.iter().try_for_each(|session| {
                    let appended = self.append(session, &line(session));
                    appended.or_else(|_| lost::mark(&path_in(folder, session)))
                })
            }
            Self::History(path) => {
                let kept = shared::open(path).and_then(|mut history| {
                    let named = sessions.to_vec();
                    let sessions = if named.is_empty() { history.sessions() } else { Ok(named) };
                    for session in sessions.map_err(|error| error.to_string())? {
                        shared::forget(&mut history, &session, &line(&session))?;
                    }
                    Ok(())
                });
                kept.or_else(|_| lost::mark_history(path))
            }
        }
    }

    /// Appends a line to those of a session, whatever they are.
    ///
    /// # Errors
    /// It cannot be written; nothing of it is.
    pub(super) fn append(&self, session: &str, line: &str) -> Result<(), String> {
        match self {
            Self::Folder(folder) => SessionFile::open(folder, session)?.append(line),
            Self::History(path) => shared::forget(&mut shared::open(path)?, session, line),
        }
    }
}

fn path_in(folder: &Path, session: &str) -> PathBuf {
    let name = sha256(session.as_bytes());
    folder.join(&name[..NAME_DIGITS.min(name.len())]).with_extension(LOG_EXTENSION)
}

/// Marks all sessions of a folder that have begun.
fn forget_all_in(folder: &Path, line: &dyn Fn(&str) -> String) -> Result<(), String> {
    let cannot = |error: io::Error| format!("the sessions in {} cannot be marked: {error}", folder.display());
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(cannot)?,
    };
    for entry in entries {
        let path = entry.map_err(cannot)?.path();
        if path.extension().is_none_or(|found| found != LOG_EXTENSION) {
            continue;
        }
        let mut begin = Vec::new();
        let read = planproof_files::open_own(&path, OpenOptions::new().read(true));
        let _ = read.and_then(|file| file.take(NAME_BYTES_MAX).read_to_end(&mut begin));
        let session = LoggedLine::session_in(&begin).filter(|session| path_in(folder, session) == path);
        let appended = session.is_some_and(|session| {
            let file = SessionFile::open(folder, &session);
            file.and_then(|mut file| file.append(&line(&session))).is_ok()
        });
        if !appended {
            lost::mark(&path)?;
        }
    }
    Ok(())
}

/// The log of a session, which nobody else writes to meanwhile.
struct SessionFile {
    path: PathBuf,
    file: File,
}

impl SessionFile {
    fn open(folder: &Path, session: &str) -> Result<Self, String> {
        let cannot = |error: io::Error| {
            format!("the log of the session in {} cannot be used: {error}", folder.display())
        };
        planproof_files::make_own_folder(folder).map_err(cannot)?;
        let path = path_in(folder, session);
        lost::must_be_writable(&path)?;
        let options = OpenOptions::new().read(true).append(true).create(true).clone();
        let file = planproof_files::open_own(&path, &options).map_err(cannot)?;
        let file = Self { path, file };
        file.lock()?;
        Ok(file)
    }

    fn lock(&self) -> Result<(), String> {
        let until = Instant::now() + LOCK_MAX;
        loop {
            match self.file.try_lock() {
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

    fn cannot_read(&self, what: &str) -> String {
        format!("the log of the session {} cannot be read: {what}", self.path.display())
    }

    /// The lines so far. A last one that was cut off is removed, because nobody was answered for it; if it may have
    /// been a result, or a mark says that one was lost, the line for that takes its place.
    fn read(&mut self, unread: &dyn Fn() -> String) -> Result<Vec<LoggedLine>, String> {
        let mut text = String::new();
        let read = (&self.file).take(STATE_BYTES_MAX + 1).read_to_string(&mut text);
        read.map_err(|error| self.cannot_read(&error.to_string()))?;
        if text.len() as u64 > STATE_BYTES_MAX {
            return Err(self.cannot_read(&format!(
                "it has more than {STATE_BYTES_MAX} bytes; begin a new session, because no call is decided on without \
                 all that came before it"
            )));
        }
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut is_lost = lost::is_marked(&self.path);
        let rest = text.split_off(whole);
        if !rest.is_empty() {
            if !rest.starts_with(LINE_BEGIN) && !LINE_BEGIN.starts_with(&rest) {
                return Err(self.cannot_read("its end is not a decision; is it another file?"));
            }
            is_lost |= LoggedLine::may_be_result(&rest);
            self.file.set_len(whole as u64).map_err(|error| self.cannot_read(&error.to_string()))?;
        }
        if is_lost {
            let line = unread();
            self.append(&line)?;
            lost::unmark(&self.path)?;
            text.push_str(&line);
        }
        let lines = text.lines().enumerate();
        lines
            .map(|(number, line)| {
                LoggedLine::read(line)
                    .map_err(|fault| self.cannot_read(&format!("line {}: {fault}", number + 1)))
            })
            .collect()
    }

    /// Appends a whole line, or nothing.
    fn append(&mut self, line: &str) -> Result<(), String> {
        let append = |file: &mut File| {
            let length = file.seek(SeekFrom::End(0))?;
            let is_torn = match length.checked_sub(1) {
                Some(last) => {
                    let mut end = [0];
                    file.seek(SeekFrom::Start(last))?;
                    file.read_exact(&mut end)?;
                    end != *b"\n"
                }
                None => false,
            };
            if is_torn {
                return Err(io::Error::other("its last line was cut off"));
            }
            file.write_all(format!("{line}\n").as_bytes()).inspect_err(|_| {
                // Otherwise the next hook finds a line that was cut off.
                let _ = file.set_len(length);
            })
        };
        append(&mut self.file).map_err(|error| {
            format!("the log of the session {} cannot be used: {error}", self.path.display())
        })
    }
}

/// Decides in one turn of the history, so that no other guard of the session decides in between.
fn in_history(
    path: &Path,
    session: &str,
    rules: &Arc<RuleSet>,
    made_with: String,
    log: &DecisionLog,
    decide: impl FnOnce(HookSession) -> HookAnswer,
) -> Result<HookAnswer, String> {
    let mut history = shared::open(path)?;
    shared::forget_marked(&mut history, &|session| log.of_session(session).unread())?;
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
