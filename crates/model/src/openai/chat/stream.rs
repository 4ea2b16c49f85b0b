//! The events of a chat completion while it is being written.

use planproof_trace::Usage;
use serde::Deserialize;

use super::reply::{ReplyFunction, WireFinish, WireUsage};
use crate::connection::fault::Fault;
use crate::connection::stream::{BegunCalls, Decoder, Deltas};
use crate::content::Content;
use crate::{ChatRequest, ModelError, lenient};

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Option<Vec<ChunkChoice<'a>>>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<WireUsage>,
    error: Option<Fault>,
}

#[derive(Deserialize)]
struct ChunkChoice<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    finish_reason: Option<WireFinish>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    content: Option<Content>,
    refusal: Option<String>,
    #[serde(borrow)]
    tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Deserialize)]
struct CallDelta<'a> {
    index: Option<u64>,
    #[serde(default, deserialize_with = "lenient::name")]
    id: Option<String>,
    #[serde(borrow)]
    function: Option<ReplyFunction<'a>>,
}

/// Reads the chunks of a reply to `request`.
pub(in crate::openai) struct ChunkDecoder<'a> {
    request: &'a ChatRequest,
    calls: BegunCalls,
    finish: Option<WireFinish>,
    usage: Usage,
    /// Some of the reply has arrived, at least its beginning.
    has_begun: bool,
}

impl<'a> ChunkDecoder<'a> {
    pub(in crate::openai) fn new(request: &'a ChatRequest) -> Self {
        let (calls, usage) = (BegunCalls::default(), Usage::default());
        Self { request, calls, finish: None, usage, has_begun: false }
    }

    fn take_call(&mut self, delta: CallDelta<'_>, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        let id = delta.id.filter(|id| !id.is_empty());
        let (name, arguments) = match delta.function {
            Some(function) => (function.name.filter(|name| !name.is_empty()), function.arguments),
            None => (None, None),
        };
        // Either the index of a known call, or the place at which a new one begins.
        let known = match (delta.index, self.calls.last()) {
            (Some(place), _) => {
                // Some servers give every call of a reply the index 0. A new id with a name is a new call.
                let is_same = |index: &usize| {
                    name.is_none() || id.as_deref().is_none_or(|id| self.calls.id(*index).as_str() == id)
                };
                self.calls.at(place).filter(is_same).ok_or(place)
            }
            // A server that gives no indices sends each call's id at its beginning, and perhaps again.
            (None, Some((place, last))) if id.as_deref().is_none_or(|id| last.as_str() == id) => {
                self.calls.at(place).ok_or(place)
            }
            (None, Some((place, _))) => Err(place.saturating_add(1)),
            (None, None) => Err(0),
        };
        let index = match known {
            Ok(index) => index,
            Err(place) => self.calls.begin(place, id, self.request, out)?,
        };
        if let Some(raw) = arguments {
            let piece = out.endpoint.arguments(raw)?.into_owned();
            self.calls.arguments(index, piece, out);
        }
        if let Some(name) = name {
            self.calls.name(index, name, out);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Deltas<'_>) {
        self.calls.finish(out);
        out.end(WireFinish::reason(self.finish, self.calls.len() > 0), self.usage, None);
    }
}

impl Decoder for ChunkDecoder<'_> {
    fn take(&mut self, _: Option<&str>, data: &str, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        if data.trim() == "[DONE]" {
            if !self.has_begun {
                return Err(out.endpoint.malformed("the stream ends without a part of a chat completion"));
            }
            self.end(out);
            return Ok(());
        }
        let chunk: Chunk<'_> = out.endpoint.parse_part(data, "chat completion")?;
        if let Some(fault) = chunk.error {
            return Err(fault.into_model_error(out.endpoint));
        }
        if let Some(usage) = chunk.usage {
            self.usage = usage.into();
        }
        for choice in chunk.choices.into_iter().flatten() {
            // Only the first choice counts, as in a whole reply.
            if choice.index.unwrap_or(0) != 0 {
                continue;
            }
            self.has_begun = true;
            if let Some(delta) = choice.delta {
                let texts = [delta.content.map(|content| content.into_text("")), delta.refusal];
                texts.into_iter().flatten().for_each(|text| out.text(text));
                for call in delta.tool_calls.into_iter().flatten() {
                    self.take_call(call, out)?;
                }
            }
            let reason = choice.finish_reason.filter(|reason| *reason != WireFinish::Unfinished);
            // A later part without a reason must not erase it.
            self.finish = reason.or(self.finish);
        }
        Ok(())
    }

    /// Several servers leave out `[DONE]`; the finish reason proves just as well that the reply is complete.
    fn close(&mut self, out: &mut Deltas<'_>) {
        if self.finish.is_some() {
            self.end(out);
        }
    }
}
