//! Devices that are switched at a given time.

use super::parts::{
    SUCCESS, argument, dict, fail, field, has_same_result, same_argument, same_lower, stripped, tool,
    with_method,
};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::dates::{DateFormat, are_equal, lenient};
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

pub(super) const TOOLS: [ApiTool; 2] =
    [tool!("CancelTimedSwitch", cancel, is_same), tool!("TimedSwitch", set, is_same_setting)];

const TABLE: &str = "TimeSwitch";

/// The device and the time in their stored forms.
fn read(arguments: &Dict, blank: &str) -> Result<(String, PythonValue), ApiFault> {
    let name = stripped(arguments, "name")?.to_lowercase();
    if name.is_empty() {
        return fail(blank);
    }
    let time = with_method(argument(arguments, "time")?, "strip")?;
    Ok((name, lenient(time, DateFormat::Time)?.write(DateFormat::Time).into()))
}

/// The index of the row with this time.
fn place_of(rows: &[PythonValue], time: &PythonValue) -> Result<Option<usize>, PythonError> {
    for (place, row) in rows.iter().enumerate() {
        if field(row, "time")? == time {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

fn set(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let (name, time) = read(arguments, "Name cannot be empty.")?;
    let on = argument(arguments, "on")?.clone();
    let rows = world.table_mut(TABLE)?.entry(name).or_insert_with(|| PythonValue::List(Vec::new()));
    let PythonValue::List(rows) = rows else {
        return fail("list indices must be integers or slices, not str");
    };
    match place_of(rows, &time)?.and_then(|place| rows.get_mut(place)).and_then(PythonValue::as_dict_mut) {
        Some(row) => drop(row.insert("on".to_owned(), on)),
        None => rows.push(dict([("time", time), ("on", on)])),
    }
    Ok(SUCCESS.into())
}

fn cancel(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let (name, time) = read(arguments, "name cannot be empty.")?;
    let Some(PythonValue::List(rows)) = world.table_mut(TABLE)?.get_mut(&name) else {
        return fail("device name does not exist.");
    };
    let Some(place) = place_of(rows, &time)? else { return fail("time does not exist.") };
    rows.remove(place);
    Ok(SUCCESS.into())
}

fn has_same_time(predicted: &ApiRecord, gold: &ApiRecord) -> Result<bool, PythonError> {
    let time = |record: &ApiRecord| -> Result<_, PythonError> {
        Ok(lenient(with_method(record.argument("time")?, "strip")?, DateFormat::Time))
    };
    Ok(are_equal(&time(predicted)?, &time(gold)?))
}

fn is_same(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    // All arguments are looked up before any is compared.
    let has_same_name = same_lower(predicted, gold, "name")?;
    Ok(has_same_time(predicted, gold)? && has_same_name && has_same_result(predicted, gold))
}

fn is_same_setting(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    let is_same_state = same_argument(predicted, gold, "on")?;
    Ok(is_same(predicted, gold)? && is_same_state)
}
