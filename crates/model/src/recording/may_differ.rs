//! The parts of a repeated request that may differ from the recorded one: paths, dates, ids.

use std::borrow::Cow;
use std::sync::Arc;

use planproof_trace::{Arguments, CallId, Tool, ToolCall, WrittenObject};
use regex::{Regex, RegexBuilder};
use thiserror::Error;

use crate::{ChatRequest, CompletionRequest, Message};

/// Most patterns of a file.
pub const PATTERNS_MAX: usize = 100;

/// Most bytes of a pattern as it is written: reading it takes a hundred times that.
const PATTERN_TEXT_BYTES_MAX: usize = 10_000;

/// Most bytes of a compiled pattern. A few letters, such as `\pL{90}`, can ask for megabytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Why patterns cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// A line is not a regular expression.
    #[error("line {line}: {what}")]
    Line {
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// There are more than [`PATTERNS_MAX`], or none.
    #[error("it holds {count} patterns; a file has 1 to {PATTERNS_MAX}")]
    Count { count: usize },
}

/// Patterns of texts that are ignored when a request is compared with recorded ones. There are none by default.
///
/// Before requests are compared, each match in their texts (messages, names, arguments, results, ids of calls,
/// descriptions and schemas of tools) is replaced by the number of its pattern, pattern by pattern, on both sides
/// alike. Replies stay as they were recorded.
#[derive(Debug, Clone, Default)]
pub struct MayDiffer(Arc<[Regex]>);

impl MayDiffer {
    /// Reads patterns: one regular expression per line. Blank lines and lines that begin with `#` are ignored.
    ///
    /// # Errors
    /// A line is not a regular expression, or matches the empty text; or there are none, or too many.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let (mut patterns, mut count) = (Vec::new(), 0);
        for (number, line) in text.lines().enumerate() {
            let pattern = line.trim();
            if pattern.is_empty() || pattern.starts_with('#') {
                continue;
            }
            count += 1;
            if count > PATTERNS_MAX {
                // Only counted, because compiling any number takes any time.
                continue;
            }
            let fault = |what: String| PatternError::Line { line: number + 1, what };
            if pattern.len() > PATTERN_TEXT_BYTES_MAX {
                return Err(fault(format!("a pattern has at most {PATTERN_TEXT_BYTES_MAX} bytes")));
            }
            let regex =
                RegexBuilder::new(pattern).size_limit(PATTERN_BYTES_MAX).build().map_err(|error| {
                    // The last line names the fault; those before show where it is.
                    let text = error.to_string();
                    fault(text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned())
                })?;
            if regex.is_match("") {
                return Err(fault("it matches the empty text, so nothing would be compared".to_owned()));
            }
            patterns.push(regex);
        }
        match count {
            1..=PATTERNS_MAX => Ok(Self(patterns.into())),
            count => Err(PatternError::Count { count }),
        }
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text without what may differ.
    pub(super) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut out = Cow::Borrowed(text);
        for (place, pattern) in self.0.iter().enumerate() {
            let instead = format!("[may differ {}]", place + 1);
            if let Cow::Owned(replaced) = pattern.replace_all(&out, regex::NoExpand(&instead)) {
                out = Cow::Owned(replaced);
            }
        }
        out
    }

    fn replace(&self, text: &mut String) {
        if let Cow::Owned(replaced) = self.text(text) {
            *text = replaced;
        }
    }

    fn replace_id(&self, id: &mut CallId) {
        if let Cow::Owned(replaced) = self.text(id.as_str()) {
            *id = CallId::new(replaced);
        }
    }

    fn replace_call(&self, call: &mut ToolCall) {
        self.replace_id(&mut call.id);
        self.replace(&mut call.name);
        // A match may cross the border of a string and leave no JSON object. The result is then a malformed text, which
        // is the same on both sides.
        if let Cow::Owned(replaced) = self.text(&call.arguments.to_text()) {
            call.arguments = Arguments::from_text(&replaced);
        }
    }

    /// The message without what may differ.
    pub(super) fn message(&self, mut message: Message) -> Message {
        if self.is_empty() {
            return message;
        }
        match &mut message {
            Message::System { text } | Message::User { text } => self.replace(text),
            Message::Assistant { text, calls, .. } => {
                self.replace(text);
                calls.iter_mut().for_each(|call| self.replace_call(call));
            }
            Message::Tool { id, text } => {
                self.replace_id(id);
                self.replace(text);
            }
        }
        message
    }

    /// The tools without what may differ.
    pub(super) fn tools(&self, tools: &Arc<[Tool]>) -> Arc<[Tool]> {
        let schema = |tool: &Tool| tool.input_schema.to_string();
        let is_found = |tool: &Tool| {
            let texts = [&tool.name, &tool.description, &schema(tool)];
            texts.iter().any(|text| matches!(self.text(text), Cow::Owned(_)))
        };
        // Without a match the list itself is returned, so that its key is still found by its address.
        if self.is_empty() || !tools.iter().any(is_found) {
            return Arc::clone(tools);
        }
        let replaced = tools.iter().cloned().map(|mut tool| {
            self.replace(&mut tool.name);
            self.replace(&mut tool.description);
            // If the match crosses the border of a string, replacing it could break the schema; then the text stays
            // unchanged.
            if let Ok(schema) = WrittenObject::read(&self.text(&schema(&tool))) {
                tool.input_schema = schema;
            }
            tool
        });
        replaced.collect()
    }

    /// The request without what may differ.
    pub(super) fn chat<'a>(&self, request: &'a ChatRequest) -> Cow<'a, ChatRequest> {
        if self.is_empty() {
            return Cow::Borrowed(request);
        }
        let messages = request.messages.iter().map(|message| self.message(message.clone())).collect();
        Cow::Owned(ChatRequest { messages, tools: self.tools(&request.tools), ..request.clone() })
    }

    /// The same of a plain text.
    pub(super) fn completion<'a>(&self, request: &'a CompletionRequest) -> Cow<'a, CompletionRequest> {
        match self.text(&request.prompt) {
            Cow::Borrowed(_) => Cow::Borrowed(request),
            Cow::Owned(prompt) => Cow::Owned(CompletionRequest { prompt, ..request.clone() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_lines() {
        let patterns = MayDiffer::parse("# dates\n\\d{4}-\\d\\d-\\d\\d\n\n  run-[0-9a-f]+  \n").unwrap();
        assert_eq!(
            patterns.text("run-7f on 2026-11-22, run- on 22-11"),
            "[may differ 2] on [may differ 1], run- on 22-11"
        );
        assert!(matches!(patterns.text("nothing"), Cow::Borrowed(_)));
        for (text, error) in [
            ("", "it holds 0 patterns; a file has 1 to 100"),
            (&"a\n".repeat(101), "it holds 101 patterns; a file has 1 to 100"),
            ("a\n(", "line 2: unclosed group"),
            (r"\pL{90}", "line 1: Compiled regex exceeds size limit of 1048576 bytes."),
            ("x*", "line 1: it matches the empty text, so nothing would be compared"),
        ] {
            assert_eq!(MayDiffer::parse(text).unwrap_err().to_string(), error);
        }
    }
}
