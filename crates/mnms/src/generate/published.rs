//! The published form of the data: a JSON line for each query, with its plan as a Python list and as a program, and
//! its alternatives (the specification, section 3). Also the same query as a line of a case.

use std::fmt::Write as _;

use planproof_plan::{ArgumentValue, Plan, Step, TextPiece};
use planproof_suite::{Case as _, CaseError};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::RequestCase;
use crate::case::ID_PREFIX;

/// A query with its plan, as published.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Its number.
    pub id: i64,
    /// What a user asks.
    pub query: String,
    /// The plan that solves it.
    pub plan: Plan,
    /// Other plans that solve it as well.
    pub alternatives: Vec<Plan>,
}

impl Draft {
    /// The line in the published form, without a line break.
    pub fn to_line(&self) -> String {
        let mut alternatives = String::from("[");
        for (nth, plan) in self.alternatives.iter().enumerate() {
            alternatives.push_str(if nth == 0 { "" } else { ", " });
            push_nodes(&mut alternatives, plan);
        }
        alternatives.push(']');
        let mut nodes = String::new();
        push_nodes(&mut nodes, &self.plan);
        let line = Line {
            id: self.id,
            user_request: &self.query,
            plan_str: nodes,
            code_str: program(&self.plan),
            alt_plans_str: alternatives,
        };
        // Serializing numbers and texts cannot fail.
        serde_json::to_string(&line).unwrap_or_default()
    }

    /// The line of the corresponding case, without a line break.
    ///
    /// # Errors
    /// It is not a valid case: its query is empty or its plan has no steps.
    pub fn to_case_line(&self) -> Result<String, CaseError> {
        let alternatives = self.alternatives.iter().map(written_json).collect();
        let id = format!("{ID_PREFIX}{}", self.id);
        let task =
            RequestCase::new(&id, &self.query, written_json(&self.plan), &program(&self.plan), alternatives)?;
        Ok(task.to_line())
    }
}

/// A line, with its fields in the published order.
#[derive(Serialize)]
struct Line<'d> {
    id: i64,
    user_request: &'d str,
    plan_str: String,
    code_str: String,
    alt_plans_str: String,
}

/// A plan as JSON: a list of nodes.
pub fn written_json(plan: &Plan) -> Json {
    let node = |step: &Step| {
        let arguments: Map<String, Json> =
            step.arguments.iter().map(|(name, value)| (name.clone(), written_value(value))).collect();
        json!({"id": step.id, "name": step.tool, "args": arguments})
    };
    plan.steps.iter().map(node).collect()
}

fn written_value(value: &ArgumentValue) -> Json {
    match value {
        ArgumentValue::Json(value) => value.clone(),
        ArgumentValue::Text(parts) => Json::from(written_text(parts)),
    }
}

/// A text with its references written as `<node-0>.text`.
pub(super) fn written_text(parts: &[TextPiece]) -> String {
    let piece = |part: &TextPiece| match part {
        TextPiece::Words(words) => words.clone(),
        TextPiece::Reference(reference) => format!("<node-{}>.{}", reference.step, reference.key),
    };
    parts.iter().map(piece).collect()
}

/// A JSON value as Python writes it.
fn python(value: &Json) -> String {
    let mut text = String::new();
    push_python(&mut text, value);
    text
}

/// Writes a plan as the Python list of its nodes, with arguments in the order of the plan.
fn push_nodes(text: &mut String, plan: &Plan) {
    text.push('[');
    for (nth, step) in plan.steps.iter().enumerate() {
        // Writing into a string cannot fail.
        let _ = write!(text, "{}{{'id': {}, 'name': ", if nth == 0 { "" } else { ", " }, step.id);
        push_python_text(text, &step.tool);
        text.push_str(", 'args': {");
        for (nth, (name, value)) in step.arguments.iter().enumerate() {
            text.push_str(if nth == 0 { "" } else { ", " });
            push_python_text(text, name);
            text.push_str(": ");
            push_python(text, &written_value(value));
        }
        text.push_str("}}");
    }
    text.push(']');
}

fn push_python(text: &mut String, value: &Json) {
    match value {
        Json::Null => text.push_str("None"),
        Json::Bool(true) => text.push_str("True"),
        Json::Bool(false) => text.push_str("False"),
        Json::Number(number) => text.push_str(&number.to_string()),
        Json::String(string) => push_python_text(text, string),
        Json::Array(items) => {
            text.push('[');
            for (nth, item) in items.iter().enumerate() {
                text.push_str(if nth == 0 { "" } else { ", " });
                push_python(text, item);
            }
            text.push(']');
        }
        Json::Object(members) => {
            text.push('{');
            for (nth, (key, member)) in members.iter().enumerate() {
                text.push_str(if nth == 0 { "" } else { ", " });
                push_python_text(text, key);
                text.push_str(": ");
                push_python(text, member);
            }
            text.push('}');
        }
    }
}

/// Writes a text as Python's `repr` does: in single quotes, unless they would need more escapes than double quotes.
fn push_python_text(text: &mut String, string: &str) {
    let quote = if string.contains('\'') && !string.contains('"') { '"' } else { '\'' };
    text.push(quote);
    for c in string.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\\' => text.push_str("\\\\"),
            c if c == quote => text.extend(['\\', c]),
            c if c.is_control() && u32::from(c) < 0x100 => {
                // Writing into a string cannot fail.
                let _ = write!(text, "\\x{:02x}", u32::from(c));
            }
            '\u{2028}' | '\u{2029}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push(quote);
}

/// A plan as a program, in the form of the published data.
fn program(plan: &Plan) -> String {
    let mut text = String::from("def solve():\n");
    for step in &plan.steps {
        let arguments: Vec<String> = step
            .arguments
            .iter()
            .map(|(name, value)| format!("{name}={}", expression(name, value)))
            .collect();
        let tool = step.tool.replace(' ', "_");
        let _ = writeln!(text, "    output{} = {tool}({})", step.id, arguments.join(", "));
    }
    let results: Vec<String> = plan.steps.iter().map(|step| format!("{0}: output{0}", step.id)).collect();
    let _ = write!(text, "    result = {{{}}}\n    return result", results.join(", "));
    text
}

fn expression(name: &str, value: &ArgumentValue) -> String {
    let parts = match value {
        ArgumentValue::Text(parts) => parts,
        ArgumentValue::Json(value) => return python(value),
    };
    // Only the argument `text` gets an f-string for a single reference; any other gets the bare expression
    // (specification, section 3).
    if let (Some(reference), true) = (value.as_reference(), name != "text") {
        return format!("output{}['{}']", reference.step, reference.key);
    }
    let is_formatted = value.references().next().is_some();
    let piece = |part: &TextPiece| match part {
        TextPiece::Words(words) => {
            // Double quotes within a text become single ones, as published.
            let words =
                words.replace('\\', "\\\\").replace('"', "'").replace('\n', "\\n").replace('\r', "\\r");
            if is_formatted { words.replace('{', "{{").replace('}', "}}") } else { words }
        }
        TextPiece::Reference(reference) => format!("{{output{}['{}']}}", reference.step, reference.key),
    };
    let words: String = parts.iter().map(piece).collect();
    format!("{}\"{words}\"", if is_formatted { "f" } else { "" })
}

#[cfg(test)]
mod tests {
    use planproof_plan::Reference;

    use super::*;
    use crate::generate::planning::words;

    fn step(id: u64, tool: &str, name: &str, value: ArgumentValue) -> Step {
        Step { id, tool: tool.to_owned(), arguments: vec![(name.to_owned(), value)] }
    }

    fn reference(step: u64, key: &str) -> TextPiece {
        TextPiece::Reference(Reference { step, key: key.to_owned() })
    }

    #[test]
    fn a_draft_is_written_in_the_published_form() {
        let picture = TextPiece::Words("a picture of {".to_owned());
        let plan = Plan {
            steps: vec![
                step(0, "text summarization", "text", words("It's \"new\"\n\\ \u{7}")),
                step(1, "image generation", "text", ArgumentValue::Text(vec![picture, reference(0, "text")])),
                step(2, "image captioning", "image", ArgumentValue::Text(vec![reference(1, "image")])),
            ],
        };
        let draft =
            Draft { id: 7, query: "Do \"it\"".to_owned(), plan: plan.clone(), alternatives: vec![plan] };
        let line: Json = serde_json::from_str(&draft.to_line()).unwrap();
        let list = r#"[{'id': 0, 'name': 'text summarization', 'args': {'text': 'It\'s "new"\n\\ \x07'}}, {'id': 1, 'name': 'image generation', 'args': {'text': 'a picture of {<node-0>.text'}}, {'id': 2, 'name': 'image captioning', 'args': {'image': '<node-1>.image'}}]"#;
        assert_eq!(line["plan_str"], list);
        assert_eq!(line["alt_plans_str"], format!("[{list}]"));
        let code = r#"def solve():
    output0 = text_summarization(text="It's 'new'\n\\ BELL")
    output1 = image_generation(text=f"a picture of {{{output0['text']}")
    output2 = image_captioning(image=output1['image'])
    result = {0: output0, 1: output1, 2: output2}
    return result"#;
        assert_eq!(line["code_str"], code.replace("BELL", "\u{7}"));
        assert_eq!((line["id"].as_i64(), line["user_request"].as_str()), (Some(7), Some("Do \"it\"")));
        assert_eq!(line.as_object().map(Map::len), Some(5));
    }

    #[test]
    fn texts_are_quoted_as_python_does() {
        for (text, quoted) in [
            ("a", "'a'"),
            ("it's", "\"it's\""),
            ("it's \"so\"", r#"'it\'s "so"'"#),
            ("\"", "'\"'"),
            ("é\u{85}", "'é\\x85'"),
        ] {
            assert_eq!(python(&json!(text)), quoted);
        }
        assert_eq!(
            python(&json!([null, true, false, 1.5, {"b": 1, "a": {}}])),
            "[None, True, False, 1.5, {'a': {}, 'b': 1}]"
        );
    }
}
