//! What waits to be written: the queue that all threads share with the one that writes.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::campaign::Deferred;
use crate::error::Place;
use crate::progress::NotedSpending;
use crate::receipt::Completion;
use crate::{NewLesson, Progress, RunId, SealKey, Sealed, StoreError};

pub(super) struct Shared {
    pub(super) place: Place,
    /// The key that seals the campaigns whose runs are written.
    pub(super) seal: OnceLock<SealKey>,
    /// Where cases come from that are stored when their first run starts.
    pub(super) deferred: Deferred,
    pub(super) queue: Mutex<Queue>,
    /// Wakes the writing thread.
    pub(super) work: Condvar,
    /// Wakes threads that wait for room in the queue.
    pub(super) room: Condvar,
}

#[derive(Default)]
pub(super) struct Queue {
    pub(super) batch: Batch,
    /// Runs that accept events.
    pub(super) open: HashMap<RunId, OpenRun>,
    pub(super) sleep: Sleep,
    /// Threads that wait for room.
    pub(super) waiting: usize,
    /// Whether writing is paused by [`Writer::hold`](crate::Writer::hold).
    pub(super) is_held: bool,
    pub(super) is_closing: bool,
    /// Why the writing thread stopped.
    pub(super) failure: Option<StoreError>,
}

impl Queue {
    /// Whether a caller waits and there are too few open runs for a longer wait to collect more operations.
    pub(super) fn is_urgent(&self) -> bool {
        self.batch.is_awaited && !self.has_many_runs()
    }

    pub(super) fn has_many_runs(&self) -> bool {
        self.open.len() >= RUNS_MANY
    }

    /// Whether there is something that may be written.
    pub(super) fn is_ready(&self) -> bool {
        !self.batch.is_empty() && (!self.is_held || self.is_closing)
    }
}

#[derive(Default)]
pub(super) struct OpenRun {
    pub(super) events: i64,
    /// Why the run cannot be finished.
    pub(super) failure: Option<StoreError>,
}

/// What the writing thread is doing.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sleep {
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
pub(super) struct Batch {
    pub(super) operations: Vec<Operation>,
    /// The lines of all events in the batch, one after the other.
    pub(super) lines: Vec<u8>,
    /// The latest spending noted for each campaign.
    pub(super) noted: Vec<NotedSpending>,
    pub(super) bytes: usize,
    /// Whether a caller waits for one of its operations.
    pub(super) is_awaited: bool,
}

pub(super) enum Operation {
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

pub(super) struct StartOperation {
    pub(super) campaign: String,
    pub(super) ordinal: u32,
    pub(super) repeat: u32,
    pub(super) header: Vec<u8>,
    pub(super) completion: Completion<RunId>,
}

pub(super) struct FinishOperation {
    pub(super) run: RunId,
    pub(super) passed: Option<bool>,
    pub(super) class: Option<String>,
    pub(super) verdict: String,
    pub(super) wall_ms: u64,
    pub(super) summary: Option<String>,
    pub(super) lessons: Vec<NewLesson>,
    pub(super) completion: Completion<()>,
}

pub(super) struct ProgressOperation {
    pub(super) campaign: String,
    pub(super) progress: Progress,
    pub(super) completion: Completion<()>,
}

/// With at least this many open runs, each run can wait a little for its start or end to be written, so that one
/// transaction serves many.
const RUNS_MANY: usize = 8;

/// Size from which on a batch is written at once.
pub(super) const BATCH_BYTES: usize = 1 << 20;

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.operations.is_empty() && self.noted.is_empty()
    }
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Queue> {
        // A panic of the writing thread is reported through `Queue::failure`; the queue itself is never left half
        // changed.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for `bytes` more, or until the queue is empty, so that an oversized event can
    /// pass.
    pub(super) fn lock_with_room(&self, bytes: usize) -> Result<MutexGuard<'_, Queue>, StoreError> {
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

    pub(super) fn wake(&self, queue: &mut Queue) {
        if queue.sleep != Sleep::Awake {
            queue.sleep = Sleep::Awake;
            self.work.notify_one();
        }
    }

    pub(super) fn append(&self, run: RunId, line: &[u8]) -> Result<(), StoreError> {
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
    pub(super) fn push(&self, queue: &mut Queue, operation: Operation, bytes: usize) {
        queue.batch.operations.push(operation);
        queue.batch.bytes += bytes;
        queue.batch.is_awaited = true;
        if queue.sleep == Sleep::Idle || queue.is_urgent() {
            self.wake(queue);
        }
    }

    pub(super) fn stopped(&self) -> StoreError {
        StoreError::WriterStopped { path: self.place.path.clone() }
    }
}

impl Operation {
    /// Completes the receipt of whoever waits for it with an error.
    pub(super) fn fail(self, error: &StoreError) {
        match self {
            // Nobody waits for a single event; finishing its run reports the error.
            Self::Append { .. } => {}
            Self::Start(start) => start.completion.complete(Err(error.clone())),
            Self::Finish(finish) => finish.completion.complete(Err(error.clone())),
            Self::Progress(progress) => progress.completion.complete(Err(error.clone())),
            Self::EndSeals(completion) => completion.complete(Err(error.clone())),
            Self::Abandon(_) | Self::ResumeSeals(_) => {}
            Self::Flush(completion) => completion.complete(Err(error.clone())),
        }
    }
}
