//! Live repair: a guard between agent and tools, which denies every call after which the run could not pass any more.
//! (The idea of the paper's section 7.)
//!
//! What is denied, and what the agent is told instead, is the case's to say ([`Guard`]). The guard never calls a tool
//! of its own accord: what an agent does not call at all stays undone.

use std::fmt;
use std::sync::Arc;

use planproof_suite::{BoxFuture, Decision, Guard, Toolbox};
use planproof_trace::{Tool, ToolCall, ToolResult};
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

    /// Whether a call is right depends on those before it, so the guard is held until the call has ended.
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

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.answer(call))
    }

    fn outage(&self) -> Option<String> {
        self.tools.outage()
    }

    fn runs_side_by_side(&self) -> bool {
        false
    }

    /// Which call is right depends on those that have ended before it began.
    fn is_strictly_sequential(&self) -> bool {
        true
    }
}

impl fmt::Debug for GuardedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardedTools").finish_non_exhaustive()
    }
}
