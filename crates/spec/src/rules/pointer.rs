//! Pointers into arguments and outcomes.

use serde_json::Value;

use super::RulesPlace;

/// A JSON pointer (RFC 6901). Two with one text are equal, wherever they stand.
#[derive(Debug, Clone)]
pub struct Pointer {
    pub(super) text: String,
    pub(super) place: RulesPlace,
}

impl PartialEq for Pointer {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pointer {}

impl Pointer {
    /// A pointer that stands nowhere in a file.
    pub(super) fn made(text: impl Into<String>) -> Self {
        Self { text: text.into(), place: RulesPlace { line: 1, column: 1 } }
    }

    /// The target in a value, if it is there.
    pub(super) fn target<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.pointer(&self.text)
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names on the way.
    pub(super) fn parts(&self) -> impl Iterator<Item = String> + '_ {
        self.text.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"))
    }
}
