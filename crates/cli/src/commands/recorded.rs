//! Sessions as they were recorded: traces and logs of ours, spans of OpenTelemetry, logs of coding agents, and
//! transcripts as agents and servers log them. A file is recognised by its beginning (`recorded/form.rs`) and read line
//! by line (`recorded/source.rs`), so that only what a session needs is in memory.

mod coding_agents;
mod conversation;
mod files;
mod form;
mod langchain;
mod logs;
mod session;
mod source;
mod spans;

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::progress::tell;
use crate::render::counted;
use crate::terminal::inline;
use coding_agents::CodingAgentLog;
use conversation::Conversations;
pub(crate) use files::files_in;
use form::Form;
use session::{Gather, Take, unknown};
pub(crate) use session::{RecordedDoubts, RecordedSession};
use source::{Lines, Values};
use spans::Spans;

/// Does something with each of several files, also where one of them cannot be used: the others are not to go unread
/// because of it.
///
/// # Errors
/// That of the only file; how many of several could not be used, each of which is named on stderr.
pub(crate) fn with_each(
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
pub(crate) fn read(path: &Path) -> Result<Vec<RecordedSession>, Failure> {
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
pub(crate) fn each(path: &Path, take: Take<'_>) -> Result<(), Failure> {
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
