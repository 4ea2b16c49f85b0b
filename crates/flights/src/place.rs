//! Reads at a place of a file, and tells files apart, whatever the system calls that.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{identity, read_exact_at};
#[cfg(windows)]
pub(crate) use windows::{identity, read_exact_at};
