//! Which agent of a run did something.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

/// Longest name of an actor, in bytes.
pub const ACTOR_BYTES_MAX: usize = 64;

/// The name of an agent within a run with several agents, such as `sample-1`, unique within the run. The names of its
/// own sub-agents begin with its name and a `/`. The outermost agent has none.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Actor(Arc<str>);

/// Why a text is not a name of an actor.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ActorError {
    /// A name, or a part of one between slashes, is empty.
    #[error("{name:?} is not the name of an actor: a part of it is empty, as in `team/sample-1` none may be")]
    Empty {
        /// The text.
        name: String,
    },
    /// It is too long.
    #[error("the name of an actor has {bytes} bytes; it may have {ACTOR_BYTES_MAX}")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// A character that a name may not have.
    #[error(
        "{name:?} is not the name of an actor: letters a to z, digits, `_`, `-`, `.` and `/` may stand in it, {found:?} may not"
    )]
    Character {
        /// The text.
        name: String,
        /// The first such character.
        found: char,
    },
}

impl Actor {
    /// The actor of that name.
    ///
    /// # Errors
    /// The name is invalid: see [`ActorError`].
    pub fn new(name: &str) -> Result<Self, ActorError> {
        // The length comes first, because the other errors repeat the name.
        if name.len() > ACTOR_BYTES_MAX {
            return Err(ActorError::TooLong { bytes: name.len() });
        }
        let is_allowed = |c: char| u8::try_from(c).is_ok_and(is_part);
        if let Some(found) = name.chars().find(|c| !is_allowed(*c)) {
            return Err(ActorError::Character { name: name.to_owned(), found });
        }
        if name.split('/').any(str::is_empty) {
            return Err(ActorError::Empty { name: name.to_owned() });
        }
        Ok(Self(name.into()))
    }

    /// The agent with this name within this one.
    ///
    /// # Errors
    /// The combination is not a valid name.
    pub fn within(&self, name: &str) -> Result<Self, ActorError> {
        Self::new(&format!("{self}/{name}"))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether this byte is allowed in the name of an actor.
pub(crate) fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-./".contains(&byte)
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        for name in ["sample-1", "team/planner.2", "A_b", &"x".repeat(ACTOR_BYTES_MAX)] {
            assert_eq!(Actor::new(name).map(|actor| actor.as_str().to_owned()), Ok(name.to_owned()));
        }
        for (name, message) in [
            (
                "",
                "\"\" is not the name of an actor: a part of it is empty, as in `team/sample-1` none may be",
            ),
            (
                "a//b",
                "\"a//b\" is not the name of an actor: a part of it is empty, as in `team/sample-1` none may be",
            ),
            (
                "é: x",
                "\"é: x\" is not the name of an actor: letters a to z, digits, `_`, `-`, `.` and `/` may stand in it, 'é' may not",
            ),
            (&"x".repeat(ACTOR_BYTES_MAX + 1), "the name of an actor has 65 bytes; it may have 64"),
        ] {
            assert_eq!(Actor::new(name).expect_err(name).to_string(), message);
        }
    }

    #[test]
    fn an_agent_within_another_has_both_names() {
        let team = Actor::new("team").expect("a name");
        assert_eq!(team.within("sample-1").map(|actor| actor.to_string()), Ok("team/sample-1".into()));
        assert!(team.within("").is_err() && team.within(&"x".repeat(ACTOR_BYTES_MAX - 4)).is_err());
    }
}
