//! JSON values with their paths, and readers for them.

use serde_json::Value as Json;

use crate::choice::fault::{ChoiceFault, ChoiceFaultKind, ChoiceSite};
use crate::choice::form::SlotField;
use crate::choice::limits::{FAULTS_MAX, LIST_MAX};
use crate::choice::number::Number;
use crate::choice::value::FieldValue;

/// A value, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node<'j> {
    pub(super) json: &'j Json,
    pub(super) path: String,
}

/// Collects faults while reading.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) faults: Vec<ChoiceFault>,
    /// The id of the constraint that is being read.
    pub(super) constraint: Option<String>,
}

impl<'j> Node<'j> {
    pub(super) fn root(json: &'j Json) -> Self {
        Self { json, path: String::new() }
    }

    fn inner(&self, key: &str, json: &'j Json) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        Self { json, path: format!("{}{dot}{key}", self.path) }
    }

    /// The value of a key that may be missing or `null`.
    pub(super) fn optional(&self, key: &str) -> Option<Self> {
        let json = self.json.get(key).filter(|json| !json.is_null())?;
        Some(self.inner(key, json))
    }

    /// The value of a key that must be there.
    pub(super) fn required(
        &self,
        reader: &mut Reader,
        key: &'static str,
        expected: &'static str,
    ) -> Option<Self> {
        let found = self.optional(key);
        // Anything but an object has already been reported for its keys.
        if found.is_none() && self.json.is_object() {
            reader.report(self, ChoiceFaultKind::KeyMissing { key, expected });
        }
        found
    }

    /// The entries of an object, sorted by key; empty for anything else and for too many, which is reported.
    pub(super) fn entries(
        &self,
        reader: &mut Reader,
        expected: &'static str,
        limit: Limit,
    ) -> Vec<(&'j str, Self)> {
        match self.json {
            Json::Object(entries) if entries.len() > limit.1 => reader.too_many(self, entries.len(), limit),
            Json::Object(entries) => {
                entries.iter().map(|(key, json)| (key.as_str(), self.inner(key, json))).collect()
            }
            _ => {
                reader.other_kind(self, expected);
                Vec::new()
            }
        }
    }

    /// The items of a list; empty for anything else and for too many, which is reported.
    pub(super) fn items(&self, reader: &mut Reader, expected: &'static str, limit: Limit) -> Vec<Self> {
        match self.json {
            Json::Array(items) if items.len() > limit.1 => reader.too_many(self, items.len(), limit),
            Json::Array(items) => {
                let item = |(place, json)| Self { json, path: format!("{}[{place}]", self.path) };
                items.iter().enumerate().map(item).collect()
            }
            _ => {
                reader.other_kind(self, expected);
                Vec::new()
            }
        }
    }
}

/// The limited things, in the plural.
pub(super) type Limit = (&'static str, usize);

/// The kind of a JSON value, with its article.
fn kind(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a truth value",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

impl Reader {
    /// Keeps a fault, up to a useful number per text.
    pub(super) fn report(&mut self, node: &Node, problem: ChoiceFaultKind) {
        if self.faults.len() < FAULTS_MAX {
            let constraint = self.constraint.clone();
            let site = ChoiceSite { path: node.path.clone(), constraint, ..ChoiceSite::default() };
            self.faults.push(ChoiceFault::new(site, problem));
        }
    }

    /// Reports that there are too many of something, and returns none.
    fn too_many<T>(&mut self, node: &Node, count: usize, (what, limit): Limit) -> Vec<T> {
        self.report(node, ChoiceFaultKind::TooMany { what, count, limit });
        Vec::new()
    }

    pub(super) fn other_kind(&mut self, node: &Node, expected: &'static str) {
        self.report(node, ChoiceFaultKind::OtherKind { found: kind(node.json).to_owned(), expected });
    }

    /// Reports anything but an object, and unknown keys.
    pub(super) fn look_at_keys(&mut self, node: &Node, known: &'static [&'static str]) {
        match node.json {
            Json::Object(entries) => {
                for key in entries.keys().filter(|key| !known.contains(&key.as_str())) {
                    self.report(node, ChoiceFaultKind::KeyUnknown { key: key.clone(), known });
                }
            }
            _ => self.other_kind(node, "an object"),
        }
    }

    pub(super) fn text(&mut self, node: &Node) -> Option<String> {
        match node.json {
            Json::String(text) => Some(text.clone()),
            _ => {
                self.other_kind(node, "a text");
                None
            }
        }
    }

    pub(super) fn flag(&mut self, node: &Node) -> bool {
        match node.json {
            Json::Bool(flag) => *flag,
            _ => {
                self.other_kind(node, "true or false");
                false
            }
        }
    }

    /// A whole number within a range.
    pub(super) fn whole(&mut self, node: &Node, least: i64, most: i64) -> Option<i64> {
        let Json::Number(number) = node.json else {
            self.other_kind(node, "a whole number");
            return None;
        };
        match number.as_i64() {
            Some(number) if (least..=most).contains(&number) => Some(number),
            _ => {
                self.report(node, ChoiceFaultKind::OutOfRange { text: number.to_string(), least, most });
                None
            }
        }
    }

    pub(super) fn number(&mut self, node: &Node) -> Option<Number> {
        let Json::Number(number) = node.json else {
            self.other_kind(node, "a number");
            return None;
        };
        let text = number.to_string();
        match Number::read_json(&text) {
            Ok(number) => Some(number),
            Err(fault) => {
                self.report(node, ChoiceFaultKind::NumberUnfit { text, fault });
                None
            }
        }
    }

    /// The value of a field.
    pub(super) fn value(&mut self, node: &Node) -> Option<FieldValue> {
        match node.json {
            Json::Bool(flag) => Some(FieldValue::Flag(*flag)),
            Json::Number(_) => self.number(node).map(FieldValue::Number),
            Json::String(text) => Some(FieldValue::Text(text.clone())),
            Json::Array(_) => {
                let items = node.items(self, "a list of texts", ("texts", LIST_MAX));
                let texts: Vec<Option<String>> = items.iter().map(|item| self.text(item)).collect();
                texts.into_iter().collect::<Option<Vec<String>>>().map(FieldValue::List)
            }
            Json::Null | Json::Object(_) => {
                self.other_kind(node, "a text, a number, a truth value or a list of texts");
                None
            }
        }
    }

    /// A text `slot.field`.
    pub(super) fn field(&mut self, node: &Node) -> Option<SlotField> {
        let Json::String(text) = node.json else {
            self.other_kind(node, "a text `slot.field`");
            return None;
        };
        match text.split_once('.') {
            Some((slot, field)) if !slot.is_empty() && !field.is_empty() => Some(SlotField::new(slot, field)),
            _ => {
                self.report(node, ChoiceFaultKind::NoField { text: text.clone() });
                None
            }
        }
    }
}
