use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;

use planproof_store::{Store, StoreError, StoreLimits};
use rusqlite::Connection;

use crate::support::{
    Directory, PASSED, check_integrity, create, event, events, lines, run, start, stored_lines,
};

fn open(path: &Path) -> Result<Store, StoreError> {
    Store::open(path, StoreLimits::default())
}

#[test]
fn a_full_store_keeps_what_was_committed() {
    let directory = Directory::new();
    let path = directory.file("store.db");
    let limits = StoreLimits { pages_max: Some(80), ..StoreLimits::default() };
    let store = Store::open(&path, limits).expect("opens");
    create(&store, "a", 1000, 1);
    let writer = store.writer().expect("starts");
    let open_run = start(&writer, "a", 999, 0).expect("starts");

    let mut finished = Vec::new();
    let error = loop {
        match run(&writer, "a", u32::try_from(finished.len()).expect("small"), 0, 30) {
            Ok(run) => finished.push(run),
            Err(error) => break error,
        }
    };
    assert_eq!(error, StoreError::Full { path: path.clone(), limit: Some(80) });
    assert!(finished.len() > 5, "there was room for some");

    // Every later call returns the same error.
    assert_eq!(writer.append(open_run, &event(999, 0)), Err(error.clone()));
    assert_eq!(writer.finish_run(open_run, &PASSED).wait(), Err(error.clone()));
    assert_eq!(start(&writer, "a", 998, 0), Err(error.clone()));
    assert_eq!(writer.flush().wait(), Err(error.clone()));
    assert!(error.to_string().contains("limit of 80 pages"), "{error}");

    let check = |store: &Store| {
        assert_eq!(store.campaign("a").expect("reads").finished(), finished.len() as u64);
        for (ordinal, run) in (0..).zip(&finished) {
            assert_eq!(stored_lines(store, *run), lines(ordinal, 0, &events(ordinal, 30)));
        }
    };
    check(&store);
    drop((store, writer));
    check_integrity(&path);

    // With more room, the campaign can be resumed.
    let store = open(&path).expect("opens");
    let next = store.unfinished("a").expect("reads").next().expect("some").expect("reads");
    assert_eq!(next.ordinal as usize, finished.len());
    run(&store.writer().expect("starts"), "a", next.ordinal, 0, 30).expect("runs");
}

#[test]
fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let directory = Directory::new();
    let text = directory.file("notes.txt");
    fs::write(&text, "buy milk\n".repeat(1000)).expect("writes");
    let foreign = directory.file("foreign.db");
    Connection::open(&foreign).expect("opens").execute_batch("CREATE TABLE t (x)").expect("creates");
    let marked = directory.file("marked.db");
    let sql = "PRAGMA application_id = 7; PRAGMA user_version = 1; CREATE TABLE run (x)";
    Connection::open(&marked).expect("opens").execute_batch(sql).expect("creates");
    for path in [text, foreign, marked] {
        let before = fs::read(&path).expect("reads");
        for result in [open(&path), Store::open_read_only(&path)] {
            assert_eq!(result.expect_err("is no store"), StoreError::NotAStore { path: path.clone() });
        }
        assert_eq!(fs::read(&path).expect("reads"), before);
    }
}

#[test]
fn a_newer_store_is_refused() {
    let directory = Directory::new();
    let path = directory.file("store.db");
    create(&directory.store(), "a", 1, 1);
    Connection::open(&path).expect("opens").execute_batch("PRAGMA user_version = 99").expect("writes");
    for result in [open(&path), Store::open_read_only(&path)] {
        let error = result.expect_err("is newer");
        assert_eq!(error, StoreError::Newer { path: path.clone(), found: 99, supported: 8 });
    }
}

#[test]
fn a_damaged_store_is_called_damaged() {
    let directory = Directory::new();
    let path = directory.file("store.db");
    {
        let store = directory.store();
        create(&store, "a", 300, 1);
        let writer = store.writer().expect("starts");
        for ordinal in 0..300 {
            run(&writer, "a", ordinal, 0, 5).expect("runs");
        }
    }
    let whole = fs::read(&path).expect("reads");

    // Every page but the first is overwritten.
    let mut file = fs::OpenOptions::new().write(true).open(&path).expect("opens");
    file.seek(SeekFrom::Start(4096)).expect("seeks");
    file.write_all(&vec![0xa5; whole.len() - 4096]).expect("writes");
    drop(file);
    let error = open(&path).and_then(|store| store.campaigns()).expect_err("is damaged");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");

    // The file is truncated.
    fs::write(&path, whole.get(..whole.len() / 2).expect("half")).expect("writes");
    let error =
        open(&path).and_then(|store| store.export_traces("a", &mut Vec::new())).expect_err("is damaged");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[test]
fn a_file_that_cannot_be_opened_says_why() {
    let directory = Directory::new();
    let missing = directory.file("missing/store.db");
    let error = open(&missing).expect_err("no directory").to_string();
    assert!(error.starts_with("cannot open the run store") && error.contains("No such file"), "{error}");
    let missing = directory.file("store.db");
    assert!(matches!(Store::open_read_only(&missing), Err(StoreError::CannotOpen { .. })));
    assert!(!missing.exists());
    assert!(matches!(open(&directory.file("")), Err(StoreError::CannotOpen { .. })));

    fs::write(&missing, "").expect("writes");
    assert!(matches!(Store::open_read_only(&missing), Err(StoreError::Unmade { .. })));
    create(&open(&missing).expect("an empty file becomes a store"), "a", 1, 1);
}

/// The disk was full when the store was made.
#[test]
fn a_store_that_was_half_made_says_so_and_is_completed() {
    let directory = Directory::new();
    let path = directory.file("store.db");
    for pages in [1, 2, 5] {
        let limits = StoreLimits { pages_max: Some(pages), ..StoreLimits::default() };
        let error = Store::open(&path, limits).expect_err("is full");
        assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
        let error = Store::open_read_only(&path).expect_err("holds nothing").to_string();
        assert!(error.contains("holds nothing") && error.contains("run the test again"), "{error}");
    }
    create(&open(&path).expect("is completed"), "a", 1, 1);
    assert_eq!(Store::open_read_only(&path).expect("is a store").campaigns().expect("reads").len(), 1);
}

#[test]
fn many_may_open_a_new_file_at_once() {
    for _ in 0..5 {
        let directory = Directory::new();
        thread::scope(|scope| {
            for id in ["a", "b", "c", "d", "e", "f"] {
                let directory = &directory;
                scope.spawn(move || {
                    let store = directory.store();
                    create(&store, id, 3, 1);
                    run(&store.writer().expect("starts"), id, 0, 0, 3).expect("runs");
                });
            }
        });
        assert_eq!(directory.store().campaigns().expect("reads").len(), 6);
    }
}

#[test]
fn a_store_of_the_first_version_is_read_and_brought_up_to_date() {
    for is_read_only in [false, true] {
        let directory = Directory::new();
        let path = directory.file("store.db");
        let first = concat!(
            include_str!("../../src/schema/1.sql"),
            "PRAGMA user_version = 1;
             INSERT INTO campaign VALUES (1, 'a', 1, '', 'agent', NULL, 0, '{}', 2, 1);
             INSERT INTO campaign_case VALUES (1, 0, 'case-0', '{}'), (1, 1, 'case-1', '{}');
             INSERT INTO run VALUES (1, 1, 1, 0, 'finished', 1, NULL, 5, 'header', '{}');"
        );
        Connection::open(&path).expect("opens").execute_batch(first).expect("is the first version");
        let store = if is_read_only { Store::open_read_only(&path) } else { open(&path) }.expect("opens");
        assert_eq!(store.campaign("a").expect("reads").passed, 1);
        let cases: Vec<_> =
            store.case_summaries("a").expect("reads").map(|row| row.expect("reads")).collect();
        assert_eq!((cases.len(), cases[1].id.as_str(), &cases[1].summary), (2, "case-1", &None));
        let runs: Vec<_> = store.run_summaries("a").expect("reads").map(|row| row.expect("reads")).collect();
        assert_eq!(
            (runs.len(), runs[0].passed, runs[0].wall_ms, &runs[0].summary),
            (1, Some(true), 5, &None)
        );
        drop(store);
        check_integrity(&path);
        let connection = Connection::open(&path).expect("opens");
        let version: i64 =
            connection.pragma_query_value(None, "user_version", |row| row.get(0)).expect("answers");
        assert_eq!(version == 1, is_read_only, "what is only read stays as it is");
        run(&directory.store().writer().expect("starts"), "a", 0, 0, 2).expect("goes on");
    }
}
