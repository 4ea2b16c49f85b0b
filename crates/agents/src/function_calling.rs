//! The function-calling loop: the model gets query and tools, every tool call it writes is executed, and the results
//! go back to it, until it answers without a call. (The paper's "OpenAI Tools" agent, section 5.)

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use planproof_model::{BoxFuture, ChatRequest, Message, Model, Settings};
use planproof_tools::{Toolbox, execute_recorded};
use planproof_trace::{CallId, EndReason, EventKind, LimitKind, Recorder, ToolCall};

use crate::RunLimits;

/// What an in-process agent is run with.
#[derive(Clone, Copy)]
pub struct InProcessRun<'a> {
    /// All that the agent sees of the case, besides its tools.
    pub query: &'a str,
    /// The tools.
    pub toolbox: &'a dyn Toolbox,
    /// What ends the run if nothing else does.
    pub limits: &'a RunLimits,
    /// Seed of the run, handed to the model.
    pub seed: u64,
    /// Takes the events.
    pub recorder: &'a Recorder,
}

/// An agent whose loop is ours.
#[derive(Clone)]
pub struct FunctionCallingAgent {
    model: Arc<dyn Model>,
}

impl FunctionCallingAgent {
    /// The kind's name on the command line.
    pub const KIND: &'static str = "tools";

    /// An agent that asks `model`. `None` if the model cannot call tools.
    pub fn new(model: Arc<dyn Model>) -> Option<Self> {
        model.capabilities().tool_calls.then_some(Self { model })
    }

    /// The model it asks.
    pub fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    /// Runs until the end, which is the last event recorded. Dropping the future ends the run without one.
    pub fn run<'a>(&'a self, run: InProcessRun<'a>) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            run.recorder.record(EventKind::Query { text: run.query.to_owned() });
            let end = match tokio::time::timeout(run.limits.wall, self.turns(&run)).await {
                Ok(end) => end,
                Err(_) => EndReason::LimitReached {
                    limit: LimitKind::WallMilliseconds,
                    value: run.limits.wall_ms(),
                },
            };
            run.recorder.end(end);
        })
    }

    async fn turns(&self, run: &InProcessRun<'_>) -> EndReason {
        let mut request = ChatRequest {
            messages: vec![Message::User { text: run.query.to_owned() }],
            tools: Arc::clone(run.toolbox.tools()),
            settings: Settings { temperature: Some(0.0), seed: Some(run.seed), ..Settings::default() },
            previous: None,
        };
        let mut used = UsedIds::default();
        for _ in 0..run.limits.iterations {
            let reply = match self.model.chat(&request).await {
                Ok(reply) => reply,
                Err(error) => return EndReason::Unscored { reason: error.to_string() },
            };
            let calls: Vec<ToolCall> = reply.calls.into_iter().map(|call| used.make_unique(call)).collect();
            run.recorder.record(EventKind::Turn {
                text: reply.text.clone(),
                calls: u32::try_from(calls.len()).unwrap_or(u32::MAX),
                finish: reply.finish,
                usage: reply.usage,
            });
            if calls.is_empty() {
                return EndReason::Answered { text: reply.text };
            }
            let mut results = Vec::with_capacity(calls.len());
            for call in &calls {
                results.push(execute_recorded(run.toolbox, run.recorder, call).await);
            }
            request.messages.push(Message::Assistant { text: reply.text, calls });
            request
                .messages
                .extend(results.into_iter().map(|result| Message::Tool { id: result.id, text: result.text }));
        }
        EndReason::LimitReached { limit: LimitKind::Iterations, value: u64::from(run.limits.iterations) }
    }
}

impl fmt::Debug for FunctionCallingAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionCallingAgent").field("model", &self.model.name()).finish()
    }
}

/// The call ids of a run. A server that repeats one, or sends none, would make two calls look like one.
#[derive(Default)]
struct UsedIds(HashSet<CallId>);

impl UsedIds {
    fn make_unique(&mut self, mut call: ToolCall) -> ToolCall {
        let mut number = self.0.len();
        while call.id.as_str().is_empty() || !self.0.insert(call.id.clone()) {
            number += 1;
            call.id = CallId::new(format!("call-{number}"));
        }
        call
    }
}

#[cfg(test)]
mod tests {
    use planproof_trace::Arguments;

    use super::*;

    #[test]
    fn call_ids_become_unique() {
        let mut used = UsedIds::default();
        let ids: Vec<String> = ["x", "", "x", "call-1", "call-2"]
            .into_iter()
            .map(|id| {
                let call = ToolCall { id: CallId::new(id), name: "t".into(), arguments: Arguments::none() };
                used.make_unique(call).id.to_string()
            })
            .collect();
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 5, "{ids:?}");
        assert_eq!(ids[0], "x");
    }
}
