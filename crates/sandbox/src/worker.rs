//! The worker's side: a process that runs the given programs, one after the other, until its input ends.

mod classify;
mod confine;
mod interpreter;
mod printed;
mod values;

use std::io::{self, BufRead, Write};
use std::process;
use std::thread;

use crate::protocol::{FromWorker, ToWorker};

/// Exit status of a worker whose host violates the protocol, or has gone.
const EXIT_HOST: i32 = 3;
/// Exit status of a worker that cannot confine itself, and so runs no program.
const EXIT_UNCONFINED: i32 = 4;
/// Exit status of a worker whose interpreter panicked.
const EXIT_PANIC: i32 = 101;

/// Stack of the interpreting thread, in bytes. Only the used part takes memory. It is several times what nesting in a
/// program of [`PROGRAM_BYTES_MAX`](crate::limits::PROGRAM_BYTES_MAX) bytes and in its values requires.
const STACK_BYTES: usize = 128 * 1024 * 1024;

/// Runs as a worker: reads programs from stdin and answers on stdout until stdin ends. It never returns. Call it
/// before anything else is set up: it gives up the process's files, memory and rights.
pub fn main() -> ! {
    confine::give_up();
    let worker = thread::Builder::new().name("python".into()).stack_size(STACK_BYTES).spawn(serve);
    let status = match worker.map(thread::JoinHandle::join) {
        Ok(Ok(status)) => status,
        Ok(Err(_)) => EXIT_PANIC,
        Err(error) => {
            complain(&format!("there is no room for its stack: {error}"));
            EXIT_UNCONFINED
        }
    };
    process::exit(status);
}

fn serve() -> i32 {
    let confined = match confine::confine(STACK_BYTES) {
        Ok(confined) => confined,
        Err(why) => {
            complain(&why);
            return EXIT_UNCONFINED;
        }
    };
    let mut host = Host { input: io::stdin().lock(), output: io::stdout().lock(), line: Vec::new() };
    match serve_host(&mut host, &confined) {
        Ok(()) => 0,
        Err(error) => {
            complain(&error.to_string());
            EXIT_HOST
        }
    }
}

/// Reports on stderr why there is no worker. The host shows it.
fn complain(why: &str) {
    let _ = writeln!(io::stderr(), "{why}");
}

fn serve_host(host: &mut Host<'_>, confined: &confine::Confined) -> io::Result<()> {
    host.say(&FromWorker::Ready)?;
    while let Some(message) = host.hear()? {
        let ToWorker::Run(run) = message else {
            return Err(io::Error::other("the host answers a call that was not made"));
        };
        confined.allow(&run.limits).map_err(io::Error::other)?;
        let (end, printed) = interpreter::run(*run, host)?;
        host.say(&FromWorker::Ended { end, printed })?;
    }
    Ok(())
}

/// The host as the worker sees it.
struct Host<'a> {
    input: io::StdinLock<'a>,
    output: io::StdoutLock<'a>,
    line: Vec<u8>,
}

impl Host<'_> {
    fn say(&mut self, message: &FromWorker) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, message)?;
        self.line.push(b'\n');
        self.output.write_all(&self.line)?;
        self.output.flush()
    }

    /// The next line; none at the end of the input.
    fn hear(&mut self) -> io::Result<Option<ToWorker>> {
        self.line.clear();
        if self.input.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        Ok(Some(serde_json::from_slice(&self.line)?))
    }

    /// Has a call made, and waits for what comes of it.
    fn call(&mut self, call: &FromWorker) -> io::Result<ToWorker> {
        self.say(call)?;
        self.hear()?.ok_or_else(|| io::Error::other("the host went away during a call"))
    }
}
