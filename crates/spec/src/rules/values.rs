//! Values that stand for all others: of one place in arguments or outcomes, some for each set of tests that a value can
//! pass together.
//!
//! Tests tell numbers apart by bounds, constants and whether they have a fraction, and texts by constants and regular
//! expressions; everything else is a constant or a type. So there are finitely many classes: for numbers the bounds and
//! what lies between two of them, for texts the sets of expressions that some text matches, which the product of their
//! automata shows.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::samples::{number, sample_of, samples};
use super::{RuleTest, ValueType};
use crate::Pattern;
use crate::limits::{
    RULE_PLACE_STEPS_MAX, RULE_PLACE_VALUES_MAX, RULE_TEXT_PATTERNS_MAX, RULE_TEXT_POSITIONS_MAX,
};
use crate::number::canonical;
use crate::pattern::Place;

/// What tells the values of a place apart.
#[derive(Debug, Clone, Default)]
pub(super) struct ValueClasses<'a> {
    /// The tests of it.
    pub(super) tests: Vec<&'a RuleTest>,
    /// Values that are among the result in any case.
    pub(super) named: Vec<Value>,
    /// Values that are taken before others of their class.
    pub(super) preferred: Vec<Value>,
    /// Expressions that tell texts apart otherwise.
    pub(super) patterns: Vec<Pattern>,
    /// Numbers that tell others apart otherwise.
    pub(super) bounds: Vec<f64>,
    /// What numbers may have to be multiples of.
    pub(super) steps: Vec<f64>,
    /// How many values of each class are needed, as far as it has as many.
    pub(super) copies: usize,
}

/// Values of a place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Representatives {
    pub(super) values: Vec<Value>,
    /// Whether every value that is not among them has one of its class among them.
    pub(super) are_all: bool,
    /// Whether a class has fewer values than it could have, because values of it are not taken.
    pub(super) is_short: bool,
}

/// What the tests name.
#[derive(Default)]
struct Named {
    /// Each value once.
    constants: Vec<Value>,
    known: HashSet<String>,
    /// How many constants there may be at most.
    most: usize,
    /// Whether there are more.
    is_short: bool,
    bounds: Vec<f64>,
    patterns: Vec<Pattern>,
}

impl Named {
    fn constant(&mut self, value: &Value) {
        if self.constants.len() >= self.most {
            self.is_short = true;
        } else if self.known.insert(canonical(value)) {
            self.constants.push(value.clone());
        }
    }

    fn add(&mut self, test: &RuleTest) {
        match test {
            RuleTest::Is(value) | RuleTest::IsNot(value) => self.constant(value),
            RuleTest::OneOf(values) => values.iter().for_each(|value| self.constant(value)),
            RuleTest::Above(bound)
            | RuleTest::AtLeast(bound)
            | RuleTest::Below(bound)
            | RuleTest::AtMost(bound) => self.bounds.push(bound.rounded()),
            RuleTest::Matches(pattern) => self.patterns.push(pattern.clone()),
            RuleTest::Type(_) | RuleTest::Present(_) => {}
            RuleTest::Not(tests) => tests.iter().for_each(|test| self.add(test)),
        }
    }
}

/// Whole numbers up to here have neighbours that are numbers of their own.
const WHOLE_MAX: f64 = 9e15;

impl ValueClasses<'_> {
    /// Values of all classes, those that the tests name before others, and whether all classes are among them.
    pub(super) fn candidates(&self) -> (Vec<Value>, bool) {
        // Values are told apart by all tests, and two rules that list a thousand values make a million of that.
        let most = RULE_PLACE_STEPS_MAX / self.tests.len().max(1);
        let (bounds, patterns) = (self.bounds.clone(), self.patterns.clone());
        let mut named = Named { bounds, patterns, most, ..Named::default() };
        self.tests.iter().for_each(|test| named.add(test));
        let of_values = self.named.iter().chain(&named.constants).filter_map(Value::as_f64);
        let of_values: Vec<f64> = of_values.collect();
        named.bounds.extend(of_values);
        let copies = self.copies.max(1);
        let known_texts = self.named.iter().chain(&named.constants).filter(|value| value.is_string()).count();
        let (texts, all_texts) = texts(&named.patterns, copies + known_texts);
        let mut bounds = std::mem::take(&mut named.bounds);
        let are_few = bounds.len() <= most && self.preferred.len() <= most;
        bounds.truncate(most);
        let most_steps = (RULE_PLACE_STEPS_MAX / bounds.len().max(1)).min(self.steps.len());
        let (numbers, all_numbers) = numbers(bounds, &self.steps[..most_steps], copies);
        let are_all =
            all_texts && all_numbers && !named.is_short && are_few && most_steps == self.steps.len();

        let of_tests = self.tests.iter().flat_map(|test| samples(test));
        let mut candidates: Vec<Value> = of_tests.collect();
        candidates.extend(self.preferred.iter().take(most).cloned());
        candidates.append(&mut named.constants);
        candidates.extend(numbers);
        candidates.extend(texts.into_iter().map(Value::from));
        candidates.extend(ValueType::ALL.into_iter().map(sample_of));
        candidates.extend([json!(false), json!("something else")]);
        candidates.extend((0..copies).map(|number| json!([number])));
        candidates.extend((0..copies).map(|number| json!({"a": number})));
        (candidates, are_all)
    }

    /// Values of all classes among those that are taken, up to [`RULE_PLACE_VALUES_MAX`].
    pub(super) fn representatives(&self, is_taken: impl Fn(&Value) -> bool) -> Representatives {
        self.representatives_by(is_taken, |_| Vec::new())
    }

    /// The same, of classes that `more` tells apart as well.
    pub(super) fn representatives_by(
        &self,
        is_taken: impl Fn(&Value) -> bool,
        more: impl Fn(&Value) -> Vec<bool>,
    ) -> Representatives {
        let copies = self.copies.max(1);
        let (candidates, mut are_all) = self.candidates();
        let mut values: Vec<Value> = Vec::new();
        let mut seen: HashSet<String> = HashSet::new();
        let mut add = |value: Value| match values.len() < RULE_PLACE_VALUES_MAX {
            true => values.push(value),
            false => are_all = false,
        };
        for value in self.named.iter().filter(|value| is_taken(value)) {
            if seen.insert(canonical(value)) {
                add(value.clone());
            }
        }
        let mut counts: HashMap<Vec<bool>, (usize, bool)> = HashMap::new();
        for value in candidates {
            let mut class = more(&value);
            class.extend(self.tests.iter().map(|test| test.holds(Some(&value))));
            let (count, refused) = counts.entry(class).or_default();
            if *count < copies && !seen.contains(&canonical(&value)) {
                match is_taken(&value) {
                    true => {
                        *count += 1;
                        seen.insert(canonical(&value));
                        add(value);
                    }
                    false => *refused = true,
                }
            }
        }
        let is_short = counts.into_values().any(|(count, refused)| refused && count < copies);
        Representatives { values, are_all, is_short }
    }
}

/// These numbers, and some of each kind between two of them: whole ones, others, and multiples.
fn numbers(mut bounds: Vec<f64>, steps: &[f64], copies: usize) -> (Vec<Value>, bool) {
    bounds.retain(|bound| bound.is_finite());
    bounds.sort_by(f64::total_cmp);
    bounds.dedup();
    // Beyond, a neighbour is not a number of its own, and products of fractions are not exact.
    let are_all =
        bounds.iter().all(|bound| bound.abs() < WHOLE_MAX) && steps.iter().all(|step| step.fract() == 0.0);
    let product: f64 = steps.iter().product();
    let steps: Vec<f64> = steps.iter().copied().chain([1.0, product]).filter(|step| *step > 0.0).collect();
    let mut found: Vec<f64> = bounds.clone();
    let (first, last) = (bounds.first().copied(), bounds.last().copied());
    let between = |from: f64, to: f64| bounds.iter().all(|bound| *bound <= from || *bound >= to);
    let count = copies as i32;
    for step in steps {
        // Above each bound, and below the first.
        for (place, from) in bounds.iter().copied().chain(bounds.is_empty().then_some(0.0)).enumerate() {
            let next = bounds.get(place + 1).copied().unwrap_or(f64::INFINITY);
            let multiples = (1..=count).map(|place| ((from / step).floor() + f64::from(place)) * step);
            found.extend(multiples.filter(|value| *value > from && *value < next));
        }
        if let Some(first) = first {
            found.extend((1..=count).map(|place| ((first / step).ceil() - f64::from(place)) * step));
        }
    }
    // Numbers with a fraction: between any two bounds there are some.
    let fractions = |from: f64, to: f64| {
        let parts = 2 * count + 3;
        let all = (1..parts).map(move |part| from + (to - from) * f64::from(part) / f64::from(parts));
        let whole = |value: &f64| value.fract() == 0.0;
        [f64::midpoint(from, to)].into_iter().chain(all).filter(move |value| !whole(value)).take(copies)
    };
    for pair in bounds.windows(2) {
        debug_assert!(between(pair[0], pair[1]), "sorted bounds");
        found.extend(fractions(pair[0], pair[1]).filter(|value| *value > pair[0] && *value < pair[1]));
    }
    let (first, last) = (first.unwrap_or(0.0), last.unwrap_or(0.0));
    found.extend((0..count).map(|place| last.floor() + f64::from(place) + 1.5));
    found.extend((0..count).map(|place| first.ceil() - f64::from(place) - 1.5));
    (found.into_iter().map(number).collect(), are_all)
}

/// Any text at all.
static ANY_TEXT: LazyLock<Option<Pattern>> = LazyLock::new(|| Pattern::over_lines(".*").ok());

/// Texts for each set of these expressions that some text matches and no other one: so many, if there are, shortest
/// first. False if not all sets were found: there are too many positions in the product of their automata.
fn texts(patterns: &[Pattern], copies: usize) -> (Vec<String>, bool) {
    let mut distinct: Vec<&Pattern> = Vec::new();
    for pattern in patterns {
        if !distinct.contains(&pattern) {
            distinct.push(pattern);
        }
    }
    if distinct.is_empty() {
        let letters = (b'a'..=b'z').map(|letter| char::from(letter).to_string());
        let more = (1..=copies.saturating_sub(26)).map(|number| format!("text {number}"));
        return (letters.chain(more).take(copies).collect(), true);
    }
    let Some(any) = ANY_TEXT.as_ref().filter(|_| distinct.len() <= RULE_TEXT_PATTERNS_MAX) else {
        return (distinct.iter().filter_map(|pattern| pattern.sample()).collect(), false);
    };
    distinct.push(any);
    // Bytes that lead to the same place in all automata are alike; so many of each are enough.
    let preferred = (b'a'..=b'z').chain(b'0'..=b'9').chain(b'A'..=b'Z').chain([b' ']).chain(0..=u8::MAX);
    let mut alike: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    for byte in preferred {
        let bytes = alike.entry(distinct.iter().map(|pattern| pattern.class(byte)).collect()).or_default();
        if bytes.len() < copies && !bytes.contains(&byte) {
            bytes.push(byte);
        }
    }
    let mut bytes: Vec<u8> = alike.into_values().flatten().collect();
    bytes.sort_by_key(|byte| (!byte.is_ascii_alphanumeric(), !byte.is_ascii_lowercase(), *byte));

    let start: Vec<Place> = distinct.iter().map(|pattern| pattern.start()).collect();
    let mut visits: HashMap<Vec<Place>, usize> = HashMap::from([(start.clone(), 1)]);
    let mut reached: Vec<(Option<usize>, u8)> = vec![(None, 0)];
    let mut open = VecDeque::from([(start, 0_usize)]);
    let mut counts: HashMap<Vec<bool>, usize> = HashMap::new();
    let mut found = Vec::new();
    while let Some((places, number)) = open.pop_front() {
        let matched: Vec<bool> =
            distinct.iter().zip(&places).map(|(pattern, place)| pattern.is_match(*place)).collect();
        if matched.last() == Some(&true) {
            let count = counts.entry(matched).or_default();
            if *count < copies {
                *count += 1;
                let (mut text, mut at) = (Vec::new(), number);
                while let (Some(before), byte) = reached[at] {
                    text.push(byte);
                    at = before;
                }
                text.reverse();
                found.extend(String::from_utf8(text).ok());
            }
        }
        for byte in &bytes {
            let next: Vec<Place> =
                distinct.iter().zip(&places).map(|(pattern, place)| pattern.step(*place, *byte)).collect();
            if next.last().is_none_or(Option::is_none) {
                continue;
            }
            let visits = visits.entry(next.clone()).or_default();
            if *visits < copies {
                if reached.len() >= RULE_TEXT_POSITIONS_MAX {
                    return (found, false);
                }
                *visits += 1;
                reached.push((Some(number), *byte));
                open.push_back((next, reached.len() - 1));
            }
        }
    }
    (found, true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rules::read_tests;

    fn values(tests: &Value, copies: usize) -> Representatives {
        let checks = read_tests(&json!({ "/x": tests })).unwrap();
        let tests = checks.iter().map(|check| &check.test).collect();
        ValueClasses { tests, copies, ..ValueClasses::default() }.representatives(|_| true)
    }

    #[test]
    fn texts_for_each_set_of_expressions() {
        for (patterns, sets) in [
            (&[".*order 17.*", ".*40.*"][..], 4),
            (&["a.*", ".*a"], 4),
            (&["(?i).*refund.*", "refund"], 3),
            (&["[0-9]*", ".*[0-9]+.*", "[a-z]*"], 5),
            (&["\u{e4}+", "[^a]*"], 3),
        ] {
            let compiled: Vec<Pattern> =
                patterns.iter().map(|source| Pattern::over_lines(source).unwrap()).collect();
            let (found, are_all) = texts(&compiled, 2);
            assert!(are_all, "{patterns:?}");
            let of = |text: &String| compiled.iter().map(|pattern| pattern.matches(text)).collect::<Vec<_>>();
            let distinct: HashSet<Vec<bool>> = found.iter().map(of).collect();
            assert_eq!(distinct.len(), sets, "{patterns:?}: {found:?}");
        }
        let many: Vec<Pattern> =
            (0..12).map(|number| Pattern::over_lines(&format!(".*word{number}x.*")).unwrap()).collect();
        assert!(!texts(&many, 2).1);
    }

    #[test]
    fn numbers_on_both_sides_of_all_bounds() {
        let found = values(&json!({"above": 1, "below": 2}), 1);
        assert!(found.are_all);
        assert!(
            found.values.contains(&json!(1.5))
                || found
                    .values
                    .iter()
                    .any(|value| { value.as_f64().is_some_and(|value| value > 1.0 && value < 2.0) }),
            "{found:?}"
        );
        let found = values(&json!({"type": "integer", "above": 2, "below": 5, "is-not": 3}), 2);
        assert!(found.values.contains(&json!(4)), "{found:?}");
        let (multiples, _) = numbers(vec![8.0, 100.0, 106.0], &[7.0], 1);
        assert!(multiples.contains(&json!(105)), "{multiples:?}");
    }
}
