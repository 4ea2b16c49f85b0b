//! Attempts that failed though the server may have done their work, so that it is paid for beside that of the last one.

use std::cell::Cell;

tokio::task_local! {
    static LOST: Cell<u64>;
}

/// Makes a request of several attempts, whose lost ones are counted while it is polled and when it is dropped.
pub(super) async fn counting<T>(request: impl Future<Output = T>) -> T {
    LOST.scope(Cell::new(0), request).await
}

/// Takes note that another attempt follows one whose work may have been done. Nothing outside of [`counting`].
pub(crate) fn note_lost() {
    // Nobody counts what is not paid for.
    let _ = LOST.try_with(|lost| lost.set(lost.get() + 1));
}

/// How many there were since it was last asked.
pub(super) fn take_lost() -> u64 {
    LOST.try_with(Cell::take).unwrap_or_default()
}
