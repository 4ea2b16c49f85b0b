//! Python that a model wrote, run where it can do no harm.
//!
//! [`Sandbox`] keeps a few worker processes. A worker interprets one program after the other with Pydantic's `monty`,
//! an interpreter that has no files, network, clock, environment or processes to give away, inside a process that has
//! itself given up what the system lets it give up. The only way out of a program are the [`Functions`] that the host
//! offers, usually the tools of a plan: a call suspends the program, and the host's result lets it go on.
//!
//! Whatever a program does is an [`Outcome`]; a [`SandboxError`] means that no worker could be had. The same program
//! with the same results of its calls has the same outcome, unless it is ended for time or memory: it sees neither a
//! clock nor randomness. What is supported, and what each limit is called, is said in `docs/sandbox.md`.
//!
//! # What is where
//!
//! What the caller says and hears: programs (`program.rs`), limits (`limits.rs`), functions (`functions.rs`), outcomes
//! (`outcome.rs`). The host's side: the pool (`sandbox.rs`), one worker process (`sandbox/process.rs`), a run on it
//! (`sandbox/conversation.rs`), and what its death means (`sandbox/death.rs`). The lines between both sides
//! (`protocol.rs`). The worker's side: its loop (`worker.rs`), what it gives up (`worker/confine.rs`), a run of the
//! interpreter (`worker/interpreter.rs`) and what is printed in it (`worker/printed.rs`), values across the boundary
//! (`worker/values.rs`), and what an exception means (`worker/classify.rs`).

mod functions;
mod outcome;
mod program;
mod protocol;
mod sandbox;

pub mod limits;
pub mod worker;

pub use functions::{Call, CallError, CallFuture, Functions, NoFunctions};
pub use limits::Limits;
pub use outcome::{End, Exception, Lack, Limit, Outcome, Returned};
pub use program::{Entry, Program};
pub use protocol::WORKER_ARGUMENT;
pub use sandbox::{Sandbox, SandboxError, WorkerCommand};
