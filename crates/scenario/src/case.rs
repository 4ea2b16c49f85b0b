//! A case: its line, ready to be searched and judged.

use std::fmt;
use std::sync::{Arc, OnceLock};

use planproof_spec::rules::search::{self, Found, SampleCall, WantedSession};
use planproof_spec::rules::{CallRule, PossibleCalls, RuleSet, Session};
use planproof_suite::case_line::refuse_schema;
use planproof_suite::{Card, CaseError, Needed};
use serde_json::{Value, json};

use crate::limits::{CASE_BYTES_MAX, DEMANDS_REVIEWED_MAX};
use crate::line::{CASE_SCHEMA, CaseLine, LineCall, NAME};
use crate::state::{Values, beginning};
use crate::world::{Answered, AnsweringTool};
use crate::{figures, turns};

/// A case of one's own.
pub struct Scenario {
    pub(crate) line: CaseLine,
    pub(crate) card: Card,
    pub(crate) prompt: String,
    pub(crate) rules: Arc<RuleSet>,
    /// The same as they bind over the messages of the user, and then that these come one after the other.
    pub(crate) bound: Arc<RuleSet>,
    /// The query, with what the user says later.
    text: String,
    pub(crate) tools: Arc<[AnsweringTool]>,
    /// The values that the world begins with.
    pub(crate) beginning: Values,
    right: OnceLock<Right>,
    /// The calls of all tools among which sessions are looked for, before the user says more.
    pub(crate) possible: OnceLock<PossibleCalls>,
    /// The right session in the world whose tools fail.
    pub(crate) played: OnceLock<Option<(Vec<SampleCall>, Vec<u32>)>>,
}

/// What a search for a right session came to.
pub(crate) struct Right {
    found: Found,
    /// The numbers of the messages before its calls.
    pub(crate) turns: Vec<u32>,
    is_shortest: bool,
}

impl Right {
    fn new(found: Found, is_shortest: bool) -> Self {
        match found {
            Found::Session(calls) => {
                let (calls, turns) = turns::apart(calls);
                Self { found: Found::Session(calls), turns, is_shortest }
            }
            found => Self { found, turns: Vec::new(), is_shortest },
        }
    }

    fn shortest(found: Found) -> Self {
        Self::new(found, true)
    }
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
    /// It is not a case of this suite, or of another version.
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
        if let Some(faults) = &line.faults {
            faults.check().map_err(fail)?;
        }
        let expected = line.expect.iter().map(|expectation| expectation.rule.clone());
        let all: Vec<Value> = line.rules.iter().cloned().chain(expected).collect();
        let text = json!({"schema": planproof_spec::rules::SCHEMA, "aliases": line.aliases, "rules": all});
        let rules = RuleSet::read(&text.to_string())
            .map_err(|faults| fail(format!("{}; {}", faults[0].message, faults[0].help)))?;
        let names: Vec<String> = line.tools.iter().map(|tool| tool.name.clone()).collect();
        if let Some(fault) = rules.unknown_tools(&names).first() {
            return Err(fail(format!("{}; {}", fault.message, fault.help)));
        }
        let values = beginning(&line.state).map_err(|(_, what)| fail(what))?;
        let tools = line.tools.iter().cloned().map(|tool| AnsweringTool::new(tool, &values));
        let tools: Vec<AnsweringTool> = tools.collect::<Result<_, _>>().map_err(fail)?;
        let bound = match line.turns.is_empty() {
            true => None,
            false => Some(turns::bound(&rules, &line).map_err(fail)?),
        };
        let mut case = Self { beginning: values, ..Self::of_parts(line, rules, tools) };
        if let Some(bound) = bound {
            case.bound = Arc::new(bound);
        }
        Ok(case)
    }

    /// The case of a line whose rules and tools are ready.
    pub(crate) fn of_parts(line: CaseLine, rules: RuleSet, tools: Vec<AnsweringTool>) -> Self {
        let stated = match line.shown {
            true => stated(&rules.rules()[..line.rules.len()]),
            false => String::new(),
        };
        Self::of_stated(line, rules, tools, &stated)
    }

    /// The same, with what [`stated`] gives for its rules, if the agent is shown them.
    pub(crate) fn of_stated(line: CaseLine, rules: RuleSet, tools: Vec<AnsweringTool>, stated: &str) -> Self {
        let mut prompt = match line.drawn.as_ref().and_then(|drawn| drawn.policy.as_deref()) {
            Some(policy) => format!("{policy}\n\n{}", line.query),
            None => line.query.clone(),
        };
        prompt.push_str(stated);
        let card = card_of(&line);
        let (rules, tools) = (Arc::new(rules), tools.into());
        let later = (2..).zip(&line.turns).map(|(number, text)| format!(" [message {number}] {text}"));
        let text = std::iter::once(line.query.clone()).chain(later).collect();
        let (right, played, possible) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (bound, beginning) = (Arc::clone(&rules), Values::new());
        Self { line, card, prompt, bound, rules, text, tools, beginning, right, played, possible }
    }

    /// The same case with the length of its right session, as it is stored.
    pub(crate) fn measured(mut self) -> Self {
        let calls = self.right().session().and_then(|calls| u32::try_from(calls.len()).ok());
        self.line.calls = calls;
        self.line.longer = calls.is_some() && !self.is_shortest();
        self.card = card_of(&self.line);
        self
    }

    /// The number of the message before each call of the right session, from 1.
    pub(crate) fn messages_of_calls(&self) -> &[u32] {
        &self.searched().turns
    }

    /// What a tool answers that works, in a world with these values, and what it changes.
    pub(crate) fn answer(&self, values: &Values, tool: &str, arguments: &Value) -> Answered {
        let tool = self.tools.iter().find(|it| it.tool.name == tool);
        let arguments = turns::without_turn(arguments);
        tool.map_or_else(
            || Answered { outcome: Err(Value::Null), after: None, line: None },
            |tool| tool.answer(values, &arguments),
        )
    }

    /// The same drawn case, among cases in which so many rules do not matter.
    pub(crate) fn beside(mut self, rules_without_case: u32) -> Self {
        if let Some(drawn) = &mut self.line.drawn {
            drawn.rules_without_case = rules_without_case;
        }
        self.card = card_of(&self.line);
        self
    }

    /// A session of a right agent, and a shortest one unless there are too many.
    pub(crate) fn right(&self) -> &Found {
        &self.searched().found
    }

    /// Whether no right session is shorter.
    pub(crate) fn is_shortest(&self) -> bool {
        self.searched().is_shortest
    }

    pub(crate) fn searched(&self) -> &Right {
        self.right.get_or_init(|| {
            if let Some(calls) = self.drawn_right() {
                return Right::shortest(Found::Session(calls));
            }
            let all: Vec<usize> = (0..self.bound.rules().len()).collect();
            let calls = self.possible_calls(self.line.only.as_deref());
            let wanted = WantedSession { holds: &all, ..WantedSession::default() };
            match self.find(&calls, wanted, self.line.only.as_deref()) {
                Found::TooMany => match self.any_session(&calls) {
                    Some(calls) => Right::new(Found::Session(calls), false),
                    None if self.some_contradict(&calls, &all) => Right::shortest(Found::None),
                    None => Right::shortest(Found::TooMany),
                },
                Found::Session(session) => {
                    let is_shortest = self.is_none_shorter(&calls, wanted, session.len());
                    Right::new(Found::Session(session), is_shortest)
                }
                Found::None => Right::shortest(Found::None),
            }
        })
    }

    /// Whether some of these rules contradict one another, a few or all but one, so that all of them do.
    fn some_contradict(&self, calls: &[SampleCall], all: &[usize]) -> bool {
        let contradict = |some: &[usize]| {
            let wanted = WantedSession { holds: some, ..WantedSession::default() };
            self.find(calls, wanted, self.line.only.as_deref()) == Found::None
        };
        let others = |left_out: usize| all.iter().copied().filter(move |rule| *rule != left_out).collect();
        let mut all_but_one = all.iter().map(|rule| -> Vec<usize> { others(*rule) });
        all.len() <= DEMANDS_REVIEWED_MAX
            && (search::few(all, contradict).is_some() || all_but_one.any(|some| contradict(&some)))
    }

    /// The right session that a drawn case comes with, if it is one.
    fn drawn_right(&self) -> Option<Vec<SampleCall>> {
        let drawn = self.line.drawn.as_ref()?;
        let mut session = Session::new(&self.rules);
        let mut calls = Vec::new();
        for LineCall { tool, arguments } in &drawn.right {
            let arguments = Value::Object(arguments.clone());
            let tool = self.tools.iter().find(|it| it.tool.name == *tool)?;
            let outcome = Some(tool.answer(&self.beginning, &arguments).outcome);
            let tool = &tool.tool.name;
            let call = SampleCall { tool: tool.clone(), arguments, outcome };
            if !call.observe(&mut session) {
                return None;
            }
            calls.push(call);
        }
        session.verdicts().iter().all(|verdict| verdict.is_held_at_end()).then_some(calls)
    }

    /// What a rule demands as a sentence without a full stop, with the messages between which it binds.
    pub(crate) fn sentence(&self, rule: &CallRule) -> String {
        let expected = self.line.expect.iter().find(|expectation| expectation.rule["id"] == rule.id);
        let demand = rule.demanded();
        match expected.map(|expectation| (expectation.from, expectation.until)) {
            Some((Some(from), Some(until))) => format!("{demand}, from message {from} to message {until}"),
            Some((Some(from), None)) => format!("{demand}, from message {from} on"),
            Some((None, Some(until))) => format!("{demand}, until the end of message {until}"),
            _ => demand,
        }
    }

    /// The words that say a rule to the agent.
    pub(crate) fn words_of(&self, id: &str) -> Option<&str> {
        let expected = self.line.expect.iter().find(|expectation| expectation.rule["id"] == *id);
        let words = expected.and_then(|expectation| expectation.words.as_deref());
        words.or_else(|| self.line.said.get(id).map(String::as_str))
    }

    /// The text that findings show: what the agent is asked, with a policy before it.
    pub(crate) fn text(&self) -> &str {
        match self.line.drawn.as_ref().is_some_and(|drawn| drawn.policy.is_some()) {
            true => &self.prompt,
            false => &self.text,
        }
    }

    /// The place of some words in this text, in characters.
    pub(crate) fn place_of(&self, words: &str) -> Option<(u32, u32)> {
        let text = self.text();
        let byte = text.find(words)?;
        let start = text[..byte].chars().count();
        let end = start + words.chars().count();
        Some((u32::try_from(start).ok()?, u32::try_from(end).ok()?))
    }
}

/// Rules as the agent is shown them below the query; nothing if there are none.
pub(crate) fn stated(rules: &[CallRule]) -> String {
    if rules.is_empty() {
        return String::new();
    }
    let mut text = "\n\nThese rules hold:".to_owned();
    for rule in rules {
        let why = rule.why.as_ref().map(|why| format!(" {why}")).unwrap_or_default();
        text.push_str(&format!("\n- {rule}.{why}"));
    }
    text
}

/// The bit of [`Card::marks`] of cases whose tools fail, beside those of drawn cases.
pub(crate) const HAS_FAULTS: u32 = 1 << 31;

/// The bit of cases in which the user says more later.
pub(crate) const HAS_TURNS: u32 = 1 << 30;

/// The card of a case: for a drawn one with the rule that matters.
fn card_of(line: &CaseLine) -> Card {
    let mut card = Card::new(line.id.clone(), line.calls.unwrap_or(0));
    if let Some(drawn) = &line.drawn {
        card.label.clone_from(&drawn.rule);
        card.marks = figures::marks(drawn);
    }
    // Where tools fail, the session with the fewest calls is another one.
    if line.faults.is_none() && !line.longer {
        card.needed = line.calls.map(|calls| Needed { calls, rounds: None });
    }
    card.marks |= if line.faults.is_some() { HAS_FAULTS } else { 0 };
    card.marks |= if line.turns.is_empty() { 0 } else { HAS_TURNS };
    card
}
