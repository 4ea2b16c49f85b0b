//! The JSON plans that the published executor completes if every tool succeeds and returns its declared outputs
//! (specification, section 5.5).

use std::collections::HashMap;

use planproof_trace::{Catalogue, Signature};
use serde_json::{Map, Value as Json};

use super::references::find;
use crate::text::OPENING;

/// An argument that every tool takes in addition to its declared ones.
const EXTRA_ARGUMENT: &str = "ckpt";

/// Executes a plan, which may be any value; an object is one step.
///
/// # Errors
/// Why the published executor does not reach the end.
pub fn execute(plan: &Json, catalogue: &Catalogue) -> Result<(), String> {
    let steps = match plan {
        Json::Array(steps) => &steps[..],
        Json::Object(_) => std::slice::from_ref(plan),
        _ => return Err("the plan is neither a list nor a step".to_owned()),
    };
    // The published code takes the largest id of no ids, which raises.
    if steps.is_empty() {
        return Err("no step is the last one".to_owned());
    }
    let mut results: HashMap<String, &Signature> = HashMap::new();
    for step in steps {
        let field = |key: &str| step.get(key).ok_or_else(|| format!("a step has no `{key}`"));
        let (id, name, arguments) = (field("id")?, field("name")?, field("args")?);
        let Json::Object(arguments) = arguments else { return Err("the arguments are no object".to_owned()) };
        // Before the tool is looked up, so that a missing output is the reason if both are wrong.
        resolve(arguments, &results)?;
        let signature = name.as_str().and_then(|name| catalogue.find(name));
        let signature = signature.ok_or_else(|| format!("{name} is no tool"))?;
        check(arguments, signature)?;
        // Results are files named by id, so the text "1" and the number 1 are one step.
        results.insert(file_name(id), signature);
    }
    Ok(())
}

/// Looks up the targets of the references.
fn resolve(arguments: &Map<String, Json>, results: &HashMap<String, &Signature>) -> Result<(), String> {
    for text in arguments.values().filter_map(Json::as_str) {
        for reference in find(text) {
            // A single character, so the reference to step 10 reads the result of step 1.
            let id = reference.text.chars().nth(OPENING.len()).map(String::from).unwrap_or_default();
            let giver = results.get(&id).ok_or_else(|| format!("step {id} has given nothing"))?;
            if !giver.has_output(reference.key) {
                return Err(format!("step {id} has given no {}", reference.key));
            }
        }
    }
    Ok(())
}

/// Whether a function with these parameters can be called like that.
fn check(arguments: &Map<String, Json>, signature: &Signature) -> Result<(), String> {
    let is_taken = |name: &String| signature.has_argument(name) || name == EXTRA_ARGUMENT;
    if let Some(name) = arguments.keys().find(|name| !is_taken(name)) {
        return Err(format!("{} takes no {name}", signature.name));
    }
    match signature.arguments.iter().find(|argument| !arguments.contains_key(&argument.name)) {
        Some(missing) => Err(format!("{} also needs {}", signature.name, missing.name)),
        None => Ok(()),
    }
}

/// The id in the file name for a step's outputs.
fn file_name(id: &Json) -> String {
    match id {
        Json::String(text) => text.clone(),
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        other => other.to_string(),
    }
}
