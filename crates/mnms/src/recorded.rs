//! Calls that were made, as a plan: which results went into which arguments.
//!
//! A trace has values, not references, so references are found by value. Two readings complete each other. *Beside a
//! right plan* with the same tools, an argument is the reference of that plan if it has the value that the reference
//! stands for, so results that happen to be alike (a number, a short answer) cannot mislead. *By itself*, a result of
//! an earlier call, or a long enough part of one, is a reference wherever it occurs, the latest call first.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::evaluation::ours::{Part, Step, tool_name};
use crate::literal::Literal;

/// Longest output of a call, in bytes, that is searched for in later arguments.
const OUTPUT_SEARCHED_BYTES_MAX: usize = 64 * 1024;

/// Maximum number of calls whose outputs are searched for in the arguments of a later call.
const CALLS_SEARCHED_MAX: usize = 100;

/// How many characters of an output show that a value was made from it. A shorter part occurs in any text.
const PART_CHARACTERS: usize = 16;

/// How much of a value, and of what a call was given, is searched for parts of outputs, in characters.
const SEARCHED_CHARACTERS_MAX: usize = 4 * 1024;

/// How much of an output is searched for, in characters.
const OUTPUT_CHARACTERS_MAX: usize = 2 * 1024;

/// A call that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    /// The name under which the tool was called.
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// Its outputs; empty if it failed or was too long to be searched for.
    pub outputs: Map<String, Value>,
}

/// The calls of a run or of a program, in the order in which they were made.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecordedPlan {
    pub calls: Vec<RecordedCall>,
    /// The program that made them, if they are those of one.
    pub program: Option<String>,
}

/// An output of an earlier call.
struct Given<'r> {
    id: usize,
    key: &'r str,
    value: &'r Value,
    /// The parts of a text.
    all: Vec<Excerpt>,
    /// Those that the call was not given: an output that repeats these shows nothing of where they came from.
    own: Vec<Excerpt>,
}

impl<'r> Given<'r> {
    fn new(id: usize, key: &'r str, value: &'r Value, arguments: &HashSet<Excerpt>) -> Self {
        let all =
            value.as_str().map(|text| parts_of(&folded(text), OUTPUT_CHARACTERS_MAX)).unwrap_or_default();
        let own = all.iter().filter(|part| !arguments.contains(*part)).copied().collect();
        Self { id, key, value, all, own }
    }
}

impl RecordedPlan {
    /// A call with the text that it returned, as a trace has them.
    pub(crate) fn call(tool: &str, arguments: Map<String, Value>, result: Option<&str>) -> RecordedCall {
        let output = result.filter(|text| text.len() <= OUTPUT_SEARCHED_BYTES_MAX);
        let outputs = match output.and_then(|text| serde_json::from_str(text).ok()) {
            Some(Value::Object(outputs)) => outputs,
            _ => Map::new(),
        };
        RecordedCall { tool: tool.to_owned(), arguments, outputs }
    }

    /// The calls as nodes. `right` are the steps of a right plan, if the calls are compared with one.
    pub(crate) fn nodes(&self, right: Option<&[Step]>) -> Value {
        let is_alike = |right: &&[Step]| {
            let tools = self.calls.iter().map(|call| tool_name(&call.tool));
            tools.eq(right.iter().map(|step| step.tool.clone()))
        };
        let right = right.filter(is_alike);
        let of_program = self.program.as_deref().map(|text| parts_of(&folded(text), usize::MAX));
        let of_program: HashSet<Excerpt> = of_program.unwrap_or_default().into_iter().collect();
        let mut given: Vec<Given<'_>> = Vec::new();
        let mut nodes = Vec::with_capacity(self.calls.len());
        for (id, call) in self.calls.iter().enumerate() {
            let argument = |(name, value): (&String, &Value)| {
                let of_right = right.and_then(|steps| self.as_in(&steps[id], name, value));
                let value = of_right.unwrap_or_else(|| referring(value, &given, &of_program));
                (name.clone(), value)
            };
            let arguments: Map<String, Value> = call.arguments.iter().map(argument).collect();
            nodes.push(json!({"id": id, "name": call.tool.replace('_', " "), "args": arguments}));
            if id < CALLS_SEARCHED_MAX {
                let arguments = call.arguments.values().map(as_text);
                let arguments: HashSet<Excerpt> =
                    arguments.flat_map(|text| parts_of(&folded(&text), SEARCHED_CHARACTERS_MAX)).collect();
                let outputs = call.outputs.iter();
                given.extend(outputs.map(|(key, value)| Given::new(id, key, value, &arguments)));
            }
        }
        Value::Array(nodes)
    }

    /// The value of a right step's argument, in the form of a node, if the recorded value is what it stands for.
    fn as_in(&self, right: &Step, name: &str, value: &Value) -> Option<Value> {
        let (_, parts) = right.arguments.iter().find(|(of_right, _)| of_right == name)?;
        let stands_for = |text_of: fn(&Value) -> String| -> Option<String> {
            let mut text = String::new();
            for part in parts {
                match part {
                    Part::Words(words) => text.push_str(words),
                    Part::Given(giver, key) => {
                        text.push_str(&text_of(self.calls.get(*giver)?.outputs.get(key.as_deref()?)?));
                    }
                }
            }
            Some(folded(&text))
        };
        let recorded = folded(&as_text(value));
        let is_same =
            [as_text, as_python].into_iter().any(|of| stands_for(of).is_some_and(|it| it == recorded));
        if !is_same {
            return None;
        }
        let part = |part: &Part| match part {
            Part::Words(words) => words.clone(),
            Part::Given(giver, key) => reference(*giver, key.as_deref().unwrap_or_default()),
        };
        Some(parts.iter().map(part).collect::<String>().into())
    }
}

fn reference(id: usize, key: &str) -> String {
    format!("<node-{id}>.{key}")
}

/// A value as a text; anything but a text as JSON.
fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A value as Python writes it into a text.
fn as_python(value: &Value) -> String {
    Literal::from_json(&value.to_string()).map_or_else(|_| value.to_string(), |value| value.python_str())
}

/// Without letter case and with single blanks, as values are compared.
fn folded(text: &str) -> String {
    text.to_lowercase().replace('"', "'").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Replaces outputs of earlier calls in a value with references, preferring the latest.
fn referring(value: &Value, given: &[Given<'_>], of_program: &HashSet<Excerpt>) -> Value {
    if let Some(it) = given.iter().rev().find(|it| is_same(it.value, value)) {
        return reference(it.id, it.key).into();
    }
    // Only a text can contain an output among other words.
    let Value::String(text) = value else {
        let part = part_of(value, given);
        return part.unwrap_or_else(|| value.clone());
    };
    // Each with whether it is a reference. Nothing is searched for in those: an output such as `1` would tear apart
    // `<node-1>.text`, and a few outputs such as `n` and `o` would double the text again and again.
    let mut pieces = vec![(text.clone(), false)];
    for Given { id, key, value, .. } in given.iter().rev() {
        let Value::String(output) = value else { continue };
        let is_in = |(words, is_reference): &(String, bool)| !is_reference && words.contains(output.as_str());
        if output.trim().is_empty() || !pieces.iter().any(is_in) {
            continue;
        }
        let mut split = Vec::new();
        for (words, is_reference) in pieces {
            if is_reference {
                split.push((words, true));
                continue;
            }
            for (place, words) in words.split(output.as_str()).enumerate() {
                if place > 0 {
                    split.push((reference(*id, key), true));
                }
                split.push((words.to_owned(), false));
            }
        }
        pieces = split;
    }
    let rest: String =
        pieces.iter().filter(|(_, is_reference)| !is_reference).map(|(words, _)| &**words).collect();
    let mut text: String = pieces.into_iter().map(|(piece, _)| piece).collect();
    for made_from in made_from(&rest, given, of_program) {
        // Where in the text it was does not matter: a changed text is no longer the output itself.
        text.push(' ');
        text.push_str(&reference(made_from.id, made_from.key));
    }
    text.into()
}

/// A list that consists of items of an output, or an item of an output that is a list: something that was picked from
/// it, and not the output itself.
fn part_of(value: &Value, given: &[Given<'_>]) -> Option<Value> {
    let is_whole = |value: &Value| value.is_object() || value.is_array();
    let items = |value: &Value| match value {
        Value::Array(items) => items.clone(),
        other => vec![other.clone()],
    };
    let wanted = items(value);
    let is_from = |it: &&Given<'_>| match it.value {
        Value::Array(of) => wanted.iter().all(|item| of.contains(item)),
        Value::Object(of) => wanted.iter().all(|item| of.values().any(|value| value == item)),
        _ => false,
    };
    if !is_whole(value) || wanted.is_empty() {
        return None;
    }
    if let Some(it) = given.iter().rev().find(is_from) {
        return Some(json!([reference(it.id, it.key)]));
    }
    // All outputs of a call as they were returned, or an output inside a list or an object.
    let inside = match value {
        Value::Object(of) => of.values().collect::<Vec<_>>(),
        Value::Array(of) => of.iter().collect(),
        _ => Vec::new(),
    };
    let found = given.iter().rev().find(|it| inside.iter().any(|value| is_same(it.value, value)))?;
    Some(json!([reference(found.id, found.key)]))
}

/// A run of characters that is long enough to show where a text comes from.
type Excerpt = [char; PART_CHARACTERS];

/// All runs of that length at the beginning of a text.
fn parts_of(text: &str, characters_max: usize) -> Vec<Excerpt> {
    let characters: Vec<char> = text.chars().take(characters_max).collect();
    characters.windows(PART_CHARACTERS).filter_map(|part| part.try_into().ok()).collect()
}

/// The outputs that the rest of a text was made from: it has a part of them in common, which comes neither from the
/// program nor from what the call itself was given.
fn made_from<'g, 'r>(
    rest: &str,
    given: &'g [Given<'r>],
    of_program: &HashSet<Excerpt>,
) -> Vec<&'g Given<'r>> {
    let parts = parts_of(&folded(rest), SEARCHED_CHARACTERS_MAX);
    let mut parts: HashSet<Excerpt> = parts.into_iter().filter(|part| !of_program.contains(part)).collect();
    let mut found: Vec<&Given<'_>> = Vec::new();
    for it in given.iter().rev() {
        if parts.is_empty() {
            break;
        }
        if it.own.iter().any(|part| parts.contains(part)) {
            found.push(it);
            // What this output repeats of earlier ones came with it.
            for part in &it.all {
                parts.remove(part);
            }
        }
    }
    found.reverse();
    found
}

/// Whether a value is an output or its text. Empty outputs are never referenced.
fn is_same(output: &Value, value: &Value) -> bool {
    let is_empty = match output {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Null | Value::Bool(_) => true,
        Value::Number(_) => false,
    };
    // A model may also pass on a number or a list as the text that it has read.
    !is_empty
        && (output == value
            || value.as_str().is_some_and(|text| !output.is_string() && *text == *output.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given<'r>(id: usize, key: &'r str, value: &'r Value) -> Given<'r> {
        Given::new(id, key, value, &HashSet::new())
    }

    #[test]
    fn no_output_is_searched_for_in_a_reference() {
        let (number, text) = (json!("1"), json!("a cat"));
        let outputs = [given(0, "number", &number), given(1, "text", &text)];
        let found = referring(&json!("draw a cat, 1 time"), &outputs, &HashSet::new());
        assert_eq!(found, json!("draw <node-1>.text, <node-0>.number time"));
        assert_eq!(referring(&json!("1"), &outputs, &HashSet::new()), json!("<node-0>.number"));
        // Each of these is a letter of every reference.
        let letters = ["n", "o", "d", "e"].map(|letter| json!(letter));
        let outputs: Vec<_> = (0..100_usize).map(|id| given(id, "key", &letters[id % 4])).collect();
        assert_eq!(referring(&json!("n o"), &outputs, &HashSet::new()), json!("<node-96>.key <node-97>.key"));
    }

    /// What a value shows of its origin: the value, and what is read. The outputs are of call 0 (a text and a list)
    /// and call 1, which repeats what it was given.
    #[test]
    fn what_was_made_from_an_output_refers_to_it() {
        let (text, list) =
            (json!("0123456789abcdef: a long story of the sea"), json!([{"label": "a"}, {"label": "b"}]));
        let echo = json!("fedcba9876543210: what is made of a picture of a harbour");
        let arguments = parts_of("a picture of a harbour", usize::MAX).into_iter().collect();
        let outputs =
            [given(0, "text", &text), given(0, "objects", &list), Given::new(1, "text", &echo, &arguments)];
        for (value, read) in [
            (json!("0123456789ABCDEF: A LONG STORY"), json!("0123456789ABCDEF: A LONG STORY <node-0>.text")),
            (json!("0123456789abcdef"), json!("0123456789abcdef <node-0>.text")),
            (json!("a long st"), json!("a long st")),
            (json!("a picture of a harbour"), json!("a picture of a harbour")),
            (json!([{"label": "b"}]), json!(["<node-0>.objects"])),
            (json!({"label": "b"}), json!(["<node-0>.objects"])),
            (json!([{"label": "c"}]), json!([{"label": "c"}])),
            (json!({"text": text}), json!(["<node-0>.text"])),
            (json!(5), json!(5)),
        ] {
            assert_eq!(referring(&value, &outputs, &HashSet::new()), read, "{value}");
        }
        // What stands in the program was not made from a result.
        let program = parts_of("f('0123456789abcdef')", usize::MAX).into_iter().collect();
        assert_eq!(referring(&json!("0123456789abcdef"), &outputs, &program), json!("0123456789abcdef"));
    }

    #[test]
    fn a_right_plan_tells_apart_results_that_are_alike() {
        let call = |tool: &str, arguments: Value, outputs: Value| RecordedCall {
            tool: tool.to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            outputs: outputs.as_object().cloned().unwrap_or_default(),
        };
        let plan = RecordedPlan {
            calls: vec![
                call("image_classification", json!({"image": "a.jpg"}), json!({"text": "dog"})),
                call("select_object", json!({"objects": [], "object_name": "dog"}), json!({"object": {}})),
            ],
            program: None,
        };
        let words = |words: &str| vec![Part::Words(words.to_owned())];
        let step = |tool: &str, arguments: Vec<(&str, Vec<Part>)>| Step {
            tool: tool.to_owned(),
            arguments: arguments.into_iter().map(|(name, parts)| (name.to_owned(), parts)).collect(),
        };
        let right = |name: Vec<Part>| {
            let select = step("select_object", vec![("objects", words("[]")), ("object_name", name)]);
            vec![step("image_classification", vec![("image", words("a.jpg"))]), select]
        };
        let read = |right: Option<&[Step]>| plan.nodes(right)[1]["args"]["object_name"].clone();
        assert_eq!(read(Some(&right(words("Dog")))), json!("Dog"));
        let referred = vec![Part::Given(0, Some("text".to_owned()))];
        assert_eq!(read(Some(&right(referred))), json!("<node-0>.text"));
        assert_eq!(read(None), json!("<node-0>.text"));
    }
}
