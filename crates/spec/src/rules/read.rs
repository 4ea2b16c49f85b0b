//! A file of rules: what each key means, with every fault at its place.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::topics::rules_tree;
use super::tree::{self, Kind, Node};
use super::{
    CallRule, EventPattern, Fault, Phase, Pointer, RuleDemand, RuleSet, RuleTest, RulesPlace, SCHEMA,
    ToolNames, ValueCheck, ValueType,
};
use crate::diagnostic::{nearest, one_of};
use crate::limits::{COUNT_MAX, PATTERNS_MAX, RULE_EVENTS_MAX, RULES_MAX};
use crate::number::JsonNumber;
use crate::read::{Atom, requirement_of};
use crate::{Code, Diagnostic, Pattern, Predicate, Test};

/// The keys of a file.
const FILE_KEYS: [&str; 4] = ["schema", "mode", "aliases", "rules"];

/// What a rule may have besides its demand.
const COMMON_KEYS: [&str; 4] = ["id", "why", "mode", "per"];

/// What stands inside a demand.
const INSIDE_KEYS: [&str; 10] =
    ["call", "done", "failed", "where", "result", "error", "times", "argument", "from", "value"];

/// What a guard does about a violation, and whether it only notes it.
const MODES: [(&str, bool); 2] = [("enforce", false), ("shadow", true)];

/// The demands, each with the shape of its value.
const DEMANDS: [(&str, &str); 10] = [
    ("requires", "requires: {call: TOOL, done: TOOL}"),
    ("followed-by", "followed-by: {done: TOOL, call: TOOL}"),
    ("never-after", "never-after: {call: TOOL, done: TOOL}"),
    ("never", "never: {call: TOOL, where: {/ARGUMENT: VALUE}}"),
    ("at-most", "at-most: {call: TOOL, times: 1}"),
    ("at-least", "at-least: {call: TOOL, times: 1}"),
    ("first", "first: {call: TOOL}"),
    ("last", "last: {call: TOOL}"),
    ("takes", "takes: {call: TOOL, argument: /ARGUMENT, from: TOOL, value: /FIELD}"),
    ("formula", "formula: \"(always (implies call:a (eventually done:b)))\""),
];

/// The tests of a value.
const TESTS: [&str; 11] =
    ["is", "is-not", "one-of", "above", "at-least", "below", "at-most", "matches", "type", "present", "not"];

const EVENT_HELP: &str = "write `call: TOOL`, `done: TOOL` or `failed: TOOL`";

/// Reads the rules of a file.
pub(super) fn read(text: &str) -> Result<Vec<CallRule>, Vec<Fault>> {
    let root = rules_tree(text).map_err(|fault| vec![fault])?;
    let mut reader = Reader { faults: Vec::new(), aliases: HashMap::new(), is_shadow: false, patterns: 0 };
    let rules = reader.file(&root);
    if reader.faults.is_empty() {
        Ok(rules)
    } else {
        reader.faults.sort_by_key(|fault| fault.place);
        Err(reader.faults)
    }
}

/// Reads the tests of values in a map, as `where` has them.
///
/// # Errors
/// The first fault, whose place is in the map's text on one line.
pub fn read_tests(tests: &Value) -> Result<Vec<ValueCheck>, Fault> {
    read_checks(&tree::read(&tests.to_string())?)
}

/// Reads the tests of values in a map of a larger file.
///
/// # Errors
/// The first fault.
pub fn read_checks(tests: &Node) -> Result<Vec<ValueCheck>, Fault> {
    let mut reader = Reader { faults: Vec::new(), aliases: HashMap::new(), is_shadow: false, patterns: 0 };
    let checks = reader.checks(tests, "where");
    match (reader.faults.into_iter().next(), checks) {
        (Some(fault), _) => Err(fault),
        (None, checks) => Ok(checks.unwrap_or_default()),
    }
}

/// Reads one rule of a larger file, in which tools have these other names.
///
/// # Errors
/// What is wrong with it, in the order of the text; never empty.
pub fn read_rule(rule: &Node, aliases: &HashMap<String, Vec<String>>) -> Result<RuleSet, Vec<Fault>> {
    let mut reader = Reader { faults: Vec::new(), aliases: aliases.clone(), is_shadow: false, patterns: 0 };
    let read = reader.rule(rule);
    reader.faults.sort_by_key(|fault| fault.place);
    match read {
        Some(rule) if reader.faults.is_empty() => RuleSet::compile(vec![rule]),
        _ => Err(reader.faults),
    }
}

/// A rule as JSON. Two events that stand in one map become a list, because a JSON object does not keep their order.
pub fn rule_value(rule: &Node) -> Value {
    let Kind::Map(entries) = &rule.kind else { return rule.value() };
    let entry = |(key, _, node): &(String, RulesPlace, Node)| {
        let value = match ["requires", "followed-by", "never-after"].contains(&key.as_str()) {
            true => two_events(node).unwrap_or_else(|| node.value()),
            false => node.value(),
        };
        (key.clone(), value)
    };
    Value::Object(entries.iter().map(entry).collect())
}

/// `{done: a, call: b}` as `[{done: a}, {call: b}]`.
fn two_events(node: &Node) -> Option<Value> {
    let Kind::Map(entries) = &node.kind else { return None };
    let moments: Vec<&str> = Phase::ALL.iter().map(|phase| phase.key()).collect();
    let named: Vec<&str> =
        entries.iter().map(|(key, ..)| key.as_str()).filter(|key| moments.contains(key)).collect();
    let [_, second] = named.as_slice() else { return None };
    let (mut of_first, mut of_second) = (serde_json::Map::new(), serde_json::Map::new());
    for (key, _, node) in entries {
        // A test of an outcome belongs to the event that has one. Everything else is the first event's.
        let moment = match key.as_str() {
            "result" => Phase::Done.key(),
            "error" => Phase::Failed.key(),
            key => key,
        };
        let event = if moment == *second { &mut of_second } else { &mut of_first };
        event.insert(key.clone(), node.value());
    }
    Some(Value::Array(vec![Value::Object(of_first), Value::Object(of_second)]))
}

struct Reader {
    faults: Vec<Fault>,
    aliases: HashMap<String, Vec<String>>,
    /// The mode of the file.
    is_shadow: bool,
    /// Regular expressions so far.
    patterns: usize,
}

/// The entries of a map, taken one by one.
struct Entries<'n> {
    left: BTreeMap<&'n str, (RulesPlace, &'n Node)>,
    /// In the order of the text.
    order: Vec<&'n str>,
    place: RulesPlace,
}

impl<'n> Entries<'n> {
    fn take(&mut self, key: &str) -> Option<(RulesPlace, &'n Node)> {
        self.left.remove(key)
    }
}

impl Reader {
    fn fault(&mut self, place: RulesPlace, message: impl Into<String>, help: impl Into<String>) {
        self.faults.push(Fault::error(place, message, help));
    }

    fn map<'n>(&mut self, node: &'n Node, what: &str, help: &str) -> Option<Entries<'n>> {
        let Kind::Map(entries) = &node.kind else {
            self.fault(node.place, format!("{what} is {}, not a map", node.describe()), help);
            return None;
        };
        let left = entries.iter().map(|(key, place, node)| (key.as_str(), (*place, node))).collect();
        Some(Entries {
            left,
            order: entries.iter().map(|(key, ..)| key.as_str()).collect(),
            place: node.place,
        })
    }

    /// Reports the keys that nobody took.
    fn leave(&mut self, entries: &Entries<'_>, what: &str, known: &[&str]) {
        for (key, (place, _)) in &entries.left {
            let help = match nearest(key, known.iter().copied()) {
                // A key of others of the same kind.
                Some(near) if near == *key => "leave it out".to_owned(),
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write {}", one_of(known.iter().copied())),
            };
            self.fault(*place, format!("{what} has no key `{key}`"), help);
        }
    }

    fn file(&mut self, root: &Node) -> Vec<CallRule> {
        let help = format!("begin with `schema: {SCHEMA}` and `rules:`");
        let Some(mut file) = self.map(root, "the file", &help) else { return Vec::new() };
        match file.take("schema") {
            Some((_, node)) if node.text() == Some(SCHEMA) => {}
            Some((_, node)) => {
                let message = format!("the schema is {}, and this version reads {SCHEMA}", node.describe());
                self.fault(node.place, message, format!("write `schema: {SCHEMA}`"));
            }
            None => self.fault(file.place, "the file names no schema", format!("write `schema: {SCHEMA}`")),
        }
        self.is_shadow = self.mode(&mut file);
        if let Some((_, node)) = file.take("aliases") {
            self.aliases(node);
        }
        let listed = file.take("rules");
        self.leave(&file, "a file of rules", &FILE_KEYS);
        let Some((_, node)) = listed else {
            self.fault(file.place, "the file has no rules", "write `rules:` with a list of rules");
            return Vec::new();
        };
        let Kind::List(items) = &node.kind else {
            let message = format!("`rules` is {}, not a list", node.describe());
            self.fault(node.place, message, "write a `-` before each rule");
            return Vec::new();
        };
        if let Some(extra) = items.get(RULES_MAX) {
            let message = format!("there are {} rules, and at most {RULES_MAX} are read", items.len());
            self.fault(extra.place, message, "split the file");
            return Vec::new();
        }
        let mut rules: Vec<CallRule> = Vec::new();
        let mut ids: HashMap<String, RulesPlace> = HashMap::new();
        for item in items {
            let Some(rule) = self.rule(item) else { continue };
            if let Some(first) = ids.insert(rule.id.clone(), rule.place) {
                let message =
                    format!("two rules have the id `{}`: the first stands in line {}", rule.id, first.line);
                self.fault(rule.place, message, "give each rule an id of its own");
            }
            rules.push(rule);
        }
        rules
    }

    /// The mode of a rule or a file: whether a guard only notes violations. The file's stands where there is none.
    fn mode(&mut self, entries: &mut Entries<'_>) -> bool {
        let Some((_, node)) = entries.take("mode") else { return self.is_shadow };
        let known = node.text().and_then(|text| MODES.into_iter().find(|(name, _)| *name == text));
        match known {
            Some((_, is_shadow)) => is_shadow,
            None => {
                let message = format!("the mode is {}", node.describe());
                self.fault(node.place, message, format!("write {}", one_of(MODES.map(|(name, _)| name))));
                self.is_shadow
            }
        }
    }

    fn aliases(&mut self, node: &Node) {
        const HELP: &str = "write `aliases: {TOOL: [OTHER_NAME, SERVER/TOOL]}`";
        let Some(entries) = self.map(node, "`aliases`", HELP) else { return };
        for (name, (place, node)) in entries.left {
            let others: Option<Vec<String>> = match &node.kind {
                Kind::List(items) if !items.is_empty() => {
                    items.iter().map(|item| item.text().map(str::to_owned)).collect()
                }
                _ => node.text().map(|text| vec![text.to_owned()]),
            };
            match others {
                Some(others) if others.iter().all(|other| !other.is_empty()) => {
                    let any = || others.iter().map(String::as_str).chain([name]).any(|one| one == "*");
                    let is_of = |known: &[String]| others.iter().find(|other| known.contains(other));
                    let mut known = self.aliases.iter();
                    let shared = known.find_map(|(tool, known)| Some((tool.clone(), is_of(known)?.clone())));
                    if any() {
                        let message = "`*` stands for any tool, and is neither an alias nor has any";
                        self.fault(place, message, "leave it out");
                    } else if others.iter().any(|other| other == name) {
                        self.fault(place, format!("`{name}` is an alias of itself"), "leave it out");
                    } else if let Some((tool, alias)) = shared {
                        let message = format!("`{alias}` is an alias of `{tool}` and of `{name}`");
                        self.fault(place, message, "keep one of them: a call has one tool");
                    } else {
                        self.aliases.insert(name.to_owned(), others);
                    }
                }
                _ => self.fault(place, format!("the aliases of `{name}` are not a list of names"), HELP),
            }
        }
    }

    fn rule(&mut self, node: &Node) -> Option<CallRule> {
        let mut entries =
            self.map(node, "a rule", "write `{id: NAME, requires: {call: TOOL, done: TOOL}}`")?;
        let id = match entries.take("id") {
            Some((_, node)) => match node.text() {
                Some(text) if !text.trim().is_empty() => Some(text.to_owned()),
                _ => {
                    self.fault(node.place, format!("the id is {}", node.describe()), "write a short name");
                    None
                }
            },
            None => {
                self.fault(node.place, "the rule has no id", "write `id: NAME`");
                None
            }
        };
        let why = entries.take("why").and_then(|(_, node)| {
            let text = node.text().map(str::to_owned);
            if text.is_none() {
                self.fault(
                    node.place,
                    format!("`why` is {}, not a sentence", node.describe()),
                    "write a text",
                );
            }
            text
        });
        let is_shadow = self.mode(&mut entries);
        let per = match entries.take("per") {
            Some((_, node)) if node.text() == Some("") => {
                let help = "write the argument whose values the rule tells apart, such as /order_id";
                self.fault(node.place, "`per` names no argument", help);
                return None;
            }
            Some((_, node)) => Some(self.pointer(node, "per")?),
            None => None,
        };
        let names = DEMANDS.map(|(name, _)| name);
        let demands: Vec<&str> = entries.order.iter().copied().filter(|key| names.contains(key)).collect();
        let (name, shape) = match demands.as_slice() {
            [only] => DEMANDS.iter().copied().find(|(name, _)| name == only)?,
            [] => {
                let known: Vec<&str> = COMMON_KEYS.into_iter().chain(names).collect();
                if entries.left.is_empty() {
                    self.fault(
                        node.place,
                        "the rule demands nothing",
                        format!("write one of {}", one_of(names)),
                    );
                }
                self.leave(&entries, "a rule", &known);
                return None;
            }
            [first, second, ..] => {
                let message = format!("the rule demands two things: `{first}` and `{second}`");
                self.fault(node.place, message, "write two rules");
                return None;
            }
        };
        let (_, value) = entries.take(name)?;
        let beside: Vec<&str> = INSIDE_KEYS
            .into_iter()
            .filter(|key| name != "formula" && entries.left.contains_key(key))
            .collect();
        for key in &beside {
            let Some((place, _)) = entries.take(key) else { continue };
            let message = format!("`{key}` stands beside `{name}`, and belongs inside it");
            self.fault(place, message, format!("write `{name}: {{..., {key}: ...}}`"));
        }
        let known: Vec<&str> = COMMON_KEYS.into_iter().chain([name]).collect();
        self.leave(&entries, "a rule", &known);
        // The demand lacks what stands beside it.
        if !beside.is_empty() {
            return None;
        }
        let demand = self.demand(name, value, shape);
        Some(CallRule { id: id?, why, per, is_shadow, demand: demand?, place: node.place })
    }

    fn demand(&mut self, name: &str, node: &Node, shape: &str) -> Option<RuleDemand> {
        let help = format!("write `{shape}`");
        if name == "formula" {
            return self.formula(node);
        }
        if let ("requires" | "followed-by" | "never-after", Kind::List(items)) = (name, &node.kind) {
            let [first, second] = items.as_slice() else {
                let message = format!("`{name}` has {} events, not two", items.len());
                self.fault(node.place, message, format!("{help}, or a list of two events"));
                return None;
            };
            let mut one = |node: &Node| {
                let mut entries = self.map(node, "an event", EVENT_HELP)?;
                let event = self.events(&mut entries, 1, name)?.pop();
                self.leave(&entries, "an event", &["call", "done", "failed", "where", "result", "error"]);
                event
            };
            let (first, second) = (one(first), one(second));
            return Some(pair(name, first?, second?));
        }
        let mut entries = self.map(node, &format!("`{name}`"), &help)?;
        let demand = match name {
            "requires" | "followed-by" | "never-after" => {
                let mut events = self.events(&mut entries, 2, name)?;
                let (second, first) = (events.pop()?, events.pop()?);
                self.leave(
                    &entries,
                    &format!("`{name}`"),
                    &["call", "done", "failed", "where", "result", "error"],
                );
                return Some(pair(name, first, second));
            }
            "never" => RuleDemand::Never(self.events(&mut entries, 1, name)?.pop()?),
            "first" => RuleDemand::First(self.events(&mut entries, 1, name)?.pop()?),
            "last" => RuleDemand::Last(self.events(&mut entries, 1, name)?.pop()?),
            "at-most" | "at-least" => {
                let times = match entries.take("times") {
                    Some((_, node)) => match &node.kind {
                        Kind::Scalar(value) => value.as_u64().filter(|times| *times <= u64::from(COUNT_MAX)),
                        _ => None,
                    }
                    .or_else(|| {
                        let message = format!("`times` is {}", node.describe());
                        self.fault(
                            node.place,
                            message,
                            format!("write a whole number from 0 to {COUNT_MAX}"),
                        );
                        None
                    }),
                    None => {
                        self.fault(node.place, format!("`{name}` does not say how often"), help.as_str());
                        None
                    }
                };
                let event = self.events(&mut entries, 1, name)?.pop()?;
                let times = times? as u32;
                if name == "at-most" {
                    RuleDemand::AtMost(times, event)
                } else {
                    RuleDemand::AtLeast(times, event)
                }
            }
            _ => self.takes(&mut entries, &help)?,
        };
        self.leave(&entries, &format!("`{name}`"), &INSIDE_KEYS);
        Some(demand)
    }

    fn takes(&mut self, entries: &mut Entries<'_>, help: &str) -> Option<RuleDemand> {
        let mut pointer = |key: &str| match entries.take(key) {
            Some((_, node)) => self.pointer(node, key),
            None => {
                self.fault(entries.place, format!("`takes` has no `{key}`"), help);
                None
            }
        };
        let (argument, value) = (pointer("argument"), pointer("value"));
        let from = match entries.take("from") {
            Some((_, node)) => self.tool(node, "from"),
            None => {
                self.fault(entries.place, "`takes` has no `from`", help);
                None
            }
        };
        let event = self.events(entries, 1, "takes")?.pop()?;
        let from =
            EventPattern { moment: Phase::Done, tools: from?, arguments: Vec::new(), outcome: Vec::new() };
        if event.moment != Phase::Call {
            self.fault(entries.place, "only a `call` takes an argument", help);
            return None;
        }
        Some(RuleDemand::Takes { event, argument: argument?, from, value: value? })
    }

    /// The events among the entries, so many, in the order of the text. `where` belongs to the first of them, `result`
    /// to the one that is `done`, and `error` to the one that has `failed`.
    fn events(&mut self, entries: &mut Entries<'_>, wanted: usize, name: &str) -> Option<Vec<EventPattern>> {
        let moments = |key: &&str| Phase::ALL.into_iter().find(|moment| moment.key() == *key);
        let keys: Vec<Phase> = entries.order.iter().filter_map(moments).collect();
        if keys.len() != wanted {
            let message = match (keys.len(), wanted) {
                (0, _) => format!("`{name}` names no event"),
                (1, _) => format!("`{name}` names one event, and takes two"),
                (_, 1) => format!("`{name}` names {} events, and takes one", keys.len()),
                (count, _) => format!("`{name}` names {count} events, and takes two"),
            };
            let list =
                if wanted == 2 { "; two events of one kind are a list: [{call: a}, {call: b}]" } else { "" };
            self.fault(entries.place, message, format!("{EVENT_HELP}{list}"));
            return None;
        }
        let mut events = Vec::new();
        for moment in keys {
            let (_, node) = entries.take(moment.key())?;
            let tools = self.tool(node, moment.key());
            events.push(tools.map(|tools| EventPattern {
                moment,
                tools,
                arguments: Vec::new(),
                outcome: Vec::new(),
            }));
        }
        let mut events = events.into_iter().collect::<Option<Vec<EventPattern>>>()?;
        if let Some((_, node)) = entries.take("where") {
            events[0].arguments = self.checks(node, "where")?;
        }
        for (key, moment) in [("result", Phase::Done), ("error", Phase::Failed)] {
            let Some((place, node)) = entries.take(key) else { continue };
            let checks = self.checks(node, key)?;
            match events.iter_mut().find(|event| event.moment == moment) {
                Some(event) => event.outcome = checks,
                None => {
                    let message = format!("`{key}` without `{}`", moment.key());
                    self.fault(place, message, format!("write `{}: TOOL` beside it", moment.key()));
                    return None;
                }
            }
        }
        Some(events)
    }

    /// A tool's name with its aliases; `*` is any tool.
    fn tool(&mut self, node: &Node, key: &str) -> Option<Option<ToolNames>> {
        match node.text() {
            Some("*") => Some(None),
            Some(name) if !name.trim().is_empty() => Some(Some(self.names(name, node.place))),
            _ => {
                let message = format!("`{key}` is {}, not the name of a tool", node.describe());
                self.fault(node.place, message, "write a tool's name, or \"*\" for any");
                None
            }
        }
    }

    fn names(&self, name: &str, place: RulesPlace) -> ToolNames {
        let others = self.aliases.get(name).cloned().unwrap_or_default();
        ToolNames { names: std::iter::once(name.to_owned()).chain(others).collect(), place }
    }

    fn pointer(&mut self, node: &Node, key: &str) -> Option<Pointer> {
        const HELP: &str = "write a JSON pointer that begins with `/`, such as /customer_id";
        let Some(text) = node.text() else {
            self.fault(node.place, format!("`{key}` is {}, not a pointer", node.describe()), HELP);
            return None;
        };
        self.pointer_text(text, node.place, key)
    }

    fn pointer_text(&mut self, text: &str, place: RulesPlace, key: &str) -> Option<Pointer> {
        let escapes = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        // The empty pointer is the whole value, such as a result that is a text.
        if !(text.is_empty() || text.starts_with('/')) || !escapes {
            let help = match text.starts_with('/') {
                true => "write `~0` for `~`, and `~1` for `/` within a name".to_owned(),
                false => format!("write `/{text}`: a JSON pointer begins with `/`"),
            };
            self.fault(place, format!("`{key}` has `{text}`, which is not a JSON pointer"), help);
            return None;
        }
        // What a list holds is looked for in `value` alone; elsewhere, nothing would ever be found.
        if key != "value" && text.split('/').any(|part| part == "*") {
            let message = format!(
                "`{key}` has `{text}`, and `*` stands for every element only in the `value` of `takes`"
            );
            self.fault(
                place,
                message,
                "write the number of an element, such as /items/0, or the list itself",
            );
            return None;
        }
        Some(Pointer { text: text.to_owned(), place })
    }

    /// The tests in a map of pointers. A plain value means that it is this value.
    fn checks(&mut self, node: &Node, key: &str) -> Option<Vec<ValueCheck>> {
        let help = format!("write `{key}: {{/FIELD: VALUE}}` or `{key}: {{/FIELD: {{above: 100}}}}`");
        let Kind::Map(entries) = &node.kind else {
            self.fault(node.place, format!("`{key}` is {}, not a map of pointers", node.describe()), help);
            return None;
        };
        let before = self.faults.len();
        let mut checks = Vec::new();
        for (pointer, place, node) in entries {
            let Some(pointer) = self.pointer_text(pointer, *place, key) else { continue };
            let tests = match &node.kind {
                Kind::Map(tests) if !tests.is_empty() => {
                    tests.iter().filter_map(|(name, place, node)| self.test(name, *place, node)).collect()
                }
                _ => vec![RuleTest::Is(node.value())],
            };
            checks.extend(tests.into_iter().map(|test| ValueCheck { pointer: pointer.clone(), test }));
        }
        (self.faults.len() == before).then_some(checks)
    }

    fn test(&mut self, name: &str, place: RulesPlace, node: &Node) -> Option<RuleTest> {
        let bound = |reader: &mut Self| match JsonNumber::of(&node.value()) {
            Some(number) => Some(number),
            None => {
                let message = format!("`{name}` is {}, not a number", node.describe());
                reader.fault(node.place, message, format!("write `{name}: 100`"));
                None
            }
        };
        Some(match name {
            "is" => RuleTest::Is(node.value()),
            "is-not" => RuleTest::IsNot(node.value()),
            "one-of" => match &node.kind {
                Kind::List(items) if items.is_empty() => {
                    self.fault(node.place, "`one-of` names no value", "write `one-of: [a, b]`");
                    return None;
                }
                Kind::List(items) => RuleTest::OneOf(items.iter().map(Node::value).collect()),
                _ => {
                    let message = format!("`one-of` is {}, not a list", node.describe());
                    self.fault(node.place, message, "write `one-of: [a, b]`");
                    return None;
                }
            },
            "above" => RuleTest::Above(bound(self)?),
            "at-least" => RuleTest::AtLeast(bound(self)?),
            "below" => RuleTest::Below(bound(self)?),
            "at-most" => RuleTest::AtMost(bound(self)?),
            "matches" => {
                self.patterns += 1;
                if self.patterns > PATTERNS_MAX {
                    let message = format!("the file has more than {PATTERNS_MAX} regular expressions");
                    self.fault(place, message, "split the file");
                    return None;
                }
                let pattern = node.text().ok_or_else(|| format!("it is {}", node.describe()));
                match pattern.and_then(Pattern::over_lines) {
                    Ok(pattern) => RuleTest::Matches(pattern),
                    Err(what) => {
                        let help = "write a regular expression for the whole text, in single quotes; see docs/rules.md";
                        self.fault(
                            node.place,
                            format!("`matches` is not a regular expression: {what}"),
                            help,
                        );
                        return None;
                    }
                }
            }
            "type" => RuleTest::Type(self.types(node)?),
            "not" => RuleTest::Not(self.tests_within(node)?),
            "present" => match node.value() {
                Value::Bool(present) => RuleTest::Present(present),
                _ => {
                    let message = format!("`present` is {}", node.describe());
                    self.fault(node.place, message, "write true or false");
                    return None;
                }
            },
            _ => {
                let help = match nearest(name, TESTS) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => {
                        format!("write {}; for a value that is a map, write `is: {{...}}`", one_of(TESTS))
                    }
                };
                self.fault(place, format!("there is no test `{name}`"), help);
                return None;
            }
        })
    }

    /// The types of `type: number` or `type: [number, "null"]`.
    fn types(&mut self, node: &Node) -> Option<Vec<ValueType>> {
        let one = std::slice::from_ref(node);
        let nodes = if let Kind::List(items) = &node.kind { items.as_slice() } else { one };
        let names = || ValueType::ALL.iter().map(|kind| kind.name());
        let mut types = Vec::new();
        for node in nodes {
            // In YAML, `null` is no text.
            let name = if node.value().is_null() { Some("null") } else { node.text() };
            let Some(kind) = ValueType::ALL.into_iter().find(|kind| Some(kind.name()) == name) else {
                let help = match name.and_then(|name| nearest(name, names())) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("write {}", one_of(names())),
                };
                self.fault(node.place, format!("`type` has {}, which is not a type", node.describe()), help);
                return None;
            };
            types.push(kind);
        }
        if types.is_empty() {
            self.fault(node.place, "`type` names no type", format!("write {}", one_of(names())));
            return None;
        }
        Some(types)
    }

    /// The tests that `not` turns round.
    fn tests_within(&mut self, node: &Node) -> Option<Vec<RuleTest>> {
        const HELP: &str = "write tests: `not: {type: number, at-most: 100}`";
        let Kind::Map(entries) = &node.kind else {
            self.fault(node.place, format!("`not` is {}, not a map of tests", node.describe()), HELP);
            return None;
        };
        if entries.is_empty() {
            self.fault(node.place, "`not` has no tests", HELP);
            return None;
        }
        let mut tests = Vec::new();
        for (name, place, node) in entries {
            if matches!(name.as_str(), "not" | "present") {
                let help = "write the opposite: `present: false` for `not: {present: true}`";
                self.fault(*place, format!("`{name}` stands within `not`"), help);
                return None;
            }
            tests.push(self.test(name, *place, node)?);
        }
        Some(tests)
    }

    fn formula(&mut self, node: &Node) -> Option<RuleDemand> {
        let Some(text) = node.text() else {
            let help = "write the formula in quotes: formula: \"(always ...)\"";
            self.fault(node.place, format!("`formula` is {}, not a text", node.describe()), help);
            return None;
        };
        let (requirement, atoms) = match requirement_of(text) {
            Ok(read) => read,
            Err(faults) => {
                // The others may follow from the first, and all do from a limit.
                let is_limit = |fault: &Diagnostic| fault.code == Code::LimitExceeded;
                if let Some(fault) = faults.iter().find(|fault| is_limit(fault)).or_else(|| faults.first()) {
                    let help = fault.help.clone().unwrap_or_else(|| "see docs/rules.md".to_owned());
                    self.fault(node.place, format!("in the formula: {}", fault.message), help);
                }
                return None;
            }
        };
        if atoms.len() > RULE_EVENTS_MAX {
            let message = format!(
                "the formula has {} different events, and at most {RULE_EVENTS_MAX} are possible",
                atoms.len()
            );
            self.fault(node.place, message, "split it into several rules");
            return None;
        }
        let mut events = Vec::new();
        for atom in atoms {
            let (moment, tool, predicates) = match atom {
                Atom::Call(pattern) => (Phase::Call, pattern.tool, pattern.predicates),
                Atom::Name(name) => {
                    let known = Phase::ALL.into_iter().find_map(|moment| {
                        let tool = name.strip_prefix(moment.key())?.strip_prefix(':')?;
                        (!tool.is_empty())
                            .then(|| (moment, (tool != "*").then(|| tool.to_owned()), Vec::new()))
                    });
                    let Some(known) = known else {
                        let help = "write call:TOOL, done:TOOL, failed:TOOL or (call:TOOL (< /argument 100))";
                        self.fault(node.place, format!("in the formula: `{name}` is not an event"), help);
                        return None;
                    };
                    known
                }
            };
            let tools = tool.map(|tool| self.names(&tool, node.place));
            let arguments = predicates.into_iter().map(|predicate| check(predicate, node.place)).collect();
            events.push(EventPattern { moment, tools, arguments, outcome: Vec::new() });
        }
        Some(RuleDemand::Formula { source: text.to_owned(), requirement, events })
    }
}

fn pair(name: &str, first: EventPattern, second: EventPattern) -> RuleDemand {
    match name {
        "requires" => RuleDemand::Requires { trigger: first, needed: second },
        "followed-by" => RuleDemand::FollowedBy { trigger: first, then: second },
        _ => RuleDemand::NeverAfter { event: first, after: second },
    }
}

/// A test as specifications have it. Their arguments may be names.
fn check(predicate: Predicate, place: RulesPlace) -> ValueCheck {
    let Predicate { argument, test } = predicate;
    let text = match argument.starts_with('/') {
        true => argument,
        false => format!("/{}", argument.replace('~', "~0").replace('/', "~1")),
    };
    let test = match test {
        Test::Has => RuleTest::Present(true),
        Test::Equal(value) => RuleTest::Is(value),
        Test::NotEqual(value) => RuleTest::IsNot(value),
        Test::Below(bound) => RuleTest::Below(bound),
        Test::AtMost(bound) => RuleTest::AtMost(bound),
        Test::Above(bound) => RuleTest::Above(bound),
        Test::AtLeast(bound) => RuleTest::AtLeast(bound),
        Test::Matches(pattern) => RuleTest::Matches(pattern),
    };
    ValueCheck { pointer: Pointer { text, place }, test }
}
