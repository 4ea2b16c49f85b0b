//! Stores that somebody made in order to harm whoever opens them.

use std::fs;
use std::time::Instant;

use planproof_store::{Store, StoreError, StoreLimits};
use rusqlite::Connection;

use crate::support::{Directory, create, run};

/// A store with a finished run, after a change by somebody else.
fn changed(sql: &str) -> Directory {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 2, 1);
    let writer = store.writer().expect("starts");
    run(&writer, "a", 0, 0, 5).expect("runs");
    writer.flush().wait().expect("commits");
    drop((writer, store));
    let connection = Connection::open(directory.file("store.db")).expect("opens");
    connection.pragma_update(None, "foreign_keys", false).expect("sets");
    connection.execute_batch(sql).expect("changes");
    directory
}

#[test]
fn a_store_with_other_tables_is_refused_before_anything_of_it_is_read() {
    let endless = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT * FROM other, n";
    let cases = [
        (format!("ALTER TABLE event RENAME TO other; CREATE VIEW event AS {endless}"), "view \"event\""),
        (format!("ALTER TABLE run RENAME TO other; CREATE VIEW run AS {endless}"), "table \"event\" is not the one"),
        ("CREATE TABLE notes (x)".to_owned(), "table \"notes\" was added"),
        ("CREATE VIEW mine AS SELECT 1".to_owned(), "view \"mine\" was added"),
        (
            "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM campaign; END".to_owned(),
            "trigger \"t\" was added",
        ),
        ("CREATE INDEX i ON run (header)".to_owned(), "index \"i\" was added"),
        ("DROP INDEX run_summary".to_owned(), "index \"run_summary\" is missing"),
        ("DROP TABLE lesson".to_owned(), "is missing"),
        ("ALTER TABLE run ADD COLUMN x INTEGER AS (ordinal + 1)".to_owned(), "table \"run\" is not the one"),
        (
            "DROP INDEX run_unit; CREATE UNIQUE INDEX run_unit ON run (campaign, ordinal, repeat, abs(ordinal))"
                .to_owned(),
            "index \"run_unit\" is not the one",
        ),
        ("ALTER TABLE campaign RENAME COLUMN label TO labels".to_owned(), "table \"campaign\" is not the one"),
        ("PRAGMA writable_schema = 1; UPDATE sqlite_schema SET type = '\u{1b}[31m' WHERE name = 'run'".to_owned(), ""),
    ];
    for (sql, expected) in cases {
        let directory = changed(&sql);
        let path = directory.file("store.db");
        for opened in [Store::open_read_only(&path), Store::open(&path, StoreLimits::default())] {
            match opened.map(|_| ()) {
                Err(StoreError::Altered { what, .. }) => assert!(what.contains(expected), "{sql}: {what}"),
                // SQLite itself refuses some.
                Err(StoreError::Damaged { .. }) if expected.is_empty() => {}
                other => panic!("{sql}: {other:?}"),
            }
        }
    }
}

#[test]
fn statistics_of_sqlite_are_no_change() {
    let directory = changed("ANALYZE");
    let store = Store::open(&directory.file("store.db"), StoreLimits::default()).expect("opens");
    assert_eq!(store.campaigns().expect("reads").len(), 1);
}

#[test]
fn numbers_that_nobody_can_have_run_are_refused() {
    let changes = [
        "repeats = 4294967295",
        "cases = 4294967295",
        "cases = 100001, repeats = 10",
        "repeats = -1",
        "cases = 1 << 40",
    ];
    for change in changes {
        let directory = changed(&format!("UPDATE campaign SET {change}"));
        let store = Store::open_read_only(&directory.file("store.db")).expect("its tables are ours");
        store.campaigns().expect_err(change);
        store.campaign("a").expect_err(change);
        store.unfinished("a").map(|_| ()).expect_err(change);
        store.runs("a").map(|_| ()).expect_err(change);
    }
    let directory = changed("UPDATE campaign SET cases = 100000, repeats = 10");
    let store = Store::open_read_only(&directory.file("store.db")).expect("its tables are ours");
    assert_eq!(store.campaign("a").expect("possible").total(), 1_000_000);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_waited_for() {
    let directory = Directory::new();
    let pipe = directory.file("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("starts").success());
    for path in [&*pipe, "/dev/zero".as_ref()] {
        for opened in [Store::open_read_only(path), Store::open(path, StoreLimits::default())] {
            let error = opened.map(|_| ()).expect_err("is no store");
            assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");
        }
    }
}

/// SQLite opens files of these names beside the store, and waits for a pipe forever.
#[cfg(unix)]
#[test]
fn what_lies_beside_a_store_is_not_waited_for_or_followed() {
    let directory = changed("SELECT 1");
    let path = directory.file("store.db");
    let sound = fs::read(&path).expect("reads");
    let victim = directory.file("victim");
    fs::write(&victim, "precious").expect("writes");
    for suffix in ["-journal", "-wal", "-shm"] {
        for kind in ["pipe", "link", "folder"] {
            for suffix in ["-journal", "-wal", "-shm"] {
                let _ = fs::remove_file(directory.file(&format!("store.db{suffix}")));
            }
            fs::write(&path, &sound).expect("writes");
            let planted = directory.file(&format!("store.db{suffix}"));
            match kind {
                "pipe" => {
                    let made = std::process::Command::new("mkfifo").arg(&planted).status();
                    assert!(made.expect("starts").success());
                }
                "link" => std::os::unix::fs::symlink(&victim, &planted).expect("links"),
                _ => fs::create_dir(&planted).expect("makes"),
            }
            for opened in [Store::open_read_only(&path), Store::open(&path, StoreLimits::default())] {
                let error = opened.map(|_| ()).expect_err(kind).to_string();
                assert!(error.contains(&format!("store.db{suffix} is not a file")), "{error}");
            }
            if kind == "folder" {
                fs::remove_dir(&planted).expect("removes");
            }
        }
    }
    assert_eq!(fs::read(&victim).expect("reads"), b"precious");
}

/// Whoever holds a campaign empties a file beside the store, to write its process there.
#[cfg(unix)]
#[test]
fn a_lock_that_is_a_link_is_not_followed() {
    let directory = changed("SELECT 1");
    let victim = directory.file("victim");
    fs::write(&victim, "precious").expect("writes");
    for key in 1..=3 {
        let planted = directory.file(&format!("store.db-running-{key}"));
        std::os::unix::fs::symlink(&victim, planted).expect("links");
    }
    let store = Store::open(&directory.file("store.db"), StoreLimits::default()).expect("opens");
    let error = store.hold(["a"]).expect_err("is a link").to_string();
    assert!(error.contains("it is not a file"), "{error}");
    assert_eq!(fs::read(&victim).expect("reads"), b"precious");
}

/// Each page of a store is overwritten in turn, by seeded bytes or with another page. Whatever a reader finds, it is a
/// row or an error, and it takes no longer than the file deserves.
#[test]
fn no_page_that_is_overwritten_makes_a_reader_panic_or_hang() {
    let directory = changed("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE");
    let path = directory.file("store.db");
    let sound = fs::read(&path).expect("reads");
    let pages = sound.len() / 4096;
    let mut seed = 7u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap_or_default()
    };
    let mut whole = 0;
    for round in 0..400 {
        let mut bytes = sound.clone();
        let page = next() % pages * 4096;
        match round % 2 {
            // Another page in its place, also one of a tree that then refers to itself.
            0 => {
                let other = next() % pages * 4096;
                let copy = sound[other..other + 4096].to_vec();
                bytes[page..page + 4096].copy_from_slice(&copy);
            }
            _ => (0..8).for_each(|_| bytes[page + next() % 4096] = next().to_le_bytes()[0]),
        }
        fs::write(&path, &bytes).expect("writes");
        let started = Instant::now();
        whole += usize::from(read_everything(&path).is_ok());
        assert!(started.elapsed().as_secs() < 20, "round {round} took {:?}", started.elapsed());
    }
    // Most bytes of a page are free space; without any sound store the test would have read nothing.
    assert!((1..400).contains(&whole), "{whole} of 400 can be read");
}

fn read_everything(path: &std::path::Path) -> Result<(), StoreError> {
    let store = Store::open_read_only(path)?;
    for campaign in store.campaigns()? {
        store.cases(&campaign.id)?.try_for_each(|case| case.map(|_| ()))?;
        store.case_summaries(&campaign.id)?.try_for_each(|case| case.map(|_| ()))?;
        store.run_summaries(&campaign.id)?.try_for_each(|run| run.map(|_| ()))?;
        store.traced_runs(&campaign.id)?.try_for_each(|run| run.map(|_| ()))?;
        store.unfinished(&campaign.id)?.try_for_each(|unit| unit.map(|_| ()))?;
        store.export_traces(&campaign.id, &mut std::io::sink())?;
    }
    Ok(())
}
