//! The checks as published, with all their errors: what they overlook, and what makes them raise an exception.
//!
//! A check reads a plan in a certain order and stops at the first fault, so the order decides whether it fails or
//! raises an exception. The order here is that of the published code.

mod commonsense;
mod hard;

use std::borrow::Cow;

use serde_json::Value;

use super::judgement::{CheckResult, TripJudgement};
use crate::entry::{NOTHING, from_to, name_city, strip_parenthesis};
use crate::plan::{CITY, TRANSPORTATION, TripPlan};
use crate::python::{PythonException, is_true, member, text};
use crate::query::Query;
use crate::tables::TripDatabase;

/// Judges a plan as the published evaluator does.
pub(super) fn judge(database: &TripDatabase, query: &Query, plan: &TripPlan) -> TripJudgement {
    if !plan.is_delivered() {
        return TripJudgement::not_delivered();
    }
    let days = plan.days(query.days);
    let trip = days.map(|days| Trip { database, query, days });
    // If the plan has no length in Python, every check raises the same exception.
    let mark = |check: fn(&Trip<'_>) -> Result<bool, PythonException>| match &trip {
        Ok(trip) => CheckResult::from(check(trip)),
        Err(raised) => CheckResult::Raised(*raised),
    };
    let optional = |check: fn(&Trip<'_>) -> Result<Option<bool>, PythonException>| match &trip {
        Ok(trip) => CheckResult::from(check(trip)),
        Err(raised) => CheckResult::Raised(*raised),
    };
    let commonsense = [
        mark(commonsense::route),
        mark(commonsense::restaurants),
        mark(commonsense::attractions_differ),
        mark(commonsense::minimum_nights),
        mark(commonsense::transportation),
        mark(commonsense::current_city),
        mark(commonsense::sandbox),
        mark(commonsense::complete),
    ];
    let cost = trip.as_ref().map_err(|raised| *raised).and_then(hard::cost);
    let hard = [
        optional(hard::cuisine),
        optional(hard::room_rule),
        optional(hard::transportation),
        optional(hard::room_type),
        CheckResult::from(cost.map(|cost| cost <= query.budget)),
    ];
    TripJudgement::new(commonsense, hard, cost.ok())
}

/// The days of a plan that are read, and what they are judged against.
struct Trip<'t> {
    database: &'t TripDatabase,
    query: &'t Query,
    days: Vec<Result<Cow<'t, Value>, PythonException>>,
}

impl Trip<'_> {
    /// The days in order. Reading one may fail.
    fn days(&self) -> impl Iterator<Item = Result<&Value, PythonException>> {
        self.days.iter().map(|day| match day {
            Ok(day) => Ok(day.as_ref()),
            Err(raised) => Err(*raised),
        })
    }
}

/// The entry under a key if it is filled in: the value is truthy in Python, and is not a hyphen.
fn given<'v>(day: &'v Value, key: &str) -> Result<Option<&'v Value>, PythonException> {
    let value = member(day, key)?;
    Ok((is_true(value) && value != NOTHING).then_some(value))
}

/// Like [`given`], but the key may be missing.
fn given_if_there<'v>(day: &'v Value, key: &str) -> Result<Option<&'v Value>, PythonException> {
    if crate::python::holds(day, key)? { given(day, key) } else { Ok(None) }
}

/// Whether a value is the empty text or a hyphen. Null is neither.
fn is_dash(value: &Value) -> bool {
    value == "" || value == NOTHING
}

/// The name and the city of an entry.
fn name_and_city(value: &Value) -> Result<(&str, &str), PythonException> {
    text(value).map(name_city)
}

/// The attractions in a value. Text after the last semicolon is lost, and so is a single attraction without one.
fn attractions(value: &Value) -> Result<impl Iterator<Item = &str>, PythonException> {
    let all = crate::python::method_of_text(value)?;
    let terminated = all.rsplit_once(';').map(|(terminated, _)| terminated);
    Ok(terminated.into_iter().flat_map(|terminated| terminated.split(';')))
}

/// Where a day is spent.
enum Place<'v> {
    /// On the way from one city to another.
    Leg([&'v str; 2]),
    City(&'v str),
}

/// Where a day is spent, according to its `current_city`.
fn place(day: &Value) -> Result<Place<'_>, PythonException> {
    let value = member(day, CITY)?;
    if crate::python::holds(value, "from")? {
        // If there are no ends, the published parser returns `None` twice, and the next text function rejects that.
        let (one, other) = from_to(text(value)?).ok_or(PythonException::Type)?;
        return Ok(Place::Leg([strip_parenthesis(one), strip_parenthesis(other)]));
    }
    text(value).map(|city| Place::City(strip_parenthesis(city)))
}

/// The journey of a day.
struct Travel<'v> {
    entry: &'v str,
    lower: String,
    /// The two ends, without any parts in parentheses.
    leg: Option<(&'v str, &'v str)>,
}

/// How the traveller moves on a day. If the entry has no ends, they come from `current_city`.
fn travel(day: &Value) -> Result<Option<Travel<'_>>, PythonException> {
    let Some(value) = given(day, TRANSPORTATION)? else { return Ok(None) };
    let entry = text(value)?;
    let leg = match from_to(entry) {
        Some(leg) => Some(leg),
        None => from_to(text(member(day, CITY)?)?),
    };
    let leg = leg.map(|(one, other)| (strip_parenthesis(one), strip_parenthesis(other)));
    Ok(Some(Travel { entry, lower: entry.to_lowercase(), leg }))
}
