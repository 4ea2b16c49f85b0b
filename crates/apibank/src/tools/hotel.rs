//! Hotel rooms.

use super::parts::{all_equal, argument, fail, field, next_number, tool};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::dates::{DateFormat, LocalDateTime, strptime_value};
use crate::value::{Dict, PythonValue};
use crate::world::{ApiCompat, ApiWorld};

pub(super) const TOOLS: [ApiTool; 1] = [tool!("BookHotel", book, all_equal)];

const TABLE: &str = "Hotel";

/// More adults need a second room.
const ADULTS_OF_A_ROOM: f64 = 2.0;

fn number(value: &PythonValue) -> Result<f64, PythonError> {
    match value {
        PythonValue::Bool(value) => Ok(f64::from(u8::from(*value))),
        PythonValue::Int(number) => Ok(*number as f64),
        PythonValue::Float(number) => Ok(*number),
        other => Err(PythonError::types(format!(
            "'>' not supported between instances of '{}' and 'int'",
            other.class()
        ))),
    }
}

fn book(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let stay = stay(argument(arguments, "check_in_time")?, argument(arguments, "check_out_time")?)?;
    let is_one_room = *argument(arguments, "room_count")? == PythonValue::Int(1);
    if number(argument(arguments, "adult_count")?)? > ADULTS_OF_A_ROOM && is_one_room {
        return fail("The number of adults is greater than 2. Two rooms are ordered.");
    }
    let hotel = argument(arguments, "hotel_name")?;
    // The numbers of rooms and children are ignored, as in the original: one order takes the whole hotel.
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
    let order = PythonValue::Dict(arguments.clone());
    let table = world.table(TABLE)?;
    let id = match world.compat {
        // After a deletion, the original overwrites another order.
        ApiCompat::Original => (table.len() + 1).to_string(),
        ApiCompat::Right => next_number(table)?.to_string(),
    };
    world.table_mut(TABLE)?.insert(id.clone(), order);
    Ok(id.into())
}

fn stay(from: &PythonValue, to: &PythonValue) -> Result<(LocalDateTime, LocalDateTime), PythonError> {
    Ok((strptime_value(from, DateFormat::Date)?, strptime_value(to, DateFormat::Date)?))
}

/// The original detects no overlap if the new stay begins before the other and ends after it.
fn is_taken(
    stay: (LocalDateTime, LocalDateTime),
    taken: (LocalDateTime, LocalDateTime),
    compat: ApiCompat,
) -> bool {
    let (from, to) = stay;
    let is_within = (from >= taken.0 && from < taken.1) || (to > taken.0 && to <= taken.1);
    is_within || (compat == ApiCompat::Right && from < taken.0 && to > taken.1)
}
