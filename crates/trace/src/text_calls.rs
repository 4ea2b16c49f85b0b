//! Calls that a model wrote as text, because its server, or the template of its server, did not make calls of them.
//!
//! Models were trained on many forms of a call. They all come down to three: a JSON object with a name and arguments,
//! whatever stands around it; a marked name that is followed by its arguments, as an object or as tags; and a call in
//! Python. Only calls that name a tool of the run count. Everything else, whatever it looks like, is text.
//!
//! Reading never fails, and takes time linear in the length of the text.

mod value;

use std::ops::Range;

use serde_json::{Map, Value};

use crate::{Arguments, EndReason, Event, EventKind};
use value::ValueReader;

/// Most bytes between a name and its arguments. More than the longest marks of any form take.
const BETWEEN_BYTES_MAX: usize = 200;

/// Most calls that are read from one text. A model that writes more is rambling.
const CALLS_MAX: usize = 256;

/// Keys of the name of a call, in the forms that are JSON. `name` alone may also be the name of something else.
const NAME_KEYS: [&str; 9] = [
    "name",
    "function",
    "tool",
    "tool_name",
    "function_name",
    "toolName",
    "recipient_name",
    "action",
    "api_name",
];

/// Keys of the arguments of a call.
const ARGUMENT_KEYS: [&str; 11] = [
    "arguments",
    "parameters",
    "args",
    "params",
    "input",
    "inputs",
    "tool_input",
    "action_input",
    "function_args",
    "tool_args",
    "kwargs",
];

/// What stands before calls whose keys are the names of tools.
const TOOLS_PREFIX: &str = "<|tools_prefix|>";

/// How the names of the actors of a team begin that call its tools.
const EXECUTOR: &str = "executor";

/// Words that may stand between a name and its arguments.
const WORDS_BETWEEN: [&str; 12] = [
    "action",
    "analysis",
    "arguments",
    "args",
    "code",
    "commentary",
    "input",
    "json",
    "kwargs",
    "parameters",
    "params",
    "with",
];

/// A call that a model wrote as text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextCall {
    /// The tool's name.
    pub name: String,
    /// The arguments.
    pub arguments: Arguments,
}

/// The calls that are written in a text, in their order; at most the first 256. Only calls count for whose name
/// `is_tool` holds.
///
/// A tool's name alone is not a call, and neither is a sentence about one.
pub fn text_calls(text: &str, is_tool: &dyn Fn(&str) -> bool) -> Vec<TextCall> {
    let mut found = Vec::new();
    // What may be the arguments of calls, here as objects and there as their texts, becomes values.
    if crate::json::weigh_with_texts(text.as_bytes()).is_err() {
        return found;
    }
    let mut scan = Scan { text, is_tool, body: body(text), unfinished: Vec::new(), has_broken_tags: false };
    let mut at = 0;
    while at < text.len() && found.len() < CALLS_MAX {
        at = match text.as_bytes()[at] {
            b'{' | b'[' => scan.value(at, &mut found).unwrap_or(at + 1),
            byte if is_name_byte(byte) => {
                let end = end_of_name(text, at);
                match scan.named(at, end) {
                    Some((call, after)) => {
                        found.push(call);
                        // Every form is longer than its name, so that this goes on.
                        after.max(end)
                    }
                    None => end,
                }
            }
            _ => at + 1,
        };
    }
    found.truncate(CALLS_MAX);
    found
}

/// The text of a run in which an agent wrote calls instead of making them, and stopped there: its answer, the thought
/// behind an answer of nothing, in which its server has left them, or the report of an executor in a team. `None` if
/// there is none, or if the agent calls no tools through its model's interface, so that all it does is text.
pub fn unparsed_calls<'e>(events: &'e [Event], is_tool: &dyn Fn(&str) -> bool) -> Option<&'e str> {
    let has_calls = |text: &&str| !text_calls(text, is_tool).is_empty();
    let is_own = |event: &&Event| event.actor.is_none();
    let is_text = |event: &Event| matches!(event.kind, EventKind::Spec { .. } | EventKind::Section { .. });
    let is_turn = |event: &Event| matches!(event.kind, EventKind::Turn { .. });
    let own_turns = events.iter().filter(is_own).any(is_turn);
    // The turns of an agent that is not our code are not in its trace, unless its model is served to it.
    if !events.iter().filter(is_own).any(is_text) && (own_turns || !events.iter().any(is_turn)) {
        return match events.last().map(|event| &event.kind) {
            Some(EventKind::End(EndReason::Answered { text })) => {
                let thought = || last_thought(events).filter(|_| text.trim().is_empty()).filter(has_calls);
                Some(text.as_str()).filter(has_calls).or_else(thought)
            }
            _ => None,
        };
    }
    let report = |event: &'e Event| match &event.kind {
        EventKind::Turn { text, calls: 0, .. } => {
            let is_executor = event.actor.as_ref().is_some_and(|actor| actor.as_str().starts_with(EXECUTOR));
            is_executor.then_some(text.as_str())
        }
        _ => None,
    };
    events.iter().filter_map(report).find(has_calls)
}

/// The thought of an agent's last turn, if it called nothing.
fn last_thought(events: &[Event]) -> Option<&str> {
    let turns = events.iter().filter(|event| event.actor.is_none());
    turns
        .filter_map(|event| match &event.kind {
            EventKind::Turn { calls, reasoning, .. } => Some((*calls, reasoning.as_str())),
            _ => None,
        })
        .next_back()
        .filter(|(calls, _)| *calls == 0)
        .map(|(_, reasoning)| reasoning)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn end_of_name(text: &str, start: usize) -> usize {
    let length = text.as_bytes()[start..].iter().take_while(|byte| is_name_byte(**byte)).count();
    start + length
}

struct Scan<'t> {
    text: &'t str,
    is_tool: &'t dyn Fn(&str) -> bool,
    /// The text without white space and a fence around it.
    body: Range<usize>,
    /// The brackets at which no value begins, because reading a value around them has failed within them. Reading them
    /// again and again would take too long.
    unfinished: Vec<usize>,
    /// Tags were found that are never closed, so that looking for their ends is of no use.
    has_broken_tags: bool,
}

impl Scan<'_> {
    /// The calls in a value that begins here, and where it ends; `None` if there is no value.
    fn value(&mut self, start: usize, found: &mut Vec<TextCall>) -> Option<usize> {
        if self.unfinished.binary_search(&start).is_ok() {
            return None;
        }
        let mut reader = ValueReader::new(self.text, start);
        let Some(value) = reader.value() else {
            self.unfinished = reader.into_open();
            return None;
        };
        let is_all = start == self.body.start && reader.at() >= self.body.end;
        // Apertus has the tool's name as the key of its arguments, which only the token before it makes a call.
        if self.text[..start].trim_end().ends_with(TOOLS_PREFIX) {
            self.keyed_calls(&value, found);
        } else {
            self.calls_in(&value, is_all, found);
        }
        Some(reader.at())
    }

    /// The calls in objects whose keys are the names of tools.
    fn keyed_calls(&self, value: &Value, found: &mut Vec<TextCall>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.keyed_calls(item, found)),
            Value::Object(members) => found.extend(members.iter().filter_map(|(key, value)| {
                let (name, arguments) = (self.tool(key)?.to_owned(), value.as_object()?.clone());
                Some(TextCall { name, arguments: Arguments::Object(arguments) })
            })),
            _ => {}
        }
    }

    fn calls_in(&self, value: &Value, is_all: bool, found: &mut Vec<TextCall>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.calls_in(item, is_all, found)),
            Value::Object(members) => match self.call_of(members, is_all) {
                Some(call) => found.push(call),
                None => members.values().for_each(|member| self.calls_in(member, false, found)),
            },
            _ => {}
        }
    }

    /// The object as a call. Without arguments it is one only if its key says that it names a tool, or if it is all
    /// that the model wrote: objects with a name occur in answers as well.
    fn call_of(&self, members: &Map<String, Value>, is_all: bool) -> Option<TextCall> {
        let named = |key: &'static str| Some((key, self.tool(members.get(key)?.as_str()?)?));
        let (key, name) = NAME_KEYS.into_iter().find_map(named)?;
        let given = ARGUMENT_KEYS.iter().find_map(|key| members.get(*key));
        let arguments = match given {
            Some(Value::Object(arguments)) => Arguments::Object(arguments.clone()),
            Some(Value::Null) => Arguments::none(),
            // The form of OpenAI's calls: the object as text.
            Some(Value::String(text)) => Arguments::from_text(text),
            Some(other) => Arguments::Malformed(other.to_string()),
            None if key != "name" || is_all => Arguments::none(),
            None => return None,
        };
        Some(TextCall { name: name.to_owned(), arguments })
    }

    /// The tool that a word names, with or without a module before it or a method behind it (`functions.search`,
    /// `search.call`).
    fn tool<'w>(&self, word: &'w str) -> Option<&'w str> {
        let after = word.rsplit_once('.').map(|(_, name)| name);
        let before = word.strip_suffix(".call");
        [Some(word), after, before]
            .into_iter()
            .flatten()
            .find(|name| !name.is_empty() && (self.is_tool)(name))
    }

    /// A call whose name is at these bytes, and where it ends.
    fn named(&mut self, start: usize, end: usize) -> Option<(TextCall, usize)> {
        let before = self.text[..start].trim_end_matches([' ', '\t', '"', '\'', '`', '*']);
        let after = &self.text[end..];
        if after.starts_with('(') {
            return self.python(before, start, end);
        }
        // A name is followed by an object in sentences, too, so that a mark must stand before it.
        let is_module = self.text[start..end].contains('.');
        let is_marked = is_module || before.ends_with(['>', ']', '=', ':', '<']);
        if !is_marked {
            return None;
        }
        let place = between(after);
        let rest = &after[place..];
        if rest.starts_with('{') {
            let name = self.tool(&self.text[start..end])?;
            let mut reader = ValueReader::new(self.text, end + place);
            let Some(Value::Object(arguments)) = reader.value() else { return None };
            let call = TextCall { name: name.to_owned(), arguments: Arguments::Object(arguments) };
            return Some((call, reader.at()));
        }
        // With tags, the name stands in one, or right behind one.
        if self.has_broken_tags || !before.ends_with(['>', '=']) || !rest.starts_with('<') {
            return None;
        }
        let name = self.tool(&self.text[start..end])?;
        let Some((arguments, length)) = tagged(rest) else {
            self.has_broken_tags = true;
            return None;
        };
        // A name in tags that hold nothing else may just be emphasised.
        if arguments.is_empty()
            && !["tool", "function", "call", "invoke"].iter().any(|it| rest[..length].contains(it))
        {
            return None;
        }
        Some((
            TextCall { name: name.to_owned(), arguments: Arguments::Object(arguments) },
            end + place + length,
        ))
    }

    /// A call as Python writes it, if it is not part of a sentence. Only arguments with names can be read.
    fn python(&self, before: &str, start: usize, end: usize) -> Option<(TextCall, usize)> {
        let is_code = before.is_empty() || before.ends_with(['\n', '[', ',', '(', ';', '>', ']', '=']);
        if !is_code {
            return None;
        }
        let name = self.tool(&self.text[start..end])?;
        let mut reader = ValueReader::new(self.text, end);
        let arguments = reader.keyword_arguments()?;
        let rest = self.text[reader.at()..].trim_start_matches([' ', '\t', '`']);
        let is_whole = rest.is_empty() || rest.starts_with(['\n', '\r', ']', ',', ')', ';', '<', '#']);
        let call = TextCall { name: name.to_owned(), arguments: Arguments::Object(arguments) };
        is_whole.then_some((call, reader.at()))
    }
}

/// The place of what stands in a text besides white space and a fence around all of it.
fn body(text: &str) -> Range<usize> {
    let mut inner = text.trim();
    if let Some(fenced) = inner.strip_prefix("```") {
        inner = fenced
            .strip_suffix("```")
            .unwrap_or(fenced)
            .trim_start_matches(|it: char| it.is_alphanumeric() || it == '_');
        inner = inner.trim();
    }
    // `inner` is a part of `text`.
    let start = inner.as_ptr() as usize - text.as_ptr() as usize;
    start..start + inner.len()
}

/// The length of what may stand between a name and its arguments: white space, punctuation, fences, special tokens of
/// templates (`<|message|>`, `[ARGS]`), numbers of calls, and the words for arguments.
fn between(text: &str) -> usize {
    let most = text.floor_char_boundary(BETWEEN_BYTES_MAX);
    let mut at = 0;
    while let Some(next) = text[at..most].chars().next() {
        let rest = &text[at..most];
        at += match next {
            ':' | '"' | '\'' | ',' | '>' | '`' | '*' | '=' => 1,
            _ if next.is_whitespace() => next.len_utf8(),
            '<' => match special_token(rest).or_else(|| heading_tag(rest)) {
                Some(length) => length,
                None => return at,
            },
            '[' => match rest.find(']') {
                Some(end) if rest[1..end].bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') => {
                    end + 1
                }
                // The id of a call stands behind its token, as in `[CALL_ID]x7f[ARGS]`.
                _ => return at,
            },
            _ if next.is_ascii_alphanumeric() => {
                let word = &rest[..end_of_name(rest, 0)];
                let is_id = text[..at].ends_with("[CALL_ID]");
                let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
                if !is_id && !is_number && !is_between(word) {
                    return at;
                }
                word.len()
            }
            _ => return at,
        };
    }
    at
}

/// Whether each part of a word is one that announces arguments, as in `action_input`.
fn is_between(word: &str) -> bool {
    word.split('_').all(|part| WORDS_BETWEEN.iter().any(|known| part.eq_ignore_ascii_case(known)))
}

/// The length of a tag at the beginning of a text that ends a name or begins the arguments (`</name>`, `<arguments>`).
fn heading_tag(text: &str) -> Option<usize> {
    let (tag, length) = tag(text)?;
    (tag == "/name" || is_between(tag)).then_some(length)
}

/// The length of a special token such as `<|call|>` or `<｜tool▁sep｜>` at the beginning of a text.
fn special_token(text: &str) -> Option<usize> {
    let bar = text[1..].chars().next().filter(|bar| matches!(bar, '|' | '｜'))?;
    let end = text.find('>')? + 1;
    text[..end - 1].ends_with(bar).then_some(end)
}

/// The arguments in tags (`<parameter=city>Rome</parameter>`, `<parameter name="city">Rome</parameter>`,
/// `<city>Rome</city>`, `<arg_key>city</arg_key><arg_value>Rome</arg_value>`), up to the tag that ends the call, with
/// the length of all.
fn tagged(text: &str) -> Option<(Map<String, Value>, usize)> {
    let mut members = Map::new();
    let mut at = 0;
    loop {
        at = past_space(text, at);
        let (opened, length) = tag(&text[at..])?;
        if opened.starts_with('/') {
            return Some((members, at + length));
        }
        let inner = at + length;
        let word = opened.split(['=', ' ']).next().unwrap_or_default();
        let end = inner + text[inner..].find(&format!("</{word}>"))?;
        at = end + word.len() + "</>".len();
        let content = &text[inner..end];
        if word.contains("key") {
            // The value follows in tags of its own.
            at = past_space(text, at);
            let (opened, length) = tag(&text[at..])?;
            let inner = at + length;
            let end = inner + text[inner..].find(&format!("</{opened}>"))?;
            members.insert(content.trim().to_owned(), plain_value(&text[inner..end]));
            at = end + opened.len() + "</>".len();
            continue;
        }
        let name = opened.split_once('=').map_or(word, |(_, name)| name.trim().trim_matches(['"', '\'']));
        members.insert(name.to_owned(), plain_value(content));
    }
}

fn past_space(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}

/// The tag at the beginning of a text, without its brackets, and its length.
fn tag(text: &str) -> Option<(&str, usize)> {
    let inside = text.strip_prefix('<')?;
    let end = inside.floor_char_boundary(BETWEEN_BYTES_MAX.min(inside.len()));
    let end = inside[..end].find('>')?;
    Some((&inside[..end], end + 2))
}

/// What a value in tags says: JSON if it is some, else the text without the line breaks around it.
fn plain_value(text: &str) -> Value {
    serde_json::from_str(text.trim()).unwrap_or_else(|_| text.trim_matches(['\n', '\r']).into())
}

#[cfg(test)]
mod tests;
