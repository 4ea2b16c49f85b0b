//! Parameters in Google's `Schema`, which is not quite JSON Schema: types are in capitals, `nullable` is a separate
//! member, and integers may be texts.

use serde_json::{Map, Value};

/// Limits, which the protocol writes as texts.
const COUNTS: [&str; 6] =
    ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/// Members that are a schema.
const ONE: [&str; 2] = ["items", "additionalProperties"];

/// Members that are an array of schemas.
const SEVERAL: [&str; 2] = ["anyOf", "prefixItems"];

/// The schema as JSON Schema. Valid parts are unchanged. The parser limits its depth to 128 levels.
pub(super) fn json_schema(schema: &mut Map<String, Value>) {
    let is_nullable = schema.remove("nullable") == Some(Value::Bool(true));
    if let Some(Value::String(kind)) = schema.get_mut("type") {
        kind.make_ascii_lowercase();
        // JSON Schema does not know `nullable`; null becomes one more type.
        if is_nullable {
            let kinds = vec![kind.as_str().into(), "null".into()];
            schema.insert("type".to_owned(), Value::Array(kinds));
        }
    }
    for (name, value) in schema {
        match value {
            Value::String(text) if COUNTS.contains(&name.as_str()) => {
                if let Ok(count) = text.parse::<u64>() {
                    *value = count.into();
                }
            }
            Value::Object(_) if ONE.contains(&name.as_str()) => convert(value),
            Value::Array(schemas) if SEVERAL.contains(&name.as_str()) => schemas.iter_mut().for_each(convert),
            Value::Object(properties) if name == "properties" => properties.values_mut().for_each(convert),
            _ => {}
        }
    }
}

fn convert(value: &mut Value) {
    if let Value::Object(schema) = value {
        json_schema(schema);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_of_google_become_json_schemas_and_those_stay() {
        let converted = |schema: &Value| {
            let mut schema = schema.clone();
            convert(&mut schema);
            schema
        };
        let google = json!({"type": "OBJECT", "description": "OBJECT", "required": ["type"], "properties": {
            "type": {"type": "STRING", "enum": ["STRING"], "nullable": true, "maxLength": "9"},
            "list": {"type": "ARRAY", "minItems": "1", "items": {"type": "INTEGER", "nullable": false}},
            "either": {"anyOf": [{"type": "NUMBER"}, {"type": "BOOLEAN"}]},
        }});
        let expected = json!({"type": "object", "description": "OBJECT", "required": ["type"], "properties": {
            "type": {"type": ["string", "null"], "enum": ["STRING"], "maxLength": 9},
            "list": {"type": "array", "minItems": 1, "items": {"type": "integer"}},
            "either": {"anyOf": [{"type": "number"}, {"type": "boolean"}]},
        }});
        assert_eq!(converted(&google), expected);
        assert_eq!(converted(&expected), expected);
    }
}
