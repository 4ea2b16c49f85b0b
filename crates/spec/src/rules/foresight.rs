//! What a call may lead to, before it is made: the decision of guards.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::compile::{Atom, Compiled, TestedOutcome};
use super::session::{Instance, State, is_indifferent, key, verdict_of};
use super::values::ValueClasses;
use super::{
    CallRule, EventPattern, Phase, RuleDemand, RuleSet, RuleTest, RuleVerdict, Session, SessionEvent,
    TooManyValues, ToolNames, ValueCheck,
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
    ///   can do so alone, only the result of the call counts, because the call makes nothing worse. A test of a result
    ///   may then hold or fail, unless every value passes it, or none; or
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
            let waiting: Vec<Foreseen> = pending
                .iter()
                .filter(is_alike)
                .map(|pending| instance.foreseen(compiled, &result_of(pending)))
                .filter(|foreseen| *foreseen != Foreseen::of(0) || !compiled.ignores_others)
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

/// A place in the arguments of calls that a rule looks at.
#[derive(Debug, Clone)]
pub struct ArgumentPlace {
    /// Of calls of which tool; `None` for any.
    tools: Option<ToolNames>,
    /// The names on the way to it, from the outside inwards; positions, where lists are on it.
    pub names: Vec<String>,
}

impl ArgumentPlace {
    /// Whether a rule looks there in calls of this tool.
    pub fn is_of(&self, server: Option<&str>, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.match_tool(server, tool))
    }
}

impl RuleSet {
    /// The places in arguments that the rules look at.
    pub fn argument_places(&self) -> Vec<ArgumentPlace> {
        let mut places = Vec::new();
        for rule in &self.rules {
            for (number, pattern) in rule.patterns().into_iter().enumerate() {
                let taken = match &rule.demand {
                    RuleDemand::Takes { argument, .. } if number == 0 => Some(argument),
                    _ => None,
                };
                let checked = pattern.arguments.iter().map(|check| &check.pointer);
                places.extend(checked.chain(&rule.per).chain(taken).map(|pointer| ArgumentPlace {
                    tools: pattern.tools.clone(),
                    names: pointer.parts().collect(),
                }));
            }
        }
        places
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

/// What a result that has not come can be to a rule, as sets of atoms: no more than two, because at most one event of a
/// rule tests results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Foreseen {
    /// If the test holds, or there is none.
    passing: usize,
    /// If it fails.
    failing: usize,
}

impl Foreseen {
    /// A result of which everything that matters is known.
    fn of(atoms: usize) -> Self {
        Self { passing: atoms, failing: atoms }
    }

    fn sets(self) -> impl Iterator<Item = usize> {
        let other = Some(self.failing).filter(|failing| *failing != self.passing);
        std::iter::once(self.passing).chain(other)
    }
}

impl Instance {
    /// What a result can be, of which only that it came is known.
    fn foreseen(&self, compiled: &Compiled, result: &SessionEvent<'_>) -> Foreseen {
        // Atoms without a test of results are known.
        let mut foreseen = Foreseen::of(0);
        let tests = compiled.tested.get_or_init(|| compiled.atoms.iter().map(tested).collect());
        for (bit, atom) in compiled.atoms.iter().enumerate() {
            let (holds, tested) = match atom {
                Atom::Event(pattern) => (pattern.matches_but_for_outcome(result), tests.get(bit)),
                // Only calls take values.
                Atom::NotTaken(..) => (false, None),
            };
            let tested = tested.copied().flatten();
            foreseen.passing |= usize::from(holds && tested.is_none_or(|test| test.can_hold)) << bit;
            foreseen.failing |= usize::from(holds && tested.is_none_or(|test| !test.can_fail)) << bit;
        }
        foreseen
    }
}

/// What the tests of a result in an atom can come to; `None` if it has none. Only of tests that every value passes, or
/// none at its place, is it known that they cannot come to something.
fn tested(atom: &Atom) -> Option<TestedOutcome> {
    let Atom::Event(EventPattern { outcome: checks, .. }) = atom else { return None };
    if checks.is_empty() {
        return None;
    }
    let mut found = TestedOutcome { can_hold: true, can_fail: false };
    for ValueCheck { pointer, .. } in checks {
        let of_place = checks.iter().filter(|other| other.pointer == *pointer);
        let tests: Vec<&RuleTest> = of_place.map(|other| &other.test).collect();
        let passes_all = |value: Option<&Value>| tests.iter().all(|test| test.holds(value));
        // A result is there; within it, anything may be missing.
        let is_within = pointer.parts().next().is_some();
        let (mut can_hold, mut can_fail) = (is_within && passes_all(None), is_within && !passes_all(None));
        if !(can_hold && can_fail) {
            let classes = ValueClasses { tests: tests.clone(), ..ValueClasses::default() };
            let (values, are_all) = classes.candidates();
            can_hold |= !are_all || values.iter().any(|value| passes_all(Some(value)));
            can_fail |= !are_all || values.iter().any(|value| !passes_all(Some(value)));
        }
        found.can_hold &= can_hold;
        found.can_fail |= can_fail;
    }
    Some(found)
}

fn speaks_against(
    compiled: &Compiled,
    instance: &Instance,
    call: &SessionEvent<'_>,
    done: &SessionEvent<'_>,
    mut waiting: Vec<Foreseen>,
) -> bool {
    let after = compiled.step(instance.position, instance.atoms(compiled, call));
    let own = instance.foreseen(compiled, done);
    if after == DEAD || own.sets().all(|atoms| compiled.step(after, atoms) == DEAD) {
        return true;
    }
    if waiting.is_empty() || can_be_violated(compiled, instance.position, &waiting) {
        return false;
    }
    waiting.push(own);
    can_be_violated(compiled, after, &waiting)
}

/// Whether some of these results, each at most once and in any order, lead to a violation whatever they say. If that
/// takes too long to find out, the answer is yes.
fn can_be_violated(compiled: &Compiled, from: u32, results: &[Foreseen]) -> bool {
    let mut counts: BTreeMap<Foreseen, usize> = BTreeMap::new();
    // A shortest way there passes no position twice.
    let most = compiled.positions();
    for result in results {
        let count = counts.entry(*result).or_default();
        *count = (*count + 1).min(most);
    }
    let (results, counts): (Vec<Foreseen>, Vec<usize>) = counts.into_iter().unzip();
    let mut known: HashMap<Awaiting, bool> = HashMap::new();
    let mut open = vec![Branch { at: (from, counts), kind: 0, said: 0 }];
    let mut answer = false;
    while let Some(branch) = open.last_mut() {
        let (position, counts) = &branch.at;
        let decided = match results.get(branch.kind) {
            None => Some(false),
            Some(_) if counts[branch.kind] == 0 => {
                branch.kind += 1;
                None
            }
            Some(result) => match result.sets().nth(branch.said) {
                None => Some(true),
                Some(atoms) => {
                    let mut left = counts.clone();
                    left[branch.kind] -= 1;
                    let next = (compiled.step(*position, atoms), left);
                    // A result that may change nothing is of no use.
                    match if next.0 == *position { Some(&false) } else { known.get(&next) } {
                        _ if next.0 == DEAD => branch.said += 1,
                        Some(true) => branch.said += 1,
                        Some(false) => (branch.kind, branch.said) = (branch.kind + 1, 0),
                        None => open.push(Branch { at: next, kind: 0, said: 0 }),
                    }
                    None
                }
            },
        };
        if known.len() + open.len() > RULE_FORESIGHT_MAX {
            return true;
        }
        if let Some(decided) = decided
            && let Some(branch) = open.pop()
        {
            answer = decided;
            known.insert(branch.at, decided);
        }
    }
    answer
}

/// A position, and how many results of each kind have not come there.
type Awaiting = (u32, Vec<usize>);

/// A question that is being answered: can one of the results come next so that, whatever it says, the rule is violated
/// by it or by those after it?
struct Branch {
    at: Awaiting,
    /// The result that is tried, by its number. Those before it cannot.
    kind: usize,
    /// What it says, of which there are up to two. What comes before that leads to a violation.
    said: usize,
}
