//! Extracts the plan from an agent's answer.

use serde_json::{Deserializer, Value};

/// Longest answer, in bytes, that is searched for a plan.
pub const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The plan in an answer: its last JSON list that contains an object. Surrounding text is ignored, and a list
/// inside another does not count. `None` if there is no such list, or if the answer is longer than
/// [`ANSWER_BYTES_MAX`].
///
/// The time is linear in the length of the text, because the JSON parser gives up at a depth of 128.
pub fn plan_in(answer: &str) -> Option<Value> {
    last(answer, '[', |value| value.as_array().is_some_and(|items| items.iter().any(Value::is_object)))
}

/// The last JSON object in an answer, found in the same way.
pub fn object_in(answer: &str) -> Option<Value> {
    last(answer, '{', Value::is_object)
}

fn last(text: &str, open: char, is_wanted: impl Fn(&Value) -> bool) -> Option<Value> {
    if text.len() > ANSWER_BYTES_MAX {
        return None;
    }
    let mut found = None;
    let mut at = 0;
    while let Some(begin) = text[at..].find(open).map(|offset| at + offset) {
        let mut values = Deserializer::from_str(&text[begin..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                at = begin + values.byte_offset();
                if is_wanted(&value) {
                    found = Some(value);
                }
            }
            // A bracket that begins no JSON is part of the text around it.
            _ => at = begin + open.len_utf8(),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_list_with_an_object_is_the_plan() {
        let cases = [
            ("[{\"days\": 1}]", Some(json!([{"days": 1}]))),
            (
                "First [{\"days\": 9}], then:\n```json\n[{\"days\": 1}, {}]\n``` Done [1].",
                Some(json!([{"days": 1}, {}])),
            ),
            ("{\"plan\": [{\"days\": 1, \"x\": [{}]}]}", Some(json!([{"days": 1, "x": [{}]}]))),
            ("[not JSON] [{\"days\": 1}", None),
            ("No plan, sorry.", None),
            ("[]", None),
            ("[1, 2]", None),
            ("", None),
        ];
        for (answer, plan) in cases {
            assert_eq!(plan_in(answer), plan, "{answer}");
        }
        assert_eq!(object_in("{a} {\"a\": {\"b\": 1}}."), Some(json!({"a": {"b": 1}})));
    }

    #[test]
    fn long_answers_are_none() {
        assert_eq!(plan_in(&format!("[{{}}]{}", " ".repeat(ANSWER_BYTES_MAX))), None);
        assert_eq!(plan_in(&"[".repeat(100_000)), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[\\[\\]{}\", 1é]{0,200}") {
            let _ = (plan_in(&text), object_in(&text));
        }
    }
}
