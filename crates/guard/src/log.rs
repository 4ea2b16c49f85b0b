//! Decision v1: what a guard decided, one JSON object a line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use planproof_spec::rules::{CallRule, Phase, RecordedEvent, RuleSet};
use planproof_trace::{Arguments, Secrets};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::decision::{CarriedCall, Ruling};

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

/// What becomes of a call that is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardMode {
    /// It is made, and only the log says that it would have been rejected.
    Shadow,
    /// It is not made.
    Enforce,
}

impl GuardMode {
    /// The mode of a rule.
    fn of_rule(rule: &CallRule) -> Self {
        if rule.is_shadow { Self::Shadow } else { Self::Enforce }
    }
}

/// In which mode the rules of a guard are: all in one, or each in its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardModes {
    mode: GuardMode,
    is_by_rule: bool,
}

impl From<GuardMode> for GuardModes {
    /// All rules in this mode, whatever they say.
    fn from(mode: GuardMode) -> Self {
        Self { mode, is_by_rule: false }
    }
}

impl GuardModes {
    /// What a command line asks for: one mode for all rules or, if it names none, for each rule that of the rule or of
    /// its file. Rules that cannot be read (`None`) enforce.
    pub fn asked(asked: Option<GuardMode>, rules: Option<&RuleSet>) -> Self {
        match (asked, rules) {
            (Some(mode), _) => mode.into(),
            (None, Some(rules)) if rules.rules().iter().all(|rule| rule.is_shadow) => {
                Self { mode: GuardMode::Shadow, is_by_rule: true }
            }
            (None, _) => Self { mode: GuardMode::Enforce, is_by_rule: true },
        }
    }

    /// The mode of whatever no single rule decides, such as messages that cannot be read and logs that cannot be
    /// written: that of all rules or, if each is in its own, enforcement unless all are in shadow mode.
    pub fn mode(self) -> GuardMode {
        self.mode
    }

    /// Whether each rule is in its own mode.
    pub fn is_by_rule(self) -> bool {
        self.is_by_rule
    }

    /// What becomes of a call: approved, objected to by rules that are only in shadow mode, or refused.
    pub(crate) fn action(self, is_objected_to: bool, is_refused: bool) -> GuardAction {
        match (is_objected_to, is_refused, self.mode) {
            (false, false, _) => GuardAction::Passed,
            (_, true, GuardMode::Enforce) => GuardAction::Blocked,
            _ => GuardAction::Noted,
        }
    }
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardAction {
    /// It was approved and passed on.
    Passed,
    /// It was passed on because it continues a call that was approved before: the server had asked for more.
    Continued,
    /// It was rejected, and not passed on.
    Blocked,
    /// Rules in shadow mode object, and it was passed on nevertheless.
    Noted,
}

impl GuardAction {
    /// Whether the server got the message.
    pub fn is_passed_on(self) -> bool {
        self != Self::Blocked
    }

    /// Whether a call counts in later decisions: it is approved, or its own rules only note it. In shadow mode of the
    /// whole guard, what would have been rejected does not count, as it would not if the guard enforced.
    pub(crate) fn is_counted(self, is_by_rule: bool) -> bool {
        self == Self::Passed || self == Self::Noted && is_by_rule
    }

    /// The reason of a decision, in the words that fit what became of the call.
    pub(crate) fn worded(self, reason: String) -> String {
        match (self, reason.strip_prefix("The call is denied")) {
            (Self::Noted, Some(rest)) => format!("The call would be denied{rest}"),
            _ => reason,
        }
    }
}

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
        let value: Value = serde_json::from_str(line).map_err(|error| {
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
                Ok(value) => return (true, Self::of(value).ok()),
                Err(error) => column = error.column(),
            }
        }
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

    /// Whether it is of a call that counts in later decisions of its session.
    pub(crate) fn is_counted_call(&self) -> bool {
        match self {
            Self::Decision { call: Some(_), action, by_rule, .. } => action.is_counted(*by_rule),
            _ => false,
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
        arguments: call.arguments.clone(),
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

/// Makes the lines of one session. Secrets are removed from all texts of others.
#[derive(Debug, Clone)]
pub struct DecisionLog {
    session: String,
    seam: String,
    modes: GuardModes,
    digest: String,
    secrets: Secrets,
}

impl DecisionLog {
    /// The log of a session of a guard in these modes. The digest is that of its rules.
    pub fn new(
        session: impl Into<String>,
        seam: impl Into<String>,
        modes: impl Into<GuardModes>,
        digest: impl Into<String>,
        secrets: Secrets,
    ) -> Self {
        let (session, seam, digest) = (session.into(), seam.into(), digest.into());
        Self { session, seam, modes: modes.into(), digest, secrets }
    }

    /// The modes of the guard.
    pub fn modes(&self) -> GuardModes {
        self.modes
    }

    /// Where the guard stands.
    pub(crate) fn seam(&self) -> &str {
        &self.seam
    }

    /// The call as [`shown`], or that it is a message which cannot be read as one.
    pub(crate) fn about(&self, call: Option<&CarriedCall>) -> String {
        shown(call, &self.session, &self.secrets)
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
            let mode = self.modes.is_by_rule.then(|| GuardMode::of_rule(rule));
            Some(LoggedRule { id: rule.id.clone(), before, after, mode })
        });
        let rules: Vec<LoggedRule> = changes.collect();
        let without = |text: &String| self.secrets.redact(text).into_owned();
        let call = call.map(|(ruling, call)| LoggedCall {
            number: ruling.number,
            id: call.id.as_ref().map(without),
            server: call.server.as_ref().map(without),
            tool: without(&call.tool),
            arguments: self.without_secrets(&call.arguments),
        });
        let mode = match action {
            GuardAction::Noted if self.modes.is_by_rule && call.is_some() => GuardMode::Shadow,
            _ => self.modes.mode,
        };
        line(&LoggedLine::Decision {
            schema: SCHEMA.to_owned(),
            session: self.session.clone(),
            seam: self.seam.clone(),
            call,
            rules,
            action,
            reason: reason.map(|reason| self.secrets.redact(reason).into_owned()),
            mode,
            by_rule: self.modes.is_by_rule,
            digest: self.digest.clone(),
            microseconds,
        })
    }

    /// The line of a result, without its end.
    pub fn result(&self, number: u64, is_error: bool, outcome: &Value) -> String {
        let outcome = self.without_secrets(outcome);
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

    fn without_secrets(&self, value: &Value) -> Value {
        without_secrets(value, &self.secrets)
    }
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
