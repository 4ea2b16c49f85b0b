//! One object of several.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::objects::label_of;

/// The first object whose label contains `name`, or shares a word with it, where white space separates words; case
/// matters. An object without a label fits nothing. Empty if nothing fits.
pub(crate) fn select(objects: &[Value], name: &str) -> Map<String, Value> {
    let words: HashSet<&str> = name.split_whitespace().collect();
    let fits = |object: &&Map<String, Value>| {
        let is_named =
            |label: &str| label.contains(name) || label.split_whitespace().any(|it| words.contains(it));
        label_of(object).is_some_and(is_named)
    };
    objects.iter().filter_map(Value::as_object).find(fits).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_that_fits_is_selected() {
        let objects = json!([
            "dog",
            {"bbox": [0, 0, 1, 1]},
            {"label": "hot dog", "n": 1},
            {"label": "dog", "n": 2},
            {"label": "red car", "n": 3},
            {"label": 7, "n": 4},
        ]);
        let objects = objects.as_array().expect("a list");
        for (name, expected) in [
            ("dog", Some(1)),
            ("a dog", Some(1)),
            ("car", Some(3)),
            // A part of a label that is not a whole word.
            ("ed c", Some(3)),
            ("blue car", Some(3)),
            ("", Some(1)),
            ("cars", None),
            ("Dog", None),
            ("7", None),
        ] {
            let found = select(objects, name);
            assert_eq!(found.get("n").and_then(Value::as_i64), expected, "{name}");
        }
        assert!(select(&[], "dog").is_empty());
    }
}
