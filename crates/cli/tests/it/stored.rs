//! What the run store holds, read with the library and not with the command.

use std::collections::BTreeMap;

use planproof_store::{RunRow, RunState, Store, Unit};

use crate::support::Place;

/// The newest campaign's id and its finished runs by case and repeat. `None` while there is no campaign.
pub(crate) fn finished(place: &Place) -> Option<(String, BTreeMap<Unit, RunRow>)> {
    let store = Store::open_read_only(&place.path(".planproof/runs.db")).ok()?;
    let id = store.campaigns().unwrap().first()?.id.clone();
    let mut runs = BTreeMap::new();
    for row in store.runs(&id).unwrap() {
        let row = row.unwrap();
        if row.state == RunState::Finished {
            let unit = row.unit;
            assert!(runs.insert(unit, row).is_none(), "{unit:?} has two finished runs");
        }
    }
    Some((id, runs))
}

/// How many runs of the newest campaign are finished, and of those that it led to.
pub(crate) fn finished_count(place: &Place) -> usize {
    finished(place).map_or(0, |(_, runs)| runs.len()) + derived(place).len()
}

/// The finished runs of the campaigns that the newest one led to, by the id of theirs, case and repeat.
pub(crate) fn derived(place: &Place) -> BTreeMap<(String, Unit), RunRow> {
    let Ok(store) = Store::open_read_only(&place.path(".planproof/runs.db")) else { return BTreeMap::new() };
    let campaigns = store.campaigns().unwrap();
    let derived = campaigns.first().map(|newest| store.derived(&newest.id).unwrap()).unwrap_or_default();
    let mut runs = BTreeMap::new();
    for campaign in derived {
        let rows = store.runs(&campaign.id).unwrap().map(Result::unwrap);
        let finished = rows.filter(|row| row.state == RunState::Finished);
        runs.extend(finished.map(|row| ((campaign.id.clone(), row.unit), row)));
    }
    runs
}

/// Asserts that what was finished still is, as the very same run.
#[track_caller]
pub(crate) fn assert_kept<K: Ord + std::fmt::Debug>(
    before: &BTreeMap<K, RunRow>,
    after: &BTreeMap<K, RunRow>,
) {
    for (unit, row) in before {
        assert_eq!(after.get(unit), Some(row), "the finished run of {unit:?} was not kept");
    }
}
