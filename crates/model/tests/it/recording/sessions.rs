//! Recordings that are gone on with: a crash, another campaign, another server.

use std::sync::Arc;

use planproof_model::metering::{Budget, Meter, MeteredModel, Spent};
use planproof_model::recording::{NOTE_TYPES, Recording, RecordingModel, RecordingNote, ReplayModel};
use planproof_model::{ChatReply, ChatRequest, Message, Model, ModelError, ReplyId, Settings};
use planproof_trace::Secrets;

use super::{Folder, create, open, origin, replay, request, user};
use crate::scripted::{Scripted, says, scripted};

fn down() -> ModelError {
    ModelError::Unreachable { url: "http://127.0.0.1:1".into(), reason: "refused".into() }
}

#[tokio::test]
async fn errors_are_replayed_and_never_served_from_a_cache() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    let asked = request(1, vec![user("Hi.")]);
    let broken = RecordingModel::new(Arc::new(Scripted::new(vec![Err(down())])), create(&path));
    assert_eq!(broken.chat(&asked).await, Err(down()));
    drop(broken);
    let error = replay(&path).chat(&asked).await.expect_err("the recorded error");
    assert_eq!(error.to_string(), down().to_string());
    assert!(!error.is_transient(), "to try again gives nothing else");

    // A later session asks again; a replay then knows only the reply.
    let model = RecordingModel::new(scripted(vec![says("Hello.", &[])]), open(&path).expect("own output"));
    assert_eq!(model.chat(&asked).await.expect("a reply").text, "Hello.");
    drop(model);
    let again = RecordingModel::new(scripted(vec![says("Never.", &[])]), open(&path).expect("own output"));
    assert_eq!(again.chat(&asked).await.expect("a reply").text, "Hello.");
    drop(again);
    assert_eq!(replay(&path).chat(&asked).await.expect("a reply").text, "Hello.");
}

#[tokio::test]
async fn a_refusal_is_replayed_with_its_status() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    let asked = request(1, vec![user("Hi.")]);
    let refusal =
        ModelError::Status { url: "u".into(), status: 400, message: "no".into(), retry_after: None };
    let model = RecordingModel::new(Arc::new(Scripted::new(vec![Err(refusal.clone())])), create(&path));
    assert_eq!(model.chat(&asked).await, Err(refusal.clone()));
    drop(model);
    let recorded = ModelError::Recorded { message: refusal.to_string(), status: Some(400) };
    assert_eq!(replay(&path).chat(&asked).await, Err(recorded));
}

#[tokio::test]
async fn an_error_within_a_session_is_replayed_in_its_place() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    let asked = request(1, vec![user("Hi.")]);
    let model = RecordingModel::new(
        Arc::new(Scripted::new(vec![Err(down()), Ok(says("Hello.", &[]))])),
        create(&path),
    );
    assert!(model.chat(&asked).await.is_err() && model.chat(&asked).await.is_ok());
    drop(model);
    let model = replay(&path);
    assert!(model.chat(&asked).await.is_err() && model.chat(&asked).await.is_ok());
}

#[tokio::test]
async fn the_same_asked_again_is_asked_again() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    let asked = request(1, vec![user("Hi.")]);
    let first = scripted(vec![says("a", &[]), says("b", &[])]);
    let model = RecordingModel::new(first.clone(), create(&path));
    for text in ["a", "b"] {
        assert_eq!(model.chat(&asked).await.expect("a reply").text, text);
    }
    assert_eq!(first.asked().len(), 2, "a recording answers nothing that it was just told");
    drop(model);
    let second = scripted(vec![says("c", &[])]);
    let model = RecordingModel::new(second.clone(), open(&path).expect("own output"));
    for text in ["a", "b", "c"] {
        assert_eq!(model.chat(&asked).await.expect("a reply").text, text);
    }
    assert_eq!(second.asked().len(), 1);
}

#[tokio::test]
async fn refusals_of_ours_are_not_recorded() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    let meter = Arc::new(Meter::new(Budget { tokens_max: Some(1), ..Budget::default() }, Spent::default()));
    let paid = MeteredModel::new(scripted(vec![says("Hello.", &[])]), None, meter);
    let model = RecordingModel::new(Arc::new(paid), create(&path));
    let asked = request(1, vec![user("Hi.")]);
    assert!(matches!(model.chat(&asked).await, Err(ModelError::BudgetUsedUp { .. })));
    assert!(matches!(model.chat_stream(&asked).await.map(drop), Err(ModelError::BudgetUsedUp { .. })));
    drop(model);
    let recording = Recording::read(&path).expect("own output");
    assert_eq!(recording.exchange_count(), 0);
    let error = ReplayModel::new(Arc::new(recording), Secrets::default()).map(drop).expect_err("no model");
    assert_eq!(error.to_string(), format!("the recording {} holds no request at all", path.display()));
}

/// A server that counts its replies anew after each start, as our own does.
fn keeping(texts: &[&str]) -> Arc<Scripted> {
    let replies = (1..)
        .zip(texts)
        .map(|(number, text)| ChatReply { id: Some(ReplyId(format!("resp_{number}"))), ..says(text, &[]) });
    scripted(replies.collect())
}

fn going_on(seed: u64, reply: &ChatReply, text: &str) -> ChatRequest {
    ChatRequest { previous: reply.id.clone(), ..request(seed, vec![user(text)]) }
}

#[tokio::test]
async fn names_that_a_server_uses_twice_are_told_apart() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    for (seed, texts) in [(1, ["a", "b"]), (2, ["c", "d"])] {
        let model = RecordingModel::new(keeping(&texts), open(&path).expect("own output"));
        let first = model.chat(&request(seed, vec![user(format!("Query {seed}"))])).await.expect("a reply");
        // Without what the server keeps, the same request in both sessions but for what came before.
        assert_eq!(model.chat(&going_on(7, &first, "And then?")).await.expect("a reply").text, texts[1]);
    }
    let model = replay(&path);
    let ask_first = async |seed: u64| {
        model.chat(&request(seed, vec![user(format!("Query {seed}"))])).await.expect("a reply")
    };
    let (first, second) = (ask_first(1).await, ask_first(2).await);
    assert_eq!((first.text.as_str(), second.text.as_str()), ("a", "c"));
    assert_eq!(model.chat(&going_on(7, &second, "And then?")).await.expect("a reply").text, "d");
    assert_eq!(model.chat(&going_on(7, &first, "And then?")).await.expect("a reply").text, "b");
    let unknown = ChatReply { id: Some(ReplyId("resp_9".into())), ..first };
    let error = model.chat(&going_on(7, &unknown, "And then?")).await.expect_err("another beginning");
    assert!(error.to_string().contains("it goes on from another kept reply"), "{error}");
}

#[tokio::test]
async fn what_is_not_recorded_may_be_gone_on_from() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    let foreign = ChatReply { id: Some(ReplyId("resp_from_elsewhere".into())), ..says("x", &[]) };
    let model = RecordingModel::new(scripted(vec![says("y", &[])]), create(&path));
    assert_eq!(model.chat(&going_on(1, &foreign, "Go on.")).await.expect("a reply").text, "y");
    drop(model);
    assert_eq!(replay(&path).chat(&going_on(1, &foreign, "Go on.")).await.expect("a reply").text, "y");
}

#[tokio::test]
async fn notes_are_kept_in_order() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    let note = |kind: &str, number: u32| RecordingNote {
        kind: kind.to_owned(),
        json: format!("{{\"type\":\"{kind}\",\"number\":{number}}}"),
    };
    let file = create(&path);
    let mut notes: Vec<RecordingNote> = NOTE_TYPES.iter().map(|kind| note(kind, 1)).collect();
    for note in &notes {
        file.append(note).expect("there is room");
    }
    assert_eq!(file.notes(), [], "only those that were there before");
    drop(file);
    let file = open(&path).expect("own output");
    assert_eq!(file.notes(), notes);
    file.append(&note("end", 2)).expect("there is room");
    notes.push(note("end", 2));
    assert_eq!(Recording::read(&path).expect("own output").notes(), notes);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_may_ask_at_once() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    let model = Arc::new(RecordingModel::new(scripted(vec![says("Hello.", &[])]), create(&path)));
    let tasks: Vec<_> = (0..64)
        .map(|seed| {
            let model = Arc::clone(&model);
            tokio::spawn(async move {
                let mut messages = vec![user(format!("Query {seed}"))];
                for turn in 0..10 {
                    let reply = model.chat(&request(seed, messages.clone())).await.expect("a reply");
                    messages.push(Message::assistant(reply.text, Vec::new()));
                    messages.push(user(format!("turn {turn}")));
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no panic");
    }
    drop(model);
    assert_eq!(Recording::read(&path).expect("own output").exchange_count(), 640);
}

#[tokio::test]
async fn keys_are_not_written() {
    const KEY: &str = "sk-3f9c27e1d0";
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    let origin = planproof_model::recording::Origin { command: format!("x --key {KEY}"), ..origin() };
    let secrets = || Secrets::new([KEY.to_owned()]);
    let file =
        planproof_model::recording::RecordingFile::create(&path, false, &origin, secrets()).expect("new");
    let secret = says(&format!("The key is {KEY}."), &[("c", "tell", &format!("{{\"it\":\"{KEY}\"}}"))]);
    let model = RecordingModel::new(scripted(vec![secret.clone(), says("Well.", &[])]), file.clone());
    let mut asked = request(1, vec![user(format!("Tell me: {KEY}"))]);
    asked.settings = Settings { stop: vec![KEY.into()], ..asked.settings };
    assert_eq!(model.chat(&asked).await.expect("a reply"), secret, "whoever asks gets what was said");
    let mut streamed = model.chat_stream(&asked).await.expect("a reply");
    while futures::StreamExt::next(&mut streamed).await.is_some() {}
    drop(streamed);
    let call = planproof_trace::CallId::new("c");
    asked.messages.push(Message::assistant(secret.text.clone(), secret.calls.clone()));
    asked.messages.push(Message::Tool { id: call, text: KEY.into() });
    model.chat(&asked).await.expect("a reply");
    let json = format!("{{\"type\":\"campaign\",\"agent\":\"{KEY}\"}}");
    file.append(&RecordingNote { kind: "campaign".into(), json }).expect("there is room");
    drop((model, file));
    let text = std::fs::read_to_string(&path).expect("is there");
    assert!(!text.contains(KEY), "{text}");
    assert!(text.matches("[key]").count() >= 7, "{text}");

    // With the key at hand, the same requests are found.
    let recording = Arc::new(Recording::read(&path).expect("own output"));
    let model = ReplayModel::new(recording, secrets()).expect("of one model");
    assert_eq!(model.chat(&asked).await.expect("a reply").text, "The key is [key].");
}
