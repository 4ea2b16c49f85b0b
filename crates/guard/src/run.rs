//! Rules as the guard of a run: the engine asks it before each call of the agent under test, whatever agent that is.

use std::sync::Arc;

use planproof_spec::rules::{CallRule, RuleSet, arguments_of, outcome_of};
use planproof_suite::{Decision, Guard, GuardDenial, Guarding};
use planproof_trace::{ToolCall, ToolResult};

use crate::answers;
use crate::decision::{AskedCall, GuardedSession, Refusal};

/// What holds each run of a campaign to rules.
#[derive(Debug, Clone)]
pub struct RunRules {
    rules: Arc<RuleSet>,
}

impl RunRules {
    /// These rules, each in the mode of the file or its own: in shadow mode violations are only noted.
    pub fn new(rules: Arc<RuleSet>) -> Self {
        Self { rules }
    }

    /// Whether any of them is enforced. Otherwise no call is denied.
    pub fn enforces(&self) -> bool {
        self.rules.rules().iter().any(|rule| !rule.is_shadow)
    }

    /// A guard for a run that has not begun.
    pub fn run(&self) -> RunGuard {
        RunGuard { session: GuardedSession::new(&self.rules).by_rule(), enforces: self.enforces() }
    }
}

impl Guarding for RunRules {
    fn guard(&self) -> Box<dyn Guard> {
        Box::new(self.run())
    }
}

/// Rules as the guard of one run.
#[derive(Debug, Clone)]
pub struct RunGuard {
    session: GuardedSession,
    enforces: bool,
}

impl RunGuard {
    /// The rules that the run does not satisfy if it ends now, as sentences.
    pub fn unsatisfied(&self) -> Vec<String> {
        self.session.unsatisfied().into_iter().map(|rule| format!("{}: {rule}", rule.id)).collect()
    }

    /// Whether one of them is enforced. What only watches demands nothing.
    pub fn is_demanding(&self) -> bool {
        self.session.unsatisfied().into_iter().any(|rule| !rule.is_shadow)
    }

    fn ids(&self, numbers: &[usize]) -> Vec<String> {
        self.at(numbers).map(|rule| rule.id.clone()).collect()
    }

    fn at<'a>(&'a self, numbers: &'a [usize]) -> impl Iterator<Item = &'a CallRule> {
        let rules = self.session.rules().rules();
        numbers.iter().filter_map(|number| rules.get(*number))
    }
}

impl Guard for RunGuard {
    fn before(&mut self, _number: u64, call: &ToolCall) -> Decision {
        let arguments = arguments_of(&call.arguments);
        let ruling = self.session.decide(AskedCall { server: None, tool: &call.name, arguments: &arguments });
        let noted = self.ids(&ruling.noted);
        // Without rules that are enforced, a session of which too much has to be remembered is only no longer watched.
        let Some(refusal) = ruling.refusal.filter(|_| self.enforces) else {
            return if noted.is_empty() { Decision::Allow } else { Decision::Note(noted) };
        };
        let rejecting: &[usize] = match &refusal {
            Refusal::Rules(numbers) => numbers,
            _ => &[],
        };
        let text = self.session.explain(&refusal);
        let structured = answers::structured(&text, &call.name, self.at(rejecting));
        Decision::Deny(GuardDenial { text, rules: self.ids(rejecting), structured: Some(structured) })
    }

    fn after(&mut self, number: u64, _call: &ToolCall, result: &ToolResult) {
        self.session.finished(number, result.is_error, &outcome_of(&result.text));
    }

    fn is_sequential(&self) -> bool {
        false
    }
}
