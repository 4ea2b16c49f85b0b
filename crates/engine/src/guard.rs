//! Live repair: a guard between agent and tools, which denies every call after which the run could no longer pass.
//! (The idea of the paper's section 7.)
//!
//! The case decides which calls are denied and what the agent reads instead ([`Guard`]). The guard never calls a tool
//! by itself: tasks that an agent does not call stay undone.

use std::fmt;
use std::sync::Arc;

use planproof_suite::{BoxFuture, Decision, Guard, Restoring, Toolbox};
use planproof_trace::{Catalogue, Tool, ToolCall, ToolResult};
use tokio::sync::Mutex;

/// The tools of a run behind a guard.
pub(crate) struct GuardedTools {
    tools: Arc<dyn Toolbox>,
    guard: Mutex<Box<dyn Guard>>,
}

impl GuardedTools {
    pub(crate) fn new(tools: Arc<dyn Toolbox>, guard: Box<dyn Guard>) -> Self {
        Self { tools, guard: Mutex::new(guard) }
    }

    /// Whether a call is right depends on earlier calls, so the guard is locked until the call has ended.
    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let mut guard = self.guard.lock().await;
        if let Decision::Deny(why) = guard.before(call) {
            return ToolResult::held_back(call.id.clone(), why);
        }
        let result = self.tools.execute(call).await;
        guard.after(call, result.is_error);
        result
    }
}

impl Toolbox for GuardedTools {
    fn tools(&self) -> &Arc<[Tool]> {
        self.tools.tools()
    }

    fn made(&self) -> Vec<Tool> {
        self.tools.made()
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.answer(call))
    }

    fn catalogue(&self) -> Option<&Arc<Catalogue>> {
        self.tools.catalogue()
    }

    fn outage(&self) -> Option<String> {
        self.tools.outage()
    }

    fn plan_form(&self) -> Option<&'static str> {
        self.tools.plan_form()
    }

    fn runs_side_by_side(&self) -> bool {
        false
    }

    /// Which call is right depends on the calls that ended before it began.
    fn is_strictly_sequential(&self) -> bool {
        true
    }

    /// Calls have to be made again at least for the guard, which comes to know again what was done.
    fn restoring(&self) -> Restoring {
        self.tools.restoring().max(Restoring::Again)
    }

    /// Nothing: a guard belongs to one run, and each run makes its own.
    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        None
    }
}

impl fmt::Debug for GuardedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardedTools").finish_non_exhaustive()
    }
}
