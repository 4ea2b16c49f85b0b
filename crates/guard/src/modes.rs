//! Whether rules are enforced or only watch, and what becomes of a call.

use planproof_spec::rules::{CallRule, RuleSet};
use serde::{Deserialize, Serialize};

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
    pub(crate) fn of_rule(rule: &CallRule) -> Self {
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

    /// The same of a call that was decided on before and comes by once more.
    pub(crate) fn once_more(self) -> Self {
        if self.is_passed_on() { Self::Continued } else { self }
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
