//! The record of a call: its input and its result.

use serde::{Deserialize, Serialize};

use crate::api::{ApiFault, PythonError};
use crate::value::{Dict, PythonValue};

/// A tool's record of one call. Normally exactly one of `output` and `exception` is `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApiRecord {
    /// The name of the tool. A few tools leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_name: Option<String>,
    /// The arguments after type conversion, with defaults filled in. Usually a dictionary.
    #[serde(default)]
    pub input: PythonValue,
    /// The output of the tool.
    #[serde(default)]
    pub output: PythonValue,
    /// The text of the error that the tool reported instead.
    #[serde(default)]
    pub exception: PythonValue,
}

impl ApiRecord {
    /// Creates the record of a call with this name and these arguments from its result: an output or an error that
    /// the tool caught.
    ///
    /// # Errors
    /// Propagates any other fault: the tool did not catch it, or the call could not be executed at all.
    pub fn new(
        api_name: Option<&str>,
        input: Dict,
        result: Result<PythonValue, ApiFault>,
    ) -> Result<Self, ApiFault> {
        let (output, exception) = match result {
            Ok(output) => (output, PythonValue::None),
            Err(ApiFault::Caught(text)) => (PythonValue::None, PythonValue::Text(text)),
            Err(fault) => return Err(fault),
        };
        Ok(Self { api_name: api_name.map(str::to_owned), input: PythonValue::Dict(input), output, exception })
    }

    /// The argument with this name.
    ///
    /// # Errors
    /// `KeyError`, as in Python, if there is none or the input is not a dictionary.
    pub fn argument(&self, name: &str) -> Result<&PythonValue, PythonError> {
        self.input.as_dict().and_then(|input| input.get(name)).ok_or_else(|| PythonError::key(name))
    }
}
