//! A stand-in for Ollama that behaves as its documentation has it, and the client and the check against it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use planproof_model::check::{Depth, Standing, check};
use planproof_model::ollama::OllamaModel;
use planproof_model::providers::Providers;
use planproof_model::{ChatRequest, ConnectionConfig, Message, Model, ModelError, Settings, Software};
use planproof_trace::{Arguments, CallId, FinishReason, Tool, ToolCall, Usage};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the stand-in is like.
#[derive(Clone)]
struct Ollama {
    /// The context that the model was trained on.
    context: u64,
    takes_tools: bool,
    thinks: bool,
    /// What the model does with a request.
    says: fn(&Value) -> Value,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Ollama {
    fn new(says: fn(&Value) -> Value) -> Self {
        Self { context: 40_960, takes_tools: true, thinks: true, says, asked: Arc::default() }
    }

    async fn start(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let server = self.clone();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(server.clone().converse(connection));
            }
        });
        url
    }

    async fn converse(self, mut connection: TcpStream) {
        while let Some((path, body)) = read(&mut connection).await {
            let (status, answer) = self.answer(&path, &body);
            self.asked.lock().expect("not poisoned").push((path, body));
            let text = answer.to_string();
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                text.len()
            );
            if connection.write_all((head + &text).as_bytes()).await.is_err() {
                return;
            }
        }
    }

    fn answer(&self, path: &str, body: &Value) -> (u16, Value) {
        let not_found =
            || (404, json!({"error": format!("model '{}' not found", body["model"].as_str().unwrap_or(""))}));
        match path {
            "/api/version" => (200, json!({"version": "0.12.6"})),
            "/v1/models" => (
                200,
                json!({"object": "list", "data": [{"id": "qwen3:4b", "object": "model", "owned_by": "library"}]}),
            ),
            "/api/show" if body["model"] != "qwen3:4b" => not_found(),
            "/api/show" => {
                let mut capabilities = vec!["completion"];
                capabilities.extend(self.takes_tools.then_some("tools"));
                capabilities.extend(self.thinks.then_some("thinking"));
                (
                    200,
                    json!({
                        "template": "{{ if .Tools }}{{ .Tools }}{{ end }}",
                        "details": {"format": "gguf", "family": "qwen3", "quantization_level": "Q4_K_M"},
                        "model_info": {"general.architecture": "qwen3", "qwen3.context_length": self.context},
                        "capabilities": capabilities,
                    }),
                )
            }
            "/api/chat" if body["model"] != "qwen3:4b" => not_found(),
            "/api/chat" => self.chat(body),
            _ => (404, json!({"error": "404 page not found"})),
        }
    }

    fn chat(&self, body: &Value) -> (u16, Value) {
        let model = body["model"].as_str().unwrap_or_default();
        if body["tools"].as_array().is_some_and(|tools| !tools.is_empty()) && !self.takes_tools {
            return (
                400,
                json!({"error": format!("registry.ollama.ai/library/{model} does not support tools")}),
            );
        }
        if body["think"] == true && !self.thinks {
            return (400, json!({"error": format!("\"{model}\" does not support thinking")}));
        }
        for message in body["messages"].as_array().expect("messages") {
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                // The real server reads the arguments as an object, and nothing else.
                if !call["function"]["arguments"].is_object() {
                    return (400, json!({"error": "json: cannot unmarshal string into Go struct field"}));
                }
            }
        }
        let tokens = body.to_string().len() as u64 / 4;
        let context = body["options"]["num_ctx"].as_u64().unwrap_or(4096);
        if tokens > context && body["truncate"] == false {
            return (400, json!({"error": "the input length exceeds the context length"}));
        }
        let mut answer = (self.says)(body);
        answer["model"] = model.into();
        answer["created_at"] = "2026-01-01T00:00:00Z".into();
        answer["done"] = true.into();
        answer["total_duration"] = 1.into();
        (200, answer)
    }

    fn chats(&self) -> Vec<Value> {
        let asked = self.asked.lock().expect("not poisoned");
        asked.iter().filter(|(path, _)| path == "/api/chat").map(|(_, body)| body.clone()).collect()
    }
}

async fn read(connection: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .filter_map(|line| line.split_once(": "))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .map_or(0, |(_, value)| value.parse().expect("a length"));
            if body.len() >= length {
                let path = head.split(' ').nth(1).expect("a path").to_owned();
                return Some((path, serde_json::from_str(body).unwrap_or(Value::Null)));
            }
        }
        match connection.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

fn model(url: &str, name: &str, think: Option<bool>) -> OllamaModel {
    let provider = Providers::shipped().find("ollama").expect("it is shipped");
    let config = ConnectionConfig {
        base_url: url.to_owned(),
        attempts_max: 2,
        first_wait: Duration::from_millis(1),
        ..ConnectionConfig::new(provider)
    };
    OllamaModel::new(name, &config, think).expect("a usable configuration")
}

fn question(text: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User { text: text.to_owned() }],
        previous: None,
        tools: Arc::from([]),
        settings: Settings::default(),
    }
}

fn says_hello(_: &Value) -> Value {
    json!({
        "message": {"role": "assistant", "content": "Hello.", "thinking": "A greeting."},
        "done_reason": "stop", "prompt_eval_count": 11, "eval_count": 7,
    })
}

/// Calls the tools of the check's questions as it is asked to, without ids, as older versions do.
fn calls(body: &Value) -> Value {
    if body["tools"].as_array().is_none_or(Vec::is_empty) {
        let text = if body["options"]["stop"].is_array() { "1" } else { "1,2,3,4" };
        return json!({
            "message": {"role": "assistant", "content": text},
            "done_reason": "length", "prompt_eval_count": 11, "eval_count": 7,
        });
    }
    let call = |name: &str, arguments: Value| json!({"function": {"name": name, "arguments": arguments}});
    json!({
        "message": {"role": "assistant", "content": "", "tool_calls": [
            call("note_number", json!({"number": 7})), call("note_word", json!({"word": "blue"})),
        ]},
        "done_reason": "stop", "prompt_eval_count": 20, "eval_count": 9,
    })
}

#[tokio::test]
async fn a_conversation_with_calls_goes_there_and_back() {
    let server = Ollama::new(calls);
    let url = server.start().await;
    // The URL of its other protocol means the same server.
    let model = model(&format!("{url}/v1"), "qwen3:4b", Some(false));
    let tools = Arc::from([Tool::without_arguments("note_number", "Notes.")]);
    let mut request = ChatRequest { tools, ..question("Note 7 and blue.") };
    let reply = model.chat(&request).await.expect("a reply");
    assert_eq!((reply.finish, reply.usage), (FinishReason::ToolCalls, Usage::new(20, 9)));
    let names: Vec<&str> = reply.calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["note_number", "note_word"]);
    assert_ne!(reply.calls[0].id, reply.calls[1].id);
    let mut calls = reply.calls;
    calls.push(ToolCall {
        id: CallId::new("x"),
        name: "n".into(),
        arguments: Arguments::Malformed("{oops".into()),
    });
    let answers: Vec<Message> =
        calls.iter().map(|call| Message::Tool { id: call.id.clone(), text: "done".into() }).collect();
    request.messages.push(Message::assistant(reply.text, calls));
    request.messages.extend(answers);
    model.chat(&request).await.expect("a reply");
    let sent = server.chats().pop().expect("a request");
    assert_eq!(sent["messages"][2]["tool_name"], "note_number");
    assert_eq!(
        (&sent["think"], &sent["stream"], &sent["truncate"]),
        (&json!(false), &json!(false), &json!(false))
    );
}

#[tokio::test]
async fn thoughts_stay_out_of_the_text() {
    let url = Ollama::new(says_hello).start().await;
    let reply = model(&url, "qwen3:4b", None).chat(&question("Hi")).await.expect("a reply");
    assert_eq!((reply.text.as_str(), reply.finish), ("Hello.", FinishReason::Stop));
    let url =
        Ollama::new(|_| json!({"message": {"role": "assistant", "content": "1,2"}, "done_reason": "length"}))
            .start()
            .await;
    let reply = model(&url, "qwen3:4b", None).chat(&question("Hi")).await.expect("a reply");
    assert_eq!((reply.finish, reply.usage), (FinishReason::Length, Usage::default()));
}

#[tokio::test]
async fn the_context_is_sized_for_the_conversation_and_never_shrinks() {
    let server = Ollama::new(says_hello);
    let url = server.start().await;
    let model = model(&url, "qwen3:4b", None);
    for (text, expected) in
        [("short".to_owned(), 8192), ("word ".repeat(6000), 16384), ("short".to_owned(), 16384)]
    {
        model.chat(&question(&text)).await.expect("a reply");
        assert_eq!(server.chats().pop().unwrap()["options"]["num_ctx"], expected);
    }
    // More than the model has is refused with both numbers, and nothing is sent.
    let sent = server.chats().len();
    let error = model.chat(&question(&"word ".repeat(40_000))).await.unwrap_err();
    assert!(matches!(&error, ModelError::Configuration { what } if what.contains("has 40960")), "{error}");
    assert_eq!(server.chats().len(), sent);
    // A model with a small context is asked for no more than it has.
    let small = Ollama { context: 2048, ..Ollama::new(says_hello) };
    let url = small.start().await;
    self::model(&url, "qwen3:4b", None).chat(&question("short")).await.expect("a reply");
    assert_eq!(small.chats()[0]["options"]["num_ctx"], 2048);
}

#[tokio::test]
async fn errors_are_those_of_the_server() {
    let server = Ollama { thinks: false, takes_tools: false, ..Ollama::new(says_hello) };
    let url = server.start().await;
    let offered: Arc<[Tool]> = Arc::from([Tool::without_arguments("a", "b")]);
    for (name, think, has_tools, expected) in [
        ("nobody", None, false, "404: model 'nobody' not found"),
        ("qwen3:4b", Some(true), false, "400: \"qwen3:4b\" does not support thinking"),
        ("qwen3:4b", None, true, "does not support tools"),
    ] {
        let request = match has_tools {
            true => ChatRequest { tools: Arc::clone(&offered), ..question("Hi") },
            false => question("Hi"),
        };
        let error = model(&url, name, think).chat(&request).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // The model is loaded, and nothing is said.
    let url =
        Ollama::new(|_| json!({"message": {"role": "assistant", "content": ""}, "done_reason": "load"}))
            .start()
            .await;
    let error = model(&url, "qwen3:4b", None).chat(&question("Hi")).await.unwrap_err();
    assert!(error.is_transient() && error.to_string().contains("loaded instead of asked"), "{error}");
}

#[tokio::test]
async fn a_check_names_what_the_server_is_and_what_to_change() {
    let server = Ollama::new(calls);
    let url = server.start().await;
    let found = check(&model(&url, "qwen3:4b", None), Some(3000), Depth::Thorough).await;
    assert_eq!(found.wrong().count(), 0, "{found:?}");
    assert_eq!(found.requests, 7);
    let facts = found.server.expect("it says what it is");
    assert_eq!((facts.software, facts.version.as_deref()), (Some(Software::Ollama), Some("0.12.6")));
    assert_eq!((facts.quantisation.as_deref(), facts.context), (Some("Q4_K_M"), Some(40_960)));
    assert_eq!(facts.template.map(|digest| digest.len()), Some(64));

    // Two requests at most before a campaign.
    let found = check(&model(&url, "qwen3:4b", None), Some(3000), Depth::Quick).await;
    assert_eq!((found.requests, found.wrong().count()), (2, 0));

    let mends = |found: &planproof_model::check::ModelCheck| -> String {
        found
            .wrong()
            .map(|it| format!("{}: {} -> {}\n", it.about, it.seen, it.mend.as_deref().unwrap_or("")))
            .collect()
    };
    let plain = Ollama { takes_tools: false, context: 2048, ..Ollama::new(says_hello) };
    let url = plain.start().await;
    let found = check(&model(&url, "qwen3:4b", None), Some(3000), Depth::Quick).await;
    let text = mends(&found);
    assert!(text.contains("a model with a longer context") && text.contains("the mark `tools`"), "{text}");
    let found = check(&model(&url, "nobody", None), None, Depth::Quick).await;
    assert!(mends(&found).contains("`ollama pull nobody`"), "{found:?}");

    // A call that the server leaves in the text.
    let url = Ollama::new(|_| {
        let text = "<tool_call>{\"name\": \"note_number\", \"arguments\": {\"number\": 7}}</tool_call>";
        json!({"message": {"role": "assistant", "content": text}, "done_reason": "stop"})
    })
    .start()
    .await;
    let found = check(&model(&url, "qwen3:4b", None), None, Depth::Quick).await;
    assert!(mends(&found).contains("the call came back as text") && found.requests == 1, "{found:?}");
    let found = check(&model("http://127.0.0.1:1", "qwen3:4b", None), None, Depth::Quick).await;
    assert!(
        !found.is_reached && found.requests == 0 && mends(&found).contains("`ollama serve`"),
        "{found:?}"
    );
    assert!(found.findings.iter().all(|it| it.standing == Standing::Wrong));
}
