//! The decision on a call.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use planproof_spec::rules::{CallRule, Phase, RuleSet, RuleVerdict, Session, SessionEvent, TooManyValues};
use serde_json::Value;

/// Most calls whose results have not come. Further calls are rejected until one comes.
pub const PENDING_CALLS_MAX: usize = 1024;

/// Most bytes of names and arguments of calls whose results have not come, as JSON. Further calls are rejected.
pub const PENDING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Why nothing is approved after an answer that could not be read.
pub(crate) const UNREAD: &str =
    "an answer of the server could not be read, so it is not known what has been done; begin a new session";

/// A call that somebody wants to make.
#[derive(Debug, Clone, Copy)]
pub struct AskedCall<'a> {
    /// The server whose tool it is, if the session has several.
    pub server: Option<&'a str>,
    /// The tool.
    pub tool: &'a str,
    /// Its arguments. Anything but an object has no arguments.
    pub arguments: &'a Value,
}

/// A call as it came, for whoever keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarriedCall {
    /// The caller's name for it, where calls are known by one.
    pub id: Option<String>,
    /// The server whose tool it is, if the session has several.
    pub server: Option<String>,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
}

/// What was decided on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// The number of the call in its session, from 1. Rejected calls have one, too.
    pub number: u64,
    /// Why it is rejected; `None` if it is approved, and counts as made.
    pub refusal: Option<Refusal>,
    /// The rules that reject it, and those that its being made brings to another verdict.
    pub rules: Vec<RuleChange>,
}

/// What a call does to a rule, for the value of `per` that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleChange {
    /// The number of the rule in its file, from 0.
    pub rule: usize,
    /// Before the call.
    pub before: RuleVerdict,
    /// After it; for a rule that rejects the call, what it was kept from.
    pub after: RuleVerdict,
}

/// Why a call is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It would violate these rules, by their numbers in the file; never empty.
    Rules(Vec<usize>),
    /// A rule cannot remember what it has to, so it is not known whether it would be violated.
    TooManyValues(TooManyValues),
    /// The answer to a call could not be read, so it is not known what has been done.
    UnknownResult,
    /// Too many calls, or too large ones, are pending.
    TooManyPending {
        /// How many there may be.
        limit: usize,
        /// Of what: `calls` or `bytes of calls`.
        what: &'static str,
    },
}

/// A session whose calls are decided on.
///
/// A call counts from its approval on, and its result from when it is reported. Until then the call is pending: its
/// result may come at any time, and further calls are rejected if that could violate a rule. Rejected calls never
/// happened.
#[derive(Debug, Clone)]
pub struct GuardedSession {
    rules: Arc<RuleSet>,
    session: Session,
    pending: BTreeMap<u64, PendingCall>,
    pending_bytes: usize,
    calls: u64,
    /// A result could not be remembered: nothing is known any more, and nothing approved.
    lost: Option<TooManyValues>,
    /// The answer to a call could not be read: likewise.
    has_unknown_result: bool,
}

#[derive(Debug, Clone)]
struct PendingCall {
    server: Option<String>,
    tool: String,
    arguments: Value,
    bytes: usize,
}

impl PendingCall {
    fn event(&self, moment: Phase) -> SessionEvent<'_> {
        let event = SessionEvent::new(moment, &self.tool, &self.arguments);
        SessionEvent { server: self.server.as_deref(), ..event }
    }
}

impl GuardedSession {
    /// A session without a call.
    pub fn new(rules: &Arc<RuleSet>) -> Self {
        Self {
            rules: Arc::clone(rules),
            session: Session::new(rules),
            pending: BTreeMap::new(),
            pending_bytes: 0,
            calls: 0,
            lost: None,
            has_unknown_result: false,
        }
    }

    /// The rules.
    pub fn rules(&self) -> &Arc<RuleSet> {
        &self.rules
    }

    /// Decides on a call. An approved one counts as made, and is pending.
    pub fn decide(&mut self, call: AskedCall<'_>) -> Ruling {
        self.calls += 1;
        let number = self.calls;
        let event =
            SessionEvent { server: call.server, ..SessionEvent::new(Phase::Call, call.tool, call.arguments) };
        let bytes = call.server.map_or(0, str::len) + call.tool.len() + size(call.arguments);
        let before = self.session.standing(&event);
        let refusal = self.refusal(&event, bytes);
        if refusal.is_none() {
            self.count(number, call, &event, bytes);
        }
        let after = if refusal.is_none() { self.session.standing(&event) } else { before.clone() };
        let rejecting = match &refusal {
            Some(Refusal::Rules(rules)) => rules.as_slice(),
            _ => &[],
        };
        let changes = before.into_iter().zip(after).map(|((rule, before), (_, after))| {
            let after = if rejecting.contains(&rule) { RuleVerdict::Violated } else { after };
            RuleChange { rule, before, after }
        });
        let rules = changes.filter(|it| it.before != it.after || rejecting.contains(&it.rule)).collect();
        Ruling { number, refusal, rules }
    }

    fn refusal(&self, call: &SessionEvent<'_>, bytes: usize) -> Option<Refusal> {
        if let Some(error) = &self.lost {
            return Some(Refusal::TooManyValues(error.clone()));
        }
        if self.has_unknown_result {
            return Some(Refusal::UnknownResult);
        }
        let pending: Vec<SessionEvent<'_>> =
            self.pending.values().map(|pending| pending.event(Phase::Call)).collect();
        match self.session.objections(call, &pending) {
            Err(error) => Some(Refusal::TooManyValues(error)),
            Ok(rules) if !rules.is_empty() => Some(Refusal::Rules(rules)),
            Ok(_) if self.pending.len() >= PENDING_CALLS_MAX => {
                Some(Refusal::TooManyPending { limit: PENDING_CALLS_MAX, what: "calls" })
            }
            Ok(_) if self.pending_bytes.saturating_add(bytes) > PENDING_BYTES_MAX => {
                Some(Refusal::TooManyPending { limit: PENDING_BYTES_MAX, what: "bytes of calls" })
            }
            Ok(_) => None,
        }
    }

    /// Takes a call of an earlier part of the session, with the number that it had there. It counts as made, whatever
    /// the rules say; without a call, only the number is taken.
    pub fn recall(&mut self, number: u64, made: Option<AskedCall<'_>>) {
        self.calls = self.calls.max(number);
        let Some(call) = made else { return };
        let event =
            SessionEvent { server: call.server, ..SessionEvent::new(Phase::Call, call.tool, call.arguments) };
        let bytes = call.server.map_or(0, str::len) + call.tool.len() + size(call.arguments);
        self.count(number, call, &event, bytes);
    }

    fn count(&mut self, number: u64, call: AskedCall<'_>, event: &SessionEvent<'_>, bytes: usize) {
        if let Err(error) = self.session.observe(event) {
            self.lost.get_or_insert(error);
        }
        let pending = PendingCall {
            server: call.server.map(str::to_owned),
            tool: call.tool.to_owned(),
            arguments: call.arguments.clone(),
            bytes,
        };
        self.pending.insert(number, pending);
        self.pending_bytes += bytes;
    }

    /// Takes the result, or the error, of an approved call: JSON where the tool returned JSON, otherwise its text.
    /// Gives whether the call was pending; a second result of a call, or one for a call that was never made, changes
    /// nothing.
    pub fn finished(&mut self, number: u64, is_error: bool, outcome: &Value) -> bool {
        let Some(call) = self.forget(number) else { return false };
        let event = call.event(if is_error { Phase::Failed } else { Phase::Done }).with_outcome(outcome);
        if let Err(error) = self.session.observe(&event) {
            self.lost.get_or_insert(error);
        }
        true
    }

    /// An answer has come that cannot be read. Whoever asked may understand it, so nothing is approved from then on.
    pub fn unread(&mut self) {
        self.has_unknown_result = true;
    }

    /// The result of this call will never come, and did not happen. Gives whether the call was pending.
    pub fn abandoned(&mut self, number: u64) -> bool {
        self.forget(number).is_some()
    }

    fn forget(&mut self, number: u64) -> Option<PendingCall> {
        let call = self.pending.remove(&number)?;
        self.pending_bytes -= call.bytes;
        Some(call)
    }

    /// The numbers of the approved calls whose results have not come.
    pub fn pending(&self) -> impl Iterator<Item = u64> + '_ {
        self.pending.keys().copied()
    }

    /// The rules that the session does not satisfy if it ends now: its obligations, and what results have violated.
    pub fn unsatisfied(&self) -> Vec<&CallRule> {
        let rules = self.rules.rules().iter().zip(self.session.verdicts());
        rules.filter(|(_, verdict)| !verdict.is_held_at_end()).map(|(rule, _)| rule).collect()
    }

    /// The verdicts on all rules, in the order of the file.
    pub fn verdicts(&self) -> Vec<RuleVerdict> {
        self.session.verdicts()
    }

    /// Calls that would have to come before a rejected one, as far as these rules say: of the tools that they need,
    /// with the value of `per` and what they demand of the arguments. Only those that are approved themselves.
    pub fn right_calls(&self, rejected: AskedCall<'_>, rules: &[&CallRule]) -> Vec<CarriedCall> {
        let mut right = Vec::new();
        for rule in rules {
            let Some((tool, arguments)) = rule.needed_call(rejected.arguments) else { continue };
            let event = SessionEvent::new(Phase::Call, &tool, &arguments);
            if self.refusal(&event, tool.len() + size(&arguments)).is_none() {
                right.push(CarriedCall { id: None, server: None, tool, arguments });
            }
        }
        right
    }

    /// Why a call is rejected, in sentences for the agent.
    pub fn explain(&self, refusal: &Refusal) -> String {
        let numbers = match refusal {
            Refusal::Rules(numbers) => numbers,
            Refusal::TooManyValues(error) => return format!("The call is denied: {error}."),
            Refusal::UnknownResult => return format!("The call is denied: {UNREAD}."),
            Refusal::TooManyPending { limit, what } => {
                return format!(
                    "The call is denied: results of more than {limit} {what} have not come. Wait for some of them."
                );
            }
        };
        let mut text = String::from("The call is denied by ");
        for (place, rule) in numbers.iter().filter_map(|number| self.rules.rules().get(*number)).enumerate() {
            let joint = if place == 0 { "" } else { " And by " };
            let _ = write!(text, "{joint}rule {}: {rule}.", rule.id);
            if let Some(why) = &rule.why {
                let _ = write!(text, " {why}");
            }
        }
        text
    }
}

/// About the bytes of a value as JSON.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(size).sum::<usize>() + 2,
        Value::Object(entries) => {
            entries.iter().map(|(key, value)| key.len() + 4 + size(value)).sum::<usize>() + 2
        }
        _ => 8,
    }
}
