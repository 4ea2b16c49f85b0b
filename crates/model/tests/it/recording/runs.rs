//! Runs of any kind, drawn and driven.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::join_all;
use futures::{StreamExt, stream};
use planproof_model::recording::{Recording, RecordingModel};
use planproof_model::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Message, Model, ModelError, ReplyId, ScoredToken, Settings, TurnState,
};
use planproof_trace::{Arguments, CallId, FinishReason, Tool, ToolCall, Usage};
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::{Folder, create, open, replay};

/// How a run asks.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// With the whole conversation, each time.
    Conversation,
    /// With what is new; the server keeps the rest.
    Kept,
    /// By a text that grows.
    Text,
}

#[derive(Debug, Clone)]
struct Turn {
    answer: Result<ChatReply, String>,
    /// In how many pieces it comes, if it is streamed.
    pieces: Option<usize>,
    /// Nobody reads more of the stream than so many deltas.
    read_max: usize,
    /// Whoever asks gives up before the answer.
    is_given_up: bool,
    /// How long the model takes, in turns of the scheduler.
    pauses: usize,
    /// The agent's loop gives the calls ids of its own.
    renames_calls: bool,
    /// What the user says next.
    next: String,
}

#[derive(Debug, Clone)]
struct Run {
    way: Way,
    system: Option<String>,
    tools: usize,
    settings: Settings,
    turns: Vec<Turn>,
}

/// What whoever asked got to see.
#[derive(Debug, Clone, PartialEq)]
enum Seen {
    Chat(Result<ChatReply, String>),
    Completion(Result<CompletionReply, String>),
    Stream(Vec<Result<ChatDelta, String>>),
    Nothing,
}

/// Answers each run by its turns. Runs are told apart by their seeds.
struct Drawn {
    runs: HashMap<u64, (Vec<Turn>, AtomicUsize)>,
}

impl Drawn {
    fn new(runs: &[Run]) -> Arc<Self> {
        let runs = runs.iter().map(|run| {
            (run.settings.seed.expect("each run has one"), (run.turns.clone(), AtomicUsize::new(0)))
        });
        Arc::new(Self { runs: runs.collect() })
    }

    fn asked(&self) -> usize {
        self.runs.values().map(|(_, asked)| asked.load(Ordering::SeqCst)).sum()
    }

    /// The turn whose number the text ends with, and that number.
    async fn answer(&self, settings: &Settings, text: &str) -> (Turn, usize) {
        let (turns, asked) = &self.runs[&settings.seed.expect("each run has one")];
        asked.fetch_add(1, Ordering::SeqCst);
        let number: usize = text.rsplit(' ').next().and_then(|number| number.parse().ok()).expect("a number");
        let turn: Turn = turns[number].clone();
        for _ in 0..turn.pauses {
            tokio::task::yield_now().await;
        }
        if turn.is_given_up {
            std::future::pending::<()>().await;
        }
        (turn, number)
    }
}

fn last_text(request: &ChatRequest) -> &str {
    match request.messages.last() {
        Some(Message::User { text }) => text,
        _ => panic!("the user speaks last"),
    }
}

fn error(what: &str) -> ModelError {
    ModelError::Malformed { url: "http://127.0.0.1".into(), what: what.to_owned() }
}

/// A reply in so many pieces: its text cut at characters, the calls in one piece each.
fn in_pieces(reply: ChatReply, pieces: usize) -> Vec<ChatDelta> {
    let characters: Vec<char> = reply.text.chars().collect();
    let length = characters.len().div_ceil(pieces.max(1)).max(1);
    let text = characters.chunks(length).map(|piece| ChatDelta::Text(piece.iter().collect()));
    let rest = ChatReply { text: String::new(), ..reply }.into_deltas();
    text.chain(rest).collect()
}

impl Model for Drawn {
    fn name(&self) -> &str {
        "sim/drawn"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { tool_calls: true, streaming: true, completion: true, ..Capabilities::default() }
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            let (turn, _) = self.answer(&request.settings, last_text(request)).await;
            turn.answer.map_err(|what| error(&what))
        })
    }

    fn chat_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(async move {
            let (turn, number) = self.answer(&request.settings, last_text(request)).await;
            let pieces = turn.pieces.unwrap_or(1);
            let deltas: Vec<_> = match turn.answer {
                Ok(reply) => in_pieces(reply, pieces).into_iter().map(Ok).collect(),
                // Every other error comes in the middle of the stream.
                Err(what) if number % 2 == 1 => vec![Ok(ChatDelta::Text("so".into())), Err(error(&what))],
                Err(what) => return Err(error(&what)),
            };
            Ok(Box::pin(stream::iter(deltas)) as BoxStream<'a, _>)
        })
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        Box::pin(async move {
            let (turn, number) = self.answer(&request.settings, &request.prompt).await;
            let ChatReply { text, finish, usage, .. } = turn.answer.map_err(|what| error(&what))?;
            let log_probability = (number > 0).then_some(-1.0 / (number as f64 + 2.0));
            let prompt_tokens = vec![ScoredToken { text: "é".into(), log_probability }; number];
            Ok(CompletionReply { text, finish, usage, prompt_tokens })
        })
    }
}

fn tools(number: usize) -> Arc<[Tool]> {
    (0..number).map(|number| Tool::without_arguments(format!("tool_{number}"), "Does \"it\".")).collect()
}

/// Asks all that a run asks. Stops at an error, or when it gives up.
async fn drive(model: &dyn Model, run: &Run) -> Vec<Seen> {
    let tools = tools(run.tools);
    let system = run.system.iter().map(|text| Message::System { text: text.clone() });
    let first = Message::User { text: format!("query {:?} 0", run.settings.seed) };
    let mut request = ChatRequest {
        messages: system.chain([first]).collect(),
        previous: None,
        tools: if run.way == Way::Text { Arc::from([]) } else { tools },
        settings: run.settings.clone(),
    };
    let mut prompt = format!("Once upon a time {:?} 0", run.settings.seed);
    let mut seen = Vec::new();
    for (number, turn) in (1..).zip(&run.turns) {
        let completion = CompletionRequest {
            prompt: prompt.clone(),
            settings: run.settings.clone(),
            score_prompt: turn.pauses == 0,
        };
        let asking = ask(model, run.way, turn, &request, &completion);
        // Whoever gives up does so long after everybody else is done.
        let patience = std::time::Duration::from_millis(5);
        let got = if turn.is_given_up {
            tokio::time::timeout(patience, asking).await.unwrap_or(Seen::Nothing)
        } else {
            asking.await
        };
        let reply = whole(&got);
        seen.push(got);
        let Some(reply) = reply else { break };
        let next = format!("{} {number}", turn.next);
        prompt = format!("{prompt}{}{next}", reply.text);
        if run.way == Way::Kept {
            request.messages.clear();
            request.previous = reply.id.clone();
        } else {
            let mut calls = reply.calls.clone();
            if turn.renames_calls {
                calls.iter_mut().for_each(|call| call.id = CallId::new(format!("my-{}", call.id)));
            }
            request.messages.push(Message::assistant(reply.text, calls));
        }
        request
            .messages
            .extend(reply.calls.into_iter().map(|call| Message::Tool { id: call.id, text: "ok".into() }));
        request.messages.push(Message::User { text: next });
    }
    seen
}

async fn ask(
    model: &dyn Model,
    way: Way,
    turn: &Turn,
    request: &ChatRequest,
    completion: &CompletionRequest,
) -> Seen {
    let words = |error: ModelError| error.to_string();
    let stream = match (way, turn.pieces) {
        (Way::Text, None) => return Seen::Completion(model.complete(completion).await.map_err(words)),
        (_, None) => return Seen::Chat(model.chat(request).await.map_err(words)),
        (Way::Text, Some(_)) => model.complete_stream(completion).await,
        (_, Some(_)) => model.chat_stream(request).await,
    };
    match stream {
        Err(error) => Seen::Stream(vec![Err(error.to_string())]),
        Ok(stream) => {
            Seen::Stream(stream.take(turn.read_max).map(|delta| delta.map_err(words)).collect().await)
        }
    }
}

/// The reply that was seen, if it was a whole one.
fn whole(seen: &Seen) -> Option<ChatReply> {
    match seen {
        Seen::Nothing => None,
        Seen::Chat(reply) => reply.clone().ok(),
        Seen::Completion(reply) => {
            let CompletionReply { text, finish, usage, .. } = reply.clone().ok()?;
            Some(ChatReply { text, calls: Vec::new(), finish, usage, id: None, state: TurnState::default() })
        }
        Seen::Stream(deltas) => {
            let mut text = String::new();
            let mut calls: Vec<ToolCall> = Vec::new();
            let mut state = TurnState::default();
            for delta in deltas {
                match delta.clone().ok()? {
                    ChatDelta::Text(piece) => text += &piece,
                    ChatDelta::CallStart { id, name, .. } => {
                        calls.push(ToolCall { id, name, arguments: Arguments::none() });
                    }
                    ChatDelta::CallArguments { index, fragment } => {
                        calls[index].arguments = Arguments::from_text(&fragment);
                    }
                    ChatDelta::State(kept) => state = kept,
                    ChatDelta::End { finish, usage, id } => {
                        return Some(ChatReply { text, calls, finish, usage, id, state });
                    }
                }
            }
            None
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn arguments() -> impl Strategy<Value = Arguments> {
    prop_oneof![
        prop::collection::btree_map("[a-z]{1,3}", value(), 0..3)
            .prop_map(|members| Arguments::Object(members.into_iter().collect::<Map<_, _>>())),
        "[\\[{]?[a-z \"]{0,6}".prop_map(|text| Arguments::from_text(&text)),
    ]
}

fn reply() -> impl Strategy<Value = ChatReply> {
    let calls = prop::collection::vec(("[a-z_]{1,6}", arguments()), 0..3);
    let finish = prop::sample::select(vec![
        FinishReason::Stop,
        FinishReason::ToolCalls,
        FinishReason::Length,
        FinishReason::ContentFilter,
    ]);
    ("\\PC{0,12}", calls, finish, any::<(u32, u32)>()).prop_map(|(text, calls, finish, (input, output))| {
        let calls = calls.into_iter().enumerate().map(|(number, (name, arguments))| ToolCall {
            id: CallId::new(format!("call_{number}")),
            name,
            arguments,
        });
        let usage = Usage::new(input.into(), output.into());
        ChatReply { text, calls: calls.collect(), finish, usage, id: None, state: TurnState::default() }
    })
}

fn turn() -> impl Strategy<Value = Turn> {
    let answer = prop_oneof![9 => reply().prop_map(Ok), 1 => "[a-z ]{0,8}".prop_map(Err)];
    let pieces = prop::option::of(1..4usize);
    let read_max = prop_oneof![5 => Just(usize::MAX), 1 => 1..4usize];
    (
        answer,
        pieces,
        read_max,
        prop::bool::weighted(0.05),
        0..4usize,
        prop::bool::weighted(0.2),
        "[a-c ]{0,4}",
    )
        .prop_map(|(answer, pieces, read_max, is_given_up, pauses, renames_calls, next)| Turn {
            answer,
            pieces,
            read_max,
            is_given_up,
            pauses,
            renames_calls,
            next,
        })
}

fn runs() -> impl Strategy<Value = Vec<Run>> {
    let way = prop::sample::select(vec![Way::Conversation, Way::Conversation, Way::Kept, Way::Text]);
    let settings = (
        prop::option::of(0.0..2.0f64),
        prop::option::of(any::<u32>()),
        prop::collection::vec("[a-b]{1,2}", 0..2),
    );
    let run =
        (way, prop::option::of("be (kind|brief)"), 0..3usize, settings, prop::collection::vec(turn(), 0..5));
    prop::collection::vec(run, 1..6).prop_map(|runs| {
        let runs = runs.into_iter().zip(1u64..).map(|((way, system, tools, settings, mut turns), number)| {
            for (place, turn) in turns.iter_mut().enumerate() {
                if let (Way::Kept, Ok(reply)) = (way, &mut turn.answer) {
                    reply.id = Some(ReplyId(format!("resp_{number}_{place}")));
                }
            }
            let (temperature, output_tokens_max, stop) = settings;
            let settings = Settings {
                temperature,
                output_tokens_max,
                seed: Some(u64::MAX - number),
                stop,
                grammar: None,
            };
            Run { way, system, tools, settings, turns }
        });
        runs.collect()
    })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime")
}

fn drive_all(model: &dyn Model, runs: &[Run]) -> Vec<Vec<Seen>> {
    runtime().block_on(join_all(runs.iter().map(|run| drive(model, run))))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    /// Whatever was asked and answered, in whatever order: a replay shows the same to whoever asks the same, in another
    /// order too. Nobody else is asked.
    #[test]
    fn a_replay_shows_what_was_seen(mut runs in runs()) {
        let folder = Folder::new();
        let path = folder.file("r.jsonl");
        let drawn = Drawn::new(&runs);
        let model = RecordingModel::new(drawn.clone(), create(&path));
        let seen = drive_all(&model, &runs);
        drop(model);
        let recording = Recording::read(&path).expect("own output");
        prop_assert_eq!(recording.exchange_count(), drawn.asked());

        if drawn.asked() > 0 {
            let replayed = replay(&path);
            prop_assert_eq!((replayed.name(), replayed.is_simulated()), ("sim/drawn", true));
            prop_assert_eq!(replayed.capabilities(), drawn.capabilities());
            // The other way round, and without a pause.
            runs.reverse();
            runs.iter_mut().flat_map(|run| &mut run.turns).for_each(|turn| turn.pauses = turn.pauses.min(1));
            let mut again = drive_all(&replayed, &runs);
            again.reverse();
            runs.reverse();
            prop_assert_eq!(&again, &seen);
            prop_assert_eq!(replayed.misses(), Vec::<String>::new());
        }

        // As a cache it answers what was answered in full, and only asks for the rest.
        let rest = Drawn::new(&runs);
        let model = RecordingModel::new(rest.clone(), open(&path).expect("own output"));
        for (run, seen) in runs.iter().zip(&seen) {
            let is_whole = seen.len() == run.turns.len() && seen.iter().all(|seen| whole(seen).is_some());
            let before = rest.asked();
            let again = runtime().block_on(drive(&model, run));
            if is_whole {
                prop_assert_eq!(&again, seen);
                prop_assert_eq!(rest.asked(), before);
            } else {
                prop_assert!(rest.asked() > before);
            }
        }
    }

    /// A text of a conversation stands in the file once, however many turns follow it.
    #[test]
    fn only_what_is_new_is_written(mut run in runs().prop_map(|mut runs| runs.remove(0))) {
        let folder = Folder::new();
        let path = folder.file("r.jsonl");
        for (number, turn) in run.turns.iter_mut().enumerate() {
            turn.is_given_up = false;
            turn.read_max = usize::MAX;
            turn.next = format!("next-{number}-next");
        }
        drive_all(&RecordingModel::new(Drawn::new(std::slice::from_ref(&run)), create(&path)), &[run.clone()]);
        let text = fs::read_to_string(&path).expect("is there");
        for turn in &run.turns {
            prop_assert!(text.matches(&turn.next).count() <= 1, "{}", text);
        }
    }
}
