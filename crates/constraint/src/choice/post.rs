//! From the table of a constraint to its propagator.

use std::collections::BTreeMap;

use super::domain::Set;
use super::form::Op;
use super::propagate::{
    AtMost, Bounds, Different, Ids, Implies, Linear, LinearTerm, Posted, Related, Same, Sorted, Unequal,
};
use super::resolve::{Judged, Keys, Resolved, Truth, Weighted};

/// For each slot, its number of candidates, and whether it is optional.
pub(super) type Shape = [(usize, bool)];

/// The propagator of a constraint, given by its index.
pub(super) fn post(shape: &Shape, place: usize, resolved: &Resolved) -> Vec<Posted> {
    match resolved {
        Resolved::Holds(condition) => demanded(shape, place, condition),
        Resolved::Sum(sum) => summed(shape, &sum.terms, sum.op, sum.bound),
        Resolved::Different(columns) => {
            let mut posted = with_fields(shape, columns);
            let (ids, keys) = shared(shape, columns, 0);
            // Two fields of the same slot decide by themselves which candidates are allowed;
            // `pairs` does that once for all.
            if are_distinct(columns) {
                posted.push(Posted::Different(Different { columns: ids, keys }));
            } else {
                posted.extend(pairs(shape, &ids, keys, false));
            }
            posted
        }
        Resolved::Same(columns) => {
            let mut posted = with_fields(shape, columns);
            let (ids, keys) = shared(shape, columns, 0);
            if are_distinct(columns) {
                posted.push(Posted::Same(Same { columns: ids, keys }));
            } else {
                posted.extend(pairs(shape, &ids, keys, true));
            }
            posted
        }
        Resolved::Implies { premise, conclusion } => implied(shape, place, resolved, premise, conclusion),
    }
}

/// A sum over the values of slots; one over a single slot just keeps some of its values.
fn summed(shape: &Shape, terms: &[Weighted], op: Op, bound: i128) -> Vec<Posted> {
    if let [term] = terms {
        let holds = |value: usize| match term.weights.get(value) {
            Some(weight) => weight.is_some_and(|weight| op.holds(&weight, &bound)),
            None => op.holds(&0, &bound),
        };
        return vec![allowed(shape, term.slot, holds)];
    }
    let mut posted = with_weights(shape, terms);
    let (low, high) = match op {
        Op::Equal => (Some(bound), Some(bound)),
        // Sums are integers, so strict bounds become inclusive ones.
        Op::Less => (None, Some(bound - 1)),
        Op::AtMost => (None, Some(bound)),
        Op::More => (Some(bound + 1), None),
        Op::AtLeast => (Some(bound), None),
        // Not a bound: it excludes one number in the middle of the range.
        Op::NotEqual => {
            posted.push(Posted::Unequal(Unequal { terms: linear_terms(shape, terms), number: bound }));
            return posted;
        }
    };
    posted.push(Posted::Linear(Linear::new(linear_terms(shape, terms), Bounds { low, high })));
    posted
}

/// Keeps the candidates that have all fields of a sum.
pub(super) fn with_weights(shape: &Shape, terms: &[Weighted]) -> Vec<Posted> {
    let lacking = terms.iter().filter(|term| term.weights.contains(&None));
    lacking.map(|term| allowed(shape, term.slot, |value| term.weights.get(value) != Some(&None))).collect()
}

/// The terms of a sum with a weight for each value. Missing values are never used; they repeat another weight, so
/// that the common divisor of all weights does not change.
pub(super) fn linear_terms(shape: &Shape, terms: &[Weighted]) -> Vec<LinearTerm> {
    let term = |term: &Weighted| {
        let any = term.weights.iter().copied().flatten().next().unwrap_or(0);
        let weight = |value: usize| term.weights.get(value).map_or(0, |weight| weight.unwrap_or(any));
        LinearTerm::new(term.slot, (0..width(shape, term.slot)).map(weight).collect())
    };
    terms.iter().map(term).collect()
}

fn demanded(shape: &Shape, place: usize, condition: &Judged) -> Vec<Posted> {
    match condition {
        Judged::OfOne { slot, truths, empty } => {
            // The value after the last candidate is the empty choice.
            vec![allowed(shape, *slot, |value| truths.get(value).unwrap_or(empty).meets())]
        }
        Judged::Compare { left, op, right, offset } => {
            let mut posted = with_fields(shape, [left, right]);
            let at_most = |small: (&Keys, i64), large: (&Keys, i64)| {
                let sorted = |(keys, offset): (&Keys, i64)| {
                    Sorted::new(keys.slot, keys.keys.iter().map(|key| key.map(|key| key + offset)))
                };
                Posted::AtMost(AtMost { left: sorted(small), right: sorted(large) })
            };
            posted.push(match op {
                // Keys are integers, so `left < right` is `left + 1 <= right`: all four comparisons become `AtMost`.
                Op::AtMost => at_most((left, 0), (right, *offset)),
                Op::Less => at_most((left, 1), (right, *offset)),
                Op::AtLeast => at_most((right, *offset), (left, 0)),
                Op::More => at_most((right, *offset + 1), (left, 0)),
                Op::Equal | Op::NotEqual => {
                    let (ids, keys) = shared(shape, [left, right], *offset);
                    return posted.into_iter().chain(pairs(shape, &ids, keys, *op == Op::Equal)).collect();
                }
            });
            posted
        }
        // A list per candidate has no propagator of its own; it is tried once a single slot is open.
        Judged::Listed { .. } => vec![Posted::Other { constraint: place, slots: condition.slots() }],
    }
}

fn implied(
    shape: &Shape,
    place: usize,
    resolved: &Resolved,
    premise: &Judged,
    conclusion: &Judged,
) -> Vec<Posted> {
    let mut slots: Vec<usize> = premise.slots().into_iter().chain(conclusion.slots()).collect();
    slots.sort_unstable();
    slots.dedup();
    if let [slot] = slots[..] {
        let mut chosen = vec![None; slot + 1];
        // The table is read at this slot alone, so the rest of the selection can stay empty.
        let holds = |value: usize| {
            chosen[slot] = (value < shape[slot].0).then_some(value);
            resolved.holds(&chosen)
        };
        return vec![allowed(shape, slot, holds)];
    }
    // A premise asks, and a conclusion is met, by different rules when a field is missing or the slot is empty.
    match (of_one(shape, premise, Truth::asks), of_one(shape, conclusion, Truth::meets)) {
        (Some(premise), Some(conclusion)) => vec![Posted::Implies(Implies { premise, conclusion })],
        _ => vec![Posted::Other { constraint: place, slots }],
    }
}

/// The values of a slot for which a property of the condition is known.
fn of_one(shape: &Shape, judged: &Judged, says: fn(Truth) -> bool) -> Option<(usize, Set)> {
    let Judged::OfOne { slot, truths, empty } = judged else { return None };
    let set = Set::of(width(shape, *slot), |value| says(*truths.get(value).unwrap_or(empty)));
    Some((*slot, set))
}

/// Keeps the candidates that have the fields of all columns.
fn with_fields<'k>(shape: &Shape, columns: impl IntoIterator<Item = &'k Keys>) -> Vec<Posted> {
    let lacking = columns.into_iter().filter(|column| column.keys.contains(&None));
    lacking.map(|column| allowed(shape, column.slot, |value| column.keys.get(value) != Some(&None))).collect()
}

/// Pairwise: relations between slots, and the remaining constraints within one.
fn pairs(shape: &Shape, columns: &[Ids], keys: usize, are_equal: bool) -> Vec<Posted> {
    let mut posted = Vec::new();
    for (place, left) in columns.iter().enumerate() {
        for right in &columns[..place] {
            if left.slot == right.slot {
                let count = shape[left.slot].0;
                let holds =
                    // The empty choice satisfies every demand.
                    |value: usize| value == count || (left.ids[value] == right.ids[value]) == are_equal;
                posted.push(allowed(shape, left.slot, holds));
            } else {
                let (left, right) = (left.clone(), right.clone());
                posted.push(Posted::Related(Related { left, right, are_equal, keys }));
            }
        }
    }
    posted
}

/// Keys as small numbers, shared by all columns, and their count. An offset is added to all columns except the first.
fn shared<'k>(shape: &Shape, columns: impl IntoIterator<Item = &'k Keys>, offset: i64) -> (Vec<Ids>, usize) {
    let mut numbers: BTreeMap<i64, u32> = BTreeMap::new();
    let mut shared = Vec::new();
    for (place, column) in columns.into_iter().enumerate() {
        let offset = if place == 0 { 0 } else { offset };
        let id = |value: usize| {
            // A missing key and the empty value have an id as well, which is never used.
            let Some(key) = column.keys.get(value).copied().flatten() else { return 0 };
            // There are fewer keys than fit.
            let next = numbers.len() as u32;
            *numbers.entry(key + offset).or_insert(next)
        };
        shared.push(Ids { slot: column.slot, ids: (0..width(shape, column.slot)).map(id).collect() });
    }
    // At least one, for the ids that are never used.
    (shared, numbers.len().max(1))
}

fn are_distinct(columns: &[Keys]) -> bool {
    let mut slots: Vec<usize> = columns.iter().map(|column| column.slot).collect();
    slots.sort_unstable();
    slots.windows(2).all(|pair| pair[0] != pair[1])
}

fn allowed(shape: &Shape, slot: usize, holds: impl FnMut(usize) -> bool) -> Posted {
    Posted::Allowed { slot, set: Set::of(width(shape, slot), holds) }
}

fn width(shape: &Shape, slot: usize) -> usize {
    shape[slot].0 + usize::from(shape[slot].1)
}
