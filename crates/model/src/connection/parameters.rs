//! Fields of requests that a server turns out not to accept. The newest models of several providers refuse any request
//! with a temperature or stop texts, some servers know one name of a field and not the other, and most limit the
//! length of a reply.
//!
//! What a server means is not read from its wording, which differs from server to server: a refusal that names a field
//! of the request is taken for a refusal of that field. The request is repeated once without it, and only if the
//! repetition succeeds is the field left out of later requests as well.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use crate::turn_state::StatePart;
use crate::{ChatRequest, Message, ModelError, Settings};

/// Most names of state that a server can refuse; more than any server sends.
const STATE_NAMES_MAX: usize = 32;

/// A field that a request can go without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Parameter {
    Temperature = 1,
    Stop = 2,
    Seed = 4,
    /// The limit on written tokens under its old name, `max_tokens`; it is then sent under its new name.
    OldLimit = 8,
    /// The same under any name.
    Limit = 16,
    /// What a stream is asked to tell beside the reply.
    StreamOptions = 32,
}

/// The names of the limit on written tokens. The newest one, which several servers do not know, comes first.
const LIMIT_NAMES: [&str; 4] = [NEW_LIMIT, "max_tokens", "max_output_tokens", "max_new_tokens"];

const NEW_LIMIT: &str = "max_completion_tokens";

/// How requests to a model differ from what was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Refused {
    bits: u8,
    /// Most tokens of a reply, by the server's words.
    limit_max: Option<u32>,
    /// Fewest tokens that a reply may be limited to, by the server's words.
    limit_min: Option<u32>,
    /// State of earlier turns that is no longer sent back, by the names of its fields.
    state: Vec<Box<str>>,
}

/// The parts of a request that a refusal can name.
#[derive(Clone, Copy)]
pub(crate) struct Sent<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) messages: &'a [Message],
    pub(crate) is_streamed: bool,
    /// The protocol knows no request without a limit.
    pub(crate) needs_limit: bool,
}

impl<'a> Sent<'a> {
    /// A request for a turn of a conversation.
    pub(crate) fn of(request: &'a ChatRequest) -> Self {
        Self { messages: &request.messages, ..Self::text(&request.settings) }
    }

    /// A request to continue a plain text.
    pub(crate) fn text(settings: &'a Settings) -> Self {
        Self { settings, messages: &[], is_streamed: false, needs_limit: false }
    }
}

/// A request that failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) error: ModelError,
    /// The whole text of the server's refusal, where it is more than the message.
    pub(crate) text: Option<String>,
}

impl From<ModelError> for Failed {
    fn from(error: ModelError) -> Self {
        Self { error, text: None }
    }
}

impl Refused {
    pub(crate) fn these(parameters: &[Parameter]) -> Self {
        let bits = parameters.iter().fold(0, |bits, parameter| bits | *parameter as u8);
        Self { bits, ..Self::default() }
    }

    pub(crate) fn has(&self, parameter: Parameter) -> bool {
        self.bits & parameter as u8 != 0
    }

    /// Whether state of this name is not sent back.
    pub(crate) fn has_state(&self, name: &str) -> bool {
        self.state.iter().any(|refused| **refused == *name)
    }

    /// The settings without what is refused.
    pub(crate) fn removed_from<'a>(&self, settings: &'a Settings) -> Cow<'a, Settings> {
        let mut kept = Cow::Borrowed(settings);
        if self.has(Parameter::Temperature) && settings.temperature.is_some() {
            kept.to_mut().temperature = None;
        }
        if self.has(Parameter::Stop) && !settings.stop.is_empty() {
            kept.to_mut().stop.clear();
        }
        if self.has(Parameter::Seed) && settings.seed.is_some() {
            kept.to_mut().seed = None;
        }
        let limit = settings.output_tokens_max.filter(|_| !self.has(Parameter::Limit));
        let limit = limit.map(|limit| {
            let below = limit.min(self.limit_max.unwrap_or(u32::MAX));
            below.max(self.limit_min.unwrap_or(0))
        });
        if limit != settings.output_tokens_max {
            kept.to_mut().output_tokens_max = limit;
        }
        kept
    }

    /// What is refused beyond this if the failed request was refused for a field that it can go without.
    pub(crate) fn further(&self, failed: &Failed, sent: &Sent<'_>) -> Option<Self> {
        // The other statuses have meanings of their own: the key, the account, the path, a wait, the size.
        let ModelError::Status { status, message, .. } = &failed.error else { return None };
        let is_refusal = (400..500).contains(status)
            && !matches!(status, 401 | 402 | 403 | 404 | 405 | 407 | 408 | 409 | 410 | 413 | 429);
        if !is_refusal {
            return None;
        }
        let text = failed.text.as_deref().unwrap_or(message);
        // A server may repeat the whole request. What it complains of is likely to be named before that.
        let named = self.named(text, sent);
        let (_, first) = named.into_iter().min_by_key(|(place, _)| *place)?;
        let mut more = self.clone();
        match first {
            Named::Parameter(parameter) => more.bits |= parameter as u8,
            Named::State(name) => more.state.push(name.into()),
            Named::LimitAbove(limit) => more.limit_max = Some(limit),
            Named::LimitBelow(limit) => more.limit_min = Some(limit),
        }
        Some(more)
    }

    /// The refusable fields of the request that a text names, each with the place where it does.
    fn named<'a>(&self, text: &str, sent: &Sent<'a>) -> Vec<(usize, Named<'a>)> {
        let settings = self.removed_from(sent.settings);
        let mut named = Vec::new();
        let mut note = |names: &[&str], is_sent: bool, what: Named<'a>| {
            let places = names.iter().filter_map(|name| place_of(text, name));
            if let Some(place) = places.min().filter(|_| is_sent) {
                named.push((place, what));
            }
        };
        let parameter = Named::Parameter;
        note(&["temperature"], settings.temperature.is_some(), parameter(Parameter::Temperature));
        note(&["stop", "stop_sequences"], !settings.stop.is_empty(), parameter(Parameter::Stop));
        note(&["seed"], settings.seed.is_some(), parameter(Parameter::Seed));
        let has_options = sent.is_streamed && !self.has(Parameter::StreamOptions);
        note(&["stream_options", "include_usage"], has_options, parameter(Parameter::StreamOptions));
        if let Some(limit) = settings.output_tokens_max
            && let Some(change) = self.limit_change(text, limit, sent)
        {
            note(&LIMIT_NAMES, true, change);
        }
        let parts = sent.messages.iter().filter_map(|message| match message {
            Message::Assistant { state, .. } => Some(state.parts()),
            _ => None,
        });
        let names = parts.flatten().flat_map(StatePart::names);
        for name in names.filter(|name| !self.has_state(name)) {
            if self.state.len() < STATE_NAMES_MAX {
                note(&[name], true, Named::State(name));
            }
        }
        named
    }

    /// What to change about a limit on written tokens that the text of a refusal names.
    fn limit_change(&self, text: &str, limit: u32, sent: &Sent<'_>) -> Option<Named<'static>> {
        // The newer name is a hint at what the server wants instead of the old one.
        if place_of(text, NEW_LIMIT).is_some() && !sent.needs_limit && !self.has(Parameter::OldLimit) {
            return Some(Named::Parameter(Parameter::OldLimit));
        }
        // A server that takes another limit says which: the most, the least, or both ends of a range.
        let others = || numbers(text).filter(|number| *number != limit && *number > 0);
        if let Some(most) = others().filter(|number| *number < limit).max() {
            return (self.limit_max.is_none()).then_some(Named::LimitAbove(most));
        }
        if let Some(least) = others().min() {
            return (self.limit_min.is_none()).then_some(Named::LimitBelow(least));
        }
        (!sent.needs_limit).then_some(Named::Parameter(Parameter::Limit))
    }

    /// What is told to the user about a model, a sentence for each change of its requests; the temperature is told
    /// apart.
    pub(crate) fn notes(&self, model: &str) -> Vec<String> {
        let mut notes = Vec::new();
        if self.has(Parameter::Seed) {
            notes.push(format!("{model} refuses a seed and was asked without one"));
        }
        if self.has(Parameter::Limit) {
            notes.push(format!("{model} refuses a limit on the tokens of a reply and was asked without one"));
        }
        if let Some(most) = self.limit_max {
            notes.push(format!(
                "{model} refuses a limit of more than {most} tokens a reply and was asked for at most so many"
            ));
        }
        if let Some(least) = self.limit_min {
            notes.push(format!(
                "{model} refuses a limit of less than {least} tokens a reply and was asked for at most so many"
            ));
        }
        if !self.state.is_empty() {
            let names = self.state.join(", ");
            notes.push(format!(
                "{model} does not take back {names} of its earlier turns, which were left out"
            ));
        }
        notes
    }

    /// Both of these.
    fn and(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.bits |= other.bits;
        both.limit_max = both.limit_max.into_iter().chain(other.limit_max).min();
        both.limit_min = both.limit_min.into_iter().chain(other.limit_min).max();
        both.state.extend(other.state.iter().filter(|name| !self.has_state(name)).cloned());
        both
    }
}

/// A field that the text of a refusal names.
#[derive(Debug, Clone, Copy)]
enum Named<'a> {
    Parameter(Parameter),
    State(&'a str),
    /// The limit is too high; this is the most.
    LimitAbove(u32),
    /// The limit is too low; this is the least.
    LimitBelow(u32),
}

/// The refusals found by all requests to a model. Entries are never removed.
#[derive(Debug, Default)]
pub(crate) struct Found(Mutex<Arc<Refused>>);

impl Found {
    pub(crate) fn new(known: Refused) -> Self {
        Self(Mutex::new(Arc::new(known)))
    }

    pub(crate) fn now(&self) -> Arc<Refused> {
        // The lock protects a pointer, which is right whatever panicked.
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds what a request that then succeeded was changed by.
    pub(crate) fn add(&self, found: &Refused) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Arc::new(known.and(found));
    }
}

/// Where a text names a field, in letters of either case: as a whole word, whose parts may be joined in other ways
/// (`max_tokens`, `max-tokens`, `maxTokens`).
fn place_of(text: &str, name: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    (0..bytes.len()).find(|at| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        if is_part(before) {
            return false;
        }
        end_of(&bytes[*at..], name.as_bytes()).is_some_and(|length| !is_part(bytes.get(at + length)))
    })
}

/// The length of the name at the beginning of the text.
fn end_of(text: &[u8], name: &[u8]) -> Option<usize> {
    let mut at = 0;
    for part in name.split(|byte| *byte == b'_') {
        if at > 0 && matches!(text.get(at), Some(b'_' | b'-')) {
            at += 1;
        }
        let found = text.get(at..at + part.len())?;
        if !found.eq_ignore_ascii_case(part) {
            return None;
        }
        at += part.len();
    }
    (at > 0).then_some(at)
}

/// The whole numbers that stand alone in a text, and not in a name or a version.
fn numbers(text: &str) -> impl Iterator<Item = u32> {
    let is_separator = |c: char| c.is_whitespace() || "()[]{}<>=:;\"'`,".contains(c);
    // A comma between digits is a part of the number.
    let bytes = text.as_bytes();
    let splits = move |(at, c): (usize, char)| {
        let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
        let is_in_number = c == ',' && digit(at.checked_sub(1)) && {
            let after = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            after == 3
        };
        is_separator(c) && !is_in_number
    };
    let mut words = vec![String::new()];
    for (at, c) in text.char_indices() {
        if splits((at, c)) {
            words.push(String::new());
        } else if let Some(word) = words.last_mut().filter(|_| c != ',') {
            word.push(c);
        }
    }
    words.into_iter().filter_map(|word| word.trim_end_matches('.').parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(status: u16, text: &str) -> Failed {
        let (url, message) = ("u".to_owned(), text.to_owned());
        ModelError::Status { url, status, message, retry_after: None }.into()
    }

    fn settings() -> Settings {
        Settings {
            temperature: Some(0.0),
            output_tokens_max: Some(4096),
            seed: Some(7),
            stop: vec!["END".to_owned()],
            ..Settings::default()
        }
    }

    /// The settings of the repeated request; `None` if it is not repeated.
    fn repeated(settings: &Settings, status: u16, text: &str) -> Option<(Settings, Refused)> {
        let sent = Sent { settings, messages: &[], is_streamed: true, needs_limit: false };
        let refused = Refused::default().further(&failed(status, text), &sent)?;
        Some((refused.removed_from(settings).into_owned(), refused))
    }

    #[test]
    fn a_refusal_that_names_a_field_leaves_it_out() {
        let all = settings();
        let without_temperature = Settings { temperature: None, ..all.clone() };
        let without_stop = Settings { stop: Vec::new(), ..all.clone() };
        let without_seed = Settings { seed: None, ..all.clone() };
        let without_limit = Settings { output_tokens_max: None, ..all.clone() };
        let at_most = |limit| Settings { output_tokens_max: Some(limit), ..all.clone() };
        let cases = [
            (
                "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
                &without_temperature,
            ),
            ("invalid temperature: only 1 is allowed for this model", &without_temperature),
            ("`temperature` (=0.0) has to be a strictly positive float", &without_temperature),
            ("invalid request: Temperature must be between 0.01 and 1.0 inclusive.", &without_temperature),
            ("temperature 与 thinking 不能同时使用", &without_temperature),
            ("Unsupported parameter: 'stop' is not supported with this model.", &without_stop),
            ("stop_sequences: Extra inputs are not permitted", &without_stop),
            ("Invalid 'stop': array too long. Expected an array with maximum length 0.", &without_stop),
            (
                r#"{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}"#,
                &without_seed,
            ),
            (r#"Invalid JSON payload received. Unknown name "seed": Cannot find field."#, &without_seed),
            ("seed: Input should be less than or equal to 2147483647", &without_seed),
            ("max_tokens is not allowed", &without_limit),
            (
                "max_tokens is not supported by claude-3-opus-20240229 or gpt-4-32k-0613 (v1.5)",
                &without_limit,
            ),
            ("Unknown name \"maxTokens\"", &without_limit),
            (
                "max_tokens is too large: 4096. This model supports at most 2048 completion tokens.",
                &at_most(2048),
            ),
            (
                "max_tokens: 4096 > 1,024, which is the maximum allowed for claude-3-opus-20240229",
                &at_most(1024),
            ),
            ("Range of max_tokens should be [1, 2000]", &at_most(2000)),
            ("Expected a value >= 5000 for 'max_output_tokens', but got 4096 instead.", &at_most(5000)),
            // What is named first counts, because some servers repeat the request.
            (r#"seed is unknown. Body: {"temperature":0.0,"seed":7,"stop":["END"]}"#, &without_seed),
        ];
        for (text, expected) in cases {
            for status in [400, 406, 415, 422] {
                assert_eq!(
                    repeated(&all, status, text).map(|(settings, _)| settings).as_ref(),
                    Some(expected),
                    "{text}"
                );
            }
            for status in [200, 401, 403, 404, 413, 429, 500, 503] {
                assert!(repeated(&all, status, text).is_none(), "{status} {text}");
            }
        }
        for text in
            ["", "tools are not supported", "the unstoppable seeding is not supported", "no temperatures"]
        {
            assert!(repeated(&all, 400, text).is_none(), "{text}");
        }
        for (text, parameter) in [
            (
                "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
                Parameter::OldLimit,
            ),
            ("Unrecognized request argument supplied: stream_options", Parameter::StreamOptions),
        ] {
            let (same, refused) = repeated(&all, 400, text).unwrap();
            assert!(same == all && refused.has(parameter), "{text}");
        }
        let none = Settings::default();
        assert!(
            repeated(&none, 400, "temperature, max_tokens, seed and stop are unknown").is_none(),
            "none is sent"
        );
    }

    #[test]
    fn a_limit_that_the_protocol_needs_is_never_left_out() {
        let settings = settings();
        let sent = Sent { settings: &settings, messages: &[], is_streamed: false, needs_limit: true };
        let further = |text| Refused::default().further(&failed(400, text), &sent);
        assert!(further("max_tokens is not allowed").is_none());
        assert_eq!(further("max_tokens: 4096 > 2048").unwrap().limit_max, Some(2048));
        assert!(further("use max_completion_tokens instead of max_tokens").is_none());
    }

    #[test]
    fn each_field_is_given_up_once() {
        let settings = settings();
        let sent = Sent { settings: &settings, messages: &[], is_streamed: true, needs_limit: false };
        let mut refused = Refused::default();
        let mut repetitions = 0;
        let text = r#"no: {"temperature":0,"max_tokens":9,"max_completion_tokens":9,"seed":7,"stop":[],"stream_options":{}}"#;
        while let Some(more) = refused.further(&failed(400, text), &sent) {
            refused = more;
            repetitions += 1;
        }
        // The limit twice: under its new name, and then as long as the server says.
        assert_eq!(repetitions, 6, "{refused:?}");
    }

    #[test]
    fn what_is_found_is_kept() {
        let known = Refused::these(&[Parameter::Temperature, Parameter::Stop]);
        let settings = settings();
        let expected = Settings { temperature: None, stop: Vec::new(), ..settings.clone() };
        assert_eq!(*known.removed_from(&settings), expected);
        assert!(matches!(known.removed_from(&expected), Cow::Borrowed(_)));
        let found = Found::new(known);
        found.add(&Refused { limit_max: Some(9), ..Refused::these(&[Parameter::Seed]) });
        found.add(&Refused { limit_max: Some(12), ..Refused::default() });
        let now = found.now();
        assert!(now.has(Parameter::Temperature) && now.has(Parameter::Seed) && now.limit_max == Some(9));
        assert_eq!(
            now.notes("openai/m"),
            [
                "openai/m refuses a seed and was asked without one",
                "openai/m refuses a limit of more than 9 tokens a reply and was asked for at most so many",
            ]
        );
    }
}
