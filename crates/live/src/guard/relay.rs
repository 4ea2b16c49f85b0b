//! The two directions of a guarded session. Stdout belongs to the protocol: bytes of the server, and answers of the
//! guard, which `planproof-guard` makes.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::time::Duration;

use planproof_guard::{FromClient, LINE_BYTES_MAX, McpGuard, Then};
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::layout::counted;
use planproof_output::terminal::inline;
use planproof_output::{progress, tell};
use planproof_tools::mcp::standard_streams;
use planproof_tools::process::ProcessGroup;
use planproof_tools::{Line, LineReader};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::log_file::{LogFile, Unwritten};
use super::said::refused;
use super::server_stderr::ServerStderr;
use super::shared::{self, Place, Shared};
use planproof_output::print::Printing;

/// How long a server has to end after its stdin has, before it is asked to.
const LEAVING_MAX: Duration = Duration::from_secs(5);

/// How long a server may take to be gone after it has closed its stdout.
const EXIT_MAX: Duration = Duration::from_secs(1);

/// Why a session ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The client wants no more, or is gone.
    Client,
    /// The server wants no more, or is gone.
    Server,
}

/// A session between a client, on our stdin and stdout, and a server.
pub(super) struct Relay {
    guard: RefCell<McpGuard>,
    log: RefCell<Option<LogFile>>,
    shared: RefCell<Option<(Shared, Place)>>,
    printing: Printing,
    /// One line at a time, whoever writes it.
    out: Mutex<Box<dyn AsyncWrite + Send + Unpin>>,
    client: RefCell<Option<Box<dyn AsyncRead + Send + Unpin>>>,
    has_lost_results: Cell<bool>,
}

impl Relay {
    /// A session that has not begun. Needs a Tokio runtime.
    pub(super) fn new(
        guard: McpGuard,
        log: Option<LogFile>,
        shared: Option<(Shared, Place)>,
        printing: Printing,
    ) -> Self {
        let (client, out) = standard_streams();
        Self {
            guard: RefCell::new(guard),
            log: RefCell::new(log),
            shared: RefCell::new(shared),
            printing,
            out: Mutex::new(Box::new(out)),
            client: RefCell::new(Some(Box::new(client))),
            has_lost_results: Cell::new(false),
        }
    }

    /// Relays until one side ends, or until `stop`. The server is gone afterwards.
    ///
    /// # Errors
    /// The server ended by itself.
    pub(super) async fn run(
        self,
        mut group: ProcessGroup,
        stop: impl Future<Output = ()>,
    ) -> Result<ExitCode, Failure> {
        let (Some(to_server), Some(from_server), stderr) = group.take_streams() else {
            return Err(Failure::outside("the server has no stdin and stdout"));
        };
        let stderr = ServerStderr::follow(stderr);
        let mut stop = pin!(stop);
        let end = {
            let mut to_client = pin!(self.to_client(from_server));
            let end = tokio::select! {
                biased;
                () = &mut stop => End::Client,
                () = self.to_server(to_server) => {
                    // The server knows by now: its stdin has ended. What it still says is passed on.
                    tokio::select! {
                        _ = timeout(LEAVING_MAX, &mut to_client) => {}
                        () = &mut stop => {}
                    }
                    End::Client
                }
                end = &mut to_client => end,
            };
            end
        };
        let ended = match end {
            End::Client => Ok(ExitCode::Passed),
            End::Server => {
                let status = match timeout(EXIT_MAX, group.leader_exit()).await {
                    Ok(Ok(status)) => format!(" ({status})"),
                    _ => String::new(),
                };
                let pending = match self.guard.borrow().pending() {
                    0 => String::new(),
                    count => format!("; {} had no result yet", counted(count, "call")),
                };
                Err(Failure::outside(format!("the guarded server ended by itself{status}{pending}")))
            }
        };
        group.terminate().await;
        stderr.end().await;
        let last = self.guard.borrow_mut().last_lines();
        self.log_results(&last);
        let guard = self.guard.into_inner();
        for rule in guard.unsatisfied() {
            progress::say(
                self.printing.quiet,
                &format!("guard: not satisfied when the session ended: {}", inline(&rule)),
            );
        }
        if let Some(log) = &mut self.log.into_inner() {
            let ended = log.append(&guard.end_line(), Unwritten::Owed);
            if let Some(why) = log.close().or(ended.err()) {
                tell!("warning: {}", inline(&why));
            }
        }
        ended
    }

    /// Passes on what the client says, until it says no more.
    async fn to_server(&self, mut server: ChildStdin) {
        let Some(client) = self.client.take() else { return };
        let mut lines = LineReader::new(client, LINE_BYTES_MAX);
        // Whether we are within a line that is too long, and whether that is passed on.
        let mut long = None;
        loop {
            match lines.next().await {
                Line::End => return,
                Line::Piece(piece) => {
                    let passes = match long {
                        Some(passes) => passes,
                        None => {
                            let heard = self.too_long();
                            self.settle(heard).await
                        }
                    };
                    long = Some(passes);
                    if passes {
                        send(&mut server, &piece).await;
                    }
                }
                Line::Whole(line) => {
                    let passes = match long.take() {
                        Some(passes) => passes,
                        None => {
                            let heard = self.hear(&line);
                            self.settle(heard).await
                        }
                    };
                    if passes {
                        send(&mut server, &with_end(&line)).await;
                    }
                }
            }
        }
    }

    /// Decides on a line of the client, with the history of the session where it is shared, and logs the decision.
    fn hear(&self, line: &[u8]) -> FromClient {
        let mut shared = self.shared.borrow_mut();
        let shared = shared.as_mut().map(|(shared, place)| (shared, place));
        shared::heard(shared, &mut self.guard.borrow_mut(), line, &mut |line, unwritten| {
            self.append(line, unwritten)
        })
    }

    /// Decides on a line that is too long, and logs that.
    fn too_long(&self) -> FromClient {
        let mut guard = self.guard.borrow_mut();
        let heard = guard.too_long();
        shared::logged(&mut guard, heard, 0, &mut |line, unwritten| self.append(line, unwritten))
    }

    /// Writes a decision to the log, or warns.
    fn append(&self, line: &str, unwritten: Unwritten) -> Result<(), String> {
        let mut log = self.log.borrow_mut();
        let appended = log.as_mut().map_or(Ok(()), |log| log.append(line, unwritten));
        appended.inspect_err(|why| tell!("warning: {}", inline(why)))
    }

    /// Takes a line of the server, and gives the lines of the log about the results in it.
    fn learn(&self, line: &[u8]) -> Vec<String> {
        let mut shared = self.shared.borrow_mut();
        let shared = shared.as_mut().map(|(shared, place)| (shared, place));
        shared::learnt(shared, &mut self.guard.borrow_mut(), line)
    }

    /// Takes a line of the server that is too long to be read, and gives the lines of the log about it.
    fn unread(&self) -> Vec<String> {
        let mut shared = self.shared.borrow_mut();
        let shared = shared.as_mut().map(|(shared, place)| (shared, place));
        shared::unread(shared, &mut self.guard.borrow_mut())
    }

    /// Answers where a line does not pass. Gives whether it does.
    async fn settle(&self, heard: FromClient) -> bool {
        if let Some(reason) = &heard.reason {
            let about = self.guard.borrow().about(&heard);
            progress::say(self.printing.quiet, &refused(heard.then != Then::Pass, &about, reason));
        }
        match heard.then {
            Then::Pass => true,
            Then::Drop => false,
            Then::Answer(answer) => {
                let mut out = self.out.lock().await;
                // A client that is gone ends the session by its stdin.
                let _ = write(&mut *out, &with_end(answer.as_bytes())).await;
                false
            }
        }
    }

    /// Passes on what the server says, until it says no more.
    async fn to_client(&self, server: ChildStdout) -> End {
        let mut lines = LineReader::new(server, LINE_BYTES_MAX);
        // Kept over the pieces of one line.
        let mut out = None;
        loop {
            let (bytes, is_whole) = match lines.next().await {
                Line::End => return End::Server,
                Line::Piece(piece) => {
                    if out.is_none() {
                        self.log_results(&self.unread());
                    }
                    (piece.to_vec(), false)
                }
                Line::Whole(line) => {
                    // Before the client can build on them.
                    let results = if out.is_none() { self.learn(&line) } else { Vec::new() };
                    self.log_results(&results);
                    for notice in self.guard.borrow_mut().notices() {
                        tell!("warning: guard: {}", inline(&notice));
                    }
                    (with_end(&line), true)
                }
            };
            let mut held = match out.take() {
                Some(held) => held,
                None => self.out.lock().await,
            };
            if write(&mut *held, &bytes).await.is_err() {
                return End::Client;
            }
            out = (!is_whole).then_some(held);
        }
    }

    fn log_results(&self, results: &[String]) {
        let mut log = self.log.borrow_mut();
        let Some(log) = log.as_mut() else { return };
        for line in results {
            if let Err(why) = log.append(line, Unwritten::Owed)
                && !self.has_lost_results.replace(true)
            {
                tell!("warning: {}; results are missing there until it can", inline(&why));
            }
        }
    }
}

/// A line with its end, to be written at once.
fn with_end(line: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(line.len() + 1);
    bytes.extend_from_slice(line);
    bytes.push(b'\n');
    bytes
}

/// A server that is gone is noticed at its stdout, after its last words.
async fn send(server: &mut ChildStdin, bytes: &[u8]) {
    let _ = write(server, bytes).await;
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> std::io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}
