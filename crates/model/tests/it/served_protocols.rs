//! The server in the protocols of Anthropic and Gemini: bodies as the clients of these send them, and what comes back,
//! plain and streamed.

use std::sync::Arc;
use std::time::Duration;

use planproof_model::{ChatReply, Message, ModelError, Settings};
use planproof_trace::{Arguments, CallId, FinishReason, ToolCall};
use serde_json::{Value, json};

use crate::scripted::{Scripted, says, scripted};
use crate::server::{post, post_text, send, start};

const MESSAGES: &str = "/run/v1/messages?beta=true";
const GENERATE: &str = "/run/v1beta/models/sim/perfect:generateContent";
const STREAM: &str = "/run/v1beta/models/sim/perfect:streamGenerateContent?alt=sse";

/// The data of a stream's events, each with the name of its event, if it has one.
fn events(body: &str) -> Vec<(Option<String>, Value)> {
    let events = body.split_terminator("\n\n").map(|event| {
        let (name, data) = match event.split_once('\n') {
            Some((name, data)) => (name.strip_prefix("event: ").map(str::to_owned), data),
            None => (None, event),
        };
        let data = data.strip_prefix("data: ").expect("data");
        (name, serde_json::from_str(data).expect("JSON"))
    });
    events.collect()
}

/// The message that a client of Anthropic's makes of the events.
fn message_of(events: &[(Option<String>, Value)]) -> Value {
    let mut message = Value::Null;
    let mut inputs = Vec::new();
    for (name, event) in events {
        assert_eq!(event["type"].as_str(), name.as_deref());
        let index = usize::try_from(event["index"].as_u64().unwrap_or(0)).expect("a small number");
        match event["type"].as_str().expect("a type") {
            "message_start" => message = event["message"].clone(),
            "content_block_start" => {
                let content = message["content"].as_array_mut().expect("blocks");
                assert_eq!(content.len(), index);
                content.push(event["content_block"].clone());
                inputs.push(String::new());
            }
            "content_block_delta" => match event["delta"]["type"].as_str().expect("a type") {
                "text_delta" => {
                    let block = &mut message["content"][index]["text"];
                    let text = block.as_str().expect("text").to_owned();
                    *block = (text + event["delta"]["text"].as_str().expect("text")).into();
                }
                "input_json_delta" => {
                    inputs[index].push_str(event["delta"]["partial_json"].as_str().expect("text"));
                }
                other => panic!("{other}"),
            },
            "content_block_stop" => {
                if message["content"][index]["type"] == "tool_use" {
                    message["content"][index]["input"] = serde_json::from_str(&inputs[index]).expect("JSON");
                }
            }
            "message_delta" => {
                for field in ["stop_reason", "stop_sequence"] {
                    message[field] = event["delta"][field].clone();
                }
                message["usage"] = event["usage"].clone();
            }
            "message_stop" => {}
            other => panic!("{other}"),
        }
    }
    assert_eq!(events.last().and_then(|(name, _)| name.as_deref()), Some("message_stop"));
    message
}

/// The reply that a client of Gemini's makes of the events: texts joined, calls after them.
fn content_of(events: &[(Option<String>, Value)]) -> Value {
    let mut whole = events.last().expect("an event").1.clone();
    let parts = events.iter().flat_map(|(_, event)| {
        event["candidates"][0]["content"]["parts"].as_array().expect("parts").iter().cloned()
    });
    let (calls, texts): (Vec<Value>, Vec<Value>) =
        parts.partition(|part: &Value| part.get("functionCall").is_some());
    let text: String = texts.iter().map(|part| part["text"].as_str().expect("text")).collect();
    let words = (!text.is_empty() || calls.is_empty()).then(|| json!({"text": text}));
    let parts: Vec<Value> = words.into_iter().chain(calls).collect();
    whole["candidates"][0]["content"]["parts"] = parts.into();
    whole
}

/// Replies of all shapes, with why Anthropic and Gemini say that they stopped.
fn replies() -> Vec<(ChatReply, &'static str, &'static str)> {
    let with = |finish, mut reply: ChatReply| {
        reply.finish = finish;
        reply
    };
    let calls = [("c1", "pay", "{\"a\":{\"b\":[1,\"é\"]}}"), ("c2", "ask", "{}")];
    vec![
        (says("Hé, you", &[]), "end_turn", "STOP"),
        (says("", &[]), "end_turn", "STOP"),
        (says("On it.", &calls), "tool_use", "STOP"),
        (says("", &calls), "tool_use", "STOP"),
        (says("", &[("c1", "pay", "{oops"), ("c2", "pay", "[1]")]), "tool_use", "STOP"),
        (with(FinishReason::Length, says("half", &[])), "max_tokens", "MAX_TOKENS"),
        (with(FinishReason::ContentFilter, says("", &[])), "refusal", "SAFETY"),
    ]
}

#[tokio::test]
async fn a_streamed_message_is_the_plain_one() {
    for (reply, stop_reason, _) in replies() {
        let address = start(scripted(vec![reply.clone()]), |_| {}).await;
        let mut body =
            json!({"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]});
        let mut plain = post(address, MESSAGES, &body).await.json();
        body["stream"] = true.into();
        let answer = post(address, MESSAGES, &body).await;
        assert!(answer.head.contains("content-type: text/event-stream"), "{}", answer.head);
        let streamed = message_of(&events(&answer.body));
        assert_eq!((&plain["id"], &streamed["id"]), (&json!("msg_1"), &json!("msg_2")));
        plain["id"] = streamed["id"].clone();
        assert_eq!(plain, streamed);
        let input = |arguments: &Arguments| match arguments {
            Arguments::Object(object) => Value::Object(object.clone()),
            Arguments::Malformed(text) => json!({"malformed": text}),
        };
        let words = (!reply.text.is_empty()).then(|| json!({"type": "text", "text": reply.text}));
        let calls = reply.calls.iter().map(|call| {
            json!({"type": "tool_use", "id": call.id.as_str(), "name": call.name, "input": input(&call.arguments)})
        });
        let content: Vec<Value> = words.into_iter().chain(calls).collect();
        let usage = json!({"input_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            "output_tokens": 2});
        let expected = json!({"id": "msg_2", "type": "message", "role": "assistant", "model": "claude",
            "content": content, "stop_reason": stop_reason, "stop_sequence": null, "usage": usage});
        assert_eq!(plain, expected);
    }
}

#[tokio::test]
async fn streamed_content_is_the_plain_one() {
    for (reply, _, finish_reason) in replies() {
        let address = start(scripted(vec![reply.clone()]), |_| {}).await;
        let body = json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]});
        let mut plain = post(address, GENERATE, &body).await.json();
        let streamed = content_of(&events(&post(address, STREAM, &body).await.body));
        assert_eq!((&plain["responseId"], &streamed["responseId"]), (&json!("resp_1"), &json!("resp_2")));
        plain["responseId"] = streamed["responseId"].clone();
        assert_eq!(plain, streamed);
        // Without `alt=sse` a stream is an array.
        let array = post(address, STREAM.trim_end_matches("?alt=sse"), &body).await;
        assert!(array.head.contains("content-type: application/json"), "{}", array.head);
        assert_eq!(array.json()[0]["candidates"], plain["candidates"]);
        let words = (!reply.text.is_empty() || reply.calls.is_empty()).then(|| json!({"text": reply.text}));
        let calls = reply.calls.iter().map(|call| {
            let args = match &call.arguments {
                Arguments::Object(object) => Value::Object(object.clone()),
                Arguments::Malformed(text) => json!({"malformed": text}),
            };
            json!({"functionCall": {"id": call.id.as_str(), "name": call.name, "args": args}})
        });
        let parts: Vec<Value> = words.into_iter().chain(calls).collect();
        assert_eq!(
            plain,
            json!({
                "candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": finish_reason, "index": 0}],
                "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7},
                "modelVersion": "sim/perfect", "responseId": "resp_2",
            })
        );
    }
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), name: name.into(), arguments: Arguments::from_text(arguments) }
}

fn system(text: &str) -> Message {
    Message::System { text: text.into() }
}

fn user(text: &str) -> Message {
    Message::User { text: text.into() }
}

fn result(id: &str, text: &str) -> Message {
    Message::Tool { id: CallId::new(id), text: text.into() }
}

#[tokio::test]
async fn messages_reach_the_model_whole() {
    // As Claude Code and the SDK send them, with what they add that says nothing here.
    let body = json!({
        "model": "claude-sonnet-4-5", "max_tokens": 32000, "temperature": 1, "stop_sequences": ["END"],
        "metadata": {"user_id": "u"}, "thinking": {"type": "adaptive"}, "tool_choice": {"type": "auto"},
        "context_management": {"edits": []}, "output_config": {"effort": "high"}, "stream": false,
        "system": [
            {"type": "text", "text": "You are good.", "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": "Be quick."},
        ],
        "tools": [
            {"name": "mcp__planproof__pay", "description": "d", "input_schema": {"type": "object", "properties": {}},
             "cache_control": {"type": "ephemeral"}},
            {"type": "custom", "name": "ask", "input_schema": {"type": "object"}, "defer_loading": false},
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 8},
            {"type": "bash_20250124", "name": "bash"}, {"type": "not_known_yet", "input_schema": 7},
        ],
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": "go"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "text", "text": "On "}, {"type": "text", "text": "it."},
                {"type": "tool_use", "id": "c1", "name": "pay", "input": {"a": 1}, "caller": {"type": "direct"}},
                {"type": "tool_use", "id": "c2", "name": "ask", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c2", "content": "two", "is_error": true},
                {"type": "text", "text": "and"},
                {"type": "tool_result", "tool_use_id": "c1",
                 "content": [{"type": "text", "text": "o"}, {"type": "text", "text": "ne"}]}]},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "thanks"},
        ],
    });
    let model = scripted(vec![says("hi", &[])]);
    let address = start(model.clone(), |_| {}).await;
    assert_eq!(post(address, MESSAGES, &body).await.status, 200);
    let asked = model.asked().remove(0);
    let Message::Assistant { state, .. } = &asked.messages[2] else { panic!("{asked:?}") };
    assert!(!state.is_empty(), "its thought is kept");
    let assistant = Message::Assistant {
        text: "On it.".into(),
        calls: vec![call("c1", "pay", "{\"a\":1}"), call("c2", "ask", "{}")],
        state: state.clone(),
    };
    assert_eq!(
        asked.messages,
        [
            system("You are good.\n\nBe quick."),
            user("<system-reminder>x</system-reminder>\n\ngo"),
            assistant,
            result("c1", "o\nne"),
            result("c2", "two"),
            user("and"),
            Message::assistant("Done.".into(), Vec::new()),
            user("thanks"),
        ]
    );
    let names: Vec<&str> = asked.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["mcp__planproof__pay", "ask"]);
    let settings = Settings {
        temperature: Some(1.0),
        output_tokens_max: Some(32000),
        seed: None,
        stop: vec!["END".into()],
        grammar: None,
    };
    assert_eq!(asked.settings, settings);
    // To count tokens asks no model.
    let counted = post(address, "/v1/messages/count_tokens", &body).await.json();
    assert!(counted["input_tokens"].as_u64().is_some_and(|count| (50..1000).contains(&count)), "{counted}");
    assert_eq!(model.asked().len(), 1);
    // No tools, if none may be called.
    let mut without = body;
    without["tool_choice"] = json!({"type": "none"});
    assert_eq!(post(address, MESSAGES, &without).await.status, 200);
    assert!(model.asked()[1].tools.is_empty());
}

#[tokio::test]
async fn contents_reach_the_model_whole() {
    // As Gemini CLI and the SDK send them: calls with ids and without, schemas of either kind.
    let body = json!({
        "systemInstruction": {"role": "user", "parts": [{"text": "You are good."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "<session_context>\nx\n</session_context>"}, {"text": "go"}]},
            {"role": "model", "parts": [
                {"text": "thinking", "thought": true}, {"text": "On "}, {"text": "it."},
                {"functionCall": {"name": "pay", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
                {"functionCall": {"name": "pay", "args": {"a": 2}}},
                {"functionCall": {"id": "x9", "name": "ask"}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "x9", "name": "ask", "response": {"output": "asked"}}},
                {"functionResponse": {"name": "pay", "response": {"result": "first"}}},
                {"functionResponse": {"id": "of-the-client", "name": "pay",
                                      "response": {"output": "second", "more": 1}}},
                {"text": "and"}]},
        ],
        "tools": [
            {"functionDeclarations": [
                {"name": "pay", "description": "d", "parameters": {"type": "OBJECT",
                    "properties": {"a": {"type": "INTEGER", "nullable": true}}}},
                {"name": "ask", "parametersJsonSchema": {"type": "object", "properties": {"type": {"type": "string"}}}},
                {"name": "wait"}]},
            {"googleSearch": {}},
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
        "safetySettings": [{"category": "HARM_CATEGORY_HATE_SPEECH", "threshold": "BLOCK_NONE"}],
        "generationConfig": {"temperature": 1, "topP": 0.95, "topK": 64, "maxOutputTokens": 100, "seed": 7,
            "stopSequences": ["END"], "thinkingConfig": {"includeThoughts": true}},
    });
    let model = scripted(vec![says("hi", &[])]);
    let address = start(model.clone(), |_| {}).await;
    let answer = post(address, GENERATE, &body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let asked = model.asked().remove(0);
    let calls =
        vec![call("call_1", "pay", "{\"a\":1}"), call("call_2", "pay", "{\"a\":2}"), call("x9", "ask", "{}")];
    assert_eq!(
        asked.messages,
        [
            system("You are good."),
            user("<session_context>\nx\n</session_context>\n\ngo"),
            Message::assistant("On it.".into(), calls),
            result("call_1", "first"),
            result("call_2", "{\"more\":1,\"output\":\"second\"}"),
            result("x9", "asked"),
            user("and"),
        ]
    );
    let schemas: Vec<Value> = asked.tools.iter().map(|tool| json!(tool.input_schema)).collect();
    assert_eq!(
        schemas,
        [
            json!({"type": "object", "properties": {"a": {"type": ["integer", "null"]}}}),
            json!({"type": "object", "properties": {"type": {"type": "string"}}}),
            json!({"type": "object"}),
        ]
    );
    let settings = Settings {
        temperature: Some(1.0),
        output_tokens_max: Some(100),
        seed: Some(7),
        stop: vec!["END".into()],
        grammar: None,
    };
    assert_eq!(asked.settings, settings);
    // To count tokens asks no model, whether the request is given in one member or in its own.
    let count = |body: Value| async move {
        post(address, "/v1beta/models/m:countTokens", &body).await.json()["totalTokens"].clone()
    };
    let counted = count(json!({"generateContentRequest": body})).await;
    assert!(counted.as_u64().is_some_and(|count| (50..1000).contains(&count)), "{counted}");
    assert_eq!(counted, count(body.clone()).await);
    assert_eq!(model.asked().len(), 1);
    // The other spelling, and no tools if none may be called.
    let other = json!({
        "system_instruction": {"parts": [{"text": "s"}]}, "contents": [{"parts": [{"text": "go"}]}],
        "generation_config": {"max_output_tokens": 3},
        "tools": [{"function_declarations": [{"name": "pay"}]}],
        "tool_config": {"function_calling_config": {"mode": "NONE"}},
    });
    assert_eq!(post(address, GENERATE, &other).await.status, 200);
    let asked = model.asked().remove(1);
    assert_eq!(asked.messages, [system("s"), user("go")]);
    assert_eq!((asked.tools.len(), asked.settings.output_tokens_max), (0, Some(3)));
}

#[tokio::test]
async fn a_namespace_is_taken_apart_and_put_together() {
    let replies = vec![says("", &[("c1", "mcp__p__pay", "{}"), ("c2", "ask", "{}")]), says("Done.", &[])];
    let model = scripted(replies);
    let address = start(model.clone(), |_| {}).await;
    let tools = json!([
        {"type": "function", "name": "ask", "strict": false, "parameters": {"type": "object"}},
        {"type": "namespace", "name": "mcp__p", "description": "Tools.", "tools": [
            {"type": "function", "name": "pay", "description": "d", "strict": false, "parameters": {"type": "object"}}]},
        {"type": "web_search", "external_web_access": true},
    ]);
    let mut body = json!({"model": "m", "tools": tools, "tool_choice": "auto", "store": false, "stream": true,
        "include": ["reasoning.encrypted_content"], "prompt_cache_key": "k", "reasoning": {"summary": "auto"},
        "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}]});
    let streamed = events(&post(address, "/v1/responses", &body).await.body);
    let items: Vec<&Value> = streamed
        .iter()
        .filter(|(name, _)| name.as_deref() == Some("response.output_item.done"))
        .map(|(_, event)| &event["item"])
        .collect();
    assert_eq!((&items[0]["namespace"], &items[0]["name"]), (&json!("mcp__p"), &json!("pay")));
    assert_eq!((items[1].get("namespace"), &items[1]["name"]), (None, &json!("ask")));
    let done =
        streamed.iter().find(|(name, _)| name.as_deref() == Some("response.function_call_arguments.done"));
    assert_eq!(done.expect("such an event").1["name"], "pay");
    assert_eq!(streamed.last().expect("an event").1["response"]["output"][0]["namespace"], "mcp__p");
    let input = body["input"].as_array_mut().expect("items");
    input.extend(items.into_iter().cloned());
    for (id, text) in [("c1", "paid"), ("c2", "asked")] {
        input.push(json!({"type": "function_call_output", "call_id": id, "output": text}));
    }
    body["stream"] = false.into();
    assert_eq!(post(address, "/v1/responses", &body).await.status, 200);
    let asked = model.asked();
    let names: Vec<&str> = asked[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["ask", "mcp__p__pay"]);
    let calls = vec![call("c1", "mcp__p__pay", "{}"), call("c2", "ask", "{}")];
    assert_eq!(asked[1].messages[1], Message::assistant(String::new(), calls));
    // A plain answer names it in the same way.
    let plain = start(scripted(vec![says("", &[("c1", "mcp__p__pay", "{}")])]), |_| {}).await;
    let body = json!({"tools": tools, "input": "go"});
    assert_eq!(post(plain, "/v1/responses", &body).await.json()["output"][0]["namespace"], "mcp__p");
}

#[tokio::test]
async fn each_protocol_is_refused_in_its_own_words() {
    let address = start(scripted(vec![says("hi", &[])]), |config| config.key = Some("k".into())).await;
    let message = json!({"messages": [{"role": "user", "content": "hi"}]}).to_string();
    let content = json!({"contents": [{"parts": [{"text": "hi"}]}]}).to_string();
    for (path, headers, body) in [
        (MESSAGES, "x-api-key: k\r\nanthropic-version: 2023-06-01\r\n", &message),
        (MESSAGES, "authorization: Bearer k\r\n", &message),
        (GENERATE, "x-goog-api-key: k\r\n", &content),
        ("/v1beta/models/m:generateContent?key=k", "", &content),
        ("/v1beta/models/m:streamGenerateContent?alt=sse&key=k", "", &content),
    ] {
        assert_eq!(post_text(address, path, headers, body).await.status, 200, "{path} {headers}");
    }
    let (claude, gemini) = ("x-api-key: k\r\n", "x-goog-api-key: k\r\n");
    for (path, headers, body, status, kind, words) in [
        (MESSAGES, "", "{}", 401, "authentication_error", "x-api-key"),
        (MESSAGES, "x-api-key: other\r\n", "{}", 401, "authentication_error", "x-api-key"),
        (MESSAGES, claude, "{oops", 400, "invalid_request_error", "line 1 column 2"),
        (MESSAGES, claude, "{}", 400, "invalid_request_error", "missing field `messages`"),
        (
            MESSAGES,
            claude,
            r#"{"messages":[{"role":"tool","content":"x"}]}"#,
            400,
            "invalid_request_error",
            "`tool`",
        ),
        (
            MESSAGES,
            claude,
            r#"{"messages":[{"role":"user","content":7}]}"#,
            400,
            "invalid_request_error",
            "messages[0].content is not understood",
        ),
        (
            MESSAGES,
            claude,
            r#"{"messages":[{"role":"user","content":[{"type":"image"}]}]}"#,
            400,
            "invalid_request_error",
            "messages[0].content[0]: a block of type `image`",
        ),
        (
            MESSAGES,
            claude,
            r#"{"messages":[{"role":"user","content":[{"type":"tool_result"}]}]}"#,
            400,
            "invalid_request_error",
            "needs `tool_use_id`",
        ),
        (
            MESSAGES,
            claude,
            r#"{"messages":[],"tools":[{"input_schema":{}}]}"#,
            400,
            "invalid_request_error",
            "tools[0]: a tool needs a name",
        ),
        ("/v1/embed", "x-api-key: k\r\n", "{}", 404, "not_found_error", "nothing at POST /v1/embed"),
        (MESSAGES, "x-api-key: k\r\norigin: http://evil.com\r\n", "{}", 403, "permission_error", "Origin"),
    ] {
        let answer = post_text(address, path, headers, body).await;
        let json = answer.json();
        assert_eq!(
            (answer.status, &json["type"], &json["error"]["type"]),
            (status, &json!("error"), &json!(kind)),
            "{body}"
        );
        assert!(json["error"]["message"].as_str().is_some_and(|it| it.contains(words)), "{body}: {json}");
    }
    for (path, headers, body, status, kind, words) in [
        (GENERATE, "", "{}", 401, "UNAUTHENTICATED", "x-goog-api-key"),
        (STREAM, "x-goog-api-key: other\r\n", "{}", 401, "UNAUTHENTICATED", "x-goog-api-key"),
        (STREAM, gemini, "{oops", 400, "INVALID_ARGUMENT", "line 1 column 2"),
        (GENERATE, gemini, "{}", 400, "INVALID_ARGUMENT", "missing field `contents`"),
        (
            GENERATE,
            gemini,
            r#"{"contents":[{"role":"system","parts":[]}]}"#,
            400,
            "INVALID_ARGUMENT",
            "the role `system`",
        ),
        (
            GENERATE,
            gemini,
            r#"{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":""}}]}]}"#,
            400,
            "INVALID_ARGUMENT",
            "contents[0].parts[0]",
        ),
        (
            GENERATE,
            gemini,
            r#"{"contents":[{"parts":[{"functionResponse":{"name":"pay","response":{}}}]}]}"#,
            400,
            "INVALID_ARGUMENT",
            "no call of `pay`",
        ),
        (
            GENERATE,
            gemini,
            r#"{"contents":[],"tools":[{"functionDeclarations":[{}]}]}"#,
            400,
            "INVALID_ARGUMENT",
            "needs a name",
        ),
        ("/v1beta/models/m:embedContent", gemini, "{}", 404, "NOT_FOUND", "nothing at POST"),
    ] {
        let answer = post_text(address, path, headers, body).await;
        let error = &answer.json()["error"];
        assert_eq!(
            (answer.status, &error["code"], &error["status"]),
            (status, &json!(status), &json!(kind)),
            "{body}"
        );
        assert!(error["message"].as_str().is_some_and(|it| it.contains(words)), "{body}: {error}");
    }
    // The one model that is served is listed to each as it expects it.
    let list = |path: &str, headers: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n");
        async move { send(address, &request).await.json() }
    };
    assert_eq!(list("/v1/models", claude).await["data"][0]["display_name"], "sim/scripted");
    assert_eq!(list("/v1beta/models", gemini).await["models"][0]["name"], "models/sim/scripted");
    assert_eq!(list("/v1/models", "authorization: Bearer k\r\n").await["object"], "list");
}

#[tokio::test]
async fn what_keeps_the_model_from_answering_is_said_in_each_protocol() {
    let limited = ModelError::Status {
        url: "u".into(),
        status: 429,
        message: "m".into(),
        retry_after: Some(Duration::from_secs(2)),
    };
    let status =
        |status| ModelError::Status { url: "u".into(), status, message: "m".into(), retry_after: None };
    let malformed = ModelError::Malformed { url: "u".into(), what: "w".into() };
    let broken = ModelError::Broken { url: "u".into(), reason: "w".into() };
    let over = ModelError::BudgetUsedUp { budget: "10 tokens".into() };
    let cases = [
        (limited, 429, "rate_limit_error", "RESOURCE_EXHAUSTED"),
        (over, 402, "billing_error", "FAILED_PRECONDITION"),
        (
            ModelError::NotRecorded { difference: "d".into() },
            422,
            "invalid_request_error",
            "FAILED_PRECONDITION",
        ),
        (ModelError::Configuration { what: "w".into() }, 424, "api_error", "FAILED_PRECONDITION"),
        (status(401), 424, "api_error", "FAILED_PRECONDITION"),
        (status(402), 424, "api_error", "FAILED_PRECONDITION"),
        (status(404), 424, "api_error", "FAILED_PRECONDITION"),
        (status(503), 502, "api_error", "UNAVAILABLE"),
        (malformed, 424, "api_error", "FAILED_PRECONDITION"),
        (broken, 502, "api_error", "UNAVAILABLE"),
    ];
    for (error, status, claude, gemini) in cases {
        let address = start(Arc::new(Scripted::new(vec![Err(error)])), |_| {}).await;
        let content = json!({"contents": [{"parts": [{"text": "hi"}]}]});
        for stream in [false, true] {
            let body = json!({"stream": stream, "messages": [{"role": "user", "content": "hi"}]});
            let answer = post(address, MESSAGES, &body).await;
            assert_eq!((answer.status, &answer.json()["error"]["type"]), (status, &json!(claude)));
            assert_eq!(answer.head.contains("retry-after: 2"), status == 429);
            let answer = post(address, if stream { STREAM } else { GENERATE }, &content).await;
            assert_eq!((answer.status, &answer.json()["error"]["status"]), (status, &json!(gemini)));
        }
    }
    // Once the stream has begun, the error is a part of it.
    let mut model = Scripted::new(vec![Ok(says("Hello", &[]))]);
    model.breaks_off = true;
    let address = start(Arc::new(model), |_| {}).await;
    let body = json!({"stream": true, "messages": [{"role": "user", "content": "hi"}]});
    let answer = post(address, MESSAGES, &body).await;
    let last = events(&answer.body).pop().expect("an event");
    assert_eq!((last.0.as_deref(), &last.1["type"]), (Some("error"), &json!("error")));
    assert_eq!(last.1["error"]["type"], "api_error");
    let answer = post(address, STREAM, &json!({"contents": [{"parts": [{"text": "hi"}]}]})).await;
    let last: Value =
        serde_json::from_str(answer.body.trim_end().rsplit("\n\n").next().expect("a line")).expect("JSON");
    assert_eq!(last["error"]["status"], "UNAVAILABLE");
}
