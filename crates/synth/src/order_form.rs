//! Why a constraint holds that no sentence states: a rule of a topic, in one of its forms.

use serde_json::Value;

/// The form in which a topic states an order of two tasks. Each task is done once, so "never after" means the same as
/// "before"; only the words differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OrderForm {
    Before,
    After,
    /// `A never before B`.
    NeverBefore,
    /// `A never after B`.
    NeverAfter,
}

/// Why a constraint holds that no sentence states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// The topic states the order.
    Order(OrderForm),
    /// The later task takes the output of the earlier one.
    Flow {
        /// The argument of the later task's tool.
        argument: String,
        /// The output of the earlier task's tool: a text or an integer.
        value: Value,
    },
}

impl OrderForm {
    pub const ALL: [Self; 4] = [Self::Before, Self::After, Self::NeverBefore, Self::NeverAfter];

    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
            Self::NeverBefore => "never_before",
            Self::NeverAfter => "never_after",
        }
    }

    /// The words used in texts.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
            Self::NeverBefore => "never before",
            Self::NeverAfter => "never after",
        }
    }

    /// Whether the task that the rule is about comes first.
    fn is_first(self) -> bool {
        matches!(self, Self::Before | Self::NeverAfter)
    }

    /// The earlier and the later one of the rule's subject and the other task.
    pub(crate) fn sorted<T>(self, task: T, other: T) -> (T, T) {
        if self.is_first() { (task, other) } else { (other, task) }
    }
}
