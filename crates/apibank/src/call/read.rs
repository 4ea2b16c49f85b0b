//! Calls by their syntax.

use super::literal::{literal_prefix, unescaped};
use crate::python::{is_space, is_word};
use crate::value::{Dict, PythonValue};

/// The maximum length of a call in bytes. There is a limit because the end of a value is found by trial.
const MAX_CALL: usize = 16 * 1024;

/// The first call in a text: `[Name(key='value', ...)]`, with spaces and line breaks wherever they make sense.
///
/// A quoted value ends at a quote after which the call continues or ends, so it may contain apostrophes, brackets and
/// commas, and may be empty. Unquoted values are lists, dictionaries, or texts up to the next argument. Values
/// without names are skipped, and if a name occurs twice, the last value counts. Arguments are texts, except for
/// unquoted lists and dictionaries.
pub fn read(text: &str) -> Option<(String, Dict)> {
    // A bracket that begins no complete call is skipped: models also write lists and remarks in brackets.
    text.match_indices('[').find_map(|(start, _)| {
        let rest = text[start + 1..].trim_start_matches(is_space);
        let (name, rest) = word(rest)?;
        let rest = rest.trim_start_matches(is_space).strip_prefix('(')?;
        let arguments = arguments(cut(rest))?;
        Some((name.to_owned(), arguments))
    })
}

/// The first [`MAX_CALL`] bytes.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_CALL)]
}

/// The word at the start of a text, and the text after it.
fn word(text: &str) -> Option<(&str, &str)> {
    let length = text.find(|it| !is_word(it)).unwrap_or(text.len());
    (length > 0).then(|| text.split_at(length))
}

/// The name of an argument with its equals sign, and the text after it.
fn key(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = word(text.trim_start_matches(is_space))?;
    let rest = rest.trim_start_matches(is_space).strip_prefix('=')?;
    Some((name, rest.trim_start_matches(is_space)))
}

fn is_closed(text: &str) -> bool {
    let rest = text.trim_start_matches(is_space).strip_prefix(')');
    rest.is_some_and(|rest| rest.trim_start_matches(is_space).starts_with(']'))
}

/// Whether a value can end before this text, because the call ends or another argument follows.
fn is_end(text: &str) -> bool {
    let rest = text.trim_start_matches(is_space);
    match rest.strip_prefix(',') {
        Some(rest) => key(rest).is_some() || is_closed(rest),
        None => is_closed(rest),
    }
}

fn arguments(text: &str) -> Option<Dict> {
    let mut arguments = Dict::new();
    let mut rest = text;
    while !is_closed(rest) {
        let (name, from) =
            key(rest).map_or((None, rest.trim_start_matches(is_space)), |(name, from)| (Some(name), from));
        let (value, behind) = value(from, name.is_some())?;
        if let Some(name) = name {
            arguments.insert(name.to_owned(), value);
        }
        // A value ends only before a comma or at the end of the call, so each round makes progress, even with an empty
        // value.
        rest = behind.trim_start_matches(is_space);
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    Some(arguments)
}

/// A value and the text after it. An unnamed value may be followed by another unnamed value.
fn value(text: &str, is_named: bool) -> Option<(PythonValue, &str)> {
    let ends = |rest: &str| is_end(rest) || (!is_named && rest.trim_start_matches(is_space).starts_with(','));
    if let Some(quote) = text.chars().next().filter(|it| matches!(it, '\'' | '"')) {
        let inside = &text[1..];
        let places = inside.match_indices(quote).map(|(place, _)| place);
        // An escaped quote belongs to the text.
        let mut places =
            places.filter(|place| !inside[..*place].ends_with('\\') && ends(&inside[place + 1..]));
        let place = places.next()?;
        return Some((unescaped(&inside[..place]).into(), &inside[place + 1..]));
    }
    // Anything that is not a valid literal is read below as a text up to the next argument.
    if text.starts_with(['[', '{'])
        && let Some((value, length)) = literal_prefix(text)
        && ends(&text[length..])
    {
        return Some((value, &text[length..]));
    }
    let place = text.char_indices().map(|(place, _)| place).find(|place| ends(&text[*place..]))?;
    let (value, rest) = text.split_at(place);
    Some((value.trim_end_matches(is_space).into(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python::repr;

    fn check(text: &str, expected: &str) {
        let found =
            read(text).map(|(name, arguments)| format!("{name} {}", repr(&PythonValue::Dict(arguments))));
        assert_eq!(found.as_deref(), Some(expected), "{text}");
    }

    #[test]
    fn calls_are_read_by_their_syntax() {
        check("So: [A(x='1', y = \"two words\")] done", "A {'x': '1', 'y': 'two words'}");
        check("[A(x='', y='2')]", "A {'x': '', 'y': '2'}");
        check("[A(x='it's', y='2')]", "A {'x': \"it's\", 'y': '2'}");
        check("[A(x='['a', 'b']', y='c, d')]", "A {'x': \"['a', 'b']\", 'y': 'c, d'}");
        check("[A(x=['a', 'b'], y=-3)]", "A {'x': ['a', 'b'], 'y': '-3'}");
        check("[A(x=40.7128, y=Morning Routine)]", "A {'x': '40.7128', 'y': 'Morning Routine'}");
        check("[A (x='1',\n y='2',)\n]", "A {'x': '1', 'y': '2'}");
        check("[A('1', 2, x='3')]", "A {'x': '3'}");
        check("[not] [A(x='1')] [B(y='2')]", "A {'x': '1'}");
        check("[A()]", "A {}");
        check("[A(x='a\\'b)]', y='')]", "A {'x': \"a'b)]\", 'y': ''}");
    }

    #[test]
    fn what_is_no_call_is_none() {
        let long = format!("[A(x='{}')]", "a".repeat(MAX_CALL));
        for text in ["A(x='1')", "[A(x='1')", "[A(x='1)]", "[(x='1')]", "[A]", "", &long] {
            assert_eq!(read(text), None, "{text:.40}");
        }
    }
}
