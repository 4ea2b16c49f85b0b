//! State that a server wants back with a turn: kept as it came, sent back, recorded, and served on.

use std::sync::Arc;

use planproof_model::recording::RecordingModel;
use planproof_model::{ChatReply, ChatRequest, Message, Model, ModelError, Settings, TurnState};
use planproof_trace::CallId;
use serde_json::{Value, json};

use crate::protocol::{CHAT, MESSAGES, Protocol, RESPONSES, added_up};
use crate::recording::{Folder, create, replay};
use crate::scripted::{says, scripted};
use crate::server::start;
use crate::stand_in::{Answer, StandIn, reply};

/// What a server of the protocol sends: whole, in pieces, and what it must get back as the turn.
struct Exchange {
    protocol: &'static Protocol,
    whole: Value,
    pieces: Vec<Value>,
    back: Value,
}

fn chat() -> Exchange {
    let details = json!([{"index": 0, "type": "reasoning.text", "text": "It is late.", "signature": "s"}]);
    let call = json!({"id": "a", "type": "function", "function": {"name": "pay", "arguments": "{\"x\":1}"},
        "extra_content": {"google": {"thought_signature": "EjQ="}}});
    let message = json!({"role": "assistant", "content": "On it.", "reasoning_content": "Pay first.",
        "reasoning_details": details, "tool_calls": [call]});
    let chunk = |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    let mut whole = message.clone();
    whole["refusal"] = Value::Null;
    whole["annotations"] = json!([]);
    Exchange {
        protocol: &CHAT,
        whole: json!({"choices": [{"index": 0, "message": whole, "finish_reason": "tool_calls"}]}),
        pieces: vec![
            chunk(json!({"role": "assistant", "content": null, "reasoning_content": "Pay "})),
            chunk(json!({"reasoning_content": "first.", "content": "", "reasoning_details":
                [{"index": 0, "type": "reasoning.text", "text": "It is "}]})),
            chunk(json!({"content": "On it.", "reasoning_details":
                [{"index": 0, "type": "reasoning.text", "text": "late.", "signature": "s"}]})),
            chunk(json!({"tool_calls": [{"index": 0, "id": "a", "type": "function",
                "function": {"name": "pay", "arguments": ""}, "extra_content": call["extra_content"]}]})),
            chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"x\":1}"}}]})),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        ],
        back: json!([message]),
    }
}

fn responses() -> Exchange {
    let thought = json!({"type": "reasoning", "id": "rs_0", "encrypted_content": "gAAA",
        "summary": [{"type": "summary_text", "text": "Pay first."}]});
    let content = json!([{"type": "output_text", "text": "On it.", "annotations": []}]);
    let words = json!({"type": "message", "id": "msg_0", "role": "assistant", "phase": "commentary", "content": content});
    let call = json!({"type": "function_call", "id": "fc_0", "call_id": "a", "name": "pay", "arguments": "{\"x\":1}"});
    let output = json!([thought, words, call]);
    let whole = json!({"id": "resp_0", "status": "completed", "output": output});
    let done = |place: usize| json!({"type": "response.output_item.done", "output_index": place, "item": output[place]});
    let mut words_back = words.clone();
    words_back["content"] = "On it.".into();
    Exchange {
        protocol: &RESPONSES,
        pieces: vec![done(0), done(1), done(2), json!({"type": "response.completed", "response": whole})],
        whole,
        back: json!([thought, words_back, call]),
    }
}

fn messages() -> Exchange {
    let thought = json!({"type": "thinking", "thinking": "Pay first.", "signature": "EqQB"});
    let hidden = json!({"type": "redacted_thinking", "data": "Emwx"});
    let words = json!({"type": "text", "text": "On it."});
    let call = json!({"type": "tool_use", "id": "a", "name": "pay", "input": {"x": 1}, "caller": {"type": "direct"}});
    let begin = |place: usize, block: &Value| json!({"type": "content_block_start", "index": place, "content_block": block});
    let delta =
        |place: usize, delta: Value| json!({"type": "content_block_delta", "index": place, "delta": delta});
    let content = json!([thought, hidden, words, call]);
    Exchange {
        protocol: &MESSAGES,
        whole: json!({"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"}),
        pieces: vec![
            json!({"type": "message_start", "message": {"role": "assistant", "content": []}}),
            begin(0, &json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(0, json!({"type": "thinking_delta", "thinking": "Pay "})),
            delta(0, json!({"type": "thinking_delta", "thinking": "first."})),
            delta(0, json!({"type": "signature_delta", "signature": "Eq"})),
            delta(0, json!({"type": "signature_delta", "signature": "QB"})),
            begin(1, &hidden),
            begin(2, &json!({"type": "text", "text": ""})),
            delta(2, json!({"type": "text_delta", "text": "On it."})),
            begin(
                3,
                &json!({"type": "tool_use", "id": "a", "name": "pay", "input": {}, "caller": {"type": "direct"}}),
            ),
            delta(3, json!({"type": "input_json_delta", "partial_json": "{\"x\":1}"})),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            json!({"type": "message_stop"}),
        ],
        back: json!([{"role": "assistant", "content": content}]),
    }
}

fn all() -> [Exchange; 3] {
    [chat(), responses(), messages()]
}

fn stream(pieces: &[Value]) -> Answer {
    let body: String = pieces.iter().map(|piece| format!("data: {piece}\n\n")).collect();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    Answer::SendAndClose(format!("{head}{body}").into_bytes())
}

fn question() -> ChatRequest {
    let messages = vec![Message::User { text: "Pay.".to_owned() }];
    ChatRequest { messages, previous: None, tools: Arc::from([]), settings: Settings::default() }
}

/// The next request after a reply.
fn next(reply: ChatReply) -> ChatRequest {
    let mut request = question();
    let ChatReply { text, calls, state, .. } = reply;
    request.messages.push(Message::Assistant { text, calls, state });
    request.messages.push(Message::Tool { id: CallId::new("a"), text: "done".to_owned() });
    request
}

async fn ask(model: &dyn Model, request: &ChatRequest, streamed: bool) -> Result<ChatReply, ModelError> {
    if streamed { added_up(model.chat_stream(request).await?).await } else { model.chat(request).await }
}

fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").expect("a head").1).expect("a JSON body")
}

/// The assistant's turn in a request.
fn turn(protocol: &Protocol, body: &Value) -> Value {
    let all = if protocol.name == RESPONSES.name { &body["input"] } else { &body["messages"] };
    let all = all.as_array().expect("a list");
    json!(all[1..all.len() - 1])
}

#[tokio::test]
async fn state_is_sent_back_as_it_came() {
    for exchange in all() {
        for streamed in [false, true] {
            let answer = match streamed {
                true => stream(&exchange.pieces),
                false => reply("200 OK", "", &exchange.whole.to_string()),
            };
            let server = StandIn::start(vec![answer]).await;
            let model = (exchange.protocol.connect)(&server.connection(exchange.protocol.provider));
            let said = ask(&*model, &question(), streamed).await.unwrap();
            assert_eq!(said.text, "On it.");
            assert_eq!(said.state.reasoning(), "Pay first.");
            // A server of another protocol does not get it, and every recording has it.
            let folder = Folder::new();
            let path = folder.file("r.jsonl");
            let recorder = RecordingModel::new(model, create(&path));
            assert_eq!(ask(&recorder, &question(), streamed).await.unwrap().state, said.state);
            ask(&recorder, &next(said.clone()), false).await.ok();
            drop(recorder);
            let place = format!("{}, streamed: {streamed}", exchange.protocol.name);
            for again in [false, true] {
                let replayed = ask(&replay(&path), &question(), again).await.unwrap();
                assert_eq!(replayed.state, said.state, "{place}");
            }
            let last = body(server.requests().last().unwrap());
            assert_eq!(turn(exchange.protocol, &last), exchange.back, "{place}");
            for other in all().iter().filter(|other| other.protocol.name != exchange.protocol.name) {
                let server = StandIn::start(vec![reply("400 Bad Request", "", "no")]).await;
                let model = (other.protocol.connect)(&server.connection(other.protocol.provider));
                ask(&*model, &next(said.clone()), false).await.unwrap_err();
                let sent = body(&server.requests()[0]).to_string();
                assert!(!["EjQ=", "gAAA", "EqQB", "phase"].iter().any(|text| sent.contains(text)), "{sent}");
            }
        }
    }
}

/// Thoughts are taken out of the text and kept, and the server does not get them back.
#[tokio::test]
async fn thoughts_in_the_text_are_known_and_not_sent() {
    let text = "<think>\nPay first.\n</think>\n\nOn it.";
    let usage = json!({"prompt_tokens": 9, "completion_tokens": 7, "completion_tokens_details": {"reasoning_tokens": 5}});
    let message = json!({"role": "assistant", "content": text});
    let whole =
        json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage});
    let piece =
        |text: &str| json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage});
    let (head, tail) = text.split_at(11);
    for streamed in [false, true] {
        let answer = match streamed {
            true => stream(&[piece(head), piece(tail), end.clone()]),
            false => reply("200 OK", "", &whole.to_string()),
        };
        let server = StandIn::start(vec![answer]).await;
        let model = (CHAT.connect)(&server.connection(CHAT.provider));
        let folder = Folder::new();
        let path = folder.file("r.jsonl");
        let recorder = RecordingModel::new(model, create(&path));
        let said = ask(&recorder, &question(), streamed).await.unwrap();
        assert_eq!((said.text.as_str(), said.usage.reasoning_tokens), ("On it.", 5));
        assert_eq!(said.state.reasoning(), "Pay first.");
        ask(&recorder, &next(said.clone()), false).await.ok();
        drop(recorder);
        let replayed = ask(&replay(&path), &question(), streamed).await.unwrap();
        assert_eq!((replayed.state, replayed.usage), (said.state, said.usage));
        let sent = server.requests().last().unwrap().clone();
        assert!(sent.contains("On it.") && !sent.contains("Pay first"), "{sent}");
    }
}

#[tokio::test]
async fn state_is_served_on_and_comes_back_in_every_protocol() {
    let mut states = Vec::new();
    for exchange in all() {
        let server = StandIn::start(vec![reply("200 OK", "", &exchange.whole.to_string())]).await;
        let model = (exchange.protocol.connect)(&server.connection(exchange.protocol.provider));
        states.push(model.chat(&question()).await.unwrap().state);
    }
    for state in states {
        for client in all() {
            for streamed in [false, true] {
                let said = ChatReply { state: state.clone(), ..says("On it.", &[("a", "pay", "{\"x\":1}")]) };
                let model = scripted(vec![said, says("Done.", &[])]);
                let address = start(model.clone(), |_| {}).await;
                let mut config = planproof_model::ConnectionConfig::new(client.protocol.provider);
                config.base_url = format!("http://{address}/v1");
                let client_model = (client.protocol.connect)(&config);
                let got = ask(&*client_model, &question(), streamed).await.unwrap();
                ask(&*client_model, &next(got), streamed).await.unwrap();
                let asked = model.asked();
                let Message::Assistant { text, calls, state: back } = &asked[1].messages[1] else {
                    panic!("{asked:?}")
                };
                assert_eq!((text.as_str(), calls.len()), ("On it.", 1));
                assert!(
                    same(back, &state),
                    "{}, streamed: {streamed}: {back:?} of {state:?}",
                    client.protocol.name
                );
            }
        }
    }
}

/// Whether two states say the same to the server that they are for.
fn same(back: &TurnState, state: &TurnState) -> bool {
    let fields = |state: &TurnState| {
        let json = serde_json::to_value(state).expect("state is JSON");
        let parts = json.as_array().expect("a list").iter().filter(|part| part.get("fields").is_some());
        // A client gives items ids of its own.
        let parts = parts.map(|part| part.to_string().replace("\"call\":0,", ""));
        parts.collect::<Vec<_>>()
    };
    fields(back) == fields(state)
}

#[tokio::test]
async fn state_that_a_server_refuses_is_left_out() {
    let Exchange { whole, back, .. } = chat();
    let refusal = json!({"object": "error", "message": {"detail": [{"type": "extra_forbidden",
        "loc": ["body", "messages", 1, "assistant", "reasoning_content"], "msg": "Extra inputs are not permitted"}]}});
    let answers = vec![
        reply("200 OK", "", &whole.to_string()),
        reply("422 Unprocessable Entity", "", &refusal.to_string()),
        reply("200 OK", "", &whole.to_string()),
    ];
    let server = StandIn::start(answers).await;
    let model = server.model();
    let said = model.chat(&question()).await.unwrap();
    for _ in 0..2 {
        model.chat(&next(said.clone())).await.unwrap();
    }
    let mut without = back.clone();
    without[0].as_object_mut().unwrap().remove("reasoning_content");
    let turns: Vec<_> = server.requests()[1..].iter().map(|request| turn(&CHAT, &body(request))).collect();
    assert_eq!(turns, [back, without.clone(), without]);
    assert_eq!(
        model.changed_requests(),
        ["openai/m does not take back reasoning_content of its earlier turns, which were left out"]
    );
}

#[tokio::test]
async fn a_key_is_in_no_state() {
    let Exchange { mut whole, .. } = chat();
    whole["choices"][0]["message"]["reasoning_content"] =
        format!("The key is {}.", crate::stand_in::KEY).into();
    let server = StandIn::start(vec![reply("200 OK", "", &whole.to_string())]).await;
    let said = server.model().chat(&question()).await.unwrap();
    let state = serde_json::to_string(&said.state).unwrap();
    assert!(state.contains("The key is [key].") && !state.contains(crate::stand_in::KEY), "{state}");
}
