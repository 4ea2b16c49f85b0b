//! `rules v1`: rules on the calls of one session, which hold in tests, in guards and on recorded sessions alike.
//!
//! A session is a sequence of events: a tool is *called*, the call is *done* (its result came) or has *failed* (its
//! error came). Each rule is compiled to an automaton of its own over the events that it distinguishes, never to the
//! product of several. What depends on values, such as "an argument comes from an earlier result", is held in
//! registers beside it, and a rule with `per` has one automaton for each value found there.
//!
//! ```
//! use std::sync::Arc;
//!
//! use planproof_spec::rules::{Phase, RuleSet, Session, SessionEvent, RuleVerdict};
//! use serde_json::json;
//!
//! let rules = Arc::new(RuleSet::read(
//!     "schema: planproof/rules/v1\n\
//!      rules:\n\
//!      - {id: look-first, requires: {call: refund, done: get_order}, per: /order_id}\n",
//! )
//! .map_err(|faults| faults[0].to_string())?);
//! let mut session = Session::new(&rules);
//! let order = json!({"order_id": 17});
//! session.observe(&SessionEvent::new(Phase::Call, "get_order", &order))?;
//! session.observe(&SessionEvent::new(Phase::Done, "get_order", &order).with_outcome(&json!({"status": "paid"})))?;
//! session.observe(&SessionEvent::new(Phase::Call, "refund", &order))?;
//! assert_eq!(session.verdict(0), RuleVerdict::MayBeViolated);
//! // Another order was never looked at.
//! session.observe(&SessionEvent::new(Phase::Call, "refund", &json!({"order_id": 18})))?;
//! assert_eq!(session.verdict(0), RuleVerdict::Violated);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The language is documented in `docs/rules.md`. [`textbook`] has the definitions as they stand there, as the twin of
//! the automata; [`search`] finds sessions that violate rules.

mod calls;
mod checks;
mod compile;
mod foresight;
mod index;
mod known;
mod outcomes;
mod places;
mod read;
mod recorded;
mod result;
mod review;
mod samples;
mod schemas;
pub mod search;
mod session;
mod spots;
mod state;
pub mod textbook;
mod topics;
pub mod tree;
mod tried;
mod values;
mod words;

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::Requirement;
use crate::number::canonical;

pub use calls::{CallMaking, CallableTool, PossibleCalls, UntriedValues, calls_of};
pub use checks::{RuleTest, ValueCheck, ValueType};
pub use known::{KnownTool, unknown_in_checks};
pub use outcomes::{CallWorld, FixedOutcomes};
pub use read::{read_checks, read_rule, read_tests, rule_value};
pub use recorded::{RecordedEvent, RuleEnd, arguments_of, session_in_turns, session_of};
pub use result::{CallResult, mcp_result, outcome_of, result_of};
pub use review::{Oddity, RuleMeaning, RulesReview};
pub use session::{CallChanges, RuleVerdict, Session, SessionMemory, TooManyValues, targets};
pub use topics::rules_tree;

/// The name of the format, as the files have it.
pub const SCHEMA: &str = "planproof/rules/v1";

/// A JSON Schema of the files, for editors. It knows the keys and their types; [`RuleSet::read`] knows more.
pub const JSON_SCHEMA: &str = include_str!("../data/rules.schema.json");

/// A place in a file of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RulesPlace {
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
}

impl fmt::Display for RulesPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Something wrong with a file of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub place: RulesPlace,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Fault {
    fn error(place: RulesPlace, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { place, message: message.into(), help: help.into() }
    }
}

impl fmt::Display for Fault {
    /// `LINE:COLUMN: what is wrong; what to do`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.message, self.help)
    }
}

/// What an event says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The agent asked for it.
    Call,
    /// Its result came.
    Done,
    /// Its error came.
    Failed,
}

impl Phase {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Call, Self::Done, Self::Failed];

    /// The key that names it in a file: `call`, `done` or `failed`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// An event of a session.
#[derive(Debug, Clone, Copy)]
pub struct SessionEvent<'a> {
    /// What it says of the call.
    pub moment: Phase,
    /// The server whose tool it is, if the session has several.
    pub server: Option<&'a str>,
    /// The tool's name.
    pub tool: &'a str,
    /// The arguments of the call, also where its result or its error came. Anything but an object has no arguments.
    pub arguments: &'a Value,
    /// The result or the error: JSON where the tool returned JSON, otherwise its text.
    pub outcome: Option<&'a Value>,
}

impl<'a> SessionEvent<'a> {
    /// An event without an outcome, of a tool that needs no server's name.
    pub fn new(moment: Phase, tool: &'a str, arguments: &'a Value) -> Self {
        Self { moment, server: None, tool, arguments, outcome: None }
    }

    /// The same event with a result or an error.
    pub fn with_outcome(self, outcome: &'a Value) -> Self {
        Self { outcome: Some(outcome), ..self }
    }
}

/// The rules of a file.
#[derive(Debug, Clone)]
pub struct RuleSet {
    rules: Vec<CallRule>,
    compiled: Vec<Arc<compile::Compiled>>,
    index: index::RuleIndex,
}

impl RuleSet {
    /// Rules with their automata, in one order.
    fn new(rules: Vec<CallRule>, compiled: Vec<Arc<compile::Compiled>>) -> Self {
        let index = index::RuleIndex::new(rules.iter().zip(compiled.iter().map(Arc::as_ref)));
        Self { rules, compiled, index }
    }

    /// Reads a file of rules, YAML or JSON, and compiles it.
    ///
    /// # Errors
    /// What is wrong with it, in the order of the text; never empty.
    pub fn read(text: &str) -> Result<Self, Vec<Fault>> {
        Self::compile(read::read(text)?)
    }

    /// Compiles rules.
    ///
    /// # Errors
    /// Those that are too large, in their order; never empty.
    pub fn compile(rules: Vec<CallRule>) -> Result<Self, Vec<Fault>> {
        let mut compiled = Vec::new();
        let mut faults = Vec::new();
        for rule in &rules {
            match compile::Compiled::new(rule) {
                Ok(automaton) => compiled.push(Arc::new(automaton)),
                Err(too_large) => faults.push(Fault::error(
                    rule.place,
                    format!("rule `{}` needs more than {} {}", rule.id, too_large.limit, too_large.what),
                    "make it simpler, or split it into several rules",
                )),
            }
        }
        if faults.is_empty() { Ok(Self::new(rules, compiled)) } else { Err(faults) }
    }

    /// These rules and then those, without compiling any again. Ids are not compared.
    #[must_use]
    pub fn with<'a>(&self, others: impl IntoIterator<Item = &'a Self>) -> Self {
        let (mut rules, mut compiled) = (self.rules.clone(), self.compiled.clone());
        for other in others {
            rules.extend_from_slice(&other.rules);
            compiled.extend_from_slice(&other.compiled);
        }
        Self::new(rules, compiled)
    }

    /// The rules, in the order of the file.
    pub fn rules(&self) -> &[CallRule] {
        &self.rules
    }
}

/// A rule.
#[derive(Debug, Clone)]
pub struct CallRule {
    /// Its name, of which there is one in a file.
    pub id: String,
    /// The reason for it, for agents and people.
    pub why: Option<String>,
    /// Where the value stands in the arguments of a call for which the rule holds separately.
    pub per: Option<Pointer>,
    /// Whether a guard only notes what would violate it (`mode: shadow`, of the rule or else of its file).
    pub is_shadow: bool,
    /// What it demands.
    pub demand: RuleDemand,
    /// Where it stands.
    pub place: RulesPlace,
}

/// What a rule demands.
#[derive(Debug, Clone)]
pub enum RuleDemand {
    /// Before each `trigger` there is a `needed`.
    Requires {
        /// What must not come first.
        trigger: EventPattern,
        /// What must have come.
        needed: EventPattern,
    },
    /// After each `trigger` there is a `then`, before the session ends.
    FollowedBy {
        /// What begins the obligation.
        trigger: EventPattern,
        /// What fulfils it.
        then: EventPattern,
    },
    /// There is no `event` after an `after`.
    NeverAfter {
        /// What must not come any more.
        event: EventPattern,
        /// After what.
        after: EventPattern,
    },
    /// There is no such event.
    Never(EventPattern),
    /// There are at most so many of these events.
    AtMost(u32, EventPattern),
    /// There are at least so many of these events before the session ends.
    AtLeast(u32, EventPattern),
    /// The first event of its moment is one of these, if there is any event of this moment.
    First(EventPattern),
    /// The last event of its moment is one of these, if there is any event of this moment.
    Last(EventPattern),
    /// Every such call has, as this argument, a value that an earlier result has.
    Takes {
        /// The calls.
        event: EventPattern,
        /// The argument.
        argument: Pointer,
        /// The results.
        from: EventPattern,
        /// Where the value stands in them. `*` stands for every element of a list.
        value: Pointer,
    },
    /// A formula of linear temporal logic over finite traces.
    Formula {
        /// As it was written.
        source: String,
        /// Its atoms are states whose names are indices into `events`.
        requirement: Requirement,
        /// The events that it speaks of.
        events: Vec<EventPattern>,
    },
}

/// Events that a rule speaks of.
#[derive(Debug, Clone)]
pub struct EventPattern {
    /// What they say of the call.
    pub moment: Phase,
    /// The tool; `None` for any.
    pub tools: Option<ToolNames>,
    /// What must hold of the arguments.
    pub arguments: Vec<ValueCheck>,
    /// What must hold of the result or the error.
    pub outcome: Vec<ValueCheck>,
}

impl EventPattern {
    /// Whether calls of this tool can be among these events.
    pub fn is_of(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.match_tool(None, tool))
    }

    /// Whether an event is one of these.
    pub fn matches(&self, event: &SessionEvent<'_>) -> bool {
        self.matches_but_for_outcome(event)
            && self.outcome.iter().all(|check| check.holds_in_outcome(event.outcome))
    }

    /// Whether it is one of these if what came of the call is what they ask for.
    fn matches_but_for_outcome(&self, event: &SessionEvent<'_>) -> bool {
        self.moment == event.moment
            && self.tools.as_ref().is_none_or(|tools| tools.match_tool(event.server, event.tool))
            && self.arguments.iter().all(|check| check.holds(Some(event.arguments)))
    }
}

/// The names of one tool.
#[derive(Debug, Clone)]
pub struct ToolNames {
    /// The name that the rule has, then its aliases. Each is `TOOL` or `SERVER/TOOL`.
    names: Vec<String>,
    /// Where the rule has it.
    place: RulesPlace,
}

impl ToolNames {
    /// The name that the rule has.
    pub fn written(&self) -> &str {
        &self.names[0]
    }

    fn match_tool(&self, server: Option<&str>, tool: &str) -> bool {
        self.names.iter().any(|name| {
            name == tool
                || server.is_some_and(|server| {
                    name.strip_prefix(server).and_then(|rest| rest.strip_prefix('/')) == Some(tool)
                })
        })
    }
}

/// A JSON pointer (RFC 6901). Two with one text are equal, wherever they stand.
#[derive(Debug, Clone)]
pub struct Pointer {
    text: String,
    place: RulesPlace,
}

impl PartialEq for Pointer {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pointer {}

impl Pointer {
    /// A pointer that stands nowhere in a file.
    fn made(text: impl Into<String>) -> Self {
        Self { text: text.into(), place: RulesPlace { line: 1, column: 1 } }
    }

    /// The target in a value, if it is there.
    fn target<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.pointer(&self.text)
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names on the way.
    fn parts(&self) -> impl Iterator<Item = String> + '_ {
        self.text.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"))
    }
}

impl CallRule {
    /// Whether the rule is about the calls of any tool, also of one that it does not name.
    fn concerns_any_tool(&self) -> bool {
        matches!(self.demand, RuleDemand::First(_) | RuleDemand::Last(_))
            || self.patterns().iter().any(|pattern| pattern.tools.is_none())
    }

    /// All events that the rule speaks of.
    pub fn patterns(&self) -> Vec<&EventPattern> {
        match &self.demand {
            RuleDemand::Requires { trigger, needed } => vec![trigger, needed],
            RuleDemand::FollowedBy { trigger, then } => vec![trigger, then],
            RuleDemand::NeverAfter { event, after } => vec![event, after],
            RuleDemand::Never(event)
            | RuleDemand::AtMost(_, event)
            | RuleDemand::AtLeast(_, event)
            | RuleDemand::First(event)
            | RuleDemand::Last(event) => vec![event],
            RuleDemand::Takes { event, from, .. } => vec![event, from],
            RuleDemand::Formula { events, .. } => events.iter().collect(),
        }
    }
}
