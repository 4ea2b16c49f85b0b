//! Messages over the stdin and stdout of a program, one per line.

use std::io;
use std::sync::{Arc, Mutex as StdMutex, OnceLock, PoisonError};

use bytes::{Bytes, BytesMut};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;

use super::message::{self, MESSAGE_BYTES_MAX};

/// Bytes asked for in one read.
const READ_BYTES: usize = 16 * 1024;

/// What [`LineReader::next`] gives.
#[derive(Debug)]
pub enum Line {
    /// A line without its end.
    Whole(Bytes),
    /// The kept length of an overlong line.
    Piece(Bytes),
    /// There is no more.
    End,
}

/// Splits a stream into lines of at most `bytes_max` bytes.
#[derive(Debug)]
pub struct LineReader<R> {
    stream: R,
    buffer: BytesMut,
    /// Bytes of the buffer that hold no end of a line.
    searched: usize,
    bytes_max: usize,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Splits this stream.
    pub fn new(stream: R, bytes_max: usize) -> Self {
        Self { stream, buffer: BytesMut::new(), searched: 0, bytes_max }
    }

    /// The next line. May be dropped and called again without losing a byte.
    pub async fn next(&mut self) -> Line {
        loop {
            let found = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n');
            let end = found.map(|found| self.searched + found);
            if end.unwrap_or(self.buffer.len()) > self.bytes_max {
                self.searched = 0;
                return Line::Piece(self.buffer.split_to(self.bytes_max).freeze());
            }
            if let Some(end) = end {
                let mut line = self.buffer.split_to(end + 1);
                line.truncate(end);
                self.searched = 0;
                return Line::Whole(line.freeze());
            }
            // Remembered across calls, so that no byte is searched twice, in however small pieces a long line arrives.
            self.searched = self.buffer.len();
            self.buffer.reserve(READ_BYTES);
            // A read that is dropped has taken nothing from the stream, so `next` can be dropped, too.
            match self.stream.read_buf(&mut self.buffer).await {
                Ok(count) if count > 0 => {}
                // A pipe that can no longer be read has nothing more to offer.
                _ if self.buffer.is_empty() => return Line::End,
                _ => {
                    self.searched = 0;
                    return Line::Whole(self.buffer.split().freeze());
                }
            }
        }
    }
}

/// What is wrong with the lines of a program's stdout.
#[derive(Debug, Clone, Default)]
pub(super) struct StdoutFaults {
    stray: Arc<StdMutex<Option<String>>>,
    /// Why no further line is read.
    ended_by: Arc<OnceLock<String>>,
}

impl StdoutFaults {
    fn note(&self, line: &[u8]) {
        let mut stray = self.stray.lock().unwrap_or_else(PoisonError::into_inner);
        stray.get_or_insert_with(|| String::from_utf8_lossy(line).trim_end().to_owned());
    }

    /// The first line that was not a message, if there was one: it shows that a program is not a tool server.
    pub(super) fn stray(&self) -> Option<String> {
        self.stray.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why the program is not listened to any more, if that is not because it has ended.
    pub(super) fn ended_by(&self) -> Option<String> {
        self.ended_by.get().cloned()
    }
}

/// The protocol over a program's stdin and stdout.
pub(super) struct LineTransport<R = ChildStdout, W = ChildStdin> {
    lines: LineReader<R>,
    stdin: Arc<Mutex<Option<W>>>,
    faults: StdoutFaults,
    /// The newer protocol's first request, while its answer is pending.
    asked: Option<RequestId>,
    /// The same, after it was given up and the older protocol's handshake sent. A program that takes long to start
    /// answers both, and the client would take the first answer for that of the handshake.
    given_up: Option<RequestId>,
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    pub(super) fn new(stdout: R, stdin: W, faults: StdoutFaults) -> Self {
        let lines = LineReader::new(stdout, MESSAGE_BYTES_MAX);
        Self { lines, stdin: Arc::new(Mutex::new(Some(stdin))), faults, asked: None, given_up: None }
    }

    /// Keeps in mind what is asked.
    fn note(&mut self, message: &ClientJsonRpcMessage) {
        let JsonRpcMessage::Request(request) = message else { return };
        match request.request {
            ClientRequest::DiscoverRequest(_) => self.asked = Some(request.id.clone()),
            ClientRequest::InitializeRequest(_) => self.given_up = self.asked.take(),
            _ => {}
        }
    }

    /// Whether nobody waits for this answer any more.
    fn is_late(&self, message: &ServerJsonRpcMessage) -> bool {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        id.is_some() && id == self.given_up.as_ref()
    }

    /// The message on a line; `None` if the line is to be ignored.
    fn message(&self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        let message = message::read(line);
        if message.is_none() {
            self.faults.note(line);
        }
        message
    }
}

impl<R, W> Transport<RoleClient> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.note(&message);
        // The future must not borrow the transport, which receives while it is sending.
        let stdin = Arc::clone(&self.stdin);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            // A program that is gone is detected on reading, after its last output.
            if let Some(stdin) = stdin.lock().await.as_mut()
                && stdin.write_all(&line).await.is_ok()
            {
                let _ = stdin.flush().await;
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            match self.lines.next().await {
                // Whose request waits for one of its messages is not looked for.
                Line::Whole(line) if message::is_batch(&line) => {
                    let _ = self.faults.ended_by.set(message::BATCH.to_owned());
                    return None;
                }
                Line::Whole(line) => {
                    if let Some(message) = self.message(&line)
                        && !self.is_late(&message)
                    {
                        return Some(message);
                    }
                }
                // The request of this answer is unknown, so the only way to inform the caller is to end the
                // connection.
                Line::Piece(_) => {
                    let what = format!("a message of it is longer than {MESSAGE_BYTES_MAX} bytes");
                    let _ = self.faults.ended_by.set(what);
                    return None;
                }
                Line::End => return None,
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.stdin.lock().await.take();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8], bytes_max: usize) -> Vec<String> {
        let mut reader = LineReader::new(text, bytes_max);
        let mut seen = Vec::new();
        loop {
            let (mark, bytes) = match reader.next().await {
                Line::Whole(bytes) => ("", bytes),
                Line::Piece(bytes) => ("+", bytes),
                Line::End => return seen,
            };
            seen.push(format!("{}{mark}", String::from_utf8_lossy(&bytes)));
        }
    }

    #[tokio::test]
    async fn a_stream_is_split_into_lines() {
        assert_eq!(lines(b"", 9).await, [""; 0]);
        assert_eq!(lines(b"a\n\nbc", 9).await, ["a", "", "bc"]);
        assert_eq!(lines(b"abcdef\ng\n", 9).await, ["abcdef", "g"]);
        assert_eq!(lines(b"abcdefghi\nabcdefghij\n", 9).await, ["abcdefghi", "abcdefghi+", "j"]);
        assert_eq!(lines(&[b'a'; 20], 9).await, ["aaaaaaaaa+", "aaaaaaaaa+", "aa"]);
        let piece = format!("{}+", "a".repeat(READ_BYTES));
        let last = &piece[..READ_BYTES];
        assert_eq!(lines(&[b'a'; 3 * READ_BYTES], READ_BYTES).await, [&piece, &piece, last]);
    }

    #[tokio::test]
    async fn a_late_answer_to_the_first_question_is_passed_over() {
        let request = |method: &str, id: u32| -> ClientJsonRpcMessage {
            let params = serde_json::json!({"protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "n", "version": "1"}});
            let request = serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            serde_json::from_value(request).unwrap()
        };
        let refusal = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"what?"}}"#;
        let greeting = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        for (is_given_up, first_id) in [(false, 0), (true, 1)] {
            let text = format!("{refusal}\n{greeting}\n");
            let mut transport = LineTransport::new(text.as_bytes(), Vec::new(), StdoutFaults::default());
            transport.send(request("server/discover", 0)).await.unwrap();
            if is_given_up {
                transport.send(request("initialize", 1)).await.unwrap();
            }
            let id = match transport.receive().await {
                Some(JsonRpcMessage::Error(error)) => error.id,
                Some(JsonRpcMessage::Response(response)) => Some(response.id),
                _ => None,
            };
            assert_eq!(id, Some(RequestId::Number(first_id)));
        }
    }
}
