//! Simulated tools: they make up outputs from their inputs, so that plans can be executed, and can fail, without
//! models, services or pictures. Counting and selecting are done for real. Any display of the results must say that
//! they are simulated.

use std::sync::{Arc, LazyLock};

use planproof_suite::{BoxFuture, Restoring, Toolbox};
use planproof_trace::{Arguments, Catalogue, Port, Signature, Tool, ToolCall, ToolResult};
use serde_json::{Map, Value, json};

use crate::catalogue;

/// Maximum number of characters of an argument that a made-up text repeats.
const REPEATED_CHARACTERS_MAX: usize = 40;

static TOOLS: LazyLock<Arc<[Tool]>> =
    LazyLock::new(|| catalogue().signatures().iter().map(tool).collect::<Vec<_>>().into());

/// The 33 simulated tools. They are stateless, so runs may share them.
#[derive(Debug, Clone, Copy, Default)]
pub struct PretendTools;

/// The tools as they are offered to agents that call them one after the other.
pub(crate) fn tools() -> &'static Arc<[Tool]> {
    &TOOLS
}

/// Other tools with the same names, with what plans need to know about them.
pub(crate) struct Catalogued(pub(crate) Arc<dyn Toolbox>);

impl Toolbox for Catalogued {
    fn tools(&self) -> &Arc<[Tool]> {
        self.0.tools()
    }

    fn catalogue(&self) -> Option<&Arc<Catalogue>> {
        Some(catalogue())
    }

    /// None: only what is in the catalogue can be called.
    fn made(&self) -> Vec<Tool> {
        Vec::new()
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        // Checked by the rule of the simulated tools, whatever the real ones would accept.
        match checked(call) {
            Ok(_) => self.0.execute(call),
            Err(what) => Box::pin(std::future::ready(ToolResult::error(call.id.clone(), what))),
        }
    }

    fn runs_side_by_side(&self) -> bool {
        self.0.runs_side_by_side()
    }

    fn is_strictly_sequential(&self) -> bool {
        self.0.is_strictly_sequential()
    }

    fn outage(&self) -> Option<String> {
        self.0.outage()
    }

    fn plan_form(&self) -> Option<&'static str> {
        self.0.plan_form()
    }

    fn restoring(&self) -> Restoring {
        self.0.restoring()
    }

    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        let tools = self.0.for_run()?;
        Some(Arc::new(Self(tools)))
    }
}

impl Toolbox for PretendTools {
    fn tools(&self) -> &Arc<[Tool]> {
        &TOOLS
    }

    fn catalogue(&self) -> Option<&Arc<Catalogue>> {
        Some(catalogue())
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        let result = match give(call) {
            Ok(output) => ToolResult::ok(call.id.clone(), Value::Object(output).to_string()),
            Err(what) => ToolResult::error(call.id.clone(), what),
        };
        Box::pin(std::future::ready(result))
    }

    fn restoring(&self) -> Restoring {
        Restoring::Nothing
    }
}

/// A tool as it is offered to agents that call tools one after the other.
pub(crate) fn tool(signature: &Signature) -> Tool {
    let property = |port: &Port| {
        let schema = match &*port.kind {
            "integer" => json!({"type": ["integer", "string"]}),
            "list[dict]" => json!({"type": "array", "items": {"type": "object"}}),
            "object" => json!({"type": "object"}),
            "image" | "audio" => {
                json!({"type": "string", "description": format!("name of a file: {}", port.kind)})
            }
            _ => json!({"type": "string"}),
        };
        (port.name.clone(), schema)
    };
    let properties: Map<String, Value> = signature.arguments.iter().map(property).collect();
    let required: Vec<&str> = signature.arguments.iter().map(|port| &*port.name).collect();
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    let outputs: Vec<String> =
        signature.outputs.iter().map(|port| format!("`{}` ({})", port.name, port.kind)).collect();
    Tool {
        name: signature.identifier(),
        description: format!("{} Gives a JSON object with {}.", signature.description, outputs.join(" and ")),
        input_schema: schema.into(),
    }
}

/// The tool of a call, and its arguments, which are exactly those that the tool takes.
///
/// # Errors
/// There is no such tool, or the arguments differ, in words for an agent.
pub(crate) fn checked(call: &ToolCall) -> Result<(&'static Signature, &Map<String, Value>), String> {
    let name = call.name.replace('_', " ");
    let Some(signature) = catalogue().find(&name) else {
        return Err(format!("there is no tool \"{}\"", call.name));
    };
    let Arguments::Object(given) = &call.arguments else {
        return Err(format!("the arguments of {} are no JSON object", call.name));
    };
    let takes = || signature.arguments.iter().map(|port| &*port.name).collect::<Vec<_>>().join(", ");
    if let Some(other) = given.keys().find(|name| !signature.has_argument(name)) {
        return Err(format!("{} takes no argument \"{other}\"; it takes {}", call.name, takes()));
    }
    if let Some(missing) = signature.arguments.iter().find(|port| !given.contains_key(&port.name)) {
        return Err(format!("{} lacks its argument \"{}\"; it takes {}", call.name, missing.name, takes()));
    }
    Ok((signature, given))
}

fn give(call: &ToolCall) -> Result<Map<String, Value>, String> {
    let (signature, given) = checked(call)?;
    let said = Value::Object(given.clone()).to_string();
    // Outputs depend on the call alone, so the same call gives the same result in every run.
    let number = hash(&[&signature.name, &said]);
    let output = |port: &Port| -> Result<(String, Value), String> {
        let value = match (&*signature.name, &*port.kind) {
            ("count", _) => Value::from(objects(given)?.len()),
            ("select object", _) => select(given)?,
            (_, "image") => Value::from(format!("{}-{number:016x}.png", call.name)),
            (_, "list[dict]") => made_up_objects(number),
            (_, "integer") => Value::from(number % 101),
            _ if port.name == "lon" || port.name == "lat" => {
                // Two different numbers, so that it shows where one was taken for the other.
                let number = hash(&[&signature.name, &said, &port.name]);
                Value::from(format!("{}.{:04}", number % 90, number / 90 % 10_000))
            }
            // The number comes first: from it even a part of the text can be traced back to its call.
            _ => Value::from(format!("{number:016x}: what {} makes of {}", signature.name, shortened(&said))),
        };
        Ok((port.name.clone(), value))
    };
    signature.outputs.iter().map(output).collect()
}

fn objects(given: &Map<String, Value>) -> Result<&Vec<Value>, String> {
    let objects = given.get("objects").and_then(Value::as_array);
    objects.ok_or_else(|| "objects has to be a list of objects".to_owned())
}

/// The first object whose label contains the name or shares a word with it; an empty one if there is none.
fn select(given: &Map<String, Value>) -> Result<Value, String> {
    let name = given.get("object_name").and_then(Value::as_str).unwrap_or_default();
    let fits = |object: &&Value| {
        let label = object.get("label").and_then(Value::as_str).unwrap_or_default();
        label.contains(name)
            || label.split_whitespace().any(|word| name.split_whitespace().any(|it| it == word))
    };
    Ok(objects(given)?.iter().find(fits).cloned().unwrap_or_else(|| json!({})))
}

/// Five to twelve objects, so that their number is seldom one that a plan contains anyway.
fn made_up_objects(number: u64) -> Value {
    let labels = ["person", "dog", "car", "tree", "chair"];
    let object = |place: u32| {
        let at = 10 * (number.rotate_right(5 * place) & 63);
        let label = labels[number.rotate_right(3 * place) as usize % labels.len()];
        json!({"label": label, "bbox": [at, at, at + 20, at + 30]})
    };
    (0..5 + (number % 8) as u32).map(object).collect()
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(REPEATED_CHARACTERS_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// FNV-1a, 64 bits, which never changes.
fn hash(texts: &[&str]) -> u64 {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    texts.iter().flat_map(|text| text.as_bytes()).fold(0xcbf2_9ce4_8422_2325, add)
}

#[cfg(test)]
mod tests {
    use planproof_trace::CallId;

    use super::*;

    fn call(name: &str, arguments: &Value) -> Result<Value, String> {
        let arguments = Arguments::Object(arguments.as_object().cloned().unwrap_or_default());
        give(&ToolCall { id: CallId::new("0"), name: name.to_owned(), arguments }).map(Value::Object)
    }

    #[test]
    fn every_tool_gives_what_the_catalogue_says() {
        for signature in catalogue().signatures() {
            let value = |port: &Port| match &*port.kind {
                "list[dict]" => json!([{"label": "dog"}]),
                "object" => json!({}),
                _ => json!("7"),
            };
            let given: Map<_, _> =
                signature.arguments.iter().map(|port| (port.name.clone(), value(port))).collect();
            let output = call(&signature.identifier(), &Value::Object(given.clone())).unwrap();
            let keys: Vec<&String> = output.as_object().unwrap().keys().collect();
            let mut wanted: Vec<&String> = signature.outputs.iter().map(|port| &port.name).collect();
            wanted.sort();
            assert_eq!(keys, wanted);
            assert_eq!(call(&signature.identifier(), &Value::Object(given)).unwrap(), output);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refusal = |name: &str, arguments: Value| call(name, &arguments).unwrap_err();
        assert_eq!(refusal("fly", json!({})), "there is no tool \"fly\"");
        assert_eq!(
            refusal("image_crop", json!({"image": "a.jpg"})),
            "image_crop lacks its argument \"object\"; it takes image, object"
        );
        assert_eq!(
            refusal("count", json!({"objects": [], "ckpt": 1})),
            "count takes no argument \"ckpt\"; it takes objects"
        );
        assert_eq!(refusal("count", json!({"objects": "x"})), "objects has to be a list of objects");
    }

    #[test]
    fn objects_are_counted_and_picked() {
        let objects = json!([{"label": "red car"}, {"label": "dog"}]);
        assert_eq!(call("count", &json!({"objects": objects})).unwrap(), json!({"number": 2}));
        let pick =
            |name: &str| call("select_object", &json!({"objects": objects, "object_name": name})).unwrap();
        assert_eq!(pick("the dog")["object"]["label"], "dog");
        assert_eq!(pick("car")["object"]["label"], "red car");
        assert_eq!(pick("cat")["object"], json!({}));
    }
}
