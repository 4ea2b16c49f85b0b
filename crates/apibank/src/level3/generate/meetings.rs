//! Tasks about meetings and organisations.

use std::collections::BTreeSet;

use planproof_trace::Draw;

use super::accounts::{info, log_in};
use super::english::{Day, and, clock, count, is, small, word};
use super::facts::Facts;
use super::script::{Place, Script};
use super::words::{Words, any, each, pick, say};
use crate::level3::tables::field;
use crate::value::PythonValue;

/// Topics of meetings.
const TOPICS: [&str; 8] = [
    "the new website",
    "the budget of next year",
    "the move to the new office",
    "safety at work",
    "the summer party",
    "the hiring plan",
    "the annual report",
    "feedback from customers",
];

/// Rooms for meetings.
const ROOMS: [&str; 6] = ["Room 12", "Room 101", "Room 204", "Room 305", "Hall B", "Studio 3"];

/// The first day on which a meeting can be scheduled.
const FIRST_DAY: &str = "2024-07-01";

/// The number of days to choose from.
const DAYS: u32 = 60;

/// Maximum number of members of an organisation whose status a task asks for one by one.
const ASKED_MAX: usize = 4;

/// The travel status of members who are in the office.
const IN_OFFICE: &str = "In the office";

/// That of members who are on the way.
const TRAVELLING: &str = "Travelling";

/// Account, its owner's meetings, an e-mail with a reminder of the first.
pub(super) fn reminder(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let account = pick(draw, &facts.accounts)?;
    let read = log_in(script, &account.username, &account.password, &[])?;
    let (name, email) = (info(script, read, "name")?, info(script, read, "email")?);
    let queried = script.call("QueryMeeting", &[("user_name", name.into())], &[read])?;
    let meetings = script.list(queried, "meetings")?;
    let time = |row: &PythonValue| Some(field(row, "meeting_time")?.as_text()?.to_owned());
    // Times are written from year to second, so they sort as texts.
    let first = meetings.iter().min_by_key(|row| time(row))?.clone();
    let part = |name: &str| field(&first, name)?.as_text();
    let (topic, time, location) = (part("meeting_name")?, part("meeting_time")?, part("meeting_location")?);
    // An agent may use other words: the check of this tool does not compare the content.
    let content = format!("{topic} starts at {time} in {location}.");
    let arguments = [
        ("content", content.into()),
        ("time", time.into()),
        ("location", location.into()),
        ("recipient", email.as_str().into()),
    ];
    script.call("EmailReminder", &arguments, &[read, queried])?;
    let (username, password, owner) = (&account.username, &account.password, &account.name);
    let requirement = say(
        draw,
        [
            format!(
                "I am {owner}, my username is {username} and my password is {password}. Look up the earliest \
                 meeting in my calendar and send a reminder of it to the e-mail address in my account."
            ),
            format!(
                "Log in as {username} with the password {password}, find out which of {owner}'s meetings comes \
                 first, and mail a reminder with its time and place to the address of that account."
            ),
        ],
    )?;
    let (day, clock) = (Day::read(time)?.english(), clock(time));
    let reply = say(
        draw,
        [
            format!(
                "The earliest meeting is {topic} on {day} at {clock} in {location}. A reminder is on its way to \
                 {email}."
            ),
            format!("I sent a reminder of {topic} ({day}, {clock}, {location}) to {email}."),
        ],
    )?;
    Some(Words { requirement, reply, asks: any([topic, location, &email]) })
}

fn members(script: &mut Script, organisation: &str) -> Option<(Place, Vec<String>)> {
    let place = script.call("OrganizationMembers", &[("organization", organisation.into())], &[])?;
    let names = script.texts(place, "members")?;
    Some((place, names))
}

/// The status of each member: the calls, and the members by status.
fn statuses(
    script: &mut Script,
    (place, members): &(Place, Vec<String>),
) -> Option<(Vec<Place>, Vec<String>)> {
    if members.len() > ASKED_MAX {
        return None;
    }
    let mut calls = Vec::new();
    let mut statuses = Vec::new();
    for name in members {
        let call = script.call("TravelStatus", &[("member_name", name.as_str().into())], &[*place])?;
        statuses.push(script.text(call, "status")?);
        calls.push(call);
    }
    Some((calls, statuses))
}

/// Organisation, members, travel status of each.
pub(super) fn travellers(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let organisation = pick(draw, &facts.organisations)?;
    let members = members(script, organisation)?;
    let (_, statuses) = statuses(script, &members)?;
    let requirement = say(
        draw,
        [
            format!("Who works at {organisation}, and what is the travel status of each of them?"),
            format!("Find out for every member of {organisation} whether they are travelling at the moment."),
            format!(
                "I need to know where the people of {organisation} are. List all members with their travel status."
            ),
        ],
    )?;
    let with_status: Vec<String> =
        members.1.iter().zip(&statuses).map(|(name, status)| format!("{name} ({})", small(status))).collect();
    let (total, away) = (members.1.len(), statuses.iter().filter(|it| *it == TRAVELLING).count());
    let reply = say(
        draw,
        [
            format!("{organisation} has {}: {}.", count(total, "member"), and(&with_status)),
            format!(
                "Of the {} of {organisation}, {}: {}.",
                count(total, "member"),
                number_away(away),
                and(&with_status)
            ),
        ],
    )?;
    // A wording asks for the status of each, or only for who is travelling.
    let is_asked = |status: &&String| requirement.contains("travel status") || *status == TRAVELLING;
    let status = |status: &String| {
        let word = status.split_whitespace().last().unwrap_or_default();
        any([status, word, &word.replace("ll", "l")]).concat()
    };
    let mut asks = each(&members.1);
    asks.extend(statuses.iter().collect::<BTreeSet<_>>().into_iter().filter(is_asked).map(status));
    Some(Words { requirement, reply, asks })
}

/// `one is travelling`, `nobody is travelling`
fn number_away(number: usize) -> String {
    match number {
        0 => "nobody is travelling".to_owned(),
        _ => format!("{} {} travelling", word(number), is(number)),
    }
}

/// A meeting to be scheduled.
struct Plan {
    topic: &'static str,
    location: &'static str,
    day: Day,
    hour: u32,
}

impl Plan {
    fn draw(draw: &mut Draw) -> Option<Self> {
        let (topic, location) = (*pick(draw, &TOPICS)?, *pick(draw, &ROOMS)?);
        let day = Day::read(FIRST_DAY)?.plus(i64::from(draw.below(DAYS)));
        Some(Self { topic, location, day, hour: 9 + draw.below(8) })
    }

    fn add(&self, script: &mut Script, attendees: &[String], from: &[Place]) -> Option<Place> {
        let at = |hour: u32| format!("{} {hour:02}:00:00", self.day.iso());
        let attendees: Vec<PythonValue> = attendees.iter().map(|name| name.as_str().into()).collect();
        let arguments = [
            ("meeting_topic", self.topic.into()),
            ("start_time", at(self.hour).into()),
            ("end_time", at(self.hour + 1).into()),
            ("location", self.location.into()),
            ("attendees", attendees.into()),
        ];
        script.call("AddMeeting", &arguments, from)
    }

    /// `in Room 12 on 3 July 2024 from 10:00 to 11:00`
    fn details(&self) -> String {
        let Self { location, day, hour, .. } = self;
        format!("in {location} on {} from {hour:02}:00 to {:02}:00", day.english(), hour + 1)
    }
}

/// Organisation, members, a meeting with all of them, the calendar of the first.
pub(super) fn staff_meeting(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let organisation = pick(draw, &facts.organisations)?;
    let plan = Plan::draw(draw)?;
    let (place, members) = members(script, organisation)?;
    let added = plan.add(script, &members, &[place])?;
    let first = members.first()?;
    // After the meeting was added, so that the calendar includes it and the number in the reply is right.
    let queried = script.call("QueryMeeting", &[("user_name", first.as_str().into())], &[place, added])?;
    let total = script.list(queried, "meetings")?.len();
    let (topic, details) = (plan.topic, plan.details());
    let requirement = say(
        draw,
        [
            format!(
                "Set up a meeting of all members of {organisation} {details}, with the topic \"{topic}\". Then check \
                 the calendar of the member who is listed first."
            ),
            format!(
                "Everybody at {organisation} is invited to talk about \"{topic}\" {details}. Add the meeting for all \
                 members in the order in which they are listed, and show me how many meetings the first of them \
                 has then."
            ),
        ],
    )?;
    let asks = match requirement.contains("how many meetings") {
        true => any([total.to_string(), word(total)]),
        false => any([total.to_string(), word(total), first.clone()]),
    };
    let (names, total) = (and(&members), count(total, "meeting"));
    let reply = say(
        draw,
        [
            format!("The meeting {details} is booked for {names}. {first} now has {total}."),
            format!("I invited {names}. The calendar of {first} now shows {total}."),
        ],
    )?;
    Some(Words { requirement, reply, asks })
}

/// Organisation, members, travel status of each, a meeting with those in the office.
pub(super) fn office_meeting(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let organisation = pick(draw, &facts.organisations)?;
    let plan = Plan::draw(draw)?;
    let members = members(script, organisation)?;
    let (mut calls, statuses) = statuses(script, &members)?;
    let present = members.1.iter().zip(&statuses).filter(|(_, status)| *status == IN_OFFICE);
    let present: Vec<String> = present.map(|(name, _)| name.clone()).collect();
    // The statuses must make a difference: some members are in the office, and some are not.
    if present.len() < 2 || present.len() == members.1.len() {
        return None;
    }
    calls.push(members.0);
    plan.add(script, &present, &calls)?;
    let (topic, details) = (plan.topic, plan.details());
    let requirement = say(
        draw,
        [
            format!(
                "Book a meeting on \"{topic}\" {details} for those members of {organisation} who are in the office \
                 according to their travel status."
            ),
            format!(
                "Which members of {organisation} are in the office? Invite these, and nobody else, to a meeting on \
                 \"{topic}\" {details}."
            ),
        ],
    )?;
    let names = and(&present);
    let reply = say(
        draw,
        [
            format!("{names} are in the office. I invited them to the meeting {details}."),
            format!("The meeting on {topic} is booked {details}, with {names}."),
        ],
    )?;
    let asks = if requirement.starts_with("Which members") { each(&present) } else { any(&present) };
    Some(Words { requirement, reply, asks })
}
