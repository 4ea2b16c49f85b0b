//! The signals that ask us to stop.

use std::future::poll_fn;
use std::sync::mpsc;
use std::task::Poll;
use std::thread;

use rustix::process::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Completes on Ctrl-C (SIGINT), SIGTERM, SIGQUIT, or SIGHUP (the terminal is gone), unless SIGHUP was ignored at our
/// start, as with `nohup`. From this call on the signals no longer end the process, so it comes before any message
/// that could make someone send one. Must be called within a Tokio runtime. If the system does not let us listen, it
/// never completes, and the signal ends the process as usual.
pub(crate) fn stop_requested() -> impl Future<Output = ()> + Send + 'static {
    let signals = listen();
    async {
        let Ok(mut signals) = signals else { return std::future::pending().await };
        next(&mut signals).await;
    }
}

/// Calls `act` at each of these signals, with their number so far, until the process ends: on a separate thread, so
/// that no other work of the process delays it. Must be called within a Tokio runtime, which handles only the first
/// signal if no thread is available.
pub(crate) fn on_each(act: impl Fn(u32) + Send + Sync + 'static) {
    let act = std::sync::Arc::new(act);
    let (listens, is_listening) = mpsc::channel();
    let started = thread::Builder::new().name("signals".to_owned()).spawn({
        let act = std::sync::Arc::clone(&act);
        move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else {
                return;
            };
            runtime.block_on(async {
                let Ok(mut signals) = listen() else { return };
                // Whoever started us may be gone.
                let _ = listens.send(());
                for count in 1.. {
                    next(&mut signals).await;
                    act(count);
                }
            });
        }
    });
    if started.is_err() || is_listening.recv().is_err() {
        let requested = stop_requested();
        tokio::spawn(async move {
            requested.await;
            act(1);
        });
    }
}

/// Listens to the signals that ask us to stop.
fn listen() -> std::io::Result<Vec<Signal>> {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::quit(), SignalKind::hangup()];
    let heeded = kinds.into_iter().filter(|kind| *kind != SignalKind::hangup() || !is_ignored(*kind));
    heeded.map(signal).collect()
}

/// Completes at the next one.
async fn next(signals: &mut [Signal]) {
    poll_fn(|context| {
        let is_received = signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
        if is_received { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Makes a write beyond the limit on the size of files (`ulimit -f`) fail instead of ending the process by SIGXFSZ.
/// If the system does not let us listen, the signal ends the process.
pub(crate) fn survive_large_files() {
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
    let bit = u32::try_from(kind.as_raw_value() - 1).unwrap_or(u32::MAX);
    mask.checked_shr(bit).is_some_and(|mask| mask & 1 == 1)
}
