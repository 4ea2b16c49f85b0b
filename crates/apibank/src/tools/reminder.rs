//! Reminders, found by their content or their time.

use super::parts::{
    SUCCESS, argument, assert_same_name, dict, fail, has_same_result, next_number, overlaps, row_of,
    same_argument, stripped, tool, user_of,
};
use crate::api::{Entry, Fault, Raised};
use crate::dates::{Format, strptime_value};
use crate::record::Record;
use crate::value::{Dict, Value};
use crate::world::World;

pub(super) const TOOLS: [Entry; 4] = [
    tool!("AddReminder", add, is_same_change),
    tool!("DeleteReminder", delete, is_same_deletion),
    tool!("ModifyReminder", modify, is_same_change),
    tool!("QueryReminder", query, is_same),
];

const TABLE: &str = "Reminder";

/// The checks that all four tools make first.
fn read(arguments: &Dict) -> Result<(), Fault> {
    strptime_value(argument(arguments, "time")?, Format::Time)?;
    if stripped(arguments, "content")?.is_empty() {
        return fail("Content should not be null");
    }
    Ok(())
}

fn add(arguments: &mut Dict, world: &mut World) -> Result<Value, Fault> {
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
fn find(arguments: &Dict, world: &World) -> Result<String, Fault> {
    read(arguments)?;
    let user = user_of(argument(arguments, "token")?, world)?;
    let (content, time) = (argument(arguments, "content")?, argument(arguments, "time")?);
    let key = row_of(world.table(TABLE)?, &user, &[("content", content), ("time", time)])?;
    key.map_or_else(
        || fail(format!("You have no reminder about {} or at time : {}", content.to_text(), time.to_text())),
        Ok,
    )
}

fn delete(arguments: &mut Dict, world: &mut World) -> Result<Value, Fault> {
    let key = find(arguments, world)?;
    world.table_mut(TABLE)?.shift_remove(&key);
    Ok(SUCCESS.into())
}

fn modify(arguments: &mut Dict, world: &mut World) -> Result<Value, Fault> {
    let key = find(arguments, world)?;
    let row = world.table_mut(TABLE)?.get_mut(&key).and_then(Value::as_dict_mut);
    let row = row.ok_or_else(|| Raised::key(&key))?;
    for name in ["content", "time"] {
        row.insert(name.to_owned(), argument(arguments, name)?.clone());
    }
    Ok(SUCCESS.into())
}

fn query(arguments: &mut Dict, world: &mut World) -> Result<Value, Fault> {
    let key = find(arguments, world)?;
    Ok(world.table(TABLE)?.get(&key).cloned().unwrap_or_default())
}

fn is_same_change(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    assert_same_name(predicted, gold)?;
    is_same(predicted, gold)
}

/// The token is not compared.
fn is_same(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    Ok(overlaps(predicted, gold, "content", true)?
        && same_argument(predicted, gold, "time")?
        && has_same_result(predicted, gold))
}

/// If both deletions succeeded, only the time counts.
fn is_same_deletion(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    let success = Value::from(SUCCESS);
    if predicted.output == success && gold.output == success {
        return same_argument(predicted, gold, "time");
    }
    Ok(has_same_result(predicted, gold))
}
