//! What the run store holds, read with the library and not with the command.

use std::collections::BTreeMap;

use planproof_store::{RunRow, RunState, Store};

use crate::support::Place;

/// The newest campaign's id and its finished runs by place of the case. `None` while there is no campaign.
pub(crate) fn finished(place: &Place) -> Option<(String, BTreeMap<u32, RunRow>)> {
    let store = Store::open_read_only(&place.path(".planproof/runs.db")).ok()?;
    let id = store.campaigns().unwrap().first()?.id.clone();
    let mut runs = BTreeMap::new();
    for row in store.runs(&id).unwrap() {
        let row = row.unwrap();
        if row.state == RunState::Finished {
            let ordinal = row.unit.ordinal;
            assert!(runs.insert(ordinal, row).is_none(), "case {ordinal} has two finished runs");
        }
    }
    Some((id, runs))
}

/// How many runs of the newest campaign are finished.
pub(crate) fn finished_count(place: &Place) -> usize {
    finished(place).map_or(0, |(_, runs)| runs.len())
}

/// Asserts that what was finished still is, as the very same run.
#[track_caller]
pub(crate) fn assert_kept(before: &BTreeMap<u32, RunRow>, after: &BTreeMap<u32, RunRow>) {
    for (ordinal, row) in before {
        assert_eq!(after.get(ordinal), Some(row), "the finished run of case {ordinal} was not kept");
    }
}
