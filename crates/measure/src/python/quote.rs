//! Texts and bytes as Python writes them in source.

use std::fmt::Write as _;

use super::characters::is_printable;

/// The quotes around a text: `'`, unless the text contains `'` and no `"`.
fn quote_of(has_single: bool, has_double: bool) -> char {
    if has_single && !has_double { '"' } else { '\'' }
}

/// A character as an escape sequence, as `repr` and `unicode_escape` write it.
fn push_escaped(character: char, out: &mut String) {
    let _ = match (character, u32::from(character)) {
        ('\\', _) => write!(out, "\\\\"),
        ('\n', _) => write!(out, "\\n"),
        ('\r', _) => write!(out, "\\r"),
        ('\t', _) => write!(out, "\\t"),
        (_, code @ 0..=0xff) => write!(out, "\\x{code:02x}"),
        (_, code @ 0..=0xffff) => write!(out, "\\u{code:04x}"),
        (_, code) => write!(out, "\\U{code:08x}"),
    };
}

/// `repr(text)`.
pub fn repr(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_repr(text, &mut out);
    out
}

/// Appends `repr(text)`.
pub fn push_repr(text: &str, out: &mut String) {
    let quote = quote_of(text.contains('\''), text.contains('"'));
    out.push(quote);
    for character in text.chars() {
        if character == quote {
            out.push('\\');
            out.push(character);
        } else if character == '\\' || !is_printable(character) {
            push_escaped(character, out);
        } else {
            out.push(character);
        }
    }
    out.push(quote);
}

/// `repr` of bytes.
pub fn repr_bytes(bytes: &[u8], out: &mut String) {
    let quote = quote_of(bytes.contains(&b'\''), bytes.contains(&b'"'));
    out.push('b');
    out.push(quote);
    for byte in bytes {
        let character = char::from(*byte);
        if character == quote {
            out.push('\\');
            out.push(character);
        } else if character == '\\' || !(' '..='~').contains(&character) {
            push_escaped(character, out);
        } else {
            out.push(character);
        }
    }
    out.push(quote);
}

/// Kinds of quotes, in order of preference.
pub const QUOTES: [&str; 4] = ["'", "\"", "\"\"\"", "'''"];

/// A text written with as few escapes as possible: the content between the quotes, and the quotes that can enclose
/// it, best first. `quotes` are the candidates.
pub fn with_few_escapes(
    text: &str,
    quotes: &[&'static str],
    escape_white_space: bool,
) -> (String, Vec<&'static str>) {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        let stays = !escape_white_space && matches!(character, '\n' | '\t');
        if stays || character != '\\' && is_printable(character) {
            escaped.push(character);
        } else {
            push_escaped(character, &mut escaped);
        }
    }
    let spans_lines = escaped.contains('\n');
    let fits = |quote: &&'static str| (!spans_lines || quote.len() == 3) && !escaped.contains(*quote);
    let mut possible: Vec<&'static str> = quotes.iter().copied().filter(fits).collect();
    if possible.is_empty() {
        let written = repr(text);
        let first = if written.starts_with('"') { "\"" } else { "'" };
        let quote = quotes.iter().copied().find(|quote| quote.contains(first)).unwrap_or(first);
        return (written[1..written.len() - 1].to_owned(), vec![quote]);
    }
    if let Some(last) = escaped.chars().next_back() {
        // Quotes that the text ends with come last, because its last character would need an escape. The sort is
        // stable, so the order of preference is kept otherwise.
        possible.sort_by_key(|quote| quote.starts_with(last));
        if possible[0].starts_with(last) {
            escaped.pop();
            escaped.push('\\');
            escaped.push(last);
        }
    }
    (escaped, possible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_as_python_does() {
        let cases = [
            ("a", "'a'"),
            ("it's", "\"it's\""),
            ("it's \"q\"", "'it\\'s \"q\"'"),
            ("tab\t nl\n \\", "'tab\\t nl\\n \\\\'"),
            ("\0\x7f\u{a0}\u{2028}é😀\u{e000}\u{1f_fff}", "'\\x00\\x7f\\xa0\\u2028é😀\\ue000\\U0001ffff'"),
        ];
        for (text, quoted) in cases {
            assert_eq!(repr(text), quoted);
        }
        let mut out = String::new();
        repr_bytes(b"it's\xff\\\n", &mut out);
        assert_eq!(out, "b\"it's\\xff\\\\\\n\"");
    }
}
