//! One way to ask one server, and how its answers are written.

use planproof_model::{ChatReply, ConnectionConfig, ModelError};
use serde_json::{Map, Value, json};

use crate::protocol::{Event, Protocol, Said};
use crate::stand_in::{Answer, reply};

/// The words of most replies: characters of one to four bytes.
pub(super) const WORDS: &str = "né 日本 🚀";

/// One way to ask.
#[derive(Clone, Copy)]
pub(super) struct Exchange {
    pub(super) protocol: &'static Protocol,
    pub(super) streamed: bool,
}

pub(super) fn words() -> Said {
    Said::words(WORDS)
}

pub(super) fn two_calls() -> Said {
    Said::calls(&[("a", "pay", r#"{"to":"Zoë","n":[1,2]}"#), ("b", "ask", "{}")])
}

impl Exchange {
    /// The body that tells this, whole or as events.
    pub(super) fn body(self, said: &Said) -> Vec<u8> {
        self.changed_body(said, |_| {})
    }

    /// As [`Exchange::body`], with each JSON document changed.
    pub(super) fn changed_body(self, said: &Said, change: impl Fn(&mut Value)) -> Vec<u8> {
        if !self.streamed {
            let mut body = (self.protocol.whole)(said);
            change(&mut body);
            return body.to_string().into_bytes();
        }
        let (mut events, rest) = (self.protocol.events)(said);
        events.extend(rest);
        events.iter_mut().for_each(|(_, data)| change(data));
        let mut body = rendered(&events);
        body.extend(self.protocol.mark.map(|mark| format!("data: {mark}\n\n")).unwrap_or_default().bytes());
        body
    }

    /// The beginning of the body: with at least one word, where it is streamed, and without the end.
    pub(super) fn beginning(self) -> Vec<u8> {
        if self.streamed {
            return rendered(&(self.protocol.events)(&words()).0);
        }
        let mut body = self.body(&words());
        body.truncate(body.len() / 2);
        body
    }

    pub(super) fn head(self, headers: &str) -> Vec<u8> {
        let kind = if self.streamed { "text/event-stream" } else { "application/json" };
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n{headers}\r\n").into_bytes()
    }

    /// A successful answer with this body.
    pub(super) fn answer(self, body: &[u8]) -> Answer {
        self.answer_with("", body)
    }

    pub(super) fn answer_with(self, headers: &str, body: &[u8]) -> Answer {
        let head = self.head(&format!("{headers}content-length: {}\r\n", body.len()));
        Answer::Send(vec![head, body.to_vec()])
    }

    pub(super) fn good(self) -> Answer {
        self.answer(&self.body(&words()))
    }

    /// An error reply of that status.
    pub(super) fn refusal(self, status: &str, headers: &str, message: &str) -> Answer {
        reply(status, headers, &(self.protocol.fault)(message).to_string())
    }

    /// A stream of the words' events with these between the first one and the others.
    pub(super) fn with_events(self, between: &[Event]) -> Vec<u8> {
        let (mut events, rest) = (self.protocol.events)(&words());
        events.splice(1..1, between.iter().cloned());
        events.extend(rest);
        let mark = self.protocol.mark.map(|mark| format!("data: {mark}\n\n")).unwrap_or_default();
        [rendered(&events), mark.into_bytes()].concat()
    }

    pub(super) async fn ask(self, config: &ConnectionConfig) -> Result<ChatReply, ModelError> {
        let model = (self.protocol.connect)(config);
        if self.streamed { self.protocol.ask_stream(&*model).await } else { self.protocol.ask(&*model).await }
    }
}

pub(super) fn rendered(events: &[Event]) -> Vec<u8> {
    let mut body = String::new();
    for (name, data) in events {
        body.extend(name.iter().map(|name| format!("event: {name}\n")));
        body.push_str(&format!("data: {data}\n\n"));
    }
    body.into_bytes()
}

/// Does the same to a field of that name at every depth.
pub(super) fn at_every(value: &mut Value, name: &str, change: &dyn Fn(&mut Map<String, Value>)) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| at_every(value, name, change)),
        Value::Object(object) => {
            object.values_mut().for_each(|value| at_every(value, name, change));
            if object.contains_key(name) {
                change(object);
            }
        }
        _ => {}
    }
}

/// Adds an unknown field to every object, but for the arguments of calls, where each field counts.
pub(super) fn add_fields(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(add_fields),
        Value::Object(object) => {
            let fields = object.iter_mut().filter(|(name, _)| *name != "input");
            fields.for_each(|(_, value)| add_fields(value));
            object.insert("x_hologram".to_owned(), json!({"beam": [null, 1.5, "é"]}));
        }
        _ => {}
    }
}

/// A body in chunks of so many bytes, which cut characters in two.
pub(super) fn in_chunks(exchange: Exchange, body: &[u8], size: usize) -> Answer {
    let mut pieces = vec![exchange.head("transfer-encoding: chunked\r\n")];
    for chunk in body.chunks(size) {
        pieces.push([format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
    }
    pieces.push(b"0\r\n\r\n".to_vec());
    Answer::Send(pieces)
}

pub(super) fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        if rest.starts_with(old) {
            out.extend_from_slice(new);
            rest = &rest[old.len()..];
        } else {
            out.push(rest[0]);
            rest = &rest[1..];
        }
    }
    out
}

/// Calls where the protocol knows them.
pub(super) fn two_calls_or_words(exchange: Exchange) -> Said {
    if exchange.protocol.is_plain { words() } else { two_calls() }
}

pub(super) fn one_id() -> Said {
    Said::calls(&[("a", "pay", r#"{"n":1}"#), ("a", "pay", r#"{"n":2}"#)])
}

pub(super) fn calls(exchange: Exchange, said: &Said) -> Option<Vec<Answer>> {
    (!exchange.protocol.is_plain).then(|| vec![exchange.answer(&exchange.body(said))])
}

/// A body that is this document, or this as an event.
pub(super) fn shaped(exchange: Exchange, document: &str) -> String {
    if exchange.streamed { format!("data: {document}\n\n") } else { document.to_owned() }
}

impl Exchange {
    /// A stream whose arguments come character by character.
    pub(super) fn in_fragments(self, said: &Said) -> Option<Vec<u8>> {
        if !self.streamed || self.protocol.is_plain {
            return None;
        }
        let (mut events, rest) = (self.protocol.events)(said);
        events.extend(rest);
        let mut cut = Vec::new();
        for (name, data) in events {
            // Wherever the protocol puts a piece of the arguments.
            let places = [
                "/choices/0/delta/tool_calls/0/function/arguments",
                "/delta/partial_json",
                if name == Some("response.function_call_arguments.delta") { "/delta" } else { "/none" },
            ];
            let place = places.into_iter().find(|place| data.pointer(place).is_some_and(Value::is_string));
            let Some(place) = place else {
                cut.push((name, data));
                continue;
            };
            let piece = data.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned();
            if piece.is_empty() {
                cut.push((name, data.clone()));
            }
            for character in piece.chars() {
                let mut data = data.clone();
                *data.pointer_mut(place)? = character.to_string().into();
                cut.push((name, data));
            }
        }
        let mark = self.protocol.mark.map(|mark| format!("data: {mark}\n\n")).unwrap_or_default();
        Some([rendered(&cut), mark.into_bytes()].concat())
    }
}
