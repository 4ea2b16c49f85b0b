//! Constraints between the keys of two slots. Nothing is derived from a slot that may be left empty, because an empty
//! slot satisfies every demand.

use super::Scratch;
use crate::choice::domain::{Domains, Set, Wiped};

/// A small number for each value of a slot, the same for equal fields. The empty value has none.
#[derive(Debug, Clone)]
pub(in crate::choice) struct Ids {
    pub(in crate::choice) slot: usize,
    pub(in crate::choice) ids: Vec<u32>,
}

impl Ids {
    /// The id of all remaining values; `None` if there are several, or the slot may be empty.
    pub(super) fn sole(&self, domains: &Domains) -> Option<u32> {
        let empty = domains.empty(self.slot);
        let mut sole = None;
        for value in domains.values(self.slot) {
            if Some(value) == empty || sole.is_some_and(|id| id != self.ids[value]) {
                return None;
            }
            sole = Some(self.ids[value]);
        }
        sole
    }

    /// Removes the values with an id that does not hold, except the empty one.
    pub(super) fn retain(
        &self,
        domains: &mut Domains,
        mut holds: impl FnMut(u32) -> bool,
    ) -> Result<(), Wiped> {
        let empty = domains.empty(self.slot);
        domains.retain(self.slot, |value| Some(value) == empty || holds(self.ids[value]))
    }
}

/// Two slots whose ids are equal, or different.
#[derive(Debug, Clone)]
pub(in crate::choice) struct Related {
    pub(in crate::choice) left: Ids,
    pub(in crate::choice) right: Ids,
    pub(in crate::choice) are_equal: bool,
    /// How many ids there are.
    pub(in crate::choice) keys: usize,
}

impl Related {
    pub(super) fn run(&self, domains: &mut Domains, scratch: &mut Scratch) -> Result<(), Wiped> {
        for (from, to) in [(&self.left, &self.right), (&self.right, &self.left)] {
            // Only a slot that is sure to have one id excludes it from the other.
            if !self.are_equal {
                if let Some(id) = from.sole(domains) {
                    to.retain(domains, |other| other != id)?;
                }
            } else if !domains.may_be_empty(from.slot) {
                // A slot that is sure to be filled limits the other to its ids; one that can be empty requires nothing.
                scratch.forget(self.keys);
                for value in domains.values(from.slot) {
                    scratch.see(from.ids[value]);
                }
                to.retain(domains, |id| scratch.has_seen(id))?;
            }
        }
        Ok(())
    }
}

/// The keys of a slot, sorted.
#[derive(Debug, Clone)]
pub(in crate::choice) struct Sorted {
    pub(in crate::choice) slot: usize,
    /// Keys and values, sorted by key, without the empty value and those without a key.
    order: Vec<(i64, u32)>,
}

impl Sorted {
    /// From the keys of a slot's candidates.
    pub(in crate::choice) fn new(slot: usize, keys: impl Iterator<Item = Option<i64>>) -> Self {
        let mut order: Vec<(i64, u32)> = Vec::new();
        for (value, key) in keys.enumerate() {
            // A slot has fewer values than fit.
            order.extend(key.map(|key| (key, value as u32)));
        }
        order.sort_unstable();
        Self { slot, order }
    }

    fn is_left(&self, domains: &Domains, place: usize) -> bool {
        domains.has(self.slot, self.order[place].1 as usize)
    }
}

/// The key on the left is at most that on the right.
#[derive(Debug, Clone)]
pub(in crate::choice) struct AtMost {
    pub(in crate::choice) left: Sorted,
    pub(in crate::choice) right: Sorted,
}

impl AtMost {
    /// Four cells: for either side the positions of its first remaining key, and after its last one.
    pub(super) fn add_cells(&self, domains: &mut Domains) -> usize {
        let first = domains.add_cell(0);
        domains.add_cell(self.left.order.len());
        domains.add_cell(0);
        domains.add_cell(self.right.order.len());
        first
    }

    pub(super) fn run(&self, domains: &mut Domains, first: usize) -> Result<(), Wiped> {
        if !domains.may_be_empty(self.right.slot) {
            // Positions only move inwards in a branch, and backtracking restores them, so the scans of a
            // branch take linear time together.
            let mut to = domains.cell(first + 3);
            while to > 0 && !self.right.is_left(domains, to - 1) {
                to -= 1;
            }
            domains.set_cell(first + 3, to);
            let largest = to.checked_sub(1).map(|place| self.right.order[place].0);
            let mut end = domains.cell(first + 1);
            while end > 0 && Some(self.left.order[end - 1].0) > largest {
                end -= 1;
                domains.remove(self.left.slot, self.left.order[end].1 as usize)?;
            }
            domains.set_cell(first + 1, end);
        }
        if !domains.may_be_empty(self.left.slot) {
            let mut from = domains.cell(first);
            while from < self.left.order.len() && !self.left.is_left(domains, from) {
                from += 1;
            }
            domains.set_cell(first, from);
            let Some(&(smallest, _)) = self.left.order.get(from) else { return Err(Wiped) };
            let mut start = domains.cell(first + 2);
            while start < self.right.order.len() && self.right.order[start].0 < smallest {
                domains.remove(self.right.slot, self.right.order[start].1 as usize)?;
                start += 1;
            }
            domains.set_cell(first + 2, start);
        }
        Ok(())
    }
}

/// If the premise's slot has a value of its set, the conclusion's slot has one of its set.
#[derive(Debug, Clone)]
pub(in crate::choice) struct Implies {
    pub(in crate::choice) premise: (usize, Set),
    pub(in crate::choice) conclusion: (usize, Set),
}

impl Implies {
    pub(super) fn run(&self, domains: &mut Domains) -> Result<(), Wiped> {
        let ((of_premise, asking), (of_conclusion, met)) = (&self.premise, &self.conclusion);
        if domains.is_within(*of_premise, asking) {
            domains.keep(*of_conclusion, met, true)
        } else if !domains.meets(*of_conclusion, met) {
            // The contrapositive: the conclusion cannot be met, so the premise must not ask for it.
            domains.keep(*of_premise, asking, false)
        } else {
            Ok(())
        }
    }
}
