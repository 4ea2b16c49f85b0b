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
mod event;
mod fault;
mod flags;
mod foresight;
mod index;
mod known;
mod outcomes;
mod places;
mod pointer;
mod read;
mod recorded;
mod result;
mod review;
mod rule;
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
mod value_list;
mod values;
mod words;

use std::sync::Arc;

pub use calls::{CallMaking, CallableTool, PossibleCalls, UntriedValues, calls_of};
pub use checks::{RuleTest, ValueCheck, ValueType};
pub use event::{Phase, SessionEvent};
pub use fault::{Fault, RulesPlace};
pub use flags::{TextFlag, text_flags};
pub use foresight::ArgumentPlace;
pub use known::{KnownTool, unknown_in_checks};
pub use outcomes::{CallWorld, FixedOutcomes};
pub use pointer::Pointer;
pub use read::{read_checks, read_rule, read_tests, rule_value};
pub use recorded::{RecordedEvent, RuleEnd, arguments_of, session_in_turns, session_of};
pub use result::{CallResult, mcp_result, outcome_of, result_of};
pub use review::{Oddity, RuleMeaning, RulesReview};
pub use rule::{CallRule, EventPattern, RuleDemand, ToolNames};
pub use session::{CallChanges, RuleVerdict, Session, SessionMemory, TooManyValues, targets};
pub use topics::rules_tree;
pub use value_list::ValueList;

/// The name of the format, as the files have it.
pub const SCHEMA: &str = "planproof/rules/v1";

/// A JSON Schema of the files, for editors. It knows the keys and their types; [`RuleSet::read`] knows more.
pub const JSON_SCHEMA: &str = include_str!("../data/rules.schema.json");

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
