//! Tools behind rules: a call that would violate one is denied, and the agent reads why.

use std::sync::{Arc, Mutex, PoisonError};

use planproof_guard::{AskedCall, GuardedSession};
use planproof_spec::rules::{RuleSet, arguments_of, outcome_of};
use planproof_suite::{BoxFuture, Restoring, Toolbox};
use planproof_trace::{Catalogue, Tool, ToolCall, ToolResult};
use serde_json::Value;

/// The tools of a run, and the session that the rules have seen of it.
pub(super) struct RuledTools {
    tools: Arc<dyn Toolbox>,
    session: Mutex<GuardedSession>,
}

impl RuledTools {
    pub(super) fn new(tools: Arc<dyn Toolbox>, rules: &Arc<RuleSet>) -> Self {
        Self { tools, session: Mutex::new(GuardedSession::new(rules)) }
    }

    /// The rules that the session does not satisfy if it ends now, as sentences.
    pub(super) fn unsatisfied(&self) -> Vec<String> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.unsatisfied().into_iter().map(|rule| format!("{}: {rule}", rule.id)).collect()
    }

    /// The number of the call, if it may be made; otherwise what the agent reads instead of a result.
    fn decide(&self, call: &ToolCall, arguments: &Value) -> Result<u64, String> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let ruling = session.decide(AskedCall { server: None, tool: &call.name, arguments });
        match &ruling.refusal {
            None => Ok(ruling.number),
            Some(refusal) => Err(session.explain(refusal)),
        }
    }

    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let arguments = arguments_of(&call.arguments);
        // The session is not locked while the tool works: other calls are decided on meanwhile, and count this one.
        let number = match self.decide(call, &arguments) {
            Ok(number) => number,
            Err(why) => return ToolResult::held_back(call.id.clone(), why),
        };
        let result = self.tools.execute(call).await;
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.finished(number, result.is_error, &outcome_of(&result.text));
        result
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
