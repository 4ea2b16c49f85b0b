//! A request for content, read into a conversation.

use std::borrow::Cow;
use std::sync::Arc;

use planproof_trace::{Arguments, CallId, ToolCall, WrittenObject};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use super::schema::json_schema;
use crate::chat::order_results;
use crate::server::error::ApiError;
use crate::server::request::{OfferedTools, Stop, append_user, elements, invalid_tool, settings, tool};
use crate::server::shared::Shared;
use crate::{ChatRequest, Message};

/// Members that hold the text of a function's answer, if one of them is the only member.
const ANSWERS: [&str; 3] = ["output", "error", "result"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireRequest<'a> {
    #[serde(borrow)]
    contents: Vec<WireContent<'a>>,
    #[serde(borrow, alias = "system_instruction")]
    system_instruction: Option<WireContent<'a>>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(alias = "tool_config")]
    tool_config: Option<ToolConfig>,
    #[serde(alias = "generation_config")]
    generation_config: Option<GenerationConfig>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig {
    #[serde(alias = "function_calling_config")]
    function_calling_config: Option<CallingConfig>,
}

#[derive(Deserialize)]
struct CallingConfig {
    mode: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    temperature: Option<f64>,
    #[serde(alias = "max_output_tokens")]
    max_output_tokens: Option<u32>,
    seed: Option<Number>,
    #[serde(alias = "stop_sequences")]
    stop_sequences: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct WireContent<'a> {
    #[serde(borrow)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow)]
    parts: Option<Vec<Part<'a>>>,
}

/// A part with the fields of all kinds; each kind uses its own.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    text: Option<String>,
    thought: Option<bool>,
    #[serde(borrow, alias = "function_call")]
    function_call: Option<WireCall<'a>>,
    #[serde(borrow, alias = "function_response")]
    function_response: Option<WireResponse<'a>>,
    #[serde(alias = "inline_data")]
    inline_data: Option<IgnoredAny>,
    #[serde(alias = "file_data")]
    file_data: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct WireCall<'a> {
    id: Option<String>,
    name: String,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct WireResponse<'a> {
    id: Option<String>,
    name: String,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

/// Reads the body of a request.
pub(super) fn read(shared: &Shared, body: &[u8]) -> Result<ChatRequest, ApiError> {
    let wire = serde_json::from_slice(body).map_err(|error| ApiError::not_understood(&error))?;
    to_request(shared, wire)
}

/// Reads the body of a request to count tokens. It may hold the whole request in one member.
pub(super) fn read_counted(shared: &Shared, body: &[u8]) -> Result<ChatRequest, ApiError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Counted<'a> {
        #[serde(borrow, alias = "generate_content_request")]
        generate_content_request: Option<WireRequest<'a>>,
    }
    let counted: Counted<'_> =
        serde_json::from_slice(body).map_err(|error| ApiError::not_understood(&error))?;
    match counted.generate_content_request {
        Some(wire) => to_request(shared, wire),
        None => read(shared, body),
    }
}

fn to_request(shared: &Shared, wire: WireRequest<'_>) -> Result<ChatRequest, ApiError> {
    let mut conversation = Conversation::default();
    if let Some(system) = wire.system_instruction {
        let text = texts(system.parts.unwrap_or_default(), "systemInstruction")?.join("\n\n");
        if !text.is_empty() {
            conversation.messages.push(Message::System { text });
        }
    }
    for (place, content) in wire.contents.into_iter().enumerate() {
        conversation.append(content, place)?;
    }
    let mut messages = conversation.messages;
    order_results(&mut messages);
    let mode = wire.tool_config.and_then(|config| config.function_calling_config?.mode);
    let are_forbidden = mode.is_some_and(|mode| mode.eq_ignore_ascii_case("none"));
    let offered = shared.gemini_tools.get(wire.tools, are_forbidden)?;
    let config = wire.generation_config.unwrap_or_default();
    let GenerationConfig { temperature, max_output_tokens, seed, stop_sequences } = config;
    let stop = stop_sequences.map(Stop::Several);
    let settings = settings(temperature, max_output_tokens, seed.as_ref(), stop)?;
    Ok(ChatRequest { messages, tools: Arc::clone(&offered.tools), settings, previous: None })
}

/// A conversation while it is being read. Calls and answers need no ids in this protocol, but we need them.
#[derive(Default)]
struct Conversation {
    messages: Vec<Message>,
    /// How many calls there were so far.
    calls: usize,
    /// Those without an answer yet.
    open: Vec<(CallId, String)>,
}

impl Conversation {
    fn append(&mut self, content: WireContent<'_>, place: usize) -> Result<(), ApiError> {
        let path = format!("contents[{place}]");
        let is_model = match content.role.as_deref() {
            Some("model") => true,
            None | Some("user" | "function" | "tool") => false,
            Some(role) => {
                let message = format!("{path}: the role `{role}` is none of user, model and function");
                return Err(ApiError::invalid(format!("{path}.role"), message));
            }
        };
        // Collected by kind: a turn of the model becomes one message, a user's may become several.
        let (mut texts, mut calls, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for (at, part) in content.parts.into_iter().flatten().enumerate() {
            let path = format!("{path}.parts[{at}]");
            if part.function_call.is_none() && part.function_response.is_none() {
                texts.extend(words(part, &path)?);
                continue;
            }
            calls.extend(part.function_call.map(|call| self.call(call)));
            if let Some(response) = part.function_response {
                results.push(self.result(response, &path)?);
            }
        }
        if is_model {
            self.messages.push(Message::assistant(texts.concat(), calls));
        } else {
            append_user(&mut self.messages, results, &texts);
        }
        Ok(())
    }

    fn call(&mut self, call: WireCall<'_>) -> ToolCall {
        self.calls += 1;
        let id = call.id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call_{}", self.calls));
        let id = CallId::new(id);
        self.open.push((id.clone(), call.name.clone()));
        let arguments = call.args.map_or_else(Arguments::none, |raw| Arguments::from_text(raw.get()));
        ToolCall { id, name: call.name, arguments }
    }

    /// The answer to the call of that id, or else to the first unanswered call of that function.
    fn result(&mut self, response: WireResponse<'_>, path: &str) -> Result<Message, ApiError> {
        let WireResponse { id, name, response } = response;
        let by_id = self.open.iter().position(|(open, _)| Some(open.as_str()) == id.as_deref());
        let by_name = || self.open.iter().position(|(_, open)| *open == name);
        let Some(place) = by_id.or_else(by_name) else {
            let message = format!("{path}: there is no call of `{name}` before it that has no answer");
            return Err(ApiError::invalid(format!("{path}.functionResponse"), message));
        };
        let (id, _) = self.open.remove(place);
        Ok(Message::Tool { id, text: response.map_or_else(String::new, answered) })
    }
}

/// The text of an answer: that of its only member, or else the whole object.
fn answered(response: &RawValue) -> String {
    let object: Option<Map<String, Value>> = serde_json::from_str(response.get()).ok();
    let only = object.as_ref().filter(|object| object.len() == 1).and_then(|object| object.iter().next());
    match only {
        Some((name, Value::String(text))) if ANSWERS.contains(&name.as_str()) => text.clone(),
        _ => response.get().to_owned(),
    }
}

fn texts(parts: Vec<Part<'_>>, path: &str) -> Result<Vec<String>, ApiError> {
    let parts = parts.into_iter().enumerate().map(|(at, part)| words(part, &format!("{path}.parts[{at}]")));
    parts.filter_map(Result::transpose).collect()
}

/// The text of a part. Thoughts, and the work of the provider's own tools, are ignored.
fn words(part: Part<'_>, path: &str) -> Result<Option<String>, ApiError> {
    if part.inline_data.is_some() || part.file_data.is_some() {
        let message = format!("{path}: data of other kinds than text is not supported");
        return Err(ApiError::invalid(path, message));
    }
    Ok(part.text.filter(|_| part.thought != Some(true)))
}

/// Reads a list of tools. Those that run at the provider, which is absent here, have no declarations; the model is
/// not offered them.
pub(in crate::server) fn read_tools(text: &str) -> Result<OfferedTools, ApiError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct WireTool {
        #[serde(default, alias = "function_declarations")]
        function_declarations: Option<Vec<Declaration>>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Declaration {
        name: Option<String>,
        description: Option<String>,
        parameters: Option<WrittenObject>,
        #[serde(alias = "parameters_json_schema")]
        parameters_json_schema: Option<WrittenObject>,
    }
    let mut tools = Vec::new();
    for (place, wire) in elements::<WireTool>(text)?.into_iter().enumerate() {
        for declaration in wire.function_declarations.into_iter().flatten() {
            let Declaration { name, description, parameters, parameters_json_schema } = declaration;
            let name = name.ok_or_else(|| invalid_tool(place, "a function declaration needs a name"))?;
            // `parameters` is a dialect of Google's, so the other field takes precedence.
            let schema =
                parameters_json_schema.or_else(|| parameters.map(|schema| schema.edited(json_schema)));
            tools.push(tool(name, description, schema));
        }
    }
    Ok(tools.into())
}
