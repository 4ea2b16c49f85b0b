//! What a server answers: results of calls, and the tools that it has. All of it passes; the guard only learns from it.

use std::sync::Arc;

use planproof_spec::rules::{CallResult, KnownTool, mcp_result, outcome_of};
use serde_json::{Map, Value};

use super::{Awaited, McpGuard, Outstanding, ids, tasks};
use crate::decision::CarriedCall;
use crate::modes::GuardAction;
use crate::strict::{self, ServerLine};

/// Most tools of a server that are compared with those in the rules; of a server with more, none are.
const LISTED_TOOLS_MAX: usize = 10_000;

/// Most calls that a server has answered by asking for more, and most tasks, that are remembered. Further ones stay
/// pending.
pub(super) const UNFINISHED_MAX: usize = 1024;

impl McpGuard {
    /// Whether a line of the server may be the result of a call.
    pub fn awaits_results(&self) -> bool {
        self.awaits_call()
            // A call that is pending in the history of the session, which has not been read so far.
            || self.is_of_unknown_stream()
            || self.outstanding.values().any(|it| !matches!(it.awaited, Awaited::Other))
    }

    /// Whether some client may take an answer for that to a call.
    fn awaits_call(&self) -> bool {
        self.tasks.are_pending()
            || self.outstanding.values().any(|it| it.awaited.is_call())
            || self.is_of_unknown_stream() && self.pending() > 0
    }

    fn is_of_unknown_stream(&self) -> bool {
        self.is_resumed && self.stream.is_none()
    }

    /// Takes a line of the server, which is always passed on. Gives the lines of the log that are to be written before,
    /// one for each result of a call and for each [notice](Self::notices).
    pub fn from_server(&mut self, line: &[u8]) -> Vec<String> {
        // Only what could be an answer is read.
        if self.outstanding.is_empty() && !self.awaits_call() {
            return Vec::new();
        }
        let known = self.notices.len();
        let mut lines = self.results_in(line);
        let rules = self.session.as_ref().ok().map(|session| &**session.rules());
        let noted = |notice: &String| self.log.decision(None, rules, GuardAction::Noted, Some(notice), 0);
        lines.extend(self.notices.iter().skip(known).map(noted));
        lines
    }

    /// What was noticed of the server since this was asked last, such as tools in the rules that it does not have: each
    /// a sentence without a full stop, and each once in a session.
    pub fn notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    fn notice(&mut self, what: &str, notice: String) {
        if self.noticed.insert(what.to_owned()) {
            self.notices.push(notice);
        }
    }

    fn results_in(&mut self, line: &[u8]) -> Vec<String> {
        if self.is_cut_differently(line) {
            return self.blocked().into_iter().collect();
        }
        match strict::of_server(line) {
            ServerLine::Read(Value::Array(messages)) => {
                messages.into_iter().filter_map(|message| self.answered(message)).collect()
            }
            ServerLine::Read(message) => self.answered(message).into_iter().collect(),
            ServerLine::Ambiguous => self.unread().into_iter().collect(),
            // Lines that cannot be messages are output of the server's that every client skips.
            ServerLine::Unread if may_be_message(line) => self.unread().into_iter().collect(),
            ServerLine::Unread => Vec::new(),
        }
    }

    /// Whether a client that ends lines elsewhere, too, would find an answer to a call in a line.
    fn is_cut_differently(&self, line: &[u8]) -> bool {
        let line = String::from_utf8_lossy(line);
        let line = line.strip_suffix('\r').unwrap_or(&line);
        line.contains(LINE_ENDS)
            && line.split(LINE_ENDS).any(|piece| match strict::of_server(piece.as_bytes()) {
                ServerLine::Read(message) => self.may_answer_call(&message),
                // A piece of a message that is written over several of such lines.
                ServerLine::Ambiguous | ServerLine::Unread => false,
            })
    }

    fn may_answer_call(&self, message: &Value) -> bool {
        let is_answer = ["result", "error"].iter().any(|key| message.get(*key).is_some());
        let is_call = |meant: Meant| match meant {
            Meant::Request(key) => self.outstanding.get(&key).is_some_and(|it| it.awaited.is_call()),
            Meant::PerhapsCall => true,
            Meant::Nothing => false,
        };
        is_answer && message.get("id").is_some_and(|id| is_call(self.meant(id)))
    }

    /// Takes note of an answer that cannot be read, as of a line that is longer than [`LINE_BYTES_MAX`]. The client may
    /// understand it, so no further call is approved. Gives the line of the log about it; `None` if no call is pending.
    ///
    /// [`LINE_BYTES_MAX`]: super::LINE_BYTES_MAX
    pub fn unread(&mut self) -> Option<String> {
        if self.awaits_call() { self.blocked() } else { None }
    }

    /// No further call is approved. Gives the line of the log about it.
    pub(super) fn blocked(&mut self) -> Option<String> {
        let session = self.session.as_mut().ok()?;
        session.unread();
        Some(self.log.unread())
    }

    /// What an answer with this id is for, to this client and to others.
    fn meant(&self, id: &Value) -> Meant {
        let key = self.key(id);
        let own = self.outstanding.get(&key);
        if self.is_resumed
            && let Some(stream) = self.stream
            && own.is_none_or(|own| own.stream != Some(stream))
        {
            // Clients take whichever answer comes in a stream that they resume for that to the request that began it.
            let is_call = |it: &Outstanding| it.awaited.is_call();
            let of_stream = self.outstanding.values().find(|it| it.stream == Some(stream));
            return match own {
                _ if own.is_some_and(is_call) || of_stream.is_some_and(is_call) => Meant::PerhapsCall,
                Some(_) => Meant::Request(key),
                None => Meant::Nothing,
            };
        }
        let may_be_call = |it: &Outstanding| it.awaited.is_call() && ids::may_be(id, &it.id);
        if own.is_some() {
            Meant::Request(key)
        } else if self.outstanding.values().any(may_be_call)
            || self.is_of_unknown_stream() && self.pending() > 0
        {
            Meant::PerhapsCall
        } else {
            Meant::Nothing
        }
    }

    fn answered(&mut self, message: Value) -> Option<String> {
        let Value::Object(mut message) = message else { return None };
        // Some clients disregard the case of keys.
        let is_odd = plain_keys(&mut message);
        let is_there = |key: &str| message.get(key).is_some_and(|value| !value.is_null());
        let [has_result, has_error] = ["result", "error"].map(is_there);
        let (method, is_odd) = match message.get("method") {
            None | Some(Value::Null) => (None, is_odd),
            Some(Value::String(method)) => (Some(method.clone()).filter(|it| !it.is_empty()), is_odd),
            // To some clients, it is nothing.
            Some(_) => (None, true),
        };
        if let Some(method) = &method
            && !has_result
            && !has_error
        {
            return self.notified(method, &message);
        }
        let id = message.get("id")?.clone();
        let key = match self.meant(&id) {
            Meant::Request(key) => key,
            Meant::PerhapsCall => return self.unread(),
            Meant::Nothing => return None,
        };
        if is_odd || method.is_some() {
            // To some clients it is the answer, to others not.
            let is_call = self.outstanding.get(&key).is_some_and(|it| it.awaited.is_call());
            return if is_call { self.unread() } else { None };
        }
        let Outstanding { awaited, .. } = self.outstanding.remove(&key)?;
        let (error, result) = (message.get("error"), message.get("result"));
        match awaited {
            Awaited::Other => None,
            Awaited::Tools { continues } => {
                if let Some(result) = result {
                    self.tools_listed(result, continues);
                }
                None
            }
            Awaited::Tasks => {
                let tasks = result.and_then(|result| result.get("tasks")?.as_array());
                let said = tasks.into_iter().flatten().filter_map(|task| Some((tasks::id_of(task)?, task)));
                let mut lines: Vec<String> =
                    said.filter_map(|(id, task)| self.task_said(&id, task)).collect();
                let last = lines.pop();
                self.late.extend(lines);
                last
            }
            Awaited::Task(id) => result.and_then(|result| self.task_said(&id, result)),
            Awaited::TaskResult(id) => match answer_of(error, result) {
                Some(answer) => self.task_answered(&id, answer),
                None if self.tasks.has(&id) => self.blocked(),
                None => None,
            },
            Awaited::Call(number, asked) => match answer_of(error, result) {
                Some(Err(error)) => Some(self.finished(number, true, &message_of(error))),
                Some(Ok(result)) => self.called(number, asked, result),
                None => self.blocked(),
            },
        }
    }

    /// Takes a request or a notification of the server.
    fn notified(&mut self, method: &str, message: &Map<String, Value>) -> Option<String> {
        let task = message.get("params").filter(|_| TASK_NOTIFICATIONS.contains(&method))?;
        self.task_said(&tasks::id_of(task)?, task)
    }

    /// Takes a list of tools. At its end, what the rules name and the server does not have is noticed.
    fn tools_listed(&mut self, result: &Value, continues: bool) {
        let Some(tools) = result.get("tools").and_then(Value::as_array) else { return };
        let is_there = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
        if !continues {
            self.listed.clear();
        }
        let rules = self.session.as_ref().ok().map(|session| Arc::clone(session.rules()));
        for tool in tools {
            let Some(name) = tool.get("name").and_then(Value::as_str) else { continue };
            if is_there(tool.get("outputSchema")) {
                self.with_schema.insert(name.to_owned());
            }
            if self.listed.len() > LISTED_TOOLS_MAX {
                continue;
            }
            let schema = tool.get("inputSchema").and_then(Value::as_object);
            let is_named = rules.as_ref().is_some_and(|rules| rules.speak_of(name));
            self.listed.push((name.to_owned(), schema.filter(|_| is_named).cloned().unwrap_or_default()));
        }
        let Some(rules) = rules.filter(|_| !is_there(result.get("nextCursor"))) else { return };
        let listed = std::mem::take(&mut self.listed);
        if listed.len() > LISTED_TOOLS_MAX {
            return;
        }
        let names: Vec<String> = listed.iter().map(|(name, _)| name.clone()).collect();
        let known: Vec<KnownTool<'_>> =
            listed.iter().map(|(name, schema)| KnownTool { name, schema }).collect();
        let tools = rules.unknown_tools(&names);
        for fault in tools.into_iter().chain(rules.unknown_arguments(&known)) {
            self.notice(
                &fault.message,
                format!("the server's list of tools: {}; {}", fault.message, fault.help),
            );
        }
    }

    /// Takes the answer to a call, which need not be its result.
    fn called(&mut self, number: u64, asked: CarriedCall, result: &Value) -> Option<String> {
        let kind = result.get("resultType").and_then(Value::as_str);
        if kind == Some("input_required") {
            let state = result.get("requestState").and_then(Value::as_str).map(str::to_owned);
            if self.unfinished.len() < UNFINISHED_MAX {
                self.unfinished.push((number, asked, state));
            }
            return None;
        }
        let task = result.get("task").filter(|_| result.get("content").is_none());
        let task = task.or_else(|| (kind == Some("task")).then_some(result));
        match task.and_then(|task| Some((tasks::id_of(task)?, task))) {
            Some((id, task)) => self.task_begun(number, &id, task),
            None => self.ended(number, result),
        }
    }

    /// Takes the result of a call.
    pub(super) fn ended(&mut self, number: u64, result: &Value) -> Option<String> {
        // Some clients take it for an error, some do not, and some take no such result.
        if result.get("isError").is_some_and(|it| !it.is_boolean() && !it.is_null()) {
            return self.blocked();
        }
        let CallResult { value, says_error, is_contradictory } = mcp_result(result);
        if is_contradictory {
            let notice = format!(
                "the text of the result of call {number} contradicts its structured content, which counts"
            );
            self.notice("a result that contradicts itself", notice);
        }
        Some(self.finished(number, says_error, &value))
    }

    pub(super) fn finished(&mut self, number: u64, is_error: bool, outcome: &Value) -> String {
        if let Ok(session) = &mut self.session {
            session.finished(number, is_error, outcome);
        }
        self.log.result(number, is_error, outcome)
    }
}

/// What an answer is for.
enum Meant {
    /// The request with this key.
    Request(String),
    /// To some clients a call, to others not, or another one.
    PerhapsCall,
    /// Nothing that anybody waits for.
    Nothing,
}

/// What ends a line to some clients beside a line feed.
const LINE_ENDS: [char; 9] =
    ['\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Notifications of the state of a task, in the older protocol and in the newer one.
const TASK_NOTIFICATIONS: [&str; 2] = ["notifications/tasks/status", "notifications/tasks"];

/// The result or the error in an answer; `None` where clients differ in what they make of it.
fn answer_of<'v>(
    error: Option<&'v Value>,
    result: Option<&'v Value>,
) -> Option<Result<&'v Value, &'v Value>> {
    match (error, result) {
        (Some(error @ Value::Object(_)), None | Some(Value::Null)) => Some(Err(error)),
        // Clients take an error that is not one for none.
        (None | Some(Value::Null | Value::Number(_)), Some(result)) => Some(Ok(result)),
        // Both, or neither.
        _ => None,
    }
}

/// The keys that make a message an answer, or something else.
const ANSWER_KEYS: [&str; 4] = ["id", "method", "result", "error"];

/// Gives the keys of a message their proper case, where there is no such key. Whether one had another.
fn plain_keys(message: &mut Map<String, Value>) -> bool {
    let odd = |key: &&String| {
        let folded = strict::folded(key);
        folded != **key && ANSWER_KEYS.contains(&folded.as_str())
    };
    let odd: Vec<String> = message.keys().filter(odd).cloned().collect();
    for key in &odd {
        let folded = strict::folded(key);
        if let Some(value) = message.remove(key) {
            message.entry(folded).or_insert(value);
        }
    }
    !odd.is_empty()
}

/// Whether some client may take a line, or a part of it that is a line to it, for a message.
fn may_be_message(line: &[u8]) -> bool {
    let is_nothing = |it: char| it.is_whitespace() || it == '\u{feff}';
    let line = String::from_utf8_lossy(line);
    let mut pieces =
        line.split(LINE_ENDS).map(|piece| piece.trim_start_matches(is_nothing)).filter(|it| !it.is_empty());
    pieces.next().is_some_and(|piece| piece.starts_with(['{', '[']))
        || pieces.any(|piece| piece.starts_with('{'))
}

/// An error of the protocol as rules see it: its message.
pub(super) fn message_of(error: &Value) -> Value {
    match error.get("message").and_then(Value::as_str) {
        Some(message) => outcome_of(message),
        None => error.clone(),
    }
}
