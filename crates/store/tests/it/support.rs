//! Files and events for the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use planproof_store::{Finish, NewCampaign, RunId, RunStart, Store, StoreError, StoreLimits, Writer};
use planproof_trace::{CallId, EndReason, Event, EventKind, Header, ToolResult};
use rusqlite::Connection;

/// A directory that is deleted with this value.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("store-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).expect("temporary directory");
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.file("store.db"), StoreLimits::default()).expect("opens")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn campaign(id: &str, created_ms: u64, repeats: u32) -> NewCampaign<'_> {
    NewCampaign {
        id,
        created_ms,
        command_line: "planproof test react@openai/gpt-5-mini",
        agent: "react@openai/gpt-5-mini",
        model: Some("openai/gpt-5-mini"),
        simulated: false,
        options: "{\"cases\":3}",
        repeats,
        budgets: "{}",
    }
}

pub(crate) fn create(store: &Store, id: &str, cases: u32, repeats: u32) {
    let cases = (0..cases).map(|ordinal| (format!("case-{ordinal}"), format!("{{\"n\":{ordinal}}}")));
    store.create_campaign(&campaign(id, 1, repeats), cases).expect("is created");
}

pub(crate) fn header(ordinal: u32, repeat: u32) -> Header {
    Header {
        agent: "a".into(),
        model: None,
        simulated: false,
        case: format!("case-{ordinal}"),
        repeat,
        seed: u64::from(ordinal) << 40,
        clock: "logical".into(),
        version: "0".into(),
    }
}

pub(crate) fn start(writer: &Writer, campaign: &str, ordinal: u32, repeat: u32) -> Result<RunId, StoreError> {
    let header = header(ordinal, repeat);
    writer.start_run(&RunStart { campaign, ordinal, repeat, header: &header }).wait()
}

pub(crate) const PASSED: Finish<'_> = Finish {
    passed: Some(true),
    class: None,
    verdict: "{\"passed\":true}",
    wall_ms: 12,
    summary: None,
    lessons: &[],
};

/// The n-th event of a unit, which differs from every event of other units.
pub(crate) fn event(ordinal: u32, n: u64) -> Event {
    let kind = match n {
        0 => EventKind::Query { text: format!("case {ordinal}\n\"é\"") },
        _ => EventKind::Result(ToolResult::ok(CallId::new(format!("c{n}")), format!("{ordinal} {n}"))),
    };
    Event::new(n, kind)
}

/// All events of a unit: a few, then the end.
pub(crate) fn events(ordinal: u32, count: u64) -> Vec<Event> {
    let end = EventKind::End(EndReason::Answered { text: ordinal.to_string() });
    (0..count).map(|n| event(ordinal, n)).chain([Event::new(count, end)]).collect()
}

/// Runs a unit from start to finish.
pub(crate) fn run(
    writer: &Writer,
    campaign: &str,
    ordinal: u32,
    repeat: u32,
    count: u64,
) -> Result<RunId, StoreError> {
    let run = start(writer, campaign, ordinal, repeat)?;
    for event in events(ordinal, count) {
        writer.append(run, &event)?;
    }
    writer.finish_run(run, &PASSED).wait()?;
    Ok(run)
}

/// The lines that a run must have in the store.
pub(crate) fn lines(ordinal: u32, repeat: u32, events: &[Event]) -> Vec<String> {
    let trace = planproof_trace::Trace { header: header(ordinal, repeat), events: events.to_vec() };
    let mut text = Vec::new();
    planproof_trace::wire::v1::write_trace(&trace, &mut text);
    String::from_utf8(text).expect("UTF-8").lines().map(str::to_owned).collect()
}

pub(crate) fn stored_lines(store: &Store, run: RunId) -> Vec<String> {
    store.trace_lines(run).collect::<Result<_, _>>().expect("reads")
}

pub(crate) fn check_integrity(path: &Path) {
    let connection = rusqlite::Connection::open(path).expect("opens");
    for sql in
        ["PRAGMA integrity_check", "SELECT coalesce(max(\"table\"), 'ok') FROM pragma_foreign_key_check"]
    {
        let answer: String = connection.query_row(sql, [], |row| row.get(0)).expect("answers");
        assert_eq!(answer, "ok", "{sql}");
    }
}

/// The published steps of the schema, as in the source: they never change.
const STEPS: [&str; 8] = [
    include_str!("../../src/schema/1.sql"),
    include_str!("../../src/schema/2.sql"),
    include_str!("../../src/schema/3.sql"),
    include_str!("../../src/schema/4.sql"),
    include_str!("../../src/schema/5.sql"),
    include_str!("../../src/schema/6.sql"),
    include_str!("../../src/schema/7.sql"),
    include_str!("../../src/schema/8.sql"),
];

/// An empty store as an earlier version makes it.
pub(crate) fn store_of_version(path: &Path, version: usize) -> Connection {
    let connection = Connection::open(path).expect("opens");
    connection.pragma_update(None, "journal_mode", "wal").expect("sets");
    STEPS[..version].iter().for_each(|step| connection.execute_batch(step).expect("creates"));
    connection.pragma_update(None, "user_version", version as i64).expect("sets");
    connection
}
