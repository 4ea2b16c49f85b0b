//! From the text of a page to sentences.

/// Words after which a full stop does not end a sentence, whatever follows.
const ABBREVIATIONS: [&str; 22] = [
    "Mr", "Mrs", "Ms", "Dr", "Prof", "St", "Mt", "Ft", "Gen", "Lt", "Col", "Sgt", "Capt", "Rev", "Hon",
    "Gov", "Sen", "Rep", "Fig", "vs", "cf", "ca",
];

/// The sentences of a text by our own rule, in which no sentence spans lines. A sentence ends at `.`, `!` or `?` with
/// closing marks, if a blank and no lower-case letter follows; or at the marks of Chinese and Japanese. A full stop
/// after an initial (`J. R. R.`, `U.S.`) or one of a few abbreviations does not end it. Headings (lines that begin
/// with `#` or `==`) are not sentences.
pub(super) fn own(text: &str) -> Vec<String> {
    lines(text).filter(|line| !is_heading(line)).flat_map(of_line).map(str::to_owned).collect()
}

/// The pieces of a text between line breaks and `". "`, trimmed and without empty ones.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n')
        .map(str::trim)
        .flat_map(|line| line.split(". "))
        .map(str::trim)
        .filter(|piece| !piece.is_empty())
}

/// The text up to its first heading.
pub(super) fn before_headings(text: &str) -> String {
    let before: Vec<&str> = text.split('\n').take_while(|line| !is_heading(line.trim_start())).collect();
    before.join("\n").trim().to_owned()
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn is_heading(line: &str) -> bool {
    line.starts_with("==") || line.starts_with('#')
}

fn of_line(line: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut characters = line.char_indices().peekable();
    while let Some((place, c)) = characters.next() {
        if !is_mark(c) {
            continue;
        }
        // Further marks and closing quotes belong to the sentence that they end.
        let mut end = place + c.len_utf8();
        while let Some((next, _)) = characters.next_if(|(_, next)| is_mark(*next) || is_closing(*next)) {
            end = next + line[next..].chars().next().map_or(1, char::len_utf8);
        }
        let rest = &line[end..];
        let follows = rest.trim_start();
        // A full stop that belongs to the word before it. Asked last, where a blank follows: with a search for the
        // beginning of the word at each full stop, a line without blanks would take quadratic time.
        let is_free = || {
            c == '.' && is_short(line[start..place].rsplit([' ', '(', '[', '"', '“']).next().unwrap_or(""))
        };
        let ends = if is_wide(c) {
            true
        } else {
            rest.len() > follows.len() && !follows.starts_with(char::is_lowercase) && !is_free()
        };
        // The last sentence of a line is added below, whether it has a mark or not.
        if ends && !follows.is_empty() {
            sentences.push(line[start..end].trim());
            start = end;
        }
    }
    let last = line[start..].trim();
    if !last.is_empty() {
        sentences.push(last);
    }
    sentences
}

fn is_mark(c: char) -> bool {
    matches!(c, '.' | '!' | '?') || is_wide(c)
}

/// Marks that no blank follows.
fn is_wide(c: char) -> bool {
    matches!(c, '。' | '！' | '？')
}

fn is_closing(c: char) -> bool {
    matches!(c, '"' | '\'' | '”' | '’' | ')' | ']' | '»' | '」' | '』')
}

/// Whether a full stop after this word belongs to the word.
fn is_short(word: &str) -> bool {
    let is_initial = |part: &str| {
        let mut characters = part.chars();
        characters.next().is_some_and(char::is_alphabetic) && characters.next().is_none()
    };
    // The pronoun ends sentences often enough.
    word != "I" && !word.is_empty() && (word.split('.').all(is_initial) || ABBREVIATIONS.contains(&word))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn own_sentences() {
        for (text, sentences) in [
            ("", &[][..]),
            (" \n\n", &[]),
            ("One", &["One"]),
            ("One. Two.", &["One.", "Two."]),
            ("One.Two. ", &["One.Two."]),
            ("One.  Two!\nThree? Four", &["One.", "Two!", "Three?", "Four"]),
            (
                "Dr. Smith met J. R. R. Tolkien at 3.14 p.m. yesterday.",
                &["Dr. Smith met J. R. R. Tolkien at 3.14 p.m. yesterday."],
            ),
            ("He (Mr. Y) saw U.S. President Z. It rained.", &["He (Mr. Y) saw U.S. President Z. It rained."]),
            ("So did I. It rained.", &["So did I.", "It rained."]),
            ("“Stop!” He did. (She too.) 1844 came.", &["“Stop!”", "He did.", "(She too.)", "1844 came."]),
            ("Really?! yes ... no.", &["Really?! yes ... no."]),
            ("日本。東京！終", &["日本。", "東京！", "終"]),
            ("== Life ==\n# Work\nHe lived. ", &["He lived."]),
            (". . .", &[".", ".", "."]),
        ] {
            assert_eq!(own(text), sentences, "{text}");
        }
    }

    /// With a search for the beginning of the word at each full stop, a line takes hours.
    #[test]
    fn a_line_without_blanks_takes_no_time() {
        let begun = Instant::now();
        for part in ["1.5,", "a.", "A.", "a.b\u{a0}"] {
            let line = part.repeat(1 << 20);
            assert_eq!(own(&line), [line.trim()], "{part}");
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    }

    #[test]
    fn pieces_are_cut_at_full_stops_alone() {
        let cut: Vec<&str> = pieces(" A b. C!\n\n . D. \n").collect();
        assert_eq!(cut, ["A b", "C!", "D."]);
    }

    #[test]
    fn a_summary_ends_at_a_heading() {
        assert_eq!(before_headings("a\nb\n\n== c ==\nd"), "a\nb");
        assert_eq!(before_headings("## c\nd"), "");
        assert_eq!(before_headings("a = b"), "a = b");
    }
}
