//! Reads at a place of a file, whatever the system calls that.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::read_exact_at;
#[cfg(windows)]
pub(crate) use windows::read_exact_at;
