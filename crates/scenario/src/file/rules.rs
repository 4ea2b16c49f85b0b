//! The rules of a file of scenarios: in it, or in a file of their own, held to the tools that there are.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use planproof_spec::rules::tree::{Kind, Node};
use planproof_spec::rules::{Fault, KnownTool, RuleSet, RulesPlace, read_rule, rule_value, rules_tree};
use planproof_suite::CaseError;
use serde_json::{Map, Value};

use super::expected::without_words;
use super::{Reader, get};
use crate::line::WorldTool;

/// The rules of a file, or of one that it names.
#[derive(Default)]
pub(super) struct FileRules {
    pub(super) rules: Vec<Value>,
    /// [`None`]: the rule stands in another file.
    pub(super) places: Vec<Option<RulesPlace>>,
    pub(super) aliases: Map<String, Value>,
    /// The words that say a rule in some queries, by its id, with their places.
    pub(super) said: BTreeMap<String, (String, RulesPlace)>,
}

/// What rules are held to: the tools, and their other names.
pub(super) struct Vocabulary<'a> {
    tools: &'a [WorldTool],
    aliases: HashMap<String, Vec<String>>,
}

impl<'a> Vocabulary<'a> {
    pub(super) fn new(tools: &'a [WorldTool], aliases: &Map<String, Value>) -> Self {
        let names = |value: &Value| match value {
            Value::Array(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            name => name.as_str().map(str::to_owned).into_iter().collect(),
        };
        Self { tools, aliases: aliases.iter().map(|(name, others)| (name.clone(), names(others))).collect() }
    }

    /// The names of tools and arguments in these rules that no tool has, in the order of the text.
    fn unknown(&self, rules: &RuleSet) -> Vec<Fault> {
        let names: Vec<String> = self.tools.iter().map(|tool| tool.name.clone()).collect();
        let known: Vec<KnownTool<'_>> = self.tools.iter().map(WorldTool::known).collect();
        let mut faults = rules.unknown_tools(&names);
        faults.extend(rules.unknown_arguments(&known));
        faults.sort_by_key(|fault| fault.place);
        faults
    }
}

impl Reader<'_> {
    /// The rules of the file, or of one that it names.
    pub(super) fn rules(&self, node: &Node, tools: &[WorldTool]) -> Result<FileRules, CaseError> {
        if let Kind::List(items) = &node.kind {
            let mut rules = FileRules::default();
            let vocabulary = Vocabulary::new(tools, &rules.aliases);
            let mut ids = BTreeMap::new();
            for item in items {
                let (rule, words) = without_words(item);
                let read = self.rule(&rule, &vocabulary, None);
                let Some(read) = self.noted(read) else { continue };
                if self.noted(self.must_be_new(&read, item.place, &mut ids)).is_none() {
                    continue;
                }
                if let Some(words) = words {
                    let id = read.rules().first().map(|rule| rule.id.clone()).unwrap_or_default();
                    rules.said.insert(id, (self.text(words, "`words`")?.to_owned(), words.place));
                }
                rules.rules.push(rule_value(&rule));
                rules.places.push(Some(item.place));
            }
            return Ok(rules);
        }
        let (name, text) = self.named_file(node, "`rules`")?;
        // The place that counts is that in the file of rules.
        let fail = |fault: &dyn fmt::Display| CaseError::new(format!("{name}:{fault}"));
        let all = |faults: Vec<Fault>| {
            let last = self.last_of(faults.iter().map(|fault| fail(fault)));
            last.unwrap_or_else(|| CaseError::new(format!("{name}: the rules cannot be used")))
        };
        let read = RuleSet::read(&text).map_err(all)?;
        let root = rules_tree(&text).map_err(|fault| fail(&fault))?;
        let Kind::Map(entries) = &root.kind else { return Ok(FileRules::default()) };
        let rules: Vec<Value> = match get(entries, "rules").map(|node| &node.kind) {
            Some(Kind::List(items)) => items.iter().map(rule_value).collect(),
            _ => Vec::new(),
        };
        let aliases = match get(entries, "aliases").map(Node::value) {
            Some(Value::Object(aliases)) => aliases,
            _ => Map::new(),
        };
        let unknown = Vocabulary::new(tools, &aliases).unknown(&read);
        if !unknown.is_empty() {
            return Err(all(unknown));
        }
        let places = vec![None; rules.len()];
        Ok(FileRules { rules, places, aliases, said: BTreeMap::new() })
    }

    /// Checks one rule, and that there are such tools and arguments. If it is that of an expectation, this is its name.
    pub(super) fn rule(
        &self,
        node: &Node,
        vocabulary: &Vocabulary<'_>,
        expectation: Option<&str>,
    ) -> Result<RuleSet, CaseError> {
        let all = |faults: Vec<Fault>| {
            let texts = faults.iter().map(|fault| {
                let text = fault.to_string();
                match (expectation, get_text(node, "id")) {
                    (Some(name), Some(id)) => {
                        text.replacen(&format!("rule `{id}`"), &format!("expectation `{name}`"), 1)
                    }
                    _ => text,
                }
            });
            let last = self.last_of(texts.map(|text| CaseError::new(format!("{}:{text}", self.file))));
            last.unwrap_or_else(|| self.fault(node.place, "the rule cannot be used"))
        };
        let rule = read_rule(node, &vocabulary.aliases).map_err(all)?;
        let unknown = vocabulary.unknown(&rule);
        if unknown.is_empty() { Ok(rule) } else { Err(all(unknown)) }
    }

    /// Reports a rule whose name another rule has.
    pub(super) fn must_be_new(
        &self,
        rule: &RuleSet,
        place: RulesPlace,
        ids: &mut BTreeMap<String, Option<RulesPlace>>,
    ) -> Result<(), CaseError> {
        for rule in rule.rules() {
            if let Some(other) = ids.insert(rule.id.clone(), Some(place)) {
                let line = match other {
                    Some(other) => format!("the other one stands in line {}", other.line),
                    None => "the other one stands in the file of rules".to_owned(),
                };
                let what =
                    format!("two rules have the id `{}`: {line}; give this one an id of its own", rule.id);
                return Err(self.fault(place, what));
            }
        }
        Ok(())
    }
}

fn get_text<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    match &node.kind {
        Kind::Map(entries) => get(entries, key)?.text(),
        _ => None,
    }
}
