//! The common parts of requests: lists of tools, and settings. Tools in the formats of OpenAI's protocols.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planproof_trace::{Tool, WrittenObject};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Number, json};

use super::error::ApiError;
use crate::metering::chat_bytes;
use crate::{ChatRequest, Message, Settings, lenient};

/// Most bytes of remembered tool lists.
const SEEN_BYTES_MAX: usize = 16 << 20;

/// What a token takes in most texts.
const BYTES_PER_TOKEN: u64 = 4;

/// The size of a remembered list for each byte of its text: the text itself and the list built from it.
const BYTES_PER_BYTE: usize = 4;

/// Stop texts: one or several.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a string or an array of strings")]
pub(super) enum Stop {
    One(String),
    Several(Vec<String>),
}

/// Settings; each protocol has its own names for them.
pub(super) fn settings(
    temperature: Option<f64>,
    output_tokens_max: Option<u32>,
    seed: Option<&Number>,
    stop: Option<Stop>,
) -> Result<Settings, ApiError> {
    // Clients may send a negative seed: any one-to-one mapping keeps it repeatable.
    let seed = match seed {
        None => None,
        Some(number) => {
            Some(number.as_u64().or_else(|| number.as_i64().map(i64::cast_unsigned)).ok_or_else(|| {
                ApiError::invalid("seed", format!("seed must be a whole number, not {number}"))
            })?)
        }
    };
    let stop = match stop {
        None => Vec::new(),
        Some(Stop::One(text)) => vec![text],
        Some(Stop::Several(texts)) => texts,
    };
    Ok(Settings { temperature, output_tokens_max, seed, stop, grammar: None })
}

/// Adds a user's turn with answers to calls and text, in any order. The answers come first, as models require, and
/// each of the texts is a separate paragraph: agents put remarks on their environment beside the user's words.
pub(super) fn append_user(messages: &mut Vec<Message>, results: Vec<Message>, texts: &[String]) {
    let says_nothing = texts.is_empty() && !results.is_empty();
    messages.extend(results);
    if !says_nothing {
        messages.push(Message::User { text: texts.join("\n\n") });
    }
}

/// The approximate number of input tokens of a request, for clients that want it without asking the model, whose
/// tokenizer is unknown here.
pub(super) fn estimated_tokens(request: &ChatRequest) -> u64 {
    chat_bytes(request).div_ceil(BYTES_PER_TOKEN)
}

/// The tools of a request.
#[derive(Debug, Default, PartialEq)]
pub(super) struct OfferedTools {
    /// As the model is offered them.
    pub(super) tools: Arc<[Tool]>,
    /// The tools with a namespace, by the names under which the model is offered them.
    namespaced: HashMap<String, Namespaced>,
}

/// The two parts of a tool's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Namespaced {
    pub(super) namespace: String,
    pub(super) name: String,
}

impl Namespaced {
    /// The qualified name in the format of clients without namespaces.
    pub(super) fn joined(&self) -> String {
        let Self { namespace, name } = self;
        let between = if namespace.ends_with("__") { "" } else { "__" };
        format!("{namespace}{between}{name}")
    }
}

impl OfferedTools {
    /// The two parts of the name of a tool that has a namespace.
    pub(super) fn namespaced(&self, name: &str) -> Option<&Namespaced> {
        self.namespaced.get(name)
    }

    /// These and more tools; of two that have the same name, the first.
    pub(super) fn with(self: Arc<Self>, more: &Self) -> Arc<Self> {
        if more.tools.is_empty() {
            return self;
        }
        let is_new = |tool: &&Tool| !self.tools.iter().any(|known| known.name == tool.name);
        let tools = self.tools.iter().chain(more.tools.iter().filter(is_new)).cloned().collect();
        let mut namespaced = more.namespaced.clone();
        namespaced.extend(self.namespaced.clone());
        Arc::new(Self { tools, namespaced })
    }
}

impl From<Vec<Tool>> for OfferedTools {
    fn from(tools: Vec<Tool>) -> Self {
        Self { tools: tools.into(), namespaced: HashMap::new() }
    }
}

/// Reads the text of a list of tools.
type ReadTools = fn(&str) -> Result<OfferedTools, ApiError>;

/// The known tool lists of one protocol, by their text. Agents repeat theirs with every turn, and parsing it again
/// would be most of the work.
pub(super) struct SeenTools {
    read: ReadTools,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    lists: HashMap<Box<str>, Arc<OfferedTools>>,
    bytes: usize,
}

impl SeenTools {
    /// An empty store for a protocol with this parser of lists.
    pub(super) fn read_by(read: ReadTools) -> Self {
        Self { read, seen: Mutex::default() }
    }

    /// The tools of a request's list; none where it forbids them all.
    pub(super) fn get(
        &self,
        tools: Option<&RawValue>,
        are_forbidden: bool,
    ) -> Result<Arc<OfferedTools>, ApiError> {
        let text = match tools.map(RawValue::get) {
            Some(text) if !are_forbidden && text != "null" => text,
            _ => return Ok(Arc::default()),
        };
        if let Some(list) = self.lock().lists.get(text) {
            return Ok(Arc::clone(list));
        }
        // Parsed without the lock. Two requests may parse the same list, which does no harm.
        let list = Arc::new((self.read)(text)?);
        let size = text.len() * BYTES_PER_BYTE;
        // An entry of this size would soon displace all others.
        if size <= SEEN_BYTES_MAX / 2 {
            let mut seen = self.lock();
            if seen.bytes + size > SEEN_BYTES_MAX {
                *seen = Seen::default();
            }
            // Another request may have inserted the same list meanwhile; then its size has been counted.
            if seen.lists.insert(text.into(), Arc::clone(&list)).is_none() {
                seen.bytes += size;
            }
        }
        Ok(list)
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        // A panic while the lock is held leaves complete entries only, with a size that may be wrong by one of them.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the `tool_choice` of OpenAI's protocols forbids all tools.
pub(super) fn forbids_tools(choice: Option<&RawValue>) -> bool {
    choice.is_some_and(|choice| choice.get() == "\"none\"")
}

/// A tool; by default it takes no arguments.
pub(super) fn tool(name: String, description: Option<String>, schema: Option<WrittenObject>) -> Tool {
    let input_schema = schema.unwrap_or_else(|| json!({"type": "object"}).into());
    Tool { name, description: description.unwrap_or_default(), input_schema }
}

/// The list of tools, parsed from the elements of an array.
pub(super) fn elements<'a, T: Deserialize<'a>>(text: &'a str) -> Result<Vec<T>, ApiError> {
    serde_json::from_str(text).map_err(|error| {
        ApiError::invalid("tools", format!("`tools` is not understood: {error} of the array"))
    })
}

/// An unusable tool.
pub(super) fn invalid_tool(place: usize, message: &str) -> ApiError {
    ApiError::invalid(format!("tools[{place}]"), format!("tools[{place}]: {message}"))
}

/// What a tool is.
#[derive(Deserialize)]
struct ToolKind {
    #[serde(rename = "type", default, deserialize_with = "lenient::name")]
    kind: Option<String>,
}

/// Functions under a common name.
#[derive(Deserialize)]
struct Namespace<'a> {
    name: String,
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct WireTool {
    function: Option<Function>,
    name: Option<String>,
    description: Option<String>,
    parameters: Option<WrittenObject>,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    description: Option<String>,
    parameters: Option<WrittenObject>,
}

/// Reads tools of both of OpenAI's protocols: chat completions put name, description and parameters into `function`,
/// responses put them beside `type`, or into the `tools` of a namespace.
pub(super) fn read_tools(text: &str) -> Result<OfferedTools, ApiError> {
    let mut tools = Vec::new();
    let mut namespaced = HashMap::new();
    for (place, raw) in elements::<&RawValue>(text)?.into_iter().enumerate() {
        if let Some(tool) = function(place, raw)? {
            tools.push(tool);
            continue;
        }
        // All other kinds are left out, except for the functions of a namespace: tools of the provider's, which coding
        // agents add to every request, and those whose input is not JSON.
        let Ok(namespace) = serde_json::from_str::<Namespace<'_>>(raw.get()) else { continue };
        for member in namespace.tools {
            let Some(mut tool) = function(place, member)? else { continue };
            let parts = Namespaced { namespace: namespace.name.clone(), name: tool.name };
            tool.name = parts.joined();
            namespaced.insert(tool.name.clone(), parts);
            tools.push(tool);
        }
    }
    Ok(OfferedTools { tools: tools.into(), namespaced })
}

/// Reads a function; `None` for a tool of another kind.
fn function(place: usize, raw: &RawValue) -> Result<Option<Tool>, ApiError> {
    let not_understood = |error: serde_json::Error| invalid_tool(place, &format!("{error} of the tool"));
    let ToolKind { kind } = serde_json::from_str(raw.get()).map_err(not_understood)?;
    if kind.is_some_and(|kind| kind != "function") {
        return Ok(None);
    }
    let wire: WireTool = serde_json::from_str(raw.get()).map_err(not_understood)?;
    match (wire.function, wire.name) {
        (Some(function), _) => Ok(Some(tool(function.name, function.description, function.parameters))),
        (None, Some(name)) => Ok(Some(tool(name, wire.description, wire.parameters))),
        (None, None) => Err(invalid_tool(place, "a function needs a name")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(seen: &SeenTools, json: &str) -> Result<Arc<OfferedTools>, ApiError> {
        seen.get(Some(serde_json::from_str(json).unwrap()), false)
    }

    #[test]
    fn both_shapes_mean_the_same() {
        let seen = SeenTools::read_by(read_tools);
        let chat = r#"[{"type":"function","function":{"name":"a","description":"d","parameters":{"type":"object"},"strict":true}}]"#;
        let responses = r#"[{"type":"function","name":"a","description":"d","strict":null}]"#;
        let first = get(&seen, chat).unwrap();
        assert_eq!(first, get(&seen, responses).unwrap());
        assert!(Arc::ptr_eq(&first, &get(&seen, chat).unwrap()));
        let list = serde_json::from_str(chat).unwrap();
        assert!(seen.get(Some(list), true).unwrap().tools.is_empty());
        for (choice, expected) in [("\"none\"", true), ("\"auto\"", false), ("{\"type\":\"x\"}", false)] {
            assert_eq!(forbids_tools(Some(serde_json::from_str(choice).unwrap())), expected, "{choice}");
        }
    }

    #[test]
    fn tools_of_a_namespace_have_two_names_and_those_of_the_provider_are_left_out() {
        let offered = get(
            &SeenTools::read_by(read_tools),
            r#"[{"type":"web_search","external_web_access":true},{"type":"custom","name":"apply_patch","format":{}},
                {"type":"mcp","server_url":"x"},{"type":"not_known_yet","tools":7,"name":"a"},{"type":"namespace","name":"a"},
                {"type":"namespace","name":"a","tools":[{"type":"namespace"}]},
                {"type":"namespace","name":"mcp__p","description":"d","tools":[
                    {"type":"function","name":"pay","description":"p"},{"type":"custom","name":"raw"}]},
                {"type":"namespace","name":"q__","tools":[{"type":"function","name":"pay"}]},
                {"type":"function","name":"pay"}]"#,
        )
        .unwrap();
        let names: Vec<&str> = offered.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["mcp__p__pay", "q__pay", "pay"]);
        let parts = |namespace: &str| Namespaced { namespace: namespace.into(), name: "pay".into() };
        assert_eq!(offered.namespaced("mcp__p__pay"), Some(&parts("mcp__p")));
        assert_eq!(offered.namespaced("q__pay"), Some(&parts("q__")));
        assert_eq!(offered.namespaced("pay"), None);
    }

    #[test]
    fn unusable_tools_are_named() {
        let seen = SeenTools::read_by(read_tools);
        for (json, words) in [
            (r#"{}"#, "expected a list"),
            (r#"[{"type":"function"}]"#, "tools[0]: a function needs a name"),
            (r#"[{"type":"function","name":"a","parameters":[]}]"#, "line 1 column"),
        ] {
            let error = get(&seen, json).unwrap_err();
            assert!(error.to_string().contains(words), "{json}: {error}");
        }
    }

    #[test]
    fn seeds_may_be_negative_but_not_broken() {
        assert_eq!(settings(None, None, Some(&Number::from(-1)), None).unwrap().seed, Some(u64::MAX));
        assert!(settings(None, None, Number::from_f64(0.5).as_ref(), None).is_err());
    }
}
