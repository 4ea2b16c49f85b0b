//! Reading a text, and its sessions in short.

use std::io::Cursor;

use planproof_sessions::{FurtherFile, RecordedSession, SessionError, SessionSink, read_all};
use planproof_spec::rules::Phase;
use serde_json::Value;

/// What was read of a record.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) sessions: Vec<RecordedSession>,
    /// Warnings and notes.
    pub(crate) said: Vec<String>,
    pub(crate) error: Option<String>,
}

impl SessionSink for Taken {
    fn session(&mut self, session: RecordedSession) -> Result<(), SessionError> {
        self.sessions.push(session);
        Ok(())
    }

    fn warn(&mut self, text: &str) {
        self.said.push(text.to_owned());
    }

    fn note(&mut self, text: &str) {
        self.said.push(text.to_owned());
    }
}

impl Taken {
    /// Each session as `call refund {"amount":1}, done refund "ok"`.
    pub(crate) fn in_short(&self) -> Vec<String> {
        self.sessions.iter().map(in_short).collect()
    }
}

fn in_short(session: &RecordedSession) -> String {
    let events = session.happened.iter().map(|event| {
        let server = event.server.as_ref().map(|server| format!("{server}/")).unwrap_or_default();
        let word = match event.phase {
            Phase::Call => "call",
            Phase::Done => "done",
            Phase::Failed => "failed",
        };
        match &event.outcome {
            None => format!("{word} {server}{} {}", event.tool, event.arguments),
            Some(outcome) => format!("{word} {server}{} {outcome}", event.tool),
        }
    });
    events.collect::<Vec<_>>().join(", ")
}

/// Reads a text.
pub(crate) fn read(text: &str) -> Taken {
    read_files(&[("x.jsonl", text)])
}

/// Reads a record of these files.
pub(crate) fn read_files(files: &[(&str, &str)]) -> Taken {
    let mut files = files.iter().map(|(name, text)| FurtherFile {
        name: (*name).to_owned(),
        source: Box::new(Cursor::new((*text).to_owned())),
    });
    let mut taken = Taken::default();
    let first = files.next().unwrap();
    taken.error = read_all(first, &mut files.map(Ok), &mut taken).err().map(|error| error.to_string());
    taken
}

/// Values, a line each.
pub(crate) fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}
