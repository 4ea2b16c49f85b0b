//! The specification of a launcher's work.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a launcher does before it starts its program. It does all of it or fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// The version of the process that starts the launcher, which must match the launcher's own.
    pub(crate) version: String,
    /// The namespaces to create; without a value, none are created.
    pub(crate) namespaces: Option<Namespaces>,
    /// The paths to cover, if they exist by then: folders with empty ones, files with `/dev/null`.
    pub(crate) covered: Vec<PathBuf>,
    /// The folder to make read-only, with all below it.
    #[serde(default)]
    pub(crate) kept: Option<PathBuf>,
    /// How Landlock is used.
    pub(crate) landlock: Landlock,
    /// Whether the program keeps all its rights and has no limit except that on memory.
    pub(crate) keeps_rights: bool,
    /// Maximum memory in bytes of the program and everything it starts.
    pub(crate) memory_max: Option<u64>,
    /// Whether this is only a trial, which starts nothing.
    pub(crate) is_trial: bool,
}

/// Our version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Default for Spec {
    /// Does nothing.
    fn default() -> Self {
        let (namespaces, covered, kept, landlock, keeps_rights, memory_max, is_trial) = Default::default();
        let version = VERSION.to_owned();
        Self { version, namespaces, covered, kept, landlock, keeps_rights, memory_max, is_trial }
    }
}

/// Namespaces in addition to the mount namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Namespaces {
    /// A user namespace, without which only root may create any other.
    pub(crate) user: bool,
    /// A process namespace, with its own `/proc`.
    pub(crate) processes: bool,
}

/// The use of Landlock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Landlock {
    /// It is not used.
    #[default]
    Nothing,
    /// Confines signals and abstract sockets.
    Scopes,
    /// Confines them if the kernel can, and allows files only beneath these paths.
    Paths(Vec<PathBuf>),
}
