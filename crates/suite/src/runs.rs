//! The data that suites with answers read from a run.

use std::cell::OnceCell;

use planproof_trace::{EndReason, Event, EventKind, LimitKind, PairedCall, paired_calls, unparsed_calls};
use serde::{Deserialize, Serialize};

use crate::{
    AGENT_FAILED, Case, EventNote, MISSING, REPLY_LIMIT, SequenceStep, TIMEOUT, UNPARSED_CALL, Unscored,
};

/// Most characters of a call's answer that a step of an explanation repeats: the trace has all of it.
const STEP_CHARACTERS_MAX: usize = 100;

/// The end of a run that says something about the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
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
            Self::AtLimit(..) => Some(TIMEOUT),
            Self::Broken(_) => Some(AGENT_FAILED),
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

/// What went wrong in a run whose answer does not decide it, in one line: `passed` if nothing did. `class` is the name
/// of the run's class, and `ended` says why there is no answer. `None` if the answer decides.
pub fn gist_beside_answer(class: Option<&str>, ended: Option<&String>) -> Option<String> {
    match (class, ended) {
        (None, _) => Some("passed".to_owned()),
        (Some(MISSING), _) => Some("there is no prediction for it".to_owned()),
        (Some(AGENT_FAILED), Some(reason)) => Some(format!("the agent broke: {}", on_one_line(reason))),
        (_, ended) => ended.map(|ended| on_one_line(ended)),
    }
}

/// A call of a run, as verdicts keep it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptCall {
    /// The tool and its arguments.
    pub call: String,
    /// Its answer; `None` if there is none.
    pub result: Option<String>,
    /// It was refused, or answered with an error.
    pub is_error: bool,
}

impl KeptCall {
    /// A call with its answer, each in at most so many characters.
    pub fn of(paired: &PairedCall<'_>, characters_max: usize) -> Self {
        let call = format!("{} {}", paired.call.name, paired.call.arguments.to_text());
        Self {
            call: shortened(&call, characters_max),
            result: paired.result.map(|(_, result)| shortened(&result.text, characters_max)),
            is_error: paired.result.is_some_and(|(_, result)| result.is_error),
        }
    }

    /// Whether it did its work.
    pub fn is_done(&self) -> bool {
        self.result.is_some() && !self.is_error
    }

    /// The call as a step of an explanation, with the beginning and the end of its answer.
    pub fn step(&self) -> SequenceStep {
        let text = match &self.result {
            Some(result) => {
                format!("{}: {}", self.call, shortened(&on_one_line(result), STEP_CHARACTERS_MAX))
            }
            None => format!("{}, without a result", self.call),
        };
        SequenceStep::new(text, self.is_error)
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

/// The text without line breaks and other control characters, and trimmed.
pub fn one_line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.trim().to_owned()
}

/// The first and the last line of a text: how a program ended, and the last line that it wrote, in which exceptions
/// are named.
pub fn in_one_line(text: &str) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    // The second line is taken first, so a text of two lines leaves nothing for `next_back`.
    match (lines.next(), lines.next_back()) {
        (None, _) => one_line(first),
        (Some(second), None) => one_line(&format!("{first} {second}")),
        (Some(_), Some(last)) => one_line(&format!("{first} … {}", last.trim())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_several_lines_become_one() {
        assert_eq!(one_line(" a\r\nb\u{7} "), "a  b");
        let text = "status: 1; its stderr ends with:\nTraceback:\n  File x\n\nImportError: no y\n";
        assert_eq!(in_one_line(text), "status: 1; its stderr ends with: … ImportError: no y");
        assert_eq!(in_one_line("status: 1:\nno y"), "status: 1: no y");
        assert_eq!(in_one_line("limit reached"), "limit reached");
    }
}
