//! Converts the trace of a run into messages.
//!
//! A model's turn becomes an assistant message with the turn's calls. The trace of an external agent contains only
//! calls, no turns: consecutive calls without a result between them become one message, and the agent's final
//! answer another. A message of an agent within the agent carries its name as metadata.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use planproof_suite::Case;
use planproof_trace::{
    Actor, Arguments, CallPairing, EndReason, Event, EventKind, FinishReason, LimitKind, Trace,
};
use serde_json::{Map, Value};

use super::format::{Choice, Limit, Message, MessageMetadata, Output, Role, ToolCall, ToolCallError};

/// The messages of a run, and how it ended.
pub(super) struct Conversation<'a> {
    model: &'a str,
    pub(super) messages: Vec<Message<'a>>,
    /// Why the assistant stopped after its last message.
    stop_reason: &'static str,
    /// The limit that ended the run.
    pub(super) limit: Option<Limit>,
    /// Turns of the model; `None` if they are not visible.
    pub(super) turns: Option<u32>,
}

impl<'a> Conversation<'a> {
    /// The conversation of a run. Without a trace it is only the query.
    pub(super) fn of(case: &'a dyn Case, model: &'a str, trace: Option<&'a Trace>) -> Self {
        let mut writer = Writer {
            case,
            model,
            messages: Vec::new(),
            actor: None,
            pairing: CallPairing::default(),
            names: Vec::new(),
            open: HashMap::new(),
            stop_reason: "unknown",
            limit: None,
            turns: 0,
            texts: HashSet::new(),
        };
        writer.add(case.prompt(), Role::User { source: "input" });
        for event in trace.map_or(&[][..], |trace| &trace.events) {
            writer.take(event);
        }
        Self {
            model,
            messages: writer.messages,
            stop_reason: writer.stop_reason,
            limit: writer.limit,
            turns: (writer.turns > 0).then_some(writer.turns),
        }
    }

    /// The assistant's last message.
    pub(super) fn output(&'a self) -> Output<'a> {
        let last = self.messages.iter().rfind(|message| matches!(message.role, Role::Assistant { .. }));
        Output {
            model: self.model,
            choices: last
                .map(|message| Choice { message, stop_reason: self.stop_reason })
                .into_iter()
                .collect(),
            completion: last.map_or("", |message| message.content),
        }
    }
}

/// The assistant message that receives the next call.
struct Open {
    place: usize,
    /// Calls still expected; `None` for an external agent, which does not announce them.
    calls: Option<u32>,
}

struct Writer<'a> {
    case: &'a dyn Case,
    model: &'a str,
    messages: Vec<Message<'a>>,
    /// The agent of the current event.
    actor: Option<&'a Actor>,
    pairing: CallPairing,
    /// The tools of the calls.
    names: Vec<&'a str>,
    open: HashMap<Option<&'a Actor>, Open>,
    stop_reason: &'static str,
    limit: Option<Limit>,
    turns: u32,
    /// Agents made from a specification.
    texts: HashSet<Option<&'a Actor>>,
}

impl<'a> Writer<'a> {
    fn add(&mut self, content: &'a str, role: Role<'a>) {
        let id = format!("{}/{}", self.case.card().id, self.messages.len() + 1);
        let metadata = self.actor.map(|actor| MessageMetadata { actor: actor.as_str() });
        self.messages.push(Message { id, content, metadata, role });
    }

    /// Adds an assistant message, which can receive calls.
    fn add_turn(&mut self, content: &'a str, calls: Option<u32>) {
        self.open.insert(self.actor, Open { place: self.messages.len(), calls });
        self.add(content, Role::Assistant { source: "generate", tool_calls: Vec::new(), model: self.model });
    }

    fn take(&mut self, event: &'a Event) {
        self.actor = event.actor.as_ref();
        // Every event goes through the pairing, so that its numbers of calls are places in `names`.
        let number = self.pairing.take(event);
        match &event.kind {
            // It is the case's query, which is already there.
            EventKind::Query { .. } => {}
            EventKind::Turn { text, calls, finish, .. } => {
                self.turns += 1;
                self.stop_reason = stop_reason(*finish);
                // The calls of an agent made from a specification are in its text.
                self.add_turn(text, (!self.texts.contains(&self.actor)).then_some(*calls));
            }
            EventKind::Call(call) => {
                // A turn that has all the calls that it announced takes no more, which also keeps the count below from
                // underflowing.
                let open = self.open.get_mut(&self.actor).filter(|open| open.calls != Some(0));
                let place = match open {
                    Some(open) => {
                        open.calls = open.calls.map(|calls| calls - 1);
                        open.place
                    }
                    None => {
                        // No turn is open for this call, so it begins a message of its own.
                        self.stop_reason = "tool_calls";
                        self.add_turn("", None);
                        self.messages.len() - 1
                    }
                };
                self.names.push(&call.name);
                if let Role::Assistant { tool_calls, .. } = &mut self.messages[place].role {
                    tool_calls.push(tool_call(call));
                }
            }
            EventKind::Result(result) => {
                // An external agent that has seen a result is in a new turn when it calls again.
                if self.open.get(&self.actor).is_some_and(|open| open.calls.is_none()) {
                    self.open.remove(&self.actor);
                }
                let id = result.id.as_str();
                let function = number.and_then(|number| self.names.get(number).copied());
                let error =
                    // Inspect's other kinds name a cause, which a result does not report.
                    result.is_error.then_some(ToolCallError { kind: "unknown", message: &result.text });
                let role = Role::Tool { tool_call_id: id, function, error };
                self.add(&result.text, role);
            }
            EventKind::Spec { .. } => drop(self.texts.insert(self.actor)),
            // The turns and results already contain all of it.
            EventKind::Section { .. } | EventKind::Correction { .. } | EventKind::Tally(_) => {}
            EventKind::Batch { .. } => {}
            EventKind::End(reason) => self.end(reason),
        }
    }

    fn end(&mut self, reason: &'a EndReason) {
        match reason {
            EndReason::Answered { text } => {
                let last = self.messages.last();
                // The answer is usually the model's last turn. A turn of an agent within the agent, or one with calls,
                // is not the answer even if it has the same text.
                let is_said = last.is_some_and(|last| {
                    last.content == text
                        && last.metadata.is_none()
                        && matches!(&last.role, Role::Assistant { tool_calls, .. } if tool_calls.is_empty())
                });
                if !is_said {
                    self.stop_reason = "stop";
                    self.add_turn(text, Some(0));
                }
            }
            EndReason::LimitReached { limit, value } => {
                let (kind, units) = match limit {
                    LimitKind::WallMilliseconds => ("time", *value as f64 / 1000.0),
                    // Without turns, the iterations were tool calls of an external agent, for which Inspect has no kind
                    // of limit.
                    LimitKind::Iterations if self.turns > 0 => ("turn", *value as f64),
                    // Inspect's limit of tokens is about all replies of a sample, and ours about one.
                    LimitKind::Iterations
                    | LimitKind::OutputBytes
                    | LimitKind::TextBytes
                    | LimitKind::ReplyTokens => ("custom", *value as f64),
                };
                let reason = format!("limit reached: {limit} {value}");
                self.limit = Some(Limit { kind, limit: units, reason });
            }
            // The score or the sample's error states the reason.
            EndReason::AgentFailed { .. } | EndReason::Unscored { .. } => {}
        }
    }
}

fn tool_call(call: &planproof_trace::ToolCall) -> ToolCall<'_> {
    // Messages borrow their arguments, and malformed ones have no object to borrow.
    static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    let (arguments, parse_error) = match &call.arguments {
        Arguments::Object(object) => (object, None),
        Arguments::Malformed(text) => (&*NONE, Some(format!("the arguments are no JSON object: {text}"))),
    };
    ToolCall { id: call.id.as_str(), function: &call.name, arguments, parse_error, kind: "function" }
}

fn stop_reason(finish: FinishReason) -> &'static str {
    match finish {
        // A turn is cut by the caller, when it has all that it needs.
        FinishReason::Stop | FinishReason::Cut => "stop",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::Length => "max_tokens",
        FinishReason::ContentFilter => "content_filter",
    }
}
