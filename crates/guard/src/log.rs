//! Decision v1: what a guard decided, one JSON object a line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use planproof_spec::rules::{Phase, RecordedEvent, RuleSet};
use planproof_trace::{Arguments, Secrets};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::decision::{CarriedCall, Ruling, UNREAD};
use crate::keys::HeldKeys;
use crate::loose::texts_at;
use crate::modes::{GuardAction, GuardMode, GuardModes};
use crate::strict::Strict;

/// The name of the format, in every line.
pub const SCHEMA: &str = "planproof/decision/v1";

/// What a log calls a guard in front of a server.
pub const SEAM: &str = "mcp";

/// What a log calls a guard that is asked line by line.
pub const DECIDE_SEAM: &str = "decide";

/// What every line begins with.
const LINE_BEGIN: &str = "{\"kind\":\"";

/// How much of it a reader of JSON may take for the rest of a text before it finds an error.
const LINE_BEGIN_SEEN: usize = 3;

/// Most characters of a call that people are shown beside the reason why it is rejected.
const CALL_SHOWN_MAX: usize = 200;

/// A line of a log. All lines have the session's id and, in the file, the name of the format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum LoggedLine {
    /// A decision, written before the message is passed on.
    Decision {
        /// [`SCHEMA`].
        schema: String,
        /// The session.
        session: String,
        /// Where the guard stands, such as `mcp`.
        seam: String,
        /// Which of several guards at such a place; absent for the first before a server, and for a program's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<String>,
        /// What was asked for; absent if the message cannot be read as a call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<LoggedCall>,
        /// The rules that reject the call, and those whose verdict it changes.
        rules: Vec<LoggedRule>,
        /// What became of it.
        action: GuardAction,
        /// Why it was rejected.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The mode in which it was decided: that of the guard or, if each rule is in its own, that of the rules that
        /// object. Without one that does, it is `enforce` if any rule is.
        mode: GuardMode,
        /// Whether each rule is in its own mode. A call that was only noted then counts in later decisions.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_rule: bool,
        /// An answer could not be read or kept, so nothing is approved from here on.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unread: bool,
        /// The digest of the rules; empty if they could not be read.
        digest: String,
        /// How long the decision took.
        #[serde(deserialize_with = "planproof_trace::bounded::count")]
        microseconds: u64,
    },
    /// A result, written before it is passed on.
    Result {
        /// [`SCHEMA`].
        schema: String,
        /// The session.
        session: String,
        /// The number of the call.
        #[serde(deserialize_with = "planproof_trace::bounded::count")]
        number: u64,
        /// Whether it is an error.
        is_error: bool,
        /// JSON where the tool returned JSON, otherwise its text.
        outcome: Value,
    },
    /// The end of a session.
    End {
        /// [`SCHEMA`].
        schema: String,
        /// The session.
        session: String,
        /// The ids of the rules that it does not satisfy.
        unsatisfied: Vec<String>,
        /// The numbers of the calls whose results never came.
        pending: Vec<u64>,
    },
}

/// A call in a log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedCall {
    /// Its number in the session, from 1.
    #[serde(deserialize_with = "planproof_trace::bounded::count")]
    pub number: u64,
    /// The caller's name for it, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The server whose tool it is, if the session has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
}

/// A rule in a log, with what was known of it for the value of `per` that the call belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoggedRule {
    /// Its id.
    pub id: String,
    /// Its verdict before the call.
    pub before: String,
    /// Its verdict after the call; for a rule that rejects the call, what it was kept from.
    pub after: String,
    /// Its own mode, if each rule is in its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<GuardMode>,
}

/// Why a line of a log cannot be used.
#[derive(Debug, Clone, PartialEq)]
pub struct LogFault {
    /// What is wrong with it, in a sentence without a full stop.
    pub what: String,
    /// The line ends too early, as after a kill or on a full disk.
    pub is_cut: bool,
    /// A whole line behind the cut one, where another guard wrote to the same file and did not begin a new line.
    pub behind: Option<Box<LoggedLine>>,
}

impl LogFault {
    fn new(what: String) -> Self {
        Self { what, is_cut: false, behind: None }
    }
}

impl fmt::Display for LogFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for LogFault {}

impl LoggedLine {
    /// Reads a line.
    ///
    /// # Errors
    /// It is not a line of decision v1.
    pub fn read(line: &str) -> Result<Self, LogFault> {
        let Strict(value) = serde_json::from_str(line).map_err(|error| {
            // A line that is whole is not one that was cut off, whatever stands where it cannot be read.
            if serde_json::from_str::<IgnoredAny>(line).is_ok() {
                return LogFault::new(format!("a line of a log of decisions that cannot be read: {error}"));
            }
            let (is_glued, behind) = Self::behind(line, &error);
            LogFault {
                what: format!("not a whole line of a log of decisions: {error}"),
                is_cut: error.is_eof() || is_glued,
                behind: behind.map(Box::new),
            }
        })?;
        Self::of(value)
    }

    fn of(value: Value) -> Result<Self, LogFault> {
        match value.get("schema").and_then(Value::as_str) {
            Some(SCHEMA) => {}
            Some(other) => {
                let what = format!("the line is of the version `{other}`, and only `{SCHEMA}` is known");
                return Err(LogFault::new(what));
            }
            None => return Err(LogFault::new(format!("the line has no `\"schema\": \"{SCHEMA}\"`"))),
        }
        serde_json::from_value(value)
            .map_err(|error| LogFault::new(format!("the line is not one of {SCHEMA}: {error}")))
    }

    /// Whether a line begins behind one that was cut off, in which this error is, and that line if it is whole.
    /// Wherever the other was cut, JSON goes wrong at its beginning, so nothing that a call or a result contains is
    /// taken for one.
    fn behind(line: &str, error: &serde_json::Error) -> (bool, Option<Self>) {
        let (mut rest, mut column, mut is_glued) = (line, error.column(), false);
        loop {
            let from = column.saturating_sub(LINE_BEGIN_SEEN).max(1);
            // What was cut off before it may have been shorter than the beginning of a line.
            let to = column + LINE_BEGIN.len();
            let begins = |at: &usize| rest.get(*at..).is_some_and(|rest| rest.starts_with(LINE_BEGIN));
            let Some(at) = (from..=to).find(begins) else { return (is_glued, None) };
            (rest, is_glued) = (&rest[at..], true);
            match serde_json::from_str(rest) {
                Ok(Strict(value)) => return (true, Self::of(value).ok()),
                Err(error) => column = error.column(),
            }
        }
    }

    /// The session that the line is of which these bytes begin, even if they are not all of it.
    pub fn session_in(begin: &[u8]) -> Option<String> {
        begin.starts_with(LINE_BEGIN.as_bytes()).then(|| texts_at(begin, "/session").into_iter().next())?
    }

    /// Whether a line that begins with these bytes, and was cut off, may have been one of a result.
    pub fn may_be_result(begin: &str) -> bool {
        let result = format!("{LINE_BEGIN}result");
        !begin.is_empty() && (begin.starts_with(&result) || result.starts_with(begin))
    }

    /// Whether it is of a call that was made: passed on for the first time.
    pub fn is_made_call(&self) -> bool {
        use GuardAction::{Noted, Passed};
        matches!(self, Self::Decision { call: Some(_), action: Passed | Noted, .. })
    }

    /// Whether it is of a decision at a hook, where a call has the name that an agent has for its tool.
    pub fn is_of_hook(&self) -> bool {
        match self {
            Self::Decision { seam, .. } => seam != SEAM && seam != DECIDE_SEAM,
            Self::Result { .. } | Self::End { .. } => false,
        }
    }

    /// The id of its session.
    pub fn session(&self) -> &str {
        match self {
            Self::Decision { session, .. } | Self::Result { session, .. } | Self::End { session, .. } => {
                session
            }
        }
    }
}

/// The numbers of the calls that these lines say were approved, and later that they were not passed on after all.
pub fn taken_back<'l>(lines: impl Iterator<Item = &'l LoggedLine>) -> BTreeSet<u64> {
    let mut made = BTreeSet::new();
    let number = |line: &LoggedLine| match line {
        LoggedLine::Decision { call: Some(call), action: GuardAction::Blocked, .. } => {
            made.remove(&call.number).then_some(call.number)
        }
        LoggedLine::Decision { call: Some(call), .. } => {
            made.insert(call.number);
            None
        }
        _ => None,
    };
    lines.filter_map(number).collect()
}

/// The events of the session of these lines: the calls that the server got, and their results.
pub fn happened<'l>(lines: impl Iterator<Item = &'l LoggedLine> + Clone) -> Vec<RecordedEvent> {
    let taken_back = taken_back(lines.clone());
    let mut open: BTreeMap<u64, &LoggedCall> = BTreeMap::new();
    let mut happened = Vec::new();
    let event = |phase, call: &LoggedCall, outcome| RecordedEvent {
        phase,
        server: call.server.clone(),
        tool: call.tool.clone(),
        arguments: Arc::new(call.arguments.clone()),
        outcome,
    };
    for line in lines {
        match line {
            LoggedLine::Decision { call: Some(call), .. }
                if line.is_made_call() && !taken_back.contains(&call.number) =>
            {
                open.insert(call.number, call);
                happened.push(event(Phase::Call, call, None));
            }
            LoggedLine::Result { number, is_error, outcome, .. } => {
                let Some(call) = open.remove(number) else { continue };
                let phase = if *is_error { Phase::Failed } else { Phase::Done };
                happened.push(event(phase, call, Some(outcome.clone())));
            }
            LoggedLine::Decision { .. } | LoggedLine::End { .. } => {}
        }
    }
    happened
}

/// What a line of the log says of a call, for the guard that reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remembered {
    /// It was not made.
    Rejected,
    /// It was made, and counts. By rules of another guard, or in another mode: these rules were not asked.
    Made {
        /// These rules were not asked.
        is_by_others: bool,
    },
    /// It was made, and to this guard, which decides as if it enforced, it does not count.
    Noted,
    /// It was counted before, and has passed another place.
    Passed,
}

/// Makes the lines of one session, and reads those of all its guards. Keys are removed from all texts of others, and
/// put in their place again where a line is read.
#[derive(Debug, Clone)]
pub struct DecisionLog {
    session: String,
    seam: String,
    place: Option<String>,
    modes: GuardModes,
    digest: String,
    keys: HeldKeys,
    is_memory: bool,
}

impl DecisionLog {
    /// The log of a session of a guard in these modes. The digest is that of its rules.
    pub fn new(
        session: impl Into<String>,
        seam: impl Into<String>,
        modes: impl Into<GuardModes>,
        digest: impl Into<String>,
        keys: impl Into<HeldKeys>,
    ) -> Self {
        let (session, seam, digest, keys) = (session.into(), seam.into(), digest.into(), keys.into());
        let session = if keys.are_in(&session) { keys.text(&session).kept } else { session };
        Self { session, seam, place: None, modes: modes.into(), digest, keys, is_memory: false }
    }

    /// The same of a guard that is not the only one which a call passes at such a seam: its name among them, which
    /// stays the same over restarts.
    #[must_use]
    pub fn at(self, place: impl Into<String>) -> Self {
        Self { place: Some(place.into()), ..self }
    }

    /// The same where the lines are the memory of the session, also for others. A call with a key in a form that could
    /// not be had back from its line is then refused.
    #[must_use]
    pub fn as_memory(self) -> Self {
        Self { is_memory: true, ..self }
    }

    /// The modes of the guard.
    pub fn modes(&self) -> GuardModes {
        self.modes
    }

    /// Where the guard stands, apart from all others.
    pub(crate) fn seam(&self) -> String {
        whole_seam(&self.seam, self.place.as_deref())
    }

    /// The keys that are not written.
    pub(crate) fn keys(&self) -> &HeldKeys {
        &self.keys
    }

    /// Why a call cannot be remembered, in a sentence without a full stop; `None` if it can, or need not be.
    pub(crate) fn forgets(&self, call: &CarriedCall) -> Option<String> {
        if !self.is_memory || self.keys.secrets().is_empty() {
            return None;
        }
        let texts = [call.id.as_deref(), call.server.as_deref(), Some(&*call.tool)];
        let is_exact = texts.iter().flatten().all(|text| self.keys.text(text).is_exact)
            && self.keys.value(&call.arguments).is_exact;
        (!is_exact).then(|| {
            "it has a key of the environment in a form that cannot be compared later; write the key as it is, or the \
             name of its variable"
                .to_owned()
        })
    }

    /// What a line says of a call, for this guard; `None` if it is about none.
    pub(crate) fn remembered(&self, line: &LoggedLine) -> Option<Remembered> {
        let LoggedLine::Decision { call: Some(_), action, by_rule, digest, .. } = line else { return None };
        let is_own = *digest == self.digest;
        Some(match action {
            GuardAction::Blocked => Remembered::Rejected,
            GuardAction::Continued => Remembered::Passed,
            GuardAction::Passed => Remembered::Made { is_by_others: !is_own },
            // What these rules note in shadow mode would not have been made if they were enforced.
            GuardAction::Noted if is_own && !by_rule && self.modes == GuardMode::Shadow.into() => {
                Remembered::Noted
            }
            GuardAction::Noted => Remembered::Made { is_by_others: true },
        })
    }

    /// The call as [`shown`], or that it is a message which cannot be read as one.
    pub(crate) fn about(&self, call: Option<&CarriedCall>) -> String {
        shown(call, &self.session, self.keys.secrets())
    }

    /// The line of a decision, without its end.
    pub fn decision(
        &self,
        call: Option<(&Ruling, &CarriedCall)>,
        rules: Option<&RuleSet>,
        action: GuardAction,
        reason: Option<&str>,
        microseconds: u64,
    ) -> String {
        let changes = call.iter().flat_map(|(ruling, ..)| &ruling.rules);
        let changes = changes.filter_map(|change| {
            let rule = rules?.rules().get(change.rule)?;
            let (before, after) = (change.before.words().to_owned(), change.after.words().to_owned());
            let mode = self.modes.is_by_rule().then(|| GuardMode::of_rule(rule));
            Some(LoggedRule { id: rule.id.clone(), before, after, mode })
        });
        let rules: Vec<LoggedRule> = changes.collect();
        let without = |text: &String| self.keys.text(text).kept;
        let call = call.map(|(ruling, call)| LoggedCall {
            number: ruling.number,
            id: call.id.as_ref().map(without),
            server: call.server.as_ref().map(without),
            tool: without(&call.tool),
            arguments: self.keys.value(&call.arguments).kept,
        });
        let mode = match action {
            GuardAction::Noted if self.modes.is_by_rule() && call.is_some() => GuardMode::Shadow,
            _ => self.modes.mode(),
        };
        line(&self.decided(call, rules, action, reason, mode, microseconds))
    }

    fn decided(
        &self,
        call: Option<LoggedCall>,
        rules: Vec<LoggedRule>,
        action: GuardAction,
        reason: Option<&str>,
        mode: GuardMode,
        microseconds: u64,
    ) -> LoggedLine {
        LoggedLine::Decision {
            schema: SCHEMA.to_owned(),
            session: self.session.clone(),
            seam: self.seam.clone(),
            place: self.place.clone(),
            call,
            rules,
            action,
            reason: reason.map(|reason| self.keys.secrets().redact(reason).into_owned()),
            mode,
            by_rule: self.modes.is_by_rule(),
            unread: false,
            digest: self.digest.clone(),
            microseconds,
        }
    }

    /// The same log for another session.
    #[must_use]
    pub fn of_session(&self, session: &str) -> Self {
        Self { session: session.to_owned(), ..self.clone() }
    }

    /// The line that an answer could not be read or kept, without its end. Nothing is approved behind it.
    pub fn unread(&self) -> String {
        let mode = self.modes.mode();
        let mut decided = self.decided(None, Vec::new(), GuardAction::Noted, Some(UNREAD), mode, 0);
        if let LoggedLine::Decision { unread, .. } = &mut decided {
            *unread = true;
        }
        line(&decided)
    }

    /// The line of a message that cannot be read as a call, for this reason, without its end.
    pub fn unclear(&self, why: &str) -> String {
        let action = self.modes.action(true, true);
        let reason = action.worded(format!("The call is denied: {why}."));
        self.decision(None, None, action, Some(&reason), 0)
    }

    /// The line of a result, without its end.
    pub fn result(&self, number: u64, is_error: bool, outcome: &Value) -> String {
        let outcome = self.keys.value(outcome).kept;
        line(&LoggedLine::Result {
            schema: SCHEMA.to_owned(),
            session: self.session.clone(),
            number,
            is_error,
            outcome,
        })
    }

    /// The last line of the session, without its end.
    pub fn end(&self, unsatisfied: Vec<String>, pending: Vec<u64>) -> String {
        line(&LoggedLine::End {
            schema: SCHEMA.to_owned(),
            session: self.session.clone(),
            unsatisfied,
            pending,
        })
    }
}

/// A seam, with the place if there are several like it.
pub(crate) fn whole_seam(seam: &str, place: Option<&str>) -> String {
    place.map_or_else(|| seam.to_owned(), |place| format!("{seam}\0{place}"))
}

/// What a person needs to find a call again: the tool, the arguments, cut, and the session, without secrets. Without a
/// call, it is a message that could not be read as one.
pub fn shown(call: Option<&CarriedCall>, session: &str, secrets: &Secrets) -> String {
    let call = call.map_or_else(
        || "a message".to_owned(),
        |call| format!("{} {}", call.tool, without_secrets(&call.arguments, secrets)),
    );
    let call = secrets.redact(&call).into_owned();
    let cut = match call.char_indices().nth(CALL_SHOWN_MAX) {
        Some((end, _)) => format!("{}...", call.get(..end).unwrap_or_default()),
        None => call,
    };
    format!("{cut} in session {}", secrets.redact(session))
}

/// A value without secrets, in keys as well.
fn without_secrets(value: &Value, secrets: &Secrets) -> Value {
    if secrets.is_empty() {
        return value.clone();
    }
    let key = "value";
    let mut arguments = Arguments::Object(Map::from_iter([(key.to_owned(), value.clone())]));
    secrets.redact_arguments(&mut arguments);
    match arguments {
        Arguments::Object(mut object) => object.remove(key).unwrap_or(Value::Null),
        Arguments::Malformed(text) => Value::String(text),
    }
}

fn line(line: &LoggedLine) -> String {
    // There is nothing in a line that JSON cannot say.
    serde_json::to_string(line).unwrap_or_default()
}
