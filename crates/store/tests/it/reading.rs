use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use planproof_store::{
    CaseRow, CaseSummaryRow, Finish, NewCase, RunState, RunSummaryRow, Store, StoreError, Unit,
};
use planproof_trace::wire::v1::read_traces;
use rusqlite::Connection;

use crate::support::{Directory, campaign, create, event, events, header, lines, run, start, stored_lines};

#[test]
fn campaigns_are_listed_and_found_by_name() {
    let directory = Directory::new();
    let store = directory.store();
    let unknown = |name: &str| Err(StoreError::UnknownCampaign { name: name.to_owned() });
    assert_eq!(store.campaign("last"), unknown("last"));
    let none: [(&str, &str); 0] = [];
    for (id, created_ms) in [("abc1", 10), ("abd2", 30), ("x_y", 20)] {
        store.create_campaign(&campaign(id, created_ms, 4), none).expect("is created");
    }
    let again = store.create_campaign(&campaign("x_y", 40, 4), none);
    assert_eq!(again, Err(StoreError::CampaignExists { id: "x_y".to_owned() }));

    let ids = |campaigns: Vec<planproof_store::CampaignRow>| {
        campaigns.into_iter().map(|c| c.id).collect::<Vec<_>>()
    };
    // In the order of creation, whatever the clock said.
    assert_eq!(ids(store.campaigns().expect("reads")), ["x_y", "abd2", "abc1"]);
    for (name, id) in [("abc1", "abc1"), ("abc", "abc1"), ("abd", "abd2"), ("x", "x_y"), ("last", "x_y")] {
        assert_eq!(store.campaign(name).expect(name).id, id);
    }
    let matches = vec!["abc1".to_owned(), "abd2".to_owned()];
    assert_eq!(store.campaign("ab"), Err(StoreError::AmbiguousCampaign { prefix: "ab".to_owned(), matches }));
    for name in ["", "abc12", "%", "_", "ABC"] {
        assert_eq!(store.campaign(name), unknown(name));
    }
    assert!(matches!(store.cases("ab").err(), Some(StoreError::UnknownCampaign { .. })));

    let found = store.campaign("x_y").expect("found");
    let new = campaign("x_y", 20, 4);
    assert_eq!((found.created_ms, found.command_line.as_str()), (20, new.command_line));
    assert_eq!((found.agent.as_str(), found.model.as_deref()), (new.agent, new.model));
    assert_eq!((found.options.as_str(), found.simulated), (new.options, false));
    assert_eq!((found.cases, found.repeats, found.total(), found.finished()), (0, 4, 0, 0));
}

#[test]
fn many_rows_come_page_by_page_and_in_order() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 150, 2);
    create(&store, "b", 1, 1);
    let writer = store.writer().expect("starts");
    // Started in a different order from the listing; every fifth is left unfinished.
    for number in (0..300).rev() {
        let (ordinal, repeat) = (number / 2, number % 2);
        if number % 5 == 0 {
            start(&writer, "a", ordinal, repeat).expect("starts");
        } else {
            run(&writer, "a", ordinal, repeat, 0).expect("runs");
        }
    }
    writer.flush().wait().expect("commits");
    let cases: Vec<_> = store.cases("a").expect("reads").collect::<Result<_, _>>().expect("reads");
    let expected =
        |ordinal| CaseRow { ordinal, id: format!("case-{ordinal}"), json: format!("{{\"n\":{ordinal}}}") };
    assert_eq!(cases, (0..150).map(expected).collect::<Vec<_>>());
    assert_eq!(store.case("a", 149).expect("reads"), Some(expected(149)));
    assert_eq!(store.case("a", 150).expect("reads"), None);

    let units: Vec<_> = store
        .runs("a")
        .expect("reads")
        .map(|row| row.expect("reads").unit)
        .map(|u| (u.ordinal, u.repeat))
        .collect();
    assert_eq!(units, (0..300).map(|n| (n / 2, n % 2)).collect::<Vec<_>>());
    let left: Vec<_> = store.unfinished("a").expect("reads").map(|unit| unit.expect("reads")).collect();
    let left: Vec<_> = left.iter().map(|unit| unit.ordinal * 2 + unit.repeat).collect();
    assert_eq!(left, (0..300).step_by(5).collect::<Vec<_>>());
    assert_eq!(store.unfinished("b").expect("reads").count(), 1);
}

#[test]
fn an_export_is_the_same_whatever_the_order_and_the_interruptions() {
    let export = |order: &[u32], is_interrupted: bool| {
        let directory = Directory::new();
        let mut store = directory.store();
        create(&store, "a", 5, 1);
        for &ordinal in order {
            if is_interrupted {
                let writer = store.writer().expect("starts");
                let run = start(&writer, "a", ordinal, 0).expect("starts");
                writer.append(run, &event(99, 3)).expect("appends");
                drop(writer);
                store = directory.store();
            }
            run(&store.writer().expect("starts"), "a", ordinal, 0, ordinal.into()).expect("runs");
        }
        // A run in progress is not part of an export.
        start(&store.writer().expect("starts"), "a", 4, 0).expect("starts");
        let mut out = Vec::new();
        assert_eq!(store.export_traces("a", &mut out).expect("exports").traces, 4);
        String::from_utf8(out).expect("UTF-8")
    };
    let text = export(&[0, 1, 2, 3], false);
    assert_eq!(text, export(&[3, 1, 0, 2], true));
    let traces: Vec<_> = read_traces(&text).collect::<Result<_, _>>().expect("valid");
    assert_eq!(traces.len(), 4);
    for (ordinal, trace) in (0..).zip(traces) {
        assert_eq!(trace.header, header(ordinal, 0));
        assert_eq!(trace.events, events(ordinal, ordinal.into()));
    }
}

#[test]
fn a_destination_that_fails_is_reported() {
    struct Broken;
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("pipe is gone"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 1, 1);
    run(&store.writer().expect("starts"), "a", 0, 0, 1).expect("runs");
    let error = store.export_traces("a", &mut Broken).expect_err("broken");
    let kind = std::io::ErrorKind::Other;
    assert_eq!(error, StoreError::Export { kind, reason: "pipe is gone".to_owned() });
    assert_eq!(store.export_traces("a", &mut Vec::new()).map(|exported| exported.traces), Ok(1));
}

#[test]
fn readers_see_whole_runs_while_others_write() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 400, 1);
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers = [(); 2].map(|()| {
            scope.spawn(|| {
                let store = Store::open_read_only(&directory.file("store.db")).expect("opens");
                let mut most_finished = 0;
                loop {
                    let was_done = is_done.load(Ordering::Acquire);
                    let campaign = store.campaign("a").expect("reads");
                    assert!(campaign.finished() >= most_finished, "finished runs never vanish");
                    most_finished = campaign.finished();
                    let mut out = Vec::new();
                    let traces = store.export_traces("a", &mut out).expect("exports").traces;
                    assert!(traces >= most_finished);
                    for trace in read_traces(std::str::from_utf8(&out).expect("UTF-8")) {
                        assert_eq!(trace.expect("valid").events.len(), 21);
                    }
                    if was_done {
                        return most_finished;
                    }
                }
            })
        });
        let writer = store.writer().expect("starts");
        thread::scope(|scope| {
            for worker in 0..4 {
                let writer = writer.clone();
                scope.spawn(move || {
                    for ordinal in (worker..400).step_by(4) {
                        run(&writer, "a", ordinal, 0, 20).expect("runs");
                    }
                });
            }
        });
        is_done.store(true, Ordering::Release);
        for reader in readers {
            assert_eq!(reader.join().expect("no panic"), 400);
        }
    });
}

#[test]
fn a_store_for_reading_refuses_to_write() {
    let directory = Directory::new();
    let path = directory.file("store.db");
    create(&directory.store(), "a", 1, 1);
    let store = Store::open_read_only(&path).expect("opens");
    let read_only = StoreError::ReadOnly { path };
    assert_eq!(store.writer().expect_err("refuses"), read_only);
    let none: [(&str, &str); 0] = [];
    assert_eq!(store.create_campaign(&campaign("b", 1, 1), none), Err(read_only));
}

#[test]
fn campaigns_do_not_mix() {
    let directory = Directory::new();
    let store = directory.store();
    let other = directory.store();
    create(&store, "a", 20, 1);
    create(&other, "b", 20, 1);
    let mut runs = HashMap::new();
    thread::scope(|scope| {
        let workers = [("a", store.writer()), ("b", other.writer())].map(|(id, writer)| {
            let writer = writer.expect("starts");
            scope.spawn(move || {
                (0..20).map(|n| (run(&writer, id, n, 0, n.into()).expect("runs"), n)).collect::<Vec<_>>()
            })
        });
        for worker in workers {
            runs.extend(worker.join().expect("no panic"));
        }
    });
    assert_eq!(runs.len(), 40, "ids are never shared");
    for (run, ordinal) in runs {
        assert_eq!(stored_lines(&store, run), lines(ordinal, 0, &events(ordinal, ordinal.into())));
    }
    assert!(store.campaigns().expect("reads").iter().all(|campaign| campaign.passed == 20));
}

#[test]
fn summaries_come_in_order_and_from_an_index_alone() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "other", 3, 1);
    let cases = (0..5000).map(|n| NewCase {
        id: format!("case-{n}"),
        json: "{}".to_owned(),
        summary: (n % 2 == 0).then(|| format!("{{\"n\":{n}}}")),
    });
    store.create_campaign(&campaign("a", 2, 2), cases).expect("is created");
    let writer = store.writer().expect("starts");
    for (ordinal, repeat) in [(4999, 1), (3, 0), (4999, 0), (7, 0)] {
        let id = start(&writer, "a", ordinal, repeat).expect("starts");
        let summary = format!("[{ordinal},{repeat}]");
        let finish = Finish {
            passed: (ordinal != 3).then_some(false),
            class: (ordinal != 3).then_some("order_error"),
            verdict: "{}",
            wall_ms: u64::from(ordinal),
            summary: (repeat == 0).then_some(&summary),
            lessons: &[],
        };
        if ordinal != 7 {
            writer.finish_run(id, &finish).wait().expect("commits");
        }
    }
    run(&writer, "other", 1, 0, 1).expect("runs");

    let found: Vec<CaseSummaryRow> =
        store.case_summaries("a").expect("reads").collect::<Result<_, _>>().expect("reads");
    assert_eq!(found.len(), 5000);
    for (n, row) in found.iter().enumerate() {
        let summary = (n % 2 == 0).then(|| format!("{{\"n\":{n}}}"));
        assert_eq!((row.ordinal as usize, &row.id, &row.summary), (n, &format!("case-{n}"), &summary));
    }
    let found: Vec<RunSummaryRow> =
        store.run_summaries("a").expect("reads").collect::<Result<_, _>>().expect("reads");
    let row = |ordinal: u32, repeat: u32, class: Option<&str>, summary: Option<&str>| RunSummaryRow {
        unit: Unit { ordinal, repeat },
        passed: class.map(|_| false),
        class: class.map(str::to_owned),
        wall_ms: u64::from(ordinal),
        summary: summary.map(str::to_owned),
        damage: None,
    };
    let class = Some("order_error");
    let expected =
        [row(3, 0, None, Some("[3,0]")), row(4999, 0, class, Some("[4999,0]")), row(4999, 1, class, None)];
    assert_eq!(found, expected);

    // These statements are cheap because they read only an index.
    let connection = Connection::open(directory.file("store.db")).expect("opens");
    for sql in [
        "SELECT ordinal, case_id, summary FROM campaign_case INDEXED BY case_summary
         WHERE campaign = 1 AND ordinal >= 1 ORDER BY ordinal LIMIT 1",
        "SELECT ordinal, repeat, passed, class, wall_ms, summary, parts, digest, id FROM run INDEXED BY run_summary
         WHERE campaign = 1 AND (ordinal, repeat) > (1, 0) AND state = 'finished' ORDER BY ordinal, repeat LIMIT 1",
    ] {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect("is SQL");
        let steps: Vec<String> =
            statement.query_map([], |row| row.get(3)).expect("runs").collect::<Result<_, _>>().expect("reads");
        assert!(steps.len() == 1 && steps[0].contains("USING COVERING INDEX"), "{steps:?}");
    }
}

#[test]
fn one_run_can_be_read_alone() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 3, 2);
    let writer = store.writer().expect("starts");
    let finished = run(&writer, "a", 1, 1, 1).expect("runs");
    let begun = start(&writer, "a", 2, 0).expect("starts");
    writer.flush().wait().expect("commits");
    let read = |ordinal, repeat| store.run("a", Unit { ordinal, repeat }).expect("reads");
    assert_eq!(read(1, 1).map(|row| (row.row.run, row.row.state)), Some((finished, RunState::Finished)));
    assert_eq!(read(2, 0).map(|row| (row.row.run, row.row.state)), Some((begun, RunState::Started)));
    assert_eq!((read(1, 0), read(9, 0)), (None, None));
    assert!(matches!(
        store.run("b", Unit { ordinal: 0, repeat: 0 }),
        Err(StoreError::UnknownCampaign { .. })
    ));
}
