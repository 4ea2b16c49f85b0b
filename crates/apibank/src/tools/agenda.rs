//! The agenda. Its tools find a row by its content or its time.

use super::parts::{
    SUCCESS, argument, assert_same_name, dict, fail, has_same_result, is_same_deletion, overlaps, row_of,
    same_argument, stripped, tool, user_of,
};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::dates::{DateFormat, strptime_value};
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::{ApiCompat, ApiWorld};

pub(super) const TOOLS: [ApiTool; 4] = [
    tool!("AddAgenda", add, is_same_addition),
    tool!("DeleteAgenda", delete, is_same_deletion),
    tool!("ModifyAgenda", modify, is_same_item),
    tool!("QueryAgenda", query, is_same_item),
];

const TABLE: &str = "Agenda";

fn add(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    // The order of the checks is the original's, because it decides which error a record has.
    strptime_value(argument(arguments, "time")?, DateFormat::Time)?;
    if stripped(arguments, "content")?.is_empty() {
        return fail("Content should not be null");
    }
    let user = user_of(argument(arguments, "token")?, world)?;
    let row = row(arguments, &user)?;
    let key = world.next_key(TABLE)?;
    world.table_mut(TABLE)?.insert(key, row);
    Ok(SUCCESS.into())
}

fn row(arguments: &Dict, user: &str) -> Result<PythonValue, PythonError> {
    Ok(dict([
        ("username", user.into()),
        ("content", argument(arguments, "content")?.clone()),
        ("time", argument(arguments, "time")?.clone()),
        ("location", argument(arguments, "location")?.clone()),
    ]))
}

/// The user, and the key of the row. A blank time counts as omitted.
fn find(arguments: &Dict, world: &ApiWorld) -> Result<(String, Option<String>), ApiFault> {
    let (content, time) = (argument(arguments, "content")?, argument(arguments, "time")?);
    if time.is_truthy() {
        strptime_value(time, DateFormat::Time)?;
    }
    let user = user_of(argument(arguments, "token")?, world)?;
    let key = row_of(world.table(TABLE)?, &user, &[("content", content), ("time", time)])?;
    Ok((user, key))
}

/// The error for a missing row, which the tools call either a meeting or an agenda.
fn missing(arguments: &Dict, what: &str) -> Result<(), ApiFault> {
    let (content, time) = (argument(arguments, "content")?, argument(arguments, "time")?);
    if content.is_truthy() {
        return fail(format!("You have no {what} about {}", content.to_text()));
    }
    if time.is_truthy() {
        return fail(format!("You have no {what} at time : {}", time.to_text()));
    }
    Ok(())
}

/// The original succeeds if nothing was found and nothing was asked for.
fn delete(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    match find(arguments, world)? {
        (_, Some(key)) => drop(world.table_mut(TABLE)?.shift_remove(&key)),
        (_, None) => {
            missing(arguments, "meeting")?;
            if world.compat == ApiCompat::Right {
                return fail("Error");
            }
        }
    }
    Ok(SUCCESS.into())
}

fn modify(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let (user, Some(key)) = find(arguments, world)? else {
        missing(arguments, "agenda")?;
        // The original returns the error instead of raising it.
        return match world.compat {
            ApiCompat::Original => Ok(PythonValue::Object(PythonError::new("Exception", "Error"))),
            ApiCompat::Right => fail("Error"),
        };
    };
    let row = row(arguments, &user)?;
    world.table_mut(TABLE)?.insert(key, row);
    Ok(SUCCESS.into())
}

fn query(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let (_, Some(key)) = find(arguments, world)? else {
        missing(arguments, "agenda")?;
        return fail("Error");
    };
    Ok(world.table(TABLE)?.get(&key).cloned().unwrap_or_default())
}

fn is_same_addition(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    assert_same_name(predicted, gold)?;
    is_same_item(predicted, gold)
}

/// The token is not compared.
fn is_same_item(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(overlaps(predicted, gold, "content", false)?
        && same_argument(predicted, gold, "time")?
        && same_argument(predicted, gold, "location")?
        && has_same_result(predicted, gold))
}
