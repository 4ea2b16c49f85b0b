//! The logs that Claude Code and Codex keep of their sessions. Their tools have the names here that hooks report, so
//! that the rules of a hook can be held against them: only rules can say which part of `mcp__SERVER__TOOL` is the
//! server.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::calls::{Calls, Ordered, Strays, Unread};
use crate::items::{arguments_of, content_of, text, text_of};
use crate::spans::nanoseconds;
use crate::{Gather, RecordedDoubts, RecordedSession, SessionError, SessionSink};

/// Tools of Codex that run a command. Its hooks report all of them as [`SHELL`], with one argument, `command`.
const CODEX_SHELLS: [&str; 5] = ["shell", "local_shell", "container.exec", "exec_command", "shell_command"];

/// Types of lines of Codex that have no calls of their own.
const CODEX_NOTES: [&str; 3] = ["event_msg", "turn_context", "compacted"];

/// What hooks call the tool that runs a command.
const SHELL: &str = "Bash";

/// A log that is read, of one file or, with those of sub-agents, of several. Its calls are in memory until its end.
pub(crate) struct CodingAgentLog {
    /// The names of the files.
    files: Vec<Arc<str>>,
    agent: CodingAgent,
    /// In the order in which they began. Codex has one, unless logs were joined.
    sessions: Vec<LoggedSession>,
    /// The sessions that the first lines of the one of Codex that is read name: its own, and those that it continues.
    heads: Vec<String>,
    /// It has no other lines so far.
    has_heads_only: bool,
    /// Lines that are not of the form.
    others: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CodingAgent {
    ClaudeCode,
    Codex,
}

struct LoggedSession {
    id: String,
    line: u64,
    query: Option<String>,
    calls: Calls,
    /// A message in it is not one of a sub-agent.
    has_main: bool,
}

impl CodingAgentLog {
    pub(crate) fn of_claude_code(name: &str) -> Self {
        Self {
            files: vec![name.into()],
            agent: CodingAgent::ClaudeCode,
            sessions: Vec::new(),
            heads: Vec::new(),
            has_heads_only: true,
            others: 0,
        }
    }

    pub(crate) fn of_codex(name: &str) -> Self {
        Self { agent: CodingAgent::Codex, ..Self::of_claude_code(name) }
    }

    /// The session of that id, which begins here if it is not known, at a line of that time.
    fn session(&mut self, id: &str, line: u64, time: Option<&Value>) -> &mut LoggedSession {
        let known = self.sessions.iter().rposition(|session| session.id == id);
        let place = known.unwrap_or_else(|| {
            let calls = Calls::with_repeats();
            let id = id.to_owned();
            self.sessions.push(LoggedSession { id, line, query: None, calls, has_main: false });
            self.sessions.len() - 1
        });
        let session = &mut self.sessions[place];
        session.calls.line = line;
        session.calls.time = time.and_then(nanoseconds);
        session.calls.file = self.files.len() - 1;
        session
    }

    /// A line of Claude Code. Sub-agents are part of the session, as they are to hooks.
    fn claude_code(&mut self, value: &Value, line: u64) {
        // What a sub-agent does can stand in the log of the session, as a line within a line.
        let of_agent = value.pointer("/data/message").filter(|_| text(value, "type") == "progress");
        let inner = of_agent.unwrap_or(value);
        let kind = text(inner, "type");
        let message = inner.get("message").filter(|_| matches!(kind, "user" | "assistant"));
        let Some(message) = message else {
            return self.note_unread(text(value, "sessionId"), value, line);
        };
        let session = self.session(text(value, "sessionId"), line, value.get("timestamp"));
        // A reply is written in several lines.
        let reply = text(message, "id");
        session.calls.message += u64::from(reply.is_empty() || reply != session.calls.reply);
        reply.clone_into(&mut session.calls.reply);
        let is_main = of_agent.is_none() && value.get("isSidechain") != Some(&Value::Bool(true));
        session.has_main |= is_main;
        let is_of_user = kind == "user" && value.get("isMeta") != Some(&Value::Bool(true)) && is_main;
        if is_of_user && session.query.is_none() {
            let said = message.get("content").and_then(text_of);
            session.query = said.filter(|text| !text.trim().is_empty());
        }
        for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            match block.get("type").and_then(Value::as_str) {
                Some("tool_use") => {
                    let (id, name) = (text(block, "id"), text(block, "name"));
                    session.calls.call(id, None, name, arguments_of(block.get("input")));
                }
                Some("tool_result") => {
                    let is_error = block.get("is_error") == Some(&Value::Bool(true));
                    let content = content_of(block.get("content"));
                    session.calls.outcome(text(block, "tool_use_id"), None, is_error, content);
                }
                _ => session.calls.note_unread(block),
            }
        }
        for (key, value) in message.as_object().into_iter().flatten() {
            let is_read = key == "content" && value.is_array();
            if !is_read {
                session.calls.note_unread_at(key, value);
            }
        }
    }

    /// Notes what looks like a call in a line that is not read, as one of that session.
    fn note_unread(&mut self, id: &str, value: &Value, line: u64) {
        let mut calls = Calls::default();
        calls.note_unread(value);
        if !calls.unread.is_empty() {
            self.session(id, line, value.get("timestamp")).calls.unread.append(&mut calls.unread);
        }
    }

    /// A line of Codex.
    fn codex(&mut self, value: &Value, line: u64) {
        let payload = value.get("payload");
        let kind = payload.map_or("", |_| text(value, "type"));
        if kind == "session_meta" || payload.is_none() && value.get("type").is_none() {
            let head = payload.unwrap_or(value);
            let id = text(head, "id");
            // A session that continues another has the lines of that one, with its first, behind its own first line.
            // A first line that stands elsewhere is that of another log, which was joined to this one.
            let is_joined = !id.is_empty() && !self.has_heads_only && !self.heads.iter().any(|it| it == id);
            if id.is_empty() && !self.sessions.is_empty() {
                let current = self.heads.first().cloned().unwrap_or_default();
                return self.note_unread(&current, value, line);
            }
            if self.sessions.is_empty() || is_joined {
                self.session(id, line, None);
                (self.heads, self.has_heads_only) = (Vec::new(), true);
            }
            if self.heads.is_empty() || self.has_heads_only {
                self.heads.extend([id, text(head, "forked_from_id")].map(str::to_owned));
            }
            return;
        }
        self.has_heads_only &= matches!(kind, "turn_context");
        let id = self.heads.first().cloned().unwrap_or_default();
        let session = self.session(&id, line, None);
        let item = match payload {
            Some(payload) if kind == "response_item" => payload,
            Some(payload) => {
                let is_query = kind == "event_msg" && text(payload, "type") == "user_message";
                if is_query && session.query.is_none() {
                    session.query = Some(text(payload, "message").to_owned()).filter(|it| !it.is_empty());
                }
                // Those of known types repeat what items say.
                if !CODEX_NOTES.contains(&kind) {
                    session.calls.note_unread(payload);
                }
                return;
            }
            // Older ones have the items themselves.
            None => value,
        };
        let id = item.get("call_id").or_else(|| item.get("id")).and_then(Value::as_str).unwrap_or_default();
        session.calls.message += 1;
        match text(item, "type") {
            "function_call" => {
                let (name, arguments) = (text(item, "name"), arguments_of(item.get("arguments")));
                match CODEX_SHELLS.contains(&name) {
                    true => session.calls.call(id, None, SHELL, as_command(arguments)),
                    false => session.calls.call(id, None, name, arguments),
                }
            }
            "local_shell_call" => {
                let action = item.get("action").cloned().unwrap_or_default();
                session.calls.call(id, None, SHELL, as_command(action));
            }
            "custom_tool_call" => {
                // Such as a patch: hooks report its text as `command`.
                let arguments = match item.get("input") {
                    Some(Value::String(text)) => json!({ "command": text }),
                    other => arguments_of(other),
                };
                session.calls.call(id, None, text(item, "name"), arguments);
            }
            _ => session.calls.message(item),
        }
    }
}

impl Gather for CodingAgentLog {
    fn file(&mut self, name: &str) {
        self.files.push(name.into());
    }

    fn value(
        &mut self,
        value: Value,
        line: u64,
        _: &str,
        _: &mut dyn SessionSink,
    ) -> Result<(), SessionError> {
        let mut one = |value: &Value| {
            match (value.is_object(), self.agent) {
                (false, _) => self.others += 1,
                (true, CodingAgent::ClaudeCode) => self.claude_code(value, line),
                (true, CodingAgent::Codex) => self.codex(value, line),
            };
        };
        match &value {
            Value::Array(items) => items.iter().for_each(one),
            value => one(value),
        }
        Ok(())
    }

    fn end(&mut self, sink: &mut dyn SessionSink) -> Result<(), SessionError> {
        let file = Arc::clone(&self.files[0]);
        if self.others > 0 {
            sink.warn(&format!("{file}: {} that are not objects are left out", self.others));
        }
        let (mut strays, mut unread) = (Strays::default(), Unread::default());
        for LoggedSession { id, line, query, mut calls, has_main } in std::mem::take(&mut self.sessions) {
            let name = if id.is_empty() { file.to_string() } else { format!("{file} session {id}") };
            strays.add(&name, calls.strays);
            unread.add(&name, &calls.unread);
            if self.agent == CodingAgent::ClaudeCode && !has_main && !calls.happened.is_empty() {
                sink.warn(&format!(
                    "{name}: only sub-agents of the session are recorded here, so rules see no other call of it: name \
                     the folder with its log as well"
                ));
            }
            let Ordered { files, unordered } = calls.in_order();
            sink.session(RecordedSession {
                name,
                line,
                query,
                tools: None,
                happened: calls.happened,
                call_lines: calls.lines,
                call_files: files.iter().map(|place| Arc::clone(&self.files[*place])).collect(),
                doubts: RecordedDoubts { unordered, ..RecordedDoubts::default() },
            })?;
        }
        strays.report(sink);
        unread.report(sink);
        Ok(())
    }

    fn may_leave_out(&self) -> bool {
        true
    }
}

/// The arguments of a tool that runs a command, with the command as one text in `command`.
fn as_command(arguments: Value) -> Value {
    let Value::Object(mut arguments) = arguments else { return arguments };
    let command = match arguments.get("command").or_else(|| arguments.get("cmd")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                // A shell that is given a script.
                [shell, option, script]
                    if shell.ends_with("sh") && option.starts_with('-') && option.ends_with('c') =>
                {
                    (*script).to_owned()
                }
                words => words.join(" "),
            }
        }
        _ => return Value::Object(arguments),
    };
    arguments.insert("command".to_owned(), Value::from(command));
    Value::Object(arguments)
}
