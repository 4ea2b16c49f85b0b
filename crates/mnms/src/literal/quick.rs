//! A fast parser for lists, objects, texts and small whole numbers, of which almost all plans consist. Everything
//! else, errors included, is left to the full parsers, which agree with this one whenever it returns a value.

use super::{Literal, NESTED_MAX};

/// The language of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Json,
    Python,
}

/// Maximum number of digits of a number that is parsed here.
const DIGITS_MAX: usize = 18;

/// Parses a value; `None` if it contains anything not supported here.
pub(super) fn read(text: &str, language: Language) -> Option<Literal> {
    let mut reader = Reader { text, place: 0, language };
    let value = reader.value(0)?;
    reader.skip_blanks();
    (reader.place == text.len()).then_some(value)
}

struct Reader<'a> {
    text: &'a str,
    /// In bytes, always at a character boundary.
    place: usize,
    language: Language,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.place).copied()
    }

    /// In Python, line breaks outside brackets end the expression; they are not supported here.
    fn skip_blanks(&mut self) {
        let is_json = self.language == Language::Json;
        while self.peek().is_some_and(|byte| match byte {
            b' ' | b'\t' => true,
            b'\n' | b'\r' => is_json,
            _ => false,
        }) {
            self.place += 1;
        }
    }

    /// Consumes this byte if it comes next, and returns whether it did.
    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.place += usize::from(is_next);
        is_next
    }

    /// Parses a value at this depth of lists and objects.
    fn value(&mut self, depth: usize) -> Option<Literal> {
        self.skip_blanks();
        match self.peek()? {
            b'[' | b'{' if depth >= NESTED_MAX => None,
            b'[' => self.list(depth).map(Literal::List),
            b'{' => self.mapping(depth),
            b'"' | b'\'' => self.string().map(Literal::Text),
            b'0'..=b'9' => self.number(),
            _ => self.word(),
        }
    }

    fn list(&mut self, depth: usize) -> Option<Vec<Literal>> {
        self.place += 1;
        self.skip_blanks();
        let mut elements = Vec::new();
        if self.takes(b']') {
            return Some(elements);
        }
        loop {
            elements.push(self.value(depth + 1)?);
            self.skip_blanks();
            if self.takes(b']') {
                return Some(elements);
            }
            if !self.takes(b',') {
                return None;
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Option<Literal> {
        self.place += 1;
        self.skip_blanks();
        let mut entries = Vec::new();
        if self.takes(b'}') {
            return Some(Literal::Mapping(entries));
        }
        loop {
            self.skip_blanks();
            // Python also has keys of other kinds, which the full parser handles.
            let key = Literal::Text(self.string()?);
            self.skip_blanks();
            if !self.takes(b':') {
                return None;
            }
            entries.push((key, self.value(depth + 1)?));
            self.skip_blanks();
            if self.takes(b'}') {
                return Some(Literal::mapping(entries));
            }
            if !self.takes(b',') {
                return None;
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let quote = self.peek().filter(|byte| match self.language {
            Language::Json => *byte == b'"',
            Language::Python => matches!(byte, b'"' | b'\''),
        })?;
        self.place += 1;
        let (mut from, mut string) = (self.place, String::new());
        loop {
            match self.peek()? {
                byte if byte == quote => {
                    string.push_str(&self.text[from..self.place]);
                    self.place += 1;
                    return Some(string);
                }
                b'\\' => {
                    string.push_str(&self.text[from..self.place]);
                    string.push(escaped(*self.text.as_bytes().get(self.place + 1)?, self.language)?);
                    self.place += 2;
                    from = self.place;
                }
                // Such a byte ends the text, is rejected, or is changed by the parser.
                0..0x20 => return None,
                // Bytes within a longer character are all above 0x7f, so none is mistaken for a quote or a backslash.
                _ => self.place += 1,
            }
        }
    }

    fn number(&mut self) -> Option<Literal> {
        let digits =
            self.text.as_bytes()[self.place..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = &self.text[self.place..self.place + digits];
        self.place += digits;
        // After a whole number there is a bracket, a comma or nothing, but no point or exponent.
        let is_plain = digits <= DIGITS_MAX && (digits == 1 || !number.starts_with('0'));
        is_plain.then(|| Literal::Integer(number.to_owned()))
    }

    fn word(&mut self) -> Option<Literal> {
        let words = match self.language {
            Language::Json => ["null", "true", "false"],
            Language::Python => ["None", "True", "False"],
        };
        let rest = &self.text[self.place..];
        // Whatever follows the word is checked by the caller, which accepts only a separator, a bracket or the end.
        let found = words.iter().position(|word| rest.starts_with(word))?;
        self.place += words[found].len();
        Some(if found == 0 { Literal::None } else { Literal::Bool(found == 1) })
    }
}

/// The character that an escape represents, if both languages have that escape.
fn escaped(byte: u8, language: Language) -> Option<char> {
    Some(match (byte, language) {
        (b'\\' | b'"', _) | (b'\'', Language::Python) | (b'/', Language::Json) => char::from(byte),
        (b'n', _) => '\n',
        (b'r', _) => '\r',
        (b't', _) => '\t',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{json, python};
    use super::*;

    /// Values as agents and people write them, and texts that are not values.
    const TEXTS: [&str; 38] = [
        "[]",
        "{}",
        "[ ]",
        "{ }",
        "'a'",
        "\"a\"",
        "0",
        "00",
        "007",
        "12",
        "1_0",
        "-1",
        "1.5",
        "1e3",
        "1j",
        "999999999999999999999",
        "None",
        "null",
        "True",
        "true",
        "Nonesuch",
        "False.real",
        "(1,)",
        "[1,]",
        "{'a': 1,}",
        "['it\\'s', \"it's\"]",
        "{\"a\": [1, {\"b\": \"c\\n\\u00e9\"}], \"a\": 2}",
        "['a' 'b']",
        "'''a'''",
        "r'a'",
        "'a\nb'",
        "'\\x41'",
        "{1: 2}",
        "{**a}",
        "[1] # x",
        "\"\\/\"",
        "'é\u{2028}\t'",
        " [1, 2]\n",
    ];

    #[test]
    fn what_is_read_here_is_what_the_whole_languages_say() {
        let (mut read_here, mut mutants) = (0, 0);
        let mut check = |text: &str| {
            for (language, whole) in
                [(Language::Json, json::read_any as fn(&str) -> _), (Language::Python, python::read_any)]
            {
                if let Some(value) = read(text, language) {
                    assert_eq!(whole(text), Ok(value), "{text:?} as {language:?}");
                    read_here += 1;
                }
            }
        };
        for text in TEXTS {
            check(text);
        }
        // Every one of our plans with each character omitted, doubled, and replaced by a significant one.
        let plans = [
            r#"[{"id": 0, "name": "a 'b'", "args": {"x": "<node-0>.t\n", "y": [1, true, null]}}]"#,
            r#"[{'id': 0, 'name': 'a "b"', 'args': {"x": '<node-0>.t\n', 'y': [1, True, None]}}]"#,
        ];
        for (plan, place) in plans.iter().flat_map(|plan| (0..plan.len()).map(move |place| (plan, place))) {
            let (before, after) = plan.split_at(place);
            for put in
                ["", "'", "\"", "[", "]", "{", "}", ",", ":", "\\", "0", "\n", "\0", " ", "é", "#", "r"]
            {
                check(&format!("{before}{put}{after}"));
                check(&format!("{before}{put}{}", after.get(1..).unwrap_or_default()));
                mutants += 2;
            }
        }
        assert!(read_here > 100 && mutants > 2000, "{read_here} of {mutants}");
    }

    #[test]
    fn plans_are_read_here() {
        let python =
            "[{'id': 0, 'name': 'image crop', 'args': {'image': \"it's\", 'object': '<node-1>.object'}}]";
        let json =
            r#"{"nodes": [{"id": 10, "name": "count", "args": {"objects": "a \"b\" é"}}], "more": null}"#;
        for (text, language) in [(python, Language::Python), (json, Language::Json)] {
            assert!(read(text, language).is_some(), "{text}");
        }
        for (text, language) in [(json, Language::Python), (python, Language::Json)] {
            assert_eq!(read(text, language), None, "{text}");
        }
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(NESTED_MAX), Language::Json).is_some());
        assert!(read(&nested(NESTED_MAX + 1), Language::Json).is_none());
        assert!(read(&nested(100_000), Language::Python).is_none());
    }
}
