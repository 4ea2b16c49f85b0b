//! Inessential values of a reply: a server's mistake in one of them is no reason to lose the reply.

use planproof_trace::bounded::COUNT_MAX;
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A number of tokens. Servers also write it as a float or a text; a negative one, one above [`COUNT_MAX`] and anything
/// but a number counts as absent.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let number = match Value::deserialize(deserializer)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within the range")]
    Ok(number
        .filter(|number| (0.0..=COUNT_MAX as f64).contains(number))
        .map(|number: f64| number.round() as u64))
}

/// A name that may be given as a number; anything else counts as absent.
pub(crate) fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

/// Whether there is a text that is not empty.
pub(crate) fn has_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_str().is_some_and(|text| !text.is_empty()))
}

/// An object of this type; anything else counts as absent.
pub(crate) fn object<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let raw = <&RawValue>::deserialize(deserializer)?;
    // Without this a list would be read as an object without names.
    Ok(Some(raw.get()).filter(|text| text.starts_with('{')).and_then(|text| serde_json::from_str(text).ok()))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Inner {
        #[serde(default, deserialize_with = "super::count")]
        count: Option<u64>,
        #[serde(default, deserialize_with = "super::name")]
        id: Option<String>,
    }

    #[derive(Deserialize)]
    struct Outer {
        #[serde(default, deserialize_with = "super::object")]
        inner: Option<Inner>,
    }

    #[test]
    fn odd_values_are_read_as_what_they_mean_or_not_at_all() {
        let read = |json: &str| serde_json::from_str::<Outer>(json).unwrap().inner;
        for (count, expected) in [
            ("7", Some(7)),
            ("7.0", Some(7)),
            ("\"7\"", Some(7)),
            ("-7", None),
            ("1e300", None),
            ("\"many\"", None),
            ("null", None),
            ("true", None),
            ("[1]", None),
            ("{\"a\":[1]}", None),
        ] {
            let inner = read(&format!(r#"{{"inner":{{"count":{count},"id":12}}}}"#)).unwrap();
            assert_eq!((inner.count, inner.id.as_deref()), (expected, Some("12")), "{count}");
        }
        for inner in ["-1", "1.5", "1", "\"none\"", "null", "false", "[{}]"] {
            assert!(read(&format!(r#"{{"inner":{inner}}}"#)).is_none(), "{inner}");
        }
        assert!(read("{}").is_none());
    }
}
