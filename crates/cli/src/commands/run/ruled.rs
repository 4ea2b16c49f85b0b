//! Tools behind rules: a call that would violate one is denied, and the agent reads why.

use std::sync::{Arc, Mutex, PoisonError};

use planproof_spec::rules::{Phase, RuleSet, Session, SessionEvent, TooManyValues};
use planproof_suite::{BoxFuture, Restoring, Toolbox};
use planproof_trace::{Arguments, Catalogue, Tool, ToolCall, ToolResult};
use serde_json::Value;

/// The tools of a run, and the session that the rules have seen of it.
pub(super) struct RuledTools {
    tools: Arc<dyn Toolbox>,
    rules: Arc<RuleSet>,
    session: Mutex<Session>,
}

impl RuledTools {
    pub(super) fn new(tools: Arc<dyn Toolbox>, rules: Arc<RuleSet>) -> Self {
        let session = Mutex::new(Session::new(&rules));
        Self { tools, rules, session }
    }

    /// The rules that the session does not satisfy if it ends now, as sentences.
    pub(super) fn unsatisfied(&self) -> Vec<String> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let rules = self.rules.rules().iter().zip(session.verdicts());
        rules
            .filter(|(_, verdict)| !verdict.is_held_at_end())
            .map(|(rule, _)| format!("{}: {rule}", rule.id))
            .collect()
    }

    /// Whether the call may be made, which then counts as made; otherwise what the agent reads instead of a result.
    fn decide(&self, call: &ToolCall, arguments: &Value) -> Result<(), String> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let event = SessionEvent::new(Phase::Call, &call.name, arguments);
        let too_many = |error: TooManyValues| format!("The call is denied: {error}.");
        // A call whose result would violate a rule, whatever the result says, cannot be taken back either.
        let mut after = session.clone();
        after.observe(&event).map_err(too_many)?;
        let mut violated = session.would_violate(&event);
        violated.extend(after.would_violate(&SessionEvent { moment: Phase::Done, ..event }));
        if violated.is_empty() {
            *session = after;
            return Ok(());
        }
        violated.sort_unstable();
        violated.dedup();
        let rules = violated.iter().filter_map(|number| self.rules.rules().get(*number)).map(|rule| {
            let why = rule.why.as_ref().map(|why| format!(" {why}")).unwrap_or_default();
            format!("rule {}: {rule}.{why}", rule.id)
        });
        Err(format!("The call is denied by {}", rules.collect::<Vec<_>>().join(" And by ")))
    }

    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let arguments = match &call.arguments {
            Arguments::Object(object) => Value::Object(object.clone()),
            Arguments::Malformed(text) => Value::from(text.as_str()),
        };
        // The session is not locked while the tool works: other calls are decided on meanwhile, and count this one.
        if let Err(why) = self.decide(call, &arguments) {
            return ToolResult::held_back(call.id.clone(), why);
        }
        let result = self.tools.execute(call).await;
        let outcome =
            serde_json::from_str(&result.text).unwrap_or_else(|_| Value::from(result.text.as_str()));
        let moment = if result.is_error { Phase::Failed } else { Phase::Done };
        let event = SessionEvent::new(moment, &call.name, &arguments).with_outcome(&outcome);
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        // What cannot be remembered is reported at the next call, which is denied.
        let _ = session.observe(&event);
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
