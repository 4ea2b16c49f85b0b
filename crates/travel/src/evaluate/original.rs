//! The checks as published, with all that is wrong with them: what they overlook, and what ends them.
//!
//! A check reads a plan in a certain order and stops at the first thing that is wrong, so that the order says whether
//! it fails or ends with an exception. The order here is theirs.

mod commonsense;
mod hard;

use std::borrow::Cow;

use serde_json::Value;

use super::judgement::{Judgement, Mark};
use crate::entry::{NOTHING, from_to, name_city, strip_parenthesis};
use crate::plan::{CITY, Plan, TRANSPORTATION};
use crate::python::{Raised, is_true, member, text};
use crate::query::Query;
use crate::tables::Database;

/// Judges a plan as the published evaluator does.
pub(super) fn judge(database: &Database, query: &Query, plan: &Plan) -> Judgement {
    if !plan.is_delivered() {
        return Judgement::not_delivered();
    }
    let days = plan.days(query.days);
    let trip = days.map(|days| Trip { database, query, days });
    let mark = |check: fn(&Trip<'_>) -> Result<bool, Raised>| match &trip {
        Ok(trip) => Mark::from(check(trip)),
        Err(raised) => Mark::Raised(*raised),
    };
    let optional = |check: fn(&Trip<'_>) -> Result<Option<bool>, Raised>| match &trip {
        Ok(trip) => Mark::from(check(trip)),
        Err(raised) => Mark::Raised(*raised),
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
        Mark::from(cost.map(|cost| cost <= query.budget)),
    ];
    Judgement::new(commonsense, hard, cost.ok())
}

/// The days that are read of a plan, and what they are judged by.
struct Trip<'t> {
    database: &'t Database,
    query: &'t Query,
    days: Vec<Result<Cow<'t, Value>, Raised>>,
}

impl Trip<'_> {
    /// The days in their order. Asking for one may fail.
    fn days(&self) -> impl Iterator<Item = Result<&Value, Raised>> {
        self.days.iter().map(|day| match day {
            Ok(day) => Ok(day.as_ref()),
            Err(raised) => Err(*raised),
        })
    }
}

/// What stands under a key if something does: the value is true in Python's sense, and no hyphen.
fn given<'v>(day: &'v Value, key: &str) -> Result<Option<&'v Value>, Raised> {
    let value = member(day, key)?;
    Ok((is_true(value) && value != NOTHING).then_some(value))
}

/// As [`given`], where the key may be missing.
fn given_if_there<'v>(day: &'v Value, key: &str) -> Result<Option<&'v Value>, Raised> {
    if crate::python::holds(day, key)? { given(day, key) } else { Ok(None) }
}

/// Whether a value is the empty text or a hyphen. Null is neither.
fn is_dash(value: &Value) -> bool {
    value == "" || value == NOTHING
}

/// The name and the city of an entry.
fn name_and_city(value: &Value) -> Result<(&str, &str), Raised> {
    text(value).map(name_city)
}

/// The sights of a value. What stands behind the last semicolon is lost, and with it a sight without one.
fn attractions(value: &Value) -> Result<impl Iterator<Item = &str>, Raised> {
    let all = crate::python::method_of_text(value)?;
    let terminated = all.rsplit_once(';').map(|(terminated, _)| terminated);
    Ok(terminated.into_iter().flat_map(|terminated| terminated.split(';')))
}

/// Where a day is spent.
enum Place<'v> {
    /// On the way from one city to another.
    Leg([&'v str; 2]),
    /// In a city.
    City(&'v str),
}

/// Where a day is spent, by its `current_city`.
fn place(day: &Value) -> Result<Place<'_>, Raised> {
    let value = member(day, CITY)?;
    if crate::python::holds(value, "from")? {
        let (one, other) = from_to(text(value)?).ok_or(Raised::Type)?;
        return Ok(Place::Leg([strip_parenthesis(one), strip_parenthesis(other)]));
    }
    text(value).map(|city| Place::City(strip_parenthesis(city)))
}

/// How one travels on a day, if at all.
struct Travel<'v> {
    entry: &'v str,
    lower: String,
    /// The two ends without parts in parentheses.
    leg: Option<(&'v str, &'v str)>,
}

/// How one travels on a day. The ends come from `current_city` where the entry has none.
fn travel(day: &Value) -> Result<Option<Travel<'_>>, Raised> {
    let Some(value) = given(day, TRANSPORTATION)? else { return Ok(None) };
    let entry = text(value)?;
    let leg = match from_to(entry) {
        Some(leg) => Some(leg),
        None => from_to(text(member(day, CITY)?)?),
    };
    let leg = leg.map(|(one, other)| (strip_parenthesis(one), strip_parenthesis(other)));
    Ok(Some(Travel { entry, lower: entry.to_lowercase(), leg }))
}
