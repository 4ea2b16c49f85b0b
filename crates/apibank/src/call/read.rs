//! Calls by their syntax.

use super::literal::{literal_prefix, unescaped};
use crate::python::{is_space, is_word};
use crate::value::{Dict, PythonValue};

/// The maximum length of a call in bytes. There is a limit because the end of a value is found by trial.
const MAX_CALL: usize = 16 * 1024;

/// The maximum number of places in a text at which a call seems to begin and is looked for.
const MAX_BEGINNINGS: usize = 100;

/// The maximum number of arguments of a call, also of those without names.
const MAX_ARGUMENTS: usize = 100;

/// The first call in a text: `[Name(key='value', ...)]`, with spaces and line breaks wherever they make sense.
///
/// A quoted value ends at a quote after which the call continues or ends, so it may contain apostrophes, brackets and
/// commas, and may be empty. Unquoted values are lists, dictionaries, or texts up to the next argument. Values
/// without names are skipped, and if a name occurs twice, the last value counts. Arguments are texts, except for
/// unquoted lists and dictionaries. Calls beyond the limits of this module are not found.
pub fn read(text: &str) -> Option<(String, Dict)> {
    // A bracket that begins no complete call is skipped: models also write lists and remarks in brackets.
    let beginnings = text.match_indices('[').filter_map(|(start, _)| {
        let rest = text[start + 1..].trim_start_matches(is_space);
        let (name, rest) = word(rest)?;
        Some((name, rest.trim_start_matches(is_space).strip_prefix('(')?))
    });
    // Each of them may take all the bytes of a call, so a text of many would take long.
    let mut beginnings = beginnings.take(MAX_BEGINNINGS);
    beginnings.find_map(|(name, rest)| Some((name.to_owned(), arguments(cut(rest))?)))
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
    let mut count = 0;
    while !is_closed(rest) {
        // A value in brackets is read to its end before it turns out to be a text, which is why the number is limited.
        count += 1;
        if count > MAX_ARGUMENTS {
            return None;
        }
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
    // Spaces before an end belong to it, so the first place of an end never follows a space. To skip such places keeps
    // many spaces from being trimmed once for each of them.
    let mut places = text.char_indices().map(|(place, _)| place);
    let place = places.find(|place| !text[..*place].ends_with(is_space) && ends(&text[*place..]))?;
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

    #[test]
    fn the_work_for_a_text_is_limited() {
        // None of these can be closed within the bytes of a call.
        let open = format!("[a(x{}", " ".repeat(MAX_CALL));
        let call = "[A(x='1')]";
        assert!(read(&(open.repeat(MAX_BEGINNINGS - 1) + call)).is_some());
        assert_eq!(read(&(open.repeat(MAX_BEGINNINGS) + call)), None);
        // Brackets that are not a beginning are not counted.
        assert!(read(&("[1] [a] (b) ".repeat(MAX_BEGINNINGS) + call)).is_some());
        let call = |count: usize| format!("[A({})]", vec!["x='1'"; count].join(", "));
        assert!(read(&call(MAX_ARGUMENTS)).is_some());
        assert_eq!(read(&call(MAX_ARGUMENTS + 1)), None);
        // Each of its calls would be read over and over, and each of their values to its end.
        assert_eq!(read(&"[a(, x=['".repeat(150)), None);
        assert_eq!(read(&("[a(".repeat(2_700) + &" ".repeat(8_000))), None);
    }

    #[test]
    fn spaces_before_an_end_are_no_part_of_a_value() {
        check("[A(x=two  words \t\n , y=3  )  ]", "A {'x': 'two  words', 'y': '3'}");
        check("[A(x=   , y= \u{3000} )]", "A {'x': '', 'y': ''}");
        check("[A(x= a , b   , y=1)]", "A {'x': 'a , b', 'y': '1'}");
        check("[A( 1 , 2 , x=3)]", "A {'x': '3'}");
    }
}
