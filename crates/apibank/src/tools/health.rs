//! Health measurements of users.

use std::collections::BTreeSet;

use super::parts::{
    SUCCESS, argument, contains, fail, field, has_same_result, item, iterate, tool, with_method,
};
use crate::api::{Entry, Fault, Raised};
use crate::dates::{Format, Moment, are_equal, lenient, strptime_value};
use crate::python::{repr, strip};
use crate::record::Record;
use crate::value::{Dict, Value};
use crate::world::World;

pub(super) const TOOLS: [Entry; 2] = [
    tool!("QueryHealthData", query, is_same_query),
    tool!("RecordHealthData", record, is_same_recording, optional: ["health_data"]),
];

const TABLE: &str = "HealthData";

/// The key of a user.
fn user(value: &Value) -> Result<String, Raised> {
    Ok(strip(&with_method(value, "upper")?.to_uppercase()).to_owned())
}

fn moment(value: &Value) -> Result<Result<Moment, Raised>, Raised> {
    Ok(lenient(with_method(value, "strip")?, Format::Time))
}

fn query(arguments: &mut Dict, world: &mut World) -> Result<Value, Fault> {
    let user = user(argument(arguments, "user_id")?)?;
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
        if (start..=end).contains(&strptime_value(field(row, "time")?, Format::Time)?) {
            found.push(row.clone());
        }
    }
    if found.is_empty() {
        return fail("There is no health data in the given time span.");
    }
    Ok(found.into())
}

fn record(arguments: &mut Dict, world: &mut World) -> Result<Value, Fault> {
    let user = user(argument(arguments, "user_id")?)?;
    if user.is_empty() {
        return fail("The user id cannot be empty.");
    }
    let time = Value::from(moment(argument(arguments, "time")?)??.write(Format::Time));
    let data = argument(arguments, "health_data")?;
    if !data.is_truthy() && !matches!(data, Value::Bool(_) | Value::Int(_) | Value::Float(_)) {
        return fail("The health data cannot be empty.");
    }
    let data = iterate(data)
        .map_err(|_| Raised::types(format!("object of type '{}' has no len()", data.class())))?;
    let mut names = BTreeSet::new();
    for measurement in &data {
        if !contains(measurement, "name")? {
            return fail("The health data has invalid format.");
        }
        let name = item(measurement, "name")?;
        if matches!(name, Value::List(_) | Value::Dict(_)) {
            return fail(format!("unhashable type: '{}'", name.class()));
        }
        if !names.insert(repr(name)) {
            return fail("The health data cannot contain duplicate items.");
        }
    }
    let rows = world.table_mut(TABLE)?.entry(user).or_insert_with(|| Value::List(Vec::new()));
    let Value::List(rows) = rows else { return fail("string indices must be integers, not 'str'") };
    // If several rows have the same time, the last one is changed.
    let mut place = None;
    for (row_place, row) in rows.iter().enumerate() {
        if *field(row, "time")? == time {
            place = Some(row_place);
        }
    }
    let mut row = match place.and_then(|place| rows.get(place)).and_then(Value::as_dict) {
        Some(row) => row.clone(),
        None => Dict::from([("time".to_owned(), time)]),
    };
    for measurement in &data {
        row.insert(item(measurement, "name")?.to_text(), item(measurement, "value")?.clone());
    }
    match place.and_then(|place| rows.get_mut(place)) {
        Some(slot) => *slot = Value::Dict(row),
        None => rows.push(Value::Dict(row)),
    }
    Ok(SUCCESS.into())
}

fn has_same_user(predicted: &Record, gold: &Record) -> Result<bool, Raised> {
    Ok(user(predicted.argument("user_id")?)? == user(gold.argument("user_id")?)?)
}

fn has_same_time(predicted: &Record, gold: &Record, name: &str) -> Result<bool, Raised> {
    Ok(are_equal(&moment(predicted.argument(name)?)?, &moment(gold.argument(name)?)?))
}

fn is_same_query(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    Ok(has_same_user(predicted, gold)?
        & has_same_time(predicted, gold, "start_time")?
        & has_same_time(predicted, gold, "end_time")?
        && has_same_result(predicted, gold))
}

/// The measurements themselves are not compared.
fn is_same_recording(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    Ok(has_same_user(predicted, gold)? & has_same_time(predicted, gold, "time")?
        && has_same_result(predicted, gold))
}
