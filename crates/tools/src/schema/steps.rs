//! How many steps it takes to judge a value by a schema, counted before a validator takes them.
//!
//! A validator visits again what is referred to again: thirty definitions of which each names the next one twice make
//! a billion visits out of two kilobytes, with any value. A definition that names itself twice for each member of a
//! value makes as many out of a value thirty levels deep. So the first kind is refused with the schema, and the second
//! with the value.

use std::collections::HashMap;

use referencing::{Draft, Registry, Resolver, uri};
use serde_json::{Map, Value};
use thiserror::Error;

/// Most steps at one place of a value. A schema of [`COMPILED_BYTES_MAX`](super::COMPILED_BYTES_MAX) takes fewer unless
/// its references multiply.
pub(crate) const PLACE_STEPS_MAX: u64 = 250_000;

/// Most steps for a whole value: a second at the most.
pub(crate) const VALUE_STEPS_MAX: u64 = 20_000_000;

/// Most schemas within one another that are visited for a value, with its own nesting. A validator uses the stack.
pub(crate) const DEPTH_MAX: usize = 600;

/// Bytes of a text that take a step.
const TEXT_BYTES_PER_STEP: usize = 64;

/// Steps of a regular expression that has to try again and again, for each text.
const TRYING_STEPS: u64 = 10_000;

/// How often a validator may visit the parts of a schema that says something of unevaluated values, at one place.
const UNEVALUATED_TIMES: u64 = 4;

/// What is read of a schema to count steps.
#[derive(Debug)]
pub(crate) struct Steps {
    /// The first one is the whole schema.
    parts: Vec<Part>,
}

/// A schema within the schema.
#[derive(Debug, Default)]
struct Part {
    /// For itself, wherever it is applied.
    own: u64,
    /// For each text.
    of_text: u64,
    /// How often `here` is visited.
    times: u64,
    /// Applied to the same value.
    here: Vec<usize>,
    /// Compares the entries of a list with one another.
    is_unique: bool,
    inside: Option<Box<Inside>>,
}

/// The parts of a schema that apply to the entries of a value.
#[derive(Debug, Default)]
struct Inside {
    named: HashMap<String, usize>,
    /// Applied to every member, perhaps.
    members: Vec<usize>,
    /// Applied to members that are not named.
    others: Vec<usize>,
    first: Vec<usize>,
    /// Applied to items after the first ones.
    rest: Vec<usize>,
    /// Applied to every item.
    items: Vec<usize>,
}

/// Why no value, or not this one, is judged by a schema.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum TooMuch {
    /// The schema multiplies itself.
    #[error(
        "its parts refer to one another so often that one value takes more than {PLACE_STEPS_MAX} steps; let fewer \
         parts refer to others"
    )]
    AtOnePlace,
    /// It never gets to a part of the value.
    #[error("its parts refer to one another in a circle, without a step into the value")]
    Circle,
    /// Its parts are too deep within one another.
    #[error("more than {DEPTH_MAX} of its parts lead to one another at the same value")]
    Deep,
    /// A reference leads nowhere.
    #[error("its references cannot be followed: {0}")]
    Reference(String),
    #[error("it would take more than {VALUE_STEPS_MAX} steps to compare it with the schema")]
    Value,
    #[error("it would take more than {DEPTH_MAX} parts of the schema within one another to compare it")]
    DeepValue,
}

impl Steps {
    /// Reads a schema. Takes time in its size.
    ///
    /// # Errors
    /// It takes too many steps whatever the value, or refers to what is not in it.
    pub(crate) fn of(schema: &Value) -> Result<Self, TooMuch> {
        let steps = Self { parts: Reader::read(schema)? };
        steps.places()?;
        Ok(steps)
    }

    /// The steps that a value takes, at most [`VALUE_STEPS_MAX`]. Takes as many itself.
    ///
    /// # Errors
    /// The value takes more.
    pub(crate) fn count(&self, value: &Value) -> Result<u64, TooMuch> {
        self.count_within(value, VALUE_STEPS_MAX)
    }

    fn count_within(&self, value: &Value, most: u64) -> Result<u64, TooMuch> {
        let mut left = most;
        self.visit(0, value, &mut left, 0)?;
        Ok(most - left)
    }

    fn visit(&self, at: usize, value: &Value, left: &mut u64, depth: usize) -> Result<(), TooMuch> {
        let part = &self.parts[at];
        if depth >= DEPTH_MAX {
            return Err(TooMuch::DeepValue);
        }
        take(left, part.own)?;
        for _ in 0..part.times {
            part.here.iter().try_for_each(|to| self.visit(*to, value, left, depth + 1))?;
        }
        let inside = part.inside.as_deref();
        match value {
            Value::String(text) => take(left, part.of_text + (text.len() / TEXT_BYTES_PER_STEP) as u64),
            Value::Array(items) => {
                if part.is_unique {
                    weigh(value, left)?;
                }
                let Some(inside) = inside else { return Ok(()) };
                for (place, item) in items.iter().enumerate() {
                    let first = inside.first.get(place..=place);
                    let applied = first.unwrap_or(&inside.rest).iter().chain(&inside.items);
                    applied.into_iter().try_for_each(|to| self.visit(*to, item, left, depth + 1))?;
                }
                Ok(())
            }
            Value::Object(members) => {
                let Some(inside) = inside else { return Ok(()) };
                for (name, member) in members {
                    let named = inside.named.get(name).map(std::slice::from_ref);
                    let applied = named.unwrap_or(&inside.others).iter().chain(&inside.members);
                    applied.into_iter().try_for_each(|to| self.visit(*to, member, left, depth + 1))?;
                }
                Ok(())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    /// How many steps each part takes with one value, without what is within it, and how many parts lead to one another
    /// in that. Each is summed up once.
    fn places(&self) -> Result<Vec<(u64, usize)>, TooMuch> {
        let mut known: Vec<Option<(u64, usize)>> = vec![None; self.parts.len()];
        let mut is_open = vec![false; self.parts.len()];
        for whole in 0..self.parts.len() {
            // Not recursive: references make longer chains than the stack has room for.
            let mut open = vec![(whole, 0)];
            while let Some((at, next)) = open.last_mut() {
                let (at, part) = (*at, &self.parts[*at]);
                if known[at].is_some() {
                    open.pop();
                    continue;
                }
                is_open[at] = true;
                if let Some(to) = part.here.get(*next) {
                    *next += 1;
                    if is_open[*to] {
                        return Err(TooMuch::Circle);
                    }
                    open.push((*to, 0));
                    continue;
                }
                let below = || part.here.iter().filter_map(|to| known[*to]);
                let steps = below().fold(0, |sum: u64, (steps, _)| sum.saturating_add(steps));
                let steps = part.own.saturating_add(steps.saturating_mul(part.times));
                let depth = 1 + below().map(|(_, depth)| depth).max().unwrap_or(0);
                if steps > PLACE_STEPS_MAX {
                    return Err(TooMuch::AtOnePlace);
                }
                if depth > DEPTH_MAX {
                    return Err(TooMuch::Deep);
                }
                known[at] = Some((steps, depth));
                is_open[at] = false;
                open.pop();
            }
        }
        Ok(known.into_iter().flatten().collect())
    }
}

fn take(left: &mut u64, steps: u64) -> Result<(), TooMuch> {
    *left = left.checked_sub(steps).ok_or(TooMuch::Value)?;
    Ok(())
}

/// Takes a step for each value within a value.
fn weigh(value: &Value, left: &mut u64) -> Result<(), TooMuch> {
    take(left, 1)?;
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| weigh(item, left)),
        Value::Object(members) => members.values().try_for_each(|member| weigh(member, left)),
        Value::String(text) => take(left, (text.len() / TEXT_BYTES_PER_STEP) as u64),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// Reads the parts of a schema, each once.
struct Reader<'s> {
    parts: Vec<Part>,
    known: HashMap<*const Value, usize>,
    /// Parts that are not read yet, each with what its references start from.
    open: Vec<(usize, &'s Value, Base<'s>)>,
    /// Parts that refer to a name which stands for several parts, by the schemas on the way to it.
    dynamic: Vec<(usize, &'s str)>,
    /// The parts that have such names.
    anchors: HashMap<&'s str, Vec<usize>>,
}

/// What the references of a part start from.
#[derive(Clone)]
struct Base<'s> {
    draft: Draft,
    resolver: Resolver<'s>,
}

/// The address of a schema that has none.
const NOWHERE: &str = "json-schema:///";

/// The name of schemas that are extended where they refer to themselves, in the draft of 2019.
const RECURSIVE: &str = "#";

impl Reader<'_> {
    fn read(schema: &Value) -> Result<Vec<Part>, TooMuch> {
        let draft = Draft::default().detect(schema);
        let builder = Registry::new().draft(draft);
        let builder = builder.add(NOWHERE, draft.create_resource_ref(schema))?;
        let registry = builder.prepare()?;
        let resolver = registry.resolver(uri::from_str(NOWHERE)?);
        let mut reader = Reader {
            parts: Vec::new(),
            known: HashMap::new(),
            open: Vec::new(),
            dynamic: Vec::new(),
            anchors: HashMap::new(),
        };
        let base = Base { draft, resolver };
        reader.part(schema, &base)?;
        let mut is_searched = false;
        loop {
            while let Some((at, schema, base)) = reader.open.pop() {
                if let Value::Object(map) = schema {
                    reader.parts[at] = reader.read_part(at, map, &base)?;
                }
            }
            // Only then do parts matter that nothing refers to by their places.
            if is_searched || reader.dynamic.is_empty() {
                break;
            }
            is_searched = true;
            reader.find_anchors(schema, &base)?;
        }
        for (at, name) in std::mem::take(&mut reader.dynamic) {
            let meant = reader.anchors.get(name).into_iter().flatten().copied();
            reader.parts[at].here.extend(meant);
        }
        Ok(reader.parts)
    }
}

impl<'s> Reader<'s> {
    /// The number of a part that is within one with this base.
    fn part(&mut self, schema: &'s Value, base: &Base<'s>) -> Result<usize, TooMuch> {
        let draft = base.draft.detect(schema);
        let resolver = base.resolver.in_subresource(draft.create_resource_ref(schema))?;
        Ok(self.number(schema, Base { draft, resolver }))
    }

    fn number(&mut self, schema: &'s Value, base: Base<'s>) -> usize {
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return *known;
        }
        let number = self.parts.len();
        self.parts.push(Part { own: 1, times: 1, ..Part::default() });
        self.known.insert(std::ptr::from_ref(schema), number);
        for key in ["$dynamicAnchor", "$recursiveAnchor"] {
            let name = match schema.get(key) {
                Some(Value::String(name)) => name.as_str(),
                Some(Value::Bool(true)) => RECURSIVE,
                _ => continue,
            };
            self.anchors.entry(name).or_default().push(number);
        }
        self.open.push((number, schema, base));
        number
    }

    /// Reads one part, whatever the draft: keywords that it does not know only add to what is counted.
    fn read_part(
        &mut self,
        at: usize,
        schema: &'s Map<String, Value>,
        base: &Base<'s>,
    ) -> Result<Part, TooMuch> {
        let mut part = Part { own: 1, times: 1, ..Part::default() };
        let mut inside = Inside::default();
        for (key, value) in schema {
            let values = || -> Vec<&'s Value> {
                match value {
                    Value::Object(map) => map.values().collect(),
                    Value::Array(list) => list.iter().collect(),
                    _ => Vec::new(),
                }
            };
            match key.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    let Some(reference) = value.as_str() else { continue };
                    // It means the schema that it stands in, and is not followed.
                    if reference.is_empty() {
                        continue;
                    }
                    let found = base.resolver.lookup(reference)?;
                    let (found, resolver, draft) = found.into_inner();
                    let to = self.number(found, Base { draft, resolver });
                    part.here.push(to);
                    if key != "$ref" {
                        let name = reference.rsplit_once('#').map_or("", |(_, name)| name);
                        let name = if name.is_empty() { RECURSIVE } else { name };
                        self.dynamic.push((at, name));
                    }
                }
                "allOf" | "anyOf" | "oneOf" | "dependentSchemas" | "dependencies" => {
                    let schemas = values().into_iter().filter(|it| it.is_object() || it.is_boolean());
                    self.add(schemas, base, &mut part.here)?;
                }
                "not" | "if" | "then" | "else" => self.add([value], base, &mut part.here)?,
                "properties" => {
                    let Value::Object(properties) = value else { continue };
                    for (name, schema) in properties {
                        let to = self.part(schema, base)?;
                        inside.named.insert(name.clone(), to);
                    }
                }
                "patternProperties" => self.add(values(), base, &mut inside.members)?,
                "propertyNames" => self.add([value], base, &mut inside.members)?,
                "additionalProperties" => self.add([value], base, &mut inside.others)?,
                "unevaluatedProperties" => {
                    part.times = UNEVALUATED_TIMES;
                    self.add([value], base, &mut inside.members)?;
                }
                "prefixItems" => self.add(values(), base, &mut inside.first)?,
                "items" if value.is_array() => self.add(values(), base, &mut inside.first)?,
                "items" | "additionalItems" => self.add([value], base, &mut inside.rest)?,
                "contains" => self.add([value], base, &mut inside.items)?,
                "unevaluatedItems" => {
                    part.times = UNEVALUATED_TIMES;
                    self.add([value], base, &mut inside.items)?;
                }
                "uniqueItems" => part.is_unique = *value == Value::Bool(true),
                "pattern" => {
                    part.of_text +=
                        if super::parts(value.as_str().unwrap_or_default()) > 1 { TRYING_STEPS } else { 1 }
                }
                _ => {}
            }
            part.own = part.own.saturating_add(match key.as_str() {
                "enum" | "const" => weight(value),
                "$defs" | "definitions" | "default" | "examples" => 0,
                _ => values().len() as u64,
            });
        }
        let is_empty = inside.named.is_empty()
            && [&inside.members, &inside.others, &inside.first, &inside.rest, &inside.items]
                .iter()
                .all(|list| list.is_empty());
        part.inside = (!is_empty).then(|| Box::new(inside));
        Ok(part)
    }

    fn add(
        &mut self,
        schemas: impl IntoIterator<Item = &'s Value>,
        base: &Base<'s>,
        list: &mut Vec<usize>,
    ) -> Result<(), TooMuch> {
        for schema in schemas {
            list.push(self.part(schema, base)?);
        }
        Ok(())
    }

    /// Reads the parts that have names, wherever they are.
    fn find_anchors(&mut self, schema: &'s Value, base: &Base<'s>) -> Result<(), TooMuch> {
        let draft = base.draft.detect(schema);
        let resolver = base.resolver.in_subresource(draft.create_resource_ref(schema))?;
        let base = Base { draft, resolver };
        if ["$dynamicAnchor", "$recursiveAnchor"].iter().any(|key| schema.get(key).is_some()) {
            self.number(schema, base.clone());
        }
        let below: Vec<&'s Value> = draft.subresources_of(schema).collect();
        below.into_iter().try_for_each(|schema| self.find_anchors(schema, &base))
    }
}

/// The values within a value, and itself.
fn weight(value: &Value) -> u64 {
    let mut left = u64::MAX;
    // A schema has fewer values than that.
    let _ = weigh(value, &mut left);
    u64::MAX - left
}

impl From<referencing::Error> for TooMuch {
    fn from(error: referencing::Error) -> Self {
        Self::Reference(error.to_string())
    }
}

#[cfg(test)]
mod tests;
