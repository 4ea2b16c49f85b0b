//! Checks of a specification against certain tools: unknown names, unknown arguments, tests that schemas exclude.

use std::collections::{BTreeSet, HashSet};

use planproof_trace::{Arguments, Tool};
use serde_json::{Map, Value};

use super::patterns::{Range, each, is_number, is_numeric};
use crate::automaton::Automaton;
use crate::diagnostic::{Code, Diagnostic, nearest, one_of};
use crate::number::{JsonNumber, is_same};
use crate::read::tree::Faults;
use crate::{CallPattern, Predicate, Severity, Span, Test};

/// Most names that a message lists.
const NAMES_SHOWN_MAX: usize = 12;

impl Automaton {
    /// The faults of the specification if these are the tools: requirements that name others, or that test arguments
    /// which the tools' schemas do not have, or have with another type. Each pattern of calls is reported once,
    /// however often it occurs, and so is each unknown tool; in the order of the source. All are warnings, except an
    /// error if no run is left with these tools.
    pub fn check_tools(&self, tools: &[Tool]) -> Vec<Diagnostic> {
        let mut faults = Faults::default();
        let mut seen: Vec<&CallPattern> = Vec::new();
        let mut unknown = BTreeSet::new();
        for requirement in &self.spec.requirements {
            each(requirement, &mut |pattern, span| {
                if !seen.contains(&pattern) {
                    seen.push(pattern);
                    check(pattern, span, tools, &mut unknown, &mut faults);
                }
            });
        }
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        if self.for_tools(&names).is_none() {
            let message = format!("with {} no run can come to its end", tools_in_words(&names));
            let mut fault = Diagnostic::new(Code::NoWayToEnd, self.spec.behavior.span, message);
            fault.severity = Severity::Error;
            faults.push(
                fault.help("give the tools that requirements demand calls of, or change the requirements"),
            );
        }
        faults.into_sorted()
    }
}

fn tools_in_words(names: &[&str]) -> String {
    if names.is_empty() { "no tools".to_owned() } else { format!("the tools {}", shortened(names)) }
}

/// Some of the names, and how many more there are.
fn shortened(names: &[&str]) -> String {
    let shown: Vec<&str> = names.iter().copied().take(NAMES_SHOWN_MAX).collect();
    match names.len() - shown.len() {
        0 => crate::diagnostic::all_of(shown),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn check<'p>(
    pattern: &'p CallPattern,
    span: Span,
    tools: &[Tool],
    unknown: &mut BTreeSet<&'p str>,
    faults: &mut Faults,
) {
    let meant: Vec<&Tool> = match &pattern.tool {
        Some(name) => tools.iter().filter(|tool| tool.name == *name).collect(),
        None => tools.iter().collect(),
    };
    if let (Some(name), true) = (&pattern.tool, meant.is_empty()) {
        // Already reported, for another pattern or without the tools.
        if name.contains('*') || !unknown.insert(name) {
            return;
        }
        let fault = Diagnostic::new(Code::UnknownTool, span, format!("there is no tool `{name}`"));
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        faults.push(fault.help(match near(name, &names) {
            Some(near) => format!("did you mean `call:{near}`?"),
            None if names.is_empty() => "there are no tools at all".to_owned(),
            None => format!("there are {}", shortened(&names)),
        }));
        return;
    }
    for predicate in &pattern.predicates {
        check_predicate(predicate, span, &meant, faults);
    }
}

/// The known name that was probably meant: one that differs only in capitals, `_` and `-`, or by a typing mistake.
fn near<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let bare =
        |name: &str| -> String { name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect() };
    let same = known.iter().copied().find(|other| bare(other) == bare(name));
    same.or_else(|| nearest(name, known.iter().copied()))
}

/// Checks a test against the tools of its pattern. For any tool, one that can satisfy the test is enough.
fn check_predicate(predicate: &Predicate, span: Span, tools: &[&Tool], faults: &mut Faults) {
    let argument = &predicate.argument;
    let (mut known, mut excluded, mut maybe_text) = (BTreeSet::new(), None, None);
    let mut is_found = false;
    for tool in tools {
        match look_up(&tool.input_schema, argument) {
            Found::Nowhere(names) => known.extend(names),
            Found::Anything => return,
            Found::Values(values) => {
                is_found = true;
                match values.admits(&predicate.test) {
                    // The schema also allows a text, such as "500", for which a comparison of numbers is silently
                    // false.
                    Admits::Yes if is_numeric(&predicate.test) && values.types & TEXT != 0 => {
                        maybe_text = Some(tool);
                    }
                    Admits::Yes => return,
                    Admits::No(why) => excluded = excluded.or(Some((tool, why))),
                }
            }
        }
    }
    let of = |tool: &Tool| format!("of `{}`", tool.name);
    // If the test can hold for one tool, it does not matter that the schema of another one excludes it.
    let fault = match (is_found, maybe_text, excluded) {
        (false, ..) => {
            let whom = match tools {
                [tool] => format!("`{}` takes no argument `{argument}`", tool.name),
                _ => format!("no tool takes an argument `{argument}`"),
            };
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let last = argument.rsplit('/').next().unwrap_or(argument);
            let help = match near(last, &known) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => {
                    "leave the test out, or declare the argument in the schema".to_owned()
                }
                None => format!("write {}", one_of(known.iter().copied().take(NAMES_SHOWN_MAX))),
            };
            Diagnostic::new(Code::UnknownArgument, span, whom).help(help)
        }
        (true, Some(tool), _) => {
            let message = format!(
                "`{predicate}` holds of numbers alone, and the schema {} lets `{argument}` be a text, such as \"500\"",
                of(tool)
            );
            Diagnostic::new(Code::NumberInString, span, message)
                .help("let the schema take numbers alone, or say beside the test what of a text: (matches ARGUMENT \"REGEX\")")
        }
        (true, None, Some((tool, why))) => {
            let is_number_in_text = match &predicate.test {
                Test::Equal(Value::String(text)) | Test::NotEqual(Value::String(text)) => is_number(text),
                _ => false,
            };
            let code = if is_number_in_text { Code::NumberInString } else { Code::UnmatchedCall };
            let always = if matches!(predicate.test, Test::NotEqual(_)) { "always" } else { "never" };
            let message =
                format!("`{predicate}` {always} holds: by the schema {} `{argument}` {why}", of(tool));
            Diagnostic::new(code, span, message).help("mend the test, or leave it out")
        }
        (true, None, None) => return,
    };
    faults.push(fault);
}

const NULL: u8 = 1;
const BOOLEAN: u8 = 2;
const NUMBER: u8 = 4;
const TEXT: u8 = 8;
const ARRAY: u8 = 16;
const OBJECT: u8 = 32;
const ALL: u8 = 63;
const TYPES: [(u8, &str); 6] = [
    (NULL, "null"),
    (BOOLEAN, "a boolean"),
    (NUMBER, "a number"),
    (TEXT, "a text"),
    (ARRAY, "an array"),
    (OBJECT, "an object"),
];

fn type_of(value: &Value) -> u8 {
    match value {
        Value::Null => NULL,
        Value::Bool(_) => BOOLEAN,
        Value::Number(_) => NUMBER,
        Value::String(_) => TEXT,
        Value::Array(_) => ARRAY,
        Value::Object(_) => OBJECT,
    }
}

/// Where an argument leads in a schema.
enum Found {
    /// Certain values, as far as they are known.
    Values(Values),
    /// Anything: the schema does not mention the value, but explicitly allows it.
    Anything,
    /// Nowhere: these are the names it has.
    Nowhere(Vec<String>),
}

/// The constraints of a schema on a value, as far as they are analysed: never narrower than the schema.
#[derive(Debug, Clone)]
struct Values {
    types: u8,
    /// The only values, if they are listed.
    listed: Option<Vec<Value>>,
    min: Option<(JsonNumber, bool)>,
    max: Option<(JsonNumber, bool)>,
}

enum Admits {
    Yes,
    No(String),
}

impl Values {
    fn admits(&self, test: &Test) -> Admits {
        let demanded = match test {
            Test::Has => return Admits::Yes,
            // The test requires another value: a wrong type makes it always true.
            Test::Equal(value) | Test::NotEqual(value) => type_of(value),
            Test::Matches(_) => TEXT,
            Test::Below(_) | Test::AtMost(_) | Test::Above(_) | Test::AtLeast(_) => NUMBER,
        };
        if self.types & demanded == 0 {
            let names = TYPES.iter().filter(|(bit, _)| self.types & bit != 0).map(|(_, name)| *name);
            let names: Vec<&str> = names.collect();
            let is = if names.is_empty() { "nothing".to_owned() } else { one_of(names) };
            return Admits::No(format!("is {is}"));
        }
        if let Some(listed) = &self.listed {
            let passes = |value: &Value| match test {
                // The required values for the test to be meaningful.
                Test::NotEqual(other) => is_same(value, other),
                test => holds(test, value),
            };
            if !listed.iter().any(passes) {
                let shown: Vec<String> = listed.iter().take(NAMES_SHOWN_MAX).map(Value::to_string).collect();
                return Admits::No(format!("is {}", one_of(shown.iter().map(String::as_str))));
            }
        }
        let mut range = Range::all();
        range.meet(test);
        // For `!=`, too, the question is whether the value can occur: if it cannot, the test always holds.
        if let Test::Equal(value) | Test::NotEqual(value) = test
            && let Some(number) = JsonNumber::of(value)
        {
            range.raise(number, true);
            range.lower(number, true);
        }
        if let Some((bound, is_in)) = self.min {
            range.raise(bound, is_in);
        }
        if let Some((bound, is_in)) = self.max {
            range.lower(bound, is_in);
        }
        // Bounds of a schema apply to numbers alone.
        if demanded == NUMBER && range.is_empty() {
            let words = |bound: Option<(JsonNumber, bool)>, in_words: &str, out_words: &str| {
                bound.map(|(bound, is_in)| format!("{} {bound}", if is_in { in_words } else { out_words }))
            };
            let bounds = [words(self.min, "at least", "above"), words(self.max, "at most", "below")];
            let bounds: Vec<String> = bounds.into_iter().flatten().collect();
            return Admits::No(format!("is {}", bounds.join(" and ")));
        }
        Admits::Yes
    }
}

fn holds(test: &Test, value: &Value) -> bool {
    let object = Arguments::Object(Map::from_iter([("value".to_owned(), value.clone())]));
    Predicate { argument: "value".into(), test: test.clone() }.holds(&object)
}

/// The constraints of a tool's schema on an argument, or on the target of a JSON pointer.
fn look_up(schema: &Map<String, Value>, argument: &str) -> Found {
    let path: Vec<String> = match argument.strip_prefix('/') {
        Some(path) => path.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect(),
        None => vec![argument.to_owned()],
    };
    let root = Value::Object(schema.clone());
    // Alternatives can lead to several schemas, which are all followed.
    let mut at = vec![&root];
    for part in &path {
        let mut next = Vec::new();
        let mut names = Vec::new();
        let mut is_anything = false;
        for schema in alternatives(at, &root) {
            let Value::Object(object) = schema else {
                is_anything |= *schema == Value::Bool(true);
                continue;
            };
            let properties = object.get("properties").and_then(Value::as_object);
            names.extend(properties.into_iter().flat_map(Map::keys).cloned());
            next.extend(properties.and_then(|properties| properties.get(part)));
            // A number in a pointer can be the index of an item.
            if part.parse::<usize>().is_ok() {
                let items = object.get("items");
                is_anything |= object.contains_key("prefixItems") || items.is_some_and(Value::is_array);
                next.extend(items.filter(|items| !items.is_array()));
            }
            match object.get("additionalProperties") {
                Some(Value::Bool(_)) | None => {}
                Some(other) => next.extend(Some(other)),
            }
            // A schema without information on an object's members says nothing, except that of a tool itself.
            let says_nothing = properties.is_none() && !object.contains_key("items") && schema != &root;
            is_anything |=
                says_nothing && !object.keys().any(|key| ["type", "enum", "const"].contains(&key.as_str()));
            is_anything |= object.get("additionalProperties") == Some(&Value::Bool(true))
                || object.contains_key("patternProperties")
                || says_nothing && object.get("type").and_then(Value::as_str) == Some("object");
        }
        if next.is_empty() {
            // Without a known continuation the argument exists only if some schema leaves open what else there is.
            return if is_anything { Found::Anything } else { Found::Nowhere(names) };
        }
        at = next;
    }
    let all = alternatives(at, &root).into_iter().map(values);
    // What one of them lets pass, passes.
    let joined = all.reduce(|left, right| Values {
        types: left.types | right.types,
        // Values are limited only if each alternative limits them.
        listed: left.listed.zip(right.listed).map(|(mut left, right)| {
            left.extend(right);
            left
        }),
        min: left.min.zip(right.min).map(|(left, right)| if left.0 <= right.0 { left } else { right }),
        max: left.max.zip(right.max).map(|(left, right)| if left.0 >= right.0 { left } else { right }),
    });
    joined.map_or(Found::Anything, Found::Values)
}

/// The schemas themselves, or their alternatives, with references within the document resolved. Each is looked at once,
/// however often it is referred to.
fn alternatives<'s>(schemas: Vec<&'s Value>, root: &'s Value) -> Vec<&'s Value> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let first = schemas.first().copied();
    let mut open = schemas;
    open.reverse();
    while let Some(schema) = open.pop() {
        if !seen.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        let reference = schema.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|to| to.strip_prefix('#')).and_then(|pointer| root.pointer(pointer));
        // The parts of `allOf` count as alternatives, too: that may admit more than the schema does, but never less.
        let choices = ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| schema.get(key)?.as_array());
        let before = open.len();
        open.extend(choices.flatten().chain(target));
        // Constraints beside the alternatives count as well.
        if open.len() == before || schema.get("properties").is_some() {
            found.push(schema);
        }
    }
    // A circle of references leads nowhere, and so counts as it stands.
    if found.is_empty() {
        found.extend(first);
    }
    found
}

fn values(schema: &Value) -> Values {
    let mut values = Values { types: ALL, listed: None, min: None, max: None };
    let Value::Object(object) = schema else {
        if *schema == Value::Bool(false) {
            values.types = 0;
        }
        return values;
    };
    let bit = |name: &Value| match name.as_str() {
        Some("null") => NULL,
        Some("boolean") => BOOLEAN,
        Some("number" | "integer") => NUMBER,
        Some("string") => TEXT,
        Some("array") => ARRAY,
        Some("object") => OBJECT,
        // An unknown type excludes nothing.
        _ => ALL,
    };
    match object.get("type") {
        Some(Value::Array(names)) => values.types = names.iter().fold(0, |types, name| types | bit(name)),
        Some(name) => values.types = bit(name),
        None => {}
    }
    // `nullable` is not a keyword of JSON Schema, but of OpenAPI 3.0.
    if object.get("nullable") == Some(&Value::Bool(true)) {
        values.types |= NULL;
    }
    let constant = object.get("const").map(|value| vec![value.clone()]);
    values.listed = object.get("enum").and_then(Value::as_array).cloned().or(constant);
    if let Some(listed) = &values.listed {
        // Listed values leave no other types than their own.
        values.types &= listed.iter().fold(0, |types, value| types | type_of(value));
    }
    let number = |key: &str| object.get(key).and_then(JsonNumber::of);
    let mut range = Range::all();
    let bounds = [("minimum", true), ("exclusiveMinimum", false)];
    bounds
        .iter()
        .for_each(|(key, is_in)| number(key).into_iter().for_each(|bound| range.raise(bound, *is_in)));
    let bounds = [("maximum", true), ("exclusiveMaximum", false)];
    bounds
        .iter()
        .for_each(|(key, is_in)| number(key).into_iter().for_each(|bound| range.lower(bound, *is_in)));
    (values.min, values.max) = range.bounds();
    values
}
