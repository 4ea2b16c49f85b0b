//! The events of a message while it is being written.

use std::borrow::Cow;
use std::collections::BTreeSet;

use planproof_trace::Usage;
use serde::Deserialize;

use super::partial::Join;
use super::reply::{BlockKind, WireBlock, WireReply, WireUsage};
use super::state::StreamedBlocks;
use crate::connection::calls::BegunCalls;
use crate::connection::ending::{Ending, names_failure};
use crate::connection::events::is_done;
use crate::connection::fault::{Fault, fault_event, reported_error};
use crate::connection::stream::{Decoder, Deltas};
use crate::{ChatRequest, ModelError, lenient};

/// An event with the fields of all kinds; each kind uses its own.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::count")]
    index: Option<u64>,
    #[serde(borrow)]
    message: Option<WireReply<'a>>,
    #[serde(borrow)]
    content_block: Option<WireBlock<'a>>,
    delta: Option<Delta>,
    #[serde(default, deserialize_with = "lenient::object")]
    usage: Option<WireUsage>,
    #[serde(default, deserialize_with = "Fault::of_field")]
    error: Option<Fault>,
}

/// More of a block, or of the message. Thoughts and signatures have fields of their own, which are not read.
#[derive(Deserialize)]
struct Delta {
    text: Option<String>,
    partial_json: Option<String>,
    #[serde(default, deserialize_with = "Ending::read")]
    stop_reason: Option<Ending>,
}

/// Reads the events of a reply to `request`.
pub(super) struct BlockDecoder<'a> {
    request: &'a ChatRequest,
    join: Join<'a>,
    calls: BegunCalls,
    /// The arguments in the first event of the current call. They count if no pieces follow.
    whole_input: Option<(usize, String)>,
    /// The places of blocks that are not calls, whose pieces are none of arguments.
    others: BTreeSet<u64>,
    stop: Option<Ending>,
    usage: Usage,
    blocks: StreamedBlocks,
    has_begun: bool,
    /// The first event that is not of the protocol.
    foreign: Option<String>,
}

impl<'a> BlockDecoder<'a> {
    pub(super) fn new(request: &'a ChatRequest) -> Self {
        Self {
            request,
            join: Join::new(request),
            calls: BegunCalls::default(),
            whole_input: None,
            others: BTreeSet::new(),
            stop: None,
            usage: Usage::default(),
            blocks: StreamedBlocks::default(),
            has_begun: false,
            foreign: None,
        }
    }

    fn text(&mut self, text: Option<String>, out: &mut Deltas<'_>) {
        if let Some(text) = text {
            out.text(self.join.push(text));
        }
    }

    fn begin_block(
        &mut self,
        place: u64,
        block: WireBlock<'_>,
        out: &mut Deltas<'_>,
    ) -> Result<(), ModelError> {
        if block.kind != Some(BlockKind::ToolUse) {
            self.others.insert(place);
        }
        match block.kind {
            Some(BlockKind::Text) => self.text(block.text, out),
            Some(BlockKind::Thinking) => out.thought(),
            Some(BlockKind::ToolUse) => {
                // Pieces of arguments name only the block's place, so two calls at one place could not be
                // distinguished.
                if self.calls.at(place).is_some() {
                    return Err(out.endpoint.malformed(&format!("block {place} begins twice")));
                }
                let index = self.calls.begin(Some(place), block.id, self.request, out)?;
                self.calls.name(index, block.name.unwrap_or_default(), self.request);
                let input = block.input.map(|raw| out.endpoint.arguments(raw)).transpose()?;
                // By the protocol this is an empty object, and the arguments follow in pieces. Some servers send them
                // whole. Which of the two it is shows only at the end of the block.
                self.whole_input = input
                    .filter(|text| !matches!(text.as_ref(), "{}" | "null"))
                    .map(|text| (index, text.into_owned()));
            }
            Some(BlockKind::Other) | None => {}
        }
        Ok(())
    }

    fn end_block(&mut self, out: &mut Deltas<'_>) {
        if let Some((index, input)) = self.whole_input.take() {
            self.calls.whole_arguments(index, &input, out);
        }
    }

    fn end(&mut self, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        self.end_block(out);
        self.calls.finish(out)?;
        out.state = self.blocks.state();
        out.end(self.stop.take(), self.calls.len() > 0, self.usage, None)
    }

    /// A piece of the arguments of the call at that place, or of the newest call.
    fn arguments(&mut self, place: Option<u64>, piece: &str, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        match place.map_or(self.calls.newest(), |place| self.calls.at(place)) {
            Some(index) => self.calls.arguments(index, piece, out),
            None if piece.trim().is_empty() || place.is_some_and(|place| self.others.contains(&place)) => {}
            None => return Err(out.endpoint.malformed("arguments of a call that never began")),
        }
        Ok(())
    }

    /// The whole message, from servers that frame it as a single event.
    fn whole(&mut self, message: WireReply<'_>, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        self.has_begun = true;
        for (place, block) in (0..).zip(message.content.into_iter().flatten()) {
            self.begin_block(place, block, out)?;
            self.end_block(out);
        }
        self.stop = message.stop_reason;
        self.usage = message.usage.map_or(self.usage, |usage| usage.over(self.usage));
        self.end(out)
    }
}

impl Decoder for BlockDecoder<'_> {
    fn take(&mut self, name: Option<&str>, data: &str, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        // This is not part of the protocol, but gateways add it. It ends nothing: that takes a `message_stop`, or at
        // least a reason to stop.
        if is_done(data) {
            return Ok(());
        }
        let event: Event<'_> = out.endpoint.parse_part(data, "message")?;
        if let Some(fault) = event.error {
            return Err(fault.into_model_error(out.endpoint));
        }
        let place = event.index.unwrap_or(0);
        if let Some(usage) = event.usage {
            self.usage = usage.over(self.usage);
        }
        // The name of an event repeats the kind that its data has. Either of them suffices.
        let kind = event.kind.as_deref().or(name).unwrap_or_default();
        self.blocks.add(kind, data);
        match kind {
            "message_start" => {
                self.has_begun = true;
                if let Some(usage) = event.message.and_then(|message| message.usage) {
                    self.usage = usage.over(self.usage);
                }
            }
            "content_block_start" => {
                // The next block ends the last one even if its own end is missing.
                self.end_block(out);
                if let Some(block) = event.content_block {
                    self.begin_block(place, block, out)?;
                }
            }
            "content_block_delta" => {
                let Some(delta) = event.delta else { return Ok(()) };
                self.text(delta.text, out);
                if let Some(piece) = delta.partial_json {
                    self.arguments(event.index, &piece, out)?;
                }
            }
            "content_block_stop" => self.end_block(out),
            "message_delta" => {
                self.stop = event.delta.and_then(|delta| delta.stop_reason).or(self.stop.take());
            }
            "message" => self.whole(out.endpoint.parse_part(data, "message")?, out)?,
            "message_stop" if self.stop.is_some() => self.end(out)?,
            "message_stop" if self.has_begun => return Err(out.unfinished(self.foreign.as_deref())),
            "message_stop" => {
                return Err(out.endpoint.malformed("the stream ends without the beginning of a message"));
            }
            "error" => {
                let fault = fault_event(Some("error"), data).unwrap_or_else(|| Fault::Text(data.to_owned()));
                return Err(fault.into_model_error(out.endpoint));
            }
            // Without a kind it is not an event of the protocol, and some kinds are failures by their names.
            _ if kind.is_empty() || names_failure(kind) => {
                if let Some(fault) = reported_error(data.as_bytes()) {
                    return Err(fault.within_reply(out.endpoint));
                }
                self.foreign.get_or_insert_with(|| data.to_owned());
            }
            // Pings, and kinds that later versions of the protocol may add.
            _ => {}
        }
        Ok(())
    }

    /// The reason to stop comes with the last tokens, so the reply is complete even without `message_stop`.
    fn close(&mut self, out: &mut Deltas<'_>) -> Result<(), ModelError> {
        if self.stop.is_some() { self.end(out) } else { Ok(()) }
    }
}
