//! Whole numbers of any size, as decimal digits in Python's notation.

use planproof_measure::python::{digit, is_space};

/// Maximum number of digits of a decimal number that Python parses or writes.
pub(crate) const DIGITS_MAX: usize = 4300;

/// `int(text)`, as its decimal digits. Accepts surrounding white space, a sign, digits of any script, and single
/// `_` between digits.
pub(crate) fn read_integer(text: &str) -> Option<String> {
    let text = text.trim_matches(is_space);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut value = String::new();
    let mut after_digit = false;
    let mut count = 0;
    for character in digits.chars() {
        if character == '_' && after_digit {
            after_digit = false;
            continue;
        }
        let digit = digit(character)?;
        // Python's limit applies to all digits, including leading zeros.
        count += 1;
        if digit > 0 || !value.is_empty() {
            value.push(char::from_digit(digit, 10)?);
        }
        after_digit = true;
    }
    if !after_digit || count > DIGITS_MAX {
        return None;
    }
    Some(match value.as_str() {
        "" => "0".to_owned(),
        _ if negative => format!("-{value}"),
        _ => value,
    })
}

/// The decimal digits of a literal such as `0xFF` or `1_000`, without a sign. `None` if Python rejects it.
pub(crate) fn decimal_of_literal(token: &str) -> Option<String> {
    let lower = token.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        _ => return read_integer(&lower),
    };
    /// Nine decimal digits fit, even after multiplication by the base and addition of a digit.
    const CHUNK: u64 = 1_000_000_000;
    let mut chunks: Vec<u64> = vec![0];
    for character in digits.chars().filter(|character| *character != '_') {
        let mut carry = u64::from(character.to_digit(radix)?);
        for chunk in &mut chunks {
            let sum = *chunk * u64::from(radix) + carry;
            (*chunk, carry) = (sum % CHUNK, sum / CHUNK);
        }
        if carry > 0 {
            chunks.push(carry);
        }
        // Checked on the way, because the time grows with the square of the length.
        if chunks.len() * 9 > DIGITS_MAX + 9 {
            return None;
        }
    }
    let mut text = chunks.pop()?.to_string();
    for chunk in chunks.iter().rev() {
        text.push_str(&format!("{chunk:09}"));
    }
    (text.len() <= DIGITS_MAX).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_as_python_reads_them() {
        let cases = [
            ("007", Some("7")),
            (" -0 ", Some("0")),
            ("-12", Some("-12")),
            ("+1_000", Some("1000")),
            ("\t٣\n", Some("3")),
            ("123456789012345678901234567890", Some("123456789012345678901234567890")),
            ("", None),
            ("1__0", None),
            ("_1", None),
            ("1_", None),
            ("- 1", None),
            ("1.0", None),
            ("²", None),
        ];
        for (text, value) in cases {
            assert_eq!(read_integer(text).as_deref(), value, "{text:?}");
        }
        assert_eq!(read_integer(&"9".repeat(DIGITS_MAX)).map(|text| text.len()), Some(DIGITS_MAX));
        assert_eq!(read_integer(&"9".repeat(DIGITS_MAX + 1)), None);
    }

    #[test]
    fn literals_of_any_radix_become_decimal() {
        assert_eq!(
            decimal_of_literal("0xFFFFFFFFFFFFFFFFFFFF").as_deref(),
            Some("1208925819614629174706175")
        );
        assert_eq!(decimal_of_literal("0B1_0").as_deref(), Some("2"));
        assert_eq!(
            decimal_of_literal("0o777777777777777777777777").as_deref(),
            Some("4722366482869645213695")
        );
        assert_eq!(decimal_of_literal(&format!("0x{}", "F".repeat(100_000))), None);
    }
}
