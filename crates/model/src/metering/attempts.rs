//! Failed attempts whose work the server may have done, so that they are paid for in addition to the last one.

use std::cell::Cell;

tokio::task_local! {
    static LOST: Cell<u64>;
}

/// Runs a request of several attempts. Lost ones are counted while it is polled and when it is dropped.
pub(super) async fn counting<T>(request: impl Future<Output = T>) -> T {
    LOST.scope(Cell::new(0), request).await
}

/// Records that another attempt follows one whose work may have been done. Does nothing outside of [`counting`].
pub(crate) fn note_lost() {
    // Requests that nobody pays for have no counter.
    let _ = LOST.try_with(|lost| lost.set(lost.get() + 1));
}

/// The number of lost attempts since the last call.
pub(super) fn take_lost() -> u64 {
    LOST.try_with(Cell::take).unwrap_or_default()
}
