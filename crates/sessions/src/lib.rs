//! Sessions as they were recorded: traces and logs of ours, spans of OpenTelemetry, logs of coding agents, and
//! transcripts as agents and servers log them. A text is recognised by its beginning (`form.rs`) and read line by line
//! (`source.rs`), so that only what a session needs is in memory. It costs little more than reading the JSON: whoever
//! holds a year of logs against rules waits for it.

mod calls;
mod coding_agents;
mod conversation;
mod form;
mod items;
mod langchain;
mod logs;
mod same_call;
mod session;
mod source;
mod spans;

use std::io::BufRead;

use coding_agents::CodingAgentLog;
use conversation::Conversations;
use form::Form;
use planproof_guard::{UnreadJson, read_held};
use planproof_spec::rules::Phase;
use serde_json::Value;
use session::{Gather, counted, unheld, unknown};
pub use session::{RecordedDoubts, RecordedSession, SessionError, SessionSink};
use source::{Lines, RecordedLine, Values};
use spans::Spans;

/// A further file of a record: what a sub-agent of a session did.
pub struct FurtherFile {
    /// Its name in errors, and for calls that stand in it.
    pub name: String,
    /// Its text.
    pub source: Box<dyn BufRead>,
}

/// Reads the sessions of a text, one after the other. `name` is the file's in the names of sessions and in errors. A
/// text of nothing has no session.
///
/// # Errors
/// The text cannot be read, or is not of a known form; or the sink cannot take a session.
pub fn read(name: &str, source: Box<dyn BufRead>, sink: &mut dyn SessionSink) -> Result<(), SessionError> {
    read_all(FurtherFile { name: name.to_owned(), source }, &mut std::iter::empty(), sink)
}

/// The same, of a log of Claude Code in several files: the sessions of the first have what their sub-agents did in the
/// others. If the first is another record, the others are records of their own.
///
/// # Errors
/// As for [`read`]. One of the others does not keep the sessions from being read.
pub fn read_all(
    first: FurtherFile,
    others: &mut dyn Iterator<Item = Result<FurtherFile, SessionError>>,
    sink: &mut dyn SessionSink,
) -> Result<(), SessionError> {
    read_each(first, others, &mut WholeCalls(sink))
}

fn read_each(
    first: FurtherFile,
    others: &mut dyn Iterator<Item = Result<FurtherFile, SessionError>>,
    sink: &mut dyn SessionSink,
) -> Result<(), SessionError> {
    let FurtherFile { name, source } = first;
    let mut values = match begin(&name, source)? {
        Begun::Values(values) => values,
        begun => {
            let read = match begun {
                Begun::Traces(first, lines) => logs::traces(&name, first, lines, sink),
                Begun::Decisions(first, lines) => logs::decisions(&name, first, lines, sink),
                Begun::Nothing | Begun::Values(_) => Ok(()),
            };
            return read.and(on_their_own(others, sink));
        }
    };
    let mut gather: Box<dyn Gather> = match values.form() {
        Form::Spans => Box::new(Spans::new(&name)),
        Form::ClaudeCode => Box::new(CodingAgentLog::of_claude_code(&name)),
        Form::Codex => Box::new(CodingAgentLog::of_codex(&name)),
        Form::Conversations => Box::new(Conversations::new(&name, values.take_document())),
        Form::Traces | Form::Decisions => {
            return Err(SessionError::new(format!(
                "{name}: traces and logs of ours have an object on each line; undo its formatting, as with `jq -c .`"
            )));
        }
    };
    gather_from(&name, &mut values, &mut *gather, sink)?;
    if values.form() != Form::ClaudeCode {
        return gather.end(sink).and(on_their_own(others, sink));
    }
    let mut failed = Ok(());
    for other in others {
        let read = other.and_then(|FurtherFile { name, source }| match begin(&name, source)? {
            Begun::Nothing => Ok(()),
            Begun::Values(mut values) if values.form() == Form::ClaudeCode => {
                gather.file(&name);
                gather_from(&name, &mut values, &mut *gather, sink)
            }
            _ => Err(SessionError::new(format!("{name}: not the log of a sub-agent of Claude Code"))),
        });
        failed = failed.and(read);
    }
    gather.end(sink).and(failed)
}

/// Refuses sessions with a call whose arguments are a text of JSON that cannot be read without losing something: rules
/// would see a text where the tool saw arguments.
struct WholeCalls<'s>(&'s mut dyn SessionSink);

impl SessionSink for WholeCalls<'_> {
    fn session(&mut self, session: RecordedSession) -> Result<(), SessionError> {
        let mut lines = session.call_lines.iter();
        for call in session.happened.iter().filter(|event| event.phase == Phase::Call) {
            let line = lines.next().copied().unwrap_or(session.line);
            if let Value::String(text) = &*call.arguments
                && let Err(UnreadJson::Unheld(why)) = read_held(text.as_bytes())
            {
                return Err(unheld(&session.name, line, &format!("the arguments of `{}`: {why}", call.tool)));
            }
        }
        self.0.session(session)
    }

    fn warn(&mut self, text: &str) {
        self.0.warn(text);
    }

    fn note(&mut self, text: &str) {
        self.0.note(text);
    }
}

fn on_their_own(
    others: &mut dyn Iterator<Item = Result<FurtherFile, SessionError>>,
    sink: &mut dyn SessionSink,
) -> Result<(), SessionError> {
    match others.next() {
        None => Ok(()),
        Some(Ok(next)) => read_each(next, others, sink),
        Some(Err(error)) => on_their_own(others, sink).and(Err(error)),
    }
}

/// A file whose form is known.
enum Begun {
    Nothing,
    Traces(RecordedLine, Lines),
    Decisions(RecordedLine, Lines),
    Values(Values),
}

fn begin(name: &str, source: Box<dyn BufRead>) -> Result<Begun, SessionError> {
    let mut lines = Lines::new(name, source);
    // A log to which nothing was written yet has no session.
    let Some(first) = lines.next()? else { return Ok(Begun::Nothing) };
    let number = first.number;
    match read_held(&first.bytes) {
        Ok(value) => {
            return match form::of(&value, name)? {
                Form::Traces => Ok(Begun::Traces(first, lines)),
                Form::Decisions => Ok(Begun::Decisions(first, lines)),
                form => Ok(Begun::Values(Values::by_lines(form, number, value, lines)?)),
            };
        }
        Err(UnreadJson::Unheld(why)) => return Err(unheld(name, number, &why)),
        Err(UnreadJson::NotJson { .. }) => {}
    }
    let Some(sound) = lines.first_sound(first)? else {
        // A document over several lines, or several of them.
        return Ok(Begun::Values(Values::of_document(name, number, lines)?));
    };
    match (form::of(&sound, name)?, lines.next()?) {
        (Form::Traces, Some(first)) => Ok(Begun::Traces(first, lines)),
        (Form::Decisions, Some(first)) => Ok(Begun::Decisions(first, lines)),
        (form, first) => {
            first.into_iter().for_each(|line| lines.put_back(line));
            Ok(Begun::Values(Values::by_damaged_lines(form, lines)))
        }
    }
}

/// Hands the values of a file to what makes sessions of them.
fn gather_from(
    name: &str,
    values: &mut Values,
    gather: &mut dyn Gather,
    sink: &mut dyn SessionSink,
) -> Result<(), SessionError> {
    let (mut left_out, mut of_others) = (LeftOut::default(), OfOtherForms::default());
    while let Some(next) = values.next()? {
        match next.value {
            Ok(value) => {
                if next.is_glued {
                    left_out.add(next.line, true);
                }
                if let Some(form) = form::of_another(&value, values.form()) {
                    of_others.add(next.line, form);
                    // In a list there may be others as well.
                    if !value.is_array() {
                        continue;
                    }
                }
                gather.value(value, next.line, &next.place, sink)?;
            }
            Err(UnreadJson::Unheld(why)) => return Err(unheld(name, next.line, &why)),
            Err(_) if next.is_cut || gather.may_leave_out() => left_out.add(next.line, next.is_cut),
            Err(_) => return Err(unknown(name, &next.place)),
        }
    }
    left_out.report(name, sink);
    of_others.report(name, values.form(), sink);
    Ok(())
}

/// Values of other forms than that of their file, which are not read.
#[derive(Default)]
struct OfOtherForms {
    count: usize,
    first: Option<(u64, Form)>,
}

impl OfOtherForms {
    fn add(&mut self, line: u64, form: Form) {
        self.count += 1;
        self.first.get_or_insert((line, form));
    }

    fn report(&self, name: &str, own: Form, sink: &mut dyn SessionSink) {
        let Some((line, form)) = self.first else { return };
        let (form, own) = (form.words(), own.words());
        let times = match self.count {
            1 => String::new(),
            count => format!(", the first of {count} such lines"),
        };
        sink.warn(&format!(
            "{name}:{line}: not read: the file begins as {own}, and this is {form}{times}, so rules do not see the calls in \
             it; put each into a file of its own"
        ));
    }
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
