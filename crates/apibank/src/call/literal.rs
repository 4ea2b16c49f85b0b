//! Values as Python and JSON write them: numbers, truth values, single- or double-quoted texts, lists and
//! dictionaries.

use crate::python::is_space;
use crate::value::{Dict, PythonValue};

/// Maximum nesting of a value.
const MAX_DEPTH: usize = 32;

/// Parses a text that consists of exactly one value.
pub(super) fn literal(text: &str) -> Option<PythonValue> {
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    reader.skip_spaces();
    reader.rest.is_empty().then_some(value)
}

/// The value at the start of a text, and how many bytes it takes.
pub(super) fn literal_prefix(text: &str) -> Option<(PythonValue, usize)> {
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    Some((value, text.len() - reader.rest.len()))
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches(is_space);
    }

    fn take(&mut self, sign: char) -> bool {
        self.skip_spaces();
        let after = self.rest.strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<PythonValue> {
        // The reader is recursive, so the brackets in a model's text must not determine the depth of the stack.
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip_spaces();
        match self.rest.chars().next()? {
            '[' => self.list(depth),
            '{' => self.dict(depth),
            quote @ ('\'' | '"') => self.text(quote).map(PythonValue::Text),
            _ => self.word(),
        }
    }

    fn list(&mut self, depth: usize) -> Option<PythonValue> {
        self.take('[');
        let mut items = Vec::new();
        // As in Python, a comma may precede the closing bracket.
        while !self.take(']') {
            items.push(self.value(depth + 1)?);
            if !self.take(',') {
                return self.take(']').then_some(PythonValue::List(items));
            }
        }
        Some(PythonValue::List(items))
    }

    fn dict(&mut self, depth: usize) -> Option<PythonValue> {
        self.take('{');
        let mut entries = Dict::new();
        while !self.take('}') {
            // Dictionaries have texts as keys here, as in JSON, so one of Python with other keys is not a value.
            let PythonValue::Text(key) = self.value(depth + 1)? else { return None };
            if !self.take(':') {
                return None;
            }
            entries.insert(key, self.value(depth + 1)?);
            if !self.take(',') {
                return self.take('}').then_some(PythonValue::Dict(entries));
            }
        }
        Some(PythonValue::Dict(entries))
    }

    /// A text ends at a matching quote after which a value can end, so it may contain apostrophes.
    fn text(&mut self, quote: char) -> Option<String> {
        let inside = self.rest.strip_prefix(quote)?;
        let mut is_escaped = false;
        for (place, character) in inside.char_indices() {
            if is_escaped {
                is_escaped = false;
            } else if character == '\\' {
                is_escaped = true;
            } else if character == quote {
                let behind = &inside[place + quote.len_utf8()..];
                let next = behind.trim_start_matches(is_space).chars().next();
                if next.is_none_or(|it| ",]}:".contains(it)) {
                    self.rest = behind;
                    return Some(unescaped(&inside[..place]));
                }
            }
        }
        None
    }

    fn word(&mut self) -> Option<PythonValue> {
        let end = self.rest.find(|it: char| is_space(it) || ",]}:()".contains(it)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let value = match word {
            "None" | "null" => PythonValue::None,
            "True" | "true" => PythonValue::Bool(true),
            "False" | "false" => PythonValue::Bool(false),
            _ => number(word)?,
        };
        self.rest = rest;
        Some(value)
    }
}

/// A number with a sign and a point.
pub(super) fn number(word: &str) -> Option<PythonValue> {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    // Rust would also parse `inf` and `nan`, which are words here.
    if !digits.starts_with(|it: char| it.is_ascii_digit() || it == '.') {
        return None;
    }
    word.parse().map(PythonValue::Int).or_else(|_| word.parse().map(PythonValue::Float)).ok()
}

/// A text without escaping backslashes.
pub(super) fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some(escaped @ ('\\' | '\'' | '"')) => plain.push(escaped),
            // Python keeps the backslash of an escape that it does not know.
            Some(other) => plain.extend(['\\', other]),
            None => plain.push('\\'),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python::repr;

    #[test]
    fn values_are_read() {
        for (text, expected) in [
            ("['John', \"Jane\"]", "['John', 'Jane']"),
            (" [{'name': 'x', 'value': -1.5}, {}] ", "[{'name': 'x', 'value': -1.5}, {}]"),
            ("['John's house', null, true,]", "[\"John's house\", None, True]"),
            ("'a\\'b'", "\"a'b\""),
            ("[[], 7, .5]", "[[], 7, 0.5]"),
        ] {
            assert_eq!(repr(&literal(text).unwrap()), expected, "{text}");
        }
        let deep = "[".repeat(1000);
        for text in ["", "[", "[1 2]", "{1: 2}", "{'a'}", "John", "[a]", "'", "1.2.3", "inf", "[1]]", &deep] {
            assert!(literal(text).is_none(), "{text}");
        }
        assert_eq!(literal_prefix("[1], b").unwrap().1, 3);
    }
}
