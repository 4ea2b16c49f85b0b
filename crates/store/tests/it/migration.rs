use std::fs;
use std::path::Path;

use planproof_store::{Progress, RunState, Store, StoreLimits};
use rusqlite::Connection;
use rusqlite::params;

use crate::support::{Directory, check_integrity, events, lines, run, store_of_version, stored_lines};

/// A store as written by the first version, with a finished run and an interrupted one.
fn old_store(path: &Path) {
    let connection = store_of_version(path, 1);
    connection
        .execute(
            "INSERT INTO campaign VALUES (1, 'old', 5, 'planproof test x', 'x', NULL, 0, '{\"seed\":7}', 3, 1)",
            [],
        )
        .expect("inserts");
    for ordinal in 0..3 {
        let sql = "INSERT INTO campaign_case VALUES (1, ?1, ?2, '{}')";
        connection.execute(sql, params![ordinal, format!("case-{ordinal}")]).expect("inserts");
    }
    for (ordinal, state, passed) in [(0, "finished", Some(true)), (1, "started", None)] {
        let all = lines(ordinal, 0, &events(ordinal, 4));
        let verdict = passed.map(|_| "{}");
        connection
            .execute(
                "INSERT INTO run (campaign, ordinal, repeat, state, passed, wall_ms, header, verdict)
                 VALUES (1, ?1, 0, ?2, ?3, 9, ?4, ?5)",
                params![ordinal, state, passed, all[0], verdict],
            )
            .expect("inserts");
        let id = connection.last_insert_rowid();
        connection
            .execute("INSERT INTO event VALUES (?1, 0, ?2)", params![id, all[1..].join("\n")])
            .expect("inserts");
    }
}

fn check(store: &Store) {
    let campaign = store.campaign("last").expect("reads");
    assert_eq!((campaign.id.as_str(), campaign.options.as_str()), ("old", "{\"seed\":7}"));
    assert_eq!((campaign.passed, campaign.started, campaign.total()), (1, 1, 3));
    assert_eq!(campaign.progress, Progress::default());
    let rows: Vec<_> = store.runs("old").expect("reads").collect::<Result<_, _>>().expect("reads");
    assert_eq!(rows.iter().map(|row| row.state).collect::<Vec<_>>(), [RunState::Finished, RunState::Started]);
    assert_eq!(stored_lines(store, rows[0].run), lines(0, 0, &events(0, 4)));
}

#[test]
fn an_old_store_is_brought_up_to_date_and_loses_nothing() {
    let directory = Directory::new();
    let path = directory.file("store.db");
    old_store(&path);
    let store = Store::open(&path, StoreLimits::default()).expect("an old store");
    check(&store);
    let writer = store.writer().expect("starts");
    let left: Vec<u32> =
        store.unfinished("old").expect("reads").map(|unit| unit.expect("reads").ordinal).collect();
    assert_eq!(left, [1, 2]);
    for ordinal in left {
        run(&writer, "old", ordinal, 0, 2).expect("runs");
    }
    let progress = Progress { served_input_tokens: 3, ..Progress::default() };
    writer.set_progress("old", &progress).wait().expect("commits");
    drop((writer, store));
    check_integrity(&path);
    let store = Store::open_read_only(&path).expect("opens");
    let campaign = store.campaign("old").expect("reads");
    assert_eq!((campaign.finished(), campaign.progress), (3, progress));
    let version: i64 = Connection::open(&path)
        .and_then(|connection| connection.query_row("PRAGMA user_version", [], |row| row.get(0)))
        .expect("reads");
    assert_eq!(version, 8);
}

#[test]
fn an_old_store_is_read_as_it_is() {
    let directory = Directory::new();
    let path = directory.file("store.db");
    old_store(&path);
    let before = fs::read(&path).expect("reads");
    check(&Store::open_read_only(&path).expect("an old store"));
    assert_eq!(fs::read(&path).expect("reads"), before);
}
