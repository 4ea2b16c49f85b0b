//! Steps of a plan written as nodes. A malformed node costs only itself.

use std::collections::HashMap;

use planproof_measure::python::is_word;

use super::{NAMELESS, Part, Step, tool_name};
use crate::literal::Literal;
use crate::python::big::read_integer;

/// The steps, and whether anything was not a step.
pub(super) fn steps(plan: &Literal) -> (Vec<Step>, bool) {
    match plan {
        Literal::List(nodes) | Literal::Tuple(nodes) => of_nodes(nodes),
        // Either as in a model's answer, or as the answer is stored verbatim.
        Literal::Mapping(_) => match plan.get("nodes") {
            Some(Literal::List(nodes)) => of_nodes(nodes),
            _ if plan.get("name").is_some() => of_nodes(std::slice::from_ref(plan)),
            _ => (Vec::new(), true),
        },
        // A text within the text is not parsed again, so this recurses once at most.
        Literal::Text(text) => match Literal::from_json(text) {
            Ok(plan @ (Literal::List(_) | Literal::Mapping(_))) => steps(&plan),
            _ => (Vec::new(), true),
        },
        _ => (Vec::new(), true),
    }
}

fn of_nodes(nodes: &[Literal]) -> (Vec<Step>, bool) {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut has_malformed = false;
    let mut steps = Vec::with_capacity(nodes.len());
    for (place, node) in nodes.iter().enumerate() {
        let tool = node.get("name").and_then(Literal::as_text).map(tool_name).filter(|name| !name.is_empty());
        let arguments = node.get("args").and_then(Literal::entries);
        has_malformed |= tool.is_none() || arguments.is_none();
        let argument = |(name, value): &(Literal, Literal)| {
            (name.python_str().trim().to_owned(), parts(&text_of(value), &places))
        };
        let arguments = arguments.unwrap_or_default().iter().map(argument).collect();
        // A malformed node stays a step, so that it counts as a wrong one and the steps after it keep their distances.
        steps.push(Step { tool: tool.unwrap_or_else(|| NAMELESS.to_owned()), arguments });
        // A step can be referred to only by later steps: until then its id means an earlier step with that id.
        let id = node.get("id").and_then(|id| read_integer(&id.python_str()));
        places.insert(id.unwrap_or_else(|| place.to_string()), place);
    }
    (steps, has_malformed)
}

/// A value as a text. A whole number is written as an integer, however it was given.
fn text_of(value: &Literal) -> String {
    /// All smaller whole numbers are exact as floating-point numbers.
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    match value {
        Literal::Float(value) if value.fract() == 0.0 && value.abs() < WHOLE_MAX => format!("{value:.0}"),
        _ => value.python_str(),
    }
}

/// The parts of a text that may refer to the steps with these ids. A reference to anything but an earlier step is
/// plain text.
fn parts(text: &str, places: &HashMap<String, usize>) -> Vec<Part> {
    const REFERENCE: &str = "<node-";
    let (mut parts, mut words, mut rest) = (Vec::new(), String::new(), text);
    while let Some(at) = rest.find(REFERENCE) {
        let (before, found) = rest.split_at(at);
        words.push_str(before);
        let inside = &found[REFERENCE.len()..];
        let reference = inside.split_once('>').and_then(|(id, after)| {
            let key = after.strip_prefix('.')?;
            let key = &key[..key.find(|character| !is_word(character)).unwrap_or(key.len())];
            // Ids are normalised on both sides, so `07` refers to the step with the id 7 or `"7"`.
            let place = *places.get(&read_integer(id)?)?;
            (!key.is_empty()).then_some((place, key, id.len() + ">.".len() + key.len()))
        });
        match reference {
            Some((place, key, length)) => {
                if !words.is_empty() {
                    parts.push(Part::Words(std::mem::take(&mut words)));
                }
                parts.push(Part::Given(place, Some(key.to_owned())));
                rest = &inside[length..];
            }
            None => {
                // Only the mark is skipped, because a valid reference may begin right after it.
                words.push_str(REFERENCE);
                rest = inside;
            }
        }
    }
    words.push_str(rest);
    if !words.is_empty() {
        parts.push(Part::Words(words));
    }
    parts
}
