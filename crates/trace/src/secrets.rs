//! Texts that must not be written anywhere, and their removal.

mod escapes;
mod forms;
mod urls;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind, PatternID};
use serde_json::{Map, Value};

pub use urls::{secrets_in_settings, secrets_in_urls};

use crate::{Arguments, CallId, EndReason, EventKind, ToolCall, ToolResult, WrittenObject};

/// What stands where a secret was.
pub const REDACTED: &str = "[key]";

/// Shorter texts are not secrets: they would occur by chance.
pub const SECRET_BYTES_MIN: usize = 8;

/// No form of a secret, or of a piece of a long one, takes more bytes, escaped or not.
pub const SECRET_FORM_BYTES_MAX: usize = 64 << 10;

/// Longer secrets are split into several, each of this length or slightly more.
const SECRET_BYTES_MAX: usize = 4096;

/// Keys that we hold. All recorded texts are searched for them, and [`REDACTED`] replaces each occurrence, even within
/// a longer text. They are found in any case, reversed, in base64, in hexadecimal digits, with any of their characters
/// escaped as in JSON and in URLs, once or twice, and, if they are long, without their first or last character. Costs
/// nothing if there is none; otherwise one pass over each text, and one for each way to read its escapes, however many
/// there are.
#[derive(Clone, Default)]
pub struct Secrets(Option<Arc<Held>>);

/// At least one secret.
struct Held {
    secrets: Vec<String>,
    /// Finds the forms of all of them.
    search: AhoCorasick,
    /// For each pattern the index in `secrets` of the secret that it is a form of.
    whose: Vec<usize>,
}

impl Held {
    /// Where the text contains a form of which secret, however it is escaped, in the order of the text.
    fn found_in(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        let whose = |pattern: PatternID| self.whose[pattern.as_usize()];
        let mut found: Vec<(Range<usize>, usize)> =
            self.search.find_iter(text).map(|it| (it.range(), whose(it.pattern()))).collect();
        escapes::each_reading(text.as_bytes(), &mut |read, source| {
            let matches = self.search.find_iter(read);
            // Forms are whole characters, so this never cuts one.
            found.extend(matches.map(|it| (whole(text, source(it.range())), whose(it.pattern()))));
        });
        found.sort_by_key(|(place, _)| (place.start, place.end));
        found
    }
}

/// The range with the whole of the characters at its ends.
fn whole(text: &str, range: Range<usize>) -> Range<usize> {
    text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end)
}

impl Secrets {
    /// Nothing to look for: the texts are known to hold no key, or are not written anywhere.
    pub fn none() -> Self {
        Self::default()
    }

    /// These secrets. Blanks around them are ignored, and those shorter than [`SECRET_BYTES_MIN`] are left out. Takes
    /// some 100 microseconds for each.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut texts: Vec<String> = Vec::new();
        for secret in secrets {
            texts.extend(
                pieces(secret.trim()).filter(|piece| piece.len() >= SECRET_BYTES_MIN).map(str::to_owned),
            );
        }
        texts.sort_unstable();
        texts.dedup();
        if texts.is_empty() {
            return Self(None);
        }
        let (mut forms, mut whose) = (Vec::new(), Vec::new());
        for (place, secret) in texts.iter().enumerate() {
            let all = forms::of(secret);
            whose.extend(std::iter::repeat_n(place, all.len()));
            forms.extend(all);
        }
        // One secret may be the beginning of another. The longest match counts, so that no part of it is left.
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .ascii_case_insensitive(true)
            .build(&forms)
            .expect("an environment is too small for patterns that have no number");
        Self(Some(Arc::new(Held { secrets: texts, search, whose })))
    }

    fn texts(&self) -> &[String] {
        self.0.as_ref().map_or(&[], |held| &held.secrets)
    }

    /// These and one more.
    #[must_use]
    pub fn with(&self, secret: String) -> Self {
        self.and([secret])
    }

    /// These and more.
    #[must_use]
    pub fn and(&self, secrets: impl IntoIterator<Item = String>) -> Self {
        Self::new(self.texts().iter().cloned().chain(secrets))
    }

    /// The secrets that occur in none of these texts, in no form. A key may be a placeholder such as `benchmark`, and
    /// removing that from texts of our own, such as names of tools, would change the run.
    #[must_use]
    pub fn apart_from<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut left = self.clone();
        for text in texts {
            // A match hides overlapping ones, so this is repeated until nothing is found.
            while let Some(found) = left.found_in(text) {
                let others = left.texts().iter().enumerate().filter(|(place, _)| !found.contains(place));
                left = Self::new(others.map(|(_, secret)| secret.clone()));
            }
        }
        left
    }

    /// Which secrets are found in a text; `None` if there is none.
    fn found_in(&self, text: &str) -> Option<Vec<usize>> {
        let found: Vec<usize> = self.0.as_ref()?.found_in(text).into_iter().map(|(_, whose)| whose).collect();
        (!found.is_empty()).then_some(found)
    }

    /// The first secret that is found in a text.
    pub fn first_in(&self, text: &str) -> Option<&str> {
        let held = self.0.as_ref()?;
        let (_, whose) = held.found_in(text).into_iter().next()?;
        Some(&held.secrets[whose])
    }

    /// All of them.
    pub fn into_texts(self) -> Vec<String> {
        self.texts().to_vec()
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Where secrets stand in a text, in whatever form: ranges that neither touch on half a character nor overlap, in
    /// the order of the text. Costs as much as [`redact`](Self::redact).
    pub fn places_in(&self, text: &str) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        for (place, _) in self.0.iter().flat_map(|held| held.found_in(text)) {
            match places.last_mut() {
                Some(last) if place.start < last.end => last.end = last.end.max(place.end),
                _ => places.push(place),
            }
        }
        places
    }

    /// The text without any secret. What overlaps is covered by one mark.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let places = self.places_in(text);
        if places.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut out, mut rest) = (String::new(), 0);
        for place in places {
            out += &text[rest..place.start];
            out += REDACTED;
            rest = place.end;
        }
        Cow::Owned(out + &text[rest..])
    }

    /// Where a text can be cut, at or before `end`, so that the cut goes through no secret: each part can then be
    /// searched alone, if `end` lies at least [`SECRET_FORM_BYTES_MAX`] before the end of the text.
    pub fn cut_before(&self, text: &str, end: usize) -> usize {
        let mut cut = text.floor_char_boundary(end);
        let Some(held) = self.0.as_ref() else { return cut };
        // Each beginning may lie within another one.
        for (place, _) in held.found_in(text).into_iter().rev() {
            if place.contains(&cut) {
                cut = place.start;
            }
        }
        cut
    }

    /// The arguments of a call without secrets, in keys and values at any depth.
    pub fn redact_arguments(&self, arguments: &mut Arguments) {
        match arguments {
            Arguments::Malformed(text) => self.redact_text(text),
            Arguments::Object(object) => self.redact_map(object),
        }
    }

    /// An object without any secret in its keys and texts. Long numbers stay as they were written, except below a key
    /// that contains a secret.
    #[must_use]
    pub fn redact_object(&self, object: WrittenObject) -> WrittenObject {
        object.edited(|map| self.redact_map(map))
    }

    /// What happened, without any secret.
    pub(crate) fn redact_event(&self, kind: &mut EventKind) {
        // No arm for all others: a new kind of event must say here which of its texts can contain a secret.
        match kind {
            EventKind::Query { text } => self.redact_text(text),
            EventKind::Turn { text, reasoning, calls: _, finish: _, usage: _ } => {
                self.redact_text(text);
                self.redact_text(reasoning);
            }
            EventKind::Spec { name, continuation: _ } => self.redact_text(name),
            EventKind::Section { state, author: _, text, note } => {
                self.redact_text(state);
                self.redact_text(text);
                self.redact_text(note);
            }
            EventKind::Correction { violation, appended, discarded_bytes: _ } => {
                self.redact_text(violation);
                self.redact_text(appended);
            }
            EventKind::Tally(_) => {}
            EventKind::Batch { calls } => calls.iter_mut().for_each(|id| self.redact_id(id)),
            EventKind::Call(ToolCall { id, name, arguments }) => {
                self.redact_id(id);
                self.redact_text(name);
                self.redact_arguments(arguments);
            }
            EventKind::Result(ToolResult {
                id,
                text,
                is_error: _,
                is_denied: _,
                denied_by,
                // For the agent, and not for a file.
                structured: _,
                sent: _,
                attachments: _,
            }) => {
                self.redact_id(id);
                self.redact_text(text);
                denied_by.iter_mut().for_each(|rule| self.redact_text(rule));
            }
            EventKind::End(EndReason::Answered { text: words })
            | EventKind::End(
                EndReason::AgentFailed { reason: words } | EndReason::Unscored { reason: words },
            ) => {
                self.redact_text(words);
            }
            EventKind::End(EndReason::LimitReached { .. }) => {}
        }
    }

    fn redact_text(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redact(text) {
            *text = redacted;
        }
    }

    fn redact_id(&self, id: &mut CallId) {
        if let Cow::Owned(redacted) = self.redact(id.as_str()) {
            *id = CallId::new(redacted);
        }
    }

    fn redact_map(&self, object: &mut Map<String, Value>) {
        // A key can be changed only by rebuilding the object.
        let has_secret_key = object.keys().any(|key| matches!(self.redact(key), Cow::Owned(_)));
        if has_secret_key {
            let members = std::mem::take(object);
            object.extend(members.into_iter().map(|(key, value)| (self.redact(&key).into_owned(), value)));
        }
        for value in object.values_mut() {
            self.redact_value(value);
        }
    }

    fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.redact_text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.redact_value(value)),
            Value::Object(object) => self.redact_map(object),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The texts in JSON of our own without secrets. Its keys are words of ours, and stay.
    pub fn redact_values(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.redact_text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.redact_values(value)),
            Value::Object(object) => object.values_mut().for_each(|value| self.redact_values(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.texts().len())
    }
}

/// A text in pieces of [`SECRET_BYTES_MAX`] bytes, or slightly more to end between characters.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = (SECRET_BYTES_MAX.min(rest.len())..=rest.len()).find(|&end| rest.is_char_boundary(end))?;
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn secrets_are_found_anywhere() {
        let secrets = Secrets::new(["sk-abcdefgh\n".into(), "sk-abcdefgh-long".into(), "short".into()]);
        for (text, expected) in [
            ("nothing here, not even short", "nothing here, not even short"),
            ("sk-abcdefgh", "[key]"),
            ("Bearer sk-abcdefgh, sk-abcdefgh!", "Bearer [key], [key]!"),
            ("the longer one: sk-abcdefgh-long", "the longer one: [key]"),
        ] {
            assert_eq!(secrets.redact(text), expected);
        }
        assert!(matches!(secrets.redact("nothing"), Cow::Borrowed(_)));
        assert_eq!(format!("{secrets:?}"), "Secrets(2)");
        assert!(Secrets::new(["short".into()]).is_empty() && Secrets::default().is_empty());
    }

    #[test]
    fn a_text_is_cut_beside_secrets() {
        let secrets = Secrets::new(["sk-abcdefgh".into()]);
        let text = "é sk-abcdefgh-ijklmn é sk%2Dabcdefgh";
        let cuts = |end| secrets.cut_before(text, end);
        assert_eq!([0, 1, 2, 3, 4, 13, 14, 23].map(cuts), [0, 0, 2, 3, 3, 3, 14, 22]);
        assert_eq!(cuts(text.len() - 1), text.find("sk%").unwrap());
        assert_eq!(cuts(text.len()), text.len());
        assert_eq!(Secrets::none().cut_before(text, 9), 9);
    }

    #[test]
    fn what_stands_in_our_own_texts_is_no_secret() {
        let secrets = Secrets::new(["benchmark".into(), "sk-abcdefgh".into()]);
        let left = secrets.apart_from(["a", "browser_benchmark_comparison"]);
        assert_eq!(left.redact("benchmark sk-abcdefgh"), "benchmark [key]");
        assert_eq!(secrets.apart_from([]).redact("benchmark sk-abcdefgh"), "[key] [key]");
        assert_eq!(left.with("benchmark".into()).redact("benchmark sk-abcdefgh"), "[key] [key]");
    }

    /// A model can be persuaded to write these: none of them leaves as much as 6 consecutive characters of the key.
    #[test]
    fn a_secret_is_found_in_other_forms() {
        let key = "sk-Live/4f9A+x7QzT0=";
        let secrets = Secrets::new([key.into()]);
        for text in [
            key.to_uppercase(),
            key.to_lowercase(),
            key.chars().rev().collect(),
            "c2stTGl2ZS80ZjlBK3g3UXpUMD0=".to_owned(),
            "ICBzay1MaXZlLzRmOUEreDdRelQwPSA".to_owned(),
            "736b2d4c6976652f346639412b7837517a54303d".to_owned(),
            "sk-Live%2F4f9A%2Bx7QzT0%3D".to_owned(),
            r#"{\"key\": \"sk-Live/4f9A+x7QzT0=\"}"#.to_owned(),
        ] {
            let redacted = secrets.redact(&text);
            assert!(
                redacted.contains(REDACTED) && redacted.len() <= 20 + REDACTED.len(),
                "{text}: {redacted}"
            );
        }
    }

    /// Whoever knows all but one character of a key knows the key.
    #[test]
    fn a_long_secret_is_found_without_a_character_at_either_end() {
        let key = "sk-9f3abQ77zLmX0pW";
        let secrets = Secrets::new([key.into(), "short-one".into()]);
        for text in [&key[1..], &key[..key.len() - 1], key] {
            assert_eq!(secrets.redact(&format!("<{text}>")), "<[key]>");
        }
        // Two characters are not made up for, nor is one of a short secret.
        for text in [&key[2..], "hort-one"] {
            assert_eq!(secrets.redact(text), text);
        }
    }

    #[test]
    fn a_long_secret_is_found_in_its_pieces() {
        let long: String = (0..900).map(|number| format!("é{number}")).collect();
        let secrets = Secrets::new([long.clone()]);
        assert_eq!(secrets.redact(&format!("<{long}>")).replace(REDACTED, ""), "<>");
    }

    #[test]
    fn a_secret_is_found_in_escaped_text() {
        let secrets = Secrets::new(["pass\"word\\1".into()]);
        assert_eq!(secrets.redact(r#"{"key": "pass\"word\\1"}"#), r#"{"key": "[key]"}"#);
        assert_eq!(secrets.redact(r#"pass"word\1"#), "[key]");
    }

    /// How other programs escape, a character at a time.
    fn escaped(secret: &str, choices: &[u8]) -> String {
        let mut out = String::new();
        for (place, letter) in secret.chars().enumerate() {
            let mut units = [0; 2];
            let mut bytes = [0; 4];
            let (units, bytes) =
                (&*letter.encode_utf16(&mut units), letter.encode_utf8(&mut bytes).as_bytes());
            match choices[place % choices.len()] % 8 {
                0 => bytes.iter().for_each(|byte| out += &format!("%{byte:02x}")),
                1 => bytes.iter().for_each(|byte| out += &format!("%{byte:02X}")),
                2 => units.iter().for_each(|unit| out += &format!("\\u{unit:04x}")),
                3 => units.iter().for_each(|unit| out += &format!("\\u{unit:04X}")),
                4 if letter.is_ascii_punctuation() => out += &format!("\\{letter}"),
                5 if letter == '/' => out += "%2F",
                // A mark of an escape has to be escaped itself.
                _ if letter == '%' => out += "%25",
                _ if letter == '\\' => out += "%5C",
                _ => out.push(letter),
            }
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

        #[test]
        #[ignore = "slow"]
        fn a_secret_is_found_however_it_is_escaped(
            secret in "[a-zA-Z0-9/+=&?\"<>%~. äßé😀\\\\-]{8,24}",
            choices in prop::collection::vec(0_u8..8, 1..30),
            before in "[ a-z%ß\\\\]{0,4}",
        ) {
            prop_assume!(secret.trim().len() >= SECRET_BYTES_MIN);
            let secret = secret.trim();
            let secrets = Secrets::new([secret.to_owned()]);
            let text = escaped(secret, &choices);
            // A mark before it takes part in the first escape, which is then another text.
            let before = before.trim_end_matches(['%', '\\']);
            let redacted = secrets.redact(&format!("{before}<{text}>")).into_owned();
            prop_assert!(redacted.contains(REDACTED), "{secret}: {text}");
            prop_assert!(redacted.starts_with(before) && redacted.len() <= before.len() + 16, "{redacted}");
        }

        #[test]
        #[ignore = "slow"]
        fn texts_without_a_secret_stay(text in "[a-z%\\\\0-9uß]{0,40}") {
            let secrets = Secrets::new(["SECRET-0123456789".to_owned()]);
            prop_assert!(matches!(secrets.redact(&text), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn a_secret_is_found_as_known_programs_escape_it() {
        for (secret, text) in [
            // Python: urllib.parse.quote, with and without `safe`; json.dumps.
            ("wJalr/K7MD+bPx=", "wJalr/K7MD%2BbPx%3D"),
            ("wJalr/K7MD+bPx=", "wJalr%2FK7MD%2BbPx%3D"),
            ("Grüße&12", r"Gr\u00fc\u00dfe&12"),
            // PHP, Go and JavaScript.
            ("wJalr/K7MD+bPx=", r"wJalr\/K7MD+bPx="),
            ("Grüße&12", r"Grüße\u002612"),
            ("key-12345", "key%2D12345"),
            ("key-12345", r"key\x2d12345"),
            // Of a form, where a blank is a plus.
            ("two words+1", "two+words%2B1"),
            // A URL in JSON, and JSON in a URL.
            ("pass\"word/1", r"pass%22word\/1"),
            ("pass\"word/1", "pass%5C%22word%2F1"),
            // In other letter case.
            ("Grüße-1234", "GRÜSSE-1234"),
            ("Élan-12345", "élan-12345"),
        ] {
            let redacted = Secrets::new([secret.to_owned()]).redact(&format!("<{text}>")).into_owned();
            assert_eq!(redacted, "<[key]>", "{secret}: {text}");
        }
    }

    #[test]
    fn arguments_are_searched_at_any_depth() {
        let secrets = Secrets::new(["sk-abcdefgh".into()]);
        let text = r#"{"a":["x",{"sk-abcdefgh":"y"}],"b":"a sk-abcdefgh b","c":{"d":"sk-abcdefgh"}}"#;
        let mut arguments = Arguments::from_text(text);
        secrets.redact_arguments(&mut arguments);
        assert_eq!(arguments.to_text(), text.replace("sk-abcdefgh", REDACTED));
        let mut arguments = Arguments::Malformed("{sk-abcdefgh".into());
        secrets.redact_arguments(&mut arguments);
        assert_eq!(arguments, Arguments::Malformed("{[key]".into()));
    }
}
