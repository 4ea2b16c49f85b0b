//! What a server's program writes to stderr.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::process::ChildStderr;
use tokio_util::task::AbortOnDropHandle;

use super::lines::{Line, LineReader};

/// Is given each line that a program writes to stderr. The text is the program's: it may hold anything.
pub type ServerLog = Arc<dyn Fn(&str) + Send + Sync>;

/// Longest line, in bytes; a longer one is taken for several.
const LINE_BYTES_MAX: usize = 4 * 1024;

/// Lines kept of the end.
const LINES_KEPT: usize = 10;

/// The last lines of a program's stderr.
#[derive(Debug, Clone, Default)]
pub(super) struct StderrTail(Arc<Mutex<Vec<String>>>);

impl StderrTail {
    fn push(&self, line: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() >= LINES_KEPT {
            lines.remove(0);
        }
        lines.push(line.to_owned());
    }

    /// The lines that were kept, without the blanks around them.
    pub(super) fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).join("\n").trim().to_owned()
    }
}

/// Reads a program's stderr to its end, in the background.
pub(super) fn follow(stderr: ChildStderr, tail: StderrTail, log: ServerLog) -> AbortOnDropHandle<()> {
    let mut lines = LineReader::new(stderr, LINE_BYTES_MAX);
    AbortOnDropHandle::new(tokio::spawn(async move {
        while let Line::Whole(line) | Line::Piece(line) = lines.next().await {
            let line = String::from_utf8_lossy(&line);
            tail.push(line.trim_end());
            log(line.trim_end());
        }
    }))
}
