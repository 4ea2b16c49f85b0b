//! The JSON Schema of the file, for editors and for checks before it is used.

use serde_json::{Map, Value, json};

use crate::command_line::CommandLine;
use crate::keys::{ConfigKey, KeySection, ValueKind};

/// The schema as a JSON document of several lines, in draft 2020-12. The same bytes for the same version.
pub fn schema(line: &CommandLine) -> String {
    let root = KeySection::root(line);
    let mut schema = section(&root);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("planproof.toml");
    schema["description"] = json!(
        "Configuration of planproof. Options on the command line override it, and it overrides the environment. \
         Keys above all \
         sections are for all commands that have such an option."
    );
    let text = serde_json::to_string_pretty(&schema).expect("a JSON value can be written");
    text + "\n"
}

fn section(section: &KeySection) -> Value {
    let mut properties = Map::new();
    for part in &section.keys {
        properties.insert(part.name.clone(), key(part));
    }
    for below in &section.sections {
        properties.insert(below.name.clone(), self::section(below));
    }
    json!({
        "type": "object",
        "description": section.about,
        "properties": properties,
        "additionalProperties": false,
    })
}

fn key(key: &ConfigKey) -> Value {
    let mut schema = value(&key.kind);
    if key.is_list {
        schema = json!({ "anyOf": [schema, { "type": "array", "items": schema }] });
    }
    if key.is_value_optional {
        schema = json!({ "anyOf": [schema, { "const": true }] });
    }
    schema["description"] = json!(key.help);
    if let Some(default) = default(key) {
        schema["default"] = default;
    }
    schema
}

fn value(kind: &ValueKind) -> Value {
    match kind {
        ValueKind::Switch => json!({ "type": "boolean" }),
        // Larger numbers are not exact in all JSON readers, nor guaranteed in TOML.
        ValueKind::Whole(least, most) if *most > i128::from(i64::MAX) => {
            json!({ "type": "integer", "minimum": *least as i64 })
        }
        ValueKind::Whole(least, most) => {
            json!({ "type": "integer", "minimum": *least as i64, "maximum": *most as i64 })
        }
        ValueKind::Number => json!({ "type": "number" }),
        ValueKind::Path => json!({ "type": "string", "minLength": 1 }),
        ValueKind::Text => json!({ "type": "string" }),
        ValueKind::Choice(choices) => json!({ "enum": choices }),
        ValueKind::Scalar => json!({ "type": ["string", "number"] }),
    }
}

/// The default as a value of the key's type.
fn default(key: &ConfigKey) -> Option<Value> {
    // The command line keeps all defaults as texts, which would contradict a numeric type in the schema.
    let text = key.default.as_deref()?;
    match key.kind {
        ValueKind::Whole(..) => text.parse::<u64>().ok().map(Value::from),
        ValueKind::Number => text.parse::<f64>().ok().map(Value::from),
        _ => Some(json!(text)),
    }
}
