//! The entry parsers that the tools and the evaluator share: cities with an optional state, legs, and names with a
//! city.
//!
//! They return what three regular expressions of the published code match, but without regular expressions and in
//! `O(n log n)` time for any text.

use planproof_measure::python::{is_space, strip};

/// Stands for a name and a city that cannot be parsed.
pub const NOTHING: &str = "-";

/// The text before a part in parentheses that opens and closes on the first line, or the whole text if there is none.
/// Blanks before the parenthesis are kept, so `Charlotte (NC)` gives `Charlotte ` with a trailing blank.
pub fn strip_parenthesis(text: &str) -> &str {
    let line = text.split('\n').next().unwrap_or(text);
    // It is enough to look at the first `(`: if no `)` comes after it, none comes after a later one.
    match line.split_once('(') {
        Some((before, after)) if after.contains(')') => before,
        _ => text,
    }
}

/// The two ends of a leg such as `Taxi, from Reno to Elko, cost: 3`: the text between the first `from` and the next
/// `to`, and the text after that up to a comma. Neither is trimmed, and `from` may be the end of another word.
pub fn from_to(text: &str) -> Option<(&str, &str)> {
    // Collected once, so that each `from` costs binary searches instead of another scan of the text.
    let ends = Ends::of(text);
    let mut begin = 0;
    while let Some(at) = text[begin..].find("from") {
        let after = begin + at + "from".len();
        if let Some(found) = ends.first(text, after) {
            return Some(found);
        }
        begin = after;
    }
    None
}

/// Where the first of two cities may end: before blanks, `to`, blanks, and some text before the next comma.
struct Ends {
    /// Byte offsets in ascending order, each with the offset of the second city.
    all: Vec<(usize, usize)>,
    line_breaks: Vec<usize>,
}

impl Ends {
    fn of(text: &str) -> Self {
        let mut all = Vec::new();
        // The blanks directly before the current character. The first city can end before any of them.
        let mut run: Vec<usize> = Vec::new();
        for (at, it) in text.char_indices() {
            if is_space(it) {
                run.push(at);
                continue;
            }
            if it == 't'
                && !run.is_empty()
                && text[at..].starts_with("to")
                && let Some(second) = second_begin(text, at + "to".len())
            {
                all.extend(run.iter().map(|&end| (end, second)));
            }
            run.clear();
        }
        Self { all, line_breaks: text.match_indices('\n').map(|(at, _)| at).collect() }
    }

    /// The two cities if `from` ends at this offset. Blanks before the first city belong to it only if nothing else
    /// matches.
    fn first<'t>(&self, text: &'t str, after: usize) -> Option<(&'t str, &'t str)> {
        let rest = &text[after..];
        let blanks = rest.len() - rest.trim_start_matches(is_space).len();
        let begins = rest[..blanks].char_indices().skip(1).map(|(at, _)| after + at);
        let begins: Vec<usize> = begins.chain((blanks > 0).then_some(after + blanks)).collect();
        for &begin in begins.iter().rev() {
            // The first city has at least one character, so it cannot end where it begins.
            let at = self.all.partition_point(|&(end, _)| end <= begin);
            let Some(&(end, second)) = self.all.get(at) else { continue };
            // `.` in the published pattern matches no line break, so the first city does not reach across one.
            let next_break = self.line_breaks.partition_point(|&line_break| line_break < begin);
            if self.line_breaks.get(next_break).is_some_and(|&line_break| line_break < end) {
                continue;
            }
            let until = text[second..].find(',').map_or(text.len(), |comma| second + comma);
            return Some((&text[begin..end], &text[second..until]));
        }
        None
    }
}

/// Where the second city begins, if `to` ends at this offset.
fn second_begin(text: &str, after: usize) -> Option<usize> {
    let rest = &text[after..];
    let trimmed = rest.trim_start_matches(is_space);
    let blanks = &rest[..rest.len() - trimmed.len()];
    let (last, it) = blanks.char_indices().next_back()?;
    if trimmed.is_empty() || trimmed.starts_with(',') {
        // In this case the last of several blanks is the city.
        return (last > 0).then_some(after + last);
    }
    Some(after + last + it.len_utf8())
}

/// The name and the city of an entry such as `Cafe Gil, Reno`, both trimmed, or [`NOTHING`] twice if no comma is
/// followed by text. The name starts on the line of the last comma.
pub fn name_city(text: &str) -> (&str, &str) {
    match text.rsplit_once(',') {
        Some((name, city)) if !city.is_empty() => {
            let name = name.rsplit('\n').next().unwrap_or(name);
            (strip(name), strip(strip_parenthesis(strip(city))))
        }
        _ => (NOTHING, NOTHING),
    }
}

/// The flight number of a transportation entry: the text after `Flight Number: ` up to a comma.
pub fn flight_number(text: &str) -> Option<&str> {
    const LABEL: &str = "Flight Number: ";
    let (_, after) = text.split_once(LABEL)?;
    // Python's `split(LABEL)[1]` ends at a second label.
    let part = after.split(LABEL).next().unwrap_or(after);
    part.split(',').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parenthesis_is_cut_off_with_what_follows() {
        assert_eq!(strip_parenthesis("Charlotte (NC)"), "Charlotte ");
        assert_eq!(strip_parenthesis("Charlotte(NC) x (y)"), "Charlotte");
        assert_eq!(strip_parenthesis("Charlotte (NC"), "Charlotte (NC");
        assert_eq!(strip_parenthesis("Charlotte )("), "Charlotte )(");
        assert_eq!(strip_parenthesis(""), "");
    }

    #[test]
    fn legs_are_found_as_by_the_pattern() {
        let cases = [
            ("from Reno to Elko", Some(("Reno", "Elko"))),
            ("Taxi, from Reno to Elko, cost: 3", Some(("Reno", "Elko"))),
            ("from Reno to Elko by car", Some(("Reno", "Elko by car"))),
            ("Flight, from Reno to Elko ", Some(("Reno", "Elko "))),
            ("upfrom  Reno  to  Elko", Some(("Reno", "Elko"))),
            ("from Reno to , x to Elko", Some(("Reno to , x", "Elko"))),
            ("from Reno to  ", Some(("Reno", " "))),
            ("from   to Elko", Some((" ", "Elko"))),
            ("from to Elko", None),
            ("from Reno\nto Elko", Some(("Reno", "Elko"))),
            ("from Re\nno to Elko", None),
            ("from a\nfrom Reno to Elko", Some(("Reno", "Elko"))),
            ("From Reno to Elko", None),
            ("from Reno", None),
            ("from Reno -> Elko", None),
            ("from Torino to to", Some(("Torino", "to"))),
        ];
        for (text, found) in cases {
            assert_eq!(from_to(text), found, "{text:?}");
        }
    }

    #[test]
    fn names_and_cities_are_split_at_the_last_comma() {
        let cases = [
            ("Cafe Gil, Reno", ("Cafe Gil", "Reno")),
            ("Gil, Son & Co., Reno (NV)", ("Gil, Son & Co.", "Reno")),
            (", Reno", ("", "Reno")),
            ("Cafe,Reno", ("Cafe", "Reno")),
            ("Cafe Gil", (NOTHING, NOTHING)),
            ("Cafe Gil,", (NOTHING, NOTHING)),
            ("Cafe Gil, ", ("Cafe Gil", "")),
            ("Cafe\nGil, Reno", ("Gil", "Reno")),
            ("Cafe Gil, Reno.", ("Cafe Gil", "Reno.")),
            ("Cafe Gil, Reno; Cost: 4", ("Cafe Gil", "Reno; Cost: 4")),
        ];
        for (text, found) in cases {
            assert_eq!(name_city(text), found, "{text:?}");
        }
    }

    #[test]
    fn flight_numbers_end_at_a_comma() {
        assert_eq!(flight_number("Flight Number: F12, from A to B"), Some("F12"));
        assert_eq!(flight_number("Flight Number: F12"), Some("F12"));
        assert_eq!(flight_number("flight number: F12"), None);
    }
}
