//! The calls that a model has written, matched to those that arrive.
//!
//! A framework sends the calls of one reply in an order of its own, usually at once. The server of the model knows
//! them beforehand, so that they can be executed one after the other as written, the same in every run.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use planproof_trace::{Arguments, CallId};
use serde_json::{Map, Value};
use tokio::sync::Notify;

/// Longest wait of a call for those that were written before it in the same reply. An agent that never makes them, or
/// makes calls sequentially in an order of its own, causes this wait once.
pub const EARLIER_CALLS_WAIT_MAX: Duration = Duration::from_millis(500);

/// Most replies of a run whose calls are remembered; the oldest are dropped first.
pub const WRITTEN_REPLIES_MAX: usize = 64;

/// The calls that the model of one run has written.
#[derive(Default)]
pub struct WrittenCalls {
    state: Mutex<State>,
    /// A call has been answered.
    answered: Notify,
}

#[derive(Default)]
struct State {
    /// How many there were.
    count: u64,
    /// The latest, the newest last.
    replies: VecDeque<Reply>,
}

struct Reply {
    number: u64,
    calls: Vec<Written>,
}

struct Written {
    id: CallId,
    tool: String,
    arguments: Arguments,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It has not arrived.
    Due,
    /// It has not arrived within the wait.
    Missed,
    /// It is being made.
    Begun,
    Over,
}

impl WrittenCalls {
    /// Records the calls of a reply, before the agent sees it: the names of our tools, which a framework may have
    /// changed, and arguments. Returns the ids that the calls will have in the trace.
    pub fn note(&self, calls: Vec<(String, Arguments)>) -> Vec<CallId> {
        let mut state = self.lock();
        state.count += 1;
        let number = state.count;
        let calls: Vec<Written> = (1..)
            .zip(calls)
            .map(|(place, (tool, arguments))| {
                let id = CallId::new(format!("r{number}.{place}"));
                Written { id, tool, arguments, stage: Stage::Due }
            })
            .collect();
        let ids = calls.iter().map(|call| call.id.clone()).collect();
        if state.replies.len() >= WRITTEN_REPLIES_MAX {
            state.replies.pop_front();
        }
        state.replies.push_back(Reply { number, calls });
        ids
    }

    /// The written call that has arrived, if there is one: a pending call of that tool with these arguments, otherwise
    /// any pending call of that tool. Of several, it is the first one in the newest reply that has one.
    pub(super) fn claim(self: &Arc<Self>, tool: &str, arguments: &Arguments) -> Option<ClaimedCall> {
        let mut state = self.lock();
        let is_due = |call: &Written| matches!(call.stage, Stage::Due | Stage::Missed) && call.tool == tool;
        let is_it = |call: &Written| is_due(call) && is_same(&call.arguments, arguments);
        let find = |is_it: &dyn Fn(&Written) -> bool| {
            let places = state.replies.iter().enumerate().rev();
            let mut places = places.map(|(reply, it)| (reply, it.calls.iter().position(is_it)));
            places.find_map(|(reply, place)| Some((reply, place?)))
        };
        // Equal arguments anywhere come before a newer reply. If there are none, the framework has changed them.
        let (reply, place) = find(&is_it).or_else(|| find(&is_due))?;
        let Reply { number, calls } = &mut state.replies[reply];
        calls[place].stage = Stage::Begun;
        let (number, id) = (*number, calls[place].id.clone());
        drop(state);
        Some(ClaimedCall { written: Arc::clone(self), number, place, id })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock is held leaves complete entries only.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The calls of a reply up to an index; none for a forgotten reply.
    fn calls_before(&mut self, number: u64, place: usize) -> &mut [Written] {
        let reply = self.replies.iter_mut().find(|reply| reply.number == number);
        reply.and_then(|reply| reply.calls.get_mut(..place)).unwrap_or_default()
    }
}

/// A written call that has arrived. Dropping this marks it as answered.
pub(super) struct ClaimedCall {
    written: Arc<WrittenCalls>,
    number: u64,
    place: usize,
    id: CallId,
}

impl ClaimedCall {
    /// Its id in the trace, which is already assigned.
    pub(super) fn id(&self) -> &CallId {
        &self.id
    }

    /// Waits until all calls that were written before it in the same reply are answered. Those that do not arrive in
    /// time are not waited for again.
    pub(super) async fn wait_for_earlier(&self) {
        if tokio::time::timeout(EARLIER_CALLS_WAIT_MAX, self.earlier()).await.is_err() {
            let mut state = self.written.lock();
            for call in state.calls_before(self.number, self.place) {
                // A call that has begun keeps its stage, because it will be answered.
                if call.stage == Stage::Due {
                    call.stage = Stage::Missed;
                }
            }
        }
    }

    async fn earlier(&self) {
        loop {
            // Created before the check, so that an answer between the check and the wait still wakes it.
            let answered = self.written.answered.notified();
            let is_over = |call: &Written| matches!(call.stage, Stage::Missed | Stage::Over);
            if self.written.lock().calls_before(self.number, self.place).iter().all(is_over) {
                return;
            }
            answered.await;
        }
    }
}

impl Drop for ClaimedCall {
    fn drop(&mut self) {
        // The last call before the next index is this one. A forgotten reply has none.
        if let Some(call) = self.written.lock().calls_before(self.number, self.place + 1).last_mut() {
            call.stage = Stage::Over;
        }
        self.written.answered.notify_waiters();
    }
}

/// Whether arguments mean the same. Frameworks omit an argument that is null, or add null for a missing one.
fn is_same(written: &Arguments, arrived: &Arguments) -> bool {
    let holds = |one: &Map<String, Value>, other: &Map<String, Value>| {
        one.iter().all(|(name, value)| value.is_null() || other.get(name) == Some(value))
    };
    match (written, arrived) {
        (Arguments::Object(one), Arguments::Object(other)) => holds(one, other) && holds(other, one),
        (one, other) => one == other,
    }
}
