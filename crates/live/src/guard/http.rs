//! A guard before an MCP server at a URL. `planproof-tools` passes the messages on; each named session has a guard.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::Uri;
use planproof_guard::{DecisionLog, GuardMode, GuardModes, McpGuard, SEAM, Then};
use planproof_output::digest::sha256;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::terminal::inline;
use planproof_output::{secrets, signals, tell, terminal};
use planproof_spec::rules::RuleSet;
use planproof_tools::mcp::{
    Between, BetweenConfig, BetweenServer, BindError, Exchange, HTTP_MESSAGE_BYTES_MAX, Passage, SessionName,
};
use serde_json::{Value, json};

use super::log_file::{LogFile, Unwritten};
use super::said::refused;
use super::shared::{self, Place, Shared};
use crate::coding_agents::is_this_machine;
use planproof_output::print::Printing;

/// Most sessions that one guard remembers. Further ones are refused, because forgetting one would make its rules
/// forget what has been done.
const SESSIONS_MAX: usize = 10_000;

/// Holds the first part of the path of all requests, if it is set.
const TOKEN_VARIABLE: &str = "PLANPROOF_GUARD_TOKEN";

/// Stands in the address that is printed for the name of a session. It names none, because all clients into which the
/// address is pasted would share its history.
const PLACEHOLDER: &str = "SESSION";

/// Digits of the digest that names a session by its `Authorization`.
const AUTHORIZATION_DIGITS: usize = 16;

/// What sessions are held to.
pub(super) struct HeldTo {
    pub(super) rules: Result<Arc<RuleSet>, String>,
    pub(super) modes: GuardModes,
    pub(super) digest: String,
}

/// What names sessions.
pub(super) struct Named {
    /// The part of a request that does.
    pub(super) by: SessionName,
    /// The name of the only one, where a history has it.
    pub(super) name: Option<String>,
}

/// Serves until it is asked to stop.
///
/// # Errors
/// The port is taken, the URL cannot be used, or the listener fails.
pub(super) async fn serve(
    held: HeldTo,
    log: Option<LogFile>,
    history: Option<Shared>,
    (to, port, named): (&str, u16, Named),
    printing: Printing,
) -> Result<ExitCode, Failure> {
    let stop = signals::stop_requested();
    let uri: Uri = to.parse().map_err(|error| Failure::usage(format!("--to {to} is not a URL: {error}")))?;
    let Named { by: name, name: only } = named;
    let sessions = Arc::new(Sessions {
        held,
        process: super::session_name(),
        only,
        has_history: history.is_some(),
        history: Mutex::new(history),
        is_in_path: name == SessionName::Path,
        is_digested: name == SessionName::Authorization,
        is_quiet: printing.quiet,
        log: Mutex::new(log),
        sessions: Mutex::default(),
        has_lost_results: AtomicBool::new(false),
        noticed: Mutex::default(),
    });
    let token = token()?;
    let place = match (&token, &name) {
        (None, SessionName::Path) => format!("/mcp/{PLACEHOLDER}"),
        (None, _) => "/mcp".to_owned(),
        // The token is known to whoever set it.
        (Some(_), SessionName::Path) => format!("/${TOKEN_VARIABLE}/mcp/{PLACEHOLDER}"),
        (Some(_), _) => format!("/${TOKEN_VARIABLE}/mcp"),
    };
    let goal = uri.clone();
    let config = BetweenConfig { to: uri, port, session: name, token };
    let server = BetweenServer::bind(config, Arc::clone(&sessions) as Arc<dyn Between>).await;
    let server = server.map_err(|error| match error {
        BindError::Url(error) => Failure::usage(format!("--to {to}: {error}")),
        BindError::Port(error) => Failure::usage(format!("--listen 127.0.0.1:{port}: {error}")),
    })?;
    let address = server.address()?;
    if leads_to(&goal, address.port()) {
        let why = format!("--to {to} is where this guard listens: name the server's own address");
        return Err(Failure::usage(why));
    }
    // Whoever reads the line may connect.
    let mut out = terminal::disclosed();
    writeln!(out, "http://{address}{place}")?;
    out.flush()?;
    drop(out);
    let ended = tokio::select! {
        biased;
        () = stop => Ok(ExitCode::Passed),
        ended = server.run() => {
            ended.map(|()| ExitCode::Outside).map_err(|error| Failure::outside(format!("the guard cannot listen: {error}")))
        }
    };
    sessions.end();
    ended
}

/// The first part of the paths, if there is to be one.
///
/// # Errors
/// It is empty, as where another variable was meant, or cannot be a part of a path.
fn token() -> Result<Option<String>, Failure> {
    let Some(token) = std::env::var_os(TOKEN_VARIABLE) else { return Ok(None) };
    let token = token.into_string().unwrap_or_default();
    let may_be_in_path = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if token.is_empty() || !token.bytes().all(may_be_in_path) {
        return Err(Failure::usage(format!(
            "{TOKEN_VARIABLE} is set, and is not a token: it takes letters, digits and -._~, as it stands in a path"
        )));
    }
    Ok(Some(token))
}

/// Whether a URL names this port of this machine. Guards listen at IPv4 only: another program may have the port of
/// `[::1]`.
fn leads_to(url: &Uri, port: u16) -> bool {
    let host = url.host().unwrap_or_default();
    if host == "[::1]" {
        return false;
    }
    let own = if url.scheme_str() == Some("https") { 443 } else { 80 };
    is_this_machine(host) && url.port_u16().unwrap_or(own) == port
}

/// The guards of all sessions.
struct Sessions {
    held: HeldTo,
    /// Tells sessions of one name apart that other processes have had.
    process: String,
    /// The name of the only session in the history, if it has one.
    only: Option<String>,
    has_history: bool,
    /// Locked after a session, never before one.
    history: Mutex<Option<Shared>>,
    /// The name of a session is the last part of the path.
    is_in_path: bool,
    /// Names are secrets, of which only a digest is kept.
    is_digested: bool,
    is_quiet: bool,
    log: Mutex<Option<LogFile>>,
    sessions: Mutex<BTreeMap<String, Arc<Mutex<OpenSession>>>>,
    has_lost_results: AtomicBool,
    /// What was said of the server, once for all sessions.
    noticed: Mutex<BTreeSet<String>>,
}

/// A session that some request has named.
struct OpenSession {
    guard: McpGuard,
    place: Place,
}

/// A panic within a guard ends its request; what it has decided stands.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sessions {
    fn name(&self, exchange: &Exchange) -> String {
        match self.is_digested {
            true => sha256(exchange.session.as_bytes()).chars().take(AUTHORIZATION_DIGITS).collect(),
            false => exchange.session.clone(),
        }
    }

    fn known(&self, exchange: &Exchange) -> Option<Arc<Mutex<OpenSession>>> {
        lock(&self.sessions).get(&self.name(exchange)).cloned()
    }

    /// The session's guard; `None` if there are too many sessions.
    fn session(&self, exchange: &Exchange) -> Option<Arc<Mutex<OpenSession>>> {
        let name = self.name(exchange);
        let mut sessions = lock(&self.sessions);
        if let Some(known) = sessions.get(&name) {
            return Some(Arc::clone(known));
        }
        if sessions.len() >= SESSIONS_MAX {
            return None;
        }
        let HeldTo { rules, modes, digest } = &self.held;
        let id = match (&self.only, self.has_history) {
            (Some(only), _) => secrets::session_kept(only),
            // As the other guards of the session call it.
            (None, true) => secrets::session_kept(&name),
            (None, false) if name.is_empty() => self.process.clone(),
            (None, false) => format!("{}/{}", self.process, secrets::session_kept(&name)),
        };
        let place = Place::new(&*id);
        let log = DecisionLog::new(id, SEAM, *modes, digest.as_str(), super::held_keys());
        let log = if self.has_history { log.as_memory() } else { log };
        let guard = McpGuard::new(rules.as_ref().map_err(Clone::clone), log);
        let session = Arc::new(Mutex::new(OpenSession { guard, place }));
        sessions.insert(name, Arc::clone(&session));
        Some(session)
    }

    /// Does something with a session's guard and, where there is one, with the history.
    fn with_history<T>(
        &self,
        session: &mut OpenSession,
        act: impl FnOnce(&mut McpGuard, Option<(&mut Shared, &mut Place)>) -> T,
    ) -> T {
        let OpenSession { guard, place } = session;
        if !self.has_history {
            return act(guard, None);
        }
        // Others may hold the history for a while, and other requests need not wait for that.
        tokio::task::block_in_place(|| {
            let mut history = lock(&self.history);
            act(guard, history.as_mut().map(|history| (history, place)))
        })
    }

    fn append(&self, line: &str, unwritten: Unwritten) -> Result<(), String> {
        lock(&self.log).as_mut().map_or(Ok(()), |log| log.append(line, unwritten))
    }

    fn log_results(&self, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            if let Err(why) = self.append(&line, Unwritten::Owed)
                && !self.has_lost_results.swap(true, Ordering::Relaxed)
            {
                tell!("warning: {}; results are missing there until it can", inline(&why));
            }
        }
    }

    fn say(&self, what: &str) {
        if !self.is_quiet {
            tell!("guard: {what}");
        }
    }

    fn end(&self) {
        for session in lock(&self.sessions).values() {
            let guard = &mut lock(session).guard;
            self.log_results(guard.last_lines());
            for rule in guard.unsatisfied() {
                self.say(&format!("not satisfied when the session ended: {}", inline(&rule)));
            }
            // What is missing is said below.
            let _ = self.append(&guard.end_line(), Unwritten::Owed);
        }
        if let Some(why) = lock(&self.log).as_mut().and_then(LogFile::close) {
            tell!("warning: {}", inline(&why));
        }
    }
}

/// Says to a guard where the messages that follow stand.
fn place(guard: &mut McpGuard, exchange: &Exchange) {
    guard.over_http(&exchange.scope, exchange.is_newer, &exchange.said);
    guard.in_stream(exchange.stream, exchange.is_resumed);
}

impl Between for Sessions {
    fn client_said(&self, exchange: &Exchange, message: &[u8]) -> Passage {
        if self.is_in_path && exchange.session == PLACEHOLDER {
            let why = format!(
                "planproof guard: write a name of your own for the conversation instead of {PLACEHOLDER} at the end of \
                 the address"
            );
            let error = json!({ "code": -32000, "message": why });
            let answer = json!({ "jsonrpc": "2.0", "id": null, "error": error });
            return Passage::Answer(answer.to_string(), false);
        }
        let Some(session) = self.session(exchange) else {
            return match self.held.modes.mode() {
                GuardMode::Shadow => Passage::Pass,
                GuardMode::Enforce => {
                    let why =
                        format!("planproof guard: more than {SESSIONS_MAX} sessions; start the guard anew");
                    let error = json!({ "code": -32000, "message": why });
                    let answer = json!({ "jsonrpc": "2.0", "id": null, "error": error });
                    Passage::Answer(answer.to_string(), false)
                }
            };
        };
        // Locked until the decision is in the log, so that the log has a session in its order.
        let mut session = lock(&session);
        place(&mut session.guard, exchange);
        let log = &mut |line: &str, unwritten| {
            self.append(line, unwritten).inspect_err(|why| tell!("warning: {}", inline(why)))
        };
        let heard =
            self.with_history(&mut session, |guard, shared| shared::heard(shared, guard, message, log));
        let about = session.guard.about(&heard);
        drop(session);
        if let Some(reason) = heard.reason.as_ref().filter(|_| !self.is_quiet) {
            tell!("{}", refused(heard.then != Then::Pass, &about, reason));
        }
        match heard.then {
            Then::Pass => Passage::Pass,
            Then::Drop => Passage::Drop,
            Then::Answer(answer) => {
                let is_result =
                    serde_json::from_str(&answer).is_ok_and(|answer: Value| answer.get("result").is_some());
                Passage::Answer(answer, is_result)
            }
        }
    }

    fn too_long(&self, exchange: &Exchange) {
        self.say(&format!("refused: a message of more than {HTTP_MESSAGE_BYTES_MAX} bytes"));
        if let Some(session) = self.session(exchange) {
            let guard = &mut lock(&session).guard;
            let heard = guard.too_long();
            self.log_results(guard.decision_line(&heard, 0));
        }
    }

    fn server_said(&self, exchange: &Exchange, message: &[u8]) {
        // A guard that was started anew knows the session by its history alone.
        let is_of_earlier = self.has_history && exchange.is_resumed && exchange.stream.is_none();
        let session = if is_of_earlier { self.session(exchange) } else { self.known(exchange) };
        let Some(session) = session else { return };
        let mut session = lock(&session);
        place(&mut session.guard, exchange);
        let results = self.with_history(&mut session, |guard, shared| shared::learnt(shared, guard, message));
        self.log_results(results);
        for notice in session.guard.notices() {
            // Sessions of one server have the same tools.
            if lock(&self.noticed).insert(notice.clone()) {
                tell!("warning: guard: {}", inline(&notice));
            }
        }
    }

    fn unsent(&self, exchange: &Exchange, message: &[u8], why: &str) {
        // The call is known to have failed, so nothing waits for its result.
        let message = planproof_trace::json::value(message).unwrap_or_default();
        let error = json!({ "code": -32000, "message": why });
        let failed = json!({ "jsonrpc": "2.0", "id": message.get("id"), "error": error });
        self.server_said(exchange, failed.to_string().as_bytes());
        self.say(why);
    }

    fn unread(&self, exchange: &Exchange) {
        let Some(session) = self.known(exchange) else { return };
        let mut session = lock(&session);
        place(&mut session.guard, exchange);
        let lines = self.with_history(&mut session, |guard, shared| shared::unread(shared, guard));
        self.log_results(lines);
    }

    fn over(&self, exchange: &Exchange) {
        if !exchange.ends_scope {
            return;
        }
        if let Some(session) = self.known(exchange) {
            lock(&session).guard.scope_ended(&exchange.scope);
        }
    }
}
