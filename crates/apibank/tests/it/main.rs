//! Tools and judgements over a small world of our own.

#![expect(clippy::unwrap_used, reason = "a failed step of a test is a failed test")]

mod dialogues;
mod families;
mod level3;
mod level3_tools;
mod modes;
mod outside;
mod published;
mod suite;
#[path = "../support/published.rs"]
mod support;
mod twin;

use planproof_apibank::evaluate::judge::carry_out;
use planproof_apibank::python::repr;
use planproof_apibank::value::{Dict, PythonValue};
use planproof_apibank::world::{ApiCompat, ApiWorld, TODAY};
use planproof_trace::Draw;

const TABLES: [(&str, &str); 15] = [
    (
        "Account",
        r#"{"Ann": {"password": "p1", "token": "t1", "email": "ann@example.org"},
        "Bob": {"password": "p2", "token": "t2", "email": "bob@example.org"}}"#,
    ),
    (
        "Agenda",
        r#"{"1": {"content": "Lunch with Eve", "time": "2023-05-01 12:00:00", "location": "Inn", "username": "Ann"}}"#,
    ),
    ("Alarm", r#"{"1": {"time": "2023-05-01 07:00:00", "username": "Ann"}}"#),
    (
        "Appointments",
        r#"{"11111111": {"patient_name": "Ann", "date": "2023-05-02", "doctor_name": "Dr. Who"}}"#,
    ),
    ("Bank", r#"{"Ann": {"balance": 12.5}}"#),
    ("HealthData", r#"{"A1": [{"time": "2023-05-01 08:00:00", "weight": 70}]}"#),
    (
        "History",
        r#"{"05-01": [{"Title": " Something ", "Date": "1900-05-01", "Description": "It happened."}]}"#,
    ),
    (
        "Hotel",
        r#"{"1": {"hotel_name": "Inn", "check_in_time": "2023-05-03", "check_out_time": "2023-05-05",
        "room_count": 1, "adult_count": 2, "child_count": 0}}"#,
    ),
    ("ImageCaptioning", r#"[{"url": "http://x.org/a.png", "caption": "a cat"}]"#),
    (
        "Meeting",
        r#"{"4": {"meeting_topic": "Plan", "start_time": "2023-05-01 10:00:00", "end_time": "2023-05-01 11:00:00",
        "location": "Room 1", "attendees": ["Bob"], "username": "Ann"}}"#,
    ),
    ("Reminder", r#"{"7": {"content": "Call Bob", "time": "2023-05-01 09:00:00", "username": "Ann"}}"#),
    ("Scenes", r#"{"evening": [{"name": "lamp", "description": "Warm"}]}"#),
    (
        "SearchEngine",
        r#"{"raw_documents": [{"title": "Cats", "url": "u1", "abstract": "On cats."},
        {"title": "Dogs", "url": "u2", "abstract": "On dogs."},
        {"title": "Birds", "url": "u3", "abstract": "On birds."}],
        "tokenized_documents": [["cats", "purr"], ["dogs", "bark"], ["birds", "sing", "dogs"]]}"#,
    ),
    ("Stock", r#"{"ABC": {"2023-05-01": 7.5}}"#),
    ("Symptom", r#"{"cough": [{"name": "Cold", "description": "A cold.", "aid": "Rest."}]}"#),
];

fn world(compat: ApiCompat) -> ApiWorld {
    let mut world = ApiWorld::new(TODAY, Draw::new(1, 0, "test"));
    for (name, text) in TABLES {
        world.load(name, text).unwrap();
    }
    for (name, text) in [
        ("TimeSwitch", r#"{"lamp": [{"time": "2023-05-01 20:00:00", "on": true}]}"#),
        ("SpeechRecognition", r#"{"http://x.org/a.wav": "Hello"}"#),
        ("QuestionAnswering", r#"{"http://x.org/a.txt": [{"question": "Who?", "answer": "Ann."}]}"#),
        ("Wiki", r#"{"black cat": {"url": "u", "summary": "A cat.", "content": "..."}}"#),
    ] {
        world.load(name, text).unwrap();
    }
    world.compat = compat;
    world
}

/// The arguments of JSON.
fn arguments(text: &str) -> Dict {
    serde_json::from_str(text).unwrap()
}

/// What a call gives: its output as Python writes it, or its error behind a `!`.
fn call(world: &mut ApiWorld, name: &str, text: &str) -> String {
    match carry_out(name, &arguments(text), world) {
        Ok(record) if record.exception.is_none() => repr(&record.output),
        Ok(record) => {
            assert!(record.output.is_none());
            format!("!{}", record.exception.as_text().unwrap())
        }
        Err(fault) => format!("!!{fault}"),
    }
}

/// Carries out calls one after the other in one world.
fn check(compat: ApiCompat, calls: &[(&str, &str, &str)]) -> ApiWorld {
    let mut world = world(compat);
    for (name, text, expected) in calls {
        assert_eq!(call(&mut world, name, text), *expected, "{name} {text}");
    }
    world
}

fn text_of(value: &PythonValue) -> String {
    repr(value)
}
