//! Constraints as a search uses them: each removes values that no valid selection within the domains can have.
//!
//! Each is exact once all its slots have one value left, so that the results of a search are correct. None need be
//! complete before that.

mod different;
mod linear;
mod relation;

use super::domain::{Domains, Set, Wiped};
use super::post::Shape;
use super::resolve::Resolved;
pub(super) use different::{Different, Same};
pub(super) use linear::{Bounds, Linear, LinearTerm, Unequal};
pub(super) use relation::{AtMost, Ids, Implies, Related, Sorted};

/// What a constraint makes a search do.
#[derive(Debug, Clone)]
pub(super) enum Posted {
    /// Keeps some values of a slot, once.
    Allowed { slot: usize, set: Set },
    /// Bounds a sum.
    Linear(Linear),
    /// Keeps a sum from being a number.
    Unequal(Unequal),
    /// Keeps a key from being larger than another.
    AtMost(AtMost),
    /// Keeps two keys equal, or different.
    Related(Related),
    /// If a slot has a value of a set, another has one of another set.
    Implies(Implies),
    /// Keeps several keys from being equal.
    Different(Different),
    /// Keeps several keys equal.
    Same(Same),
    /// Any constraint, tried with each value of the last open slot.
    Other { constraint: usize, slots: Vec<usize> },
}

/// Scratch space for propagating, without meaning afterwards.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    /// For each key, when it was last seen.
    seen: Vec<u32>,
    now: u32,
    /// The smallest and the largest weight of each term.
    ends: Vec<(i128, i128)>,
    /// What is chosen for each slot.
    chosen: Vec<Option<usize>>,
}

impl Scratch {
    /// Clears the marks of `keys` keys.
    fn forget(&mut self, keys: usize) {
        if self.seen.len() < keys {
            self.seen.resize(keys, 0);
        }
        // Marks are cleared by starting a new time; only when the counter wraps could an old mark look like a new one.
        self.now = self.now.wrapping_add(1);
        if self.now == 0 {
            self.seen.fill(0);
            self.now = 1;
        }
    }

    fn see(&mut self, key: u32) -> bool {
        let seen = &mut self.seen[key as usize];
        std::mem::replace(seen, self.now) != self.now
    }

    fn has_seen(&self, key: u32) -> bool {
        self.seen[key as usize] == self.now
    }
}

impl Posted {
    /// The slots that it looks at.
    pub(super) fn slots(&self) -> Vec<usize> {
        match self {
            Self::Allowed { slot, .. } => vec![*slot],
            Self::Linear(linear) => linear.terms.iter().map(|term| term.slot).collect(),
            Self::Unequal(unequal) => unequal.terms.iter().map(|term| term.slot).collect(),
            Self::AtMost(at_most) => vec![at_most.left.slot, at_most.right.slot],
            Self::Related(related) => vec![related.left.slot, related.right.slot],
            Self::Implies(implies) => vec![implies.premise.0, implies.conclusion.0],
            Self::Different(Different { columns, .. }) | Self::Same(Same { columns, .. }) => {
                columns.iter().map(|ids| ids.slot).collect()
            }
            Self::Other { slots, .. } => slots.clone(),
        }
    }

    /// The number of steps of one run: one for each slot, and one for every 64 candidates if all are examined.
    pub(super) fn price(&self, shape: &Shape) -> u64 {
        let slots = self.slots();
        match self {
            // These keep their positions in a sorted order, so they do not look at all candidates.
            Self::Linear(_) | Self::AtMost(_) => slots.len() as u64,
            _ => slots.iter().map(|slot| 1 + shape[*slot].0 as u64 / 64).sum(),
        }
    }

    /// Adds its cells, and returns the first of them.
    pub(super) fn add_cells(&self, domains: &mut Domains) -> usize {
        match self {
            Self::Linear(linear) => linear.add_cells(domains),
            Self::AtMost(at_most) => at_most.add_cells(domains),
            _ => 0,
        }
    }

    /// Removes values. `first` is the first of its cells, and `bounds` are those of a linear one.
    pub(super) fn run(
        &self,
        domains: &mut Domains,
        first: usize,
        bounds: Bounds,
        resolved: &[Resolved],
        scratch: &mut Scratch,
    ) -> Result<(), Wiped> {
        match self {
            Self::Allowed { slot, set } => domains.keep(*slot, set, true),
            Self::Linear(linear) => linear.run(domains, first, bounds, scratch),
            Self::Unequal(unequal) => unequal.run(domains),
            Self::AtMost(at_most) => at_most.run(domains, first),
            Self::Related(related) => related.run(domains, scratch),
            Self::Implies(implies) => implies.run(domains),
            Self::Different(different) => different.run(domains, scratch),
            Self::Same(same) => same.run(domains, scratch),
            Self::Other { constraint, slots } => {
                let mut open = None;
                // Slots outside of the constraint stay empty here; its table does not read them.
                scratch.chosen.clear();
                scratch.chosen.resize(domains.slots(), None);
                for &slot in slots {
                    match domains.fixed(slot) {
                        Some(value) => scratch.chosen[slot] = chosen(domains, slot, value),
                        // With two open slots, testing all pairs of values would cost more than it removes.
                        None if open.replace(slot).is_some() => return Ok(()),
                        None => {}
                    }
                }
                let resolved = &resolved[*constraint];
                let Some(open) = open else {
                    return if resolved.holds(&scratch.chosen) { Ok(()) } else { Err(Wiped) };
                };
                let empty = domains.empty(open);
                domains.retain(open, |value| {
                    scratch.chosen[open] = if Some(value) == empty { None } else { Some(value) };
                    resolved.holds(&scratch.chosen)
                })
            }
        }
    }
}

/// The candidate of a value; `None` for the empty choice.
pub(super) fn chosen(domains: &Domains, slot: usize, value: usize) -> Option<usize> {
    if domains.empty(slot) == Some(value) { None } else { Some(value) }
}
