//! The simulated server of a model, and what the network does to its answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use planproof_model::metering::OUTPUT_TOKENS_FLOOR;
use planproof_model::{
    BoxFuture, Capabilities, ChatReply, ChatRequest, Message, Model, ModelError, TurnState,
};
use planproof_trace::{Arguments, CallId, Draw, FinishReason, ToolCall, Usage};
use tokio::time::Instant;

use super::games::throws_wanted;
use super::machine::Machine;

/// Its address, as shown in errors.
pub(crate) const URL: &str = "http://server.test/v1";

/// Maximum duration of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(600);

/// The state of the network.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Weather {
    /// Percentage of requests that encounter a fault.
    pub(crate) faults: u32,
    /// Whether replies may be longer than could be predicted.
    pub(crate) has_long_replies: bool,
    /// The second after the start from which the server is down, and for how many seconds.
    pub(crate) outage: Option<(u64, u64)>,
}

/// A fault of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Fault {
    RateLimit,
    ServerError,
    /// The connection cannot be established.
    Refused,
    /// The server did the work, and the connection broke before the reply was complete.
    LostAnswer,
    /// The server did the work, but too late.
    TimedOut,
    /// The server did the work, but no answer ever arrives.
    NeverAnswers,
    Slow,
    /// The reply is not JSON.
    Malformed,
    /// The reply does not state its token use.
    NoUsage,
    LongReply,
}

const FAULTS: [Fault; 10] = [
    Fault::RateLimit,
    Fault::ServerError,
    Fault::Refused,
    Fault::LostAnswer,
    Fault::TimedOut,
    Fault::NeverAnswers,
    Fault::Slow,
    Fault::Malformed,
    Fault::NoUsage,
    Fault::LongReply,
];

/// A server with the network in front of it.
pub(crate) struct Server {
    pub(crate) machine: Arc<Machine>,
    pub(crate) seed: u64,
    pub(crate) name: String,
    pub(crate) is_simulated: bool,
    /// Canary: one in ten replies reports a token less than was counted.
    pub(crate) undercounts: bool,
    /// Canary: from the second phase on, one in twenty runs differs.
    pub(crate) drifts: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    weather: Weather,
    since: Option<Instant>,
    /// How often each request arrived.
    asked: HashMap<(u64, usize), u32>,
    /// Total number of each fault.
    faults: HashMap<Fault, u64>,
    phase: u32,
}

impl Server {
    pub(crate) fn new(machine: Arc<Machine>, seed: u64, name: &str, is_simulated: bool) -> Self {
        let (undercounts, drifts, state) = Default::default();
        Self { machine, seed, name: name.to_owned(), is_simulated, undercounts, drifts, state }
    }

    /// Starts a new phase with this weather. Must be called within the runtime, whose clock is used.
    pub(crate) fn begin(&self, weather: Weather) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.weather = weather;
        state.since = Some(Instant::now());
        state.phase += 1;
    }

    /// How often each fault occurred.
    pub(crate) fn faults(&self) -> Vec<(Fault, u64)> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.faults.iter().map(|(fault, count)| (*fault, *count)).collect()
    }

    /// The random draw for a request, and the fault that it encounters.
    fn meets(&self, run: u64, turn: usize) -> (Draw, Option<Fault>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = state.asked.entry((run, turn)).or_default();
        *asked += 1;
        // Independent of what other runs do at the same time.
        let mut draw = Draw::new(self.seed ^ run, u64::from(*asked) << 8 | turn as u64, "network");
        let weather = state.weather;
        let seconds = state.since.map(|since| since.elapsed().as_secs()).unwrap_or_default();
        let is_down = weather.outage.is_some_and(|(from, most)| (from..from + most).contains(&seconds));
        let mut fault = draw.chance(weather.faults, 100).then(|| FAULTS[draw.place(FAULTS.len())]);
        if is_down {
            fault = Some(if draw.chance(1, 2) { Fault::ServerError } else { Fault::Refused });
        }
        if fault == Some(Fault::LongReply) && !weather.has_long_replies {
            fault = Some(Fault::Slow);
        }
        if let Some(fault) = fault {
            *state.faults.entry(fault).or_default() += 1;
        }
        (draw, fault)
    }

    /// The model's answer, which depends only on the request.
    fn says(&self, run: u64, number: u64, turn: usize) -> (String, Vec<ToolCall>) {
        let mut draw = Draw::new(run, number, "player");
        let mut throws = throws_wanted(number);
        if draw.chance(1, 4) {
            throws = u64::from(draw.below(4));
        }
        let phase = self.state.lock().unwrap_or_else(PoisonError::into_inner).phase;
        if self.drifts && phase > 1 && draw.chance(1, 20) {
            throws += 1;
        }
        if turn as u64 >= throws {
            return (format!("Done after {throws}."), Vec::new());
        }
        let id = CallId::new(format!("call-{turn}"));
        (String::new(), vec![ToolCall { id, name: "ball".into(), arguments: Arguments::none() }])
    }

    async fn answer(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let machine = &self.machine;
        machine.lives_on().await;
        let number = request.messages.iter().find_map(|message| match message {
            Message::User { text } => text.strip_prefix("Game ")?.parse::<u64>().ok(),
            _ => None,
        });
        let turn = request.messages.iter().filter(|it| matches!(it, Message::Assistant { .. })).count();
        let run = request.settings.seed.unwrap_or_default();
        let (mut draw, fault) = self.meets(run, turn);
        let (text, calls) = self.says(run, number.unwrap_or_default(), turn);
        let output_tokens = match fault {
            Some(Fault::LongReply) => 1500 + u64::from(draw.below(2500)),
            _ => 5 + u64::from(draw.below(500)),
        };
        let usage = Usage::new(10 + 5 * request.messages.len() as u64, output_tokens);
        let status = |status, message: &str, retry_after| {
            Err(ModelError::Status { url: URL.to_owned(), status, message: message.to_owned(), retry_after })
        };
        let sleep = |ms: u32| tokio::time::sleep(Duration::from_millis(ms.into()));
        sleep(draw.below(200)).await;
        machine.lives_on().await;
        match fault {
            Some(Fault::RateLimit) => return status(429, "slow down", Some(Duration::from_secs(20))),
            Some(Fault::ServerError) => return status(503, "overloaded", None),
            Some(Fault::Refused) => {
                return Err(ModelError::Unreachable {
                    url: URL.to_owned(),
                    reason: "connection refused".to_owned(),
                });
            }
            _ => {}
        }
        let bill = machine.bill(
            usage.input_tokens + usage.output_tokens,
            usage.output_tokens.saturating_sub(OUTPUT_TOKENS_FLOOR),
        );
        match fault {
            Some(Fault::TimedOut) => tokio::time::sleep(REQUEST_TIMEOUT).await,
            Some(Fault::NeverAnswers) => std::future::pending().await,
            Some(Fault::Slow) => sleep(draw.below(300_000)).await,
            _ => sleep(draw.below(3_000)).await,
        }
        machine.lives_on().await;
        // The client learns of it now, in one step.
        bill.answered();
        match fault {
            Some(Fault::LostAnswer) => {
                let reason = "the connection broke in the middle of the reply".to_owned();
                return Err(ModelError::Broken { url: URL.to_owned(), reason });
            }
            Some(Fault::TimedOut) => {
                return Err(ModelError::TimedOut { url: URL.to_owned(), limit: REQUEST_TIMEOUT });
            }
            Some(Fault::Malformed) => {
                return Err(ModelError::Malformed {
                    url: URL.to_owned(),
                    what: "no chat completion".to_owned(),
                });
            }
            _ => {}
        }
        let mut counted = if fault == Some(Fault::NoUsage) { Usage::default() } else { usage };
        if self.undercounts && draw.chance(1, 10) {
            counted.output_tokens = counted.output_tokens.saturating_sub(1);
        }
        let finish = if calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        Ok(ChatReply { text, calls, finish, usage: counted, id: None, state: TurnState::default() })
    }
}

impl Model for Server {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { tool_calls: true, ..Capabilities::default() }
    }

    fn is_simulated(&self) -> bool {
        self.is_simulated
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(self.answer(request))
    }
}
