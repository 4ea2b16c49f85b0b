//! What a tool is, and how it fails.

pub use crate::python_error::PythonError;
use crate::record::ApiRecord;
use crate::value::Dict;
use crate::world::ApiWorld;

/// Why a call has no output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiFault {
    /// The tool caught the exception, whose text becomes the record's `exception`.
    #[error("{0}")]
    Caught(String),
    /// The tool did not catch the exception, so there is no record.
    #[error(transparent)]
    Raised(#[from] PythonError),
    /// Something outside the call is missing, such as a database or a service. This is not the caller's fault.
    #[error("{tool} cannot be carried out: {what}")]
    Outage {
        tool: String,
        /// What is missing, and how to fix it.
        what: String,
    },
}

impl ApiFault {
    /// An error that the tool catches.
    pub fn caught(text: impl Into<String>) -> Self {
        Self::Caught(text.into())
    }
}

/// Runs a tool. The arguments are complete: every parameter is present, in the tool's order, and omitted ones are
/// `None`.
pub type ApiFunction = fn(Dict, &mut ApiWorld) -> Result<ApiRecord, ApiFault>;

/// Whether a predicted record is as good as the gold record. Some of the original's checks remove arguments from both
/// records while comparing them, so both may be changed.
pub type RecordCheck = fn(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError>;

/// A tool: plain data and two functions.
#[derive(Clone, Copy)]
pub struct ApiTool {
    /// Its name, as calls have it.
    pub name: &'static str,
    /// Optional parameters, which become `None` when omitted.
    pub optional: &'static [&'static str],
    pub call: ApiFunction,
    /// How its records compare.
    pub check: RecordCheck,
}
