//! What earlier runs taught, in prompts and in the trace.

use super::*;
use crate::memory::{Known, Lesson, LessonSource, MemoryUse};

fn lessons() -> Lessons {
    let known = |case: &str, tool: Option<&str>, about: &str, text: &str| Known {
        source: LessonSource { campaign: "c1".to_owned(), case: case.to_owned(), repeat: 2 },
        lesson: Lesson { tool: tool.map(str::to_owned), about: about.to_owned(), text: text.to_owned() },
    };
    Lessons::new(vec![
        known("k1", Some("double"), "Double 5", "double wants a number"),
        known("k2", Some("upper"), "Double 5", "upper wants a text"),
        known("k3", None, "The other task.", "it failed"),
    ])
}

async fn run(
    division: Division,
    remembers: bool,
    memory: Option<&Lessons>,
) -> (Vec<Vec<Message>>, Vec<Event>) {
    let model = Scripted::new(&[
        (Asking::Plan, &[r#"[{"double": "Double 4"}]"#]),
        (Asking::Groups, &[r#"["The numbers"]"#]),
        (Asking::Next, &[r#"{"double": "Double 4"}"#, "DONE"]),
        (Asking::Call, &[r#"{"number": 4}"#]),
        (Asking::Summary, &["8"]),
    ]);
    let options = SubTaskOptions { remembers, ..SubTaskOptions::default() };
    let limits = RunLimits::default();
    let (ran, events) = run_remembering(division, &model, limits, None, (options, memory)).await;
    assert_eq!(ran.end, answered("8"));
    let asked = model.asked.lock().unwrap().clone();
    (asked, events)
}

#[tokio::test]
async fn without_a_memory_no_byte_is_otherwise() {
    let lessons = lessons();
    for division in Division::ALL {
        let plain = run(division, false, None).await;
        assert_eq!(run(division, false, Some(&lessons)).await, plain);
        // Nor with one, where a run is given none.
        assert_eq!(run(division, true, None).await, plain);
        assert_eq!(MemoryUse::of(&plain.1, "k1"), None);
        // With nothing to recall, prompts are the same, and the trace says so.
        let (asked, events) = run(division, true, Some(&Lessons::default())).await;
        assert_eq!(asked, plain.0);
        assert_eq!(MemoryUse::of(&events, "k1"), Some(MemoryUse::default()));
    }
}

#[tokio::test]
async fn lessons_stand_in_a_part_of_the_prompt_and_in_the_trace() {
    let lessons = lessons();
    for division in Division::ALL {
        let (asked, events) = run(division, true, Some(&lessons)).await;
        let prompt_of = |asking: Asking| {
            asked.iter().find_map(|messages| match messages.first() {
                Some(Message::User { text }) if text.starts_with(asking.mark()) => Some(text.clone()),
                _ => None,
            })
        };
        let call = prompt_of(Asking::Call).unwrap();
        let part = format!("\n{}\n- double wants a number\n", planproof_plan::subtasks::headings::LESSONS);
        assert!(call.contains(&part) && !call.contains("upper wants"), "{call}");
        assert!(!prompt_of(Asking::Summary).unwrap().contains("Lessons"));
        let planned = [Asking::Plan, Asking::Groups, Asking::Next].into_iter().find_map(prompt_of).unwrap();
        assert!(planned.contains("\n- it failed\n"), "{planned}");

        assert_eq!(noted(&events, sections::MEMORY), [("3", "3 lessons of earlier runs can be recalled")]);
        let noted = noted(&events, sections::LESSONS);
        assert!(noted.contains(&(r#"[["c1","k1",2]]"#, "- double wants a number")), "{noted:?}");
        assert!(noted.contains(&(r#"[["c1","k3",2]]"#, "- it failed")), "{noted:?}");
        let used = MemoryUse::of(&events, "k3").unwrap();
        assert_eq!((used.visible, used.shown, used.runs), (3, noted.len() as u64, 1));
        assert_eq!(used.of_same_case, noted.len() as u64 - 1);
    }
}
