//! Values that Python wrote with `repr`, such as `{'cuisine': None, 'days': ['2022-03-16']}`.

use serde_json::{Map, Number, Value};

/// Maximum nesting of lists and dictionaries.
const DEPTH_MAX: usize = 32;

/// Parses a literal: `None`, truth values, numbers, texts, lists, tuples (which become lists), and dictionaries
/// with text keys. The time is linear in the length of the text.
///
/// # Errors
/// What is wrong, and at which character, from 1.
pub fn literal(text: &str) -> Result<Value, String> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let value = reader.value()?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(reader.fault("something follows the value"));
    }
    Ok(value)
}

struct Reader<'t> {
    text: &'t str,
    /// In bytes.
    at: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn fault(&self, what: &str) -> String {
        format!("{what} at character {}", self.text[..self.at].chars().count() + 1)
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    /// Consumes a word or a sign if it comes next, and returns whether it did.
    fn takes(&mut self, word: &str) -> bool {
        self.blanks();
        let is_next = self.rest().starts_with(word);
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    fn value(&mut self) -> Result<Value, String> {
        self.blanks();
        for (word, value) in [("None", Value::Null), ("True", true.into()), ("False", false.into())] {
            if self.takes(word) {
                return Ok(value);
            }
        }
        match self.rest().chars().next() {
            Some('[') => self.items("[", "]").map(Value::Array),
            Some('(') => self.items("(", ")").map(Value::Array),
            Some('{') => self.members().map(Value::Object),
            Some('\'' | '"') => self.text_value().map(Value::String),
            Some('-' | '+' | '.' | '0'..='9') => self.number(),
            Some(_) => Err(self.fault("there is no value")),
            None => Err(self.fault("it ends")),
        }
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        // The parser is recursive, so this bounds the stack.
        if self.depth > DEPTH_MAX {
            return Err(self.fault("lists lie too deep in each other"));
        }
        Ok(())
    }

    fn items(&mut self, open: &str, close: &str) -> Result<Vec<Value>, String> {
        self.deeper()?;
        self.takes(open);
        let mut items = Vec::new();
        while !self.takes(close) {
            if !items.is_empty() && !self.takes(",") {
                return Err(self.fault("there is no comma"));
            }
            // Python allows a comma after the last element.
            if !items.is_empty() && self.takes(close) {
                break;
            }
            items.push(self.value()?);
        }
        self.depth -= 1;
        Ok(items)
    }

    fn members(&mut self) -> Result<Map<String, Value>, String> {
        self.deeper()?;
        self.takes("{");
        let mut members = Map::new();
        while !self.takes("}") {
            if !members.is_empty() && !self.takes(",") {
                return Err(self.fault("there is no comma"));
            }
            if !members.is_empty() && self.takes("}") {
                break;
            }
            self.blanks();
            let key = self.text_value()?;
            if !self.takes(":") {
                return Err(self.fault("there is no colon"));
            }
            members.insert(key, self.value()?);
        }
        self.depth -= 1;
        Ok(members)
    }

    fn number(&mut self) -> Result<Value, String> {
        let rest = self.rest();
        let is_part = |it: char| matches!(it, '-' | '+' | '.' | '_' | 'e' | 'E' | '0'..='9');
        let text = rest.split(|it| !is_part(it)).next().unwrap_or_default();
        let number = match text.parse::<i64>() {
            Ok(number) => Some(Number::from(number)),
            // This includes integers of more than 64 bits, which become floats.
            Err(_) => text.parse::<f64>().ok().and_then(Number::from_f64),
        };
        let number = number.ok_or_else(|| self.fault("there is no number"))?;
        self.at += text.len();
        Ok(Value::Number(number))
    }

    fn text_value(&mut self) -> Result<String, String> {
        let Some(quote @ ('\'' | '"')) = self.rest().chars().next() else {
            return Err(self.fault("there is no text"));
        };
        self.at += 1;
        let mut text = String::new();
        let mut characters = self.rest().char_indices();
        while let Some((at, it)) = characters.next() {
            match it {
                '\\' => text.extend(escape(&mut characters).map_err(|what| {
                    self.at += at;
                    self.fault(what)
                })?),
                it if it == quote => {
                    self.at += at + 1;
                    return Ok(text);
                }
                it => text.push(it),
            }
        }
        // The message points at the opening quote.
        self.at -= 1;
        Err(self.fault("a text is not closed that begins"))
    }
}

/// The character that the escape after a backslash stands for; `None` for a line break.
fn escape(characters: &mut std::str::CharIndices<'_>) -> Result<Option<char>, &'static str> {
    let (_, it) = characters.next().ok_or("a backslash ends it")?;
    let digits = match it {
        'n' => return Ok(Some('\n')),
        't' => return Ok(Some('\t')),
        'r' => return Ok(Some('\r')),
        '\n' => return Ok(None),
        '\\' | '\'' | '"' => return Ok(Some(it)),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return Err("an escape is unknown"),
    };
    let mut code = 0;
    for _ in 0..digits {
        let digit = characters.next().and_then(|(_, it)| it.to_digit(16)).ok_or("an escape is no number")?;
        code = code * 16 + digit;
    }
    char::from_u32(code).map(Some).ok_or("an escape is no character")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn literals_are_read() {
        let text = r#" {'a': None, "it's": [True, False, ()], 'n': -1.5e3,
            'b': ('x\n\'\\\x41\u00e9', "q\"",), 'i': 17, } "#;
        let value = json!({
            "a": null, "it's": [true, false, []], "n": -1500.0, "b": ["x\n'\\A\u{e9}", "q\""], "i": 17,
        });
        assert_eq!(literal(text), Ok(value));
        assert_eq!(literal(&planproof_measure::python::repr("a\"b'c\n\\")), Ok(json!("a\"b'c\n\\")));
    }

    #[test]
    fn faults_have_their_place() {
        for (text, what) in [
            ("", "it ends at character 1"),
            ("[1 2]", "there is no comma at character 4"),
            ("{'é': }", "there is no value at character 7"),
            ("{1: 2}", "there is no text at character 2"),
            ("{'a' 2}", "there is no colon at character 6"),
            ("[1", "there is no comma at character 3"),
            ("[", "it ends at character 2"),
            ("['a", "a text is not closed that begins at character 2"),
            ("'\\q'", "an escape is unknown at character 2"),
            ("'\\ud800'", "an escape is no character at character 2"),
            ("1 x", "something follows the value at character 3"),
            ("1e999", "there is no number at character 1"),
            ("nan", "there is no value at character 1"),
        ] {
            assert_eq!(literal(text), Err(what.to_owned()), "{text}");
        }
        assert!(literal(&"[".repeat(100_000)).is_err());
    }
}
