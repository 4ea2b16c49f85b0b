//! The signals that ask us to stop.

use tokio::signal::unix::{SignalKind, signal};

/// Completes on Ctrl-C (SIGINT) or SIGTERM. From this call on the signals no longer end the process, so it comes before
/// anything is said that could make someone send one. Must be called within a Tokio runtime. Where the system does not
/// let us listen, it never completes, and the signal ends the process as it always does.
pub(crate) fn stop_requested() -> impl Future<Output = ()> + Send + 'static {
    let signals = signal(SignalKind::interrupt())
        .and_then(|interrupt| Ok((interrupt, signal(SignalKind::terminate())?)));
    async {
        let Ok((mut interrupt, mut terminate)) = signals else { return std::future::pending().await };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}
