//! Live repair and rules: a guard between agent and tools, which denies calls.
//!
//! What gave the guard decides which calls are denied and what the agent reads instead ([`Guard`]): the case, which
//! denies every call after which the run could no longer pass (the idea of the paper's section 7), or rules of the
//! user's. The guard never calls a tool by itself: tasks that an agent does not call stay undone.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planproof_suite::{BoxFuture, Decision, Guard, Restoring, Toolbox};
use planproof_trace::{Catalogue, Tool, ToolCall, ToolResult};

/// The tools of a run behind a guard.
pub(crate) struct GuardedTools {
    tools: Arc<dyn Toolbox>,
    state: Mutex<GuardState>,
    /// Locked until a call has ended, if the guard decides on one call after the other.
    turn: Option<tokio::sync::Mutex<()>>,
}

struct GuardState {
    guard: Box<dyn Guard>,
    calls: u64,
}

impl GuardedTools {
    pub(crate) fn new(tools: Arc<dyn Toolbox>, guard: Box<dyn Guard>) -> Self {
        let turn = guard.is_sequential().then(tokio::sync::Mutex::default);
        Self { tools, state: Mutex::new(GuardState { guard, calls: 0 }), turn }
    }

    fn state(&self) -> MutexGuard<'_, GuardState> {
        // A panic of a guard ends its run, and no other run has the same guard.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the call, and what is decided on it.
    fn decide(&self, call: &ToolCall) -> (u64, Decision) {
        let mut state = self.state();
        state.calls += 1;
        let number = state.calls;
        (number, state.guard.before(number, call))
    }

    /// The guard itself is never locked while a tool works.
    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let _turn = match &self.turn {
            Some(turn) => Some(turn.lock().await),
            None => None,
        };
        let (number, decision) = self.decide(call);
        let noted = match decision {
            Decision::Allow => Vec::new(),
            Decision::Note(rules) => rules,
            Decision::Deny(denial) => return denial.result(call),
        };
        let result = self.tools.execute(call).await;
        self.state().guard.after(number, call, &result);
        if noted.is_empty() { result } else { result.denied_by(noted) }
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
        self.turn.is_none() && self.tools.runs_side_by_side()
    }

    /// For a guard that waits for results, which call is right depends on the calls that ended before it began.
    fn is_strictly_sequential(&self) -> bool {
        self.turn.is_some() || self.tools.is_strictly_sequential()
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
