//! A case, which is one line of JSON.

use std::fmt;
use std::sync::{Arc, OnceLock};

use planproof_spec::rules::search::{self, Found, SampleCall, WantedSession};
use planproof_spec::rules::{RuleSet, read_tests};
use planproof_suite::runs::refuse_schema;
use planproof_suite::{
    Card, Case, CaseError, EventNote, Explanation, Gold, GoldCall, Toolbox, Unscored, Verdict,
};
use planproof_trace::{Event, sample_arguments};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::judge;
use crate::limits::CASE_BYTES_MAX;
use crate::suite::NAME;
use crate::world::{AnsweringTool, World, WorldTool};

/// The schema of a case's line.
pub const CASE_SCHEMA: &str = "planproof/scenario-case/v1";

/// The line of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaseLine {
    pub(crate) schema: String,
    pub(crate) id: String,
    pub(crate) query: String,
    pub(crate) tools: Vec<WorldTool>,
    /// Rules that hold in all cases, as rules v1 has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rules: Vec<Value>,
    /// The agent is shown them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) shown: bool,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) aliases: Map<String, Value>,
    /// The calls of a shortest right session, if one was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) calls: Option<u32>,
    /// What is expected of this case.
    pub(crate) expect: Vec<Expectation>,
    /// The tools that may be called, if these are not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) only: Option<Vec<String>>,
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
}

/// A case of one's own.
pub struct Scenario {
    pub(crate) line: CaseLine,
    card: Card,
    prompt: String,
    pub(crate) rules: Arc<RuleSet>,
    tools: Arc<[AnsweringTool]>,
    right: OnceLock<Found>,
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scenario").field("id", &self.line.id).finish_non_exhaustive()
    }
}

impl Scenario {
    /// The case in a line.
    ///
    /// # Errors
    /// It is no case of this suite, or of another version.
    pub(crate) fn read(text: &str) -> Result<Self, CaseError> {
        if text.len() > CASE_BYTES_MAX {
            let what = format!("the case has {} bytes, and at most {CASE_BYTES_MAX} are read", text.len());
            return Err(CaseError::new(what));
        }
        let value: Value = serde_json::from_str(text).map_err(CaseError::new)?;
        refuse_schema(&value, NAME, CASE_SCHEMA)?;
        Self::new(serde_json::from_value(value).map_err(CaseError::new)?)
    }

    pub(crate) fn new(line: CaseLine) -> Result<Self, CaseError> {
        let id = &line.id;
        let fail = |what: String| CaseError::new(format!("case {id}: {what}"));
        let expected = line.expect.iter().map(|expectation| expectation.rule.clone());
        let all: Vec<Value> = line.rules.iter().cloned().chain(expected).collect();
        let text = json!({"schema": planproof_spec::rules::SCHEMA, "aliases": line.aliases, "rules": all});
        let rules = RuleSet::read(&text.to_string())
            .map_err(|faults| fail(format!("{}; {}", faults[0].message, faults[0].help)))?;
        let names: Vec<String> = line.tools.iter().map(|tool| tool.name.clone()).collect();
        if let Some(fault) = rules.unknown_tools(&names).first() {
            return Err(fail(format!("{}; {}", fault.message, fault.help)));
        }
        let tools: Vec<AnsweringTool> =
            line.tools.iter().cloned().map(AnsweringTool::new).collect::<Result<_, _>>().map_err(fail)?;
        let mut prompt = line.query.clone();
        if line.shown && !line.rules.is_empty() {
            prompt.push_str("\n\nThese rules hold:");
            for rule in &rules.rules()[..line.rules.len()] {
                let why = rule.why.as_ref().map(|why| format!(" {why}")).unwrap_or_default();
                prompt.push_str(&format!("\n- {rule}.{why}"));
            }
        }
        let card = Card::new(line.id.clone(), line.calls.unwrap_or(0));
        let (rules, tools) = (Arc::new(rules), tools.into());
        Ok(Self { line, card, prompt, rules, tools, right: OnceLock::new() })
    }

    /// The same case with the length of its right session, as it is stored.
    pub(crate) fn measured(mut self) -> Self {
        let calls = self.right().session().and_then(|calls| u32::try_from(calls.len()).ok());
        self.line.calls = calls;
        self.card = Card::new(self.line.id.clone(), calls.unwrap_or(0));
        self
    }

    /// A shortest session of a right agent.
    pub(crate) fn right(&self) -> &Found {
        self.right.get_or_init(|| {
            let all: Vec<usize> = (0..self.rules.rules().len()).collect();
            let calls = self.possible_calls(self.line.only.as_deref());
            let wanted = WantedSession { holds: &all, ..WantedSession::default() };
            search::session_of_calls(&self.rules, &calls, wanted)
        })
    }

    /// Calls to look for sessions among, of these tools, or else of all.
    pub(crate) fn possible_calls(&self, only: Option<&[String]>) -> Vec<SampleCall> {
        let names: Vec<String> = match only {
            Some(only) => only.to_vec(),
            None => self.tools.iter().map(|tool| tool.tool.name.clone()).collect(),
        };
        let find = |name: &str| self.tools.iter().find(|tool| tool.tool.name == name);
        let complete = |name: &str, arguments: Value| {
            let mut whole =
                find(name).map(|tool| sample_arguments(&tool.tool.input_schema)).unwrap_or_default();
            if let Value::Object(given) = arguments {
                whole.extend(given);
            }
            Value::Object(whole)
        };
        let outcome = |name: &str, arguments: &Value| {
            find(name).map_or_else(|| Err(Value::Null), |tool| tool.answer(arguments))
        };
        search::calls_of(&self.rules, &names, &self.given_arguments(), complete, outcome)
    }

    /// The same calls with every outcome that the rules tell apart, as if the world had all of them. A call that its
    /// tool does not take fails all the same.
    pub(crate) fn in_any_world(&self, calls: &[SampleCall]) -> Vec<SampleCall> {
        let mut free = Vec::new();
        for call in calls {
            let tool = self.tools.iter().find(|tool| tool.tool.name == call.tool);
            let is_taken = tool.is_some_and(|tool| tool.takes(&call.arguments).is_ok());
            free.push(call.clone());
            let outcomes = search::outcomes_of(&self.rules, &call.tool);
            free.extend(
                outcomes
                    .into_iter()
                    .filter(|_| is_taken)
                    .map(|outcome| SampleCall { outcome: Some(outcome), ..call.clone() }),
            );
        }
        free
    }

    /// Arguments that the author of the case had in mind: those that lines of the world ask for, and values in its
    /// results that a rule has another call take.
    fn given_arguments(&self) -> Vec<(String, Value)> {
        let mut given = Vec::new();
        for tool in &*self.tools {
            for tests in tool.tests() {
                given.push((tool.tool.name.clone(), search::arguments_for(tests)));
            }
        }
        let lines = given.clone();
        let results = |name: &str| {
            let tool = self.tools.iter().find(|tool| tool.tool.name == name);
            tool.into_iter().flat_map(|tool| &tool.tool.answers).filter_map(|answer| answer.returns.clone())
        };
        for (call, argument, from, value) in self.rules.flows() {
            for result in results(from) {
                for taken in planproof_spec::rules::targets(&result, value) {
                    let mut arguments = json!({});
                    search::put(&mut arguments, argument, taken.clone());
                    // A line of the world may ask for more of the same call.
                    let of_call = lines.iter().filter(|(name, _)| name == call);
                    given
                        .extend(of_call.map(|(name, line)| (name.clone(), search::joined(line, &arguments))));
                    given.push((call.to_owned(), arguments));
                }
            }
        }
        given
    }

    /// The place of some words in the query, in characters.
    pub(crate) fn place_of(&self, words: &str) -> Option<(u32, u32)> {
        let byte = self.line.query.find(words)?;
        let start = self.line.query[..byte].chars().count();
        let end = start + words.chars().count();
        Some((u32::try_from(start).ok()?, u32::try_from(end).ok()?))
    }
}

impl Case for Scenario {
    fn card(&self) -> &Card {
        &self.card
    }

    fn prompt(&self) -> &str {
        &self.prompt
    }

    fn to_line(&self) -> String {
        // Everything in it came from JSON.
        serde_json::to_string(&self.line).unwrap_or_default()
    }

    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        Ok(Arc::new(World::new(&self.tools)))
    }

    fn calls_needed(&self) -> Option<u32> {
        let calls = self.right().session()?.len();
        u32::try_from(calls).ok()
    }

    fn judge(&self, events: &[Event]) -> Result<Verdict, Unscored> {
        judge::judge(self, events)
    }

    fn explain(&self, verdict: &Verdict) -> Explanation {
        judge::explain(self, verdict)
    }

    fn notes(&self, verdict: &Verdict, events: &[Event]) -> Option<Vec<EventNote>> {
        judge::notes(verdict, events)
    }

    fn essence(&self, verdict: &Verdict) -> String {
        judge::essence(verdict)
    }

    fn target(&self) -> String {
        let right = self.right().session().unwrap_or_default();
        right.iter().map(|call| call.tool.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn gold(&self) -> Option<Gold> {
        let calls = self.right().session()?.iter().map(|call| GoldCall {
            tool: call.tool.clone(),
            arguments: call.arguments.as_object().cloned().unwrap_or_default(),
        });
        Some(Gold { calls: calls.collect(), answer: "Done.".to_owned(), ..Gold::default() })
    }
}

/// The tests in the `where` of an answer, ready to be held against arguments.
pub(crate) fn tests_of(tests: &Map<String, Value>) -> Result<Vec<planproof_spec::rules::ValueCheck>, String> {
    if tests.is_empty() {
        return Ok(Vec::new());
    }
    read_tests(&Value::Object(tests.clone())).map_err(|fault| format!("{}; {}", fault.message, fault.help))
}
