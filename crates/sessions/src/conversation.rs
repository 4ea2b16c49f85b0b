//! Transcripts: chat completions and responses of OpenAI, messages of Anthropic.

use serde_json::Value;

use crate::calls::{Calls, Strays, Unread};
use crate::items::{are_messages, text_of};
use crate::source::Document;
use crate::{Gather, RecordedDoubts, RecordedSession, SessionError, SessionSink, unknown};

/// The names that requests, replies and logs have for a conversation or a part of it, in the order in which the parts
/// happen.
const PARTS: [&str; 8] = ["request", "body", "messages", "input", "items", "output", "response", "choices"];

/// Conversations, of which each value of a file is one, or a list of them.
pub(crate) struct Conversations {
    name: String,
    strays: Strays,
    unread: Unread,
    /// The text, where a value has several lines.
    document: Option<Document>,
}

impl Conversations {
    pub(crate) fn new(name: &str, document: Option<Document>) -> Self {
        let name = name.to_owned();
        Self { name, strays: Strays::default(), unread: Unread::default(), document }
    }

    fn conversation(
        &mut self,
        value: &Value,
        line: u64,
        place: &str,
    ) -> Result<RecordedSession, SessionError> {
        let mut calls = Calls::marked(self.document.is_some());
        let parts = match value {
            Value::Array(items) => Parts { lists: vec![items], others: Vec::new() },
            value => Parts::of(value),
        };
        let mut is_conversation = false;
        for list in &parts.lists {
            is_conversation |= calls.messages(list);
            calls.is_continued = true;
        }
        if !is_conversation {
            return Err(unknown(&self.name, place));
        }
        calls.settle();
        parts.others.iter().for_each(|(key, value)| calls.note_unread_at(key, value));
        let name = format!("{}{place}", self.name);
        self.strays.add(&name, calls.strays);
        self.unread.add(&name, &calls.unread);
        let request = ["request", "body"].iter().find_map(|key| value.get(*key)?.get("tools"));
        let tools = value.get("tools").or(request).cloned();
        // Where nothing says where a call stands, it stands where the one before does.
        let mut last = line;
        let call_lines = self.document.as_mut().map(|document| {
            let lines = calls.marks.iter().flatten().map(|mark| {
                last = document.line_of(mark).unwrap_or(last);
                last
            });
            lines.collect()
        });
        Ok(RecordedSession {
            name,
            line,
            query: parts.lists.iter().find_map(|list| query_of(list)),
            tools,
            happened: calls.happened,
            call_lines: call_lines.unwrap_or_default(),
            call_files: Vec::new(),
            doubts: RecordedDoubts::default(),
        })
    }
}

impl Gather for Conversations {
    fn value(
        &mut self,
        value: Value,
        line: u64,
        place: &str,
        sink: &mut dyn SessionSink,
    ) -> Result<(), SessionError> {
        match &value {
            // Neither a conversation nor several.
            Value::Array(items) if items.is_empty() => Ok(()),
            Value::Array(items) if items.iter().any(has_conversation) => {
                for (number, item) in items.iter().enumerate() {
                    sink.session(self.conversation(item, line, &format!("{place} #{}", number + 1))?)?;
                }
                Ok(())
            }
            value => sink.session(self.conversation(value, line, place)?),
        }
    }

    fn end(&mut self, sink: &mut dyn SessionSink) -> Result<(), SessionError> {
        self.strays.report(sink);
        self.unread.report(sink);
        Ok(())
    }

    fn may_leave_out(&self) -> bool {
        false
    }
}

/// Whether an item of a list is a conversation itself. An item of a response may have an `output`, too.
fn has_conversation(item: &Value) -> bool {
    let is_item = item.get("role").is_some() || item.get("type").is_some();
    item.get("messages").is_some_and(Value::is_array) || !is_item && !Parts::of(item).lists.is_empty()
}

/// Whether a value, such as a line of a file of another form, is a conversation or a message of one.
pub(crate) fn is_conversation(value: &Value) -> bool {
    let is_message = |value: &Value| value.get("role").is_some_and(Value::is_string);
    let is_part = |value: &Value| is_message(value) || value.get("type").is_some_and(Value::is_string);
    is_message(value) || Parts::of(value).lists.iter().any(|list| list.iter().any(is_part))
}

/// What the user asked first.
fn query_of(messages: &[Value]) -> Option<String> {
    let first =
        messages.iter().find(|message| message.get("role").and_then(Value::as_str) == Some("user"))?;
    let text = text_of(first.get("content")?)?;
    (!text.trim().is_empty()).then_some(text)
}

/// The parts of a conversation in a value.
#[derive(Default)]
struct Parts<'v> {
    /// Lists of messages, in the order in which they happened.
    lists: Vec<&'v [Value]>,
    /// What else there is, with its names.
    others: Vec<(&'v str, &'v Value)>,
}

impl<'v> Parts<'v> {
    fn of(value: &'v Value) -> Self {
        let mut parts = Self::default();
        parts.add_all(value);
        parts
    }

    fn add_all(&mut self, value: &'v Value) {
        for key in PARTS {
            let Some(part) = value.get(key) else { continue };
            match part {
                // Of several replies that a model was asked for, the first counts.
                Value::Array(choices) if key == "choices" => {
                    for (number, choice) in choices.iter().enumerate() {
                        match choice.get("message").filter(|_| number == 0) {
                            Some(message) => self.add(std::slice::from_ref(message)),
                            None => self.others.push((key, choice)),
                        }
                    }
                }
                Value::Array(items) if are_messages(items) => self.add(items),
                Value::Object(_) if part.get("role").is_some() => self.add(std::slice::from_ref(part)),
                Value::Object(_) => self.add_all(part),
                other => self.others.push((key, other)),
            }
        }
        let entries = value.as_object().into_iter().flatten();
        let others = entries.filter(|(key, _)| !PARTS.contains(&key.as_str()));
        self.others.extend(others.map(|(key, value)| (key.as_str(), value)));
    }

    /// Adds a list. One that begins with all of those before it, as a log of the whole conversation does, stands for
    /// them.
    fn add(&mut self, list: &'v [Value]) {
        let before: usize = self.lists.iter().map(|list| list.len()).sum();
        let repeats = before > 0
            && list.len() >= before
            && self.lists.iter().copied().flatten().zip(list).all(|(one, other)| one == other);
        if repeats {
            self.lists.clear();
        }
        self.lists.push(list);
    }
}
