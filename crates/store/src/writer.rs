//! Writing: many threads hand over events and runs, and one thread writes them to the file.
//!
//! The threads share one queue, which consists of a list of operations and a buffer with the bytes of all events.
//! The writing thread swaps it for an empty one, so each event takes a lock once but causes no allocation and no
//! wake-up. Whatever accumulates while one transaction is written forms the next one (group commit).

mod queue;
mod statements;
mod thread;

use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::thread::JoinHandle;

use planproof_trace::{Event, EventSink, Usage, wire};

use crate::campaign::{CaseDigests, Deferred};
use crate::error::Place;
use crate::progress::NotedSpending;
use crate::receipt::receipt;
use crate::{
    Fingerprint, Finish, NewLesson, Progress, Receipt, RunId, RunStart, SealKey, Sealed, StoreError,
    StoredSpent, schema,
};
use queue::{FinishOperation, OpenRun, Operation, ProgressOperation, Shared, Sleep, StartOperation};

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

thread_local! {
    /// The line of the current event, serialised before the lock is taken.
    static LINE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A larger buffer is not reused for the next event.
const LINE_BYTES_KEPT_MAX: usize = 64 << 10;

impl Writer {
    pub(crate) fn spawn(place: &Place, created: CaseDigests, deferred: Deferred) -> Result<Self, StoreError> {
        // A connection of its own: that of the `Store` stays on the thread that opened it, for reading and creating.
        let place = &Place::new(&place.path, place.limits).known();
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
