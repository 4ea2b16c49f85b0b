//! Tools behind rules: a call that would violate one is denied, and the agent reads why.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planproof_guard::{RunGuard, RunRules};
use planproof_spec::rules::RuleSet;
use planproof_suite::{BoxFuture, Decision, Guard as _, Restoring, Toolbox};
use planproof_trace::{Catalogue, Tool, ToolCall, ToolResult};

/// The tools of a run, and what the rules have seen of it.
pub(super) struct RuledTools {
    tools: Arc<dyn Toolbox>,
    state: Mutex<RuledRun>,
}

struct RuledRun {
    guard: RunGuard,
    calls: u64,
}

impl RuledTools {
    pub(super) fn new(tools: Arc<dyn Toolbox>, rules: &Arc<RuleSet>) -> Self {
        let guard = RunRules::new(Arc::clone(rules)).run();
        Self { tools, state: Mutex::new(RuledRun { guard, calls: 0 }) }
    }

    fn state(&self) -> MutexGuard<'_, RuledRun> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rules that the run does not satisfy if it ends now, as sentences, and whether one of them is enforced.
    pub(super) fn unsatisfied(&self) -> (Vec<String>, bool) {
        let guard = &self.state().guard;
        (guard.unsatisfied(), guard.is_demanding())
    }

    /// The number of the call, and what the rules decide on it.
    fn decide(&self, call: &ToolCall) -> (u64, Decision) {
        let mut state = self.state();
        state.calls += 1;
        let number = state.calls;
        (number, state.guard.before(number, call))
    }

    async fn answer(&self, call: &ToolCall) -> ToolResult {
        // The rules are not locked while the tool works: other calls are decided on meanwhile, and count this one.
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

impl Toolbox for RuledTools {
    fn tools(&self) -> &Arc<[Tool]> {
        self.tools.tools()
    }

    fn catalogue(&self) -> Option<&Arc<Catalogue>> {
        self.tools.catalogue()
    }

    fn made(&self) -> Vec<Tool> {
        self.tools.made()
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(self.answer(call))
    }

    fn runs_side_by_side(&self) -> bool {
        self.tools.runs_side_by_side()
    }

    fn is_strictly_sequential(&self) -> bool {
        self.tools.is_strictly_sequential()
    }

    fn outage(&self) -> Option<String> {
        self.tools.outage()
    }

    fn plan_form(&self) -> Option<&'static str> {
        self.tools.plan_form()
    }

    fn restoring(&self) -> Restoring {
        self.tools.restoring().max(Restoring::Again)
    }

    /// Nothing: the session belongs to one run.
    fn for_run(&self) -> Option<Arc<dyn Toolbox>> {
        None
    }
}
