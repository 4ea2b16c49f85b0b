//! Words and lines for people: counts with their nouns, times, texts cut to a length or wrapped for the terminal.

use std::fmt::Display;

use crate::terminal;

/// Characters of a line where stdout is not a terminal.
pub const WIDTH: usize = 80;

/// A number with its noun, which takes an "s" unless it is one: "1 case", "2 cases".
pub fn counted<T: Copy + Display + PartialEq + From<u8>>(count: T, noun: &str) -> String {
    let plural = if count == T::from(1) { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// At most `most` characters, in one line, with a mark where something was left out.
pub fn short(text: &str, most: usize) -> String {
    // No more than is shown is processed: a foreign text can be long.
    let text = terminal::inline(&text.chars().take(most + 1).collect::<String>());
    if text.chars().count() <= most {
        return text;
    }
    let mut cut: String = text.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// A word with a capital letter.
pub fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// A share as per cent, without the sign: 0.125 is "12.5".
pub fn percent(rate: f64) -> String {
    format!("{:.1}", rate * 100.0)
}

/// A time in seconds as people read it.
pub fn seconds(seconds: f64) -> String {
    // Rounded to what each unit shows before the unit is chosen, so that none shows as much as the next one begins
    // with ("60.0 s").
    let rounded = |parts: f64| (seconds * parts).round_ties_even();
    let (micros, tenths_of_millis, tenths) = (rounded(1e6), rounded(1e4), rounded(10.0));
    if micros < 1000.0 {
        format!("{micros:.0} µs")
    } else if tenths_of_millis < 10_000.0 {
        format!("{:.1} ms", tenths_of_millis / 10.0)
    } else if tenths < 600.0 {
        format!("{:.1} s", tenths / 10.0)
    } else {
        format!("{}:{:04.1}", (tenths / 600.0) as u64, tenths % 600.0 / 10.0)
    }
}

/// Most characters of a line of text in a wide terminal: longer lines are hard to read.
const TEXT_COLUMNS_MAX: usize = 120;

/// The characters of a line of text: as many as the terminal has room for, `elsewhere` if stdout is none.
pub fn text_columns(elsewhere: usize) -> usize {
    terminal::columns().map_or(elsewhere, |columns| usize::from(columns).min(TEXT_COLUMNS_MAX))
}

/// A text whose lines are wrapped for a terminal, and whole elsewhere.
pub fn text(text: &str) -> String {
    text.split('\n').map(|line| folded("", line, 0)).collect::<Vec<_>>().join("\n")
}

/// A line that is wrapped for a terminal, with blanks before what does not fit its first line, and whole elsewhere.
pub fn folded(begin: &str, text: &str, indent: usize) -> String {
    wrapped(begin, text, text_columns(usize::MAX), indent)
}

/// A text of several sentences, which is wrapped wherever it goes.
pub fn paragraph(text: &str) -> String {
    wrap(text, text_columns(WIDTH))
}

/// A line of a result: what it is about, and what there is to say.
pub fn labelled_line(name: &str, text: &str) -> String {
    folded(&format!("{name:<11} "), text, FACT_INDENT) + "\n"
}

/// Characters before the text of a fact.
pub const FACT_INDENT: usize = 12;

/// Breaks lines at blanks so that they have at most `width` characters where words allow; styles count as none.
pub(crate) fn wrap(text: &str, width: usize) -> String {
    wrapped("", text, width, 0)
}

/// The same for a text after the beginning of a line; the lines below begin with `indent` blanks.
pub fn wrapped(begin: &str, text: &str, width: usize, indent: usize) -> String {
    let text = terminal::before_wrapping(text);
    let mut out = begin.to_owned();
    let mut column = terminal::width(begin);
    let mut start = column;
    let mut style: Option<&str> = None;
    for word in text.split(' ') {
        let length = terminal::width(word);
        // The first word of a line stays even if it is too long, because no other line has more room.
        if column > start && column.saturating_add(1 + length) > width {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out += &" ".repeat(indent);
            // A style ends with its line.
            if let Some(codes) = style {
                out += &terminal::style_begin(codes);
            }
            (column, start) = (indent, indent);
        } else if column > start {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
        if let Some(codes) = terminal::last_style(word) {
            style = (codes != "0").then_some(codes);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks() {
        assert_eq!(wrap("aa bb cc", 5), "aa bb\ncc");
        assert_eq!(wrap("aaaaaaaa b", 5), "aaaaaaaa\nb");
        assert_eq!(wrapped("a: ", "bb cc dddd e", 8, 3), "a: bb cc\n   dddd\n   e");
        assert_eq!(wrapped("long: ", "bb cc", 5, 2), "long: bb\n  cc");
        assert_eq!(wrapped("a: ", "bb cc", usize::MAX, 3), "a: bb cc");
        // What is marked stays so on the lines below.
        let [begin, end] = ["1;31", "0"].map(terminal::style_begin);
        let marked = format!("aa {} cc", terminal::styled("1;31", "bb bb"));
        assert_eq!(wrap(&marked, 5), format!("aa {begin}bb\n{begin}bb{end} cc"));
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0_u64, 1, 2].map(|count| counted(count, "case")), ["0 cases", "1 case", "2 cases"]);
        assert_eq!(counted(1_usize, "infeasible one"), "1 infeasible one");
    }

    #[test]
    fn times_are_readable() {
        assert_eq!(seconds(0.000_25), "250 µs");
        assert_eq!(seconds(0.25), "250.0 ms");
        assert_eq!(seconds(75.25), "1:15.2");
        assert_eq!(seconds(0.0), "0 µs");
        assert_eq!(seconds(2.5), "2.5 s");
        assert_eq!(seconds(3600.0), "60:00.0");
    }

    #[test]
    fn times_are_rounded_before_their_unit_is_chosen() {
        for (time, shown) in [
            (0.000_999_4, "999 µs"),
            (0.000_999_7, "1.0 ms"),
            (0.999_94, "999.9 ms"),
            (0.999_97, "1.0 s"),
            (59.94, "59.9 s"),
            (59.96, "1:00.0"),
            (119.94, "1:59.9"),
            (119.97, "2:00.0"),
        ] {
            assert_eq!(seconds(time), shown);
        }
    }
}
