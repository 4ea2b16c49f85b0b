//! JSON objects whose numbers stay as they were written, such as the input schemas of tools.
//!
//! A number in memory has 64 bits. A bound of 23 digits becomes a float there, and the agent would be told another
//! bound than the tool has. So an object with such a number also keeps its text, and whoever writes the object writes
//! that text. For nearly all objects, the map holds everything, and there is no text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::loses_digits;

/// A JSON object. Copies share their contents, because most tools of a campaign have the same schema.
///
/// It derefs to a map, in which each number is the nearest one that 64 bits hold. That is right for whoever reads
/// single members. To write the object, write it itself ([`Serialize`], [`Display`](fmt::Display)), never the map.
#[derive(Clone, Default)]
pub struct WrittenObject(Arc<Contents>);

#[derive(Clone, Default)]
struct Contents {
    map: Map<String, Value>,
    /// The object as JSON, in the form in which the map would be written; only if the map lacks digits of a number.
    written: Option<Box<RawValue>>,
}

impl WrittenObject {
    /// Reads an object from JSON.
    ///
    /// # Errors
    /// It is not JSON, or no object, or has a number that is too large even for a float.
    pub fn read(json: &str) -> Result<Self, serde_json::Error> {
        let map = serde_json::from_str(json)?;
        let written = if loses_digits(json) { written(&map, json) } else { None };
        Ok(Self(Arc::new(Contents { map, written })))
    }

    /// The object after a change of its map. Numbers that the change leaves at their place stay as they were written.
    #[must_use]
    pub fn edited(self, edit: impl FnOnce(&mut Map<String, Value>)) -> Self {
        let Contents { mut map, written: before } = Arc::unwrap_or_clone(self.0);
        edit(&mut map);
        let written = before.and_then(|before| written(&map, before.get()));
        Self(Arc::new(Contents { map, written }))
    }

    /// Whether both are copies of one object. Equal objects that were read apart are not.
    pub fn is_copy_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether a number has more digits than the map holds.
    pub fn has_long_numbers(&self) -> bool {
        self.0.written.is_some()
    }

    fn written(&self) -> Option<&str> {
        self.0.written.as_deref().map(RawValue::get)
    }
}

/// The map as JSON, with the numbers of this text where it has the same number less exactly at the same place; `None`
/// if there is no such number.
fn written(map: &Map<String, Value>, json: &str) -> Option<Box<RawValue>> {
    let mut text = String::new();
    let has_long_number = write_object(map, json, &mut text);
    // What was put together from valid JSON is valid JSON.
    RawValue::from_string(text).ok().filter(|_| has_long_number)
}

/// Writes a value. `json` is what stood at its place, or anything else. Returns whether a number was taken from there.
/// The parser limits the depth of the value to 128 levels.
fn write(value: &Value, json: &str, text: &mut String) -> bool {
    match value {
        Value::Number(_)
            if loses_digits(json) && serde_json::from_str(json).is_ok_and(|it: Value| it == *value) =>
        {
            text.push_str(json);
            return true;
        }
        Value::Array(items) => {
            let before: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
            let mut has_long_number = false;
            text.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                has_long_number |= write(item, before.get(place).map_or("", |it| it.get()), text);
            }
            text.push(']');
            return has_long_number;
        }
        Value::Object(object) => return write_object(object, json, text),
        _ => text.push_str(&value.to_string()),
    }
    false
}

fn write_object(object: &Map<String, Value>, json: &str, text: &mut String) -> bool {
    let before: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(json).unwrap_or_default();
    let mut has_long_number = false;
    text.push('{');
    for (place, (name, value)) in object.iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(&Value::from(name.as_str()).to_string());
        text.push(':');
        has_long_number |= write(value, before.get(name.as_str()).map_or("", |it| it.get()), text);
    }
    text.push('}');
    has_long_number
}

impl From<Map<String, Value>> for WrittenObject {
    fn from(map: Map<String, Value>) -> Self {
        Self(Arc::new(Contents { map, written: None }))
    }
}

/// A value that is an object; any other becomes the empty one, which as a schema admits everything.
impl From<Value> for WrittenObject {
    fn from(value: Value) -> Self {
        match value {
            Value::Object(map) => map.into(),
            _ => Self::default(),
        }
    }
}

impl Deref for WrittenObject {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0.map
    }
}

impl PartialEq for WrittenObject {
    fn eq(&self, other: &Self) -> bool {
        self.is_copy_of(other) || self.0.map == other.0.map && self.written() == other.written()
    }
}

impl fmt::Display for WrittenObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Writing JSON into memory cannot fail.
        f.write_str(&serde_json::to_string(self).unwrap_or_default())
    }
}

impl fmt::Debug for WrittenObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for WrittenObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.written {
            Some(written) => written.serialize(serializer),
            None => self.0.map.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for WrittenObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        Self::read(json.get()).map_err(|error| {
            // Its place is one within the object. The reader of the document adds the place there.
            let text = error.to_string();
            D::Error::custom(text.rsplit_once(" at line ").map_or(&*text, |(fault, _)| fault))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Written numbers with more digits than 64 bits hold.
    const LONG: [&str; 6] = [
        "25227143063332189585438",
        "-25227143063332189585438",
        "18446744073709551616",
        "-9223372036854775809",
        "0.12345678901234567890123",
        "9007199254740993.5e3",
    ];

    #[test]
    fn long_numbers_stay_as_they_were_written_anywhere() {
        for number in LONG {
            for keyword in ["minimum", "maximum", "const", "default", "multipleOf", "examples"] {
                let text = format!(r#"{{"properties":{{"n":{{"{keyword}":{number},"type":"integer"}}}}}}"#);
                assert_eq!(WrittenObject::read(&text).unwrap().to_string(), text);
            }
            let text =
                format!(r#"{{"anyOf":[{{"enum":[1,{number},[{number}]]}},{{"examples":["{number}"]}}]}}"#);
            let schema = WrittenObject::read(&text).unwrap();
            assert_eq!(schema.to_string(), text);
            assert_eq!(serde_json::to_string(&[&schema]).unwrap(), format!("[{text}]"));
            assert_eq!(serde_json::from_str::<WrittenObject>(&text).unwrap(), schema);
            assert_ne!(
                WrittenObject::from(Map::clone(&schema)).to_string(),
                text,
                "the map has it after all"
            );
        }
    }

    #[test]
    fn the_form_is_that_of_a_map() {
        let text = "{ \"a\": \"\\u0041\\/\\n\", \"b\": [ 1.50, {} , null ], \"b\": [ ],\n \"z\" : 25227143063332189585438 }";
        let expected = r#"{"a":"A/\n","b":[],"z":25227143063332189585438}"#;
        assert_eq!(WrittenObject::read(text).unwrap().to_string(), expected);
        assert_eq!(WrittenObject::read(expected).unwrap(), WrittenObject::read(text).unwrap());
        // Of two members of one name, the last one counts, so this has no long number.
        let short = WrittenObject::read(r#"{"a":25227143063332189585438,"a":1}"#).unwrap();
        assert_eq!(short, json!({"a": 1}).into());
    }

    #[test]
    fn objects_with_other_digits_differ() {
        let [one, other] = ["25227143063332189585438", "25227143063332189585439"]
            .map(|number| WrittenObject::read(&format!(r#"{{"maximum":{number}}}"#)).unwrap());
        assert_eq!(*one, *other);
        assert_ne!(one, other);
        assert_eq!(one, one.clone().edited(|_| {}));
    }

    #[test]
    fn changes_keep_the_digits_of_other_places() {
        let text = r#"{"b":[1,25227143063332189585438,2],"c":{"d":0.12345678901234567890123},"e":18446744073709551616}"#;
        let schema = WrittenObject::read(text).unwrap().edited(|map| {
            map.insert("f".into(), "new".into());
            map.insert("e".into(), 5.into());
            map["b"].as_array_mut().unwrap().push(3.into());
        });
        let expected =
            r#"{"b":[1,25227143063332189585438,2,3],"c":{"d":0.12345678901234567890123},"e":5,"f":"new"}"#;
        assert_eq!(schema.to_string(), expected);
        let schema = schema.edited(|map| map.retain(|name, _| name == "f"));
        assert_eq!(schema, json!({"f": "new"}).into());
    }

    #[test]
    fn what_is_no_object_is_refused_with_the_place_in_the_document() {
        for (text, words) in [
            ("{\"a\":\n 7}", "invalid type: integer `7`, expected a map at line 2"),
            ("{\"a\":\n {\"b\": 1e999}}", "number out of range at line 2"),
            ("{\"a\":\n {\"b\": ]}}", "expected value at line 2 column 8"),
        ] {
            let error =
                serde_json::from_str::<BTreeMap<String, WrittenObject>>(text).unwrap_err().to_string();
            assert!(error.starts_with(words) && error.matches(" at line ").count() == 1, "{error}");
        }
    }

    fn any_json() -> impl Strategy<Value = String> {
        let scalar = prop_oneof![
            prop::sample::select(&LONG[..]).prop_map(str::to_owned),
            any::<i64>().prop_map(|it| it.to_string()),
            any::<f64>().prop_map(|it| Value::from(it).to_string()),
            "[ -~]{0,6}".prop_map(|it| Value::from(it).to_string()),
            Just("null".to_owned()),
        ];
        scalar.prop_recursive(4, 20, 4, |inner| {
            let member =
                ("[a-c\"\\\\]{0,2}", inner.clone()).prop_map(|(k, v)| format!("{}: {v}", Value::from(k)));
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(|it| format!("[{}]", it.join(" , "))),
                prop::collection::vec(member, 0..4).prop_map(|it| format!("{{{}}}", it.join(" ,\n"))),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_the_same(json in any_json()) {
            let text = format!("{{\"a\": {json}}}");
            let schema = WrittenObject::read(&text).unwrap();
            let written = schema.to_string();
            let map: Map<String, Value> = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&*schema, &map);
            prop_assert_eq!(&*WrittenObject::read(&written).unwrap(), &map);
            prop_assert_eq!(WrittenObject::read(&written).unwrap().to_string(), written.clone());
            if !loses_digits(&text) {
                prop_assert_eq!(written, Value::Object(map).to_string());
            }
        }
    }
}
