//! The list of a server's tools.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use planproof_trace::{Tool, WrittenObject, plain_message};
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult};
use rmcp::service::{Peer, RoleClient};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::PAGES_MAX;
use super::connection::Reason;
use super::message::{self, ListedTool, kind};
use crate::refusal::shortened;
use crate::schema::{COMPILED_BYTES_MAX, Steps, TooMuch};

/// Longest cursor of a page, as JSON.
const CURSOR_BYTES_MAX: usize = 64 * 1024;

/// The offered tools, in the server's order, and why others are not offered.
pub(super) struct List {
    pub(super) tools: Arc<[Tool]>,
    pub(super) left_out: Vec<String>,
    pub(super) outputs: HashMap<String, Vec<String>>,
}

/// Reads all pages of the list, at most `tools_max` tools.
pub(super) async fn read(peer: &Peer<RoleClient>, tools_max: usize) -> Result<List, Reason> {
    let mut listed = Listed::default();
    let mut cursor: Option<String> = None;
    let mut seen = HashSet::new();
    for _ in 0..PAGES_MAX {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        let ServerResult::ListToolsResult(page) = peer.send_request(request).await? else {
            return Err(Reason::Other("its answer to `tools/list` has no list of `tools`".to_owned()));
        };
        let Some(text) = message::text_of_list(&page) else {
            return Err(Reason::Other("its list of tools is not understood".to_owned()));
        };
        let known: HashSet<&str> = page.tools.iter().map(|tool| &*tool.name).collect();
        cursor = listed.add(text, &known, tools_max).map_err(Reason::Other)?;
        if listed.count() > tools_max {
            return Err(Reason::TooManyTools { limit: tools_max });
        }
        // An empty text is a cursor like any other. One that was there before would lead round in a circle.
        match &cursor {
            Some(next) if seen.insert(next.clone()) => {}
            _ => {
                let Listed { tools, left_out, outputs, .. } = listed;
                return Ok(List { tools: tools.into(), left_out, outputs });
            }
        }
    }
    Err(Reason::TooManyPages)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    next_cursor: Option<&'a RawValue>,
}

/// The tools of the pages so far.
#[derive(Default)]
struct Listed {
    tools: Vec<Tool>,
    left_out: Vec<String>,
    /// The members of the tools' outputs, by the tools' names.
    outputs: HashMap<String, Vec<String>>,
    /// The pages of all names, also of tools that are not offered, with the tools as they were written.
    names: HashMap<String, (usize, Box<str>)>,
    pages: usize,
}

impl Listed {
    /// How many tools there are, whether they are offered or not.
    fn count(&self) -> usize {
        self.names.len().max(self.left_out.len())
    }

    /// Takes in a page, of which one tool more than `tools_max` is enough, and returns the next one's cursor. `known`
    /// are the tools of the page that the protocol's client can call.
    ///
    /// # Errors
    /// Why the page is not a list.
    fn add(&mut self, page: &str, known: &HashSet<&str>, tools_max: usize) -> Result<Option<String>, String> {
        let page: Page<'_> = serde_json::from_str(page)
            .map_err(|error| not_understood("its list of tools is not understood", &error))?;
        let tools = page.tools.map_or("null", RawValue::get);
        let tools: Vec<&RawValue> = match tools.as_bytes() {
            // Some languages write an empty list as null.
            b"null" => Vec::new(),
            [b'[', ..] => {
                serde_json::from_str(tools).map_err(|error| not_understood("its list of tools", &error))?
            }
            _ => return Err(format!("its `tools` are {}, not a list", kind(tools))),
        };
        self.pages += 1;
        for (place, tool) in tools.into_iter().enumerate() {
            if self.count() > tools_max {
                break;
            }
            match self.accept(tool, known) {
                Ok(accepted) => self.tools.extend(accepted),
                Err((name, reason)) => {
                    let name = match name {
                        Some(name) => format!("`{}`", shortened(&name)),
                        None => format!("tool {} of its list", place + 1),
                    };
                    self.left_out.push(format!("{name}: {}", shortened(&reason)));
                }
            }
        }
        let long = page.next_cursor.map(|cursor| cursor.get().len()).filter(|it| *it > CURSOR_BYTES_MAX);
        if let Some(long) = long {
            return Err(format!(
                "the cursor of the next page of its list has {long} bytes; at most {CURSOR_BYTES_MAX} are possible"
            ));
        }
        Ok(page.next_cursor.and_then(cursor))
    }

    /// A tool that can be offered to a model; none if an earlier page had the very same. The error has the tool's name
    /// and the reason why it cannot.
    fn accept(
        &mut self,
        json: &RawValue,
        known: &HashSet<&str>,
    ) -> Result<Option<Tool>, (Option<String>, String)> {
        let unnamed = |reason: String| (None, reason);
        if !json.get().starts_with('{') {
            return Err(unnamed(format!("it is {}, not an object", kind(json.get()))));
        }
        let tool: ListedTool<'_> = serde_json::from_str(json.get())
            .map_err(|error| unnamed(format!("it is not understood: {error}")))?;
        let Some(name) = message::text(tool.name).filter(|name| !name.is_empty()) else {
            return Err(unnamed("it has no name".to_owned()));
        };
        if let Some((page, earlier)) = self.names.get(&name) {
            // A server whose pages overlap repeats itself, and has not named two tools alike.
            return match *page < self.pages && **earlier == *json.get() {
                true => Ok(None),
                false => Err((Some(name), "it is listed twice; the first one counts".to_owned())),
            };
        }
        self.names.insert(name.clone(), (self.pages, json.get().into()));
        let schema = usable_schema(tool.input_schema).and_then(|schema| match known.contains(&*name) {
            true => Ok(schema),
            false => {
                Err("its input schema has an `x-mcp-header` that breaks the protocol's rules".to_owned())
            }
        });
        match schema {
            Ok(input_schema) => {
                let members = tool.output_schema.map(members).unwrap_or_default();
                if !members.is_empty() {
                    self.outputs.insert(name.clone(), members);
                }
                let description = message::text(tool.description).or_else(|| message::text(tool.title));
                Ok(Some(Tool { name, description: description.unwrap_or_default(), input_schema }))
            }
            Err(reason) => Err((Some(name), reason)),
        }
    }
}

/// The text of a cursor. A number is one, too; null and anything else means that there is no further page.
fn cursor(json: &RawValue) -> Option<String> {
    let value: Value = serde_json::from_str(json.get()).ok()?;
    match value {
        Value::String(text) => Some(text),
        Value::Number(_) => Some(json.get().to_owned()),
        _ => None,
    }
}

/// The names of an output's members. Outputs only serve as hints, so a schema that is not understood has none.
fn members(schema: &RawValue) -> Vec<String> {
    #[derive(Deserialize)]
    struct Schema {
        properties: Map<String, Value>,
    }
    let json = schema.get();
    if json.len() > COMPILED_BYTES_MAX {
        return Vec::new();
    }
    serde_json::from_str(json)
        .map_or_else(|_| Vec::new(), |it: Schema| it.properties.into_iter().map(|(name, _)| name).collect())
}

/// The schema as an object schema, or why it cannot be one. One bad schema makes a model's provider refuse all tools.
fn usable_schema(json: Option<&RawValue>) -> Result<WrittenObject, String> {
    let json = json.ok_or("it has no input schema")?.get();
    // Its size comes first: everything after this takes a multiple of its time and memory.
    if json.len() > COMPILED_BYTES_MAX {
        return Err(format!(
            "its input schema has {} bytes; at most {COMPILED_BYTES_MAX} are possible",
            json.len()
        ));
    }
    if !json.starts_with('{') {
        return Err(format!("its input schema is {}, not an object", kind(json)));
    }
    let schema =
        WrittenObject::read(json).map_err(|error| format!("its input schema is not understood: {error}"))?;
    let schema = match schema.get("type") {
        Some(Value::String(kind)) if kind == "object" => schema,
        Some(kind) => return Err(format!("its input schema is of type {kind}, not of an object")),
        None => schema.edited(|map| drop(map.insert("type".to_owned(), "object".into()))),
    };
    let whole = Value::Object(Map::clone(&schema));
    if let Err(error) = jsonschema::meta::validate(&whole) {
        let place = error.instance_path().to_string();
        return Err(format!("its input schema is no JSON Schema: at {place}: {error}"));
    }
    match Steps::of(&whole) {
        // What is not in the schema is missing only to whoever judges arguments by it.
        Ok(_) | Err(TooMuch::Reference(_)) => Ok(schema),
        Err(error) => Err(format!("its input schema cannot be used: {error}")),
    }
}

/// What the parser says of a part of an answer.
fn not_understood(what: &str, error: &serde_json::Error) -> String {
    format!("{what}: {}", plain_message(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The tools of pages, and what was left out of them.
    fn accepted(pages: &[Value]) -> Listed {
        let mut listed = Listed::default();
        for page in pages {
            let names = page["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str());
            listed.add(&page.to_string(), &names.collect(), 512).unwrap();
        }
        listed
    }

    fn names(listed: &Listed) -> Vec<&str> {
        listed.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    #[test]
    fn unusable_tools_are_left_out_with_the_reason() {
        let object = json!({"type": "object"});
        let listed = accepted(&[json!({"tools": [
            {"name": "a", "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}}},
            {"name": "b", "inputSchema": {}},
            {"name": "c", "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}},
            // What is only for others may have any form.
            {"name": "d", "inputSchema": object, "annotations": {"readOnlyHint": "yes"}, "icons": "x",
                "outputSchema": [], "_meta": 7, "title": null, "description": 7},
            {"name": "", "inputSchema": object},
            {"inputSchema": object},
            {"name": 7, "inputSchema": object},
            "wash",
            null,
            {"name": "a", "inputSchema": object},
            {"name": "e", "inputSchema": {"type": "string"}},
            {"name": "f", "inputSchema": {"type": "object", "properties": {"x": {"type": 7}}}},
            {"name": "g", "inputSchema": {"$schema": "http://example.org/nothing", "type": "object"}},
            {"name": "h"},
            {"name": "i", "inputSchema": null},
            {"name": "j", "inputSchema": []},
            {"name": "k", "inputSchema": "{\"type\":\"object\"}"},
        ]})]);
        assert_eq!(names(&listed), ["a", "b", "c", "d"]);
        let reasons = [
            "tool 5 of its list: it has no name",
            "tool 6 of its list: it has no name",
            "tool 7 of its list: it has no name",
            "tool 8 of its list: it is a text, not an object",
            "tool 9 of its list: it is null, not an object",
            "`a`: it is listed twice; the first one counts",
            "`e`: its input schema is of type \"string\", not of an object",
            "`f`: its input schema is no JSON Schema: at /properties/x",
            "`g`: its input schema is no JSON Schema: ",
            "`h`: it has no input schema",
            "`i`: it has no input schema",
            "`j`: its input schema is a list, not an object",
            "`k`: its input schema is a text, not an object",
        ];
        assert_eq!(listed.left_out.len(), reasons.len(), "{:?}", listed.left_out);
        for (found, expected) in listed.left_out.iter().zip(reasons) {
            assert!(found.starts_with(expected), "{found} is not {expected}");
        }
        let mut listed = Listed::default();
        let page = json!({"tools": [{"name": "a", "inputSchema": object}]});
        listed.add(&page.to_string(), &HashSet::new(), 512).unwrap();
        assert!(listed.left_out[0].contains("x-mcp-header"), "{:?}", listed.left_out);
    }

    #[test]
    fn a_page_that_repeats_another_adds_nothing() {
        let tool = |name: &str, about: &str| json!({"name": name, "description": about, "inputSchema": {}});
        let listed = accepted(&[
            json!({"tools": [tool("a", "1"), tool("b", "1")]}),
            json!({"tools": [tool("b", "1"), tool("a", "2"), tool("c", "1")]}),
        ]);
        assert_eq!(names(&listed), ["a", "b", "c"]);
        assert_eq!(listed.left_out, ["`a`: it is listed twice; the first one counts"]);
    }

    #[test]
    fn what_is_missing_is_filled_in() {
        let listed = accepted(&[json!({"tools": [
            {"name": "a", "title": "A tool", "inputSchema": {}},
            {"name": "b", "title": "Another", "description": "Does it.", "inputSchema": {}},
        ]})]);
        assert_eq!(listed.tools[0].description, "A tool");
        assert_eq!(listed.tools[1].description, "Does it.");
        assert_eq!(listed.tools[0].input_schema["type"], "object");
    }

    #[test]
    fn pages_are_read_as_what_they_mean() {
        let next = |page: &str| Listed::default().add(page, &HashSet::new(), 512);
        for (page, cursor) in [
            (r#"{"tools":[],"nextCursor":"2"}"#, Some("2")),
            (r#"{"tools":[],"nextCursor":""}"#, Some("")),
            (r#"{"tools":[],"nextCursor":2}"#, Some("2")),
            (r#"{"tools":[],"nextCursor":null}"#, None),
            (r#"{"tools":[],"nextCursor":false}"#, None),
            (r#"{"tools":null}"#, None),
            (r#"{"tools":[]}"#, None),
        ] {
            assert_eq!(next(page).unwrap().as_deref(), cursor, "{page}");
        }
        assert_eq!(next(r#"{"tools":{}}"#).unwrap_err(), "its `tools` are an object, not a list");
        let long = json!({"tools": [], "nextCursor": "c".repeat(CURSOR_BYTES_MAX)}).to_string();
        assert_eq!(
            next(&long).unwrap_err(),
            "the cursor of the next page of its list has 65538 bytes; at most 65536 are possible"
        );
    }

    #[test]
    fn tools_are_counted_while_they_are_read() {
        for tool in [json!(null), json!({"name": "a"}), json!({"name": "a", "inputSchema": {}})] {
            let tools: Vec<Value> = (0..100_000)
                .map(|number| {
                    let mut tool = tool.clone();
                    if tool.is_object() {
                        tool["name"] = format!("a{number}").into();
                    }
                    tool
                })
                .collect();
            let mut listed = Listed::default();
            listed.add(&json!({ "tools": tools }).to_string(), &HashSet::new(), 512).unwrap();
            assert_eq!(listed.count(), 513, "{tool}");
        }
    }

    #[test]
    fn schemas_that_multiply_themselves_leave_their_tools_out() {
        let definition = |number: usize| {
            let next = json!({"$ref": format!("#/$defs/d{}", number + 1)});
            (format!("d{number}"), json!({"allOf": [next, next]}))
        };
        let mut definitions: Map<String, Value> = (0..30).map(definition).collect();
        definitions.insert("d30".to_owned(), json!({"type": "string"}));
        let schema = json!({"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
        let listed = accepted(&[json!({"tools": [
            {"name": "a", "inputSchema": schema},
            {"name": "b", "inputSchema": {"$ref": "#"}},
            {"name": "c", "inputSchema": {"$ref": "https://a.example/schema.json"}},
        ]})]);
        assert_eq!(names(&listed), ["c"]);
        let reasons = ["more than 250000 steps", "in a circle"];
        for (found, expected) in listed.left_out.iter().zip(reasons) {
            assert!(
                found.contains("its input schema cannot be used: ") && found.contains(expected),
                "{found}"
            );
        }
    }
}
