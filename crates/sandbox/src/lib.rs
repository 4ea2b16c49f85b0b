//! A model's Python code, run where it can do no harm.
//!
//! [`Sandbox`] keeps a few worker processes. A worker interprets one program after the other with Pydantic's `monty`,
//! an interpreter without files, network, clock, environment or processes, inside a process that has given up every
//! privilege the system lets it give up. A program's only way out is the [`Functions`] that the host offers, usually
//! the tools of a plan: a call suspends the program, and the host's result resumes it.
//!
//! Everything that a program does is an [`ProgramOutcome`]; a [`SandboxError`] means that no worker was available.
//! The same program with the same results of its calls has the same outcome, unless it is ended for time or memory:
//! it sees neither a clock nor randomness. `docs/sandbox.md` describes the supported features and the names of the
//! limits.
//!
//! # Module layout
//!
//! The caller's side: programs (`program.rs`), limits (`limits.rs`), functions (`functions.rs`), outcomes
//! (`outcome.rs`). The host's side: the pool (`sandbox.rs`), one worker process (`sandbox/process.rs`), a run on it
//! (`sandbox/conversation.rs`), and the meaning of its death (`sandbox/death.rs`). The lines between both sides
//! (`protocol.rs`). The worker's side: its loop (`worker.rs`), its confinement (`worker/confine.rs`), a run of the
//! interpreter (`worker/interpreter.rs`) with its output (`worker/printed.rs`), values across the boundary
//! (`worker/values.rs`), and the meaning of an exception (`worker/classify.rs`).

mod functions;
mod outcome;
mod program;
mod protocol;
mod sandbox;

pub mod limits;
pub mod worker;

pub use functions::{CallError, CallFuture, Functions, NoFunctions, ProgramCall};
pub use limits::SandboxLimits;
pub use outcome::{Exception, Lack, Limit, ProgramEnd, ProgramOutcome, Returned};
pub use program::{Entry, Program};
pub use protocol::WORKER_ARGUMENT;
pub use sandbox::{Sandbox, SandboxError, WorkerCommand};
