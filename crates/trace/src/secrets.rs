//! Texts that must not be written anywhere, and how they are kept out.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{Arguments, CallId, EndReason, EventKind, ToolCall, ToolResult};

/// What stands in the place of a secret.
pub const REDACTED: &str = "[key]";

/// Shorter texts are no secrets: they would turn up by chance.
pub const SECRET_BYTES_MIN: usize = 8;

/// Keys that we hold. Whatever is recorded is searched for them, and [`REDACTED`] is put in their place, also where a
/// key is a part of a longer text. Costs nothing while there is none; otherwise a search of each text for each key.
#[derive(Clone, Default)]
pub struct Secrets(Arc<[String]>);

impl Secrets {
    /// These secrets. Blanks around them do not count, and those shorter than [`SECRET_BYTES_MIN`] are left out.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut texts = Vec::new();
        for secret in secrets {
            let secret = secret.trim();
            if secret.len() < SECRET_BYTES_MIN {
                continue;
            }
            // Within JSON that stands as text in a text, a quote or a backslash of the key is escaped.
            let escaped = Value::from(secret).to_string();
            texts.push(escaped[1..escaped.len() - 1].to_owned());
            texts.push(secret.to_owned());
        }
        Self::sorted(texts)
    }

    /// One secret may be a part of another, which must then go first.
    fn sorted(mut texts: Vec<String>) -> Self {
        texts.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        texts.dedup();
        Self(texts.into())
    }

    /// These and one more.
    #[must_use]
    pub fn with(&self, secret: String) -> Self {
        let mut all = Self::new([secret]).0.to_vec();
        all.extend_from_slice(&self.0);
        Self::sorted(all)
    }

    /// Those that are in none of these texts. A placeholder such as `benchmark` may stand in the place of a key, and to
    /// take it out of texts of our own, such as names of tools, would change what happened.
    #[must_use]
    pub fn apart_from<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut left = self.clone();
        for text in texts {
            if left.0.iter().any(|secret| text.contains(secret.as_str())) {
                left.0 = left.0.iter().filter(|secret| !text.contains(secret.as_str())).cloned().collect();
            }
        }
        left
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text without any secret.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut redacted = Cow::Borrowed(text);
        for secret in self.0.iter().filter(|secret| text.contains(secret.as_str())) {
            redacted = Cow::Owned(redacted.replace(secret.as_str(), REDACTED));
        }
        redacted
    }

    /// The arguments of a call without any secret, in keys and values at any depth.
    pub fn redact_arguments(&self, arguments: &mut Arguments) {
        match arguments {
            Arguments::Malformed(text) => self.redact_text(text),
            Arguments::Object(object) => self.redact_object(object),
        }
    }

    /// What happened, without any secret.
    pub(crate) fn redact_event(&self, kind: &mut EventKind) {
        match kind {
            EventKind::Query { text } | EventKind::Turn { text, .. } => self.redact_text(text),
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
            EventKind::Result(ToolResult { id, text, is_error: _, is_held_back: _, attachments: _ }) => {
                self.redact_id(id);
                self.redact_text(text);
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

    fn redact_object(&self, object: &mut Map<String, Value>) {
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
            Value::Object(object) => self.redact_object(object),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
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
    fn what_stands_in_our_own_texts_is_no_secret() {
        let secrets = Secrets::new(["benchmark".into(), "sk-abcdefgh".into()]);
        let left = secrets.apart_from(["a", "browser_benchmark_comparison"]);
        assert_eq!(left.redact("benchmark sk-abcdefgh"), "benchmark [key]");
        assert_eq!(secrets.apart_from([]).redact("benchmark sk-abcdefgh"), "[key] [key]");
        assert_eq!(left.with("benchmark".into()).redact("benchmark sk-abcdefgh"), "[key] [key]");
    }

    #[test]
    fn a_secret_is_found_in_escaped_text() {
        let secrets = Secrets::new(["pass\"word\\1".into()]);
        assert_eq!(secrets.redact(r#"{"key": "pass\"word\\1"}"#), r#"{"key": "[key]"}"#);
        assert_eq!(secrets.redact(r#"pass"word\1"#), "[key]");
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
