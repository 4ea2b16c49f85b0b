//! The places in arguments and outcomes that rules look at, and the values that are tried at them.
//!
//! `per` compares arguments of different calls, and `takes` arguments with results. Places whose values are compared
//! have the same values, which are chosen by the tests of all of them together.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::samples::ANY_OTHER_TOOL;
use super::search::tools;
use super::spots::{Spot, index_of, is_list_in, leads_into};
use super::values::{Representatives, ValueClasses};
use super::{CallRule, EventPattern, Phase, Pointer, RuleDemand, RuleSet, RuleTest};
use crate::limits::{RULE_EQUALS_MAX, RULE_SAMPLES_MAX};

/// What a place is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PlaceKind {
    Argument,
    Result,
    Error,
}

/// The number of a tool, what the place is in, and the pointer to it.
type PlaceKey = (usize, PlaceKind, String);

/// A place that rules look at.
#[derive(Debug, Default)]
struct SamplePlace<'r> {
    tests: Vec<&'r RuleTest>,
    /// Values that are taken before others.
    preferred: Vec<Value>,
    /// The number of its group: places whose values are compared.
    group: usize,
    /// Whether its values are compared with others.
    is_compared: bool,
    /// Whether a result may have several of its values, because its pointer leads to each element of a list.
    is_many: bool,
}

/// The places of all tools that rules look at.
#[derive(Debug)]
pub(super) struct SamplePlaces<'r> {
    rules: &'r RuleSet,
    places: BTreeMap<PlaceKey, SamplePlace<'r>>,
    /// How many values of a class are tried at places that are compared, at most.
    copies: usize,
    /// The values of the groups that have been chosen.
    chosen: BTreeMap<usize, Representatives>,
    /// Whether all values that the rules tell apart are among those that were chosen so far.
    pub(super) are_all: bool,
}

impl RuleSet {
    /// Whether any call matters to a rule, also one of a tool that it does not name.
    pub(super) fn counts_any_tool(&self, number: usize) -> bool {
        let (rule, compiled) = (&self.rules[number], &self.compiled[number]);
        // Something may be due for each value, whatever call brings it.
        rule.concerns_any_tool() || (rule.per.is_some() && !compiled.accepts_at_start())
    }

    /// How many values of a class have to be tried at any place whose values are compared, so that more make no
    /// difference.
    pub(super) fn copies(&self) -> usize {
        let pointers = self.rules.iter().filter_map(|rule| rule.per.as_ref());
        pointers.map(|per| self.copies_at(per)).max().unwrap_or(2)
    }

    /// The same at an argument: its values are compared with those of results from which calls take it, and so with
    /// those of arguments for which calls take them from there as well.
    pub(super) fn copies_at(&self, argument: &Pointer) -> usize {
        let mut linked = BTreeSet::from([argument.as_str()]);
        loop {
            let before = linked.len();
            for rule in &self.rules {
                // Pointers into results of other tools may be alike, which asks for more values than needed.
                if let RuleDemand::Takes { argument, value, .. } = &rule.demand
                    && (linked.contains(argument.as_str()) || linked.contains(value.as_str()))
                {
                    linked.extend([argument.as_str(), value.as_str()]);
                }
            }
            if linked.len() == before {
                return self.copies_where(|per| linked.contains(per.as_str()));
            }
        }
    }

    /// How many values of a class have to be tried at places whose values are compared with one another, so that more
    /// make no difference. `is_among` says whether the `per` of a rule is one of these places.
    ///
    /// Take a session with more values. Two of a class can be one value, unless a rule forbids something for a value
    /// that has come before: all other rules hold of both together if they hold of each. So a value of its own is
    /// needed only for each call that such a rule may restrict, and of these only as many calls are needed as the
    /// rules demand; one more value violates a rule, and one is for all other calls.
    fn copies_where(&self, is_among: impl Fn(&Pointer) -> bool) -> usize {
        let compares = |rule: &&CallRule| rule.per.as_ref().is_some_and(&is_among);
        let restricting: Vec<&CallRule> = self
            .rules
            .iter()
            .filter(compares)
            .filter(|rule| match &rule.demand {
                RuleDemand::AtMost(..) | RuleDemand::NeverAfter { .. } | RuleDemand::Formula { .. } => true,
                RuleDemand::Requires { .. }
                | RuleDemand::FollowedBy { .. }
                | RuleDemand::Never(_)
                | RuleDemand::AtLeast(..)
                | RuleDemand::First(_)
                | RuleDemand::Last(_)
                | RuleDemand::Takes { .. } => false,
            })
            .collect();
        let is_taken = |rule: &&CallRule| matches!(rule.demand, RuleDemand::Takes { .. });
        // The value of `per` and the one that is taken may differ.
        let copies = 2 + self.rules.iter().filter(compares).filter(is_taken).count();
        if restricting.is_empty() {
            return copies;
        }
        let mut tools = tools(self);
        tools.push(ANY_OTHER_TOOL.to_owned());
        let restricts = |tool: &String| {
            let mut patterns = restricting.iter().flat_map(|rule| rule.patterns());
            patterns.any(|pattern| pattern.is_of(tool))
        };
        tools.retain(restricts);
        let is_restricted = |pattern: &EventPattern| tools.iter().any(|tool| pattern.is_of(tool));
        let demanded = self.rules.iter().map(|rule| match &rule.demand {
            // One more than `at-most` allows violates it.
            RuleDemand::AtLeast(times, event) | RuleDemand::AtMost(times, event) if is_restricted(event) => {
                *times as usize
            }
            RuleDemand::Requires { needed: event, .. }
            | RuleDemand::FollowedBy { then: event, .. }
            | RuleDemand::Takes { from: event, .. }
            | RuleDemand::NeverAfter { after: event, .. }
            | RuleDemand::First(event)
            | RuleDemand::Last(event) => usize::from(is_restricted(event)),
            RuleDemand::Formula { events, .. } if events.iter().any(is_restricted) => 1 + events.len(),
            RuleDemand::AtLeast(..)
            | RuleDemand::AtMost(..)
            | RuleDemand::Formula { .. }
            | RuleDemand::Never(_) => 0,
        });
        demanded.fold(copies, usize::saturating_add)
    }
}

impl<'r> SamplePlaces<'r> {
    /// The places of these tools, with so many values of each class where values are compared. Values for the rule of
    /// the number `first` come before others.
    pub(super) fn new(rules: &'r RuleSet, tools: &[String], first: Option<usize>, copies: usize) -> Self {
        let mut found = Self {
            rules,
            places: BTreeMap::new(),
            copies: copies.min(RULE_EQUALS_MAX),
            chosen: BTreeMap::new(),
            are_all: true,
        };
        let order = first.into_iter().chain((0..rules.rules.len()).filter(|rule| Some(*rule) != first));
        for number in order {
            let Some(rule) = rules.rules.get(number) else { continue };
            let is_of = |pattern: &EventPattern, tool: &String| {
                pattern.tools.as_ref().is_none_or(|tools| tools.match_tool(None, tool))
            };
            let patterns = rule.patterns();
            let mut compared: Vec<PlaceKey> = Vec::new();
            for (place, tool) in tools.iter().enumerate() {
                let concerned = patterns.iter().filter(|pattern| is_of(pattern, tool));
                let mut is_concerned = rules.counts_any_tool(number);
                for pattern in concerned {
                    is_concerned = true;
                    for check in &pattern.arguments {
                        found
                            .at((place, PlaceKind::Argument, check.pointer.as_str().to_owned()))
                            .tests
                            .push(&check.test);
                    }
                    let kind =
                        if pattern.moment == Phase::Failed { PlaceKind::Error } else { PlaceKind::Result };
                    for check in &pattern.outcome {
                        found.at((place, kind, check.pointer.as_str().to_owned())).tests.push(&check.test);
                    }
                }
                if let Some(per) = rule.per.as_ref().filter(|_| is_concerned) {
                    let key = (place, PlaceKind::Argument, per.as_str().to_owned());
                    let numbers = (1..=found.copies).map(|number| json!(number));
                    found.at(key.clone()).preferred.extend(numbers);
                    compared.push(key);
                }
            }
            found.compare(&compared);
            let RuleDemand::Takes { event, argument, from, value } = &rule.demand else { continue };
            let mut taken: Vec<PlaceKey> = Vec::new();
            for (place, tool) in tools.iter().enumerate() {
                let letters = || (b'a'..=b'z').map(|letter| json!(char::from(letter).to_string()));
                if is_of(event, tool) {
                    let key = (place, PlaceKind::Argument, argument.as_str().to_owned());
                    let letters = letters().take(found.copies);
                    found.at(key.clone()).preferred.extend(letters);
                    taken.push(key);
                }
                if is_of(from, tool) {
                    let key = (place, PlaceKind::Result, value.as_str().to_owned());
                    let letters = letters().take(found.copies);
                    let at = found.at(key.clone());
                    at.preferred.extend(letters);
                    at.is_many = value.parts().any(|part| part == "*");
                    taken.push(key);
                }
            }
            found.compare(&taken);
        }
        found
    }

    fn at(&mut self, key: PlaceKey) -> &mut SamplePlace<'r> {
        let group = self.places.len();
        self.places.entry(key).or_insert_with(|| SamplePlace { group, ..SamplePlace::default() })
    }

    /// Makes one group of the groups of these places.
    fn compare(&mut self, keys: &[PlaceKey]) {
        let groups: Vec<usize> = keys.iter().map(|key| self.at(key.clone()).group).collect();
        let Some(into) = groups.first().copied() else { return };
        for place in self.places.values_mut().filter(|place| groups.contains(&place.group)) {
            place.group = into;
            place.is_compared = true;
        }
    }

    /// The values of a group.
    fn values(&mut self, group: usize) -> Vec<Value> {
        if let Some(chosen) = self.chosen.get(&group) {
            return chosen.values.clone();
        }
        let of_group = || self.places.iter().filter(|(_, place)| place.group == group);
        let members = || of_group().map(|(_, place)| place);
        let needed = match members().any(|place| place.is_compared) {
            true => self.rules.copies_where(|per| {
                of_group().any(|((_, kind, pointer), _)| {
                    *kind == PlaceKind::Argument && pointer.as_str() == per.as_str()
                })
            }),
            false => 1,
        };
        self.are_all &= needed <= self.copies;
        let classes = ValueClasses {
            tests: members().flat_map(|place| place.tests.iter().copied()).collect(),
            preferred: members().flat_map(|place| place.preferred.iter().cloned()).collect(),
            copies: needed.min(self.copies),
            ..ValueClasses::default()
        };
        let chosen = classes.representatives(|_| true);
        self.are_all &= chosen.are_all;
        let values = chosen.values.clone();
        self.chosen.insert(group, chosen);
        values
    }

    /// Arguments, results or errors of a tool with each choice of values, up to [`RULE_SAMPLES_MAX`]. Among the choices
    /// for a place is that nothing is there, but comes last.
    pub(super) fn samples(&mut self, tool: usize, kind: PlaceKind) -> Vec<Value> {
        let of_tool = self.places.iter().filter(|((of, in_, _), _)| *of == tool && *in_ == kind);
        let of_tool = of_tool.map(|((_, _, pointer), place)| (pointer.clone(), place.group, place.is_many));
        let of_tool: Vec<(String, usize, bool)> = of_tool.collect();
        let pointers: Vec<&str> = of_tool.iter().map(|(pointer, _, _)| pointer.as_str()).collect();
        if !self.are_independent(tool, kind, &pointers) {
            self.are_all = false;
        }
        // Elements of a list are there up to some place, and entries of a map each for itself. Where the pointers see
        // that difference, both are tried.
        let has_list = pointers.iter().any(|pointer| {
            let places = pointer.match_indices('/').map(|(at, _)| (&pointer[..at], &pointer[at + 1..]));
            places.into_iter().any(|(stem, rest)| {
                let is_place = rest.split('/').next().and_then(index_of).is_some();
                let is_stem = |other: &&str| leads_into(stem, other) || *other == stem;
                is_place && pointers.iter().any(|other| other != pointer && is_stem(other))
            })
        });
        let mut all: Vec<Value> = Vec::new();
        for as_list in if has_list { &[true, false][..] } else { &[true] } {
            let mut made = vec![json!({})];
            for (pointer, group, is_many) in &of_tool {
                let written = Pointer::made(pointer.replace("/*", "/0"));
                let is_list = |stem: &str| *as_list && is_list_in(pointers.iter().copied(), stem);
                let spot = match is_many {
                    true => Spot::new(&written, |_| true),
                    false => Spot::new(&Pointer::made(pointer.as_str()), is_list),
                };
                let values = self.values(*group);
                let mut next: Vec<Value> = Vec::new();
                let mut add = |object: Value, are_all: &mut bool| {
                    if !next.contains(&object) {
                        match next.len() < RULE_SAMPLES_MAX {
                            true => next.push(object),
                            false => *are_all = false,
                        }
                    }
                };
                for value in &values {
                    for object in &made {
                        let mut object = object.clone();
                        spot.put(&mut object, value.clone(), &|_| Value::Null);
                        add(object, &mut self.are_all);
                    }
                }
                if *is_many {
                    for several in several_of(&values, &mut self.are_all) {
                        for object in &made {
                            let mut object = object.clone();
                            put_many(&mut object, pointer, &several);
                            add(object, &mut self.are_all);
                        }
                    }
                }
                for object in &made {
                    add(object.clone(), &mut self.are_all);
                }
                made = next;
            }
            for object in made {
                if !all.contains(&object) {
                    all.push(object);
                }
            }
        }
        all
    }

    /// Whether a value can be put at each of these places whatever is put at the others, but that a place which is only
    /// tested for its type may have others in it.
    fn are_independent(&self, tool: usize, kind: PlaceKind, pointers: &[&str]) -> bool {
        pointers.iter().all(|outer| {
            let place = self.places.get(&(tool, kind, (*outer).to_owned()));
            let is_open = place.is_none_or(|place| {
                !place.is_compared && !place.is_many && place.tests.iter().all(|test| test.is_of_type())
            });
            let is_many = place.is_some_and(|place| place.is_many);
            // A list of which each element counts has other elements than those at places in it.
            !(is_many && pointers.len() > 1)
                && (is_open || !pointers.iter().any(|inner| leads_into(outer, inner)))
        })
    }
}

/// Each choice of two of these values or more, as far as there are few of them.
fn several_of(values: &[Value], are_all: &mut bool) -> Vec<Vec<Value>> {
    let some = &values[..values.len().min(4)];
    *are_all &= some.len() == values.len();
    (0..1_usize << some.len())
        .filter(|set| set.count_ones() > 1)
        .map(|set| {
            let chosen = some.iter().enumerate().filter(|(place, _)| set >> place & 1 == 1);
            chosen.map(|(_, value)| value.clone()).collect()
        })
        .collect()
}

/// Puts several values where a pointer with `*` leads: one in each element of the first list.
fn put_many(within: &mut Value, pointer: &str, values: &[Value]) {
    let Some((stem, rest)) = pointer.split_once("/*") else { return };
    let elements = values.iter().map(|value| {
        let mut element = Value::Null;
        let rest = Pointer::made(rest.replace("/*", "/0"));
        Spot::new(&rest, |_| true).put(&mut element, value.clone(), &|_| Value::Null);
        element
    });
    let elements = Value::Array(elements.collect());
    Spot::new(&Pointer::made(stem), |_| true).put(within, elements, &|_| Value::Null);
}
