//! Hooks of coding agents: a process for each event of a session, with the log of the session as its memory.

use std::sync::Arc;

use planproof_spec::rules::{CallResult, CallRule, RuleSet, result_of};
use serde_json::{Value, json};

use crate::agent_names::{AgentNames, NameReading, readings};
use crate::canary::{canary_reason, is_canary};
use crate::decision::{AskedCall, CarriedCall, GuardedSession, Ruling, SeenAgain};
use crate::dialect::{EventMeaning, HookDialect, HookReply, Places};
use crate::log::{DecisionLog, LoggedLine};
use crate::modes::{GuardAction, GuardMode};
use crate::names::KnownNames;
use crate::strict;

/// Longest payload of a hook, in bytes.
pub const PAYLOAD_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What an agent reports to a hook.
#[derive(Debug, Clone, PartialEq)]
pub struct HookPayload {
    /// The agent's name for the session.
    pub session: String,
    /// What the log calls this place of a guard: the dialect, with the event where several ask about one call.
    pub seam: String,
    /// What happens.
    pub event: HookEvent,
}

/// What happens in an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum HookEvent {
    /// A call is about to be made. Its tool is named as the agent names it: `mcp__SERVER__TOOL` for one of a server.
    Before(CarriedCall),
    /// A call has ended.
    After {
        /// The call.
        call: CarriedCall,
        /// Whether the tool failed.
        is_error: bool,
        /// JSON where the tool returned JSON, otherwise its text.
        outcome: Value,
    },
    /// The agent wants to end its turn.
    Stop {
        /// It was already kept from it once.
        is_again: bool,
    },
    /// Nothing that matters here.
    Other,
}

impl HookPayload {
    /// Reads what an agent writes to a hook's stdin. Halves of characters are mended, except in what asks for a call.
    ///
    /// # Errors
    /// What is wrong with it, and what it may have been about.
    pub fn read(payload: &[u8], dialect: &HookDialect) -> Result<Self, UnreadPayload> {
        Self::read_strictly(payload, dialect).map_err(|why| UnreadPayload::of(payload, dialect, why))
    }

    fn read_strictly(payload: &[u8], dialect: &HookDialect) -> Result<Self, String> {
        let (payload, unclear) = strict::read_mended(payload.trim_ascii_end())?;
        let fields = &dialect.fields;
        let text = |places: &Places| {
            let found = places.find(&payload).and_then(Value::as_str);
            found.ok_or_else(|| format!("the payload of the hook has no `{}`", places.words()))
        };
        let name = text(&fields.event)?;
        let session = text(&fields.session)?.to_owned();
        let call = |arguments: Option<Value>| -> Result<CarriedCall, String> {
            let optional = |places: &Places| places.find(&payload).and_then(Value::as_str).map(str::to_owned);
            Ok(CarriedCall {
                id: optional(&fields.call),
                server: optional(&fields.server),
                tool: text(&fields.tool)?.to_owned(),
                arguments: arguments.unwrap_or_else(|| json!({})),
            })
        };
        let arguments = || arguments_in(&payload, &fields.arguments);
        let ended = |is_error: bool| -> Result<HookEvent, String> {
            let found = (if is_error { &fields.error } else { &fields.result }).find(&payload);
            let CallResult { value, says_error, .. } = found.map(result_of).unwrap_or_default();
            // What a call did counts, even if its arguments are not said again.
            let call = call(arguments()?)?;
            Ok(HookEvent::After { call, is_error: is_error || says_error, outcome: value })
        };
        let is_true = |places: &Places| places.find(&payload) == Some(&Value::Bool(true));
        let event = match dialect.events.get(name) {
            Some(EventMeaning::Before) => {
                let missing = || format!("the payload of the hook has no `{}`", fields.arguments.words());
                // The tool first, because a payload without one is of something else.
                text(&fields.tool)?;
                HookEvent::Before(call(Some(arguments()?.ok_or_else(missing)?))?)
            }
            Some(EventMeaning::Result) => ended(false)?,
            Some(EventMeaning::Error) => ended(true)?,
            Some(EventMeaning::After) => {
                let error = fields.error.find(&payload);
                ended(error.is_some_and(|error| *error != Value::Bool(false)))?
            }
            Some(EventMeaning::Stop) => HookEvent::Stop { is_again: is_true(&fields.again) },
            Some(EventMeaning::Other) => HookEvent::Other,
            // An event in another case would pass without a decision, whatever it is about.
            None => return Err(format!("the hook knows no event `{}`", name.escape_debug())),
        };
        if let (HookEvent::Before(_), Some(fault)) = (&event, unclear) {
            return Err(fault);
        }
        let seam = match dialect.asks_twice() {
            true => format!("{}/{name}", dialect.name),
            false => dialect.name.clone(),
        };
        Ok(Self { session, seam, event })
    }
}

/// A payload that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadPayload {
    /// What is wrong with it, in a sentence without a full stop.
    pub why: String,
    /// The sessions that it may be of; empty if it may be of any.
    pub sessions: Vec<String>,
    /// What the log calls this place of a guard.
    pub seam: String,
    /// It may ask for a call.
    pub may_ask: bool,
    /// It may say what came of a call, which nobody knows from then on.
    pub may_tell: bool,
}

impl UnreadPayload {
    /// What is known of a payload, or of its beginning, that cannot be read for this reason.
    pub fn of(payload: &[u8], dialect: &HookDialect, why: impl Into<String>) -> Self {
        use EventMeaning::{Before, Other, Stop};
        let events = dialect.fields.event.loose_texts(payload);
        let is_any = |is_it: fn(Option<&EventMeaning>) -> bool| {
            events.is_empty() || events.iter().any(|event| is_it(dialect.events.get(event)))
        };
        Self {
            why: why.into(),
            sessions: dialect.fields.session.loose_texts(payload),
            seam: dialect.name.clone(),
            may_ask: is_any(|meaning| matches!(meaning, None | Some(Before))),
            may_tell: is_any(|meaning| !matches!(meaning, Some(Before | Stop | Other))),
        }
    }
}

/// The arguments of a call, which some agents give as a text of JSON; `None` if the payload has none. A call without
/// arguments has an empty object there, or `null`.
fn arguments_in(payload: &Value, places: &Places) -> Result<Option<Value>, String> {
    let not_object = || format!("`{}` is not an object", places.words());
    match places.find(payload) {
        None => Ok(places.are_in(payload).then(|| json!({}))),
        Some(arguments @ Value::Object(_)) => Ok(Some(arguments.clone())),
        Some(Value::String(text)) => {
            let read =
                strict::read(text.as_bytes()).map_err(|fault| format!("`{}`: {fault}", places.words()))?;
            if read.is_object() { Ok(Some(read)) } else { Err(not_object()) }
        }
        Some(_) => Err(not_object()),
    }
}

/// What a hook writes to its log and answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookAnswer {
    /// A line for the log, to be written before the answer.
    pub line: Option<String>,
    /// What the agent is to read.
    pub reply: HookReply,
    /// Why a call is, or in shadow mode would be, rejected.
    pub reason: Option<String>,
}

impl HookAnswer {
    /// The answer to the canary, whatever the mode. It is not a call of the session, so the log does not have it.
    fn to_canary(mode: GuardMode) -> Self {
        let reason = canary_reason(mode);
        Self { line: None, reply: HookReply::Deny(reason.clone()), reason: Some(reason) }
    }
}

/// A session of an agent, as its log has it.
#[derive(Debug)]
pub struct HookSession {
    session: GuardedSession,
    names: KnownNames,
}

impl HookSession {
    /// The session after these lines. What the log says has happened counts, whatever these rules say of it.
    /// `log` is that of the guard which asks.
    pub fn resume(rules: &Arc<RuleSet>, lines: impl Iterator<Item = LoggedLine>, log: &DecisionLog) -> Self {
        let mut session = GuardedSession::new(rules);
        session.set_modes(log.modes());
        let mut resumed = Self { session, names: KnownNames::of(rules) };
        lines.for_each(|line| resumed.apply(&line, log));
        resumed
    }

    /// The session with a [`state`](Self::state) that was made with the same rules in the same modes by the same
    /// version of planproof; `None` if it cannot be of these.
    pub fn with_state(rules: &Arc<RuleSet>, state: &Value, log: &DecisionLog) -> Option<Self> {
        let mut session = GuardedSession::with_state(rules, state, log.keys())?;
        session.set_modes(log.modes());
        Some(Self { session, names: KnownNames::of(rules) })
    }

    /// What is remembered, so that the lines so far need not be read again, without keys of the log's; `None` if too
    /// much was forgotten, or if a key has a form that could not be had back.
    pub fn state(&self, log: &DecisionLog) -> Option<Value> {
        self.session.state(log.keys())
    }

    /// Takes a further line of the session, whichever of its guards wrote it.
    pub fn apply(&mut self, line: &LoggedLine, log: &DecisionLog) {
        self.session.apply(line, log);
    }

    /// The call with the server in the name of its tool. `mcp__a__b__pay` can be a tool of `a` or of `a__b`: the
    /// reading that the rules name counts. If they name several, this says so.
    fn of_server(&self, call: &CarriedCall) -> (CarriedCall, Option<String>) {
        let name = &*call.tool;
        if call.server.is_some() || !name.starts_with("mcp__") {
            return (call.clone(), None);
        }
        let NameReading { server, tool, is_named, is_ambiguous } =
            AgentNames::of(self.session.rules()).read(name);
        let ambiguous = match (is_ambiguous, is_named) {
            (true, _) => Some(format!(
                "`{}` can be several tools that the rules name; rename the server",
                name.escape_debug()
            )),
            (false, true) => None,
            (false, false) => {
                readings(name).find_map(|(server, tool)| self.names.check_tool(server, tool).err())
            }
        };
        let (server, tool) = (server.map(str::to_owned), tool.to_owned());
        (CarriedCall { server, tool, ..call.clone() }, ambiguous)
    }

    /// Why others could read a call differently, in a sentence without a full stop.
    fn unclear(&self, call: &CarriedCall, log: &DecisionLog) -> Option<String> {
        if strict::has_inexact_integer(&call.arguments) {
            let why = "an integer beyond 2^53 does not mean one number to all readers; send it as a text";
            return Some(why.to_owned());
        }
        self.names.check(&asked(call)).err().or_else(|| log.forgets(call))
    }

    /// Takes an event, with the rules in the modes of the log. The microseconds are those since the hook was started.
    pub fn take(&mut self, event: &HookEvent, log: &DecisionLog, microseconds: u64) -> HookAnswer {
        let modes = log.modes();
        self.session.set_modes(modes);
        match event {
            HookEvent::Other => HookAnswer::default(),
            HookEvent::Before(call) if is_canary(&call.tool) => HookAnswer::to_canary(modes.mode()),
            HookEvent::Before(call) => {
                let (call, ambiguous) = self.of_server(call);
                let call = &call;
                // A call that is reported twice counts once. Without a name, an equal one is another call, unless it
                // was seen elsewhere only.
                let seam = log.seam();
                let seen = self.session.seen_again(&asked(call), call.id.as_deref(), &seam);
                if seen.is_some_and(|seen| seen.is_known) {
                    return HookAnswer { reply: HookReply::Allow, ..HookAnswer::default() };
                }
                let ruling = match seen {
                    Some(SeenAgain { number, .. }) => self.session.decide_again(number),
                    None => self.session.decide(asked(call)),
                };
                let unclear = ambiguous.or_else(|| self.unclear(call, log));
                let unclear = unclear.map(|why| format!("The call is denied: {why}."));
                let is_refused = ruling.refusal.is_some() || unclear.is_some();
                if seen.is_none() && ruling.refusal.is_none() && unclear.is_some() {
                    self.session.take_back(ruling.number);
                }
                // What refuses a call is said before what only notes it.
                let reason = match &ruling.refusal {
                    Some(refusal) => Some(self.session.explain(refusal)),
                    None => unclear.or_else(|| self.session.reason(&ruling)),
                };
                let action = modes.action(reason.is_some(), is_refused);
                let reason = reason.map(|reason| action.worded(reason));
                let action = if seen.is_some() { action.once_more() } else { action };
                let line = self.line(call, &ruling, action, reason.as_deref(), log, microseconds);
                self.settle(call, ruling.number, action, log);
                let denied = reason.clone().filter(|_| action == GuardAction::Blocked);
                let reply = denied.map_or(HookReply::Allow, HookReply::Deny);
                HookAnswer { line: Some(line), reply, reason }
            }
            HookEvent::After { call, is_error, outcome } => {
                let (call, _) = self.of_server(call);
                let ended = self.session.ended(&asked(&call), call.id.as_deref(), &log.seam());
                let Some(number) = ended else { return HookAnswer::default() };
                self.session.finished(number, *is_error, outcome);
                HookAnswer { line: Some(log.result(number, *is_error, outcome)), ..HookAnswer::default() }
            }
            HookEvent::Stop { is_again } => {
                let unsatisfied = self.session.unsatisfied();
                let is_enforced = |rule: &CallRule| match modes.is_by_rule() {
                    true => !rule.is_shadow,
                    false => modes.mode() == GuardMode::Enforce,
                };
                let due = |rules: &[&CallRule]| {
                    let rules: Vec<String> =
                        rules.iter().map(|rule| format!("{}: {rule}.", rule.id)).collect();
                    let are_due = !rules.is_empty();
                    are_due.then(|| {
                        format!("Before you end, these rules are to be satisfied: {}", rules.join(" "))
                    })
                };
                let enforced: Vec<&CallRule> =
                    unsatisfied.iter().copied().filter(|rule| is_enforced(rule)).collect();
                // Once: an agent that is always kept from ending never does. What only watches demands nothing.
                let kept = due(&enforced).filter(|_| !is_again);
                let reason = kept.clone().or_else(|| due(&unsatisfied));
                HookAnswer { line: None, reply: kept.map_or(HookReply::Nothing, HookReply::Keep), reason }
            }
        }
    }

    /// Remembers what became of a call.
    fn settle(&mut self, call: &CarriedCall, number: u64, action: GuardAction, log: &DecisionLog) {
        match action {
            GuardAction::Blocked => return self.session.stopped(number),
            GuardAction::Noted if !action.is_counted(log.modes().is_by_rule()) => {
                self.session.note(number, asked(call));
            }
            GuardAction::Noted | GuardAction::Passed | GuardAction::Continued => {}
        }
        self.session.passed(number, call.id.as_deref(), &log.seam());
    }

    fn line(
        &self,
        call: &CarriedCall,
        ruling: &Ruling,
        action: GuardAction,
        reason: Option<&str>,
        log: &DecisionLog,
        microseconds: u64,
    ) -> String {
        let rules = self.session.rules();
        log.decision(Some((ruling, call)), Some(&**rules), action, reason, microseconds)
    }
}

fn asked(call: &CarriedCall) -> AskedCall<'_> {
    AskedCall { server: call.server.as_deref(), tool: &call.tool, arguments: &call.arguments }
}
