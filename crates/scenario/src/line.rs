//! The line of a case, as it is stored: data, which every other file reads.

use std::collections::BTreeMap;

use planproof_spec::rules::{KnownTool, ValueCheck, read_tests};
use planproof_trace::faults::ToolFaults;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::shared::Shared;

/// The suite's name.
pub const NAME: &str = "scenario";

/// The schema of a case's line.
pub const CASE_SCHEMA: &str = "planproof/scenario-case/v1";

/// The line of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaseLine {
    pub(crate) schema: String,
    pub(crate) id: String,
    pub(crate) query: String,
    /// What the user says later, each when the agent has ended its turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) turns: Vec<String>,
    /// The values that its world begins with.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) state: Map<String, Value>,
    pub(crate) tools: Vec<Shared<WorldTool>>,
    /// Rules that hold in all cases, as rules v1 has them.
    #[serde(default, skip_serializing_if = "Shared::is_empty")]
    pub(crate) rules: Shared<Vec<Value>>,
    /// The agent is shown them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) shown: bool,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) aliases: Map<String, Value>,
    /// How the tools fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) faults: Option<ToolFaults>,
    /// The words that say these rules, by their ids, where the agent is shown them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) said: BTreeMap<String, String>,
    /// The calls of a shortest right session, if one was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) calls: Option<u32>,
    /// There may be a right session with fewer calls: there were too many to look through.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) longer: bool,
    /// What is expected of this case.
    pub(crate) expect: Vec<Expectation>,
    /// The tools that may be called, if these are not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) only: Option<Vec<String>>,
    /// Where it comes from, if it was drawn from rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) drawn: Option<Drawn>,
}

/// Something that is expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expectation {
    /// A rule of rules v1.
    pub(crate) rule: Value,
    /// The words of the query that say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) words: Option<String>,
    /// The number of the message, from 1, from which on it binds; `None`: from the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<u32>,
    /// The number of the last message that it binds after; `None`: to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<u32>,
}

/// A tool as a file describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorldTool {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: String,
    pub(crate) input_schema: Map<String, Value>,
    /// What it answers, the first line that fits; without any line, that it is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<Answer>,
}

impl WorldTool {
    /// As rules are held to it.
    pub(crate) fn known(&self) -> KnownTool<'_> {
        KnownTool { name: &self.name, schema: &self.input_schema }
    }
}

/// A line of the world.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    /// What the arguments must be like: the event of a rule on calls, as JSON.
    #[serde(rename = "where", default, skip_serializing_if = "Map::is_empty")]
    pub(crate) arguments: Map<String, Value>,
    /// What the values of the state must be like, by their names.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) needs: Map<String, Value>,
    /// The error if they are not. Without it, the next line is tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) otherwise: Option<String>,
    /// Values that it gives.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) sets: Map<String, Value>,
    /// Numbers that it adds to values.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) adds: Map<String, Value>,
    /// Numbers that it subtracts from values.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) subtracts: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) returns: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fails: Option<String>,
}

/// How a rule matters in a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Manner {
    /// What is asked can be done, but not in the order of mention.
    Order,
    /// A call is needed that nobody mentions.
    LeftOut,
    /// Something that is asked must not be done, or not so often.
    LeftUndone,
}

impl Manner {
    pub(crate) const ALL: [Self; 3] = [Self::Order, Self::LeftOut, Self::LeftUndone];

    /// In words, behind "in cases".
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Order => "the order of mention violates it",
            Self::LeftOut => "a call that it demands is not mentioned",
            Self::LeftUndone => "something that is asked must not be done",
        }
    }
}

/// Where a drawn case comes from, as its line has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Drawn {
    /// The rule that matters.
    pub(crate) rule: String,
    pub(crate) manner: Manner,
    /// The agent is not shown the rules: it has them from elsewhere.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) hidden: bool,
    /// A text before the query that states the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) policy: Option<String>,
    /// How many rules matter in none of the cases that it was drawn with.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) rules_without_case: u32,
    /// The calls of the query, in the order of mention.
    pub(crate) asked: Vec<LineCall>,
    /// A right session.
    pub(crate) right: Vec<LineCall>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A call, as a line has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LineCall {
    pub(crate) tool: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) arguments: Map<String, Value>,
}

/// The tests in the `where` of an answer, ready to be held against arguments.
pub(crate) fn tests_of(tests: &Map<String, Value>) -> Result<Vec<ValueCheck>, String> {
    if tests.is_empty() {
        return Ok(Vec::new());
    }
    read_tests(&Value::Object(tests.clone())).map_err(|fault| format!("{}; {}", fault.message, fault.help))
}
