//! Lists of tools as they leave this process.
//!
//! The protocol's own types hold numbers of 64 bits, and an agent has to see the bounds of a schema as they were
//! written. So an answer with a list gets the schemas from the tools themselves, after those types have written it.

use std::collections::BTreeMap;

use planproof_trace::Tool;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

type Members = BTreeMap<String, Box<RawValue>>;

/// Whether the protocol's types change a schema of these tools.
pub(super) fn loses_digits(tools: &[Tool]) -> bool {
    tools.iter().any(|tool| tool.input_schema.has_long_numbers())
}

/// A message to the client with the schemas of these tools as they were written; `None` if it lists no tools.
pub(super) fn with_written_schemas(message: &[u8], tools: &[Tool]) -> Option<Vec<u8>> {
    let mut message: Members = serde_json::from_slice(message).ok()?;
    let mut result: Members = serde_json::from_str(message.get("result")?.get()).ok()?;
    let mut listed: Vec<Members> = serde_json::from_str(result.get("tools")?.get()).ok()?;
    if listed.len() != tools.len() {
        return None;
    }
    for (listed, tool) in listed.iter_mut().zip(tools) {
        insert(listed, "inputSchema", &tool.input_schema)?;
    }
    insert(&mut result, "tools", &listed)?;
    insert(&mut message, "result", &result)?;
    serde_json::to_vec(&message).ok()
}

fn insert(members: &mut Members, name: &str, value: &impl Serialize) -> Option<()> {
    members.insert(name.to_owned(), to_raw_value(value).ok()?);
    Some(())
}
