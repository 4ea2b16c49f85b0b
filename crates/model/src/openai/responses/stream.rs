//! The events of a response while it is being written.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::reply::{ItemKind, WireItem, WireResponse};
use crate::connection::fault::Fault;
use crate::connection::stream::{BegunCalls, Decoder, Deltas};
use crate::{ChatRequest, ModelError};

/// An event with the fields of all kinds; each kind uses its own.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    output_index: Option<u64>,
    delta: Option<Text>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<WireItem<'a>>,
    #[serde(borrow)]
    response: Option<WireResponse<'a>>,
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
    /// The text items of which something has been passed on.
    passed_on: BTreeSet<u64>,
}

impl<'a> EventDecoder<'a> {
    pub(super) fn new(request: &'a ChatRequest) -> Self {
        Self { request, calls: BegunCalls::default(), passed_on: BTreeSet::new() }
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

    /// The call that arguments belong to. Arguments before its beginning are ignored: the whole item follows.
    fn call(&self, place: Option<u64>) -> Option<usize> {
        self.calls.at(place.or(self.calls.last().map(|(place, _)| place))?)
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
                let known = match place {
                    Some(place) => self.calls.at(place),
                    None => item.call_id.as_deref().and_then(|id| self.calls.with_id(id)),
                };
                let index = match known {
                    Some(index) => index,
                    None => {
                        // Without indices, the calls are numbered as they begin.
                        let place = place.unwrap_or(self.calls.len() as u64);
                        self.calls.begin(place, item.call_id, self.request, out)?
                    }
                };
                if let Some(name) = item.name.filter(|name| !name.is_empty()) {
                    self.calls.name(index, name, out);
                }
                self.whole_arguments(index, item.arguments, out)?;
            }
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
            let whole = out.endpoint.arguments(raw)?.into_owned();
            self.calls.whole_arguments(index, whole, out);
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
        self.calls.finish(out);
        out.end(end.finish(self.calls.len() > 0), end.usage, end.id);
        Ok(())
    }
}

impl Decoder for EventDecoder<'_> {
    fn take(&mut self, name: Option<&str>, data: &str, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        // Gateways add it out of habit; the end has been reported before.
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let event: Event<'_> = out.endpoint.parse_part(data, "response")?;
        let place = event.output_index;
        let delta = match event.delta {
            Some(Text::Text(text)) => text,
            Some(Text::Other(_)) | None => String::new(),
        };
        let kind = event.kind.as_deref().or(name).unwrap_or_default();
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => self.text(place, delta, out),
            "response.function_call_arguments.delta" => {
                if let Some(index) = self.call(place) {
                    self.calls.arguments(index, delta, out);
                }
            }
            "response.function_call_arguments.done" => {
                if let Some(index) = self.call(place) {
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
            _ => {
                // The kind `error` has the fields of an error object beside its type; gateways send the object.
                let fault = match event.error {
                    Some(fault) => Some(fault),
                    None if kind == "error" => {
                        Some(Fault::Object { message: event.message, code: event.code, kind: None })
                    }
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
    fn close(&mut self, _: &mut Deltas<'_>) {}
}
