//! The async runtime, and the threads that it needs.

use crate::failure::Failure;

/// Threads in addition to those of the runtime: the writer of the run store, the signals, and blocking work.
const THREADS_BESIDE: usize = 6;

/// Tokio's variable for the number of its workers.
const WORKERS_VARIABLE: &str = "TOKIO_WORKER_THREADS";

/// The async runtime of the commands that need one.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
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
pub fn runtime_in_order() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::outside(format!("cannot start the async runtime: {error}")))
}
