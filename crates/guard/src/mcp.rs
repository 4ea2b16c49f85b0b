//! A guard between an MCP client and a server, message by message.
//!
//! Messages are lines of JSON. All but calls of tools pass as they are, whatever they mean, except those that client
//! and server could understand differently. Nothing is written anew: a line is passed on as it came, or not at all.
//! `mcp/server.rs` reads what the server says, with the ids of its answers (`mcp/ids.rs`) and the calls that become
//! tasks (`mcp/tasks.rs`), and `mcp/undo.rs` takes decisions back that cannot be kept.

mod ids;
mod server;
mod tasks;
mod undo;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use planproof_spec::rules::RuleSet;
use planproof_trace::json;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::canary::{CANARY_TOOL, canary_reason, is_canary};
use crate::decision::{AskedCall, CarriedCall, GuardedSession, Ruling, SeenAgain};
use crate::log::{DecisionLog, LoggedLine};
use crate::modes::{GuardAction, GuardMode};
use crate::names::KnownNames;
use crate::{answers, strict};

/// Longest line of a client, in bytes; a longer one is refused. A longer line of a server is passed on without being
/// read.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Most requests of a client whose answers have not come; further ones are refused.
pub const OUTSTANDING_MAX: usize = 10_000;

/// The keys of a message that say what it is.
const MESSAGE_KEYS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
/// Those of the parameters of a call.
const CALL_KEYS: [&str; 6] = ["name", "arguments", "_meta", "task", "requeststate", "inputresponses"];
/// The same, as they are written.
const CALL_KEYS_WRITTEN: [&str; 6] = ["name", "arguments", "_meta", "task", "requestState", "inputResponses"];

/// The call of a tool.
const TOOLS_CALL: &str = "tools/call";

/// What a server's answer will be about.
#[derive(Debug, Clone)]
enum Awaited {
    /// A call, by its number.
    Call(u64, CarriedCall),
    /// A list of tools, or the continuation of one.
    Tools {
        /// It is a continuation.
        continues: bool,
    },
    /// The state of a task, by the task's id.
    Task(String),
    /// The states of tasks.
    Tasks,
    /// The result of a task.
    TaskResult(String),
    /// Nothing that matters here.
    Other,
}

impl Awaited {
    /// Whether the answer says what became of a call.
    fn is_call(&self) -> bool {
        matches!(self, Self::Call(..) | Self::Task(_) | Self::TaskResult(_))
    }

    fn is_result_of(&self, task: &str) -> bool {
        matches!(self, Self::TaskResult(id) if id == task)
    }
}

/// A request of the client that has not been answered.
#[derive(Debug)]
struct Outstanding {
    /// The text of its id.
    id: String,
    /// The stream in which it was sent, where there are several.
    stream: Option<u64>,
    awaited: Awaited,
    /// Its scope has ended. Only a stream that is resumed can have the answer.
    is_over: bool,
}

/// A guard's session with one client and one server.
#[derive(Debug)]
pub struct McpGuard {
    /// Without rules, nothing is known, and nothing approved: the reason.
    session: Result<GuardedSession, String>,
    /// That of whatever no single rule decides.
    mode: GuardMode,
    log: DecisionLog,
    /// Names in the rules.
    names: KnownNames,
    /// By the scope and the text of the id.
    outstanding: HashMap<String, Outstanding>,
    /// Calls that the server asked for more about.
    unfinished: Vec<Unfinished>,
    /// Calls that became tasks.
    tasks: tasks::Tasks,
    /// Lines of the log about results that were learnt from what the client did.
    late: Vec<String>,
    /// Tools whose results must have a form of their own, which a rejection has not.
    with_schema: HashSet<String>,
    /// Whether the client has greeted in the older protocol.
    is_older: bool,
    /// Calls have numbers even where there are no rules.
    calls: u64,
    /// Where ids are unique, if that is not the session.
    scope: String,
    /// The stream to which the messages belong, if it is known.
    stream: Option<u64>,
    /// Whether the client resumes it.
    is_resumed: bool,
    /// The method that comes with the message, and what that is about, if they do.
    said: [Option<String>; 2],
    /// The tools of the server so far, with the schemas of the arguments of those that the rules name.
    listed: Vec<(String, Map<String, Value>)>,
    /// What whoever watches the guard should know of the server, and has not been given yet.
    notices: Vec<String>,
    /// What was noticed once, and is not said again.
    noticed: HashSet<String>,
}

/// What becomes of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    /// It is passed on as it came.
    Pass,
    /// It is not passed on, and the client gets this line instead.
    Answer(String),
    /// It is not passed on, and nothing can be answered.
    Drop,
}

/// What was heard from a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FromClient {
    /// What becomes of the line.
    pub then: Then,
    /// Why it is, or in shadow mode would be, refused.
    pub reason: Option<String>,
    /// What the log has to say before anything else happens.
    decision: Option<Decided>,
    /// The id to answer to.
    id: Value,
}

/// A decision, as the log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Decided {
    /// The call, if the message can be read as one.
    call: Option<(Ruling, CarriedCall)>,
    action: GuardAction,
    /// What is undone if the call is not passed on after all.
    change: Change,
}

/// What the guard remembers of a decision beside the message that waits for its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    /// Nothing.
    None,
    /// The call counts as made.
    Counted,
    /// The call of another guard of the session has passed here.
    Passed,
    /// The server does not wait for more about this call any longer.
    Continued(Unfinished),
    /// All of it has been undone.
    Undone,
}

/// A call that the server asked for more about, with the state that the client has to repeat.
type Unfinished = (u64, CarriedCall, Option<String>);

/// Why a message is refused before any rule is asked.
struct Unclear {
    reason: String,
    id: Value,
    is_json: bool,
    /// Whether the answer has to be the result of a call.
    is_call: bool,
    is_answerable: bool,
}

impl McpGuard {
    /// A session by these rules, or with none that can be read: then every call is rejected, for the reason given.
    /// The log says in which modes they are.
    pub fn new(rules: Result<&Arc<RuleSet>, String>, log: DecisionLog) -> Self {
        let mut guard = Self {
            session: rules.map(GuardedSession::new),
            mode: log.modes().mode(),
            log,
            names: KnownNames::default(),
            outstanding: HashMap::new(),
            unfinished: Vec::new(),
            tasks: tasks::Tasks::default(),
            late: Vec::new(),
            with_schema: HashSet::new(),
            is_older: false,
            calls: 0,
            scope: String::new(),
            stream: None,
            is_resumed: false,
            said: [None, None],
            listed: Vec::new(),
            notices: Vec::new(),
            noticed: HashSet::new(),
        };
        if let Ok(session) = &mut guard.session {
            session.set_modes(guard.log.modes());
            guard.names = KnownNames::of(session.rules());
        }
        guard
    }

    /// Says of the messages that follow in which scope their ids are unique, whether they are of the newer protocol,
    /// and which method and name their headers have: over HTTP, a session may have several connections, and messages of
    /// both eras. A message that its headers contradict is refused, because others may go by them.
    pub fn over_http(&mut self, scope: &str, is_newer: bool, said: &[Option<String>; 2]) {
        scope.clone_into(&mut self.scope);
        self.is_older = !is_newer;
        self.said.clone_from(said);
    }

    /// Says of the messages that follow to which stream they belong, by the number of the exchange that began it, and
    /// whether the client resumes that stream; `None` if it is not known which one it resumes.
    pub fn in_stream(&mut self, stream: Option<u64>, is_resumed: bool) {
        self.stream = stream;
        self.is_resumed = is_resumed;
    }

    /// Answers that have not come in this scope will not come in it. Calls stay pending: the client may resume the
    /// stream, or find the answer in another.
    pub fn scope_ended(&mut self, scope: &str) {
        let pending: HashSet<u64> = self.session.iter().flat_map(GuardedSession::pending).collect();
        let tasks = &self.tasks;
        self.outstanding.retain(|key, it| {
            it.is_over |= key.strip_prefix(scope).is_some_and(|rest| rest.starts_with('\0'));
            !it.is_over
                || match &it.awaited {
                    Awaited::Call(number, _) => pending.contains(number),
                    Awaited::Task(id) | Awaited::TaskResult(id) => tasks.has(id),
                    Awaited::Tools { .. } | Awaited::Tasks | Awaited::Other => false,
                }
        });
    }

    /// Notes what the answer to a request will be about.
    fn await_answer(&mut self, id: &Value, awaited: Awaited) {
        let request = Outstanding { id: ids::text_of(id), stream: self.stream, awaited, is_over: false };
        self.outstanding.insert(self.key(id), request);
    }

    fn key(&self, id: &Value) -> String {
        let id = ids::text_of(id);
        if self.scope.is_empty() { id } else { format!("{}\0{id}", self.scope) }
    }

    /// What the headers of a message say otherwise than the message, in a sentence without a full stop.
    fn contradiction(&self, method: &str, params: Option<&Value>) -> Option<String> {
        let [said_method, said_name] = &self.said;
        if let Some(said) = said_method.as_ref().filter(|said| *said != method) {
            return Some(format!(
                "the header Mcp-Method says `{}`, and the message `{method}`",
                said.escape_debug()
            ));
        }
        // Only calls are decided on.
        let name = params.and_then(|params| params.get("name")?.as_str()).filter(|_| method == TOOLS_CALL)?;
        let said = said_name.as_ref().filter(|said| *said != name)?;
        Some(format!("the header Mcp-Name says `{}`, and the message `{name}`", said.escape_debug()))
    }

    /// Takes a line of the client, without its end, and decides what becomes of it. [`decision_line`] belongs into the
    /// log before that happens.
    ///
    /// [`decision_line`]: Self::decision_line
    pub fn from_client(&mut self, line: &[u8]) -> FromClient {
        let passed = |decision| FromClient { then: Then::Pass, reason: None, decision, id: Value::Null };
        if line.trim_ascii().is_empty() {
            return passed(None);
        }
        match self.read(line) {
            Ok(None) => passed(None),
            Ok(Some((id, params))) => self.call(id, params),
            Err(unclear) => self.refuse(unclear),
        }
    }

    /// Whether a decision that cannot be kept is taken back.
    pub fn is_enforcing(&self) -> bool {
        self.mode == GuardMode::Enforce
    }

    /// Takes what other guards of the session have written to its history since.
    pub fn catch_up(&mut self, lines: &[LoggedLine]) {
        if let Ok(session) = &mut self.session {
            lines.iter().for_each(|line| session.apply(line, &self.log));
        }
    }

    /// The line that what came of a call of a session is not known, for the history of this one and others.
    pub fn unread_line_of(&self, session: &str) -> String {
        self.log.of_session(session).unread()
    }

    /// Takes note that an answer which this guard has read could not be kept for the others of its session. Gives the
    /// line of the log about it; `None` where nothing is approved anyway.
    pub fn lost(&mut self) -> Option<String> {
        self.blocked()
    }

    /// What becomes of a line that is longer than [`LINE_BYTES_MAX`].
    pub fn too_long(&mut self) -> FromClient {
        let reason = format!("the message has more than {LINE_BYTES_MAX} bytes");
        self.refuse(Unclear { reason, id: Value::Null, is_json: false, is_call: false, is_answerable: true })
    }

    fn refuse(&mut self, unclear: Unclear) -> FromClient {
        let Unclear { reason, id, is_json, is_call, is_answerable } = unclear;
        let answer = || match is_call {
            true => {
                let reason = format!("The call is denied: {reason}.");
                answers::rejected(&id, &reason, None, !self.is_older)
            }
            false => answers::refused(&id, &reason, is_json),
        };
        let (then, action) = match self.mode {
            GuardMode::Shadow => (Then::Pass, GuardAction::Noted),
            GuardMode::Enforce if is_answerable => (Then::Answer(answer()), GuardAction::Blocked),
            GuardMode::Enforce => (Then::Drop, GuardAction::Blocked),
        };
        FromClient {
            then,
            reason: Some(reason),
            decision: Some(Decided { call: None, action, change: Change::None }),
            id,
        }
    }

    /// The id and the parameters of a call; `None` for any other message, which is noted if it is a request.
    fn read(&mut self, line: &[u8]) -> Result<Option<(Value, Value)>, Unclear> {
        let unclear = |reason: String, id: &Value| Unclear {
            reason,
            id: id.clone(),
            is_json: true,
            is_call: false,
            is_answerable: true,
        };
        let message = strict::read(line).map_err(|reason| Unclear {
            reason,
            id: probable_id(line),
            is_json: false,
            is_call: false,
            is_answerable: true,
        })?;
        let Value::Object(mut message) = message else {
            let what = if message.is_array() { "a batch of messages" } else { "not an object" };
            return Err(unclear(format!("the message is {what}; send one object a line"), &Value::Null));
        };
        let id = message.get("id").cloned();
        let known_id = id.clone().filter(is_usable).unwrap_or(Value::Null);
        for key in message.keys() {
            let folded = strict::folded(key);
            if MESSAGE_KEYS.contains(&folded.as_str()) && folded != *key {
                return Err(unclear(
                    format!("the message has the key `{key}` instead of `{folded}`"),
                    &known_id,
                ));
            }
        }
        let method = match message.remove("method") {
            // An answer to a request of the server.
            None => return Ok(None),
            Some(Value::String(method)) => method,
            Some(_) => return Err(unclear("`method` is not a text".to_owned(), &known_id)),
        };
        if !method.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(unclear("`method` has characters that no method has".to_owned(), &known_id));
        }
        if method != TOOLS_CALL && method.eq_ignore_ascii_case(TOOLS_CALL) {
            return Err(unclear(format!("`method` is `{method}` instead of `{TOOLS_CALL}`"), &known_id));
        }
        let is_call = method == TOOLS_CALL;
        if let Some(why) = self.contradiction(&method, message.get("params")) {
            return Err(Unclear { is_answerable: id.is_some(), ..unclear(why, &known_id) });
        }
        let Some(id) = id else {
            if is_call {
                let reason = format!("`{TOOLS_CALL}` without an id cannot be answered");
                return Err(Unclear { is_answerable: false, ..unclear(reason, &Value::Null) });
            }
            return Ok(None);
        };
        if !is_usable(&id) {
            return Err(unclear(
                "`id` is neither a text nor an integer of up to 53 bits".to_owned(),
                &Value::Null,
            ));
        }
        if self.outstanding.contains_key(&self.key(&id)) {
            let reason = format!("the id {id} belongs to a request that is not answered yet");
            return Err(unclear(reason, &Value::Null));
        }
        if self.outstanding.len() >= OUTSTANDING_MAX {
            return Err(unclear(format!("more than {OUTSTANDING_MAX} requests are not answered yet"), &id));
        }
        let params = message.remove("params").unwrap_or(Value::Null);
        if is_call {
            return Ok(Some((id, params)));
        }
        let awaited = match method.as_str() {
            "tools/list" => {
                Awaited::Tools { continues: params.get("cursor").is_some_and(|cursor| !cursor.is_null()) }
            }
            "tasks/result" => tasks::id_of(&params).map_or(Awaited::Other, Awaited::TaskResult),
            "tasks/get" | "tasks/cancel" => tasks::id_of(&params).map_or(Awaited::Other, Awaited::Task),
            "tasks/list" => Awaited::Tasks,
            "initialize" => {
                self.is_older = true;
                Awaited::Other
            }
            _ => Awaited::Other,
        };
        self.await_answer(&id, awaited);
        Ok(None)
    }

    /// Decides on a call.
    fn call(&mut self, id: Value, params: Value) -> FromClient {
        if params.get("name").and_then(Value::as_str).is_some_and(is_canary) {
            return self.canary(id);
        }
        let parts = self.parts_of(params).and_then(|(tool, arguments, state)| {
            let asked = CarriedCall { id: None, server: None, tool, arguments };
            self.log.forgets(&asked).map_or(Ok((asked, state)), Err)
        });
        let (asked, state) = match parts {
            Ok(parts) => parts,
            Err(reason) => {
                if self.mode == GuardMode::Shadow {
                    self.await_answer(&id, Awaited::Other);
                }
                return self.refuse(Unclear {
                    reason,
                    id,
                    is_json: true,
                    is_call: true,
                    is_answerable: true,
                });
            }
        };
        // The server asked for more before it answered: this is the call that was approved, once more.
        let continued = state.and_then(|state| {
            let place =
                self.unfinished.iter().position(|(_, call, known)| *call == asked && *known == state)?;
            Some(self.unfinished.swap_remove(place))
        });
        self.settle_tasks();
        let again = |number| (Ruling::undecided(number), GuardAction::Continued);
        if let Some(unfinished) = continued {
            return self.pass(id, asked, again(unfinished.0), Change::Continued(unfinished), None);
        }
        let call = AskedCall { server: None, tool: &asked.tool, arguments: &asked.arguments };
        // Another guard of the session has approved it, and it comes by here on its way.
        let seam = self.log.seam();
        let seen = self.session.as_ref().ok().and_then(|it| it.seen_again(&call, None, &seam));
        let ruling = match &mut self.session {
            Ok(session) => match seen {
                Some(SeenAgain { number, .. }) => session.decide_again(number),
                None => session.decide(call),
            },
            Err(_) => {
                self.calls += 1;
                Ruling::undecided(self.calls)
            }
        };
        let reason = match &self.session {
            Err(reason) => Some(format!("The call is denied: {reason}.")),
            Ok(session) => session.reason(&ruling),
        };
        let is_refused = self.session.is_err() || ruling.refusal.is_some();
        let action = self.log.modes().action(reason.is_some(), is_refused);
        let reason = reason.map(|reason| action.worded(reason));
        let action = if seen.is_some() { action.once_more() } else { action };
        let is_counted = action.is_counted(self.log.modes().is_by_rule());
        if let Ok(session) = &mut self.session {
            match action {
                // It was not counted here, unless another guard had let it pass.
                GuardAction::Blocked => session.stopped(ruling.number),
                GuardAction::Noted if !is_counted => session.note(ruling.number, call),
                GuardAction::Noted | GuardAction::Passed | GuardAction::Continued => {}
            }
            if action.is_passed_on() {
                session.passed(ruling.number, None, &seam);
            }
        }
        let Some(reason) = reason.clone().filter(|_| action == GuardAction::Blocked) else {
            let change = match (seen, is_counted) {
                (Some(_), _) => Change::Passed,
                (None, true) => Change::Counted,
                (None, false) => Change::None,
            };
            return self.pass(id, asked, (ruling, action), change, reason);
        };
        let structured = (!self.with_schema.contains(&asked.tool)).then(|| {
            let rules = self.session.as_ref().map_or(&[][..], |session| session.rules().rules());
            let objecting = ruling.objecting().iter().filter_map(|number| rules.get(*number));
            answers::structured(&reason, &asked.tool, objecting)
        });
        let answer = answers::rejected(&id, &reason, structured, !self.is_older);
        let (call, action) = (Some((ruling, asked)), GuardAction::Blocked);
        let decision = Some(Decided { call, action, change: Change::None });
        FromClient { then: Then::Answer(answer), reason: Some(reason), decision, id }
    }

    /// The answer to the canary, whatever the mode. The log has it as a message that was refused: it is not a call of
    /// the session.
    fn canary(&self, id: Value) -> FromClient {
        let reason = canary_reason(self.mode);
        let structured = answers::structured(&reason, CANARY_TOOL, std::iter::empty());
        let answer = answers::rejected(&id, &reason, Some(structured), !self.is_older);
        let decision = Some(Decided { call: None, action: GuardAction::Blocked, change: Change::None });
        FromClient { then: Then::Answer(answer), reason: Some(reason), decision, id }
    }

    fn pass(
        &mut self,
        id: Value,
        asked: CarriedCall,
        (ruling, action): (Ruling, GuardAction),
        change: Change,
        reason: Option<String>,
    ) -> FromClient {
        self.await_answer(&id, Awaited::Call(ruling.number, asked.clone()));
        let decision = Some(Decided { call: Some((ruling, asked)), action, change });
        FromClient { then: Then::Pass, reason, decision, id }
    }

    /// The tool and the arguments of a call, and the state that it repeats, if it continues another.
    fn parts_of(&self, params: Value) -> Result<(String, Value, Option<Option<String>>), String> {
        let Value::Object(mut params) = params else { return Err("`params` is not an object".to_owned()) };
        for key in params.keys() {
            let place = CALL_KEYS.iter().position(|known| *known == strict::folded(key));
            if let Some(written) =
                place.map(|place| CALL_KEYS_WRITTEN[place]).filter(|written| written != key)
            {
                return Err(format!("`params` has the key `{key}` instead of `{written}`"));
            }
        }
        let tool = match params.remove("name") {
            Some(Value::String(name)) => name,
            Some(_) => return Err("`name` is not a text".to_owned()),
            None => return Err("`name`, the tool, is missing".to_owned()),
        };
        let arguments = match params.remove("arguments") {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(arguments @ Value::Object(_)) => arguments,
            Some(_) => return Err("`arguments` is not an object".to_owned()),
        };
        if strict::has_inexact_integer(&arguments) {
            return Err("an integer beyond 2^53 does not mean one number to all readers; send it as a text"
                .to_owned());
        }
        self.names.check(&AskedCall { server: None, tool: &tool, arguments: &arguments })?;
        let state = match params.remove("requestState") {
            Some(Value::String(state)) => Some(Some(state)),
            Some(Value::Null) | None => params.contains_key("inputResponses").then_some(None),
            Some(_) => return Err("`requestState` is not a text".to_owned()),
        };
        Ok((tool, arguments, state))
    }

    /// Lines of the log about results of calls that were learnt from the last line of the client, to be written before
    /// the decision on it.
    pub fn late_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.late)
    }

    /// The line of the log on what was heard; `None` if there was nothing to decide. The microseconds are those that
    /// the decision took. Of a call that was taken back, the line has only why, because no rule rejected it.
    pub fn decision_line(&self, heard: &FromClient, microseconds: u64) -> Option<String> {
        let Decided { call, action, change } = heard.decision.as_ref()?;
        let call = call.as_ref().filter(|_| *change != Change::Undone);
        Some(self.line(call, *action, heard.reason.as_deref(), microseconds))
    }

    /// The line that takes the line of the log back which says that a call was passed on.
    pub fn retraction_line(&self, heard: &FromClient) -> Option<String> {
        let Decided { call, action, .. } = heard.decision.as_ref()?;
        Some(self.line(call.as_ref(), *action, heard.reason.as_deref(), 0))
    }

    fn line(
        &self,
        call: Option<&(Ruling, CarriedCall)>,
        action: GuardAction,
        reason: Option<&str>,
        microseconds: u64,
    ) -> String {
        let rules = self.session.as_ref().ok().map(|session| &**session.rules());
        self.log.decision(call.map(|(ruling, asked)| (ruling, asked)), rules, action, reason, microseconds)
    }

    /// What a person needs to find the message again: the call, its arguments cut and without secrets, and the session.
    pub fn about(&self, heard: &FromClient) -> String {
        let call = heard.decision.as_ref().and_then(|decided| decided.call.as_ref());
        self.log.about(call.map(|(_, asked)| asked))
    }

    /// The rules that the session does not satisfy if it ends now, as sentences.
    pub fn unsatisfied(&self) -> Vec<String> {
        let rules = self.session.iter().flat_map(GuardedSession::unsatisfied);
        rules.map(|rule| format!("{}: {rule}", rule.id)).collect()
    }

    /// How many approved calls have no result.
    pub fn pending(&self) -> usize {
        self.session.as_ref().map_or(0, |session| session.pending().count())
    }

    /// The last line of the log.
    pub fn end_line(&self) -> String {
        let unsatisfied = self.session.iter().flat_map(GuardedSession::unsatisfied);
        let unsatisfied = unsatisfied.map(|rule| rule.id.clone()).collect();
        let pending = self.session.iter().flat_map(GuardedSession::pending).collect();
        self.log.end(unsatisfied, pending)
    }
}

/// Whether an id is one for every reader.
fn is_usable(id: &Value) -> bool {
    match id {
        Value::String(_) => true,
        Value::Number(number) => !number.is_f64() && !strict::has_inexact_integer(id),
        _ => false,
    }
}

/// The id in a message that is not valid, if one is found nevertheless. Only the answer is addressed to it.
pub(crate) fn probable_id(line: &[u8]) -> Value {
    /// Nothing else is looked at: a number may be too large, or a value nest too deeply.
    #[derive(serde::Deserialize)]
    struct Identified<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
    }

    let mended = json::mended(line);
    let mut reader = serde_json::Deserializer::from_slice(mended.as_deref().unwrap_or(line));
    let message = <Identified<'_> as serde::Deserialize>::deserialize(&mut reader).ok();
    let id = message.and_then(|message| message.id).map(RawValue::get);
    // No usable id is a list or an object, which could be as large as the message.
    let id = id.filter(|id| !id.starts_with(['{', '[']));
    id.and_then(|id| serde_json::from_str(id).ok()).filter(is_usable).unwrap_or(Value::Null)
}
