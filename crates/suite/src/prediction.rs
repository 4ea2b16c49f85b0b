//! Runs as predictions, in the forms in which the authors of benchmarks publish and evaluate them.

use serde_json::Value;

/// What a run predicts for its case, in the published form of its benchmark.
#[derive(Debug, Clone, PartialEq)]
pub enum PublishedPrediction {
    /// A line of a file of JSON lines.
    Line(Value),
    /// A part of a file that is one JSON object: the members of all parts together, at every depth.
    Part(Value),
}

impl PublishedPrediction {
    /// Adds a part to the object of a file.
    pub fn add_part(whole: &mut Value, part: Value) {
        match (whole, part) {
            (Value::Object(whole), Value::Object(part)) => {
                for (name, value) in part {
                    match whole.get_mut(&name) {
                        Some(inner) => Self::add_part(inner, value),
                        None => {
                            whole.insert(name, value);
                        }
                    }
                }
            }
            (whole, part) => *whole = part,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_become_one_object() {
        let mut whole = json!({});
        for (id, text) in [("a", "1"), ("b", "2"), ("a", "3")] {
            PublishedPrediction::add_part(&mut whole, json!({"answer": {id: text}, "sp": {id: []}}));
        }
        assert_eq!(whole, json!({"answer": {"a": "3", "b": "2"}, "sp": {"a": [], "b": []}}));
    }
}
