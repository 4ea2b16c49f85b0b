//! The two-stage agent: its requests, what it hides, and what stops it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use planproof_agents::{RunLimits, TwoStageAgent};
use planproof_model::{
    BoxFuture, Capabilities, ChatReply, ChatRequest, Message, Model, ModelError, TurnState,
};
use planproof_tools::Toolbox;
use planproof_trace::{
    Arguments, Author, EndReason, Event, EventKind, FinishReason, Tool, ToolCall, ToolResult, Usage,
};
use serde_json::json;

use crate::{QUERY, events_of_run};

/// Replies according to its script, repeats the last reply, and records its requests.
struct Scripted {
    name: &'static str,
    script: Mutex<VecDeque<String>>,
    asked: Mutex<Vec<String>>,
}

impl Scripted {
    fn new(name: &'static str, script: &[&str]) -> Arc<Self> {
        let script = Mutex::new(script.iter().map(ToString::to_string).collect());
        Arc::new(Self { name, script, asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let [Message::User { text }] = request.messages.as_slice() else { panic!("{request:?}") };
        assert!(request.tools.is_empty());
        self.asked.lock().unwrap().push(text.clone());
        let mut script = self.script.lock().unwrap();
        let text = if script.len() > 1 { script.pop_front() } else { script.front().cloned() };
        let usage = Usage::new(3, 2);
        let reply = ChatReply {
            text: text.unwrap(),
            calls: Vec::new(),
            finish: FinishReason::Stop,
            usage,
            id: None,
            state: TurnState::default(),
        };
        Box::pin(std::future::ready(Ok(reply)))
    }
}

/// Finds rooms in every city but Nowhere, and records what it found.
struct Desk {
    tools: Arc<[Tool]>,
    rooms: String,
}

impl Desk {
    fn with(rooms: impl Into<String>) -> Arc<dyn Toolbox> {
        let tool = |name: &str, arguments: &[&str]| Tool {
            input_schema: json!({"required": arguments}).into(),
            ..Tool::without_arguments(name, "Is a tool.")
        };
        let tools = vec![
            tool("AccommodationSearch", &["city"]),
            tool("RestaurantSearch", &["city"]),
            tool("FlightSearch", &["origin", "destination", "date"]),
            tool("NotebookWrite", &["description"]),
            tool("Planner", &["query"]),
        ];
        Arc::new(Self { tools: tools.into(), rooms: rooms.into() })
    }
}

impl Toolbox for Desk {
    fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        let Arguments::Object(arguments) = &call.arguments else { panic!("{call:?}") };
        let is_bad = arguments.values().any(|it| it == "Nowhere");
        let text = match call.name.as_str() {
            "Planner" => "Notes: rooms.".to_owned(),
            "NotebookWrite" => "Kept.".to_owned(),
            "FlightSearch" => call.arguments.to_text(),
            _ => self.rooms.clone(),
        };
        let id = call.id.clone();
        let result = if is_bad { ToolResult::error(id, "no such city") } else { ToolResult::ok(id, text) };
        Box::pin(std::future::ready(result))
    }
}

async fn run(model: &Arc<Scripted>, rooms: &str) -> Vec<Event> {
    let agent = TwoStageAgent::new(Arc::<Scripted>::clone(model), Arc::<Scripted>::clone(model));
    events_of_run(&agent, Desk::with(rooms), &RunLimits::default(), 1).await
}

fn answer(events: &[Event]) -> &str {
    match &events.last().unwrap().kind {
        EventKind::End(EndReason::Answered { text }) => text,
        other => panic!("{other:?}"),
    }
}

/// Why the loop stopped, and after how many calls.
fn stopped(events: &[Event]) -> (String, usize) {
    let why = events.iter().find_map(|event| match &event.kind {
        EventKind::Section { state, author: Author::Environment, text, .. } if state == "stopped" => {
            Some(text.clone())
        }
        _ => None,
    });
    let calls = events.iter().filter(|event| matches!(event.kind, EventKind::Call(_))).count();
    (why.unwrap_or_default(), calls)
}

#[tokio::test]
async fn thoughts_actions_and_the_plan_are_asked_for_apart() {
    let searching = Scripted::new(
        "sim/searching",
        &[
            "Thought 1: Rooms first.\nAction 1: none of yours",
            "AccommodationSearch[Reno]",
            "Keep them.",
            " Action 2: NotebookWrite[rooms, all of them]",
            "Flights.",
            "FlightSearch[Reno, Elko, 2022-03-16]",
            "Enough.",
            "Planner[the trip]",
        ],
    );
    let planning = Scripted::new("sim/planning", &["[{\"days\": 1}]"]);
    let agent = TwoStageAgent::new(Arc::<Scripted>::clone(&searching), Arc::<Scripted>::clone(&planning));
    let events = events_of_run(&agent, Desk::with("two rooms"), &RunLimits::default(), 1).await;
    assert_eq!(answer(&events), "[{\"days\": 1}]");
    let asked = searching.asked();
    assert_eq!(asked.len(), 8);
    assert!(
        asked[0].contains(QUERY) && asked[0].contains("FlightSearch[origin, destination, date]: Is a tool.")
    );
    assert!(asked[0].ends_with("# Steps\n\nThought 1:"), "{}", asked[0]);
    assert!(asked[1].ends_with("\nThought 1: Rooms first.\nAction 1:"), "{}", asked[1]);
    // The result of a search is visible until the next action has been written, and not afterwards.
    assert!(asked[3].contains("Observation 1: two rooms"), "{}", asked[3]);
    assert!(!asked[4].contains("two rooms") && asked[4].contains("Observation 1: Masked"), "{}", asked[4]);
    assert!(asked[4].contains("Action 2: NotebookWrite[rooms, all of them]\nObservation 2: Kept."));
    let flight = r#"{"date":"2022-03-16","destination":"Elko","origin":"Reno"}"#;
    assert!(asked[6].contains(&format!("Observation 3: {flight}")), "{}", asked[6]);
    // The planner gets the request and the notes, but none of the steps.
    assert_eq!(planning.asked(), [format!("{QUERY}\n\nNotes: rooms.")]);
    assert_eq!(stopped(&events), (String::new(), 4));
}

#[tokio::test]
async fn the_rules_of_the_loop_stop_a_run() {
    let thought = "So.";
    let alternating = |actions: &[&'static str], times: usize| -> Vec<&'static str> {
        (0..times).flat_map(|_| actions).flat_map(|action| [thought, action]).collect()
    };
    let cases = [
        // The third identical action is not executed.
        (alternating(&["RestaurantSearch[Reno]"], 3), "the same action three times in a row", 2),
        (alternating(&["RestaurantSearch[Reno]", "RestaurantSearch[Elko]"], 20), "more than 30 steps", 30),
    ];
    for (script, why, calls) in &cases {
        let events = run(&Scripted::new("sim/scripted", script), "rooms").await;
        assert_eq!((answer(&events), stopped(&events)), ("", ((*why).to_owned(), *calls)), "{script:?}");
    }
    // Three failures of a tool, with invalid actions in between.
    let failing = ["RestaurantSearch[Nowhere]", "Eat"];
    let events = run(&Scripted::new("sim/scripted", &alternating(&failing, 9)), "rooms").await;
    assert_eq!(stopped(&events), ("RestaurantSearch failed three times".to_owned(), 3));
    // A success resets them, and failures of searches for rooms never count.
    let saved = ["RestaurantSearch[Nowhere]", "RestaurantSearch[Reno]"];
    let events = run(&Scripted::new("sim/scripted", &alternating(&saved, 20)), "rooms").await;
    assert_eq!(stopped(&events).0, "more than 30 steps");
    let rooms = ["AccommodationSearch[Nowhere]", "AccommodationSearch[Nowhere] "];
    let events = run(&Scripted::new("sim/scripted", &alternating(&rooms, 20)), "rooms").await;
    assert_eq!(stopped(&events), ("the same action three times in a row".to_owned(), 2));
    let events = run(&Scripted::new("sim/scripted", &alternating(&["Eat", "Drink"], 20)), "rooms").await;
    assert_eq!(stopped(&events), ("an action that there is not failed three times".to_owned(), 0));
    // An empty reply is not a failure.
    let events = run(&Scripted::new("sim/scripted", &[" "]), "rooms").await;
    assert_eq!(stopped(&events), ("more than 30 steps".to_owned(), 0));
}

#[tokio::test]
async fn prompts_have_a_limit_by_the_family_of_the_model() {
    let rooms = "room ".repeat(14_000);
    let script = ["So.", "AccommodationSearch[Reno]", "So.", "Planner[it]", "[]"];
    for (name, why) in [("openai/gpt-3.5-turbo", "a prompt of more than 15000 tokens"), ("openai/gpt-4", "")]
    {
        let events = run(&Scripted::new(name, &script), &rooms).await;
        assert_eq!(stopped(&events).0, why, "{name}");
    }
}

#[tokio::test]
async fn other_tools_leave_the_run_unscored() {
    let model = Scripted::new("sim/scripted", &["So."]);
    let agent = TwoStageAgent::new(Arc::<Scripted>::clone(&model), model);
    let tools: Arc<dyn Toolbox> = Arc::new(planproof_tools::NoTools::default());
    let events = events_of_run(&agent, tools, &RunLimits::default(), 1).await;
    let EventKind::End(EndReason::Unscored { reason }) = &events.last().unwrap().kind else {
        panic!("{events:?}");
    };
    assert!(reason.contains("works with the tool NotebookWrite"), "{reason}");
}
