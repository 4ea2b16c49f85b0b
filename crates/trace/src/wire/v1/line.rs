//! The lines as types, and their conversion from and to the types in memory.

use std::borrow::Cow;

use serde::de::value::BorrowedStrDeserializer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::SCHEMA;
use crate::faults::SentAs;
use crate::{
    Actor, Arguments, Attachment, Attachments, Author, CallId, Continuation, EndReason, Event, EventKind,
    FinishReason, Header, LimitKind, PictureType, Tally, ToolCall, ToolResult, Usage,
};

/// The part of a line that identifies its type.
#[derive(Deserialize)]
pub(super) struct Head {
    pub(super) schema: Option<String>,
    pub(super) r#type: Option<Type>,
    pub(super) reason: Option<Reason>,
}

/// The type of a line that begins like those that we write, with the reason if it is the end of a run. It is a guess,
/// because the rest of the line is not examined; `None` if the line begins in another way.
pub(super) fn glance(line: &str) -> Option<(Type, Option<Reason>)> {
    let rest = line.strip_prefix("{\"at\":")?.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match rest.strip_prefix(",\"actor\":\"") {
        // An escaped name could contain a quote, so the whole line has to be parsed.
        Some(rest) => rest.split_once('"').filter(|(name, _)| !name.contains('\\'))?.1,
        None => rest,
    };
    let (word, rest) = rest.strip_prefix(",\"type\":\"")?.split_once('"')?;
    let r#type = known::<Type>(word)?;
    let reason = match r#type {
        Type::End => known(rest.strip_prefix(",\"reason\":\"")?.split_once('"')?.0),
        _ => None,
    };
    Some((r#type, reason))
}

fn known<'a, T: Deserialize<'a>>(word: &'a str) -> Option<T> {
    T::deserialize(BorrowedStrDeserializer::<serde::de::value::Error>::new(word)).ok()
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Type {
    Query,
    Turn,
    Batch,
    Call,
    Result,
    Spec,
    Section,
    Correction,
    Tally,
    End,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reason {
    Answered,
    LimitReached,
    AgentFailed,
    Unscored,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Finish {
    Stop,
    ToolCalls,
    Length,
    ContentFilter,
    Cut,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Way {
    Text,
    PartialTurn,
    Chat,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Writer {
    User,
    Model,
    Environment,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Limit {
    WallMs,
    Iterations,
    OutputBytes,
    TextBytes,
    ReplyTokens,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderLine<'a> {
    #[serde(borrow)]
    schema: Cow<'a, str>,
    #[serde(borrow)]
    agent: Cow<'a, str>,
    model: Option<Cow<'a, str>>,
    simulated: bool,
    #[serde(borrow)]
    case: Cow<'a, str>,
    repeat: u32,
    #[serde(borrow)]
    seed: Cow<'a, str>,
    #[serde(borrow)]
    clock: Cow<'a, str>,
    #[serde(borrow)]
    version: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryLine<'a> {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<Cow<'a, str>>,
    r#type: Type,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnLine<'a> {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<Cow<'a, str>>,
    r#type: Type,
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    reasoning: Cow<'a, str>,
    calls: u32,
    finish: Finish,
    #[serde(deserialize_with = "crate::bounded::count")]
    input_tokens: u64,
    #[serde(deserialize_with = "crate::bounded::count")]
    output_tokens: u64,
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "crate::bounded::count")]
    reasoning_tokens: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchLine<'a> {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<Cow<'a, str>>,
    r#type: Type,
    #[serde(borrow)]
    calls: Vec<Cow<'a, str>>,
}

/// When writing, `A` is the object itself. When reading, it is the object's text, parsed afterwards, so that
/// arguments with the deepest possible JSON nesting can be read back although the surrounding line adds one level.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine<'a, A> {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<Cow<'a, str>>,
    r#type: Type,
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<A>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments_text: Option<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultLine<'a> {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<Cow<'a, str>>,
    r#type: Type,
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
    is_error: bool,
    // As planproof wrote it before anything was released.
    #[serde(default, alias = "held_back", skip_serializing_if = "is_false")]
    denied: bool,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    denied_by: Vec<Cow<'a, str>>,
    /// How an injected failure was sent, unless as a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sent: Option<Sent>,
    /// How long no answer came.
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "crate::bounded::count")]
    wait_ms: u64,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    attachments: Vec<AttachmentLine<'a>>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Sent {
    Rpc,
    Closed,
    Timeout,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AttachmentLine<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    r#type: Picture,
    #[serde(borrow)]
    data: Cow<'a, str>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Picture {
    #[serde(rename = "image/png")]
    Png,
    #[serde(rename = "image/jpeg")]
    Jpeg,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpecLine<'a> {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<Cow<'a, str>>,
    r#type: Type,
    #[serde(borrow)]
    name: Cow<'a, str>,
    continuation: Way,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SectionLine<'a> {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<Cow<'a, str>>,
    r#type: Type,
    #[serde(borrow)]
    state: Cow<'a, str>,
    author: Writer,
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    note: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CorrectionLine<'a> {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<Cow<'a, str>>,
    r#type: Type,
    #[serde(borrow)]
    violation: Cow<'a, str>,
    #[serde(borrow)]
    appended: Cow<'a, str>,
    #[serde(deserialize_with = "crate::bounded::count")]
    discarded_bytes: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TallyLine<'a> {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<Cow<'a, str>>,
    r#type: Type,
    #[serde(deserialize_with = "crate::bounded::count")]
    corrections: u64,
    #[serde(deserialize_with = "crate::bounded::count")]
    escalations: u64,
    #[serde(deserialize_with = "crate::bounded::count")]
    discarded_bytes: u64,
    #[serde(deserialize_with = "crate::bounded::count")]
    discarded_tokens: u64,
    #[serde(deserialize_with = "crate::bounded::count")]
    repeated_tokens: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnsweredLine<'a> {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<Cow<'a, str>>,
    r#type: Type,
    reason: Reason,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitLine<'a> {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<Cow<'a, str>>,
    r#type: Type,
    reason: Reason,
    limit: Limit,
    value: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FailureLine<'a> {
    at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<Cow<'a, str>>,
    r#type: Type,
    reason: Reason,
    #[serde(borrow)]
    message: Cow<'a, str>,
}

/// The fault of a line: a byte of it, from 1 (0: the whole line), and words.
pub(super) struct LineError {
    pub(super) column: usize,
    pub(super) what: String,
    /// The line ends where more was due.
    pub(super) is_cut: bool,
}

impl LineError {
    fn new(what: impl Into<String>) -> Self {
        Self { column: 0, what: what.into(), is_cut: false }
    }
}

impl From<serde_json::Error> for LineError {
    fn from(error: serde_json::Error) -> Self {
        let message = error.to_string();
        // The position is removed from the message; `serde_json` counts lines within this one line.
        let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
        Self { column: error.column(), what: what.to_owned(), is_cut: error.is_eof() }
    }
}

pub(super) fn write_header(header: &Header, out: &mut Vec<u8>) {
    let line = HeaderLine {
        schema: SCHEMA.into(),
        agent: (&header.agent).into(),
        model: header.model.as_ref().map(Into::into),
        simulated: header.simulated,
        case: (&header.case).into(),
        repeat: header.repeat,
        seed: header.seed.to_string().into(),
        clock: (&header.clock).into(),
        version: (&header.version).into(),
    };
    write(&line, out);
}

pub(super) fn read_header(line: &str) -> Result<Header, LineError> {
    let line: HeaderLine<'_> = serde_json::from_str(line)?;
    // `parse` alone would accept a plus sign.
    let is_decimal = line.seed.bytes().all(|byte| byte.is_ascii_digit());
    let seed = line.seed.parse().ok().filter(|_| is_decimal).ok_or_else(|| {
        LineError::new(format!("`seed` must be a whole number below 2^64 as a string, not {:?}", line.seed))
    })?;
    Ok(Header {
        agent: line.agent.into_owned(),
        model: line.model.map(Cow::into_owned),
        simulated: line.simulated,
        case: line.case.into_owned(),
        repeat: line.repeat,
        seed,
        clock: line.clock.into_owned(),
        version: line.version.into_owned(),
    })
}

pub(super) fn write_event(event: &Event, out: &mut Vec<u8>) {
    let at = event.at;
    let actor = event.actor.as_ref().map(|actor| Cow::Borrowed(actor.as_str()));
    // Every line begins with `at`, `actor` and `type`, in the order that `glance` expects.
    match &event.kind {
        EventKind::Query { text } => {
            write(&QueryLine { at, actor, r#type: Type::Query, text: text.into() }, out);
        }
        EventKind::Turn { text, reasoning, calls, finish, usage } => {
            let line = TurnLine {
                at,
                actor,
                r#type: Type::Turn,
                text: text.into(),
                reasoning: reasoning.into(),
                calls: *calls,
                finish: (*finish).into(),
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
                reasoning_tokens: usage.reasoning_tokens,
            };
            write(&line, out);
        }
        EventKind::Batch { calls } => {
            let calls = calls.iter().map(|id| id.as_str().into()).collect();
            write(&BatchLine { at, actor, r#type: Type::Batch, calls }, out);
        }
        EventKind::Call(call) => {
            let (arguments, arguments_text) = match &call.arguments {
                Arguments::Object(object) => (Some(object), None),
                Arguments::Malformed(text) => (None, Some(text.into())),
            };
            let line = CallLine::<&Map<String, Value>> {
                at,
                actor,
                r#type: Type::Call,
                id: call.id.as_str().into(),
                name: (&call.name).into(),
                arguments,
                arguments_text,
            };
            write(&line, out);
        }
        EventKind::Result(ToolResult {
            id,
            text,
            is_error,
            is_denied,
            denied_by,
            structured: _,
            sent,
            attachments,
        }) => {
            let (sent, wait_ms) = match *sent {
                SentAs::Result => (None, 0),
                SentAs::Rpc => (Some(Sent::Rpc), 0),
                SentAs::Closed => (Some(Sent::Closed), 0),
                SentAs::Timeout(milliseconds) => (Some(Sent::Timeout), milliseconds),
            };
            let line = ResultLine {
                at,
                actor,
                r#type: Type::Result,
                id: id.as_str().into(),
                text: text.into(),
                is_error: *is_error,
                denied: *is_denied,
                denied_by: denied_by.iter().map(Into::into).collect(),
                sent,
                wait_ms,
                attachments: attachments.as_slice().iter().map(AttachmentLine::of).collect(),
            };
            write(&line, out);
        }
        EventKind::Spec { name, continuation } => {
            let continuation = (*continuation).into();
            write(&SpecLine { at, actor, r#type: Type::Spec, name: name.into(), continuation }, out);
        }
        EventKind::Section { state, author, text, note } => {
            let (state, author) = (state.into(), (*author).into());
            let (text, note) = (text.into(), note.into());
            write(&SectionLine { at, actor, r#type: Type::Section, state, author, text, note }, out);
        }
        EventKind::Correction { violation, appended, discarded_bytes } => {
            let line = CorrectionLine {
                at,
                actor,
                r#type: Type::Correction,
                violation: violation.into(),
                appended: appended.into(),
                discarded_bytes: *discarded_bytes,
            };
            write(&line, out);
        }
        EventKind::Tally(Tally {
            corrections,
            escalations,
            discarded_bytes,
            discarded_tokens,
            repeated_tokens,
        }) => {
            let line = TallyLine {
                at,
                actor,
                r#type: Type::Tally,
                corrections: *corrections,
                escalations: *escalations,
                discarded_bytes: *discarded_bytes,
                discarded_tokens: *discarded_tokens,
                repeated_tokens: *repeated_tokens,
            };
            write(&line, out);
        }
        EventKind::End(reason) => write_end(at, actor, reason, out),
    }
}

fn write_end(at: u64, actor: Option<Cow<'_, str>>, end: &EndReason, out: &mut Vec<u8>) {
    let r#type = Type::End;
    match end {
        EndReason::Answered { text } => {
            write(&AnsweredLine { at, actor, r#type, reason: Reason::Answered, text: text.into() }, out);
        }
        EndReason::LimitReached { limit, value } => {
            let limit = (*limit).into();
            write(&LimitLine { at, actor, r#type, reason: Reason::LimitReached, limit, value: *value }, out);
        }
        EndReason::AgentFailed { reason } => {
            write(
                &FailureLine { at, actor, r#type, reason: Reason::AgentFailed, message: reason.into() },
                out,
            );
        }
        EndReason::Unscored { reason } => {
            write(&FailureLine { at, actor, r#type, reason: Reason::Unscored, message: reason.into() }, out);
        }
    }
}

fn write(line: &impl Serialize, out: &mut Vec<u8>) {
    // All keys are strings, and JSON numbers in memory are never infinite.
    serde_json::to_writer(out, line).expect("writing JSON into memory cannot fail");
}

/// Reads the line of an event whose type is known. `known` is the latest actor.
pub(super) fn read_event(
    line: &str,
    r#type: Type,
    reason: Option<Reason>,
    known: &mut Option<Actor>,
) -> Result<Event, LineError> {
    // A structure for each type instead of a tagged enumeration, which could not keep the text of a call's arguments.
    let (at, actor, kind) = match r#type {
        Type::Query => {
            let line: QueryLine<'_> = serde_json::from_str(line)?;
            (line.at, line.actor, EventKind::Query { text: line.text.into_owned() })
        }
        Type::Turn => {
            let line: TurnLine<'_> = serde_json::from_str(line)?;
            let usage = Usage {
                reasoning_tokens: line.reasoning_tokens,
                ..Usage::new(line.input_tokens, line.output_tokens)
            };
            let kind = EventKind::Turn {
                text: line.text.into_owned(),
                reasoning: line.reasoning.into_owned(),
                calls: line.calls,
                finish: line.finish.into(),
                usage,
            };
            (line.at, line.actor, kind)
        }
        Type::Batch => {
            let line: BatchLine<'_> = serde_json::from_str(line)?;
            (
                line.at,
                line.actor,
                EventKind::Batch { calls: line.calls.into_iter().map(CallId::new).collect() },
            )
        }
        Type::Call => read_call(line)?,
        Type::Result => {
            let line: ResultLine<'_> = serde_json::from_str(line)?;
            let id = CallId::new(line.id);
            let text = line.text.into_owned();
            let (is_error, is_denied) = (line.is_error, line.denied);
            let sent = match line.sent {
                None => SentAs::Result,
                Some(Sent::Rpc) => SentAs::Rpc,
                Some(Sent::Closed) => SentAs::Closed,
                Some(Sent::Timeout) => SentAs::Timeout(line.wait_ms),
            };
            let attachments = read_attachments(&line.attachments)?;
            let denied_by = line.denied_by.into_iter().map(Cow::into_owned).collect();
            let result =
                ToolResult { id, text, is_error, is_denied, denied_by, structured: None, sent, attachments };
            (line.at, line.actor, EventKind::Result(result))
        }
        Type::Spec => {
            let line: SpecLine<'_> = serde_json::from_str(line)?;
            let (name, continuation) = (line.name.into_owned(), line.continuation.into());
            (line.at, line.actor, EventKind::Spec { name, continuation })
        }
        Type::Section => {
            let line: SectionLine<'_> = serde_json::from_str(line)?;
            let (state, text) = (line.state.into_owned(), line.text.into_owned());
            let (author, note) = (line.author.into(), line.note.into_owned());
            (line.at, line.actor, EventKind::Section { state, author, text, note })
        }
        Type::Correction => {
            let line: CorrectionLine<'_> = serde_json::from_str(line)?;
            let (violation, appended) = (line.violation.into_owned(), line.appended.into_owned());
            let discarded_bytes = line.discarded_bytes;
            (line.at, line.actor, EventKind::Correction { violation, appended, discarded_bytes })
        }
        Type::Tally => {
            let line: TallyLine<'_> = serde_json::from_str(line)?;
            let tally = Tally {
                corrections: line.corrections,
                escalations: line.escalations,
                discarded_bytes: line.discarded_bytes,
                discarded_tokens: line.discarded_tokens,
                repeated_tokens: line.repeated_tokens,
            };
            (line.at, line.actor, EventKind::Tally(tally))
        }
        Type::End => {
            let (at, actor, reason) = read_end(line, reason)?;
            (at, actor, EventKind::End(reason))
        }
    };
    Ok(Event { at, actor: read_actor(actor.as_deref(), known)?, kind })
}

fn read_actor(name: Option<&str>, known: &mut Option<Actor>) -> Result<Option<Actor>, LineError> {
    let Some(name) = name else { return Ok(None) };
    // Most events have the same actor as the previous one: they share its name.
    if known.as_ref().is_none_or(|known| known.as_str() != name) {
        let actor = Actor::new(name).map_err(|error| LineError::new(format!("`actor`: {error}")))?;
        *known = Some(actor);
    }
    Ok(known.clone())
}

type Read<'a, T> = (u64, Option<Cow<'a, str>>, T);

fn read_call(line: &str) -> Result<Read<'_, EventKind>, LineError> {
    let line: CallLine<'_, &RawValue> = serde_json::from_str(line)?;
    let arguments = match (line.arguments, line.arguments_text) {
        (Some(object), None) if crate::json::weigh(object.get().as_bytes()).is_err() => {
            return Err(LineError::new(format!("`arguments`: {}", crate::json::TooManyValuesInMemory)));
        }
        // The parser counts columns from the beginning of the object, so the error says what it is about.
        (Some(object), None) => Arguments::Object(serde_json::from_str(object.get()).map_err(|error| {
            let error = LineError::from(error);
            LineError::new(format!("in `arguments`, column {}: {}", error.column, error.what))
        })?),
        (None, Some(text)) => Arguments::Malformed(text.into_owned()),
        _ => return Err(LineError::new("a call has either `arguments` or `arguments_text`")),
    };
    let (id, name) = (CallId::new(line.id), line.name.into_owned());
    Ok((line.at, line.actor, EventKind::Call(ToolCall { id, name, arguments })))
}

fn read_attachments(lines: &[AttachmentLine<'_>]) -> Result<Attachments, LineError> {
    let read = |line: &AttachmentLine<'_>| Attachment::new(&line.name, line.r#type.into(), &line.data);
    let pictures: Result<Vec<Attachment>, _> = lines.iter().map(read).collect();
    let attachments = pictures.and_then(Attachments::new);
    attachments.map_err(|error| LineError::new(format!("in `attachments`: {error}")))
}

fn read_end(line: &str, reason: Option<Reason>) -> Result<Read<'_, EndReason>, LineError> {
    Ok(match reason {
        Some(Reason::Answered) => {
            let line: AnsweredLine<'_> = serde_json::from_str(line)?;
            (line.at, line.actor, EndReason::Answered { text: line.text.into_owned() })
        }
        Some(Reason::LimitReached) => {
            let line: LimitLine<'_> = serde_json::from_str(line)?;
            (line.at, line.actor, EndReason::LimitReached { limit: line.limit.into(), value: line.value })
        }
        Some(Reason::AgentFailed) => {
            let line: FailureLine<'_> = serde_json::from_str(line)?;
            (line.at, line.actor, EndReason::AgentFailed { reason: line.message.into_owned() })
        }
        Some(Reason::Unscored) => {
            let line: FailureLine<'_> = serde_json::from_str(line)?;
            (line.at, line.actor, EndReason::Unscored { reason: line.message.into_owned() })
        }
        None => return Err(LineError::new("missing field `reason`")),
    })
}

impl<'a> AttachmentLine<'a> {
    fn of(attachment: &'a Attachment) -> Self {
        let (name, data) = (attachment.name().into(), attachment.base64().into());
        Self { name, r#type: attachment.picture().into(), data }
    }
}

impl From<PictureType> for Picture {
    fn from(picture: PictureType) -> Self {
        match picture {
            PictureType::Png => Self::Png,
            PictureType::Jpeg => Self::Jpeg,
        }
    }
}

impl From<Picture> for PictureType {
    fn from(picture: Picture) -> Self {
        match picture {
            Picture::Png => Self::Png,
            Picture::Jpeg => Self::Jpeg,
        }
    }
}

impl From<FinishReason> for Finish {
    fn from(finish: FinishReason) -> Self {
        match finish {
            FinishReason::Stop => Self::Stop,
            FinishReason::ToolCalls => Self::ToolCalls,
            FinishReason::Length => Self::Length,
            FinishReason::ContentFilter => Self::ContentFilter,
            FinishReason::Cut => Self::Cut,
        }
    }
}

impl From<Finish> for FinishReason {
    fn from(finish: Finish) -> Self {
        match finish {
            Finish::Stop => Self::Stop,
            Finish::ToolCalls => Self::ToolCalls,
            Finish::Length => Self::Length,
            Finish::ContentFilter => Self::ContentFilter,
            Finish::Cut => Self::Cut,
        }
    }
}

impl From<Continuation> for Way {
    fn from(continuation: Continuation) -> Self {
        match continuation {
            Continuation::Text => Self::Text,
            Continuation::PartialTurn => Self::PartialTurn,
            Continuation::Chat => Self::Chat,
        }
    }
}

impl From<Way> for Continuation {
    fn from(way: Way) -> Self {
        match way {
            Way::Text => Self::Text,
            Way::PartialTurn => Self::PartialTurn,
            Way::Chat => Self::Chat,
        }
    }
}

impl From<Author> for Writer {
    fn from(author: Author) -> Self {
        match author {
            Author::User => Self::User,
            Author::Model => Self::Model,
            Author::Environment => Self::Environment,
        }
    }
}

impl From<Writer> for Author {
    fn from(writer: Writer) -> Self {
        match writer {
            Writer::User => Self::User,
            Writer::Model => Self::Model,
            Writer::Environment => Self::Environment,
        }
    }
}

impl From<LimitKind> for Limit {
    fn from(limit: LimitKind) -> Self {
        match limit {
            LimitKind::WallMilliseconds => Self::WallMs,
            LimitKind::Iterations => Self::Iterations,
            LimitKind::OutputBytes => Self::OutputBytes,
            LimitKind::TextBytes => Self::TextBytes,
            LimitKind::ReplyTokens => Self::ReplyTokens,
        }
    }
}

impl From<Limit> for LimitKind {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::WallMs => Self::WallMilliseconds,
            Limit::Iterations => Self::Iterations,
            Limit::OutputBytes => Self::OutputBytes,
            Limit::TextBytes => Self::TextBytes,
            Limit::ReplyTokens => Self::ReplyTokens,
        }
    }
}
