//! The one owner of a run's events.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Clock, EndReason, Event, EventKind};

/// Is shown each event of a run the moment it is recorded, in order. The run store is one.
pub trait EventSink: Send + Sync {
    /// Takes one event. Must not block for long: the agent waits.
    fn append(&self, event: &Event);
}

/// Dates and orders the events of one run, whoever reports them (the agent's loop, the tool server), keeps them and
/// shows them to a sink. After the run's end nothing is recorded any more: a late call of a dying agent is not part
/// of its run.
pub struct Recorder {
    clock: Arc<dyn Clock>,
    sink: Option<Box<dyn EventSink>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    events: Vec<Event>,
    ended: bool,
}

impl Recorder {
    /// A recorder that keeps events in memory only.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, sink: None, state: Mutex::default() }
    }

    /// A recorder that also shows each event to `sink`.
    pub fn with_sink(clock: Arc<dyn Clock>, sink: Box<dyn EventSink>) -> Self {
        Self { clock, sink: Some(sink), state: Mutex::default() }
    }

    /// Records an event. Returns `false`, and records nothing, when the run has ended.
    pub fn record(&self, kind: EventKind) -> bool {
        let mut state = self.lock();
        if state.ended {
            return false;
        }
        state.ended = matches!(kind, EventKind::End(_));
        let event = Event { at: self.clock.now(), kind };
        if let Some(sink) = &self.sink {
            sink.append(&event);
        }
        state.events.push(event);
        true
    }

    /// Records the end of the run; the first end counts.
    pub fn end(&self, reason: EndReason) -> bool {
        self.record(EventKind::End(reason))
    }

    /// Whether the run has ended.
    pub fn has_ended(&self) -> bool {
        self.lock().ended
    }

    /// Takes all events recorded so far, leaving none.
    pub fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut self.lock().events)
    }

    /// The clock that dates the events.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock is held leaves whole events only, so the state stays usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LogicalClock;

    #[test]
    fn nothing_is_recorded_after_the_end() {
        let recorder = Recorder::new(Arc::new(LogicalClock::default()));
        assert!(recorder.record(EventKind::Query { text: "q".into() }));
        assert!(recorder.end(EndReason::Answered { text: "done".into() }));
        assert!(!recorder.record(EventKind::Query { text: "late".into() }));
        assert!(!recorder.end(EndReason::AgentFailed { reason: "late".into() }));
        assert_eq!(recorder.take_events().len(), 2);
    }
}
