//! What a console of Windows asks of a program.

use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, ctrl_break, ctrl_c, ctrl_close};

/// What asks us to stop.
pub(super) struct Signals {
    interrupt: CtrlC,
    stop: CtrlBreak,
    close: CtrlClose,
}

/// Listens to what asks us to stop.
pub(super) fn listen() -> std::io::Result<Signals> {
    Ok(Signals { interrupt: ctrl_c()?, stop: ctrl_break()?, close: ctrl_close()? })
}

/// Completes at the next one. After the console is closed the system leaves us a few seconds.
pub(super) async fn next(signals: &mut Signals) {
    tokio::select! {
        _ = signals.interrupt.recv() => {}
        _ = signals.stop.recv() => {}
        _ = signals.close.recv() => {}
    }
}

/// Nothing to do: this system does not limit the size of files.
pub fn survive_large_files() {}
