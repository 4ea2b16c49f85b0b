//! The forms in which all sub-tasks of a plan can be written at once: those of TPTU's Tables 3 to 6.

use std::fmt;

/// A form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum PlanForm {
    /// One list of pairs of a tool and its sub-task (Tables 5 and 6).
    #[default]
    Pairs,
    /// A list of tools and one of sub-tasks (Table 4).
    Lists,
    /// A list of tools alone (Table 3).
    Tools,
}

impl PlanForm {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Pairs, Self::Lists, Self::Tools];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pairs => "pairs",
            Self::Lists => "lists",
            Self::Tools => "tools",
        }
    }

    /// The form of that word.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.as_str() == word)
    }

    /// The beginning of what a prompt says of the reply.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Pairs => "Reply with one JSON list of objects",
            Self::Lists => "Reply with two JSON lists",
            Self::Tools => "Reply with one JSON list of the names of tools",
        }
    }
}

impl fmt::Display for PlanForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
