//! Evidence, as in ReWOO (Xu et al. 2023): all calls are planned beforehand, each under a label. A label in the
//! arguments of a later call is replaced by the result of the earlier call.
//!
//! To execute a plan: [`execution_order`] says which call is next, [`Evidence::arguments`] makes its arguments, and
//! [`Evidence::add`] adds its result.
//!
//! Two programs have been published, and neither does what the paper says in all cases; see [`EvidenceRules`].

mod plan_text;

use planproof_spec::Compat;
use planproof_trace::Arguments;
use serde_json::{Map, Value};

pub use plan_text::{NO_EVIDENCE, PlanLineFault, PlanStep, PlanText, PlannedWork, read_plan};

/// What labels of ReWOO begin with; a number follows.
const STEM: &str = "#E";

/// Which rules apply to plans and evidence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EvidenceRules {
    /// Ours. Calls are executed as they were written. A reference is a whole label (`#E12` is none to `#E1`),
    /// is replaced by the evidence alone, and evidence is not searched for references again.
    #[default]
    Ours,
    /// Those of the code published with the behaviour specifications (Crouse et al. 2024). Calls are executed by the
    /// numbers of their labels. Each label is replaced wherever its characters stand, so `#E1` also within `#E12`, and
    /// within evidence that was put in before.
    Published,
    /// Those of the code published with ReWOO. Calls are executed as they were written. Only what stands in
    /// the text as a whole label is replaced, but then wherever its characters stand; evidence is put into
    /// square brackets.
    Rewoo,
}

impl From<Compat> for EvidenceRules {
    fn from(compat: Compat) -> Self {
        match compat {
            Compat::Ours => Self::Ours,
            Compat::Original => Self::Published,
        }
    }
}

/// In which order calls with these labels are executed: their indices.
pub fn execution_order(labels: &[&str], rules: EvidenceRules) -> Vec<usize> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    if rules == EvidenceRules::Published {
        // The numbers may have any length. Without leading zeros, the longer one is the larger.
        order.sort_by_key(|index| {
            let digits = split(labels[*index]).1.trim_start_matches('0');
            (digits.len(), digits)
        });
    }
    order
}

/// A name for each call of a plan: its label or, without one, `#En` for the n-th call, counted from 1. If two calls
/// share a name, it means the one executed last.
pub fn labels<'a>(given: impl IntoIterator<Item = Option<&'a str>>) -> Vec<String> {
    let given = given.into_iter().enumerate();
    let name = |(index, label): (usize, Option<&str>)| match label {
        Some(label) => label.to_owned(),
        None => format!("{STEM}{}", index + 1),
    };
    given.map(name).collect()
}

/// The evidence known so far while a plan is executed.
#[derive(Debug, Clone)]
pub struct Evidence {
    rules: EvidenceRules,
    /// What comes before the number of a label, the longest first.
    stems: Vec<String>,
    /// Labels without a number, the longest first.
    words: Vec<String>,
    /// Labels with their evidence, in the order in which it came.
    known: Vec<(String, String)>,
}

/// A text with evidence put in.
#[derive(Debug, Clone, PartialEq)]
pub struct Substituted<T> {
    /// The text, or arguments made of texts.
    pub value: T,
    /// References without evidence (yet), which were left unchanged. Each once, in the order of their first
    /// occurrences.
    pub unknown: Vec<String>,
}

impl Evidence {
    /// The evidence of a plan with these labels before any call. The labels define what a reference looks like: their
    /// characters before the number, with any number after them, or the whole label if it has no number. `#E` with a
    /// number is always a reference. A label that is just a number cannot be referred to.
    pub fn new<'a>(rules: EvidenceRules, labels: impl IntoIterator<Item = &'a str>) -> Self {
        let mut stems = vec![STEM.to_owned()];
        let mut words = Vec::new();
        for label in labels {
            match split(label) {
                ("", _) => {}
                (word, "") => words.push(word.to_owned()),
                (stem, _) => stems.push(stem.to_owned()),
            }
        }
        for list in [&mut stems, &mut words] {
            list.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
            list.dedup();
        }
        Self { rules, stems, words, known: Vec::new() }
    }

    /// Adds the result of the call with that label. If the label has evidence already, the new one replaces it.
    pub fn add(&mut self, label: &str, text: &str) {
        match self.known.iter_mut().find(|(known, _)| known == label) {
            Some((_, evidence)) => text.clone_into(evidence),
            None => self.known.push((label.to_owned(), text.to_owned())),
        }
    }

    /// What is known of a label.
    pub fn of(&self, label: &str) -> Option<&str> {
        self.known.iter().find(|(known, _)| known == label).map(|(_, evidence)| evidence.as_str())
    }

    /// `text` with the evidence put in. Linear in the text for [`EvidenceRules::Ours`].
    pub fn text(&self, text: &str) -> Substituted<String> {
        let mut unknown = Vec::new();
        let value = self.put_in(text, &mut unknown);
        Substituted { value, unknown }
    }

    /// `arguments` with the evidence put in: in every string of a JSON object, at any depth, but in no key; in
    /// malformed arguments, in the whole text. So quotation marks and line breaks in the evidence cannot break the
    /// JSON.
    pub fn arguments(&self, arguments: &Arguments) -> Substituted<Arguments> {
        let mut unknown = Vec::new();
        let value = match arguments {
            Arguments::Object(object) => Arguments::Object(self.object(object, &mut unknown)),
            Arguments::Malformed(text) => Arguments::Malformed(self.put_in(text, &mut unknown)),
        };
        Substituted { value, unknown }
    }

    /// How many bytes of evidence [`text`](Self::text) puts in under [`EvidenceRules::Ours`].
    pub fn bytes_for(&self, text: &str) -> usize {
        let found = self.references(text).into_iter().filter_map(|(start, end)| self.of(&text[start..end]));
        found.map(str::len).fold(0, usize::saturating_add)
    }

    /// How many bytes of evidence [`arguments`](Self::arguments) puts in under [`EvidenceRules::Ours`].
    pub fn bytes_for_arguments(&self, arguments: &Arguments) -> usize {
        match arguments {
            Arguments::Object(object) => self.bytes_for_all(object.values()),
            Arguments::Malformed(text) => self.bytes_for(text),
        }
    }

    fn bytes_for_all<'v>(&self, values: impl Iterator<Item = &'v Value>) -> usize {
        values.map(|value| self.bytes_for_value(value)).fold(0, usize::saturating_add)
    }

    fn bytes_for_value(&self, value: &Value) -> usize {
        match value {
            Value::String(text) => self.bytes_for(text),
            Value::Array(items) => self.bytes_for_all(items.iter()),
            Value::Object(object) => self.bytes_for_all(object.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
    }

    fn object(&self, object: &Map<String, Value>, unknown: &mut Vec<String>) -> Map<String, Value> {
        object.iter().map(|(key, value)| (key.clone(), self.value(value, unknown))).collect()
    }

    fn value(&self, value: &Value, unknown: &mut Vec<String>) -> Value {
        match value {
            Value::String(text) => Value::String(self.put_in(text, unknown)),
            Value::Array(items) => items.iter().map(|item| self.value(item, unknown)).collect(),
            Value::Object(object) => Value::Object(self.object(object, unknown)),
            other => other.clone(),
        }
    }

    fn put_in(&self, text: &str, unknown: &mut Vec<String>) -> String {
        let mut out = String::with_capacity(text.len());
        let mut found = Vec::new();
        let mut rest = 0;
        for (start, end) in self.references(text) {
            let label = &text[start..end];
            out.push_str(&text[rest..start]);
            rest = end;
            match self.of(label) {
                Some(evidence) => {
                    out.push_str(evidence);
                    found.push(label);
                }
                None => {
                    out.push_str(label);
                    if !unknown.iter().any(|other| other == label) {
                        unknown.push(label.to_owned());
                    }
                }
            }
        }
        out.push_str(&text[rest..]);
        // What counts as a reference is the same under all rules. They differ in what is replaced.
        match self.rules {
            EvidenceRules::Ours => out,
            EvidenceRules::Published => {
                // An empty label would be found between all characters.
                let known = self.known.iter().filter(|(label, _)| !label.is_empty());
                known.fold(text.to_owned(), |text, (label, evidence)| text.replace(label, evidence))
            }
            EvidenceRules::Rewoo => found.into_iter().fold(text.to_owned(), |text, label| {
                text.replace(label, &format!("[{}]", self.of(label).unwrap_or_default()))
            }),
        }
    }

    /// The places of whole references, known or not.
    fn references(&self, text: &str) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        let mut before = None;
        let mut rest = text.char_indices();
        while let Some((start, character)) = rest.next() {
            // A reference cannot begin within a word, unless it begins with a sign such as #.
            let is_within = before.is_some_and(is_of_word) && is_of_word(character);
            before = Some(character);
            if is_within {
                continue;
            }
            if let Some(length) = self.reference_at(&text[start..]) {
                let end = start + length;
                places.push((start, end));
                before = text[..end].chars().next_back();
                // References do not overlap, so the search continues behind this one.
                while rest.offset() < end && rest.next().is_some() {}
            }
        }
        places
    }

    /// The length in bytes of the reference at the beginning of `text`.
    fn reference_at(&self, text: &str) -> Option<usize> {
        // The stems are sorted by length, the longest first, so the first match is the longest.
        let numbered = self.stems.iter().find_map(|stem| {
            let number = text.strip_prefix(stem.as_str())?;
            let digits = number.len() - number.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            (digits > 0).then_some(stem.len() + digits)
        });
        let word = || {
            let is_whole = |rest: &str| !rest.chars().next().is_some_and(is_of_word);
            let word = self.words.iter().find(|word| text.strip_prefix(word.as_str()).is_some_and(is_whole));
            word.map(String::len)
        };
        numbered.or_else(word)
    }
}

/// A label's characters before its number, and the number's digits.
fn split(label: &str) -> (&str, &str) {
    label.split_at(label.trim_end_matches(|c: char| c.is_ascii_digit()).len())
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}
