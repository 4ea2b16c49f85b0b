//! The sandbox of the tool `python`, which is this program in another role.

use std::sync::{Arc, OnceLock};

use planproof_everyday::SandboxSource;
use planproof_sandbox::Sandbox;

/// One sandbox, which is started when it is first needed.
pub fn sandbox() -> SandboxSource {
    let started: OnceLock<Arc<Sandbox>> = OnceLock::new();
    // A failure is not kept, so that the next call tries again. If two threads make a sandbox at the same time, one of
    // them is dropped.
    Arc::new(move || match started.get() {
        Some(sandbox) => Ok(Arc::clone(sandbox)),
        None => match crate::sandbox() {
            Ok(sandbox) => Ok(Arc::clone(started.get_or_init(|| Arc::new(sandbox)))),
            Err(failure) => Err(failure.describe()),
        },
    })
}
