//! What happened on a day of the year.

use super::parts::{argument, fail, field, has_same_result, tool, with_method};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::dates::{DateFormat, are_equal, lenient};
use crate::python::strip;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

pub(super) const TOOLS: [ApiTool; 1] = [tool!("QueryHistoryToday", query, is_same)];

/// The day in the form `04-21`, from a date with or without a year.
fn day(value: &PythonValue) -> Result<Result<String, PythonError>, PythonError> {
    let text = with_method(value, "strip")?;
    let day = lenient(text, DateFormat::Date).or_else(|_| lenient(text, DateFormat::MonthDay));
    Ok(day.map(|day| day.write(DateFormat::MonthDay)))
}

fn query(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let day = day(argument(arguments, "date")?)??;
    let Some(events) = world.table("History")?.get(&day) else {
        return fail("The date is not in the database.");
    };
    let text =
        |event, name| -> Result<&str, PythonError> { Ok(strip(with_method(field(event, name)?, "strip")?)) };
    let events = events.as_list().unwrap_or_default().iter();
    let events: Result<Vec<PythonValue>, PythonError> = events
        .map(|event| {
            let [title, date, description] = ["Title", "Date", "Description"].map(|name| text(event, name));
            Ok(format!("Title: {}, Date: {}, Description: {}", title?, date?, description?).into())
        })
        .collect();
    Ok(events?.into())
}

fn is_same(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    let (one, other) = (day(predicted.argument("date")?)?, day(gold.argument("date")?)?);
    Ok(are_equal(&one, &other) && has_same_result(predicted, gold))
}
