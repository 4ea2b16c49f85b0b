//! What the right mode does in another way than the original.

use planproof_apibank::world::ApiCompat;

use crate::check;

#[test]
fn each_mode_has_its_tools() {
    let nothing = r#"{"token": "t2", "content": "", "time": "", "location": ""}"#;
    let around = r#"{"hotel_name": "Inn", "check_in_time": "2023-05-01", "check_out_time": "2023-05-09",
        "room_count": "1", "adult_count": "1", "child_count": "0"}"#;
    for (name, arguments, original, right) in [
        ("DeleteAgenda", nothing, "'success'", "!Error"),
        ("ModifyAgenda", nothing, "Exception('Error')", "!Error"),
        ("BookHotel", around, "'2'", "!The room is not available."),
        ("Calculator", r#"{"formula": "-(1+(2*3))"}"#, "!')' is not in list", "-7.0"),
        ("QueryBalance", r#"{"token": " t1 "}"#, "!The token is incorrect.", "12.5"),
        (
            "EmergencyKnowledge",
            r#"{"symptom": ""}"#,
            "!'Exception' object has no attribute 'lower'",
            "!The symptom cannot be empty.",
        ),
        (
            "SendEmail",
            r#"{"receiver": "A.B@mail.example.info", "subject": "x", "content": "y"}"#,
            "!Email address of the receiver is invalid.",
            "'success'",
        ),
        (
            "TimedSwitch",
            r#"{"name": "fan", "time": "2023-05-01 20:00:00", "on": "maybe"}"#,
            "'success'",
            "!!AssertionError: invalid parameter type. parameter: maybe",
        ),
        (
            "ToolSearcher",
            r#"{"keywords": "zzz"}"#,
            "!'NoneType' object has no attribute 'pop'",
            "!no tool fits these keywords",
        ),
    ] {
        check(ApiCompat::Original, &[(name, arguments, original)]);
        check(ApiCompat::Right, &[(name, arguments, right)]);
    }
}

/// After a deletion the original puts a new row over one that it put in before.
#[test]
fn rows_get_free_keys() {
    let add = r#"{"token": "t2", "time": "2023-05-02 07:00:00"}"#;
    let delete = r#"{"token": "t1", "time": "2023-05-01 07:00:00"}"#;
    let calls = [
        ("AddAlarm", add, "'success'"),
        ("DeleteAlarm", delete, "'success'"),
        ("AddAlarm", add, "'success'"),
    ];
    assert_eq!(check(ApiCompat::Original, &calls).table("Alarm").unwrap().len(), 1);
    assert_eq!(check(ApiCompat::Right, &calls).table("Alarm").unwrap().len(), 2);
}

#[test]
fn meetings_change_place() {
    let world = check(
        ApiCompat::Right,
        &[(
            "ModifyMeeting",
            r#"{"token": "t1", "meeting_topic": "Plan", "start_time": "", "end_time": "",
                "location": "Room 2", "attendees": "['Eve']"}"#,
            "'success'",
        )],
    );
    let row = crate::text_of(&world.table("Meeting").unwrap()["4"]);
    assert!(row.contains("'Room 2'") && row.contains("['Eve']"), "{row}");
}
