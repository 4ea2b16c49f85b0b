//! The replies of a model that is served to the agent under test: calls that were written together are judged in the
//! order of writing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use planproof_agents::ServedWatch;
use planproof_model::server::ReplyWatch;
use planproof_model::shown_tools::own_place_of_call;
use planproof_model::simulated::is_at_a_loss;
use planproof_model::{ChatReply, ChatRequest};
use planproof_tools::mcp::WrittenCalls;
use planproof_trace::{EndReason, EventKind, Recorder, Tool};

/// Records what the model writes in one run.
pub(crate) struct Replies {
    tools: Arc<[Tool]>,
    recorder: Recorder,
    written: Arc<WrittenCalls>,
    /// The model's name, if it is one of our simulations.
    simulated: Option<String>,
    was_at_a_loss: AtomicBool,
}

impl Replies {
    /// Of a run with these tools.
    pub(crate) fn new(tools: Arc<[Tool]>, recorder: Recorder, simulated: Option<String>) -> Self {
        let (written, was_at_a_loss) = Default::default();
        Self { tools, recorder, written, simulated, was_at_a_loss }
    }
}

impl ServedWatch for Replies {
    fn written(&self) -> &Arc<WrittenCalls> {
        &self.written
    }

    /// A simulated model did not understand a request.
    fn unscored(&self) -> Option<String> {
        let model = self.simulated.as_deref().filter(|_| self.was_at_a_loss.load(Ordering::Relaxed))?;
        Some(not_understood(model))
    }
}

/// What a simulated model does not do with a request that it does not understand.
const NOT_UNDERSTOOD: &str = "does not understand the conversation that this agent has with it";

/// The same of the query, where the conversation is one of our own.
const NOT_READ: &str = "does not understand this query";

/// Whether a run has no score for this reason however often it is repeated: a simulated model does not understand the
/// agent, or the case.
pub fn is_unscored_for_good(reason: &str) -> bool {
    reason.contains(NOT_UNDERSTOOD) || reason.contains(NOT_READ)
}

/// Why a run has no score in which a simulated model did not understand a request.
fn not_understood(model: &str) -> String {
    format!(
        "{model} {NOT_UNDERSTOOD}, which says nothing about the agent: a \
             simulated model knows the calls and results of the model interfaces and a few other forms; test this agent with \
             a real model"
    )
}

/// The end of a run in our own process. The run has no score if the simulated model only said that it does not
/// understand the request.
pub(crate) fn end_of(end: EndReason, simulated: Option<&str>) -> EndReason {
    match (&end, simulated) {
        (EndReason::Answered { text }, Some(model)) if is_at_a_loss(text) => {
            let reason = format!(
                "{model} {NOT_READ}, which says nothing about the agent: it reads the English of synthesised orders alone; \
                 of any other case, sim/gold knows a right session, and sim/gold/0.2 a wrong one of every fifth"
            );
            EndReason::Unscored { reason }
        }
        _ => end,
    }
}

impl ReplyWatch for Replies {
    fn replied(&self, request: &ChatRequest, reply: &ChatReply) {
        if self.simulated.is_some() && is_at_a_loss(&reply.text) {
            self.was_at_a_loss.store(true, Ordering::Relaxed);
        }
        // A framework has tools of its own, for example for its final answer.
        let calls = reply.calls.iter().filter_map(|call| {
            let place = own_place_of_call(&self.tools, &request.tools, &call.name)?;
            Some((self.tools[place].name.clone(), call.arguments.clone()))
        });
        let calls: Vec<_> = calls.collect();
        if calls.is_empty() {
            return;
        }
        let calls = self.written.note(calls);
        if calls.len() > 1 {
            self.recorder.record(EventKind::Batch { calls });
        }
    }
}
