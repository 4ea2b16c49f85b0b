//! The record of a call: what went in, and what came out.

use serde::{Deserialize, Serialize};

use crate::api::{Fault, Raised};
use crate::value::{Dict, Value};

/// What a tool says of one call of it. On normal paths exactly one of `output` and `exception` is `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Whose call it was. A few tools do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_name: Option<String>,
    /// The arguments after their types were read, with defaults filled in. Usually a dictionary.
    #[serde(default)]
    pub input: Value,
    /// What the tool gave.
    #[serde(default)]
    pub output: Value,
    /// The text of the error that it gave instead.
    #[serde(default)]
    pub exception: Value,
}

impl Record {
    /// The record of a call with this name and these arguments, whose result was the output or an error of the
    /// tool.
    ///
    /// # Errors
    /// Hands on what is no result: the tool did not catch it, or could not be carried out at all.
    pub fn new(api_name: Option<&str>, input: Dict, result: Result<Value, Fault>) -> Result<Self, Fault> {
        let (output, exception) = match result {
            Ok(output) => (output, Value::None),
            Err(Fault::Caught(text)) => (Value::None, Value::Text(text)),
            Err(fault) => return Err(fault),
        };
        Ok(Self { api_name: api_name.map(str::to_owned), input: Value::Dict(input), output, exception })
    }

    /// The argument of this name.
    ///
    /// # Errors
    /// `KeyError`, as Python gives it, where there is none or the input is no dictionary.
    pub fn argument(&self, name: &str) -> Result<&Value, Raised> {
        self.input.as_dict().and_then(|input| input.get(name)).ok_or_else(|| Raised::key(name))
    }
}
