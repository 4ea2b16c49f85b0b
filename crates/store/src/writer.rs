//! Writing: many threads hand over events and runs, and one thread writes them to the file.
//!
//! The threads share one queue, which consists of a list of operations and a buffer with the bytes of all events.
//! The writing thread swaps it for an empty one, so each event takes a lock once but causes no allocation and no
//! wake-up. Whatever accumulates while one transaction is written forms the next one (group commit).

mod thread;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use planproof_trace::{Event, EventSink, Header, Usage, wire};

pub(crate) use self::thread::{SET_PROGRESS, Text, set_progress};

use crate::error::Place;
use crate::receipt::{Completion, receipt};
use crate::store::{CaseDigests, Deferred};
use crate::{
    Fingerprint, NewLesson, Progress, Receipt, RunId, SealKey, Sealed, Store, StoreError, StoredSpent, schema,
};

/// Which run to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunStart<'a> {
    /// The campaign's full id.
    pub campaign: &'a str,
    /// The case's place in the campaign, from 0.
    pub ordinal: u32,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
    /// The header of its trace.
    pub header: &'a Header,
}

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finish<'a> {
    /// Whether the agent passed; `None` if the run could not be scored.
    pub passed: Option<bool>,
    /// The class of its failure.
    pub class: Option<&'a str>,
    /// The verdict, as JSON; stored unchanged.
    pub verdict: &'a str,
    /// How long the run took, in milliseconds.
    pub wall_ms: u64,
    /// Further data from which figures are computed, as JSON; stored unchanged. See [`Store::run_summaries`].
    ///
    /// [`Store::run_summaries`]: crate::Store::run_summaries
    pub summary: Option<&'a str>,
    /// The lessons from the run; stored in the same transaction as its end.
    pub lessons: &'a [NewLesson],
}

/// Hands runs and events to the writing thread. It is cheap to clone. All clones share one thread, which ends when
/// the last clone is dropped and everything is written.
///
/// If the file cannot be written, the thread stops and every later call returns the same error; everything
/// committed before is kept.
#[derive(Clone)]
pub struct Writer(Arc<Handle>);

struct Handle {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    place: Place,
    /// The key that seals the campaigns whose runs are written.
    seal: OnceLock<SealKey>,
    /// Where cases come from that are stored when their first run starts.
    deferred: Deferred,
    queue: Mutex<Queue>,
    /// Wakes the writing thread.
    work: Condvar,
    /// Wakes threads that wait for room in the queue.
    room: Condvar,
}

#[derive(Default)]
struct Queue {
    batch: Batch,
    /// Runs that accept events.
    open: HashMap<RunId, OpenRun>,
    sleep: Sleep,
    /// Threads that wait for room.
    waiting: usize,
    /// Whether writing is paused by [`Writer::hold`].
    is_held: bool,
    is_closing: bool,
    /// Why the writing thread stopped.
    failure: Option<StoreError>,
}

impl Queue {
    /// Whether a caller waits and there are too few open runs for a longer wait to collect more operations.
    fn is_urgent(&self) -> bool {
        self.batch.is_awaited && !self.has_many_runs()
    }

    fn has_many_runs(&self) -> bool {
        self.open.len() >= RUNS_MANY
    }

    /// Whether there is something that may be written.
    fn is_ready(&self) -> bool {
        !self.batch.is_empty() && (!self.is_held || self.is_closing)
    }
}

#[derive(Default)]
struct OpenRun {
    events: i64,
    /// Why the run cannot be finished.
    failure: Option<StoreError>,
}

/// What the writing thread is doing.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Sleep {
    /// Writing; it will check the queue itself.
    #[default]
    Awake,
    /// Waiting for anything at all.
    Idle,
    /// Waiting briefly for more operations.
    Gathering,
}

/// What waits to be written.
#[derive(Default)]
struct Batch {
    operations: Vec<Operation>,
    /// The lines of all events in the batch, one after the other.
    lines: Vec<u8>,
    /// The latest spending noted for each campaign.
    noted: Vec<NotedSpending>,
    bytes: usize,
    /// Whether a caller waits for one of its operations.
    is_awaited: bool,
}

enum Operation {
    /// An event, whose line is at `start..end` of the batch's lines.
    Append {
        run: RunId,
        seq: i64,
        start: usize,
        end: usize,
    },
    Start(Box<StartOperation>),
    Finish(Box<FinishOperation>),
    Abandon(RunId),
    ResumeSeals(String),
    Progress(Box<ProgressOperation>),
    EndSeals(Completion<Vec<Sealed>>),
    Flush(Completion<()>),
}

struct StartOperation {
    campaign: String,
    ordinal: u32,
    repeat: u32,
    header: Vec<u8>,
    completion: Completion<RunId>,
}

struct FinishOperation {
    run: RunId,
    passed: Option<bool>,
    class: Option<String>,
    verdict: String,
    wall_ms: u64,
    summary: Option<String>,
    lessons: Vec<NewLesson>,
    completion: Completion<()>,
}

struct NotedSpending {
    campaign: String,
    spent: StoredSpent,
    served: Usage,
}

impl Store {
    /// Replaces the stored spending of a campaign, like [`Writer::note_spending`], but even after the writer has
    /// failed: the record of what a campaign spent must not be lost when the store has no room for its runs.
    /// Replacing one number with another takes hardly any space.
    ///
    /// # Errors
    /// Write errors.
    pub fn keep_spending(&self, campaign: &str, spent: StoredSpent, served: Usage) -> Result<(), StoreError> {
        self.must_be_writable()?;
        let noted = NotedSpending { campaign: campaign.to_owned(), spent, served };
        let keep = || {
            let mut statement = self.connection.prepare(thread::NOTE_SPENDING)?;
            thread::note_spending(&mut statement, &noted)
        };
        keep().map_err(|error| self.place.error(error))
    }
}

struct ProgressOperation {
    campaign: String,
    progress: Progress,
    completion: Completion<()>,
}

/// With at least this many open runs, each run can wait a little for its start or end to be written, so that one
/// transaction serves many.
const RUNS_MANY: usize = 8;

/// Size from which on a batch is written at once.
const BATCH_BYTES: usize = 1 << 20;

thread_local! {
    /// The line of the current event, serialised before the lock is taken.
    static LINE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A larger buffer is not reused for the next event.
const LINE_BYTES_KEPT_MAX: usize = 64 << 10;

impl Batch {
    fn is_empty(&self) -> bool {
        self.operations.is_empty() && self.noted.is_empty()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // A panic of the writing thread is reported through `Queue::failure`; the queue itself is never left half
        // changed.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for `bytes` more, or until the queue is empty, so that an oversized event can
    /// pass.
    fn lock_with_room(&self, bytes: usize) -> Result<MutexGuard<'_, Queue>, StoreError> {
        let mut queue = self.lock();
        loop {
            if let Some(error) = &queue.failure {
                return Err(error.clone());
            }
            let is_empty = queue.batch.operations.is_empty();
            if is_empty || queue.batch.bytes.saturating_add(bytes) <= self.place.limits.queue_bytes_max {
                return Ok(queue);
            }
            // The thread may be gathering: it is woken to write what there is, since only that makes room.
            queue.waiting += 1;
            self.wake(&mut queue);
            queue = self.room.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.waiting -= 1;
        }
    }

    fn wake(&self, queue: &mut Queue) {
        if queue.sleep != Sleep::Awake {
            queue.sleep = Sleep::Awake;
            self.work.notify_one();
        }
    }

    fn append(&self, run: RunId, line: &[u8]) -> Result<(), StoreError> {
        let bytes = line.len() + size_of::<Operation>();
        let mut guard = self.lock_with_room(bytes)?;
        let queue = &mut *guard;
        let Some(open) = queue.open.get_mut(&run) else {
            return Err(StoreError::RunNotOpen { run });
        };
        // A trace must not have a gap, so a lost event prevents the run from being finished.
        let limit = self.place.limits.event_bytes_max;
        if line.len() > limit {
            let error = StoreError::EventTooLarge { run, bytes: line.len(), limit };
            open.failure.get_or_insert_with(|| error.clone());
            return Err(error);
        }
        let seq = open.events;
        open.events += 1;
        let start = queue.batch.lines.len();
        queue.batch.lines.extend_from_slice(line);
        let end = queue.batch.lines.len();
        queue.batch.operations.push(Operation::Append { run, seq, start, end });
        queue.batch.bytes += bytes;
        // A thread that is gathering or writing finds the event by itself, without the cost of a wake-up.
        if queue.sleep == Sleep::Idle || queue.batch.bytes >= BATCH_BYTES {
            self.wake(queue);
        }
        Ok(())
    }

    /// Hands over an operation that a caller waits for.
    fn push(&self, queue: &mut Queue, operation: Operation, bytes: usize) {
        queue.batch.operations.push(operation);
        queue.batch.bytes += bytes;
        queue.batch.is_awaited = true;
        if queue.sleep == Sleep::Idle || queue.is_urgent() {
            self.wake(queue);
        }
    }

    fn stopped(&self) -> StoreError {
        StoreError::WriterStopped { path: self.place.path.clone() }
    }
}

impl Writer {
    pub(crate) fn spawn(place: &Place, created: CaseDigests, deferred: Deferred) -> Result<Self, StoreError> {
        // A connection of its own: that of the `Store` stays on the thread that opened it, for reading and creating.
        let place = &Place::new(&place.path, place.limits);
        let connection = schema::open(place)?;
        schema::enlarge_cache(&connection, place)?;
        let shared = Arc::new(Shared {
            place: place.clone(),
            seal: OnceLock::new(),
            deferred,
            queue: Mutex::default(),
            work: Condvar::new(),
            room: Condvar::new(),
        });
        let thread = std::thread::Builder::new()
            .name("run store".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || thread::write(&shared, &connection, created)
            })
            .map_err(|error| StoreError::Failed { path: place.path.clone(), what: error.to_string() })?;
        Ok(Self(Arc::new(Handle { shared, thread: Some(thread) })))
    }

    /// Starts a run. An earlier, unfinished attempt at the same unit is deleted with its events. The receipt
    /// completes when the run accepts events; the run itself is in the file after the next commit.
    ///
    /// The receipt returns [`StoreError::AlreadyFinished`], [`StoreError::AlreadyRunning`],
    /// [`StoreError::UnknownUnit`], [`StoreError::UnknownCampaign`], or the writer's own failure.
    pub fn start_run(&self, start: &RunStart<'_>) -> Receipt<RunId> {
        let shared = &self.0.shared;
        let mut header = Vec::new();
        // Rendered before the lock is taken, which all runs share.
        wire::v1::write_header(start.header, &mut header);
        let bytes = header.len() + size_of::<StartOperation>();
        let (completion, receipt) = receipt(shared.stopped());
        match shared.lock_with_room(bytes) {
            Ok(mut queue) => {
                let operation = StartOperation {
                    campaign: start.campaign.to_owned(),
                    ordinal: start.ordinal,
                    repeat: start.repeat,
                    header,
                    completion,
                };
                shared.push(&mut queue, Operation::Start(Box::new(operation)), bytes);
            }
            Err(error) => completion.complete(Err(error)),
        }
        receipt
    }

    /// Appends an event to a run. Returns as soon as the event is in the queue, which takes less than a microsecond
    /// while there is room.
    ///
    /// # Errors
    /// [`StoreError::RunNotOpen`], [`StoreError::EventTooLarge`], or the writer's own failure. If an event is lost,
    /// the run cannot be finished, so the caller may ignore the error here and handle it in
    /// [`finish_run`](Self::finish_run).
    pub fn append(&self, run: RunId, event: &Event) -> Result<(), StoreError> {
        LINE.with_borrow_mut(|line| {
            wire::v1::write_event(event, line);
            let result = self.0.shared.append(run, line);
            // Also after an error, or the next event would follow this one.
            line.clear();
            line.shrink_to(LINE_BYTES_KEPT_MAX);
            result
        })
    }

    /// A sink for [`planproof_trace::Recorder::with_sink`] that appends each event to `run`.
    pub fn sink(&self, run: RunId) -> RunSink {
        RunSink { writer: self.clone(), run }
    }

    /// Finishes a run: it accepts no more events, and its unit is never run again. The receipt completes when the
    /// run, all of its events and the verdict are committed.
    ///
    /// The receipt returns [`StoreError::RunNotOpen`], [`StoreError::EventTooLarge`] if an event was lost because
    /// of its size, [`StoreError::RunReplaced`], or the writer's own failure. The unit stays unfinished then.
    pub fn finish_run(&self, run: RunId, finish: &Finish<'_>) -> Receipt<()> {
        let shared = &self.0.shared;
        let lesson_bytes =
            |lesson: &NewLesson| lesson.about.len() + lesson.text.len() + size_of::<NewLesson>();
        let bytes = finish.verdict.len()
            + finish.summary.map_or(0, str::len)
            + finish.lessons.iter().map(lesson_bytes).sum::<usize>()
            + size_of::<FinishOperation>();
        let mut queue = match shared.lock_with_room(bytes) {
            Ok(queue) => queue,
            Err(error) => return Receipt::failed(error),
        };
        // Under the lock under which the end is queued, so that no event can be queued after it.
        match queue.open.remove(&run) {
            None => return Receipt::failed(StoreError::RunNotOpen { run }),
            Some(OpenRun { failure: Some(error), .. }) => {
                // The thread must forget its digest of the trace, too.
                queue.batch.operations.push(Operation::Abandon(run));
                return Receipt::failed(error);
            }
            Some(OpenRun { failure: None, .. }) => {}
        }
        let (completion, receipt) = receipt(shared.stopped());
        let operation = FinishOperation {
            run,
            passed: finish.passed,
            class: finish.class.map(str::to_owned),
            verdict: finish.verdict.to_owned(),
            wall_ms: finish.wall_ms,
            summary: finish.summary.map(str::to_owned),
            lessons: finish.lessons.to_vec(),
            completion,
        };
        shared.push(&mut queue, Operation::Finish(Box::new(operation)), bytes);
        receipt
    }

    /// Abandons a run without a verdict: it accepts no more events, and its existing ones are kept until its unit
    /// is started again.
    pub fn abandon_run(&self, run: RunId) {
        let mut queue = self.0.shared.lock();
        queue.open.remove(&run);
        // This only clears state, so it can wait for the next batch.
        queue.batch.operations.push(Operation::Abandon(run));
    }

    /// Seals everything written from now on: the finished runs of a campaign form a chain, which this key signs
    /// (see `seal.rs`). Returns the fingerprint of the key in use, which is the earlier key if there already is
    /// one.
    pub fn seal(&self, key: SealKey) -> Fingerprint {
        self.0.shared.seal.get_or_init(|| key).fingerprint()
    }

    /// Begins to seal a campaign (its full id), and the campaigns derived from it, if their last key never signed an
    /// end: its process was killed. A new key otherwise begins only with a run, so if all runs are finished, such a
    /// chain would never end. Does nothing without a key. There is no receipt: it is written with the next operation,
    /// which also reports a failure.
    pub fn resume_seals(&self, campaign: &str) {
        let mut queue = self.0.shared.lock();
        queue.batch.operations.push(Operation::ResumeSeals(campaign.to_owned()));
    }

    /// Signs the number of sealed runs of each campaign, and returns what the file must contain of them from now
    /// on. A run that is still open is abandoned: its task may have been given up while it judged, and what it does
    /// later is not part of the campaign. Runs that start later start a new seal. Does nothing without a key.
    ///
    /// The receipt returns the writer's own failure.
    pub fn end_seals(&self) -> Receipt<Vec<Sealed>> {
        let shared = &self.0.shared;
        let (completion, receipt) = receipt(shared.stopped());
        match shared.lock_with_room(size_of::<Operation>()) {
            Ok(mut queue) => shared.push(&mut queue, Operation::EndSeals(completion), size_of::<Operation>()),
            Err(error) => completion.complete(Err(error)),
        }
        receipt
    }

    /// Replaces the stored progress of a campaign (its full id). Its commit waits a few milliseconds for other
    /// operations, because updates may be frequent and only the latest counts. The receipt completes when it is
    /// committed.
    ///
    /// The receipt returns [`StoreError::UnknownCampaign`], or the writer's own failure.
    pub fn set_progress(&self, campaign: &str, progress: &Progress) -> Receipt<()> {
        let shared = &self.0.shared;
        let bytes = size_of::<ProgressOperation>() + campaign.len() + progress.budgets.len();
        let (completion, receipt) = receipt(shared.stopped());
        match shared.lock_with_room(bytes) {
            Ok(mut queue) => {
                let operation = ProgressOperation {
                    campaign: campaign.to_owned(),
                    progress: progress.clone(),
                    completion,
                };
                // An earlier note is older, but would be written after this.
                queue.batch.noted.retain(|noted| noted.campaign != campaign);
                // Not with `push`: the batch is not marked as awaited, so that the thread may gather more operations
                // first.
                queue.batch.operations.push(Operation::Progress(Box::new(operation)));
                queue.batch.bytes += bytes;
                if queue.sleep == Sleep::Idle {
                    shared.wake(&mut queue);
                }
            }
            Err(error) => completion.complete(Err(error)),
        }
        receipt
    }

    /// Replaces only the stored spending of a campaign: what was paid for, and what models read and wrote for
    /// replies that reached a program. It is meant to be called for every single request, so there is no receipt
    /// for the commit, which happens within some milliseconds; only the latest note is written. Never waits for
    /// room.
    ///
    /// A failure is reported by the next operation; an unknown campaign is ignored.
    pub fn note_spending(&self, campaign: &str, spent: StoredSpent, served: Usage) {
        let shared = &self.0.shared;
        let mut queue = shared.lock();
        if queue.failure.is_some() {
            return;
        }
        match queue.batch.noted.iter_mut().find(|noted| noted.campaign == campaign) {
            Some(noted) => (noted.spent, noted.served) = (spent, served),
            None => queue.batch.noted.push(NotedSpending { campaign: campaign.to_owned(), spent, served }),
        }
        if queue.sleep == Sleep::Idle {
            shared.wake(&mut queue);
        }
    }

    /// Pauses or resumes writing. While writing is paused, operations wait in the queue and then form one
    /// transaction. Returns whether any operation is waiting. This is for simulations, in which the seed decides
    /// when the disk writes. A caller that waits for room in the queue or for a receipt blocks until writing
    /// resumes.
    pub fn hold(&self, is_held: bool) -> bool {
        let shared = &self.0.shared;
        let mut queue = shared.lock();
        queue.is_held = is_held;
        shared.wake(&mut queue);
        !queue.batch.is_empty()
    }

    /// Commits everything handed over so far; the receipt completes after that, and after all earlier receipts.
    pub fn flush(&self) -> Receipt<()> {
        let shared = &self.0.shared;
        let (completion, receipt) = receipt(shared.stopped());
        match shared.lock_with_room(size_of::<Operation>()) {
            Ok(mut queue) => shared.push(&mut queue, Operation::Flush(completion), size_of::<Operation>()),
            Err(error) => completion.complete(Err(error)),
        }
        receipt
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("path", &self.0.shared.place.path).finish_non_exhaustive()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let mut queue = self.shared.lock();
        queue.is_closing = true;
        self.shared.wake(&mut queue);
        drop(queue);
        // The lock was released before: the thread needs it to write what is left.
        let Some(thread) = self.thread.take() else { return };
        // A waker that runs on the writing thread may hold the last clone; a thread cannot join itself.
        if thread.thread().id() != std::thread::current().id() {
            // Every receipt it owed reports its panic.
            let _ = thread.join();
        }
    }
}

/// Appends each event to one run. An error is not lost, because the run cannot be finished then.
#[derive(Debug, Clone)]
pub struct RunSink {
    writer: Writer,
    run: RunId,
}

impl EventSink for RunSink {
    fn append(&self, event: &Event) {
        // `finish_run` reports any error.
        let _ = self.writer.append(self.run, event);
    }
}
