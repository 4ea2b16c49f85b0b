//! Arguments that fit a schema: the smallest that are easily found.

use std::cell::Cell;

use serde_json::{Map, Number, Value};

/// Most schemas within one another.
const DEPTH_MAX: usize = 16;
/// Most items of an array, and most characters of a text.
const LENGTH_MAX: u64 = 1000;
/// Most generated values, including nested ones.
const VALUES_MAX: u32 = 10_000;
/// Most bytes that are copied from the schema, as they are in memory: into the arguments, and to put parts together.
const COPIED_BYTES_MAX: usize = 64 << 20;
/// Memory of a value beside its text, with its place in what contains it.
const VALUE_BYTES: usize = 100;

/// Arguments for a tool with this input schema: only required ones, each with a simple value. Empty if nothing is
/// required. Takes microseconds for a schema of usual size.
///
/// Supported are `type`, `properties`, `required`, `minProperties`, `items`, `prefixItems`, `minItems`, `enum`,
/// `const`, `default`, `examples`, the bounds of numbers and of lengths, `multipleOf`, the usual formats of text,
/// `$ref` within the schema, `allOf`, and the first alternative of `anyOf` and `oneOf`. Not supported are `pattern`,
/// `not`, `if`, `dependentRequired`, `uniqueItems` and similar keywords. So the result may not fit; a validator
/// decides.
pub fn sample_arguments(schema: &Map<String, Value>) -> Map<String, Value> {
    let demands = ["required", "minProperties", "allOf", "anyOf", "oneOf", "$ref"];
    if !demands.iter().any(|keyword| schema.contains_key(*keyword)) {
        return Map::new();
    }
    let sampler = Sampler { root: schema, values: Cell::new(0), copied: Cell::new(0) };
    match object(&sampler, schema, 0) {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}

struct Sampler<'s> {
    root: &'s Map<String, Value>,
    /// How many were made.
    values: Cell<u32>,
    /// How many bytes were copied.
    copied: Cell<usize>,
}

fn sample(sampler: &Sampler<'_>, schema: &Value, depth: usize) -> Value {
    // Any value counts, even one that the schema does not mention.
    sampler.values.set(sampler.values.get() + 1);
    // A schema may contain itself, and nested minimums multiply.
    if depth > DEPTH_MAX || sampler.values.get() > VALUES_MAX {
        return Value::Null;
    }
    let Value::Object(schema) = schema else { return "example".into() };
    if let Some(value) = schema.get("const") {
        return sampler.copy(value).unwrap_or_default();
    }
    let given = ["enum", "examples"].iter().filter_map(|list| schema.get(*list)?.as_array()?.first());
    // A default of null usually means that nothing is required.
    let default = schema.get("default").filter(|value| !value.is_null());
    if let Some(value) = default.or_else(|| given.into_iter().next()) {
        return sampler.copy(value).unwrap_or_default();
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|place| sampler.find(place)) {
        return sample(sampler, target, depth + 1);
    }
    // A value has to fit all parts at once, so they are merged into one schema first.
    if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
        let mut merged = sampler.without(schema, "allOf");
        for part in parts.iter().filter_map(|part| sampler.resolved(part, depth)) {
            sampler.merge(&mut merged, part);
        }
        return sample(sampler, &Value::Object(merged), depth + 1);
    }
    for choice in ["anyOf", "oneOf"] {
        let Some(choices) = schema.get(choice).and_then(Value::as_array) else { continue };
        let is_null = |choice: &&Value| choice.get("type").is_some_and(|kind| kind == "null");
        // An optional value is often an alternative beside null, which shows nothing of the value.
        let first = choices.iter().find(|choice| !is_null(choice)).or(choices.first());
        let Some(part) = first.and_then(|first| sampler.resolved(first, depth)) else { continue };
        let mut merged = sampler.without(schema, choice);
        sampler.merge(&mut merged, part);
        return sample(sampler, &Value::Object(merged), depth + 1);
    }
    match kind(schema) {
        "object" => object(sampler, schema, depth),
        "array" => array(sampler, schema, depth),
        "integer" | "number" => number(schema),
        "boolean" => false.into(),
        "null" => Value::Null,
        _ => text(schema).into(),
    }
}

/// The expected type, guessed from other keywords if it is not stated.
fn kind(schema: &Map<String, Value>) -> &str {
    let named = match schema.get("type") {
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ => None,
    };
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| schema.contains_key(*keyword));
    named.unwrap_or_else(|| {
        if has(&["properties", "required", "minProperties"]) {
            "object"
        } else if has(&["items", "prefixItems", "minItems"]) {
            "array"
        } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
            "number"
        } else {
            "string"
        }
    })
}

impl<'s> Sampler<'s> {
    /// The target of a reference within the schema.
    fn find(&self, place: &str) -> Option<&'s Value> {
        // In this order, as RFC 6901 demands: `~01` stands for `~1`, not for a slash.
        let mut steps =
            place.strip_prefix("#/")?.split('/').map(|it| it.replace("~1", "/").replace("~0", "~"));
        let first = self.root.get(&steps.next()?)?;
        steps.try_fold(first, |value, step| match value {
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            value => value.get(&step),
        })
    }

    /// A part of a schema, with references resolved.
    fn resolved<'a>(&self, part: &'a Value, depth: usize) -> Option<&'a Map<String, Value>>
    where
        's: 'a,
    {
        let mut part = part.as_object()?;
        // References may form a circle.
        for _ in depth..=DEPTH_MAX {
            let Some(place) = part.get("$ref").and_then(Value::as_str) else { return Some(part) };
            part = self.find(place)?.as_object()?;
        }
        None
    }

    /// A value of the schema; none if too much was copied.
    fn copy(&self, value: &Value) -> Option<Value> {
        let mut left = COPIED_BYTES_MAX - self.copied.get();
        let fits = weigh(value, &mut left);
        self.copied.set(COPIED_BYTES_MAX - left);
        fits.then(|| value.clone())
    }

    /// The members of a schema that have other names, as far as they can be copied.
    fn without(&self, schema: &Map<String, Value>, keyword: &str) -> Map<String, Value> {
        let others = schema.iter().filter(|(key, _)| *key != keyword);
        others.map_while(|(key, value)| Some((key.clone(), self.copy(value)?))).collect()
    }

    /// Adds the demands of another schema, as far as they can be copied.
    fn merge(&self, whole: &mut Map<String, Value>, part: &Map<String, Value>) {
        for (key, value) in part {
            let Some(value) = self.copy(value) else { return };
            match (whole.get_mut(key), value) {
                (Some(Value::Object(known)), Value::Object(more)) if key == "properties" => {
                    known.extend(more);
                }
                (Some(Value::Array(known)), Value::Array(more)) if key == "required" => {
                    known.extend(more);
                }
                // Of two demands that cannot simply be added, the later one counts: the result need not fit.
                (_, value) => {
                    whole.insert(key.clone(), value);
                }
            }
        }
    }
}

/// Takes the bytes of a value from those that are left; whether there are so many. None are left otherwise.
fn weigh(value: &Value, left: &mut usize) -> bool {
    let text = |text: &String, left: &mut usize| {
        *left = left.saturating_sub(VALUE_BYTES + text.len());
    };
    match value {
        Value::String(value) => text(value, left),
        _ => *left = left.saturating_sub(VALUE_BYTES),
    }
    // Nothing is looked at any more when nothing is left.
    *left > 0
        && match value {
            Value::Array(items) => items.iter().all(|item| weigh(item, left)),
            Value::Object(members) => members.iter().all(|(name, member)| {
                text(name, left);
                weigh(member, left)
            }),
            _ => true,
        }
}

fn object(sampler: &Sampler<'_>, schema: &Map<String, Value>, depth: usize) -> Value {
    // Only the whole schema gets here without having passed through `sample`, which resolves these keywords.
    if ["allOf", "anyOf", "oneOf", "$ref"].iter().any(|keyword| schema.contains_key(*keyword)) && depth == 0 {
        return sample(sampler, &Value::Object(schema.clone()), 1);
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let any = Value::Bool(true);
    let schema_of = |name: &str| properties.and_then(|it| it.get(name)).unwrap_or(&any);
    let mut made = Map::new();
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        made.insert(name.to_owned(), sample(sampler, schema_of(name), depth + 1));
    }
    let least = schema.get("minProperties").and_then(Value::as_u64).unwrap_or(0).min(LENGTH_MAX) as usize;
    // At the limit, no object invents any more members.
    let least = if sampler.values.get() > VALUES_MAX { 0 } else { least };
    let others = properties.into_iter().flat_map(Map::keys).cloned();
    let invented = (1..=least).map(|number| format!("example_{number}"));
    for name in others.chain(invented) {
        if made.len() >= least {
            break;
        }
        if !made.contains_key(&name) {
            let value = sample(sampler, schema_of(&name), depth + 1);
            made.insert(name, value);
        }
    }
    Value::Object(made)
}

fn array(sampler: &Sampler<'_>, schema: &Map<String, Value>, depth: usize) -> Value {
    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(LENGTH_MAX) as usize;
    let first = schema.get("prefixItems").and_then(Value::as_array);
    let any = Value::Bool(true);
    let rest = schema.get("items").unwrap_or(&any);
    let schema_at = |place: usize| first.and_then(|first| first.get(place)).unwrap_or(rest);
    let least = if sampler.values.get() > VALUES_MAX { 0 } else { least };
    (0..least).map(|place| sample(sampler, schema_at(place), depth + 1)).collect()
}

fn number(schema: &Map<String, Value>) -> Value {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let is_whole = kind(schema) == "integer";
    let step = bound("multipleOf").filter(|step| *step > 0.0).unwrap_or(1.0);
    let fits = |value: f64| {
        bound("minimum").is_none_or(|least| value >= least)
            && bound("exclusiveMinimum").is_none_or(|below| value > below)
            && bound("maximum").is_none_or(|most| value <= most)
            && bound("exclusiveMaximum").is_none_or(|above| value < above)
    };
    let least = bound("minimum").or(bound("exclusiveMinimum"));
    let most = bound("maximum").or(bound("exclusiveMaximum"));
    let from_least = least.map(|least| (least / step).ceil() * step);
    let from_most = most.map(|most| (most / step).floor() * step);
    let between = least.zip(most).map(|(least, most)| f64::midpoint(least, most)).filter(|_| !is_whole);
    // The first that fits counts: one step, the values at and beside the bounds, and between them if no multiple of the
    // step fits.
    let candidates = [
        Some(step),
        from_least,
        from_least.map(|value| value + step),
        from_most,
        from_most.map(|value| value - step),
        between,
    ];
    let value = candidates.into_iter().flatten().find(|value| fits(*value)).unwrap_or(step);
    // Integers are written without a fraction.
    let whole = (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64);
    whole.map_or_else(|| Number::from_f64(value).map_or(Value::Null, Value::Number), Value::from)
}

fn text(schema: &Map<String, Value>) -> String {
    let of_format = match schema.get("format").and_then(Value::as_str) {
        Some("date") => "2026-01-15",
        Some("time") => "12:00:00Z",
        Some("date-time") => "2026-01-15T12:00:00Z",
        Some("duration") => "PT1H",
        Some("email" | "idn-email") => "someone@example.com",
        Some("uri" | "iri" | "uri-reference" | "iri-reference") => "https://example.com/",
        Some("hostname" | "idn-hostname") => "example.com",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        Some("json-pointer") => "/example",
        _ => "example",
    };
    let length = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let least = length("minLength").unwrap_or(0).min(LENGTH_MAX) as usize;
    let most = length("maxLength").map_or(usize::MAX, |most| most.min(LENGTH_MAX) as usize);
    let mut text = of_format.to_owned();
    text.extend(std::iter::repeat_n('x', least.saturating_sub(text.len())));
    // Every character is one byte, so none is cut.
    text.truncate(most);
    text
}
