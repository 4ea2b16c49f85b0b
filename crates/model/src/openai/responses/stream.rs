//! The events of a response while it is being written.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::reply::{ItemKind, WireItem, WireResponse};
use super::state::StreamedItems;
use crate::connection::calls::BegunCalls;
use crate::connection::ending::names_failure;
use crate::connection::events::is_done;
use crate::connection::fault::{Fault, reported_error};
use crate::connection::stream::{Decoder, Deltas};
use crate::{ChatRequest, ModelError, lenient};

/// An event with the fields of all kinds; each kind uses its own.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::count")]
    output_index: Option<u64>,
    /// The item that the event is of, by its own id.
    item_id: Option<String>,
    delta: Option<Text>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<WireItem<'a>>,
    #[serde(borrow)]
    response: Option<WireResponse<'a>>,
    #[serde(default, deserialize_with = "Fault::of_field")]
    error: Option<Fault>,
    message: Option<String>,
    code: Option<serde_json::Value>,
}

/// A text, or the value that other kinds of events have in its place, which is not read.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Text(String),
    Other(serde::de::IgnoredAny),
}

/// Reads the events of a reply to `request`. An item is sent several times: as it begins, in pieces, whole, and once
/// more with the whole response; only what is new each time is passed on.
pub(super) struct EventDecoder<'a> {
    request: &'a ChatRequest,
    calls: BegunCalls,
    /// The calls by the ids of their items.
    items: BTreeMap<String, usize>,
    /// Arguments came of which it is not known what call they belong to.
    has_lost: bool,
    /// The text items of which something has been passed on.
    passed_on: BTreeSet<u64>,
    /// The items as they came.
    streamed: StreamedItems,
}

impl<'a> EventDecoder<'a> {
    pub(super) fn new(request: &'a ChatRequest) -> Self {
        let (calls, items, passed_on) = (BegunCalls::default(), BTreeMap::new(), BTreeSet::new());
        Self { request, calls, items, has_lost: false, passed_on, streamed: StreamedItems::default() }
    }

    fn text(&mut self, place: Option<u64>, text: String, out: &mut Deltas<'_>) {
        if !text.is_empty() {
            self.passed_on.insert(place.unwrap_or_default());
            out.text(text);
        }
    }

    /// Whether text of the item has been passed on; for an item without an index, whether any text has.
    fn has_passed_on(&self, place: Option<u64>) -> bool {
        place.map_or(!self.passed_on.is_empty(), |place| self.passed_on.contains(&place))
    }

    /// The call that arguments belong to: by the id of its item, else by its index, else the newest one. Arguments
    /// before its beginning are not needed if the whole item follows.
    fn call(&mut self, place: Option<u64>, item_id: Option<&str>) -> Option<usize> {
        let of_item = item_id.and_then(|id| self.items.get(id).copied());
        let known = of_item.or_else(|| place.map_or(self.calls.newest(), |place| self.calls.at(place)));
        self.has_lost |= known.is_none();
        known
    }

    /// An item that begins, or that is sent whole.
    fn item(
        &mut self,
        place: Option<u64>,
        item: WireItem<'_>,
        out: &mut Deltas<'_>,
    ) -> Result<(), ModelError> {
        match item.kind {
            Some(ItemKind::Message) if !self.has_passed_on(place) => {
                let text = item.content.map(|content| content.into_text("")).unwrap_or_default();
                self.text(place, text, out);
            }
            Some(ItemKind::FunctionCall) => {
                // Calls may share the id that their results name, but not that of the item.
                let of_item = item.id.as_ref().and_then(|id| self.items.get(id).copied());
                let known = of_item.or_else(|| match place {
                    Some(place) => self.calls.at(place),
                    None => item.call_id.as_deref().and_then(|id| self.calls.with_id(id)),
                });
                let index = match known {
                    Some(index) => index,
                    None => {
                        // Without indices, the calls are numbered as they begin.
                        let place = place.unwrap_or(self.calls.len() as u64);
                        self.calls.begin(Some(place), item.call_id, self.request, out)?
                    }
                };
                self.items.extend(item.id.map(|id| (id, index)));
                self.calls.name(index, item.name.unwrap_or_default(), self.request);
                self.whole_arguments(index, item.arguments, out)?;
            }
            Some(ItemKind::Reasoning) => out.thought(),
            Some(ItemKind::Message | ItemKind::Other) | None => {}
        }
        Ok(())
    }

    fn whole_arguments(
        &mut self,
        index: usize,
        arguments: Option<&RawValue>,
        out: &mut Deltas<'_>,
    ) -> Result<(), ModelError> {
        if let Some(raw) = arguments {
            let whole = out.endpoint.arguments(raw)?;
            self.calls.whole_arguments(index, &whole, out);
        }
        Ok(())
    }

    /// The response has ended. It is sent once more, which is useful only if text or calls were not sent before: some
    /// servers leave items out here, so that neither indices nor numbers can be compared.
    fn end(&mut self, mut response: WireResponse<'_>, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        let end = response.end(out.endpoint)?;
        // Determined before the loop, because the loop itself passes on text and calls.
        let (no_words, no_calls) = (self.passed_on.is_empty(), self.calls.len() == 0);
        for (place, item) in (0..).zip(response.output.into_iter().flatten()) {
            match item.kind {
                Some(ItemKind::Message) if no_words => self.item(Some(place), item, out)?,
                Some(ItemKind::FunctionCall) if no_calls => self.item(Some(place), item, out)?,
                _ => {}
            }
        }
        if self.has_lost && self.calls.len() == 0 {
            return Err(out.endpoint.malformed("arguments of a call that never began"));
        }
        self.calls.finish(out)?;
        out.state = self.streamed.state();
        out.end(end.ending, self.calls.len() > 0, end.usage, end.id)
    }
}

impl Decoder for EventDecoder<'_> {
    fn take(&mut self, name: Option<&str>, data: &str, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        // Gateways add it out of habit; the end has been reported before.
        if is_done(data) {
            return Ok(());
        }
        let event: Event<'_> = out.endpoint.parse_part(data, "response")?;
        let place = event.output_index;
        let delta = match event.delta {
            Some(Text::Text(text)) => text,
            Some(Text::Other(_)) | None => String::new(),
        };
        let kind = event.kind.as_deref().or(name).unwrap_or_default();
        self.streamed.add(kind, data);
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => self.text(place, delta, out),
            "response.function_call_arguments.delta" => {
                if let Some(index) = self.call(place, event.item_id.as_deref()) {
                    self.calls.arguments(index, &delta, out);
                }
            }
            "response.function_call_arguments.done" => {
                if let Some(index) = self.call(place, event.item_id.as_deref()) {
                    self.whole_arguments(index, event.arguments, out)?;
                }
            }
            "response.output_item.added" | "response.output_item.done" => {
                if let Some(item) = event.item {
                    self.item(place, item, out)?;
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let Some(mut response) = event.response else {
                    return Err(out.endpoint.malformed(&format!("`{kind}` without its `response`")));
                };
                if kind == "response.failed" {
                    return Err(response.failure(out.endpoint));
                }
                self.end(response, out)?;
            }
            // The whole response, from servers that frame it as a single event.
            "" if event.error.is_none() => {
                let response: WireResponse<'_> = out.endpoint.parse_part(data, "response")?;
                if response.output.is_some() {
                    self.end(response, out)?;
                } else if let Some(fault) = reported_error(data.as_bytes()) {
                    return Err(fault.within_reply(out.endpoint));
                }
            }
            _ => {
                // The kind `error` has the fields of an error object beside its type; gateways send the object.
                let fault = match event.error {
                    Some(fault) => Some(fault),
                    None if kind == "error" => Some(Fault::new(event.message, event.code)),
                    None if names_failure(kind) => reported_error(data.as_bytes()),
                    None => None,
                };
                if let Some(fault) = fault {
                    return Err(fault.into_model_error(out.endpoint));
                }
            }
        }
        Ok(())
    }

    /// Only an event ends a response: without it neither its tokens nor its id are known.
    fn close(&mut self, _: &mut Deltas<'_>) -> Result<(), ModelError> {
        Ok(())
    }
}
