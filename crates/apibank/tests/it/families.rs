//! What tools do, one family after the other, as in the original and in a world that keeps its state.

use planproof_apibank::world::ApiCompat;

use crate::{call, text_of, world};

/// Calls with what they give, in paragraphs of which each has a world of its own.
const FAMILIES: &str = include_str!("../../testdata/families.txt");

/// The calls of a paragraph: names, arguments and results. Lines that begin with spaces belong to the line before.
fn calls(paragraph: &str) -> Vec<(String, String, String)> {
    let mut lines: Vec<String> = Vec::new();
    for line in paragraph.lines().filter(|line| !line.starts_with('#')) {
        match (line.strip_prefix("   "), lines.last_mut()) {
            (Some(more), Some(last)) => last.push_str(more),
            _ => lines.push(line.to_owned()),
        }
    }
    let pairs = lines.chunks(2).map(|pair| {
        let (name, arguments) = pair[0].split_once(' ').unwrap();
        (name.to_owned(), arguments.to_owned(), pair[1].strip_prefix("= ").unwrap().to_owned())
    });
    pairs.collect()
}

#[test]
fn families_do_what_the_original_does() {
    let mut count = 0;
    for paragraph in FAMILIES.split("\n\n") {
        let mut world = world(ApiCompat::Original);
        for (name, arguments, expected) in calls(paragraph) {
            assert_eq!(call(&mut world, &name, &arguments), expected, "{name} {arguments}");
            count += 1;
        }
    }
    assert!(count >= 118, "only {count} calls were made");
}

#[test]
fn meetings_keep_their_place_and_get_the_next_key() {
    let mut world = world(ApiCompat::Original);
    let move_plan = r#"{"token": "t1", "meeting_topic": "Plan", "start_time": "", "end_time": "",
        "location": "Room 2", "attendees": []}"#;
    assert_eq!(call(&mut world, "ModifyMeeting", move_plan), "'success'");
    let talk = r#"{"token": "t2", "meeting_topic": "Talk", "start_time": "2023-05-02 10:00:00",
        "end_time": "2023-05-02 11:00:00", "location": "", "attendees": []}"#;
    assert_eq!(call(&mut world, "AddMeeting", talk), "'success'");
    let table = world.table("Meeting").unwrap();
    assert_eq!(table.keys().collect::<Vec<_>>(), ["4", "5"]);
    assert!(text_of(&table["4"]).contains("'Room 1'"), "the original leaves the place as it was");
}
