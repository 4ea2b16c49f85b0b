//! Logs of Claude Code that have the sub-agents of a session in files of their own, which belong to the session:
//! `SESSION/subagents/agent-ID.jsonl` beside `SESSION.jsonl`, in earlier versions `agent-ID.jsonl` beside it.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf, absolute};

use planproof_output::failure::Failure;
use serde::Deserialize;

use super::files::files_in;

/// The folder with the logs of a session's sub-agents.
const SUB_AGENTS: &str = "subagents";

/// The folder with results that were too long for the log.
const RESULTS: &str = "tool-results";

/// The list of the logs of a folder.
const INDEX: &str = "sessions-index.json";

/// Bytes of the first line of a log that are looked at for the session of a sub-agent.
const FIRST_LINE_BYTES_MAX: u64 = 4 << 20;

/// The files of a record.
#[derive(Debug, PartialEq, Eq)]
pub struct RecordFiles {
    /// The file; that of the session, if there are others.
    pub path: PathBuf,
    /// Those of the sub-agents of its session.
    pub(crate) of_sub_agents: Vec<PathBuf>,
}

impl RecordFiles {
    /// Those of a record that is named by its file.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        let mut records = records_of(vec![path.to_owned()])?;
        Ok(records.pop().unwrap_or_else(|| Self { path: path.to_owned(), of_sub_agents: Vec::new() }))
    }
}

/// The records in files and folders, in their order. The logs of sub-agents are part of that of their session, also
/// where only the latter is named.
///
/// # Errors
/// As for [`files_in`].
pub fn records_in(named: &[PathBuf]) -> Result<Vec<RecordFiles>, Failure> {
    records_of(files_in(named)?)
}

fn records_of(mut files: Vec<PathBuf>) -> Result<Vec<RecordFiles>, Failure> {
    let mut known: HashSet<PathBuf> = files.iter().map(|file| place_of(file)).collect();
    for folder in files.iter().filter_map(|file| folder_of(file)).collect::<Vec<_>>() {
        // Only what is in no folder that was named is new.
        let has_logs = fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some());
        let found = if has_logs { files_in(&[folder])? } else { Vec::new() };
        files.extend(found.into_iter().filter(|file| known.insert(place_of(file))));
    }
    let mut records: Vec<RecordFiles> = Vec::new();
    let mut of_session: HashMap<PathBuf, usize> = HashMap::new();
    let (parts, sessions): (Vec<_>, Vec<_>) = files
        .into_iter()
        .map(|file| (session_of(&file, &known), file))
        .partition(|(session, _)| session.is_some());
    for (_, path) in sessions {
        of_session.entry(place_of(&path)).or_insert(records.len());
        records.push(RecordFiles { path, of_sub_agents: Vec::new() });
    }
    for (session, path) in parts {
        let Some(session) = session else { continue };
        match of_session.get(&session).and_then(|place| records.get_mut(*place)) {
            Some(record) => record.of_sub_agents.push(path),
            // Nobody named the log of the session: those of its sub-agents are read as one.
            None => {
                of_session.insert(session, records.len());
                records.push(RecordFiles { path, of_sub_agents: Vec::new() });
            }
        }
    }
    Ok(records)
}

/// The path from the root, so that one file has one. Without the file system: links have names of their own.
fn place_of(path: &Path) -> PathBuf {
    absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jsonl")
}

/// The folder with the logs of the sub-agents of the session of this log.
fn folder_of(log: &Path) -> Option<PathBuf> {
    let folder = log.with_extension("").join(SUB_AGENTS);
    (is_log(log) && folder.is_dir()).then_some(folder)
}

/// The log of the session that has a folder with files of its own above this file.
fn log_beside(path: &Path, folder: &str) -> Option<PathBuf> {
    let place = place_of(path);
    let found = place.ancestors().skip(1).find(|above| above.file_name() == Some(OsStr::new(folder)))?;
    let session = found.parent()?;
    let mut name = session.file_name()?.to_owned();
    name.push(".jsonl");
    Some(session.with_file_name(name))
}

/// The log of the session of which this file is the log of a sub-agent.
fn session_of(path: &Path, known: &HashSet<PathBuf>) -> Option<PathBuf> {
    if !is_log(path) {
        return None;
    }
    let beside = || {
        let name = path.file_name()?.to_str()?;
        let log = place_of(path).with_file_name(format!("{}.jsonl", session_in(path, name)?));
        known.contains(&log).then_some(log)
    };
    log_beside(path, SUB_AGENTS).or_else(beside)
}

/// What says of a log which session it belongs to. The rest is not looked at here, however deeply it nests.
#[derive(Deserialize)]
struct FirstLine {
    #[serde(rename = "isSidechain")]
    is_aside: bool,
    #[serde(rename = "sessionId")]
    session: Option<String>,
}

/// The session that the first line of a sub-agent's log names.
fn session_in(path: &Path, name: &str) -> Option<String> {
    let file = name.starts_with("agent-").then(|| planproof_files::open(path).ok())??;
    let mut line = Vec::new();
    BufReader::new(file.take(FIRST_LINE_BYTES_MAX)).read_until(b'\n', &mut line).ok()?;
    let first: FirstLine = serde_json::from_slice(&line).ok()?;
    first.session.filter(|id| first.is_aside && !id.contains(['/', '\\']))
}

/// Whether this file is one that Claude Code keeps beside its logs, and that is not a record.
pub(super) fn is_beside_log(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let is_with_log = |folder: &str| log_beside(path, folder).is_some_and(|log| log.is_file());
    name == INDEX
        || name.ends_with(".meta.json") && log_beside(path, SUB_AGENTS).is_some()
        || is_with_log(RESULTS)
}
