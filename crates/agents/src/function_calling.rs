//! The function-calling loop: the model gets query and tools, every tool call it writes is executed, and the results
//! are sent back to it, until it answers without a call. (The paper's "OpenAI Tools" agent, section 5.)
//!
//! The conversation so far is sent with every request, or stored at the model's server, which then gets only what is
//! new. (The paper's "OpenAI Assistants" agent; OpenAI has replaced that protocol by the responses.)

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use planproof_model::{BoxFuture, ChatRequest, Message, Model, Settings, run_time};
use planproof_tools::execute_recorded;
use planproof_trace::{CallId, EndReason, EventKind, LimitKind, ToolCall, ToolResult, text_calls};

use crate::asking::Conversation;
use crate::{Agent, Ran, RunContext, RunError};

/// An agent whose loop is ours.
#[derive(Clone)]
pub struct FunctionCallingAgent {
    model: Arc<dyn Model>,
    /// The conversation lies at the server.
    server_state: bool,
    /// The model is asked to reason before each call.
    reasons: bool,
    /// Calls that the model writes as text are executed.
    parses_text_calls: bool,
}

/// The system message of agents whose model is to reason before each call.
const REASONING: &str = include_str!("../prompts/reasoning.txt");

impl FunctionCallingAgent {
    /// The name on the command line of the kind that sends the conversation with every request.
    pub const KIND: &'static str = "tools";

    /// The name on the command line of the kind that stores the conversation at the model's server.
    pub const KIND_WITH_SERVER_STATE: &'static str = "responses";

    /// The name on the command line of the kind whose model is asked to reason before each call.
    pub const KIND_THAT_REASONS: &'static str = "tools-cot";

    /// The same as [`new`](Self::new), with a system message to reason step by step before each call: the baseline
    /// that PMC calls CoT (section 5.1).
    pub fn reasoning(model: Arc<dyn Model>) -> Option<Self> {
        Self::new(model).map(|agent| Self { reasons: true, ..agent })
    }

    /// An agent that asks `model` and sends the conversation with every request. `None` if the model cannot call tools.
    pub fn new(model: Arc<dyn Model>) -> Option<Self> {
        model.capabilities().tool_calls.then_some(Self {
            model,
            server_state: false,
            reasons: false,
            parses_text_calls: false,
        })
    }

    /// An agent that asks `model` and stores the conversation at its server: the first request holds the query, each
    /// later one only the results of the latest calls. `None` if the model cannot call tools or stores no replies.
    ///
    /// A server that has lost the conversation leaves the run unscored.
    pub fn with_server_state(model: Arc<dyn Model>) -> Option<Self> {
        let capabilities = model.capabilities();
        let is_able = capabilities.tool_calls && capabilities.server_state;
        is_able.then_some(Self { model, server_state: true, reasons: false, parses_text_calls: false })
    }

    /// The same agent, which also executes the calls that the model writes as text, in replies without other calls:
    /// see [`text_calls`].
    #[must_use]
    pub fn parsing_text_calls(self) -> Self {
        Self { parses_text_calls: true, ..self }
    }

    /// The kind's name on the command line.
    pub fn kind(&self) -> &'static str {
        match (self.server_state, self.reasons) {
            (true, _) => Self::KIND_WITH_SERVER_STATE,
            (false, true) => Self::KIND_THAT_REASONS,
            (false, false) => Self::KIND,
        }
    }

    /// The model it asks.
    pub fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    async fn turns(&self, run: &RunContext<'_>) -> EndReason {
        let reasoning = self.reasons.then(|| Message::System { text: REASONING.trim_end().to_owned() });
        let query = Message::User { text: run.query.to_owned() };
        let mut request = ChatRequest {
            messages: reasoning.into_iter().chain([query]).collect(),
            tools: Arc::clone(run.toolbox.tools()),
            settings: Settings { temperature: Some(0.0), seed: Some(run.seed), ..Settings::default() },
            previous: None,
        };
        let mut conversation = Conversation::new(&*self.model, run);
        let mut used = UsedIds::default();
        let mut later = run.later.iter();
        for _ in 0..run.limits.iterations {
            let mut reply = match conversation.send(&mut request).await {
                Ok(reply) => reply,
                Err(end) => return end,
            };
            let is_written = self.parses_text_calls && reply.calls.is_empty();
            if is_written {
                reply.calls = written_calls(&reply.text, run);
                // Behind a call that its server has left in the thought comes nothing.
                if reply.calls.is_empty() && reply.text.trim().is_empty() {
                    reply.calls = written_calls(&reply.state.reasoning(), run);
                }
            }
            if let Err(end) = conversation.take(&request, &reply, run.recorder) {
                return end;
            }
            let given = if self.server_state { &reply.calls[..] } else { &[] };
            let given_ids: Vec<CallId> = given.iter().map(|call| call.id.clone()).collect();
            let calls: Vec<ToolCall> = reply.calls.into_iter().map(|call| used.make_unique(call)).collect();
            if calls.is_empty() {
                let Some(next) = later.next() else { return EndReason::Answered { text: reply.text } };
                run.recorder.record(EventKind::Query { text: next.clone() });
                let next = Message::User { text: next.clone() };
                if self.server_state {
                    let Some(id) = reply.id else { return self.no_reply_id() };
                    (request.previous, request.messages) = (Some(id), vec![next]);
                } else {
                    let said = Message::Assistant { text: reply.text, calls: Vec::new(), state: reply.state };
                    request.messages.extend([said, next]);
                }
                continue;
            }
            // From the batch, a judge learns which calls the model wrote without seeing the results of the others.
            if calls.len() > 1 {
                let calls = calls.iter().map(|call| call.id.clone()).collect();
                run.recorder.record(EventKind::Batch { calls });
            }
            // Executed one after the other, as written: even calls that the model meant to make at once have an order.
            let mut results = Vec::with_capacity(calls.len());
            for call in &calls {
                results.push(execute_recorded(&**run.toolbox, run.recorder, call).await);
            }
            // The server knows of no calls that were written, and takes no results of them.
            let (calls, answers) = match is_written {
                true => (Vec::new(), vec![answers_as_text(&calls, &results)]),
                false if self.server_state => (calls, answers_at_server(given_ids, results)),
                false => (calls, results.into_iter().map(answer).collect()),
            };
            if self.server_state {
                let Some(id) = reply.id else { return self.no_reply_id() };
                request.previous = Some(id);
                request.messages = answers;
            } else {
                request.messages.push(Message::Assistant { text: reply.text, calls, state: reply.state });
                request.messages.extend(answers);
            }
        }
        EndReason::LimitReached { limit: LimitKind::Iterations, value: u64::from(run.limits.iterations) }
    }

    fn no_reply_id(&self) -> EndReason {
        let reason = format!(
            "{} gave its reply no id, so that the next request cannot go on from it",
            self.model.name()
        );
        EndReason::Unscored { reason }
    }
}

impl Agent for FunctionCallingAgent {
    fn can_converse(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Result<Ran, RunError>> {
        Box::pin(async move {
            run.recorder.record(EventKind::Query { text: run.query.to_owned() });
            // Boxed, because each future around it would otherwise reserve room for it twice: once where it is passed
            // on, and once where it is polled.
            let end = run_time::within(run.limits.wall, Box::pin(self.turns(&run))).await;
            Ok(Ran::in_process(end.unwrap_or_else(|over| run.limits.out_of_time(&over))))
        })
    }
}

/// The calls that a model wrote as text.
fn written_calls(text: &str, run: &RunContext<'_>) -> Vec<ToolCall> {
    let tools = run.toolbox.tools();
    let calls = text_calls(text, &|name| tools.iter().any(|tool| tool.name == name)).into_iter();
    // An empty id becomes a unique one.
    calls.map(|call| ToolCall { id: CallId::new(""), name: call.name, arguments: call.arguments }).collect()
}

/// The results of calls that a model wrote as text, in words: templates have a place only for those of calls that the
/// server knows.
fn answers_as_text(calls: &[ToolCall], results: &[ToolResult]) -> Message {
    let parts =
        calls.iter().zip(results).map(|(call, result)| format!("Result of {}:\n{}", call.name, result.text));
    Message::User { text: parts.collect::<Vec<_>>().join("\n\n") }
}

/// The results of calls in a conversation that the server stores. It knows the calls by the ids that the model gave
/// them, even if those are not unique.
fn answers_at_server(given_ids: Vec<CallId>, results: Vec<ToolResult>) -> Vec<Message> {
    let results = given_ids.into_iter().zip(results);
    results.map(|(id, result)| answer(ToolResult { id, ..result })).collect()
}

fn answer(result: ToolResult) -> Message {
    Message::Tool { id: result.id, text: result.text }
}

impl fmt::Debug for FunctionCallingAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionCallingAgent")
            .field("kind", &self.kind())
            .field("model", &self.model.name())
            .finish()
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
