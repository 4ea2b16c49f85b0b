//! Arguments made from a schema fit that schema, in the opinion of a validator.

use planproof_tools::SchemaCache;
use planproof_trace::sample_arguments;
use serde_json::{Value, json};

fn made(schema: Value) -> Value {
    let Value::Object(schema) = schema else { panic!("{schema} is no object") };
    Value::Object(sample_arguments(&schema))
}

#[test]
fn what_is_required_is_given_and_nothing_else() {
    assert_eq!(made(json!({"type": "object", "properties": {"a": {"type": "string"}}})), json!({}));
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "count": {"type": "integer", "minimum": 5},
            "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5},
            "on": {"type": "boolean"},
            "kind": {"enum": ["b", "a"]},
            "day": {"type": "string", "format": "date"},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2},
            "more": {"type": "string"},
        },
        "required": ["name", "count", "share", "on", "kind", "day", "tags"],
        "additionalProperties": false,
    });
    let expected = json!({
        "name": "example", "count": 5, "share": 0.25, "on": false, "kind": "b", "day": "2026-01-15",
        "tags": ["example", "example"],
    });
    assert_eq!(made(schema), expected);
}

#[test]
fn a_schema_that_demands_a_billion_values_gets_a_few_thousand() {
    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(values) => values.iter().map(count).sum(),
            Value::Object(values) => values.values().map(count).sum(),
            _ => 0,
        }
    }
    let mut schema = json!({"type": "object", "minProperties": 1_000_000_000});
    for _ in 0..3 {
        schema = json!({"type": "array", "minItems": 1_000_000_000, "items": schema});
    }
    let made = made(json!({"type": "object", "properties": {"all": schema}, "required": ["all"]}));
    assert!((1000..20_000).contains(&count(&made)), "{}", count(&made));
}

#[test]
fn samples_fit_their_schemas() {
    let cache = SchemaCache::default();
    for property in [
        json!(true),
        json!({}),
        json!({"type": ["null", "integer"]}),
        json!({"type": "integer", "exclusiveMinimum": 9, "multipleOf": 4}),
        json!({"type": "integer", "maximum": -3}),
        json!({"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 2}),
        json!({"type": "string", "minLength": 20}),
        json!({"type": "string", "maxLength": 3}),
        json!({"type": "string", "format": "email"}),
        json!({"anyOf": [{"type": "null"}, {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Point"}}]}),
        json!({"oneOf": [{"$ref": "#/$defs/Point"}, {"type": "string"}]}),
        json!({"allOf": [{"$ref": "#/$defs/Point"}, {"required": ["z"], "properties": {"z": {"const": 3}}}]}),
        json!({"type": "object", "minProperties": 3, "properties": {"one": {"type": "integer"}}}),
        json!({"type": "array", "minItems": 2, "prefixItems": [{"type": "boolean"}, {"type": "integer"}]}),
        json!({"type": "string", "default": null, "enum": ["x"]}),
        json!({"$ref": "#/$defs/Tree"}),
        json!({"minimum": 4}),
        json!({"required": ["q"]}),
    ] {
        let schema = json!({
            "type": "object",
            "properties": {"it": property},
            "required": ["it"],
            "$defs": {
                "Point": {
                    "type": "object",
                    "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
                    "required": ["x", "y"],
                },
                "Tree": {
                    "type": "object",
                    "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
                    "required": ["children"],
                },
            },
        });
        let arguments = made(schema.clone());
        assert_eq!(cache.check(schema.as_object().unwrap(), &arguments), Ok(()), "{schema} {arguments}");
    }
}

#[test]
fn demands_of_the_whole_are_met() {
    let cache = SchemaCache::default();
    let part = json!({"properties": {"b": {"type": "integer"}}, "required": ["b"]});
    for schema in [
        json!({"type": "object", "allOf": [part], "required": ["a"]}),
        json!({"type": "object", "anyOf": [part, {"required": ["c"]}]}),
        json!({"type": "object", "$ref": "#/$defs/part", "$defs": {"part": part}}),
        json!({"type": "object", "minProperties": 2}),
    ] {
        let arguments = made(schema.clone());
        assert_eq!(cache.check(schema.as_object().unwrap(), &arguments), Ok(()), "{schema} {arguments}");
    }
}

#[test]
fn what_never_ends_is_given_up() {
    for schema in [
        json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/properties/a"}}}),
        json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}),
        json!({"type": "object", "$ref": "#/$defs/x", "$defs": {"x": {"allOf": [{"$ref": "#/$defs/x"}]}}}),
        json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "array", "minItems": 1e300}}}),
        json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "array", "minItems": 999, "items": {"$ref": "#/properties/a"}},
        }}),
        json!({"type": "object", "required": [3, {}], "properties": [], "minProperties": "x"}),
    ] {
        made(schema);
    }
}

/// The bytes of a value's texts, and a few for each value.
fn size(value: &Value) -> usize {
    16 + match value {
        Value::Array(values) => values.iter().map(size).sum(),
        Value::Object(values) => values.iter().map(|(name, value)| name.len() + size(value)).sum(),
        Value::String(text) => text.len(),
        _ => 0,
    }
}

/// Each of these makes gigabytes out of a few kilobytes.
#[test]
fn what_multiplies_itself_is_given_up() {
    let doubled = |keyword: &str| {
        let link = |n: usize| {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            (format!("d{n}"), json!({keyword: [next, next], "required": ["a", "b", "c"]}))
        };
        let definitions: serde_json::Map<String, Value> = (0..30).map(link).collect();
        json!({"properties": {"x": {"$ref": "#/$defs/d0"}}, "required": ["x"], "$defs": definitions})
    };
    let long = json!("x".repeat(100_000));
    let list = |items: Value| json!({"type": "array", "minItems": 1000, "items": items});
    let names: Vec<String> = (0..5000).map(|n| format!("n{n}")).collect();
    for schema in [
        doubled("allOf"),
        doubled("anyOf"),
        doubled("oneOf"),
        json!({"required": ["x"], "properties": {"x": list(list(json!({"default": long})))}}),
        json!({"required": ["x"], "properties": {"x": list(list(json!({"const": long})))}}),
        json!({"required": ["x"], "properties": {"x": list(list(json!({"anyOf": [{}], "description": long})))}}),
        json!({"allOf": vec![json!({"$ref": "#/$defs/many"}); 10_000], "$defs": {"many": {"required": names}}}),
    ] {
        let begun = std::time::Instant::now();
        let made = made(schema);
        assert!(size(&made) < 72 << 20, "{}", size(&made));
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }
}
