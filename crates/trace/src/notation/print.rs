//! Events to text.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Defaults, FINISH_WORDS, default_finish, is_bare};
use crate::{
    Arguments, CallId, EndReason, Event, EventKind, FinishReason, Tally, ToolCall, ToolResult, Usage,
};

/// Writes a list of events as one line of text, without the defaults that [`parse()`](super::parse()) fills in. The
/// line has no line break and no control character, whatever the events contain. An empty list is the empty line.
pub fn print(events: &[Event]) -> String {
    let mut out = String::new();
    let mut defaults = Defaults::default();
    for event in events {
        if !out.is_empty() {
            out.push_str(" | ");
        }
        if event.at != defaults.at {
            push(&mut out, format_args!("@{} ", event.at));
        }
        if let Some(actor) = &event.actor {
            push(&mut out, format_args!("{actor}: "));
        }
        print_kind(&mut out, &event.kind, &defaults);
        // After the event, as in the parser: both must have the same defaults for the next one.
        defaults.note(event);
    }
    escape_separators(out)
}

fn print_kind(out: &mut String, kind: &EventKind, defaults: &Defaults) {
    match kind {
        EventKind::Query { text } => push(out, format_args!("query {}", quoted(text))),
        EventKind::Turn { text, reasoning, calls, finish, usage } => {
            print_turn(out, text, *calls, *finish, *usage);
            if !reasoning.is_empty() {
                push(out, format_args!(" reasoning={}", quoted(reasoning)));
            }
        }
        EventKind::Batch { calls } => {
            out.push_str("batch");
            calls.iter().for_each(|id| print_id(out, id));
        }
        EventKind::Call(call) => print_call(out, call, defaults),
        EventKind::Result(result) => print_result(out, result, defaults),
        EventKind::Spec { name: spec, continuation } => {
            push(out, format_args!("spec {} {continuation}", name(spec)));
        }
        EventKind::Section { state, author, text, note } => {
            push(out, format_args!("section {} {author}", name(state)));
            // Where a text is optional, the parser takes a missing one for an empty one.
            if !text.is_empty() {
                push(out, format_args!(" {}", quoted(text)));
            }
            if !note.is_empty() {
                push(out, format_args!(" note={}", quoted(note)));
            }
        }
        EventKind::Correction { violation, appended, discarded_bytes } => {
            push(out, format_args!("correct {} {}", quoted(violation), quoted(appended)));
            print_discarded(out, *discarded_bytes);
        }
        EventKind::Tally(tally) => print_tally(out, *tally),
        EventKind::End(EndReason::Answered { text }) => push(out, format_args!("answer {}", quoted(text))),
        EventKind::End(EndReason::LimitReached { limit, value }) => {
            push(out, format_args!("limit {limit} {value}"));
        }
        EventKind::End(EndReason::AgentFailed { reason }) => {
            push(out, format_args!("failed {}", quoted(reason)));
        }
        EventKind::End(EndReason::Unscored { reason }) => {
            push(out, format_args!("unscored {}", quoted(reason)));
        }
    }
}

fn print_discarded(out: &mut String, bytes: u64) {
    if bytes > 0 {
        push(out, format_args!(" discarded={bytes}"));
    }
}

fn print_tally(out: &mut String, tally: Tally) {
    let Tally { corrections, escalations, discarded_bytes, discarded_tokens, repeated_tokens } = tally;
    out.push_str("tally");
    if (corrections, escalations) != (0, 0) {
        push(out, format_args!(" corrections={corrections}/{escalations}"));
    }
    print_discarded(out, discarded_bytes);
    if (discarded_tokens, repeated_tokens) != (0, 0) {
        push(out, format_args!(" tokens={discarded_tokens}/{repeated_tokens}"));
    }
}

fn print_turn(out: &mut String, text: &str, calls: u32, finish: FinishReason, usage: Usage) {
    // `say` needs a text, so a turn of nothing at all is written as `turn 0 calls`.
    if calls == 0 && !text.is_empty() {
        push(out, format_args!("say {}", quoted(text)));
    } else {
        push(out, format_args!("turn {calls} {}", if calls == 1 { "call" } else { "calls" }));
        if !text.is_empty() {
            push(out, format_args!(" {}", quoted(text)));
        }
    }
    if finish != default_finish(calls) {
        for (word, reason) in FINISH_WORDS {
            if reason == finish {
                push(out, format_args!(" finish={word}"));
            }
        }
    }
    if usage != Usage::default() {
        push(out, format_args!(" tokens={}/{}", usage.input_tokens, usage.output_tokens));
        if usage.reasoning_tokens > 0 {
            push(out, format_args!("/{}", usage.reasoning_tokens));
        }
    }
}

fn print_call(out: &mut String, call: &ToolCall, defaults: &Defaults) {
    push(out, format_args!("call {}", name(&call.name)));
    match &call.arguments {
        Arguments::Object(object) if object.is_empty() => {}
        Arguments::Object(_) => push(out, format_args!(" {}", call.arguments.to_text())),
        Arguments::Malformed(text) => push(out, format_args!(" malformed {}", quoted(text))),
    }
    if call.id != defaults.call_id() {
        print_id(out, &call.id);
    }
}

fn print_result(out: &mut String, result: &ToolResult, defaults: &Defaults) {
    // A denied call is an error, too, so it is checked first.
    out.push_str(match (result.is_error, result.is_denied) {
        (_, true) => "denied",
        (true, false) => "err",
        (false, false) => "ok",
    });
    if defaults.result_id() != Some(&result.id) {
        print_id(out, &result.id);
    }
    if !result.text.is_empty() {
        push(out, format_args!(" {}", quoted(&result.text)));
    }
}

fn print_id(out: &mut String, id: &CallId) {
    push(out, format_args!(" #{}", name(id.as_str())));
}

/// A name or id: bare where possible, else a JSON string.
fn name(text: &str) -> String {
    if !text.is_empty() && text.bytes().all(is_bare) { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing into a string cannot fail.
    let _ = out.write_fmt(arguments);
}

/// JSON leaves some characters unescaped that many programs break lines at, or hide. Outside of JSON strings the
/// notation is plain ASCII, so they can be escaped wherever they occur.
fn escape_separators(text: String) -> String {
    let must_escape = |c: char| c.is_control() || c == '\u{2028}' || c == '\u{2029}';
    if !text.contains(must_escape) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if must_escape(c) {
            push(&mut out, format_args!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}
