//! What a session remembers of calls that it was not asked about: those of earlier processes, and of other guards.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use planproof_spec::rules::{Phase, RuleSet, RuleVerdict, Session, SessionEvent};
use serde_json::{Value, json};

use super::{AskedCall, GuardedSession, PENDING_BYTES_MAX, Refusal, RuleChange, Ruling, bytes_of};
use crate::keys::HeldKeys;
use crate::log::{DecisionLog, LoggedLine, Remembered, whole_seam};

/// Most calls of a session that were only noted and whose results are waited for. Results of earlier ones are lost.
const NOTED_CALLS_MAX: usize = 1024;

/// A call that was made, and whose result has not come.
#[derive(Debug, Clone)]
pub(super) struct PendingCall {
    server: Option<String>,
    tool: String,
    arguments: Value,
    pub(super) bytes: usize,
    /// The agent's name for it, where somebody knows one.
    id: Option<String>,
    /// Who has seen it on its way.
    seams: BTreeSet<String>,
    /// The rules that object to it, by their numbers, where others have let it pass.
    against: Vec<usize>,
}

/// A pending call that is seen once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeenAgain {
    /// Its number.
    pub(crate) number: u64,
    /// Whoever asks has seen it before.
    pub(crate) is_known: bool,
}

impl PendingCall {
    /// Whether a call is like this one. Not everybody on its way knows the server.
    fn is_like(&self, call: &AskedCall<'_>) -> bool {
        self.is_of_tool(call) && self.arguments == *call.arguments
    }

    fn is_of_tool(&self, call: &AskedCall<'_>) -> bool {
        let is_of_server = match (&self.server, call.server) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        is_of_server && self.tool == call.tool
    }

    pub(super) fn event(&self, moment: Phase) -> SessionEvent<'_> {
        let event = SessionEvent::new(moment, &self.tool, &self.arguments);
        SessionEvent { server: self.server.as_deref(), ..event }
    }

    pub(super) fn of(call: AskedCall<'_>, bytes: usize) -> Self {
        Self {
            server: call.server.map(str::to_owned),
            tool: call.tool.to_owned(),
            arguments: call.arguments.clone(),
            bytes,
            id: None,
            seams: BTreeSet::new(),
            against: Vec::new(),
        }
    }

    fn state(&self, number: u64) -> Value {
        json!({
            "number": number, "server": self.server, "tool": self.tool, "arguments": self.arguments,
            "id": self.id, "seams": self.seams, "against": self.against,
        })
    }

    /// A call with its number; `None` if that is not the state of one by so many rules.
    fn with_state(state: &Value, rules: usize) -> Option<(u64, Self)> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let (server, tool) = (state.get("server").and_then(text), state.get("tool").and_then(text)?);
        let arguments = state.get("arguments")?.clone();
        let bytes = bytes_of(&AskedCall { server: server.as_deref(), tool: &tool, arguments: &arguments });
        let seams = state.get("seams")?.as_array()?.iter().map(text).collect::<Option<BTreeSet<_>>>()?;
        let rule = |value: &Value| usize::try_from(value.as_u64()?).ok().filter(|rule| *rule < rules);
        let against = state.get("against")?.as_array()?.iter().map(rule).collect::<Option<Vec<_>>>()?;
        let id = state.get("id").and_then(text);
        Some((state.get("number")?.as_u64()?, Self { server, tool, arguments, bytes, id, seams, against }))
    }
}

impl GuardedSession {
    /// Decides on a pending call that others have let pass, and that comes by here on its way. It counts already; the
    /// ruling says what these rules had against it when they did not know it yet.
    pub(crate) fn decide_again(&mut self, number: u64) -> Ruling {
        self.hints.clear();
        if self.has_unknown_result {
            return Ruling { refusal: Some(Refusal::UnknownResult), ..Ruling::undecided(number) };
        }
        let Some(call) = self.pending.get(&number).filter(|call| !call.against.is_empty()) else {
            return Ruling::undecided(number);
        };
        let is_shadow = |rule: &usize| self.rules.rules().get(*rule).is_some_and(|it| it.is_shadow);
        let (noted, rejecting): (Vec<usize>, Vec<usize>) =
            call.against.iter().partition(|rule| self.is_by_rule && is_shadow(rule));
        let standing = self.session.standing(&call.event(Phase::Call)).into_iter();
        let objecting = standing.filter(|(rule, _)| call.against.contains(rule));
        let rules = objecting
            .map(|(rule, before)| RuleChange { rule, before, after: RuleVerdict::Violated })
            .collect();
        let refusal = (!rejecting.is_empty()).then_some(Refusal::Rules(rejecting));
        Ruling { number, refusal, rules, noted }
    }

    /// A pending call is stopped on its way, after others have let it pass. If something has come since they did, it
    /// still counts.
    pub(crate) fn stopped(&mut self, number: u64) {
        if !self.take_back(number) {
            self.forget(number);
        }
        self.noted.remove(&number);
    }

    /// Takes a call that is made without counting, and whose result may come.
    pub(crate) fn note(&mut self, number: u64, call: AskedCall<'_>) {
        self.noted.insert(number, PendingCall::of(call, bytes_of(&call)));
        let bytes = |noted: &BTreeMap<u64, PendingCall>| noted.values().map(|call| call.bytes).sum::<usize>();
        while self.noted.len() > NOTED_CALLS_MAX || bytes(&self.noted) > PENDING_BYTES_MAX {
            self.noted.pop_first();
        }
    }

    /// The calls whose results may come.
    fn open(&self) -> impl Iterator<Item = (u64, &PendingCall)> {
        self.pending.iter().chain(&self.noted).map(|(number, call)| (*number, call))
    }

    fn open_mut(&mut self, number: u64) -> Option<&mut PendingCall> {
        match self.pending.get_mut(&number) {
            Some(pending) => Some(pending),
            None => self.noted.get_mut(&number),
        }
    }

    /// The pending call that this one is, if it is one: that of the agent's name for it, or, where one side has no
    /// name, the first like it that has not passed this seam. A seam that sees two calls without names has two.
    pub(crate) fn seen_again(&self, call: &AskedCall<'_>, id: Option<&str>, seam: &str) -> Option<SeenAgain> {
        let is_named = |pending: &PendingCall| id.is_some() && pending.id.as_deref() == id;
        let mut named = self.open().filter(|(_, pending)| is_named(pending)).peekable();
        if named.peek().is_some() {
            // A name that stands for another call by now says nothing.
            let (number, pending) = named.find(|(_, pending)| pending.is_like(call))?;
            return Some(SeenAgain { number, is_known: pending.seams.contains(seam) });
        }
        let is_other = |pending: &PendingCall| pending.id.is_some() && id.is_some();
        let is_it = |pending: &PendingCall| {
            !pending.seams.contains(seam) && !is_other(pending) && pending.is_like(call)
        };
        let (number, _) = self.open().find(|(_, pending)| is_it(pending))?;
        Some(SeenAgain { number, is_known: false })
    }

    /// The call that has ended: the oldest like it of the agent's name for it, or without a name the oldest like it
    /// that has passed this seam or, if none has, another one of the same agent. Names are used again, also where a
    /// call never had a result. But an agent may report other arguments than it asked about, such as those that a hook
    /// has changed: so where none is like it, it is the last call of this name and tool.
    pub(crate) fn ended(&self, call: &AskedCall<'_>, id: Option<&str>, seam: &str) -> Option<u64> {
        let agent = |seam: &str| seam.split(['\0', '/']).next().map(str::to_owned);
        let found = |is_it: &dyn Fn(&PendingCall) -> bool| {
            self.open().find(|(_, pending)| is_it(pending)).map(|(number, _)| number)
        };
        if id.is_some() {
            let named = self.open().filter(|(_, pending)| pending.id.as_deref() == id);
            let like = found(&|pending| pending.id.as_deref() == id && pending.is_like(call));
            let last = named.filter(|(_, pending)| pending.is_of_tool(call)).map(|(number, _)| number).max();
            return like.or(last);
        }
        let is_like = |pending: &PendingCall| pending.id.is_none() && pending.is_like(call);
        let own = found(&|pending| is_like(pending) && pending.seams.contains(seam));
        let is_agents = |other: &String| agent(other) == agent(seam);
        own.or_else(|| found(&|pending| is_like(pending) && pending.seams.iter().any(is_agents)))
    }

    /// Notes that a call has passed a seam, where the agent's name for it may be known.
    pub(crate) fn passed(&mut self, number: u64, id: Option<&str>, seam: &str) {
        if let Some(pending) = self.open_mut(number) {
            if pending.id.is_none() {
                pending.id = id.map(str::to_owned);
            }
            pending.seams.insert(seam.to_owned());
        }
    }

    /// A call has not passed this seam after all.
    pub(crate) fn not_passed(&mut self, number: u64, seam: &str) {
        if let Some(pending) = self.open_mut(number) {
            pending.seams.remove(seam);
        }
    }

    /// What is remembered, as JSON without keys; `None` if something could not be, so that nothing is approved any
    /// more, or if a key has a form that could not be had back.
    pub(crate) fn state(&self, keys: &HeldKeys) -> Option<Value> {
        if self.lost.is_some() || self.has_unknown_result {
            return None;
        }
        let calls = |calls: &BTreeMap<u64, PendingCall>| -> Value {
            calls.iter().map(|(number, call)| call.state(*number)).collect()
        };
        let kept = keys.value(&json!({
            "calls": self.calls, "rules": self.session.state(), "pending": calls(&self.pending),
            "noted": calls(&self.noted),
        }));
        kept.is_exact.then_some(kept.kept)
    }

    /// The session with this state, by the rules that it was made with; `None` if it cannot be of these.
    pub(crate) fn with_state(rules: &Arc<RuleSet>, state: &Value, keys: &HeldKeys) -> Option<Self> {
        let state = keys.value_of(state);
        let mut session = Self::new(rules);
        session.session = Session::with_state(rules, state.get("rules")?)?;
        session.calls = state.get("calls")?.as_u64()?;
        let calls = |key: &str| -> Option<BTreeMap<u64, PendingCall>> {
            let calls = state.get(key)?.as_array()?.iter();
            calls.map(|call| PendingCall::with_state(call, rules.rules().len())).collect()
        };
        (session.pending, session.noted) = (calls("pending")?, calls("noted")?);
        session.pending_bytes = session.pending.values().map(|call| call.bytes).sum();
        Some(session)
    }

    /// Takes what a log says has happened. It counts, whatever the rules say of it; what they have against a call that
    /// others have let pass is remembered, in case it comes by.
    pub(crate) fn apply(&mut self, line: &LoggedLine, log: &DecisionLog) {
        match &*log.keys().line_of(line) {
            LoggedLine::Decision { call: Some(call), seam, place, .. } => {
                let asked = AskedCall {
                    server: call.server.as_deref(),
                    tool: &call.tool,
                    arguments: &call.arguments,
                };
                let number = call.number;
                match log.remembered(line) {
                    Some(Remembered::Made { is_by_others }) => {
                        let against = if is_by_others { self.against(&asked) } else { Vec::new() };
                        self.recall(number, Some(asked));
                        if let Some(pending) = self.pending.get_mut(&number) {
                            pending.against = against;
                        }
                    }
                    Some(Remembered::Noted) => {
                        self.recall(number, None);
                        self.note(number, asked);
                    }
                    Some(Remembered::Passed) => {}
                    Some(Remembered::Rejected) | None => {
                        self.recall(number, None);
                        return self.stopped(number);
                    }
                }
                self.passed(number, call.id.as_deref(), &whole_seam(seam, place.as_deref()));
            }
            LoggedLine::Result { number, is_error, outcome, .. } => {
                self.finished(*number, *is_error, outcome);
            }
            LoggedLine::Decision { unread, .. } if *unread => self.unread(),
            LoggedLine::Decision { .. } | LoggedLine::End { .. } => {}
        }
    }

    /// The rules that object to a call.
    fn against(&self, call: &AskedCall<'_>) -> Vec<usize> {
        let event =
            SessionEvent { server: call.server, ..SessionEvent::new(Phase::Call, call.tool, call.arguments) };
        match self.refusal(&event, 0) {
            Some(Refusal::Rules(rules)) => rules,
            _ => Vec::new(),
        }
    }
}
