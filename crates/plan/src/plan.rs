//! The form that plans have in memory.

use serde_json::Value as Json;

/// A list of calls, in the order in which they are to be made.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// The calls.
    pub steps: Vec<Step>,
}

/// A call of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its number, by which other steps refer to it.
    pub id: u64,
    /// The name of the tool, as a [`Signature`](planproof_trace::Signature) has it.
    pub tool: String,
    /// The arguments, in the order in which they were written.
    pub arguments: Vec<(String, ArgumentValue)>,
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentValue {
    /// A value that is not a text, as it is.
    Json(Json),
    /// A text, with or without references.
    Text(Vec<TextPiece>),
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPiece {
    /// These words.
    Words(String),
    /// What an earlier step gives.
    Reference(Reference),
}

/// What a step gives, by its key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The number of the step.
    pub step: u64,
    /// The key of its output.
    pub key: String,
}

impl ArgumentValue {
    /// The reference, if the value is exactly one.
    pub fn as_reference(&self) -> Option<&Reference> {
        match self {
            Self::Text(parts) => match &parts[..] {
                [TextPiece::Reference(reference)] => Some(reference),
                _ => None,
            },
            Self::Json(_) => None,
        }
    }

    /// All references in it, in their order.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        let parts = match self {
            Self::Text(parts) => &parts[..],
            Self::Json(_) => &[],
        };
        parts.iter().filter_map(|part| match part {
            TextPiece::Reference(reference) => Some(reference),
            TextPiece::Words(_) => None,
        })
    }
}
