//! Tools, an agent's calls of them, and the results.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value};

use crate::faults::SentAs;
use crate::{Attachments, WrittenObject, json};

/// How often arguments may have been encoded once more than the protocol says.
const ENCODINGS_MAX: u32 = 2;

/// A named operation with an input schema, as defined by the Model Context Protocol and the model providers.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The model's name for it: 1 to 64 characters of `[A-Za-z0-9_-]` if every provider must accept it.
    pub name: String,
    /// What the tool does, in words for the model.
    pub description: String,
    /// JSON Schema of the arguments; always of `"type": "object"`.
    pub input_schema: WrittenObject,
}

/// The schema of all tools that take no arguments.
static NO_ARGUMENTS: LazyLock<WrittenObject> = LazyLock::new(|| {
    WrittenObject::from(Map::from_iter([
        ("type".to_owned(), "object".into()),
        ("properties".to_owned(), Value::Object(Map::new())),
        ("additionalProperties".to_owned(), false.into()),
    ]))
});

impl Tool {
    /// A tool that takes no arguments and refuses any.
    pub fn without_arguments(name: impl Into<String>, description: impl Into<String>) -> Self {
        let input_schema = NO_ARGUMENTS.clone();
        Self { name: name.into(), description: description.into(), input_schema }
    }

    /// Whether it was made by [`without_arguments`](Self::without_arguments), so that only `{}` fits.
    pub fn is_without_arguments(&self) -> bool {
        self.input_schema.is_copy_of(&NO_ARGUMENTS)
    }
}

/// Names one tool call within a run. Providers choose it; two calls of one run never share it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(Arc<str>);

impl CallId {
    /// Wraps an id as the provider sent it.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// The id's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The arguments of a call. A model writes them as text, so they may not be a JSON object: that is the agent's
/// mistake, hence data, and the text is kept unchanged.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// A JSON object.
    Object(Map<String, Value>),
    /// Text that is not a JSON object.
    Malformed(String),
}

impl Arguments {
    /// No arguments at all: `{}`.
    pub fn none() -> Self {
        Self::Object(Map::new())
    }

    /// Reads a model's text. Blank text and `null` count as `{}`, because several servers send them for a call without
    /// arguments. An object within a JSON text (`"{}"` with its quotation marks) is one that a server encoded twice.
    pub fn from_text(text: &str) -> Self {
        Self::read(text, ENCODINGS_MAX).unwrap_or_else(|| Self::Malformed(text.to_owned()))
    }

    fn read(text: &str, encodings_left: u32) -> Option<Self> {
        let text = text.trim();
        if matches!(text, "" | "null") {
            return Some(Self::none());
        }
        if text.starts_with('"') {
            let inner: String = json::read(text.as_bytes()).ok()?;
            return Self::read(&inner, encodings_left.checked_sub(1)?);
        }
        json::read(text.as_bytes()).ok().map(Self::Object)
    }

    /// The arguments as text, in the form that a provider expects in the conversation.
    pub fn to_text(&self) -> String {
        match self {
            Self::Object(object) if object.is_empty() => "{}".to_owned(),
            Self::Object(object) => Value::Object(object.clone()).to_string(),
            Self::Malformed(text) => text.clone(),
        }
    }

    /// The object, or `None` if the text was malformed.
    pub fn as_object(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::Object(object) => Some(object),
            Self::Malformed(_) => None,
        }
    }
}

/// One request to execute a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Names the call; the result carries the same id.
    pub id: CallId,
    /// Name of the tool, as the agent wrote it; it may not exist.
    pub name: String,
    /// The arguments, as the agent wrote them.
    pub arguments: Arguments,
}

/// What came back from a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call it answers.
    pub id: CallId,
    /// Text for the model.
    pub text: String,
    /// The tool refused or failed: it does not exist, the arguments do not fit, or its work went wrong.
    pub is_error: bool,
    /// A guard between agent and tools denied the call, so that no tool saw it. Such a result is an error too.
    pub is_denied: bool,
    /// The ids of the rules by which a guard denied the call; if it was not denied, those that would have denied it
    /// if the guard did not only note violations.
    pub denied_by: Vec<String>,
    /// The reason for a denial as data, for agents over MCP. Traces do not hold it.
    pub structured: Option<Value>,
    /// How a failure that was injected reaches an agent over MCP.
    pub sent: SentAs,
    /// Small pictures of the tool's output, for people: no model gets them and no judge reads them.
    pub attachments: Attachments,
}

impl ToolResult {
    /// A result that says the tool did its work.
    pub fn ok(id: CallId, text: impl Into<String>) -> Self {
        Self {
            id,
            text: text.into(),
            is_error: false,
            is_denied: false,
            denied_by: Vec::new(),
            structured: None,
            sent: SentAs::Result,
            attachments: Attachments::default(),
        }
    }

    /// A result that says why the tool did not do its work.
    pub fn error(id: CallId, text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::ok(id, text) }
    }

    /// A result that says why a guard denied the call.
    pub fn denied(id: CallId, text: impl Into<String>) -> Self {
        Self { is_denied: true, ..Self::error(id, text) }
    }

    /// The result of a call that these rules deny, or would deny.
    #[must_use]
    pub fn denied_by(self, rules: Vec<String>) -> Self {
        Self { denied_by: rules, ..self }
    }

    /// The result, sent in this form.
    #[must_use]
    pub fn with_form(self, sent: SentAs) -> Self {
        Self { sent, ..self }
    }

    /// The result with these pictures attached.
    #[must_use]
    pub fn with_attachments(self, attachments: Attachments) -> Self {
        Self { attachments, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_keep_malformed_text() {
        for malformed in ["[1]", "{\"a\":", "nullx", "7", "\"", "\"no\"", "\"[1]\"", "{} {}"] {
            assert_eq!(Arguments::from_text(malformed), Arguments::Malformed(malformed.into()));
            assert_eq!(Arguments::from_text(malformed).to_text(), malformed);
        }
        assert_eq!(Arguments::from_text("{\"a\":1}").to_text(), "{\"a\":1}");
    }

    #[test]
    fn arguments_are_read_however_servers_write_them() {
        let mut deep = "{}".to_owned();
        for _ in 0..ENCODINGS_MAX {
            assert_eq!(Arguments::from_text(&deep), Arguments::none(), "{deep}");
            deep = Value::from(deep).to_string();
        }
        let too_deep = Value::from(deep).to_string();
        assert_eq!(Arguments::from_text(&too_deep), Arguments::Malformed(too_deep.clone()));
        for none in ["", "  ", " {} ", "null", " null\n", r#""""#, r#""null""#] {
            assert_eq!(Arguments::from_text(none), Arguments::none(), "{none}");
        }
        let twice = Arguments::from_text(r#""{\"a\": \"b\"}""#);
        assert_eq!(twice.to_text(), r#"{"a":"b"}"#);
        assert_eq!(Arguments::from_text(r#"{"a":"\ud83d"}"#).to_text(), "{\"a\":\"\u{fffd}\"}");
    }
}
