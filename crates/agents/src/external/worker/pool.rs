//! The workers of a campaign: those that are free, and when one more is started.

use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::process::Worker;

/// How long a run waits for a worker that is busy while nobody knows how long a start takes.
const FIRST_WAIT: Duration = Duration::from_secs(2);

/// Held for each worker that is there or about to be.
pub(super) type Seat = Arc<()>;

/// Workers that are free, and how many there are.
///
/// A run waits for one that is busy for as long as the last start took before it starts one more. So the waits and the
/// starts of a campaign together take at most twice the time that they would if one knew beforehand which to choose:
/// where tasks are short one worker serves them all, and where they are long there is soon one for each run.
#[derive(Default)]
pub(super) struct Pool {
    seats: Seat,
    free: Mutex<Free>,
    freed: Notify,
}

#[derive(Default)]
struct Free {
    workers: Vec<(Worker, Seat)>,
    /// How long the last start took.
    start_took: Option<Duration>,
}

impl Pool {
    /// A worker that is free, or one more made by `start`, with its seat.
    ///
    /// # Errors
    /// Why no worker could be started.
    pub(super) async fn take<F>(&self, start: impl FnOnce() -> F) -> Result<(Worker, Seat), String>
    where
        F: Future<Output = Result<Worker, String>>,
    {
        let begun = Instant::now();
        let seat = loop {
            let mut freed = pin!(self.freed.notified());
            // Before the look, so that none that is put back between look and wait is missed.
            freed.as_mut().enable();
            let wait = match self.find() {
                Ok(taken) => return Ok(taken),
                Err(wait) => wait,
            };
            let deadline = begun + wait;
            // Nobody is there who could become free.
            let is_alone = Arc::strong_count(&self.seats) == 1;
            if is_alone || Instant::now() >= deadline {
                break Arc::clone(&self.seats);
            }
            tokio::select! {
                () = freed => {}
                () = sleep_until(deadline) => {}
            }
        };
        let begun = Instant::now();
        let worker = start().await?;
        self.free().start_took = Some(begun.elapsed());
        Ok((worker, seat))
    }

    /// Gives a worker back that has answered.
    pub(super) fn put(&self, worker: Worker, seat: Seat) {
        self.free().workers.push((worker, seat));
        self.freed.notify_one();
    }

    /// A worker that is free, or how long to wait for one. One that has died since its last task, or said something
    /// that nobody asked for, is let go.
    fn find(&self) -> Result<(Worker, Seat), Duration> {
        let mut free = self.free();
        while let Some((mut worker, seat)) = free.workers.pop() {
            if worker.is_fit() {
                return Ok((worker, seat));
            }
        }
        Err(free.start_took.unwrap_or(FIRST_WAIT))
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        // A panic while the lock is held leaves a list of workers.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}
