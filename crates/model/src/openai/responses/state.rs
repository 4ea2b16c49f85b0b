//! State in a response: items of other kinds than text and calls, such as encrypted reasoning, and the fields of text
//! and calls that the protocol does not know.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::TurnState;
use crate::turn_state::{Fields, PartOf, StateForm, StatePart};

const TEXT_FIELDS: [&str; 3] = ["type", "role", "content"];
const CALL_FIELDS: [&str; 4] = ["type", "call_id", "name", "arguments"];

/// What every item has. It is sent back beside other state only.
const USUAL_FIELDS: [&str; 2] = ["id", "status"];

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<std::borrow::Cow<'a, str>>,
}

/// The state of a turn of these output items.
pub(crate) fn of_items<'a>(items: impl IntoIterator<Item = &'a RawValue>) -> TurnState {
    let mut calls = 0;
    let parts = items.into_iter().filter_map(|item| {
        let Kind { kind } = serde_json::from_str(item.get()).ok()?;
        let (of, call, fields) = match kind.as_deref() {
            Some("message") => (PartOf::Text, None, Fields::beside(item, &TEXT_FIELDS)),
            Some("function_call") => {
                calls += 1;
                (PartOf::Call, Some(calls - 1), Fields::beside(item, &CALL_FIELDS))
            }
            _ => (PartOf::Item, None, Fields::whole(item)),
        };
        Some(StatePart::new(StateForm::Responses, of, call, fields))
    });
    let parts: Vec<_> = parts.collect();
    let says_something = |part: &StatePart| part.of() == PartOf::Item || part.has_beside(&USUAL_FIELDS);
    if parts.iter().any(says_something) { TurnState::new(parts) } else { TurnState::default() }
}

/// The state of a whole response.
pub(super) fn of_response(bytes: &[u8]) -> TurnState {
    #[derive(Deserialize)]
    struct Response<'a> {
        #[serde(borrow)]
        output: Vec<&'a RawValue>,
    }
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let first = serde_json::Deserializer::from_slice(bytes).into_iter::<Response<'_>>().next();
    first.and_then(Result::ok).map(|response| of_items(response.output)).unwrap_or_default()
}

/// The items of a streamed response, each as it was sent last.
#[derive(Debug, Default)]
pub(super) struct StreamedItems(Vec<(u64, Box<RawValue>)>);

impl StreamedItems {
    /// Takes an event.
    pub(super) fn add(&mut self, kind: &str, data: &str) {
        #[derive(Deserialize)]
        struct Event<'a> {
            output_index: Option<u64>,
            #[serde(borrow)]
            item: Option<&'a RawValue>,
            #[serde(borrow)]
            response: Option<Output<'a>>,
        }
        #[derive(Deserialize)]
        struct Output<'a> {
            #[serde(borrow)]
            output: Option<Vec<&'a RawValue>>,
        }
        if !matches!(kind, "response.output_item.done" | "response.completed" | "response.incomplete") {
            return;
        }
        let Ok(event) = serde_json::from_str::<Event<'_>>(data) else { return };
        if let Some(item) = event.item {
            let place = event.output_index.unwrap_or(self.0.len() as u64);
            self.0.push((place, item.to_owned()));
        }
        // The whole response counts only if its items were not sent before: some servers leave items out of it.
        let whole = event.response.and_then(|response| response.output).filter(|_| self.0.is_empty());
        self.0.extend((0..).zip(whole.into_iter().flatten().map(ToOwned::to_owned)));
    }

    /// The state that they hold.
    pub(super) fn state(&mut self) -> TurnState {
        self.0.sort_by_key(|(place, _)| *place);
        of_items(self.0.iter().map(|(_, item)| &**item))
    }
}
