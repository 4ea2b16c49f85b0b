//! Which rules an event may matter to, found by its tool: with many rules, most are about other tools.

use std::collections::HashMap;
use std::iter;

use super::CallRule;
use super::compile::{Atom, Compiled};

/// The rules of a set, by their numbers in it.
#[derive(Debug, Clone, Default)]
pub(super) struct RuleIndex {
    /// Those that any event may matter to.
    of_any: Vec<usize>,
    /// The others, by the names of tools that they have. A name may have a server before it, which only the event can
    /// tell, so a rule is found under each end of the name that may be a tool's.
    of_tool: HashMap<String, Vec<usize>>,
}

impl RuleIndex {
    /// The index of these rules, each with its automaton.
    pub(super) fn new<'r>(rules: impl Iterator<Item = (&'r CallRule, &'r Compiled)>) -> Self {
        let mut index = Self::default();
        for (number, (rule, compiled)) in rules.enumerate() {
            match tools_of(rule, compiled) {
                None => index.of_any.push(number),
                Some(names) => names.into_iter().for_each(|name| index.add(name, number)),
            }
        }
        index
    }

    fn add(&mut self, name: &str, number: usize) {
        let ends = name.match_indices('/').map(|(place, _)| &name[place + 1..]);
        for tool in iter::once(name).chain(ends) {
            let rules = self.of_tool.entry(tool.to_owned()).or_default();
            if rules.last() != Some(&number) {
                rules.push(number);
            }
        }
    }

    /// The rules that an event of this tool may matter to, in their order: all that it does, and perhaps others.
    pub(super) fn of<'i>(&'i self, tool: &str) -> impl Iterator<Item = usize> + use<'i> {
        let mut any = self.of_any.iter().copied().peekable();
        let mut own = self.of_tool.get(tool).map_or(&[][..], Vec::as_slice).iter().copied().peekable();
        // No rule is in both.
        iter::from_fn(move || match (any.peek(), own.peek()) {
            (Some(one), Some(other)) if other < one => own.next(),
            (Some(_), _) => any.next(),
            (None, _) => own.next(),
        })
    }
}

/// The names of tools that a rule is about; `None` if an event of any tool may matter to it.
fn tools_of<'r>(rule: &'r CallRule, compiled: &'r Compiled) -> Option<Vec<&'r str>> {
    // Something may be due for each value of `per`, whatever event brings it.
    let counts_values = rule.per.is_some() && !compiled.accepts_at_start();
    if counts_values || !compiled.ignores_others {
        return None;
    }
    let of_atoms = compiled.atoms.iter().map(|atom| match atom {
        Atom::Event(pattern) | Atom::NotTaken(pattern, _) => pattern,
    });
    let patterns = of_atoms.chain(compiled.register.iter().map(|register| &register.from));
    let mut names = Vec::new();
    for pattern in patterns {
        names.extend(pattern.tools.as_ref()?.names.iter().map(String::as_str));
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use crate::rules::session::is_indifferent;
    use crate::rules::{Phase, RuleSet, Session, SessionEvent};

    #[test]
    fn no_rule_is_overlooked() {
        let names = ["a", "s/a", "s/t/a", "a/b", "'*'"];
        let demands = ["never: {call: N}", "at-most: {done: N, times: 1}", "followed-by: {call: N, call: a}"];
        let mut text = String::from("schema: planproof/rules/v1\naliases: {a: [z, s/y]}\nrules:\n");
        for (number, name) in names.into_iter().enumerate() {
            for (other, demand) in demands.into_iter().enumerate() {
                let demand = demand.replace("call: N, call", "done: N, call").replace('N', name);
                text += &format!("  - {{id: r{number}-{other}, {demand}}}\n");
                text += &format!("  - {{id: p{number}-{other}, {demand}, per: /k}}\n");
            }
        }
        let rules = Arc::new(RuleSet::read(&text).expect("rules"));
        let (session, arguments) = (Session::new(&rules), json!({"k": 1}));
        for server in [None, Some("s"), Some("s/t"), Some("a")] {
            for tool in ["a", "b", "z", "y", "t/a", "s/a", "s/t/a", "a/b", "/", ""] {
                let found: Vec<usize> = rules.index.of(tool).collect();
                assert!(found.is_sorted_by(|one, other| one < other), "{found:?}");
                for moment in [Phase::Call, Phase::Done, Phase::Failed] {
                    let event = SessionEvent { server, ..SessionEvent::new(moment, tool, &arguments) };
                    for number in (0..rules.rules.len()).filter(|number| !found.contains(number)) {
                        let (rule, compiled) = (&rules.rules[number], &rules.compiled[number]);
                        assert!(
                            is_indifferent(rule, compiled, &session.states[number], &event),
                            "{}",
                            rule.id
                        );
                    }
                }
            }
        }
    }
}
