//! Deleting campaigns, and labels.

use std::fs;

use planproof_store::{Deleted, Finish, NewLesson, SealKey, Signatures, Store, StoreError, WhichLessons};
use rusqlite::Connection;

use crate::support::{Directory, PASSED, campaign, check_integrity, create, run, start};

fn ids(store: &Store) -> Vec<String> {
    store.campaigns().expect("reads").into_iter().map(|campaign| campaign.id).collect()
}

#[test]
fn a_campaign_goes_with_all_that_belongs_to_it_and_nothing_else() {
    let directory = Directory::new();
    let path = directory.file("store.db");
    let store = directory.store();
    let writer = store.writer().expect("starts");
    for id in ["a", "b"] {
        create(&store, id, 2, 1);
        let lesson = NewLesson { kept_as: "k".into(), tool: None, about: "x".into(), text: "y".into() };
        let taught = start(&writer, id, 0, 0).expect("starts");
        let finish = Finish { lessons: &[lesson], ..PASSED };
        writer.finish_run(taught, &finish).wait().expect("commits");
        run(&writer, id, 1, 0, 400).expect("runs");
    }
    store.create_derived("a", &campaign("a.shrunk", 2, 1)).expect("is created");
    drop((writer, store));
    let store = directory.store();
    store.compact().expect("compacts");
    let before = fs::metadata(&path).expect("is there").len();
    let unknown = store.delete_campaigns(&["a", "c"]);
    assert!(matches!(unknown, Err(StoreError::UnknownCampaign { .. })), "{unknown:?}");
    assert_eq!(ids(&store), ["b", "a"], "nothing is deleted where one is not there");
    let deleted = store.delete_campaigns(&["a", "a.shrunk"]).expect("deletes");
    assert_eq!(deleted, Deleted { campaigns: vec!["a".into(), "a.shrunk".into()], runs: 2, lessons: 1 });
    assert_eq!(ids(&store), ["b"]);
    assert_eq!(store.count_lessons(&WhichLessons::default()).expect("counts"), 1);
    let kept = store.runs("b").expect("reads").map(|row| row.expect("reads"));
    assert!(kept.map(|row| (row.is_checked, row.damage)).all(|it| it == (true, None)));
    store.compact().expect("compacts");
    assert!(fs::metadata(&path).expect("is there").len() < before);
    check_integrity(&path);
    let raw = Connection::open(&path).expect("opens");
    for (table, count) in [("run", 2), ("campaign_case", 2), ("event", 1), ("lesson", 1), ("campaign", 1)] {
        let found: i64 =
            raw.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).expect("counts");
        assert!(if table == "event" { found >= count } else { found == count }, "{table}: {found}");
    }
}

#[test]
fn a_matrix_goes_with_its_last_campaign() {
    let directory = Directory::new();
    let store = directory.store();
    let row = planproof_store::Matrix {
        id: "m".into(),
        created_ms: 1,
        command_line: "planproof bench".into(),
        budgets: "{}".into(),
    };
    store.create_matrix(&row, &[campaign("m.1", 1, 1), campaign("m.2", 1, 1)], &[]).expect("is created");
    store.delete_campaigns(&["m.1"]).expect("deletes");
    assert_eq!(store.matrix("m").expect("reads"), Some(row));
    store.delete_campaigns(&["m.2"]).expect("deletes");
    assert_eq!(store.matrix("m").expect("reads"), None);
}

/// A store that holds one campaign holds everything that belongs to it, and no other campaign.
#[test]
fn a_campaign_is_held_by_one_store_at_a_time() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 2, 1);
    create(&store, "b", 2, 1);
    store.create_derived("a", &campaign("a.dissection", 1, 1)).expect("is created");
    let row = planproof_store::Matrix {
        id: "m".into(),
        created_ms: 1,
        command_line: "planproof bench".into(),
        budgets: "{}".into(),
    };
    store.create_matrix(&row, &[campaign("m.1", 1, 1), campaign("m.2", 1, 1)], &[]).expect("is created");

    let other = directory.store();
    store.hold(["a.dissection", "m.1", "m.2"]).expect("nobody else holds them");
    for campaign in ["a", "a.dissection", "m.2"] {
        let error = other.hold([campaign]).expect_err("it is held");
        let process = Some(std::process::id());
        assert_eq!(error, StoreError::Running { campaign: campaign.to_owned(), process });
    }
    // If one of the campaigns is already held, none of the others is held either.
    other.hold(["b", "a"]).expect_err("one is held");
    store.hold(["b"]).expect("nobody holds it");
    assert!(matches!(other.hold(["c"]), Err(StoreError::UnknownCampaign { .. })));
    drop(store);
    other.hold(["a", "b", "m.1"]).expect("who held them is gone");
}

/// A file left behind by a killed process blocks nobody, whatever it contains.
#[test]
fn a_lock_that_was_left_behind_is_taken_over() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 2, 1);
    let left = directory.file("store.db-running-1");
    std::fs::write(&left, [0xff; 100]).expect("writes");
    store.hold(["a"]).expect("nobody holds it");
    let error = directory.store().hold(["a"]).expect_err("it is held").to_string();
    assert!(error.contains(&format!("(process {})", std::process::id())), "{error}");
    drop(store);
    assert!(!left.exists());
}

/// A writer that is still running a deleted campaign gets an error.
#[test]
fn a_deleted_campaign_cannot_be_run_on() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 2, 1);
    let other = directory.store();
    let writer = other.writer().expect("starts");
    let going = start(&writer, "a", 1, 0).expect("starts");
    store.delete_campaigns(&["a"]).expect("deletes");
    create(&store, "b", 2, 1);
    writer.finish_run(going, &PASSED).wait().expect_err("its run is gone");
    assert!(start(&writer, "a", 1, 0).is_err());
    assert_eq!(store.campaign("b").expect("reads").finished(), 0);
}

/// No digest and no seal covers a label.
#[test]
fn a_label_can_be_changed_at_any_time() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 1, 1);
    let writer = store.writer().expect("starts");
    writer.seal(SealKey::from_seed(&[7; 32]).expect("is a seed"));
    run(&writer, "a", 0, 0, 3).expect("runs");
    writer.end_seals().wait().expect("commits");
    drop((writer, store));
    let store = directory.store();
    assert_eq!(store.campaign("a").expect("reads").label, None);
    for label in [Some("first try"), Some("second"), None] {
        store.set_label("a", label).expect("writes");
        assert_eq!(store.campaign("a").expect("reads").label.as_deref(), label);
        let seals = store.seals("a", Signatures::All).expect("reads").expect("it is sealed");
        assert!(seals.damaged.is_empty() && seals.faults.is_empty(), "{seals:?}");
    }
    let unknown = store.set_label("b", None);
    assert!(matches!(unknown, Err(StoreError::UnknownCampaign { .. })), "{unknown:?}");
    let read_only = Store::open_read_only(&directory.file("store.db")).expect("opens");
    assert!(read_only.set_label("a", None).is_err() && read_only.delete_campaigns(&["a"]).is_err());
}
