//! Accounting of a model's requests, and budgets that are not exceeded.
//!
//! A [`MeteredModel`] wraps the paid model, and shares a [`Meter`] with all others of a campaign. Before a request it
//! reserves the most that the request may cost; afterwards it books the actual cost. A request that does not fit into
//! the budget is not sent. One that would fit if others cost less than is reserved for them waits until they are
//! done.

mod attempts;
mod estimate;
mod refusals;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use planproof_trace::Usage;
use tokio::sync::Notify;

use crate::prices::{Money, Price};
use crate::{
    BoxFuture, BoxStream, Capabilities, ChatDelta, ChatReply, ChatRequest, CompletionReply,
    CompletionRequest, Model, ModelError, ServerFacts, run_time,
};
use estimate::{Experience, RequestSize};

pub(crate) use attempts::note_lost;
pub use estimate::OUTPUT_TOKENS_FLOOR;
pub(crate) use estimate::chat_bytes;
pub use refusals::noting_refusals;

/// The most that may be spent. `None` is not a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    pub cost_max: Option<Money>,
    /// Most tokens, read and written together.
    pub tokens_max: Option<u64>,
}

/// What was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    /// Tokens, as the servers counted them.
    pub usage: Usage,
    /// Their cost; `None` once there are some whose price is unknown.
    pub cost: Option<Money>,
    /// Some requests had no count, were given up before their reply, or were repeated because the reply was lost: the
    /// sums contain the most that they may have cost.
    pub is_estimate: bool,
}

impl Default for Spent {
    /// Nothing.
    fn default() -> Self {
        Self { usage: Usage::default(), cost: Some(Money::default()), is_estimate: false }
    }
}

/// Adds up the cost of requests, and holds them to a budget.
#[derive(Debug)]
pub struct Meter {
    budget: Budget,
    state: Mutex<State>,
    /// Wakes requests that wait for the reservations of others.
    booked: Notify,
}

#[derive(Debug, Default)]
struct State {
    spent: Spent,
    reserved: Amount,
    experience: Experience,
    used_up: Option<String>,
    has_refused_elsewhere: bool,
    watcher: Watcher,
}

/// Called whenever something was booked.
#[derive(Clone, Default)]
struct Watcher(Option<Arc<dyn Fn() + Send + Sync>>);

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watcher({})", self.0.is_some())
    }
}

/// Tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Amount {
    tokens: u64,
    cost: Money,
}

enum Answer<'m> {
    Granted(Reservation<'m>),
    /// It would fit if others took nothing.
    Later,
    /// It does not fit; the name of the budget.
    Never(String),
}

impl Meter {
    /// A meter that begins with earlier expenses.
    pub fn new(budget: Budget, spent: Spent) -> Self {
        let state = State { spent, ..State::default() };
        Self { budget, state: Mutex::new(state), booked: Notify::new() }
    }

    /// What was spent so far, in all.
    pub fn spent(&self) -> Spent {
        self.lock().spent
    }

    /// Calls `watcher` after each booking, from whichever thread books, instead of any previous watcher; `None` calls
    /// nobody. Earlier expenses are available from [`spent`](Self::spent).
    pub fn watch(&self, watcher: Option<Arc<dyn Fn() + Send + Sync>>) {
        self.lock().watcher = Watcher(watcher);
    }

    /// The share of the budget that is spent: 0 for nothing, or without a budget, and 1 for all. If there are several
    /// budgets, the largest share counts.
    pub fn used(&self) -> f64 {
        let spent = self.spent();
        let part = |spent: u64, most: u64| spent as f64 / most.max(1) as f64;
        let tokens_used = self.budget.tokens_max.map(|most| part(tokens(spent.usage), most));
        let cost = spent.cost.unwrap_or_default().picodollars();
        let cost_used = self.budget.cost_max.map(|most| part(cost, most.picodollars()));
        tokens_used.unwrap_or_default().max(cost_used.unwrap_or_default())
    }

    /// Whether a request was refused because it did not fit into the budget.
    pub fn is_used_up(&self) -> bool {
        self.lock().used_up.is_some()
    }

    /// The budget that the first refused request did not fit into, with its unit: `0.50 USD`, `20000 tokens`.
    pub fn used_up(&self) -> Option<String> {
        self.lock().used_up.clone()
    }

    /// Whether a request from outside of [`noting_refusals`] was refused, such as those of a program that asks the
    /// model over HTTP. The run it belonged to is unknown.
    pub fn has_refused_elsewhere(&self) -> bool {
        self.lock().has_refused_elsewhere
    }

    /// Reserves the most that a request may cost; waits while only the reservations of others are in the way.
    async fn reserve(&self, size: RequestSize, price: Option<Price>) -> Result<Reservation<'_>, ModelError> {
        loop {
            // A booking between the check and the wait is not missed.
            let mut booked = std::pin::pin!(self.booked.notified());
            booked.as_mut().enable();
            match self.ask(size, price) {
                Answer::Granted(reservation) => return Ok(reservation),
                // Reservations of others are no fault of the waiting run.
                Answer::Later => run_time::uncharged(booked).await,
                Answer::Never(budget) => return Err(ModelError::BudgetUsedUp { budget }),
            }
        }
    }

    fn ask(&self, size: RequestSize, price: Option<Price>) -> Answer<'_> {
        let mut state = self.lock();
        let usage = state.experience.usage_max(&size);
        let wanted = amount_max(usage, price);
        let mut must_wait = false;
        // Two sums decide for each budget. If the request does not fit beside what is spent, it never will; if it does
        // not fit only because of what others have reserved, they may turn out to need less.
        if let Some(most) = self.budget.tokens_max {
            let least = tokens(state.spent.usage).saturating_add(wanted.tokens);
            if least > most {
                return state.refuse(format!("{most} tokens"));
            }
            must_wait |= least.saturating_add(state.reserved.tokens) > most;
        }
        if let Some(most) = self.budget.cost_max {
            let least = state.spent.cost.unwrap_or_default().plus(wanted.cost);
            if least > most {
                return state.refuse(most.to_string());
            }
            must_wait |= least.plus(state.reserved.cost) > most;
        }
        // Nothing is reserved before both budgets were checked, so a request that waits holds nothing that others wait
        // for.
        if must_wait {
            return Answer::Later;
        }
        state.reserved.tokens = state.reserved.tokens.saturating_add(wanted.tokens);
        state.reserved.cost = state.reserved.cost.plus(wanted.cost);
        Answer::Granted(Reservation {
            meter: self,
            usage,
            price,
            size,
            lost: 0,
            received: None,
            is_settled: false,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock is held leaves sums that are still meaningful.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn refuse<'m>(&mut self, budget: String) -> Answer<'m> {
        self.used_up.get_or_insert_with(|| budget.clone());
        self.has_refused_elsewhere |= !refusals::note();
        Answer::Never(budget)
    }
}

fn tokens(usage: Usage) -> u64 {
    usage.input_tokens.saturating_add(usage.output_tokens)
}

/// The most that so many tokens may cost.
fn amount_max(usage: Usage, price: Option<Price>) -> Amount {
    Amount { tokens: tokens(usage), cost: price.map(|price| price.most_of(usage)).unwrap_or_default() }
}

/// A reservation for a request. If it is dropped unsettled (the caller has given up), it is booked in full: the
/// server may have done the work.
struct Reservation<'m> {
    meter: &'m Meter,
    usage: Usage,
    price: Option<Price>,
    size: RequestSize,
    /// Failed attempts before the last one whose work the server may have done.
    lost: u64,
    /// Bytes of the reply that have come, if it is a stream that has begun.
    received: Option<u64>,
    is_settled: bool,
}

impl Reservation<'_> {
    /// Books the server's count, or the whole reservation if there is none.
    fn book(&mut self, usage: Usage) {
        // A reply takes tokens, so a count of zero means that the server does not count.
        let is_counted = usage != Usage::default();
        self.settle(if is_counted { usage } else { self.usage }, is_counted);
    }

    /// Settles a failed request: nothing, unless the server may have done the work anyway.
    fn fail(&mut self, error: &ModelError) {
        match error.may_be_charged() {
            true => self.settle(self.usage, false),
            false => self.settle(Usage::default(), true),
        }
    }

    fn settle(&mut self, usage: Usage, is_counted: bool) {
        // The drop settles as well; only the first one counts.
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        // Each lost attempt is booked in full. Nothing was reserved for it, so this can exceed a budget.
        let lost = self.lost + attempts::take_lost();
        let of_lost = self.usage.times(lost);
        let reserved = amount_max(self.usage, self.price);
        let mut state = self.meter.lock();
        state.reserved.tokens = state.reserved.tokens.saturating_sub(reserved.tokens);
        state.reserved.cost = state.reserved.cost.minus(reserved.cost);
        let Spent { usage: sum, cost, is_estimate } = &mut state.spent;
        for (usage, is_counted) in [(usage, is_counted), (of_lost, false)] {
            *sum = sum.plus(usage);
            // A request that took nothing must not make the sum unknown for lack of a price.
            if usage != Usage::default() {
                let of = |price: Price| if is_counted { price.of(usage) } else { price.most_of(usage) };
                *cost = cost.zip(self.price).map(|(cost, price)| cost.plus(of(price)));
            }
        }
        *is_estimate |= !is_counted || lost > 0;
        // Only a server's count teaches anything: a reservation would confirm itself.
        if is_counted {
            state.experience.learn(&self.size, usage);
        }
        // The watcher is called without the lock, because it may ask the meter for its sums.
        let Watcher(watcher) = state.watcher.clone();
        drop(state);
        self.meter.booked.notify_waiters();
        if let Some(watcher) = watcher {
            watcher();
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut usage = self.usage;
        // The server of a stream that nobody reads any more stops soon. A token has at least a byte.
        if let Some(received) = self.received {
            usage.output_tokens =
                usage.output_tokens.min(received.saturating_add(estimate::OUTPUT_TOKENS_FLOOR));
        }
        self.settle(usage, false);
    }
}

/// A model whose requests are counted and held to the budget of the meter.
pub struct MeteredModel {
    inner: Arc<dyn Model>,
    price: Option<Price>,
    meter: Arc<Meter>,
}

impl MeteredModel {
    /// `inner`, with this price per token, counted by `meter`. Without a price its tokens count, but no money.
    pub fn new(inner: Arc<dyn Model>, price: Option<Price>, meter: Arc<Meter>) -> Self {
        Self { inner, price, meter }
    }
}

impl Model for MeteredModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    /// The single token that a server may be asked for is not counted.
    fn settle(&self) -> BoxFuture<'_, Result<Capabilities, ModelError>> {
        self.inner.settle()
    }

    fn is_simulated(&self) -> bool {
        self.inner.is_simulated()
    }

    fn takes_temperature(&self) -> bool {
        self.inner.takes_temperature()
    }

    fn server_facts(&self) -> BoxFuture<'_, Result<Option<ServerFacts>, ModelError>> {
        self.inner.server_facts()
    }

    fn changed_requests(&self) -> Vec<String> {
        self.inner.changed_requests()
    }

    fn chat<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(attempts::counting(async move {
            let mut reservation = self.meter.reserve(RequestSize::of_chat(request), self.price).await?;
            let reply = self.inner.chat(request).await;
            match &reply {
                Ok(reply) => reservation.book(reply.usage),
                Err(error) => reservation.fail(error),
            }
            reply
        }))
    }

    fn chat_stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(attempts::counting(async move {
            let reservation = self.meter.reserve(RequestSize::of_chat(request), self.price).await?;
            counted(self.inner.chat_stream(request).await, reservation)
        }))
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<CompletionReply, ModelError>> {
        Box::pin(attempts::counting(async move {
            let size = RequestSize::of_completion(request);
            let mut reservation = self.meter.reserve(size, self.price).await?;
            let reply = self.inner.complete(request).await;
            match &reply {
                Ok(reply) => reservation.book(reply.usage),
                Err(error) => reservation.fail(error),
            }
            reply
        }))
    }

    fn complete_stream<'a>(
        &'a self,
        request: &'a CompletionRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<ChatDelta, ModelError>>, ModelError>> {
        Box::pin(attempts::counting(async move {
            let reservation = self.meter.reserve(RequestSize::of_completion(request), self.price).await?;
            counted(self.inner.complete_stream(request).await, reservation)
        }))
    }
}

type Deltas<'a> = BoxStream<'a, Result<ChatDelta, ModelError>>;

/// The stream, which settles the reservation at its end.
fn counted<'a>(
    stream: Result<Deltas<'a>, ModelError>,
    mut reservation: Reservation<'a>,
) -> Result<Deltas<'a>, ModelError> {
    match stream {
        Err(error) => {
            reservation.fail(&error);
            Err(error)
        }
        Ok(stream) => {
            // The lost attempts are counted only until the stream is returned, and it is read after that.
            reservation.lost += attempts::take_lost();
            reservation.received = Some(0);
            Ok(Box::pin(stream.inspect(move |delta| {
                // A stream that breaks off after its beginning, or is no longer read, stays unsettled.
                match delta {
                    Ok(ChatDelta::End { usage, .. }) => reservation.book(*usage),
                    Ok(ChatDelta::Text(text) | ChatDelta::CallArguments { fragment: text, .. }) => {
                        reservation.received = reservation.received.map(|sum| sum + text.len() as u64);
                    }
                    _ => {}
                }
            })))
        }
    }
}
