//! The messages in a stream of server-sent events, read while its bytes are passed on.

use std::collections::HashMap;

use serde::de::IgnoredAny;

/// A stream of events, of which the messages are picked out.
#[derive(Debug, Default)]
pub(super) struct EventMessages {
    /// The bytes of an unfinished line.
    line: Vec<u8>,
    /// The data of an unfinished event.
    data: Vec<u8>,
    has_data: bool,
    /// The event has a type that is not that of messages.
    is_other: bool,
    /// The event was longer than may be.
    is_long: bool,
    /// Some clients find another event here, or none: they take a byte order mark for a part of the first line, or do
    /// not end lines at a carriage return.
    is_doubtful: bool,
    /// The last byte was a carriage return: a line feed after it ends no further line.
    after_return: bool,
    /// It has ended a message.
    has_ended_message: bool,
    has_begun: bool,
}

/// What was found in a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// The text of a message.
    Message(Vec<u8>),
    /// The id of the event under way, from which a client may resume the stream.
    Id(String),
    /// An event that is too long to be read, or that only some clients find.
    Unread,
}

impl EventMessages {
    /// Takes the next bytes, and gives the messages that they complete. `bytes_max` is the length of the longest
    /// message that is kept.
    pub(super) fn take(&mut self, bytes: &[u8], bytes_max: usize) -> Vec<Found> {
        let mut found = Vec::new();
        for &byte in bytes {
            let after_return = std::mem::take(&mut self.after_return);
            if after_return && byte != b'\n' {
                found.extend(self.only_returned());
            }
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => {
                    let ended = self.line_ended(bytes_max);
                    self.after_return = byte == b'\r';
                    self.has_ended_message = matches!(ended, Some(Found::Message(_)));
                    found.extend(ended);
                }
                _ if self.line.len() + self.data.len() > bytes_max => self.is_long = true,
                _ => self.line.push(byte),
            }
        }
        found
    }

    /// The stream has ended, and what stands at its end is an event to some clients only. Gives it if it is whole.
    pub(super) fn end(&mut self, bytes_max: usize) -> Option<Found> {
        if std::mem::take(&mut self.after_return)
            && let Some(unread) = self.only_returned()
        {
            return Some(unread);
        }
        let unfinished = self.line_ended(bytes_max);
        match unfinished.filter(|it| !matches!(it, Found::Id(_))).or_else(|| self.event_ended()) {
            // What breaks off within a message is one to nobody, and comes once more where the client resumes.
            Some(Found::Message(message)) => may_be_answer(&message).then_some(Found::Unread),
            other => other,
        }
    }

    /// A carriage return stands alone.
    fn only_returned(&mut self) -> Option<Found> {
        self.is_doubtful = true;
        std::mem::take(&mut self.has_ended_message).then_some(Found::Unread)
    }

    fn line_ended(&mut self, bytes_max: usize) -> Option<Found> {
        let mut line = std::mem::take(&mut self.line);
        let is_marked =
            !std::mem::replace(&mut self.has_begun, true) && line.starts_with("\u{feff}".as_bytes());
        if is_marked {
            line.drain(..3);
        }
        if line.is_empty() {
            return self.event_ended();
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        // A comment is nothing to either.
        self.is_doubtful |= is_marked && !field.is_empty();
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.is_long |= self.data.len() > bytes_max;
            }
            // As the standard has it.
            b"id" if !value.is_empty() && !value.contains(&0) => {
                return Some(Found::Id(String::from_utf8_lossy(value).into_owned()));
            }
            b"event" => self.is_other = !value.is_empty() && value != b"message",
            _ => {}
        }
        None
    }

    fn event_ended(&mut self) -> Option<Found> {
        let data = std::mem::take(&mut self.data);
        let [is_other, is_long, is_doubtful, has_data] =
            [&mut self.is_other, &mut self.is_long, &mut self.is_doubtful, &mut self.has_data]
                .map(std::mem::take);
        match (is_other, is_long) {
            (true, _) => None,
            (false, true) => Some(Found::Unread),
            (false, false) if is_doubtful && has_data => Some(Found::Unread),
            (false, false) => has_data.then_some(Found::Message(data)),
        }
    }
}

/// Whether a text is a whole answer to a request.
fn may_be_answer(text: &[u8]) -> bool {
    let read = serde_json::from_slice::<HashMap<String, IgnoredAny>>(text);
    // A batch may have one.
    let is_batch = || serde_json::from_slice::<Vec<IgnoredAny>>(text).is_ok();
    let is_answer = |key: &String| ["result", "error"].iter().any(|known| key.eq_ignore_ascii_case(known));
    read.map_or_else(|_| is_batch(), |message| message.keys().any(is_answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same whatever pieces the bytes come in.
    #[test]
    fn messages_are_found_in_any_pieces() {
        let stream = "\u{feff}: hello\r\n\r\nid: 1\ndata: {\"a\":\ndata: 1}\n\nevent: ping\ndata: 7\n\n\
                      event: message\r\ndata:{}\r\n\nretry: 5\ndata\n\nevent:\ndata: last\r\n\r\ndata: unfinished\n";
        let message = |text: &str| Found::Message(text.as_bytes().to_vec());
        let expected =
            [Found::Id("1".to_owned()), message("{\"a\":\n1}"), message("{}"), message(""), message("last")];
        for size in 1..stream.len() {
            let mut events = EventMessages::default();
            let pieces = stream.as_bytes().chunks(size);
            let found: Vec<Found> = pieces.flat_map(|piece| events.take(piece, 1000)).collect();
            assert_eq!(found, expected, "{size}");
        }
        for size in 1..20 {
            for (stream, expected) in [
                // Answers that only some clients find.
                ("data: {\"result\":1}", &[Found::Unread][..]),
                ("data: {\"result\":1}\n", &[Found::Unread]),
                ("data: {\"id\":1,\ndata: \"error\":{}}\r\n", &[Found::Unread]),
                ("data: [{}]\nid: 7\n", &[Found::Id("7".to_owned()), Found::Unread]),
                ("data: 1\r\r", &[Found::Unread]),
                ("data: 1\rdata: 2\n\n", &[Found::Unread]),
                ("data: 1\r\n\r", &[message("1"), Found::Unread]),
                ("data: 1\n\rdata: 2\n\n", &[message("1"), Found::Unread, Found::Unread]),
                ("\u{feff}data: 1\n\n", &[Found::Unread]),
                // What breaks off, and what is nothing to anybody.
                ("data: {\"result\":", &[]),
                ("data: {\"method\":\"a\"}\n", &[]),
                ("event: ping\ndata: {\"result\":1}\n", &[]),
                ("\u{feff}: hello\n\ndata: 1\n\n", &[message("1")]),
                ("data: 1\r\n\r\n", &[message("1")]),
            ] {
                let mut events = EventMessages::default();
                let mut found: Vec<Found> =
                    stream.as_bytes().chunks(size).flat_map(|piece| events.take(piece, 1000)).collect();
                found.extend(events.end(1000));
                assert_eq!(found, expected, "{stream:?} {size}");
                assert_eq!(events.end(1000), None, "{stream:?}");
            }
        }
        let mut events = EventMessages::default();
        let long = format!("data: {}\n\ndata: x\n\n", "y".repeat(100));
        assert_eq!(events.take(long.as_bytes(), 50), [Found::Unread, Found::Message(b"x".to_vec())]);
    }
}
