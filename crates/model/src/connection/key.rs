//! The key that is sent to a server, and its removal from replies.
//!
//! A server (or a gateway that prints what it received) can put the key into its reply. From there it would get into
//! traces, reports and the next request, so replies are searched for it.

use planproof_trace::{Arguments, CallId};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};

use crate::{ChatReply, CompletionReply, ReplyId, TurnState};

/// What stands in the key's place.
const MARK: &str = "[key]";

/// Shortest key that is searched for in replies, in bytes. A shorter one is no secret but a word (`none`, `EMPTY`)
/// that a model may well write. In messages it is removed only where it stands alone: `x` is in `explanation`, too.
const REPLY_KEY_BYTES_MIN: usize = 8;

/// A key, or none.
#[derive(Clone, Default)]
pub(crate) struct Key(Option<SecretString>);

impl Key {
    /// This key; an empty one counts as none.
    pub(crate) fn new(key: Option<SecretString>) -> Self {
        Self(key.filter(|key| !key.expose_secret().is_empty()))
    }

    /// The key's text, for the header that carries it.
    pub(crate) fn expose(&self) -> Option<&str> {
        self.0.as_ref().map(ExposeSecret::expose_secret)
    }

    /// `text` without the key: for messages, where a superfluous mark does no harm. A short key is removed where it
    /// is a word of its own.
    pub(crate) fn removed_from(&self, text: &str) -> String {
        match self.expose() {
            Some(key) if key.len() >= REPLY_KEY_BYTES_MIN => without_broken(&text.replace(key, MARK), key),
            Some(key) => without_word(text, key),
            None => text.to_owned(),
        }
    }

    /// The key if replies are to be searched for it: long enough, and no plain word (`benchmark`), which is a common
    /// dummy for servers without keys and which a model may well write.
    fn recognisable(&self) -> Option<&str> {
        let is_word = |key: &str| key.bytes().all(|byte| byte.is_ascii_lowercase());
        self.expose().filter(|key| key.len() >= REPLY_KEY_BYTES_MIN && !is_word(key))
    }

    /// Removes the key from a text of a reply.
    pub(crate) fn clean(&self, text: &mut String) {
        if let Some(key) = self.recognisable().filter(|key| text.contains(*key)) {
            *text = text.replace(key, MARK);
        }
    }

    /// Removes the key from the name of a call.
    pub(crate) fn clean_id(&self, id: &mut CallId) {
        if self.recognisable().is_some_and(|key| id.as_str().contains(key)) {
            let mut text = id.as_str().to_owned();
            self.clean(&mut text);
            *id = CallId::new(text);
        }
    }

    /// Removes the key from the state of a turn.
    pub(crate) fn clean_state(&self, state: &mut TurnState) {
        if let Some(key) = self.recognisable() {
            state.map_texts(|text| text.contains(key).then(|| text.replace(key, MARK)));
        }
    }

    fn clean_value(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => self.clean(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.clean_value(value)),
            Value::Object(object) => self.clean_object(object),
        }
    }

    fn clean_object(&self, object: &mut Map<String, Value>) {
        object.values_mut().for_each(|value| self.clean_value(value));
        // A name can be changed only by rebuilding the map, which is hardly ever necessary.
        if self.recognisable().is_some_and(|key| object.keys().any(|name| name.contains(key))) {
            let fields = std::mem::take(object).into_iter().map(|(mut name, value)| {
                self.clean(&mut name);
                (name, value)
            });
            *object = fields.collect();
        }
    }
}

/// `text` without `key` where a server has broken it, as pages break long words: by blanks, ends of lines, characters
/// that are not seen, and tags.
fn without_broken(text: &str, key: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(place) = key.chars().next().and_then(|first| rest.find(first)) {
        let (before, at) = rest.split_at(place);
        out.push_str(before);
        match broken_key(at, key) {
            Some(length) => {
                out.push_str(MARK);
                rest = &at[length..];
            }
            None => {
                let length = at.chars().next().map_or(1, char::len_utf8);
                out.push_str(&at[..length]);
                rest = &at[length..];
            }
        }
    }
    out + rest
}

/// The length of the key at the beginning of a text, with what breaks it.
fn broken_key(text: &str, key: &str) -> Option<usize> {
    let mut at = 0;
    for (place, c) in key.char_indices() {
        while place > 0 && !text[at..].starts_with(c) {
            at += break_at(&text[at..])?;
        }
        at += text[at..].strip_prefix(c).map(|_| c.len_utf8())?;
    }
    Some(at)
}

/// The length of what breaks a word at the beginning of a text.
fn break_at(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    if first.is_whitespace()
        || first.is_control()
        || matches!(first, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
    {
        return Some(first.len_utf8());
    }
    if let Some(escape) =
        ["\\n", "\\r", "\\t", "&shy;", "&#8203;"].into_iter().find(|it| text.starts_with(*it))
    {
        return Some(escape.len());
    }
    let end = text.strip_prefix('<')?.find('>').filter(|end| *end <= TAG_BYTES_MAX)?;
    Some(end + "<>".len())
}

/// Most bytes of a tag that breaks a word.
const TAG_BYTES_MAX: usize = 32;

/// `text` without `word`, wherever no letter or digit is next to it.
fn without_word(text: &str, word: &str) -> String {
    let (mut out, mut rest) = (String::new(), 0);
    for (place, _) in text.match_indices(word) {
        let end = place + word.len();
        let is_apart = !text[..place].ends_with(char::is_alphanumeric)
            && !text[end..].starts_with(char::is_alphanumeric);
        if is_apart {
            out += &text[rest..place];
            out += MARK;
            rest = end;
        }
    }
    out + &text[rest..]
}

/// A reply that may hold the key.
pub(crate) trait Clean {
    /// Removes the key from everything the server wrote.
    fn clean(&mut self, key: &Key);
}

impl Clean for ChatReply {
    fn clean(&mut self, key: &Key) {
        if key.recognisable().is_none() {
            return;
        }
        key.clean(&mut self.text);
        for call in &mut self.calls {
            key.clean_id(&mut call.id);
            key.clean(&mut call.name);
            match &mut call.arguments {
                Arguments::Malformed(text) => key.clean(text),
                Arguments::Object(object) => key.clean_object(object),
            }
        }
        if let Some(ReplyId(id)) = &mut self.id {
            key.clean(id);
        }
        key.clean_state(&mut self.state);
    }
}

impl Clean for CompletionReply {
    fn clean(&mut self, key: &Key) {
        key.clean(&mut self.text);
        for token in &mut self.prompt_tokens {
            key.clean(&mut token.text);
        }
    }
}

/// Removes the key from a text that comes in pieces, however it is cut.
#[derive(Default)]
pub(crate) struct CleanedPieces {
    /// The end of the text so far, as long as the key may begin there.
    held: String,
}

impl CleanedPieces {
    /// Takes the next piece; returns what can be passed on.
    pub(crate) fn push(&mut self, key: &Key, piece: String) -> String {
        let Some(key) = key.recognisable() else { return piece };
        let mut rest = if self.held.is_empty() { piece } else { std::mem::take(&mut self.held) + &piece };
        let mut out = String::new();
        while let Some(place) = rest.find(key) {
            out.push_str(&rest[..place]);
            out.push_str(MARK);
            rest.drain(..place + key.len());
        }
        // The rest may end with the beginning of the key. Fewer bytes than the key has wait for the next piece;
        // everything before them can no longer be a part of it.
        let kept = beginning_at_end(&rest, key);
        self.held = rest.split_off(rest.len() - kept);
        if out.is_empty() { rest } else { out + &rest }
    }

    /// The rest that turned out not to be the key, once the text has ended.
    pub(crate) fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

/// How many bytes at the end of `text` are a proper prefix of `key`.
fn beginning_at_end(text: &str, key: &str) -> usize {
    let longest = text.len().min(key.len() - 1);
    let is_beginning = |length: &usize| {
        let start = text.len() - length;
        // The text is split here, which would panic within a character.
        text.is_char_boundary(start) && key.as_bytes().starts_with(&text.as_bytes()[start..])
    };
    // The longest one counts: after a shorter one, the beginning of the key would already have been passed on.
    (1..=longest).rev().find(is_beginning).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};

    use super::*;

    fn key(text: &str) -> Key {
        Key::new(Some(text.into()))
    }

    fn in_pieces(key: &Key, pieces: &[&str]) -> Vec<String> {
        let mut cleaned = CleanedPieces::default();
        let mut out: Vec<String> =
            pieces.iter().map(|piece| cleaned.push(key, (*piece).to_owned())).collect();
        out.push(cleaned.finish());
        out
    }

    #[test]
    fn a_key_that_is_broken_is_removed_from_messages() {
        let key = Key::new(Some("sk-SECRET-KEY-123456".into()));
        for text in [
            "sk-SECRET-KEY-123456",
            "sk-SECRET-\nKEY-123456",
            "sk-SECRET- KEY-123456",
            "sk-SEC<wbr>RET-KEY<wbr/>-123456",
            "sk-SECRET-\u{200b}KEY-123\u{ad}456",
            "sk-SECRET-\\n  KEY-123456",
            "s k - S E C R E T - K E Y - 1 2 3 4 5 6",
        ] {
            assert_eq!(key.removed_from(&format!("ssk-{text}, s")), "ssk-[key], s", "{text:?}");
        }
        for text in ["sk-SECRET", "sk-SECRET- and KEY-123456", "sk-SECRET-KEY-12345", ""] {
            assert_eq!(key.removed_from(text), text);
        }
    }

    #[test]
    fn only_what_may_be_the_key_is_held_back() {
        let key = key("sk-12345");
        assert_eq!(in_pieces(&key, &["a sk-1", "2345 b"]), ["a ", "[key] b", ""]);
        assert_eq!(in_pieces(&key, &["a sk-", "no"]), ["a ", "sk-no", ""]);
        assert_eq!(in_pieces(&key, &["sk-12345sk-1234"]), ["[key]", "sk-1234"]);
        assert_eq!(in_pieces(&key, &["sksk-12", "345"]), ["sk", "[key]", ""]);
        assert_eq!(in_pieces(&key, &["is", "sue"]), ["i", "ssue", ""]);
    }

    #[test]
    fn short_keys_are_words() {
        assert_eq!(in_pieces(&key("EMPTY"), &["EMP", "TY"]), ["EMP", "TY", ""]);
        let mut text = "EMPTY".to_owned();
        key("EMPTY").clean(&mut text);
        assert_eq!(text, "EMPTY");
        assert_eq!(key("EMPTY").removed_from("an EMPTY key"), "an [key] key");
        assert_eq!(key("EMPTY").removed_from("EMPTY: 'EMPTY'"), "[key]: '[key]'");
        assert_eq!(key("x").removed_from("explanation: x, ex"), "explanation: [key], ex");
        assert_eq!(key("é").removed_from("é été é"), "[key] été [key]");
        assert_eq!(key("sk-12345").removed_from("ask-123456"), "a[key]6", "a longer one anywhere");
        assert_eq!(Key::new(Some("".into())).removed_from("a"), "a");
    }

    #[test]
    fn arguments_are_searched_to_their_depth() {
        let mut object = Map::from_iter([(
            "a".to_owned(),
            serde_json::json!([{"sk-12345": "x sk-12345 y", "n": 1}, "sk-12345"]),
        )]);
        key("sk-12345").clean_object(&mut object);
        assert_eq!(
            Value::Object(object),
            serde_json::json!({"a": [{"[key]": "x [key] y", "n": 1}, "[key]"]})
        );
    }

    #[test]
    fn pieces_and_wholes_are_cleaned_alike() {
        // An alphabet this small makes keys, half keys and keys within keys common.
        let config = Config { cases: 2000, failure_persistence: None, ..Config::default() };
        let strategy = ("1[ab1é]{7,9}", proptest::collection::vec("[ab1é]{0,9}", 0..12), any::<bool>());
        TestRunner::new(config)
            .run(&strategy, |(secret, mut pieces, plant)| {
                if plant && pieces.len() > 2 {
                    // The key itself, cut in the middle.
                    let middle = secret.char_indices().nth(4).map_or(0, |(place, _)| place);
                    pieces[1].push_str(&secret[..middle]);
                    pieces[2].insert_str(0, &secret[middle..]);
                }
                let key = key(&secret);
                let mut whole = pieces.concat();
                let borrowed: Vec<&str> = pieces.iter().map(String::as_str).collect();
                let cleaned = in_pieces(&key, &borrowed).concat();
                key.clean(&mut whole);
                prop_assert!(!cleaned.contains(&secret));
                prop_assert_eq!(cleaned, whole);
                Ok(())
            })
            .unwrap();
    }
}
