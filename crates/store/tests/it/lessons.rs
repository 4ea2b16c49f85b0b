use planproof_store::{Finish, NewLesson, Store, StoreError, StoreLimits, WhichLessons};

use crate::support::{Directory, PASSED, check_integrity, create, start, store_of_version};

fn lesson(tool: Option<&str>, text: &str) -> NewLesson {
    let (kept_as, tool) = ("toys@model".to_owned(), tool.map(str::to_owned));
    NewLesson { kept_as, tool, about: "about".to_owned(), text: text.to_owned() }
}

fn texts(store: &Store, which: &WhichLessons<'_>, newest: u32) -> Vec<String> {
    let rows = store.lessons(which, newest).expect("reads");
    rows.into_iter().map(|row| format!("{} {} {}", row.case, row.repeat, row.lesson.text)).collect()
}

const ALL: WhichLessons<'_> = WhichLessons { campaign: None, tool: None, kept_as: None, up_to: None };

/// Two campaigns with two cases each, in which the later runs end first.
fn filled(directory: &Directory) -> Store {
    let store = directory.store();
    let writer = store.writer().expect("starts");
    assert_eq!(store.newest_lesson().expect("reads"), 0);
    for id in ["a", "b"] {
        create(&store, id, 2, 2);
        let units = [(0, 0), (0, 1), (1, 0)];
        let runs = units.map(|(ordinal, repeat)| start(&writer, id, ordinal, repeat).expect("starts"));
        for (number, run) in runs.into_iter().enumerate().rev() {
            let lessons =
                [lesson(Some("sql"), &format!("{id}{number}")), lesson(None, &format!("{id}{number}'"))];
            let finish = Finish { lessons: &lessons[..=usize::from(number < 2)], ..PASSED };
            writer.finish_run(run, &finish).wait().expect("commits");
        }
    }
    store
}

#[test]
fn lessons_are_ordered_by_what_taught_them_and_not_by_what_ended_first() {
    let directory = Directory::new();
    let store = filled(&directory);
    let all = [
        "0 0 a0", "0 0 a0'", "0 1 a1", "0 1 a1'", "1 0 a2", "0 0 b0", "0 0 b0'", "0 1 b1", "0 1 b1'",
        "1 0 b2",
    ];
    let all = all.map(|text| format!("case-{text}"));
    assert_eq!(texts(&store, &ALL, 100), all);
    assert_eq!(texts(&store, &ALL, 3), all[7..]);
    let of = |which: WhichLessons<'_>| {
        let found = texts(&store, &which, 100);
        assert_eq!(store.count_lessons(&which).expect("counts"), found.len() as u64, "{which:?}");
        found
    };
    assert_eq!(of(WhichLessons { campaign: Some("a"), ..ALL }), all[..5]);
    assert_eq!(of(WhichLessons { campaign: Some("a"), tool: Some("sql"), ..ALL }).len(), 3);
    assert!(of(WhichLessons { kept_as: Some("other"), ..ALL }).is_empty());
    assert_eq!(of(WhichLessons { kept_as: Some("toys@model"), ..ALL }).len(), 10);
    // The first campaign had ended when the second began.
    assert_eq!(of(WhichLessons { up_to: Some(5), ..ALL }), all[..5]);
    let row = store.lessons(&ALL, 1).expect("reads").remove(0);
    assert_eq!((row.campaign.as_str(), row.lesson), ("b", lesson(Some("sql"), "b2")));
}

#[test]
fn deleted_lessons_stay_away_and_their_keys_are_not_used_again() {
    let directory = Directory::new();
    let store = filled(&directory);
    assert_eq!(store.newest_lesson().expect("reads"), 10);
    assert_eq!(store.delete_lessons(&WhichLessons { campaign: Some("b"), ..ALL }).expect("deletes"), 5);
    assert_eq!(texts(&store, &ALL, 100).len(), 5);
    assert_eq!(
        (store.delete_lessons(&ALL).expect("deletes"), store.newest_lesson().expect("reads")),
        (5, 10)
    );
    create(&store, "c", 1, 1);
    let writer = store.writer().expect("starts");
    let run = start(&writer, "c", 0, 0).expect("starts");
    writer.finish_run(run, &Finish { lessons: &[lesson(None, "c")], ..PASSED }).wait().expect("commits");
    assert_eq!(store.newest_lesson().expect("reads"), 11);
    let read_only = Store::open_read_only(store.path()).expect("opens");
    assert_eq!(texts(&read_only, &ALL, 100), ["case-0 0 c"]);
    assert!(matches!(read_only.delete_lessons(&ALL), Err(StoreError::ReadOnly { .. })));
    drop((writer, read_only));
    check_integrity(store.path());
}

/// A run that could not be scored is run again, and its lessons are deleted with it.
#[test]
fn a_replaced_run_teaches_nothing() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 1, 1);
    let writer = store.writer().expect("starts");
    let run = start(&writer, "a", 0, 0).expect("starts");
    let unscored = Finish { passed: None, lessons: &[lesson(None, "old")], ..PASSED };
    writer.finish_run(run, &unscored).wait().expect("commits");
    let run = start(&writer, "a", 0, 0).expect("starts");
    writer.finish_run(run, &Finish { lessons: &[lesson(None, "new")], ..PASSED }).wait().expect("commits");
    assert_eq!(texts(&store, &ALL, 100), ["case-0 0 new"]);
}

#[test]
fn a_store_of_before_has_no_lessons() {
    let directory = Directory::new();
    let path = directory.file("store.db");
    drop(store_of_version(&path, 5));
    let old = Store::open_read_only(&path).expect("an old store");
    let found = (old.lessons(&ALL, 9), old.count_lessons(&ALL), old.newest_lesson());
    assert!(matches!(&found, (Ok(rows), Ok(0), Ok(0)) if rows.is_empty()), "{found:?}");
    drop(old);
    let new = Store::open(&path, StoreLimits::default()).expect("is brought up to date");
    assert_eq!(new.count_lessons(&ALL).expect("reads"), 0);
}
