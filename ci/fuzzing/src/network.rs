//! Bytes that come over a connection.

use std::cell::OnceCell;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use planproof_model::openai::{OPENAI, OpenAiConfig, OpenAiModel};
use planproof_model::server::{ServerConfig, serve};
use planproof_model::{
    BoxFuture, Capabilities, ChatReply, ChatRequest, ConnectionConfig, Message, Model, ModelError, Settings,
    TurnState,
};
use planproof_tools::mcp::{RunTools, serve_stream};
use planproof_tools::{MockTool, MockTools, SchemaCache};
use planproof_trace::{FinishReason, LogicalClock, Recorder, Secrets, Tool, Usage};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Whatever comes, there is an end; nothing here takes as long.
const TIME_MAX: Duration = Duration::from_secs(20);

/// What a thread that fuzzes keeps from one input to the next.
struct Kept {
    runtime: Runtime,
    served: SocketAddr,
    /// Where a provider answers with what is handed to it.
    provider: OpenAiModel,
    answers: UnboundedSender<Vec<u8>>,
}

thread_local! {
    static KEPT: OnceCell<Kept> = const { OnceCell::new() };
}

/// A model that says one word.
struct Word;

impl Model for Word {
    fn name(&self) -> &str {
        "sim/word"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { tool_calls: true, streaming: true, ..Capabilities::default() }
    }

    fn chat<'a>(&'a self, _: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        let (text, finish, usage) = ("Word.".to_owned(), FinishReason::Stop, Usage::default());
        Box::pin(std::future::ready(Ok(ChatReply {
            text,
            calls: Vec::new(),
            finish,
            usage,
            id: None,
            state: TurnState::default(),
        })))
    }
}

impl Kept {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (served, provided, answers) = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let served = listener.local_addr().expect("an address");
            tokio::spawn(serve(listener, Arc::new(Word), ServerConfig::default(), std::future::pending()));
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let provided = listener.local_addr().expect("an address");
            let (answers, waiting) = unbounded_channel();
            tokio::spawn(provide(listener, Arc::new(Mutex::new(waiting))));
            (served, provided, answers)
        });
        let connection = ConnectionConfig {
            base_url: format!("http://{provided}/v1"),
            key: Some("a-key-of-some-length".into()),
            attempts_max: 1,
            request_timeout: TIME_MAX / 2,
            ..ConnectionConfig::new(&OPENAI)
        };
        let config = OpenAiConfig { connection, ..OpenAiConfig::new("m") };
        Self { runtime, served, provider: OpenAiModel::new(config).expect("a configuration"), answers }
    }
}

/// Answers each request with the next bytes, as a stream of events, and hangs up.
async fn provide(listener: TcpListener, answers: Arc<Mutex<UnboundedReceiver<Vec<u8>>>>) {
    while let Ok((mut connection, _)) = listener.accept().await {
        let answers = Arc::clone(&answers);
        tokio::spawn(async move {
            let mut head = [0; 64 << 10];
            // The request is small, and comes in one piece.
            let _ = connection.read(&mut head).await;
            let Some(body) = answers.lock().await.recv().await else { return };
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let _ = connection.write_all(&[head.as_bytes(), &body].concat()).await;
            let _ = connection.shutdown().await;
        });
    }
}

fn kept(work: impl AsyncFnOnce(&Kept)) {
    KEPT.with(|kept| {
        let kept = kept.get_or_init(Kept::new);
        let work = async { tokio::time::timeout(TIME_MAX, work(kept)).await };
        kept.runtime.block_on(work).expect("it comes to an end");
    });
}

/// A server of tools that is sent these lines.
pub(crate) fn mcp(bytes: &[u8]) {
    kept(async |_| {
        let tools =
            vec![MockTool { tool: Tool::without_arguments("wash", "Washes."), answer: "Clean.".into() }];
        let toolbox = Arc::new(MockTools::new(tools, &SchemaCache::default()).expect("tools"));
        let recorder = Recorder::new(Arc::new(LogicalClock::default()), Secrets::none());
        let tools = RunTools { toolbox, recorder, calls_max: 5, written: None, hold: Duration::ZERO };
        drop(serve_stream(tools, std::io::Cursor::new(bytes.to_vec()), tokio::io::sink()).await);
    });
}

/// A served model that is sent this body, in each protocol.
pub(crate) fn served_model(bytes: &[u8]) {
    let [which, body @ ..] = bytes else { return };
    let paths = [
        "/v1/chat/completions",
        "/v1/completions",
        "/v1/responses",
        "/v1/messages",
        "/v1/messages/count_tokens",
        "/v1beta/models/m:generateContent",
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        "/v1beta/models/m:countTokens",
    ];
    let path = paths[usize::from(*which) % paths.len()];
    kept(async |kept| {
        let mut connection = TcpStream::connect(kept.served).await.expect("a server");
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n",
            kept.served,
            body.len()
        );
        let _ = connection.write_all(&[head.as_bytes(), body].concat()).await;
        let mut answer = Vec::new();
        let _ = connection.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer);
        let status = answer.get(9..12).and_then(|status| status.parse::<u16>().ok());
        let is_plain = matches!(status, Some(200 | 400..=499 | 501));
        assert!(is_plain, "{path} is answered with {status:?}: {answer}");
    });
}

/// A client that is answered with this stream.
pub(crate) fn sse(bytes: &[u8]) {
    kept(async |kept| {
        kept.answers.send(bytes.to_vec()).expect("the provider waits");
        let request = ChatRequest {
            messages: vec![Message::User { text: "hello".into() }],
            tools: Arc::new([]),
            settings: Settings::default(),
            previous: None,
        };
        if let Ok(stream) = kept.provider.chat_stream(&request).await {
            stream.for_each(|_| std::future::ready(())).await;
        }
    });
}
