//! Health measurements of users.

use std::collections::BTreeSet;

use super::parts::{
    SUCCESS, argument, contains, fail, field, has_same_result, item, iterate, tool, with_method,
};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::dates::{DateFormat, LocalDateTime, are_equal, lenient, strptime_value};
use crate::python::{repr, strip};
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

pub(super) const TOOLS: [ApiTool; 2] = [
    tool!("QueryHealthData", query, is_same_query),
    tool!("RecordHealthData", record, is_same_recording, optional: ["health_data"]),
];

const TABLE: &str = "HealthData";

/// The key of a user.
fn user(value: &PythonValue) -> Result<String, PythonError> {
    Ok(strip(&with_method(value, "upper")?.to_uppercase()).to_owned())
}

fn moment(value: &PythonValue) -> Result<Result<LocalDateTime, PythonError>, PythonError> {
    Ok(lenient(with_method(value, "strip")?, DateFormat::Time))
}

fn query(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let user = user(argument(arguments, "user_id")?)?;
    // The original parses both times before it checks the user, but reports their faults after it.
    let start = moment(argument(arguments, "start_time")?)?;
    let end = moment(argument(arguments, "end_time")?)?;
    if user.is_empty() {
        return fail("The user id cannot be empty.");
    }
    let (start, end) = match (start, end) {
        (Ok(start), Ok(end)) => (start, end),
        (Err(one), Err(other)) => return fail(format!("{}; {}", one.text, other.text)),
        (Err(error), _) | (_, Err(error)) => return Err(error.into()),
    };
    if start > end {
        return fail("The start time cannot be later than the end time.");
    }
    let Some(rows) = world.table(TABLE)?.get(&user) else { return fail("The user id does not exist.") };
    let mut found = Vec::new();
    for row in rows.as_list().unwrap_or_default() {
        if (start..=end).contains(&strptime_value(field(row, "time")?, DateFormat::Time)?) {
            found.push(row.clone());
        }
    }
    if found.is_empty() {
        return fail("There is no health data in the given time span.");
    }
    Ok(found.into())
}

fn record(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let user = user(argument(arguments, "user_id")?)?;
    if user.is_empty() {
        return fail("The user id cannot be empty.");
    }
    let time = PythonValue::from(moment(argument(arguments, "time")?)??.write(DateFormat::Time));
    let data = argument(arguments, "health_data")?;
    // Zero and `False` are falsy, too, but have no length and raise below.
    if !data.is_truthy()
        && !matches!(data, PythonValue::Bool(_) | PythonValue::Int(_) | PythonValue::Float(_))
    {
        return fail("The health data cannot be empty.");
    }
    let data = iterate(data)
        .map_err(|_| PythonError::types(format!("object of type '{}' has no len()", data.class())))?;
    let mut names = BTreeSet::new();
    for measurement in &data {
        if !contains(measurement, "name")? {
            return fail("The health data has invalid format.");
        }
        let name = item(measurement, "name")?;
        // Python collects the names in a set, for which they have to be hashable.
        if matches!(name, PythonValue::List(_) | PythonValue::Dict(_)) {
            return fail(format!("unhashable type: '{}'", name.class()));
        }
        if !names.insert(repr(name)) {
            return fail("The health data cannot contain duplicate items.");
        }
    }
    let rows = world.table_mut(TABLE)?.entry(user).or_insert_with(|| PythonValue::List(Vec::new()));
    let PythonValue::List(rows) = rows else { return fail("string indices must be integers, not 'str'") };
    // If several rows have the same time, the last one is changed.
    let mut place = None;
    for (row_place, row) in rows.iter().enumerate() {
        if *field(row, "time")? == time {
            place = Some(row_place);
        }
    }
    let mut row = match place.and_then(|place| rows.get(place)).and_then(PythonValue::as_dict) {
        Some(row) => row.clone(),
        None => Dict::from([("time".to_owned(), time)]),
    };
    for measurement in &data {
        row.insert(item(measurement, "name")?.to_text(), item(measurement, "value")?.clone());
    }
    match place.and_then(|place| rows.get_mut(place)) {
        Some(slot) => *slot = PythonValue::Dict(row),
        None => rows.push(PythonValue::Dict(row)),
    }
    Ok(SUCCESS.into())
}

fn has_same_user(predicted: &ApiRecord, gold: &ApiRecord) -> Result<bool, PythonError> {
    Ok(user(predicted.argument("user_id")?)? == user(gold.argument("user_id")?)?)
}

fn has_same_time(predicted: &ApiRecord, gold: &ApiRecord, name: &str) -> Result<bool, PythonError> {
    Ok(are_equal(&moment(predicted.argument(name)?)?, &moment(gold.argument(name)?)?))
}

fn is_same_query(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    // `&` does not short-circuit: the original looks up all arguments before it compares any, and a look-up may raise.
    Ok(has_same_user(predicted, gold)?
        & has_same_time(predicted, gold, "start_time")?
        & has_same_time(predicted, gold, "end_time")?
        && has_same_result(predicted, gold))
}

/// The measurements themselves are not compared.
fn is_same_recording(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(has_same_user(predicted, gold)? & has_same_time(predicted, gold, "time")?
        && has_same_result(predicted, gold))
}
