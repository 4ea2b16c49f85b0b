//! The `content` of a message, which arrives as a string or as an array of parts.

use std::borrow::Cow;
use std::fmt;

use planproof_trace::Arguments;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize, de};

/// Text as received: in one piece or in parts.
#[derive(Debug)]
pub(crate) enum Content {
    Whole(String),
    /// The texts of an array of parts. Parts that carry no text (thoughts, citations) are left out.
    Parts(Vec<String>),
}

impl Content {
    /// One text; parts are joined by `separator`.
    pub(crate) fn into_text(self, separator: &str) -> String {
        match self {
            Self::Whole(text) => text,
            Self::Parts(mut parts) if parts.len() == 1 => parts.swap_remove(0),
            Self::Parts(parts) => parts.join(separator),
        }
    }
}

/// One part. A part of an unknown kind is skipped unless it is media: answering a picture by its caption alone would
/// be misleading.
struct Part(Option<String>);

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields<'a> {
            #[serde(rename = "type", borrow, default)]
            kind: Cow<'a, str>,
            text: Option<String>,
            refusal: Option<String>,
            /// A tool that a search for tools has found.
            tool_name: Option<String>,
        }
        let part = Fields::deserialize(deserializer)?;
        if let Some(text) = part.text.or(part.refusal).or(part.tool_name) {
            return Ok(Self(Some(text)));
        }
        let is_media = ["image", "audio", "file", "video"].iter().any(|media| part.kind.contains(media));
        if is_media {
            return Err(D::Error::custom(format_args!(
                "content part of type `{}` is not supported: send text",
                part.kind
            )));
        }
        Ok(Self(None))
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;

        impl<'de> Visitor<'de> for ContentVisitor {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array of content parts")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Content, E> {
                Ok(Content::Whole(text.to_owned()))
            }

            fn visit_string<E: de::Error>(self, text: String) -> Result<Content, E> {
                Ok(Content::Whole(text))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Content, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = sequence.next_element::<Part>()? {
                    parts.extend(part.0);
                }
                Ok(Content::Parts(parts))
            }
        }

        // A visitor instead of an untagged enumeration, which would replace the error of a part by one of its own.
        deserializer.deserialize_any(ContentVisitor)
    }
}

/// The text of an `arguments` field: a JSON string according to the protocol, a bare object from some servers.
///
/// # Errors
/// A string whose escapes do not decode.
pub(crate) fn arguments_text(raw: &serde_json::value::RawValue) -> Result<Cow<'_, str>, serde_json::Error> {
    let text = raw.get();
    if !text.starts_with('"') {
        return Ok(Cow::Borrowed(text));
    }
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    Ok(serde_json::from_str::<Text<'_>>(text)?.0)
}

/// Arguments of a call as the object that some protocols require: anything else becomes the field `malformed` of an
/// object.
pub(crate) struct ArgumentsObject<'a>(pub(crate) &'a Arguments);

impl Serialize for ArgumentsObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Arguments::Object(object) => object.serialize(serializer),
            Arguments::Malformed(text) => {
                let mut object = serializer.serialize_map(Some(1))?;
                object.serialize_entry("malformed", text)?;
                object.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> Result<String, String> {
        serde_json::from_str::<Content>(json)
            .map(|content| content.into_text("\n"))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn strings_and_parts_are_text_and_media_is_refused() {
        assert_eq!(text(r#""a\n\u00e9""#), Ok("a\né".to_owned()));
        assert_eq!(
            text(
                r#"[{"type":"text","text":"a"},{"type":"thinking","thinking":[]},{"type":"refusal","refusal":"b"}]"#
            ),
            Ok("a\nb".to_owned())
        );
        assert_eq!(text("[]"), Ok(String::new()));
        assert!(
            text(r#"[{"type":"image_url","image_url":{}}]"#).is_err_and(|error| error.contains("image_url"))
        );
        assert!(text("7").is_err_and(|error| error.contains("expected a string or an array")));
    }

    #[test]
    fn arguments_may_be_a_bare_object() -> Result<(), serde_json::Error> {
        for (json, expected) in
            [(r#""{\"a\":1}""#, r#"{"a":1}"#), (r#"{"a": 1}"#, r#"{"a": 1}"#), (r#""""#, "")]
        {
            let raw: &serde_json::value::RawValue = serde_json::from_str(json)?;
            assert_eq!(arguments_text(raw)?, expected);
        }
        Ok(())
    }
}
