//! A rule as a file has it: what it demands, and of which events.

use super::{Phase, Pointer, RulesPlace, SessionEvent, ValueCheck};
use crate::Requirement;

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

impl CallRule {
    /// Whether the rule is about the calls of any tool, also of one that it does not name.
    pub(super) fn concerns_any_tool(&self) -> bool {
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
    pub(super) fn matches_but_for_outcome(&self, event: &SessionEvent<'_>) -> bool {
        self.moment == event.moment
            && self.tools.as_ref().is_none_or(|tools| tools.match_tool(event.server, event.tool))
            && self.arguments.iter().all(|check| check.holds(Some(event.arguments)))
    }
}

/// The names of one tool.
#[derive(Debug, Clone)]
pub struct ToolNames {
    /// The name that the rule has, then its aliases. Each is `TOOL` or `SERVER/TOOL`.
    pub(super) names: Vec<String>,
    /// Where the rule has it.
    pub(super) place: RulesPlace,
}

impl ToolNames {
    /// The name that the rule has.
    pub fn written(&self) -> &str {
        &self.names[0]
    }

    pub(super) fn match_tool(&self, server: Option<&str>, tool: &str) -> bool {
        self.names.iter().any(|name| {
            name == tool
                || server.is_some_and(|server| {
                    name.strip_prefix(server).and_then(|rest| rest.strip_prefix('/')) == Some(tool)
                })
        })
    }
}
