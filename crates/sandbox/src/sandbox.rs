//! The host's side: a pool of workers.

mod conversation;
mod death;
mod process;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use thiserror::Error;
use tokio::sync::Semaphore;

use crate::functions::Functions;
use crate::limits::SandboxLimits;
use crate::outcome::{Limit, ProgramEnd, ProgramOutcome};
use crate::program::Program;
use crate::protocol::{Run, WORKER_ARGUMENT};
use conversation::Talk;
use process::Worker;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Programs that a worker runs before it is replaced, so that leaks cannot accumulate for long.
const RUNS_PER_WORKER_MAX: u32 = 1000;

/// How a worker is started: a program that calls [`worker::main`](crate::worker::main).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCommand {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
}

impl WorkerCommand {
    /// This program again, with [`WORKER_ARGUMENT`], which it must pass to [`worker::main`](crate::worker::main).
    ///
    /// # Errors
    /// The system does not report which program this is.
    pub fn this_program() -> io::Result<Self> {
        let program = if cfg!(target_os = "linux") {
            // Stays right when the file is replaced by a new build while a campaign runs.
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe()?
        };
        Ok(Self { program, arguments: vec![WORKER_ARGUMENT.into()] })
    }
}

/// Why no worker was available. This is never a program's fault.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// The system does not start it.
    #[error("the Python worker {} cannot be started: {source}", program.display())]
    Start { program: PathBuf, source: io::Error },
    /// It was started, and is not a worker.
    #[error("the Python worker {} does not get ready: {how}", program.display())]
    NotReady {
        program: PathBuf,
        /// What it did instead.
        how: String,
    },
}

/// Worker processes that run programs, each one after the other. A worker is used again only after a program that
/// ended normally; otherwise it is killed, and the next program gets a new one. Dropping the sandbox kills them all;
/// dropping a run kills its worker.
///
/// It belongs to the Tokio runtime in which it is first used.
#[derive(Debug)]
pub struct Sandbox {
    command: WorkerCommand,
    places: Semaphore,
    idle: Mutex<Vec<Worker>>,
}

impl Sandbox {
    /// A sandbox of at most `workers` processes, at least one. They are started when they are needed.
    pub fn new(command: WorkerCommand, workers: usize) -> Self {
        let places = Semaphore::new(workers.clamp(1, Semaphore::MAX_PERMITS));
        Self { command, places, idle: Mutex::default() }
    }

    /// Starts a worker, unless one is idle, so that the first program need not wait and a failure to start one is
    /// noticed early.
    ///
    /// # Errors
    /// No worker can be had.
    pub async fn warm_up(&self) -> Result<(), SandboxError> {
        let _place = self.place().await;
        let worker = match self.idle_worker() {
            Some(worker) => worker,
            None => Worker::start(&self.command).await?,
        };
        self.put_back(worker);
        Ok(())
    }

    /// Runs a program. Waits for a worker if all are busy. Costs about a tenth of a millisecond in a warm worker, in
    /// addition to the program itself.
    ///
    /// # Errors
    /// No worker is available. Everything that the program does is an outcome.
    pub async fn run(
        &self,
        program: &Program,
        functions: &dyn Functions,
        limits: &SandboxLimits,
    ) -> Result<ProgramOutcome, SandboxError> {
        let limits = limits.within_maxima();
        // Both checks come before a worker is taken: such a program needs none.
        if let Some(found) = program.refused() {
            return Ok(not_run(ProgramEnd::Refused { found: found.to_owned() }));
        }
        if program.text.len() > limits.program_bytes {
            return Ok(not_run(ProgramEnd::Limit(Limit::ProgramBytes)));
        }
        let run = Run {
            program: program.text.clone(),
            entry: program.entry.clone(),
            functions: functions.names(),
            limits,
        };
        let _place = self.place().await;
        let worker = match self.idle_worker() {
            Some(worker) => worker,
            None => Worker::start(&self.command).await?,
        };
        let mut talk = Talk::new(functions, run);
        let mut end = self.hold(&mut talk, worker).await;
        // An idle worker may have been killed before it got the program. If the program is the cause, it will happen
        // again.
        if matches!(end, ProgramEnd::Crashed { .. }) && !talk.was_answered() {
            end = self.hold(&mut talk, Worker::start(&self.command).await?).await;
        }
        Ok(talk.outcome(end))
    }

    /// Runs the program on this worker, and keeps the worker only after a normal end.
    async fn hold(&self, talk: &mut Talk<'_>, mut worker: Worker) -> ProgramEnd {
        match talk.hold(&mut worker).await {
            Ok(end @ ProgramEnd::Finished { .. }) => {
                self.put_back(worker);
                end
            }
            Ok(end) => {
                worker.kill().await;
                end
            }
            Err(break_off) => death::end(worker, break_off).await,
        }
    }

    async fn place(&self) -> tokio::sync::SemaphorePermit<'_> {
        self.places.acquire().await.expect("the semaphore is never closed")
    }

    fn idle_worker(&self) -> Option<Worker> {
        loop {
            let mut worker = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
            // A worker that died while it was idle is simply dropped.
            if worker.is_alive() {
                return Some(worker);
            }
        }
    }

    fn put_back(&self, worker: Worker) {
        if worker.runs < RUNS_PER_WORKER_MAX {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        }
    }
}

fn not_run(end: ProgramEnd) -> ProgramOutcome {
    ProgramOutcome { end, printed: String::new(), calls: 0 }
}
