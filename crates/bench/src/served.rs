//! The replies of a model that is served to the agent under test: what was written together is judged as it was written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use planproof_model::server::ReplyWatch;
use planproof_model::shown_tools::own_place_of_call;
use planproof_model::simulated::is_at_a_loss;
use planproof_model::{ChatReply, ChatRequest};
use planproof_tools::mcp::WrittenCalls;
use planproof_trace::{EventKind, Recorder, Tool};

/// Takes down what the model writes in one run.
pub(crate) struct Replies {
    tools: Arc<[Tool]>,
    recorder: Arc<Recorder>,
    written: Arc<WrittenCalls>,
    is_simulated: bool,
    was_at_a_loss: AtomicBool,
}

impl Replies {
    /// Of a run with these tools.
    pub(crate) fn new(tools: Arc<[Tool]>, recorder: Arc<Recorder>, is_simulated: bool) -> Self {
        let (written, was_at_a_loss) = Default::default();
        Self { tools, recorder, written, is_simulated, was_at_a_loss }
    }

    /// The calls that it has written.
    pub(crate) fn written(&self) -> &Arc<WrittenCalls> {
        &self.written
    }

    /// Whether a simulated model did not understand the run's conversation, so that the run says nothing of the agent.
    pub(crate) fn were_at_a_loss(&self) -> bool {
        self.was_at_a_loss.load(Ordering::Relaxed)
    }
}

impl ReplyWatch for Replies {
    fn replied(&self, request: &ChatRequest, reply: &ChatReply) {
        if self.is_simulated && is_at_a_loss(&reply.text) {
            self.was_at_a_loss.store(true, Ordering::Relaxed);
        }
        // A framework has tools of its own, as for its final answer.
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
