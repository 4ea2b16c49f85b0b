//! The stderr of a guarded server.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use planproof_output::{secrets, terminal};
use planproof_tools::{Line, LineReader};
use tokio::process::{ChildStderr, Command};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

/// Bytes of a line that are searched at once; a longer line is passed on in pieces.
const LINE_BYTES_MAX: usize = 1 << 20;

/// How long what a server wrote before its end may take to be passed on, where others hold its stderr open.
const LAST_MAX: Duration = Duration::from_millis(300);

/// Lets the server write to our stderr itself, where there is no key that it could write; otherwise to us.
pub(super) fn place(command: &mut Command) {
    if !secrets::printed().is_empty() {
        command.stderr(Stdio::piped());
    }
}

/// Passes on what a server writes to stderr, without the keys that we hold, until it is [ended](Self::end).
pub(super) struct ServerStderr(Option<JoinHandle<()>>);

impl ServerStderr {
    /// Begins, if the server writes to us. Needs a Tokio runtime.
    pub(super) fn follow(stderr: Option<ChildStderr>) -> Self {
        Self(stderr.map(|stderr| tokio::spawn(pass_on(stderr))))
    }

    /// Ends when all is passed on, or after a while. The server must be gone.
    pub(super) async fn end(self) {
        if let Some(mut task) = self.0
            && timeout(LAST_MAX, &mut task).await.is_err()
        {
            task.abort();
        }
    }
}

async fn pass_on(stderr: ChildStderr) {
    let mut lines = LineReader::new(stderr, LINE_BYTES_MAX);
    loop {
        let (text, end) = match lines.next().await {
            Line::Whole(text) => (text, &b"\n"[..]),
            Line::Piece(text) => (text, &b""[..]),
            Line::End => return,
        };
        // Whoever reads our stderr slowly must not keep the session waiting. If nobody reads it, the server still
        // must not wait for its lines to be read.
        let written = spawn_blocking(move || {
            let mut out = terminal::relayed();
            out.write_all(&text).and_then(|()| out.write_all(end)).and_then(|()| out.flush())
        });
        let _ = written.await;
    }
}
