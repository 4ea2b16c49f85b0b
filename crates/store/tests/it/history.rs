//! The history of guarded sessions.

use std::fs;
use std::path::Path;
use std::thread;

use planproof_store::{History, HistoryError, HistorySnapshot};
use rusqlite::Connection;

use crate::support::Directory;

#[test]
fn a_turn_is_all_or_nothing() {
    let folder = Directory::new();
    let path = folder.file("guard.db");
    let mut history = History::open(&path).unwrap();
    let turn = history.turn("s").unwrap();
    assert_eq!((turn.append("a").unwrap(), turn.append("b").unwrap()), (1, 2));
    turn.commit().unwrap();
    let turn = history.turn("s").unwrap();
    turn.append("c").unwrap();
    // Not committed, as of a process that is killed.
    drop(turn);
    let mut again = History::open(&path).unwrap();
    let turn = again.turn("s").unwrap();
    assert_eq!(turn.lines_after(0).unwrap(), [(1, "a".to_owned()), (2, "b".to_owned())]);
    assert_eq!(turn.lines_after(1).unwrap(), [(2, "b".to_owned())]);
    assert_eq!(turn.snapshot().unwrap(), None);
    let mut kept = HistorySnapshot { number: 1, made_with: "m".to_owned(), state: "x".to_owned() };
    turn.keep(&kept).unwrap();
    kept.number = 2;
    turn.keep(&kept).unwrap();
    assert_eq!(turn.snapshot().unwrap(), Some(kept));
    turn.commit().unwrap();
    let turn = again.turn("t").unwrap();
    assert!(turn.lines_after(0).unwrap().is_empty() && turn.snapshot().unwrap().is_none());
    turn.append("d").unwrap();
    turn.commit().unwrap();
    assert_eq!(History::open_read_only(&path).unwrap().all_lines().unwrap(), ["a", "b", "d"]);
}

#[test]
fn turns_wait_for_one_another() {
    let folder = Directory::new();
    let path = folder.file("guard.db");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                // They also create the file at once.
                let mut history = History::open(&path).unwrap();
                for _ in 0..25 {
                    let turn = history.turn("s").unwrap();
                    let before = turn.lines_after(0).unwrap().len() as u64;
                    assert_eq!(turn.append("line").unwrap(), before + 1, "nobody wrote in between");
                    turn.commit().unwrap();
                }
            });
        }
    });
    assert_eq!(History::open_read_only(&path).unwrap().all_lines().unwrap().len(), 200);
}

/// SQLite goes on writing to files that have lost their names, where nobody else finds it.
#[cfg(unix)]
#[test]
fn a_history_whose_files_are_deleted_or_replaced_takes_nothing_more() {
    for suffix in ["", "-wal", "-shm"] {
        for replaced in [false, true] {
            let folder = Directory::new();
            let path = folder.file("guard.db");
            let mut history = History::open(&path).unwrap();
            let turn = history.turn("s").unwrap();
            turn.append("a").unwrap();
            turn.commit().unwrap();
            assert!(history.turn("s").is_ok(), "{suffix}");
            let file = folder.file(&format!("guard.db{suffix}"));
            let copy = fs::read(&file).unwrap();
            // Kept under another name, so that its number is not given to the next file.
            fs::rename(&file, folder.file("away")).unwrap();
            if replaced {
                fs::write(&file, copy).unwrap();
            }
            let error = history.turn("s").unwrap_err();
            assert!(
                error.to_string().ends_with("it was deleted or replaced while it was in use; start anew"),
                "{error}"
            );
        }
    }
}

#[test]
fn what_is_no_history_is_left_as_it_is() {
    let folder = Directory::new();
    let error = |path: &Path| History::open(path).map(drop).unwrap_err();
    let text = folder.file("text");
    fs::write(&text, "{\"kind\":\"decision\"}\n".repeat(100)).unwrap();
    assert!(matches!(error(&text), HistoryError::NotAHistory { .. }));
    assert_eq!(fs::read(&text).unwrap().len(), 2000);
    let other = folder.file("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let before = fs::read(&other).unwrap();
    assert!(matches!(error(&other), HistoryError::NotAHistory { .. }));
    assert_eq!(fs::read(&other).unwrap(), before);
    let ours = folder.file("ours.db");
    drop(History::open(&ours).unwrap());
    let change = |sql: &str| Connection::open(&ours).unwrap().execute_batch(sql).unwrap();
    change("CREATE TRIGGER t AFTER INSERT ON line BEGIN DELETE FROM line; END");
    assert!(error(&ours).to_string().contains("its tables are not those of a history"));
    change("DROP TRIGGER t; PRAGMA user_version = 9");
    assert_eq!(error(&ours), HistoryError::Newer { path: ours.clone(), found: 9 });
    assert!(matches!(error(&folder.file("none/guard.db")), HistoryError::CannotOpen { .. }));
    assert!(matches!(error(&folder.file("")), HistoryError::NotAHistory { .. }));
    #[cfg(unix)]
    {
        let (aim, link) = (folder.file("aim.db"), folder.file("link.db"));
        std::os::unix::fs::symlink(&aim, &link).unwrap();
        assert!(error(&link).to_string().contains("is a link"));
        assert!(!aim.exists());
    }
}

/// A damaged page is an error, and no other history.
#[test]
fn damage_is_noticed() {
    let folder = Directory::new();
    let path = folder.file("guard.db");
    let mut history = History::open(&path).unwrap();
    let turn = history.turn("s").unwrap();
    for _ in 0..500 {
        turn.append(&"x".repeat(100)).unwrap();
    }
    turn.commit().unwrap();
    drop(history);
    let mut bytes = fs::read(&path).unwrap();
    let pages = bytes.len() / 4096;
    assert!(pages > 5);
    bytes[4096 * 4..].fill(0x5a);
    fs::write(&path, bytes).unwrap();
    let read = History::open(&path).and_then(|mut history| history.turn("s")?.lines_after(0).map(drop));
    assert!(matches!(read, Err(HistoryError::Damaged { .. } | HistoryError::NotAHistory { .. })), "{read:?}");
}
