//! Streams of events that clients may resume, found again by the ids of their events.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method};

use super::between::SESSION;

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Most ids of events that are remembered. The oldest ones are forgotten: a stream that is resumed from one of them is
/// not known.
pub(super) const EVENT_IDS_MAX: usize = 100_000;

/// Longest id of an event that is remembered, in bytes.
pub(super) const EVENT_ID_BYTES_MAX: usize = 1024;

/// The exchange that began a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    /// Its number.
    pub(super) number: u64,
    /// Where the ids of its messages are unique.
    pub(super) scope: String,
    /// Whether the stream answers a request.
    pub(super) is_of_request: bool,
}

/// What is remembered of streams.
#[derive(Debug, Default)]
pub(super) struct KnownStreams {
    /// By the key of the event. Nothing, where several streams have events of that id.
    by_event: HashMap<String, Option<Origin>>,
    /// The keys, from the oldest.
    order: VecDeque<String>,
}

impl KnownStreams {
    /// Takes note of an event in a stream. The key is the event's id, with whatever it is unique in.
    pub(super) fn take(&mut self, key: String, origin: &Origin) {
        if let Some(known) = self.by_event.get_mut(&key) {
            if known.as_ref().is_some_and(|known| known.number != origin.number) {
                *known = None;
            }
            return;
        }
        if self.order.len() >= EVENT_IDS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_event.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.by_event.insert(key, Some(origin.clone()));
    }

    /// The stream that had an event; `None` if it is not known, or not certain.
    pub(super) fn origin(&self, key: &str) -> Option<Origin> {
        self.by_event.get(key).cloned().flatten()
    }
}

/// By what a stream is found again when it is resumed.
#[derive(Debug)]
pub(super) struct StreamMarks {
    pub(super) streams: Arc<Mutex<KnownStreams>>,
    /// What its ids of events are unique in.
    pub(super) place: String,
    /// What began it, if that is known.
    pub(super) origin: Option<Origin>,
}

impl StreamMarks {
    /// Takes note of the id of an event.
    pub(super) fn take(&self, event: &str) {
        if let Some(origin) = self.origin.as_ref().filter(|_| event.len() <= EVENT_ID_BYTES_MAX) {
            let key = format!("{}{}", self.place, event.trim());
            self.streams.lock().unwrap_or_else(PoisonError::into_inner).take(key, origin);
        }
    }
}

/// The id of the event from which a request resumes a stream, if it does; an empty one, where it names several.
pub(super) fn resumed_event(head: &Parts) -> Option<String> {
    let mut values = head.headers.get_all(LAST_EVENT).iter().filter(|_| head.method == Method::GET);
    let value = values.next()?;
    let event = String::from_utf8_lossy(value.as_bytes()).trim().to_owned();
    Some(if values.next().is_none() { event } else { String::new() })
}

/// What ids of events are unique in, with an end that stands in no id: the server's session, of the guard's.
pub(super) fn place_of_events(session: &str, headers: &HeaderMap) -> String {
    let of_server =
        headers.get(SESSION).map(|value| String::from_utf8_lossy(value.as_bytes())).unwrap_or_default();
    format!("{session}\0{of_server}\0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_found_again_unless_another_has_an_event_of_that_id() {
        let mut known = KnownStreams::default();
        let of = |number| Origin { number, scope: format!("exchange {number}"), is_of_request: true };
        for (event, number) in [("a", 1), ("b", 1), ("b", 1), ("c", 2), ("d", 2), ("d", 3)] {
            known.take(event.to_owned(), &of(number));
        }
        let found: Vec<Option<u64>> =
            ["a", "b", "c", "d", "e"].iter().map(|event| Some(known.origin(event)?.number)).collect();
        assert_eq!(found, [Some(1), Some(1), Some(2), None, None]);
        for number in 0..EVENT_IDS_MAX {
            known.take(format!("more {number}"), &of(4));
        }
        assert_eq!(known.origin("a"), None);
        assert_eq!(known.by_event.len(), EVENT_IDS_MAX);
    }
}
