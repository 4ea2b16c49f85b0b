//! The form of a request to a service and of its reply: headers, a body with placeholders for the data of the run,
//! and a pointer to the answer in the reply.

use std::fmt;

use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING};
use planproof_trace::names_secret;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use thiserror::Error;

use crate::external::ExternalRun;
use crate::external::question::{Question, QuestionMessage};
use crate::program::filled;

/// Most headers of a request.
pub const SERVICE_HEADERS_MAX: usize = 32;

/// The answer is the whole reply, as text.
const WHOLE_REPLY: &str = "text";

/// The model name in requests to an OpenAI-shaped service if nobody gives one.
const NO_MODEL: &str = "agent";

/// The placeholder for the list of all messages so far, which stands for a whole text of the body.
const MESSAGES: &str = "{messages}";

/// The placeholders for the data of the run.
const PLACEHOLDERS: [&str; 5] = ["query", "mcp_url", "model_url", "model_key", "model"];

/// What the user says to a service.
#[derive(Debug, Clone, Copy)]
pub(super) struct Saying<'a> {
    /// What was said before in the same conversation.
    pub(super) earlier: &'a [QuestionMessage],
    /// The message.
    pub(super) query: &'a str,
}

impl Saying<'_> {
    /// All messages, as OpenAI's protocols have them.
    fn messages(&self) -> Value {
        let mut all: Vec<Value> = self.earlier.iter().map(|message| json!(message)).collect();
        all.push(json!({"role": "user", "content": self.query}));
        Value::Array(all)
    }
}

/// The form of a request to a service. By default it is sent `{"query", "mcp_url"}` by POST and replies `{"answer"}`.
#[derive(Debug, Clone, Default)]
pub struct ServiceForm {
    headers: Vec<(HeaderName, SecretString)>,
    body: Body,
    answer: Answer,
    hosts: Vec<String>,
}

/// What a request holds.
#[derive(Debug, Clone, Default)]
enum Body {
    /// Our own question.
    #[default]
    Question,
    /// OpenAI's chat completions. The protocol has no place for external tools, so their URL is in `metadata`.
    Chat { model: Option<String> },
    /// OpenAI's responses, with the run's tools as an MCP server.
    Responses { model: Option<String> },
    /// A document of the user's.
    Template(Value),
}

/// Where the answer stands in the reply.
#[derive(Debug, Clone, Default)]
enum Answer {
    /// Under `answer`, as a text.
    #[default]
    Ours,
    /// At a JSON pointer (RFC 6901).
    At(String),
    /// In the texts of the messages of OpenAI's responses.
    Responses,
    /// The reply is the answer.
    Whole,
}

/// Which body is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyName<'a> {
    /// OpenAI's chat completions, for a model of this name.
    Chat(Option<&'a str>),
    /// OpenAI's responses, for a model of this name.
    Responses(Option<&'a str>),
    /// A template in a file.
    File(&'a str),
}

/// Why a service cannot be called like that. The user can mend all of these; no value of a variable is repeated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormError {
    /// A header is not written as one.
    #[error("the header `{name}` {reason}")]
    Header {
        /// Its name, as far as there is one.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The template is not a document that can be sent.
    #[error("the body {0}")]
    Body(String),
    /// The place of the answer.
    #[error(
        "`{0}` is no place of an answer: write a JSON pointer as in /choices/0/message/content, or `{WHOLE_REPLY}`"
    )]
    Answer(String),
}

impl<'a> BodyName<'a> {
    /// `chat`, `chat:MODEL`, `responses`, `responses:MODEL`; any other text names a file.
    pub fn parse(text: &'a str) -> Self {
        let (kind, model) = match text.split_once(':') {
            Some((kind, model)) => (kind, Some(model)),
            None => (text, None),
        };
        match kind {
            "chat" => Self::Chat(model),
            "responses" => Self::Responses(model),
            _ => Self::File(text),
        }
    }
}

impl ServiceForm {
    /// With headers like `Authorization: Bearer ${NAME}`, in which `variable` returns the value of a name.
    ///
    /// # Errors
    /// A header that cannot be sent, that we set ourselves, or whose variable is unknown; a key in plain text, which
    /// would be stored with the campaign; more than [`SERVICE_HEADERS_MAX`].
    pub fn with_headers(
        mut self,
        headers: &[String],
        variable: &dyn Fn(&str) -> Option<SecretString>,
    ) -> Result<Self, FormError> {
        if headers.len() > SERVICE_HEADERS_MAX {
            let reason = format!("is one of {}: at most {SERVICE_HEADERS_MAX} are sent", headers.len());
            return Err(FormError::Header { name: headers[0].clone(), reason });
        }
        for header in headers {
            self.headers.push(parse_header(header, variable)?);
        }
        Ok(self)
    }

    /// For a service that reaches this machine by one of these names, for example from within a container.
    #[must_use]
    pub fn reached_by(mut self, hosts: Vec<String>) -> Self {
        self.hosts = hosts;
        self
    }

    /// The names by which the service reaches this machine; empty if it uses the loopback address.
    pub(super) fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// With the body of OpenAI's chat completions, and its place for the answer.
    #[must_use]
    pub fn chat(mut self, model: Option<&str>) -> Self {
        self.body = Body::Chat { model: model.map(str::to_owned) };
        self.answer = Answer::At("/choices/0/message/content".to_owned());
        self
    }

    /// With the body of OpenAI's responses, and its place for the answer.
    #[must_use]
    pub fn responses(mut self, model: Option<&str>) -> Self {
        self.body = Body::Responses { model: model.map(str::to_owned) };
        self.answer = Answer::Responses;
        self
    }

    /// With a JSON document as the body, in whose texts `{query}`, `{mcp_url}`, `{model_url}`, `{model_key}` and
    /// `{model}` stand for the data of the run.
    ///
    /// # Errors
    /// It is not JSON, or neither it nor a header contains the query and the URL of the tools.
    pub fn template(mut self, text: &str) -> Result<Self, FormError> {
        let template: Value =
            serde_json::from_str(text).map_err(|error| FormError::Body(format!("is no JSON: {error}")))?;
        let is_within = |text: &str| text != MESSAGES && text.contains(MESSAGES);
        if any_text(&template, &is_within) {
            let what =
                format!("has {MESSAGES} within a text: it is a list, so write it as a text of its own");
            return Err(FormError::Body(what));
        }
        self.body = Body::Template(template);
        for (name, what) in [("query", "what it is asked"), ("mcp_url", "where its tools are")] {
            let is_said = name == "query" && self.has_messages();
            if !is_said && !self.has_placeholder(name) {
                return Err(FormError::Body(format!(
                    "does not say {what}: write {{{name}}} into one of its texts, or of the headers"
                )));
            }
        }
        Ok(self)
    }

    /// With the answer at this place of the reply.
    ///
    /// # Errors
    /// The pointer is invalid.
    pub fn answer_at(mut self, place: &str) -> Result<Self, FormError> {
        self.answer = match place {
            WHOLE_REPLY => Answer::Whole,
            place if place.starts_with('/') => Answer::At(place.to_owned()),
            place => return Err(FormError::Answer(place.to_owned())),
        };
        Ok(self)
    }

    /// Whether it mentions a model, which must then be served.
    pub fn needs_model(&self) -> bool {
        ["model_url", "model_key", "model"].into_iter().any(|name| self.has_placeholder(name))
    }

    /// Whether a request has a place for what was said before.
    pub(super) fn can_converse(&self) -> bool {
        match &self.body {
            // Only in JSON can a service say that it does.
            Body::Question => !matches!(self.answer, Answer::Whole),
            Body::Chat { .. } | Body::Responses { .. } => true,
            Body::Template(_) => self.has_messages(),
        }
    }

    /// Whether the service that replied this can be sent a later message. In our own form it has to say so; the others
    /// are made for conversations.
    pub(super) fn converses(&self, reply: &[u8]) -> bool {
        match &self.body {
            Body::Question => planproof_trace::json::read::<Value>(reply)
                .is_ok_and(|reply| reply["conversations"] == Value::Bool(true)),
            Body::Chat { .. } | Body::Responses { .. } | Body::Template(_) => self.can_converse(),
        }
    }

    fn has_messages(&self) -> bool {
        matches!(&self.body, Body::Template(template) if any_text(template, &|text| text == MESSAGES))
    }

    fn has_placeholder(&self, name: &str) -> bool {
        let placeholder = format!("{{{name}}}");
        let in_body = match &self.body {
            Body::Template(template) => any_text(template, &|text| text.contains(&placeholder)),
            Body::Question | Body::Chat { .. } | Body::Responses { .. } => false,
        };
        in_body || self.headers.iter().any(|(_, value)| value.expose_secret().contains(&placeholder))
    }

    /// The headers of a run's request with this message.
    ///
    /// # Errors
    /// A value of the run cannot be put into a header: a query of several lines.
    pub(super) fn headers(
        &self,
        run: &ExternalRun<'_>,
        query: &str,
    ) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
        let values = values(run, query);
        let made = self.headers.iter().map(|(name, value)| {
            let value = filled(value.expose_secret(), &values);
            let mut value = HeaderValue::from_str(&value)
                .map_err(|_| format!("the header `{name}` cannot hold what belongs to this case"))?;
            // Keeps the value, which may be a key, out of debug output.
            value.set_sensitive(true);
            Ok((name.clone(), value))
        });
        made.collect()
    }

    /// The body of a run's request.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub(super) fn body(&self, run: &ExternalRun<'_>, saying: Saying<'_>) -> Result<Vec<u8>, String> {
        let named = |model: &Option<String>| match (model, run.model) {
            (Some(name), _) => name.clone(),
            (None, Some(served)) => served.name.to_owned(),
            (None, None) => NO_MODEL.to_owned(),
        };
        let body = match &self.body {
            Body::Question => {
                serde_json::to_vec(&Question::of(run, None).after(saying.earlier, saying.query))
            }
            Body::Chat { model } => serde_json::to_vec(&json!({
                "model": named(model),
                "messages": saying.messages(),
                "metadata": {"mcp_url": run.mcp_url},
            })),
            Body::Responses { model } => serde_json::to_vec(&json!({
                "model": named(model),
                // A single message is as well a text, which every server takes.
                "input": match saying.earlier {
                    [] => Value::from(saying.query),
                    _ => saying.messages(),
                },
                "tools": [{
                    "type": "mcp",
                    "server_label": "planproof",
                    "server_url": run.mcp_url,
                    "require_approval": "never",
                }],
            })),
            Body::Template(template) => {
                let mut document = template.clone();
                fill(&mut document, &values(run, saying.query), &saying.messages());
                serde_json::to_vec(&document)
            }
        };
        body.map_err(|error| error.to_string())
    }

    /// The answer in a reply.
    ///
    /// # Errors
    /// What was expected, and why it is not there.
    pub(super) fn answer(&self, reply: &[u8]) -> Result<String, String> {
        let json = || planproof_trace::json::read::<Value>(reply);
        let answer = match &self.answer {
            Answer::Whole => String::from_utf8_lossy(reply).into_owned(),
            Answer::Ours => {
                let expected = |why: String| format!("is not {{\"answer\": text}} ({why})");
                let reply = json().map_err(|error| expected(error.to_string()))?;
                let answer =
                    reply.get("answer").ok_or_else(|| expected("missing field `answer`".to_owned()))?;
                answer.as_str().ok_or_else(|| expected("the answer is no text".to_owned()))?.to_owned()
            }
            Answer::At(pointer) => {
                let reply = json().map_err(|error| format!("is no JSON ({error})"))?;
                match reply.pointer(pointer) {
                    Some(Value::String(text)) => text.clone(),
                    None | Some(Value::Null) => return Err(format!("has nothing at {pointer}")),
                    // A number or an object is an answer, too, as JSON.
                    Some(other) => other.to_string(),
                }
            }
            Answer::Responses => {
                let reply = json().map_err(|error| format!("is no JSON ({error})"))?;
                let texts = output_texts(&reply);
                if texts.is_empty() {
                    return Err("has no message with a text in its `output`".to_owned());
                }
                texts.join("\n")
            }
        };
        Ok(answer.trim().to_owned())
    }
}

/// The texts of the messages of a reply in OpenAI's responses.
fn output_texts(reply: &Value) -> Vec<&str> {
    let items = reply["output"].as_array().into_iter().flatten();
    let messages = items.filter(|item| item["type"] == "message");
    let parts = messages.flat_map(|message| message["content"].as_array().into_iter().flatten());
    parts.filter(|part| part["type"] == "output_text").filter_map(|part| part["text"].as_str()).collect()
}

/// The data of a run, by placeholder.
fn values<'a>(run: &ExternalRun<'a>, query: &'a str) -> [(&'static str, &'a str); PLACEHOLDERS.len()] {
    let model = run.model;
    let values = [
        query,
        run.mcp_url,
        model.map_or("", |model| model.base_url),
        model.map_or("", |model| model.api_key.expose_secret()),
        model.map_or("", |model| model.name),
    ];
    std::array::from_fn(|place| (PLACEHOLDERS[place], values[place]))
}

fn any_text(value: &Value, found: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => found(text),
        Value::Array(values) => values.iter().any(|value| any_text(value, found)),
        Value::Object(members) => members.values().any(|value| any_text(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn fill(value: &mut Value, values: &[(&str, &str)], messages: &Value) {
    match value {
        Value::String(text) if text == MESSAGES => *value = messages.clone(),
        Value::String(text) => *text = filled(text, values),
        Value::Array(members) => members.iter_mut().for_each(|member| fill(member, values, messages)),
        Value::Object(members) => members.values_mut().for_each(|member| fill(member, values, messages)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A header as it is written on a command line.
fn parse_header(
    text: &str,
    variable: &dyn Fn(&str) -> Option<SecretString>,
) -> Result<(HeaderName, SecretString), FormError> {
    let Some((name, value)) = text.split_once(':') else {
        // The header may consist of a key alone, so nothing of it is repeated.
        let reason = "is not written as `Name: value`".to_owned();
        return Err(FormError::Header { name: "...".to_owned(), reason });
    };
    let (name, value) = (name.trim(), value.trim());
    let wrong = |reason: String| FormError::Header { name: name.to_owned(), reason };
    let parsed =
        HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("has no valid name".to_owned()))?;
    if [HOST, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING].contains(&parsed) {
        return Err(wrong("is set by planproof".to_owned()));
    }
    let resolved = with_variables(value, variable).map_err(wrong)?;
    if resolved.is_none() && names_key(&parsed) {
        return Err(wrong(format!(
            "would be stored with the campaign, with its key: write \"{name}: ${{NAME}}\", where NAME is a variable of \
             the environment or of --env-file"
        )));
    }
    let value = resolved.unwrap_or_else(|| value.to_owned());
    if HeaderValue::from_str(&value).is_err() {
        return Err(wrong("has a character that no header can hold".to_owned()));
    }
    Ok((parsed, SecretString::from(value)))
}

/// The value of a header with `${NAME}` replaced by what `variable` gives for the name; `None` if it contains none.
///
/// # Errors
/// What is wrong with the value, as a predicate: `names the variable ...`.
pub fn with_variables(
    value: &str,
    variable: &dyn Fn(&str) -> Option<SecretString>,
) -> Result<Option<String>, String> {
    let (mut made, mut rest, mut is_resolved) = (String::new(), value, false);
    while let Some((before, behind)) = rest.split_once("${") {
        let (name, after) = behind.split_once('}').ok_or("has a `${` without a `}`")?;
        let value = variable(name).ok_or_else(|| {
            format!("names the variable {name}, which is neither in the environment nor in --env-file")
        })?;
        made.push_str(before);
        made.push_str(value.expose_secret());
        (rest, is_resolved) = (after, true);
    }
    made.push_str(rest);
    Ok(is_resolved.then_some(made))
}

/// Whether a header of this name holds a key or the like.
fn names_key(name: &HeaderName) -> bool {
    let name = name.as_str();
    let parts = ["authorization", "cookie", "token", "secret", "password", "api-key", "apikey", "auth"];
    names_secret(name) || parts.into_iter().any(|part| name.contains(part))
}

impl fmt::Display for BodyName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, model) = match self {
            Self::Chat(model) => ("chat", *model),
            Self::Responses(model) => ("responses", *model),
            Self::File(path) => (*path, None),
        };
        f.write_str(kind)?;
        model.map_or(Ok(()), |model| write!(f, ":{model}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str) -> Option<SecretString> {
        (name == "KEY").then(|| SecretString::from("k-123"))
    }

    #[test]
    fn headers_are_read() {
        let read = |text: &str| {
            parse_header(text, &known).map(|(name, value)| format!("{name}={}", value.expose_secret()))
        };
        for (text, expected) in [
            ("X-Tenant: acme", "x-tenant=acme"),
            ("Authorization:Bearer ${KEY}", "authorization=Bearer k-123"),
            ("X-Two: ${KEY}/${KEY}", "x-two=k-123/k-123"),
            ("X-Url: {mcp_url}", "x-url={mcp_url}"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        }
        for (text, part) in [
            ("sk-123", "is not written as"),
            ("A b: c", "no valid name"),
            ("Host: x", "is set by planproof"),
            ("X-Api-Key: sk-123", "would be stored"),
            ("X: ${NONE}", "names the variable NONE"),
            ("X: ${KEY", "without a `}`"),
            ("X: a\u{7}", "a character"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("sk-123"), "{text}: {error}");
        }
        let many = vec!["X: y".to_owned(); SERVICE_HEADERS_MAX + 1];
        assert!(ServiceForm::default().with_headers(&many, &known).is_err());
    }

    #[test]
    fn a_template_says_what_is_asked_and_where_the_tools_are() {
        let form = ServiceForm::default();
        for (text, part) in [
            ("{", "no JSON"),
            (r#"{"input": "x"}"#, "what it is asked"),
            (r#"{"input": "{query}"}"#, "where its tools are"),
        ] {
            let error = form.clone().template(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        let in_header = form.with_headers(&["X-Tools: {mcp_url}".to_owned()], &known).unwrap();
        let form = in_header.template(r#"{"input": ["{query}"]}"#).unwrap();
        assert!(!form.needs_model());
        assert!(form.template(r#"["{query}", "{mcp_url}", "{model_url}"]"#).unwrap().needs_model());
    }

    #[test]
    fn a_conversation_needs_a_place_for_its_messages() {
        let form = ServiceForm::default;
        let template = |text: &str| form().template(text);
        let with = template(r#"{"input": "{messages}", "tools": "{mcp_url}"}"#).unwrap();
        for (form, expected) in [
            (form(), true),
            (form().chat(None), true),
            (form().responses(None), true),
            (form().answer_at("/a/b").unwrap(), true),
            (form().answer_at("text").unwrap(), false),
            (with.clone(), true),
            (template(r#"["{query}", "{mcp_url}"]"#).unwrap(), false),
        ] {
            assert_eq!(form.can_converse(), expected, "{form:?}");
        }
        let within = template(r#"["so far: {messages}", "{mcp_url}"]"#).unwrap_err().to_string();
        assert!(within.contains("{messages} within a text"), "{within}");
        // In our own form the service says so, with a truth value.
        for (reply, expected) in [
            (r#"{"answer": "Done.", "conversations": true}"#, true),
            (r#"{"answer": "Done.", "conversations": "true"}"#, false),
            (r#"{"answer": "Done."}"#, false),
            ("Done.", false),
        ] {
            assert_eq!(form().converses(reply.as_bytes()), expected, "{reply}");
            assert!(with.converses(reply.as_bytes()) && form().chat(None).converses(reply.as_bytes()));
        }
    }

    #[test]
    fn what_was_said_before_is_in_each_form() {
        let earlier = QuestionMessage::pair("A?", "A.".to_owned());
        let mut document: Value = json!({"all": ["{messages}"], "now": "{query}"});
        let saying = Saying { earlier: &earlier, query: "B?" };
        fill(&mut document, &[("query", saying.query)], &saying.messages());
        let messages = json!([
            {"role": "user", "content": "A?"},
            {"role": "assistant", "content": "A."},
            {"role": "user", "content": "B?"},
        ]);
        assert_eq!(document, json!({"all": [messages], "now": "B?"}));
    }

    #[test]
    fn answers_are_found() {
        let ours = ServiceForm::default();
        let chat = ServiceForm::default().chat(None);
        let responses = ServiceForm::default().responses(None);
        let whole = ServiceForm::default().answer_at("text").unwrap();
        let number = ServiceForm::default().answer_at("/n/0").unwrap();
        let output = r#"{"output": [{"type": "mcp_call", "name": "a"}, {"type": "message", "content":
            [{"type": "output_text", "text": "Do"}, {"type": "refusal", "refusal": "x"},
             {"type": "output_text", "text": "ne."}]}]}"#;
        for (form, reply, expected) in [
            (&ours, r#"{"answer": " Done.\n"}"#, Ok("Done.")),
            (&ours, r#"{"answer": 3}"#, Err("the answer is no text")),
            (&ours, "{}", Err("missing field `answer`")),
            (&ours, "<html>", Err("expected value")),
            (&chat, r#"{"choices": [{"message": {"content": "Done."}}]}"#, Ok("Done.")),
            (&chat, r#"{"choices": [{"message": {"content": null}}]}"#, Err("nothing at /choices")),
            (&chat, r#"{"choices": []}"#, Err("nothing at /choices")),
            (&responses, output, Ok("Do\nne.")),
            (&responses, r#"{"output": []}"#, Err("no message with a text")),
            (&whole, " Done.\n", Ok("Done.")),
            (&number, r#"{"n": [7]}"#, Ok("7")),
        ] {
            let found = form.answer(reply.as_bytes());
            match (&found, expected) {
                (Ok(text), Ok(expected)) => assert_eq!(text, expected, "{reply}"),
                (Err(why), Err(part)) => assert!(why.contains(part), "{reply}: {why}"),
                _ => panic!("{reply}: {found:?}"),
            }
        }
        assert!(ServiceForm::default().answer_at("choices.0").is_err());
    }

    #[test]
    fn bodies_have_names() {
        for (text, expected) in [
            ("chat", BodyName::Chat(None)),
            ("chat:gpt-5", BodyName::Chat(Some("gpt-5"))),
            ("responses:a:b", BodyName::Responses(Some("a:b"))),
            ("body.json", BodyName::File("body.json")),
            (r"C:\body.json", BodyName::File(r"C:\body.json")),
        ] {
            assert_eq!(BodyName::parse(text), expected);
            assert_eq!(expected.to_string(), text);
        }
    }
}
