//! What kind of file a recorded session is in.

use serde_json::Value;

use crate::SessionError;
use crate::conversation::is_conversation;

/// The forms of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Traces of planproof.
    Traces,
    /// The log of a guard.
    Decisions,
    /// Spans of OpenTelemetry.
    Spans,
    /// The log of a session of Claude Code.
    ClaudeCode,
    /// The log of a session of Codex.
    Codex,
    /// Transcripts: anything else.
    Conversations,
}

impl Form {
    /// What a file of this form is, in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Traces => "a trace of planproof",
            Self::Decisions => "the log of a guard",
            Self::Spans => "spans of OpenTelemetry",
            Self::ClaudeCode => "a log of Claude Code",
            Self::Codex => "a log of Codex",
            Self::Conversations => "a transcript",
        }
    }
}

/// Keys of OTLP's requests, in both spellings that JSON of protocol buffers has. The other signals have no calls, but
/// may stand in the file that a collector writes.
const OTLP_KEYS: [&str; 6] = [
    "resourceSpans",
    "resource_spans",
    "resourceLogs",
    "resource_logs",
    "resourceMetrics",
    "resource_metrics",
];

/// Types of lines that only Codex writes.
const CODEX_TYPES: [&str; 4] = ["session_meta", "response_item", "event_msg", "turn_context"];

/// Keys of which each line of Claude Code has one that is not a message of a transcript.
const CLAUDE_CODE_KEYS: [&str; 5] = ["sessionId", "parentUuid", "leafUuid", "isSidechain", "snapshot"];

/// The form of a file that begins with this value.
///
/// # Errors
/// It is a file of planproof, and not one with sessions.
pub(crate) fn of(first: &Value, name: &str) -> Result<Form, SessionError> {
    let first = match first {
        Value::Array(items) => items.first().unwrap_or(first),
        other => other,
    };
    if let Some(schema) = first.get("schema").and_then(Value::as_str) {
        let is_of = |format: &str| schema.strip_prefix(format).is_some_and(|rest| rest.starts_with("/v"));
        // Which versions are known is said by whoever reads them.
        if is_of("planproof/trace") {
            return Ok(Form::Traces);
        }
        if is_of("planproof/decision") {
            return Ok(Form::Decisions);
        }
        if schema.starts_with("planproof/") {
            return Err(SessionError::new(format!(
                "{name}: a file of `{schema}` has no sessions; traces are what `planproof runs export` writes"
            )));
        }
    }
    let has = |key: &str| first.get(key).is_some();
    let has_text = |key: &str| first.get(key).is_some_and(Value::is_string);
    let is_span = has_text("name")
        && (has("traceId") && has("spanId")
            || first.get("context").is_some_and(|it| it.get("trace_id").is_some()));
    if OTLP_KEYS.iter().any(|key| has(key)) || is_span {
        return Ok(Form::Spans);
    }
    let kind = first.get("type").and_then(Value::as_str);
    let is_codex = has("payload") && kind.is_some_and(|kind| CODEX_TYPES.contains(&kind));
    // Older ones begin with a line without a type.
    let is_older_codex = kind.is_none() && has_text("id") && has_text("timestamp") && has("instructions");
    if is_codex || is_older_codex {
        return Ok(Form::Codex);
    }
    if kind.is_some() && CLAUDE_CODE_KEYS.iter().any(|key| has(key)) {
        return Ok(Form::ClaudeCode);
    }
    Ok(Form::Conversations)
}

/// The form of a value that stands in a file of another form, as where files were joined; `None` where nothing says
/// that it is of another.
pub(crate) fn of_another(value: &Value, own: Form) -> Option<Form> {
    if let Value::Array(items) = value
        && own != Form::Conversations
    {
        return items.iter().find_map(|item| of_another(item, own));
    }
    let form = of(value, "").ok().filter(|form| *form != own)?;
    match (form, own) {
        // Items of Codex look like those of a transcript.
        (Form::Conversations, Form::Codex)
            if value.get("type").or_else(|| value.get("payload")).is_some() =>
        {
            None
        }
        (Form::Conversations, _) => is_conversation(value).then_some(form),
        // What is not a transcript is an error where transcripts are read.
        (_, Form::Conversations) => None,
        _ => Some(form),
    }
}
