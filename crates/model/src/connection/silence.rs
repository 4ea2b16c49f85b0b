//! How long a server may be silent.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::ModelError;
use crate::http::Endpoint;

/// The time in which a server has to say something of its reply. What flows may take its time: a slow machine writes
/// long replies, too.
pub(crate) struct Silence {
    deadline: Instant,
    limit: Duration,
}

impl Silence {
    /// A silence that begins now.
    pub(crate) fn begin(limit: Duration) -> Self {
        Self { deadline: Instant::now() + limit, limit }
    }

    /// The server has said something, so that a new silence begins.
    pub(crate) fn renew(&mut self) {
        self.deadline = Instant::now() + self.limit;
    }

    /// Bytes of a reply have come, whose framing is not known yet.
    pub(crate) fn renew_for(&mut self, bytes: &[u8]) {
        if says_something(bytes) {
            self.renew();
        }
    }

    /// Waits for the server.
    ///
    /// # Errors
    /// [`ModelError::TimedOut`] after a silence of the limit.
    pub(crate) async fn until<T>(
        &self,
        endpoint: &Endpoint,
        said: impl Future<Output = T>,
    ) -> Result<T, ModelError> {
        timeout_at(self.deadline, said)
            .await
            .map_err(|_| ModelError::TimedOut { url: endpoint.url().to_owned(), limit: self.limit })
    }
}

/// Whether bytes are more than marks that only keep the connection open: blanks before a document, and comments of a
/// stream. A comment that arrives in pieces counts, which only makes us wait for longer.
fn says_something(bytes: &[u8]) -> bool {
    // Most bytes are a document from its beginning or a part of one, which need not be searched for lines.
    if bytes.first().is_some_and(|byte| !byte.is_ascii_whitespace() && *byte != b':') {
        return true;
    }
    let mut lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.any(|line| !line.is_empty() && !line.starts_with(b":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_comments_say_nothing() {
        for nothing in [&b""[..], b"   ", b"\r\n\n\t", b": ping\n\n", b":\r\n : OPENROUTER PROCESSING\n"] {
            assert!(!says_something(nothing), "{}", String::from_utf8_lossy(nothing));
        }
        for something in [&b"{"[..], b" \n\"a", b": ping\n\ndata: {}\n", b"\xff"] {
            assert!(says_something(something), "{}", String::from_utf8_lossy(something));
        }
    }
}
