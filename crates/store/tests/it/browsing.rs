//! Pages of campaigns and runs, whether anything changed, and who holds a campaign.

use planproof_store::{Finish, RunPage, RunStanding, RunsAfter, Store, Unit};

use crate::support::{Directory, PASSED, campaign, create, event, run, start, stored_lines};

/// All runs of a campaign, page by page, with a twin's count of the pages.
fn all(store: &Store, standing: Option<RunStanding>, most: usize) -> Vec<Unit> {
    let begin = match standing {
        None | Some(RunStanding::Started) => RunsAfter::Unit(None),
        Some(_) => RunsAfter::Begun(0),
    };
    let (mut after, mut units) = (Some(begin), Vec::new());
    while let Some(at) = after {
        let RunPage { runs, next, .. } = store.run_page("a", standing, at, most, |_| true).expect("reads");
        assert!(runs.len() <= most && (next.is_none() || !runs.is_empty() || standing.is_some()));
        units.extend(runs.into_iter().map(|run| run.unit));
        after = next;
    }
    units
}

#[test]
#[ignore = "slow"]
fn runs_come_page_by_page_and_by_their_outcome() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 400, 2);
    create(&store, "b", 3, 1);
    let writer = store.writer().expect("starts");
    let mut expected: [Vec<Unit>; 4] = Default::default();
    for ordinal in 0..400 {
        for repeat in 0..2 {
            let unit = Unit { ordinal, repeat };
            let id = start(&writer, "a", ordinal, repeat).expect("starts");
            let kind = ((ordinal * 2 + repeat) % 7) as usize;
            let passed = [Some(true), Some(false), None].get(kind % 4).copied();
            if let Some(passed) = passed {
                let class = (passed == Some(false)).then_some("order_error");
                writer.finish_run(id, &Finish { passed, class, ..PASSED }).wait().expect("is finished");
            }
            expected[kind % 4].push(unit);
        }
    }
    run(&writer, "b", 0, 0, 1).expect("is run");
    let every: Vec<Unit> =
        (0..400).flat_map(|ordinal| (0..2).map(move |repeat| Unit { ordinal, repeat })).collect();
    for most in [1, 7, 50, 5000] {
        assert_eq!(all(&store, None, most), every, "{most}");
        for (place, standing) in
            [RunStanding::Passed, RunStanding::Failed, RunStanding::Unscored, RunStanding::Started]
                .into_iter()
                .enumerate()
        {
            assert_eq!(all(&store, Some(standing), most), expected[place], "{standing:?} {most}");
        }
    }
    let started = store.started_runs("a", 5).expect("reads");
    let last: Vec<Unit> = expected[3].iter().rev().take(5).copied().collect();
    assert_eq!(started.iter().map(|run| run.unit).collect::<Vec<_>>(), last);
    assert_eq!(store.started_runs("b", 5).expect("reads"), []);
    let one = store.listed_run("a", Unit { ordinal: 0, repeat: 1 }).expect("reads").expect("is there");
    assert_eq!(
        (one.standing, one.class.as_deref(), one.case.as_str()),
        (RunStanding::Failed, Some("order_error"), "case-0")
    );
    assert_eq!(store.listed_run("b", Unit { ordinal: 1, repeat: 0 }), Ok(None));
}

#[test]
fn campaigns_come_newest_first_from_any_of_them_on() {
    let directory = Directory::new();
    let store = directory.store();
    let none: [(&str, &str); 0] = [];
    for number in 0..7 {
        store.create_campaign(&campaign(&format!("c{number}"), 1, 1), none).expect("is created");
    }
    let (mut before, mut found) = (None, Vec::new());
    loop {
        let page = store.campaign_page(before.as_deref(), 3).expect("reads");
        let Some(last) = page.last() else { break };
        before = Some(last.id.clone());
        found.extend(page.into_iter().map(|row| row.id));
    }
    assert_eq!(found, ["c6", "c5", "c4", "c3", "c2", "c1", "c0"]);
}

#[test]
fn events_are_read_on_from_where_the_last_reading_ended() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 1, 1);
    let writer = store.writer().expect("starts");
    let reader = Store::open_read_only(store.path()).expect("opens");
    let id = start(&writer, "a", 0, 0).expect("starts");
    let (mut next, mut lines) = (0, Vec::new());
    let mut versions = vec![reader.data_version().expect("reads")];
    for number in 0..20 {
        writer.append(id, &event(0, number)).expect("is appended");
        writer.flush().wait().expect("is written");
        versions.push(reader.data_version().expect("reads"));
        // Every third time, so that a reading has several rows; with a limit that holds none of them.
        if number % 3 == 0 {
            loop {
                let (text, on) = reader.events_from(id, next, 1).expect("reads");
                if on == next {
                    break;
                }
                next = on;
                lines.extend(text.lines().map(str::to_owned));
            }
        }
    }
    let (rest, _) = reader.events_from(id, next, 1 << 20).expect("reads");
    lines.extend(rest.lines().map(str::to_owned));
    assert_eq!(lines, stored_lines(&store, id)[1..]);
    assert_eq!(reader.trace_header(id).expect("reads").as_ref(), stored_lines(&store, id).first());
    versions.dedup();
    assert_eq!(versions.len(), 21, "each commit makes another version");
    assert_eq!(reader.data_version().ok(), versions.last().copied(), "and nothing else does");
}

#[test]
fn who_holds_a_campaign_is_seen_without_taking_its_lock() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 1, 1);
    let reader = Store::open_read_only(store.path()).expect("opens");
    assert_eq!(reader.is_held("a"), Ok(false));
    let holder = directory.store();
    holder.hold(["a"]).expect("holds");
    assert_eq!(reader.is_held("a"), Ok(true));
    drop(holder);
    assert_eq!(reader.is_held("a"), Ok(false));
    // What a killed process leaves behind: no process has this number.
    let lock = directory.file("store.db-running-1");
    for left in ["4194305", "", "nonsense"] {
        std::fs::write(&lock, left).expect("is written");
        assert_eq!(reader.is_held("a"), Ok(false), "{left:?}");
    }
    store.hold(["a"]).expect("is taken over");
    assert_eq!(reader.is_held("a"), Ok(true));
}
