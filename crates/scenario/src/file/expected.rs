//! What is expected of a case: each entry as the rules that it is made of.

use std::collections::BTreeMap;

use planproof_spec::rules::tree::{Kind, Node};
use planproof_spec::rules::{RulesPlace, rule_value};
use planproof_suite::CaseError;
use serde_json::json;

use super::rules::Vocabulary;
use super::{DEMANDS, Reader, get};
use crate::line::Expectation;

/// What is expected of a case, as far as it has been read.
#[derive(Default)]
pub(super) struct Expected {
    pub(super) rules: Vec<Expectation>,
    pub(super) places: Vec<Option<RulesPlace>>,
    pub(super) only: Option<(Vec<String>, RulesPlace)>,
}

impl Reader<'_> {
    pub(super) fn expectation(
        &self,
        node: &Node,
        number: usize,
        messages: &[&str],
        vocabulary: &Vocabulary<'_>,
        ids: &mut BTreeMap<String, Option<RulesPlace>>,
        expected: &mut Expected,
    ) -> Result<(), CaseError> {
        let known: Vec<&str> = ["do", "only", "with", "words", "id", "why", "per", "from", "until"]
            .into_iter()
            .chain(DEMANDS)
            .collect();
        let misplaced = self.inside_keys(node);
        if !misplaced.is_empty() {
            return Err(self
                .last_of(misplaced)
                .unwrap_or_else(|| self.fault(node.place, "not an expectation")));
        }
        let entries = self.map(node, "an expectation", &known)?;
        let asked: Vec<&str> = entries.iter().map(|(key, ..)| key.as_str()).collect();
        let asks = |key: &&&str| ["do", "with"].contains(*key) || DEMANDS.contains(*key);
        let demanded: Vec<&str> = asked.iter().filter(asks).copied().collect();
        let demand = match demanded.as_slice() {
            [one] => *one,
            [] => {
                let what =
                    format!("the expectation demands nothing; write `do`, `with`, {}", DEMANDS.join(", "));
                return Err(self.fault(node.place, what));
            }
            several => {
                let what = format!("the expectation has `{}`; write one for each", several.join("`, `"));
                return Err(self.fault(node.place, what));
            }
        };
        let of_rules = ["why", "per"];
        let misplaced = entries.iter().find(|(key, ..)| match key.as_str() {
            "only" => demand != "do",
            key => of_rules.contains(&key) && !DEMANDS.contains(&demand),
        });
        if let Some((key, place, _)) = misplaced {
            return Err(self.fault(*place, format!("`{key}` has no meaning beside `{demand}`; leave it out")));
        }
        let words = get(entries, "words").map(|node| self.text(node, "`words`")).transpose()?;
        // The message that says it is the one from which on it binds.
        let said = words.map(|words| messages.iter().position(|message| message.contains(words)));
        if let (Some(None), Some(words)) = (said, words) {
            let speaker = if messages.len() > 1 { "no message says" } else { "the query does not say" };
            let what = format!("{speaker} `{words}`: copy its words as they are");
            return Err(self.fault(get(entries, "words").map_or(node.place, |node| node.place), what));
        }
        let words = words.map(str::to_owned);
        let is_whole = ["first", "last", "formula"].contains(&demand);
        let number_of = |key: &str| -> Result<Option<u32>, CaseError> {
            let Some(node) = get(entries, key) else { return Ok(None) };
            if is_whole {
                let what = format!("`{demand}` is about the whole session; leave out `{key}`");
                return Err(self.fault(node.place, what));
            }
            let number = node.value().as_u64().filter(|number| (1..=messages.len() as u64).contains(number));
            let what = || {
                format!(
                    "`{key}` is {}, not the number of a message, 1 to {}",
                    node.describe(),
                    messages.len()
                )
            };
            let number = number.ok_or_else(|| self.fault(node.place, what()))?;
            Ok(u32::try_from(number).ok())
        };
        let (from, until) = (number_of("from")?, number_of("until")?);
        let said = said.flatten().and_then(|place| u32::try_from(place + 1).ok());
        let from = from.or(said).filter(|from| *from > 1 && !is_whole);
        if let (Some(from), Some(last)) = (from, until.filter(|until| from.is_some_and(|from| from > *until)))
        {
            let what = format!(
                "the expectation binds from message {from} until message {last}: `until` comes first"
            );
            return Err(self.fault(get(entries, "until").map_or(node.place, |node| node.place), what));
        }
        let id = match get(entries, "id") {
            Some(node) => self.text(node, "the id")?.to_owned(),
            None => format!("e{number}"),
        };
        let id_at = |place: RulesPlace, id: String| {
            ("id".to_owned(), place, Node { kind: Kind::Scalar(id.into()), place })
        };
        let name = id.clone();
        let mut add = |rule: Node| -> Result<(), CaseError> {
            let read = self.rule(&rule, vocabulary, Some(&name))?;
            self.must_be_new(&read, node.place, ids)?;
            expected.rules.push(Expectation { rule: rule_value(&rule), words: words.clone(), from, until });
            expected.places.push(Some(node.place));
            Ok(())
        };
        // One event or more, as a rule.
        let at_least = |mut event: Vec<(String, RulesPlace, Node)>, place: RulesPlace, id: String| {
            event.push(("times".to_owned(), place, Node { kind: Kind::Scalar(json!(1)), place }));
            let event = Node { kind: Kind::Map(event), place };
            let entries = vec![id_at(place, id), ("at-least".to_owned(), place, event)];
            Node { kind: Kind::Map(entries), place }
        };
        if let Some(listed) = get(entries, "do") {
            let mut names = Vec::new();
            let form = format!("do: [{}]", listed.text().unwrap_or("TOOL"));
            let items = self.list(listed, "`do`", &form)?;
            if items.is_empty() {
                return Err(self.fault(listed.place, "`do` lists no tool; write `do: [TOOL]`"));
            }
            for item in items {
                let name = self.text(item, "a tool of `do`")?;
                if names.iter().any(|other| other == name) {
                    let what = format!(
                        "`do` lists `{name}` twice; for two calls write `at-least: {{done: {name}, times: 2}}`"
                    );
                    return Err(self.fault(item.place, what));
                }
                add(at_least(
                    vec![("done".to_owned(), item.place, item.clone())],
                    item.place,
                    format!("{id}: {name}"),
                ))?;
                names.push(name.to_owned());
            }
            if get(entries, "only").map_or(Ok(false), |node| self.flag(node, "`only`"))? {
                expected.only = Some((names, node.place));
            }
            return Ok(());
        }
        if let Some(with) = get(entries, "with") {
            let event = self.map(with, "`with`", &["call", "done", "failed", "where", "result", "error"])?;
            return add(at_least(event.to_vec(), with.place, id));
        }
        let (rule, _) = without_words(node);
        let Kind::Map(mut entries) = rule.kind else { return Ok(()) };
        entries.retain(|(key, ..)| !["id", "from", "until"].contains(&key.as_str()));
        entries.insert(0, id_at(node.place, id));
        add(Node { kind: Kind::Map(entries), place: node.place })
    }
}

impl Reader<'_> {
    /// The faults of keys that stand beside the demand of an expectation, and belong inside it.
    fn inside_keys(&self, node: &Node) -> Vec<CaseError> {
        const INSIDE: [&str; 9] =
            ["call", "done", "failed", "where", "result", "error", "times", "argument", "value"];
        let Kind::Map(entries) = &node.kind else { return Vec::new() };
        let is_demand =
            |key: &&str| ["do", "with"].contains(key) || (DEMANDS.contains(key) && *key != "formula");
        let Some(demand) = entries.iter().map(|(key, ..)| key.as_str()).find(is_demand) else {
            return Vec::new();
        };
        let inside = entries.iter().filter(|(key, ..)| INSIDE.contains(&key.as_str()));
        let faults = inside.map(|(key, place, _)| {
            let what = match demand {
                "do" => format!("`{key}` does not go with `do`; write `with: {{done: TOOL, {key}: ...}}`"),
                _ => format!(
                    "`{key}` stands beside `{demand}`, and belongs inside it; write `{demand}: {{..., {key}: ...}}`"
                ),
            };
            self.fault(*place, what)
        });
        faults.collect()
    }
}

/// A rule as rules v1 has it, and the words that say it.
pub(super) fn without_words(rule: &Node) -> (Node, Option<&Node>) {
    let Kind::Map(entries) = &rule.kind else { return (rule.clone(), None) };
    let left = entries.iter().filter(|(key, ..)| key != "words").cloned().collect();
    (Node { kind: Kind::Map(left), place: rule.place }, get(entries, "words"))
}
