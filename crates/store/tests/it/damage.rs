//! Finished runs are checked against their digests.

use planproof_store::{Damage, RunState, Store, StoreError, Unit};
use rusqlite::Connection;

use crate::support::{Directory, create, run, start};

const CASES: u32 = 4;

/// A store with four finished runs and one in progress.
fn stored(directory: &Directory) -> Store {
    let store = directory.store();
    create(&store, "a", CASES + 1, 1);
    let writer = store.writer().expect("starts");
    for ordinal in 0..CASES {
        run(&writer, "a", ordinal, 0, 5).expect("runs");
    }
    start(&writer, "a", CASES, 0).expect("starts");
    writer.flush().wait().expect("commits");
    store
}

fn change(directory: &Directory, sql: &str) {
    let connection = Connection::open(directory.file("store.db")).expect("opens");
    connection.pragma_update(None, "foreign_keys", false).expect("sets");
    connection.execute_batch(sql).expect("changes");
}

/// What is wrong with each run, by its position.
fn found(store: &Store) -> Vec<(u32, Damage)> {
    let runs = store.runs("a").expect("reads").map(|run| run.expect("reads"));
    let runs: Vec<_> = runs.filter_map(|run| Some((run.unit.ordinal, run.damage?))).collect();
    for (ordinal, damage) in &runs {
        let run = store.run("a", Unit { ordinal: *ordinal, repeat: 0 }).expect("reads").expect("is there");
        assert_eq!(run.row.damage.as_ref(), Some(damage), "one run is read as all are");
    }
    runs
}

#[test]
fn runs_that_are_as_they_were_written_are_sound() {
    let directory = Directory::new();
    let store = stored(&directory);
    let runs: Vec<_> = store.runs("a").expect("reads").map(|run| run.expect("reads")).collect();
    assert_eq!(runs.len(), CASES as usize + 1);
    for run in runs {
        assert_eq!((run.is_checked, run.damage), (run.state == RunState::Finished, None));
    }
    assert!(store.run_summaries("a").expect("reads").all(|run| run.expect("reads").damage.is_none()));
    let exported = store.export_traces("a", &mut Vec::new()).expect("exports");
    assert_eq!((exported.traces, exported.left_out.len()), (u64::from(CASES), 0));
    // Rewriting the same content is not damage.
    change(&directory, "UPDATE run SET verdict = verdict || ''; VACUUM");
    assert_eq!(found(&store), []);
}

#[test]
fn a_run_that_an_index_lacks_is_read_and_the_index_is_named() {
    for left_out in ["= 0", "= 2", "= 3", "< 4"] {
        let directory = Directory::new();
        let store = stored(&directory);
        assert_eq!(store.check_indexes(), Ok(()));
        // The index is built with a condition that leaves runs out, and described as before.
        let connection = Connection::open(directory.file("store.db")).expect("opens");
        let sql = "SELECT sql FROM sqlite_schema WHERE name = 'run_unit'";
        let index: String = connection.query_row(sql, [], |row| row.get(0)).expect("reads");
        let describe = |sql: &str| {
            let set = "UPDATE sqlite_schema SET sql = ?1 WHERE name = 'run_unit'";
            connection.pragma_update(None, "writable_schema", true).expect("sets");
            connection.execute(set, [sql]).expect("changes");
            connection.pragma_update(None, "writable_schema", "RESET").expect("sets");
        };
        describe(&format!("{index} WHERE NOT ordinal {left_out}"));
        connection.execute_batch("REINDEX run_unit").expect("rebuilds");
        describe(&index);
        drop(connection);
        let store = directory.store();
        let runs: Vec<_> = store.runs("a").expect("reads").map(|run| run.expect("reads")).collect();
        let finished = runs.iter().filter(|run| run.state == RunState::Finished && run.is_checked);
        let ordinals: Vec<u32> = finished.map(|run| run.unit.ordinal).collect();
        assert_eq!(ordinals, [0, 1, 2, 3], "without {left_out}");
        let exported = store.export_traces("a", &mut Vec::new()).expect("exports");
        assert_eq!(exported.traces, u64::from(CASES));
        let error = store.check_indexes().expect_err("is damaged").to_string();
        assert!(error.contains("run_unit"), "{error}");
    }
}

#[test]
fn each_change_of_a_run_is_found_and_named() {
    let differs = |what: &[&'static str]| Damage::Differs(what.to_vec());
    let changes: &[(&str, Damage)] = &[
        ("UPDATE event SET lines = replace(lines, '2 3', '2 4') WHERE run = 3", differs(&["its trace"])),
        ("DELETE FROM event WHERE run = 3", differs(&["its trace"])),
        ("INSERT INTO event VALUES (3, 99, '{}')", differs(&["its trace"])),
        ("UPDATE run SET header = header || ' ' WHERE id = 3", differs(&["its trace"])),
        ("UPDATE run SET verdict = '{\"passed\":false}' WHERE id = 3", differs(&["its verdict"])),
        ("UPDATE run SET passed = 0 WHERE id = 3", differs(&["how it came out"])),
        ("UPDATE run SET passed = NULL WHERE id = 3", differs(&["how it came out"])),
        ("UPDATE run SET class = 'x' WHERE id = 3", differs(&["how it came out"])),
        ("UPDATE run SET wall_ms = 13 WHERE id = 3", differs(&["how it came out"])),
        ("UPDATE run SET summary = '[]' WHERE id = 3", differs(&["how it came out"])),
        ("UPDATE run SET digest = zeroblob(32) WHERE id = 3", differs(&["how it came out"])),
        (
            "UPDATE run SET digest = (SELECT digest FROM run WHERE id = 1) WHERE id = 3",
            differs(&["how it came out"]),
        ),
        ("UPDATE run SET digest = NULL WHERE id = 3", Damage::NoDigest),
        ("UPDATE run SET parts = x'00' WHERE id = 3", Damage::NoDigest),
        ("UPDATE run SET parts = NULL, digest = NULL WHERE id = 3", Damage::NoDigest),
        ("UPDATE run SET state = 'started' WHERE id = 3", Damage::NoState),
        ("UPDATE campaign_case SET json = '{}' WHERE ordinal = 2", differs(&["its case"])),
        ("UPDATE campaign_case SET summary = '{}' WHERE ordinal = 2", differs(&["its case"])),
        ("UPDATE event SET lines = CAST(x'ff' || lines AS TEXT) WHERE run = 3", differs(&["its trace"])),
    ];
    for (sql, damage) in changes {
        let directory = Directory::new();
        let store = stored(&directory);
        change(&directory, sql);
        assert_eq!(found(&store), [(2, damage.clone())], "{sql}");
        let mut out = Vec::new();
        let exported = store.export_traces("a", &mut out).expect("exports the others");
        let left_out: Vec<_> = exported.left_out.iter().map(|run| (run.unit.ordinal, &run.damage)).collect();
        assert_eq!((exported.traces, left_out), (u64::from(CASES) - 1, vec![(2, damage)]), "{sql}");
        assert!(!String::from_utf8(out).expect("UTF-8").contains("case-2"), "{sql}");
    }
}

#[test]
fn two_runs_that_changed_places_are_both_damaged() {
    let directory = Directory::new();
    let store = stored(&directory);
    change(
        &directory,
        "UPDATE event SET run = -1 WHERE run = 2; UPDATE event SET run = 2 WHERE run = 3;
         UPDATE event SET run = 3 WHERE run = -1",
    );
    let trace = Damage::Differs(vec!["its trace"]);
    assert_eq!(found(&store), [(1, trace.clone()), (2, trace)]);

    // Swaps two rows entirely, digests included.
    let directory = Directory::new();
    let store = stored(&directory);
    change(
        &directory,
        "UPDATE run SET ordinal = 99 - ordinal WHERE ordinal IN (1, 2);
         UPDATE run SET ordinal = ordinal - 96 WHERE ordinal > 50",
    );
    let places: Vec<u32> = found(&store).into_iter().map(|(ordinal, _)| ordinal).collect();
    assert_eq!(places, [1, 2]);
}

#[test]
fn what_a_summary_is_read_from_is_checked() {
    for sql in [
        "UPDATE run SET passed = 0 WHERE id = 3",
        "UPDATE run SET summary = '[]' WHERE id = 3",
        "UPDATE run SET digest = NULL WHERE id = 3",
    ] {
        let directory = Directory::new();
        let store = stored(&directory);
        change(&directory, sql);
        let rows: Vec<_> = store.run_summaries("a").expect("reads").map(|row| row.expect("reads")).collect();
        let damaged: Vec<u32> =
            rows.iter().filter(|row| row.damage.is_some()).map(|row| row.unit.ordinal).collect();
        assert_eq!((rows.len(), damaged), (CASES as usize, vec![2]), "{sql}");
    }
}

#[test]
fn a_store_that_is_overwritten_while_it_is_open_is_damaged_and_not_ill_chosen() {
    let directory = Directory::new();
    let file = directory.file("store.db");
    drop(stored(&directory));
    let store = directory.store();
    std::fs::write(&file, "junk".repeat(5000)).expect("writes");
    let Err(StoreError::Damaged { what, .. }) = store.writer().map(|_| ()) else { panic!("it is damaged") };
    assert!(what.contains("something else has written to it"), "{what}");
    drop(store);
    // Whoever names it now has named what is none.
    assert!(matches!(Store::open_read_only(&file), Err(StoreError::NotAStore { .. })));
}
