//! Server-sent events, read from bytes as they come, and told from one JSON document by their beginning.
//!
//! Which of the two a reply is does not depend on what was asked for: servers stream unless told otherwise, ignore the
//! wish for a stream, or end a document with the mark that ends streams.

use std::collections::VecDeque;

use planproof_trace::json::{mended, unmarked};

/// The fields of an event.
const FIELDS: [&str; 4] = ["data", "event", "id", "retry"];

/// The data that ends a stream of events, where the protocol has no event for it.
const DONE: &str = "[DONE]";

/// An event: its name, if it has one, and its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: Option<String>,
    pub(crate) data: String,
}

impl Event {
    /// Whether there is nothing in it to be read. By the standard an event without data is none.
    pub(crate) fn is_empty(&self) -> bool {
        let data = self.data.trim();
        // The mark of the end may be cut, when everything has been said.
        let is_cut_mark = data.starts_with("[D") && DONE.starts_with(data) && data != DONE;
        self.name.as_deref() != Some("error") && (matches!(data, "" | "null") || is_cut_mark)
    }
}

/// Whether the data of an event says that there are no more.
pub(crate) fn is_done(data: &str) -> bool {
    data.trim().trim_matches('"').eq_ignore_ascii_case(DONE)
}

/// How the body of a reply is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Events,
    /// As a JSON document, or as something else that is not an event.
    Document,
}

impl Framing {
    /// The framing of a body that begins like this; `None` if the beginning does not show it yet.
    pub(crate) fn of(beginning: &[u8]) -> Option<Self> {
        let text = unmarked(beginning).trim_ascii_start();
        let name = &text[..text.iter().position(|byte| !byte.is_ascii_lowercase()).unwrap_or(text.len())];
        let is_whole = name.len() < text.len();
        // A comment has no name.
        let is_event = match name {
            b"" => text.first().map(|byte| *byte == b':'),
            _ if is_whole => Some(is_field(name) && matches!(text[name.len()], b':' | b'\r' | b'\n')),
            _ => FIELDS.iter().all(|field| !field.as_bytes().starts_with(name)).then_some(false),
        };
        is_event.map(|is_event| if is_event { Self::Events } else { Self::Document })
    }
}

fn is_field(name: &[u8]) -> bool {
    FIELDS.iter().any(|field| field.as_bytes() == name)
}

/// Splits bytes into events. A line that is a JSON object is an event without a frame.
#[derive(Debug, Default)]
pub(crate) struct EventReader {
    ready: VecDeque<Event>,
    /// The line that is not complete yet.
    line: Vec<u8>,
    /// The last byte was CR, which an LF may follow.
    is_after_cr: bool,
    has_begun: bool,
    name: Option<String>,
    data: Option<Vec<u8>>,
}

impl EventReader {
    /// Takes more bytes.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.is_after_cr) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(bytes);
                return;
            };
            self.line.extend_from_slice(&bytes[..end]);
            self.is_after_cr = bytes[end] == b'\r';
            self.end_line();
            bytes = &bytes[end + 1..];
        }
    }

    /// There are no more bytes. The last event may lack the empty line that ends it.
    pub(crate) fn finish(&mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.dispatch();
    }

    pub(crate) fn next(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text = if std::mem::replace(&mut self.has_begun, true) { &line[..] } else { unmarked(&line) };
        if text.is_empty() {
            return self.dispatch();
        }
        if text.starts_with(b"{") {
            self.dispatch();
            self.data = Some(text.to_vec());
            return self.dispatch();
        }
        let colon = text.iter().position(|byte| *byte == b':').unwrap_or(text.len());
        let value = text.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &text[..colon] {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            b"event" => self.name = Some(String::from_utf8_lossy(value).into_owned()),
            // Comments, ids and times, which servers send to keep the connection open.
            _ => {}
        }
    }

    fn dispatch(&mut self) {
        let name = self.name.take();
        if let Some(data) = self.data.take() {
            let data = mended(&data).unwrap_or(data);
            // `mended` returns UTF-8, and nothing for what is UTF-8 already.
            let data = String::from_utf8(data).unwrap_or_default();
            self.ready.push_back(Event { name, data });
        }
    }
}

/// The events in a complete body.
pub(crate) fn events_in(bytes: &[u8]) -> Vec<Event> {
    let mut reader = EventReader::default();
    reader.push(bytes);
    reader.finish();
    reader.ready.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: Option<&str>, data: &str) -> Event {
        Event { name: name.map(str::to_owned), data: data.to_owned() }
    }

    #[test]
    fn events_are_split_however_the_bytes_fall() {
        for (body, expected) in [
            ("data: a\n\n", vec![event(None, "a")]),
            (
                "\u{feff}data:a\r\n\r\ndata: b\r\rdata:  c",
                vec![event(None, "a"), event(None, "b"), event(None, " c")],
            ),
            (": ping\n\nevent: x\nid: 1\nretry: 5\ndata: a\ndata: b\n\n", vec![event(Some("x"), "a\nb")]),
            ("event: lone\n\ndata: a\n\n", vec![event(None, "a")]),
            ("data\n\n", vec![event(None, "")]),
            ("nonsense\n\ndata: é\n", vec![event(None, "é")]),
            (
                "{\"a\":1}\n{\"b\":2}\n\ndata: [DONE]\n\n",
                vec![event(None, "{\"a\":1}"), event(None, "{\"b\":2}"), event(None, "[DONE]")],
            ),
            (": ping\n\n{\"a\":\"data: x\"}", vec![event(None, "{\"a\":\"data: x\"}")]),
            ("data: \"\\ud83d\"\n\n", vec![event(None, "\"\\ufffd\"")]),
            ("", vec![]),
            ("\n\n\n", vec![]),
        ] {
            assert_eq!(events_in(body.as_bytes()), expected, "{body:?}");
            for size in 1..5 {
                let mut reader = EventReader::default();
                body.as_bytes().chunks(size).for_each(|piece| reader.push(piece));
                reader.finish();
                assert_eq!(Vec::from(reader.ready), expected, "{body:?} by {size}");
            }
        }
        assert_eq!(events_in(b"data: a\xff\n\n"), [event(None, "a\u{fffd}")]);
    }

    #[test]
    fn the_framing_is_read_from_the_beginning() {
        for (beginning, expected) in [
            ("", None),
            ("\u{feff} \n", None),
            ("dat", None),
            ("data", None),
            ("data:", Some(Framing::Events)),
            ("\n\n: OPENROUTER", Some(Framing::Events)),
            ("event: x", Some(Framing::Events)),
            ("id\n", Some(Framing::Events)),
            ("\u{feff}\r\n{", Some(Framing::Document)),
            ("[", Some(Framing::Document)),
            ("<html>", Some(Framing::Document)),
            ("date: today", Some(Framing::Document)),
            ("data is missing", Some(Framing::Document)),
            ("not found", Some(Framing::Document)),
        ] {
            assert_eq!(Framing::of(beginning.as_bytes()), expected, "{beginning:?}");
        }
    }

    #[test]
    fn the_mark_of_the_end_is_known() {
        assert!(is_done("[DONE]") && is_done("[done]") && is_done(" [DONE]\n") && is_done("\"[DONE]\""));
        assert!(!is_done("[DONE] {}") && !is_done("{}"));
    }
}
