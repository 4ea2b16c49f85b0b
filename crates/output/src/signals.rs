//! The signals that ask us to stop.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::sync::mpsc;
use std::thread;

#[cfg(unix)]
pub use unix::survive_large_files;
#[cfg(unix)]
use unix::{listen, next};
#[cfg(windows)]
pub use windows::survive_large_files;
#[cfg(windows)]
use windows::{listen, next};

/// Completes on Ctrl-C (SIGINT), SIGTERM, SIGQUIT, or SIGHUP (the terminal is gone), unless SIGHUP was ignored at our
/// start, as with `nohup`; on Windows on Ctrl-C, on Ctrl-Break, or when the console is closed. From this call on the
/// signals no longer end the process, so it comes before any message that could make someone send one. Must be called
/// within a Tokio runtime. If the system does not let us listen, it never completes, and the signal ends the process
/// as usual.
pub fn stop_requested() -> impl Future<Output = ()> + Send + 'static {
    let signals = listen();
    async {
        let Ok(mut signals) = signals else { return std::future::pending().await };
        next(&mut signals).await;
    }
}

/// Calls `act` at each of these signals, with their number so far, until the process ends: on a separate thread, so
/// that no other work of the process delays it. Must be called within a Tokio runtime, which handles only the first
/// signal if no thread is available.
pub fn on_each(act: impl Fn(u32) + Send + Sync + 'static) {
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
    // Waits until the thread listens, so that no signal is missed. If it could not, its end of the channel is gone.
    if started.is_err() || is_listening.recv().is_err() {
        let requested = stop_requested();
        tokio::spawn(async move {
            requested.await;
            act(1);
        });
    }
}
