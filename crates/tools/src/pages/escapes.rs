//! Backslash escapes, as decoded by the environment published with ReAct.
//!
//! It encodes a text as UTF-8, has Python read the bytes as Latin-1 with the escapes of a string literal, encodes
//! that as Latin-1, and reads it as UTF-8 again. So `caf\\xc3\\xa9` becomes `café`, and a page with `C:\\Users`
//! fails, because `\\U` wants eight digits.

use thiserror::Error;

/// Why Python refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NotPython {
    /// `UnicodeDecodeError`: an invalid escape, or bytes that are not UTF-8.
    #[error("an escape is broken, or what it stands for is no UTF-8")]
    Decode,
    /// `UnicodeEncodeError`: an escape stands for a character that Latin-1 lacks.
    #[error("an escape stands for a character beyond Latin-1")]
    Encode,
}

/// The text with its escapes decoded. Takes time in proportion to its length.
///
/// Escapes by name, such as `\\N{BULLET}`, are refused, although Python accepts those of Latin-1; no page has them.
///
/// # Errors
/// Python would raise an exception.
pub fn unescaped(text: &str) -> Result<String, NotPython> {
    if !text.contains('\\') {
        return Ok(text.to_owned());
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    // Python decodes the whole text before it encodes any of it, so a broken escape outranks one beyond Latin-1.
    let mut beyond = false;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let kind = *bytes.get(at).ok_or(NotPython::Decode)?;
        at += 1;
        match kind {
            b'\n' => {}
            b'\\' | b'\'' | b'"' => out.push(kind),
            b'a' => out.push(0x07),
            b'b' => out.push(0x08),
            b'f' => out.push(0x0c),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(0x0b),
            b'0'..=b'7' => {
                // Up to three digits, of which `kind` is the first.
                let digits = bytes[at - 1..].iter().take(3).take_while(|it| (b'0'..=b'7').contains(it));
                let mut value = 0;
                let mut count = 0;
                for digit in digits {
                    value = value * 8 + u32::from(digit - b'0');
                    count += 1;
                }
                at += count - 1;
                push(value, &mut out, &mut beyond);
            }
            b'x' | b'u' | b'U' => {
                let length = match kind {
                    b'x' => 2,
                    b'u' => 4,
                    _ => 8,
                };
                let digits = bytes.get(at..at + length).ok_or(NotPython::Decode)?;
                let mut value = 0;
                for digit in digits {
                    let digit = char::from(*digit).to_digit(16).ok_or(NotPython::Decode)?;
                    value = value * 16 + digit;
                }
                if value > u32::from(char::MAX) {
                    return Err(NotPython::Decode);
                }
                at += length;
                push(value, &mut out, &mut beyond);
            }
            b'N' => return Err(NotPython::Decode),
            // An unknown escape keeps its backslash.
            other => out.extend([b'\\', other]),
        }
    }
    if beyond {
        return Err(NotPython::Encode);
    }
    String::from_utf8(out).map_err(|_| NotPython::Decode)
}

/// Appends a character of Latin-1.
fn push(value: u32, out: &mut Vec<u8>, beyond: &mut bool) {
    match u8::try_from(value) {
        Ok(byte) => out.push(byte),
        Err(_) => *beyond = true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_are_those_of_python() {
        for (text, clean) in [
            ("plain caf\u{e9}", Ok("plain caf\u{e9}")),
            (r"caf\xc3\xa9", Ok("caf\u{e9}")),
            (r"\101\1012 \q \'", Ok("AA2 \\q '")),
            ("a\\\nb", Ok("ab")),
            (r"\u0041\U00000042", Ok("AB")),
            (r"\xe9", Err(NotPython::Decode)),
            (r"\x4", Err(NotPython::Decode)),
            (r"\U00110000", Err(NotPython::Decode)),
            (r"\u20ac", Err(NotPython::Encode)),
            (r"\u20ac \x4", Err(NotPython::Decode)),
            (r"\777", Err(NotPython::Encode)),
            (r"C:\Users", Err(NotPython::Decode)),
            ("\\", Err(NotPython::Decode)),
        ] {
            assert_eq!(unescaped(text).as_deref(), clean.as_ref().map(|it| *it), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in r"(\\|[xuUn0-9a-f\u{e9}\n]|\\x[0-9a-f]{2}){0,20}") {
            let _ = unescaped(&text);
        }
    }
}
