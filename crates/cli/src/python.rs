//! The tool `python`, whose sandbox is this program in another role.

use std::sync::{Arc, OnceLock};

use planproof_everyday::{PythonTool, SandboxSource};
use planproof_sandbox::{Limits, Sandbox};
use planproof_tptu::MakeTools;

use crate::select;

/// The tool for the runs of a suite, over one sandbox that is started when it is first needed.
pub(crate) fn tools() -> MakeTools {
    let sandbox = sandbox();
    Arc::new(move |_| Ok(Arc::new(PythonTool::new(Arc::clone(&sandbox), Limits::default()))))
}

/// One sandbox, which is started when it is first needed.
pub(crate) fn sandbox() -> SandboxSource {
    let started: OnceLock<Arc<Sandbox>> = OnceLock::new();
    Arc::new(move || match started.get() {
        Some(sandbox) => Ok(Arc::clone(sandbox)),
        None => match select::sandbox() {
            Ok(sandbox) => Ok(Arc::clone(started.get_or_init(|| Arc::new(sandbox)))),
            Err(failure) => Err(failure.describe()),
        },
    })
}
