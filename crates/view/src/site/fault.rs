//! Why a page cannot be shown.

use axum::http::StatusCode;
use planproof_store::StoreError;

/// Why a page cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) status: StatusCode,
    /// What is wrong and what to do about it.
    pub(crate) what: String,
}

impl Fault {
    pub(crate) fn new(status: StatusCode, what: impl Into<String>) -> Self {
        Self { status, what: what.into() }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        let status = match error {
            StoreError::UnknownCampaign { .. } | StoreError::UnknownUnit { .. } => StatusCode::NOT_FOUND,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, error.to_string())
    }
}
