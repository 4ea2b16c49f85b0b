//! The states of sub-tasks.

use serde::{Deserialize, Serialize};

/// How far a sub-task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubTaskState {
    /// One of its dependencies has not finished.
    Waiting,
    /// It may start.
    Ready,
    /// It has started and has not ended.
    Running,
    /// It has ended with a result.
    Finished,
    /// It has ended without one.
    Failed,
    /// It can never start, because one of its dependencies has failed.
    Blocked,
}

impl SubTaskState {
    /// All states, in the order in which a sub-task passes them.
    pub const ALL: [Self; 6] =
        [Self::Waiting, Self::Ready, Self::Running, Self::Finished, Self::Failed, Self::Blocked];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
        }
    }
}
