//! What a launcher is told to do.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a launcher does before it starts its program. It does all of it or fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// That of whoever tells it, which must be its own.
    pub(crate) version: String,
    /// Which namespaces it takes; none without one.
    pub(crate) namespaces: Option<Namespaces>,
    /// What it covers, where it is there by then: folders by empty ones, files by `/dev/null`.
    pub(crate) covered: Vec<PathBuf>,
    /// What it has Landlock do.
    pub(crate) landlock: Landlock,
    /// Leaves the program all rights, and sets no limits but that on memory.
    pub(crate) keeps_rights: bool,
    /// Most bytes of memory that the program takes with all that it starts.
    pub(crate) memory_max: Option<u64>,
    /// Only tries, and starts nothing.
    pub(crate) is_trial: bool,
}

/// Our version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Default for Spec {
    /// Nothing.
    fn default() -> Self {
        let (namespaces, covered, landlock, keeps_rights, memory_max, is_trial) = Default::default();
        let version = VERSION.to_owned();
        Self { version, namespaces, covered, landlock, keeps_rights, memory_max, is_trial }
    }
}

/// Namespaces beside that of mounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Namespaces {
    /// One of users, without which nobody but the superuser may take any other.
    pub(crate) user: bool,
    /// One of processes, with a `/proc` of its own.
    pub(crate) processes: bool,
}

/// What Landlock is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Landlock {
    /// Nothing.
    #[default]
    Nothing,
    /// To keep signals and abstract sockets inside.
    Scopes,
    /// That, where the kernel can, and to allow files beneath these paths alone.
    Paths(Vec<PathBuf>),
}
