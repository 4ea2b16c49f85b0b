//! A text without its escapes, and where each byte of it stands in the text: a secret can be written in more ways than
//! anyone could list, since each of its characters may be escaped or not.

use std::ops::Range;

/// Escapes of escapes are read as well, but not those of these.
const ROUNDS_MAX: usize = 2;

/// How characters are escaped.
#[derive(Clone, Copy)]
enum Style {
    /// As in URLs: `%2F`.
    Percent,
    /// As in JSON and in most programming languages: `\/`, `\n`, `\u00df`, `\x2f`.
    Backslash,
    /// Some characters in one of these ways, and some in the other.
    Either,
}

impl Style {
    /// Whether an escape begins with this byte.
    fn is_mark(self, byte: u8) -> bool {
        match self {
            Self::Percent => byte == b'%',
            Self::Backslash => byte == b'\\',
            Self::Either => byte == b'%' || byte == b'\\',
        }
    }

    /// The bytes that an escape at the beginning of `bytes` stands for, and its length; `None` if there is none.
    fn read(self, bytes: &[u8]) -> Option<(Escaped, usize)> {
        match self {
            Self::Percent => Some((Escaped::byte(hexadecimal(bytes.get(1..3)?)? as u8), 3)),
            Self::Either if bytes.first() == Some(&b'%') => Self::Percent.read(bytes),
            Self::Either => Self::Backslash.read(bytes),
            Self::Backslash => match *bytes.get(1)? {
                b'u' => unicode(bytes),
                b'x' => Some((Escaped::char(hexadecimal(bytes.get(2..4)?)?), 4)),
                b'b' => Some((Escaped::byte(8), 2)),
                b'f' => Some((Escaped::byte(12), 2)),
                b'n' => Some((Escaped::byte(b'\n'), 2)),
                b'r' => Some((Escaped::byte(b'\r'), 2)),
                b't' => Some((Escaped::byte(b'\t'), 2)),
                // `\"`, `\\` and `\/` of JSON, and what else needs no escape.
                other if other.is_ascii_punctuation() => Some((Escaped::byte(other), 2)),
                _ => None,
            },
        }
    }
}

/// The bytes of one character, or one byte of it.
struct Escaped {
    bytes: [u8; 4],
    len: usize,
}

impl Escaped {
    fn byte(byte: u8) -> Self {
        Self { bytes: [byte, 0, 0, 0], len: 1 }
    }

    /// Half of a pair that lacks its other half becomes a replacement character.
    fn char(code: u32) -> Self {
        let mut bytes = [0; 4];
        let len = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut bytes).len();
        Self { bytes, len }
    }
}

/// `\uXXXX`, a pair of those, or `\u{X}`.
fn unicode(bytes: &[u8]) -> Option<(Escaped, usize)> {
    if bytes.get(2) == Some(&b'{') {
        let digits = bytes[3..].iter().take(7).position(|byte| *byte == b'}')?;
        return Some((Escaped::char(hexadecimal(&bytes[3..3 + digits])?), digits + 4));
    }
    let first = hexadecimal(bytes.get(2..6)?)?;
    let second = || match bytes.get(6..8)? {
        b"\\u" => hexadecimal(bytes.get(8..12)?).filter(|second| (0xDC00..0xE000).contains(second)),
        _ => None,
    };
    if (0xD800..0xDC00).contains(&first)
        && let Some(second) = second()
    {
        return Some((Escaped::char(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)), 12));
    }
    Some((Escaped::char(first), 6))
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    (!digits.is_empty()).then_some(())?;
    digits.iter().try_fold(0_u32, |number, byte| Some((number << 4) | digit(byte)?))
}

/// Gives the place in the text for one in a reading of it.
type Source<'a> = &'a dyn Fn(Range<usize>) -> Range<usize>;

/// A text with some of its escapes read.
pub(super) struct Unescaped {
    pub(super) bytes: Vec<u8>,
    /// For each escape that was read, where it ends: here, and in the text that it was read from.
    ends: Vec<(usize, usize)>,
}

impl Unescaped {
    /// `None` if there is no escape of this style.
    fn of(text: &[u8], style: Style) -> Option<Self> {
        let mut next = text.iter().position(|byte| style.is_mark(*byte));
        next?;
        let (mut bytes, mut ends, mut rest) = (Vec::new(), Vec::new(), 0);
        while let Some(place) = next {
            let end = match style.read(&text[place..]) {
                None => place + 1,
                Some((escaped, length)) => {
                    bytes.extend_from_slice(&text[rest..place]);
                    bytes.extend_from_slice(&escaped.bytes[..escaped.len]);
                    rest = place + length;
                    ends.push((bytes.len(), rest));
                    rest
                }
            };
            next = text[end..].iter().position(|byte| style.is_mark(*byte)).map(|further| end + further);
        }
        if ends.is_empty() {
            return None;
        }
        bytes.extend_from_slice(&text[rest..]);
        Some(Self { bytes, ends })
    }

    /// Where what stands in this range stands in the text that it was read from.
    fn source_of(&self, range: &Range<usize>) -> Range<usize> {
        let place = |here: usize| {
            let behind = self.ends.partition_point(|(end, _)| *end <= here);
            let (end, source) = behind.checked_sub(1).map_or((0, 0), |last| self.ends[last]);
            source + (here - end)
        };
        place(range.start)..place(range.end)
    }
}

/// A text with its escapes as in URLs read; as it is where there are none, or where they are not UTF-8.
pub(super) fn percent_decoded(text: &str) -> String {
    let read = Unescaped::of(text.as_bytes(), Style::Percent);
    read.and_then(|read| String::from_utf8(read.bytes).ok()).unwrap_or_else(|| text.to_owned())
}

/// Calls `look` with each reading of a text that differs from it, and with what gives the place in the text for one in
/// the reading. Takes time in proportion to the text, and next to none if it has neither mark.
pub(super) fn each_reading(text: &[u8], look: &mut dyn FnMut(&[u8], Source<'_>)) {
    read_on(text, ROUNDS_MAX, &|range| range, look);
}

fn read_on(text: &[u8], rounds: usize, source: Source<'_>, look: &mut dyn FnMut(&[u8], Source<'_>)) {
    // By far the most texts have no mark, and this search is a fast one. With only one of them, the third style is the
    // same as one of the others.
    let styles = match (text.contains(&b'%'), text.contains(&b'\\')) {
        (false, false) => &[][..],
        (true, false) => &[Style::Percent],
        (false, true) => &[Style::Backslash],
        (true, true) => &[Style::Percent, Style::Backslash, Style::Either],
    };
    for style in styles.iter().copied() {
        let Some(read) = Unescaped::of(text, style) else { continue };
        let further = |range: Range<usize>| source(read.source_of(&range));
        look(&read.bytes, &further);
        if rounds > 1 {
            read_on(&read.bytes, rounds - 1, &further, look);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        each_reading(text.as_bytes(), &mut |read, _| all.push(String::from_utf8_lossy(read).into_owned()));
        all
    }

    #[test]
    fn escapes_are_read_as_others_write_them() {
        for (text, first) in [
            ("a%2Fb%2fc", "a/b/c"),
            ("%C3%9f", "ß"),
            ("100%", ""),
            ("%zz%2", ""),
            (r#"\/\"\\"#, r#"/"\"#),
            (r"\u00DF\u00df", "ßß"),
            (r"\ud83d\ude00", "😀"),
            (r"\ud83dx", "\u{fffd}x"),
            (r"\u{1F600}\x2D", "😀-"),
            (r"\u{}\u12\x4", ""),
            (r"a\nb\tc", "a\nb\tc"),
            (r"C:\Path", ""),
            ("plain", ""),
        ] {
            assert_eq!(readings(text).first().map_or("", String::as_str), first, "{text}");
        }
        // An escape of an escape, and escapes of both styles.
        assert!(readings("%252F").contains(&"/".to_owned()));
        assert!(readings(r"\\u002f").contains(&"/".to_owned()));
        assert!(readings(r"%5Cu002f").contains(&"/".to_owned()));
        assert!(readings(r"%2f\u002d").contains(&"/-".to_owned()));
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = r"é%2F\u00e9%41-";
        each_reading(text.as_bytes(), &mut |read, source| {
            let Some(place) = read.windows(3).position(|window| window == "éA".as_bytes()) else { return };
            assert_eq!(&text[source(place..place + 3)], r"\u00e9%41");
        });
        // The canary: one reading has it.
        assert!(readings(text).iter().any(|read| read.contains("éA")));
    }
}
