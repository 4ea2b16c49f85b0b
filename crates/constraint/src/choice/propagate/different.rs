//! Several slots whose keys are all different, or all the same.
//!
//! Besides removing a taken key, slots have to be matched with keys: if no matching gives each slot a key of its own,
//! there is no selection (Hall's theorem; Régin, "A filtering algorithm for constraints of difference in CSPs", 1994,
//! filters by the same matching, which is not done here).

use super::Scratch;
use super::relation::Ids;
use crate::choice::domain::{Domains, Wiped};

/// Slots whose ids are all different, ignoring empty ones.
#[derive(Debug, Clone)]
pub(in crate::choice) struct Different {
    pub(in crate::choice) columns: Vec<Ids>,
    /// How many ids there are.
    pub(in crate::choice) keys: usize,
}

/// Slots whose ids are all equal, ignoring empty ones.
#[derive(Debug, Clone)]
pub(in crate::choice) struct Same {
    pub(in crate::choice) columns: Vec<Ids>,
    /// How many ids there are.
    pub(in crate::choice) keys: usize,
}

impl Different {
    pub(super) fn run(&self, domains: &mut Domains, scratch: &mut Scratch) -> Result<(), Wiped> {
        let mut is_done = vec![false; self.columns.len()];
        loop {
            let mut has_changed = false;
            for (place, column) in self.columns.iter().enumerate() {
                if is_done[place] {
                    continue;
                }
                let Some(id) = column.sole(domains) else { continue };
                is_done[place] = true;
                // This can leave another slot with a single id, which is taken in turn in the next round.
                for (other, column) in self.columns.iter().enumerate() {
                    if other != place {
                        let before = domains.count(column.slot);
                        column.retain(domains, |it| it != id)?;
                        has_changed |= domains.count(column.slot) != before;
                    }
                }
            }
            if !has_changed {
                return self.match_keys(domains, &is_done, scratch);
            }
        }
    }

    /// Whether each open slot that cannot be left empty can have an id of its own.
    fn match_keys(&self, domains: &Domains, is_done: &[bool], scratch: &mut Scratch) -> Result<(), Wiped> {
        let mut choices: Vec<Vec<u32>> = Vec::new();
        let open = self
            .columns
            .iter()
            .zip(is_done)
            // A taken id is already removed from all others, and a slot that can be empty needs no id.
            .filter(|(column, is_done)| !**is_done && !domains.may_be_empty(column.slot));
        for (column, _) in open {
            scratch.forget(self.keys);
            let mut ids = Vec::new();
            for value in domains.values(column.slot) {
                if scratch.see(column.ids[value]) {
                    ids.push(column.ids[value]);
                }
                // A slot with at least as many ids as there are slots always finds one.
                if ids.len() >= self.columns.len() {
                    break;
                }
            }
            if ids.len() < self.columns.len() {
                choices.push(ids);
            }
        }
        // If each has at least as many ids as there are slots, a matching always exists.
        if choices.iter().all(|ids| ids.len() >= choices.len()) {
            return Ok(());
        }
        let mut slot_of = std::collections::BTreeMap::new();
        for slot in 0..choices.len() {
            // Each attempt visits an id at most once; the marks of the previous one must not block it.
            scratch.forget(self.keys);
            if !augment(slot, &choices, &mut slot_of, scratch) {
                return Err(Wiped);
            }
        }
        Ok(())
    }
}

/// Gives a slot an id, moving others to other ids (Kuhn, "The Hungarian method for the assignment problem", 1955). It
/// calls itself once for each slot at most.
fn augment(
    slot: usize,
    choices: &[Vec<u32>],
    slot_of: &mut std::collections::BTreeMap<u32, usize>,
    scratch: &mut Scratch,
) -> bool {
    for &id in &choices[slot] {
        if scratch.see(id) {
            let is_free = match slot_of.get(&id).copied() {
                None => true,
                Some(other) => augment(other, choices, slot_of, scratch),
            };
            if is_free {
                slot_of.insert(id, slot);
                return true;
            }
        }
    }
    false
}

impl Same {
    pub(super) fn run(&self, domains: &mut Domains, scratch: &mut Scratch) -> Result<(), Wiped> {
        // Each slot keeps the ids of those before it; then all keep the ids of the last one.
        let mut has_seen_any = false;
        for column in &self.columns {
            if domains.may_be_empty(column.slot) {
                continue;
            }
            if has_seen_any {
                column.retain(domains, |id| scratch.has_seen(id))?;
            }
            has_seen_any = true;
            scratch.forget(self.keys);
            for value in domains.values(column.slot) {
                scratch.see(column.ids[value]);
            }
        }
        if has_seen_any {
            for column in &self.columns {
                column.retain(domains, |id| scratch.has_seen(id))?;
            }
        }
        Ok(())
    }
}
