//! Sessions as they were recorded: traces and logs of ours, spans of OpenTelemetry, logs of coding agents, and
//! transcripts as agents and servers log them. A text is recognised by its beginning (`form.rs`) and read line by line
//! (`source.rs`), so that only what a session needs is in memory. It costs little more than reading the JSON: whoever
//! holds a year of logs against rules waits for it.

mod coding_agents;
mod conversation;
mod form;
mod langchain;
mod logs;
mod session;
mod source;
mod spans;

use std::io::BufRead;

use coding_agents::CodingAgentLog;
use conversation::Conversations;
use form::Form;
use session::{Gather, counted, unknown};
pub use session::{RecordedDoubts, RecordedSession, SessionError, SessionSink};
use source::{Lines, Values};
use spans::Spans;

/// Reads the sessions of a text, one after the other. `name` is the file's in the names of sessions and in errors. A
/// text of nothing has no session.
///
/// # Errors
/// The text cannot be read, or is not of a known form; or the sink cannot take a session.
pub fn read(name: &str, source: Box<dyn BufRead>, sink: &mut dyn SessionSink) -> Result<(), SessionError> {
    let mut lines = Lines::new(name, source);
    // A log to which nothing was written yet has no session.
    let Some(first) = lines.next()? else { return Ok(()) };
    let mut values = match source::read(&first.bytes) {
        Ok(value) => match form::of(&value, name)? {
            Form::Traces => return logs::traces(name, first, lines, sink),
            Form::Decisions => return logs::decisions(name, first, lines, sink),
            _ => Values::by_lines(first.number, value, lines)?,
        },
        Err(_) => {
            if logs::begins_cut(&first, &mut lines)? {
                return logs::decisions(name, first, lines, sink);
            }
            // A document over several lines, or several of them.
            Values::of_document(name, first, lines)?
        }
    };
    let mut gather: Box<dyn Gather> = match values.form(name)? {
        Form::Spans => Box::new(Spans::new(name)),
        Form::ClaudeCode => Box::new(CodingAgentLog::of_claude_code(name)),
        Form::Codex => Box::new(CodingAgentLog::of_codex(name)),
        Form::Conversations => Box::new(Conversations::new(name, values.take_document())),
        Form::Traces | Form::Decisions => {
            return Err(SessionError::new(format!(
                "{name}: traces and logs of ours have an object on each line; undo its formatting, as with `jq -c .`"
            )));
        }
    };
    let mut left_out = LeftOut::default();
    while let Some(next) = values.next()? {
        match next.value {
            Ok(value) => gather.value(value, next.line, &next.place, sink)?,
            Err(_) if next.is_cut || gather.may_leave_out() => left_out.add(next.line, next.is_cut),
            Err(_) => return Err(unknown(name, &next.place)),
        }
    }
    left_out.report(name, sink);
    gather.end(sink)
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

    fn report(&self, name: &str, sink: &mut dyn SessionSink) {
        let place = format!("{name}:{}", self.first);
        match self.count {
            0 => {}
            1 if self.is_cut => sink.warn(&format!("{place}: left out: the line is cut off")),
            1 => sink.warn(&format!("{place}: left out: the line is not JSON")),
            count => {
                sink.warn(&format!("{place}: {} are left out: they are not JSON", counted(count, "line")));
            }
        }
    }
}
