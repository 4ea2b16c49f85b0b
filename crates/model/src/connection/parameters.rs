//! Fields of requests that a server turns out not to accept. The newest models of several providers refuse any request
//! with a temperature or stop texts, some servers know one name of a field and not the other, and most limit the
//! length of a reply.
//!
//! What a server means is not read from its wording, which differs from server to server: a refusal that names a field
//! of the request is taken for a refusal of that field. The request is repeated once without it, and only if the
//! repetition succeeds is the field left out of later requests as well. What was refused is never sent again unchanged
//! ([`Learnt`]).

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::turn_state::StatePart;
use crate::{ChatRequest, Message, ModelError, Settings};

/// Most limits on the tokens of a reply that are tried for one request.
const LIMIT_TRIES_MAX: u32 = 6;

/// Fewest tokens of a reply that are tried where a server does not say for how many it has room.
const ROOM_MIN: u32 = 256;

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
const LIMIT_NAMES: [&str; 4] = [NEW_LIMIT, OLD_LIMIT, "max_output_tokens", "max_new_tokens"];

const NEW_LIMIT: &str = "max_completion_tokens";

const OLD_LIMIT: &str = "max_tokens";

/// How requests to a model differ from what was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Refused {
    bits: u8,
    /// Most tokens of a reply, by the server's words.
    limit_max: Option<u32>,
    /// Fewest tokens that a reply may be limited to, by the server's words.
    limit_min: Option<u32>,
    /// The context of the model in tokens, by the server's words.
    context: Option<u32>,
    /// What is known of the limit of this one request. It is not kept for others, whose prompts are longer or shorter.
    this: ThisLimit,
    /// State of earlier turns that is no longer sent back, by the names of its fields.
    state: Vec<Box<str>>,
}

/// Limits on the tokens of one reply that were refused, and what is left to try.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ThisLimit {
    /// Most tokens for which the context has room beside the prompt.
    room: Option<u32>,
    /// The least one that was refused as too high.
    too_high: Option<u32>,
    /// The highest one that was refused as too low.
    too_low: Option<u32>,
    /// How many were refused.
    tries: u32,
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
#[derive(Debug, Clone)]
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
            // Whatever is the least otherwise, more than there is room for is refused.
            below.max(self.limit_min.unwrap_or(0)).min(self.this.room.unwrap_or(u32::MAX))
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
            && !matches!(status, 401 | 402 | 403 | 404 | 405 | 407 | 408 | 409 | 410 | 413 | 424 | 429);
        if !is_refusal {
            return None;
        }
        let text = failed.text.as_deref().unwrap_or(message);
        // A server may repeat the whole request. What it complains of is likely to be named before that.
        let named = self.named(text, sent);
        let (_, first) = named.into_iter().min_by_key(|(place, _)| *place)?;
        let mut more = self.clone();
        let limit = self.removed_from(sent.settings).output_tokens_max;
        match first {
            Named::LimitAbove(_) | Named::Room { .. } => {
                more.this.too_high = more.this.too_high.into_iter().chain(limit).min();
                more.this.tries += 1;
            }
            Named::LimitBelow(_) => {
                more.this.too_low = more.this.too_low.max(limit);
                more.this.tries += 1;
            }
            Named::Parameter(_) | Named::State(_) => {}
        }
        match first {
            Named::Parameter(parameter) => more.bits |= parameter as u8,
            Named::State(name) => more.state.push(name.into()),
            Named::LimitAbove(limit) => more.limit_max = Some(limit),
            Named::LimitBelow(limit) => more.limit_min = Some(limit),
            Named::Room { context, room } => {
                more.context = context.or(more.context);
                more.this.room = Some(room);
            }
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
            if matches!(change, Named::Room { .. }) {
                note(&["context", "inputs"], true, change);
            }
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
        // What surrounds the message has numbers, too: those of the error.
        let message = message_of(text);
        let words = message.as_deref().unwrap_or(text);
        let given: Vec<u32> = numbers(words).filter(|number| *number > 0).collect();
        let ThisLimit { too_high, too_low, tries, .. } = self.this;
        let is_lower =
            |new: u32| new < limit && new < too_high.unwrap_or(u32::MAX) && new > too_low.unwrap_or(0);
        // Once a limit was too high, none is raised again.
        let is_higher = |new: u32| new > limit && new > too_low.unwrap_or(0) && too_high.is_none();
        // The newer name is a hint at what the server wants instead of the old one, unless it is the limit itself that
        // is too high under either name.
        let names_old = place_of(text, OLD_LIMIT).is_some();
        let is_of_value = given.contains(&limit) || (!names_old && given.iter().any(|new| *new < limit));
        let is_of_name = place_of(text, NEW_LIMIT).is_some() && !is_of_value;
        if is_of_name && !sent.needs_limit && !self.has(Parameter::OldLimit) {
            return Some(Named::Parameter(Parameter::OldLimit));
        }
        if tries < LIMIT_TRIES_MAX {
            if let Some((context, room)) = room_in(words, &given, limit).filter(|(_, room)| is_lower(*room)) {
                return Some(Named::Room { context: Some(context), room });
            }
            // A server that takes another limit says which: the most, the least, or both ends of a range.
            let most = given.iter().copied().filter(|new| is_lower(*new)).max();
            if let Some(most) = most.filter(|_| too_high.is_none()) {
                return Some(Named::LimitAbove(most));
            }
            // What it named is too high, too.
            if self.limit_max == Some(limit) || too_high.is_some() {
                let lower = words.to_ascii_lowercase();
                let half = (limit / 2).max(ROOM_MIN);
                if lower.contains("less than") && given.contains(&limit) && is_lower(limit.saturating_sub(1))
                {
                    return Some(Named::LimitAbove(limit - 1));
                }
                if lower.contains("context") && is_lower(half) {
                    return Some(Named::Room { context: None, room: half });
                }
            }
            if let Some(least) = given.iter().copied().filter(|new| is_higher(*new)).min() {
                return Some(Named::LimitBelow(least));
            }
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
        if let Some(context) = self.context {
            notes.push(format!(
                "{model} has a context of {context} tokens and was asked for replies that fit behind their prompts"
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
        both.context = both.context.into_iter().chain(other.context).min();
        both.this = ThisLimit::default();
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
    /// The context has room for so many tokens behind this prompt.
    Room {
        context: Option<u32>,
        room: u32,
    },
}

/// The context of a model and what the prompt leaves of it, by the numbers of a refusal of so many more tokens.
///
/// Servers write the context, the tokens of the prompt and mostly both together with the limit, in any order. They are
/// distinguished by their sizes: the prompt fits into the context, and the limit behind it does not.
fn room_in(words: &str, given: &[u32], limit: u32) -> Option<(u32, u32)> {
    let lower = words.to_ascii_lowercase();
    if !lower.contains("context") && !lower.contains("`inputs`") {
        return None;
    }
    let mut others: Vec<u32> = given.iter().copied().filter(|number| *number != limit).collect();
    others.sort_unstable();
    others.dedup();
    // The context may be as large as the limit.
    let is_context_too = given.iter().filter(|number| **number == limit).count() > 1;
    let with_limit = |prompt: u32| prompt.saturating_add(limit);
    let summed = others.iter().copied().find(|prompt| others.contains(&with_limit(*prompt)));
    let (context, prompt) = match (summed, &others[..]) {
        (Some(prompt), others) => {
            let between = |number: &u32| (prompt + 1..with_limit(prompt)).contains(number);
            let context = others.iter().copied().filter(between).max();
            (context.or(is_context_too.then_some(limit))?, prompt)
        }
        (None, [.., prompt, context]) => (*context, *prompt),
        (None, [prompt]) if is_context_too => (limit, *prompt),
        (None, _) => return None,
    };
    let room = context.checked_sub(prompt)?;
    (room > 0 && room < limit).then_some((context, room))
}

/// What one request has learnt from its refusals, over all its attempts.
pub(crate) struct Learnt {
    refused: Arc<Refused>,
    is_changed: bool,
    /// The bodies that were refused, by their digests, and what the server said.
    rejected: Vec<(u64, Failed)>,
}

impl Learnt {
    /// Of a request to a model of which this is known.
    pub(crate) fn new(known: Arc<Refused>) -> Self {
        Self { refused: known, is_changed: false, rejected: Vec::new() }
    }

    /// What the next request leaves out.
    pub(crate) fn refused(&self) -> Arc<Refused> {
        Arc::clone(&self.refused)
    }

    /// What is new for all later requests, now that this one has succeeded.
    pub(crate) fn news(&self) -> Option<&Refused> {
        self.is_changed.then_some(&*self.refused)
    }

    /// The server's answer to this body, if it refused it.
    pub(crate) fn rejection(&self, body: &[u8]) -> Option<Failed> {
        // Mostly nothing was refused, and no digest is needed.
        let digest = (!self.rejected.is_empty()).then(|| digest_of(body))?;
        self.rejected.iter().find(|(known, _)| *known == digest).map(|(_, failed)| failed.clone())
    }

    /// The server has refused this body.
    ///
    /// # Errors
    /// The refusal, if the request cannot be changed.
    pub(crate) fn change(&mut self, body: &[u8], failed: Failed, sent: &Sent<'_>) -> Result<(), ModelError> {
        let Some(more) = self.refused.further(&failed, sent) else { return Err(failed.error) };
        let digest = digest_of(body);
        (self.refused, self.is_changed) = (Arc::new(more), true);
        self.rejected.push((digest, failed));
        Ok(())
    }
}

/// The digest of a body, the same for equal bodies.
fn digest_of(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(body);
    hasher.finish()
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

/// The message in the text of a refusal, if that is JSON of one of the common forms.
fn message_of(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let message = ["/error/message", "/0/error/message", "/message", "/detail"]
        .into_iter()
        .find_map(|it| value.pointer(it));
    message?.as_str().map(str::to_owned)
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
mod tests;
