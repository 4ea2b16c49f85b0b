//! What a JSON Schema says of a place in arguments, as far as it tells values apart.

use serde_json::{Map, Value};

use super::spots::index_of;
use super::values::ValueClasses;
use crate::Pattern;
use crate::limits::RULE_TEXT_PATTERNS_MAX;

/// What a schema says of a place.
#[derive(Debug, Clone, Default)]
pub(super) struct SchemaPlace {
    constants: Vec<Value>,
    patterns: Vec<Pattern>,
    bounds: Vec<f64>,
    steps: Vec<f64>,
    types: Vec<String>,
    /// A keyword on the way that says something which is not looked into.
    pub(super) unknown: Option<String>,
    /// The same of the place itself.
    pub(super) own_unknown: Option<String>,
    /// It describes the place; otherwise it allows anything there, or nothing.
    is_described: bool,
    /// Its values have parts of which the schema says something.
    pub(super) has_parts: bool,
}

/// Keywords that say nothing of values, or that are looked into.
const KNOWN: [&str; 29] = [
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "additionalProperties",
    "const",
    "default",
    "definitions",
    "deprecated",
    "description",
    "enum",
    "examples",
    // Where it is asserted, texts are refused that the expressions allow.
    "format",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "multipleOf",
    "pattern",
    "prefixItems",
    "properties",
    "required",
    "title",
    "type",
];

/// Longest text that is made because a schema asks for so many characters.
const LENGTH_MAX: u64 = 200;

/// What a schema says of the place to which a pointer leads.
pub(super) fn place_in(schema: &Map<String, Value>, pointer: &str) -> SchemaPlace {
    let mut place = SchemaPlace::default();
    let mut at = schema;
    let parts = pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"));
    for part in parts {
        place.unknown = place.unknown.take().or_else(|| unknown_in(at));
        let next = at.get("properties").and_then(|properties| properties.get(&part));
        let index = index_of(&part);
        let first = index.and_then(|index| at.get("prefixItems").and_then(|items| items.get(index)));
        let next = next.or(first).or_else(|| index.and(at.get("items"))).or(at.get("additionalProperties"));
        match next.and_then(Value::as_object) {
            Some(below) => at = below,
            None => return place,
        }
    }
    place.is_described = true;
    place.own_unknown = unknown_in(at);
    place.add(at);
    place
}

fn unknown_in(schema: &Map<String, Value>) -> Option<String> {
    schema.keys().find(|key| !KNOWN.contains(&key.as_str())).cloned()
}

impl SchemaPlace {
    /// Adds what a schema and its alternatives say.
    fn add(&mut self, schema: &Map<String, Value>) {
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        let count = |key: &str| schema.get(key).and_then(Value::as_u64);
        self.constants.extend(schema.get("const").cloned());
        self.constants.extend(schema.get("enum").and_then(Value::as_array).into_iter().flatten().cloned());
        let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
        self.bounds.extend(bounds.into_iter().filter_map(number));
        self.steps.extend(number("multipleOf").filter(|step| *step > 0.0));
        match schema.get("type") {
            Some(Value::String(name)) => self.types.push(name.clone()),
            Some(Value::Array(names)) => {
                self.types.extend(names.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            _ => {}
        }
        let parts = ["properties", "required", "items", "minItems", "prefixItems"];
        self.has_parts |= parts.iter().any(|key| schema.contains_key(*key))
            || schema.get("additionalProperties").is_some_and(|it| *it != Value::Bool(true));
        let (least, most) = (count("minLength"), count("maxLength"));
        match (least.unwrap_or(0), most) {
            (0, None) => {}
            (least, most) if least <= LENGTH_MAX && most.is_none_or(|most| most <= LENGTH_MAX) => {
                let most = most.map_or_else(String::new, |most| most.to_string());
                self.add_pattern(&format!(".{{{least},{most}}}"));
            }
            // Texts that are made are shorter than a limit beyond, so that only the least length matters.
            (least, Some(_)) if least <= LENGTH_MAX => self.add_pattern(&format!(".{{{least},}}")),
            _ => self.own_unknown = self.own_unknown.take().or(Some("minLength".to_owned())),
        }
        // Found anywhere in a text, by the syntax of another engine, which has the last word.
        let source = schema.get("pattern").and_then(Value::as_str);
        if let Some(source) = source {
            let source = source.replace("\\d", "[0-9]").replace("\\w", "[A-Za-z0-9_]");
            self.add_pattern(&format!("(?:.*)(?:{source})(?:.*)"));
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            let all = schema.get(key).and_then(Value::as_array).into_iter().flatten();
            all.filter_map(Value::as_object).for_each(|part| self.add(part));
        }
    }

    fn add_pattern(&mut self, source: &str) {
        // Of more it is not found out which of them match a text together.
        let is_one_more = self.patterns.len() <= RULE_TEXT_PATTERNS_MAX;
        match is_one_more.then(|| Pattern::over_lines(source)) {
            Some(Ok(pattern)) => self.patterns.push(pattern),
            Some(Err(_)) | None => {
                self.own_unknown = self.own_unknown.take().or(Some("pattern".to_owned()));
            }
        }
    }

    /// Whether it allows a text, as far as that is known by its expressions.
    pub(super) fn allows_text(&self, value: &Value) -> Option<bool> {
        let text = value.as_str()?;
        let has_texts = self.types.is_empty() || self.types.iter().any(|name| name == "string");
        let is_of_text = self.own_unknown.is_none() && has_texts && self.constants.is_empty();
        (is_of_text && self.is_described).then(|| self.patterns.iter().all(|pattern| pattern.matches(text)))
    }

    /// Adds what another schema says of values that are compared with these.
    pub(super) fn compare(&mut self, other: &Self) {
        self.constants.extend(other.constants.iter().cloned());
        self.patterns.extend(other.patterns.iter().cloned());
        self.bounds.extend(&other.bounds);
        self.steps.extend(&other.steps);
    }

    /// Whether it may be a list, and whether it may be a map.
    pub(super) fn kinds(&self) -> (bool, bool) {
        let has = |kind: &str| self.types.is_empty() || self.types.iter().any(|name| name == kind);
        (has("array"), has("object"))
    }

    /// The classes of values that it tells apart.
    pub(super) fn classes(&self, copies: usize) -> ValueClasses<'static> {
        ValueClasses {
            preferred: self.constants.clone(),
            patterns: self.patterns.clone(),
            bounds: self.bounds.clone(),
            steps: self.steps.clone(),
            copies,
            ..ValueClasses::default()
        }
    }
}
