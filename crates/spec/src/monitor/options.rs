//! Settings of a monitor.

use std::fmt;
use std::sync::Arc;

use planproof_trace::Tool;
use serde_json::Value;

use crate::Compat;

/// Judges JSON by JSON Schemas. This crate leaves the choice of a validator to its caller.
pub trait SchemaValidator: Send + Sync {
    /// Judges a schema itself.
    ///
    /// # Errors
    /// It is not a JSON Schema, or refers to another document: the fault, in words for people.
    fn check_schema(&self, schema: &Value) -> Result<(), String>;

    /// Judges an instance.
    ///
    /// # Errors
    /// The fault of the instance, or of the schema, for the model.
    fn check(&self, schema: &Value, instance: &Value) -> Result<(), String>;
}

/// How the model chooses what it writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Decoding {
    /// The likeliest token each time: repeating a request gives the same answer.
    #[default]
    Greedy,
    /// At random: repeating a request may give another answer.
    Sampled,
}

impl Decoding {
    /// Which violation at the same point leads to a whole prompt.
    pub(super) fn full_prompt_at(self) -> u32 {
        match self {
            // A greedy model would repeat itself after the same hint.
            Self::Greedy => 2,
            Self::Sampled => 3,
        }
    }
}

/// Settings of a [`Monitor`].
#[derive(Clone)]
pub struct MonitorOptions {
    /// Which details of the published implementation to follow.
    pub compat: Compat,
    /// Whose corrections are made: those of the published implementation, which writes a prompt and asks again, or
    /// ours, which first pass markup around prompts and look for a label that was wrong. [`Compat::Original`] above
    /// implies the former.
    pub correction: Compat,
    /// How the model chooses what it writes.
    pub decoding: Decoding,
    /// Whether to write the prompt for the model if only one state can come next, after the question and after the
    /// environment's text.
    pub primes: bool,
    /// Corrections after which a run is given up.
    pub corrections_max: u32,
    /// Bytes of a run's text.
    pub text_bytes_max: usize,
    /// The callable tools; `None` if any name is valid.
    pub tools: Option<Vec<Tool>>,
    /// Judges content that has a JSON Schema, and the arguments of tools. Without it such content just has to be
    /// JSON.
    pub validator: Option<Arc<dyn SchemaValidator>>,
}

/// Default number of corrections after which a run is given up.
pub const CORRECTIONS_MAX: u32 = 50;
/// Default limit of a run's text, in bytes.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// How often the content of a state may be rewritten after it has violated a rule.
pub const CONTENT_RETRIES_MAX: u32 = 3;
/// How often content may be rewritten after it has not fitted a JSON Schema.
pub const SCHEMA_RETRIES_MAX: u32 = 1;

impl Default for MonitorOptions {
    fn default() -> Self {
        Self {
            compat: Compat::Ours,
            correction: Compat::Ours,
            decoding: Decoding::Greedy,
            primes: true,
            corrections_max: CORRECTIONS_MAX,
            text_bytes_max: TEXT_BYTES_MAX,
            tools: None,
            validator: None,
        }
    }
}

impl MonitorOptions {
    /// Whether corrections are those of the published implementation.
    pub(super) fn corrects_as_published(&self) -> bool {
        self.compat == Compat::Original || self.correction == Compat::Original
    }
}

impl fmt::Debug for MonitorOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("compat", &self.compat)
            .field("correction", &self.correction)
            .field("decoding", &self.decoding)
            .field("primes", &self.primes)
            .field("corrections_max", &self.corrections_max)
            .field("text_bytes_max", &self.text_bytes_max)
            .field("tools", &self.tools)
            .field("validator", &self.validator.is_some())
            .finish()
    }
}
