//! Bounds on sums.
//!
//! The smallest sum takes the smallest weight of each slot. A value is impossible if its weight exceeds the rest that
//! the bound leaves. Weights are sorted once, and both ends of their remaining range are stored, so that no domain is
//! searched for its smallest weight.

use super::Scratch;
use crate::choice::domain::{Domains, Wiped};

/// The smallest and the largest allowed sum; `None` if it is not bounded on that side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::choice) struct Bounds {
    pub(in crate::choice) low: Option<i128>,
    pub(in crate::choice) high: Option<i128>,
}

/// A sum of weights over different slots, in the largest unit that divides all of them: the next smaller sum is then
/// exactly one less, and bounds are as tight as possible.
#[derive(Debug, Clone)]
pub(in crate::choice) struct Linear {
    pub(in crate::choice) terms: Vec<LinearTerm>,
    pub(in crate::choice) bounds: Bounds,
    base: i128,
    unit: i128,
}

/// The contribution of each value of a slot to a sum.
#[derive(Debug, Clone)]
pub(in crate::choice) struct LinearTerm {
    pub(in crate::choice) slot: usize,
    pub(in crate::choice) weights: Vec<i128>,
    /// The values sorted by weight, then by index.
    order: Vec<u32>,
}

/// A sum that must not be a number.
#[derive(Debug, Clone)]
pub(in crate::choice) struct Unequal {
    pub(in crate::choice) terms: Vec<LinearTerm>,
    pub(in crate::choice) number: i128,
}

impl LinearTerm {
    pub(in crate::choice) fn new(slot: usize, weights: Vec<i128>) -> Self {
        // A slot has fewer values than fit.
        let mut order: Vec<u32> = (0..weights.len()).map(|value| value as u32).collect();
        order.sort_by_key(|value| weights[*value as usize]);
        Self { slot, weights, order }
    }

    fn value(&self, place: usize) -> usize {
        self.order[place] as usize
    }

    fn weight(&self, place: usize) -> i128 {
        self.weights[self.value(place)]
    }
}

impl Linear {
    /// The sums `base` plus a number of units.
    pub(in crate::choice) fn new(mut terms: Vec<LinearTerm>, bounds: Bounds) -> Self {
        let (mut base, mut unit) = (0, 0);
        for term in &mut terms {
            // Weights are taken relative to the first of their slot: only differences count for the common divisor.
            let first = term.weights.first().copied().unwrap_or(0);
            base += first;
            for weight in &mut term.weights {
                *weight -= first;
                unit = greatest_common_divisor(unit, *weight);
            }
        }
        // All weights of each slot are equal if the divisor is 0.
        let unit = unit.max(1);
        terms.iter_mut().flat_map(|term| &mut term.weights).for_each(|weight| *weight /= unit);
        let mut linear = Self { terms, bounds: Bounds::default(), base, unit };
        linear.bounds.high = bounds.high.map(|high| linear.at_most(high));
        // Rounded up: the ceiling of a quotient is minus the floor of its negative.
        linear.bounds.low = bounds.low.map(|low| -(base - low).div_euclid(unit));
        linear
    }

    /// The largest number of units whose sum does not exceed this amount.
    pub(in crate::choice) fn at_most(&self, real: i128) -> i128 {
        (real - self.base).div_euclid(self.unit)
    }

    /// What a sum of its weights stands for.
    pub(in crate::choice) fn real(&self, sum: i128) -> i128 {
        self.base + self.unit * sum
    }

    /// Two cells for each term: the positions of its first and its last remaining value in the sorted order.
    pub(in crate::choice) fn add_cells(&self, domains: &mut Domains) -> usize {
        let mut first = 0;
        for (place, term) in self.terms.iter().enumerate() {
            let cell = domains.add_cell(0);
            domains.add_cell(term.order.len().saturating_sub(1));
            if place == 0 {
                first = cell;
            }
        }
        first
    }

    /// The remaining value of least weight of a slot; `None` if the slot adds nothing.
    pub(in crate::choice) fn least(&self, domains: &Domains, first: usize, slot: usize) -> Option<usize> {
        let place = self.terms.iter().position(|term| term.slot == slot)?;
        let term = &self.terms[place];
        let from = domains.cell(first + 2 * place);
        term.order[from..].iter().map(|value| *value as usize).find(|value| domains.has(slot, *value))
    }

    /// The sum of the remaining values, if there is one for each slot.
    pub(in crate::choice) fn least_sum(&self, domains: &Domains, first: usize) -> i128 {
        let weight =
            |term: &LinearTerm| self.least(domains, first, term.slot).map_or(0, |it| term.weights[it]);
        self.terms.iter().map(weight).sum()
    }

    pub(in crate::choice) fn run(
        &self,
        domains: &mut Domains,
        first: usize,
        bounds: Bounds,
        scratch: &mut Scratch,
    ) -> Result<(), Wiped> {
        // First the stored ends move inwards, past the values that have been removed since.
        let (mut least, mut most) = (0_i128, 0_i128);
        scratch.ends.clear();
        for (place, term) in self.terms.iter().enumerate() {
            let (low, high) = (first + 2 * place, first + 2 * place + 1);
            let mut from = domains.cell(low);
            // No domain is empty here, since whatever empties one stops the propagation. So both loops find a value.
            while !domains.has(term.slot, term.value(from)) {
                from += 1;
            }
            domains.set_cell(low, from);
            let mut to = domains.cell(high);
            while !domains.has(term.slot, term.value(to)) {
                to -= 1;
            }
            domains.set_cell(high, to);
            let ends = (term.weight(from), term.weight(to));
            least += ends.0;
            most += ends.1;
            scratch.ends.push(ends);
        }
        loop {
            // The slack is how far one slot may rise above its smallest weight; values
            // that rise further are impossible.
            if let Some(bound) = bounds.high {
                let slack = bound - least;
                if slack < 0 {
                    return Err(Wiped);
                }
                for (place, term) in self.terms.iter().enumerate() {
                    let (smallest, largest) = scratch.ends[place];
                    if largest - smallest > slack {
                        let cell = first + 2 * place + 1;
                        let mut to = domains.cell(cell);
                        // It ends at the smallest weight, which remains and is within the slack.
                        while term.weight(to) > smallest + slack || !domains.has(term.slot, term.value(to)) {
                            domains.remove(term.slot, term.value(to))?;
                            to -= 1;
                        }
                        domains.set_cell(cell, to);
                        scratch.ends[place].1 = term.weight(to);
                        most -= largest - term.weight(to);
                    }
                }
            }
            let before = least;
            if let Some(bound) = bounds.low {
                let slack = most - bound;
                if slack < 0 {
                    return Err(Wiped);
                }
                for (place, term) in self.terms.iter().enumerate() {
                    let (smallest, largest) = scratch.ends[place];
                    if largest - smallest > slack {
                        let cell = first + 2 * place;
                        let mut from = domains.cell(cell);
                        while term.weight(from) < largest - slack || !domains.has(term.slot, term.value(from))
                        {
                            domains.remove(term.slot, term.value(from))?;
                            from += 1;
                        }
                        domains.set_cell(cell, from);
                        scratch.ends[place].0 = term.weight(from);
                        least += term.weight(from) - smallest;
                    }
                }
            }
            // A larger smallest sum leaves less slack below the upper bound, which is then applied again.
            if least == before || bounds.high.is_none() {
                return Ok(());
            }
        }
    }
}

fn greatest_common_divisor(one: i128, other: i128) -> i128 {
    let (mut one, mut other) = (one.abs(), other.abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

impl Unequal {
    /// Acts when one slot is left at most.
    pub(super) fn run(&self, domains: &mut Domains) -> Result<(), Wiped> {
        // What the open slot would have to add to reach the forbidden number.
        let mut rest = self.number;
        let mut open = None;
        for term in &self.terms {
            match domains.fixed(term.slot) {
                Some(value) => rest -= term.weights[value],
                None if open.replace(term).is_some() => return Ok(()),
                None => {}
            }
        }
        match open {
            Some(term) => domains.retain(term.slot, |value| term.weights[value] != rest),
            None if rest == 0 => Err(Wiped),
            None => Ok(()),
        }
    }
}
