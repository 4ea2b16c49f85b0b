//! Windows, where nothing confines a worker, so that there is none.

use crate::limits::SandboxLimits;

/// A worker that has given up what it can, which none has here.
pub(in crate::worker) enum Confined {}

/// Gives nothing up: the worker refuses to run anything.
pub(in crate::worker) fn give_up() {}

/// Not available on this system.
pub(in crate::worker) fn confine(_: usize) -> Result<Confined, String> {
    Err("programs are run only where the system limits what they can do, and planproof has no such limits on Windows"
        .to_owned())
}

impl Confined {
    /// Sets what the next run may use.
    pub(in crate::worker) fn allow(&self, _: &SandboxLimits) -> Result<(), String> {
        match *self {}
    }
}
