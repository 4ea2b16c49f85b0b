//! Values in Python's notation, as frameworks print them.

use serde_json::{Map, Value};

/// The value that a text begins with; `None` where it begins with none.
pub(crate) fn read_literal(text: &str) -> Option<Value> {
    Reader::new(text).value()
}

/// Deepest nesting of a value in Python's notation that is read.
const DEPTH_MAX: usize = 32;

/// Reads literals of Python: what JSON has, in Python's words and either quotes.
struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self { rest: text, depth: 0 }
    }

    fn eat(&mut self, sign: char) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self) -> Option<Value> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        self.rest = self.rest.trim_start();
        let value = match self.rest.chars().next()? {
            '[' => Value::Array(self.items(']', Self::value)?),
            '{' => {
                let entry = |reader: &mut Self| {
                    let name = reader.string()?;
                    reader.eat(':').then_some(())?;
                    Some((name, reader.value()?))
                };
                Value::Object(Map::from_iter(self.items('}', entry)?))
            }
            '\'' | '"' => Value::String(self.string()?),
            _ => self.word()?,
        };
        self.depth -= 1;
        Some(value)
    }

    fn items<T>(&mut self, end: char, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        // The opening bracket, which is one byte.
        self.rest = self.rest.get(1..)?;
        let mut items = Vec::new();
        while !self.eat(end) {
            items.push(item(self)?);
            // Python allows a comma before the end.
            if !self.eat(',') && !self.rest.trim_start().starts_with(end) {
                return None;
            }
        }
        Some(items)
    }

    fn string(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start();
        let quote = self.rest.chars().next().filter(|sign| matches!(sign, '\'' | '"'))?;
        let mut text = String::new();
        let mut signs = self.rest[1..].char_indices();
        loop {
            match signs.next()? {
                (at, sign) if sign == quote => {
                    self.rest = &self.rest[1 + at + sign.len_utf8()..];
                    return Some(text);
                }
                (_, '\\') => text.push(match signs.next()?.1 {
                    'n' => '\n',
                    't' => '\t',
                    // Right for quotes and backslashes.
                    other => other,
                }),
                (_, sign) => text.push(sign),
            }
        }
    }

    fn word(&mut self) -> Option<Value> {
        let end = self.rest.find([',', ']', '}', ':']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word.trim() {
            "None" => Some(Value::Null),
            "True" => Some(true.into()),
            "False" => Some(false.into()),
            number => serde_json::from_str::<serde_json::Number>(number).ok().map(Value::Number),
        }
    }
}
