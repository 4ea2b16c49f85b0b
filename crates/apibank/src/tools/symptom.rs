//! Diseases that may cause a symptom.

use super::parts::{argument, dict, fail, field, has_same_result, tool, with_method};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::python::strip;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::{ApiCompat, ApiWorld};

pub(super) const TOOLS: [ApiTool; 2] =
    [tool!("EmergencyKnowledge", aid, is_same_aid), tool!("SymptomSearch", illnesses, is_same_search)];

const BLANK: &str = "The symptom cannot be empty.";

/// The key of a symptom.
fn symptom(value: &PythonValue, blank: PythonError) -> Result<String, PythonError> {
    let text = strip(with_method(value, "strip")?).to_lowercase();
    if text.is_empty() { Err(blank) } else { Ok(text) }
}

/// `EmergencyKnowledge` fails on the error that it tries to raise.
fn stumble() -> PythonError {
    PythonError::new("AttributeError", "'Exception' object has no attribute 'lower'")
}

fn blank() -> PythonError {
    PythonError::new("Exception", BLANK)
}

/// The diseases with a symptom, by name and one other field.
fn found(symptom: &str, what: &str, world: &ApiWorld) -> Result<PythonValue, ApiFault> {
    let Some(rows) = world.table("Symptom")?.get(symptom) else {
        return fail("The symptom does not exist.");
    };
    let rows = rows.as_list().unwrap_or_default().iter();
    let rows: Result<Vec<PythonValue>, PythonError> = rows
        .map(|row| Ok(dict([("name", field(row, "name")?.clone()), (what, field(row, what)?.clone())])))
        .collect();
    Ok(rows?.into())
}

fn aid(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let error = if world.compat == ApiCompat::Right { blank() } else { stumble() };
    found(&symptom(argument(arguments, "symptom")?, error)?, "aid", world)
}

fn illnesses(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    found(&symptom(argument(arguments, "symptom")?, blank())?, "description", world)
}

fn is_same(predicted: &ApiRecord, gold: &ApiRecord, error: fn() -> PythonError) -> Result<bool, PythonError> {
    let symptom = |record| symptom(ApiRecord::argument(record, "symptom")?, error());
    Ok(symptom(predicted)? == symptom(gold)? && has_same_result(predicted, gold))
}

fn is_same_aid(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    is_same(predicted, gold, stumble)
}

fn is_same_search(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    is_same(predicted, gold, blank)
}
