//! Hooks of coding agents: a process for each event of a session, with the log of the session as its memory.

use std::sync::Arc;

use planproof_spec::rules::{RuleSet, outcome_of};
use serde_json::{Value, json};

use crate::canary::{canary_reason, is_canary};
use crate::decision::{AskedCall, CarriedCall, GuardedSession, Ruling, SeenAgain};
use crate::log::{DecisionLog, GuardAction, GuardMode, LoggedLine};
use crate::names::KnownNames;

/// Longest payload of a hook, in bytes.
pub const PAYLOAD_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Events of Claude Code and Codex that matter to no rule.
const OTHER_EVENTS: [&str; 23] = [
    "SessionStart",
    "SessionEnd",
    "Setup",
    "InstructionsLoaded",
    "UserPromptSubmit",
    "PermissionRequest",
    "PermissionDenied",
    "Notification",
    "SubagentStart",
    "SubagentStop",
    "StopFailure",
    "TaskCreated",
    "TaskCompleted",
    "TeammateIdle",
    "ConfigChange",
    "CwdChanged",
    "FileChanged",
    "WorktreeCreate",
    "WorktreeRemove",
    "PreCompact",
    "PostCompact",
    "Elicitation",
    "ElicitationResult",
];

/// What an agent reports to a hook. Claude Code and Codex report alike.
#[derive(Debug, Clone, PartialEq)]
pub struct HookPayload {
    /// The agent's name for the session.
    pub session: String,
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
    /// Reads what an agent writes to a hook's stdin.
    ///
    /// # Errors
    /// What is wrong with it, in a sentence without a full stop.
    pub fn read(payload: &[u8]) -> Result<Self, String> {
        let payload = crate::strict::read(payload.trim_ascii_end())?;
        let text = |key: &str| payload.get(key).and_then(Value::as_str);
        let name = text("hook_event_name").ok_or("the payload of the hook has no `hook_event_name`")?;
        let session = text("session_id").ok_or("the payload of the hook has no `session_id`")?.to_owned();
        let call = || -> Result<CarriedCall, String> {
            let name = text("tool_name").ok_or("the payload of the hook has no `tool_name`")?;
            let arguments = match payload.get("tool_input") {
                None | Some(Value::Null) => json!({}),
                Some(arguments @ Value::Object(_)) => arguments.clone(),
                Some(_) => return Err("`tool_input` is not an object".to_owned()),
            };
            Ok(CarriedCall {
                id: text("tool_use_id").map(str::to_owned),
                server: None,
                tool: name.to_owned(),
                arguments,
            })
        };
        let event = match name {
            "PreToolUse" => HookEvent::Before(call()?),
            "PostToolUse" => {
                let outcome = match payload.get("tool_response") {
                    Some(Value::String(text)) => outcome_of(text),
                    other => other.cloned().unwrap_or_default(),
                };
                HookEvent::After { call: call()?, is_error: false, outcome }
            }
            "PostToolUseFailure" => {
                let outcome = payload.get("error").and_then(Value::as_str).map(outcome_of);
                HookEvent::After { call: call()?, is_error: true, outcome: outcome.unwrap_or_default() }
            }
            "Stop" => {
                HookEvent::Stop { is_again: payload.get("stop_hook_active") == Some(&Value::Bool(true)) }
            }
            other if OTHER_EVENTS.contains(&other) => HookEvent::Other,
            // An event in another case would pass without a decision, whatever it is about.
            other => return Err(format!("the hook knows no event `{}`", other.escape_debug())),
        };
        Ok(Self { session, event })
    }
}

/// What a hook writes to its log and answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookAnswer {
    /// A line for the log, to be written before the answer.
    pub line: Option<String>,
    /// What goes to stdout. Without one the agent proceeds as if there were no hook: a guard never grants anything.
    pub answer: Option<String>,
    /// Why a call is, or in shadow mode would be, rejected.
    pub reason: Option<String>,
}

impl HookAnswer {
    /// The answer to the canary, whatever the mode. It is not a call of the session, so the log does not have it.
    fn to_canary(mode: GuardMode) -> Self {
        let reason = canary_reason(mode);
        Self { line: None, answer: Some(denial(&reason)), reason: Some(reason) }
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
    pub fn resume(rules: &Arc<RuleSet>, lines: impl Iterator<Item = LoggedLine>) -> Self {
        let mut resumed = Self { session: GuardedSession::new(rules), names: KnownNames::of(rules) };
        lines.for_each(|line| resumed.apply(&line));
        resumed
    }

    /// The session with a [`state`](Self::state) that was made with the same rules by the same version of planproof;
    /// `None` if it cannot be of these.
    pub fn with_state(rules: &Arc<RuleSet>, state: &Value) -> Option<Self> {
        let session = GuardedSession::with_state(rules, state)?;
        Some(Self { session, names: KnownNames::of(rules) })
    }

    /// What is remembered, so that the lines so far need not be read again; `None` if too much was forgotten. If only
    /// lines of a log were applied so far, there is no secret in it.
    pub fn state(&self) -> Option<Value> {
        self.session.state()
    }

    /// Takes a further line of the log.
    pub fn apply(&mut self, line: &LoggedLine) {
        self.session.apply(line);
    }

    /// The call with the server in the name of its tool. `mcp__a__b__pay` can be a tool of `a` or of `a__b`: the
    /// reading that the rules name counts. If they name several, this says so.
    fn of_server(&self, call: &CarriedCall) -> (CarriedCall, Option<String>) {
        let name = &*call.tool;
        let Some(rest) = name.strip_prefix("mcp__") else { return (call.clone(), None) };
        let known = self.session.rules().tool_names();
        let splits = rest.match_indices('_').filter_map(|(at, _)| {
            let (server, tool) = (rest.get(..at)?, rest.get(at..)?.strip_prefix("__")?);
            (!server.is_empty() && !tool.is_empty()).then_some((Some(server), tool))
        });
        let readings: Vec<(Option<&str>, &str)> = splits.chain([(None, name)]).collect();
        let is_named = |(server, tool): &(Option<&str>, &str)| {
            known.iter().any(|known| {
                known == tool || server.is_some_and(|server| *known == format!("{server}/{tool}"))
            })
        };
        let mut named = readings.iter().filter(|reading| is_named(reading));
        let (server, tool) = *named.next().or(readings.first()).unwrap_or(&(None, name));
        let ambiguous = match named.next() {
            Some(_) => Some(format!(
                "`{}` can be several tools that the rules name; rename the server",
                name.escape_debug()
            )),
            None if is_named(&(server, tool)) => None,
            None => readings.iter().find_map(|(_, tool)| self.names.check(tool, &Value::Null).err()),
        };
        let (server, tool) = (server.map(str::to_owned), tool.to_owned());
        (CarriedCall { server, tool, ..call.clone() }, ambiguous)
    }

    /// Why others could read a call differently, in a sentence without a full stop.
    fn unclear(&self, call: &CarriedCall) -> Option<String> {
        if crate::strict::has_inexact_integer(&call.arguments) {
            let why = "an integer beyond 2^53 does not mean one number to all readers; send it as a text";
            return Some(why.to_owned());
        }
        self.names.check(&call.tool, &call.arguments).err()
    }

    /// Takes an event. The microseconds are those since the hook was started.
    pub fn take(
        &mut self,
        event: &HookEvent,
        mode: GuardMode,
        log: &DecisionLog,
        microseconds: u64,
    ) -> HookAnswer {
        match event {
            HookEvent::Other => HookAnswer::default(),
            HookEvent::Before(call) if is_canary(&call.tool) => HookAnswer::to_canary(mode),
            HookEvent::Before(call) => {
                let (call, ambiguous) = self.of_server(call);
                let call = &call;
                // A call that is reported twice counts once. Without a name, an equal one is another call, unless it
                // was seen elsewhere only.
                let seen = self.session.seen_again(&asked(call), call.id.as_deref(), log.seam());
                if let Some(SeenAgain { number, is_known }) = seen {
                    if is_known {
                        return HookAnswer::default();
                    }
                    let ruling = Ruling { number, refusal: None, rules: Vec::new() };
                    self.session.passed(number, call.id.as_deref(), log.seam());
                    let line = self.line(call, &ruling, GuardAction::Continued, None, log, microseconds);
                    return HookAnswer { line: Some(line), ..HookAnswer::default() };
                }
                let ruling = self.session.decide(asked(call));
                let refusal = ruling.refusal.as_ref().map(|refusal| self.session.explain(refusal));
                let unclear = ambiguous.or_else(|| self.unclear(call));
                let reason = refusal.or_else(|| unclear.map(|why| format!("The call is denied: {why}.")));
                if ruling.refusal.is_none() && reason.is_some() {
                    self.session.abandoned(ruling.number);
                }
                let action = match (&reason, mode) {
                    (None, _) => GuardAction::Passed,
                    (Some(_), GuardMode::Shadow) => GuardAction::Noted,
                    (Some(_), GuardMode::Enforce) => GuardAction::Blocked,
                };
                let line = self.line(call, &ruling, action, reason.as_deref(), log, microseconds);
                if action == GuardAction::Passed {
                    self.session.passed(ruling.number, call.id.as_deref(), log.seam());
                }
                let answer = reason.as_deref().filter(|_| action == GuardAction::Blocked).map(denial);
                HookAnswer { line: Some(line), answer, reason }
            }
            HookEvent::After { call, is_error, outcome } => {
                let (call, _) = self.of_server(call);
                let ended = self.session.ended(&asked(&call), call.id.as_deref(), log.seam());
                let Some(number) = ended else { return HookAnswer::default() };
                self.session.finished(number, *is_error, outcome);
                HookAnswer { line: Some(log.result(number, *is_error, outcome)), ..HookAnswer::default() }
            }
            HookEvent::Stop { is_again } => {
                let unsatisfied = self.session.unsatisfied();
                let due: Vec<String> =
                    unsatisfied.iter().map(|rule| format!("{}: {rule}.", rule.id)).collect();
                let is_due = !due.is_empty();
                let reason = is_due
                    .then(|| format!("Before you end, these rules are to be satisfied: {}", due.join(" ")));
                // Once: an agent that is always kept from ending never does.
                let is_kept = !is_again && mode == GuardMode::Enforce;
                let answer = reason.as_ref().filter(|_| is_kept);
                let answer =
                    answer.map(|reason| json!({ "decision": "block", "reason": reason }).to_string());
                HookAnswer { line: None, answer, reason }
            }
        }
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

/// What an agent reads of a call that is rejected.
pub fn denial(reason: &str) -> String {
    json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason,
    }})
    .to_string()
}
