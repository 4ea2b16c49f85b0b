//! What a server wants back with a turn of its model: thoughts with signatures, encrypted reasoning, and any other
//! field that the protocol does not know.
//!
//! Such state means nothing here. It is kept as it came, beside the text and the calls of the turn, and sent back to a
//! server of the same protocol. To a client of another protocol it is given in a field that clients return unread
//! ([`TurnState::sealed`]).

use std::fmt;
use std::sync::Arc;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::connection::parameters::Refused;
use crate::json::write_text;

/// The beginning of state that is given to the clients of another protocol.
const SEAL: &str = "planproof-state:";

/// The fields of a message in which servers give thoughts.
const TURN_THOUGHTS: [&str; 4] = ["reasoning_content", "reasoning", "thinking", "reasoning_details"];

/// The same for blocks and items of thoughts.
const ITEM_THOUGHTS: [&str; 5] = ["thinking", "text", "content", "summary", "reasoning"];

/// The state of one turn; mostly there is none. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnState(Option<Arc<[StatePart]>>);

/// A part of a turn as far as the protocol does not know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatePart {
    form: StateForm,
    of: PartOf,
    /// Of which call, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<usize>,
    /// Names and values, the latter as JSON.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fields: Vec<(Box<str>, Json)>,
}

/// The protocol that the state belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StateForm {
    Chat,
    Responses,
    Messages,
}

/// What the fields are fields of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PartOf {
    Turn,
    /// Its text, where that is an item or a block of its own; the place of the text if there are no fields.
    Text,
    /// A call; its place if there are no fields.
    Call,
    /// The function of a call.
    Function,
    /// An item or block of another kind, with all its fields.
    Item,
    /// The turn's thoughts as far as they stood in its text, or the protocol does not take them back. They are for
    /// traces and recordings, and are sent to nobody.
    Thoughts,
}

/// What stands at a place of a turn, with the state that belongs to it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Placed<'a> {
    Text(Option<&'a StatePart>),
    Call(usize, Option<&'a StatePart>),
    Item(&'a StatePart),
}

/// The fields of a part, to be written among those of the object that they belong to; there may be none.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StateFields<'a>(pub(crate) Option<&'a StatePart>);

impl Serialize for StateFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.into_iter().flat_map(StatePart::fields))
    }
}

/// A value as JSON, as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Json(Box<str>);

impl Json {
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        <&RawValue>::deserialize(&mut serde_json::Deserializer::from_str(&self.0))
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(raw.get().into()))
    }
}

impl StatePart {
    /// A part with these fields.
    pub(crate) fn new(form: StateForm, of: PartOf, call: Option<usize>, fields: Fields<'_>) -> Self {
        Self {
            form,
            of,
            call,
            fields: fields.0.into_iter().map(|(name, raw)| (name.into(), Json(raw.get().into()))).collect(),
        }
    }

    /// The same with fields that were put together from pieces.
    pub(crate) fn of_values(
        form: StateForm,
        of: PartOf,
        call: Option<usize>,
        fields: Map<String, Value>,
    ) -> Self {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), Json(value.to_string().into())));
        Self { form, of, call, fields: fields.collect() }
    }

    pub(crate) fn of(&self) -> PartOf {
        self.of
    }

    pub(crate) fn call(&self) -> Option<usize> {
        self.call
    }

    pub(crate) fn form(&self) -> StateForm {
        self.form
    }

    /// Names and values.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.fields.iter().map(|(name, value)| (&**name, value))
    }

    /// The names that a server may complain of: those of the fields, or for an item its kind as well.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.kind()
            .into_iter()
            .chain(self.fields.iter().map(|(name, _)| &**name).filter(|name| *name != "type"))
    }

    /// The kind of an item, by its field `type`.
    pub(crate) fn kind(&self) -> Option<&str> {
        let (_, Json(kind)) =
            self.fields.iter().find(|(name, _)| self.of == PartOf::Item && **name == *"type")?;
        kind.strip_prefix('"')?.strip_suffix('"')
    }

    /// Thoughts in words: those of the first field that has any, because servers give the same under several names.
    fn thoughts(&self) -> Vec<String> {
        let is_thought = |kind: &str| kind.contains("thinking") || kind.contains("reasoning");
        let names = match self.of {
            PartOf::Turn => &TURN_THOUGHTS[..],
            PartOf::Item if self.kind().is_some_and(is_thought) => &ITEM_THOUGHTS[..],
            PartOf::Thoughts => &["text"],
            _ => &[],
        };
        let texts = |name: &&str| {
            let (_, value) = self.fields().find(|(field, _)| field == name)?;
            let mut texts = Vec::new();
            add_texts(&serde_json::from_str(value.text()).ok()?, &mut texts);
            Some(texts).filter(|texts| texts.iter().any(|text| !text.trim().is_empty()))
        };
        names.iter().find_map(texts).unwrap_or_default()
    }

    /// Writes the fields as an object.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (index, (name, value)) in self.fields().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_text(out, name);
            out.push(b':');
            out.extend_from_slice(value.text().as_bytes());
        }
        out.push(b'}');
    }

    /// Whether there are fields other than these.
    pub(crate) fn has_beside(&self, names: &[&str]) -> bool {
        self.fields.iter().any(|(name, _)| !names.contains(&&**name))
    }

    /// The fields that are still sent, of a part that is not itself refused.
    pub(crate) fn sent<'a>(&'a self, refused: &Refused) -> impl Iterator<Item = (&'a str, &'a Json)> {
        self.fields().filter(|(name, _)| !refused.has_state(name))
    }

    /// Whether a server takes it back: an item is sent whole or not at all.
    pub(crate) fn is_sent(&self, refused: &Refused) -> bool {
        self.of != PartOf::Item || !self.names().any(|name| refused.has_state(name))
    }

    fn bytes(&self) -> usize {
        64 + self.fields.iter().map(|(name, Json(value))| 32 + name.len() + value.len()).sum::<usize>()
    }
}

impl TurnState {
    /// The state of these parts, in their order; none if they say nothing but places.
    pub(crate) fn new(parts: Vec<StatePart>) -> Self {
        let says_something = parts.iter().any(|part| !part.fields.is_empty());
        Self(says_something.then(|| parts.into()))
    }

    /// The state with thoughts that are sent to nobody; empty ones change nothing.
    #[must_use]
    pub(crate) fn with_thoughts(mut self, thoughts: &str) -> Self {
        if !thoughts.is_empty() {
            let text = Map::from_iter([("text".to_owned(), Value::from(thoughts))]);
            self.extend([StatePart::of_values(StateForm::Chat, PartOf::Thoughts, None, text)]);
        }
        self
    }

    /// The thoughts of the turn in words, as far as the server gives them; mostly empty.
    pub fn reasoning(&self) -> String {
        let texts: Vec<String> = self.parts().iter().flat_map(StatePart::thoughts).collect();
        let texts = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The parts in their order.
    pub fn parts(&self) -> &[StatePart] {
        self.0.as_deref().unwrap_or_default()
    }

    /// The parts that belong to a protocol.
    pub(crate) fn of_form(&self, form: StateForm) -> impl Iterator<Item = &StatePart> {
        self.parts().iter().filter(move |part| part.form == form)
    }

    /// The text, the calls and the items of a turn in the order in which the protocol had them. Calls and text that the
    /// state does not place come last.
    pub(crate) fn placed(&self, form: StateForm, has_text: bool, calls: usize) -> Vec<Placed<'_>> {
        let mut placed = Vec::with_capacity(calls + 1);
        let (mut needs_text, mut placed_calls) =
            (has_text, vec![false; if self.is_empty() { 0 } else { calls }]);
        for part in self.of_form(form) {
            match (part.of, part.call) {
                (PartOf::Item, _) => placed.push(Placed::Item(part)),
                (PartOf::Text, _) if needs_text => {
                    needs_text = false;
                    placed.push(Placed::Text(Some(part)));
                }
                (PartOf::Call, Some(call)) if placed_calls.get(call) == Some(&false) => {
                    placed_calls[call] = true;
                    placed.push(Placed::Call(call, Some(part)));
                }
                _ => {}
            }
        }
        if needs_text {
            placed.push(Placed::Text(None));
        }
        let rest = (0..calls).filter(|call| placed_calls.get(*call) != Some(&true));
        placed.extend(rest.map(|call| Placed::Call(call, None)));
        placed
    }

    /// Leaves a field out wherever it is.
    pub(crate) fn drop_field(&mut self, name: &str) {
        let mut parts = self.parts().to_vec();
        parts.iter_mut().for_each(|part| part.fields.retain(|(it, _)| **it != *name));
        parts.retain(|part| !part.fields.is_empty());
        *self = Self::new(parts);
    }

    /// The state with more parts behind it.
    pub(crate) fn extend(&mut self, parts: impl IntoIterator<Item = StatePart>) {
        let all = self.parts().iter().cloned().chain(parts).collect();
        *self = Self::new(all);
    }

    /// The approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.parts().iter().map(StatePart::bytes).sum()
    }

    /// The parts that a client is not given as fields of its protocol, as a text that it returns unread; `None` if
    /// there are none.
    pub(crate) fn sealed(&self, is_given: impl Fn(&StatePart) -> bool) -> Option<String> {
        let is_kept = |part: &&StatePart| part.of != PartOf::Thoughts && !is_given(part);
        let rest: Vec<_> = self.parts().iter().filter(is_kept).collect();
        // All keys are strings, and the values are JSON already.
        let json = rest.iter().any(|part| !part.fields.is_empty()).then(|| serde_json::to_string(&rest))?;
        Some(format!("{SEAL}{}", json.unwrap_or_default()))
    }

    /// The part that belongs to a part of the turn.
    pub(crate) fn part(&self, form: StateForm, of: PartOf, call: Option<usize>) -> Option<&StatePart> {
        self.of_form(form).find(|part| part.of == of && part.call == call)
    }

    /// The parts in a text that [`sealed`](Self::sealed) made; `None` for any other text.
    pub(crate) fn unsealed(text: &str) -> Option<Vec<StatePart>> {
        serde_json::from_str(text.strip_prefix(SEAL)?).ok()
    }

    /// The values, as JSON.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts().iter().flat_map(|part| part.fields.iter().map(|(_, value)| value.text()))
    }

    /// The state with each of its values changed, as JSON. What is not JSON afterwards is left out.
    pub(crate) fn map_texts(&mut self, change: impl Fn(&str) -> Option<String>) {
        let changed = self.texts().any(|text| change(text).is_some());
        if !changed {
            return;
        }
        let mut parts = self.parts().to_vec();
        for part in &mut parts {
            part.fields.retain_mut(|(_, Json(text))| match change(text) {
                None => true,
                Some(new) => {
                    *text = new.into();
                    serde_json::from_str::<IgnoredAny>(text).is_ok()
                }
            });
        }
        *self = Self::new(parts);
    }
}

/// Adds the words in a value: a text, or those of each block of a list.
fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        // The reader of JSON limits how deep this can go.
        Value::Array(items) => items.iter().for_each(|item| add_texts(item, texts)),
        Value::Object(fields) => {
            if let Some(value) = ITEM_THOUGHTS.iter().find_map(|name| fields.get(*name)) {
                add_texts(value, texts);
            }
        }
        _ => {}
    }
}

impl Serialize for TurnState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.parts().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TurnState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::new(Vec::deserialize(deserializer)?))
    }
}

/// The fields of an object that its protocol does not know. Values that say nothing (`null`, `[]`, `{}`) are left out:
/// clients and servers add such fields out of habit, and other servers refuse them.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a>(Vec<(&'a str, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// All the fields of an object; none if the text is none.
    pub(crate) fn all_of(object: &'a RawValue) -> Self {
        let mut fields = Self(object_fields(object));
        fields.0.retain(|(_, value)| !matches!(value.get(), "null" | "[]" | "{}" | "\"\""));
        fields
    }

    /// All the fields of an object, whatever they say.
    pub(crate) fn whole(object: &'a RawValue) -> Self {
        Self(object_fields(object))
    }

    /// Those other than the known ones.
    pub(crate) fn beside(object: &'a RawValue, known: &[&str]) -> Self {
        let mut fields = Self::all_of(object);
        fields.0.retain(|(name, _)| !known.contains(name));
        fields
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The fields of an object in their order; none if it is not an object, or one whose names have escapes.
pub(crate) fn object_fields(object: &RawValue) -> Vec<(&str, &RawValue)> {
    struct Pairs<'a>(Vec<(&'a str, &'a RawValue)>);

    impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct PairsVisitor;

            impl<'de> Visitor<'de> for PairsVisitor {
                type Value = Pairs<'de>;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("an object")
                }

                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
                    let mut pairs = Vec::new();
                    while let Some(pair) = map.next_entry()? {
                        pairs.push(pair);
                    }
                    Ok(Pairs(pairs))
                }
            }

            deserializer.deserialize_map(PairsVisitor)
        }
    }

    serde_json::from_str::<Pairs<'_>>(object.get()).map(|pairs| pairs.0).unwrap_or_default()
}

/// Puts a value together that comes in pieces: texts are joined, objects merged, and the elements of a list too if they
/// have the same `index`. Names and kinds, which every piece repeats, stand once.
pub(crate) fn join_pieces(whole: &mut Value, piece: Value) {
    match (whole, piece) {
        (Value::String(whole), Value::String(piece)) => whole.push_str(&piece),
        (Value::Object(whole), Value::Object(piece)) => join_objects(whole, piece),
        (Value::Array(whole), Value::Array(piece)) => {
            for element in piece {
                let same = element.get("index").filter(|index| index.is_u64()).cloned();
                let place =
                    same.and_then(|index| whole.iter().position(|it| it.get("index") == Some(&index)));
                match place {
                    Some(place) => join_pieces(&mut whole[place], element),
                    None => whole.push(element),
                }
            }
        }
        (_, Value::Null) => {}
        (whole, piece) => *whole = piece,
    }
}

/// The same of the fields of an object.
pub(crate) fn join_objects(whole: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (name, value) in piece {
        match whole.get_mut(&name) {
            Some(known) => join_field(&name, known, value),
            None => {
                whole.insert(name, value);
            }
        }
    }
}

fn join_field(name: &str, whole: &mut Value, piece: Value) {
    let is_repeated = ["type", "id", "index", "format", "name", "role", "status", "object"].contains(&name);
    match piece {
        Value::Null => {}
        piece if is_repeated => *whole = piece,
        piece => join_pieces(whole, piece),
    }
}

/// State that comes in the pieces of a stream, put together by what it belongs to. What comes in one piece stays as it
/// came.
#[derive(Debug, Default)]
pub(crate) struct StatePieces(Vec<(PartOf, usize, Joining)>);

/// Fields by their names.
type Joining = Vec<(Box<str>, Joined)>;

#[derive(Debug)]
enum Joined {
    One(Json),
    Several(Value),
}

impl StatePieces {
    /// Adds the fields of a piece.
    pub(crate) fn add(&mut self, of: PartOf, call: usize, fields: &Fields<'_>) {
        if fields.is_empty() {
            return;
        }
        let place = self.0.iter().position(|(it, index, _)| (*it, *index) == (of, call));
        let place = place.unwrap_or_else(|| {
            self.0.push((of, call, Vec::new()));
            self.0.len() - 1
        });
        let (_, _, known) = &mut self.0[place];
        for (name, raw) in &fields.0 {
            match known.iter_mut().find(|(it, _)| **it == **name) {
                Some((_, joined)) => joined.add(name, raw),
                None => known.push(((*name).into(), Joined::One(Json(raw.get().into())))),
            }
        }
    }

    /// The parts that the pieces add up to.
    pub(crate) fn into_parts(self, form: StateForm) -> impl Iterator<Item = StatePart> {
        self.0.into_iter().map(move |(of, call, fields)| {
            let fields = fields.into_iter().map(|(name, joined)| (name, joined.into_json())).collect();
            let call = matches!(of, PartOf::Call | PartOf::Function).then_some(call);
            StatePart { form, of, call, fields }
        })
    }
}

impl Joined {
    fn add(&mut self, name: &str, raw: &RawValue) {
        let Ok(piece) = serde_json::from_str::<Value>(raw.get()) else { return };
        if let Self::One(Json(first)) = self {
            *self = Self::Several(serde_json::from_str(first).unwrap_or_default());
        }
        if let Self::Several(whole) = self {
            join_field(name, whole, piece);
        }
    }

    fn into_json(self) -> Json {
        match self {
            Self::One(json) => json,
            Self::Several(value) => Json(value.to_string().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> &RawValue {
        serde_json::from_str(json).unwrap()
    }

    fn joined(pieces: &[&str]) -> String {
        let mut all = StatePieces::default();
        for piece in pieces {
            all.add(PartOf::Turn, 0, &Fields::beside(raw(piece), &["content"]));
        }
        let mut out = Vec::new();
        all.into_parts(StateForm::Chat).for_each(|part| part.write(&mut out));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn pieces_are_joined_and_what_is_whole_stays_as_it_came() {
        for (pieces, whole) in [
            (
                &[
                    r#"{"a":1.50,"big":123456789012345678901,"content":"x","none":null,"no":[],"nor":{},"empty":""}"#,
                ][..],
                r#"{"a":1.50,"big":123456789012345678901}"#,
            ),
            (
                &[r#"{"r":"Let "}"#, r#"{"r":"me"}"#, r#"{"r":null}"#, r#"{"r":" see"}"#],
                r#"{"r":"Let me see"}"#,
            ),
            (
                &[
                    r#"{"d":[{"index":0,"type":"reasoning.text","text":"Let "}]}"#,
                    r#"{"d":[{"index":0,"type":"reasoning.text","text":"me"},{"index":1,"type":"b"}]}"#,
                    r#"{"d":[{"index":0,"signature":"s"}]}"#,
                ],
                r#"{"d":[{"index":0,"signature":"s","text":"Let me","type":"reasoning.text"},{"index":1,"type":"b"}]}"#,
            ),
            (
                &[r#"{"g":{"google":{"thought_signature":"x"}}}"#, r#"{"g":{"google":{"n":2}}}"#],
                r#"{"g":{"google":{"n":2,"thought_signature":"x"}}}"#,
            ),
            (&["[1]", "\"text\"", "{}"], ""),
        ] {
            assert_eq!(joined(pieces), whole, "{pieces:?}");
        }
    }

    #[test]
    fn state_survives_being_written_and_sealed() {
        let fields = |json| Fields::all_of(raw(json));
        let state = TurnState::new(vec![
            StatePart::new(
                StateForm::Messages,
                PartOf::Item,
                None,
                fields(r#"{"type":"thinking","signature":"\u00e9"}"#),
            ),
            StatePart::new(StateForm::Messages, PartOf::Call, Some(0), Fields::default()),
            StatePart::new(StateForm::Chat, PartOf::Turn, None, fields(r#"{"n":123456789012345678901}"#)),
        ]);
        let json = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<TurnState>(&json).unwrap(), state);
        let sealed = state.sealed(|part| part.form() == StateForm::Chat).unwrap();
        assert_eq!(TurnState::unsealed(&sealed).unwrap(), state.parts()[..2]);
        assert_eq!(TurnState::unsealed("EqQBCgIYAhIM"), None);
        let names: Vec<_> = state.parts().iter().flat_map(StatePart::names).collect();
        assert_eq!(names, ["thinking", "signature", "n"]);
        let places = vec![StatePart::new(StateForm::Messages, PartOf::Text, None, Fields::default())];
        assert!(TurnState::new(places).is_empty() && TurnState::default().sealed(|_| false).is_none());
    }
}
