//! Signals of Unix.

use std::future::poll_fn;
use std::task::Poll;

use rustix::process::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens to the signals that ask us to stop.
pub(super) fn listen() -> std::io::Result<Vec<Signal>> {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::quit(), SignalKind::hangup()];
    let heeded = kinds.into_iter().filter(|kind| *kind != SignalKind::hangup() || !is_ignored(*kind));
    heeded.map(signal).collect()
}

/// Completes at the next one.
pub(super) async fn next(signals: &mut [Signal]) {
    poll_fn(|context| {
        let is_received = signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
        if is_received { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Makes a write beyond the limit on the size of files (`ulimit -f`) fail instead of ending the process by SIGXFSZ.
/// If the system does not let us listen, the signal ends the process.
pub fn survive_large_files() {
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() {
        // Listening once keeps the signal from ending the process for as long as that lives.
        drop(runtime.block_on(async { signal(SignalKind::from_raw(Number::XFSZ.as_raw())) }));
    }
}

/// Whether a signal is ignored, where the system says so (as Linux does). Listening would end that.
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    // Signals are numbered from 1, bits from 0.
    let bit = u32::try_from(kind.as_raw_value() - 1).unwrap_or(u32::MAX);
    mask.checked_shr(bit).is_some_and(|mask| mask & 1 == 1)
}
