//! A model server that answers what a test tells it to.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::support::{Place, Run};

/// The key that the command is given. It must appear nowhere.
pub(crate) const KEY: &str = "sk-3f9c27e1d0";

/// Ends an answer in whose middle the server dies.
pub(crate) const CUT_OFF: char = '\0';

/// Gives the whole answer, head and body, to the request of that number (from 0) with that head and body.
type Answer = dyn Fn(usize, &str, &Value) -> String + Send + Sync;

/// A server on a port of its own, for as long as the test runs.
pub(crate) struct StandIn {
    base_url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl StandIn {
    pub(crate) fn start(answer: impl Fn(usize, &Value) -> String + Send + Sync + 'static) -> Self {
        Self::start_with_heads(move |number, _, body| answer(number, body))
    }

    /// The same for answers that depend on the head of the request as well, which begins with its path.
    pub(crate) fn start_with_heads(
        answer: impl Fn(usize, &str, &Value) -> String + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer): (_, Arc<Answer>) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || converse(connection, &seen, &*answer));
            }
        });
        Self { base_url, requests }
    }

    /// Where it is, up to and with `/v1`.
    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// How many requests there were so far.
    pub(crate) fn requests(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// The requests so far.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }

    /// The command with these arguments, with the server as the model.
    pub(crate) fn command(&self, place: &Place, arguments: &[&str]) -> process::Command {
        let mut command = place.command(arguments);
        command.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", &self.base_url);
        command
    }

    /// Runs `planproof test` on one case with the server as the model, and looks for the key wherever it must not be.
    pub(crate) fn test(&self, place: &Place, options: &str) -> Run {
        let line = format!("test tools@openai/m --cases 1 --actions 3 {options}");
        let run = Run::of(model_command(place, &line, &self.base_url), "");
        assert!(!run.out.contains(KEY) && !run.err.contains(KEY), "the key is shown: {run:?}");
        for file in [".planproof/runs.db", ".planproof/runs.db-wal"] {
            let bytes = std::fs::read(place.path(file)).unwrap_or_default();
            let has_key = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!has_key, "the key is in the store");
        }
        run
    }
}

/// The command, with a key and the server's address in its environment.
pub(crate) fn model_command(place: &Place, line: &str, base_url: &str) -> process::Command {
    let mut command = place.command(&line.split_whitespace().collect::<Vec<_>>());
    command.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", base_url);
    command
}

fn converse(mut connection: TcpStream, seen: &Mutex<Vec<Value>>, answer: &Answer) {
    while let Some((head, body)) = read_request(&mut connection) {
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(body.clone());
            seen.len() - 1
        };
        let text = answer(number, &head, &body);
        // An empty answer hangs up, and so does one that is cut off.
        let is_cut = text.ends_with(CUT_OFF);
        let text = text.trim_end_matches(CUT_OFF);
        if text.is_empty() || connection.write_all(text.as_bytes()).is_err() || is_cut {
            return;
        }
    }
}

fn read_request(connection: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .filter_map(|line| line.split_once(": "))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .map_or(0, |(_, value)| value.parse().unwrap());
            if body.len() >= length {
                return Some((head.to_owned(), serde_json::from_str(body).unwrap_or(Value::Null)));
            }
        }
        match connection.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

/// An answer of that status.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
}

/// A failure in OpenAI's shape, to be tried again at once.
pub(crate) fn failure(status: &str, message: &str) -> String {
    answer(status, "retry-after-ms: 1\r\n", &json!({"error": {"message": message}}).to_string())
}

fn completion(message: &Value, finish: &str) -> String {
    let choice = json!({"index": 0, "message": message, "finish_reason": finish});
    let usage = json!({"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18});
    answer(
        "200 OK",
        "",
        &json!({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage}).to_string(),
    )
}

/// A turn that says something and calls nothing.
pub(crate) fn say(text: &str) -> String {
    completion(&json!({"role": "assistant", "content": text}), "stop")
}

/// A turn that calls one tool.
pub(crate) fn call(id: usize, tool: &str, arguments: &str) -> String {
    let call = json!({"id": format!("call-{id}"), "type": "function", "function": {"name": tool, "arguments": arguments}});
    completion(&json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
}

/// The names of the tools that a request offers.
pub(crate) fn tools(request: &Value) -> Vec<&str> {
    request["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect()
}
