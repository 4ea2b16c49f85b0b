//! The values of arguments after earlier steps have returned theirs.

use serde_json::Value as Json;

use crate::plan::{ArgumentValue, Reference, TextPiece};
use crate::verify::{PlanSite, StepFault, VerificationFault};

/// The value of an argument, with references replaced by the outputs of earlier steps.
///
/// A value that is exactly one reference becomes the output, of any type. Among words, texts and numbers are inserted
/// unchanged, truth values as `true` and `false`.
///
/// # Errors
/// A step has no output with that key, or one that cannot be inserted among words. The fault is one of the whole
/// plan: the caller knows the step.
pub fn substitute<'o>(
    value: &ArgumentValue,
    outputs: &impl Fn(&Reference) -> Option<&'o Json>,
) -> Result<Json, VerificationFault> {
    let given = |reference: &Reference| {
        let Reference { step, key } = reference.clone();
        outputs(reference).ok_or(fault(StepFault::OutputMissing { step, key }))
    };
    if let Some(reference) = value.as_reference() {
        return given(reference).cloned();
    }
    let parts = match value {
        ArgumentValue::Json(json) => return Ok(json.clone()),
        ArgumentValue::Text(parts) => parts,
    };
    let mut text = String::new();
    for part in parts {
        match part {
            TextPiece::Words(words) => text.push_str(words),
            TextPiece::Reference(reference) => match given(reference)? {
                Json::String(given) => text.push_str(given),
                given @ (Json::Number(_) | Json::Bool(_)) => text.push_str(&given.to_string()),
                other => {
                    let Reference { step, key } = reference.clone();
                    let given = match other {
                        Json::Null => "nothing",
                        Json::Array(_) => "a list",
                        _ => "an object",
                    };
                    return Err(fault(StepFault::OutputNotForWords { step, key, given }));
                }
            },
        }
    }
    Ok(Json::String(text))
}

fn fault(problem: StepFault) -> VerificationFault {
    VerificationFault::new(PlanSite::Plan, problem)
}
