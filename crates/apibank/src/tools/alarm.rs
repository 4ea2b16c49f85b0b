//! Alarm clocks, found by their exact time.

use super::parts::{SUCCESS, all_equal, argument, dict, fail, row_of, tool, user_of};
use crate::api::{ApiFault, ApiTool};
use crate::dates::{DateFormat, strptime_value};
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

pub(super) const TOOLS: [ApiTool; 4] = [
    tool!("AddAlarm", add, all_equal),
    tool!("DeleteAlarm", delete, all_equal),
    tool!("ModifyAlarm", modify, all_equal),
    tool!("QueryAlarm", query, all_equal),
];

const TABLE: &str = "Alarm";

fn add(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let time = argument(arguments, "time")?;
    strptime_value(time, DateFormat::Time)?;
    let user = user_of(argument(arguments, "token")?, world)?;
    let key = world.next_key(TABLE)?;
    let row = dict([("username", user.into()), ("time", time.clone())]);
    world.table_mut(TABLE)?.insert(key, row);
    Ok(SUCCESS.into())
}

/// The user, and the key of the alarm at the time given by this argument.
fn find(arguments: &Dict, name: &str, world: &ApiWorld) -> Result<(String, Option<String>), ApiFault> {
    let user = user_of(argument(arguments, "token")?, world)?;
    let key = row_of(world.table(TABLE)?, &user, &[("time", argument(arguments, name)?)])?;
    Ok((user, key))
}

fn missing(arguments: &Dict) -> Result<PythonValue, ApiFault> {
    fail(format!("You have no alarm clock at time : {}", argument(arguments, "time")?.to_text()))
}

fn delete(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    strptime_value(argument(arguments, "time")?, DateFormat::Time)?;
    let (_, Some(key)) = find(arguments, "time", world)? else { return missing(arguments) };
    world.table_mut(TABLE)?.shift_remove(&key);
    Ok(SUCCESS.into())
}

fn query(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    strptime_value(argument(arguments, "time")?, DateFormat::Time)?;
    let (_, Some(key)) = find(arguments, "time", world)? else { return missing(arguments) };
    Ok(world.table(TABLE)?.get(&key).cloned().unwrap_or_default())
}

fn modify(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let (from, to) = (argument(arguments, "from_time")?, argument(arguments, "to_time")?);
    strptime_value(from, DateFormat::Time)?;
    strptime_value(to, DateFormat::Time)?;
    let (user, Some(key)) = find(arguments, "from_time", world)? else {
        return fail(format!("You have no agenda at time : {}", from.to_text()));
    };
    let row = dict([("username", user.into()), ("time", to.clone())]);
    world.table_mut(TABLE)?.insert(key, row);
    Ok(SUCCESS.into())
}
