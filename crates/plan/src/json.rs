//! JSON as written: keys in order, numbers by their digits, and all positions.
//!
//! Not `serde_json`, because a plan keeps the order of its arguments, a duplicate argument is a fault to be reported,
//! a number has to be reproduced exactly, and Python accepts some texts that are not JSON.

use crate::fault::ParseProblem;

/// A value, and the byte at which it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: usize,
    pub(crate) tree: Tree,
}

/// A value of JSON.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    /// Its digits, or `NaN`, `Infinity` or `-Infinity` in Python's dialect.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// What counts as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// A model's JSON: with raw line breaks and tabs in texts, and `\_` for an underscore, which models write when
    /// they think of Markdown. Neither is ambiguous.
    Lenient,
    /// The JSON of Python's `json`: also `NaN`, `Infinity` and `-Infinity`, and escapes of half a character (which
    /// become U+FFFD here).
    Python,
}

/// What is wrong, at which byte.
pub(crate) type Fault = (ParseProblem, usize);

/// The value that begins at a byte of a text, and the byte after it.
///
/// Takes time in proportion to the length of the value. Dropping a value takes stack in proportion to its depth.
///
/// # Errors
/// There is no value, or more than `nesting_max` lists and objects are nested.
pub(crate) fn read(
    text: &str,
    at: usize,
    dialect: Dialect,
    nesting_max: usize,
) -> Result<(Node, usize), Fault> {
    let mut reader = Reader { text, at, dialect, nesting_max };
    let node = reader.value()?;
    Ok((node, reader.at))
}

impl Tree {
    /// The kind of value, with its article.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a truth value",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// An incomplete list or object.
struct Open {
    at: usize,
    inner: Inner,
}

enum Inner {
    List(Vec<Node>),
    /// Its entries, and the key of the next one.
    Object(Vec<(String, Node)>, String),
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    dialect: Dialect,
    nesting_max: usize,
}

impl Reader<'_> {
    /// Parses with an explicit stack, so that the depth of a value costs no stack of the thread.
    fn value(&mut self) -> Result<Node, Fault> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            self.skip_blanks();
            let at = self.at;
            let mut node = match self.peek() {
                // Counted by open containers, as each level makes dropping the value recurse once more.
                Some(b'[' | b'{') if open.len() == self.nesting_max => {
                    return Err((ParseProblem::TooDeep { limit: self.nesting_max }, at));
                }
                Some(b'[') => {
                    self.at += 1;
                    self.skip_blanks();
                    if !self.skip("]") {
                        open.push(Open { at, inner: Inner::List(Vec::new()) });
                        continue;
                    }
                    Node { at, tree: Tree::List(Vec::new()) }
                }
                Some(b'{') => {
                    self.at += 1;
                    self.skip_blanks();
                    if !self.skip("}") {
                        let key = self.key("`}` or a key in double quotes")?;
                        open.push(Open { at, inner: Inner::Object(Vec::new(), key) });
                        continue;
                    }
                    Node { at, tree: Tree::Object(Vec::new()) }
                }
                _ => Node { at, tree: self.scalar()? },
            };
            // A complete value goes into the open container, which may be complete with it.
            loop {
                let Some(mut last) = open.pop() else { return Ok(node) };
                self.skip_blanks();
                match &mut last.inner {
                    Inner::List(items) => {
                        items.push(node);
                        if self.skip(",") {
                            open.push(last);
                            break;
                        } else if !self.skip("]") {
                            return Err(self.unexpected("`,` or `]`"));
                        }
                    }
                    Inner::Object(entries, key) => {
                        entries.push((std::mem::take(key), node));
                        // A key has to follow, so a comma before the closing brace is a fault.
                        if self.skip(",") {
                            *key = self.key("a key in double quotes")?;
                            open.push(last);
                            break;
                        } else if !self.skip("}") {
                            return Err(self.unexpected("`,` or `}`"));
                        }
                    }
                }
                let tree = match last.inner {
                    Inner::List(items) => Tree::List(items),
                    Inner::Object(entries, _) => Tree::Object(entries),
                };
                node = Node { at: last.at, tree };
            }
        }
    }

    fn scalar(&mut self) -> Result<Tree, Fault> {
        let at = self.at;
        Ok(match self.peek() {
            Some(b'"') => Tree::Text(self.string()?),
            _ if self.skip("true") => Tree::Bool(true),
            _ if self.skip("false") => Tree::Bool(false),
            _ if self.skip("null") => Tree::Null,
            // Before numbers, because `-Infinity` begins like one.
            _ if self.dialect == Dialect::Python && self.skip_constant() => {
                Tree::Number(self.text[at..self.at].to_owned())
            }
            Some(b'-' | b'0'..=b'9') => Tree::Number(self.number()?),
            _ => return Err(self.unexpected("a value")),
        })
    }

    /// A key and the colon behind it.
    fn key(&mut self, expected: &'static str) -> Result<String, Fault> {
        self.skip_blanks();
        if self.peek() != Some(b'"') {
            return Err(self.unexpected(expected));
        }
        let key = self.string()?;
        self.skip_blanks();
        if !self.skip(":") {
            return Err(self.unexpected("`:`"));
        }
        Ok(key)
    }

    fn string(&mut self) -> Result<String, Fault> {
        self.at += 1;
        let mut string = String::new();
        loop {
            let plain = self.rest().find(['"', '\\', '\n', '\r', '\t']).unwrap_or(self.rest().len());
            let (plain, _) = self.rest().split_at(plain);
            // Control characters other than line breaks and tabs are refused in both dialects.
            if let Some(place) = plain.find(|character: char| character < ' ') {
                self.at += place;
                return Err(self.unexpected("an escape such as `\\u0001`"));
            }
            string.push_str(plain);
            self.at += plain.len();
            match self.peek() {
                None => return Err(self.unexpected("`\"` at the end of a text")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => string.push(self.escape()?),
                Some(_) if self.dialect == Dialect::Python => {
                    return Err(self.unexpected("an escape such as `\\n`"));
                }
                Some(blank) => {
                    string.push(char::from(blank));
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.at;
        self.at += 1;
        let Some(letter) = self.rest().chars().next() else {
            return Err(self.unexpected("the rest of an escape"));
        };
        let character = match letter {
            '"' | '\\' | '/' => letter,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.character_by_number(start),
            '_' if self.dialect == Dialect::Lenient => '_',
            _ => {
                self.at = start;
                return Err(self.unexpected("an escape that JSON has"));
            }
        };
        self.at += 1;
        Ok(character)
    }

    /// `\u1234`, or two of them for a character beyond U+FFFF; stands at the `u`.
    fn character_by_number(&mut self, start: usize) -> Result<char, Fault> {
        let unit = self.four_digits()?;
        // Only half of a surrogate pair fails here.
        if let Some(character) = char::from_u32(u32::from(unit)) {
            return Ok(character);
        }
        let behind = self.at;
        if self.rest().starts_with("\\u") {
            self.at += 1;
            let second = self.four_digits()?;
            if let Some(Ok(character)) = char::decode_utf16([unit, second]).next() {
                return Ok(character);
            }
        }
        // What follows is not a second half, so it is read again on its own.
        self.at = behind;
        match self.dialect {
            Dialect::Python => Ok(char::REPLACEMENT_CHARACTER),
            Dialect::Lenient => {
                let written = self.text[start..behind].to_owned();
                Err((ParseProblem::LoneSurrogate { written }, start))
            }
        }
    }

    fn four_digits(&mut self) -> Result<u16, Fault> {
        self.at += 1;
        let digits = self.rest().get(..4).filter(|digits| digits.bytes().all(|it| it.is_ascii_hexdigit()));
        let Some(number) = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) else {
            return Err(self.unexpected("four hexadecimal digits"));
        };
        self.at += 4;
        Ok(number)
    }

    fn number(&mut self) -> Result<String, Fault> {
        let start = self.at;
        self.skip("-");
        // A number that begins with 0 ends there: in `01` the 1 is then unexpected, as in JSON.
        if !self.skip("0") {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            let _ = self.skip("+") || self.skip("-");
            self.digits()?;
        }
        Ok(self.text[start..self.at].to_owned())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let length = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        if length == 0 {
            return Err(self.unexpected("a digit"));
        }
        self.at += length;
        Ok(())
    }

    fn skip_constant(&mut self) -> bool {
        ["NaN", "Infinity", "-Infinity"].into_iter().any(|name| self.skip(name))
    }

    fn skip(&mut self, lexeme: &str) -> bool {
        let is_there = self.rest().starts_with(lexeme);
        if is_there {
            self.at += lexeme.len();
        }
        is_there
    }

    fn skip_blanks(&mut self) {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += self.rest().bytes().take_while(is_blank).count();
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn unexpected(&self, expected: &'static str) -> Fault {
        let found = match self.rest().chars().next() {
            None => "the end".to_owned(),
            Some(character) if character.is_control() => format!("the character U+{:04X}", character as u32),
            Some(character) if character.is_alphanumeric() => {
                let word = self.rest().split(|it: char| !it.is_alphanumeric() && it != '_').next();
                format!("`{}`", crate::words::cut(word.unwrap_or_default()))
            }
            Some(character) => format!("`{character}`"),
        };
        (ParseProblem::Unexpected { expected, found }, self.at)
    }
}
