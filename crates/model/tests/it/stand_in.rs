//! A provider that answers what it is told to, byte by byte.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use planproof_model::openai::{OPENAI, OpenAiConfig, OpenAiModel};
use planproof_model::{ChatRequest, ConnectionConfig, Message, Provider, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The key that the client is given.
pub(crate) const KEY: &str = "sk-very-secret-key";

/// How the stand-in answers one request.
#[derive(Clone)]
pub(crate) enum Answer {
    /// These bytes, flushed piece by piece; the connection stays open.
    Send(Vec<Vec<u8>>),
    /// These bytes with a pause before each piece; the connection stays open.
    Slowly(Vec<Vec<u8>>, Duration),
    /// These bytes, then the end of the connection.
    SendAndClose(Vec<u8>),
    /// These bytes, then the connection is torn down.
    SendAndReset(Vec<u8>),
    /// The first bytes, then the second ones again and again for ever.
    Repeat(Vec<u8>, Vec<u8>),
    /// Nothing, ever.
    Hang,
}

/// A provider on its own port. Requests are answered in order; the last answer repeats.
pub(crate) struct StandIn {
    pub(crate) base_url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl StandIn {
    pub(crate) async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base_url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answers) = (Arc::clone(&requests), Arc::new(answers));
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(converse(connection, Arc::clone(&answers), Arc::clone(&seen)));
            }
        });
        Self { base_url, requests }
    }

    /// The requests so far, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("not poisoned").clone()
    }

    /// Where it is: three attempts, short waits.
    pub(crate) fn connection(&self, provider: &'static Provider) -> ConnectionConfig {
        ConnectionConfig {
            base_url: self.base_url.clone(),
            key: Some(KEY.into()),
            attempts_max: 3,
            first_wait: Duration::from_millis(1),
            request_timeout: Duration::from_secs(20),
            ..ConnectionConfig::new(provider)
        }
    }

    /// A client for it.
    pub(crate) fn model(&self) -> OpenAiModel {
        self.model_with(|_| {})
    }

    pub(crate) fn model_with(&self, change: impl FnOnce(&mut OpenAiConfig)) -> OpenAiModel {
        let mut config = OpenAiConfig { connection: self.connection(&OPENAI), ..OpenAiConfig::new("m") };
        change(&mut config);
        OpenAiModel::new(config).expect("a usable configuration")
    }
}

async fn converse(mut connection: TcpStream, answers: Arc<Vec<Answer>>, seen: Arc<Mutex<Vec<String>>>) {
    connection.set_nodelay(true).expect("an open socket");
    while let Some(request) = read_request(&mut connection).await {
        let number = {
            let mut seen = seen.lock().expect("not poisoned");
            seen.push(request);
            seen.len() - 1
        };
        match answers.get(number).or(answers.last()).expect("at least one answer") {
            Answer::Send(pieces) => {
                for piece in pieces {
                    if connection.write_all(piece).await.is_err() {
                        return;
                    }
                    connection.flush().await.expect("an open socket");
                    tokio::task::yield_now().await;
                }
            }
            Answer::Slowly(pieces, pause) => {
                for piece in pieces {
                    tokio::time::sleep(*pause).await;
                    if connection.write_all(piece).await.is_err() {
                        return;
                    }
                }
            }
            Answer::SendAndClose(bytes) => {
                // The client may have hung up already.
                let _ = connection.write_all(bytes).await;
                let _ = connection.shutdown().await;
                return;
            }
            Answer::SendAndReset(bytes) => {
                let _ = connection.write_all(bytes).await;
                // What is on its way would be thrown away with the connection.
                tokio::time::sleep(Duration::from_millis(30)).await;
                connection.set_zero_linger().expect("an open socket");
                return;
            }
            Answer::Repeat(first, again) => {
                let mut result = connection.write_all(first).await;
                while result.is_ok() {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    result = connection.write_all(again).await;
                }
                return;
            }
            Answer::Hang => std::future::pending().await,
        }
    }
}

async fn read_request(connection: &mut TcpStream) -> Option<String> {
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
                return Some(text);
            }
        }
        match connection.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

/// The head and the body of a request, the latter as JSON.
pub(crate) fn taken_apart(request: &str) -> (String, serde_json::Value) {
    let (head, body) = request.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), serde_json::from_str(body).expect("JSON"))
}

/// A reply with a length.
pub(crate) fn reply(status: &str, headers: &str, body: &str) -> Answer {
    let length = body.len();
    let text = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}");
    Answer::Send(vec![text.into_bytes()])
}

/// A successful reply of JSON.
pub(crate) fn json(body: &str) -> Answer {
    reply("200 OK", "content-type: application/json\r\n", body)
}

/// A chat completion with this message.
pub(crate) fn completion(message: &str, finish: &str) -> Answer {
    json(&format!(
        r#"{{"id":"x","object":"chat.completion","choices":[{{"index":0,"message":{message},"finish_reason":"{finish}"}}],"usage":{{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18,"details":{{}}}}}}"#
    ))
}

/// A stream whose body comes in these chunks and ends properly.
pub(crate) fn chunked<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Answer {
    let mut pieces = vec![stream_head("transfer-encoding: chunked\r\n")];
    for chunk in chunks {
        let mut piece = format!("{:x}\r\n", chunk.len()).into_bytes();
        piece.extend_from_slice(chunk);
        piece.extend_from_slice(b"\r\n");
        pieces.push(piece);
    }
    pieces.push(b"0\r\n\r\n".to_vec());
    Answer::Send(pieces)
}

/// The head of a stream of events.
pub(crate) fn stream_head(headers: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{headers}\r\n").into_bytes()
}

/// One question, no tools.
pub(crate) fn question() -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User { text: "hello".into() }],
        tools: Arc::from([]),
        settings: Settings::default(),
        previous: None,
    }
}
