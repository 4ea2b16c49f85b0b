//! What happened on a day of the year.

use super::parts::{argument, fail, field, has_same_result, tool, with_method};
use crate::api::{Entry, Fault, Raised};
use crate::dates::{Format, are_equal, lenient};
use crate::python::strip;
use crate::record::Record;
use crate::value::{Dict, Value};
use crate::world::World;

pub(super) const TOOLS: [Entry; 1] = [tool!("QueryHistoryToday", query, is_same)];

/// The day in the form `04-21`, from a date with or without a year.
fn day(value: &Value) -> Result<Result<String, Raised>, Raised> {
    let text = with_method(value, "strip")?;
    let day = lenient(text, Format::Date).or_else(|_| lenient(text, Format::MonthDay));
    Ok(day.map(|day| day.write(Format::MonthDay)))
}

fn query(arguments: &mut Dict, world: &mut World) -> Result<Value, Fault> {
    let day = day(argument(arguments, "date")?)??;
    let Some(events) = world.table("History")?.get(&day) else {
        return fail("The date is not in the database.");
    };
    let text =
        |event, name| -> Result<&str, Raised> { Ok(strip(with_method(field(event, name)?, "strip")?)) };
    let events = events.as_list().unwrap_or_default().iter();
    let events: Result<Vec<Value>, Raised> = events
        .map(|event| {
            let [title, date, description] = ["Title", "Date", "Description"].map(|name| text(event, name));
            Ok(format!("Title: {}, Date: {}, Description: {}", title?, date?, description?).into())
        })
        .collect();
    Ok(events?.into())
}

fn is_same(predicted: &mut Record, gold: &mut Record) -> Result<bool, Raised> {
    let (one, other) = (day(predicted.argument("date")?)?, day(gold.argument("date")?)?);
    Ok(are_equal(&one, &other) && has_same_result(predicted, gold))
}
