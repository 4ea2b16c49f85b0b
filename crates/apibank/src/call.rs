//! Calls in texts: `[ApiName(key1='value1', key2='value2')]`.
//!
//! [`extract`] and [`parse`] reproduce the original's two regular expressions by hand, including their faults: an
//! empty value swallows the next parameter, an apostrophe ends a value, a quoted list is cut after its first bracket,
//! and an unquoted value is cut at the first non-word character. [`coerce`] converts values to the declared types.
//!
//! [`read`] and [`typed`] are the intended behaviour (`call/read.rs`, `call/typed.rs`, `call/literal.rs`).

mod literal;
mod read;
mod typed;

pub use read::read;
pub use typed::typed;

use crate::api::PythonError;
use crate::catalogue::ApiSpec;
use crate::python::{is_digits, is_space, is_word};
use crate::value::{Dict, PythonValue};

/// The first call in a text: `[`, word characters, `(`, and anything within the line up to its last `)]`.
///
/// Two calls on a line are returned as one. `None` if there is no call.
pub fn extract(text: &str) -> Option<&str> {
    find(text).map(|found| found.whole)
}

struct Found<'t> {
    whole: &'t str,
    name: &'t str,
    arguments: &'t str,
}

/// A call never crosses the end of a line.
fn find(text: &str) -> Option<Found<'_>> {
    text.split('\n').find_map(find_in_line)
}

fn find_in_line(line: &str) -> Option<Found<'_>> {
    let end = line.rfind(")]")?;
    // A bracket without a name and a parenthesis behind it, such as that of a note, begins no call.
    line.match_indices('[').take_while(|(start, _)| *start < end).find_map(|(start, _)| {
        let rest = &line[start + 1..];
        let name = &rest[..word_length(rest)];
        let from = start + 1 + name.len() + 1;
        let is_call = !name.is_empty() && rest[name.len()..].starts_with('(') && from <= end;
        is_call.then(|| Found { whole: &line[start..end + 2], name, arguments: &line[from..end] })
    })
}

/// The number of bytes of word characters at the start of a text.
fn word_length(text: &str) -> usize {
    text.find(|it| !is_word(it)).unwrap_or(text.len())
}

/// The name and the arguments of a call returned by [`extract`], with all arguments as texts. If a parameter occurs
/// twice, the last one counts.
pub fn parse(text: &str) -> Option<(String, Dict)> {
    let found = find(text)?;
    let mut arguments = Dict::new();
    let mut rest = found.arguments;
    // A list reaches to the last `]` of all arguments, which is therefore searched once.
    let last_bracket = found.arguments.rfind(']');
    while let Some(first) = rest.chars().next() {
        let name = &rest[..word_length(rest)];
        let from = found.arguments.len() - rest.len();
        let until_bracket = last_bracket.and_then(|last| (last + 1).checked_sub(from));
        let length = match argument(rest, name, until_bracket) {
            Some((value, length)) => {
                arguments.insert(name.to_owned(), value.into());
                length
            }
            // A match that fails at the start of a word also fails within it.
            None => name.len().max(first.len_utf8()),
        };
        rest = &rest[length..];
    }
    Some((found.name.to_owned(), arguments))
}

/// The value of the argument whose name starts here, and how many bytes both take. `until_bracket` is the number of
/// bytes up to the last `]`.
fn argument<'t>(text: &'t str, name: &str, until_bracket: Option<usize>) -> Option<(&'t str, usize)> {
    if name.is_empty() {
        return None;
    }
    let is_quote = |it: char| matches!(it, '\'' | '"');
    let after = &text[name.len()..];
    let value = after.trim_start_matches(is_space).strip_prefix('=')?;
    // The alternatives of the pattern, in its order: a quoted text, a list, word characters. The two quotes may be of
    // different kinds, as in the pattern.
    if let Some(inside) = value.trim_start_matches(is_space).strip_prefix(is_quote) {
        // The pattern wants at least one character, so the closing quote is searched after the first.
        let first = inside.chars().next().map_or(0, char::len_utf8);
        if let Some(end) = inside[first..].find(is_quote) {
            let end = first + end;
            return Some((&inside[..end], text.len() - inside.len() + end + 1));
        }
    }
    // A quote that is never closed gets here, too. It is not a word character, so the argument is not found.
    let value = value.trim_start_matches(is_space);
    let from = text.len() - value.len();
    if value.starts_with('[')
        && let Some(until) = until_bracket.filter(|until| *until > from)
    {
        // The list stays a text: the original converts numbers and truth values only.
        return Some((&text[from..until], until));
    }
    let length = word_length(value);
    (length > 0).then(|| (&value[..length], from + length))
}

/// Converts the arguments of a call to the types that the tool declares, as the original does.
///
/// # Errors
/// `AssertionError` for a parameter that the tool does not have or for an invalid number; `Exception` for an unknown
/// type.
pub fn coerce(spec: &ApiSpec, arguments: &Dict) -> Result<Dict, PythonError> {
    let mut typed = Dict::new();
    for (name, value) in arguments {
        let Some(parameter) = spec.input(name) else {
            return Err(PythonError::assertion(format!("invalid parameter name. parameter: {name}")));
        };
        let no_number =
            || PythonError::assertion(format!("invalid parameter type. parameter: {}", value.to_text()));
        let value = match (parameter.kind.as_str(), value) {
            ("int", PythonValue::Text(text)) => {
                // Python's integers are unbounded; digits that 128 bits cannot hold are capped.
                let number = is_digits(text).then(|| text.parse().unwrap_or(i128::MAX));
                PythonValue::Int(number.ok_or_else(no_number)?)
            }
            ("float", PythonValue::Text(text)) => {
                // Only one point is removed before the test, so signs and exponents are rejected.
                let digits = text.replacen('.', "", 1);
                let number = is_digits(&digits).then(|| text.parse().unwrap_or(f64::INFINITY));
                // The original does not name the parameter here.
                PythonValue::Float(number.ok_or_else(|| PythonError::assertion("invalid parameter type."))?)
            }
            // Anything but the text `True` is false, even a true from JSON.
            ("bool", value) => PythonValue::Bool(*value == PythonValue::from("True")),
            // Lists and texts are passed on as they are, so a list in a text never becomes a list.
            ("int" | "float" | "str" | "list" | "list(str)", value) => value.clone(),
            _ => return Err(PythonError::new("Exception", "invalid parameter type.")),
        };
        typed.insert(name.clone(), value);
    }
    Ok(typed)
}

/// Puts the arguments into the order of the tool's parameters, with `None` for omitted optional ones.
///
/// # Errors
/// `TypeError` in the words of Python 3.11 if required ones are omitted.
pub fn bind(spec: &ApiSpec, optional: &[&str], mut arguments: Dict) -> Result<Dict, PythonError> {
    let mut bound = Dict::new();
    let mut missing = Vec::new();
    for parameter in &spec.inputs {
        let name = parameter.name.as_str();
        // `swap_remove` disturbs the order of the rest, but `bound` has an order of its own.
        match arguments.swap_remove(name) {
            Some(value) => drop(bound.insert(name.to_owned(), value)),
            None if optional.contains(&name) => drop(bound.insert(name.to_owned(), PythonValue::None)),
            None => missing.push(name),
        }
    }
    // The original raises this before its tool runs, so the tool does not catch it: a missing argument is not an
    // exception of a record.
    if missing.is_empty() {
        return Ok(bound);
    }
    let plural = if missing.len() == 1 { "" } else { "s" };
    let count = missing.len();
    let names = listing(&missing);
    Err(PythonError::types(format!(
        "{}.call() missing {count} required positional argument{plural}: {names}",
        spec.name
    )))
}

/// Names as Python lists them: `'a'`, `'a' and 'b'`, `'a', 'b', and 'c'`.
fn listing(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<(String, String)> {
        let (_, arguments) = parse(text).unwrap();
        arguments.into_iter().map(|(name, value)| (name, value.to_text())).collect()
    }

    fn check(text: &str, expected: &[(&str, &str)]) {
        let expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        assert_eq!(parsed(text), expected, "{text}");
    }

    #[test]
    fn the_first_call_is_found() {
        assert_eq!(extract("So: [A(x='1')] done"), Some("[A(x='1')]"));
        assert_eq!(extract("[not] [A(x='1')] [B(y='2')]"), Some("[A(x='1')] [B(y='2')]"));
        assert_eq!(extract("[A(x='1'\n)] [B()]"), Some("[B()]"));
        for text in ["A(x='1')", "[A (x='1')]", "[A(x='1')", "[(x='1')]", ""] {
            assert_eq!(extract(text), None, "{text}");
        }
    }

    #[test]
    fn arguments_are_cut_as_by_the_original() {
        check("[A(x='1', y = \"two words\")]", &[("x", "1"), ("y", "two words")]);
        check("[A(x='', y='2')]", &[("x", "', y=")]);
        check("[A(x='it's', y='2')]", &[("x", "it"), ("y", "2")]);
        check("[A(x='['a', 'b']')]", &[("x", "[")]);
        check("[A(x=['a', 'b'], y='2')]", &[("x", "['a', 'b']"), ("y", "2")]);
        check("[A(x=40.7128, y=-3)]", &[("x", "40")]);
        check("[A('1', 2)]", &[]);
        check("[A(x='1', x='2')]", &[("x", "2")]);
    }

    #[test]
    fn missing_arguments_are_listed() {
        assert_eq!(listing(&["a"]), "'a'");
        assert_eq!(listing(&["a", "b"]), "'a' and 'b'");
        assert_eq!(listing(&["a", "b", "c"]), "'a', 'b', and 'c'");
    }
}
