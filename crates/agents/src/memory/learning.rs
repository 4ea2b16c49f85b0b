//! What a judged run teaches.

use planproof_plan::subtasks::{Asking, Pair, sections};
use planproof_trace::{Actor, EndReason, Event, EventKind, ToolCall};

use super::{ABOUT_BYTES_MAX, LESSON_BYTES_MAX, LESSONS_OF_RUN_MAX, Lesson, line};

/// Longest piece of a lesson, in bytes: the arguments of a call, an error, a task. Two calls and an error fit.
const PIECE_BYTES_MAX: usize = 280;

/// The lessons of a run with these events that failed by that class, or passed if there is none: first that it
/// failed, then each failed call, with the call that worked for the same sub-task if there was one. At most
/// [`LESSONS_OF_RUN_MAX`] lessons, each once. Takes time in proportion to the events.
pub fn lessons_of(events: &[Event], class: Option<&str>) -> Vec<Lesson> {
    let run = Run::read(events);
    let mut lessons: Vec<Lesson> = class.map(|class| run.failure(class)).into_iter().collect();
    for lesson in run.calls {
        if lessons.len() == LESSONS_OF_RUN_MAX {
            break;
        }
        if !lessons.contains(&lesson) {
            lessons.push(lesson);
        }
    }
    lessons
}

/// What the agent itself did in a run.
#[derive(Default)]
struct Run<'e> {
    task: &'e str,
    sub_tasks: Vec<Pair>,
    /// The lessons of calls that failed.
    calls: Vec<Lesson>,
    /// Failed calls of the current sub-task, with the words of their tool.
    failed: Vec<(&'e ToolCall, &'e str)>,
    /// The call that was made last.
    open: Option<&'e ToolCall>,
    /// Why the agent broke, in its own words.
    broke: Option<&'e str>,
}

impl<'e> Run<'e> {
    fn read(events: &'e [Event]) -> Self {
        let mut run = Self::default();
        for event in events {
            let actor = event.actor.as_ref().map(Actor::as_str);
            match &event.kind {
                EventKind::Query { text } => run.task = text,
                EventKind::End(EndReason::AgentFailed { reason }) => run.broke = Some(reason),
                EventKind::Section { state, text, .. }
                    if actor == Some(Asking::Plan.actor()) && state == sections::SUB_TASK =>
                {
                    // A new sub-task begins, so nothing mended the failed calls of the last one.
                    run.give_up();
                    run.sub_tasks.extend(serde_json::from_str(text).ok().as_ref().and_then(Pair::of_json));
                }
                EventKind::Call(call) if actor == Some(Asking::Call.actor()) => run.open = Some(call),
                EventKind::Result(result) if actor == Some(Asking::Call.actor()) => {
                    let call = run.open.take().filter(|call| call.id == result.id);
                    // The guard's words about a call come from its knowledge of the case.
                    let Some(call) = call.filter(|_| !result.is_denied) else { continue };
                    match result.is_error {
                        true => run.failed.push((call, &result.text)),
                        false => run.mended(call),
                    }
                }
                _ => {}
            }
        }
        run.give_up();
        run
    }

    /// Nothing worked for the sub-task at hand.
    fn give_up(&mut self) {
        self.learn(|said| format!("{said}; no other call worked"));
    }

    /// That call worked.
    fn mended(&mut self, call: &ToolCall) {
        let worked = line(&call.arguments.to_text(), PIECE_BYTES_MAX);
        self.learn(|said| format!("{said}; this worked instead: {worked}"));
    }

    fn learn(&mut self, and: impl Fn(String) -> String) {
        let wanted = self.sub_tasks.last().map(|pair| pair.text.as_str()).unwrap_or_default();
        for (call, error) in self.failed.drain(..) {
            let [arguments, said] = [&*call.arguments.to_text(), error].map(|it| line(it, PIECE_BYTES_MAX));
            let said = format!("{} called with {arguments} failed: {said}", call.name);
            self.calls.push(Lesson {
                tool: Some(call.name.clone()),
                about: line(&format!("{wanted} {error}"), ABOUT_BYTES_MAX),
                text: line(&and(said), LESSON_BYTES_MAX),
            });
        }
    }

    /// That the run failed by this class.
    fn failure(&self, class: &str) -> Lesson {
        let pairs: Vec<String> = self.sub_tasks.iter().map(|pair| pair.to_json().to_string()).collect();
        let mut text = format!("a run failed as {class}");
        if let Some(reason) = self.broke {
            text += &format!(" ({})", line(reason, PIECE_BYTES_MAX));
        }
        text += &format!("; its task began: {}", line(self.task, PIECE_BYTES_MAX));
        text += &match pairs.is_empty() {
            true => "; it carried out no sub-task".to_owned(),
            false => format!("; its sub-tasks were {}", pairs.join(", ")),
        };
        Lesson { tool: None, about: line(self.task, ABOUT_BYTES_MAX), text: line(&text, LESSON_BYTES_MAX) }
    }
}

#[cfg(test)]
mod tests {
    use planproof_trace::{Arguments, Author, CallId, ToolResult};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn event(actor: Option<&str>, kind: EventKind) -> Event {
        let actor = actor.map(|name| Actor::new(name).expect("a name"));
        Event { at: 0, actor, kind }
    }

    fn query(text: &str) -> Event {
        event(None, EventKind::Query { text: text.to_owned() })
    }

    fn section(actor: &str, state: &str, text: &str) -> Event {
        let (state, text, note) = (state.to_owned(), text.to_owned(), "1".to_owned());
        event(Some(actor), EventKind::Section { state, author: Author::Model, text, note })
    }

    fn call(actor: &str, arguments: &serde_json::Value) -> Event {
        let arguments = Arguments::Object(arguments.as_object().expect("an object").clone());
        let call = ToolCall { id: CallId::new("c"), name: "sql".to_owned(), arguments };
        event(Some(actor), EventKind::Call(call))
    }

    fn result(actor: &str, make: fn(CallId, &str) -> ToolResult, text: &str) -> Event {
        event(Some(actor), EventKind::Result(make(CallId::new("c"), text)))
    }

    fn ok(id: CallId, text: &str) -> ToolResult {
        ToolResult::ok(id, text)
    }

    fn error(id: CallId, text: &str) -> ToolResult {
        ToolResult::error(id, text)
    }

    fn denied(id: CallId, text: &str) -> ToolResult {
        ToolResult::denied(id, text)
    }

    fn texts(lessons: &[Lesson]) -> Vec<&str> {
        lessons.iter().map(|lesson| lesson.text.as_str()).collect()
    }

    #[test]
    fn calls_that_failed_are_kept_with_what_worked() {
        let events = [
            query("How many\nmen are there?"),
            section("planner", sections::SUB_TASK, r#"{"sql": "Count the men"}"#),
            call("caller", &json!({"statement": "SELECT a"})),
            result("caller", error, "no such\ncolumn: a"),
            call("caller", &json!({"statement": "SELECT b"})),
            result("caller", ok, "7"),
            section("planner", sections::SUB_TASK, r#"{"sql": "Count the women"}"#),
            call("caller", &json!({"statement": "SELECT c"})),
            result("caller", error, "no such table: c"),
        ];
        let lessons = lessons_of(&events, None);
        assert_eq!(
            texts(&lessons),
            [
                r#"sql called with {"statement":"SELECT a"} failed: no such column: a; this worked instead: {"statement":"SELECT b"}"#,
                r#"sql called with {"statement":"SELECT c"} failed: no such table: c; no other call worked"#,
            ]
        );
        assert_eq!(lessons[0].tool.as_deref(), Some("sql"));
        assert_eq!(lessons[0].about, "Count the men no such column: a");
        // A result may be what the case is about, so no lesson contains one.
        assert!(!lessons[0].text.contains('7'));

        let failed = lessons_of(&events, Some("task_not_understood"));
        assert_eq!(
            failed[0].text,
            r#"a run failed as task_not_understood; its task began: How many men are there?; its sub-tasks were {"sql":"Count the men"}, {"sql":"Count the women"}"#
        );
        assert_eq!((failed.len(), &failed[0].tool, &*failed[0].about), (3, &None, "How many men are there?"));
    }

    #[test]
    fn what_only_the_case_knows_is_in_no_lesson() {
        let events = [
            query("task"),
            section("planner", sections::SUB_TASK, r#"{"sql": "Count"}"#),
            call("caller", &json!({"statement": "x"})),
            result("caller", denied, "SECRET: call cook before"),
            section("judge", "judged", "SECRET"),
            section("judge", sections::SUB_TASK, r#"{"sql": "SECRET"}"#),
            call("judge", &json!({"statement": "SECRET"})),
            result("judge", error, "SECRET"),
            event(None, EventKind::End(EndReason::AgentFailed { reason: "planner: no".to_owned() })),
        ];
        assert_eq!(lessons_of(&events, None), []);
        let lessons = lessons_of(&events, Some("agent_failed"));
        assert_eq!(
            texts(&lessons),
            [
                r#"a run failed as agent_failed (planner: no); its task began: task; its sub-tasks were {"sql":"Count"}"#
            ]
        );
    }

    #[test]
    fn lessons_are_few_and_short() {
        let mut events = vec![query(&"long ".repeat(10_000))];
        for number in 0..100 {
            events.push(section("planner", sections::SUB_TASK, &format!(r#"{{"sql": "é{number}"}}"#)));
            events.push(call("caller", &json!({"statement": "é".repeat(5_000), "n": number})));
            events.push(result("caller", error, &"ü".repeat(5_000)));
            events.push(call("caller", &json!({"statement": "é".repeat(5_000)})));
            events.push(result("caller", ok, ""));
        }
        let lessons = lessons_of(&events, Some("timeout"));
        assert_eq!(lessons.len(), LESSONS_OF_RUN_MAX);
        for lesson in lessons {
            assert!(lesson.text.len() <= LESSON_BYTES_MAX && lesson.about.len() <= ABOUT_BYTES_MAX);
            assert!(lesson.tool.is_none() || lesson.text.contains("this worked instead: {"), "{lesson:?}");
        }
        let twice = [
            section("planner", sections::SUB_TASK, r#"{"sql": "a"}"#),
            call("caller", &json!({})),
            result("caller", error, "no"),
            call("caller", &json!({})),
            result("caller", error, "no"),
        ];
        assert_eq!(lessons_of(&twice, None).len(), 1);
    }

    proptest! {
        /// Whatever a text holds, it becomes one line within the limit.
        #[test]
        fn any_text_is_one_line(text in "[a-zé \n\t]{0,40}", most in 3usize..30) {
            let line = line(&text, most);
            prop_assert!(line.len() <= most && !line.contains('\n'));
        }
    }
}
