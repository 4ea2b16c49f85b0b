//! The trace of a run as a list.

use std::collections::HashMap;

use maud::{Markup, html};
use planproof_suite::{Case, EventNote, Explanation, Verdict};
use planproof_trace::{
    Actor, Arguments, Author, CallId, Continuation, EndReason, Event, EventKind, FinishReason, LimitKind,
    Tally, ToolCall, ToolResult, Trace, paired_calls,
};

use super::graph;
use super::parts::NAME_CHARACTERS_MAX;
use super::pictures::Room;
use super::text::{Foreign, count, counted, seconds};
use crate::ReportedCampaign;

/// Maximum number of rows shown of one trace, besides its end.
const ROWS_MAX: usize = 200;
/// Maximum number of characters shown of a model's text, a tool's answer, or an agent's arguments or answer.
const EVENT_CHARACTERS_MAX: usize = 1500;

/// A trace read from the store, or why it cannot be read.
type Read = Result<Option<Trace>, String>;

/// The verdict in words, and the notes on the events of its trace.
pub(super) fn explain(
    case: &dyn Case,
    verdict: &Verdict,
    trace: &Read,
) -> (Explanation, Option<Vec<EventNote>>) {
    match trace {
        Ok(Some(trace)) => case.explain_run(verdict, &trace.events),
        _ => (case.explain(verdict), None),
    }
}

/// The list, or a note instead of it.
pub(super) fn trace(case: &dyn Case, verdict: &Verdict, read: &Read) -> Markup {
    let notes = read.iter().flatten().next().and_then(|trace| case.notes(verdict, &trace.events));
    noted_trace(case, notes, read)
}

/// The same with the notes from [`explain`]; `None` for a prediction, which has no trace.
pub(super) fn of_campaign(
    campaign: &ReportedCampaign<'_>,
    case: &dyn Case,
    notes: Option<Vec<EventNote>>,
    trace: &Read,
) -> Option<Markup> {
    (!campaign.is_of_predictions()).then(|| noted_trace(case, notes, trace))
}

/// The list with the notes from [`explain`].
pub(super) fn noted_trace(case: &dyn Case, notes: Option<Vec<EventNote>>, trace: &Read) -> Markup {
    match trace {
        Err(error) => html! {
            p.note { "The trace cannot be shown: " (Foreign::short(error, EVENT_CHARACTERS_MAX)) }
        },
        Ok(None) => html! { p.note { "The run has no trace." } },
        Ok(Some(trace)) => list(case, notes, trace),
    }
}

fn list(case: &dyn Case, notes: Option<Vec<EventNote>>, trace: &Trace) -> Markup {
    let is_judged = notes.is_some();
    let notes = notes.unwrap_or_default();
    let is_dated = trace.header.clock == "milliseconds";
    html! {
        @if !is_judged { p.note { "This is not the trace that was judged: its calls differ." } }
        (graph::team(&trace.events))
        ol.trace {
            @for item in items(case.prompt(), &trace.events, &notes, is_dated) { (item) }
        }
        @if trace.end().is_none() { p.note { "The trace was cut off before the run ended." } }
        @if trace.header.version != env!("CARGO_PKG_VERSION") {
            p.note {
                "Recorded by planproof " (Foreign::short(&trace.header.version, NAME_CHARACTERS_MAX)) "."
            }
        }
    }
}

/// The rows of the beginning of a trace, each an element `li`: with notes on the events if it was judged. Rows keep
/// their places as events follow, except that the last one may change.
pub(super) fn items(prompt: &str, events: &[Event], notes: &[EventNote], is_dated: bool) -> Vec<Markup> {
    let rows = rows(prompt, events, notes);
    let room = Room::of_trace();
    let mut items: Vec<Markup> =
        rows.iter().take(ROWS_MAX).map(|(actor, row)| show(*actor, row, is_dated, &room)).collect();
    if let Some(more @ 1..) = rows.len().checked_sub(ROWS_MAX) {
        items.push(
            html! { li.quiet { (counted(more as u64, "more row is", "more rows are")) " left out here" } },
        );
    }
    if let Some(Event { at, kind: EventKind::End(reason), .. }) = events.last() {
        items.push(html! { li.end { (end(reason)) @if is_dated { (time(*at)) } } });
    }
    items
}

/// A row of the list: an event, or several that belong together.
enum Row<'a> {
    /// The agent was given something other than the case's query.
    Query(&'a str),
    /// What a model thought before it wrote a turn.
    Thought(&'a str),
    /// A turn of a model that consists of more than a single call.
    Turn { at: u64, number: usize, text: &'a str, calls: u32, finish: FinishReason },
    /// A call with its answer if that came next, and the number of identical calls immediately after it.
    Call(CallRow<'a>),
    /// An answer that did not come immediately after its call.
    Result(&'a ToolResult),
    /// The agent follows a specification from here on.
    Spec { name: &'a str, continuation: Continuation },
    /// Text from the environment that is more than the answer of a tool.
    Section { at: u64, state: &'a str, text: &'a str, note: &'a str },
    /// The model was corrected.
    Correction { at: u64, violation: &'a str, appended: &'a str },
    /// The total cost of all corrections.
    Tally(Tally),
}

struct CallRow<'a> {
    at: u64,
    call: &'a ToolCall,
    answer: Option<&'a ToolResult>,
    /// Its number among the executed calls, from 1.
    number: Option<usize>,
    /// What is odd about a call that was executed and should not have been.
    remark: Option<&'static str>,
    /// If the run went wrong with this call, what would have been right.
    wrong: Option<&'a str>,
    times: usize,
}

impl CallRow<'_> {
    /// Whether the next row is the same call with the same answer.
    fn is_repeated_by(&self, next: &CallRow<'_>) -> bool {
        let answers = |row: &CallRow<'_>| row.answer.map(|answer| (answer.text.clone(), answer.is_error));
        // The first wrong call is always visible. Without answers beside them calls overlap, and each is shown with its
        // id.
        next.wrong.is_none()
            && self.answer.is_some()
            && self.remark == next.remark
            && self.call.name == next.call.name
            && self.call.arguments == next.call.arguments
            && answers(self) == answers(next)
    }
}

/// The rows, each with its agent if the run has several.
fn rows<'a>(prompt: &str, events: &'a [Event], notes: &'a [EventNote]) -> Vec<(Option<&'a Actor>, Row<'a>)> {
    let notes: HashMap<usize, &EventNote> = notes.iter().map(|note| (note.event, note)).collect();
    let mut rows = Vec::new();
    let mut turns: HashMap<Option<&Actor>, usize> = HashMap::new();
    let paired = paired_calls(events).into_iter();
    let answers: HashMap<usize, _> = paired.filter_map(|it| Some((it.place, it.result?))).collect();
    let mut events = events.iter().enumerate().peekable();
    while let Some((place, event)) = events.next() {
        let actor = event.actor.as_ref();
        match &event.kind {
            EventKind::Query { text } if text == prompt => {}
            EventKind::Query { text } => rows.push((actor, Row::Query(text))),
            EventKind::Turn { text, reasoning, calls, finish, .. } => {
                if !reasoning.is_empty() {
                    rows.push((actor, Row::Thought(reasoning)));
                }
                // Turns without a row of their own count as well.
                let number = turns.entry(actor).or_default();
                *number += 1;
                // The last text of a model is usually the agent's answer, which comes next.
                let said = events.peek().map(|(_, next)| *next);
                let said = said.filter(|next| next.actor == event.actor && is_answer(next, text));
                let text = if said.is_some() { "" } else { text };
                let is_cut =
                    matches!(finish, FinishReason::Length | FinishReason::ContentFilter | FinishReason::Cut);
                // A turn that only makes one call would say nothing beyond the row of the call.
                if !text.is_empty() || *calls > 1 || is_cut {
                    let (number, calls, finish) = (*number, *calls, *finish);
                    rows.push((actor, Row::Turn { at: event.at, number, text, calls, finish }));
                }
            }
            EventKind::Call(call) => {
                // A result that does not come immediately after its call has a row of its own.
                let result = answers.get(&place).filter(|(at, _)| *at == place + 1);
                let answer = result.map(|(_, answer)| *answer);
                if answer.is_some() {
                    events.next();
                }
                let note = notes.get(&place);
                let row = CallRow {
                    at: event.at,
                    call,
                    answer,
                    number: note.and_then(|note| note.number),
                    remark: note.and_then(|note| note.remark),
                    wrong: note.and_then(|note| note.wrong.as_deref()),
                    times: 1,
                };
                match rows.last_mut() {
                    Some((by, Row::Call(last))) if *by == actor && last.is_repeated_by(&row) => {
                        last.times += 1;
                    }
                    _ => rows.push((actor, Row::Call(row))),
                }
            }
            EventKind::Result(result) => rows.push((actor, Row::Result(result))),
            EventKind::Spec { name, continuation } => {
                rows.push((actor, Row::Spec { name, continuation: *continuation }));
            }
            EventKind::Section { state, author: Author::Environment, text, note }
                if !note.is_empty() || !repeats_answer(&rows, actor, text) =>
            {
                rows.push((actor, Row::Section { at: event.at, state, text, note }));
            }
            // The question and the model's turns are already shown above.
            EventKind::Section { .. } => {}
            EventKind::Correction { violation, appended, .. } => {
                rows.push((actor, Row::Correction { at: event.at, violation, appended }));
            }
            EventKind::Tally(tally) if tally.corrections > 0 => rows.push((actor, Row::Tally(*tally))),
            EventKind::Tally(_) | EventKind::Batch { .. } => {}
            // The end is shown even if there is not room for all rows.
            EventKind::End(_) => {}
        }
    }
    rows
}

/// Whether the previous row, of the same agent, is a tool's answer with this text.
fn repeats_answer(rows: &[(Option<&Actor>, Row<'_>)], actor: Option<&Actor>, text: &str) -> bool {
    let row = rows.iter().rev().find(|(by, _)| *by == actor);
    let answer = match row.map(|(_, row)| row) {
        Some(Row::Call(row)) => row.answer,
        Some(Row::Result(result)) => Some(*result),
        _ => None,
    };
    answer.is_some_and(|answer| answer.text.trim() == text)
}

fn is_answer(event: &Event, said: &str) -> bool {
    matches!(&event.kind, EventKind::End(EndReason::Answered { text }) if text == said)
}

fn show(actor: Option<&Actor>, row: &Row<'_>, is_dated: bool, room: &Room) -> Markup {
    let by = html! { @if let Some(actor) = actor { code { (actor.as_str()) } " " } };
    html! {
        @match row {
            Row::Query(text) => li { (by) span.what { "query" } " " (said(text)) },
            Row::Thought(text) => li { (by) span.what { "thought" } " " (said(text)) },
            Row::Turn { at, number, text, calls, finish } => li {
                @if is_dated { (time(*at)) }
                (by)
                span.what { "turn " (number) } " "
                @if !text.is_empty() { (said(text)) " " }
                @if *calls > 1 { span.quiet { "asks for " (calls) " calls at once" } " " }
                @match finish {
                    FinishReason::Length => span.quiet { "was cut off at its token limit" },
                    FinishReason::ContentFilter => span.quiet { "was cut off by the provider for its content" },
                    FinishReason::Cut => span.quiet { "was stopped early: the rest would have been of no use" },
                    FinishReason::Stop | FinishReason::ToolCalls => {},
                }
            },
            Row::Call(row) => li.call.wrong[row.wrong.is_some()] {
                @if is_dated { (time(row.at)) }
                (by)
                (call(row, room))
                @if let Some(right) = row.wrong { (first_wrong(right)) }
            },
            Row::Result(result) => li { (by) (answer(result, true, room)) },
            Row::Spec { name, continuation } => li {
                (by)
                span.what { "specification" } " "
                code { (Foreign::short(name, NAME_CHARACTERS_MAX)) } " "
                span.quiet { "the model " (way(*continuation)) }
            },
            Row::Section { at, state, text, note } => li {
                @if is_dated { (time(*at)) }
                (by)
                span.what { (Foreign::short(state, NAME_CHARACTERS_MAX)) } " " (said(text))
                @if !note.is_empty() { " " span.quiet { "(" (Foreign::short(note, NAME_CHARACTERS_MAX)) ")" } }
            },
            Row::Correction { at, violation, appended } => li {
                @if is_dated { (time(*at)) }
                (by)
                span.what { "corrected" } " " (said(violation))
                @if !appended.trim().is_empty() { " " span.quiet { "goes on after" } " " code { (Foreign::short(appended.trim(), NAME_CHARACTERS_MAX)) } }
            },
            Row::Tally(tally) => li {
                (by)
                span.quiet {
                    (counted(tally.corrections, "correction", "corrections")) "; "
                    (counted(tally.discarded_tokens, "token", "tokens")) " discarded, "
                    (counted(tally.repeated_tokens, "token", "tokens")) " sent again"
                }
            },
        }
    }
}

/// How a model is asked to continue, in words.
fn way(continuation: Continuation) -> &'static str {
    match continuation {
        Continuation::Text => "continues plain text",
        Continuation::PartialTurn => "continues its own message",
        Continuation::Chat => "is asked to continue its text",
    }
}

fn said(text: &str) -> Markup {
    html! { span.said { (Foreign::short(text, EVENT_CHARACTERS_MAX)) } }
}

/// The time of an event, if it comes from a clock instead of a count of events.
fn time(milliseconds: u64) -> Markup {
    html! { span.time { (seconds(milliseconds as f64 / 1000.0)) } }
}

fn call(row: &CallRow<'_>, room: &Room) -> Markup {
    let arguments = match &row.call.arguments {
        Arguments::Object(object) if object.is_empty() => None,
        arguments => Some(arguments.to_text()),
    };
    html! {
        span.what { "call" @if let Some(number) = row.number { " " (number) } } " "
        // If calls overlap, ids show which answer belongs to which call.
        @if row.answer.is_none() { (call_id(&row.call.id)) " " }
        code { (Foreign::short(&row.call.name, NAME_CHARACTERS_MAX)) }
        @if let Some(arguments) = &arguments {
            " " code.arguments { (Foreign::short(arguments, EVENT_CHARACTERS_MAX)) }
        }
        @if let Some(remark) = row.remark { " " span.remark { (remark) } }
        @if matches!(row.call.arguments, Arguments::Malformed(_)) { " " span.quiet { "(no JSON object)" } }
        @if let Some(result) = row.answer { (answer(result, false, room)) }
        @if row.times > 1 {
            div.result { "The same call and answer " (counted(row.times as u64 - 1, "more time", "more times")) "." }
        }
    }
}

fn answer(result: &ToolResult, shows_id: bool, room: &Room) -> Markup {
    html! {
        " "
        div.result.error[result.is_error] {
            span.what { @if result.is_denied { "denied" } @else if !result.denied_by.is_empty() { "noted" } @else if result.is_error { "refused" } @else { "answer" } } " "
            @if shows_id { (call_id(&result.id)) " " }
            (said(&result.text))
            (room.show(&result.attachments))
        }
    }
}

fn call_id(id: &CallId) -> Markup {
    html! { code.id { "#" (Foreign::short(id.as_str(), NAME_CHARACTERS_MAX)) } }
}

fn first_wrong(right: &str) -> Markup {
    html! {
        div.hint {
            strong { "First wrong call." }
            @if !right.is_empty() { " " (Foreign::short(right, EVENT_CHARACTERS_MAX)) }
        }
    }
}

fn end(reason: &EndReason) -> Markup {
    html! {
        @match reason {
            EndReason::Answered { text } => { span.what { "final answer" } " " (said(text)) },
            EndReason::LimitReached { limit, value } => {
                span.what { "limit reached" } " " (limit_words(*limit, *value))
            },
            EndReason::AgentFailed { reason } => {
                span.what { "agent broke" } " "
                span.said { (Foreign::both_ends(reason, EVENT_CHARACTERS_MAX)) }
            },
            EndReason::Unscored { reason } => {
                span.what { "unscored" } " "
                span.said { (Foreign::both_ends(reason, EVENT_CHARACTERS_MAX)) }
            },
        }
    }
}

fn limit_words(limit: LimitKind, value: u64) -> String {
    match limit {
        LimitKind::WallMilliseconds => seconds(value as f64 / 1000.0),
        LimitKind::Iterations => counted(value, "iteration", "iterations"),
        LimitKind::OutputBytes => format!("{} bytes of output", count(value)),
        LimitKind::TextBytes => format!("{} bytes of text", count(value)),
        LimitKind::ReplyTokens => format!("{} tokens of one reply", count(value)),
    }
}
