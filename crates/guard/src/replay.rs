//! The decisions of a log taken again, with other rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use planproof_spec::rules::RuleSet;

use crate::agent_names::AgentNames;
use crate::decision::{AskedCall, GuardedSession};
use crate::log::{LoggedCall, LoggedLine};
use crate::modes::{GuardAction, GuardMode, GuardModes};

/// A call of a log, decided on again.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayedCall {
    /// Its session.
    pub session: String,
    /// The call.
    pub call: LoggedCall,
    /// Whether the log rejects it, in whichever mode of the whole guard. What rules in a shadow mode of their own note
    /// is not rejected.
    pub was_rejected: bool,
    /// Whether it was made nevertheless, because the guard was in shadow mode.
    pub was_noted: bool,
    /// Why the log does.
    pub was_reason: Option<String>,
    /// Why these rules reject it; `None` if they approve it.
    pub reason: Option<String>,
}

impl ReplayedCall {
    /// Whether the decision is another one.
    pub fn is_changed(&self) -> bool {
        self.was_rejected != self.reason.is_some()
    }
}

/// Decides on each call of a log again, in order: if the guard had each rule in its own mode, with the modes of these
/// rules. Calls that these rules reject never happened, whatever the log says;
/// a call that they approve and that the log rejected has the result that the log has of it, if any.
pub fn replay<'l>(
    rules: &'l Arc<RuleSet>,
    lines: impl Iterator<Item = LoggedLine> + 'l,
) -> impl Iterator<Item = ReplayedCall> + 'l {
    let names = AgentNames::of(rules);
    let own = GuardModes::asked(None, Some(rules));
    let mut sessions: BTreeMap<String, Replayed> = BTreeMap::new();
    lines.filter_map(move |line| {
        let name = line.session().to_owned();
        let session = sessions
            .entry(name)
            .or_insert_with(|| Replayed { session: GuardedSession::new(rules), numbers: BTreeMap::new() });
        let is_of_hook = line.is_of_hook();
        match line {
            LoggedLine::Decision { session: name, call: Some(mut call), action, reason, by_rule, .. } => {
                if action == GuardAction::Continued {
                    return None;
                }
                // It was approved, and then not passed on after all.
                if action == GuardAction::Blocked
                    && let Some(number) = session.numbers.remove(&call.number)
                {
                    session.session.take_back(number);
                    return None;
                }
                if let Some(server) = call.server.as_deref().filter(|_| is_of_hook) {
                    (call.server, call.tool) = names.read_again(server, &call.tool);
                }
                let asked = AskedCall {
                    server: call.server.as_deref(),
                    tool: &call.tool,
                    arguments: &call.arguments,
                };
                session.session.set_modes(if by_rule { own } else { GuardMode::Enforce.into() });
                let ruling = session.session.decide(asked);
                session.numbers.insert(call.number, ruling.number);
                Some(ReplayedCall {
                    session: name,
                    was_rejected: action == GuardAction::Blocked || action == GuardAction::Noted && !by_rule,
                    was_noted: action == GuardAction::Noted && !by_rule,
                    was_reason: reason,
                    reason: ruling
                        .refusal
                        .filter(|_| !by_rule || own.mode() == GuardMode::Enforce)
                        .map(|refusal| session.session.explain(&refusal)),
                    call,
                })
            }
            LoggedLine::Result { number, is_error, outcome, .. } => {
                if let Some(number) = session.numbers.remove(&number) {
                    session.session.finished(number, is_error, &outcome);
                }
                None
            }
            LoggedLine::End { session: name, .. } => {
                sessions.remove(&name);
                None
            }
            LoggedLine::Decision { .. } => None,
        }
    })
}

/// A session that is decided on again, with the new numbers of its calls by those in the log.
struct Replayed {
    session: GuardedSession,
    numbers: BTreeMap<u64, u64>,
}
