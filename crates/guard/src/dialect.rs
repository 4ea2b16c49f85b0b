//! Dialect v1: how an agent reports to a hook and is answered, as data.
//!
//! A dialect says where in the agent's JSON each part of an event stands, what its events mean, and what the agent
//! reads of a decision. The agents that planproof knows by name are such files, too (`data/dialects`).

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::loose::texts_at;

/// The name of the format.
pub const DIALECT_SCHEMA: &str = "planproof/dialect/v1";

/// Longest file of a dialect, in bytes.
pub const DIALECT_BYTES_MAX: usize = 1024 * 1024;

/// Most characters of a dialect's name.
const NAME_CHARACTERS_MAX: usize = 64;

/// What stands for the reason in answers.
const REASON: &str = "{reason}";

/// The dialects that are known by their names.
const KNOWN: [(&str, &str); 4] = [
    ("claude-code", include_str!("../data/dialects/claude-code.json")),
    ("codex", include_str!("../data/dialects/codex.json")),
    ("gemini-cli", include_str!("../data/dialects/gemini-cli.json")),
    ("opencode", include_str!("../data/dialects/opencode.json")),
];

/// How an agent reports to a hook and is answered.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookDialect {
    schema: String,
    pub(crate) name: String,
    pub(crate) fields: DialectFields,
    pub(crate) events: BTreeMap<String, EventMeaning>,
    answers: DialectAnswers,
}

/// Where the parts of an event stand.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DialectFields {
    pub(crate) event: Places,
    pub(crate) session: Places,
    pub(crate) tool: Places,
    pub(crate) arguments: Places,
    /// The server whose tool it is. Without one it may be in the name of the tool, as in `mcp__SERVER__TOOL`.
    #[serde(default)]
    pub(crate) server: Places,
    /// The agent's name for the call.
    #[serde(default)]
    pub(crate) call: Places,
    #[serde(default)]
    pub(crate) result: Places,
    #[serde(default)]
    pub(crate) error: Places,
    /// Whether an agent that wants to end was already kept from it.
    #[serde(default)]
    pub(crate) again: Places,
}

/// JSON Pointers, of which the first that leads to something counts.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "PlacesText")]
pub(crate) struct Places(Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum PlacesText {
    One(String),
    Several(Vec<String>),
}

impl From<PlacesText> for Places {
    fn from(text: PlacesText) -> Self {
        match text {
            PlacesText::One(place) => Self(vec![place]),
            PlacesText::Several(places) => Self(places),
        }
    }
}

impl Places {
    /// What stands there; nothing for `null`.
    pub(crate) fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().filter_map(|place| value.pointer(place)).find(|found| !found.is_null())
    }

    /// The texts that stand there in JSON that cannot be read, or in its beginning.
    pub(crate) fn loose_texts(&self, text: &[u8]) -> Vec<String> {
        self.0.iter().flat_map(|place| texts_at(text, place)).collect()
    }

    /// Whether one of the places is there, be it with `null`.
    pub(crate) fn are_in(&self, value: &Value) -> bool {
        self.0.iter().any(|place| value.pointer(place).is_some())
    }

    /// The first place as a person writes it: `a.b`.
    pub(crate) fn words(&self) -> String {
        self.0.first().map(|place| place.trim_start_matches('/').replace('/', ".")).unwrap_or_default()
    }
}

/// What an event of an agent means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EventMeaning {
    /// A call is about to be made.
    Before,
    /// It has a result.
    Result,
    /// It has failed.
    Error,
    /// Either: it has failed if there is an error.
    After,
    /// The agent wants to end.
    Stop,
    /// Nothing that matters here.
    Other,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct DialectAnswers {
    deny: AnswerForm,
    #[serde(default)]
    allow: AnswerForm,
    #[serde(default)]
    keep: Option<AnswerForm>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerForm {
    #[serde(default)]
    stdout: Option<Value>,
    #[serde(default)]
    stderr: Option<String>,
    #[serde(default, deserialize_with = "exit_status")]
    status: u8,
}

fn exit_status<'de, D: Deserializer<'de>>(reader: D) -> Result<u8, D::Error> {
    let value = Value::deserialize(reader)?;
    let status = value.as_u64().and_then(|status| u8::try_from(status).ok());
    status.ok_or_else(|| D::Error::custom(format!("`status` is a whole number from 0 to 255, not {value}")))
}

/// What a hook has decided.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum HookReply {
    /// There was nothing to decide.
    #[default]
    Nothing,
    /// The call may be made.
    Allow,
    /// It may not, for this reason.
    Deny(String),
    /// The agent may not end yet, for this reason.
    Keep(String),
}

/// What an agent reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookOutput {
    /// A line of JSON.
    pub stdout: Option<String>,
    /// A text.
    pub stderr: Option<String>,
    /// The exit status.
    pub status: u8,
}

impl HookDialect {
    /// The names of the agents that are known.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KNOWN.iter().map(|(name, _)| *name)
    }

    /// That of an agent that is known.
    pub fn named(name: &str) -> Option<Self> {
        let (_, text) = KNOWN.iter().find(|(known, _)| *known == name)?;
        let read = Self::read(text);
        debug_assert!(read.is_ok(), "{name}: {read:?}");
        read.ok()
    }

    /// Reads a file (JSON).
    ///
    /// # Errors
    /// What is wrong with it, in a sentence without a full stop.
    pub fn read(text: &str) -> Result<Self, String> {
        if text.len() > DIALECT_BYTES_MAX {
            return Err(format!("it has more than {DIALECT_BYTES_MAX} bytes"));
        }
        crate::strict::read(text.replace('\r', "").as_bytes())
            .map_err(|fault| fault.replacen("the message", "it", 1))?;
        let dialect: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        dialect.check().map(|()| dialect)
    }

    fn check(&self) -> Result<(), String> {
        if self.schema != DIALECT_SCHEMA {
            return Err(format!("`schema` is not `{DIALECT_SCHEMA}`"));
        }
        let is_name = |name: &str| {
            !name.is_empty()
                && name.len() <= NAME_CHARACTERS_MAX
                && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        };
        if !is_name(&self.name) {
            return Err(format!("`name` is not 1 to {NAME_CHARACTERS_MAX} of the characters a-z, 0-9 and -"));
        }
        let fields = &self.fields;
        for (key, places, is_needed) in [
            ("event", &fields.event, true),
            ("session", &fields.session, true),
            ("tool", &fields.tool, true),
            ("arguments", &fields.arguments, true),
            ("server", &fields.server, false),
            ("call", &fields.call, false),
            ("result", &fields.result, false),
            ("error", &fields.error, false),
            ("again", &fields.again, false),
        ] {
            if is_needed && places.0.is_empty() {
                return Err(format!("`fields.{key}` names no place"));
            }
            if let Some(place) = places.0.iter().find(|place| !place.starts_with('/')) {
                return Err(format!(
                    "`fields.{key}` has {place:?}, which is not a JSON Pointer such as `/{key}`"
                ));
            }
        }
        let has = |meaning| self.events.values().any(|it| *it == meaning);
        if !has(EventMeaning::Before) {
            return Err("none of the `events` means `before`, so nothing would be decided on".to_owned());
        }
        if (has(EventMeaning::Error) || has(EventMeaning::After)) && fields.error.0.is_empty() {
            return Err("an event may mean an error, and `fields.error` is missing".to_owned());
        }
        let answers = &self.answers;
        for (key, answer) in [("deny", Some(&answers.deny)), ("keep", answers.keep.as_ref())] {
            if answer.is_some_and(|answer| !answer.has_reason()) {
                return Err(format!("`answers.{key}` has no `{REASON}`, so the agent would not know why"));
            }
        }
        let looks = |answer: &AnswerForm| (answer.stdout.clone(), answer.status);
        if looks(&answers.deny) == looks(&answers.allow) {
            return Err(
                "`answers.deny` and `answers.allow` differ in neither `stdout` nor `status`".to_owned()
            );
        }
        Ok(())
    }

    /// The name, which logs have as the seam.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether an event of this name is listed. One that is not is refused.
    pub fn knows(&self, event: &str) -> bool {
        self.events.contains_key(event)
    }

    /// Whether it asks about a call.
    pub fn decides_on(&self, event: &str) -> bool {
        self.events.get(event) == Some(&EventMeaning::Before)
    }

    /// Whether it reports what came of one.
    pub fn learns_from(&self, event: &str) -> bool {
        use EventMeaning::{After, Error, Result};
        matches!(self.events.get(event), Some(Result | Error | After))
    }

    /// What the agent reads of a reply.
    pub fn output(&self, reply: &HookReply) -> HookOutput {
        match reply {
            HookReply::Nothing => HookOutput::default(),
            HookReply::Allow => self.answers.allow.output(""),
            HookReply::Deny(reason) => self.answers.deny.output(reason),
            HookReply::Keep(reason) => {
                self.answers.keep.as_ref().map(|answer| answer.output(reason)).unwrap_or_default()
            }
        }
    }

    /// What any agent may take for a denial, where its dialect is not known.
    pub fn denial_of_unknown(reason: &str) -> HookOutput {
        let answer = serde_json::json!({
            "allow": false, "decision": "deny", "permission": "deny", "reason": reason,
            "user_message": reason, "agent_message": reason,
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason,
            },
        });
        /// The status that most agents take for a denial.
        const DENIED: u8 = 2;
        HookOutput { stdout: Some(answer.to_string()), stderr: Some(reason.to_owned()), status: DENIED }
    }

    /// Whether several events ask about one call, as where an agent has one for all tools and one for some.
    pub(crate) fn asks_twice(&self) -> bool {
        self.events.values().filter(|meaning| **meaning == EventMeaning::Before).count() > 1
    }
}

impl AnswerForm {
    fn has_reason(&self) -> bool {
        let in_stdout = self.stdout.as_ref().is_some_and(|value| value.to_string().contains(REASON));
        in_stdout || self.stderr.as_ref().is_some_and(|text| text.contains(REASON))
    }

    fn output(&self, reason: &str) -> HookOutput {
        HookOutput {
            stdout: self.stdout.as_ref().map(|value| filled(value, reason).to_string()),
            stderr: self.stderr.as_ref().map(|text| text.replace(REASON, reason)),
            status: self.status,
        }
    }
}

/// A template with the reason in its texts. It cannot become more than a text, whatever it says.
fn filled(template: &Value, reason: &str) -> Value {
    match template {
        Value::String(text) => Value::String(text.replace(REASON, reason)),
        Value::Array(items) => items.iter().map(|item| filled(item, reason)).collect(),
        Value::Object(entries) => {
            entries.iter().map(|(key, value)| (key.clone(), filled(value, reason))).collect()
        }
        other => other.clone(),
    }
}
