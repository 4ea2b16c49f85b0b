//! The signals that ask us to stop.

use tokio::signal::unix::{SignalKind, signal};

/// Completes on Ctrl-C (SIGINT) or SIGTERM. Where the system does not let us listen, it never completes, and the
/// signal ends the process as it always does.
pub(crate) async fn stop_requested() {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
