//! Which run a refused request belonged to.

use std::cell::Cell;

tokio::task_local! {
    static REFUSED: Cell<bool>;
}

/// Runs `work` and returns whether a [`Meter`](super::Meter) refused a request that it made. Only requests made while
/// `work` itself is polled are seen, not those of other tasks that it starts.
pub async fn noting_refusals<T>(work: impl Future<Output = T>) -> (T, bool) {
    REFUSED
        .scope(Cell::new(false), async {
            let done = work.await;
            (done, REFUSED.with(Cell::get))
        })
        .await
}

/// Records a refusal. `false` outside of [`noting_refusals`].
pub(super) fn note() -> bool {
    REFUSED.try_with(|refused| refused.set(true)).is_ok()
}
