//! YAML as a tree in which every value knows its place. JSON is YAML, too.
//!
//! Anchors, aliases, tags, merge keys and several documents are refused: without them a file says what it says where
//! it stands, and cannot grow when it is read. A key that stands twice in one map is an error.

use std::borrow::Cow;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};
use serde_json::Value;

use super::{Fault, Phase, RulesPlace};
use crate::limits::{NESTING_MAX, RULES_BYTES_MAX};
use crate::number::JsonNumber;

/// A value and its place.
#[derive(Debug, Clone)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub place: RulesPlace,
}

/// What a value is.
#[derive(Debug, Clone)]
pub enum Kind {
    /// Text, a number, `true`, `false` or `null`.
    Scalar(Value),
    /// A list.
    List(Vec<Node>),
    /// Keys with their places, in the order of the text.
    Map(Vec<(String, RulesPlace, Node)>),
}

impl Node {
    /// The text that the node is.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The value as JSON.
    pub fn value(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::List(items) => items.iter().map(Self::value).collect(),
            Kind::Map(entries) => entries.iter().map(|(key, _, node)| (key.clone(), node.value())).collect(),
        }
    }

    /// What it is, for messages.
    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Scalar(Value::String(text)) => {
                let shown: String = text.chars().take(40).collect();
                format!("the text `{}`", shown.escape_debug())
            }
            Kind::Scalar(Value::Null) => "nothing".to_owned(),
            Kind::Scalar(value) => format!("`{value}`"),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a map".to_owned(),
        }
    }
}

/// Reads one document.
///
/// # Errors
/// It is not YAML, or has something of YAML that is refused.
pub fn read(text: &str) -> Result<Node, Fault> {
    let start = RulesPlace { line: 1, column: 1 };
    if text.len() > RULES_BYTES_MAX {
        let message = format!("the file has {} bytes, and at most {RULES_BYTES_MAX} are read", text.len());
        return Err(Fault::error(start, message, "split it into several files"));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = &*json_as_yaml(text);
    if let Some(fault) = control_character(text) {
        return Err(fault);
    }
    let mut reader = Reader { parser: Parser::new_from_str(text), place: start };
    reader.document().map_err(|fault| tab_near(text, &fault).unwrap_or(fault))
}

/// What is JSON without the little that YAML does not share: the control character U+007F as it is, and characters as
/// two escapes of UTF-16.
fn json_as_yaml(text: &str) -> Cow<'_, str> {
    let has_either = || text.contains('\u{7f}') || text.contains("\\ud") || text.contains("\\uD");
    if !text.trim_start().starts_with(['{', '[']) || !has_either() {
        return Cow::Borrowed(text);
    }
    if serde_json::from_str::<Value>(text).is_err() {
        return Cow::Borrowed(text);
    }
    let mut yaml = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\u{7f}', '\\']) {
        yaml.push_str(&rest[..at]);
        let (piece, later) = match character_at(&rest[at..]) {
            Some(character) => (character.to_string(), at + 12),
            None if rest[at..].starts_with('\\') => (rest[at..at + 2].to_owned(), at + 2),
            None => ("\\u007f".to_owned(), at + 1),
        };
        yaml.push_str(&piece);
        rest = &rest[later..];
    }
    yaml.push_str(rest);
    Cow::Owned(yaml)
}

/// The character that a text begins with as two escapes.
fn character_at(text: &str) -> Option<char> {
    let unit = |at: usize| u16::from_str_radix(text.get(at..at + 6)?.strip_prefix("\\u")?, 16).ok();
    char::decode_utf16([unit(0)?, unit(6)?]).next()?.ok().filter(|character| u32::from(*character) > 0xffff)
}

/// The first character that can stand in no file of YAML.
fn control_character(text: &str) -> Option<Fault> {
    let at = text.find(|c: char| c.is_ascii_control() && !['\t', '\n', '\r'].contains(&c))?;
    let before = &text[..at];
    let line = before.rsplit('\n').next().unwrap_or(before);
    let number = |count: usize| u32::try_from(count + 1).unwrap_or(u32::MAX);
    let place =
        RulesPlace { line: number(before.matches('\n').count()), column: number(line.chars().count()) };
    let code = text[at..].chars().next().map_or(0, u32::from);
    let help = format!("remove it, or write it as `\\u{code:04x}` within double quotes");
    Some(Fault::error(place, format!("the character U+{code:04X} is not allowed in a file"), help))
}

/// The fault of a tab that indents a line, where it is why the text is not YAML: in the line of another fault, or in
/// one beside it.
fn tab_near(text: &str, fault: &Fault) -> Option<Fault> {
    let first = fault.place.line.saturating_sub(1).max(1);
    let near = (first..).zip(text.split('\n').skip(first as usize - 1)).take(3);
    let indented = near.filter_map(|(line, text)| {
        let indent = &text[..text.len() - text.trim_start().len()];
        Some((line, indent[..indent.find('\t')?].chars().count()))
    });
    let (line, before) = indented.filter(|_| fault.message.starts_with(NOT_YAML)).min_by_key(|it| it.0)?;
    let place = RulesPlace { line, column: u32::try_from(before + 1).unwrap_or(u32::MAX) };
    Some(Fault::error(place, "a tab indents this line, which YAML does not allow", "write blanks for it"))
}

/// How the faults of the parser begin.
const NOT_YAML: &str = "this is not YAML";

struct Reader<'t> {
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
    /// The place of the last event.
    place: RulesPlace,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<Event<'t>, Fault> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => {
                self.place = place(&span.start);
                Ok(event)
            }
            Some(Err(error)) if error.info().contains("recursion limit") => {
                Err(too_deep(place(error.marker())))
            }
            Some(Err(error)) => {
                let help = "check indentation and quotes here and in the line before";
                Err(Fault::error(place(error.marker()), format!("{NOT_YAML}: {}", error.info()), help))
            }
            None => Ok(Event::StreamEnd),
        }
    }

    fn document(&mut self) -> Result<Node, Fault> {
        let mut found = None;
        loop {
            match self.next()? {
                Event::StreamEnd => break,
                Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(_) if found.is_some() => {
                    let help = "keep one document in a file";
                    return Err(Fault::error(self.place, "a second document begins here", help));
                }
                Event::DocumentStart(_) => {}
                event => found = Some(self.node(event, 0)?),
            }
        }
        found.ok_or_else(|| Fault::error(self.place, "the file is empty", "begin with `schema: ...`"))
    }

    fn node(&mut self, event: Event<'t>, depth: usize) -> Result<Node, Fault> {
        let place = self.place;
        if depth > NESTING_MAX {
            return Err(too_deep(place));
        }
        let kind = match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.must_be_plain(anchor, tag.is_some())?;
                let is_plain = style == ScalarStyle::Plain;
                let fault = |(message, help): (String, String)| Fault::error(place, message, help);
                Kind::Scalar(if is_plain {
                    plain_value(&text).map_err(fault)?
                } else {
                    Value::from(text.as_ref())
                })
            }
            Event::SequenceStart(anchor, tag) => {
                self.must_be_plain(anchor, tag.is_some())?;
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => break Kind::List(items),
                        event => items.push(self.node(event, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(anchor, tag) => {
                self.must_be_plain(anchor, tag.is_some())?;
                self.map(depth)?
            }
            Event::Alias(_) => return Err(self.refused("an alias")),
            _ => return Err(Fault::error(place, "a value is missing", "write a value")),
        };
        Ok(Node { kind, place })
    }

    fn map(&mut self, depth: usize) -> Result<Kind, Fault> {
        let mut entries: Vec<(String, RulesPlace, Node)> = Vec::new();
        let mut seen = std::collections::HashMap::new();
        loop {
            let (key, place) = match self.next()? {
                Event::MappingEnd => return Ok(Kind::Map(entries)),
                // A number is a key by its digits, as in `{1: one}`.
                Event::Scalar(text, _, anchor, tag) => {
                    self.must_be_plain(anchor, tag.is_some())?;
                    (text.into_owned(), self.place)
                }
                Event::Alias(_) => return Err(self.refused("an alias")),
                _ => return Err(Fault::error(self.place, "a key is not a text", "write `key: value`")),
            };
            if let Some(first) = seen.insert(key.clone(), place) {
                let message = format!("the key `{key}` stands twice: first in line {}", first.line);
                let help = match Phase::ALL.iter().any(|phase| phase.key() == key) {
                    true => "keep one of them; two events of one kind are a list: [{call: a}, {call: b}]",
                    false => "keep one of them",
                };
                return Err(Fault::error(place, message, help));
            }
            if key == "<<" {
                return Err(self.refused("a merge key"));
            }
            let event = self.next()?;
            let value = self.node(event, depth + 1)?;
            entries.push((key, place, value));
        }
    }

    fn must_be_plain(&self, anchor: usize, has_tag: bool) -> Result<(), Fault> {
        match (anchor, has_tag) {
            (0, false) => Ok(()),
            (0, true) => Err(self.refused("a tag")),
            _ => Err(self.refused("an anchor")),
        }
    }

    fn refused(&self, what: &str) -> Fault {
        let help = "write the value out, in place; put a text that begins with `*`, `&` or `!` in quotes";
        Fault::error(self.place, format!("{what} is not allowed here"), help)
    }
}

fn too_deep(place: RulesPlace) -> Fault {
    let message = format!("lists and maps are nested more than {NESTING_MAX} deep");
    Fault::error(place, message, "nest them less")
}

fn place(marker: &Marker) -> RulesPlace {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    RulesPlace { line: number(marker.line().max(1)), column: number(marker.col() + 1) }
}

/// The value of a scalar without quotes, by the core schema of YAML 1.2: `yes` and `no` are texts.
///
/// # Errors
/// What looks like a number, and cannot be one of JSON, or is one only to older versions of YAML: what is wrong, and
/// what to do.
fn plain_value(text: &str) -> Result<Value, (String, String)> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        _ => {}
    }
    let too_large = || {
        let message =
            format!("the number {text} is too large: whole numbers have 64 bits, and decimals 308 digits");
        (message, format!("write a smaller number, or a text in quotes: '{text}'"))
    };
    if let Some(number) = JsonNumber::read(text) {
        return number.map(Value::Number).map_err(|_| too_large());
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(digits, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        let message = format!("`{text}` is not a number that calls and results can have");
        return Err((message, format!("write another number, or a text in quotes: '{text}'")));
    }
    let is_grouped = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.contains('_')
        && digits.chars().all(|c| c.is_ascii_digit() || c == '_' || c == '.');
    if is_grouped {
        let message = format!("`{text}` is a number in YAML 1.1 and a text in YAML 1.2");
        let help = format!("write the number {}, or the text in quotes: '{text}'", text.replace('_', ""));
        return Err((message, help));
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        let digits = text.strip_prefix(prefix).filter(|digits| !digits.is_empty());
        if let Some(digits) = digits.filter(|digits| digits.chars().all(|c| c.is_digit(radix))) {
            return u64::from_str_radix(digits, radix).map(Value::from).map_err(|_| too_large());
        }
    }
    Ok(Value::from(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_read_as_json() {
        for text in [
            r#"{"a": "\ud83d\ude00 \uDB40\uDC41"}"#,
            "[\"a \u{7f} b\", \"\\u007f\"]",
            r#"["\\ud83d\\ude00", "\\\ud83d\ude00", "\n\"\ud83d\ude00"]"#,
            r#"{"\ud83d\ude00": "\u00e9"}"#,
        ] {
            let expected: Value = serde_json::from_str(text).expect("JSON");
            assert_eq!(read(text).map(|node| node.value()), Ok(expected), "{text}");
        }
        // Half a character is not JSON, and elsewhere the escape is a text.
        assert!(read(r#"{"a": "\ud83d"}"#).is_err());
        assert_eq!(read(r"a: \ud83d\ude00").map(|node| node.value()), Ok(json!({"a": r"\ud83d\ude00"})));
    }

    #[test]
    fn scalars_are_those_of_yaml_1_2() {
        let node =
            read("[~, '~', yes, True, 17, -1.5, 1e3, 0x1f, 1.2.3, 2026-11-28, '17', .5, '1_000', v1_0]")
                .expect("YAML");
        let expected = json!([
            null,
            "~",
            "yes",
            true,
            17,
            -1.5,
            1000.0,
            31,
            "1.2.3",
            "2026-11-28",
            "17",
            0.5,
            "1_000",
            "v1_0"
        ]);
        assert_eq!(node.value(), expected);
    }

    #[test]
    fn what_could_grow_or_hide_is_refused() {
        let deep = "[".repeat(200);
        for (text, expected) in [
            ("a: &x 1\nb: *x", "1:4: an anchor"),
            ("a: *x", "1:4: this is not YAML"),
            ("a: !!str 1", "1:4: a tag"),
            ("a: 1\nb: 2\na: 3", "3:1: the key `a` stands twice: first in line 1"),
            ("a: 1\n---\nb: 2", "2:1: a second document"),
            ("a:\n\tb: 1", "2:1: a tab indents this line"),
            ("a: x\n\tb: 1", "2:1: a tab indents this line"),
            ("a:\n- b\n  \tc: 1: 2", "3:3: a tab indents this line"),
            ("a: x\ny\u{0}", "2:2: the character U+0000 is not allowed in a file"),
            ("a: \"\u{1b}[31m\"", "1:5: the character U+001B is not allowed"),
            ("call: 1\ncall: 2", "two events of one kind are a list"),
            ("a: [1, 2", "this is not YAML: while parsing a flow sequence"),
            ("? [a]\n: 1", "1:3: a key is not a text"),
            (deep.as_str(), "nested more than 100 deep"),
            ("", "the file is empty"),
            ("a: 1e400", "1:4: the number 1e400 is too large"),
            ("a: [99999999999999999999]", "1:5: the number 99999999999999999999 is too large"),
            ("a: 0x1ffffffffffffffff", "1:4: the number 0x1ffffffffffffffff is too large"),
            ("a: .nan", "1:4: `.nan` is not a number that calls and results can have"),
            ("a: -.Inf", "1:4: `-.Inf` is not a number"),
            (
                "a: 1_000",
                "1:4: `1_000` is a number in YAML 1.1 and a text in YAML 1.2; write the number 1000, or",
            ),
            ("# nothing\n", "the file is empty"),
        ] {
            let fault = read(text).expect_err(text).to_string();
            assert!(fault.contains(expected), "{text}: {fault}");
        }
    }
}
