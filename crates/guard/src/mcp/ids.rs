//! Ids of requests as clients find them again in answers.
//!
//! Clients are less strict than the protocol, and each in its own way: that of Python reads a text as `int()` does,
//! that of TypeScript as `Number()` does, and others drop what stands behind the point.

use serde_json::{Number, Value};

use crate::strict::EXACT_MAX;

/// The text of an id. That of `7`, of `"7"` and of `7.0` is one, because servers mix them up.
pub(super) fn text_of(id: &Value) -> String {
    match id {
        Value::String(text) => text.clone(),
        Value::Number(number) => exactly(number).unwrap_or_else(|| number.to_string()),
        other => other.to_string(),
    }
}

/// The digits of a number that is an integer, however it is written.
fn exactly(number: &Number) -> Option<String> {
    let float = number.as_f64().filter(|it| number.is_f64() && it.fract() == 0.0)?;
    // Without a sign for zero.
    (float.abs() <= EXACT_MAX as f64).then(|| format!("{:.0}", float + 0.0))
}

/// Whether some client takes the id of an answer for that of its request with this text. Of most pairs for which this
/// holds, other clients do not.
pub(super) fn may_be(answer: &Value, request: &str) -> bool {
    if text_of(answer) == request {
        return true;
    }
    let Some(wanted) = integer_in(request) else { return false };
    match answer {
        // Digits of other alphabets are digits to some, whichever they are.
        Value::String(text) if text.chars().any(|it| !it.is_ascii() && it.is_numeric()) => true,
        other => integer_of(other) == Some(wanted),
    }
}

/// The integer that a careless client takes an id for. `null` is none: with it, servers answer what they cannot read.
fn integer_of(id: &Value) -> Option<i64> {
    match id {
        Value::Bool(is_one) => Some(i64::from(*is_one)),
        Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)),
        Value::String(text) => integer_in(text),
        Value::Array(items) => match items.as_slice() {
            [item] => integer_of(item),
            _ => None,
        },
        Value::Null | Value::Object(_) => None,
    }
}

fn integer_in(text: &str) -> Option<i64> {
    let is_blank = |it: char| it.is_whitespace() || it.is_control() || it == '\u{feff}';
    let digits = text.trim_matches(is_blank).replace('_', "");
    if digits.is_empty() {
        return Some(0);
    }
    let radix = |begin: [&str; 2], radix| {
        let digits = begin.into_iter().find_map(|begin| digits.strip_prefix(begin))?;
        i64::from_str_radix(digits, radix).ok()
    };
    let is_number = |it: char| it.is_ascii_digit() || "+-.eE".contains(it);
    let float = || digits.parse().ok().filter(|_| digits.chars().all(is_number)).and_then(whole);
    digits
        .parse()
        .ok()
        .or_else(|| radix(["0x", "0X"], 16))
        .or_else(|| radix(["0o", "0O"], 8))
        .or_else(|| radix(["0b", "0B"], 2))
        .or_else(float)
}

/// What stands before the point.
fn whole(float: f64) -> Option<i64> {
    format!("{:.0}", float.trunc() + 0.0).parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_that_are_equal_have_one_text() {
        for id in [json!(7), json!("7"), json!(7.0), serde_json::from_str("7e0").unwrap()] {
            assert_eq!(text_of(&id), "7", "{id}");
        }
        for (id, text) in [(json!("07"), "07"), (json!(7.5), "7.5"), (json!(-0.0), "0"), (json!("a"), "a")] {
            assert_eq!(text_of(&id), text);
        }
    }

    #[test]
    fn an_id_is_found_as_the_most_careless_client_does() {
        for (answer, request, is_it) in [
            (json!("01"), "1", true),
            (json!(" 1"), "1", true),
            (json!("\u{a0}1\n"), "1", true),
            (json!("+1"), "1", true),
            (json!("1_0"), "10", true),
            (json!("1.0"), "1", true),
            (json!("1."), "1", true),
            (json!("0.1e1"), "1", true),
            (json!("0x10"), "16", true),
            (json!("0b11"), "3", true),
            (json!("-0"), "0", true),
            (json!(""), "0", true),
            (json!("\u{661}"), "1", true),
            (json!("\u{ff11}"), "1", true),
            (json!(1.7), "1", true),
            (json!(true), "1", true),
            (json!([1]), "1", true),
            (json!("1"), "01", true),
            (json!("a"), "a", true),
            (json!("01"), "10", false),
            (json!("1"), "a", false),
            (json!("a1"), "1", false),
            (json!("\u{661}"), "a", false),
            (json!("infinity"), "1", false),
            (json!("nan"), "0", false),
            (json!(null), "0", false),
            (json!({"id": 1}), "1", false),
            (json!(2), "1", false),
            (json!("server-error"), "0", false),
        ] {
            assert_eq!(may_be(&answer, request), is_it, "{answer} {request}");
        }
    }
}
