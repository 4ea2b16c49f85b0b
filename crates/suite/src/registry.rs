//! The suites that there are.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::Suite;

/// The suites that a program knows, by name.
#[derive(Clone, Default)]
pub struct Registry {
    suites: Vec<Arc<dyn Suite>>,
}

/// Why suites cannot be registered, or one is not found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RegistryError {
    /// Two suites share a name.
    #[error("two suites are called `{0}`; each needs a name of its own")]
    Twice(String),
    /// The classes of a suite are not ranked by their positions.
    #[error("class `{class}` of suite `{suite}` has another rank than its place in the list of classes")]
    Rank {
        /// The suite.
        suite: String,
        /// The class.
        class: &'static str,
    },
    /// No suite has that name.
    #[error("there is no suite `{name}`; there are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The suites that there are.
        known: String,
    },
}

impl Registry {
    /// Takes the suites, in the order in which they are listed.
    ///
    /// # Errors
    /// Two share a name, or the classes of one are not ranked by their positions.
    pub fn new(suites: Vec<Arc<dyn Suite>>) -> Result<Self, RegistryError> {
        for (place, suite) in suites.iter().enumerate() {
            if suites[..place].iter().any(|other| other.name() == suite.name()) {
                return Err(RegistryError::Twice(suite.name().to_owned()));
            }
            // Classes are sorted by their rank alone, without access to this list.
            for (rank, class) in suite.classes().iter().enumerate() {
                if usize::from(class.rank) != rank {
                    return Err(RegistryError::Rank { suite: suite.name().to_owned(), class: class.name });
                }
            }
        }
        Ok(Self { suites })
    }

    /// The suites, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Suite>> {
        self.suites.iter()
    }

    /// The suite of that name.
    ///
    /// # Errors
    /// There is no such suite.
    pub fn find(&self, name: &str) -> Result<&Arc<dyn Suite>, RegistryError> {
        self.suites.iter().find(|suite| suite.name() == name).ok_or_else(|| RegistryError::Unknown {
            name: name.to_owned(),
            known: self.suites.iter().map(|suite| suite.name()).collect::<Vec<_>>().join(", "),
        })
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.suites.iter().map(|suite| suite.name())).finish()
    }
}
