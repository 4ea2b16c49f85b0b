//! Meetings, found by their topic or their start.

use super::parts::{
    SUCCESS, argument, dict, fail, has_same_result, next_number, overlaps, row_of, stripped, tool, user_of,
};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::dates::{DateFormat, strptime_value};
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::{ApiCompat, ApiWorld};

pub(super) const TOOLS: [ApiTool; 4] = [
    tool!("AddMeeting", add, is_same),
    tool!("DeleteMeeting", delete, is_same_deletion),
    tool!("ModifyMeeting", modify, is_same),
    tool!("QueryMeeting", query, is_same),
];

const TABLE: &str = "Meeting";

fn add(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    strptime_value(argument(arguments, "start_time")?, DateFormat::Time)?;
    strptime_value(argument(arguments, "end_time")?, DateFormat::Time)?;
    if stripped(arguments, "meeting_topic")?.is_empty() {
        return fail("Meeting Topic should not be null");
    }
    let key = next_number(world.table(TABLE)?)?.to_string();
    let user = user_of(argument(arguments, "token")?, world)?;
    let row = dict([
        ("username", user.into()),
        ("meeting_topic", argument(arguments, "meeting_topic")?.clone()),
        ("start_time", argument(arguments, "start_time")?.clone()),
        ("end_time", argument(arguments, "end_time")?.clone()),
        ("location", argument(arguments, "location")?.clone()),
        ("attendees", argument(arguments, "attendees")?.clone()),
    ]);
    world.table_mut(TABLE)?.insert(key, row);
    Ok(SUCCESS.into())
}

/// The key of the row that the arguments identify. A blank time counts as omitted.
fn find(arguments: &Dict, world: &ApiWorld) -> Result<Option<String>, ApiFault> {
    let [start, end] = ["start_time", "end_time"].map(|name| argument(arguments, name));
    let (start, end) = (start?, end?);
    for time in [start, end] {
        if time.is_truthy() {
            strptime_value(time, DateFormat::Time)?;
        }
    }
    if stripped(arguments, "meeting_topic")?.is_empty() && !start.is_truthy() {
        return fail("Meeting Topic and start_time should not be null both");
    }
    let user = user_of(argument(arguments, "token")?, world)?;
    let wanted = [("meeting_topic", argument(arguments, "meeting_topic")?), ("start_time", start)];
    Ok(row_of(world.table(TABLE)?, &user, &wanted)?)
}

/// The error for a missing meeting.
fn missing(arguments: &Dict) -> Result<(), ApiFault> {
    let (topic, start) = (argument(arguments, "meeting_topic")?, argument(arguments, "start_time")?);
    if topic.is_truthy() {
        return fail(format!("You have no meeting about {}", topic.to_text()));
    }
    if start.is_truthy() {
        return fail(format!("You have no meeting at time : {}", start.to_text()));
    }
    Ok(())
}

fn delete(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    match find(arguments, world)? {
        Some(key) => drop(world.table_mut(TABLE)?.shift_remove(&key)),
        None => missing(arguments)?,
    }
    Ok(SUCCESS.into())
}

/// The original leaves place and participants unchanged.
fn modify(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let Some(key) = find(arguments, world)? else {
        missing(arguments)?;
        return Ok(SUCCESS.into());
    };
    let is_timed = argument(arguments, "start_time")?.is_truthy();
    let is_right = world.compat == ApiCompat::Right;
    let row = world.table_mut(TABLE)?.get_mut(&key).and_then(PythonValue::as_dict_mut);
    let row = row.ok_or_else(|| PythonError::key(&key))?;
    for (name, is_changed) in [
        ("meeting_topic", true),
        ("start_time", is_timed),
        ("end_time", is_timed),
        ("location", is_right),
        ("attendees", is_right),
    ] {
        let value = argument(arguments, name)?;
        // A blank argument changes nothing, except that a new start always comes with its end.
        if is_changed && (value.is_truthy() || name == "end_time") {
            row.insert(name.to_owned(), value.clone());
        }
    }
    Ok(SUCCESS.into())
}

fn query(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let Some(key) = find(arguments, world)? else {
        missing(arguments)?;
        return fail("Error");
    };
    Ok(world.table(TABLE)?.get(&key).cloned().unwrap_or_default())
}

/// Removes the topics from both records, so that a second comparison with the same gold record raises `KeyError`.
fn is_same(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    let is_alike = overlaps(predicted, gold, "meeting_topic", false)?;
    for record in [&mut *predicted, &mut *gold] {
        if let Some(input) = record.input.as_dict_mut() {
            input.shift_remove("meeting_topic");
        }
    }
    Ok(is_alike && predicted.input == gold.input && has_same_result(predicted, gold))
}

/// If both deletions succeeded, the original compares a time that meetings do not have.
fn is_same_deletion(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    let success = PythonValue::from(SUCCESS);
    if predicted.output == success && gold.output == success {
        return Ok(predicted.argument("time")? == gold.argument("time")?);
    }
    Ok(has_same_result(predicted, gold))
}
