//! How these agents handle malformed replies, failing tools, and the decisions of a person.

mod remembering;
mod stepping_in;

use std::collections::HashMap;
use std::sync::Mutex;

use planproof_model::{Capabilities, ChatReply, ChatRequest, Message, ModelError, TurnState};
use planproof_plan::subtasks::PlanOfRun;
use planproof_tools::mcp::TOKEN_BYTES;
use planproof_tools::{Restoring, Toolbox};
use planproof_trace::{
    Event, FinishReason, LimitKind, LogicalClock, Recorder, Secrets, Tool, ToolCall, ToolResult, Usage,
};
use serde_json::json;

use super::*;
use crate::memory::Lessons;
use crate::team::Reviewing;
use crate::{RunLimits, Surroundings};

/// A model that replies from a list by kind of request, and repeats the last reply.
#[derive(Debug)]
struct Scripted {
    replies: Vec<(Asking, Vec<String>)>,
    given: Mutex<HashMap<Asking, usize>>,
    asked: Mutex<Vec<Vec<Message>>>,
}

impl Scripted {
    fn new(replies: &[(Asking, &[&str])]) -> Arc<Self> {
        let owned = |list: &&[&str]| list.iter().map(ToString::to_string).collect();
        let replies = replies.iter().map(|(asking, list)| (*asking, owned(list))).collect();
        Arc::new(Self { replies, given: Mutex::default(), asked: Mutex::default() })
    }

    /// The last message of each request for this.
    fn asked_last(&self, asking: Asking) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let of = |messages: &Vec<Message>| match (messages.first(), messages.last()) {
            (Some(Message::User { text: first }), Some(Message::User { text })) => {
                first.starts_with(asking.mark()).then(|| text.clone())
            }
            _ => panic!("a request begins and ends with what the user says: {messages:?}"),
        };
        asked.iter().filter_map(of).collect()
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            tool_calls: false,
            streaming: false,
            partial_turn: false,
            completion: false,
            log_probabilities: false,
            conversational: false,
            grammar: false,
            server_state: false,
        }
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            let Some(Message::User { text }) = request.messages.first() else { panic!("no prompt") };
            assert!(text.contains("The task."), "every prompt holds the task: {text}");
            let asking = Asking::ALL.into_iter().find(|asking| text.starts_with(asking.mark())).unwrap();
            self.asked.lock().unwrap().push(request.messages.clone());
            let list = &self.replies.iter().find(|(other, _)| *other == asking).unwrap().1;
            let mut given = self.given.lock().unwrap();
            let count = given.entry(asking).or_default();
            *count += 1;
            let text = list[(*count - 1).min(list.len() - 1)].clone();
            let (finish, usage) = (FinishReason::Stop, Usage::default());
            Ok(ChatReply { text, calls: Vec::new(), finish, usage, id: None, state: TurnState::default() })
        })
    }
}

/// `double` doubles a number, and `upper` writes a text in capitals.
#[derive(Debug)]
struct TwoTools(Arc<[Tool]>);

impl TwoTools {
    fn new() -> Self {
        let tool = |name: &str, argument: &str, kind: &str| {
            let schema = json!({"type": "object", "properties": {argument: {"type": kind}}});
            let input_schema = schema.into();
            Tool { name: name.to_owned(), description: format!("It is {name}."), input_schema }
        };
        Self([tool("double", "number", "integer"), tool("upper", "text", "string")].into())
    }
}

impl Toolbox for TwoTools {
    fn restoring(&self) -> Restoring {
        Restoring::Nothing
    }

    fn tools(&self) -> &Arc<[Tool]> {
        &self.0
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let planproof_trace::Arguments::Object(arguments) = &call.arguments else { panic!("an object") };
            let id = call.id.clone();
            match (call.name.as_str(), arguments.values().next()) {
                ("double", Some(number)) if number.is_i64() => {
                    ToolResult::ok(id, (2 * number.as_i64().unwrap()).to_string())
                }
                ("upper", Some(text)) if text.is_string() => {
                    ToolResult::ok(id, text.as_str().unwrap().to_uppercase())
                }
                _ => ToolResult::error(id, "the arguments do not fit"),
            }
        })
    }
}

async fn run(division: Division, model: &Arc<Scripted>) -> (EndReason, Vec<Event>) {
    let (ran, events) = run_with(division, model, RunLimits::default(), None).await;
    (ran.end, events)
}

async fn run_with(
    division: Division,
    model: &Arc<Scripted>,
    limits: RunLimits,
    reviewing: Option<&Reviewing>,
) -> (Ran, Vec<Event>) {
    let options = SubTaskOptions::default();
    run_remembering(division, model, limits, reviewing, (options, None)).await
}

async fn run_remembering(
    division: Division,
    model: &Arc<Scripted>,
    limits: RunLimits,
    reviewing: Option<&Reviewing>,
    (options, memory): (SubTaskOptions, Option<&Lessons>),
) -> (Ran, Vec<Event>) {
    let agent = SubTaskAgent::new(Arc::clone(model) as Arc<dyn Model>, division, options);
    let recorder = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
    let toolbox: Arc<dyn Toolbox> = Arc::new(TwoTools::new());
    let context = RunContext {
        later: &[],
        query: "The task.",
        toolbox: &toolbox,
        limits: &limits,
        seed: 1,
        recorder: &recorder,
        earlier: &[],
        reviewing,
        memory,
        surroundings: &Surroundings::new(|| [7; TOKEN_BYTES]),
    };
    let ran = agent.run(context).await.unwrap();
    recorder.end(ran.end.clone());
    (ran, recorder.take_events())
}

fn noted<'e>(events: &'e [Event], wanted: &str) -> Vec<(&'e str, &'e str)> {
    let section = |event: &'e Event| match &event.kind {
        EventKind::Section { state, text, note, .. } if state == wanted => {
            Some((note.as_str(), text.as_str()))
        }
        _ => None,
    };
    events.iter().filter_map(section).collect()
}

fn pairs(events: &[Event]) -> Vec<String> {
    let plan = PlanOfRun::of(events).unwrap();
    plan.pairs.iter().map(|pair| pair.to_json().to_string()).collect()
}

fn answered(text: &str) -> EndReason {
    EndReason::Answered { text: text.to_owned() }
}

const TWO: &str = r#"[{"double": "Double 4"}, {"upper": "Write the result's name in capitals"}]"#;

#[tokio::test]
async fn one_step_plans_at_once_and_hands_results_on() {
    let model = Scripted::new(&[
        (Asking::Plan, &[TWO]),
        (Asking::Call, &[r#"{"number": 4}"#, "```\neight\n```"]),
        (Asking::Summary, &["It is EIGHT."]),
    ]);
    let (end, events) = run(Division::AtOnce, &model).await;
    assert_eq!(end, answered("It is EIGHT."));
    assert_eq!(
        noted(&events, sections::PLAN),
        [("", TWO.replace(": \"", ":\"").replace(", {", ",{").as_str())]
    );
    let calls = model.asked_last(Asking::Call);
    assert!(
        !calls[0].contains("# Results") && calls[1].contains("## 1 {\"double\":\"Double 4\"}\n8"),
        "{calls:?}"
    );
    assert!(model.asked_last(Asking::Summary)[0].contains("in capitals\"}\nEIGHT"));
    let actors: Vec<&str> =
        events.iter().filter_map(|event| event.actor.as_ref()).map(planproof_trace::Actor::as_str).collect();
    for actor in ["planner", "caller", "summariser"] {
        assert!(actors.contains(&actor), "{actor}: {actors:?}");
    }
    assert_eq!(noted(&events, sections::TOOLS), [("", "double\nupper")]);
    assert_eq!(noted(&events, sections::PROMPT).len(), 4);
    let plan = PlanOfRun::of(&events).unwrap();
    assert_eq!((plan.division, plan.pairs.len(), plan.broken_at), (Division::AtOnce, 2, None));
}

#[tokio::test]
async fn sequential_sees_each_result_before_it_goes_on() {
    let model = Scripted::new(&[
        (Asking::Next, &[r#"{"double": "Double 4"}"#, r#"{"double": "Double 8"}"#, "DONE"]),
        (Asking::Call, &[r#"{"number": 4}"#, r#"{"number": 8}"#]),
        (Asking::Summary, &["16"]),
    ]);
    let (end, events) = run(Division::OneByOne, &model).await;
    assert_eq!(end, answered("16"));
    let asked = model.asked_last(Asking::Next);
    assert!(asked[1].starts_with("## 1 {\"double\":\"Double 4\"}\n8\n"), "{asked:?}");
    assert!(asked[2].starts_with("## 2 {\"double\":\"Double 8\"}\n16\n"), "{asked:?}");
    assert_eq!(pairs(&events), [r#"{"double":"Double 4"}"#, r#"{"double":"Double 8"}"#]);
    // The pairs stand in the turns, too.
    let said = events.iter().filter(
        |event| matches!(&event.kind, EventKind::Turn { text, .. } if text.starts_with("{\"double\"")),
    );
    assert_eq!(said.count(), 2);
}

#[tokio::test]
async fn hierarchical_works_one_group_after_the_other() {
    let model = Scripted::new(&[
        (Asking::Groups, &[r#"["numbers", "letters"]"#]),
        (Asking::Next, &[r#"{"double": "Double 4"}"#, "DONE", r#"{"upper": "eight"}"#, "DONE"]),
        (Asking::Call, &[r#"{"number": 4}"#, r#"{"text": "eight"}"#]),
        (Asking::Summary, &["EIGHT"]),
    ]);
    let (end, events) = run(Division::Grouped, &model).await;
    assert_eq!(end, answered("EIGHT"));
    let asked = model.asked_last(Asking::Next);
    assert!(asked[0].contains("# Group\nnumbers") && !asked[0].contains("# Results"), "{}", asked[0]);
    assert!(asked[2].contains("# Group\nletters") && asked[2].contains("Double 4\"}\n8"), "{}", asked[2]);
    assert_eq!(PlanOfRun::of(&events).unwrap().division, Division::Grouped);
    assert_eq!(pairs(&events).len(), 2);
}

#[tokio::test]
async fn faults_go_back_to_the_model_and_end_the_run_at_last() {
    let model = Scripted::new(&[
        (
            Asking::Plan,
            &["First I would double.", r#"[{"halve": "Halve 4"}]"#, r#"[{"double": "Double 4"}]"#],
        ),
        (Asking::Call, &["four", r#"{"number": "four"}"#, r#"{"number": 4}"#]),
        (Asking::Summary, &[" ", "8"]),
    ]);
    let (end, events) = run(Division::AtOnce, &model).await;
    assert_eq!(end, answered("8"));
    let faults = noted(&events, sections::FAULTS);
    let kinds: Vec<&str> = faults.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, ["format", "unknown_tool", "format", "no_summary"], "{faults:?}");
    assert!(model.asked_last(Asking::Plan)[2].contains("there is no tool `halve`"));
    assert!(model.asked_last(Asking::Call)[2].contains("the arguments do not fit"));

    for (replies, kind) in [
        (&["[{\"double\": 4}]"][..], PlanFaultKind::Format),
        (&["[\"double\"] [\"a\", \"b\"]"], PlanFaultKind::Lengths),
        (&["[{\"halve\": \"a\"}]"], PlanFaultKind::UnknownTool),
    ] {
        let model = Scripted::new(&[(Asking::Plan, replies)]);
        let (end, events) = run(Division::AtOnce, &model).await;
        assert!(
            matches!(&end, EndReason::AgentFailed { reason } if reason.starts_with("planner: ")),
            "{end:?}"
        );
        assert_eq!(PlanOfRun::of(&events).unwrap().broken_at, Some(kind));
        // The first reply, and as many more as there may be.
        assert_eq!(model.asked_last(Asking::Plan).len(), 4);
    }
}

#[tokio::test]
async fn a_sub_task_that_fails_is_a_result_like_any_other() {
    let model = Scripted::new(&[
        (Asking::Plan, &[TWO]),
        (Asking::Call, &["{}", "{}", "{}", "{}", r#"{"text": "a"}"#]),
        (Asking::Summary, &["It did not work."]),
    ]);
    let (end, events) = run(Division::AtOnce, &model).await;
    assert_eq!(end, answered("It did not work."));
    assert_eq!(noted(&events, sections::FAILURE), [("1", "the arguments do not fit")]);
    assert!(
        model.asked_last(Asking::Summary)[0]
            .contains("## 1 (failed) {\"double\":\"Double 4\"}\nthe arguments")
    );
}

#[tokio::test]
async fn what_never_ends_is_ended() {
    let again = r#"{"double": "Double 4"}"#;
    let model = Scripted::new(&[(Asking::Next, &[again]), (Asking::Call, &[r#"{"number": 4}"#])]);
    let (end, events) = run(Division::OneByOne, &model).await;
    let EndReason::AgentFailed { reason } = end else { panic!("{end:?}") };
    assert_eq!(reason, "planner: the same sub-task came up 6 times, and 5 is the most");
    let plan = PlanOfRun::of(&events).unwrap();
    assert_eq!((plan.pairs.len(), plan.broken_at), (REPEATS_MAX + 1, Some(PlanFaultKind::Endless)));

    let others: Vec<String> = (0..40).map(|number| format!("{{\"double\": \"Double {number}\"}}")).collect();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let model = Scripted::new(&[(Asking::Next, &others), (Asking::Call, &[r#"{"number": 4}"#])]);
    let (end, _) = run(Division::OneByOne, &model).await;
    let EndReason::AgentFailed { reason } = end else { panic!("{end:?}") };
    assert_eq!(reason, "planner: there is no end after 20 sub-tasks");

    let limits = RunLimits { iterations: 3, ..RunLimits::default() };
    let (ran, _) = run_with(Division::OneByOne, &model, limits, None).await;
    assert_eq!(ran.end, EndReason::LimitReached { limit: LimitKind::Iterations, value: 3 });
}

#[tokio::test]
async fn a_task_without_sub_tasks_is_answered() {
    let model = Scripted::new(&[(Asking::Plan, &["[]"]), (Asking::Summary, &["Hello."])]);
    let (end, events) = run(Division::AtOnce, &model).await;
    assert_eq!(end, answered("Hello."));
    assert!(PlanOfRun::of(&events).unwrap().pairs.is_empty());
}
