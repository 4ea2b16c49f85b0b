//! Diseases that may cause a symptom.

use super::parts::{argument, dict, fail, field, has_same_result, tool, with_method};
use crate::api::{Entry, Fault, Raised};
use crate::python::strip;
use crate::record::Record;
use crate::value::{Dict, Value};
use crate::world::{Compat, World};

pub(super) const TOOLS: [Entry; 2] =
    [tool!("EmergencyKnowledge", aid, is_same_aid), tool!("SymptomSearch", illnesses, is_same_search)];

const BLANK: &str = "The symptom cannot be empty.";

/// The key of a symptom.
fn symptom(value: &Value, blank: Raised) -> Result<String, Raised> {
    let text = strip(with_method(value, "strip")?).to_lowercase();
    if text.is_empty() { Err(blank) } else { Ok(text) }
}

/// `EmergencyKnowledge` fails on the error that it tries to raise.
fn stumble() -> Raised {
    Raised::new("AttributeError", "'Exception' object has no attribute 'lower'")
}

fn blank() -> Raised {
    Raised::new("Exception", BLANK)
}

/// The diseases with a symptom, by name and one other field.
fn found(symptom: &str, what: &str, world: &World) -> Result<Value, Fault> {
    let Some(rows) = world.table("Symptom")?.get(symptom) else {
        return fail("The symptom does not exist.");
    };
    let rows = rows.as_list().unwrap_or_default().iter();
    let rows: Result<Vec<Value>, Raised> = rows
        .map(|row| Ok(dict([("name", field(row, "name")?.clone()), (what, field(row, what)?.clone())])))
        .collect();
    Ok(rows?.into())
}

fn aid(arguments: &mut Dict, world: &mut World) -> Result<Value, Fault> {
    let error = if world.compat == Compat::Right { blank() } else { stumble() };
    found(&symptom(argument(arguments, "symptom")?, error)?, "aid", world)
}

fn illnesses(arguments: &mut Dict, world: &mut World) -> Result<Value, Fault> {
    found(&symptom(argument(arguments, "symptom")?, blank())?, "description", world)
}

fn is_same(predicted: &Record, gold: &Record, error: fn() -> Raised) -> Result<bool, Raised> {
    let symptom = |record| symptom(Record::argument(record, "symptom")?, error());
    Ok(symptom(predicted)? == symptom(gold)? && has_same_result(predicted, gold))
}

fn is_same_aid(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    is_same(predicted, gold, stumble)
}

fn is_same_search(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    is_same(predicted, gold, blank)
}
