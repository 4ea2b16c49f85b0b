//! The program is killed repeatedly while it writes, and resumes the same campaign each time.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use planproof_store::{RunState, Store, StoreLimits};

use crate::support::{Directory, PASSED, check_integrity, create, events, lines, start, stored_lines};

const CHILD: &str = "PLANPROOF_STORE_TEST_CHILD";
const CASES: u32 = 20_000;
const ROUNDS: u64 = 10;
const WORKERS: u32 = 3;

fn event_count(ordinal: u32) -> u64 {
    u64::from(ordinal % 40)
}

/// Not a test of its own, but the process that [`a_killed_program_loses_no_finished_run`] starts and kills.
#[test]
fn child() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let store = Store::open(Path::new(&path), StoreLimits::default()).expect("opens");
    let writer = store.writer().expect("starts");
    let left: Vec<_> =
        store.unfinished("a").expect("reads").map(|unit| unit.expect("reads").ordinal).collect();
    thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (writer, left) = (writer.clone(), &left);
            scope.spawn(move || {
                for ordinal in left.iter().filter(|ordinal| *ordinal % WORKERS == worker) {
                    let run = start(&writer, "a", *ordinal, 0).expect("starts");
                    for event in events(*ordinal, event_count(*ordinal)) {
                        // This commits part of a run, which a kill can then leave behind.
                        if event.at == 1 {
                            writer.flush().wait().expect("commits");
                        }
                        writer.append(run, &event).expect("appends");
                    }
                    writer.finish_run(run, &PASSED).wait().expect("commits");
                    // A single write, so that a line is either complete or missing.
                    std::io::stdout()
                        .write_all(format!("finished {ordinal}\n").as_bytes())
                        .expect("parent reads");
                    std::io::stdout().flush().expect("parent reads");
                }
            });
        }
    });
}

/// Runs the child and kills it after `delay`; returns the units that it reported as finished.
fn run_and_kill(path: &Path, delay: Duration) -> Vec<u32> {
    let mut child = Command::new(std::env::current_exe().expect("known"))
        .args(["crash::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut finished = Vec::new();
    let mut note = |line: &str| {
        // The test harness prints to the same stream, sometimes into the same line.
        if let Some((_, ordinal)) = line.split_once("finished ") {
            finished.extend(ordinal.trim_end().parse::<u32>());
        }
    };
    let mut line = String::new();
    while !line.contains("finished ") {
        line.clear();
        assert_ne!(out.read_line(&mut line).expect("reads"), 0, "the child stopped by itself");
    }
    note(&line);
    let reader = thread::spawn(move || out.lines().map_while(Result::ok).collect::<Vec<_>>());
    thread::sleep(delay);
    // SIGKILL on Unix.
    child.kill().expect("is running");
    assert!(!child.wait().expect("ends").success(), "the child must not reach its end");
    for line in reader.join().expect("no panic") {
        note(&line);
    }
    finished
}

#[test]
#[ignore = "slow"]
fn a_killed_program_loses_no_finished_run() {
    let directory = Directory::new();
    let path = directory.file("store.db");
    create(&directory.store(), "a", CASES, 1);
    let (mut acknowledged, mut finished) = (BTreeSet::new(), BTreeSet::new());
    let mut cut_off = 0;
    for round in 0..ROUNDS {
        // From 0 to 120 ms, in no particular order.
        let delay = Duration::from_micros(round * 7_919_777 % 120_000);
        for ordinal in run_and_kill(&path, delay) {
            assert!(acknowledged.insert(ordinal), "case {ordinal} was run twice");
        }
        check_integrity(&path);

        let store = Store::open_read_only(&path).expect("opens");
        let mut still_finished = 0;
        for row in store.runs("a").expect("reads") {
            let row = row.expect("reads");
            let ordinal = row.unit.ordinal;
            // The runs of earlier rounds are checked again after the last round.
            if finished.contains(&ordinal) && round + 1 < ROUNDS {
                still_finished += usize::from(row.state == RunState::Finished);
                continue;
            }
            let whole = lines(ordinal, 0, &events(ordinal, event_count(ordinal)));
            let stored = stored_lines(&store, row.run);
            if row.state == RunState::Finished {
                assert_eq!(stored, whole);
                assert!(row.verdict.is_some());
                still_finished += 1;
                finished.insert(ordinal);
            } else {
                assert!(whole.starts_with(&stored), "what is left of a run is its beginning");
                cut_off += 1;
            }
        }
        assert_eq!(still_finished, finished.len(), "a finished run has vanished");
        assert!(acknowledged.is_subset(&finished), "an acknowledged run is missing");
    }
    assert!(acknowledged.len() > 20, "the children got to do something");
    assert!(cut_off > 0, "no run was cut off, so no kill came at an interesting moment");
}
