//! The stderr of a server's program.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::process::ChildStderr;
use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

use super::lines::{Line, LineReader};

/// Gets each line of a program's stderr. The text is the program's and may contain anything.
pub type ServerLog = Arc<dyn Fn(&str) + Send + Sync>;

/// Longest line, in bytes; a longer one is split.
const LINE_BYTES_MAX: usize = 4 * 1024;

/// Longest time that lines are withheld. A program that takes longer may be waiting for its user to read them.
const HELD_TIME_MAX: Duration = Duration::from_secs(10);

/// Most lines that are held.
const HELD_LINES_MAX: usize = 1000;

/// Most lines from before the agreement on a protocol that are shown of a server with an older protocol.
const GREETING_LINES_MAX: usize = 3;

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

    /// The kept lines, trimmed.
    pub(super) fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).join("\n").trim().to_owned()
    }
}

/// The decision about lines from before the agreement on a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// They are passed on.
    Show,
    /// They are passed on if they are few, like a greeting; otherwise only their number and the reason are reported.
    /// An older server may complain at length about the newer request that it got first.
    Sum,
    Drop,
}

/// Reads a program's stderr to its end, in the background. Lines are withheld until `verdict` decides about them, or
/// until it takes too long or there are too many: then they are passed on, like all later ones.
pub(super) fn follow(
    stderr: ChildStderr,
    tail: StderrTail,
    log: ServerLog,
    mut verdict: oneshot::Receiver<Held>,
) -> AbortOnDropHandle<()> {
    let mut lines = LineReader::new(stderr, LINE_BYTES_MAX);
    AbortOnDropHandle::new(tokio::spawn(async move {
        let mut held = Some(Vec::new());
        let mut patience = pin!(sleep(HELD_TIME_MAX));
        loop {
            // Lines that the program wrote before its answer precede the verdict, which follows from the answer.
            let said = tokio::select! {
                biased;
                line = lines.next() => match line {
                    Line::Whole(line) | Line::Piece(line) => {
                        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                        tail.push(&line);
                        match &mut held {
                            None => log(&line),
                            Some(held) => held.push(line),
                        }
                        if held.as_ref().is_none_or(|held| held.len() < HELD_LINES_MAX) {
                            continue;
                        }
                        Held::Show
                    }
                    Line::End => {
                        if let Some(held) = held.take() {
                            // A program may close its stderr before the agreement, so the decision may be yet to come.
                            release(&held, verdict.await.unwrap_or(Held::Show), &log);
                        }
                        return;
                    }
                },
                said = &mut verdict, if held.is_some() => said.unwrap_or(Held::Show),
                () = &mut patience, if held.is_some() => Held::Show,
            };
            release(&held.take().unwrap_or_default(), said, &log);
        }
    }))
}

fn release(held: &[String], said: Held, log: &ServerLog) {
    match said {
        Held::Show => held.iter().for_each(|line| log(line)),
        Held::Sum if held.len() <= GREETING_LINES_MAX => held.iter().for_each(|line| log(line)),
        Held::Sum => log(&format!(
            "({} lines left out: the server does not know the newest protocol, which it was asked for first, and said so; \
             an older one was agreed on)",
            held.len()
        )),
        Held::Drop => {}
    }
}
