//! Long numbers in the schemas of tools, on every way in and out: they stay as they were written.

use std::fs;
use std::sync::Arc;

use planproof_model::ollama::OllamaModel;
use planproof_model::providers::Providers;
use planproof_model::recording::{Recording, RecordingFile, RecordingModel, ReplayModel};
use planproof_model::{ChatRequest, ConnectionConfig, Message, Model, Settings};
use planproof_trace::{Secrets, Tool, WrittenObject};

use crate::protocol::{CHAT, MESSAGES, RESPONSES, Said};
use crate::recording::{Folder, create, origin, replay};
use crate::scripted::{says, scripted};
use crate::server::{post_text, start};
use crate::stand_in::{StandIn, json};

/// With numbers of more digits than 64 bits hold, in each place that a schema has for numbers.
const SCHEMA: &str = concat!(
    r#"{"properties":{"n":{"default":0.12345678901234567890123,"enum":[25227143063332189585438,-25227143063332189585438],"#,
    r#""maximum":25227143063332189585438,"minimum":-25227143063332189585438,"type":"integer"},"#,
    r#""of":{"items":{"const":18446744073709551616},"type":"array"}},"type":"object"}"#,
);

fn request(schema: &str) -> ChatRequest {
    let input_schema = WrittenObject::read(schema).expect("an object");
    ChatRequest {
        messages: vec![Message::User { text: "go".into() }],
        previous: None,
        tools: Arc::from([Tool { name: "a".into(), description: "d".into(), input_schema }]),
        settings: Settings::default(),
    }
}

#[tokio::test]
async fn requests_have_them() {
    for protocol in [&CHAT, &RESPONSES, &MESSAGES] {
        let body = (protocol.whole)(&Said::words("Done.")).to_string();
        let server = StandIn::start(vec![json(&body)]).await;
        let model = (protocol.connect)(&server.connection(protocol.provider));
        model.chat(&request(SCHEMA)).await.expect("a reply");
        // What comes of a stream is of no interest here.
        let _ = model.chat_stream(&request(SCHEMA)).await;
        let requests = server.requests();
        assert!(requests.len() == 2 && requests.iter().all(|it| it.contains(SCHEMA)), "{}", protocol.name);
    }
    // All pages of this server are the same.
    let page = r#"{"message":{"role":"assistant","content":"Done."},"done":true,"done_reason":"stop","prompt_eval_count":1,
        "eval_count":1,"capabilities":["completion","tools"],"model_info":{},"version":"1"}"#;
    let server = StandIn::start(vec![json(page)]).await;
    let provider = Providers::shipped().find("ollama").expect("it is shipped");
    let config = ConnectionConfig { base_url: server.base_url.clone(), ..ConnectionConfig::new(provider) };
    let model = OllamaModel::new("m", &config, None).expect("a usable configuration");
    model.chat(&request(SCHEMA)).await.expect("a reply");
    assert!(server.requests().iter().any(|request| request.contains(SCHEMA)), "{:?}", server.requests());
}

#[tokio::test]
async fn a_served_model_sees_them() {
    let messages = r#""messages":[{"role":"user","content":"go"}]"#;
    let contents = r#""contents":[{"role":"user","parts":[{"text":"go"}]}]"#;
    let google =
        SCHEMA.replace("\"type\":\"object\"", "\"type\":\"OBJECT\"").replace("\"integer\"", "\"INTEGER\"");
    for (path, body) in [
        (
            "/run/v1/chat/completions",
            format!(
                r#"{{{messages},"tools":[{{"type":"function","function":{{"name":"a","parameters":{SCHEMA}}}}}]}}"#
            ),
        ),
        (
            "/run/v1/responses",
            format!(r#"{{"input":"go","tools":[{{"type":"function","name":"a","parameters":{SCHEMA}}}]}}"#),
        ),
        (
            "/run/v1/messages",
            format!(r#"{{"max_tokens":9,{messages},"tools":[{{"name":"a","input_schema":{SCHEMA}}}]}}"#),
        ),
        (
            "/run/v1beta/models/m:generateContent",
            format!(
                r#"{{{contents},"tools":[{{"functionDeclarations":[{{"name":"a","parametersJsonSchema":{SCHEMA}}}]}}]}}"#
            ),
        ),
        (
            "/run/v1beta/models/m:generateContent",
            format!(
                r#"{{{contents},"tools":[{{"functionDeclarations":[{{"name":"a","parameters":{google}}}]}}]}}"#
            ),
        ),
    ] {
        let model = scripted(vec![says("Done.", &[])]);
        let address = start(model.clone(), |_| {}).await;
        let answer = post_text(address, path, "content-type: application/json\r\n", &body).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        let asked = model.asked().remove(0);
        assert_eq!(asked.tools[0].input_schema.to_string(), SCHEMA, "{path}");
    }
}

#[tokio::test]
async fn recordings_have_them() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    let model = RecordingModel::new(scripted(vec![says("Done.", &[])]), create(&path));
    model.chat(&request(SCHEMA)).await.expect("a reply");
    drop(model);
    assert!(fs::read_to_string(&path).expect("is there").contains(SCHEMA));
    let model = replay(&path);
    model.chat(&request(SCHEMA)).await.expect("it is recorded");
    // Another integer, which would be the same float.
    let error =
        model.chat(&request(&SCHEMA.replace("85438", "85439"))).await.expect_err("it is not recorded");
    assert!(error.to_string().contains("25227143063332189585439"), "{error}");
}

#[tokio::test]
async fn recordings_without_a_key_have_them() {
    let folder = Folder::new();
    let path = folder.file("r.jsonl");
    let secrets = || Secrets::new(["sk-abcdefgh".to_owned()]);
    let file = RecordingFile::create(&path, false, &origin(), secrets()).expect("a new recording");
    let with_key = SCHEMA.replace("\"items\"", "\"description\":\"sk-abcdefgh\",\"items\"");
    let model = RecordingModel::new(scripted(vec![says("Done.", &[])]), file);
    model.chat(&request(&with_key)).await.expect("a reply");
    drop(model);
    let text = fs::read_to_string(&path).expect("is there");
    assert!(text.contains(&with_key.replace("sk-abcdefgh", "[key]")), "{text}");
    let recording = Arc::new(Recording::read(&path).expect("a recording"));
    let model = ReplayModel::new(recording, secrets()).expect("of one model");
    model.chat(&request(&with_key)).await.expect("it is recorded");
}
