use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use planproof_store::{Finish, NewCase, RunStart, RunState, Store, StoreError, StoreLimits, Unit};
use planproof_trace::{Event, EventKind, LogicalClock, Recorder, Secrets};

use crate::support::{
    Directory, PASSED, check_integrity, create, event, events, header, lines, run, start, stored_lines,
};

#[test]
fn what_is_written_is_read() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 3, 2);
    let writer = store.writer().expect("starts");

    // Two runs with interleaved events, then one that is left open.
    let (first, second) =
        (start(&writer, "a", 0, 1).expect("starts"), start(&writer, "a", 2, 0).expect("starts"));
    for n in 0..200 {
        writer.append(first, &event(0, n)).expect("appends");
        writer.append(second, &event(2, n)).expect("appends");
    }
    let failed = Finish {
        passed: Some(false),
        class: Some("order_error"),
        verdict: "{\"x\":\"é\"}",
        wall_ms: 7,
        summary: None,
        lessons: &[],
    };
    writer.finish_run(second, &failed).wait().expect("commits");
    writer.finish_run(first, &Finish { passed: None, ..PASSED }).wait().expect("commits");
    let third = start(&writer, "a", 1, 0).expect("starts");
    writer.append(third, &event(1, 0)).expect("appends");
    writer.flush().wait().expect("commits");

    for (run, ordinal, repeat, count) in [(first, 0, 1, 200), (second, 2, 0, 200), (third, 1, 0, 1)] {
        let events: Vec<_> = (0..count).map(|n| event(ordinal, n)).collect();
        assert_eq!(stored_lines(&store, run), lines(ordinal, repeat, &events));
    }
    let rows: Vec<_> = store.runs("a").expect("reads").collect::<Result<_, _>>().expect("reads");
    assert_eq!(rows.iter().map(|row| row.run).collect::<Vec<_>>(), [first, third, second]);
    assert_eq!(rows.iter().map(|row| row.passed).collect::<Vec<_>>(), [None, None, Some(false)]);
    let [unscored, open, failed] = rows.as_slice() else { panic!("three rows") };
    assert_eq!((unscored.unit, unscored.state), (Unit { ordinal: 0, repeat: 1 }, RunState::Finished));
    assert_eq!((open.state, &open.verdict, open.wall_ms), (RunState::Started, &None, None));
    assert_eq!(failed.class.as_deref(), Some("order_error"));
    assert_eq!((failed.verdict.as_deref(), failed.wall_ms), (Some("{\"x\":\"é\"}"), Some(7)));

    let campaign = store.campaign("a").expect("reads");
    let counts = (campaign.started, campaign.passed, campaign.failed, campaign.unscored);
    assert_eq!((counts, campaign.finished(), campaign.total()), ((1, 0, 1, 1), 2, 6));
}

#[test]
fn no_unit_runs_twice() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 2, 1);
    let writer = store.writer().expect("starts");
    let unit = |ordinal| ("a".to_owned(), ordinal, 0);

    run(&writer, "a", 0, 0, 3).expect("runs");
    let (campaign, ordinal, repeat) = unit(0);
    assert_eq!(start(&writer, "a", 0, 0), Err(StoreError::AlreadyFinished { campaign, ordinal, repeat }));
    let open = start(&writer, "a", 1, 0).expect("starts");
    let (campaign, ordinal, repeat) = unit(1);
    assert_eq!(start(&writer, "a", 1, 0), Err(StoreError::AlreadyRunning { campaign, ordinal, repeat }));

    // Neither mistake harms the writer or the open run.
    writer.append(open, &event(1, 0)).expect("appends");
    writer.finish_run(open, &PASSED).wait().expect("commits");
    assert_eq!(stored_lines(&store, open), lines(1, 0, &[event(1, 0)]));
}

#[test]
fn an_unfinished_run_is_replaced_after_a_restart() {
    let directory = Directory::new();
    let former = {
        let store = directory.store();
        create(&store, "a", 2, 2);
        let writer = store.writer().expect("starts");
        run(&writer, "a", 0, 1, 5).expect("runs");
        let run = start(&writer, "a", 1, 0).expect("starts");
        for n in 0..7 {
            writer.append(run, &event(1, n)).expect("appends");
        }
        // Dropping the last handle writes what is in the queue.
        run
    };
    let store = directory.store();
    assert_eq!(stored_lines(&store, former).len(), 8);
    let unfinished = |store: &Store| -> Vec<_> {
        let units = store.unfinished("a").expect("reads").collect::<Result<Vec<_>, _>>().expect("reads");
        units.into_iter().map(|unit| (unit.ordinal, unit.repeat)).collect()
    };
    assert_eq!(unfinished(&store), [(0, 0), (1, 0), (1, 1)]);

    let writer = store.writer().expect("starts");
    assert_eq!(writer.append(former, &event(1, 7)), Err(StoreError::RunNotOpen { run: former }));
    assert_eq!(writer.finish_run(former, &PASSED).wait(), Err(StoreError::RunNotOpen { run: former }));
    let again = run(&writer, "a", 1, 0, 2).expect("runs");
    assert_ne!(again, former);
    assert_eq!(stored_lines(&store, former), Vec::<String>::new());
    assert_eq!(stored_lines(&store, again), lines(1, 0, &events(1, 2)));
    assert_eq!(unfinished(&store), [(0, 0), (1, 1)]);

    // An abandoned run can be started again immediately.
    let given_up = start(&writer, "a", 0, 0).expect("starts");
    writer.append(given_up, &event(0, 0)).expect("appends");
    writer.abandon_run(given_up);
    assert_eq!(writer.append(given_up, &event(0, 1)), Err(StoreError::RunNotOpen { run: given_up }));
    run(&writer, "a", 0, 0, 2).expect("runs");
    assert_eq!(unfinished(&store), [(1, 1)]);
    check_integrity(store.path());
}

#[test]
fn a_run_that_another_program_replaced_cannot_be_finished() {
    let directory = Directory::new();
    let (one, other) = (directory.store(), directory.store());
    create(&one, "a", 1, 1);
    let (writer, other_writer) = (one.writer().expect("starts"), other.writer().expect("starts"));
    let replaced = start(&writer, "a", 0, 0).expect("starts");
    writer.flush().wait().expect("commits");
    let run = start(&other_writer, "a", 0, 0).expect("starts");
    other_writer.append(run, &event(0, 0)).expect("appends");
    other_writer.flush().wait().expect("commits");

    writer.append(replaced, &event(0, 5)).expect("is queued");
    assert_eq!(writer.finish_run(replaced, &PASSED).wait(), Err(StoreError::RunReplaced { run: replaced }));
    other_writer.finish_run(run, &PASSED).wait().expect("commits");
    assert_eq!(stored_lines(&one, run), lines(0, 0, &[event(0, 0)]));
    check_integrity(one.path());
}

#[test]
fn units_that_do_not_exist_are_refused() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 2, 3);
    let writer = store.writer().expect("starts");
    for (ordinal, repeat) in [(2, 0), (0, 3), (u32::MAX, u32::MAX)] {
        let campaign = "a".to_owned();
        assert_eq!(
            start(&writer, "a", ordinal, repeat),
            Err(StoreError::UnknownUnit { campaign, ordinal, repeat })
        );
    }
    assert_eq!(start(&writer, "b", 0, 0), Err(StoreError::UnknownCampaign { name: "b".to_owned() }));
    run(&writer, "a", 1, 2, 1).expect("runs");
}

#[test]
fn a_small_queue_only_slows_down() {
    let directory = Directory::new();
    let limits = StoreLimits { queue_bytes_max: 100, ..StoreLimits::default() };
    let store = Store::open(&directory.file("store.db"), limits).expect("opens");
    create(&store, "a", 8, 1);
    let writer = store.writer().expect("starts");
    thread::scope(|scope| {
        for ordinal in 0..8 {
            let writer = writer.clone();
            scope.spawn(move || run(&writer, "a", ordinal, 0, 300).expect("runs"));
        }
    });
    for row in store.runs("a").expect("reads") {
        let row = row.expect("reads");
        assert_eq!(stored_lines(&store, row.run), lines(row.unit.ordinal, 0, &events(row.unit.ordinal, 300)));
    }
    assert_eq!(store.campaign("a").expect("reads").passed, 8);
}

#[test]
fn an_event_too_large_spoils_its_run_only() {
    let directory = Directory::new();
    let limits = StoreLimits { event_bytes_max: 1000, ..StoreLimits::default() };
    let store = Store::open(&directory.file("store.db"), limits).expect("opens");
    create(&store, "a", 2, 1);
    let writer = store.writer().expect("starts");
    let run_id = start(&writer, "a", 0, 0).expect("starts");
    let recorder = Recorder::with_sink(
        Arc::new(LogicalClock::default()),
        Secrets::none(),
        Box::new(writer.sink(run_id)),
    );
    recorder.record(EventKind::Query { text: "x".repeat(1000) });
    recorder.record(EventKind::Query { text: "short".into() });
    let Err(StoreError::EventTooLarge { run: spoilt, bytes: 1033, limit: 1000 }) =
        writer.finish_run(run_id, &PASSED).wait()
    else {
        panic!("the run must not count as finished");
    };
    assert_eq!(spoilt, run_id);
    run(&writer, "a", 1, 0, 1).expect("runs");
    assert_eq!(store.campaign("a").expect("reads").finished(), 1);
}

#[test]
fn a_recorder_writes_through_its_sink() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 1, 1);
    let writer = store.writer().expect("starts");
    let run = start(&writer, "a", 0, 0).expect("starts");
    let recorder =
        Recorder::with_sink(Arc::new(LogicalClock::default()), Secrets::none(), Box::new(writer.sink(run)));
    for Event { kind, .. } in events(0, 4) {
        recorder.record(kind);
    }
    writer.finish_run(run, &PASSED).wait().expect("commits");
    assert_eq!(stored_lines(&store, run), lines(0, 0, &recorder.take_events()));
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn receipts_can_be_awaited() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 50, 1);
    let writer = store.writer().expect("starts");
    block_on(async {
        for ordinal in 0..50 {
            let header = header(ordinal, 0);
            let run = writer
                .start_run(&RunStart { campaign: "a", ordinal, repeat: 0, header: &header })
                .await
                .expect("starts");
            writer.append(run, &event(ordinal, 0)).expect("appends");
            writer.finish_run(run, &PASSED).await.expect("commits");
        }
    });
    assert_eq!(store.campaign("a").expect("reads").passed, 50);
}

#[test]
fn what_could_not_be_scored_is_run_again() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 1, 1);
    let writer = store.writer().expect("starts");
    let first = start(&writer, "a", 0, 0).expect("starts");
    writer.finish_run(first, &Finish { passed: None, ..PASSED }).wait().expect("commits");
    assert_eq!(store.unfinished("a").expect("reads").count(), 1);

    let second = start(&writer, "a", 0, 0).expect("starts again");
    writer.finish_run(second, &PASSED).wait().expect("commits");
    assert_eq!(store.unfinished("a").expect("reads").count(), 0);
    assert!(matches!(start(&writer, "a", 0, 0), Err(StoreError::AlreadyFinished { .. })));
    let campaign = store.campaign("a").expect("reads");
    assert_eq!((campaign.passed, campaign.unscored), (1, 0));
}

#[test]
fn a_deferred_case_is_stored_when_its_first_run_starts() {
    let directory = Directory::new();
    let store = directory.store();
    create(&store, "a", 3, 1);
    let whole = |ordinal: u32| NewCase {
        id: format!("case-{ordinal}"),
        json: format!("{{\"n\":{ordinal},\"whole\":true}}"),
        summary: Some("{}".to_owned()),
    };
    // Before there is a writer, and after it, as in a process that runs several campaigns.
    store.defer_cases("a", Arc::new(move |ordinal| Some(whole(ordinal)))).expect("is there");
    let writer = store.writer().expect("starts");
    create(&store, "b", 2, 1);
    store.defer_cases("b", Arc::new(move |ordinal| (ordinal == 1).then(|| whole(1)))).expect("is there");
    assert!(matches!(store.defer_cases("c", Arc::new(|_| None)), Err(StoreError::UnknownCampaign { .. })));
    for (campaign, ordinal) in [("a", 0), ("a", 2), ("b", 0), ("b", 1)] {
        let run = start(&writer, campaign, ordinal, 0).expect("starts");
        writer.finish_run(run, &PASSED).wait().expect("commits");
    }
    let stored = |campaign: &str| -> Vec<bool> {
        let cases = store.cases(campaign).expect("reads");
        cases.map(|case| case.expect("reads").json.contains("whole")).collect()
    };
    assert_eq!((stored("a"), stored("b")), (vec![true, false, true], vec![false, true]));
    // The digest of a run covers its case as it is stored.
    for (campaign, ordinal) in [("a", 0), ("a", 2), ("b", 0), ("b", 1)] {
        let run = store.run(campaign, Unit { ordinal, repeat: 0 }).expect("reads").expect("is there");
        assert!(run.row.is_checked && run.row.damage.is_none(), "{campaign} {ordinal}");
    }
}
