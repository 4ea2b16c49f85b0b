//! The events of one run, read on from where the last reading ended.

use axum::http::StatusCode;
use planproof_store::{RunId, Store};
use planproof_trace::wire::v1::read_trace;
use planproof_trace::{Event, EventKind, Header, paired_calls};

use super::fault::Fault;
use crate::limits::RUN_BYTES_MAX;

/// Most bytes read at a time.
const READ_BYTES_MAX: usize = 4 << 20;

/// What was read of a run so far.
#[derive(Default)]
pub(crate) struct Following {
    run: Option<RunId>,
    /// The line of the header, which makes a trace of the lines that follow.
    header: String,
    next: i64,
    bytes: usize,
    is_cut: bool,
    pub(crate) is_dated: bool,
    pub(crate) events: Vec<Event>,
}

impl Following {
    pub(crate) fn of(run: RunId) -> Self {
        Self { run: Some(run), ..Self::default() }
    }

    pub(crate) fn is_of(&self, run: RunId) -> bool {
        self.run == Some(run)
    }

    /// Whether nothing was left out.
    pub(crate) fn is_whole(&self) -> bool {
        !self.is_cut
    }

    /// Reads what has been added.
    pub(crate) fn read_on(&mut self, store: &Store) -> Result<(), Fault> {
        let Some(run) = self.run else { return Ok(()) };
        if self.header.is_empty() {
            self.header = store.trace_header(run)?.unwrap_or_default();
        }
        while !self.is_cut {
            let (lines, next) = store.events_from(run, self.next, READ_BYTES_MAX)?;
            if next == self.next {
                break;
            }
            self.next = next;
            self.bytes += lines.len();
            if self.bytes > RUN_BYTES_MAX {
                self.is_cut = true;
                break;
            }
            let text = format!("{}\n{lines}\n", self.header);
            let trace = read_trace(&text).map_err(|error| {
                let what = format!("the trace in the store cannot be read: {error}");
                Fault::new(StatusCode::SERVICE_UNAVAILABLE, what)
            })?;
            let Header { clock, .. } = &trace.header;
            self.is_dated = clock == "milliseconds";
            self.events.extend(trace.events);
        }
        Ok(())
    }

    /// How many calls have been answered.
    pub(crate) fn finished_calls(&self) -> usize {
        paired_calls(&self.events).iter().filter(|paired| paired.result.is_some()).count()
    }

    /// Keeps the events up to this finished call, counted from 1 in the order of the answers; of 0, those before the
    /// first call.
    pub(crate) fn cut_after(&mut self, calls: usize) {
        let mut ends: Vec<usize> =
            paired_calls(&self.events).iter().filter_map(|paired| Some(paired.result?.0)).collect();
        ends.sort_unstable();
        let end = match calls.checked_sub(1) {
            Some(last) => ends.get(last).map(|place| place + 1),
            None => self.events.iter().position(|event| matches!(event.kind, EventKind::Call(_))),
        };
        self.events.truncate(end.unwrap_or(self.events.len()));
    }
}
