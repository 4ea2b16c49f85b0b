//! From a plan to Python.
//!
//! The form is the published one if that loses nothing: a function `solve` with one line per step, texts in double
//! quotes, references as subscripts, in an argument called `text` within an f-string, and all outputs returned by the
//! numbers of their steps. Beyond it, quotes, backslashes, line breaks and braces are escaped, embedded references
//! keep the words around them in every argument, values other than texts are Python literals, and names that are
//! invalid in Python are written as texts: `globals()["a-b"](**{"from": 1})`.

use std::fmt::Write;

use serde_json::Value as Json;

use super::names;
use crate::plan::{ArgumentValue, Plan, Reference, Step, TextPiece};

/// The argument whose references are published as f-strings even if they are alone.
const TEXT_ARGUMENT: &str = "text";

/// The plan as a program, from which [`read_python`](crate::read_python) restores the same plan.
pub fn to_python(plan: &Plan) -> String {
    let mut program = "def solve():\n".to_owned();
    let mut result = Vec::new();
    for step in &plan.steps {
        program.push_str("    ");
        program.push_str(&to_line(step));
        program.push('\n');
        result.push(format!("{}: {}", step.id, names::variable(step.id)));
    }
    program.push_str(&format!("    result = {{{}}}\n    return result\n", result.join(", ")));
    program
}

/// A step as an assignment, one line of a program.
pub fn to_line(step: &Step) -> String {
    let arguments: Vec<String> = step.arguments.iter().map(|(name, value)| argument(name, value)).collect();
    format!("{} = {}({})", names::variable(step.id), callee(&step.tool), arguments.join(", "))
}

fn callee(tool: &str) -> String {
    let name = tool.replace(' ', "_");
    // The program assigns these names itself, so a tool of that name could not be called any more.
    let is_of_program = names::number(&name).is_some() || name == "result" || name == "solve";
    // A reader turns underscores into blanks, so a name with one of its own would come back changed.
    if tool.contains('_') || !names::is_plain(&name) || names::is_builtin(&name) || is_of_program {
        format!("globals()[{}]", literal(tool))
    } else {
        name
    }
}

fn argument(name: &str, value: &ArgumentValue) -> String {
    let value = match value {
        ArgumentValue::Json(json) => json_literal(json),
        ArgumentValue::Text(parts) => match &parts[..] {
            [] => literal(""),
            [TextPiece::Words(words)] => literal(words),
            [TextPiece::Reference(reference)] if name != TEXT_ARGUMENT => subscript(reference),
            parts => formatted(parts),
        },
    };
    if names::is_plain(name) {
        format!("{name}={value}")
    } else {
        format!("**{{{}: {value}}}", literal(name))
    }
}

fn subscript(Reference { step, key }: &Reference) -> String {
    format!("{}['{key}']", names::variable(*step))
}

fn formatted(parts: &[TextPiece]) -> String {
    let parts = parts.iter().map(|part| match part {
        TextPiece::Words(words) => escaped(words).replace('{', "{{").replace('}', "}}"),
        TextPiece::Reference(reference) => format!("{{{}}}", subscript(reference)),
    });
    format!("f\"{}\"", parts.collect::<String>())
}

fn literal(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// A text between double quotes. No escape contains braces, so that it can also be in an f-string.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\\' => escaped.extend(['\\', character]),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            // A byte order mark is dropped at the start of a file, and the others end a line for some readers.
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                // Writing into a text cannot fail.
                let _ = write!(escaped, "\\u{:04x}", character as u32);
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

fn json_literal(json: &Json) -> String {
    match json {
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => literal(text),
        Json::Array(items) => format!("[{}]", items.iter().map(json_literal).collect::<Vec<_>>().join(", ")),
        Json::Object(entries) => {
            let entries =
                entries.iter().map(|(key, value)| format!("{}: {}", literal(key), json_literal(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}
