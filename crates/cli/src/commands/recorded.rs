//! Sessions as they were recorded: traces and logs of ours, spans of OpenTelemetry, logs of coding agents, and
//! transcripts as agents and servers log them. A file is recognised by its beginning (`recorded/form.rs`) and read line
//! by line (`recorded/source.rs`), so that only what a session needs is in memory.

mod coding_agents;
mod conversation;
mod files;
mod form;
mod langchain;
mod logs;
mod source;
mod spans;

use std::path::{Path, PathBuf};

use planproof_spec::rules::RecordedEvent;
use planproof_trace::Tool;
use serde_json::Value;

use crate::failure::Failure;
use crate::progress::tell;
use crate::render::counted;
use crate::terminal::inline;
use coding_agents::CodingAgentLog;
use conversation::Conversations;
pub(super) use files::files_in;
use form::Form;
use source::{Lines, Values};
use spans::Spans;

/// A session as it was recorded.
#[derive(Debug)]
pub(super) struct RecordedSession {
    /// The file and the place in it, or the case of a trace.
    pub(super) name: String,
    /// The line of the file on which it begins, from 1.
    pub(super) line: u64,
    /// What the user asked first, if that was recorded.
    pub(super) query: Option<String>,
    /// The tools that the agent had, if they were recorded.
    pub(super) tools: Vec<Tool>,
    /// The calls and what came of them.
    pub(super) happened: Vec<RecordedEvent>,
    /// The line of each call, where calls stand on lines of their own.
    pub(super) call_lines: Vec<u64>,
    /// What the record leaves open.
    pub(super) doubts: RecordedDoubts,
}

/// What a record leaves open, as numbers of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RecordedDoubts {
    /// Calls that ran at the same time as others.
    pub(super) overlapping: usize,
    /// Calls that cannot be ordered before or after another: both happened at one time, or the time is missing.
    pub(super) unordered: usize,
    /// Calls without their arguments.
    pub(super) without_arguments: usize,
}

/// Takes one session after the other.
type Take<'t> = &'t mut dyn FnMut(RecordedSession) -> Result<(), Failure>;

/// What makes sessions of the JSON values of a file.
trait Gather {
    /// Takes the next value. `place` is what the name of a session has behind that of the file: `:LINE`, or nothing
    /// where the value is the whole file.
    fn value(&mut self, value: Value, line: u64, place: &str, take: Take<'_>) -> Result<(), Failure>;

    /// Takes the end of the file.
    fn end(&mut self, take: Take<'_>) -> Result<(), Failure>;

    /// Whether a line that is not JSON is left out. Otherwise it is an error.
    fn may_leave_out(&self) -> bool;
}

/// Does something with each of several files, also where one of them cannot be used: the others are not to go unread
/// because of it.
///
/// # Errors
/// That of the only file; how many of several could not be used, each of which is named on stderr.
pub(super) fn with_each(
    files: &[PathBuf],
    mut act: impl FnMut(&Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if let [only] = files {
        return act(only);
    }
    let mut bad = 0;
    for file in files {
        match act(file) {
            Ok(()) => {}
            Err(Failure::Usage(why)) => {
                tell!("error: {}", inline(&why));
                bad += 1;
            }
            Err(other) => return Err(other),
        }
    }
    match bad {
        0 => Ok(()),
        _ => Err(Failure::usage(format!("{bad} of {} cannot be used", counted(files.len(), "file")))),
    }
}

/// The sessions of a file.
pub(super) fn read(path: &Path) -> Result<Vec<RecordedSession>, Failure> {
    let mut sessions = Vec::new();
    each(path, &mut |session| {
        sessions.push(session);
        Ok(())
    })?;
    Ok(sessions)
}

/// Reads the sessions of a file, one after the other.
///
/// # Errors
/// The file cannot be read, or is not of a known form; or `take` failed.
pub(super) fn each(path: &Path, take: Take<'_>) -> Result<(), Failure> {
    let name = path.display().to_string();
    let mut lines = Lines::open(path)?;
    // A log to which nothing was written yet has no session.
    let Some(first) = lines.next()? else { return Ok(()) };
    let mut values = match source::read(&first.bytes) {
        Ok(value) => match form::of(&value, &name)? {
            Form::Traces => return logs::traces(&name, first, lines, take),
            Form::Decisions => return logs::decisions(&name, first, lines, take),
            _ => Values::by_lines(first.number, value, lines)?,
        },
        // A document over several lines, or several of them.
        Err(_) => Values::of_document(&name, first, lines)?,
    };
    let mut gather: Box<dyn Gather> = match values.form(&name)? {
        Form::Spans => Box::new(Spans::new(&name)),
        Form::ClaudeCode => Box::new(CodingAgentLog::of_claude_code(&name)),
        Form::Codex => Box::new(CodingAgentLog::of_codex(&name)),
        Form::Conversations => Box::new(Conversations::new(&name, values.take_document())),
        Form::Traces | Form::Decisions => {
            return Err(Failure::usage(format!(
                "{}: traces and logs of ours have an object on each line; undo its formatting, as with `jq -c .`",
                inline(&name)
            )));
        }
    };
    let mut left_out = LeftOut::default();
    while let Some(next) = values.next()? {
        match next.value {
            Ok(value) => gather.value(value, next.line, &next.place, take)?,
            Err(_) if next.is_cut || gather.may_leave_out() => left_out.add(next.line, next.is_cut),
            Err(_) => return Err(unknown(&name, &next.place)),
        }
    }
    left_out.report(&name);
    gather.end(take)
}

/// Lines that are left out.
#[derive(Default)]
struct LeftOut {
    count: usize,
    first: u64,
    is_cut: bool,
}

impl LeftOut {
    fn add(&mut self, line: u64, is_cut: bool) {
        if self.count == 0 {
            self.first = line;
        }
        self.count += 1;
        self.is_cut |= is_cut;
    }

    fn report(&self, name: &str) {
        let place = format!("{}:{}", inline(name), self.first);
        match self.count {
            0 => {}
            1 if self.is_cut => tell!("warning: {place}: left out: the line is cut off"),
            1 => tell!("warning: {place}: left out: the line is not JSON"),
            count => tell!("warning: {place}: {} are left out: they are not JSON", counted(count, "line")),
        }
    }
}

/// The error of a file in which there is no session.
fn unknown(name: &str, place: &str) -> Failure {
    Failure::usage(format!(
        "{}{place}: no session is found here; a file holds traces (trace v1), the log of a guard (decision v1), spans of \
         OpenTelemetry (OTLP JSON), the log of a session of Claude Code or Codex, or transcripts of OpenAI or Anthropic: \
         {{\"messages\": [...]}}, one a line, or a list of messages",
        inline(name)
    ))
}
