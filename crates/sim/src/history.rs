//! Conversations in the formats of frameworks, read as calls and results. (DSPy's formats have a module of their
//! own.)
//!
//! Most frameworks use the calls and results of the model interfaces; some give a result as a list of blocks in JSON,
//! as received from the tool server. smolagents writes both as text: an assistant's turn `Calling tools:` with a list
//! in Python's notation, and a user's turn `Observation:` with the results.

use std::borrow::Cow;

use memchr::memmem;
use planproof_model::{ChatRequest, Message};
use planproof_trace::{Arguments, CallId, Tool, ToolCall};
use serde_json::Value;

use crate::python::read_literal;
use crate::reading::task_of;

/// The beginning of a turn of smolagents with calls.
const CALLING: &str = "Calling tools:";

/// The beginning of one with their results or errors.
const OBSERVATION: &str = "Observation:";
const ERROR: &str = "Error:";

/// The request with calls and results instead of the texts that represent them.
pub(crate) fn read(request: &ChatRequest) -> Cow<'_, ChatRequest> {
    let is_to_be_read = |message: &Message| match message {
        Message::Assistant { text, calls, .. } => calls.is_empty() && is_calling(text),
        Message::Tool { text, .. } => blocks(text).is_some(),
        Message::System { .. } | Message::User { .. } => false,
    };
    // Hardly any request has such a text, and this is checked in every turn, so nothing is copied before.
    if !request.messages.iter().any(is_to_be_read) {
        return Cow::Borrowed(request);
    }
    let mut messages: Vec<Message> = Vec::with_capacity(request.messages.len());
    let mut made = 0;
    let mut open: Vec<Written> = Vec::new();
    for message in &request.messages {
        match message {
            Message::Assistant { text, calls, .. } if calls.is_empty() && is_calling(text) => {
                let (_, list) = text.split_once(CALLING).unwrap_or_default();
                open = read_calls(list, &mut made);
                let calls = as_written(open.iter().map(|it| (it.id.as_str(), it.call.clone())));
                messages.push(Message::assistant(String::new(), calls));
            }
            // A user's text may begin like this without being a result, so calls must come before it.
            Message::User { text } if !open.is_empty() && is_result(text) => {
                let results = results(text, &open, &request.tools);
                messages.extend(as_written(open.iter().map(|it| it.id.as_str()).zip(results)));
                open.clear();
            }
            Message::Tool { id, text } => {
                let text = blocks(text).unwrap_or_else(|| text.clone());
                messages.push(Message::Tool { id: id.clone(), text });
            }
            other => messages.push(other.clone()),
        }
    }
    Cow::Owned(ChatRequest { messages, ..request.clone() })
}

/// The texts of a result's blocks, `[{"type": "text", "text": "Done."}]`, or of an object that has them as
/// its `content`.
fn blocks(result: &str) -> Option<String> {
    if !result.starts_with(['[', '{']) {
        return None;
    }
    let value: Value = serde_json::from_str(result).ok()?;
    let blocks = value.as_array().or_else(|| value.get("content")?.as_array())?;
    let texts: Option<Vec<&str>> = blocks.iter().map(|block| block.get("text")?.as_str()).collect();
    texts.filter(|texts| !texts.is_empty()).map(|texts| texts.join("\n"))
}

fn is_calling(text: &str) -> bool {
    memmem::find(text.as_bytes(), CALLING.as_bytes()).is_some()
}

fn is_result(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(OBSERVATION) || text.starts_with(ERROR)
}

/// A call of a list, with its id.
struct Written {
    id: String,
    call: ToolCall,
}

/// The results of a reply's calls by their ids, in the order in which the calls were written. smolagents sorts them
/// by id as text, so that the tenth comes before the ninth; a simulated model numbers its calls. If ids are missing,
/// the order is kept.
fn as_written<'a, T>(items: impl Iterator<Item = (&'a str, T)>) -> Vec<T> {
    let mut items: Vec<(&str, T)> = items.collect();
    if items.iter().all(|(id, _)| !id.is_empty()) {
        // Sorted like their numbers: among ids with the same beginning, a longer one has a larger number.
        items.sort_by_key(|(id, _)| (id.len(), *id));
    }
    items.into_iter().map(|(_, item)| item).collect()
}

/// The results of calls: a line for each, in any order. A line belongs to the call whose task it names, the others to
/// the remaining calls in order; lines that cannot be assigned are the result of every call.
fn results(text: &str, calls: &[Written], tools: &[Tool]) -> Vec<Message> {
    let text = text.trim_start().trim_start_matches(OBSERVATION).trim();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let names = |line: &str, call: &ToolCall| {
        let tool = tools.iter().find(|tool| tool.name == call.name);
        tool.is_some_and(|tool| line.contains(&format!("\"{}\"", task_of(tool))))
    };
    let is_of_nobody = |line: &&str| !calls.iter().any(|call| names(line, &call.call));
    let mut others = lines.iter().copied().filter(is_of_nobody);
    let result = |Written { call, .. }: &Written| {
        let own = lines.iter().copied().find(|line| names(line, call));
        let line = own.or_else(|| others.next()).filter(|_| lines.len() == calls.len()).unwrap_or(text);
        Message::Tool { id: call.id.clone(), text: line.to_owned() }
    };
    calls.iter().map(result).collect()
}

/// The calls of a list, in its order, such as
/// `[{'id': 'call_1', 'type': 'function', 'function': {'name': 'x', 'arguments': {}}}]`.
fn read_calls(list: &str, made: &mut usize) -> Vec<Written> {
    let Some(Value::Array(calls)) = read_literal(list) else { return Vec::new() };
    let calls = calls.iter().filter_map(|call| {
        // Name and arguments are in `function`, or beside the id.
        let function = call.get("function").unwrap_or(call);
        let name = function.get("name")?.as_str()?.to_owned();
        let arguments = match function.get("arguments") {
            Some(Value::Object(arguments)) => Arguments::Object(arguments.clone()),
            Some(Value::String(text)) => Arguments::from_text(text),
            _ => Arguments::none(),
        };
        *made += 1;
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(Written { id, call: ToolCall { id: CallId::new(format!("text_{made}")), name, arguments } })
    });
    calls.collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use planproof_model::Settings;

    use super::*;

    fn user(text: &str) -> Message {
        Message::User { text: text.to_owned() }
    }

    fn assistant(text: &str) -> Message {
        Message::assistant(text.to_owned(), Vec::new())
    }

    #[test]
    fn calls_that_were_sorted_by_their_ids_stand_as_they_were_written() {
        let request = ChatRequest {
            messages: vec![
                user("Do it."),
                assistant(
                    "Calling tools:\n[{'id': 'call_10', 'function': {'name': 'c', 'arguments': {}}}, {'id': 'call_8', \
                     'function': {'name': 'a', 'arguments': {}}}, {'id': 'call_9', 'function': {'name': 'b', \
                     'arguments': {}}}]",
                ),
                user("Observation:\nof c\nof a\nof b"),
            ],
            previous: None,
            tools: Arc::from([]),
            settings: Settings::default(),
        };
        let read = read(&request);
        let [_, Message::Assistant { calls, .. }, results @ ..] = &read.messages[..] else {
            panic!("{read:?}")
        };
        assert_eq!(calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        let of = |call: &ToolCall, text: &str| Message::Tool { id: call.id.clone(), text: text.to_owned() };
        assert_eq!(results, [of(&calls[0], "of a"), of(&calls[1], "of b"), of(&calls[2], "of c")]);
    }

    #[test]
    fn calls_and_results_in_text_are_read() {
        let request = ChatRequest {
            messages: vec![
                user("Do it."),
                assistant(
                    "Calling tools:\n[{'id': 'call_1', 'type': 'function', 'function': {'name': 'pay', 'arguments': \
                     {'all': True, 'n': 2, 'note': None, 'to': \"Ann's\"}}}, {'function': {'name': 'mail', \
                     'arguments': {}}}]",
                ),
                user("Observation:\nPaid.\nSent."),
                assistant("Calling tools:\n[{'function': {'name': 'mail', 'arguments': '{}'}}]"),
                user("Error:\nNo.\nNow let's retry"),
            ],
            previous: None,
            tools: Arc::from([]),
            settings: Settings::default(),
        };
        let read = read(&request);
        let lines: Vec<String> = read
            .messages
            .iter()
            .flat_map(|message| match message {
                Message::Assistant { calls, .. } => calls
                    .iter()
                    .map(|it| format!("{} {}{}", it.id, it.name, it.arguments.to_text()))
                    .collect(),
                Message::Tool { id, text } => vec![format!("{id}: {text}")],
                Message::User { text } | Message::System { text } => vec![text.clone()],
            })
            .collect();
        assert_eq!(
            lines,
            [
                "Do it.",
                "text_1 pay{\"all\":true,\"n\":2,\"note\":null,\"to\":\"Ann's\"}",
                "text_2 mail{}",
                "text_1: Paid.",
                "text_2: Sent.",
                "text_3 mail{}",
                "text_3: Error:\nNo.\nNow let's retry",
            ]
        );
        assert_eq!(blocks(r#"[{"type":"text","text":"\"a\""},{"text":"b"}]"#).as_deref(), Some("\"a\"\nb"));
        assert_eq!(blocks(r#"{"content":[{"text":"a"}],"isError":false}"#).as_deref(), Some("a"));
        for other in ["[1]", "{}", "[]", "[a", "Done."] {
            assert_eq!(blocks(other), None);
        }
        for broken in ["", "[", "[{'a'", "[{'a': 'b]", "[1 2]", &"[".repeat(99)] {
            assert!(read_calls(broken, &mut 0).is_empty());
        }
    }
}
