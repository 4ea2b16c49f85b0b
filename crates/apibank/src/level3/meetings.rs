//! Meetings, and e-mails with reminders.

use super::tables::{
    Outcome, argument, date_argument, field, is_original, lookup, number, part, part_mut, single, unknown,
};
use crate::api::ApiFault;
use crate::dates::{DateFormat, LocalDateTime};
use crate::python::strip;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

/// The table with the users' meetings.
const CALENDARS: &str = "QueryMeeting";

pub(super) fn query_meeting(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let name = argument(&arguments, "user_name");
    let found = part(world, CALENDARS, "database").and_then(|users| {
        let meetings = lookup(users, name);
        meetings.cloned().ok_or_else(|| unknown(world, "user", name))
    });
    let found = found.map(|meetings| single("meetings", meetings));
    ApiRecord::new(Some("QueryMeeting"), arguments, found)
}

pub(super) fn add_meeting(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let found = match is_original(world) {
        true => append(&arguments, world),
        false => invite(&arguments, world),
    };
    ApiRecord::new(Some("AddMeeting"), arguments, found)
}

/// Adds the meeting to a list that no tool reads.
fn append(arguments: &Dict, world: &mut ApiWorld) -> Outcome {
    // Only for its errors: the original never compares the two times.
    checked(arguments)?;
    if let PythonValue::List(meetings) = part_mut(world, "AddMeeting", "database")? {
        meetings.push(PythonValue::Dict(arguments.clone()));
    }
    Ok("success".into())
}

/// The start and the end of a meeting, which must have a topic.
fn checked(arguments: &Dict) -> Result<[LocalDateTime; 2], ApiFault> {
    let start = date_argument(arguments, "start_time", DateFormat::Time)?;
    let end = date_argument(arguments, "end_time", DateFormat::Time)?;
    if strip(&argument(arguments, "meeting_topic").to_text()).is_empty() {
        return Err(ApiFault::caught("Meeting Topic should not be null"));
    }
    Ok([start, end])
}

/// Adds the meeting to the calendars of all attendees.
fn invite(arguments: &Dict, world: &mut ApiWorld) -> Outcome {
    let [start, end] = checked(arguments)?;
    if end <= start {
        return Err(ApiFault::caught("The meeting must end after it starts."));
    }
    let attendees = argument(arguments, "attendees");
    let names: Option<Vec<&str>> =
        attendees.as_list().and_then(|names| names.iter().map(PythonValue::as_text).collect());
    let names = names.filter(|names| !names.is_empty());
    let names = names.ok_or_else(|| ApiFault::caught("`attendees` must be a list of names."))?;
    let PythonValue::Dict(users) = part_mut(world, CALENDARS, "database")? else {
        return Err(ApiFault::caught("There are no calendars."));
    };
    // A meeting has the same number in all calendars, above those in use.
    let rows = users.values().filter_map(PythonValue::as_list).flatten();
    let last = rows.filter_map(|row| number(field(row, "meeting_id")?)).fold(0.0, f64::max);
    let named = [
        ("meeting_id", PythonValue::Int((last as i128).saturating_add(1))),
        ("meeting_name", argument(arguments, "meeting_topic").clone()),
        ("meeting_time", argument(arguments, "start_time").clone()),
        ("meeting_location", argument(arguments, "location").clone()),
        ("meeting_attendees", attendees.clone()),
    ];
    let row = PythonValue::Dict(named.map(|(name, value)| (name.to_owned(), value)).into());
    for name in names {
        let calendar = users.entry(name.to_owned()).or_insert_with(|| PythonValue::List(Vec::new()));
        if let PythonValue::List(meetings) = calendar {
            meetings.push(row.clone());
        }
    }
    Ok(single("status", "success".into()))
}

pub(super) fn email_reminder(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let found = remind(&arguments, world);
    ApiRecord::new(Some("EmailReminder"), arguments, found)
}

fn remind(arguments: &Dict, world: &ApiWorld) -> Outcome {
    date_argument(arguments, "time", DateFormat::Time)?;
    if strip(&argument(arguments, "content").to_text()).is_empty() {
        return Err(ApiFault::caught("Content should not be empty"));
    }
    if is_original(world) {
        return Ok("success".into());
    }
    let recipient = argument(arguments, "recipient").as_text().unwrap_or_default();
    match recipient.split_once('@') {
        Some((name, host)) if !name.is_empty() && host.contains('.') && !recipient.contains(' ') => {
            Ok(single("status", "success".into()))
        }
        _ => Err(ApiFault::caught("`recipient` must be an e-mail address.")),
    }
}
