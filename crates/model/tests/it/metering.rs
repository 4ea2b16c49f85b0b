use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::join_all;
use futures::{StreamExt, stream};
use planproof_model::metering::{Budget, Meter, MeteredModel, OUTPUT_TOKENS_FLOOR, Spent, noting_refusals};
use planproof_model::prices::{Money, Price};
use planproof_model::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Message, Model, ModelError, Settings, TurnState,
};
use planproof_trace::{FinishReason, Usage};
use proptest::prelude::*;

use crate::server::{send, start};
use crate::stand_in::{Answer, StandIn, completion, question, reply, stream_head};

/// A model that takes as long and as many tokens as the request says, and counts them itself.
#[derive(Default)]
struct Paid {
    input_tokens: AtomicU64,
    output_tokens: AtomicU64,
    requests: AtomicU64,
}

impl Paid {
    fn tokens(&self) -> (u64, u64) {
        (self.input_tokens.load(Ordering::SeqCst), self.output_tokens.load(Ordering::SeqCst))
    }

    async fn reply(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let [Message::User { text }] = &request.messages[..] else { panic!("one message") };
        let mut words = text.split(' ');
        let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        let (pauses, output_tokens): (u64, u64) = (number(), number());
        for _ in 0..pauses {
            tokio::task::yield_now().await;
        }
        match words.next().unwrap_or_default() {
            "refused" => {
                let (url, message) = ("u".to_owned(), "no".to_owned());
                return Err(ModelError::Status { url, status: 401, message, retry_after: None });
            }
            "garbled" => return Err(ModelError::Malformed { url: "u".into(), what: "w".into() }),
            "silent" => std::future::pending().await,
            _ => {}
        }
        // Four characters a token, as most English takes.
        let usage = Usage::new(text.len() as u64 / 4, output_tokens);
        self.input_tokens.fetch_add(usage.input_tokens, Ordering::SeqCst);
        self.output_tokens.fetch_add(usage.output_tokens, Ordering::SeqCst);
        let usage = if text.contains("uncounted") { Usage::default() } else { usage };
        Ok(ChatReply {
            text: "done".into(),
            calls: Vec::new(),
            finish: FinishReason::Stop,
            usage,
            id: None,
            state: TurnState::default(),
        })
    }
}

impl Model for Paid {
    fn name(&self) -> &str {
        "openai/paid"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { streaming: true, completion: true, ..Capabilities::default() }
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(self.reply(request))
    }

    fn chat_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(async move {
            let deltas: Vec<_> = self.reply(request).await?.into_deltas().map(Ok).collect();
            Ok(Box::pin(stream::iter(deltas)) as BoxStream<'a, _>)
        })
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        Box::pin(async move {
            let usage = Usage::new(request.prompt.len() as u64 / 4, 1);
            let (text, finish) = ("x".to_owned(), FinishReason::Stop);
            Ok(CompletionReply { text, finish, usage, prompt_tokens: Vec::new() })
        })
    }
}

fn request(text: impl Into<String>) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::User { text: text.into() }],
        previous: None,
        tools: Arc::from([]),
        settings: Settings::default(),
    }
}

/// A dollar for a thousand tokens read, two for a thousand written.
const PRICE: Price =
    Price::new(Money::from_picodollars(1_000_000_000), Money::from_picodollars(2_000_000_000));

fn metered(budget: Budget) -> (Arc<Paid>, Arc<Meter>, MeteredModel) {
    let (paid, meter) = (Arc::new(Paid::default()), Arc::new(Meter::new(budget, Spent::default())));
    let model = MeteredModel::new(paid.clone(), Some(PRICE), Arc::clone(&meter));
    (paid, meter, model)
}

fn dollars(dollars: f64) -> Money {
    Money::from_dollars(dollars).expect("in range")
}

#[derive(Debug, Clone)]
struct Asked {
    pauses: u64,
    output_tokens: u64,
    characters: usize,
    is_streamed: bool,
}

fn asked() -> impl Strategy<Value = Asked> {
    (0..5u64, 0..=OUTPUT_TOKENS_FLOOR, 0..3000usize, any::<bool>()).prop_map(
        |(pauses, output_tokens, characters, is_streamed)| Asked {
            pauses,
            output_tokens,
            characters,
            is_streamed,
        },
    )
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime")
}

/// Asks one after the other. `false` at the first refusal.
async fn ask_all(model: &MeteredModel, run: &[Asked]) -> bool {
    for Asked { pauses, output_tokens, characters, is_streamed } in run {
        let request = request(format!("{pauses} {output_tokens} {}", "x".repeat(*characters)));
        let result = if *is_streamed {
            match model.chat_stream(&request).await {
                Ok(deltas) => deltas.fold(Ok(()), |all, delta| async { all.and(delta.map(drop)) }).await,
                Err(error) => Err(error),
            }
        } else {
            model.chat(&request).await.map(drop)
        };
        match result {
            Ok(()) => {}
            Err(ModelError::BudgetUsedUp { .. }) => return false,
            Err(error) => panic!("{error}"),
        }
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// However many runs ask at once, no more is spent than the budget, by the count of the model itself.
    #[test]
    fn a_budget_is_never_exceeded(
        runs in prop::collection::vec(prop::collection::vec(asked(), 0..8), 1..24),
        thousandths in 0..40_000u64,
        by_cost in any::<bool>(),
    ) {
        let cost_max = by_cost.then(|| Money::from_picodollars(thousandths * 1_000_000_000));
        let tokens_max = (!by_cost).then_some(thousandths);
        let (paid, meter, model) = metered(Budget { cost_max, tokens_max });
        let largest = runs.iter().flatten().map(|asked| asked.characters as u64 + 200).max().unwrap_or(0);
        let work = runs.iter().map(|run| noting_refusals(ask_all(&model, run)));
        let outcomes: Vec<(bool, bool)> = runtime().block_on(join_all(work));
        for (is_complete, is_refused) in &outcomes {
            prop_assert_ne!(is_complete, is_refused, "each run knows whether it was refused something");
        }
        let (input_tokens, output_tokens) = paid.tokens();
        let usage = Usage::new(input_tokens, output_tokens);
        let spent = meter.spent();
        prop_assert_eq!(spent, Spent { usage, cost: Some(PRICE.of(usage)), is_estimate: false });
        prop_assert!(cost_max.is_none_or(|most| PRICE.of(usage) <= most));
        prop_assert!(tokens_max.is_none_or(|most| input_tokens + output_tokens <= most));
        let is_used_up = outcomes.iter().any(|(_, is_refused)| *is_refused);
        prop_assert_eq!(meter.is_used_up(), is_used_up);
        prop_assert!(!meter.has_refused_elsewhere());
        // Nothing is refused while there is room for any request at all.
        let most = Usage::new(largest, OUTPUT_TOKENS_FLOOR);
        if is_used_up {
            prop_assert!(cost_max.is_none_or(|max| PRICE.of(usage).plus(PRICE.of(most)) > max));
            prop_assert!(tokens_max.is_none_or(|max| input_tokens + output_tokens + largest + OUTPUT_TOKENS_FLOOR > max));
        }
    }
}

#[tokio::test]
async fn what_does_not_fit_is_not_sent() {
    let (paid, meter, model) = metered(Budget { tokens_max: Some(1500), ..Budget::default() });
    assert!(model.chat(&request("0 900")).await.is_ok());
    let error = model.chat(&request("0 900")).await.expect_err("no room for another 900");
    assert_eq!(error.to_string(), "the budget of 1500 tokens leaves no room for another request");
    assert_eq!(paid.requests.load(Ordering::SeqCst), 1);
    assert!(meter.is_used_up() && meter.has_refused_elsewhere());
    assert_eq!(meter.used_up().as_deref(), Some("1500 tokens"));
    // What sets a limit of its own still fits.
    let mut small = request("0 5");
    small.settings.output_tokens_max = Some(5);
    assert!(model.chat(&small).await.is_ok());

    let (paid, _, model) = metered(Budget { cost_max: Some(dollars(0.5)), ..Budget::default() });
    let error = model.chat(&request("0 1")).await.expect_err("a reply could cost two dollars");
    assert_eq!(error.to_string(), "the budget of 0.50 USD leaves no room for another request");
    assert_eq!(paid.requests.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_small_request_says_little_of_a_large_one() {
    // Names and marks make up most of the first, text most of the second, which takes more tokens a byte.
    let (paid, _, model) = metered(Budget { tokens_max: Some(2014), ..Budget::default() });
    assert!(model.chat(&request(format!("0 871 {}", "x".repeat(26)))).await.is_ok());
    assert!(model.chat(&request(format!("0 1005 {}", "x".repeat(993)))).await.is_err());
    assert_eq!(paid.requests.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn what_is_left_over_goes_to_those_who_wait() {
    // Each request may take 1,024 tokens and takes one, so all fit, but not at once.
    let (paid, meter, model) = metered(Budget { tokens_max: Some(2000), ..Budget::default() });
    let requests: Vec<_> = (0..50).map(|_| request("2 1")).collect();
    let replies = join_all(requests.iter().map(|request| model.chat(request))).await;
    assert!(replies.iter().all(Result::is_ok));
    assert_eq!((paid.tokens().1, meter.spent().usage.output_tokens), (50, 50));
    assert!(!meter.is_used_up());
}

#[tokio::test]
async fn what_may_have_been_done_is_booked() {
    let (_, meter, model) = metered(Budget::default());
    assert!(model.chat(&request("0 0 refused")).await.is_err());
    assert_eq!(meter.spent(), Spent::default(), "a refused request costs nothing");
    assert!(model.chat(&request("0 7 uncounted")).await.is_ok());
    let uncounted = meter.spent();
    assert!(uncounted.is_estimate && uncounted.usage.output_tokens == OUTPUT_TOKENS_FLOOR);
    assert_eq!(uncounted.cost, Some(PRICE.of(uncounted.usage)));
    assert!(model.chat(&request("0 0 garbled")).await.is_err());
    let garbled = meter.spent();
    assert_eq!(garbled.usage.output_tokens, 2 * OUTPUT_TOKENS_FLOOR);
    let silent = request("0 0 silent");
    let silent = model.chat(&silent);
    assert!(tokio::time::timeout(std::time::Duration::from_millis(5), silent).await.is_err());
    assert_eq!(meter.spent().usage.output_tokens, 3 * OUTPUT_TOKENS_FLOOR);
    // A stream that nobody reads to its end.
    let streamed = request("0 3");
    let mut stream = model.chat_stream(&streamed).await.expect("a stream");
    assert!(stream.next().await.is_some());
    drop(stream);
    assert_eq!(meter.spent().usage.output_tokens, 4 * OUTPUT_TOKENS_FLOOR);
}

/// A server may have done the work of an attempt whose reply was lost, and charges for it beside that of the next one.
#[tokio::test]
async fn attempts_that_were_lost_are_booked_beside_the_last_one() {
    let whole = completion(r#"{"role":"assistant","content":"hi"}"#, "stop");
    let lost = Answer::SendAndClose(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_vec());
    let refused = reply("503 Unavailable", "", "");
    let booked = async |answers: Vec<Answer>, is_streamed: bool| {
        let server = StandIn::start(answers).await;
        let meter = Arc::new(Meter::new(Budget::default(), Spent::default()));
        let model = MeteredModel::new(Arc::new(server.model()), Some(PRICE), Arc::clone(&meter));
        let mut request = question();
        request.settings.output_tokens_max = Some(50);
        match is_streamed {
            false => drop(model.chat(&request).await),
            true => {
                if let Ok(stream) = model.chat_stream(&request).await {
                    stream.count().await;
                }
            }
        }
        let spent = meter.spent();
        assert_eq!(spent.cost, Some(PRICE.of(spent.usage)));
        (spent.usage.output_tokens, spent.is_estimate)
    };
    assert_eq!(booked(vec![whole.clone()], false).await, (7, false));
    assert_eq!(booked(vec![refused, whole.clone()], false).await, (7, false), "an error is no work");
    assert_eq!(booked(vec![lost.clone(), lost.clone(), whole], false).await, (50 + 50 + 7, true));
    assert_eq!(booked(vec![lost], false).await, (3 * 50, true), "the last attempt was lost as well");
    let lost_stream = Answer::SendAndClose(stream_head("content-length: 100\r\n"));
    assert_eq!(booked(vec![lost_stream], true).await, (3 * 50, true), "no part of a stream came");
    // Nobody listens there, so nothing was done.
    let meter = Arc::new(Meter::new(Budget::default(), Spent::default()));
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = free.local_addr().expect("an address");
    drop(free);
    let server = StandIn::start(vec![Answer::Hang]).await;
    let nobody = server.model_with(|config| config.connection.base_url = format!("http://{address}/v1"));
    let model = MeteredModel::new(Arc::new(nobody), Some(PRICE), Arc::clone(&meter));
    assert!(matches!(model.chat(&question()).await, Err(ModelError::Unreachable { .. })));
    assert_eq!(meter.spent(), Spent::default());
}

#[tokio::test]
async fn a_meter_goes_on_from_what_was_spent_before() {
    let before = Spent { usage: Usage::new(100, 10), cost: Some(dollars(0.12)), is_estimate: false };
    let budget = Budget { cost_max: Some(dollars(0.13)), tokens_max: Some(220) };
    let meter = Arc::new(Meter::new(budget, before));
    assert!((meter.used() - 12.0 / 13.0).abs() < 1e-9);
    let model = MeteredModel::new(Arc::new(Paid::default()), Some(PRICE), Arc::clone(&meter));
    let mut small = request("0 1");
    small.settings.output_tokens_max = Some(1);
    assert!(model.chat(&small).await.is_err());
    let free = MeteredModel::new(Arc::new(Paid::default()), None, Arc::clone(&meter));
    assert!(free.chat(&small).await.is_ok());
    let spent = meter.spent();
    assert_eq!((spent.usage, spent.cost), (Usage::new(100, 11), None));
}

#[tokio::test]
async fn plain_texts_are_counted_too() {
    let (_, meter, model) = metered(Budget { tokens_max: Some(300), ..Budget::default() });
    let settings = Settings { output_tokens_max: Some(1), ..Settings::default() };
    let request = CompletionRequest { prompt: "x".repeat(200), settings, score_prompt: false };
    assert!(model.complete(&request).await.is_ok());
    let streamed = model.complete_stream(&request).await.expect("a stream");
    assert_eq!(streamed.count().await, 2);
    assert_eq!(meter.spent().usage, Usage::new(100, 2));
    assert!(model.complete(&request).await.is_ok(), "the estimate has learned");
    assert!(model.complete(&CompletionRequest { prompt: "x".repeat(2000), ..request }).await.is_err());
}

#[tokio::test]
async fn clients_of_a_served_model_are_told_not_to_try_again() {
    let (paid, _, model) = metered(Budget { tokens_max: Some(1), ..Budget::default() });
    let address = start(Arc::new(model), |_| ()).await;
    for is_streamed in [false, true] {
        let body = format!(r#"{{"stream":{is_streamed},"messages":[{{"role":"user","content":"0 1"}}]}}"#);
        let length = body.len();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             connection: close\r\ncontent-length: {length}\r\n\r\n"
        );
        let answer = send(address, &(head + &body)).await;
        assert_eq!((answer.status, answer.json()["error"]["code"].as_str()), (402, Some("budget_used_up")));
    }
    assert_eq!(paid.requests.load(Ordering::SeqCst), 0);
}
