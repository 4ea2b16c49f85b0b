//! Rules and events in plain words.

use std::fmt;

use super::{CallRule, EventPattern, Phase, Pointer, RuleDemand, RuleTest, ValueCheck};
use crate::diagnostic::all_of;

impl fmt::Display for ValueCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = place(&self.pointer);
        match &self.test {
            RuleTest::Present(true) => write!(f, "some {pointer}"),
            RuleTest::Present(false) => write!(f, "no {pointer}"),
            RuleTest::Not(tests) => {
                let tests: Vec<String> = tests.iter().map(attribute).collect();
                write!(f, "no {pointer} {}", all_of(tests.iter().map(String::as_str)))
            }
            test if pointer == "whole value" => write!(f, "a whole value {}", attribute(test)),
            test => write!(f, "{pointer} {}", attribute(test)),
        }
    }
}

/// A place within arguments, a result or an error; the empty pointer is all of it.
fn place(pointer: &Pointer) -> &str {
    match pointer.as_str() {
        "" => "whole value",
        pointer => pointer,
    }
}

/// The events of a pattern's moment, as a noun.
fn kind_of(event: &EventPattern) -> &'static str {
    match event.moment {
        Phase::Call => "call",
        Phase::Done => "result",
        Phase::Failed => "error",
    }
}

/// A test as it stands behind the name of what is tested.
fn attribute(test: &RuleTest) -> String {
    let either = |names: Vec<String>| crate::diagnostic::one_of(names.iter().map(String::as_str));
    match test {
        RuleTest::Is(value) => value.to_string(),
        RuleTest::IsNot(value) => format!("other than {value}"),
        RuleTest::OneOf(values) => either(values.iter().map(ToString::to_string).collect()),
        RuleTest::Above(bound) => format!("above {bound}"),
        RuleTest::AtLeast(bound) => format!("of at least {bound}"),
        RuleTest::Below(bound) => format!("below {bound}"),
        RuleTest::AtMost(bound) => format!("of at most {bound}"),
        RuleTest::Matches(pattern) => format!("that matches `{}`", pattern.as_str()),
        RuleTest::Type(types) => {
            format!("of type {}", either(types.iter().map(|one| one.name().to_owned()).collect()))
        }
        // Neither stands within another test.
        RuleTest::Present(_) | RuleTest::Not(_) => String::new(),
    }
}

impl fmt::Display for EventPattern {
    /// `a call of refund with /amount above 100`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = self.tools.as_ref().map_or("any tool", |tools| tools.written());
        f.write_str(match self.moment {
            Phase::Call => "a call of ",
            Phase::Done => "a result of ",
            Phase::Failed => "an error of ",
        })?;
        f.write_str(tool)?;
        let joined = |checks: &[ValueCheck]| {
            let checks: Vec<String> = checks.iter().map(ToString::to_string).collect();
            all_of(checks.iter().map(String::as_str))
        };
        let called = if self.moment == Phase::Call { "with" } else { "called with" };
        if !self.arguments.is_empty() {
            write!(f, " {called} {}", joined(&self.arguments))?;
        }
        match (self.outcome.is_empty(), self.arguments.is_empty()) {
            (true, _) => Ok(()),
            (false, true) => write!(f, " with {}", joined(&self.outcome)),
            (false, false) => write!(f, ", with {}", joined(&self.outcome)),
        }
    }
}

impl CallRule {
    /// What the rule demands of a session, as a sentence without a full stop: in a report on one that may have violated
    /// it, the rule itself would read as what happened.
    pub fn demanded(&self) -> String {
        self.sentence(true)
    }

    /// The rule as a sentence: what is always so, or what has to be so.
    fn sentence(&self, is_demand: bool) -> String {
        let say = |fact: &'static str, demand: &'static str| if is_demand { demand } else { fact };
        let (comes, is, takes) =
            (say("comes", "has to come"), say("is", "has to be"), say("takes", "has to take"));
        let (never, at_most) =
            (say("never comes", "must not come"), say("comes at most", "may come at most"));
        let sentence = match &self.demand {
            RuleDemand::Requires { trigger, needed } => format!("{trigger} needs {needed} before it"),
            RuleDemand::FollowedBy { trigger, then } => match is_demand {
                true => format!("after {trigger}, {then} {comes} before the session ends"),
                false => format!("after {trigger} {comes} {then}, before the session ends"),
            },
            RuleDemand::NeverAfter { event, after } => format!("{event} {never} after {after}"),
            RuleDemand::Never(event) | RuleDemand::AtMost(0, event) => format!("{event} {never}"),
            RuleDemand::AtMost(1, event) => format!("{event} {at_most} once"),
            RuleDemand::AtMost(times, event) => format!("{event} {at_most} {times} times"),
            RuleDemand::AtLeast(0 | 1, event) => format!("{event} {comes} before the session ends"),
            RuleDemand::AtLeast(times, event) => {
                format!("{event} {comes} at least {times} times before the session ends")
            }
            RuleDemand::First(event) => format!("the first {} of a session {is} {event}", kind_of(event)),
            RuleDemand::Last(event) => format!("the last {} of a session {is} {event}", kind_of(event)),
            RuleDemand::Takes { event, argument, from, value } => {
                let from = from.tools.as_ref().map_or("any tool", |tools| tools.written());
                let argument = place(argument);
                let value = match value.as_str() {
                    "" => String::new(),
                    value => format!("{value} in "),
                };
                format!("{event} {takes} its {argument} from {value}an earlier result of {from}")
            }
            RuleDemand::Formula { source, .. } => {
                format!("the formula {source} {}", say("holds", "has to hold"))
            }
        };
        let per = self.per.as_ref().map(|per| format!(", separately for each {}", per.as_str()));
        let mut chars = sentence.chars();
        let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
        format!("{first}{}{}", chars.as_str(), per.unwrap_or_default())
    }
}

impl fmt::Display for CallRule {
    /// The rule as a sentence without a full stop.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence(false))
    }
}
