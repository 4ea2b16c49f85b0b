//! Lists and dictionaries in Python's and JSON's notation, found in a model's text.

use serde_json::{Number, Value};
use thiserror::Error;

/// Deepest nesting.
pub const DEPTH_MAX: usize = 8;
/// Most values of one literal.
pub const VALUES_MAX: usize = 10_000;
/// Most positions of a text at which a literal is tried.
const STARTS_MAX: usize = 200;

/// Why a text holds no literal.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}, at character {place}")]
pub struct NoLiteral {
    pub what: &'static str,
    /// Where, from 1.
    pub place: usize,
}

/// A literal that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundLiteral {
    pub value: Value,
    /// Of a dictionary, the members in the order in which they are written, also those of a repeated key.
    pub members: Vec<(String, Value)>,
    /// The place behind it, in bytes.
    pub end: usize,
}

/// The first literal of a text that begins with this bracket, `[` or `{`; text around it, such as words and code
/// fences, is ignored. `None` if the bracket does not occur.
///
/// # Errors
/// No bracket begins a literal; the error is that of the first.
pub fn first(text: &str, bracket: char) -> Result<Option<FoundLiteral>, NoLiteral> {
    let mut error = None;
    // Bounded, because each attempt may read to the end of the text.
    for (start, _) in text.match_indices(bracket).take(STARTS_MAX) {
        match read(text, start) {
            Ok(found) => return Ok(Some(found)),
            Err(other) => error = error.or(Some(other)),
        }
    }
    error.map_or(Ok(None), Err)
}

/// A container that is not closed yet.
enum Open {
    List(Vec<Value>),
    Dict { members: Vec<(String, Value)>, key: Option<String> },
}

/// What may come next.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    /// A value or, if the container is empty or after a comma, its end.
    ValueOrEnd,
    /// A value behind a colon.
    Value,
    Colon,
    /// A comma, or the end of the container.
    CommaOrEnd,
}

/// The literal that begins at this position, in bytes. A comma may precede the end of a container, as in Python.
/// Takes time in proportion to the literal.
///
/// # Errors
/// There is none, or it exceeds a limit.
pub fn read(text: &str, start: usize) -> Result<FoundLiteral, NoLiteral> {
    let mut reader = Reader { text, at: start };
    // A stack of open containers instead of recursion, so `next` alone says what may follow.
    let mut open: Vec<Open> = Vec::new();
    let mut next = Next::Value;
    let mut count = 0;
    let mut closed = Vec::new();
    loop {
        reader.skip_blanks();
        let character = reader.peek().ok_or_else(|| reader.error("the list is not closed"))?;
        let value = match (character, next) {
            ('[' | '{', Next::Value | Next::ValueOrEnd) => {
                if matches!(open.last(), Some(Open::Dict { key: None, .. })) {
                    return Err(reader.error("a key must be a text"));
                }
                if open.len() == DEPTH_MAX {
                    return Err(reader.error("it is nested too deeply"));
                }
                reader.skip(character);
                let is_list = character == '[';
                open.push(if is_list {
                    Open::List(Vec::new())
                } else {
                    Open::Dict { members: Vec::new(), key: None }
                });
                next = Next::ValueOrEnd;
                continue;
            }
            (']' | '}', Next::ValueOrEnd | Next::CommaOrEnd) => {
                let value = match (open.pop(), character) {
                    (Some(Open::List(values)), ']') => Value::Array(values),
                    (Some(Open::Dict { members, key: None }), '}') => {
                        closed.clone_from(&members);
                        Value::Object(members.into_iter().collect())
                    }
                    _ => return Err(reader.error("this bracket closes nothing")),
                };
                reader.skip(character);
                value
            }
            (',', Next::CommaOrEnd) => {
                reader.skip(character);
                next = Next::ValueOrEnd;
                continue;
            }
            (':', Next::Colon) => {
                reader.skip(character);
                next = Next::Value;
                continue;
            }
            (_, Next::Value | Next::ValueOrEnd) => reader.scalar()?,
            (_, Next::Colon) => return Err(reader.error("a `:` is missing")),
            (_, Next::CommaOrEnd) => return Err(reader.error("a `,` or a closing bracket is missing")),
        };
        count += 1;
        if count > VALUES_MAX {
            return Err(reader.error("it has too many values"));
        }
        next = Next::CommaOrEnd;
        match open.last_mut() {
            // The last one that was closed is the outermost one.
            None => {
                let members = if value.is_object() { closed } else { Vec::new() };
                return Ok(FoundLiteral { value, members, end: reader.at });
            }
            Some(Open::List(values)) => values.push(value),
            Some(Open::Dict { members, key }) => match key.take() {
                Some(key) => {
                    members.push((key, value));
                }
                None => {
                    let Value::String(text) = value else { return Err(reader.error("a key must be a text")) };
                    *key = Some(text);
                    next = Next::Colon;
                }
            },
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, character: char) {
        self.at += character.len_utf8();
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Only where something is wrong, because this counts the characters of all that was read.
    fn error(&self, what: &'static str) -> NoLiteral {
        let before = self.text.get(..self.at).unwrap_or_default();
        NoLiteral { what, place: before.chars().count() + 1 }
    }

    /// A text, a number or a name for a value.
    fn scalar(&mut self) -> Result<Value, NoLiteral> {
        match self.peek() {
            Some(quote @ ('"' | '\'')) => self.quoted(quote),
            _ => self.bare(),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<Value, NoLiteral> {
        let mut value = String::new();
        let mut characters = self.rest().char_indices();
        // The quote itself.
        characters.next();
        while let Some((place, character)) = characters.next() {
            if character == quote {
                self.at += place + quote.len_utf8();
                return Ok(Value::String(value));
            }
            if character != '\\' {
                value.push(character);
                continue;
            }
            match characters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, 'r')) => value.push('\r'),
                Some((_, 'u')) => {
                    let digits: String = characters.by_ref().take(4).map(|(_, digit)| digit).collect();
                    // Each half of a surrogate pair becomes a replacement character; the two are not joined.
                    let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                    value.push(code.unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                Some((_, other)) => value.push(other),
                None => break,
            }
        }
        // The reader has not moved, so this points to the opening quote.
        Err(self.error("the text is not closed"))
    }

    fn bare(&mut self) -> Result<Value, NoLiteral> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let word = &rest[..length];
        let value = match word {
            "" => return Err(self.error("a value is missing")),
            "True" | "true" => Value::Bool(true),
            "False" | "false" => Value::Bool(false),
            "None" | "null" => Value::Null,
            _ => {
                let number = match word.parse::<i64>() {
                    Ok(number) => Some(Number::from(number)),
                    // `inf` and `nan` parse in Rust, but are not numbers of JSON.
                    Err(_) => word.parse::<f64>().ok().and_then(Number::from_f64),
                };
                Value::Number(number.ok_or_else(|| self.error("a text stands without quotes"))?)
            }
        };
        self.at += length;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(text: &str) -> Value {
        first(text, '[').unwrap().unwrap().value
    }

    fn error(text: &str) -> String {
        first(text, '[').unwrap_err().to_string()
    }

    #[test]
    fn lists_are_read_as_python_and_json_write_them() {
        assert_eq!(found(r#"["a", 'b', "it's", 'say "x"',]"#), json!(["a", "b", "it's", "say \"x\""]));
        assert_eq!(found("[20.08, -3, 1e3, True, None]"), json!([20.08, -3, 1000.0, true, null]));
        assert_eq!(found("Sure:\n```json\n[{'a': \"b\"}, {\"c\":1}]\n```"), json!([{"a": "b"}, {"c": 1}]));
        assert_eq!(found(r#"['a\'b\n\u0041']"#), json!(["a'b\nA"]));
        assert_eq!(found("[see below] [1]"), json!([1]));
        assert_eq!(first("no list", '['), Ok(None));
        assert_eq!(found("[]"), json!([]));
    }

    #[test]
    fn mistakes_have_a_place() {
        assert_eq!(error("[SQL, Python]"), "a text stands without quotes, at character 2");
        assert_eq!(error("['a' 'b']"), "a `,` or a closing bracket is missing, at character 6");
        assert_eq!(error("['a', 'b'"), "the list is not closed, at character 10");
        assert_eq!(error("['a]"), "the text is not closed, at character 2");
        assert_eq!(error("[{'a'}]"), "a `:` is missing, at character 6");
        assert_eq!(error("[{1: 2}]"), "a key must be a text, at character 4");
        assert_eq!(read("[{[1]: 2}]", 0).unwrap_err().to_string(), "a key must be a text, at character 3");
        assert_eq!(error("[1}"), "this bracket closes nothing, at character 3");
        assert_eq!(error("[, 1]"), "a value is missing, at character 2");
        assert_eq!(error("[{'a': }]"), "a value is missing, at character 8");
        let deep = "[".repeat(100_000);
        assert!(error(&deep).starts_with("it is nested too deeply"));
    }
}
