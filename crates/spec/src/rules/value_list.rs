//! A list of values in which one is found however long it is.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;

use crate::number::{canonical, is_same};

/// Longest list that is gone through. In a longer one, a value is looked up, which takes its text.
const SCANNED_MAX: usize = 16;

/// The values of a `one-of`, in the order of the file. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ValueList(Arc<Listed>);

#[derive(Debug)]
struct Listed {
    values: Vec<Value>,
    /// The texts of the values, if there are too many to go through.
    texts: HashSet<String>,
}

impl ValueList {
    /// Whether this value is one of them. Numbers are equal by value.
    pub(crate) fn has(&self, value: &Value) -> bool {
        match self.0.texts.is_empty() {
            true => self.0.values.iter().any(|other| is_same(value, other)),
            false => self.0.texts.contains(&canonical(value)),
        }
    }
}

impl FromIterator<Value> for ValueList {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        let values: Vec<Value> = values.into_iter().collect();
        let is_long = values.len() > SCANNED_MAX;
        let texts = if is_long { values.iter().map(canonical).collect() } else { HashSet::new() };
        Self(Arc::new(Listed { values, texts }))
    }
}

impl Deref for ValueList {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0.values
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn values() -> impl Strategy<Value = Value> {
        prop_oneof![
            (-3..3_i64).prop_map(Value::from),
            (-3..3_i64).prop_map(|number| json!(number as f64)),
            Just(json!(0.5)),
            Just(json!(-0.0)),
            "[ab1]{0,2}".prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            Just(json!([1, {"a": 1.0, "b": null}])),
            Just(json!([1.0, {"b": null, "a": 1}])),
        ]
    }

    proptest! {
        #[test]
        fn what_is_looked_up_is_what_is_found_by_going_through(
            list in proptest::collection::vec(values(), 0..40),
            value in values(),
        ) {
            let found = list.iter().any(|other| is_same(&value, other));
            prop_assert_eq!(list.into_iter().collect::<ValueList>().has(&value), found);
        }
    }
}
