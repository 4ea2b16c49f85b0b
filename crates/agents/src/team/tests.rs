//! How a team handles malformed graphs and reports, and how its sub-tasks overlap.

mod overlap;
mod solving;
mod stepping_in;

use std::sync::Mutex;
use std::time::Duration;

use planproof_model::{Capabilities, ChatReply, ChatRequest, ModelError, TurnState};
use planproof_tools::Toolbox;
use planproof_tools::mcp::TOKEN_BYTES;
use planproof_trace::{Actor, Event, FinishReason, LogicalClock, Secrets, Tool, ToolCall, ToolResult, Usage};
use serde_json::json;
use tokio::sync::Barrier;

use super::*;
use crate::{RunLimits, Surroundings};

/// A reply that is given once two requests for it are waiting.
const MEET: &str = "met";

/// A reply that is never given.
const HANG: &str = "hangs";

/// A model that replies from a list by role, and repeats the last reply.
#[derive(Debug)]
struct Scripted {
    replies: Vec<(Role, Vec<String>)>,
    given: Mutex<HashMap<Role, usize>>,
    asked: Mutex<Vec<String>>,
    meeting: Barrier,
}

impl Scripted {
    fn new(replies: &[(Role, &[&str])]) -> Arc<Self> {
        let owned = |list: &&[&str]| list.iter().map(ToString::to_string).collect();
        let replies = replies.iter().map(|(role, list)| (*role, owned(list))).collect();
        Arc::new(Self { replies, given: Mutex::default(), asked: Mutex::default(), meeting: Barrier::new(2) })
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            tool_calls: true,
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
            let role = Role::ALL.into_iter().find(|role| text.starts_with(role.mark())).unwrap();
            if let Some(Message::User { text }) = request.messages.last() {
                self.asked.lock().unwrap().push(text.clone());
            }
            let text = {
                let mut given = self.given.lock().unwrap();
                let count = given.entry(role).or_default();
                *count += 1;
                let list = &self.replies.iter().find(|(other, _)| *other == role).unwrap().1;
                list[(*count - 1).min(list.len() - 1)].clone()
            };
            match text.as_str() {
                MEET => {
                    self.meeting.wait().await;
                }
                HANG => std::future::pending().await,
                _ => {}
            }
            let (finish, usage) = (FinishReason::Stop, Usage::default());
            Ok(ChatReply { text, calls: Vec::new(), finish, usage, id: None, state: TurnState::default() })
        })
    }
}

#[derive(Debug)]
struct NoTools(Arc<[Tool]>);

impl Toolbox for NoTools {
    fn restoring(&self) -> Restoring {
        Restoring::Nothing
    }

    fn tools(&self) -> &Arc<[Tool]> {
        &self.0
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { ToolResult::error(call.id.clone(), "none") })
    }
}

async fn run(model: &Arc<Scripted>) -> (EndReason, Vec<Event>) {
    run_within(model, RunLimits::default()).await
}

async fn run_within(model: &Arc<Scripted>, limits: RunLimits) -> (EndReason, Vec<Event>) {
    let (ran, events) = run_with(model, limits, &[], None).await;
    (ran.end, events)
}

async fn run_with(
    model: &Arc<Scripted>,
    limits: RunLimits,
    earlier: &[Event],
    reviewing: Option<&Reviewing>,
) -> (Ran, Vec<Event>) {
    let model: Arc<dyn Model> = Arc::clone(model) as Arc<dyn Model>;
    let worker = crate::FunctionCallingAgent::new(Arc::clone(&model)).unwrap();
    let team = TeamAgent::of_one(&model, Arc::new(worker), TeamOptions::default());
    run_team_with(&team, limits, earlier, reviewing).await
}

async fn run_team(team: &TeamAgent) -> (EndReason, Vec<Event>) {
    let (ran, events) = run_team_with(team, RunLimits::default(), &[], None).await;
    (ran.end, events)
}

async fn run_team_with(
    team: &TeamAgent,
    limits: RunLimits,
    earlier: &[Event],
    reviewing: Option<&Reviewing>,
) -> (Ran, Vec<Event>) {
    let recorder = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
    let toolbox: Arc<dyn Toolbox> = Arc::new(NoTools([].into()));
    let context = RunContext {
        later: &[],
        query: "The task.",
        toolbox: &toolbox,
        limits: &limits,
        seed: 1,
        recorder: &recorder,
        earlier,
        reviewing,
        memory: None,
        surroundings: &Surroundings::new(|| [7; TOKEN_BYTES]),
    };
    let ran = team.run(context).await.unwrap();
    (ran, recorder.take_events())
}

/// A graph of sub-tasks with what each comes after.
fn graph(sub_tasks: &[(&str, &[&str])]) -> String {
    let sub_tasks: Vec<_> = sub_tasks
        .iter()
        .map(|(id, after)| json!({"id": id, "task": format!("Do {id}."), "executor": "worker", "after": after}))
        .collect();
    json!({"sub_tasks": sub_tasks}).to_string()
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

#[tokio::test]
async fn a_task_goes_through_all_roles() {
    let two = graph(&[("a", &[]), ("b", &["a"])]);
    let model = Scripted::new(&[
        (Role::Manager, &[&two]),
        (Role::Executor, &["Found 7.", "Found 8."]),
        (Role::Supervisor, &["Do b with 7."]),
        (Role::Deliverer, &["15"]),
    ]);
    let (end, events) = run(&model).await;
    assert_eq!(end, EndReason::Answered { text: "15".into() });
    assert_eq!(noted(&events, sections::RESULT), [("a", "Found 7."), ("b", "Found 8.")]);
    assert_eq!(noted(&events, sections::SUB_TASK), [("b", "Do b with 7.")]);
    let actors: Vec<&str> =
        events.iter().filter_map(|event| event.actor.as_ref()).map(Actor::as_str).collect();
    for actor in ["manager", "executor/a", "supervisor/b", "executor/b", "deliverer"] {
        assert!(actors.contains(&actor), "{actor}: {actors:?}");
    }
    let asked = model.asked.lock().unwrap();
    assert!(asked[2].contains("## a\nFound 7."), "the supervisor sees the direct neighbour: {}", asked[2]);
    assert!(asked[3].contains("Do b with 7.") && !asked[3].contains("The task."), "{}", asked[3]);
    assert!(asked[4].contains("Found 8.") && asked[4].contains("The task."), "{}", asked[4]);
}

/// The results are passed on as they are: nobody is asked to rewrite anything.
#[tokio::test]
async fn a_supervisor_that_passes_on_asks_no_model() {
    let two = graph(&[("a", &[]), ("b", &["a"]), ("c", &["b"])]);
    let model = Scripted::new(&[
        (Role::Manager, &[&two]),
        (Role::Executor, &["Found  7.\n", "Found 8.", "Found 9."]),
        (Role::Deliverer, &["15"]),
    ]);
    let asking: Arc<dyn Model> = Arc::clone(&model) as Arc<dyn Model>;
    let worker = crate::FunctionCallingAgent::new(Arc::clone(&asking)).unwrap();
    let options = TeamOptions { supervisor: SupervisorWork::Pass, ..TeamOptions::default() };
    let (end, events) = run_team(&TeamAgent::of_one(&asking, Arc::new(worker), options)).await;
    assert_eq!(end, EndReason::Answered { text: "15".into() });
    assert_eq!(
        noted(&events, sections::SUB_TASK),
        [("b", "Do b.\n\n## a\nFound  7."), ("c", "Do c.\n\n## b\nFound 8.")]
    );
    let asked = model.asked.lock().unwrap();
    assert_eq!(asked.len(), 5, "the manager, three executors, the deliverer");
    assert!(asked[2].contains("Do b.\n\n## a\nFound  7."), "{}", asked[2]);
    // Of the direct neighbour alone.
    assert!(asked[3].contains("Found 8.") && !asked[3].contains("Found  7."), "{}", asked[3]);
}

#[tokio::test]
async fn a_graph_that_is_not_in_order_goes_back_to_the_manager() {
    let cycle = graph(&[("a", &["b"]), ("b", &["a"])]);
    let right = graph(&[("a", &[])]);
    let replies: &[(Role, &[&str])] =
        &[(Role::Manager, &["no JSON", &cycle, &right]), (Role::Executor, &["1"]), (Role::Deliverer, &["1"])];
    let model = Scripted::new(replies);
    let (end, events) = run(&model).await;
    assert_eq!(end, EndReason::Answered { text: "1".into() });
    assert_eq!(noted(&events, sections::FAULTS).len(), 2);
    assert!(model.asked.lock().unwrap()[2].contains("cannot be carried out"));
    let model = Scripted::new(&[(Role::Manager, &[&cycle])]);
    let (end, events) = run(&model).await;
    let EndReason::AgentFailed { reason } = end else { panic!("{end:?}") };
    assert!(reason.starts_with("manager: no graph in order after 3 tries: "), "{reason}");
    assert_eq!(noted(&events, sections::FAULTS).len(), 3);
}

#[tokio::test]
async fn a_failed_sub_task_fails_what_comes_after_it_alone() {
    let three = graph(&[("a", &[]), ("b", &["a"]), ("c", &[])]);
    // Side by side: a and c begin, in the order of the graph.
    let replies: &[(Role, &[&str])] =
        &[(Role::Manager, &[&three]), (Role::Executor, &[" ", "Found c."]), (Role::Deliverer, &["half"])];
    let model = Scripted::new(replies);
    let (end, events) = run(&model).await;
    assert_eq!(end, EndReason::Answered { text: "half".into() });
    assert_eq!(noted(&events, sections::RESULT), [("c", "Found c.")]);
    assert_eq!(noted(&events, sections::FAILURE), [("a", "the executor `worker` reported nothing")]);
    assert_eq!(noted(&events, sections::BLOCKED), [("b", "It could not start, because `a` failed.")]);
    let asked = model.asked.lock().unwrap();
    let last = asked.last().unwrap();
    assert!(last.contains("## a (failed)") && last.contains("## b (failed)"), "{last}");
}

#[tokio::test]
async fn sub_tasks_that_do_not_need_each_other_overlap() {
    let diamond = graph(&[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"])]);
    let replies: &[(Role, &[&str])] = &[
        (Role::Manager, &[&diamond]),
        // The second and the third executor end once both have begun, and never if they do not overlap.
        (Role::Executor, &["1", MEET, MEET, "4"]),
        (Role::Supervisor, &["Do it."]),
        (Role::Deliverer, &["done"]),
    ];
    let model = Scripted::new(replies);
    let (end, events) = run(&model).await;
    assert_eq!(end, EndReason::Answered { text: "done".into() });
    let results: Vec<&str> = noted(&events, sections::RESULT).into_iter().map(|(id, _)| id).collect();
    assert_eq!((results[0], results[3]), ("a", "d"));
}

#[tokio::test]
async fn an_executor_that_hangs_does_not_end_the_run() {
    let two = graph(&[("a", &[]), ("b", &[])]);
    let replies: &[(Role, &[&str])] =
        &[(Role::Manager, &[&two]), (Role::Executor, &[HANG, "Found b."]), (Role::Deliverer, &["x"])];
    let limits = RunLimits { wall: Duration::from_secs(2), ..RunLimits::default() };
    let (end, events) = run_within(&Scripted::new(replies), limits).await;
    assert_eq!(end, EndReason::Answered { text: "x".into() });
    assert_eq!(noted(&events, sections::RESULT), [("b", "Found b.")]);
    let failure = "the executor `worker` reached a limit: wall_ms 1000";
    assert_eq!(noted(&events, sections::FAILURE), [("a", failure)]);
}
