//! A guard that is asked over lines of JSON, by code that makes its calls itself: decide v1.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use planproof_spec::rules::{CallResult, RuleSet, result_of};
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use crate::canary::{canary_reason, is_canary};
use crate::decision::{AskedCall, CarriedCall, GuardedSession, Ruling};
use crate::keys::HeldKeys;
use crate::log::{DECIDE_SEAM, DecisionLog};
use crate::loose::{numbers_at, texts_at};
use crate::mcp::probable_id;
use crate::modes::{GuardAction, GuardMode, GuardModes};
use crate::names::KnownNames;
use crate::{answers, strict};

/// The name of the format, in the first line of a guard.
pub const DECIDE_SCHEMA: &str = "planproof/decide/v1";

/// Most sessions that are open at once. Calls of further ones are rejected.
pub const OPEN_SESSIONS_MAX: usize = 10_000;

/// Most calls of one session that were passed on and have no result. Results of further ones are not logged.
const OPEN_CALLS_MAX: usize = 10_000;

/// The keys of a question, by what it asks for. Others are refused, because a typing error in one of them would be a
/// call without arguments.
const KEYS: [(&str, &[&str]); 4] = [
    ("begin", &["id", "do", "session"]),
    ("before", &["id", "do", "session", "tool", "arguments", "call", "server"]),
    ("after", &["id", "do", "session", "number", "result", "error"]),
    ("end", &["id", "do", "session"]),
];

/// The sessions of one program.
#[derive(Debug)]
pub struct LineGuard {
    /// Without rules, nothing is known, and nothing approved: the reason.
    rules: Result<Arc<RuleSet>, String>,
    names: KnownNames,
    modes: GuardModes,
    digest: String,
    keys: HeldKeys,
    /// The session of calls that name none.
    own: String,
    sessions: BTreeMap<String, LineSession>,
}

#[derive(Debug)]
struct LineSession {
    guarded: Option<GuardedSession>,
    log: DecisionLog,
    /// Calls have numbers even where there are no rules.
    calls: u64,
    /// The numbers of calls that were passed on and have no result.
    open: BTreeSet<u64>,
    /// Those of which something was said that could not be read.
    unread: BTreeSet<u64>,
}

/// An answer, and what belongs into the log before it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineAnswer {
    /// The lines for the log, each without its end.
    pub log: Vec<String>,
    /// The line of the answer, without its end.
    pub answer: String,
    /// The session and the number of a call that is approved.
    approved: Option<(String, u64)>,
    id: Value,
}

/// Why a question has no answer, in a sentence without a full stop.
struct Unanswerable(String);

impl LineGuard {
    /// A guard by these rules, or with none that can be read: then every call is rejected, for the reason given. Calls
    /// that name no session are of the session `own`, whose name no other guard has: those of others begin with it in
    /// the log.
    pub fn new(
        rules: Result<Arc<RuleSet>, String>,
        modes: impl Into<GuardModes>,
        digest: impl Into<String>,
        own: impl Into<String>,
        keys: impl Into<HeldKeys>,
    ) -> Self {
        let names = rules.as_deref().map_or_else(|_| KnownNames::default(), KnownNames::of);
        let (modes, digest, own, keys) = (modes.into(), digest.into(), own.into(), keys.into());
        let mut guard = Self { rules, names, modes, digest, keys, own, sessions: BTreeMap::new() };
        guard.open(guard.own.clone());
        guard
    }

    fn open(&mut self, session: String) {
        // Other programs have sessions of this name, and may write to the same log.
        let logged = if session == self.own { session.clone() } else { format!("{}/{session}", self.own) };
        let log = DecisionLog::new(logged, DECIDE_SEAM, self.modes, &self.digest, self.keys.clone());
        let guarded = self.rules.as_ref().ok().map(|rules| {
            let mut guarded = GuardedSession::new(rules);
            guarded.set_modes(self.modes);
            guarded
        });
        self.sessions.insert(
            session,
            LineSession { guarded, log, calls: 0, open: BTreeSet::new(), unread: BTreeSet::new() },
        );
    }

    /// The first line that a guard writes, without its end: what it is, and why it rejects everything, if it does.
    pub fn greeting(&self) -> String {
        let mut greeting = json!({
            "schema": DECIDE_SCHEMA, "mode": self.modes.mode(), "digest": self.digest, "session": self.own,
        });
        if self.modes.is_by_rule() {
            greeting["by_rule"] = Value::from(true);
        }
        match &self.rules {
            Ok(rules) => greeting["rules"] = Value::from(rules.rules().len()),
            Err(fault) => greeting["fault"] = Value::from(fault.as_str()),
        }
        greeting.to_string()
    }

    /// Takes a question, without its end, and answers it. `microseconds` gives those since it came.
    pub fn take(&mut self, line: &[u8], microseconds: &dyn Fn() -> u64) -> LineAnswer {
        let question = match strict::read_mended(line) {
            Ok((Value::Object(question), None)) => question,
            // What a tool returned is mended as in front of a server.
            Ok((Value::Object(question), Some(_))) if question.get("do") == Some(&json!("after")) => question,
            Ok((_, None)) => return self.refused(&Value::Null, "the line is not an object"),
            Ok((_, Some(fault))) | Err(fault) => return self.unread(line, &probable_id(line), &fault),
        };
        let id = question.get("id").cloned().unwrap_or(Value::Null);
        let answered = self.answer(&id, question, microseconds);
        answered.unwrap_or_else(|Unanswerable(fault)| self.unread(line, &id, &fault))
    }

    /// What becomes of a line that is longer than it may be, and begins with these bytes.
    pub fn too_long(&mut self, begin: &[u8], bytes_max: usize) -> LineAnswer {
        self.unread(begin, &Value::Null, &format!("the line has more than {bytes_max} bytes"))
    }

    /// The answer to a line that cannot be answered. If it may have been about what came of a call, no further one of
    /// its session is approved until that is said in a way that can be read; none at all if the line does not say which
    /// call it is.
    fn unread(&mut self, line: &[u8], id: &Value, fault: &str) -> LineAnswer {
        let asked = texts_at(line, "/do");
        let others = ["begin", "before", "end"];
        let may_tell = !asked.iter().all(|asked| others.contains(&asked.as_str())) || asked.is_empty();
        let mut answer = self.refused(id, fault);
        if !may_tell {
            return answer;
        }
        let mut named = texts_at(line, "/session");
        if named.is_empty() && asked == ["after"] && is_object(line) {
            named.push(self.own.clone());
        }
        let numbers = numbers_at(line, "/number");
        for (name, session) in &mut self.sessions {
            let is_meant = named.is_empty() || named.contains(name);
            // Nothing has come of a call that was not made.
            let is_open = session.open.iter().any(|open| numbers.is_empty() || numbers.contains(open));
            if !is_meant || !is_open {
                continue;
            }
            if numbers.is_empty() {
                session.guarded.iter_mut().for_each(GuardedSession::unread);
                answer.log.push(session.log.unread());
            } else {
                // The program gets the error, and can report the result in another way.
                session.unread.extend(numbers.iter().filter(|number| session.open.contains(number)));
            }
        }
        answer
    }

    /// The answer to a line that cannot be answered. It may have been about a call.
    fn refused(&self, id: &Value, fault: &str) -> LineAnswer {
        let verdict = verdict(self.modes.mode() == GuardMode::Shadow);
        let answer = json!({ "id": id, "verdict": verdict, "fault": fault }).to_string();
        LineAnswer { log: Vec::new(), answer, approved: None, id: id.clone() }
    }

    fn answer(
        &mut self,
        id: &Value,
        mut question: Map<String, Value>,
        microseconds: &dyn Fn() -> u64,
    ) -> Result<LineAnswer, Unanswerable> {
        let asked = text(&mut question, "do")?
            .ok_or_else(|| Unanswerable("`do` is missing: begin, before, after or end".to_owned()))?;
        let Some((_, keys)) = KEYS.iter().find(|(known, _)| *known == asked) else {
            let asked = asked.escape_debug();
            return Err(Unanswerable(format!("`do` is `{asked}`, not begin, before, after or end")));
        };
        if let Some(key) = question.keys().find(|key| !keys.contains(&key.as_str())) {
            let key = key.escape_debug();
            return Err(Unanswerable(format!("`{asked}` has no `{key}`; it takes {}", keys.join(", "))));
        }
        let name = text(&mut question, "session")?;
        let session = name.clone().unwrap_or_else(|| self.own.clone());
        match asked.as_str() {
            "begin" => self.begin(id, name),
            "before" => {
                let call = read_call(&mut question)?;
                self.before(id, session, &call, microseconds)
            }
            "after" => self.after(id, &session, &mut question),
            _ => self.end(id, &session),
        }
    }

    fn begin(&mut self, id: &Value, name: Option<String>) -> Result<LineAnswer, Unanswerable> {
        let session = name.ok_or_else(|| Unanswerable("`session`, its name, is missing".to_owned()))?;
        if self.sessions.contains_key(&session) {
            return Err(Unanswerable(format!("the session `{}` is open already", session.escape_debug())));
        }
        if self.sessions.len() >= OPEN_SESSIONS_MAX {
            return Err(Unanswerable(format!("more than {OPEN_SESSIONS_MAX} sessions are open; end some")));
        }
        let answer = json!({ "id": id, "begun": session }).to_string();
        self.open(session);
        Ok(LineAnswer { log: Vec::new(), answer, approved: None, id: id.clone() })
    }

    fn before(
        &mut self,
        id: &Value,
        name: String,
        call: &CarriedCall,
        microseconds: &dyn Fn() -> u64,
    ) -> Result<LineAnswer, Unanswerable> {
        let unclear = match strict::has_inexact_integer(&call.arguments) {
            true => Some(
                "an integer beyond 2^53 does not mean one number to all readers; send it as a text"
                    .to_owned(),
            ),
            false => self.names.check(&asked(call)).err(),
        };
        let modes = self.modes;
        let fault = self.rules.as_ref().err().or(unclear.as_ref()).cloned();
        let canary = is_canary(&call.tool).then(|| canary_reason(modes.mode()));
        let is_canary = canary.is_some();
        let session = open_session(&mut self.sessions, &name)?;
        session.calls += 1;
        if let Some(guarded) = &mut session.guarded {
            guarded.doubt(!session.unread.is_empty());
        }
        let ruling = match &mut session.guarded {
            Some(guarded) if fault.is_none() && canary.is_none() => guarded.decide(asked(call)),
            Some(guarded) => {
                // A call that is not decided on has a number all the same, and never happened.
                guarded.recall(session.calls, None);
                Ruling::undecided(session.calls)
            }
            None => Ruling::undecided(session.calls),
        };
        let number = ruling.number;
        let is_refused = ruling.refusal.is_some() || fault.is_some();
        let reason = session.guarded.as_ref().and_then(|guarded| guarded.reason(&ruling));
        let reason =
            reason.or_else(|| canary.or_else(|| fault.map(|fault| format!("The call is denied: {fault}."))));
        let action = match is_canary {
            true => GuardAction::Blocked,
            false => modes.action(reason.is_some(), is_refused),
        };
        let reason = reason.map(|reason| action.worded(reason));
        let mut answer = json!({ "id": id, "verdict": verdict(action.is_passed_on()), "number": number });
        if let Some(reason) = &reason {
            let rules = self.rules.as_ref().map_or(&[][..], |rules| rules.rules());
            let objecting = ruling.objecting().iter();
            let rules: Vec<_> = objecting.filter_map(|number| rules.get(*number)).collect();
            let mut denial = answers::structured(reason, &call.tool, rules.iter().copied());
            answer["reason"] = denial["reason"].take();
            answer["rules"] = denial["rules"].take();
            let right = session.guarded.as_ref().map(|guarded| guarded.right_calls(asked(call), &rules));
            answer["right"] = right
                .into_iter()
                .flatten()
                .map(|call| json!({ "tool": call.tool, "arguments": call.arguments }))
                .collect();
        }
        let rules = self.rules.as_deref().ok();
        let line =
            session.log.decision(Some((&ruling, call)), rules, action, reason.as_deref(), microseconds());
        // The object of the log, without another reading of it.
        answer["decision"] = serde_json::from_str(&line).unwrap_or_default();
        if action.is_passed_on() && session.open.len() < OPEN_CALLS_MAX {
            session.open.insert(number);
        }
        let approved = action.is_counted(modes.is_by_rule()).then_some((name, number));
        Ok(LineAnswer { log: vec![line], answer: answer.to_string(), approved, id: id.clone() })
    }

    fn after(
        &mut self,
        id: &Value,
        session: &str,
        question: &mut Map<String, Value>,
    ) -> Result<LineAnswer, Unanswerable> {
        let number = question.get("number").and_then(Value::as_u64);
        let number = number.ok_or_else(|| Unanswerable("`number`, of the call, is missing".to_owned()))?;
        let (is_error, outcome) = match (question.remove("result"), question.remove("error")) {
            (Some(result), None) => (false, result),
            (None, Some(error)) => (true, error),
            _ => return Err(Unanswerable("`after` has either a `result` or an `error`".to_owned())),
        };
        let CallResult { value: outcome, says_error, .. } = result_of(&outcome);
        let is_error = is_error || says_error;
        let session = open_session(&mut self.sessions, session)?;
        let is_open = session.open.remove(&number);
        session.unread.remove(&number);
        let mut log = Vec::new();
        if is_open {
            if let Some(guarded) = &mut session.guarded {
                guarded.finished(number, is_error, &outcome);
            }
            log.push(session.log.result(number, is_error, &outcome));
        }
        let answer = json!({ "id": id, "counted": is_open }).to_string();
        Ok(LineAnswer { log, answer, approved: None, id: id.clone() })
    }

    fn end(&mut self, id: &Value, session: &str) -> Result<LineAnswer, Unanswerable> {
        open_session(&mut self.sessions, session)?;
        let Some(ended) = self.sessions.remove(session) else {
            return Err(Unanswerable("the session is not open".to_owned()));
        };
        let unsatisfied = ended.guarded.as_ref().map(GuardedSession::unsatisfied).unwrap_or_default();
        let listed = answers::structured("", "", unsatisfied.iter().copied())["rules"].take();
        let answer = json!({ "id": id, "unsatisfied": listed, "pending": ended.pending() }).to_string();
        Ok(LineAnswer { log: vec![ended.end_line()], answer, approved: None, id: id.clone() })
    }

    /// Whether an answer is an approval that is taken back where the log cannot be written.
    pub fn may_take_back(&self, answer: &LineAnswer) -> bool {
        answer.approved.is_some() && self.modes.mode() == GuardMode::Enforce
    }

    /// Takes an approval back, because the log cannot be written. Gives what is answered instead; in shadow mode, and
    /// to anything else, the answer itself.
    pub fn unlogged(&mut self, answer: LineAnswer, why: &str) -> LineAnswer {
        let Some((session, number)) =
            answer.approved.as_ref().filter(|_| self.modes.mode() == GuardMode::Enforce)
        else {
            return answer;
        };
        if let Some(session) = self.sessions.get_mut(session) {
            session.open.remove(number);
            if let Some(guarded) = &mut session.guarded {
                guarded.take_back(*number);
            }
        }
        let reason = format!("The call is denied: {why}.");
        let line = json!({
            "id": answer.id, "verdict": verdict(false), "number": number, "reason": reason, "rules": [], "right": [],
        });
        LineAnswer { log: Vec::new(), answer: line.to_string(), approved: None, id: answer.id }
    }

    /// The lines of the log where all sessions end: those with a call. Each is without its end.
    pub fn end_lines(&self) -> Vec<String> {
        let begun = self.sessions.values().filter(|session| session.calls > 0);
        begun.map(LineSession::end_line).collect()
    }
}

impl LineSession {
    fn pending(&self) -> Vec<u64> {
        self.guarded.iter().flat_map(GuardedSession::pending).collect()
    }

    fn end_line(&self) -> String {
        let unsatisfied = self.guarded.iter().flat_map(GuardedSession::unsatisfied);
        self.log.end(unsatisfied.map(|rule| rule.id.clone()).collect(), self.pending())
    }
}

/// Whether a line is whole for whoever keeps nothing of it, so that what it does not name is not there.
fn is_object(line: &[u8]) -> bool {
    serde_json::from_slice::<HashMap<String, IgnoredAny>>(line).is_ok()
}

fn open_session<'s>(
    sessions: &'s mut BTreeMap<String, LineSession>,
    name: &str,
) -> Result<&'s mut LineSession, Unanswerable> {
    let name_shown = || name.escape_debug().to_string();
    sessions
        .get_mut(name)
        .ok_or_else(|| Unanswerable(format!("the session `{}` is not open: begin it", name_shown())))
}

fn asked(call: &CarriedCall) -> AskedCall<'_> {
    AskedCall { server: call.server.as_deref(), tool: &call.tool, arguments: &call.arguments }
}

fn verdict(is_approved: bool) -> &'static str {
    if is_approved { "approve" } else { "reject" }
}

fn read_call(question: &mut Map<String, Value>) -> Result<CarriedCall, Unanswerable> {
    let tool = text(question, "tool")?.ok_or_else(|| Unanswerable("`tool` is missing".to_owned()))?;
    let arguments = match question.remove("arguments") {
        None | Some(Value::Null) => json!({}),
        Some(arguments @ Value::Object(_)) => arguments,
        Some(_) => return Err(Unanswerable("`arguments` is not an object".to_owned())),
    };
    Ok(CarriedCall { id: text(question, "call")?, server: text(question, "server")?, tool, arguments })
}

/// Takes a text out of a question.
fn text(question: &mut Map<String, Value>, key: &str) -> Result<Option<String>, Unanswerable> {
    match question.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Unanswerable(format!("`{key}` is not a text"))),
    }
}
