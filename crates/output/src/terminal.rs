//! The only access to stdout and stderr. Every command prints through here, and the output cannot make a terminal or
//! a build log execute anything, whoever wrote it: names of tools, answers of agents, errors of servers, texts of
//! files.
//!
//! Invisible characters and those that move visible ones are shown as escapes; so is text that GitHub, Azure or
//! TeamCity would interpret as a command to the runner (`::error::` at the beginning of a line, `##[group]` and
//! similar text anywhere). Line breaks are not affected: text that belongs on one line of a layout is put there with
//! [`inline`]. Keys that we hold are replaced ([`searched`]). Clippy refuses `std::io::stdout` and `std::io::stderr`
//! elsewhere (`clippy.toml`).

mod searched;

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::str;

pub use searched::{Search, Searched, before_wrapping};

/// What goes to stdout.
type Stdout = Searched<Harmless<io::StdoutLock<'static>>>;

/// Opens and closes the codes of a style, which the writer turns into an escape sequence. Noncharacters of Unicode:
/// no text has them, and foreign text with them can only change colours.
const STYLE_OPEN: char = '\u{fdd0}';
const STYLE_CLOSE: char = '\u{fdd1}';

/// Most characters of a style's codes.
const STYLE_CODES_MAX: usize = 24;

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// For people.
    Text {
        /// Styles become escape sequences; otherwise there are none.
        colour: bool,
    },
    /// JSON, whose strings can escape any character: the same document.
    Json,
    /// A document in a format of its own, as it is.
    Document,
}

/// Text for people, to stdout.
pub fn text() -> Stdout {
    let colour = is_coloured(&stdout());
    to_stdout(Form::Text { colour }, Search::Text)
}

/// JSON documents, to stdout.
pub fn json() -> Stdout {
    to_stdout(Form::Json, Search::Json)
}

/// One of the two, to stdout.
pub fn results(is_json: bool) -> Stdout {
    if is_json { json() } else { text() }
}

/// A document in a format of its own, to stdout: HTML, CSV, a drawing, a script. Unchanged, but for keys, to a file or
/// a program; like any text to a terminal.
pub fn document() -> Stdout {
    to_stdout(document_form(), Search::Text)
}

/// The document of a report on stdout, which is searched already.
pub(crate) fn searched_document() -> Stdout {
    to_stdout(document_form(), Search::Nothing)
}

fn document_form() -> Form {
    if stdout().is_terminal() { Form::Text { colour: false } } else { Form::Document }
}

/// An answer in JSON to the program that asked, to stdout. Keys in it are the program's own, and are not replaced.
pub fn answer() -> Stdout {
    to_stdout(Form::Json, Search::Nothing)
}

/// Text for people, to stdout, that is printed for the sake of a key in it: the URL that lets them in.
pub fn disclosed() -> Stdout {
    to_stdout(Form::Text { colour: false }, Search::Nothing)
}

fn to_stdout(form: Form, search: Search) -> Stdout {
    Searched::new(Harmless::new(stdout().lock(), form), search)
}

/// Text for people, to stderr.
pub fn errors() -> Searched<Harmless<io::StderrLock<'static>>> {
    let colour = is_coloured(&stderr());
    Searched::new(Harmless::new(stderr().lock(), Form::Text { colour }), Search::Text)
}

/// What another program writes to stderr, as it is but for keys, to ours.
pub fn relayed() -> Searched<io::StderrLock<'static>> {
    Searched::new(stderr().lock(), Search::Text)
}

/// Whether text on stdout has styles.
pub fn stdout_is_coloured() -> bool {
    is_coloured(&stdout())
}

/// Whether text on stderr has styles.
pub fn stderr_is_coloured() -> bool {
    is_coloured(&stderr())
}

/// Fewest columns that a table is fitted to.
const COLUMNS_MIN: u16 = 20;

/// The maximum width of tables and texts: the variable COLUMNS, else the width of the terminal; `None` if stdout is no
/// terminal, so that programs get whole rows.
pub fn columns() -> Option<u16> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse::<u16>().ok());
    let columns = said.or_else(|| comfy_table::Table::new().width());
    columns.filter(|columns| *columns >= COLUMNS_MIN)
}

/// Whether a person is asked and answers at a terminal.
pub fn is_interactive() -> bool {
    io::stdin().is_terminal() && stderr().is_terminal()
}

#[expect(clippy::disallowed_methods, reason = "the one place that may")]
fn stdout() -> io::Stdout {
    io::stdout()
}

#[expect(clippy::disallowed_methods, reason = "the one place that may")]
fn stderr() -> io::Stderr {
    io::stderr()
}

fn is_coloured(stream: &impl IsTerminal) -> bool {
    // By no-color.org an empty value counts as unset.
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The text in a style, given by the codes of SGR (`1;31` is bold and red).
pub fn styled(codes: &str, text: &str) -> String {
    format!("{}{text}{}", style_begin(codes), style_begin("0"))
}

/// What is put before a text to begin a style.
pub(crate) fn style_begin(codes: &str) -> String {
    format!("{STYLE_OPEN}{codes}{STYLE_CLOSE}")
}

/// The codes of the last style that begins or ends in a text. Those of an end are `0`.
pub(crate) fn last_style(text: &str) -> Option<&str> {
    let (_, rest) = text.rsplit_once(STYLE_OPEN)?;
    rest.split_once(STYLE_CLOSE).map(|(codes, _)| codes)
}

/// A text of a library with escape sequences for its styles, as a text with styles.
pub fn from_ansi(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out += before;
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(after.len());
        // Only styles are taken over. Any other sequence stays as it is, and the writer shows it as an escape.
        rest = match after[end..].strip_prefix('m') {
            Some(behind) => {
                let _ = write!(out, "{STYLE_OPEN}{}{STYLE_CLOSE}", &after[..end]);
                behind
            }
            None => {
                out += "\u{1b}[";
                after
            }
        };
    }
    out + rest
}

/// The number of visible characters of a text, without styles.
pub fn width(text: &str) -> usize {
    let mut in_style = false;
    let is_seen = |c: char| {
        let was_in_style = in_style;
        in_style = c == STYLE_OPEN || (in_style && c != STYLE_CLOSE);
        !was_in_style && !in_style
    };
    text.chars().map(is_seen).filter(|is_seen| *is_seen).count()
}

/// The text on one line, with all invisible characters escaped: for names, answers and any other text that is
/// inserted into a line of ours.
pub fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => push_visible(&mut out, c),
        }
    }
    out
}

fn push_visible(out: &mut String, c: char) {
    match c {
        '\r' => out.push_str("\\r"),
        c if is_hidden(c) => out.extend(c.escape_unicode()),
        c => out.push(c),
    }
}

/// Control characters; those that turn the direction of text around, break lines or are not seen at all; and those that
/// stand for styles here.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{e0000}'..='\u{e007f}')
}

/// How many bytes at the beginning are visible ASCII, and cannot begin a command.
///
/// A plain loop, because this crate is compiled for size: iterators and ranges would take several calls for each
/// byte, which was three quarters of the time of `planproof synth`.
fn plain(bytes: &[u8]) -> usize {
    let mut end = 0;
    while end < bytes.len() && matches!(bytes[end], b' '..=b'"' | b'$'..=b'~') {
        end += 1;
    }
    end
}

/// Where in a line a command to a runner could begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nothing but blanks so far.
    Start,
    /// And one colon.
    Colon,
    Inside,
}

/// How much of `##NAME[` there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hashes {
    None,
    One,
    Two,
    Name,
}

/// A writer that neutralises its input.
#[derive(Debug)]
pub struct Harmless<W: Write> {
    inner: W,
    form: Form,
    place: Place,
    hashes: Hashes,
    /// The codes of a style that is not closed yet.
    codes: Option<String>,
    /// A style is on.
    is_styled: bool,
    /// The beginning of a character whose rest is not written yet.
    torn: Vec<u8>,
}

impl<W: Write> Harmless<W> {
    fn new(inner: W, form: Form) -> Self {
        Self {
            inner,
            form,
            place: Place::Start,
            hashes: Hashes::None,
            codes: None,
            is_styled: false,
            torn: Vec::new(),
        }
    }

    fn push_str(&mut self, out: &mut String, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            self.push(out, c);
            rest = &rest[c.len_utf8()..];
            // Most of a text is ASCII within a line, which is unchanged.
            if self.place == Place::Inside && self.hashes == Hashes::None && self.codes.is_none() {
                let end = plain(rest.as_bytes());
                out.push_str(&rest[..end]);
                rest = &rest[end..];
            }
        }
    }

    fn push(&mut self, out: &mut String, c: char) {
        let colour = self.form == Form::Text { colour: true };
        if colour && self.push_style(out, c) {
            return;
        }
        // The states follow the original text, not what is written of it: an escaped colon still was a colon.
        let is_command = match c {
            ':' => self.place == Place::Colon,
            '[' => matches!(self.hashes, Hashes::Two | Hashes::Name),
            _ => false,
        };
        self.place = match (c, self.place) {
            ('\n', _) => Place::Start,
            (':', Place::Start) => Place::Colon,
            (c, Place::Start) if c.is_whitespace() => Place::Start,
            _ => Place::Inside,
        };
        self.hashes = match (c, self.hashes) {
            ('#', Hashes::None | Hashes::Name) => Hashes::One,
            // Of more than two, the last two count: `###[` contains `##[`.
            ('#', _) => Hashes::Two,
            (c, Hashes::Two | Hashes::Name) if c.is_ascii_alphanumeric() => Hashes::Name,
            _ => Hashes::None,
        };
        match (self.form, c) {
            (Form::Text { .. } | Form::Json, '\n') => {
                // A text that is cut before its style ends must not colour the lines after it.
                if std::mem::take(&mut self.is_styled) {
                    out.push_str("\u{1b}[0m");
                }
                out.push('\n');
            }
            (Form::Text { .. }, '\t') => out.push('\t'),
            (Form::Text { .. }, c) if is_command => out.extend(c.escape_unicode()),
            (Form::Text { .. }, c) => push_visible(out, c),
            (Form::Json, c) if is_command || is_hidden(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing into a string cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            (Form::Json | Form::Document, c) => out.push(c),
        }
    }

    /// Removes the codes of styles from the text. Returns whether the character was a part of them.
    fn push_style(&mut self, out: &mut String, c: char) -> bool {
        match (&mut self.codes, c) {
            (None, STYLE_OPEN) => self.codes = Some(String::new()),
            (None, _) => return false,
            (Some(codes), STYLE_CLOSE) => {
                self.is_styled = codes != "0";
                let _ = write!(out, "\u{1b}[{codes}m");
                self.codes = None;
            }
            (Some(codes), c) if (c.is_ascii_digit() || c == ';') && codes.len() < STYLE_CODES_MAX => {
                codes.push(c);
            }
            // That was none of ours.
            (Some(_), c) => {
                let codes = self.codes.take().unwrap_or_default();
                // The codes are only digits and semicolons, so this recursion is one level deep.
                push_visible(out, STYLE_OPEN);
                self.push_str(out, &codes);
                self.push(out, c);
            }
        }
        true
    }
}

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.form == Form::Document {
            return self.inner.write(bytes);
        }
        let whole;
        let mut rest = match self.torn.is_empty() {
            true => bytes,
            false => {
                whole = [&std::mem::take(&mut self.torn), bytes].concat();
                &whole
            }
        };
        let mut out = String::with_capacity(rest.len() + 16);
        loop {
            match str::from_utf8(rest) {
                Ok(text) => {
                    self.push_str(&mut out, text);
                    break;
                }
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    // The first part was just found to be UTF-8.
                    self.push_str(&mut out, str::from_utf8(good).unwrap_or_default());
                    let Some(length) = error.error_len() else {
                        self.torn = bad.to_vec();
                        break;
                    };
                    for byte in &bad[..length] {
                        let _ = write!(out, "\\x{byte:02x}");
                    }
                    rest = &bad[length..];
                }
            }
        }
        // The output has another length than the input, so it is written whole and the input counts as taken, including
        // the beginning of a character that waits in `torn`.
        self.inner.write_all(out.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(form: Form, pieces: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut writer = Harmless::new(&mut out, form);
        pieces.iter().for_each(|piece| writer.write_all(piece).unwrap());
        String::from_utf8(out).unwrap()
    }

    const PLAIN: Form = Form::Text { colour: false };
    const COLOURED: Form = Form::Text { colour: true };

    #[test]
    fn what_acts_on_a_terminal_is_shown_as_its_escape() {
        for (text, shown) in [
            (
                "a\u{1b}[2Jb\u{9b}1m\r\u{7}\u{202e}\u{2066}\u{200b}\u{e0041}",
                r"a\u{1b}[2Jb\u{9b}1m\r\u{7}\u{202e}\u{2066}\u{200b}\u{e0041}",
            ),
            ("a\tb\nc é 漢字 🙂\n", "a\tb\nc é 漢字 🙂\n"),
            ("\u{fdd0}31\u{fdd1}red", r"\u{fdd0}31\u{fdd1}red"),
        ] {
            assert_eq!(written(PLAIN, &[text.as_bytes()]), shown);
        }
        assert_eq!(written(PLAIN, &[b"a\xff\xc3", b"\xa9\xe6\xbc", b"x"]), "a\\xffé\\xe6\\xbcx");
    }

    #[test]
    fn what_a_runner_takes_for_a_command_is_no_command() {
        for (text, shown) in [
            ("::error::x\n", ":\\u{3a}error::x\n"),
            (" \u{a0}\t::set-env\n", " \u{a0}\t:\\u{3a}set-env\n"),
            ("x\n::warning file=a::b", "x\n:\\u{3a}warning file=a::b"),
            ("a ::b :c std::io", "a ::b :c std::io"),
            (": :x\n:\n:y", ": :x\n:\n:y"),
            ("x ##[group]y ##vso[task.x]", "x ##\\u{5b}group]y ##vso\\u{5b}task.x]"),
            ("###[a] #[b] ##a-[c] [d]", "###\\u{5b}a] #[b] ##a-[c] [d]"),
        ] {
            assert_eq!(written(PLAIN, &[text.as_bytes()]), shown);
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(written(PLAIN, &bytes), shown, "byte by byte");
        }
    }

    #[test]
    fn styles_become_escape_sequences_and_end_with_the_line() {
        let text = format!("{}b{STYLE_OPEN}2{STYLE_CLOSE}c\nd", styled("1;31", "a"));
        assert_eq!(written(COLOURED, &[text.as_bytes()]), "\u{1b}[1;31ma\u{1b}[0mb\u{1b}[2mc\u{1b}[0m\nd");
        assert_eq!(width(&text), "abc\nd".len());
        let broken = format!("{STYLE_OPEN}2K{STYLE_CLOSE}\u{1b}[2J");
        assert_eq!(written(COLOURED, &[broken.as_bytes()]), r"\u{fdd0}2K\u{fdd1}\u{1b}[2J");
        let ansi = "\u{1b}[31;1mred\u{1b}[0m \u{1b}[2J \u{1b}[";
        assert_eq!(
            written(COLOURED, &[from_ansi(ansi).as_bytes()]),
            "\u{1b}[31;1mred\u{1b}[0m \\u{1b}[2J \\u{1b}["
        );
    }

    #[test]
    fn json_stays_the_same_document() {
        let text = "a\u{9b}31m\u{202e}b\u{e0041}\u{7f}é ##[group] \u{fdd0}";
        let document = serde_json::json!({"text": text, text: ["::", 1]}).to_string();
        let shown = written(Form::Json, &[document.as_bytes()]);
        assert!(shown.chars().all(|c| !is_hidden(c)) && !shown.contains("##["), "{shown}");
        let [read, meant] =
            [&shown, &document].map(|text| serde_json::from_str::<serde_json::Value>(text).unwrap());
        assert_eq!(read, meant);
    }

    #[test]
    fn inline_text_is_one_line() {
        assert_eq!(inline("a\nb\tc\r\u{1b}"), r"a\nb\tc\r\u{1b}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

        #[test]
        fn nothing_gets_through(text in "[ :#\\[\n\u{1b}\u{9b}\u{202e}\u{fdd0}\u{fdd1}2;a]{0,30}", colour: bool) {
            let shown = written(Form::Text { colour }, &[text.as_bytes()]);
            let plain = shown.replace("\u{1b}[", "").replace('\u{1b}', "ESC");
            prop_assert!(!plain.contains("ESC"));
            for line in shown.lines() {
                prop_assert!(!line.trim_start().starts_with("::") && !line.contains("##["), "{shown:?}");
            }
            prop_assert!(colour || shown.chars().all(|c| c == '\n' || !is_hidden(c)), "{shown:?}");
        }
    }
}
