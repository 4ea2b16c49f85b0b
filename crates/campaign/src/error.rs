//! Why a campaign cannot begin or continue.

use planproof_model::recording::RecordingError;
use planproof_store::StoreError;
use thiserror::Error;

/// Why a campaign cannot begin or continue. A fault of the agent under test is never one of these.
#[derive(Debug, Error)]
pub enum CampaignError {
    /// The request makes no sense, and how to correct it. Options are called by their names.
    #[error("{0}")]
    Usage(String),
    /// Something outside failed.
    #[error("{0}")]
    Outside(String),
    /// The run store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A recording cannot be read or written.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

impl CampaignError {
    /// What was asked for makes no sense.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::Usage(what.into())
    }

    /// Something outside failed.
    pub fn outside(what: impl Into<String>) -> Self {
        Self::Outside(what.into())
    }
}
