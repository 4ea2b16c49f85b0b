//! Values as models write them: JSON, literals of Python, and the slips between the two.

use serde_json::{Map, Number, Value};

/// Deepest nesting that is read.
const DEPTH_MAX: usize = 64;

/// Reads values from a place in a text.
pub(super) struct ValueReader<'t> {
    text: &'t str,
    at: usize,
    /// Where the brackets begin whose values have not ended.
    open: Vec<usize>,
}

impl<'t> ValueReader<'t> {
    /// `start` is on a boundary of characters.
    pub(super) fn new(text: &'t str, start: usize) -> Self {
        Self { text, at: start, open: Vec::new() }
    }

    /// Where reading has got to.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// After a failure, the places of the brackets within which reading failed, ascending.
    pub(super) fn into_open(self) -> Vec<usize> {
        self.open
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += if is_there { wanted.len_utf8() } else { 0 };
        is_there
    }

    /// The next value; `None` if there is none.
    pub(super) fn value(&mut self) -> Option<Value> {
        self.skip_space();
        match self.peek()? {
            '{' => self.nested(|reader| reader.members('}', ':')).map(Value::Object),
            '[' => self.nested(Self::items).map(Value::Array),
            '"' | '\'' => self.string().map(Value::String),
            '-' | '+' | '0'..='9' => self.number(),
            _ => match self.word()? {
                "true" | "True" => Some(Value::Bool(true)),
                "false" | "False" => Some(Value::Bool(false)),
                "null" | "None" => Some(Value::Null),
                _ => None,
            },
        }
    }

    /// The arguments of a call of Python, from its parenthesis on.
    pub(super) fn keyword_arguments(&mut self) -> Option<Map<String, Value>> {
        self.nested(|reader| reader.members(')', '='))
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.open.len() == DEPTH_MAX {
            return None;
        }
        self.open.push(self.at);
        // The opening bracket.
        self.at += 1;
        let value = read(self)?;
        self.open.pop();
        Some(value)
    }

    fn items(&mut self) -> Option<Vec<Value>> {
        let mut items = Vec::new();
        loop {
            self.skip_space();
            if self.take(']') {
                return Some(items);
            }
            items.push(self.value()?);
            if self.has_ended(']')? {
                return Some(items);
            }
        }
    }

    fn members(&mut self, close: char, separator: char) -> Option<Map<String, Value>> {
        let mut members = Map::new();
        loop {
            self.skip_space();
            if self.take(close) {
                return Some(members);
            }
            let key = match self.peek()? {
                '"' | '\'' => self.string()?,
                _ => self.word()?.to_owned(),
            };
            self.skip_space();
            if !self.take(separator) {
                return None;
            }
            let value = self.value()?;
            members.insert(key, value);
            if self.has_ended(close)? {
                return Some(members);
            }
        }
    }

    /// Whether a list ends behind an item; `None` if neither its end nor a further item follows. Models forget the
    /// last brackets, so that the end of a text, of a fence and of a tag close everything that is open.
    fn has_ended(&mut self, close: char) -> Option<bool> {
        self.skip_space();
        if self.take(close) {
            return Some(true);
        }
        if self.take(',') {
            return Some(false);
        }
        let rest = self.rest();
        (rest.is_empty() || rest.starts_with("```") || rest.starts_with('<')).then_some(true)
    }

    fn word(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = rest.bytes().take_while(is_part).count();
        self.at += length;
        (length > 0).then(|| &rest[..length])
    }

    fn number(&mut self) -> Option<Value> {
        let rest = self.rest();
        let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest.bytes().take_while(is_part).count();
        let number: Number = serde_json::from_str(rest[..length].trim_start_matches('+')).ok()?;
        self.at += length;
        Some(Value::Number(number))
    }

    /// A text in either kind of quotation marks. Line breaks may stand in it as they are.
    fn string(&mut self) -> Option<String> {
        let quote = self.peek()?;
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let end = rest.find([quote, '\\'])?;
            text.push_str(&rest[..end]);
            self.at += end + 1;
            if rest[end..].starts_with(quote) {
                return Some(text);
            }
            let escaped = self.peek()?;
            self.at += escaped.len_utf8();
            match escaped {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                'b' => text.push('\u{8}'),
                'f' => text.push('\u{c}'),
                'u' => text.push(self.unicode()),
                other => text.push(other),
            }
        }
    }

    /// The character behind `\u`. Half a pair becomes U+FFFD.
    fn unicode(&mut self) -> char {
        let Some(first) = self.unit() else { return char::REPLACEMENT_CHARACTER };
        let before = self.at;
        if (0xD800..0xDC00).contains(&first) && self.rest().starts_with("\\u") {
            self.at += 2;
            if let Some(second @ 0xDC00..0xE000) = self.unit() {
                let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            }
            self.at = before;
        }
        char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Option<u32> {
        let digits = self.rest().get(..4).filter(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}
