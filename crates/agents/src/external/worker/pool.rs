//! The workers of a campaign: the free ones, and when another one is started.

use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::process::Worker;

/// How long a run waits for a busy worker while the duration of a start is unknown.
const FIRST_WAIT: Duration = Duration::from_secs(2);

/// Held for each worker that exists or is about to start.
pub(super) type Seat = Arc<()>;

/// The free workers, and the number of all workers.
///
/// A run waits for a busy worker for as long as the last start took before it starts another one. So the waits and
/// the starts of a campaign together take at most twice the time of the best choice made with foreknowledge: if tasks
/// are short, one worker serves them all, and if they are long, there is soon one for each run.
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
    /// A free worker, or a new one made by `start`, with its seat.
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
            // Before the look-up, so that a worker that is returned between look-up and wait is not missed.
            freed.as_mut().enable();
            let wait = match self.find() {
                Ok(taken) => return Ok(taken),
                Err(wait) => wait,
            };
            let deadline = begun + wait;
            // No worker exists that could become free.
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

    /// Returns a worker that has answered.
    pub(super) fn put(&self, worker: Worker, seat: Seat) {
        self.free().workers.push((worker, seat));
        self.freed.notify_one();
    }

    /// A free worker, or how long to wait for one. A worker that has died since its last task, or has written
    /// something unasked, is discarded.
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
        // A panic while the lock is held leaves a valid list of workers.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}
