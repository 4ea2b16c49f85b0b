//! Numbers of JSON that have more digits than a number in memory keeps.

/// Whether a number in this JSON text would be changed by being read: an integer beyond 64 bits, which becomes a float,
/// or a fraction with more digits than a float has. Takes any text; what is not JSON gives any answer.
pub fn loses_digits(json: &str) -> bool {
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_text(bytes, at),
            b'-' | b'0'..=b'9' => {
                let is_of_number = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                let length = bytes[at..].iter().take_while(|byte| is_of_number(byte)).count();
                if is_changed(&json[at..at + length]) {
                    return true;
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    false
}

/// Digits of a fraction that a float always keeps, if it has no exponent.
const FRACTION_DIGITS_KEPT: usize = 15;

/// The place behind a text that begins at `start`.
fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn is_changed(number: &str) -> bool {
    if number.bytes().all(|byte| matches!(byte, b'-' | b'0'..=b'9')) {
        // Shorter ones need no second look.
        return number.len() > 18 && number.parse::<i64>().is_err() && number.parse::<u64>().is_err();
    }
    // Nearly all are short. The other character is the point.
    if number.len() <= FRACTION_DIGITS_KEPT + 1 && !number.contains(['e', 'E']) {
        return false;
    }
    // A float is written with the fewest digits that mean it, so another fraction comes back with other digits.
    number.parse::<f64>().is_ok_and(|read| significant(&format!("{read:e}")) != significant(number))
}

/// The digits of a number without the zeros at both ends.
fn significant(number: &str) -> String {
    let digits = number.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn numbers_that_change_are_found_and_others_are_not() {
        for json in [
            "25227143063332189585438",
            "-25227143063332189585438",
            "18446744073709551616",
            "-9223372036854775809",
            r#"{"a":[1,{"maximum":100000000000000000000000}]}"#,
            "0.12345678901234567890123",
            "1234567890123456789.5",
            "9007199254740993.0",
            "0.10000000000000001",
            "1.25e-323",
            r#"["\"",18446744073709551616]"#,
        ] {
            assert!(loses_digits(json), "{json}");
            assert_ne!(serde_json::from_str::<Value>(json).unwrap().to_string(), json);
        }
        for json in [
            "0",
            "18446744073709551615",
            "-9223372036854775808",
            "0.1",
            "-1.5e300",
            "0.00000000000000000000001",
            "1.7976931348623157e308",
            "0.30000000000000004",
            "-0.0",
            "1.50",
            "12E2",
            r#""25227143063332189585438""#,
            r#"{"25227143063332189585438\\":"\"25227143063332189585438"}"#,
            "[true,null,\"\"]",
            "\"never closed 25227143063332189585438",
            "\"\\",
        ] {
            assert!(!loses_digits(json), "{json}");
        }
    }
}
