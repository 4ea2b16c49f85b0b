//! A session held against rules, event by event.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::compile::{Atom, Compiled};
use super::result::inner;
use super::{CallRule, EventPattern, Phase, Pointer, RuleDemand, RuleSet, SessionEvent};
use crate::automaton::dfa::DEAD;
use crate::limits::{RULE_INSTANCES_MAX, RULE_VALUES_MAX};
use crate::number::canonical;

/// What is known of a rule after the events so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleVerdict {
    /// It is held, whatever comes.
    Held,
    /// It is held if the session ends here; what comes may violate it.
    MayBeViolated,
    /// It is violated if the session ends here; what comes may fulfil it.
    MayBeHeld,
    /// It is violated, whatever comes.
    Violated,
}

impl RuleVerdict {
    /// Whether the rule is held if the session ends here.
    pub fn is_held_at_end(self) -> bool {
        self <= Self::MayBeViolated
    }

    /// The words of all outputs: `held`, `may still be violated`, `may still be held`, `violated`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::MayBeViolated => "may still be violated",
            Self::MayBeHeld => "may still be held",
            Self::Violated => "violated",
        }
    }
}

/// A rule would have to remember more values than are kept. Its verdict is no longer known, so the session is not
/// judged any further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooManyValues {
    /// The rule.
    pub rule: String,
    /// How many values are kept.
    pub limit: usize,
    /// What for: `values of per` or `values that may be taken`.
    pub what: &'static str,
}

impl fmt::Display for TooManyValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule `{}` has to remember more than {} {}", self.rule, self.limit, self.what)
    }
}

impl std::error::Error for TooManyValues {}

/// A session that is in progress. Cheap to clone: an event copies what is remembered of the rules that it concerns.
#[derive(Debug, Clone)]
pub struct Session {
    pub(super) rules: Arc<RuleSet>,
    pub(super) states: Vec<Arc<State>>,
}

/// What a call has changed of what a session remembers.
#[derive(Debug, Clone, Default)]
pub struct CallChanges(Vec<StandingBefore>);

/// Where a rule stood before a call.
#[derive(Debug, Clone)]
struct StandingBefore {
    rule: usize,
    /// The value of `per` that the call belongs to.
    value: Option<String>,
    /// `None` if the value had not come.
    position: Option<u32>,
    is_violated: bool,
}

/// What is remembered of a rule.
#[derive(Debug, Clone)]
pub(super) struct State {
    /// For the values of `per` of which no event has come; without `per`, for everything.
    pub(super) common: Instance,
    /// By the text of the value.
    pub(super) by_value: HashMap<String, Instance>,
    /// Whether the rule is violated for any value, which is never mended. The other values are followed further,
    /// because a guard decides on each.
    pub(super) is_violated: bool,
    /// A number that equal states share, once somebody has asked for it.
    digest: OnceLock<u64>,
}

impl State {
    pub(super) fn new(common: Instance, by_value: HashMap<String, Instance>, is_violated: bool) -> Self {
        Self { common, by_value, is_violated, digest: OnceLock::new() }
    }

    fn digest(&self) -> u64 {
        *self.digest.get_or_init(|| {
            if self.is_violated {
                return u64::MAX;
            }
            // Sums, because the entries of a map come in any order.
            let of_values = self.by_value.iter().map(|(key, instance)| digest_of(&(key, instance.digest())));
            of_values.fold(self.common.digest(), u64::wrapping_add)
        })
    }

    /// Whether two states have the same future.
    fn is_like(&self, other: &Self) -> bool {
        match (self.is_violated, other.is_violated) {
            (true, true) => true,
            (false, false) => self.common == other.common && self.by_value == other.by_value,
            _ => false,
        }
    }
}

/// The same number in every process.
fn digest_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Instance {
    pub(super) position: u32,
    pub(super) values: HashSet<String>,
}

impl Instance {
    fn digest(&self) -> u64 {
        let of_values = self.values.iter().map(digest_of);
        of_values.fold(digest_of(&self.position), u64::wrapping_add)
    }

    /// The atoms that hold of an event, as bits.
    pub(super) fn atoms(&self, compiled: &Compiled, event: &SessionEvent<'_>) -> usize {
        let mut set = 0;
        for (bit, atom) in compiled.atoms.iter().enumerate() {
            let holds = match atom {
                Atom::Event(pattern) => pattern.matches(event),
                Atom::NotTaken(pattern, argument) => {
                    let taken = || argument.target(event.arguments).map(canonical);
                    pattern.matches(event) && taken().is_none_or(|value| !self.values.contains(&value))
                }
            };
            set |= usize::from(holds) << bit;
        }
        set
    }

    /// Takes an event.
    fn observe(&mut self, compiled: &Compiled, event: &SessionEvent<'_>) -> Result<(), &'static str> {
        let set = self.atoms(compiled, event);
        if let Some(register) = &compiled.register
            && register.from.matches(event)
            && let Some(outcome) = event.outcome
        {
            for value in targets(outcome, &register.value) {
                self.values.insert(canonical(value));
            }
            if self.values.len() > RULE_VALUES_MAX {
                return Err("values that may be taken");
            }
        }
        self.position = compiled.step(self.position, set);
        Ok(())
    }
}

impl Session {
    /// A session without an event.
    pub fn new(rules: &Arc<RuleSet>) -> Self {
        let states = rules.rules.iter().zip(&rules.compiled).map(|(rule, compiled)| {
            let common = Instance { position: compiled.start(), values: HashSet::new() };
            // Without a value there is nothing that even an impossible rule could be violated by.
            let is_violated = common.position == DEAD && rule.per.is_none();
            Arc::new(State::new(common, HashMap::new(), is_violated))
        });
        Self { rules: Arc::clone(rules), states: states.collect() }
    }

    /// Takes the next event. Takes time in the number of rules that it concerns.
    ///
    /// # Errors
    /// A rule would have to remember too much.
    pub fn observe(&mut self, event: &SessionEvent<'_>) -> Result<(), TooManyValues> {
        self.take(event, None)
    }

    /// Takes a call that may have to be [taken back](Self::take_back). Takes as long as [`observe`](Self::observe).
    ///
    /// # Errors
    /// A rule would have to remember too much. What was changed before that showed can be taken back as well.
    pub fn observe_call(
        &mut self,
        call: &SessionEvent<'_>,
        changes: &mut CallChanges,
    ) -> Result<(), TooManyValues> {
        debug_assert!(call.moment == Phase::Call, "results bring values, which are not taken back");
        self.take(call, Some(changes))
    }

    /// Takes a call back that nothing has come after: it never happened.
    pub fn take_back(&mut self, changes: CallChanges) {
        for StandingBefore { rule, value, position, is_violated } in changes.0 {
            let state = Arc::make_mut(&mut self.states[rule]);
            state.digest = OnceLock::new();
            state.is_violated = is_violated;
            match (value, position) {
                (None, Some(position)) => state.common.position = position,
                (None, None) => {}
                (Some(value), None) => drop(state.by_value.remove(&value)),
                (Some(value), Some(position)) => {
                    if let Some(instance) = state.by_value.get_mut(&value) {
                        instance.position = position;
                    }
                }
            }
        }
    }

    fn take(
        &mut self,
        event: &SessionEvent<'_>,
        mut changes: Option<&mut CallChanges>,
    ) -> Result<(), TooManyValues> {
        for number in self.rules.index.of(event.tool) {
            let (rule, compiled) = (&self.rules.rules[number], &self.rules.compiled[number]);
            let state = &mut self.states[number];
            let is_over = state.is_violated && rule.per.is_none();
            if is_over || is_indifferent(rule, compiled, state, event) {
                continue;
            }
            let state = Arc::make_mut(state);
            state.digest = OnceLock::new();
            if let Some(changes) = changes.as_deref_mut() {
                let value = rule.per.as_ref().map(|per| key(per, event));
                let position = match &value {
                    None => Some(state.common.position),
                    Some(value) => state.by_value.get(value).map(|instance| instance.position),
                };
                let is_violated = state.is_violated;
                changes.0.push(StandingBefore { rule: number, value, position, is_violated });
            }
            let too_many = |what, limit| TooManyValues { rule: rule.id.clone(), limit, what };
            let position = match &rule.per {
                None => {
                    let observed = state.common.observe(compiled, event);
                    observed.map_err(|what| too_many(what, RULE_VALUES_MAX))?;
                    state.common.position
                }
                Some(per) => {
                    let key = key(per, event);
                    if !state.by_value.contains_key(&key) && state.by_value.len() >= RULE_INSTANCES_MAX {
                        return Err(too_many("values of per", RULE_INSTANCES_MAX));
                    }
                    let instance = state.by_value.entry(key).or_insert_with(|| state.common.clone());
                    let observed = instance.observe(compiled, event);
                    observed.map_err(|what| too_many(what, RULE_VALUES_MAX))?;
                    instance.position
                }
            };
            state.is_violated |= position == DEAD;
        }
        Ok(())
    }

    /// What is known of the rule of this number in the file.
    ///
    /// # Panics
    /// There is no such rule.
    pub fn verdict(&self, rule: usize) -> RuleVerdict {
        let (compiled, state) = (&self.rules.compiled[rule], &self.states[rule]);
        if state.is_violated {
            return RuleVerdict::Violated;
        }
        let of = |instance: &Instance| verdict_of(compiled, instance);
        // With `per`, some value has always not been seen yet, so the common position counts, too; but nothing is due
        // for a value that never comes, however the automaton starts.
        let common = match (&self.rules.rules[rule].per, of(&state.common)) {
            (Some(_), RuleVerdict::MayBeHeld | RuleVerdict::Violated) => RuleVerdict::MayBeViolated,
            (_, verdict) => verdict,
        };
        state.by_value.values().map(of).max().unwrap_or(RuleVerdict::Held).max(common)
    }

    /// The verdicts on all rules, in the order of the file.
    pub fn verdicts(&self) -> Vec<RuleVerdict> {
        (0..self.states.len()).map(|rule| self.verdict(rule)).collect()
    }

    /// The numbers of the rules that are violated for good.
    pub(super) fn violated(&self) -> impl Iterator<Item = usize> + '_ {
        self.states.iter().enumerate().filter(|(_, state)| state.is_violated).map(|(rule, _)| rule)
    }

    /// The numbers of the rules that this event would violate for good: the decision on a call, before it is made.
    /// Nothing is remembered of it.
    pub fn would_violate(&self, event: &SessionEvent<'_>) -> Vec<usize> {
        let mut violated = Vec::new();
        for number in self.rules.index.of(event.tool) {
            let (rule, compiled) = (&self.rules.rules[number], &self.rules.compiled[number]);
            let state = &self.states[number];
            if state.is_violated || is_indifferent(rule, compiled, state, event) {
                continue;
            }
            let instance = match &rule.per {
                None => &state.common,
                Some(per) => state.by_value.get(&key(per, event)).unwrap_or(&state.common),
            };
            if compiled.step(instance.position, instance.atoms(compiled, event)) == DEAD {
                violated.push(number);
            }
        }
        violated
    }

    /// Takes the next event, except for the rules that it violates for good: to them it did not happen. Gives their
    /// numbers.
    ///
    /// # Errors
    /// A rule would have to remember too much.
    pub(super) fn observe_unless_violated(
        &mut self,
        event: &SessionEvent<'_>,
    ) -> Result<Vec<usize>, TooManyValues> {
        let violated = self.would_violate(event);
        let before: Vec<Arc<State>> = violated.iter().map(|rule| Arc::clone(&self.states[*rule])).collect();
        self.observe(event)?;
        for (rule, state) in violated.iter().zip(before) {
            self.states[*rule] = state;
        }
        Ok(violated)
    }

    /// Where a rule would let a call pass if one of its values had another type, as 17 has beside `"17"`: a sentence
    /// without a full stop that says so. Takes time in what is remembered of the rule.
    pub fn differs_in_type(&self, rule: usize, event: &SessionEvent<'_>) -> Option<String> {
        let (compiled, state) = (self.rules.compiled.get(rule)?, self.states.get(rule)?);
        let demand = self.rules.rules.get(rule)?;
        let passes = |instance: &Instance, event: &SessionEvent<'_>| {
            compiled.step(instance.position, instance.atoms(compiled, event)) != DEAD
        };
        let said = |pointer: &Pointer, value: &Value, other: &Value| {
            let (pointer, here, there) = (pointer.as_str(), in_words(value), in_words(other));
            format!("Here {pointer} is {here}, and before it was {there}: the types differ")
        };
        if let Some(per) = &demand.per
            && let Some(value) = per.target(event.arguments)
        {
            let known = state.by_value.iter().filter(|(_, instance)| passes(instance, event));
            let mut alike: Vec<Value> = known.filter_map(|(key, _)| alike(value, key)).collect();
            alike.sort_by_key(ToString::to_string);
            if let Some(other) = alike.first() {
                return Some(said(per, value, other));
            }
        }
        let RuleDemand::Takes { argument, .. } = &demand.demand else { return None };
        let value = argument.target(event.arguments)?;
        let instance = match &demand.per {
            None => &state.common,
            Some(per) => state.by_value.get(&key(per, event))?,
        };
        let mut alike: Vec<Value> = instance.values.iter().filter_map(|known| alike(value, known)).collect();
        alike.sort_by_key(ToString::to_string);
        alike.first().map(|other| said(argument, value, other))
    }

    /// Everything that is remembered: sessions with the same memory have the same future. Takes time in the number of
    /// rules, and in what is remembered of those that the last events concerned.
    pub fn memory(&self) -> SessionMemory {
        SessionMemory(self.states.clone())
    }
}

/// What a session remembers, for sets of sessions.
#[derive(Debug, Clone)]
pub struct SessionMemory(Vec<Arc<State>>);

impl PartialEq for SessionMemory {
    fn eq(&self, other: &Self) -> bool {
        let both = || self.0.iter().zip(&other.0).filter(|(one, two)| !Arc::ptr_eq(one, two));
        self.0.len() == other.0.len()
            && both().all(|(one, two)| one.digest() == two.digest())
            && both().all(|(one, two)| one.is_like(two))
    }
}

impl Eq for SessionMemory {}

impl Hash for SessionMemory {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.iter().for_each(|state| hasher.write_u64(state.digest()));
    }
}

/// The value of a text in memory, if it differs from another one in its type alone.
fn alike(value: &Value, known: &str) -> Option<Value> {
    let plain = |value: &Value| match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(_) | Value::Bool(_) => Some(canonical(value)),
        _ => None,
    };
    let other: Value = serde_json::from_str(known).ok()?;
    let is_alike = value.is_string() != other.is_string() && plain(value)? == plain(&other)?;
    is_alike.then_some(other)
}

/// `the number 17`, `the text "17"`.
fn in_words(value: &Value) -> String {
    match value {
        Value::String(_) => format!("the text {value}"),
        Value::Number(_) => format!("the number {value}"),
        other => other.to_string(),
    }
}

pub(super) fn verdict_of(compiled: &Compiled, instance: &Instance) -> RuleVerdict {
    match compiled.outlook(instance.position) {
        None => RuleVerdict::Violated,
        Some(outlook) if !outlook.accepts => RuleVerdict::MayBeHeld,
        Some(outlook) if outlook.may_be_violated => RuleVerdict::MayBeViolated,
        Some(_) => RuleVerdict::Held,
    }
}

/// The value of `per` that an event belongs to. A call without it is one of a value of its own.
pub(super) fn key(per: &Pointer, event: &SessionEvent<'_>) -> String {
    per.target(event.arguments).map(canonical).unwrap_or_default()
}

/// Whether an event changes nothing for a rule.
pub(super) fn is_indifferent(
    rule: &CallRule,
    compiled: &Compiled,
    state: &State,
    event: &SessionEvent<'_>,
) -> bool {
    // Something may be due for each value, whatever event brings it.
    let counts_values =
        rule.per.is_some() && compiled.outlook(state.common.position).is_none_or(|outlook| !outlook.accepts);
    compiled.ignores_others && !counts_values && !concerns(compiled, event)
}

/// Whether any atom or the register of a rule may see the event. Tests of values are left to the instance.
fn concerns(compiled: &Compiled, event: &SessionEvent<'_>) -> bool {
    let is_of = |pattern: &EventPattern| {
        pattern.moment == event.moment
            && pattern.tools.as_ref().is_none_or(|tools| tools.match_tool(event.server, event.tool))
    };
    compiled.register.as_ref().is_some_and(|register| is_of(&register.from))
        || compiled.atoms.iter().any(|atom| match atom {
            Atom::Event(pattern) | Atom::NotTaken(pattern, _) => is_of(pattern),
        })
}

/// The values at a pointer into a result, in which `*` stands for every element of a list. What is not a list is one
/// element, because many servers write a list of one like that.
pub fn targets<'v>(outcome: &'v Value, pointer: &Pointer) -> Vec<&'v Value> {
    let mut found = vec![inner(outcome, pointer)];
    for part in pointer.parts() {
        let below = found.into_iter().flat_map(|value| match value {
            Value::Array(items) if part == "*" => items.iter().collect(),
            value if part == "*" => vec![value],
            Value::Array(items) => {
                part.parse::<usize>().ok().and_then(|index| items.get(index)).into_iter().collect()
            }
            Value::Object(entries) => entries.get(&part).into_iter().collect::<Vec<_>>(),
            _ => Vec::new(),
        });
        found = below.collect();
    }
    found
}
