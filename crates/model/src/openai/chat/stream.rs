//! The events of a chat completion while it is being written.

use std::borrow::Cow;

use planproof_trace::Usage;
use serde::Deserialize;

use super::reply::{ReplyFunction, choice_ending};
use super::state::{self, ChatState};
use crate::connection::calls::{BegunCalls, CallPiece};
use crate::connection::ending::Ending;
use crate::connection::events::is_done;
use crate::connection::fault::{Fault, fault_event, reported_error};
use crate::connection::stream::{Decoder, Deltas};
use crate::content::Content;
use crate::counts::Counts;
use crate::{ChatRequest, ModelError, lenient};

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Option<Vec<ChunkChoice<'a>>>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<Counts>,
    #[serde(default, deserialize_with = "Fault::of_field")]
    error: Option<Fault>,
}

#[derive(Deserialize)]
struct ChunkChoice<'a> {
    #[serde(default, deserialize_with = "lenient::count")]
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    /// The whole message, from servers that frame it as a single event.
    #[serde(borrow)]
    message: Option<Delta<'a>>,
    #[serde(default, deserialize_with = "Ending::read")]
    finish_reason: Option<Ending>,
    #[serde(default, deserialize_with = "Ending::read")]
    native_finish_reason: Option<Ending>,
    #[serde(default, deserialize_with = "Fault::of_field")]
    error: Option<Fault>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    content: Option<Content>,
    refusal: Option<String>,
    #[serde(default, deserialize_with = "lenient::has_text")]
    reasoning_content: bool,
    #[serde(default, deserialize_with = "lenient::has_text")]
    reasoning: bool,
    #[serde(borrow)]
    tool_calls: Option<Vec<CallDelta<'a>>>,
    /// A piece of the only call, in the old form of the protocol.
    #[serde(borrow)]
    function_call: Option<ReplyFunction<'a>>,
}

#[derive(Deserialize)]
struct CallDelta<'a> {
    #[serde(default, deserialize_with = "lenient::count")]
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
    ending: Option<Ending>,
    usage: Usage,
    state: ChatState,
    /// Some of the reply has arrived, at least its beginning.
    has_begun: bool,
    /// The whole message came in one event, which need not say why it ended.
    is_whole: bool,
    /// Another choice has calls.
    has_other_calls: bool,
    /// The first event that is not a part of a reply.
    foreign: Option<String>,
}

impl<'a> ChunkDecoder<'a> {
    pub(in crate::openai) fn new(request: &'a ChatRequest) -> Self {
        let (calls, usage, state) = (BegunCalls::default(), Usage::default(), ChatState::default());
        Self {
            request,
            calls,
            ending: None,
            usage,
            state,
            has_begun: false,
            is_whole: false,
            has_other_calls: false,
            foreign: None,
        }
    }

    fn take_delta(&mut self, delta: Delta<'_>, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        if delta.reasoning_content || delta.reasoning {
            out.thought();
        }
        let texts = [delta.content.map(|content| content.into_text("")), delta.refusal];
        texts.into_iter().flatten().for_each(|text| out.text(text));
        let old = delta.function_call.filter(|_| delta.tool_calls.is_none());
        let old = old.map(|function| vec![CallDelta { index: Some(0), id: None, function: Some(function) }]);
        let calls = delta.tool_calls.or(old).unwrap_or_default();
        let are_several = calls.len() > 1;
        for (place, call) in (0..).zip(calls) {
            let text = |text: Option<String>| text.filter(|text| !text.is_empty());
            let (name, arguments) = call.function.map_or((None, None), |it| (it.name, it.arguments));
            let arguments = arguments.map(|raw| out.endpoint.arguments(raw)).transpose()?;
            let id = text(call.id);
            // Calls side by side are different ones, even if nothing but their order tells them apart.
            let place = (are_several && id.is_none()).then_some(place);
            let piece = CallPiece {
                index: call.index.or(place),
                id,
                name: text(name),
                arguments: text(arguments.map(Cow::into_owned)),
            };
            self.calls.take(piece, self.request, out)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        self.calls.finish(out)?;
        if self.has_other_calls && self.calls.len() == 0 {
            return Err(out
                .endpoint
                .failed("the calls came in another choice than the words, where one was asked for"));
        }
        out.state = std::mem::take(&mut self.state).into_state();
        out.end(self.ending.take(), self.calls.len() > 0, self.usage, None)
    }
}

impl Decoder for ChunkDecoder<'_> {
    fn take(&mut self, name: Option<&str>, data: &str, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        if is_done(data) {
            if !self.has_begun {
                return Err(out.endpoint.malformed("the stream ends without a part of a chat completion"));
            }
            // Some servers never say why a reply ended, so that alone is not a sign that it was cut.
            let is_torn = self.foreign.is_some() || self.calls.have_missing_parts();
            if self.ending.is_none() && !self.is_whole && is_torn {
                return Err(out.unfinished(self.foreign.as_deref()));
            }
            return self.end(out);
        }
        if let Some(fault) = fault_event(name, data) {
            return Err(fault.within_reply(out.endpoint));
        }
        let chunk: Chunk<'_> = out.endpoint.parse_part(data, "chat completion")?;
        if let Some(fault) = chunk.error {
            return Err(match self.has_begun {
                true => fault.within_reply(out.endpoint),
                false => fault.into_model_error(out.endpoint),
            });
        }
        state::add_chunk(&mut self.state, data);
        let choices = chunk.choices.unwrap_or_default();
        if choices.is_empty() && chunk.usage.is_none() {
            if let Some(fault) = reported_error(data.as_bytes()) {
                return Err(fault.within_reply(out.endpoint));
            }
            self.foreign.get_or_insert_with(|| data.to_owned());
        }
        if let Some(usage) = chunk.usage {
            self.usage = usage.into();
        }
        for choice in choices {
            // Only the first choice counts, as in a whole reply.
            if choice.index.unwrap_or(0) != 0 {
                let calls = choice.delta.as_ref().and_then(|delta| delta.tool_calls.as_ref());
                self.has_other_calls |= calls.is_some_and(|calls| !calls.is_empty());
                continue;
            }
            // A message behind its pieces only repeats them.
            let whole = choice.message.filter(|_| choice.delta.is_none() && !self.has_begun);
            self.has_begun = true;
            self.is_whole |= whole.is_some();
            if let Some(delta) = choice.delta.or(whole) {
                self.take_delta(delta, out)?;
            }
            // A later part without a reason must not erase it.
            let (given, native) = (choice.finish_reason, choice.native_finish_reason);
            self.ending = choice_ending(given, native, choice.error, out.endpoint)?.or(self.ending.take());
        }
        Ok(())
    }

    /// Several servers leave out `[DONE]`; the finish reason proves just as well that the reply is complete.
    fn close(&mut self, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        if self.ending.is_some() { self.end(out) } else { Ok(()) }
    }
}
