//! The messages in a stream of server-sent events, read while its bytes are passed on.

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
    /// The last byte was a carriage return: a line feed after it ends no further line.
    after_return: bool,
    has_begun: bool,
}

/// What was found in a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// The text of a message.
    Message(Vec<u8>),
    /// The id of the event under way, from which a client may resume the stream.
    Id(String),
    /// An event that is too long to be read.
    Unread,
}

impl EventMessages {
    /// Takes the next bytes, and gives the messages that they complete. `bytes_max` is the length of the longest
    /// message that is kept.
    pub(super) fn take(&mut self, bytes: &[u8], bytes_max: usize) -> Vec<Found> {
        let mut found = Vec::new();
        for &byte in bytes {
            let after_return = std::mem::take(&mut self.after_return);
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    found.extend(self.line_ended(bytes_max));
                }
                _ if self.line.len() + self.data.len() > bytes_max => self.is_long = true,
                _ => self.line.push(byte),
            }
        }
        found
    }

    fn line_ended(&mut self, bytes_max: usize) -> Option<Found> {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.has_begun, true) && line.starts_with("\u{feff}".as_bytes()) {
            line.drain(..3);
        }
        if line.is_empty() {
            return self.event_ended();
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
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
        let [is_other, is_long, has_data] =
            [&mut self.is_other, &mut self.is_long, &mut self.has_data].map(std::mem::take);
        match (is_other, is_long) {
            (true, _) => None,
            (false, true) => Some(Found::Unread),
            (false, false) => has_data.then_some(Found::Message(data)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same whatever pieces the bytes come in.
    #[test]
    fn messages_are_found_in_any_pieces() {
        let stream = "\u{feff}: hello\r\n\r\nid: 1\ndata: {\"a\":\ndata: 1}\n\nevent: ping\ndata: 7\n\nevent: message\r\
                      data:{}\r\rretry: 5\ndata\n\nevent:\ndata: last\r\n\r\ndata: unfinished\n";
        let message = |text: &str| Found::Message(text.as_bytes().to_vec());
        let expected =
            [Found::Id("1".to_owned()), message("{\"a\":\n1}"), message("{}"), message(""), message("last")];
        for size in 1..stream.len() {
            let mut events = EventMessages::default();
            let pieces = stream.as_bytes().chunks(size);
            let found: Vec<Found> = pieces.flat_map(|piece| events.take(piece, 1000)).collect();
            assert_eq!(found, expected, "{size}");
        }
        let mut events = EventMessages::default();
        let long = format!("data: {}\n\ndata: x\n\n", "y".repeat(100));
        assert_eq!(events.take(long.as_bytes(), 50), [Found::Unread, Found::Message(b"x".to_vec())]);
    }
}
