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
    /// It is no JSON Schema, or refers to another document: what is wrong with it, for a person.
    fn check_schema(&self, schema: &Value) -> Result<(), String>;

    /// Judges an instance.
    ///
    /// # Errors
    /// What is wrong with it, or with the schema, for the model.
    fn check(&self, schema: &Value, instance: &Value) -> Result<(), String>;
}

/// How the model chooses what it writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Decoding {
    /// The likeliest token each time: asked the same again, it answers the same.
    #[default]
    Greedy,
    /// By chance: asked again, it may answer otherwise.
    Sampled,
}

impl Decoding {
    /// The violation at one point at which a whole prompt is written.
    pub(super) fn full_prompt_at(self) -> u32 {
        match self {
            Self::Greedy => 2,
            Self::Sampled => 3,
        }
    }
}

/// Settings of a [`Monitor`].
#[derive(Clone)]
pub struct Options {
    /// Which ways of the published implementation to follow.
    pub compat: Compat,
    /// How the model chooses what it writes.
    pub decoding: Decoding,
    /// Whether to write the prompt for the model where only one state can come next, after the question and after what
    /// the environment wrote.
    pub primes: bool,
    /// Corrections after which a run is given up.
    pub corrections_max: u32,
    /// Bytes of a run's text.
    pub text_bytes_max: usize,
    /// The tools that can be called; `None` if any name is as good as another.
    pub tools: Option<Vec<Tool>>,
    /// Judges content that has a JSON Schema, and the arguments of tools. Without it such content must be JSON, and
    /// nothing more.
    pub validator: Option<Arc<dyn SchemaValidator>>,
}

/// Corrections after which a run is given up, where nothing else is set.
pub const CORRECTIONS_MAX: u32 = 50;
/// Bytes of a run's text, where nothing else is set.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// How often the content of a state may be written again after it has broken a rule.
pub const CONTENT_RETRIES_MAX: u32 = 3;
/// How often content may be written again after it has not fitted a JSON Schema.
pub const SCHEMA_RETRIES_MAX: u32 = 1;

impl Default for Options {
    fn default() -> Self {
        Self {
            compat: Compat::Ours,
            decoding: Decoding::Greedy,
            primes: true,
            corrections_max: CORRECTIONS_MAX,
            text_bytes_max: TEXT_BYTES_MAX,
            tools: None,
            validator: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("compat", &self.compat)
            .field("decoding", &self.decoding)
            .field("primes", &self.primes)
            .field("corrections_max", &self.corrections_max)
            .field("text_bytes_max", &self.text_bytes_max)
            .field("tools", &self.tools)
            .field("validator", &self.validator.is_some())
            .finish()
    }
}
