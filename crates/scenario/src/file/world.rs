//! The world of a case in a file: its lines, and the values that these need and change.

use planproof_spec::nearest;
use planproof_spec::rules::tree::{Kind, Node};
use planproof_spec::rules::{read_checks, unknown_in_checks};
use planproof_suite::CaseError;
use serde_json::{Map, Value};

use super::{Entries, Reader, get};
use crate::limits::WORLD_LINES_MAX;
use crate::line::{Answer, WorldTool};
use crate::state::{LineFault, LineState, Values, beginning};

/// The keys of a line.
const LINE_KEYS: [&str; 8] = ["where", "needs", "otherwise", "returns", "fails", "sets", "adds", "subtracts"];

/// That there is no such tool, and which one was probably meant.
pub(super) fn unknown_tool<'t>(
    what: &str,
    name: &str,
    tools: impl IntoIterator<Item = &'t WorldTool>,
) -> String {
    let near = nearest(name, tools.into_iter().map(|tool| tool.name.as_str()));
    let meant = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    format!("{what}, and no tool is called so{meant}")
}

impl Reader<'_> {
    /// `{logged_in: false, balance: 100}`
    pub(super) fn state(&self, node: &Node) -> Result<Map<String, Value>, CaseError> {
        let Kind::Map(entries) = &node.kind else {
            let what = format!(
                "`state` is {}, not a map; write {{logged_in: false, balance: 100}}",
                node.describe()
            );
            return Err(self.fault(node.place, what));
        };
        let state = entries.iter().map(|(name, _, node)| (name.clone(), node.value())).collect();
        beginning(&state).map_err(|(name, what)| {
            let place = entries.iter().find(|(other, ..)| Some(other) == name.as_ref());
            self.fault(place.map_or(node.place, |(_, place, _)| *place), what)
        })?;
        Ok(state)
    }

    /// `{get_order: [{where: {...}, returns: ...}, {fails: "..."}]}`
    pub(super) fn world(
        &self,
        node: &Node,
        values: &Values,
        tools: &mut [WorldTool],
    ) -> Result<(), CaseError> {
        let Kind::Map(entries) = &node.kind else {
            return Err(self.fault(
                node.place,
                format!(
                    "`world` is {}, not a map of tools; write {{TOOL: [{{returns: ...}}]}}",
                    node.describe()
                ),
            ));
        };
        for (name, place, lines) in entries {
            let Some(at) = tools.iter().position(|tool| tool.name == *name) else {
                let what = unknown_tool(&format!("the world has `{name}`"), name, &*tools);
                self.noted::<()>(Err(self.fault(*place, what)));
                continue;
            };
            let tool = &mut tools[at];
            let Kind::List(lines) = &lines.kind else {
                let what = format!(
                    "the world of `{name}` is {}, not a list of lines; write {name}: [{{returns: ...}}]",
                    lines.describe()
                );
                self.noted::<()>(Err(self.fault(lines.place, what)));
                continue;
            };
            if let Some(line) = lines.get(WORLD_LINES_MAX) {
                let what =
                    format!("the world of `{name}` has more than {WORLD_LINES_MAX} lines; leave some out");
                return Err(self.fault(line.place, what));
            }
            for line in lines {
                let answer = self.noted(self.line(line, values, tool));
                tool.answers.extend(answer);
            }
        }
        Ok(())
    }

    /// `{where: {/amount: {above: 0}}, needs: logged_in, otherwise: "log in first", sets: {...}, returns: ...}`
    fn line(&self, node: &Node, values: &Values, tool: &WorldTool) -> Result<Answer, CaseError> {
        let entries = self.map(node, "a line of the world", &LINE_KEYS)?;
        let mut arguments = Map::new();
        if let Some(node) = get(entries, "where") {
            let checks = read_checks(node);
            let fault = match &checks {
                Ok(checks) => unknown_in_checks(checks, tool.known()),
                Err(fault) => Some(fault.clone()),
            };
            if let Some(fault) = fault {
                return Err(CaseError::new(format!("{}:{fault}", self.file)));
            }
            if let Value::Object(tests) = node.value() {
                arguments = tests;
            }
        }
        let text = |key: &str| {
            get(entries, key).map(|node| self.text(node, &format!("`{key}`")).map(str::to_owned)).transpose()
        };
        let answer = Answer {
            arguments,
            needs: self.needs(entries)?,
            otherwise: text("otherwise")?,
            returns: get(entries, "returns").map(Node::value),
            fails: text("fails")?,
            sets: self.changes(entries, "sets")?,
            adds: self.changes(entries, "adds")?,
            subtracts: self.changes(entries, "subtracts")?,
        };
        // A line that only changes something, or needs it, answers that it is done.
        let is_done = ["needs", "sets", "adds", "subtracts"].iter().any(|key| get(entries, key).is_some());
        let is_one = answer.returns.is_some() != answer.fails.is_some();
        if !is_one && (answer.returns.is_some() || !is_done) {
            return Err(self.fault(node.place, "write `returns`, or `fails` with the text of the error"));
        }
        let place_of = |fault: &LineFault| {
            let entry = entries.iter().find(|(key, ..)| key == fault.key);
            let below = entry.and_then(|(.., node)| match &node.kind {
                Kind::Map(entries) => entries.iter().find(|(name, ..)| Some(name) == fault.name.as_ref()),
                _ => None,
            });
            below.or(entry).map_or(node.place, |(_, place, _)| *place)
        };
        match LineState::new(&answer, values, tool.known()) {
            Ok(_) => Ok(answer),
            Err(fault) => Err(self.fault(place_of(&fault), &fault.what)),
        }
    }

    /// `logged_in`, `[logged_in, verified]` or `{balance: {at-least: 40}}`
    fn needs(&self, entries: Entries<'_>) -> Result<Map<String, Value>, CaseError> {
        let Some(node) = get(entries, "needs") else { return Ok(Map::new()) };
        let is_true = |name: &str| (name.to_owned(), Value::Bool(true));
        match (&node.kind, node.value()) {
            (Kind::Map(entries), Value::Object(needs)) if !entries.is_empty() => Ok(needs),
            (Kind::List(items), _) if !items.is_empty() => {
                items.iter().map(|item| self.text(item, "a value of `needs`").map(is_true)).collect()
            }
            (Kind::Scalar(Value::String(name)), _) => Ok(Map::from_iter([is_true(name)])),
            _ => {
                let what = format!(
                    "`needs` is {}; write `needs: logged_in` or `needs: {{balance: {{at-least: 40}}}}`",
                    node.describe()
                );
                Err(self.fault(node.place, what))
            }
        }
    }

    /// `{logged_in: true}`, `{balance: {$argument: /amount}}`
    fn changes(&self, entries: Entries<'_>, key: &str) -> Result<Map<String, Value>, CaseError> {
        let Some(node) = get(entries, key) else { return Ok(Map::new()) };
        match node.value() {
            Value::Object(changes) if !changes.is_empty() => Ok(changes),
            _ => {
                let what = format!(
                    "`{key}` is {}, not a map of values; write {key}: {{NAME: VALUE}}",
                    node.describe()
                );
                Err(self.fault(node.place, what))
            }
        }
    }
}
