//! From a model's text to a call: the named tool, and the arguments.

use planproof_trace::{Arguments, Tool};
use serde_json::{Map, Value};

use super::SchemaValidator;
use crate::Compat;

/// The tool named by a text, by its index: with an exact match, else ignoring case, else ignoring spaces. The text is
/// trimmed. With [`Compat::Original`] a tool's name within a longer text is found in the same order (if none is
/// found, the caller takes the first tool).
pub fn match_tool(text: &str, names: &[&str], compat: Compat) -> Option<usize> {
    let forms: [fn(&str) -> String; 3] = [
        |text| text.trim().to_owned(),
        |text| text.trim().to_lowercase(),
        |text| text.split_whitespace().collect::<String>().to_lowercase(),
    ];
    let by = |is_match: fn(&str, &str) -> bool| {
        // Each form is tried with all names before the next one, so an exact match always wins.
        forms.iter().find_map(|form| {
            let text = form(text);
            names.iter().position(|name| is_match(&text, &form(name)))
        })
    };
    let exact = by(|text, name| text == name);
    match compat {
        Compat::Ours => exact,
        Compat::Original => exact.or_else(|| by(|text, name| text.contains(name))),
    }
}

/// The arguments that a text means for a tool. A tool without parameters ignores the text. A JSON object is the
/// arguments, and has to fit the tool's schema. A tool whose only parameter is a string accepts no object with other
/// keys, and any other text as it is.
///
/// # Errors
/// The fault of the text, for the model.
pub fn arguments_from(
    tool: &Tool,
    text: &str,
    validator: Option<&dyn SchemaValidator>,
) -> Result<Arguments, String> {
    arguments_to_come(tool, text, validator, &|_| false).map(|(arguments, _)| arguments)
}

/// The same, and whether an argument is unresolved: such arguments are not checked yet.
pub(super) fn arguments_to_come(
    tool: &Tool,
    text: &str,
    validator: Option<&dyn SchemaValidator>,
    is_open: &dyn Fn(&Value) -> bool,
) -> Result<(Arguments, bool), String> {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let mut parameters = properties.into_iter().flatten();
    let object = match (parameters.next(), parameters.next()) {
        (None, _) => return Ok((Arguments::none(), false)),
        (Some((name, schema)), None) if schema.get("type").and_then(Value::as_str) == Some("string") => {
            text_or_object(tool, name, text)?
        }
        _ => match Arguments::from_text(text) {
            Arguments::Object(object) => object,
            Arguments::Malformed(_) => {
                let fault = serde_json::from_str::<Map<String, Value>>(text).err();
                let what = fault.map(|fault| format!(" ({fault})")).unwrap_or_default();
                return Err(format!("the input of {} must be a JSON object{what}", tool.name));
            }
        },
    };
    let open: Vec<String> =
        object.iter().filter(|(_, value)| is_open(value)).map(|(name, _)| name.clone()).collect();
    // Unresolved arguments can become anything, so the schema must admit anything for them.
    let mut schema = Value::Object(Map::clone(&tool.input_schema));
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.extend(open.iter().map(|name| (name.clone(), Value::Bool(true))));
    }
    let object = fitting(tool, &schema, object, validator)?;
    Ok((Arguments::Object(object), !open.is_empty()))
}

/// Whether the arguments of a call fit the schema of its tool.
///
/// # Errors
/// Their fault, for the model.
pub fn check_arguments(
    tool: &Tool,
    arguments: &Arguments,
    validator: Option<&dyn SchemaValidator>,
) -> Result<(), String> {
    match arguments {
        Arguments::Object(object) => {
            let schema = Value::Object(Map::clone(&tool.input_schema));
            fitting(tool, &schema, object.clone(), validator).map(drop)
        }
        Arguments::Malformed(_) => Err(format!("the input of {} must be a JSON object", tool.name)),
    }
}

/// The meaning of a text for a tool whose only parameter is a string.
fn text_or_object(tool: &Tool, name: &str, text: &str) -> Result<Map<String, Value>, String> {
    let Ok(object) = planproof_trace::json::read::<Map<String, Value>>(text.as_bytes()) else {
        return Ok(Map::from_iter([(name.to_owned(), text.into())]));
    };
    // A JSON object is meant for its contents; its plain text would rarely be what was intended.
    if let Some(other) = object.keys().find(|key| *key != name) {
        return Err(format!("{other} is no parameter of {}, which has {name} alone", tool.name));
    }
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    match object.get(name) {
        Some(Value::String(_)) => Ok(object),
        None if required.is_none_or(|all| !all.contains(&Value::from(name))) => Ok(object),
        _ => Err(format!("{name}, the parameter of {}, must be a string", tool.name)),
    }
}

fn fitting(
    tool: &Tool,
    schema: &Value,
    object: Map<String, Value>,
    validator: Option<&dyn SchemaValidator>,
) -> Result<Map<String, Value>, String> {
    let instance = Value::Object(object);
    if let Some(validator) = validator {
        validator
            .check(schema, &instance)
            .map_err(|fault| format!("the input does not fit the schema of {}: {fault}", tool.name))?;
    }
    match instance {
        Value::Object(object) => Ok(object),
        // Never reached: the instance is an object.
        _ => Ok(Map::new()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_found_in_the_order_of_the_rules() {
        let names = ["Search", "search", "Look Up"];
        for (text, found) in [
            (" search\n", Some(1)),
            ("SEARCH", Some(0)),
            ("lookup", Some(2)),
            ("l o o k u p", Some(2)),
            ("Search[x]", None),
            ("", None),
        ] {
            assert_eq!(match_tool(text, &names, Compat::Ours), found, "{text}");
        }
        assert_eq!(match_tool("Search[x]", &names, Compat::Original), Some(0));
    }

    fn tool(schema: Value) -> Tool {
        let Value::Object(schema) = schema else { panic!("an object") };
        Tool { name: "pay".into(), description: String::new(), input_schema: schema.into() }
    }

    #[track_caller]
    fn check(schema: Value, text: &str, expected: Result<Value, &str>) {
        let found = arguments_from(&tool(schema), text, None);
        match (&found, expected) {
            (Ok(Arguments::Object(found)), Ok(Value::Object(expected))) => assert_eq!(*found, expected),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
            (found, expected) => panic!("{found:?} is not {expected:?}"),
        }
    }

    #[test]
    fn texts_become_arguments() {
        check(json!({"type": "object"}), "whatever", Ok(json!({})));
        let one = json!({"properties": {"query": {"type": "string"}}});
        check(one.clone(), "as it is", Ok(json!({"query": "as it is"})));
        check(one.clone(), "[1]", Ok(json!({"query": "[1]"})));
        check(one.clone(), "{\"query\": \"x\"", Ok(json!({"query": "{\"query\": \"x\""})));
        check(one.clone(), "{\"query\": \"x\"}", Ok(json!({"query": "x"})));
        check(one.clone(), "{\"query\": 1}", Err("query, the parameter of pay, must be a string"));
        check(one.clone(), "{}", Ok(json!({})));
        let required = json!({"properties": {"query": {"type": "string"}}, "required": ["query"]});
        check(required, "{}", Err("query, the parameter of pay, must be a string"));
        check(one, "{\"query\": \"x\", \"y\": 1}", Err("y is no parameter of pay, which has query alone"));
        let two = json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
        check(two.clone(), "{\"a\": \"x\"}", Ok(json!({"a": "x"})));
        check(two.clone(), "x", Err("the input of pay must be a JSON object (expected value"));
        check(two, "", Ok(json!({})));
        let number = json!({"properties": {"a": {"type": "number"}}});
        check(number, "[1]", Err("must be a JSON object"));
    }
}
