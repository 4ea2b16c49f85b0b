//! One tool that an agent made.

use planproof_sandbox::{NoFunctions, Program, ProgramEnd, Returned, Sandbox, SandboxLimits};
use planproof_tools::SchemaCache;
use planproof_trace::{Tool, WrittenObject};
use ruff_python_stdlib::identifiers::is_identifier;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

/// Longest code, in bytes.
pub const CODE_BYTES_MAX: usize = 16 << 10;
/// Most examples.
pub const EXAMPLES_MAX: usize = 20;

/// Longest name that every provider of models accepts.
const NAME_BYTES_MAX: usize = 64;
/// Longest description, in bytes.
const DESCRIPTION_BYTES_MAX: usize = 2_000;
/// Most characters repeated of a value.
const QUOTE_CHARACTERS_MAX: usize = 300;
/// The relative tolerance for equal numbers, as a share of the greater one.
const TOLERANCE: f64 = 1e-9;
/// The keywords by which a schema refers to a part of itself.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// The entry function of a program.
const ENTRY: &str = "planproof_entry";

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Fault {
    /// The agent's mistake.
    #[error("{0}")]
    Call(String),
    /// Something outside is missing or broken.
    #[error("{0}")]
    World(String),
}

/// A function in Python with everything that a model needs to call it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MadeTool {
    name: String,
    description: String,
    parameters: WrittenObject,
    code: String,
    examples: Vec<Example>,
}

/// A call on which the function is tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    arguments: Map<String, Value>,
    result: Value,
}

impl MadeTool {
    /// A tool as JSON. Nothing is run yet.
    pub(crate) fn read(object: &WrittenObject, schemas: &SchemaCache) -> Result<Self, Fault> {
        let call = |what: String| Err(Fault::Call(what));
        let tool: Self = match serde_json::from_str(&object.to_string()) {
            Ok(tool) => tool,
            Err(error) => {
                let error = error.to_string();
                // Its place is one in a text that the agent did not write.
                let error = error.rsplit_once(" at line ").map_or(&*error, |(fault, _)| fault);
                return call(format!(
                    "this describes no tool ({error}): write `name`, `description`, `parameters`, `code` and `examples`"
                ));
            }
        };
        // The name becomes a part of programs, so it must be a name and nothing else.
        if tool.name.len() > NAME_BYTES_MAX || !tool.name.is_ascii() || !is_identifier(&tool.name) {
            return call(format!(
                "`name` has to be that of a Python function, of {NAME_BYTES_MAX} characters at most"
            ));
        }
        for (name, text, most) in
            [("description", &tool.description, DESCRIPTION_BYTES_MAX), ("code", &tool.code, CODE_BYTES_MAX)]
        {
            if text.trim().is_empty() || text.len() > most {
                return call(format!("`{name}` has to have 1 to {most} bytes, and has {}", text.len()));
            }
        }
        if tool.examples.is_empty() || tool.examples.len() > EXAMPLES_MAX {
            return call(format!("write 1 to {EXAMPLES_MAX} examples, not {}", tool.examples.len()));
        }
        if tool.parameters.get("type").and_then(Value::as_str) != Some("object") {
            return call("`parameters` has to be a JSON Schema with the type object".to_owned());
        }
        if let Some(key) = reference(&tool.parameters) {
            return call(format!(
                "`parameters` uses `{key}`: write each part of the schema where it is used instead"
            ));
        }
        if let Err(reason) = schemas.check_schema(&tool.parameters) {
            return call(format!("`parameters` is no JSON Schema: {reason}"));
        }
        // Checked before the test, which then fails because of the code alone.
        for (number, example) in (1..).zip(&tool.examples) {
            if let Err(Fault::Call(reason)) = tool.check_arguments(&example.arguments, schemas) {
                return call(format!("example {number}: {reason}"));
            }
        }
        Ok(tool)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The tool as a model sees it.
    pub(crate) fn definition(&self) -> Tool {
        Tool {
            name: self.name.clone(),
            description: self.description.clone(),
            input_schema: self.parameters.clone(),
        }
    }

    /// The arguments of the first example.
    pub(crate) fn first_arguments(&self) -> Option<&Map<String, Value>> {
        self.examples.first().map(|example| &example.arguments)
    }

    pub(crate) fn check_arguments(
        &self,
        arguments: &Map<String, Value>,
        schemas: &SchemaCache,
    ) -> Result<(), Fault> {
        schemas
            .check(&self.parameters, &Value::Object(arguments.clone()))
            .map_err(|reason| Fault::Call(format!("the arguments of `{}` do not fit: {reason}", self.name)))
    }

    /// Runs the examples. Returns their number, or the fault of the first one that fails.
    pub(crate) async fn test(&self, sandbox: &Sandbox, limits: &SandboxLimits) -> Result<usize, Fault> {
        for (number, example) in (1..).zip(&self.examples) {
            let result =
                self.call(&example.arguments, sandbox, limits).await.map_err(|fault| match fault {
                    Fault::Call(what) => Fault::Call(format!("refused; example {number} fails: {what}")),
                    world @ Fault::World(_) => world,
                })?;
            if !is_same(&result, &example.result) {
                return Err(Fault::Call(format!(
                    "refused; example {number} returns {}, not {}",
                    shortened(&result),
                    shortened(&example.result)
                )));
            }
        }
        Ok(self.examples.len())
    }

    /// Calls the function.
    pub(crate) async fn call(
        &self,
        arguments: &Map<String, Value>,
        sandbox: &Sandbox,
        limits: &SandboxLimits,
    ) -> Result<Value, Fault> {
        // The entry comes after the tool's code, so that the code
        // cannot replace it. Arguments are literals of the program.
        let mut program = format!("{}\n\ndef {ENTRY}():\n    return {}(**", self.code, self.name);
        write_literal(&Value::Object(arguments.clone()), &mut program);
        program.push_str(")\n");
        let program = Program::function(program, ENTRY);
        let outcome = sandbox.run(&program, &NoFunctions, limits).await;
        match outcome.map_err(|error| Fault::World(error.to_string()))?.end {
            ProgramEnd::Finished { value: Returned::Json(value) } => Ok(value),
            ProgramEnd::Finished { value: Returned::Other(value) } => {
                let value = shortened(&Value::String(value));
                Err(Fault::Call(format!("`{}` returned {value}, which is no JSON", self.name)))
            }
            // The code's author is not blamed for features that the sandbox lacks.
            end @ ProgramEnd::Unsupported { .. } => Err(Fault::World(end.to_string())),
            end => Err(Fault::Call(end.to_string())),
        }
    }
}

/// A keyword by which a schema refers to a part of itself, if there is one. A short schema of such parts, each of which
/// uses the next one twice, would be checked for longer than anybody waits.
fn reference(schema: &Map<String, Value>) -> Option<&'static str> {
    // A property may have such a name, but is not a text.
    let used = REFERENCES.into_iter().find(|key| schema.get(*key).is_some_and(Value::is_string));
    used.or_else(|| schema.values().find_map(reference_in))
}

fn reference_in(value: &Value) -> Option<&'static str> {
    match value {
        Value::Object(members) => reference(members),
        Value::Array(items) => items.iter().find_map(reference_in),
        _ => None,
    }
}

/// A value in Python's notation. JSON strings mean the same there.
fn write_literal(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(_) => out.push_str(&value.to_string()),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_literal(item, out);
                // Python allows a comma after the last item.
                out.push_str(", ");
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (key, field) in fields {
                write_literal(&Value::String(key.clone()), out);
                out.push_str(": ");
                write_literal(field, out);
                out.push_str(", ");
            }
            out.push('}');
        }
    }
}

/// Whether two values are the same, numbers by their values.
fn is_same(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Number(found), Value::Number(wanted)) if found != wanted => {
            match (found.as_f64(), wanted.as_f64()) {
                // Integers are compared exactly, because those of more than 53 bits would equal their neighbours as
                // floats.
                _ if found.is_i64() && wanted.is_i64() => false,
                (Some(a), Some(b)) => (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()),
                _ => false,
            }
        }
        (Value::Array(found), Value::Array(wanted)) => {
            found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(found), Value::Object(wanted)) => {
            found.len() == wanted.len()
                && found.iter().all(|(key, a)| wanted.get(key).is_some_and(|b| is_same(a, b)))
        }
        _ => found == wanted,
    }
}

fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(QUOTE_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_written_as_python() {
        let mut text = String::new();
        write_literal(&json!({"a": [null, true, 1, 1.5, "it's \"q\"\n\u{1}é"], "b": {}}), &mut text);
        assert_eq!(text, "{\"a\": [None, True, 1, 1.5, \"it's \\\"q\\\"\\n\\u0001é\", ], \"b\": {}, }");
    }

    #[test]
    fn numbers_are_the_same_by_their_values() {
        for (found, wanted, same) in [
            (json!(1), json!(1.0), true),
            (json!(0.1 + 0.2), json!(0.3), true),
            (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992_i64), false),
            (json!([1, {"a": 2.0}]), json!([1.0, {"a": 2}]), true),
            (json!(1), json!("1"), false),
            (json!(true), json!(1), false),
            (json!([1]), json!([1, 2]), false),
        ] {
            assert_eq!(is_same(&found, &wanted), same, "{found} {wanted}");
        }
    }
}
