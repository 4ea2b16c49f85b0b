//! The machine that a simulated campaign runs on: its disk writes when the seed says so, and it may die at any
//! step.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use planproof_store::Writer;
use planproof_trace::Draw;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::toys::Folder;

/// The files that outlive the machine. SQLite rebuilds the index of its log.
const FILES: [&str; 3] = ["runs.db", "runs.db-wal", "recording.jsonl"];

/// Maximum time, in simulated milliseconds, until the disk writes what waits for it.
const DISK_MS_MAX: u32 = 3_000;

/// What happens to a machine, by step. Each poll of the campaign, request, answer, tool call and write is a step.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Fate {
    /// The machine is killed at this step.
    pub(crate) dies_at: Option<u64>,
    /// The campaign is asked to stop at this step.
    pub(crate) stops_at: Option<u64>,
    /// Canary: the last acknowledged write is missing from the disk.
    pub(crate) disk_lies: bool,
}

/// A machine.
pub(crate) struct Machine {
    folder: Folder,
    died: Notify,
    writes: Notify,
    state: Mutex<State>,
}

struct State {
    fate: Fate,
    draw: Draw,
    steps: u64,
    is_dead: bool,
    stop: CancellationToken,
    writer: Option<Writer>,
    /// Whether the disk is about to write.
    is_writing: bool,
    /// Tokens counted by the server.
    counted: u64,
    /// Those of requests that are not on the disk yet.
    unwritten: Vec<Bill>,
    next_bill: u64,
    /// Tokens that were unwritten when the machine died.
    lost: u64,
}

struct Bill {
    number: u64,
    tokens: u64,
    is_settled: bool,
}

impl Machine {
    /// A machine with its files in this folder, which has not started yet.
    pub(crate) fn new(folder: Folder, seed: u64) -> Self {
        let state = State {
            fate: Fate::default(),
            draw: Draw::new(seed, 0, "disk"),
            steps: 0,
            is_dead: false,
            stop: CancellationToken::new(),
            writer: None,
            is_writing: false,
            counted: 0,
            unwritten: Vec::new(),
            next_bill: 0,
            lost: 0,
        };
        Self { folder, died: Notify::new(), writes: Notify::new(), state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The path of one of its files.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path("disk").join(name)
    }

    /// Starts it with an empty disk, or with the disk of the previous phase.
    pub(crate) fn start(&self, fate: Fate) {
        fs::create_dir_all(self.folder.path("disk")).expect("a folder");
        let mut state = self.lock();
        (state.fate, state.steps, state.is_dead, state.is_writing) = (fate, 0, false, false);
        state.stop = CancellationToken::new();
        state.unwritten.clear();
    }

    /// Makes this writer of the run store write only when the disk does.
    pub(crate) fn holds(&self, writer: Writer) {
        writer.hold(true);
        self.lock().writer = Some(writer);
    }

    /// Cancelled when the campaign is asked to stop.
    pub(crate) fn stop(&self) -> CancellationToken {
        self.lock().stop.clone()
    }

    /// Ends the phase: restores what was on the disk when the machine died. Everything that writes must have been
    /// dropped.
    pub(crate) fn end(&self) {
        if self.lock().is_dead {
            fs::remove_dir_all(self.folder.path("disk")).expect("a disk");
            fs::rename(self.folder.path("dead"), self.folder.path("disk")).expect("what is left");
        }
    }

    /// Drops the campaign's writer.
    pub(crate) fn let_go(&self) {
        let writer = self.lock().writer.take();
        drop(writer);
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.lock().is_dead
    }

    /// Completes when the machine is dead.
    pub(crate) async fn died(&self) {
        self.died.notified().await;
    }

    pub(crate) fn steps(&self) -> u64 {
        self.lock().steps
    }

    /// The tokens counted by the server so far, and those that nobody could know about after a kill.
    pub(crate) fn counted_and_lost(&self) -> (u64, u64) {
        let state = self.lock();
        (state.counted, state.lost)
    }

    /// Takes a step, which may be the last one.
    pub(crate) fn step(&self) {
        let mut state = self.lock();
        if state.is_dead {
            return;
        }
        state.steps += 1;
        if state.fate.stops_at == Some(state.steps) {
            state.stop.cancel();
        }
        if state.fate.dies_at == Some(state.steps) {
            let from = if state.fate.disk_lies { "older" } else { "disk" };
            copy(&self.folder.path(from), &self.folder.path("dead"));
            state.is_dead = true;
            state.lost += state.unwritten.iter().map(|bill| bill.tokens).sum::<u64>();
            self.died.notify_one();
        }
    }

    /// Takes a step, and never returns if it was the last one.
    pub(crate) async fn lives_on(&self) {
        self.step();
        if self.is_dead() {
            std::future::pending::<()>().await;
        }
    }

    /// Counts the tokens of a request at the server. The disk must not know about them before the bill is dropped.
    /// `excess` of these tokens were unpredictable, and a client that gives up before the answer never learns of
    /// them.
    pub(crate) fn bill(self: &Arc<Self>, tokens: u64, excess: u64) -> Open {
        let mut state = self.lock();
        let number = state.next_bill;
        state.next_bill += 1;
        if !state.is_dead {
            state.counted += tokens;
            state.unwritten.push(Bill { number, tokens, is_settled: false });
        }
        Open { machine: Arc::clone(self), number, excess }
    }

    /// Called when nothing else is in progress: the disk writes, immediately or after a while.
    pub(crate) fn idles(&self) {
        let mut state = self.lock();
        if state.is_dead || state.is_writing || !state.writer.as_ref().is_some_and(|writer| writer.hold(true))
        {
            return;
        }
        if state.draw.chance(2, 3) {
            drop(state);
            self.write();
        } else {
            state.is_writing = true;
            self.writes.notify_one();
        }
    }

    /// Writes after a while, again and again.
    pub(crate) async fn writes_later(&self) {
        loop {
            self.writes.notified().await;
            let wait = self.lock().draw.below(DISK_MS_MAX);
            tokio::time::sleep(Duration::from_millis(wait.into())).await;
            self.write();
            self.lock().is_writing = false;
        }
    }

    fn write(&self) {
        self.step();
        let state = self.lock();
        let Some(writer) = state.writer.clone().filter(|_| !state.is_dead) else { return };
        let lies = state.fate.disk_lies;
        drop(state);
        if lies {
            copy(&self.folder.path("disk"), &self.folder.path("older"));
        }
        writer.hold(false);
        let is_written = writer.flush().wait().is_ok();
        writer.hold(true);
        if is_written {
            self.lock().unwritten.retain(|bill| !bill.is_settled);
        }
        drop(writer);
        self.step();
    }
}

/// A bill that nobody knows about yet. When it is dropped, the client has received the answer or given up.
pub(crate) struct Open {
    machine: Arc<Machine>,
    number: u64,
    excess: u64,
}

impl Open {
    /// The answer has arrived and states its token use.
    pub(crate) fn answered(mut self) {
        self.excess = 0;
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut state = self.machine.lock();
        if state.is_dead {
            return;
        }
        state.counted -= self.excess;
        if let Some(bill) = state.unwritten.iter_mut().find(|bill| bill.number == self.number) {
            bill.tokens -= self.excess;
            bill.is_settled = true;
        }
    }
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).expect("a folder");
    for name in FILES.iter().filter(|name| from.join(name).exists()) {
        fs::copy(from.join(name), to.join(name)).expect("a copy");
    }
}
