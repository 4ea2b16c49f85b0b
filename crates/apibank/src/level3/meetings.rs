//! Meetings, and e-mails with reminders.

use super::tables::{
    Outcome, argument, date_argument, field, is_original, lookup, number, part, part_mut, single, unknown,
};
use crate::api::Fault;
use crate::dates::{Format, Moment};
use crate::python::strip;
use crate::record::Record;
use crate::value::{Dict, Value};
use crate::world::World;

/// The table with the users' meetings.
const CALENDARS: &str = "QueryMeeting";

pub(super) fn query_meeting(arguments: Dict, world: &mut World) -> Result<Record, Fault> {
    let name = argument(&arguments, "user_name");
    let found = part(world, CALENDARS, "database").and_then(|users| {
        let meetings = lookup(users, name);
        meetings.cloned().ok_or_else(|| unknown(world, "user", name))
    });
    let found = found.map(|meetings| single("meetings", meetings));
    Record::new(Some("QueryMeeting"), arguments, found)
}

pub(super) fn add_meeting(arguments: Dict, world: &mut World) -> Result<Record, Fault> {
    let found = match is_original(world) {
        true => append(&arguments, world),
        false => invite(&arguments, world),
    };
    Record::new(Some("AddMeeting"), arguments, found)
}

/// Adds the meeting to a list that no tool reads.
fn append(arguments: &Dict, world: &mut World) -> Outcome {
    checked(arguments)?;
    if let Value::List(meetings) = part_mut(world, "AddMeeting", "database")? {
        meetings.push(Value::Dict(arguments.clone()));
    }
    Ok("success".into())
}

/// The start and the end of a meeting, which must have a topic.
fn checked(arguments: &Dict) -> Result<[Moment; 2], Fault> {
    let start = date_argument(arguments, "start_time", Format::Time)?;
    let end = date_argument(arguments, "end_time", Format::Time)?;
    if strip(&argument(arguments, "meeting_topic").to_text()).is_empty() {
        return Err(Fault::caught("Meeting Topic should not be null"));
    }
    Ok([start, end])
}

/// Adds the meeting to the calendars of all attendees.
fn invite(arguments: &Dict, world: &mut World) -> Outcome {
    let [start, end] = checked(arguments)?;
    if end <= start {
        return Err(Fault::caught("The meeting must end after it starts."));
    }
    let attendees = argument(arguments, "attendees");
    let names: Option<Vec<&str>> =
        attendees.as_list().and_then(|names| names.iter().map(Value::as_text).collect());
    let names = names.filter(|names| !names.is_empty());
    let names = names.ok_or_else(|| Fault::caught("`attendees` must be a list of names."))?;
    let Value::Dict(users) = part_mut(world, CALENDARS, "database")? else {
        return Err(Fault::caught("There are no calendars."));
    };
    let rows = users.values().filter_map(Value::as_list).flatten();
    let last = rows.filter_map(|row| number(field(row, "meeting_id")?)).fold(0.0, f64::max);
    let named = [
        ("meeting_id", Value::Int((last as i128).saturating_add(1))),
        ("meeting_name", argument(arguments, "meeting_topic").clone()),
        ("meeting_time", argument(arguments, "start_time").clone()),
        ("meeting_location", argument(arguments, "location").clone()),
        ("meeting_attendees", attendees.clone()),
    ];
    let row = Value::Dict(named.map(|(name, value)| (name.to_owned(), value)).into());
    for name in names {
        let calendar = users.entry(name.to_owned()).or_insert_with(|| Value::List(Vec::new()));
        if let Value::List(meetings) = calendar {
            meetings.push(row.clone());
        }
    }
    Ok(single("status", "success".into()))
}

pub(super) fn email_reminder(arguments: Dict, world: &mut World) -> Result<Record, Fault> {
    let found = remind(&arguments, world);
    Record::new(Some("EmailReminder"), arguments, found)
}

fn remind(arguments: &Dict, world: &World) -> Outcome {
    date_argument(arguments, "time", Format::Time)?;
    if strip(&argument(arguments, "content").to_text()).is_empty() {
        return Err(Fault::caught("Content should not be empty"));
    }
    if is_original(world) {
        return Ok("success".into());
    }
    let recipient = argument(arguments, "recipient").as_text().unwrap_or_default();
    match recipient.split_once('@') {
        Some((name, host)) if !name.is_empty() && host.contains('.') && !recipient.contains(' ') => {
            Ok(single("status", "success".into()))
        }
        _ => Err(Fault::caught("`recipient` must be an e-mail address.")),
    }
}
