//! Which values searches for sessions have tried, and whether those are all that matter to some rules.

use serde_json::Value;

use super::places::{PlaceKind, SamplePlaces};
use super::search::{only, tools};
use super::{EventPattern, Phase, RuleDemand, RuleSet, UntriedValues};
use crate::limits::RULE_EQUALS_MAX;

/// Results and errors of a tool that rules tell apart.
pub fn outcomes_of(rules: &RuleSet, tool: &str) -> Vec<Result<Value, Value>> {
    outcomes_with(rules, tool).0
}

/// Whether these are all that they tell apart.
pub fn knows_all_outcomes(rules: &RuleSet, tool: &str) -> bool {
    outcomes_with(rules, tool).1
}

fn outcomes_with(rules: &RuleSet, tool: &str) -> (Vec<Result<Value, Value>>, bool) {
    let mut names = tools(rules);
    let number = names.iter().position(|name| name == tool).unwrap_or(names.len());
    if number == names.len() {
        names.push(tool.to_owned());
    }
    let mut places = SamplePlaces::new(rules, &names, None, rules.copies());
    let mut patterns = rules.rules.iter().flat_map(|rule| rule.patterns());
    let failures_matter = patterns.any(|pattern| pattern.moment == Phase::Failed);
    let mut outcomes: Vec<_> = places.samples(number, PlaceKind::Result).into_iter().map(Ok).collect();
    if failures_matter {
        outcomes.extend(places.samples(number, PlaceKind::Error).into_iter().map(Err));
    }
    (outcomes, places.are_all)
}

/// Whether values that were not tried may matter to rules, by their numbers; numbers of rules that there are not are
/// left out. `asks` says whether the world asks for the value at a pointer.
pub fn concerns(
    rules: &RuleSet,
    numbers: &[usize],
    untried: &UntriedValues,
    asks: impl Fn(&str) -> bool,
) -> bool {
    let is_of = |pattern: &&EventPattern| pattern.is_of(&untried.tool);
    let mut concerned = numbers.iter().filter(|number| **number < rules.rules.len()).filter(|number| {
        let patterns = rules.rules[**number].patterns();
        rules.counts_any_tool(**number) || patterns.iter().any(is_of)
    });
    let Some(place) = &untried.place else { return concerned.next().is_some() };
    concerned.any(|number| {
        let rule = &rules.rules[*number];
        let patterns = rule.patterns();
        let mut checks =
            patterns.iter().filter(|pattern| is_of(pattern)).flat_map(|pattern| &pattern.arguments);
        asks(place)
            || rule.per.as_ref().is_some_and(|per| per.as_str() == place)
            || matches!(&rule.demand, RuleDemand::Takes { argument, .. } if argument.as_str() == place)
            || checks.any(|check| check.pointer.as_str() == place)
    })
}

/// Whether so many values of each class are tried at places whose values are compared that more make no difference to
/// these rules.
pub fn has_enough_values(rules: &RuleSet, numbers: &[usize]) -> bool {
    only(rules, numbers).copies() <= RULE_EQUALS_MAX
}
