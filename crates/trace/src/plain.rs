//! What parsers of JSON and TOML say, without the names of types of this program, which mean nothing to whoever wrote
//! the file.

/// The words of a parser for a kind of value, and those of this program. In both places, before `, expected` and after
/// it, a parser says what it found and what it wanted.
const FOUND: [(&str, &str); 6] = [
    ("invalid type: map,", "invalid type: an object,"),
    ("invalid type: sequence,", "invalid type: a list,"),
    ("invalid type: unit value,", "invalid type: null,"),
    ("invalid type: Option value,", "invalid type: a value,"),
    ("invalid type: newtype struct,", "invalid type: a value,"),
    ("invalid type: enum,", "invalid type: a word,"),
];

/// The same for what is expected, with the whole word.
const EXPECTED: [(&str, &str); 17] = [
    ("a sequence", "a list"),
    ("a map", "an object"),
    ("a borrowed string", "a string"),
    ("string or map", "a string or an object"),
    ("a boolean", "true or false"),
    ("unit", "null"),
    ("variant identifier", "the name of a form"),
    ("field identifier", "the name of a field"),
    ("any valid JSON value", "a value"),
    ("u8", "a whole number from 0 to 255"),
    ("u16", "a whole number from 0"),
    ("u32", "a whole number from 0"),
    ("u64", "a whole number from 0"),
    ("usize", "a whole number from 0"),
    ("i32", "a whole number"),
    ("i64", "a whole number"),
    ("f64", "a number"),
];

/// Names of kinds of types, each of which is followed by the name of a type, and what such a type is in a file.
const TYPES: [(&str, &str); 9] = [
    ("adjacently tagged enum ", "an object"),
    ("internally tagged enum ", "an object"),
    ("struct variant ", "an object"),
    ("tuple variant ", "a list"),
    ("newtype variant ", "a value"),
    ("unit variant ", "a word"),
    ("tuple struct ", "a list"),
    ("unit struct ", "null"),
    ("newtype struct ", "a value"),
];

/// The message of a parser in plain words: what names a type says what that is in a file. Other text stays.
pub fn plain_message(message: &str) -> String {
    let mut out = message.to_owned();
    for (theirs, ours) in FOUND {
        out = out.replace(theirs, ours);
    }
    out = without_untagged(&out);
    let mut plain = String::with_capacity(out.len());
    let mut rest = out.as_str();
    while let Some(at) = rest.find(EXPECTING) {
        let (before, after) = rest.split_at(at + EXPECTING.len());
        plain += before;
        rest = after;
        if let Some((ours, end)) = expected(after) {
            plain += &ours;
            rest = &after[end..];
        }
    }
    plain + rest
}

/// What stands before the thing that a parser wanted.
const EXPECTING: &str = "expected ";

/// What was expected in plain words, and the number of bytes that say it; `None` if these are plain already.
fn expected(text: &str) -> Option<(String, usize)> {
    for (kind, ours) in TYPES.into_iter().chain([("struct ", "an object"), ("enum ", "a word or an object")])
    {
        let Some(rest) = text.strip_prefix(kind) else { continue };
        let name =
            rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':'))).unwrap_or(rest.len());
        // Names of types begin with a capital letter; other text may begin like this by chance.
        if !rest.starts_with(|c: char| c.is_ascii_uppercase()) {
            return None;
        }
        let end = kind.len() + name;
        return Some((ours.to_owned(), end + elements(&text[end..])));
    }
    for (theirs, ours) in EXPECTED {
        if let Some(rest) = text.strip_prefix(theirs)
            && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            return Some((ours.to_owned(), theirs.len()));
        }
    }
    let size = text.strip_prefix("a tuple of size ")?;
    let digits = size.bytes().take_while(u8::is_ascii_digit).count();
    let end = text.len() - size.len() + digits;
    (digits > 0).then(|| (format!("a list of {} values", &size[..digits]), end))
}

/// The bytes of ` with 2 elements` at the beginning of a text; 0 if it does not begin so.
fn elements(text: &str) -> usize {
    let Some(rest) = text.strip_prefix(" with ") else { return 0 };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &rest[digits..];
    let word = [" elements", " element"].into_iter().find(|word| rest.starts_with(word));
    word.filter(|_| digits > 0).map_or(0, |word| " with ".len() + digits + word.len())
}

/// Without the name of the type whose forms did not fit.
fn without_untagged(text: &str) -> String {
    const THEIRS: &str = "data did not match any variant of untagged enum ";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(THEIRS) {
        out += &rest[..at];
        out += "the value has none of the known forms";
        rest = rest[at + THEIRS.len()..]
            .trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'));
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its errors count")]
    struct Row {
        count: Option<u32>,
        rate: Option<f64>,
        name: Option<String>,
        list: Option<Vec<String>>,
        pair: Option<(String, i64)>,
        inner: Option<Inner>,
        kind: Option<Kind>,
        tagged: Option<Tagged>,
        any: Option<Any>,
        is: Option<bool>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only its errors count")]
    struct Inner {
        a: u8,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    #[expect(dead_code, reason = "only its errors count")]
    enum Kind {
        Plain,
        Rich { a: u8 },
    }

    #[derive(Debug, Deserialize)]
    #[serde(tag = "type")]
    #[expect(dead_code, reason = "only its errors count")]
    enum Tagged {
        One { a: u8 },
    }

    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its errors count")]
    enum Any {
        Text(String),
        Number(u8),
    }

    /// What serde says of each of these files, and what we say.
    #[test]
    fn no_message_names_a_type() {
        for (file, expected) in [
            ("3", "invalid type: integer `3`, expected an object"),
            ("\"x\"", "invalid type: string \"x\", expected an object"),
            ("[3, 4]", "invalid length 2, expected an object"),
            (r#"{"count": -1}"#, "invalid value: integer `-1`, expected a whole number from 0"),
            (r#"{"count": []}"#, "invalid type: a list, expected a whole number from 0"),
            (r#"{"rate": {}}"#, "invalid type: an object, expected a number"),
            (r#"{"name": 1}"#, "invalid type: integer `1`, expected a string"),
            (r#"{"list": {}}"#, "invalid type: an object, expected a list"),
            (r#"{"pair": ["a"]}"#, "invalid length 1, expected a list of 2 values"),
            (r#"{"pair": 1}"#, "invalid type: integer `1`, expected a list of 2 values"),
            (r#"{"inner": 1}"#, "invalid type: integer `1`, expected an object"),
            (r#"{"inner": []}"#, "invalid length 0, expected an object"),
            (r#"{"kind": 1}"#, "expected value"),
            (r#"{"kind": {"rich": 1}}"#, "invalid type: integer `1`, expected an object"),
            (r#"{"tagged": 1}"#, "invalid type: integer `1`, expected an object"),
            (r#"{"any": []}"#, "the value has none of the known forms"),
            (r#"{"is": 1}"#, "invalid type: integer `1`, expected true or false"),
            (r#"{"name": "expected struct Row"}x"#, "trailing characters"),
            (r#"{"else": 1}"#, "unknown field `else`, expected one of"),
        ] {
            let error = serde_json::from_str::<Row>(file).expect_err("it is wrong").to_string();
            let plain = plain_message(&error);
            assert!(plain.starts_with(expected), "{file}: {error}: {plain}");
            for name in ["Row", "Inner", "Kind", "Tagged", "Any", "struct", "enum", "tuple"] {
                assert!(!plain.contains(name), "{file}: {plain}");
            }
        }
    }

    #[test]
    fn other_text_stays() {
        for text in [
            "",
            "expected ",
            "expected a struct file",
            "the right call (expected control patch or visitor tour)",
            "expected struct designs",
            "expected u32x",
            "expected a tuple of size many",
            "expected `,` or `}` at line 1 column 3",
        ] {
            assert_eq!(plain_message(text), text);
        }
        assert_eq!(
            plain_message(
                "a.json:1: invalid type: map, expected struct a; expected struct Ab::C with 2 elements at line 1"
            ),
            "a.json:1: invalid type: an object, expected struct a; expected an object at line 1"
        );
    }
}
