//! The JSON form of problems, as a language model writes it.
//!
//! ```json
//! {"slots": {"flight": [{"price": 320, "to": "Rome"}], "meal": {"candidates": [], "optional": true}},
//!  "constraints": [{"id": "budget", "text": "no more than 800 dollars in all", "kind": "sum",
//!                   "terms": ["flight.price", {"field": "hotel.price", "factor": 3}], "op": "<=", "bound": 800}],
//!  "objective": {"minimise": ["flight.price"]}}
//! ```
//!
//! An unknown key is a fault, because its meaning would be lost.

mod constraint;
mod node;

use serde_json::Value as Json;

use super::fault::{ChoiceFaultKind, ChoiceSite, Faults};
use super::form::{Constraint, Objective, Slot};
use super::limits::{CANDIDATES_MAX, CONSTRAINTS_MAX, JSON_BYTES_MAX, RECORD_FIELDS_MAX, SLOTS_MAX};
use super::problem::{ChoiceProblem, Selection};
use super::strict::read_strict;
use super::value::Record;
use node::{Limit, Node, Reader};

const SLOTS: Limit = ("slots", SLOTS_MAX);

/// A parsed problem, with its objective.
#[derive(Debug, Clone)]
pub struct ChoiceTask {
    /// The problem.
    pub problem: ChoiceProblem,
    /// The objective; [`Objective::First`] if the text does not state one.
    pub objective: Objective,
}

/// Reads a problem from the text of a language model: the whole text, the first fenced block in it, or the text
/// between its first `{` and its last `}` is a JSON object with `slots`, `constraints` and perhaps `objective`. The
/// slots are sorted by name.
///
/// A JSON number counts as the shortest decimal that a float of 64 bits stands for, which is the written number
/// within the limits of [`Number`](super::Number).
///
/// # Errors
/// [`Faults`], each with the path in the JSON: all faults of the form, or else all faults that [`Problem::new`]
/// finds.
pub fn read_task(text: &str) -> Result<ChoiceTask, Faults> {
    let no_json = |message: String| Faults::one(ChoiceSite::default(), ChoiceFaultKind::NoJson { message });
    if text.len() > JSON_BYTES_MAX {
        let problem = ChoiceFaultKind::TooMany { what: "bytes", count: text.len(), limit: JSON_BYTES_MAX };
        return Err(Faults::one(ChoiceSite::default(), problem));
    }
    let json = read_strict(json_in(text)).map_err(|error| no_json(error.to_string()))?;
    read_task_json(&json)
}

/// The same from parsed JSON.
///
/// # Errors
/// Those of [`read_task`].
pub fn read_task_json(json: &Json) -> Result<ChoiceTask, Faults> {
    let mut reader = Reader::default();
    let root = Node::root(json);
    reader.look_at_keys(&root, &["slots", "constraints", "objective"]);
    let slots = root.required(&mut reader, "slots", "an object with the candidates of each slot");
    let slots = slots.map(|node| reader.slots(&node)).unwrap_or_default();
    let constraints = root.optional("constraints").map(|node| reader.constraints(&node)).unwrap_or_default();
    let objective = match root.optional("objective") {
        Some(node) => reader.objective(&node).unwrap_or(Objective::First),
        None => Objective::First,
    };
    // A problem made of what could be read would show faults that only follow from those of the form.
    Faults::none_of(reader.faults)?;
    Ok(ChoiceTask { problem: ChoiceProblem::new(slots, constraints)?, objective })
}

/// Reads one constraint, in the format of the list `constraints` of [`read_task`].
///
/// # Errors
/// [`Faults`] of its form; only a [`Problem`] can check whether its fields exist.
pub fn read_constraint(json: &Json) -> Result<Constraint, Faults> {
    let mut reader = Reader::default();
    let constraint = reader.constraint(&Node::root(json));
    match constraint {
        Some(constraint) if reader.faults.is_empty() => Ok(constraint),
        _ => Err(Faults { faults: reader.faults }),
    }
}

/// Reads one candidate: a flat object of texts, numbers, truth values and lists of texts. `null` is a missing field.
///
/// # Errors
/// [`Faults`] of its form.
pub fn read_record(json: &Json) -> Result<Record, Faults> {
    let mut reader = Reader::default();
    let record = reader.record(&Node::root(json));
    Faults::none_of(reader.faults)?;
    Ok(record)
}

impl ChoiceProblem {
    /// Reads a selection: an object with the index of a candidate, from 0, or `null` for each slot. A missing slot
    /// stays empty.
    ///
    /// # Errors
    /// [`Faults`] of its form, and those of [`Problem::selection`].
    pub fn read_selection(&self, json: &Json) -> Result<Selection, Faults> {
        let mut reader = Reader::default();
        let root = Node::root(json);
        let mut chosen = Vec::new();
        for (name, node) in
            root.entries(&mut reader, "an object with the index of a candidate for each slot", SLOTS)
        {
            let index = match node.json {
                Json::Null => None,
                json => match json.as_u64().and_then(|index| usize::try_from(index).ok()) {
                    Some(index) => Some(index),
                    None => {
                        reader.other_kind(&node, "the index of a candidate, from 0, or null");
                        continue;
                    }
                },
            };
            chosen.push((name, index));
        }
        Faults::none_of(reader.faults)?;
        self.selection(chosen)
    }
}

/// What of a text is JSON.
fn json_in(text: &str) -> &str {
    let text = text.trim();
    // The whole text comes first, because a value of valid JSON may itself contain a fence.
    if text.starts_with('{') {
        return text;
    }
    if let Some((_, block)) = text.split_once("```") {
        // The first line of a block may name its language.
        let block = block.split_once('\n').map_or(block, |(_, block)| block);
        let block = block.split_once("\n```").map_or(block, |(block, _)| block).trim();
        if block.starts_with('{') {
            return block;
        }
    }
    // There may be words before and after the object.
    match (text.find('{'), text.rfind('}')) {
        (Some(start), Some(end)) if start < end => &text[start..=end],
        _ => text,
    }
}

impl Reader {
    fn slots(&mut self, node: &Node) -> Vec<Slot> {
        let entries = node.entries(self, "an object with the candidates of each slot", SLOTS);
        entries.iter().map(|(name, node)| self.slot(name, node)).collect()
    }

    fn slot(&mut self, name: &str, node: &Node) -> Slot {
        let (list, is_optional) = match node.json {
            Json::Object(_) => {
                self.look_at_keys(node, &["candidates", "optional"]);
                let is_optional = node.optional("optional").map(|node| self.flag(&node));
                let list = node.required(self, "candidates", "a list of candidates");
                (list, is_optional.unwrap_or_default())
            }
            _ => (Some(node.clone()), false),
        };
        let expected = "a list of candidates, or an object with `candidates` and `optional`";
        let limit = ("candidates", CANDIDATES_MAX);
        let items = list.map(|list| list.items(self, expected, limit)).unwrap_or_default();
        let candidates = items.iter().map(|item| self.record(item)).collect();
        Slot { name: name.to_owned(), candidates, is_optional }
    }

    fn record(&mut self, node: &Node) -> Record {
        let entries =
            node.entries(self, "an object with the fields of a candidate", ("fields", RECORD_FIELDS_MAX));
        let mut fields = Vec::new();
        for (name, node) in entries {
            if *node.json != Json::Null
                && let Some(value) = self.value(&node)
            {
                fields.push((name.to_owned(), value));
            }
        }
        fields.into_iter().collect()
    }

    fn constraints(&mut self, node: &Node) -> Vec<Constraint> {
        let items = node.items(self, "a list of constraints", ("constraints", CONSTRAINTS_MAX));
        items.iter().filter_map(|item| self.constraint(item)).collect()
    }

    fn objective(&mut self, node: &Node) -> Option<Objective> {
        self.look_at_keys(node, &["minimise", "maximise"]);
        match (node.optional("minimise"), node.optional("maximise")) {
            (Some(terms), None) => self.terms(&terms).map(Objective::Minimise),
            (None, Some(terms)) => self.terms(&terms).map(Objective::Maximise),
            _ => {
                self.report(node, ChoiceFaultKind::OneOf { keys: &["minimise", "maximise"] });
                None
            }
        }
    }
}
