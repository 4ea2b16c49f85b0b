//! A response as the events of a stream.
//!
//! The protocol sends one item after the other, while a model may write several calls in parallel. So the first
//! incomplete item is sent as it grows, and those after it when their turn comes.

use planproof_trace::{Arguments, CallId, FinishReason, ToolCall, Usage};
use serde::Serialize;

use super::ReplyContext;
use super::output::{Item, ItemBody, Outcome, ResponseBody, TextPart};
use crate::server::error::ApiError;
use crate::server::shared::Shared;
use crate::server::sse::{Events, Narrator};
use crate::{ChatDelta, ChatReply, ChatRequest, TurnState};

/// Tells one response.
pub(super) struct EventNarrator {
    context: ReplyContext,
    teller: Teller,
    items: Vec<Item>,
    /// Where the calls are among the items, by their place among the calls.
    calls: Vec<usize>,
    texts: usize,
    /// What the model's server wants back with the reply.
    state: TurnState,
    /// The items before this one have been sent completely.
    live: usize,
}

impl EventNarrator {
    pub(super) fn new(context: ReplyContext) -> Self {
        let teller = Teller { sequence_number: 0 };
        Self {
            context,
            teller,
            items: Vec::new(),
            calls: Vec::new(),
            texts: 0,
            state: TurnState::default(),
            live: 0,
        }
    }

    fn tell_response(&mut self, event: &str, outcome: Outcome<'_>, out: &mut Events) {
        let response = self.context.envelope.response(outcome, &self.items);
        self.teller.tell(Event { r#type: event, response: Some(response), ..Event::default() }, out);
    }

    fn begin_item(&mut self, item: Item, out: &mut Events) {
        self.items.push(item);
        if self.live + 1 == self.items.len() {
            self.teller.begin(self.live, &self.items[self.live], out);
        }
    }

    fn grow(&mut self, place: usize, more: &str, out: &mut Events) {
        let Some(item) = self.items.get_mut(place) else { return };
        match &mut item.body {
            ItemBody::Text { text } => text.push_str(more),
            ItemBody::Call { arguments, .. } => arguments.push_str(more),
            ItemBody::Sealed(_) => {}
        }
        if place == self.live {
            self.teller.grow(place, item, more, out);
        }
    }

    /// Sends the live item's end, so that the next one becomes live.
    fn end_live(&mut self, out: &mut Events) {
        if let Some(item) = self.items.get_mut(self.live) {
            item.complete = true;
            self.teller.end(self.live, item, out);
            self.live += 1;
        }
    }

    fn end_all(&mut self, out: &mut Events) {
        self.end_live(out);
        // The items behind the live one were collected without being sent. Now each is sent whole.
        while let Some(item) = self.items.get(self.live) {
            self.teller.begin(self.live, item, out);
            let whole = match &item.body {
                ItemBody::Text { text } => text,
                ItemBody::Call { arguments, .. } => arguments,
                ItemBody::Sealed(_) => "",
            };
            if !whole.is_empty() {
                self.teller.grow(self.live, item, whole, out);
            }
            self.end_live(out);
        }
    }

    /// The reply that the items tell.
    fn reply(&self, finish: FinishReason, usage: Usage) -> ChatReply {
        let state = self.state.clone();
        let mut reply = ChatReply { text: String::new(), calls: Vec::new(), finish, usage, id: None, state };
        for item in &self.items {
            match &item.body {
                ItemBody::Text { text } => reply.text.push_str(text),
                ItemBody::Call { call_id, name, arguments, .. } => reply.calls.push(ToolCall {
                    id: CallId::new(call_id.as_str()),
                    name: name.clone(),
                    arguments: Arguments::from_text(arguments),
                }),
                ItemBody::Sealed(_) => {}
            }
        }
        reply
    }
}

impl Narrator for EventNarrator {
    type Request = ChatRequest;

    fn begin(&mut self, out: &mut Events) {
        self.tell_response("response.created", Outcome::InProgress, out);
        self.tell_response("response.in_progress", Outcome::InProgress, out);
    }

    fn tell(&mut self, delta: ChatDelta, out: &mut Events) {
        match delta {
            ChatDelta::Text(more) => {
                let last_is_text =
                    self.items.last().is_some_and(|item| matches!(item.body, ItemBody::Text { .. }));
                if !last_is_text {
                    let item = Item::text(self.context.number, self.texts);
                    self.texts += 1;
                    self.begin_item(item, out);
                }
                self.grow(self.items.len() - 1, &more, out);
            }
            ChatDelta::CallStart { id, name, .. } => {
                // Text before a call is complete; other calls may still grow.
                let live_is_text =
                    self.items.get(self.live).map(|item| matches!(item.body, ItemBody::Text { .. }));
                if live_is_text == Some(true) {
                    self.end_live(out);
                }
                let item = Item::call(
                    self.context.number,
                    self.calls.len(),
                    id.as_str().to_owned(),
                    name,
                    &self.context.offered,
                );
                self.calls.push(self.items.len());
                self.begin_item(item, out);
            }
            ChatDelta::CallArguments { index, fragment } => {
                if let Some(&place) = self.calls.get(index) {
                    self.grow(place, &fragment, out);
                }
            }
            ChatDelta::State(state) => self.state = state,
            ChatDelta::End { .. } => {}
        }
    }

    fn end(
        mut self,
        finish: FinishReason,
        usage: Usage,
        request: ChatRequest,
        shared: &Shared,
        out: &mut Events,
    ) {
        if self.items.is_empty() {
            self.begin_item(Item::text(self.context.number, 0), out);
        }
        // It comes last, so it holds the order of the whole turn.
        if let Some(sealed) = self.state.sealed(|_| false) {
            self.begin_item(Item::sealed(self.context.number, sealed), out);
        }
        self.end_all(out);
        let outcome = Outcome::Ended(finish, usage);
        let reply = self.reply(finish, usage);
        // Stored before it is sent: the client may continue from it at once.
        self.context.keep(shared, request, reply);
        self.tell_response(&format!("response.{}", outcome.status()), outcome, out);
    }

    fn fail(mut self, error: &ApiError, out: &mut Events) {
        self.tell_response("response.failed", Outcome::Failed(&error.to_string()), out);
    }
}

/// Writes events and numbers them.
struct Teller {
    sequence_number: u64,
}

/// An event with the fields of all kinds; each kind uses its own.
#[derive(Serialize, Default)]
struct Event<'a> {
    r#type: &'a str,
    sequence_number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<ResponseBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_index: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<&'a Item>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<TextPart<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<[(); 0]>,
}

impl Teller {
    fn tell(&mut self, event: Event<'_>, out: &mut Events) {
        let event = Event { sequence_number: self.sequence_number, ..event };
        self.sequence_number += 1;
        out.named(event.r#type, &event);
    }

    fn begin(&mut self, place: usize, item: &Item, out: &mut Events) {
        let added = Event {
            r#type: "response.output_item.added",
            output_index: Some(place),
            item: Some(item),
            ..Event::default()
        };
        self.tell(added, out);
        if let ItemBody::Text { .. } = item.body {
            let part = Event {
                r#type: "response.content_part.added",
                part: Some(TextPart::new("")),
                ..of(place, item)
            };
            self.tell(part, out);
        }
    }

    fn grow(&mut self, place: usize, item: &Item, more: &str, out: &mut Events) {
        let (kind, logprobs) = match item.body {
            ItemBody::Text { .. } => ("response.output_text.delta", Some([])),
            ItemBody::Call { .. } => ("response.function_call_arguments.delta", None),
            // It is sent whole.
            ItemBody::Sealed(_) => return,
        };
        self.tell(Event { r#type: kind, delta: Some(more), logprobs, ..of(place, item) }, out);
    }

    fn end(&mut self, place: usize, item: &Item, out: &mut Events) {
        match &item.body {
            ItemBody::Text { text } => {
                let done = Event {
                    r#type: "response.output_text.done",
                    text: Some(text),
                    logprobs: Some([]),
                    ..of(place, item)
                };
                self.tell(done, out);
                let part = Event {
                    r#type: "response.content_part.done",
                    part: Some(TextPart::new(text)),
                    ..of(place, item)
                };
                self.tell(part, out);
            }
            ItemBody::Call { name, namespaced, arguments, .. } => {
                // The client knows the tool by its own name, without the namespace.
                let name = namespaced.as_ref().map_or(name, |parts| &parts.name);
                let done = Event {
                    r#type: "response.function_call_arguments.done",
                    name: Some(name),
                    arguments: Some(arguments),
                    ..of(place, item)
                };
                self.tell(done, out);
            }
            ItemBody::Sealed(_) => {}
        }
        let done = Event {
            r#type: "response.output_item.done",
            output_index: Some(place),
            item: Some(item),
            ..Event::default()
        };
        self.tell(done, out);
    }
}

/// The fields that every event within an item has.
fn of(place: usize, item: &Item) -> Event<'_> {
    let content_index = matches!(item.body, ItemBody::Text { .. }).then_some(0);
    Event { item_id: Some(&item.id), output_index: Some(place), content_index, ..Event::default() }
}
