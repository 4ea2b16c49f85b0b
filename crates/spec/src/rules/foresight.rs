//! What a call may lead to, before it is made: the decision of guards.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::compile::{Atom, Compiled};
use super::session::{Instance, State, is_indifferent, key, verdict_of};
use super::{
    CallRule, EventPattern, Phase, RuleDemand, RuleSet, RuleTest, RuleVerdict, Session, SessionEvent,
    TooManyValues,
};
use crate::automaton::dfa::DEAD;
use crate::limits::{RULE_FORESIGHT_MAX, RULE_INSTANCES_MAX};

impl Session {
    /// The numbers of the rules that speak against a call, before it is made. `pending` are the calls that were made
    /// and whose results have not come. Nothing is remembered of it.
    ///
    /// A rule speaks against a call if
    /// - the call violates it for good; or
    /// - results can, whatever they say: that of the call and any of those pending, in any order. Where those pending
    ///   can do so alone, only the result of the call counts, because the call makes nothing worse; or
    /// - results have violated it already, for the value of `per` that the call belongs to, and it speaks of such
    ///   calls.
    ///
    /// Takes time in the number of rules times that of pending calls.
    ///
    /// # Errors
    /// A rule would have to remember one value of `per` too many.
    pub fn objections(
        &self,
        call: &SessionEvent<'_>,
        pending: &[SessionEvent<'_>],
    ) -> Result<Vec<usize>, TooManyValues> {
        let mut objections = Vec::new();
        let done = result_of(call);
        for (number, (rule, compiled, state)) in self.parts_of(call) {
            let value = rule.per.as_ref().map(|per| key(per, call));
            let known = value.as_ref().map(|value| state.by_value.get(value));
            let instance = known.flatten().unwrap_or(&state.common);
            if instance.position == DEAD {
                if is_about(compiled, call) {
                    objections.push(number);
                }
                continue;
            }
            if is_indifferent(rule, compiled, state, call) && is_indifferent(rule, compiled, state, &done) {
                continue;
            }
            if matches!(known, Some(None)) && state.by_value.len() >= RULE_INSTANCES_MAX {
                let what = "values of per";
                return Err(TooManyValues { rule: rule.id.clone(), limit: RULE_INSTANCES_MAX, what });
            }
            let is_alike = |other: &&SessionEvent<'_>| match (&rule.per, &value) {
                (Some(per), Some(value)) => key(per, other) == *value,
                _ => true,
            };
            let waiting: Vec<usize> = pending
                .iter()
                .filter(is_alike)
                .map(|pending| instance.atoms(compiled, &result_of(pending)))
                .filter(|atoms| *atoms != 0 || !compiled.ignores_others)
                .collect();
            if speaks_against(compiled, instance, call, &done, waiting) {
                objections.push(number);
            }
        }
        Ok(objections)
    }

    /// The rules that speak of such calls, with what is known of each for the value of `per` that the call belongs to.
    pub fn standing(&self, call: &SessionEvent<'_>) -> Vec<(usize, RuleVerdict)> {
        let about = self.parts_of(call).filter(|(_, (_, compiled, _))| is_about(compiled, call));
        about
            .map(|(number, (rule, compiled, state))| {
                let value = rule.per.as_ref().map(|per| key(per, call));
                let verdict = match value.map(|value| state.by_value.get(&value)) {
                    // Nothing is due for a value that has not come.
                    Some(None) => verdict_of(compiled, &state.common).min(RuleVerdict::MayBeViolated),
                    known => verdict_of(compiled, known.flatten().unwrap_or(&state.common)),
                };
                (number, verdict)
            })
            .collect()
    }

    /// The rules that a call may matter to, with their numbers.
    fn parts_of(
        &self,
        call: &SessionEvent<'_>,
    ) -> impl Iterator<Item = (usize, (&CallRule, &Compiled, &State))> {
        let (rules, states) = (&self.rules, &self.states);
        rules
            .index
            .of(call.tool)
            .map(|number| (number, (&rules.rules[number], &*rules.compiled[number], &*states[number])))
    }
}

impl RuleSet {
    /// The names in arguments that the rules look at, each once: the parts of all pointers into arguments.
    pub fn argument_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for rule in &self.rules {
            let checks = rule.patterns().into_iter().flat_map(|pattern| &pattern.arguments);
            let taken = match &rule.demand {
                RuleDemand::Takes { argument, .. } => Some(argument),
                _ => None,
            };
            for pointer in checks.map(|check| &check.pointer).chain(&rule.per).chain(taken) {
                names.extend(pointer.parts());
            }
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The names of tools in the rules, with their aliases, each once.
    pub fn tool_names(&self) -> Vec<&str> {
        let tools =
            self.rules.iter().flat_map(CallRule::patterns).filter_map(|pattern| pattern.tools.as_ref());
        let mut names: Vec<&str> = tools.flat_map(|tools| &tools.names).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl CallRule {
    /// What a rejected call lacked before it, in words, if the rule says so.
    pub fn missing(&self) -> Option<String> {
        match &self.demand {
            RuleDemand::Requires { needed, .. } => Some(needed.to_string()),
            RuleDemand::Takes { from, value, .. } => {
                Some(format!("{from} with the value in {}", value.as_str()))
            }
            _ => None,
        }
    }

    /// The tool and the arguments of a call that has to come before one with these arguments, as far as the rule says:
    /// the value of `per`, and the values that it demands of the arguments. The tool is named as in the rule. `None`
    /// where it names no such call.
    pub fn needed_call(&self, arguments: &Value) -> Option<(String, Value)> {
        let (needed, taken) = match &self.demand {
            RuleDemand::Requires { needed, .. } => (needed, None),
            RuleDemand::Takes { from, argument, .. } => (from, Some(argument)),
            _ => return None,
        };
        let tool = needed.tools.as_ref()?.written().to_owned();
        let mut known = Value::Object(serde_json::Map::new());
        let of_per = self.per.as_ref().filter(|per| taken != Some(*per));
        let of_per = of_per.and_then(|per| Some((per, per.target(arguments)?)));
        let demanded = needed.arguments.iter().filter_map(|check| match &check.test {
            RuleTest::Is(value) => Some((&check.pointer, value)),
            _ => None,
        });
        for (pointer, value) in of_per.into_iter().chain(demanded) {
            // Deeper places would need objects that are not known.
            let mut parts = pointer.parts();
            if let (Some(key), None) = (parts.next(), parts.next()) {
                known[key] = value.clone();
            }
        }
        Some((tool, known))
    }
}

/// The result of a call, of which only that it came is known.
fn result_of<'e>(call: &SessionEvent<'e>) -> SessionEvent<'e> {
    SessionEvent { moment: Phase::Done, outcome: None, ..*call }
}

/// Whether a rule speaks of such a call, at any moment of it and whatever came of it.
fn is_about(compiled: &Compiled, call: &SessionEvent<'_>) -> bool {
    let matches = |pattern: &EventPattern| {
        pattern.tools.as_ref().is_none_or(|tools| tools.match_tool(call.server, call.tool))
            && pattern.arguments.iter().all(|check| check.holds(Some(call.arguments)))
    };
    compiled.atoms.iter().any(|atom| match atom {
        Atom::Event(pattern) | Atom::NotTaken(pattern, _) => matches(pattern),
    })
}

fn speaks_against(
    compiled: &Compiled,
    instance: &Instance,
    call: &SessionEvent<'_>,
    done: &SessionEvent<'_>,
    mut waiting: Vec<usize>,
) -> bool {
    let after = compiled.step(instance.position, instance.atoms(compiled, call));
    let own = instance.atoms(compiled, done);
    if after == DEAD || compiled.step(after, own) == DEAD {
        return true;
    }
    if waiting.is_empty() || can_be_violated(compiled, instance.position, &waiting) {
        return false;
    }
    waiting.push(own);
    can_be_violated(compiled, after, &waiting)
}

/// Whether some of these sets of atoms, each at most once and in any order, lead to a violation. If that takes too long
/// to find out, the answer is yes.
fn can_be_violated(compiled: &Compiled, from: u32, sets: &[usize]) -> bool {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    // A shortest way there passes no position twice.
    let most = compiled.positions();
    for set in sets {
        let count = counts.entry(*set).or_default();
        *count = (*count + 1).min(most);
    }
    let (sets, counts): (Vec<usize>, Vec<usize>) = counts.into_iter().unzip();
    let mut seen: HashSet<(u32, Vec<usize>)> = HashSet::from([(from, counts.clone())]);
    let mut open = vec![(from, counts)];
    while let Some((position, counts)) = open.pop() {
        for (place, set) in sets.iter().enumerate().filter(|(place, _)| counts[*place] > 0) {
            let next = compiled.step(position, *set);
            if next == DEAD || seen.len() > RULE_FORESIGHT_MAX {
                return true;
            }
            let mut left = counts.clone();
            left[place] -= 1;
            // Without a step there is nothing new to find with fewer left.
            if next != position && seen.insert((next, left.clone())) {
                open.push((next, left));
            }
        }
    }
    false
}
