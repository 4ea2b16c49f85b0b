//! The data that suites with answers read from a run.

use std::cell::OnceCell;

use planproof_trace::{EndReason, Event, EventKind, LimitKind, PairedCall, paired_calls, unparsed_calls};
use serde_json::Value;

use crate::{Case, CaseError, EventNote, REPLY_LIMIT, UNPARSED_CALL, Unscored};

/// The end of a run that says something about the agent.
pub enum Ended<'a> {
    /// With this answer.
    Answered(&'a str),
    /// With this answer, or report within a team, in which a call is written as text.
    CallAsText(&'a str),
    /// At a limit, in words.
    AtLimit(LimitKind, String),
    /// Because the agent broke, in words.
    Broken(&'a str),
}

impl<'a> Ended<'a> {
    /// How a run of a case with these events ended.
    ///
    /// # Errors
    /// The run says nothing about the agent, or its end is missing.
    pub fn of(case: &dyn Case, events: &'a [Event]) -> Result<Self, Unscored> {
        match events.last().map(|event| &event.kind) {
            Some(EventKind::End(EndReason::Unscored { reason })) => {
                Err(Unscored::Outside { reason: reason.clone() })
            }
            Some(EventKind::End(EndReason::Answered { text })) => {
                Ok(call_as_text(case, events).map_or(Self::Answered(text), |_| Self::CallAsText(text)))
            }
            Some(EventKind::End(EndReason::LimitReached { limit, value })) => {
                Ok(Self::AtLimit(*limit, format!("limit reached: {limit} {value}")))
            }
            Some(EventKind::End(EndReason::AgentFailed { reason })) => Ok(Self::Broken(reason)),
            _ => Err(Unscored::CutOff),
        }
    }

    /// The answer, where there is one.
    pub fn answer(&self) -> Option<&'a str> {
        match self {
            Self::Answered(text) | Self::CallAsText(text) => Some(text),
            Self::AtLimit(..) | Self::Broken(_) => None,
        }
    }

    /// The name of the class of a failed run that ended like this; `None` if the answer decides.
    pub fn class(&self) -> Option<&'static str> {
        match self {
            Self::Answered(_) => None,
            Self::CallAsText(_) => Some(UNPARSED_CALL),
            Self::AtLimit(LimitKind::ReplyTokens, _) => Some(REPLY_LIMIT),
            Self::AtLimit(..) => Some("timeout"),
            Self::Broken(_) => Some("agent_failed"),
        }
    }

    /// Why there is no answer, in at most so many characters; `None` if there is one.
    pub fn why(&self, characters_max: usize) -> Option<String> {
        match self {
            Self::Answered(_) | Self::CallAsText(_) => None,
            Self::AtLimit(_, words) => Some(words.clone()),
            Self::Broken(reason) => Some(shortened(reason, characters_max)),
        }
    }
}

/// The text in which an agent wrote calls of the case's tools, and stopped there ([`unparsed_calls`]).
pub fn call_as_text<'e>(case: &dyn Case, events: &'e [Event]) -> Option<&'e str> {
    // Tools can be expensive to make, so they are made only if something looks like a call.
    let names = OnceCell::new();
    let names = || {
        names.get_or_init(|| {
            let names = |tool: &planproof_trace::Tool| tool.name.clone();
            case.toolbox().map(|it| it.tools().iter().map(names).collect::<Vec<_>>()).unwrap_or_default()
        })
    };
    unparsed_calls(events, &|name| names().iter().any(|tool| tool == name))
}

/// At most `most` characters, half from the beginning and half from the end, with a mark between them.
pub fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    // One character is for the mark.
    let start = most.saturating_sub(1) / 2;
    let end = most.saturating_sub(1) - start;
    text.chars().take(start).chain(['…']).chain(text.chars().skip(count - end)).collect()
}

/// Refuses a line of JSON that is not a case of the suite `suite` in its schema `schema`, which ends in its version.
pub fn refuse_schema(value: &Value, suite: &str, schema: &str) -> Result<(), CaseError> {
    let family = schema.rsplit_once('/').map_or(schema, |(family, _)| family);
    let is_family = |other: &str| other.rsplit_once('/').is_some_and(|(other, _)| other == family);
    let what = match value.get("schema").and_then(Value::as_str) {
        Some(given) if given == schema => return Ok(()),
        Some(other) if is_family(other) => format!(
            "the case has schema `{other}`, which is another version of suite {suite}: this program reads {schema}; use \
             the version of planproof that wrote it, or make the cases again from the data"
        ),
        Some(other) => format!(
            "the case has schema `{other}`, which is not of suite {suite} ({schema}); run it with its own suite"
        ),
        None => format!(
            "the line names no schema, so it is no case of suite {suite} ({schema}); lines of the original data have to \
             be loaded as data"
        ),
    };
    Err(CaseError::new(what))
}

/// Numbers the calls of a run, and marks those with an error; no notes if their number differs from that of the judged
/// run.
pub fn call_notes(calls_total: u64, events: &[Event]) -> Vec<EventNote> {
    let calls = paired_calls(events);
    if calls_total != calls.len() as u64 {
        return Vec::new();
    }
    let note = |(place, call): (usize, &PairedCall<'_>)| EventNote {
        event: call.place,
        number: Some(place + 1),
        remark: call.result.filter(|(_, result)| result.is_error).map(|_| "gave an error"),
        wrong: None,
    };
    calls.iter().enumerate().map(note).collect()
}

/// A text with normalised white space.
pub fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
