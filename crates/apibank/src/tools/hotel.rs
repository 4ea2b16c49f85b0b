//! Hotel rooms.

use super::parts::{all_equal, argument, fail, field, next_number, tool};
use crate::api::{Entry, Fault, Raised};
use crate::dates::{Format, Moment, strptime_value};
use crate::value::{Dict, Value};
use crate::world::{Compat, World};

pub(super) const TOOLS: [Entry; 1] = [tool!("BookHotel", book, all_equal)];

const TABLE: &str = "Hotel";

/// More adults need a second room.
const ADULTS_OF_A_ROOM: f64 = 2.0;

fn number(value: &Value) -> Result<f64, Raised> {
    match value {
        Value::Bool(value) => Ok(f64::from(u8::from(*value))),
        Value::Int(number) => Ok(*number as f64),
        Value::Float(number) => Ok(*number),
        other => Err(Raised::types(format!(
            "'>' not supported between instances of '{}' and 'int'",
            other.class()
        ))),
    }
}

fn book(arguments: &mut Dict, world: &mut World) -> Result<Value, Fault> {
    let stay = stay(argument(arguments, "check_in_time")?, argument(arguments, "check_out_time")?)?;
    let is_one_room = *argument(arguments, "room_count")? == Value::Int(1);
    if number(argument(arguments, "adult_count")?)? > ADULTS_OF_A_ROOM && is_one_room {
        return fail("The number of adults is greater than 2. Two rooms are ordered.");
    }
    let hotel = argument(arguments, "hotel_name")?;
    for order in world.table(TABLE)?.values() {
        if field(order, "hotel_name")? != hotel {
            continue;
        }
        let taken = self::stay(field(order, "check_in_time")?, field(order, "check_out_time")?)?;
        if is_taken(stay, taken, world.compat) {
            return fail("The room is not available.");
        }
    }
    // The arguments are exactly those of an order.
    let order = Value::Dict(arguments.clone());
    let table = world.table(TABLE)?;
    let id = match world.compat {
        // After a deletion, the original overwrites another order.
        Compat::Original => (table.len() + 1).to_string(),
        Compat::Right => next_number(table)?.to_string(),
    };
    world.table_mut(TABLE)?.insert(id.clone(), order);
    Ok(id.into())
}

fn stay(from: &Value, to: &Value) -> Result<(Moment, Moment), Raised> {
    Ok((strptime_value(from, Format::Date)?, strptime_value(to, Format::Date)?))
}

/// The original detects no overlap if the new stay begins before the other and ends after it.
fn is_taken(stay: (Moment, Moment), taken: (Moment, Moment), compat: Compat) -> bool {
    let (from, to) = stay;
    let is_within = (from >= taken.0 && from < taken.1) || (to > taken.0 && to <= taken.1);
    is_within || (compat == Compat::Right && from < taken.0 && to > taken.1)
}
