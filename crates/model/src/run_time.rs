//! The time of a run, which is the agent's time: waits for others are not charged.
//!
//! [`within`] gives work a time limit. Waits that are caused by us, or by a server that asks for a pause, do not
//! count: a rate limit, a budget that others have reserved, the pauses between attempts. Nor do attempts that failed
//! before one that succeeded. If the time ends during a request to a model's server, [`Over::asked`] says so: that is
//! an outage or a slow server, and not the agent's fault.
//!
//! All of this is observed while the work itself is polled, not in other tasks that it starts.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

tokio::task_local! {
    static CLOCK: Clock;
}

/// What is not charged.
#[derive(Default)]
struct Clock {
    /// The number of waits in progress, and since when there are any.
    waits: Cell<u32>,
    since: Cell<Option<Instant>>,
    /// The time of those that are over.
    waited: Cell<Duration>,
    /// The models with a request in progress, one entry for each request.
    asked: RefCell<Vec<Arc<str>>>,
}

impl Clock {
    fn waited(&self) -> Duration {
        let now = self.since.get().map_or(Duration::ZERO, |since| since.elapsed());
        self.waited.get() + now
    }
}

/// The time of a run is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Over {
    /// The model that had a request in progress at that moment, if any.
    pub asked: Option<Arc<str>>,
}

/// Runs `work` for at most `limit` of its own time. If calls are nested, time that is not charged to one is not
/// charged to the other either.
///
/// # Errors
/// The time is over; the work was dropped.
pub async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Result<T, Over> {
    match CLOCK.try_with(|_| ()) {
        Ok(()) => limited(limit, work).await,
        Err(_) => CLOCK.scope(Clock::default(), limited(limit, work)).await,
    }
}

/// Runs `work`, and returns its own time: everything except what is not charged.
pub async fn measured<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let measuring = async {
        let (begun, waited_before) = (Instant::now(), CLOCK.with(Clock::waited));
        let done = work.await;
        let waited = CLOCK.with(Clock::waited).saturating_sub(waited_before);
        (done, begun.elapsed().saturating_sub(waited))
    };
    match CLOCK.try_with(|_| ()) {
        Ok(()) => measuring.await,
        Err(_) => CLOCK.scope(Clock::default(), measuring).await,
    }
}

async fn limited<T>(limit: Duration, work: impl Future<Output = T>) -> Result<T, Over> {
    let begun = Instant::now();
    let waited_before = CLOCK.with(Clock::waited);
    // A limit that the clock cannot represent is none.
    let Some(mut deadline) = begun.checked_add(limit) else { return Ok(work.await) };
    let mut work = pin!(work);
    let mut alarm = pin!(sleep_until(deadline));
    poll_fn(|context| {
        // The work is polled first, so work that ends in the very moment of its deadline has ended in time.
        if let Poll::Ready(done) = work.as_mut().poll(context) {
            return Poll::Ready(Ok(done));
        }
        let (is_waiting, waited) = CLOCK.with(|clock| (clock.waits.get() > 0, clock.waited.get()));
        if is_waiting {
            // The end of the wait wakes this task, and the deadline is computed then.
            return Poll::Pending;
        }
        let due = begun.checked_add(limit + waited.saturating_sub(waited_before)).unwrap_or(deadline);
        if due != deadline {
            deadline = due;
            alarm.as_mut().reset(deadline);
        }
        alarm.as_mut().poll(context).map(|()| {
            let asked = CLOCK.with(|clock| clock.asked.borrow().last().cloned());
            Err(Over { asked })
        })
    })
    .await
}

/// Waits for something that is not charged to the run.
pub async fn uncharged<T>(wait: impl Future<Output = T>) -> T {
    let _wait = Wait::begin();
    wait.await
}

/// A wait that is going on.
struct Wait;

impl Wait {
    fn begin() -> Self {
        with(|clock| {
            clock.waits.set(clock.waits.get() + 1);
            // Overlapping waits count once, from the beginning of the first to the end of the last.
            if clock.since.get().is_none() {
                clock.since.set(Some(Instant::now()));
            }
        });
        Self
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        with(|clock| {
            let waits = clock.waits.get().saturating_sub(1);
            clock.waits.set(waits);
            if waits == 0 {
                clock.waited.set(clock.waited());
                clock.since.set(None);
            }
        });
    }
}

/// A request in progress. While there is one, a timeout is not the agent's fault.
pub(crate) struct Request {
    model: Arc<str>,
    attempt: Instant,
    /// The uncharged part of the time before the latest attempt.
    failed: Duration,
    waited: Duration,
}

impl Request {
    /// A request to the model of this name begins.
    pub(crate) fn begin(model: &Arc<str>) -> Self {
        let waited = with(|clock| {
            clock.asked.borrow_mut().push(Arc::clone(model));
            clock.waited()
        });
        Self {
            model: Arc::clone(model),
            attempt: Instant::now(),
            failed: Duration::ZERO,
            waited: waited.unwrap_or_default(),
        }
    }

    /// The attempt before this moment, if there was one, has failed.
    pub(crate) fn attempt(&mut self) {
        let waited = with(Clock::waited).unwrap_or_default();
        // The waits in this time are not charged anyway, and must not count twice.
        let waits = waited.saturating_sub(self.waited);
        self.failed += self.attempt.elapsed().saturating_sub(waits);
        (self.attempt, self.waited) = (Instant::now(), waited);
    }

    /// The latest attempt has succeeded: the time before it is not charged.
    pub(crate) fn succeed(&mut self) {
        let failed = std::mem::take(&mut self.failed);
        with(|clock| clock.waited.set(clock.waited.get() + failed));
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        // With several requests in progress, the newest entry may be that of another model. Entries of the same model
        // are all alike.
        with(|clock| {
            let mut asked = clock.asked.borrow_mut();
            let place = asked.iter().rposition(|model| *model == self.model);
            if let Some(place) = place {
                asked.remove(place);
            }
        });
    }
}

/// Outside of a run nothing is charged.
fn with<T>(note: impl FnOnce(&Clock) -> T) -> Option<T> {
    CLOCK.try_with(note).ok()
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::time::sleep;

    use super::*;

    /// The times are chosen so that a stall of the machine does not change the result.
    const LIMIT: Duration = Duration::from_millis(60);
    const WAIT: Duration = Duration::from_millis(150);

    #[tokio::test]
    async fn waits_are_not_charged_and_work_is() {
        let begun = Instant::now();
        assert_eq!(within(LIMIT, uncharged(sleep(WAIT))).await, Ok(()));
        let both = async {
            // Two at a time count once.
            tokio::join!(uncharged(sleep(WAIT)), uncharged(sleep(2 * WAIT)));
            uncharged(sleep(WAIT)).await;
        };
        assert_eq!(within(LIMIT, both).await, Ok(()));
        let late = async {
            uncharged(sleep(WAIT)).await;
            pending::<()>().await;
        };
        assert_eq!(within(LIMIT, late).await, Err(Over { asked: None }));
        assert!(begun.elapsed() >= 5 * WAIT + LIMIT);
        assert_eq!(within(LIMIT, pending::<()>()).await, Err(Over { asked: None }));
        assert_eq!(within(Duration::MAX, uncharged(sleep(LIMIT))).await, Ok(()));
        let ((), took) = measured(uncharged(sleep(20 * LIMIT))).await;
        assert!(took < 10 * LIMIT, "{took:?}");
    }

    #[tokio::test]
    async fn a_part_of_a_run_has_the_same_clock() {
        let whole = async {
            uncharged(sleep(WAIT)).await;
            let part = within(LIMIT, uncharged(sleep(WAIT))).await;
            (part, within(LIMIT, pending::<()>()).await)
        };
        assert_eq!(within(2 * LIMIT, whole).await, Ok((Ok(()), Err(Over { asked: None }))));
        let hanging = within(2 * LIMIT, pending::<()>());
        assert_eq!(within(LIMIT, hanging).await, Err(Over { asked: None }));
    }

    #[tokio::test]
    async fn the_end_inside_a_request_is_told_from_the_end_elsewhere() {
        let model: Arc<str> = "openai/m".into();
        let hanging = async {
            let _request = Request::begin(&model);
            pending::<()>().await;
        };
        assert_eq!(within(LIMIT, hanging).await, Err(Over { asked: Some(Arc::clone(&model)) }));
        let afterwards = async {
            drop(Request::begin(&model));
            pending::<()>().await;
        };
        assert_eq!(within(LIMIT, afterwards).await, Err(Over { asked: None }));
        let other: Arc<str> = "openai/other".into();
        let beside_one_that_ended = async {
            let first = Request::begin(&model);
            let _second = Request::begin(&other);
            drop(first);
            pending::<()>().await;
        };
        assert_eq!(within(LIMIT, beside_one_that_ended).await, Err(Over { asked: Some(Arc::clone(&other)) }));
    }

    #[tokio::test]
    async fn failed_attempts_are_charged_while_none_has_succeeded() {
        let uncharged_of = |succeeds: bool| async move {
            let mut request = Request::begin(&"u".into());
            request.attempt();
            sleep(LIMIT).await;
            uncharged(sleep(WAIT)).await;
            request.attempt();
            let waits = CLOCK.with(Clock::waited);
            if succeeds {
                request.succeed();
            }
            drop(request);
            CLOCK.with(Clock::waited) - waits
        };
        let of_success = CLOCK.scope(Clock::default(), uncharged_of(true)).await;
        assert!(of_success >= LIMIT, "{of_success:?}");
        assert_eq!(CLOCK.scope(Clock::default(), uncharged_of(false)).await, Duration::ZERO);
    }
}
