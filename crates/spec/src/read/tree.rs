//! Parses text to nested lists with positions, and recovers: one forgotten quote or parenthesis is one fault.

use crate::diagnostic::{Code, Diagnostic};
use crate::limits::{DIAGNOSTICS_MAX, NESTING_MAX};
use crate::{Span, Spanned};

/// A piece of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// A bare word, `:keyword` or number.
    Word(String),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Node>),
}

/// A piece of a source and its place.
pub(super) type Node = Spanned<Form>;

/// Collects faults, up to [`DIAGNOSTICS_MAX`].
#[derive(Debug, Default)]
pub(crate) struct Faults {
    list: Vec<Diagnostic>,
    left_out: usize,
}

impl Faults {
    pub(crate) fn push(&mut self, fault: Diagnostic) {
        if self.list.len() < DIAGNOSTICS_MAX {
            self.list.push(fault);
        } else {
            self.left_out += 1;
        }
    }

    /// Whether another fault would be dropped. Work for its wording can then be skipped.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= DIAGNOSTICS_MAX
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.list.iter().any(|fault| fault.severity == crate::Severity::Error)
    }

    /// All faults, in the order of the source.
    pub(crate) fn into_sorted(mut self) -> Vec<Diagnostic> {
        // A stable sort: faults at one place stay in the order in which they were found.
        self.list.sort_by_key(Diagnostic::span);
        if let (Some(last), 1..) = (self.list.last(), self.left_out) {
            let message = format!("{} more faults are left out", self.left_out);
            let mut fault = Diagnostic::new(Code::LimitExceeded, last.span(), message);
            fault.help = Some("mend the ones above first".into());
            self.list.push(fault);
        }
        self.list
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Lexeme {
    Open,
    Close,
    Word(String),
    Text(String),
}

/// A lexeme, its position, and its column if it is the first one of its line.
#[derive(Debug)]
struct Token {
    lexeme: Lexeme,
    span: Span,
    column: usize,
    is_first: bool,
}

/// Reads all lists of a source.
pub(super) fn read(source: &str, faults: &mut Faults) -> Vec<Node> {
    let tokens = Lexer::new(source).tokens(faults);
    let mut read = Lists::read(&tokens, false);
    if read.left_open {
        // The lines show where a parenthesis is missing, if they are indented as lists are. Otherwise the innermost
        // list that is open at the end is as good a guess as any.
        let guessed = Lists::read(&tokens, true);
        if !guessed.left_open && guessed.faults.iter().all(|fault| fault.code != Code::StrayClose) {
            read = guessed;
        }
    }
    read.faults.into_iter().for_each(|fault| faults.push(fault));
    read.nodes
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    line: u32,
    line_start: usize,
    /// No raw string that begins further on can end: the search for its end has failed once.
    no_raw_end: bool,
}

impl<'s> Lexer<'s> {
    fn new(source: &'s str) -> Self {
        let at = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { source, at, line: 1, line_start: at, no_raw_end: false }
    }

    fn tokens(mut self, faults: &mut Faults) -> Vec<Token> {
        let mut tokens: Vec<Token> = Vec::new();
        loop {
            self.skip_blank();
            let (start, line, column) = (self.at, self.line, self.at - self.line_start);
            let Some(first) = self.rest().chars().next() else { return tokens };
            let lexeme = match first {
                '(' => self.take(Lexeme::Open),
                ')' => self.take(Lexeme::Close),
                '"' => self.text(faults),
                '#' if self.rest().starts_with("#\"") => self.raw_text(faults),
                _ => self.word(),
            };
            let is_first = tokens.last().is_none_or(|last| last.span.line != line);
            tokens.push(Token { lexeme, span: Span { start, end: self.at, line }, column, is_first });
        }
    }

    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn take(&mut self, lexeme: Lexeme) -> Lexeme {
        self.at += 1;
        lexeme
    }

    /// Moves to a byte further on, counting lines.
    fn advance_to(&mut self, end: usize) {
        for (offset, _) in self.source[self.at..end].match_indices('\n') {
            self.line += 1;
            self.line_start = self.at + offset + 1;
        }
        self.at = end;
    }

    /// Skips white space and comments.
    fn skip_blank(&mut self) {
        loop {
            let blank = self.rest().len() - self.rest().trim_start().len();
            self.advance_to(self.at + blank);
            if !self.rest().starts_with(';') {
                return;
            }
            let end = self.rest().find('\n').map_or(self.source.len(), |offset| self.at + offset);
            self.advance_to(end);
        }
    }

    fn word(&mut self) -> Lexeme {
        let is_end = |c: char| c.is_whitespace() || "()\";".contains(c);
        let length = self.rest().find(is_end).unwrap_or(self.rest().len());
        let word = self.rest()[..length].to_owned();
        self.at += length;
        Lexeme::Word(word)
    }

    /// A string from its opening quote on.
    fn text(&mut self, faults: &mut Faults) -> Lexeme {
        let start = self.at;
        let mut text = String::new();
        let mut chars = self.source[start + 1..].char_indices().map(|(offset, c)| (start + 1 + offset, c));
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = at + 1;
                    return Lexeme::Text(text);
                }
                // A forgotten quote must not turn the rest of the file into text.
                '\n' => break,
                '\\' => {
                    let escape = &self.source[at..];
                    match unescape(escape) {
                        Some((c, length)) => {
                            text.push(c);
                            // All characters except the backslash, which was consumed.
                            for _ in escape[..length].chars().skip(1) {
                                chars.next();
                            }
                        }
                        None => {
                            let span = Span { start: at, end: at + 1, line: self.line };
                            faults.push(
                                Diagnostic::new(Code::BadEscape, span, "a `\\` that begins no escape")
                                    .help("write `\\\\` for a backslash, `\\\"`, `\\n`, `\\t`, `\\r`, `\\u{HEX}`; or a raw string: #\"...\"#"),
                            );
                        }
                    }
                }
                _ => text.push(c),
            }
        }
        self.unclosed(start, 1, faults)
    }

    /// A raw string from its `#"` on: all characters up to the next `"#` are text.
    fn raw_text(&mut self, faults: &mut Faults) -> Lexeme {
        let start = self.at;
        let inside = &self.source[start + 2..];
        // A second search would pass the same rest again, and a source can have very many such beginnings.
        let end = if self.no_raw_end { None } else { inside.find("\"#") };
        match end {
            Some(length) => {
                self.advance_to(start + 2 + length + 2);
                Lexeme::Text(inside[..length].to_owned())
            }
            None => {
                self.no_raw_end = true;
                self.unclosed(start, 2, faults)
            }
        }
    }

    /// An unterminated string is assumed to end with its line, except for the parentheses that close lists there.
    fn unclosed(&mut self, start: usize, quote: usize, faults: &mut Faults) -> Lexeme {
        let line = self.source[start..].lines().next().unwrap_or_default();
        let text = line.trim_end().trim_end_matches(')');
        let text = if text.len() < quote { &line[..quote] } else { text };
        self.at = start + text.len();
        let span = Span { start, end: self.at, line: self.line };
        let fault = Diagnostic::new(Code::UnclosedString, span, "a string without its closing quote");
        faults.push(fault.help(if quote == 1 { "end it with `\"`" } else { "end it with `\"#`" }));
        Lexeme::Text(text[quote..].to_owned())
    }
}

/// Most digits of an escape sequence `\u{HEX}`.
const UNICODE_DIGITS_MAX: usize = 6;

/// The character of an escape sequence, and its length in bytes.
fn unescape(escape: &str) -> Option<(char, usize)> {
    let c = match escape.as_bytes().get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'"' => '"',
        b'\\' => '\\',
        b'u' => {
            let rest = escape.strip_prefix("\\u{")?;
            // The brace is looked for only as far as it can be, because the rest of a source can be long.
            let length = rest.bytes().take(UNICODE_DIGITS_MAX + 1).position(|byte| byte == b'}')?;
            let digits = &rest[..length];
            let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let c = char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?)?;
            return Some((c, "\\u{}".len() + digits.len()));
        }
        _ => return None,
    };
    Some((c, 2))
}

/// A list that is being read.
#[derive(Debug)]
struct OpenList {
    span: Span,
    column: usize,
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Lists {
    open: Vec<OpenList>,
    nodes: Vec<Node>,
    faults: Vec<Diagnostic>,
    /// The end left a list open.
    left_open: bool,
}

impl Lists {
    /// Nests the tokens. With `by_lines` a list ends before a line that begins with `(` no further to the right than
    /// the list itself.
    fn read(tokens: &[Token], by_lines: bool) -> Self {
        let mut lists = Self::default();
        let mut skipped = 0;
        for token in tokens {
            // In a list that is nested too deep, only parentheses are counted, to find its end.
            if skipped > 0 {
                match token.lexeme {
                    Lexeme::Open => skipped += 1,
                    Lexeme::Close => skipped -= 1,
                    Lexeme::Word(_) | Lexeme::Text(_) => {}
                }
                continue;
            }
            if by_lines && token.is_first && token.lexeme == Lexeme::Open {
                // A list inside an open one is indented further, so these should have ended before this line.
                while lists.open.last().is_some_and(|list| list.column >= token.column) {
                    lists.end_unclosed();
                }
            }
            match &token.lexeme {
                Lexeme::Open if lists.open.len() >= NESTING_MAX => {
                    lists.too_deep(token.span);
                    skipped = 1;
                }
                Lexeme::Open => {
                    lists.open.push(OpenList { span: token.span, column: token.column, nodes: Vec::new() });
                }
                Lexeme::Close if lists.open.is_empty() => {
                    let fault = Diagnostic::new(Code::StrayClose, token.span, "a `)` that closes nothing");
                    lists.faults.push(fault.help("delete it, or look for a missing `(` before it"));
                }
                Lexeme::Close => lists.end(token.span),
                Lexeme::Word(word) => lists.add(Node::new(Form::Word(word.clone()), token.span)),
                Lexeme::Text(text) => lists.add(Node::new(Form::Text(text.clone()), token.span)),
            }
        }
        if !lists.open.is_empty() {
            // Only the innermost list is reported: one missing parenthesis leaves all lists around it open as well.
            lists.left_open = true;
            lists.end_unclosed();
            while let Some(span) = lists.open.last().map(|list| list.span) {
                lists.end(span);
            }
        }
        lists
    }

    fn add(&mut self, node: Node) {
        match self.open.last_mut() {
            Some(list) => list.nodes.push(node),
            None => self.nodes.push(node),
        }
    }

    /// Ends the innermost list with the lexeme at `end`.
    fn end(&mut self, end: Span) {
        if let Some(list) = self.open.pop() {
            // A list without its parenthesis ends with its last item; `end` is then its own beginning.
            let last = list.nodes.last().map_or(end, |node| node.span);
            let span = list.span.to(end).to(last);
            self.add(Node::new(Form::List(list.nodes), span));
        }
    }

    /// Ends the innermost list, which has no closing parenthesis.
    fn end_unclosed(&mut self) {
        if let Some(span) = self.open.last().map(|list| list.span) {
            let fault = Diagnostic::new(Code::UnclosedList, span, "a `(` that is never closed");
            self.faults.push(fault.help("add the missing `)`"));
            self.end(span);
        }
    }

    fn too_deep(&mut self, span: Span) {
        if self.faults.iter().all(|fault| fault.code != Code::LimitExceeded) {
            let message = format!("lists are nested deeper than {NESTING_MAX} levels");
            self.faults
                .push(Diagnostic::new(Code::LimitExceeded, span, message).help("nest them less deeply"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lists, printed again, and the codes and lines of the faults.
    #[track_caller]
    fn check(source: &str, lists: &str, codes: &[&str]) {
        let mut faults = Faults::default();
        let nodes = read(source, &mut faults);
        let printed: Vec<String> = nodes.iter().map(print).collect();
        assert_eq!(printed.join(" "), lists);
        let found: Vec<String> =
            faults.list.iter().map(|fault| format!("{} {}", fault.span().line, fault.code)).collect();
        assert_eq!(found, codes);
    }

    fn print(node: &Node) -> String {
        match &node.value {
            Form::Word(word) => word.clone(),
            Form::Text(text) => format!("{text:?}"),
            Form::List(nodes) => format!("({})", nodes.iter().map(print).collect::<Vec<_>>().join(" ")),
        }
    }

    #[test]
    fn lists_words_and_strings() {
        check("\u{feff}; a\n(a :b (c) 12) ; (", "(a :b (c) 12)", &[]);
        check(r##"("a\"b\\\n\u{e4}" #"\d"+"#)"##, r#"("a\"b\\\nä" "\\d\"+")"#, &[]);
        check("", "", &[]);
    }

    #[test]
    fn one_slip_is_one_fault() {
        check("(a \"b)\n(c)", r#"(a "b") (c)"#, &["1 unclosed-string"]);
        check("(a #\"b))", r#"(a "b")"#, &["1 unclosed-string", "1 stray-close"]);
        check(r#"(a "\d\u{d800}")"#, r#"(a "du{d800}")"#, &["1 bad-escape", "1 bad-escape"]);
        check("(a))\n(b)", "(a) (b)", &["1 stray-close"]);
        check("(a (b c", "(a (b c))", &["1 unclosed-list"]);
        check("(a\n  (b\n    (c)\n  (d)\n)", "(a (b (c)) (d))", &["2 unclosed-list"]);
        check("(a\n  (b (c)\n  (d)\n  (e))", "(a (b (c)) (d) (e))", &["2 unclosed-list"]);
        check("(a\n(b\n(c)\n(d))", "(a (b (c) (d)))", &["1 unclosed-list"]);
    }

    #[test]
    fn depth_is_bounded() {
        let deep = 1_000_000;
        let mut faults = Faults::default();
        read(&"(".repeat(deep), &mut faults);
        read(&("(".repeat(deep) + &")".repeat(deep)), &mut faults);
        let codes: Vec<Code> = faults.list.iter().map(|fault| fault.code).collect();
        assert_eq!(codes, [Code::LimitExceeded, Code::UnclosedList, Code::LimitExceeded]);
    }

    /// With a search of the whole rest for each string and each escape, this would take minutes.
    #[test]
    fn very_many_faults_take_linear_time() {
        let strings = "#\"x\n".repeat(250_000);
        let escapes = format!("\"{}\"", "\\u{".repeat(330_000));
        for (source, count) in [(strings, 250_000), (escapes, 330_000)] {
            let mut faults = Faults::default();
            read(&source, &mut faults);
            assert_eq!(faults.list.len() + faults.left_out, count);
        }
        check(r#"("\u{10ffff}")"#, r#"("\u{10ffff}")"#, &[]);
        check(r#"("\u{1000000}")"#, r#"("u{1000000}")"#, &["1 bad-escape"]);
    }

    #[test]
    fn places_are_bytes_and_lines() {
        let source = "(ä\n \"b\" (c\n d))";
        let nodes = read(source, &mut Faults::default());
        let Form::List(inner) = &nodes[0].value else { panic!("a list") };
        let texts: Vec<&str> = inner.iter().map(|node| &source[node.span.start..node.span.end]).collect();
        assert_eq!(texts, ["ä", "\"b\"", "(c\n d)"]);
        assert_eq!(inner.iter().map(|node| node.span.line).collect::<Vec<_>>(), [1, 2, 2]);
        assert_eq!((nodes[0].span.start, nodes[0].span.end), (0, source.len()));
    }
}
