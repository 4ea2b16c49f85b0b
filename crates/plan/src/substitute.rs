//! The values of arguments once earlier steps have given theirs.

use serde_json::Value as Json;

use crate::plan::{Part, Reference, Value};
use crate::verify::{Fault, Problem, Site};

/// The value of an argument, with what earlier steps gave in place of the references.
///
/// A value that is one reference and nothing else is what was given, of whatever type. Among words, texts and numbers
/// are written as they are, truth values as `true` and `false`.
///
/// # Errors
/// A step gave nothing by the key, or gave something that cannot stand among words. The fault is one of the whole plan:
/// whoever asks knows the step.
pub fn substitute<'o>(
    value: &Value,
    outputs: &impl Fn(&Reference) -> Option<&'o Json>,
) -> Result<Json, Fault> {
    let given = |reference: &Reference| {
        let Reference { step, key } = reference.clone();
        outputs(reference).ok_or(fault(Problem::OutputMissing { step, key }))
    };
    if let Some(reference) = value.as_reference() {
        return given(reference).cloned();
    }
    let parts = match value {
        Value::Json(json) => return Ok(json.clone()),
        Value::Text(parts) => parts,
    };
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Words(words) => text.push_str(words),
            Part::Reference(reference) => match given(reference)? {
                Json::String(given) => text.push_str(given),
                given @ (Json::Number(_) | Json::Bool(_)) => text.push_str(&given.to_string()),
                other => {
                    let Reference { step, key } = reference.clone();
                    let given = match other {
                        Json::Null => "nothing",
                        Json::Array(_) => "a list",
                        _ => "an object",
                    };
                    return Err(fault(Problem::OutputNotForWords { step, key, given }));
                }
            },
        }
    }
    Ok(Json::String(text))
}

fn fault(problem: Problem) -> Fault {
    Fault::new(Site::Plan, problem)
}
