//! The commands, one module each.

pub(crate) mod bench;
pub(crate) mod campaign;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod doctor;
mod gate;
pub(crate) mod guard;
pub(crate) mod helper_model;
pub(crate) mod hook;
pub(crate) mod init;
pub(crate) mod man;
pub(crate) mod matrix;
pub(crate) mod models;
pub(crate) mod prompts;
pub(crate) mod recorded;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod score;
pub(crate) mod serve_media;
pub(crate) mod serve_model;
pub(crate) mod serve_tools;
pub(crate) mod shard;
pub(crate) mod spec;
pub(crate) mod tables;
pub(crate) mod test;
pub(crate) mod view;

pub(crate) mod tool_sources;

use crate::failure::Failure;
use crate::terminal;

/// Threads in addition to those of the runtime: the writer of the run store, the signals, and blocking work.
const THREADS_BESIDE: usize = 6;

/// Tokio's variable for the number of its workers.
const WORKERS_VARIABLE: &str = "TOKIO_WORKER_THREADS";

/// The async runtime of the commands that need one.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let workers = workers();
    must_have_threads(workers + THREADS_BESIDE)?;
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .map_err(|error| Failure::outside(format!("cannot start the async runtime: {error}")))
}

/// The number of workers: one for each processor, or fewer if [`WORKERS_VARIABLE`] says so. Tokio itself would panic at
/// 0 and at what is not a number, and would start any number of threads.
fn workers() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let asked = std::env::var(WORKERS_VARIABLE).ok().and_then(|text| text.parse::<usize>().ok());
    asked.map_or(processors, |asked| asked.clamp(1, processors))
}

/// Makes sure that this many threads are available: otherwise the runtime panics.
///
/// # Errors
/// The system does not provide that many.
fn must_have_threads(count: usize) -> Result<(), Failure> {
    let gate = std::sync::Mutex::new(());
    std::thread::scope(|scope| {
        // All of them must exist before one may end.
        let closed = gate.lock();
        let started = (0..count).try_for_each(|_| {
            std::thread::Builder::new().spawn_scoped(scope, || drop(gate.lock())).map(drop)
        });
        drop(closed);
        started
    })
    .map_err(|error| {
        Failure::outside(format!(
            "the system cannot start {count} threads ({error}): raise the process limit (`ulimit -u`), or end \
             other processes"
        ))
    })
}

/// The same on one thread, if tasks must start in order.
pub(crate) fn runtime_in_order() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::outside(format!("cannot start the async runtime: {error}")))
}

/// Writes a value as one line of JSON to stdout.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    use std::io::Write as _;
    let text = serde_json::to_string(value).map_err(|error| Failure::outside(error.to_string()))?;
    writeln!(terminal::json(), "{text}")?;
    Ok(())
}
