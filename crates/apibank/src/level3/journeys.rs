//! Flights, and hotels with free rooms.
//!
//! Both tools of the original store dates as objects, and convert them to texts in the rows that they return, in
//! their own tables. The next call that reaches such a row fails: `FlightSearch` when it compares the date of a
//! flight between the two places, `HotelAvailability` when it converts a date again. The published behaviour
//! therefore records in its tables, under [`GIVEN`], which rows were returned. The right behaviour has no such
//! memory.

use super::tables::{Outcome, argument, date_argument, field, is_original, list, part, part_mut, single};
use crate::api::ApiFault;
use crate::dates::{DateFormat, LocalDateTime, strptime};
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

/// The part of a tool's tables with the indices of the rows that were returned.
const GIVEN: &str = "given";

pub(super) fn flight_search(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let found = flights(&arguments, world);
    ApiRecord::new(Some("FlightSearch"), arguments, found)
}

fn flights(arguments: &Dict, world: &mut ApiWorld) -> Outcome {
    let day = date_argument(arguments, "travel_dates", DateFormat::Date)?;
    let given = given(world, "FlightSearch");
    let mut found = Vec::new();
    for (place, row) in list(world, "FlightSearch", "flight_data")?.iter().enumerate() {
        let is_between =
            ["source", "destination"].iter().all(|name| field(row, name) == Some(argument(arguments, name)));
        if !is_between {
            continue;
        }
        // Before the dates are compared: the original fails on such a row whatever day is wanted.
        if is_original(world) && given.contains(&place) {
            return Err(ApiFault::caught("'str' object has no attribute 'date'"));
        }
        // Flights are stored with their time of departure; users ask for a day.
        if stored(row, "departure_date")
            .is_some_and(|it| it.write(DateFormat::Date) == day.write(DateFormat::Date))
        {
            found.push((place, row.clone()));
        }
    }
    if is_original(world) {
        give(world, "FlightSearch", found.iter().map(|(place, _)| *place))?;
    }
    let rows: Vec<PythonValue> = found.into_iter().map(|(_, row)| row).collect();
    Ok(single("flights", rows.into()))
}

pub(super) fn hotel_availability(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let found = hotels(&arguments, world);
    ApiRecord::new(Some("HotelAvailability"), arguments, found)
}

/// The hotels with a free room for the whole stay.
fn hotels(arguments: &Dict, world: &mut ApiWorld) -> Outcome {
    let arrival = date_argument(arguments, "check_in_date", DateFormat::Date)?;
    let departure = date_argument(arguments, "check_out_date", DateFormat::Date)?;
    if !is_original(world) && departure <= arrival {
        return Err(ApiFault::caught("The check-out date must be after the check-in date."));
    }
    let given = given(world, "HotelAvailability");
    let hotels = part(world, "HotelAvailability", "hotel_database")?.as_dict();
    let mut found = Vec::new();
    for (place, row) in hotels.into_iter().flat_map(Dict::values).enumerate() {
        let is_there = field(row, "destination") == Some(argument(arguments, "destination"));
        let stay = [stored(row, "check_in_date"), stored(row, "check_out_date")];
        let [Some(from), Some(to)] = stay else { continue };
        if !is_there || arrival < from || departure > to {
            continue;
        }
        if is_original(world) && given.contains(&place) {
            // By then, the original has already converted the rows that it found.
            give(world, "HotelAvailability", found.into_iter().map(|(place, _)| place))?;
            return Err(ApiFault::caught("'str' object has no attribute 'strftime'"));
        }
        // The original converts the dates in its own table; here, `GIVEN` records that instead.
        let mut row = row.clone();
        for (name, date) in [("check_in_date", from), ("check_out_date", to)] {
            if let Some(row) = row.as_dict_mut() {
                row.insert(name.to_owned(), date.write(DateFormat::Date).into());
            }
        }
        found.push((place, row));
    }
    if is_original(world) {
        give(world, "HotelAvailability", found.iter().map(|(place, _)| *place))?;
    }
    let rows: Vec<PythonValue> = found.into_iter().map(|(_, row)| row).collect();
    Ok(single("hotels", rows.into()))
}

/// A date of a row.
fn stored(row: &PythonValue, name: &str) -> Option<LocalDateTime> {
    let text = field(row, name)?.as_text()?;
    [DateFormat::Time, DateFormat::Date].into_iter().find_map(|format| strptime(text, format).ok())
}

/// The rows of a tool that were returned before.
fn given(world: &ApiWorld, tool: &str) -> Vec<usize> {
    let places = list(world, tool, GIVEN).unwrap_or_default();
    let place = |it: &PythonValue| match it {
        PythonValue::Int(place) => usize::try_from(*place).ok(),
        _ => None,
    };
    places.iter().filter_map(place).collect()
}

fn give(world: &mut ApiWorld, tool: &str, places: impl Iterator<Item = usize>) -> Result<(), ApiFault> {
    let places: Vec<usize> = places.collect();
    if places.is_empty() {
        return Ok(());
    }
    let mut given = given(world, tool);
    given.extend(places);
    let given: Vec<PythonValue> = given.into_iter().map(|place| PythonValue::Int(place as i128)).collect();
    if let Some(tables) = world.get_mut(tool).and_then(PythonValue::as_dict_mut) {
        tables.insert(GIVEN.to_owned(), given.into());
    }
    part_mut(world, tool, GIVEN).map(|_| ())
}
