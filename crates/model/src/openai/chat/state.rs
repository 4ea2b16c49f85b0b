//! State in a chat completion: the fields of the message and of its calls that the protocol does not know, such as
//! `reasoning_content` (DeepSeek, Moonshot), `reasoning_details` (OpenRouter) and `extra_content` with a thought's
//! signature (Gemini), and parts of the content that are not a text (Mistral's thoughts).

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::turn_state::{Fields, PartOf, StateForm, StatePart, StatePieces, join_objects};
use crate::{Message, TurnState};

/// What is read elsewhere, or means nothing to a server.
const TURN_FIELDS: [&str; 9] =
    ["role", "content", "tool_calls", "refusal", "function_call", "audio", "annotations", "name", "parsed"];
const CALL_FIELDS: [&str; 4] = ["id", "type", "function", "index"];
const FUNCTION_FIELDS: [&str; 2] = ["name", "arguments"];

/// The fields that any message of the assistant may have state beside, in a reply, in its pieces and in a request.
#[derive(Deserialize)]
struct Turn<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Call<'a> {
    index: Option<usize>,
    #[serde(borrow)]
    function: Option<&'a RawValue>,
}

/// State that is put together from a message, or from the pieces of one.
#[derive(Debug, Default)]
pub(crate) struct ChatState {
    pieces: StatePieces,
    /// The parts of the content that are not a text.
    items: Vec<Map<String, Value>>,
}

impl ChatState {
    /// Adds a message, or a piece of one. Anything that is not of its form is left out: whoever reads the message
    /// itself reports that.
    pub(crate) fn add(&mut self, message: &RawValue) {
        self.pieces.add(PartOf::Turn, 0, &Fields::beside(message, &TURN_FIELDS));
        let Ok(turn) = serde_json::from_str::<Turn<'_>>(message.get()) else { return };
        if let Some(content) = turn.content.filter(|content| content.get().starts_with('[')) {
            self.add_content(content);
        }
        let calls =
            turn.tool_calls.and_then(|calls| serde_json::from_str::<Vec<&RawValue>>(calls.get()).ok());
        for (place, raw) in calls.into_iter().flatten().enumerate() {
            let Ok(call) = serde_json::from_str::<Call<'_>>(raw.get()) else { continue };
            let index = call.index.unwrap_or(place);
            self.pieces.add(PartOf::Call, index, &Fields::beside(raw, &CALL_FIELDS));
            if let Some(function) = call.function {
                self.pieces.add(PartOf::Function, index, &Fields::beside(function, &FUNCTION_FIELDS));
            }
        }
    }

    fn add_content(&mut self, content: &RawValue) {
        let parts: Vec<Map<String, Value>> = serde_json::from_str(content.get()).unwrap_or_default();
        for part in parts {
            // What has a text is text for whoever reads the content.
            if ["text", "refusal", "tool_name"]
                .iter()
                .any(|name| part.get(*name).is_some_and(Value::is_string))
            {
                continue;
            }
            // Thoughts come in pieces of one kind.
            match self.items.last_mut().filter(|last| last.get("type") == part.get("type")) {
                Some(last) => join_objects(last, part),
                None => self.items.push(part),
            }
        }
    }

    /// The state of the whole message.
    pub(crate) fn into_state(self) -> TurnState {
        let items = self
            .items
            .into_iter()
            .map(|fields| StatePart::of_values(StateForm::Chat, PartOf::Item, None, fields));
        TurnState::new(items.chain(self.pieces.into_parts(StateForm::Chat)).collect())
    }
}

/// Adds the state that the body of a client's request has beside these messages of it. What the client was given in
/// `planproof_state` is the state of another protocol.
pub(crate) fn add_to_messages(messages: &mut [Message], body: &[u8]) {
    #[derive(Deserialize)]
    struct Request<'a> {
        #[serde(borrow)]
        messages: Vec<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Sealed<'a> {
        #[serde(borrow)]
        planproof_state: Option<Cow<'a, str>>,
    }
    if !messages.iter().any(|message| matches!(message, Message::Assistant { .. })) {
        return;
    }
    let Ok(request) = serde_json::from_slice::<Request<'_>>(body) else { return };
    for (message, raw) in messages.iter_mut().zip(request.messages) {
        let Message::Assistant { state, .. } = message else { continue };
        let mut read = ChatState::default();
        read.add(raw);
        *state = read.into_state();
        let sealed = serde_json::from_str::<Sealed<'_>>(raw.get()).ok().and_then(|it| it.planproof_state);
        if let Some(parts) = sealed.as_deref().and_then(TurnState::unsealed) {
            state.drop_field("planproof_state");
            state.extend(parts);
        }
    }
}

/// The state of the first choice of a whole reply.
pub(crate) fn of_reply(bytes: &[u8]) -> TurnState {
    #[derive(Deserialize)]
    struct Reply<'a> {
        #[serde(borrow)]
        choices: Vec<Choice<'a>>,
    }
    #[derive(Deserialize)]
    struct Choice<'a> {
        #[serde(borrow)]
        message: &'a RawValue,
    }
    // Without the mark that some servers write before it, and whatever comes behind it.
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let first = serde_json::Deserializer::from_slice(bytes).into_iter::<Reply<'_>>().next();
    let reply = first.and_then(Result::ok);
    let mut state = ChatState::default();
    if let Some(choice) = reply.as_ref().and_then(|reply| reply.choices.first()) {
        state.add(choice.message);
    }
    state.into_state()
}

/// Adds the state in a part of a streamed reply.
pub(crate) fn add_chunk(state: &mut ChatState, data: &str) {
    #[derive(Deserialize)]
    struct Chunk<'a> {
        #[serde(borrow)]
        choices: Vec<Choice<'a>>,
    }
    #[derive(Deserialize)]
    struct Choice<'a> {
        index: Option<u64>,
        #[serde(borrow)]
        delta: Option<&'a RawValue>,
    }
    let Ok(chunk) = serde_json::from_str::<Chunk<'_>>(data) else { return };
    let deltas = chunk.choices.into_iter().filter(|choice| choice.index.unwrap_or(0) == 0);
    deltas.filter_map(|choice| choice.delta).for_each(|delta| state.add(delta));
}
