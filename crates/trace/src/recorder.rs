//! The one owner of a run's events.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Actor, ActorError, Clock, EndReason, Event, EventKind, Secrets};

/// Gets each event of a run the moment it is recorded, in order. The run store is one.
pub trait EventSink: Send + Sync {
    /// Takes one event. Must not block for long: the agent waits.
    fn append(&self, event: &Event);
}

/// The fewest events for which a recorder makes room at a time.
const LEAST_ROOM: usize = 8;

/// Dates and orders the events of one run, whoever reports them (the agent's loop, the tool server), stores them and
/// passes them to a sink. After the run's end nothing is recorded any more: a late call of a dying agent is not part
/// of its run. This is the one place where our own keys are removed from recorded texts.
///
/// It is a handle: clones record into the same run.
#[derive(Clone)]
pub struct Recorder {
    run: Arc<Run>,
    secrets: Secrets,
    part: Option<Arc<Part>>,
}

/// The state shared by the handles of an agent within the run.
struct Part {
    actor: Actor,
    /// Only read and written while the run's state is locked.
    is_over: AtomicBool,
}

/// What all handles on a run share.
struct Run {
    clock: Arc<dyn Clock>,
    sink: Option<Box<dyn EventSink>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    events: Vec<Event>,
    /// Added to the clock: the time of the run before it was resumed.
    offset: u64,
    /// When the run was closed, until its end is recorded.
    closed_at: Option<u64>,
    ended: bool,
}

impl Recorder {
    /// A recorder that keeps events in memory only. It writes [`REDACTED`](crate::REDACTED) in place of these secrets,
    /// which have no default: whoever records decides what must not be written.
    pub fn new(clock: Arc<dyn Clock>, secrets: Secrets) -> Self {
        Self::of(clock, secrets, None)
    }

    /// The same, and it also shows each event to `sink`.
    pub fn with_sink(clock: Arc<dyn Clock>, secrets: Secrets, sink: Box<dyn EventSink>) -> Self {
        Self::of(clock, secrets, Some(sink))
    }

    fn of(clock: Arc<dyn Clock>, secrets: Secrets, sink: Option<Box<dyn EventSink>>) -> Self {
        let run = Arc::new(Run { clock, sink, state: Mutex::default() });
        Self { run, secrets, part: None }
    }

    /// A handle for an agent within this one, under a name of its own, which follows the name of this agent if it has
    /// one. Its part of the run ends separately: ending or closing it does not end the run, and is not an event.
    ///
    /// # Errors
    /// The name is invalid.
    pub fn as_actor(&self, name: &str) -> Result<Self, ActorError> {
        let actor = match &self.part {
            None => Actor::new(name)?,
            Some(part) => part.actor.within(name)?,
        };
        let part = Part { actor, is_over: AtomicBool::new(false) };
        Ok(Self { part: Some(Arc::new(part)), ..self.clone() })
    }

    /// Records an event. Returns `false`, and records nothing, if the run or this handle's part of the run has ended.
    pub fn record(&self, mut kind: EventKind) -> bool {
        // It is for the agent alone: events in memory and in a file are the same.
        if let EventKind::Result(result) = &mut kind {
            result.structured = None;
        }
        // Before the lock, because searching a long text takes a while.
        if !self.secrets.is_empty() {
            self.secrets.redact_event(&mut kind);
        }
        let mut state = self.lock();
        let is_end = matches!(kind, EventKind::End(_));
        if let Some(part) = &self.part {
            if part.is_over.load(Ordering::Relaxed) || state.ended || state.closed_at.is_some() {
                return false;
            }
            // The end of a part is not recorded: the run goes on, and only its own end is an event.
            if is_end {
                part.is_over.store(true, Ordering::Relaxed);
                return true;
            }
        }
        if state.ended || (state.closed_at.is_some() && !is_end) {
            return false;
        }
        state.ended = is_end;
        // A closed run ended when it was closed, and not when it became known how.
        let at = state.closed_at.unwrap_or_else(|| self.run.clock.now().saturating_add(state.offset));
        let actor = self.part.as_ref().map(|part| part.actor.clone());
        let event = Event { at, actor, kind };
        // Within the lock, so that the sink gets the events in their order.
        if let Some(sink) = &self.run.sink {
            sink.append(&event);
        }
        // A vector that doubles would keep room for 64 events in a run of 33, and thousands of runs wait side by side.
        if state.events.len() == state.events.capacity() {
            let more = (state.events.len() / 4).max(LEAST_ROOM);
            state.events.reserve_exact(more);
        }
        state.events.push(event);
        true
    }

    /// Takes over the recorded events of this run before it was cut off, unchanged; later events are dated after
    /// them. Does nothing, and returns `false`, once something is recorded.
    pub fn restore(&self, events: &[Event]) -> bool {
        let mut state = self.lock();
        if !state.events.is_empty() || state.ended || state.closed_at.is_some() {
            return false;
        }
        for event in events {
            if let Some(sink) = &self.run.sink {
                sink.append(event);
            }
        }
        state.events.extend_from_slice(events);
        // The clock of a resumed run begins at 0 again.
        state.offset = events.iter().map(|event| event.at.saturating_add(1)).max().unwrap_or(0);
        true
    }

    /// Records the end of the run; the first end counts.
    pub fn end(&self, reason: EndReason) -> bool {
        self.record(EventKind::End(reason))
    }

    /// Accepts only the end from now on, and fixes its time: the run is over, but its end is not yet classified.
    pub fn close(&self) {
        let mut state = self.lock();
        if let Some(part) = &self.part {
            part.is_over.store(true, Ordering::Relaxed);
        } else if !state.ended && state.closed_at.is_none() {
            state.closed_at = Some(self.run.clock.now().saturating_add(state.offset));
        }
    }

    /// Whether the run, or this handle's part of it, is over.
    pub fn has_ended(&self) -> bool {
        let state = self.lock();
        let part_is_over = self.part.as_ref().is_some_and(|part| part.is_over.load(Ordering::Relaxed));
        state.ended || state.closed_at.is_some() || part_is_over
    }

    /// Applies `look` to all events recorded so far.
    pub fn look<T>(&self, look: impl FnOnce(&[Event]) -> T) -> T {
        look(&self.lock().events)
    }

    /// Takes all events recorded so far, leaving none.
    pub fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut self.lock().events)
    }

    /// The clock that dates the events.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.run.clock
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock is held leaves complete events only, so the state stays usable.
        self.run.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Arguments, Author, CallId, Continuation, FinishReason, LogicalClock, ToolCall, ToolResult, Usage,
    };

    #[test]
    fn nothing_is_recorded_after_the_end() {
        let recorder = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
        assert!(recorder.record(EventKind::Query { text: "q".into() }));
        assert!(recorder.end(EndReason::Answered { text: "done".into() }));
        assert!(!recorder.record(EventKind::Query { text: "late".into() }));
        assert!(!recorder.end(EndReason::AgentFailed { reason: "late".into() }));
        assert_eq!(recorder.take_events().len(), 2);
    }

    #[test]
    fn what_was_recorded_before_an_interruption_is_taken_over() {
        let query = || EventKind::Query { text: "q".into() };
        let whole = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
        for _ in 0..4 {
            whole.record(query());
        }
        let whole = whole.take_events();
        let resumed = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
        assert!(resumed.restore(&whole[..2]));
        resumed.record(query());
        resumed.record(query());
        assert!(!resumed.restore(&whole[..1]), "it comes before everything else");
        assert_eq!(resumed.take_events(), whole);
    }

    #[test]
    fn a_closed_run_takes_its_end_alone() {
        let recorder = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
        recorder.close();
        assert!(recorder.has_ended() && !recorder.record(EventKind::Query { text: "late".into() }));
        recorder.clock().now();
        assert!(recorder.end(EndReason::Answered { text: "done".into() }));
        assert!(!recorder.end(EndReason::Answered { text: "again".into() }));
        let events = recorder.take_events();
        assert_eq!((events.len(), events[0].at), (1, 0), "it ended when it was closed");
    }

    #[test]
    fn agents_within_a_run_have_names_and_ends_of_their_own() {
        let recorder = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
        let query = || EventKind::Query { text: "q".into() };
        let sample = recorder.as_actor("sample-1").unwrap();
        let inner = sample.as_actor("inner").unwrap();
        assert!(recorder.record(query()) && sample.record(query()) && inner.record(query()));
        assert!(sample.end(EndReason::Answered { text: "x".into() }));
        assert!(sample.has_ended() && !sample.record(query()) && !sample.clone().record(query()));
        assert!(inner.record(query()), "it has an end of its own");
        inner.close();
        assert!(inner.has_ended() && !inner.record(query()) && !recorder.has_ended());
        let other = recorder.as_actor("other").unwrap();
        assert!(recorder.end(EndReason::Answered { text: "y".into() }));
        assert!(!other.record(query()) && !other.end(EndReason::Answered { text: "z".into() }));
        let events = recorder.take_events();
        let actors: Vec<_> = events.iter().map(|it| it.actor.as_ref().map(Actor::as_str)).collect();
        let inner = Some("sample-1/inner");
        assert_eq!(actors, [None, Some("sample-1"), inner, inner, None]);
        assert!(recorder.as_actor("a b").is_err() && sample.as_actor(&"x".repeat(60)).is_err());
    }

    /// Is shown what is recorded.
    struct Shown(Arc<Mutex<Vec<Event>>>);

    impl EventSink for Shown {
        fn append(&self, event: &Event) {
            self.0.lock().unwrap().push(event.clone());
        }
    }

    #[test]
    fn no_event_holds_a_secret() {
        const KEY: &str = "sk-3f9c27e1d0";
        let texts = |text: &str| {
            let text = || text.to_owned();
            let id = || CallId::new(text());
            let arguments = Arguments::from_text(&format!("{{\"a\":[\"{}\"]}}", text()));
            let finish = FinishReason::ToolCalls;
            [
                EventKind::Query { text: text() },
                EventKind::Turn {
                    text: text(),
                    reasoning: text(),
                    calls: 1,
                    finish,
                    usage: Usage::default(),
                },
                EventKind::Call(ToolCall { id: id(), name: text(), arguments }),
                EventKind::Result(ToolResult::error(id(), text())),
                EventKind::Spec { name: text(), continuation: Continuation::Chat },
                EventKind::Section { state: text(), author: Author::Model, text: text(), note: text() },
                EventKind::Correction { violation: text(), appended: text(), discarded_bytes: 1 },
                EventKind::End(EndReason::AgentFailed { reason: text() }),
            ]
        };
        let (shown, held) = (Arc::new(Mutex::new(Vec::new())), Secrets::new([KEY.to_owned()]));
        let recorder = Recorder::with_sink(
            Arc::new(LogicalClock::default()),
            held.clone(),
            Box::new(Shown(Arc::clone(&shown))),
        );
        for kind in texts(&format!("It is {KEY}.")) {
            assert!(recorder.record(kind));
        }
        let kinds = |events: &[Event]| events.iter().map(|event| event.kind.clone()).collect::<Vec<_>>();
        assert_eq!(kinds(&shown.lock().unwrap()), texts("It is [key]."));
        assert_eq!(kinds(&recorder.take_events()), texts("It is [key]."));
        for end in [EndReason::Answered { text: KEY.into() }, EndReason::Unscored { reason: KEY.into() }] {
            let recorder = Recorder::new(Arc::new(LogicalClock::default()), held.clone());
            recorder.end(end);
            assert!(!format!("{:?}", recorder.take_events()).contains(KEY));
        }
    }
}
