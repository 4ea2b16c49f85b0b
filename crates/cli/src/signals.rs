//! The signals that ask us to stop.

use std::future::poll_fn;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Completes on Ctrl-C (SIGINT), SIGTERM, SIGQUIT, or SIGHUP (the terminal is gone), unless whoever started
/// us had SIGHUP ignored, as `nohup` does. From this call on the signals no longer end the process, so it
/// comes before anything is said that could make someone send one. Must be called within a Tokio runtime.
/// Where the system does not let us listen, it never completes, and the signal ends the process as it always
/// does.
pub(crate) fn stop_requested() -> impl Future<Output = ()> + Send + 'static {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::quit(), SignalKind::hangup()];
    let heeded = kinds.into_iter().filter(|kind| *kind != SignalKind::hangup() || !is_ignored(*kind));
    let signals: std::io::Result<Vec<Signal>> = heeded.map(signal).collect();
    async {
        let Ok(mut signals) = signals else { return std::future::pending().await };
        poll_fn(|context| {
            let is_received = signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if is_received { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// Whether a signal is ignored, where the system says so (as Linux does). Listening would end that.
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    let bit = u32::try_from(kind.as_raw_value() - 1).unwrap_or(u32::MAX);
    mask.checked_shr(bit).is_some_and(|mask| mask & 1 == 1)
}
