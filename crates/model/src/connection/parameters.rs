//! Settings that a model turns out not to accept. The newest models of several providers refuse any request with a
//! temperature or stop texts, and some servers know one name of a field and not the other.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::{ModelError, Settings};

/// A setting that some models always refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Parameter {
    Temperature = 1,
    Stop = 2,
    Seed = 4,
    /// The limit on written tokens under its old name, `max_tokens`.
    OldLimit = 8,
}

impl Parameter {
    const ALL: [Self; 4] = [Self::Temperature, Self::Stop, Self::Seed, Self::OldLimit];

    /// Whether a request with these settings has it.
    fn is_in(self, settings: &Settings) -> bool {
        match self {
            Self::Temperature => settings.temperature.is_some(),
            Self::Stop => !settings.stop.is_empty(),
            Self::Seed => settings.seed.is_some(),
            Self::OldLimit => settings.output_tokens_max.is_some(),
        }
    }

    /// Whether a server's message, in lower case, refuses it by name.
    fn is_refused_by(self, message: &str) -> bool {
        let names = |name| has_word(message, name);
        match self {
            Self::Temperature => names("temperature"),
            Self::Stop => names("stop") || names("stop_sequences"),
            Self::Seed => names("seed"),
            // A limit that is too large is refused by name, too. Only the hint at the other name distinguishes the two.
            Self::OldLimit => names("max_tokens") && names("max_completion_tokens"),
        }
    }
}

/// Phrases of servers that refuse a field altogether, as opposed to its value.
const REFUSALS: [&str; 8] = [
    "support",
    "deprecated",
    "not permitted",
    "not allowed",
    "unknown",
    "unrecognized",
    "unexpected",
    "extra_forbidden",
];

/// The settings that a model is known to refuse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Refused(u8);

impl Refused {
    /// These.
    pub(crate) fn these(parameters: &[Parameter]) -> Self {
        Self(parameters.iter().fold(0, |bits, parameter| bits | *parameter as u8))
    }

    pub(crate) fn has(self, parameter: Parameter) -> bool {
        self.0 & parameter as u8 != 0
    }

    /// The settings without what is refused.
    pub(crate) fn removed_from(self, settings: &Settings) -> Cow<'_, Settings> {
        let drops = |parameter: Parameter| self.has(parameter) && parameter.is_in(settings);
        // `OldLimit` removes nothing: the limit is sent under its new name instead.
        if ![Parameter::Temperature, Parameter::Stop, Parameter::Seed].into_iter().any(drops) {
            return Cow::Borrowed(settings);
        }
        let mut kept = settings.clone();
        if drops(Parameter::Temperature) {
            kept.temperature = None;
        }
        if drops(Parameter::Stop) {
            kept.stop.clear();
        }
        if drops(Parameter::Seed) {
            kept.seed = None;
        }
        Cow::Owned(kept)
    }

    /// The setting that the error refuses beyond those already refused, if it refuses one.
    pub(crate) fn one_more(self, error: &ModelError, settings: &Settings) -> Option<Parameter> {
        // Only these statuses say that the request itself is wrong.
        let ModelError::Status { status: 400 | 422, message, .. } = error else { return None };
        let message = message.to_ascii_lowercase();
        // Servers also name the field if only its value is wrong, such as a temperature of 3. The user has to learn of
        // that, so it must not be mistaken for a refusal of the field.
        if !REFUSALS.iter().any(|word| message.contains(word)) {
            return None;
        }
        let mut sent = Parameter::ALL.into_iter().filter(|it| it.is_in(settings) && !self.has(*it));
        sent.find(|parameter| parameter.is_refused_by(&message))
    }
}

/// The refusals found by all requests to a model. Entries are never removed.
#[derive(Debug, Default)]
pub(crate) struct Found(AtomicU8);

impl Found {
    pub(crate) fn new(known: Refused) -> Self {
        Self(AtomicU8::new(known.0))
    }

    pub(crate) fn now(&self) -> Refused {
        // Relaxed is enough, because no other memory depends on these bits. A request that misses one is refused and
        // repeated.
        Refused(self.0.load(Ordering::Relaxed))
    }

    pub(crate) fn add(&self, parameter: Parameter) {
        self.0.fetch_or(parameter as u8, Ordering::Relaxed);
    }
}

/// Whether a name occurs in a text as a whole word.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_a_field_are_told_from_other_refusals() {
        let settings = Settings {
            temperature: Some(0.0),
            output_tokens_max: Some(9),
            seed: Some(7),
            stop: vec!["END".to_owned()],
            ..Settings::default()
        };
        let refused = |status, message: &str| {
            let (url, message) = ("u".to_owned(), message.to_owned());
            let error = ModelError::Status { url, status, message, retry_after: None };
            Refused::default().one_more(&error, &settings)
        };
        let cases = [
            (
                "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
                Parameter::Temperature,
            ),
            (
                "Unsupported parameter: 'temperature' is not supported with this model.",
                Parameter::Temperature,
            ),
            ("`temperature` is deprecated for this model.", Parameter::Temperature),
            ("Unsupported parameter: 'stop' is not supported with this model.", Parameter::Stop),
            ("stop_sequences: Extra inputs are not permitted", Parameter::Stop),
            (
                r#"{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}"#,
                Parameter::Seed,
            ),
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Parameter::OldLimit,
            ),
        ];
        for (message, parameter) in cases {
            assert_eq!(refused(400, message), Some(parameter), "{message}");
            assert_eq!(refused(422, message), Some(parameter), "{message}");
            assert_eq!(refused(429, message), None);
        }
        for message in [
            "temperature: Input should be less than or equal to 1",
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
            "tools are not supported",
            "the unstoppable seeding is not supported",
            "",
        ] {
            assert_eq!(refused(400, message), None, "{message}");
        }
        let known = Refused::these(&[Parameter::Temperature, Parameter::Stop]);
        let expected = Settings { temperature: None, stop: Vec::new(), ..settings.clone() };
        assert_eq!(*known.removed_from(&settings), expected);
        assert!(matches!(known.removed_from(&expected), Cow::Borrowed(_)));
    }
}
