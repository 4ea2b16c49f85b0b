//! Rules held to the tools that an agent has: names and arguments that no tool has, with the nearest that one has.

use serde_json::{Map, Value};

use super::{EventPattern, Fault, Pointer, RuleDemand, RuleSet, ToolNames, ValueCheck};
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
    /// `argument`. A pointer is only reported if none of the tools that it is about can have the argument, and their
    /// schemas say so.
    pub fn unknown_arguments(&self, known: &[KnownTool<'_>]) -> Vec<Fault> {
        let mut faults = Vec::new();
        for rule in &self.rules {
            let what = |key: &str| format!("`{key}` of rule `{}`", rule.id);
            for pattern in rule.patterns() {
                let tools = tools_of(&[pattern], known);
                faults.extend(unknown_places(&pattern.arguments, &tools, &what("where")));
            }
            if let RuleDemand::Takes { event, argument, .. } = &rule.demand {
                faults.extend(unknown(argument, &tools_of(&[event], known), &what("argument")));
            }
            if let Some(per) = &rule.per {
                faults.extend(unknown(per, &tools_of(&rule.patterns(), known), &what("per")));
            }
        }
        faults
    }
}

/// The first of these tests of a tool's arguments whose pointer leads to no argument that the tool has.
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
    for pointer in checks.iter().map(|check| &check.pointer) {
        if !seen.contains(&pointer) {
            seen.push(pointer);
            faults.extend(unknown(pointer, tools, what));
        }
    }
    faults
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

/// Follows a pointer through a schema, as far as it says in plain words what is there.
fn way<'s>(pointer: &Pointer, schema: &'s Map<String, Value>) -> Way<'s> {
    const SCALARS: [&str; 5] = ["string", "integer", "number", "boolean", "null"];
    // What these say of names is not looked into.
    const OTHERS: [&str; 10] = [
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
    let mut stem = String::new();
    let mut at = schema;
    for part in pointer.parts() {
        if OTHERS.iter().any(|key| at.contains_key(*key)) {
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
