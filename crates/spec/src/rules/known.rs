//! Rules held to the tools that an agent has: names and arguments that no tool has, with the nearest that one has, and
//! values that an argument cannot have.

use serde_json::{Map, Value};

use super::{
    EventPattern, Fault, Phase, Pointer, RuleDemand, RuleSet, RuleTest, ToolNames, ValueCheck, ValueType,
};
use crate::diagnostic::{nearest, one_of};

/// A tool that an agent has.
#[derive(Debug, Clone, Copy)]
pub struct KnownTool<'a> {
    /// Its name: `TOOL` or `SERVER/TOOL`.
    pub name: &'a str,
    /// The JSON Schema of its arguments.
    pub schema: &'a Map<String, Value>,
}

/// Most names that a fault lists.
const LISTED_MAX: usize = 8;

/// What a pointer finds in the arguments that a schema describes.
enum Way<'a> {
    /// The value may be there, as far as the schema says.
    Open,
    /// No argument, or no entry of one, has this name; those that are there.
    Unknown { part: String, names: Vec<&'a str>, stem: String },
    /// The value before this part has no parts, being a text or a number.
    Whole { stem: String, kind: &'a str },
}

impl RuleSet {
    /// Whether a rule is about calls of this tool.
    pub fn speak_of(&self, tool: &str) -> bool {
        self.rules.iter().any(|rule| rule.patterns().into_iter().any(|pattern| pattern.is_of(tool)))
    }

    /// The names of tools in these rules that are not among `known`, with the nearest known name. An entry of `known`
    /// is `TOOL` or `SERVER/TOOL`.
    pub fn unknown_tools(&self, known: &[String]) -> Vec<Fault> {
        let mut faults = Vec::new();
        for rule in &self.rules {
            let mut seen: Vec<&str> = Vec::new();
            for tools in rule.patterns().into_iter().filter_map(|pattern| pattern.tools.as_ref()) {
                let is_known = known.iter().any(|name| tools.has(name));
                if is_known || seen.contains(&tools.written()) {
                    continue;
                }
                seen.push(tools.written());
                let help = match nearest(tools.written(), known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if known.is_empty() => "there are no tools".to_owned(),
                    None => format!("write {}", listed(known.iter().map(String::as_str))),
                };
                let message =
                    format!("no tool is called `{}`, so rule `{}` can never match", tools.written(), rule.id);
                faults.push(Fault::error(tools.place, message, help));
            }
        }
        faults
    }

    /// The pointers in these rules that lead to no argument, with the nearest name: those of `per`, `where` and
    /// `argument`; the tests of an argument that no value of it passes, such as a text for a number; and a `per` that
    /// leads to a list or an object, or that an event of the rule cannot have. Anything is only reported if it is so
    /// for each of the tools that it is about, and their schemas say so.
    pub fn unknown_arguments(&self, known: &[KnownTool<'_>]) -> Vec<Fault> {
        let mut faults = Vec::new();
        for rule in &self.rules {
            let what = |key: &str| format!("`{key}` of rule `{}`", rule.id);
            let done = rule.patterns().into_iter().find(|pattern| pattern.moment == Phase::Done);
            for pattern in rule.patterns() {
                let tools = tools_of(&[pattern], known);
                let mut found = unknown_places(&pattern.arguments, &tools, &what("where"));
                for fault in found.iter_mut().filter(|fault| !fault.help.starts_with("did you mean")) {
                    fault.help.push_str(&instead_of_where(done));
                }
                faults.extend(found);
            }
            if let RuleDemand::Takes { event, argument, .. } = &rule.demand {
                faults.extend(unknown(argument, &tools_of(&[event], known), &what("argument")));
            }
            if let Some(per) = &rule.per {
                let tools = tools_of(&rule.patterns(), known);
                let fault = unknown(per, &tools, &what("per"));
                let fault = fault.or_else(|| no_value(per, &tools, &what("per")));
                faults.extend(fault.or_else(|| lacking(per, &rule.patterns(), known, &what("per"))));
            }
        }
        faults
    }
}

/// What to write for a test of what a call returned, where a rule is about one that is done.
fn instead_of_where(done: Option<&EventPattern>) -> String {
    let Some(done) = done else { return String::new() };
    let tool = done.tools.as_ref().map_or("any tool", ToolNames::written);
    format!(", or test what {tool} returned with `result: {{...}}`")
}

/// The first of these tests of a tool's arguments whose pointer leads to no argument that the tool has, or that no
/// value of the argument passes.
pub fn unknown_in_checks(checks: &[ValueCheck], tool: KnownTool<'_>) -> Option<Fault> {
    unknown_places(checks, &[tool], "`where`").into_iter().next()
}

impl ToolNames {
    /// Whether the tool that an agent knows by this name is meant.
    fn has(&self, known: &str) -> bool {
        let bare = known.rsplit_once('/').map(|(_, tool)| tool);
        self.names.iter().any(|name| name == known || bare == Some(name.as_str()))
    }
}

/// The tools that some events are about.
fn tools_of<'k>(patterns: &[&EventPattern], known: &[KnownTool<'k>]) -> Vec<KnownTool<'k>> {
    let is_meant = |tool: &&KnownTool<'_>| {
        patterns.iter().any(|pattern| pattern.tools.as_ref().is_none_or(|names| names.has(tool.name)))
    };
    known.iter().filter(is_meant).copied().collect()
}

fn unknown_places(checks: &[ValueCheck], tools: &[KnownTool<'_>], what: &str) -> Vec<Fault> {
    let mut seen: Vec<&Pointer> = Vec::new();
    let mut faults = Vec::new();
    for ValueCheck { pointer, test } in checks {
        let fault = match seen.contains(&pointer) {
            true => None,
            false => unknown(pointer, tools, what),
        };
        seen.push(pointer);
        faults.extend(fault.or_else(|| never_passed(pointer, test, tools, what)));
    }
    faults
}

/// The fault of a test that no value of the argument passes, whichever of these tools is called.
fn never_passed(pointer: &Pointer, test: &RuleTest, tools: &[KnownTool<'_>], what: &str) -> Option<Fault> {
    let faults: Option<Vec<(String, String)>> = tools
        .iter()
        .map(|tool| {
            let schema = schema_at(pointer, tool.schema)?;
            let types = types_of(schema)?;
            not_passed(pointer.as_str(), test, schema, &types)
        })
        .collect();
    let (message, help) = faults?.into_iter().next()?;
    Some(Fault::error(pointer.place, format!("{what} {message}"), help))
}

/// The types of numbers.
const NUMBERS: [ValueType; 2] = [ValueType::Number, ValueType::Integer];

/// What to write for a test that only numbers pass.
const OF_NUMBERS: &str = "write a value, `one-of` or `matches`: only numbers are above or below others";

/// Why no value of these types passes a test, and what to write.
fn not_passed(
    pointer: &str,
    test: &RuleTest,
    schema: &Map<String, Value>,
    types: &[ValueType],
) -> Option<(String, String)> {
    let named = one_of(types.iter().map(|kind| kind.name()));
    let needs = |kinds: &[ValueType], name: &str, help: &str| {
        let is_met = types.iter().any(|kind| kinds.contains(kind));
        let message = format!("tests {pointer} with `{name}`, and {pointer} is of type {named}");
        (!is_met).then(|| (message, help.to_owned()))
    };
    match test {
        RuleTest::Is(value) => other_value(pointer, value, schema, types),
        RuleTest::OneOf(values) => values.iter().find_map(|value| other_value(pointer, value, schema, types)),
        RuleTest::Above(_) => needs(&NUMBERS, "above", OF_NUMBERS),
        RuleTest::AtLeast(_) => needs(&NUMBERS, "at-least", OF_NUMBERS),
        RuleTest::Below(_) => needs(&NUMBERS, "below", OF_NUMBERS),
        RuleTest::AtMost(_) => needs(&NUMBERS, "at-most", OF_NUMBERS),
        RuleTest::Matches(_) => {
            needs(&[ValueType::String], "matches", "write a value or `above`: only texts match an expression")
        }
        // These are there to find values of other types.
        RuleTest::IsNot(_) | RuleTest::Type(_) | RuleTest::Present(_) | RuleTest::Not(_) => None,
    }
}

/// Why an argument cannot have this value, and what to write.
fn other_value(
    pointer: &str,
    value: &Value,
    schema: &Map<String, Value>,
    types: &[ValueType],
) -> Option<(String, String)> {
    let is_of_type = |value: &Value| types.iter().any(|kind| kind.is_of(value));
    if !is_of_type(value) {
        let named = one_of(types.iter().map(|kind| kind.name()));
        let message = format!("has {value} for {pointer}, which is of type {named}");
        // `17` for `"17"`, and the other way round.
        let meant = match value {
            Value::String(text) => serde_json::from_str(text).ok(),
            Value::Number(_) | Value::Bool(_) => Some(Value::String(value.to_string())),
            _ => None,
        };
        let help = match meant.filter(|meant| is_of_type(meant)) {
            Some(meant) => format!("write {meant}"),
            None => format!("write a value of type {named}"),
        };
        return Some((message, help));
    }
    let values = schema.get("enum").and_then(Value::as_array)?;
    if values.contains(value) || !values.iter().all(Value::is_string) {
        return None;
    }
    let names: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
    let message = format!("has {value} for {pointer}, which it cannot be");
    let help = match value.as_str().and_then(|text| nearest(text, names.iter().copied())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write {}", listed(names.iter().copied())),
    };
    Some((message, help))
}

/// The fault of a `per` that some of a rule's events cannot have: such an event belongs to none of the values that the
/// others have.
fn lacking(per: &Pointer, patterns: &[&EventPattern], known: &[KnownTool<'_>], what: &str) -> Option<Fault> {
    let fault = patterns.iter().find_map(|pattern| unknown(per, &tools_of(&[*pattern], known), what))?;
    let help = "name an argument that all tools of the rule have, or leave `per` out: it compares calls with one value";
    Some(Fault { help: help.to_owned(), ..fault })
}

/// The fault of a `per` that leads to a list or an object with each of these tools.
fn no_value(per: &Pointer, tools: &[KnownTool<'_>], what: &str) -> Option<Fault> {
    let is_value = |kind: &ValueType| !matches!(kind, ValueType::Array | ValueType::Object);
    let types: Option<Vec<Vec<ValueType>>> =
        tools.iter().map(|tool| types_of(schema_at(per, tool.schema)?)).collect();
    let types = types.filter(|all| !all.iter().flatten().any(is_value))?;
    let kind = types.first()?.first()?.name();
    let message = format!("{what} has {0}, and {0} is of type {kind}", per.as_str());
    let help = "name an argument that is a text or a number: a rule with `per` holds for each value, and not for each \
                entry of a list";
    Some(Fault::error(per.place, message, help))
}

/// The schema of the value to which a pointer leads, as far as one says in plain words what is there.
fn schema_at<'s>(pointer: &Pointer, schema: &'s Map<String, Value>) -> Option<&'s Map<String, Value>> {
    let step = |at: &'s Map<String, Value>, part: String| at.get("properties")?.get(&part)?.as_object();
    pointer.parts().try_fold(schema, step)
}

/// The types that a value may have, if its schema says so and nothing else about it.
fn types_of(schema: &Map<String, Value>) -> Option<Vec<ValueType>> {
    if NOT_FOLLOWED.iter().any(|key| schema.contains_key(*key)) {
        return None;
    }
    let kind = |name: &Value| ValueType::ALL.into_iter().find(|kind| Some(kind.name()) == name.as_str());
    match schema.get("type")? {
        Value::Array(names) if !names.is_empty() => names.iter().map(kind).collect(),
        name => kind(name).map(|kind| vec![kind]),
    }
}

/// The fault of a pointer that leads to no argument of any of these tools.
fn unknown(pointer: &Pointer, tools: &[KnownTool<'_>], what: &str) -> Option<Fault> {
    let ways: Vec<Way<'_>> = tools.iter().map(|tool| way(pointer, tool.schema)).collect();
    if ways.iter().any(|way| matches!(way, Way::Open)) {
        return None;
    }
    let named = match tools {
        [tool] => format!("{} has no such argument", tool.name),
        _ => "none of its tools has such an argument".to_owned(),
    };
    let mut names: Vec<(&str, &str)> = Vec::new();
    for (stem, name) in ways.iter().flat_map(Way::names) {
        if !names.contains(&(stem, name)) {
            names.push((stem, name));
        }
    }
    let written =
        |(stem, name): &(&str, &str)| format!("{stem}/{}", name.replace('~', "~0").replace('/', "~1"));
    match ways.first()? {
        Way::Whole { stem, kind } => {
            let message =
                format!("{what} has {}, and {stem} is of type {kind}, which has no parts", pointer.text);
            Some(Fault::error(pointer.place, message, format!("write `{stem}`")))
        }
        Way::Unknown { part, .. } => {
            let message = format!("{what} has {}, and {named}", pointer.text);
            let near = nearest(part, names.iter().map(|(_, name)| *name));
            let near = near.and_then(|near| names.iter().find(|(_, name)| *name == near));
            let help = match near {
                Some(near) => format!("did you mean `{}`?", written(near)),
                None if names.is_empty() => "leave it out: no arguments are taken".to_owned(),
                None => {
                    let names: Vec<String> = names.iter().map(written).collect();
                    format!("write {}", listed(names.iter().map(String::as_str)))
                }
            };
            Some(Fault::error(pointer.place, message, help))
        }
        Way::Open => None,
    }
}

/// Names to choose from, the first [`LISTED_MAX`] of them.
fn listed<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let left = names.len().saturating_sub(LISTED_MAX);
    let more = (left > 0).then(|| format!("one of {left} others"));
    let shown: Vec<String> = names.take(LISTED_MAX).map(str::to_owned).chain(more).collect();
    one_of(shown.iter().map(String::as_str))
}

impl Way<'_> {
    /// The names that the arguments have where the pointer leaves them, with the way to them.
    fn names(&self) -> Vec<(&str, &str)> {
        match self {
            Self::Unknown { names, stem, .. } => names.iter().map(|name| (stem.as_str(), *name)).collect(),
            Self::Open | Self::Whole { .. } => Vec::new(),
        }
    }
}

/// What these keys of a schema say is not looked into.
const NOT_FOLLOWED: [&str; 10] = [
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "dependentSchemas",
];

/// Follows a pointer through a schema, as far as it says in plain words what is there.
fn way<'s>(pointer: &Pointer, schema: &'s Map<String, Value>) -> Way<'s> {
    const SCALARS: [&str; 5] = ["string", "integer", "number", "boolean", "null"];
    let mut stem = String::new();
    let mut at = schema;
    for part in pointer.parts() {
        if NOT_FOLLOWED.iter().any(|key| at.contains_key(*key)) {
            return Way::Open;
        }
        if let Some(kind) = at.get("type").and_then(Value::as_str).filter(|kind| SCALARS.contains(kind)) {
            return if stem.is_empty() { Way::Open } else { Way::Whole { stem, kind } };
        }
        let properties = at.get("properties").and_then(Value::as_object);
        let is_closed = at.get("additionalProperties") == Some(&Value::Bool(false));
        // A schema that names no argument and forbids none says nothing.
        let is_open =
            !is_closed && (at.contains_key("additionalProperties") || properties.is_none_or(Map::is_empty));
        match properties.and_then(|properties| properties.get(&part)) {
            Some(Value::Object(below)) => at = below,
            Some(_) => return Way::Open,
            None if is_open => return Way::Open,
            None => {
                let names = properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
                return Way::Unknown { part, names, stem };
            }
        }
        stem.push('/');
        stem.push_str(&part.replace('~', "~0").replace('/', "~1"));
    }
    Way::Open
}
