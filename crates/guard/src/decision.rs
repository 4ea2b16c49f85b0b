//! The decision on a call.

mod memory;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use planproof_spec::rules::{
    CallChanges, CallRule, Phase, RuleSet, RuleVerdict, Session, SessionEvent, TooManyValues,
};
use serde_json::Value;

use crate::modes::GuardModes;
use memory::PendingCall;
pub(crate) use memory::SeenAgain;

/// Most calls whose results have not come. Further calls are rejected until one comes.
pub const PENDING_CALLS_MAX: usize = 1024;

/// Most bytes of names and arguments of calls whose results have not come, as JSON. Further calls are rejected.
pub const PENDING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Why nothing is approved after an answer that could not be read or kept.
pub(crate) const UNREAD: &str = "the result of a call could not be read or kept, so it is not known what has been \
                                 done; begin a new session";

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
    /// The rules that reject or note it, and those that its being made brings to another verdict.
    pub rules: Vec<RuleChange>,
    /// The rules in shadow mode that would reject it, by their numbers in the file. The call is made all the same,
    /// unless there is a refusal.
    pub noted: Vec<usize>,
}

impl Ruling {
    /// A call that is not decided on, or was decided on before.
    pub(crate) fn undecided(number: u64) -> Self {
        Self { number, refusal: None, rules: Vec::new(), noted: Vec::new() }
    }

    /// The numbers of the rules that object to the call: those that reject it or, if none does, those that note it.
    pub(crate) fn objecting(&self) -> &[usize] {
        match &self.refusal {
            Some(Refusal::Rules(rules)) => rules,
            Some(_) => &[],
            None => &self.noted,
        }
    }
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

/// What is added where a call would be approved if all earlier ones had their results.
const NO_RESULT_YET: &str = "A call that was made before has no result yet, and it may be of that kind";

/// Why a call is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It would violate these rules, by their numbers in the file; never empty.
    Rules(Vec<usize>),
    /// A rule cannot remember what it has to, so it is not known whether it would be violated.
    TooManyValues(TooManyValues),
    /// The answer to a call could not be read or kept, so it is not known what has been done.
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
    /// Calls that were made without counting, and whose results have not come.
    noted: BTreeMap<u64, PendingCall>,
    calls: u64,
    /// A result could not be remembered: nothing is known any more, and nothing approved.
    lost: Option<TooManyValues>,
    /// The answer to a call could not be read: likewise.
    has_unknown_result: bool,
    /// Likewise, until somebody says it once more.
    is_in_doubt: bool,
    /// Rules in shadow mode reject nothing.
    is_by_rule: bool,
    /// What to add to the reasons of some rules, by their numbers, in explaining the last decision.
    hints: Vec<(usize, String)>,
    /// What the last call has changed, as long as nothing has come after it.
    last: Option<LastCall>,
}

/// How to take a call back.
#[derive(Debug, Clone)]
struct LastCall {
    number: u64,
    changes: CallChanges,
    /// What was lost before it.
    lost: Option<TooManyValues>,
}

impl GuardedSession {
    /// A session without a call.
    pub fn new(rules: &Arc<RuleSet>) -> Self {
        Self {
            rules: Arc::clone(rules),
            session: Session::new(rules),
            pending: BTreeMap::new(),
            pending_bytes: 0,
            noted: BTreeMap::new(),
            calls: 0,
            lost: None,
            has_unknown_result: false,
            is_in_doubt: false,
            is_by_rule: false,
            hints: Vec::new(),
            last: None,
        }
    }

    /// The same, in which rules in shadow mode (`mode: shadow` in their file) reject nothing. A call that only they
    /// object to is made, and counts.
    #[must_use]
    pub fn by_rule(self) -> Self {
        Self { is_by_rule: true, ..self }
    }

    /// Has the rules be in these modes from here on.
    pub(crate) fn set_modes(&mut self, modes: GuardModes) {
        self.is_by_rule = modes.is_by_rule();
    }

    /// The rules.
    pub fn rules(&self) -> &Arc<RuleSet> {
        &self.rules
    }

    /// Decides on a call. An approved one counts as made, and is pending.
    pub fn decide(&mut self, call: AskedCall<'_>) -> Ruling {
        self.calls += 1;
        self.last = None;
        let number = self.calls;
        let event =
            SessionEvent { server: call.server, ..SessionEvent::new(Phase::Call, call.tool, call.arguments) };
        let bytes = bytes_of(&call);
        let before = self.session.standing(&event);
        let (refusal, noted) = self.objections(&event, bytes);
        let objecting = match &refusal {
            Some(Refusal::Rules(numbers)) => numbers.iter().chain(&noted),
            _ => [].iter().chain(&noted),
        };
        let alone = || self.session.objections(&event, &[]).unwrap_or_default();
        let is_by_pending = |number: &usize| !self.pending.is_empty() && !alone().contains(number);
        let hint = |number: &usize| {
            let hint = self.session.differs_in_type(*number, &event);
            let hint = hint.or_else(|| is_by_pending(number).then(|| NO_RESULT_YET.to_owned()));
            Some((*number, hint?))
        };
        self.hints = objecting.filter_map(hint).collect();
        if refusal.is_none() {
            self.count(number, call, &event, bytes);
        }
        let after = if refusal.is_none() { self.session.standing(&event) } else { before.clone() };
        let rejecting = match &refusal {
            Some(Refusal::Rules(rules)) => rules.as_slice(),
            _ => &[],
        };
        let changes = before.into_iter().zip(after).map(|((rule, before), (_, after))| {
            let is_kept_from = rejecting.contains(&rule) || refusal.is_some() && noted.contains(&rule);
            RuleChange { rule, before, after: if is_kept_from { RuleVerdict::Violated } else { after } }
        });
        let objects = |rule: &usize| rejecting.contains(rule) || noted.contains(rule);
        let rules = changes.filter(|it| it.before != it.after || objects(&it.rule)).collect();
        Ruling { number, refusal, rules, noted }
    }

    /// Why the call is rejected, and the rules in shadow mode that would reject it.
    fn objections(&self, call: &SessionEvent<'_>, bytes: usize) -> (Option<Refusal>, Vec<usize>) {
        let mut refusal = self.refusal(call, bytes);
        let mut noted = Vec::new();
        if let Some(Refusal::Rules(rules)) = &mut refusal
            && self.is_by_rule
        {
            let is_shadow = |number: &usize| self.rules.rules().get(*number).is_some_and(|it| it.is_shadow);
            noted = rules.extract_if(.., |number| is_shadow(number)).collect();
            if rules.is_empty() {
                // Other reasons to reject it stand behind those of rules.
                refusal = self.full(bytes);
            }
        }
        (refusal, noted)
    }

    fn refusal(&self, call: &SessionEvent<'_>, bytes: usize) -> Option<Refusal> {
        if let Some(error) = &self.lost {
            return Some(Refusal::TooManyValues(error.clone()));
        }
        if self.has_unknown_result || self.is_in_doubt {
            return Some(Refusal::UnknownResult);
        }
        let pending: Vec<SessionEvent<'_>> =
            self.pending.values().map(|pending| pending.event(Phase::Call)).collect();
        match self.session.objections(call, &pending) {
            Err(error) => Some(Refusal::TooManyValues(error)),
            Ok(rules) if !rules.is_empty() => Some(Refusal::Rules(rules)),
            Ok(_) => self.full(bytes),
        }
    }

    /// Whether no further call of so many bytes can be pending.
    fn full(&self, bytes: usize) -> Option<Refusal> {
        if self.pending.len() >= PENDING_CALLS_MAX {
            return Some(Refusal::TooManyPending { limit: PENDING_CALLS_MAX, what: "calls" });
        }
        let is_full = self.pending_bytes.saturating_add(bytes) > PENDING_BYTES_MAX;
        is_full.then_some(Refusal::TooManyPending { limit: PENDING_BYTES_MAX, what: "bytes of calls" })
    }

    /// Takes a call of an earlier part of the session, with the number that it had there. It counts as made, whatever
    /// the rules say; without a call, only the number is taken.
    pub fn recall(&mut self, number: u64, made: Option<AskedCall<'_>>) {
        self.calls = self.calls.max(number);
        let Some(call) = made else { return };
        let event =
            SessionEvent { server: call.server, ..SessionEvent::new(Phase::Call, call.tool, call.arguments) };
        self.count(number, call, &event, bytes_of(&call));
    }

    fn count(&mut self, number: u64, call: AskedCall<'_>, event: &SessionEvent<'_>, bytes: usize) {
        let (mut changes, lost) = (CallChanges::default(), self.lost.clone());
        if let Err(error) = self.session.observe_call(event, &mut changes) {
            self.lost.get_or_insert(error);
        }
        self.last = Some(LastCall { number, changes, lost });
        self.pending.insert(number, PendingCall::of(call, bytes));
        self.pending_bytes += bytes;
    }

    /// Takes the result, or the error, of an approved call: JSON where the tool returned JSON, otherwise its text.
    /// Gives whether the call was pending; a second result of a call, or one for a call that was never made, changes
    /// nothing.
    pub fn finished(&mut self, number: u64, is_error: bool, outcome: &Value) -> bool {
        if self.noted.remove(&number).is_some() {
            return true;
        }
        let Some(call) = self.forget(number) else { return false };
        self.last = None;
        let event = call.event(if is_error { Phase::Failed } else { Phase::Done }).with_outcome(outcome);
        if let Err(error) = self.session.observe(&event) {
            self.lost.get_or_insert(error);
        }
        true
    }

    /// An answer has come that cannot be read, or not be kept. Whoever asked may understand it, so nothing is approved
    /// from then on.
    pub fn unread(&mut self) {
        self.has_unknown_result = true;
    }

    /// Whether something came of a call that could not be read, and may be said once more.
    pub(crate) fn doubt(&mut self, is_in_doubt: bool) {
        self.is_in_doubt = is_in_doubt;
    }

    /// Takes the last call back, because it is not passed on after all: it never happened. Gives whether this was
    /// possible. It is not once anything else has come, and a call that was rejected has nothing to take back.
    pub fn take_back(&mut self, number: u64) -> bool {
        let Some(LastCall { changes, lost, .. }) = self.last.take_if(|last| last.number == number) else {
            return false;
        };
        self.session.take_back(changes);
        self.lost = lost;
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
            // Without its server, which only calls of sessions with several have.
            let of_server = rejected.server.and_then(|server| tool.strip_prefix(server)?.strip_prefix('/'));
            let server = rejected.server.filter(|_| of_server.is_some());
            let tool = of_server.unwrap_or(&tool);
            let event = SessionEvent { server, ..SessionEvent::new(Phase::Call, tool, &arguments) };
            if self.refusal(&event, tool.len() + size(&arguments)).is_none() {
                let (server, tool) = (server.map(str::to_owned), tool.to_owned());
                right.push(CarriedCall { id: None, server, tool, arguments });
            }
        }
        right
    }

    /// Why a call is rejected or noted, in sentences for the agent; `None` if nothing is said against it.
    pub(crate) fn reason(&self, ruling: &Ruling) -> Option<String> {
        let noted = || (!ruling.noted.is_empty()).then(|| Refusal::Rules(ruling.noted.clone()));
        ruling.refusal.clone().or_else(noted).map(|refusal| self.explain(&refusal))
    }

    /// Why the call of the last decision is rejected, in sentences for the agent.
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
        for (place, number) in numbers.iter().enumerate() {
            let Some(rule) = self.rules.rules().get(*number) else { continue };
            let joint = if place == 0 { "" } else { " And by " };
            let _ = write!(text, "{joint}rule {}: {rule}.", rule.id);
            if let Some(why) = &rule.why {
                let _ = write!(text, " {why}");
            }
            if let Some((_, hint)) = self.hints.iter().find(|(of, _)| of == number) {
                let _ = write!(text, " {hint}.");
            }
        }
        text
    }
}

/// About the bytes of a call that is kept.
fn bytes_of(call: &AskedCall<'_>) -> usize {
    call.server.map_or(0, str::len) + call.tool.len() + size(call.arguments)
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
