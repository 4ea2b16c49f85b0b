//! The destinations of a run's events as they happen: stdout, and a trace file.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planproof_output::colours::Colours;
use planproof_output::failure::Failure;
use planproof_output::terminal;
use planproof_trace::{Event, EventSink, Header, wire};

use super::transcript::Transcript;

/// Shows each event on stdout, for people or as JSON lines, and writes it to a file.
pub(super) struct LiveTrace(Mutex<State>);

struct State {
    /// `None` for JSON lines.
    transcript: Option<Transcript>,
    file: Option<File>,
    /// The first failure. The run continues without being shown, or written.
    stdout_error: Option<io::Error>,
    file_error: Option<io::Error>,
}

/// Hands the events of a recorder over.
pub(super) struct LiveSink(pub(super) Arc<LiveTrace>);

impl EventSink for LiveSink {
    fn append(&self, event: &Event) {
        let mut line = Vec::new();
        wire::v1::write_event(event, &mut line);
        let mut state = self.0.lock();
        let text = state.transcript.as_mut().map(|transcript| transcript.event(event));
        state.put(&line, text);
    }
}

impl LiveTrace {
    /// Shows and writes the header.
    pub(super) fn begin(header: &Header, file: Option<File>, is_json: bool) -> Self {
        let transcript = (!is_json).then(|| Transcript::new(Colours::for_stdout()));
        let text = transcript.as_ref().map(|transcript| transcript.header(header));
        let mut state = State { transcript, file, stdout_error: None, file_error: None };
        let mut line = Vec::new();
        wire::v1::write_header(header, &mut line);
        state.put(&line, text);
        Self(Mutex::new(state))
    }

    /// Prints the answer, after all that led to it.
    pub(super) fn answer(&self, text: &str) -> Result<(), Failure> {
        if self.lock().stdout_error.is_none() {
            writeln!(terminal::text(), "\n{text}")?;
        }
        Ok(())
    }

    /// Reports what could not be shown or written. A closed pipe is not a failure.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let mut state = self.lock();
        if let Some(error) = state.file_error.take() {
            return Err(Failure::outside(format!("cannot write the trace: {error}")));
        }
        match state.stdout_error.as_ref() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::outside(format!("cannot write to stdout: {error}")))
            }
            _ => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock is held leaves a complete state, so it stays usable.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Puts one event out: its line, and what people see of it.
    fn put(&mut self, line: &[u8], text: Option<String>) {
        if let Some(file) = &mut self.file
            && self.file_error.is_none()
        {
            let mut line = line.to_vec();
            line.push(b'\n');
            self.file_error = file.write_all(&line).err();
        }
        if self.stdout_error.is_none() {
            let text = text.unwrap_or_else(|| String::from_utf8_lossy(line).into_owned() + "\n");
            let mut out = terminal::results(self.transcript.is_none());
            self.stdout_error = out.write_all(text.as_bytes()).and_then(|()| out.flush()).err();
        }
    }
}
