//! What a simulated model is given that knows the answers: the prompt of a case, and what a right agent does.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use planproof_suite::{Case, Gold, GoldCall};
use planproof_trace::{Arguments, CallId, EndReason, Event, EventKind, ToolCall};

/// A prompt with the right answer to it.
#[derive(Debug, Clone)]
pub struct Key {
    pub prompt: String,
    /// What a right agent does.
    pub gold: Gold,
    case: Arc<dyn Case>,
}

impl Key {
    /// `None` if nobody knows what a right agent would do.
    pub(crate) fn new(case: &Arc<dyn Case>) -> Option<Self> {
        Some(Self { prompt: case.prompt().to_owned(), gold: case.gold()?, case: Arc::clone(case) })
    }

    /// The same, also with what an agent does that makes a mistake. Where the final answer decides, the case knows a
    /// wrong one. Elsewhere two neighbouring calls of one turn change places, or a call is left out, or made twice, so
    /// that the case fails. The prompt alone decides which of these mistakes is tried first.
    #[must_use]
    pub fn with_mistake(mut self) -> Self {
        if self.gold.wrong_answer.is_empty() {
            self.gold.wrong_answer.clone_from(&self.gold.answer);
            self.gold.wrong_calls = self.wrong_calls();
        }
        self
    }

    fn wrong_calls(&self) -> Option<Vec<GoldCall>> {
        let right = &self.gold.calls;
        // The calls that begin a turn.
        let begins = |place: &usize| self.gold.turns.contains(place);
        let last_turn = self.gold.turns.last().copied().unwrap_or(0);
        let swapped = (1..right.len()).filter(|place| !begins(place)).map(|place| {
            let mut calls = right.clone();
            calls.swap(place - 1, place);
            calls
        });
        // The turns before the last keep their numbers of calls.
        let left_out = (last_turn..right.len()).map(|place| {
            let mut calls = right.clone();
            calls.remove(place);
            calls
        });
        let twice = (last_turn..right.len()).map(|place| {
            let mut calls = right.clone();
            calls.insert(place, right[place].clone());
            calls
        });
        let mut mistakes: Vec<Vec<GoldCall>> = swapped.chain(left_out).chain(twice).collect();
        if mistakes.is_empty() {
            return None;
        }
        let first = self.prompt.bytes().map(usize::from).sum::<usize>() % mistakes.len();
        mistakes.rotate_left(first);
        mistakes.into_iter().find(|calls| self.fails(calls))
    }

    /// Whether a run with these calls, one after the other, fails. Not if its tools do not answer at once.
    fn fails(&self, calls: &[GoldCall]) -> bool {
        let Ok(tools) = self.case.toolbox() else { return false };
        let query = || EventKind::Query { text: self.prompt.clone() };
        let mut kinds = vec![query()];
        for (place, call) in calls.iter().enumerate() {
            kinds.extend(self.gold.turns.iter().filter(|turn| **turn == place).map(|_| query()));
            let id = CallId::new(format!("call-{place}"));
            let arguments = Arguments::Object(call.arguments.clone());
            let call = ToolCall { id, name: call.tool.clone(), arguments };
            let Some(result) = now(tools.execute(&call)) else { return false };
            kinds.extend([EventKind::Call(call), EventKind::Result(result)]);
        }
        let after = self.gold.turns.iter().filter(|turn| **turn >= calls.len());
        kinds.extend(after.map(|_| query()));
        kinds.push(EventKind::End(EndReason::Answered { text: self.gold.answer.clone() }));
        let events: Vec<Event> = (0..).zip(kinds).map(|(at, kind)| Event::new(at, kind)).collect();
        self.case.judge(&events).is_ok_and(|verdict| !verdict.passed())
    }
}

/// The value of a future that is ready.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
