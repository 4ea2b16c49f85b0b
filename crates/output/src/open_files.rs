//! The limit on open files: every run in flight has a connection, or a process with its pipes.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{allow_all, allow_runs, must_have_some};
#[cfg(windows)]
pub use windows::{allow_all, allow_runs, must_have_some};
