//! The search of everything that is written for the keys that we hold.

use std::borrow::Cow;
use std::io::{self, Write};
use std::str;

use planproof_trace::{SECRET_FORM_BYTES_MAX, Secrets};

use crate::secrets::{self, printed};

/// From so many bytes on, the beginning of a line is written before its end is known.
const LINE_BYTES_MAX: usize = 1 << 20;

/// A text without the keys that no output has. Whoever breaks lines calls this before: a broken key is not found.
pub fn before_wrapping(text: &str) -> Cow<'_, str> {
    printed().redact(text)
}

/// Which parts of what is written are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// All of it.
    Text,
    /// JSON: what stands in quotes. A key of digits alone may occur in a number, which has to stay one.
    Json,
    /// Nothing: the bytes belong to another program, or to the user.
    Nothing,
}

/// A writer that passes on what it is given without the keys that we hold. It keeps a line until its end is written, or
/// it is flushed or dropped, so that a key is found although it is written in pieces. Without keys, it keeps nothing.
#[derive(Debug)]
pub struct Searched<W: Write> {
    inner: W,
    search: Search,
    /// The keys, and after how many changes of them.
    keys: Option<(usize, Secrets)>,
    /// The beginning of a line.
    kept: Vec<u8>,
    place: Place,
}

/// Where in a JSON document we are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Between strings.
    Between,
    Inside,
    /// Inside a string, behind a backslash.
    Escape,
}

impl<W: Write> Searched<W> {
    pub fn new(inner: W, search: Search) -> Self {
        Self { inner, search, keys: None, kept: Vec::new(), place: Place::Between }
    }

    /// The same, for keys of its own.
    #[cfg(test)]
    fn for_keys(inner: W, search: Search, keys: Secrets) -> Self {
        let keys = Some((usize::MAX, keys));
        Self { inner, search, keys, kept: Vec::new(), place: Place::Between }
    }

    /// The keys that are held now.
    fn keys(&mut self) -> Secrets {
        match &self.keys {
            Some((changes, keys)) if *changes == usize::MAX || *changes == secrets::changes() => keys.clone(),
            _ => {
                // Before the keys: a change in between is noticed the next time.
                let changes = secrets::changes();
                let keys = printed();
                self.keys = Some((changes, keys.clone()));
                keys
            }
        }
    }

    /// Writes the first bytes of what is kept.
    fn put(&mut self, end: usize, keys: &Secrets) -> io::Result<()> {
        // They are gone even if they cannot be written, so that they are not written twice.
        let rest = self.kept.split_off(end);
        let bytes = std::mem::replace(&mut self.kept, rest);
        let mut out = Vec::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            out.extend_from_slice(self.without(chunk.valid(), keys).as_bytes());
            out.extend_from_slice(chunk.invalid());
        }
        self.inner.write_all(&out)
    }

    fn without<'t>(&mut self, text: &'t str, keys: &Secrets) -> Cow<'t, str> {
        if self.search == Search::Text {
            return keys.redact(text);
        }
        let is_found = matches!(keys.redact(text), Cow::Owned(_));
        // No string has the end of a line in it, so nothing is open there.
        if !is_found && text.ends_with('\n') {
            self.place = Place::Between;
            return Cow::Borrowed(text);
        }
        let (mut out, mut rest) = (String::with_capacity(text.len()), text);
        while !rest.is_empty() {
            let was_inside = self.place != Place::Between;
            let (part, behind) = rest.split_at(self.end_of_part(rest.as_bytes()));
            let has_ended = was_inside && self.place == Place::Between;
            match part.strip_suffix('"').filter(|_| has_ended) {
                Some(string) => {
                    out += &keys.redact(string);
                    out.push('"');
                }
                None if was_inside => out += &keys.redact(part),
                None => out += part,
            }
            rest = behind;
        }
        if is_found { Cow::Owned(out) } else { Cow::Borrowed(text) }
    }

    /// Moves on to behind the next quote that begins or ends a string.
    fn end_of_part(&mut self, bytes: &[u8]) -> usize {
        for (place, byte) in bytes.iter().enumerate() {
            let (next, is_end) = match (self.place, byte) {
                (Place::Between, b'"') => (Place::Inside, true),
                (Place::Inside, b'"') => (Place::Between, true),
                (Place::Inside, b'\\') => (Place::Escape, false),
                (Place::Escape, _) => (Place::Inside, false),
                (same, _) => (same, false),
            };
            self.place = next;
            if is_end {
                return place + 1;
            }
        }
        bytes.len()
    }

    /// Writes all that is kept.
    fn put_all(&mut self) -> io::Result<()> {
        if self.kept.is_empty() {
            return Ok(());
        }
        let keys = self.keys();
        self.put(self.kept.len(), &keys)
    }
}

impl<W: Write> Write for Searched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.search == Search::Nothing {
            return self.inner.write(bytes);
        }
        let keys = self.keys();
        if keys.is_empty() {
            self.put_all()?;
            return self.inner.write(bytes);
        }
        let before = self.kept.len();
        self.kept.extend_from_slice(bytes);
        if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
            self.put(before + end + 1, &keys)?;
        }
        // Of a line without an end, a key may begin in the last bytes, and end in what is not written yet.
        if self.kept.len() >= LINE_BYTES_MAX + SECRET_FORM_BYTES_MAX {
            let end = self.kept.len() - SECRET_FORM_BYTES_MAX;
            let cut = match str::from_utf8(&self.kept) {
                Ok(text) => keys.cut_before(text, end),
                Err(error) => {
                    let text = str::from_utf8(&self.kept[..error.valid_up_to()]).unwrap_or_default();
                    keys.cut_before(text, end.min(text.len()))
                }
            };
            // Keys that overlap all the way, or what is not text, are not worth keeping.
            self.put(if cut == 0 { end } else { cut }, &keys)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.put_all()?;
        self.inner.flush()
    }
}

impl<W: Write> Drop for Searched<W> {
    fn drop(&mut self) {
        // As with a buffer: whoever wants to know of an error flushes.
        let _ = self.put_all();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: &str = "sk-ab\"cd/ef12";

    fn keys() -> Secrets {
        Secrets::new([KEY.to_owned(), "83749261".to_owned()])
    }

    fn written(search: Search, pieces: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut writer = Searched::for_keys(&mut out, search, keys());
        pieces.iter().for_each(|piece| writer.write_all(piece).unwrap());
        drop(writer);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn a_key_is_found_in_pieces_and_in_forms() {
        for (text, shown) in [
            (format!("a {KEY} b\n{KEY}"), "a [key] b\n[key]"),
            ("<p>sk-ab&quot;cd/ef12</p>".to_owned(), "<p>[key]</p>"),
            ("/sk-ab\"cd~1ef12".to_owned(), "/[key]"),
            ("\"sk-ab\"\"cd/ef12\",83749261\n".to_owned(), "\"[key]\",[key]\n"),
            ("none\n".to_owned(), "none\n"),
        ] {
            assert_eq!(written(Search::Text, &[text.as_bytes()]), shown);
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(written(Search::Text, &bytes), shown, "byte by byte");
            assert_eq!(written(Search::Nothing, &bytes), text);
        }
        assert_eq!(written(Search::Text, &[b"\xff 83749261 \xc3"]), "\u{fffd} [key] \u{fffd}");
    }

    #[test]
    fn json_stays_json_and_its_numbers_stay() {
        let document = serde_json::json!({
            "number": 83_749_261_000_u64, KEY: [KEY, "\\", "83749261", {"a\"": format!("{KEY}\"")}],
        });
        let shown = serde_json::json!({
            "number": 83_749_261_000_u64, "[key]": ["[key]", "\\", "[key]", {"a\"": "[key]\""}],
        });
        for text in [document.to_string(), format!("{document:#}\n")] {
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(7).collect();
            let read: serde_json::Value = serde_json::from_str(&written(Search::Json, &bytes)).unwrap();
            assert_eq!(read, shown);
        }
    }

    #[test]
    #[ignore = "slow"]
    fn a_long_line_is_not_kept_whole_and_no_key_in_it_is_cut() {
        let fill = "é".repeat(500);
        let line: String =
            (0..3000).map(|number| format!("{fill}{number}{}", &KEY[..4 + number % 10])).collect();
        let text = line.replace("4é", &format!("4{KEY}é"));
        let quoted = format!("[\"{}\", 83749261]", text.replace('"', "\\\""));
        for (search, text) in [(Search::Text, text), (Search::Json, quoted)] {
            let mut out = Vec::new();
            let mut writer = Searched::for_keys(&mut out, search, keys());
            let mut most = 0;
            for piece in text.as_bytes().chunks(8191) {
                writer.write_all(piece).unwrap();
                most = most.max(writer.kept.len());
            }
            drop(writer);
            assert!(most < LINE_BYTES_MAX + SECRET_FORM_BYTES_MAX + 8191);
            let whole = written(search, &[text.as_bytes(), b"\n"]);
            assert_eq!(String::from_utf8(out).unwrap() + "\n", whole);
            assert!(whole.contains("[key]"));
        }
    }

    #[test]
    fn a_line_is_there_when_it_has_ended_and_the_rest_when_it_is_flushed() {
        let mut out = Vec::new();
        let mut writer = Searched::for_keys(&mut out, Search::Text, keys());
        writer.write_all(b"a\nb").unwrap();
        assert_eq!(writer.inner, b"a\n");
        writer.flush().unwrap();
        assert_eq!(writer.inner, b"a\nb");
        // Without a key there is nothing to wait for.
        let mut writer = Searched::for_keys(Vec::new(), Search::Text, Secrets::none());
        writer.write_all(b"a").unwrap();
        assert_eq!(writer.inner, b"a");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

        #[test]
        #[ignore = "slow"]
        fn what_is_written_in_pieces_is_searched_as_a_whole(
            parts in prop::collection::vec("sk-ab\"cd/ef12|83749261|[a-c\"\\\\ é]{0,6}", 0..6),
            length in 1_usize..9,
        ) {
            let text = parts.concat();
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(length).collect();
            prop_assert_eq!(written(Search::Text, &pieces), keys().redact(&text));
        }
    }
}
