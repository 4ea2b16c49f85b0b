//! State in a message: blocks of other kinds than text and calls, such as thoughts with their signatures, and the
//! fields of text and calls that the protocol does not know.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::TurnState;
use crate::turn_state::{Fields, PartOf, StateForm, StatePart, join_objects};

const TEXT_FIELDS: [&str; 3] = ["type", "text", "citations"];
const CALL_FIELDS: [&str; 4] = ["type", "id", "name", "input"];

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
}

/// The state of a turn of these blocks.
pub(crate) fn of_blocks<'a>(blocks: impl IntoIterator<Item = &'a RawValue>) -> TurnState {
    let mut calls = 0;
    let parts = blocks.into_iter().filter_map(|block| {
        let Kind { kind } = serde_json::from_str(block.get()).ok()?;
        let (of, call, fields) = match kind.as_deref() {
            Some("text") => (PartOf::Text, None, Fields::beside(block, &TEXT_FIELDS)),
            Some("tool_use") => {
                calls += 1;
                (PartOf::Call, Some(calls - 1), Fields::beside(block, &CALL_FIELDS))
            }
            _ => (PartOf::Item, None, Fields::whole(block)),
        };
        Some(StatePart::new(StateForm::Messages, of, call, fields))
    });
    TurnState::new(parts.collect())
}

/// The state of a whole message.
pub(super) fn of_message(bytes: &[u8]) -> TurnState {
    #[derive(Deserialize)]
    struct Reply<'a> {
        #[serde(borrow)]
        content: Vec<&'a RawValue>,
    }
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let first = serde_json::Deserializer::from_slice(bytes).into_iter::<Reply<'_>>().next();
    first.and_then(Result::ok).map(|reply| of_blocks(reply.content)).unwrap_or_default()
}

/// The blocks of a streamed message.
#[derive(Debug, Default)]
pub(super) struct StreamedBlocks(Vec<Block>);

#[derive(Debug)]
struct Block {
    place: u64,
    fields: Map<String, Value>,
    /// The pieces of the input of a tool of the server's.
    input: String,
}

impl StreamedBlocks {
    /// Takes an event.
    pub(super) fn add(&mut self, kind: &str, data: &str) {
        #[derive(Deserialize)]
        struct Event {
            index: Option<u64>,
            content_block: Option<Map<String, Value>>,
            delta: Option<Map<String, Value>>,
        }
        if !matches!(kind, "content_block_start" | "content_block_delta") {
            return;
        }
        let Ok(event) = serde_json::from_str::<Event>(data) else { return };
        if let Some(fields) = event.content_block {
            let place = event.index.unwrap_or(self.0.len() as u64);
            self.0.push(Block { place, fields, input: String::new() });
        }
        let Some(mut delta) = event.delta else { return };
        let block = match event.index {
            Some(place) => self.0.iter_mut().rfind(|block| block.place == place),
            None => self.0.last_mut(),
        };
        // Most pieces are those of texts, which are read elsewhere.
        let Some(block) = block.filter(|block| block.kind() != "text") else { return };
        delta.remove("type");
        match delta.remove("partial_json") {
            Some(Value::String(piece)) if block.kind() != "tool_use" => block.input.push_str(&piece),
            Some(_) => {}
            None => join_objects(&mut block.fields, delta),
        }
    }

    /// The state that they hold.
    pub(super) fn state(&mut self) -> TurnState {
        let blocks = std::mem::take(&mut self.0).into_iter().map(|mut block| {
            if let Ok(input) = serde_json::from_str(&block.input) {
                block.fields.insert("input".to_owned(), input);
            }
            serde_json::value::to_raw_value(&block.fields)
        });
        let blocks: Vec<_> = blocks.filter_map(Result::ok).collect();
        of_blocks(blocks.iter().map(|block| &**block))
    }
}

impl Block {
    fn kind(&self) -> &str {
        self.fields.get("type").and_then(Value::as_str).unwrap_or_default()
    }
}
