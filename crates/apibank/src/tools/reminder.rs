//! Reminders, found by their content or their time.

use super::parts::{
    SUCCESS, argument, assert_same_name, dict, fail, has_same_result, is_same_deletion, next_number,
    overlaps, row_of, same_argument, stripped, tool, user_of,
};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::dates::{DateFormat, strptime_value};
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

pub(super) const TOOLS: [ApiTool; 4] = [
    tool!("AddReminder", add, is_same_change),
    tool!("DeleteReminder", delete, is_same_deletion),
    tool!("ModifyReminder", modify, is_same_change),
    tool!("QueryReminder", query, is_same),
];

const TABLE: &str = "Reminder";

/// The checks that all four tools make first.
fn read(arguments: &Dict) -> Result<(), ApiFault> {
    strptime_value(argument(arguments, "time")?, DateFormat::Time)?;
    if stripped(arguments, "content")?.is_empty() {
        return fail("Content should not be null");
    }
    Ok(())
}

fn add(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    read(arguments)?;
    let key = next_number(world.table(TABLE)?)?.to_string();
    let user = user_of(argument(arguments, "token")?, world)?;
    let row = dict([
        ("username", user.into()),
        ("content", argument(arguments, "content")?.clone()),
        ("time", argument(arguments, "time")?.clone()),
    ]);
    world.table_mut(TABLE)?.insert(key, row);
    Ok(SUCCESS.into())
}

/// The key of the row that the arguments identify.
fn find(arguments: &Dict, world: &ApiWorld) -> Result<String, ApiFault> {
    read(arguments)?;
    let user = user_of(argument(arguments, "token")?, world)?;
    let (content, time) = (argument(arguments, "content")?, argument(arguments, "time")?);
    let key = row_of(world.table(TABLE)?, &user, &[("content", content), ("time", time)])?;
    key.map_or_else(
        || fail(format!("You have no reminder about {} or at time : {}", content.to_text(), time.to_text())),
        Ok,
    )
}

fn delete(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let key = find(arguments, world)?;
    world.table_mut(TABLE)?.shift_remove(&key);
    Ok(SUCCESS.into())
}

fn modify(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let key = find(arguments, world)?;
    let row = world.table_mut(TABLE)?.get_mut(&key).and_then(PythonValue::as_dict_mut);
    let row = row.ok_or_else(|| PythonError::key(&key))?;
    for name in ["content", "time"] {
        row.insert(name.to_owned(), argument(arguments, name)?.clone());
    }
    Ok(SUCCESS.into())
}

fn query(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let key = find(arguments, world)?;
    Ok(world.table(TABLE)?.get(&key).cloned().unwrap_or_default())
}

fn is_same_change(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    assert_same_name(predicted, gold)?;
    is_same(predicted, gold)
}

/// The token is not compared.
fn is_same(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(overlaps(predicted, gold, "content", true)?
        && same_argument(predicted, gold, "time")?
        && has_same_result(predicted, gold))
}
