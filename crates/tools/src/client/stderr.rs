//! What a server's program writes to stderr.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::process::ChildStderr;
use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

use super::lines::{Line, LineReader};

/// Is given each line that a program writes to stderr. The text is the program's: it may hold anything.
pub type ServerLog = Arc<dyn Fn(&str) + Send + Sync>;

/// Longest line, in bytes; a longer one is taken for several.
const LINE_BYTES_MAX: usize = 4 * 1024;

/// Longest time that lines are held. A program that takes longer may be waiting for its user to read them.
const HELD_TIME_MAX: Duration = Duration::from_secs(10);

/// Most lines that are held.
const HELD_LINES_MAX: usize = 1000;

/// Most lines of a server that speaks an older protocol that are shown from before this was agreed on.
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

    /// The lines that were kept, without the blanks around them.
    pub(super) fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).join("\n").trim().to_owned()
    }
}

/// What becomes of the lines from before a protocol was agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// They are passed on.
    Show,
    /// They are passed on where they are few, as a greeting is; of more, only how many they were and why. An
    /// older server may complain at length of the newer question that it was asked first.
    Sum,
    /// Nothing is.
    Drop,
}

/// Reads a program's stderr to its end, in the background. Lines are held until `verdict` says what becomes of them,
/// or until it takes too long or there are too many: then they are passed on, like all that come later.
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
            // What the program wrote before it answered comes before the verdict, which follows from the answer.
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
