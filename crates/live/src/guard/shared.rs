//! The histories of sessions that guards share with others, such as the hooks of the agent.

use std::io::Read as _;
use std::path::Path;
use std::time::Instant;

use planproof_guard::{FromClient, LoggedLine, McpGuard, Then};
use planproof_output::failure::Failure;
use planproof_output::terminal::inline;
use planproof_output::{tell, text_files};
use planproof_store::{History, HistoryError, HistoryTurn};

use super::log_file::Unwritten;
use super::lost;

/// A history that is open.
pub(super) struct Shared(History);

/// How far the guard of a session has read its history.
pub(super) struct Place {
    session: String,
    /// The last line that the guard has taken.
    last: u64,
}

impl Place {
    /// The beginning of a session.
    pub(super) fn new(session: impl Into<String>) -> Self {
        Self { session: session.into(), last: 0 }
    }
}

impl Shared {
    /// Opens a history, in whose folder there may be nothing yet.
    ///
    /// # Errors
    /// It cannot be used.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        open(path).map(Self).map_err(Failure::usage)
    }

    /// Has the guard take a line of the client on all that the session has had so far, and keeps the decision in the
    /// history and the log before anybody else decides. Gives what became of that as well.
    fn decide(
        &mut self,
        place: &mut Place,
        guard: &mut McpGuard,
        line: &[u8],
        log: &mut LineLog<'_>,
    ) -> (FromClient, Kept) {
        let started = Instant::now();
        let Place { session, last } = place;
        let marked = forget_marked(&mut self.0, &|session| guard.unread_line_of(session));
        let turn = match marked.and_then(|()| self.0.turn(session).map_err(|error| error.to_string())) {
            Ok(turn) => turn,
            // The decision is then made without the others.
            Err(why) => return (guard.from_client(line), Kept::Nowhere(why)),
        };
        let caught_up = catch_up(guard, &turn, last);
        let heard = guard.from_client(line);
        let late = guard.late_lines();
        let caught_up = caught_up.and_then(|()| {
            let mut late = late.iter();
            late.try_for_each(|line| turn.append(line).map(|_| ())).map_err(|error| error.to_string())
        });
        for line in &late {
            // The user has been warned.
            let _ = log(line, Unwritten::Owed);
        }
        let Some(line) = guard.decision_line(&heard, microseconds_since(started)) else {
            return (heard, Kept::Everywhere);
        };
        let appended = caught_up.and_then(|()| turn.append(&line).map_err(|error| error.to_string()));
        let number = match appended {
            Ok(number) => number,
            Err(why) => return (heard, Kept::Nowhere(why)),
        };
        // Before the history has it for good, because what it has can no longer be undone.
        if let Err(why) = log(&line, unwritten(guard))
            && guard.is_enforcing()
        {
            return (heard, Kept::Unlogged(why));
        }
        match turn.commit() {
            Ok(()) => *last = number,
            Err(error) => return (heard, Kept::OnlyLogged(error.to_string())),
        }
        (heard, Kept::Everywhere)
    }

    /// Has the guard take what the server said, and keeps what it learns from it.
    fn learn(
        &mut self,
        place: &mut Place,
        guard: &mut McpGuard,
        take: impl FnOnce(&mut McpGuard) -> Vec<String>,
    ) -> (Vec<String>, Result<(), String>) {
        if !guard.awaits_results() {
            return (take(guard), Ok(()));
        }
        let Place { session, last } = place;
        let (results, kept) = match self.0.turn(session) {
            Ok(turn) => {
                let caught_up = catch_up(guard, &turn, last);
                let results = take(guard);
                let kept = caught_up.and_then(|()| keep(turn, &results, last));
                (results, kept)
            }
            Err(error) => (take(guard), Err(error.to_string())),
        };
        // Where nothing was learnt, nothing is lost.
        let kept = if results.is_empty() { Ok(()) } else { kept };
        (results, kept)
    }

    /// Has all guards of the session know that something came of a call which the history does not have.
    fn forget(&mut self, place: &Place, guard: &McpGuard) -> Result<(), String> {
        let session = &place.session;
        forget(&mut self.0, session, &guard.unread_line_of(session))
            .or_else(|_| lost::mark_history(self.0.path()))
    }
}

/// Writes a line to the log if there is one, and gives why it cannot be written, of which the user has been warned.
pub(super) type LineLog<'l> = dyn FnMut(&str, Unwritten) -> Result<(), String> + 'l;

/// What becomes of a decision that cannot be written: where it is not obeyed, the call is made all the same.
fn unwritten(guard: &McpGuard) -> Unwritten {
    if guard.is_enforcing() { Unwritten::Undone } else { Unwritten::Owed }
}

/// Where a decision is kept.
enum Kept {
    /// Wherever it has to be.
    Everywhere,
    /// Nowhere, because the history cannot be used, for this reason.
    Nowhere(String),
    /// Nowhere, because the log cannot be written. The user knows the reason.
    Unlogged(String),
    /// Only in the log: the history failed at the very end, for this reason.
    OnlyLogged(String),
}

/// What a client has said, decided on with the history of the session if there is one. Where this returns, the history
/// and the log have the decision; where one of them cannot take it, the call was never made.
pub(super) fn heard(
    shared: Option<(&mut Shared, &mut Place)>,
    guard: &mut McpGuard,
    line: &[u8],
    log: &mut LineLog<'_>,
) -> FromClient {
    let Some((shared, place)) = shared else {
        let started = Instant::now();
        let heard = guard.from_client(line);
        return logged(guard, heard, microseconds_since(started), log);
    };
    let started = Instant::now();
    let (heard, kept) = shared.decide(place, guard, line, log);
    let (why, is_logged) = match kept {
        Kept::Everywhere => return heard,
        Kept::Unlogged(why) => return guard.unlogged(heard, &why),
        Kept::Nowhere(why) => (why, false),
        Kept::OnlyLogged(why) => (why, true),
    };
    if guard.decision_line(&heard, 0).is_none() {
        return heard;
    }
    tell!("warning: {}", inline(&why));
    let heard = guard.unlogged(heard, &why);
    if !is_logged {
        return logged(guard, heard, microseconds_since(started), log);
    }
    if heard.then != Then::Pass
        && let Some(line) = guard.retraction_line(&heard)
    {
        // The line that it takes back is there, so this one follows as soon as there is room for it.
        let _ = log(&line, Unwritten::Owed);
    }
    heard
}

/// What was heard, once the log has it. If the log cannot have it, the call was never made.
pub(super) fn logged(
    guard: &mut McpGuard,
    heard: FromClient,
    microseconds: u64,
    log: &mut LineLog<'_>,
) -> FromClient {
    for late in guard.late_lines() {
        // The decision behind it cannot be written either, or the user has been warned.
        let _ = log(&late, Unwritten::Owed);
    }
    let Some(line) = guard.decision_line(&heard, microseconds) else { return heard };
    match log(&line, unwritten(guard)) {
        Ok(()) => heard,
        Err(why) => guard.unlogged(heard, &why),
    }
}

fn microseconds_since(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// The results in what a server has said, as lines of the log, after they are in the history if there is one.
pub(super) fn learnt(
    shared: Option<(&mut Shared, &mut Place)>,
    guard: &mut McpGuard,
    line: &[u8],
) -> Vec<String> {
    learnt_by(shared, guard, |guard| guard.from_server(line))
}

/// That the server has said something that is too long to be read, likewise.
pub(super) fn unread(shared: Option<(&mut Shared, &mut Place)>, guard: &mut McpGuard) -> Vec<String> {
    learnt_by(shared, guard, |guard| guard.unread().into_iter().collect())
}

fn learnt_by(
    shared: Option<(&mut Shared, &mut Place)>,
    guard: &mut McpGuard,
    take: impl FnOnce(&mut McpGuard) -> Vec<String>,
) -> Vec<String> {
    let Some((shared, place)) = shared else { return take(guard) };
    let (mut results, kept) = shared.learn(place, guard, take);
    if let Err(why) = kept {
        tell!("warning: {}; every further call of the session is denied", inline(&why));
        if let Err(why) = shared.forget(place, guard) {
            tell!("error: {}", inline(&why));
        }
        // This guard is held to what all others know.
        results.extend(guard.lost());
    }
    results
}

/// Appends a line to a session of a history, whatever it has.
///
/// # Errors
/// It cannot be written, in a sentence without a full stop.
pub(crate) fn forget(history: &mut History, session: &str, line: &str) -> Result<(), String> {
    let appended = history.turn(session).and_then(|turn| {
        turn.append(line)?;
        turn.commit()
    });
    appended.map_err(|error| error.to_string())
}

/// If a mark says that a result was lost, has all sessions of the history approve no further call. `line` is the line
/// that says so of a session.
///
/// # Errors
/// That is not possible, in a sentence without a full stop; the mark stays.
pub(crate) fn forget_marked(history: &mut History, line: &dyn Fn(&str) -> String) -> Result<(), String> {
    let path = history.path().to_owned();
    lost::must_be_writable(&path)?;
    if !lost::is_marked(&path) {
        return Ok(());
    }
    for session in history.sessions().map_err(|error| error.to_string())? {
        forget(history, &session, &line(&session))?;
    }
    lost::unmark(&path)
}

/// Opens a history, which is made where there is none. So is a folder `.planproof`.
///
/// # Errors
/// It cannot be used, in a sentence without a full stop.
pub(crate) fn open(path: &Path) -> Result<History, String> {
    // Any other folder that is missing is a typing error, with which guards would not decide as one.
    let is_missing = |folder: &&Path| folder.ends_with(OWN_FOLDER) && !folder.exists();
    if let Some(folder) = path.parent().filter(is_missing).filter(|folder| is_in_folder(folder)) {
        planproof_files::make_own_folder(folder)
            .map_err(|error| format!("the folder {} cannot be made: {error}", folder.display()))?;
    }
    lost::must_be_writable(path)?;
    History::open(path).map_err(|error| error.to_string())
}

/// Whether the folder above a path is there.
fn is_in_folder(path: &Path) -> bool {
    path.parent().is_none_or(|above| above.as_os_str().is_empty() || above.is_dir())
}

/// The folder in a project where planproof keeps what is its own.
const OWN_FOLDER: &str = ".planproof";

/// What a history begins with, as every file of SQLite.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The text of a log of decisions, or the lines of all sessions of a history.
///
/// # Errors
/// It cannot be read.
pub(crate) fn text_of(path: &Path) -> Result<String, Failure> {
    match history_of(path)? {
        Some(lines) => Ok(lines),
        None => text_files::read_json(path),
    }
}

/// The lines of all sessions of a history; `None` if the file is something else.
///
/// # Errors
/// It is a history that cannot be read.
pub(crate) fn history_of(path: &Path) -> Result<Option<String>, Failure> {
    let mut begin = Vec::new();
    // What cannot be opened here is named later, and what is not a file has no such beginning.
    if path.metadata().is_ok_and(|found| found.is_file())
        && let Ok(file) = planproof_files::open(path)
    {
        let _ = file.take(MAGIC.len() as u64).read_to_end(&mut begin);
    }
    if begin != MAGIC {
        return Ok(None);
    }
    let lines = History::open_read_only(path).and_then(|history| history.all_lines());
    lines.map(|lines| Some(lines.join("\n"))).map_err(|error| Failure::usage(error.to_string()))
}

/// The lines of a session behind that of this number, and the number of the last.
///
/// # Errors
/// One of them cannot be read, in a sentence without a full stop.
pub(crate) fn lines_after(turn: &HistoryTurn<'_>, number: u64) -> Result<(Vec<LoggedLine>, u64), String> {
    let found = turn.lines_after(number).map_err(|error| error.to_string())?;
    let last = found.last().map_or(number, |(number, _)| *number);
    let lines = found.iter().map(|(number, line)| {
        LoggedLine::read(line)
            .map_err(|fault| format!("line {number} of the session in the history: {fault}"))
    });
    Ok((lines.collect::<Result<_, String>>()?, last))
}

fn catch_up(guard: &mut McpGuard, turn: &HistoryTurn<'_>, last: &mut u64) -> Result<(), String> {
    let (lines, read) = lines_after(turn, *last)?;
    guard.catch_up(&lines);
    *last = read;
    Ok(())
}

fn keep(turn: HistoryTurn<'_>, lines: &[String], last: &mut u64) -> Result<(), String> {
    let kept = || -> Result<Option<u64>, HistoryError> {
        let mut number = None;
        for line in lines {
            number = Some(turn.append(line)?);
        }
        turn.commit()?;
        Ok(number)
    };
    if let Some(number) = kept().map_err(|error| error.to_string())? {
        *last = number;
    }
    Ok(())
}
