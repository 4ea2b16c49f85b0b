//! Places within values, and how values are put there: a number in a pointer is the place in a list or a key of a map.

use serde_json::{Map, Value, json};

use super::Pointer;

/// The largest place in a list that is made.
const INDEX_MAX: usize = 100;

/// A place in arguments or an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    /// The names on the way, each with the place in a list that it is.
    parts: Vec<(String, Option<usize>)>,
}

/// The place in a list that a part of a pointer can be.
pub(super) fn index_of(part: &str) -> Option<usize> {
    let is_written = part == "0" || !part.starts_with(['0', '+']);
    part.parse().ok().filter(|index| is_written && *index <= INDEX_MAX)
}

impl Spot {
    /// The place to which a pointer leads. `is_list` says of the value to which the first parts of it lead whether it
    /// is a list.
    pub(super) fn new(pointer: &Pointer, is_list: impl Fn(&str) -> bool) -> Self {
        let mut stem = String::new();
        let parts = pointer.parts().map(|part| {
            let index = index_of(&part).filter(|_| is_list(&stem));
            stem.push('/');
            stem.push_str(&part.replace('~', "~0").replace('/', "~1"));
            (part, index)
        });
        Self { parts: parts.collect() }
    }

    /// Puts a value there, making the lists and maps on the way. `filler` is what they are, and what stands in a list
    /// before the value, by the pointer to it; anything else than a list or a map stands for an empty one.
    pub(super) fn put(&self, within: &mut Value, value: Value, filler: &dyn Fn(&str) -> Value) {
        let mut at = within;
        let mut stem = String::new();
        for (part, index) in &self.parts {
            // A list or a map that is there already stays, if the part can lead into it.
            let index = index.or(index_of(part).filter(|_| at.is_array()));
            let index =
                if at.is_object() && !at.as_object().is_some_and(Map::is_empty) { None } else { index };
            match index {
                Some(index) => {
                    if !at.is_array() {
                        *at = Some(filler(&stem)).filter(Value::is_array).unwrap_or_else(|| json!([]));
                    }
                    let Value::Array(items) = at else { return };
                    for place in items.len()..=index {
                        items.push(filler(&format!("{stem}/{place}")));
                    }
                    at = &mut items[index];
                }
                None => {
                    if !at.is_object() {
                        *at = Some(filler(&stem)).filter(Value::is_object).unwrap_or_else(|| json!({}));
                    }
                    let Value::Object(entries) = at else { return };
                    at = entries.entry(part.as_str()).or_insert(Value::Null);
                }
            }
            stem.push('/');
            stem.push_str(&part.replace('~', "~0").replace('/', "~1"));
        }
        *at = value;
    }
}

/// Whether one of two pointers leads into what the other leads to.
pub(super) fn leads_into(outer: &str, inner: &str) -> bool {
    inner.len() > outer.len() && inner.starts_with(outer) && inner[outer.len()..].starts_with('/')
}

/// Whether, as far as these pointers say, the value to which `stem` leads is a list: all lead on by places in one.
pub(super) fn is_list_in<'p>(pointers: impl Iterator<Item = &'p str>, stem: &str) -> bool {
    let mut next = pointers.filter_map(|pointer| {
        let rest = leads_into(stem, pointer).then(|| &pointer[stem.len() + 1..])?;
        Some(rest.split('/').next().unwrap_or_default())
    });
    let all = |part: &str| index_of(part).is_some();
    next.next().is_some_and(all) && next.all(all)
}
