//! The privileges that a worker gives up before it runs anything, and the system's limits on it.
//!
//! The interpreter gives a program no access to any of this. These are additional walls, in case it has a hole.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::{Confined, confine, give_up};
#[cfg(windows)]
pub(super) use windows::{Confined, confine, give_up};
