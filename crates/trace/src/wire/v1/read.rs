//! From lines to traces.

use std::iter::{Enumerate, FusedIterator, Peekable};
use std::str::Lines;

use super::SCHEMA;
use super::line::{self, Head, LineError, glance};
use crate::wire::WireError;
use crate::{Actor, Event, Header, Trace};

/// Reads a file that holds exactly one trace.
///
/// # Errors
/// The first wrong line, with the reason; also if there is no trace, or a second one.
pub fn read_trace(text: &str) -> Result<Trace, WireError> {
    let mut traces = read_traces(text);
    let trace = traces.next().ok_or(WireError::Empty)??;
    // A header that has been read and not used begins a second trace.
    match traces.header {
        Some((line, _)) => Err(WireError::SecondTrace { line }),
        None => Ok(trace),
    }
}

/// Reads a file of any number of traces, one after the other: only the current trace is in memory. Ends after the
/// first error; the traces before it are complete. An event belongs to the last header above it.
pub fn read_traces(text: &str) -> Traces<'_> {
    read_traces_from(text, 0)
}

/// Reads a part of such a file that begins with a header, after so many lines: errors have their places in the file.
pub fn read_traces_from(text: &str, lines_before: usize) -> Traces<'_> {
    Traces {
        lines_before,
        lines: text.lines().enumerate().peekable(),
        ends_in_line: !text.ends_with('\n'),
        header: None,
        actor: None,
        is_over: false,
    }
}

/// The traces of a file. Made by [`read_traces`].
#[derive(Debug)]
pub struct Traces<'t> {
    lines_before: usize,
    lines: Peekable<Enumerate<Lines<'t>>>,
    /// The last line has no line break, so it may be incomplete.
    ends_in_line: bool,
    /// The header of the trace to come, and its line.
    header: Option<(usize, Header)>,
    /// The actor of the latest event that has one.
    actor: Option<Actor>,
    is_over: bool,
}

enum Line {
    Header(Header),
    Event(Event),
}

impl Traces<'_> {
    fn read_next(&mut self) -> Result<Option<Trace>, WireError> {
        let mut events = Vec::new();
        while let Some((index, text)) = self.lines.next() {
            if text.trim().is_empty() {
                continue;
            }
            let line = self.lines_before + index + 1;
            match self.read_line(line, text)? {
                Line::Event(event) if self.header.is_some() => events.push(event),
                Line::Event(_) => return Err(WireError::MissingHeader { line }),
                Line::Header(header) => {
                    // A trace ends where the next header begins, which is stored for the next call.
                    if let Some((_, header)) = self.header.replace((line, header)) {
                        return Ok(Some(Trace { header, events }));
                    }
                }
            }
        }
        Ok(self.header.take().map(|(_, header)| Trace { header, events }))
    }

    fn read_line(&mut self, line: usize, text: &str) -> Result<Line, WireError> {
        // Nearly all lines are as we write them. If the guess does not fit, the line is parsed completely, which
        // gives the same event or the same error.
        if let Some((r#type, reason)) = glance(text)
            && let Ok(event) = line::read_event(text, r#type, reason, &mut self.actor)
        {
            return Ok(Line::Event(event));
        }
        let is_last = self.ends_in_line && self.lines.peek().is_none();
        let wrong = |error: LineError| {
            // `serde_json` calls a number that stops at its point or its exponent invalid, not incomplete.
            let is_half_number = error.what == "invalid number" && error.column == text.len();
            if is_last && (error.is_cut || is_half_number) {
                WireError::Truncated { line }
            } else {
                WireError::Malformed { line, column: error.column, what: error.what }
            }
        };
        let head: Head = serde_json::from_str(text).map_err(|error| wrong(error.into()))?;
        match (&head.schema, head.r#type) {
            (Some(schema), _) if schema == SCHEMA => line::read_header(text).map(Line::Header).map_err(wrong),
            (Some(schema), _) => Err(WireError::UnknownSchema { line, found: schema.clone() }),
            (None, Some(r#type)) => {
                let event = line::read_event(text, r#type, head.reason, &mut self.actor);
                event.map(Line::Event).map_err(wrong)
            }
            (None, None) => {
                let what = "neither a header (`schema`) nor an event (`type`)".to_owned();
                Err(WireError::Malformed { line, column: 0, what })
            }
        }
    }
}

impl Iterator for Traces<'_> {
    type Item = Result<Trace, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.read_next().transpose();
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

impl FusedIterator for Traces<'_> {}
