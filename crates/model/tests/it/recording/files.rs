//! Files that are torn, damaged, taken, or something else.

use std::fs;
use std::io::Write;
use std::sync::Arc;

use futures::StreamExt;
use planproof_model::recording::{
    Recording, RecordingError, RecordingFile, RecordingModel, RecordingNote, ReplayModel,
};
use planproof_model::{ChatDelta, ChatRequest, CompletionRequest, Message, Model, ReplyId, Settings};
use planproof_trace::{Arguments, CallId, FinishReason, Secrets, Tool};
use serde_json::{Value, json};

use super::{Folder, create, open, origin, replay, request, user};
use crate::scripted::{says, scripted};

/// A file that was written once and must be readable for ever.
const OLD: &str = include_str!("../../../testdata/recording/v1/every_line.jsonl");

fn asked(number: u64) -> ChatRequest {
    let mut messages = vec![user("Hi.")];
    for turn in 0..number {
        messages.push(Message::assistant(format!("reply {turn}"), Vec::new()));
        messages.push(user(format!("question {turn}")));
    }
    request(7, messages)
}

/// A recording of four turns.
async fn recorded(folder: &Folder) -> (std::path::PathBuf, Vec<u8>) {
    let path = folder.file("r.jsonl");
    let replies = (0..4).map(|turn| says(&format!("reply {turn}"), &[])).collect();
    let model = RecordingModel::new(scripted(replies), create(&path));
    for turn in 0..4 {
        model.chat(&asked(turn)).await.expect("a reply");
    }
    drop(model);
    let bytes = fs::read(&path).expect("is there");
    (path, bytes)
}

#[tokio::test]
async fn a_torn_file_is_read_up_to_there_and_gone_on_with() {
    let folder = Folder::new();
    let (path, bytes) = recorded(&folder).await;
    let lines: Vec<usize> =
        bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    assert_eq!(lines.len(), 1 + 2 + 4);
    // Everywhere about the ends of lines, and here and there within them.
    let is_tried = |cut: &usize| cut.is_multiple_of(29) || lines.iter().any(|end| end.abs_diff(*cut) < 3);
    for cut in (0..=bytes.len()).filter(is_tried) {
        fs::write(&path, &bytes[..cut]).expect("writes");
        let whole_lines = lines.iter().filter(|end| **end <= cut || **end == cut + 1).count();
        let exchanges = whole_lines.saturating_sub(3);
        match Recording::read(&path) {
            Ok(recording) => assert_eq!(recording.exchange_count(), exchanges, "cut at {cut}"),
            Err(error) => {
                assert!(whole_lines == 0, "cut at {cut}: {error}");
                assert!(error.to_string().ends_with(" is no recording: it is empty"), "{error}");
            }
        }
        // What is lost is asked again, and only that.
        let rest = scripted((exchanges..4).map(|turn| says(&format!("reply {turn}"), &[])).collect());
        let model = RecordingModel::new(rest.clone(), open(&path).expect("a torn end is no damage"));
        for turn in 0..4 {
            assert_eq!(model.chat(&asked(turn)).await.expect("a reply").text, format!("reply {turn}"));
        }
        assert_eq!(rest.asked().len(), 4 - exchanges, "cut at {cut}");
        drop(model);
        let model = replay(&path);
        assert_eq!(model.chat(&asked(3)).await.expect("a reply").text, "reply 3");
    }
}

#[track_caller]
fn assert_damaged(folder: &Folder, text: &str, line: u64, words: &str) {
    let path = folder.file("damaged.jsonl");
    fs::write(&path, text).expect("writes");
    for result in [Recording::read(&path).map(drop), open(&path).map(drop)] {
        let error = result.expect_err(words);
        let start = format!("the recording {} is damaged in line {line}: ", path.display());
        assert!(error.to_string().starts_with(&start) && error.to_string().contains(words), "{error}");
        assert!(matches!(error, RecordingError::Damaged { .. }));
    }
    assert_eq!(fs::read_to_string(&path).expect("is there"), text, "it is left as it is");
}

#[tokio::test]
async fn a_damaged_line_is_named() {
    let folder = Folder::new();
    let (_, bytes) = recorded(&folder).await;
    let text = String::from_utf8(bytes).expect("UTF-8");
    let lines: Vec<&str> = text.lines().collect();
    let with = |place: usize, line: &str| {
        let mut lines = lines.clone();
        lines[place] = line;
        lines.join("\n") + "\n"
    };
    let without = |place: usize| {
        let mut lines = lines.clone();
        lines.remove(place);
        lines.join("\n") + "\n"
    };
    for (text, line, words) in [
        (with(4, "{\"type\":\"exchange\",\"num"), 5, "column 23: EOF while parsing a string"),
        (with(4, "[]"), 5, "column"),
        (with(4, "{}"), 5, "it has no `type`"),
        (with(4, "{\"type\":\"exchagne\"}"), 5, "its type \"exchagne\" is not known"),
        (without(4), 5, "it is exchange 3 where exchange 2 is due: lines are missing, or out of order"),
        (without(2), 3, "there is no setup 1 before it"),
        (without(1), 2, "there is no model 1 before it"),
        (lines[4].replace("\"after\":1", "\"after\":9"), 5, "there is no exchange 9 before it"),
        (lines[4].replace("\"after\":1", "\"after\":1,\"first\":7"), 5, "exchange 1 is not so long"),
        (lines[4].replace("\"after\":1,", "\"first\":1,"), 5, "`first` needs `after`"),
        (lines[4].replace("\"after\":1", "\"after\":1,\"befroe\":1"), 5, "unknown field `befroe`"),
        (
            lines[4].replace("\"reply\":", "\"error\":\"x\",\"reply\":"),
            5,
            "one of `reply`, `stream`, `error` and `given_up`",
        ),
        (
            lines[4].replace("\"messages\":", "\"prompt\":\"x\",\"messages\":"),
            5,
            "neither by `messages` alone nor",
        ),
        (lines[4].replace("\"stop\"", "\"stopped\""), 5, "unknown variant `stopped`"),
        (
            lines[4].replace("\"role\":\"user\"", "\"role\":\"user\",\"id\":\"x\""),
            5,
            "a message has an `id` if",
        ),
        (
            lines[2].replace("\"seed\":\"7\"", "\"seed\":\"-7\""),
            3,
            "`seed` must be a whole number below 2^64",
        ),
        ("\u{fffd}".to_owned(), 5, "column 1: expected value"),
    ] {
        let text =
            if text.contains("planproof/recording/v1") { text } else { with(line as usize - 1, &text) };
        assert_damaged(&folder, &text, line, words);
    }
    let mut bytes = with(4, "x").into_bytes();
    let place = bytes.iter().position(|byte| *byte == b'x').expect("is there");
    bytes[place] = 0xff;
    let path = folder.file("bytes.jsonl");
    fs::write(&path, bytes).expect("writes");
    assert!(Recording::read(&path).is_err());
}

#[test]
fn other_files_are_called_so_and_left_alone() {
    let folder = Folder::new();
    let path = folder.file("other");
    for (text, words) in [
        ("buy milk\n", " is no recording: its first line is no JSON object"),
        ("buy milk", " is no recording: its first line is no JSON object"),
        ("{\"a\":1}\n", " is no recording: its first line has no `schema`"),
        (
            "{\"schema\":\"planproof/trace/v1\"}\n{}\n",
            " is no recording: its schema is \"planproof/trace/v1\"",
        ),
        (
            "{\"schema\":\"planproof/recording/v2\",\"new\":[]}\n{}\n",
            " was written by another version of planproof: its schema is planproof/recording/v2, this one reads planproof/recording/v1",
        ),
    ] {
        fs::write(&path, text).expect("writes");
        for result in [Recording::read(&path).map(drop), open(&path).map(drop)] {
            let error = result.expect_err(text).to_string();
            assert!(error.ends_with(words), "{error}");
        }
        assert_eq!(fs::read_to_string(&path).expect("is there"), text);
    }
    let error = Recording::read(&folder.file("missing")).expect_err("is not there").to_string();
    assert!(error.starts_with("cannot read the recording ") && error.contains("No such file"), "{error}");
    let error = create_at(&folder.file("missing/r.jsonl"), false).expect_err("no folder").to_string();
    assert!(error.starts_with("cannot write the recording "), "{error}");
    assert!(error.contains("there is no folder ") && error.ends_with("missing; create it first"), "{error}");
}

fn create_at(path: &std::path::Path, overwrite: bool) -> Result<RecordingFile, RecordingError> {
    RecordingFile::create(path, overwrite, &origin(), Secrets::default())
}

#[test]
fn a_file_with_something_in_it_is_overwritten_only_on_demand() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    fs::write(&path, "").expect("writes");
    drop(create_at(&path, false).expect("an empty file is as good as none"));
    let text = fs::read_to_string(&path).expect("is there");
    let file = create_at(&path, false).expect("and so is one with nothing but its first line");
    assert_eq!(fs::read_to_string(&path).expect("is there"), text);
    file.append(&RecordingNote { kind: "end".into(), json: "{\"type\":\"end\"}".into() })
        .expect("there is room");
    drop(file);
    let whole = fs::read_to_string(&path).expect("is there");
    assert_eq!(create_at(&path, false).map(drop), Err(RecordingError::Exists { path: path.clone() }));
    assert_eq!(fs::read_to_string(&path).expect("is there"), whole);
    fs::write(&path, "a longer text that is none of ours\n".repeat(10)).expect("writes");
    drop(create_at(&path, true).expect("it was asked for"));
    assert_eq!(fs::read_to_string(&path).expect("is there"), text);
}

#[test]
fn two_cannot_write_one_file() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    let file = create(&path);
    for result in [create_at(&path, true), open(&path)] {
        assert_eq!(result.map(drop), Err(RecordingError::InUse { path: path.clone() }));
    }
    assert_eq!(Recording::read(&path).expect("anybody may read").exchange_count(), 0);
    drop(file);
    assert!(open(&path).is_ok());
}

#[tokio::test]
async fn lines_are_not_longer_than_they_may_be() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    let model = RecordingModel::new(scripted(vec![says("Hello.", &[])]), create(&path));
    let large = request(1, vec![user("x".repeat(17 << 20))]);
    let error = model.chat(&large).await.expect_err("it is too large").to_string();
    assert!(
        error.starts_with("cannot write the recording ") && error.contains("the limit is 16777216"),
        "{error}"
    );
    // Nothing is sent any more, as it could not be written.
    assert!(model.chat(&request(1, vec![user("Hi.")])).await.is_err());
    drop(model);
    assert_eq!(Recording::read(&path).expect("whole").exchange_count(), 0);
    fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .and_then(|mut file| file.write_all(&vec![b'x'; 17 << 20]))
        .expect("writes");
    let error = Recording::read(&path).expect_err("a line is too long").to_string();
    assert!(
        error.ends_with("is damaged in line 2: it is longer than 16777216 bytes; choose another file"),
        "{error}"
    );
}

#[tokio::test]
async fn an_old_file_is_read() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    fs::write(&path, OLD).expect("writes");
    let recording = Arc::new(Recording::read(&path).expect("an old file"));
    assert_eq!((recording.version(), recording.exchange_count(), recording.notes().len()), ("0.1.0", 9, 4));
    // What is asked the same way is found in it.
    let model = ReplayModel::new(Arc::clone(&recording), Secrets::default()).expect("of one model");
    assert_eq!((model.name(), model.is_simulated()), ("sim/perfect", true));
    assert!(model.capabilities().server_state && model.capabilities().log_probabilities);
    let Value::Object(schema) = json!({"type": "object", "properties": {}, "additionalProperties": false})
    else {
        panic!("an object")
    };
    let settings = Settings {
        temperature: Some(0.25),
        output_tokens_max: Some(99),
        seed: Some(u64::MAX),
        stop: vec!["END".into()],
        grammar: None,
    };
    let mut request = ChatRequest {
        messages: vec![Message::System { text: "Be brief.".into() }, user("Inspect the \"hull\".")],
        previous: None,
        tools: Arc::from([Tool {
            name: "hull".into(),
            description: "Inspects the hull.".into(),
            input_schema: schema.into(),
        }]),
        settings,
    };
    let reply = model.chat(&request).await.expect("a reply");
    assert_eq!(reply.id, Some(ReplyId("resp_1".into())));
    assert_eq!(reply.calls[0].arguments.to_text(), r#"{"deep":[1,2.5,null]}"#);
    assert_eq!(reply.calls[1].arguments, Arguments::Malformed("{oops".into()));
    let kept = ChatRequest { previous: reply.id, messages: vec![user("And now?")], ..request.clone() };
    let error = model.chat(&kept).await.expect_err("a recorded error").to_string();
    assert_eq!(error, "http://127.0.0.1:1 answered 500: later");
    request.messages.push(Message::assistant(reply.text, reply.calls));
    for (id, text) in [("c1", "Done."), ("c2", "No.")] {
        request.messages.push(Message::Tool { id: CallId::new(id), text: text.into() });
    }
    let deltas: Vec<_> = model.chat_stream(&request).await.expect("a stream").collect().await;
    assert_eq!(deltas.len(), 5);
    assert_eq!(deltas[1], Ok(ChatDelta::Text("done.".into())));
    request.messages.truncate(1);
    request.messages.push(user("Something else."));
    for end in ["nobody read the reply to its end", "it broke off"] {
        let deltas: Vec<_> = model.chat_stream(&request).await.expect("a stream").collect().await;
        let [Ok(ChatDelta::Text(text)), Err(error)] = &deltas[..] else { panic!("{deltas:?}") };
        assert!(text == "I" && error.to_string().ends_with(end), "{error}");
    }
    let mut plain =
        CompletionRequest { prompt: "Once upon ".into(), settings: Settings::default(), score_prompt: true };
    let reply = model.complete(&plain).await.expect("a reply");
    assert_eq!((reply.finish, reply.prompt_tokens[1].log_probability), (FinishReason::Length, Some(-0.5)));
    plain = CompletionRequest { prompt: "Once upon a time there was".into(), score_prompt: false, ..plain };
    assert_eq!(model.complete(&plain).await.expect("a reply").finish, FinishReason::ContentFilter);
    assert_eq!(model.misses(), Vec::<String>::new());

    // Gone on with, it is known what is in it.
    let file = open(&path).expect("an old file");
    assert_eq!(file.notes(), recording.notes());
    let recorder = RecordingModel::new(scripted(vec![says("never", &[])]), file);
    let misnamed = recorder.complete(&plain).await;
    assert!(misnamed.is_err(), "another model's replies are not its own");
}
