//! Writing: many threads hand over what happened, one thread puts it into the file.
//!
//! The threads share one queue, a list of operations and one buffer that holds the bytes of all events. The writing
//! thread swaps it for an empty one, so a lock is taken once per event and nothing is allocated or woken for it. What
//! gathered while one transaction was written makes up the next one (group commit).

mod thread;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use planproof_trace::{Event, EventSink, Header, Usage, wire};

use crate::error::Place;
use crate::receipt::{Completion, receipt};
use crate::store::CaseDigests;
use crate::{Fingerprint, NewLesson, Progress, Receipt, SealKey, Sealed, Spent, Store, StoreError, schema};

/// Names a run within a store. No two runs ever share an id, even if one replaced the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub(crate) i64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which run to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start<'a> {
    /// The campaign's id, in full.
    pub campaign: &'a str,
    /// The case's place in the campaign, from 0.
    pub ordinal: u32,
    /// Which repeat of the case, from 0.
    pub repeat: u32,
    /// The header of its trace.
    pub header: &'a Header,
}

/// How a run came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finish<'a> {
    /// Whether the agent passed; `None` if the run could not be scored.
    pub passed: Option<bool>,
    /// The class of its failure.
    pub class: Option<&'a str>,
    /// The verdict, as JSON; kept as it is.
    pub verdict: &'a str,
    /// How long the run took, in milliseconds.
    pub wall_ms: u64,
    /// What figures need of it beside that, as JSON; kept as it is. See [`Store::run_summaries`].
    ///
    /// [`Store::run_summaries`]: crate::Store::run_summaries
    pub summary: Option<&'a str>,
    /// What it taught: kept with its end, in one transaction.
    pub lessons: &'a [NewLesson],
}

/// Hands runs and events to the writing thread. Cheap to clone; all clones share one thread, which ends, having
/// written everything, when the last of them is dropped.
///
/// When the file cannot be written, the thread stops and every call from then on gives the same error; what was
/// committed before is kept.
#[derive(Clone)]
pub struct Writer(Arc<Handle>);

struct Handle {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    place: Place,
    /// What seals the campaigns whose runs are written.
    seal: OnceLock<SealKey>,
    queue: Mutex<Queue>,
    /// Wakes the writing thread.
    work: Condvar,
    /// Wakes those who wait for room in the queue.
    room: Condvar,
}

#[derive(Default)]
struct Queue {
    batch: Batch,
    /// Runs that take events.
    open: HashMap<RunId, OpenRun>,
    sleep: Sleep,
    /// Threads that wait for room.
    waiting: usize,
    /// Nothing is written yet, as [`Writer::hold`] has it.
    is_held: bool,
    is_closing: bool,
    /// Why the writing thread stopped.
    failure: Option<StoreError>,
}

impl Queue {
    /// Someone waits, and there are too few runs for waiting a little longer to bring more.
    fn is_urgent(&self) -> bool {
        self.batch.is_awaited && !self.has_many_runs()
    }

    fn has_many_runs(&self) -> bool {
        self.open.len() >= RUNS_MANY
    }

    /// There is something that may be written.
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
    /// Writing; it will look at the queue by itself.
    #[default]
    Awake,
    /// Waiting for anything at all.
    Idle,
    /// Waiting a moment for more to come.
    Gathering,
}

/// What waits to be written.
#[derive(Default)]
struct Batch {
    operations: Vec<Operation>,
    /// The lines of all events of the batch, one after the other.
    lines: Vec<u8>,
    /// What was noted last of each campaign's spending.
    noted: Vec<NotedSpending>,
    /// Memory it takes, about.
    bytes: usize,
    /// Someone waits for an operation of it.
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
    spent: Spent,
    served: Usage,
}

impl Store {
    /// Replaces what the store knows of a campaign's spending, as [`Writer::note_spending`] does, though the writer has
    /// failed: what a campaign took must not be lost where the store has no room for its runs. A number instead of
    /// another takes no room, or hardly any.
    ///
    /// # Errors
    /// The errors of writing.
    pub fn keep_spending(&self, campaign: &str, spent: Spent, served: Usage) -> Result<(), StoreError> {
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

/// With so many runs going on, each of them can wait a little for its start or its end to be written, so that one
/// transaction does for many.
const RUNS_MANY: usize = 8;

/// The batch is large enough to be written at once.
const BATCH_BYTES: usize = 1 << 20;

thread_local! {
    /// The line of the event at hand. Serialised before the lock is taken.
    static LINE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A larger buffer is not kept for the next event.
const LINE_BYTES_KEPT_MAX: usize = 64 << 10;

impl Batch {
    fn is_empty(&self) -> bool {
        self.operations.is_empty() && self.noted.is_empty()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // A panic of the writing thread is told by `Queue::failure`; the queue itself is never left half changed.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `bytes` more have room (or the queue is empty, as something must be let through).
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
        if queue.sleep == Sleep::Idle || queue.batch.bytes >= BATCH_BYTES {
            self.wake(queue);
        }
        Ok(())
    }

    /// Hands over an operation that someone waits for.
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
    pub(crate) fn spawn(place: &Place, created: CaseDigests) -> Result<Self, StoreError> {
        let connection = schema::open(place)?;
        schema::enlarge_cache(&connection, place)?;
        let shared = Arc::new(Shared {
            place: place.clone(),
            seal: OnceLock::new(),
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

    /// Starts a run. A former attempt at the same unit that was not finished is deleted with its events. The receipt
    /// comes true when the run takes events; it is in the file when the first commit after that is.
    ///
    /// Its receipt gives [`StoreError::AlreadyFinished`], [`StoreError::AlreadyRunning`], [`StoreError::UnknownUnit`],
    /// [`StoreError::UnknownCampaign`], or the writer's own failure.
    pub fn start_run(&self, start: &Start<'_>) -> Receipt<RunId> {
        let shared = &self.0.shared;
        let mut header = Vec::new();
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
    /// [`StoreError::RunNotOpen`], [`StoreError::EventTooLarge`], or the writer's own failure. Where an event is lost,
    /// the run cannot be finished, so the caller may leave the error to [`finish_run`](Self::finish_run).
    pub fn append(&self, run: RunId, event: &Event) -> Result<(), StoreError> {
        LINE.with_borrow_mut(|line| {
            wire::v1::write_event(event, line);
            let result = self.0.shared.append(run, line);
            line.clear();
            line.shrink_to(LINE_BYTES_KEPT_MAX);
            result
        })
    }

    /// A sink for [`planproof_trace::Recorder::with_sink`] that appends each event to `run`.
    pub fn sink(&self, run: RunId) -> RunSink {
        RunSink { writer: self.clone(), run }
    }

    /// Finishes a run: it takes no more events, and its unit is never run again. The receipt comes true when
    /// the run, all of its events and the verdict are committed.
    ///
    /// Its receipt gives [`StoreError::RunNotOpen`], [`StoreError::EventTooLarge`] if an event was lost to that,
    /// [`StoreError::RunReplaced`], or the writer's own failure. The unit stays unfinished then.
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
        match queue.open.remove(&run) {
            None => return Receipt::failed(StoreError::RunNotOpen { run }),
            Some(OpenRun { failure: Some(error), .. }) => {
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

    /// Gives up a run without a verdict: it takes no more events, what it has is kept until its unit is started again.
    pub fn abandon_run(&self, run: RunId) {
        let mut queue = self.0.shared.lock();
        queue.open.remove(&run);
        // What is known of it can wait for the next batch to be forgotten.
        queue.batch.operations.push(Operation::Abandon(run));
    }

    /// Seals what is written from now on: the runs of a campaign that end form a chain which this key signs (see
    /// `seal.rs`). Gives the fingerprint of the key that seals, which is the former one where there is one already.
    pub fn seal(&self, key: SealKey) -> Fingerprint {
        self.0.shared.seal.get_or_init(|| key).fingerprint()
    }

    /// Signs how many runs of each campaign were sealed, and gives what the file must hold of them from now on. Runs
    /// that end later begin anew. Nothing without a key.
    ///
    /// Its receipt gives the writer's own failure.
    pub fn end_seals(&self) -> Receipt<Vec<Sealed>> {
        let shared = &self.0.shared;
        let (completion, receipt) = receipt(shared.stopped());
        match shared.lock_with_room(size_of::<Operation>()) {
            Ok(mut queue) => shared.push(&mut queue, Operation::EndSeals(completion), size_of::<Operation>()),
            Err(error) => completion.complete(Err(error)),
        }
        receipt
    }

    /// Replaces what the store knows of how a campaign (its id in full) goes. Waits with its commit for
    /// others, for some milliseconds, as there may be many and only the last counts. The receipt comes true
    /// when it is committed.
    ///
    /// Its receipt gives [`StoreError::UnknownCampaign`], or the writer's own failure.
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
                // What was noted before is older, and is written after.
                queue.batch.noted.retain(|noted| noted.campaign != campaign);
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

    /// Replaces what the store knows of a campaign's spending, and nothing else of how it goes: what was paid
    /// for, and what models read and wrote that were given to a program. For every single request: nobody is
    /// told when it is committed, which happens within some milliseconds, and only what was noted last is
    /// written. Never waits for room.
    ///
    /// A failure is told by whatever is handed over next; a campaign that there is not is passed over.
    pub fn note_spending(&self, campaign: &str, spent: Spent, served: Usage) {
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

    /// While it is held, nothing is written: what is handed over waits in the queue, and is one transaction when it is
    /// let go. Gives whether something waits there. For simulations, in which the disk writes when the seed says so.
    /// Whoever waits for room in the queue, or for a receipt, waits until then.
    pub fn hold(&self, is_held: bool) -> bool {
        let shared = &self.0.shared;
        let mut queue = shared.lock();
        queue.is_held = is_held;
        shared.wake(&mut queue);
        !queue.batch.is_empty()
    }

    /// Commits all that was handed over before; the receipt comes true when that is done, after all of theirs.
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
        let Some(thread) = self.thread.take() else { return };
        // A waker that runs on the writing thread may hold the last clone; a thread cannot wait for itself.
        if thread.thread().id() != std::thread::current().id() {
            // Its panic is told to every receipt it owed.
            let _ = thread.join();
        }
    }
}

/// Appends each event to one run. An error is not lost: the run cannot be finished then.
#[derive(Debug, Clone)]
pub struct RunSink {
    writer: Writer,
    run: RunId,
}

impl EventSink for RunSink {
    fn append(&self, event: &Event) {
        // Whatever went wrong, `finish_run` tells.
        let _ = self.writer.append(self.run, event);
    }
}
