//! Requests that a recording does not hold, and what is said of them.

use std::sync::Arc;

use planproof_model::recording::{RecordingModel, ReplayModel};
use planproof_model::{ChatReply, ChatRequest, CompletionRequest, Message, Model, Settings};
use planproof_trace::{Arguments, CallId, Tool, ToolCall};

use super::{Folder, create, replay, request, user};
use crate::scripted::{says, scripted};

const QUERY: &str =
    "You work at a port. The inspection of the hull comes before the loading of the crates. Do it all.";

fn with_tools(seed: u64, messages: Vec<Message>) -> ChatRequest {
    let tools = [("hull", "Inspects the hull."), ("crates", "Loads the crates.")];
    let tools = tools.map(|(name, description)| Tool::without_arguments(name, description));
    ChatRequest { tools: Arc::from(tools), ..request(seed, messages) }
}

fn assistant(text: &str, name: &str) -> Message {
    let call = ToolCall { id: CallId::new("c1"), name: name.into(), arguments: Arguments::none() };
    Message::assistant(text.into(), vec![call])
}

fn tool(text: &str) -> Message {
    Message::Tool { id: CallId::new("c1"), text: text.into() }
}

/// A run of two turns with seed 7, and a first turn with seed 8.
async fn recorded(folder: &Folder) -> ReplayModel {
    let path = folder.file("r.jsonl");
    let replies: Vec<ChatReply> =
        vec![says("First.", &[("c1", "hull", "{}")]), says("Done.", &[]), says("Other.", &[])];
    let model = RecordingModel::new(scripted(replies), create(&path));
    for request in [
        with_tools(7, vec![user(QUERY)]),
        with_tools(7, vec![user(QUERY), assistant("First.", "hull"), tool("It is done.")]),
        with_tools(8, vec![user("Sweep the floor.")]),
    ] {
        model.chat(&request).await.expect("a reply");
    }
    drop(model);
    replay(&path)
}

#[tokio::test]
async fn the_difference_is_reported() {
    let folder = Folder::new();
    let model = recorded(&folder).await;
    let turn = |query: &str, said: &str, called: &str, answer: &str| {
        with_tools(7, vec![user(query), assistant(said, called), tool(answer)])
    };
    let other_query = QUERY.replace("comes before", "precedes");
    let mut cold = with_tools(7, vec![user(QUERY)]);
    cold.settings.temperature = Some(0.7);
    let mut renamed = with_tools(7, vec![user(QUERY)]);
    renamed.tools =
        renamed.tools.iter().cloned().map(|tool| Tool { name: tool.name + "_2", ..tool }).collect();
    let mut described = with_tools(7, vec![user(QUERY)]);
    described.tools = Arc::from([
        described.tools[0].clone(),
        Tool { description: "Loads all crates.".into(), ..described.tools[1].clone() },
    ]);
    let mut fewer = with_tools(7, vec![user(QUERY)]);
    fewer.tools = Arc::from([fewer.tools[0].clone()]);
    let system = Message::System { text: "Be brief.".into() };
    for (request, expected) in [
        (
            with_tools(7, vec![user(other_query.clone())]),
            r#"message 1 (user), at character 48: recorded "... the hull comes before the loading ...", now "... the hull precedes the loading ...""#,
        ),
        // No seed is the same: the nearest of all.
        (
            with_tools(9, vec![user("Sweep the yard.")]),
            r#"message 1 (user), at character 11: recorded "Sweep the floor.", now "Sweep the yard.""#,
        ),
        (with_tools(9, vec![user(QUERY)]), "the seed: recorded 7, now 9"),
        (
            turn(QUERY, "First.", "hull", "It is not done."),
            r#"message 3 (tool), at character 7: recorded "It is done.", now "It is not done.""#,
        ),
        (
            turn(QUERY, "First.", "crates", "It is done."),
            r#"message 2 (assistant), its calls, at character 1: recorded "hull {} c1", now "crates {} c1""#,
        ),
        (
            turn(QUERY, "At first.", "hull", "It is done."),
            r#"message 2 (assistant), at character 1: recorded "First.", now "At first.""#,
        ),
        (
            with_tools(7, vec![]),
            "message 1 (user) is missing; recorded \"You work at a port. The inspection of",
        ),
        (
            with_tools(
                7,
                vec![user(QUERY), assistant("First.", "hull"), tool("It is done."), user("And now?")],
            ),
            "message 4 (user) is new: \"And now?\"",
        ),
        (
            with_tools(7, vec![system, user(QUERY)]),
            "message 1: recorded \"You work at a port. The inspection of the hull comes before the loading of the crates. Do it all.\" \
             of the role user, now \"Be brief.\" of the role system",
        ),
        (cold, "the temperature: recorded none, now 0.7"),
        (renamed, r#"tool 1: recorded "hull", now "hull_2""#),
        (
            described,
            r#"the description of the tool "crates", at character 7: recorded "Loads the crates.", now "Loads all crates.""#,
        ),
        (fewer, r#"the tool "crates" is missing"#),
    ] {
        let error = model.chat(&request).await.expect_err(expected).to_string();
        let difference =
            error.strip_prefix("the recording does not hold this request: ").expect("the error says so");
        assert!(difference.starts_with(expected), "{difference}\n{expected}");
        assert_eq!(model.misses().last().map(String::as_str), Some(difference));
    }
    // What it holds is answered all the same.
    assert_eq!(model.chat(&with_tools(7, vec![user(QUERY)])).await.expect("a reply").text, "First.");
}

#[tokio::test]
async fn asking_more_often_is_reported_and_less_often_is_not() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    let model =
        RecordingModel::new(scripted(vec![says("a", &[]), says("b", &[]), says("c", &[])]), create(&path));
    let (often, once) = (request(1, vec![user("How are you?")]), request(1, vec![user("Who are you?")]));
    for request in [&often, &once, &often] {
        model.chat(request).await.expect("a reply");
    }
    drop(model);
    let model = replay(&path);
    let texts = async |count: usize| {
        let mut texts = Vec::new();
        for _ in 0..count {
            texts.push(model.chat(&often).await.map(|reply| reply.text));
        }
        texts
    };
    // In the order in which they were recorded, whatever is asked between them.
    assert_eq!(texts(1).await, [Ok("a".to_owned())]);
    assert_eq!(model.chat(&once).await.expect("a reply").text, "b");
    assert_eq!(texts(1).await, [Ok("c".to_owned())]);
    let error = model.chat(&often).await.expect_err("a third time").to_string();
    assert!(error.ends_with("it was asked 2 times, and is now asked once more"), "{error}");
    let error = model.chat(&once).await.expect_err("a second time").to_string();
    assert!(error.ends_with("it was asked once, and is now asked once more"), "{error}");
    // Whoever asks less often gets what there is.
    assert_eq!(replay(&path).chat(&often).await.expect("a reply").text, "a");
}

#[tokio::test]
async fn another_kind_of_request_is_reported() {
    let folder = Folder::new();
    let model = recorded(&folder).await;
    let completion =
        CompletionRequest { prompt: QUERY.into(), settings: Settings::default(), score_prompt: false };
    let error = model.complete(&completion).await.expect_err("it is of conversations").to_string();
    assert!(error.ends_with("it holds none of this kind"), "{error}");
}

#[tokio::test]
async fn many_differences_are_not_all_worked_out() {
    let folder = Folder::new();
    let model = recorded(&folder).await;
    for number in 0..150 {
        assert!(model.chat(&request(number, vec![user("What?")])).await.is_err());
    }
    assert_eq!(model.misses().len(), 100);
    let error = model.chat(&request(0, vec![])).await.expect_err("it is not recorded").to_string();
    assert!(error.ends_with("it differs, as 100 others did before it"), "{error}");
}
