//! What a child process writes.

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};

/// Bytes kept of the end of stderr, and shown of the end of stdout.
const TAIL_BYTES: usize = 4 * 1024;

/// Longest rest of a word that is left out where the shown end of a text begins within it.
const WORD_BYTES_MAX: usize = 1024;

/// Bytes asked for in one read.
const READ_BYTES: usize = 8 * 1024;

/// What a process writes: all of its stdout and the end of its stderr, within a limit on both together.
pub(crate) struct Output {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    answer: Vec<u8>,
    stderr_tail: Vec<u8>,
    bytes: u64,
    bytes_max: u64,
}

impl Output {
    pub(crate) fn new(stdout: Option<ChildStdout>, stderr: Option<ChildStderr>, bytes_max: u64) -> Self {
        Self { stdout, stderr, answer: Vec::new(), stderr_tail: Vec::new(), bytes: 0, bytes_max }
    }

    /// Reads until both streams have ended or the limit is passed. May be dropped and called again at any point
    /// without losing a byte.
    pub(crate) async fn read(&mut self) {
        while !self.is_too_much() && (self.stdout.is_some() || self.stderr.is_some()) {
            self.read_once().await;
        }
    }

    /// Takes the next line from stdout, without its line ending. `None` if stdout ends first, or the limit is
    /// exceeded. May be dropped and called again at any point without losing a byte.
    pub(crate) async fn line(&mut self) -> Option<Vec<u8>> {
        // No byte is searched twice, so a long line takes linear time.
        let mut searched = 0;
        loop {
            if let Some(place) = self.answer[searched..].iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.answer.drain(..=searched + place).collect();
                line.pop();
                return Some(line);
            }
            searched = self.answer.len();
            if self.is_too_much() || self.stdout.is_none() {
                return None;
            }
            self.read_once().await;
        }
    }

    /// Restarts the count with this limit, and forgets the end of stderr. Bytes of stdout after the last line are
    /// kept.
    pub(crate) fn begin_anew(&mut self, bytes_max: u64) {
        self.stderr_tail.clear();
        (self.bytes, self.bytes_max) = (0, bytes_max);
    }

    /// Whether stdout is still open, and nothing of it is left after the last line.
    pub(crate) fn is_quiet(&self) -> bool {
        self.stdout.is_some() && self.answer.is_empty()
    }

    async fn read_once(&mut self) {
        let count = tokio::select! {
            count = read_some(&mut self.stdout, &mut self.answer) => count,
            count = read_some(&mut self.stderr, &mut self.stderr_tail) => count,
        };
        self.bytes = self.bytes.saturating_add(count);
        if self.stderr_tail.len() > 4 * TAIL_BYTES {
            // More than is shown, so that a cut at the beginning can be noticed.
            self.stderr_tail.drain(..self.stderr_tail.len() - 2 * TAIL_BYTES);
        }
    }

    /// Whether the output exceeded the limit.
    pub(crate) fn is_too_much(&self) -> bool {
        self.bytes > self.bytes_max
    }

    /// All of stdout, trimmed. Invalid UTF-8 is replaced by U+FFFD.
    pub(crate) fn answer(&self) -> String {
        String::from_utf8_lossy(&self.answer).trim().to_owned()
    }

    /// The last 4 KiB of stderr, trimmed.
    pub(crate) fn stderr_tail(&self) -> String {
        tail(&self.stderr_tail)
    }

    /// The last 4 KiB of stdout, trimmed.
    pub(crate) fn stdout_tail(&self) -> String {
        tail(&self.answer)
    }
}

/// The end of the output. A word that is cut is left out: half of a key would no longer be recognised as one.
fn tail(written: &[u8]) -> String {
    let Some(cut) = written.len().checked_sub(TAIL_BYTES).filter(|cut| *cut > 0) else {
        return String::from_utf8_lossy(written).trim().to_owned();
    };
    let is_within_word = !written[cut - 1].is_ascii_whitespace();
    let rest = &written[cut..];
    let word = rest.iter().take_while(|byte| is_within_word && !byte.is_ascii_whitespace()).count();
    // A word of this length is not a key, and more useful than nothing.
    let rest = if word > WORD_BYTES_MAX { rest } else { &rest[word..] };
    String::from_utf8_lossy(rest).trim().to_owned()
}

/// Appends the bytes of one read, and drops the stream at its end. Never ready without a stream.
async fn read_some<R: AsyncRead + Unpin>(stream: &mut Option<R>, into: &mut Vec<u8>) -> u64 {
    let Some(open) = stream else { return std::future::pending().await };
    into.reserve(READ_BYTES);
    match open.read_buf(into).await {
        Ok(count) if count > 0 => count as u64,
        // A pipe that can no longer be read has nothing more to offer.
        _ => {
            *stream = None;
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_begins_with_a_whole_word() {
        let shown = |text: &str| tail(text.as_bytes());
        let end = "x ".repeat(TAIL_BYTES / 2 - 4);
        assert_eq!(shown(&end), end.trim());
        assert_eq!(
            shown(&format!("a key is sk-0123456789 {end}")),
            end.trim(),
            "its last bytes are within the cut"
        );
        assert_eq!(shown(&format!("a key is 0123 {end}")), format!("is 0123 {}", end.trim()));
        assert_eq!(shown(&"y".repeat(2 * TAIL_BYTES)).len(), TAIL_BYTES);
    }
}
