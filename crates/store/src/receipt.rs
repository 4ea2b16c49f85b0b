//! Receipts: futures for operations handed to the writer.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::StoreError;

/// Completes when the writer has carried out an operation or failed to. [`wait`](Self::wait) for it on a thread, or
/// `await` it in any async runtime. Dropping it changes nothing: the operation is carried out all the same.
#[derive(Debug)]
#[must_use = "the work may fail, and only the receipt tells"]
pub struct Receipt<T>(Arc<Slot<T>>);

#[derive(Debug)]
struct Slot<T> {
    state: Mutex<State<T>>,
    done: Condvar,
}

#[derive(Debug)]
struct State<T> {
    outcome: Option<Result<T, StoreError>>,
    waker: Option<Waker>,
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // Nothing can panic while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Receipt<T> {
    /// Blocks until the operation is complete.
    ///
    /// # Errors
    /// Why the writer could not carry it out.
    pub fn wait(self) -> Result<T, StoreError> {
        let mut state = self.0.lock();
        loop {
            if let Some(outcome) = state.outcome.take() {
                return outcome;
            }
            state = self.0.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A receipt for an operation that failed immediately.
    pub(crate) fn failed(error: StoreError) -> Self {
        let state = State { outcome: Some(Err(error)), waker: None };
        Self(Arc::new(Slot { state: Mutex::new(state), done: Condvar::new() }))
    }
}

impl<T> Future for Receipt<T> {
    type Output = Result<T, StoreError>;

    /// Like any future, it must not be polled again after it was ready: it would never become ready again.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.lock();
        if let Some(outcome) = state.outcome.take() {
            return Poll::Ready(outcome);
        }
        match &mut state.waker {
            // Clones nothing if the task is still the same.
            Some(waker) => waker.clone_from(context.waker()),
            None => state.waker = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

/// The writer's end of a [`Receipt`]. If it is dropped without an outcome (because the thread panicked), it reports
/// `lost`.
#[derive(Debug)]
pub(crate) struct Completion<T> {
    slot: Arc<Slot<T>>,
    lost: Option<StoreError>,
}

/// A receipt and its writer's end.
pub(crate) fn receipt<T>(lost: StoreError) -> (Completion<T>, Receipt<T>) {
    let state = State { outcome: None, waker: None };
    let slot = Arc::new(Slot { state: Mutex::new(state), done: Condvar::new() });
    (Completion { slot: Arc::clone(&slot), lost: Some(lost) }, Receipt(slot))
}

impl<T> Completion<T> {
    pub(crate) fn complete(mut self, outcome: Result<T, StoreError>) {
        self.lost = None;
        self.set(outcome);
    }

    fn set(&self, outcome: Result<T, StoreError>) {
        let mut state = self.slot.lock();
        state.outcome = Some(outcome);
        // The task may poll the receipt as soon as it is woken, so the lock is released before.
        let waker = state.waker.take();
        drop(state);
        self.slot.done.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Drop for Completion<T> {
    fn drop(&mut self) {
        if let Some(error) = self.lost.take() {
            self.set(Err(error));
        }
    }
}
