//! Keys of the environment in what a guard remembers: marks stand for them, and whoever reads these back has the keys.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use planproof_trace::Secrets;
use serde_json::{Map, Number, Value};

use crate::log::{LoggedCall, LoggedLine};

/// What every mark begins with.
const BEGIN: &str = "[key";

/// A key in a form that has no name.
const UNSPECIFIC: &str = "[key]";

/// What is read of [`UNSPECIFIC`]: a text that differs from what calls have, with a character that stands for none.
const UNKNOWN: &str = "[key\u{10ffff}]";

/// The text of a number that contains a key stands behind it.
const NUMBER: &str = "[key#]";

/// Stands behind [`BEGIN`] where a text itself contains what would be read as the beginning of a mark.
const LITERAL: char = ':';

/// The keys that a guard holds, with the names of the variables that have them.
///
/// A key is written as `[key NAME]`, in another form as `[key NAME:FORM]`, and as `[key]` where the form has no name.
/// What a text contains that looks like a mark is written with a colon, so that each text can be had back from what is
/// written, as long as the variables have the same values, and unless it has a `[key]`.
#[derive(Clone, Default)]
pub struct HeldKeys {
    secrets: Secrets,
    marks: Arc<Marks>,
}

/// The marks of all keys with a name, in all forms that have one.
#[derive(Default)]
struct Marks {
    by_text: HashMap<String, String>,
    by_mark: HashMap<String, String>,
}

/// What is written of a text or a value.
pub(crate) struct Kept<T> {
    pub(crate) kept: T,
    /// It can be had back from that.
    pub(crate) is_exact: bool,
}

impl From<Secrets> for HeldKeys {
    /// Keys without names.
    fn from(secrets: Secrets) -> Self {
        Self { secrets, marks: Arc::default() }
    }
}

impl fmt::Debug for HeldKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.secrets.fmt(f)
    }
}

impl HeldKeys {
    /// These secrets, of which some have names: letters, digits, `_` and `/`, as in `[key GITHUB_TOKEN]`. Of several
    /// names for one key the first counts. Other names, and those that contain a secret themselves, are not used.
    pub fn new(secrets: Secrets, named: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut marks = Marks::default();
        for (name, key) in named {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_/".contains(&byte);
            if name.is_empty() || !name.bytes().all(is_plain) {
                continue;
            }
            for (form, text) in forms_of(key.trim()) {
                let mark = format!("{BEGIN} {name}{form}]");
                if text.is_empty()
                    || !secrets.places_in(&mark).is_empty()
                    || marks.by_mark.contains_key(&mark)
                {
                    continue;
                }
                marks.by_mark.insert(mark.clone(), text.clone());
                marks.by_text.entry(text).or_insert(mark);
            }
        }
        Self { secrets, marks: Arc::new(marks) }
    }

    /// The secrets.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Whether a text contains a key in any form.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        !self.secrets.places_in(text).is_empty()
    }

    /// What is written of a text.
    pub(crate) fn text(&self, text: &str) -> Kept<String> {
        let (mut kept, mut rest, mut is_exact) = (String::with_capacity(text.len()), 0, true);
        for place in self.secrets.places_in(text) {
            push_literal(&mut kept, &text[rest..place.start]);
            rest = place.end;
            let mark = self.marks.by_text.get(&text[place]);
            is_exact &= mark.is_some();
            kept += mark.map_or(UNSPECIFIC, String::as_str);
        }
        push_literal(&mut kept, &text[rest..]);
        Kept { kept, is_exact }
    }

    /// What is written of a value, with keys of objects and numbers.
    pub(crate) fn value(&self, value: &Value) -> Kept<Value> {
        let mut is_exact = true;
        let kept = match value {
            Value::Null | Value::Bool(_) => value.clone(),
            Value::Number(number) => {
                let text = number.to_string();
                if !self.are_in(&text) {
                    return Kept { kept: value.clone(), is_exact };
                }
                let text = self.text(&text);
                is_exact = text.is_exact;
                Value::String(format!("{NUMBER}{}", text.kept))
            }
            Value::String(text) => {
                let text = self.text(text);
                is_exact = text.is_exact;
                Value::String(text.kept)
            }
            Value::Array(items) => {
                let items = items.iter().map(|item| self.value(item));
                items.map(|item| noted(item, &mut is_exact)).collect()
            }
            Value::Object(entries) => {
                let mut kept = Map::new();
                for (key, value) in entries {
                    let key = noted(self.text(key), &mut is_exact);
                    kept.insert(key, noted(self.value(value), &mut is_exact));
                }
                is_exact &= kept.len() == entries.len();
                Value::Object(kept)
            }
        };
        Kept { kept, is_exact }
    }

    /// The text of which this was written.
    fn text_of<'t>(&self, kept: &'t str) -> Cow<'t, str> {
        if !kept.contains(BEGIN) {
            return Cow::Borrowed(kept);
        }
        let (mut text, mut rest) = (String::with_capacity(kept.len()), kept);
        while let Some(at) = rest.find(BEGIN) {
            text += &rest[..at];
            rest = &rest[at..];
            let behind = &rest[BEGIN.len()..];
            let end = behind.find(']').map(|end| BEGIN.len() + end + 1);
            let key = end.and_then(|end| Some((end, self.marks.by_mark.get(&rest[..end])?)));
            let read = match key {
                Some((end, key)) => {
                    text += key;
                    end
                }
                None if behind.starts_with(']') => {
                    text += UNKNOWN;
                    UNSPECIFIC.len()
                }
                None => {
                    text += BEGIN;
                    BEGIN.len() + if behind.starts_with(LITERAL) { LITERAL.len_utf8() } else { 0 }
                }
            };
            rest = &rest[read..];
        }
        Cow::Owned(text + rest)
    }

    /// The value of which this was written.
    pub(crate) fn value_of(&self, kept: &Value) -> Value {
        match kept {
            Value::Null | Value::Bool(_) | Value::Number(_) => kept.clone(),
            Value::String(text) => {
                let number = text.strip_prefix(NUMBER);
                let number = number.and_then(|text| self.text_of(text).parse::<Number>().ok());
                number.map_or_else(|| Value::String(self.text_of(text).into_owned()), Value::Number)
            }
            Value::Array(items) => items.iter().map(|item| self.value_of(item)).collect(),
            Value::Object(entries) => {
                let entries = entries.iter();
                entries.map(|(key, value)| (self.text_of(key).into_owned(), self.value_of(value))).collect()
            }
        }
    }

    /// A line of a log with the keys that it was written of.
    pub(crate) fn line_of<'l>(&self, line: &'l LoggedLine) -> Cow<'l, LoggedLine> {
        let text_of = |text: &String| self.text_of(text).into_owned();
        let mut line = Cow::Borrowed(line);
        match &*line {
            LoggedLine::Decision { call: Some(found), .. } if is_marked_call(found) => {
                let found = LoggedCall {
                    number: found.number,
                    id: found.id.as_ref().map(text_of),
                    server: found.server.as_ref().map(text_of),
                    tool: text_of(&found.tool),
                    arguments: self.value_of(&found.arguments),
                };
                if let LoggedLine::Decision { call, .. } = line.to_mut() {
                    *call = Some(found);
                }
            }
            LoggedLine::Result { outcome: found, .. } if is_marked(found) => {
                let found = self.value_of(found);
                if let LoggedLine::Result { outcome, .. } = line.to_mut() {
                    *outcome = found;
                }
            }
            LoggedLine::Decision { .. } | LoggedLine::Result { .. } | LoggedLine::End { .. } => {}
        }
        line
    }
}

fn noted<T>(kept: Kept<T>, is_exact: &mut bool) -> T {
    *is_exact &= kept.is_exact;
    kept.kept
}

fn is_marked_call(call: &LoggedCall) -> bool {
    let texts = [call.id.as_deref(), call.server.as_deref(), Some(&*call.tool)];
    texts.iter().flatten().any(|text| text.contains(BEGIN)) || is_marked(&call.arguments)
}

/// Whether anything in a value may be a mark.
fn is_marked(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => text.contains(BEGIN),
        Value::Array(items) => items.iter().any(is_marked),
        Value::Object(entries) => entries.iter().any(|(key, value)| key.contains(BEGIN) || is_marked(value)),
    }
}

/// Appends what is not a key. What would be read as a mark is written so that it is not.
fn push_literal(kept: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(BEGIN) {
        let (before, behind) = rest.split_at(at + BEGIN.len());
        *kept += before;
        if behind.starts_with([']', ' ', '#', LITERAL]) {
            kept.push(LITERAL);
        }
        rest = behind;
    }
    *kept += rest;
}

/// The forms of a key that have a name, which stands in the mark behind that of the key; the plain one first.
fn forms_of(key: &str) -> Vec<(&'static str, String)> {
    let without = |is_first: bool| {
        let mut characters = key.chars();
        if is_first {
            characters.next()
        } else {
            characters.next_back()
        };
        characters.as_str().to_owned()
    };
    let capital = || {
        let mut characters = key.chars();
        let first = characters.next().map(|first| first.to_uppercase().collect::<String>());
        first.unwrap_or_default() + &characters.as_str().to_lowercase()
    };
    let in_json = Value::from(key).to_string();
    vec![
        ("", key.to_owned()),
        (":lower", key.to_lowercase()),
        (":upper", key.to_uppercase()),
        (":capital", capital()),
        (":json", in_json[1..in_json.len() - 1].to_owned()),
        (":url", in_url(key, "-._~")),
        (":path", in_url(key, "-._~/")),
        (":start", without(false)),
        (":rest", without(true)),
        (":reversed", key.chars().rev().collect()),
        (":hex", key.bytes().map(|byte| format!("{byte:02x}")).collect()),
    ]
}

/// A text in a URL, where all but letters, digits and these characters is escaped.
fn in_url(text: &str, plain: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || plain.as_bytes().contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const TOKEN: &str = "ghp_Abcdef/1234567890";

    fn keys() -> HeldKeys {
        let named =
            [("A_TOKEN", TOKEN), ("B_TOKEN", TOKEN), ("DB_PASSWORD", "pass\"word 9"), ("PIN", "48151623422")];
        let named: Vec<_> = named.map(|(name, key)| (name.to_owned(), key.to_owned())).into();
        let unnamed = ["unnamed-0123".to_owned(), "A_TOKENS-9".to_owned()];
        let secrets = Secrets::new(named.iter().map(|(_, key)| key.clone()).chain(unnamed));
        HeldKeys::new(secrets, named)
    }

    #[test]
    fn what_is_written_has_no_key_and_is_had_back() {
        let keys = keys();
        for (value, written) in [
            (json!("Bearer ghp_Abcdef/1234567890!"), json!("Bearer [key A_TOKEN]!")),
            (json!({TOKEN: [TOKEN]}), json!({"[key A_TOKEN]": ["[key A_TOKEN]"]})),
            (json!("GHP_ABCDEF/1234567890"), json!("[key A_TOKEN:upper]")),
            (json!("ghp_Abcdef%2F1234567890"), json!("[key A_TOKEN:url]")),
            (json!("{\"p\": \"pass\\\"word 9\"}"), json!("{\"p\": \"[key DB_PASSWORD:json]\"}")),
            (json!("hp_Abcdef/1234567890"), json!("[key A_TOKEN:rest]")),
            (json!("ghp_Abcdef/123456789x"), json!("[key A_TOKEN:start]x")),
            (json!(48_151_623_422_u64), json!("[key#][key PIN]")),
            (json!("48151623422"), json!("[key PIN]")),
            (json!(-148_151_623_422_i64), json!("[key#]-1[key PIN]")),
            (json!(48_151_623_422.5), json!("[key#][key PIN].5")),
            // What only looks like a mark.
            (json!("[key A_TOKEN]"), json!("[key: A_TOKEN]")),
            (
                json!(["[key]", "[key:]", "[key#]1", "[keys]"]),
                json!(["[key:]", "[key::]", "[key:#]1", "[keys]"]),
            ),
            (json!(format!("[key{TOKEN}]")), json!("[key[key A_TOKEN]]")),
            (json!({"[key]": 1.5, "n": null}), json!({"[key:]": 1.5, "n": null})),
        ] {
            let Kept { kept, is_exact } = keys.value(&value);
            assert_eq!((&kept, is_exact), (&written, true), "{value}");
            assert_eq!(keys.value_of(&kept), value, "{written}");
        }
    }

    #[test]
    fn forms_without_a_name_are_not_had_back() {
        let keys = keys();
        // In base64, with escapes of others, in mixed case, and a key without a name.
        for text in [
            "Z2hwX0FiY2RlZi8xMjM0NTY3ODkw",
            "ghp\\u005fAbcdef/1234567890",
            "gHp_Abcdef/1234567890",
            "unnamed-0123",
        ] {
            let Kept { kept, is_exact } = keys.text(text);
            assert!(!is_exact && kept.starts_with(UNSPECIFIC), "{text}: {kept}");
            assert!(keys.text_of(&kept).starts_with(UNKNOWN), "what calls have is another text");
            assert_eq!(keys.text_of(&keys.text(UNKNOWN).kept), UNKNOWN);
        }
    }

    /// Of an environment without that variable.
    #[test]
    fn marks_that_nobody_knows_stay() {
        for mark in ["[key OTHER]", "[key A_TOKEN", "[key A_TOKEN:other]", "[key#]x"] {
            assert_eq!(keys().value_of(&json!(mark)), json!(mark));
        }
    }

    #[test]
    fn names_of_marks_hold_no_key() {
        let secrets = Secrets::new(["first-0123".to_owned(), "SECOND_KEY".to_owned()]);
        let named = [("SECOND_KEY", "first-0123"), ("a]b", "first-0123"), ("", "first-0123")];
        let keys = HeldKeys::new(secrets, named.map(|(name, key)| (name.to_owned(), key.to_owned())));
        assert_eq!(keys.text("first-0123").kept, UNSPECIFIC);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        #[test]
        #[ignore = "slow"]
        fn texts_are_had_back(parts in prop::collection::vec(0_usize..14, 0..8)) {
            let keys = keys();
            let pieces = [
                "[key", "]", " ", ":", "#", "A_TOKEN", "[", "PIN", TOKEN, "48151623422", "pass\"word 9", "x", "é",
                ":url",
            ];
            let text: String = parts.iter().map(|part| pieces[*part]).collect();
            let Kept { kept, is_exact } = keys.text(&text);
            prop_assert!(!keys.are_in(&kept), "{text}: {kept}");
            // Of keys side by side, another reading may be found.
            prop_assume!(is_exact);
            prop_assert_eq!(keys.text_of(&kept), text, "{}", kept);
        }
    }
}
