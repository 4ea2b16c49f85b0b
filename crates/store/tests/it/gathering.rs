//! A new store with the runs of others: the same as if it had run them, or nothing.

use planproof_store::{
    GatherError, Gathering, NewCampaign, NewCase, Progress, SealKey, Signatures, Store, StoreError,
    StoreLimits, StoredSpent, Unit,
};
use rusqlite::Connection;

use crate::support::{Directory, campaign, create, run, start};

fn key(n: u8) -> SealKey {
    SealKey::from_seed(&[n; 32]).expect("is a seed")
}

/// A sealed source with so many cases of two runs each, of which one run was cut off.
fn source(directory: &Directory, name: &str, cases: u32) -> Store {
    let store = Store::open(&directory.file(name), StoreLimits::default()).expect("opens");
    create(&store, name, cases, 2);
    {
        let writer = store.writer().expect("starts");
        writer.seal(key(1));
        for ordinal in (0..cases).rev() {
            for repeat in 0..2 {
                if (ordinal, repeat) == (1, 1) {
                    start(&writer, name, ordinal, repeat).expect("starts");
                } else {
                    run(&writer, name, ordinal, repeat, 5).expect("runs");
                }
            }
        }
        writer.end_seals().wait().expect("commits");
    }
    store
}

fn gather(directory: &Directory, sources: &[(&Store, &str, &[u32])]) -> Result<u64, GatherError> {
    let path = directory.file("all.db");
    let _ = std::fs::remove_file(&path);
    let new = NewCampaign { command_line: "all", ..campaign("all", 7, 2) };
    let mut gathering = Gathering::begin(&path, &new, Some("main"), key(9)).expect("begins");
    let mut runs = 0;
    for (source, id, places) in sources {
        runs += gathering.take(source, id, places)?.runs;
    }
    let spent = StoredSpent { input_tokens: 11, ..StoredSpent::default() };
    assert_eq!(gathering.finish(&Progress { spent, ..Progress::default() })?, key(9).fingerprint());
    Ok(runs)
}

fn traces(store: &Store, id: &str) -> Vec<(Unit, String)> {
    let runs = store.traced_runs(id).expect("reads").map(|run| run.expect("reads"));
    runs.filter(|run| run.row.verdict.is_some())
        .inspect(|run| assert_eq!((run.row.is_checked, &run.row.damage), (true, &None)))
        .map(|run| (run.row.unit, run.trace))
        .collect()
}

#[test]
fn what_is_gathered_is_what_was_there() {
    let directory = Directory::new();
    let (a, b) = (source(&directory, "a", 3), source(&directory, "b", 2));
    let runs = gather(&directory, &[(&a, "a", &[0, 2, 4]), (&b, "b", &[1, 3])]).expect("gathers");
    assert_eq!(runs, 8);
    // It is a store like any other, and can be written.
    let all = Store::open(&directory.file("all.db"), StoreLimits::default()).expect("opens");
    let row = all.campaign("all").expect("reads");
    assert_eq!((row.cases, row.finished(), row.started, row.label.as_deref()), (5, 8, 0, Some("main")));
    assert_eq!(row.progress.spent.input_tokens, 11);
    let mut expected = Vec::new();
    for (store, id, places) in [(&a, "a", [0, 2, 4].as_slice()), (&b, "b", &[1, 3])] {
        for (unit, trace) in traces(store, id) {
            expected.push((Unit { ordinal: places[unit.ordinal as usize], ..unit }, trace));
        }
    }
    expected.sort();
    assert_eq!(traces(&all, "all"), expected);
    let ids: Vec<String> = all.cases("all").expect("reads").map(|case| case.expect("reads").id).collect();
    assert_eq!(ids, ["case-0", "case-0", "case-1", "case-1", "case-2"]);
    let seals = all.seals("all", Signatures::All).expect("reads").expect("is sealed");
    assert!(
        seals.is_ended && seals.faults.is_empty() && seals.damaged.is_empty() && seals.links == 8,
        "{seals:?}"
    );
    // What was cut off can be run, and the chain goes on.
    let writer = all.writer().expect("starts");
    writer.seal(key(3));
    run(&writer, "all", 2, 1, 5).expect("runs");
    writer.end_seals().wait().expect("commits");
    let seals = all.seals("all", Signatures::All).expect("reads").expect("is sealed");
    assert!(
        seals.is_ended && seals.faults.is_empty() && seals.damaged.is_empty() && seals.links == 9,
        "{seals:?}"
    );
}

#[test]
fn a_file_that_is_there_is_not_touched() {
    let directory = Directory::new();
    std::fs::write(directory.file("all.db"), "mine").expect("writes");
    let begun = Gathering::begin(&directory.file("all.db"), &campaign("all", 7, 2), None, key(9));
    assert!(begun.is_err());
    assert_eq!(std::fs::read(directory.file("all.db")).expect("reads"), b"mine");
}

#[test]
fn nothing_that_was_changed_is_gathered() {
    let changes = [
        ("UPDATE event SET lines = replace(lines, '2', '3') WHERE run = 2", "its trace"),
        ("UPDATE event SET seq = seq + 1 WHERE run = 99999; DELETE FROM event WHERE run = 3", "its trace"),
        ("UPDATE run SET verdict = '{}' WHERE id = 1", "its verdict"),
        ("UPDATE run SET passed = 0 WHERE id = 2", "how it came out"),
        ("UPDATE run SET header = '{}' WHERE id = 2", "its trace"),
        ("UPDATE campaign_case SET json = '{}' WHERE ordinal = 2", "its case"),
        ("UPDATE campaign_case SET case_id = 'x' WHERE ordinal = 0", "its case"),
        ("DELETE FROM event WHERE run = 1; DELETE FROM run WHERE id = 1", "missing"),
        ("UPDATE run SET state = 'started' WHERE id = 2", "missing"),
        ("UPDATE run SET digest = zeroblob(32) WHERE id = 2", "it is not the run that was sealed"),
        ("UPDATE run SET parts = NULL WHERE id = 2", "a run is of no case"),
        ("UPDATE link SET digest = zeroblob(32) WHERE number = 1", "signature"),
        ("DELETE FROM link; DELETE FROM seal", "it is not sealed"),
        ("UPDATE campaign SET agent = 'another'", "does not fit the campaign"),
        ("DELETE FROM link WHERE number = 3", "of the chain"),
        ("DELETE FROM link WHERE number = 4", "the end of seal"),
    ];
    for (sql, what) in changes {
        let directory = Directory::new();
        drop(source(&directory, "a", 3));
        let connection = Connection::open(directory.file("a")).expect("opens");
        connection.pragma_update(None, "foreign_keys", false).expect("sets");
        connection.execute_batch(sql).expect("changes");
        drop(connection);
        let changed = Store::open_read_only(&directory.file("a")).expect("opens");
        match gather(&directory, &[(&changed, "a", &[0, 1, 2])]) {
            Err(GatherError::Unsound(why)) => assert!(why.contains(what), "{sql}: {why}"),
            other => panic!("{sql}: {other:?}"),
        }
    }
}

#[test]
fn other_numbers_of_cases_are_refused() {
    let directory = Directory::new();
    let a = source(&directory, "a", 3);
    for places in [&[0, 1][..], &[0, 1, 2, 3]] {
        assert!(matches!(gather(&directory, &[(&a, "a", places)]), Err(GatherError::Unsound(_))));
    }
}

/// A process that has the file open keeps using it, whatever takes the place of its content: what it writes is there
/// afterwards, and what it has written before is seen by whoever decides.
#[test]
fn what_others_write_into_a_store_is_not_lost_when_it_is_replaced() {
    let directory = Directory::new();
    let a = source(&directory, "a", 3);
    gather(&directory, &[(&a, "a", &[0, 1, 2])]).expect("gathers");
    let (old, new) = (directory.file("old.db"), directory.file("all.db"));
    std::fs::copy(&new, &old).expect("copies");
    let open = || Store::open(&old, StoreLimits::default()).expect("opens");
    let ids = |store: &Store| -> Vec<String> {
        store.campaigns().expect("reads").into_iter().map(|row| row.id).collect()
    };
    // Somebody has it open, and creates a campaign after it was replaced.
    let other = open();
    open()
        .replace_by::<StoreError>(&new, |now, new| {
            assert_eq!((ids(now), ids(new)), (vec!["all".to_owned()], vec!["all".to_owned()]));
            assert_eq!(now.runs_lacking_in("all", (new, "all")), Ok(0));
            Ok(())
        })
        .expect("replaces");
    create(&other, "late", 1, 1);
    assert_eq!(ids(&open()), ["late", "all"]);
    let seals = open().seals("all", Signatures::All).expect("reads").expect("is sealed");
    assert!(seals.is_ended && seals.faults.is_empty() && seals.damaged.is_empty(), "{seals:?}");
    // Before it is replaced: whoever decides sees it, and nothing is changed.
    let refused = open().replace_by::<StoreError>(&new, |now, _| {
        assert_eq!(ids(now), ["late", "all"]);
        Err(StoreError::UnknownCampaign { name: "refused".to_owned() })
    });
    assert_eq!(refused, Err(StoreError::UnknownCampaign { name: "refused".to_owned() }));
    assert_eq!(ids(&open()), ["late", "all"]);
    // While it is decided nobody else can write.
    let waits = StoreLimits { busy_ms: 50, ..StoreLimits::default() };
    let busy = Store::open(&old, waits).expect("opens");
    let blocked = open().replace_by::<StoreError>(&new, |_, _| {
        let none = std::iter::empty::<NewCase>();
        let refused = busy.create_campaign(&campaign("later", 9, 1), none);
        assert!(matches!(refused, Err(StoreError::Busy { .. })), "{refused:?}");
        Err(StoreError::UnknownCampaign { name: "refused".to_owned() })
    });
    assert!(blocked.is_err());
    // A scored run that the other lacks is counted.
    let b = source(&directory, "b", 2);
    assert_eq!(b.runs_lacking_in("b", (&a, "a")), Ok(0), "the same runs under other names");
    let empty = directory.file("few.db");
    let few = Store::open(&empty, StoreLimits::default()).expect("opens");
    create(&few, "few", 1, 1);
    assert!(a.runs_lacking_in("a", (&few, "few")).expect("reads") > 0);
}
