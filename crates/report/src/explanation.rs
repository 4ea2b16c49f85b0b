//! A verdict in plain words, for text reports. Texts from the case, the agent and other outside sources are passed
//! through unchanged; each report escapes them itself.

use planproof_suite::runs::{in_one_line, one_line};
use planproof_suite::{Content, Explanation, Fact, Period};

/// Maximum number of characters in one line of an explanation; a run can have thousands of calls.
pub(crate) const LINE_CHARACTERS_MAX: usize = 2000;

/// Most lines of one fact below its first one.
const LINES_BELOW_MAX: usize = 40;

/// A line of an explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplanationLine {
    /// What it is about.
    pub label: &'static str,
    /// What there is to say: without line breaks, and, but for a number of times, at most 2,000
    /// characters.
    pub text: String,
    /// Its end says most, so that it is cut in the middle where there is little room.
    pub keeps_end: bool,
    /// The lines below it, such as those of a program or the days of a journey: at most [`LINES_BELOW_MAX`], each like
    /// the text.
    pub below: Vec<String>,
}

/// Everything besides class and text, a line each; equal ones in a row are one, with their number.
pub fn lines(explained: &Explanation) -> Vec<ExplanationLine> {
    let line = |fact: &Fact| {
        let keeps_end = matches!(fact.content, Content::Ends(_));
        let (first, mut below) = match &fact.content {
            Content::Code(text) => in_lines(text.lines().map(str::to_owned)),
            Content::Timeline(periods) => in_lines(periods.iter().map(Period::to_text)),
            other => (other.to_text(), Vec::new()),
        };
        let text = match keeps_end {
            true => short_in_the_middle(&in_one_line(&first), LINE_CHARACTERS_MAX),
            false => short(&one_line(&first), LINE_CHARACTERS_MAX),
        };
        for line in &mut below {
            // Blanks at the beginning are part of a program.
            let shown: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            *line = short(shown.trim_end(), LINE_CHARACTERS_MAX);
        }
        ExplanationLine { label: fact.label, text, keeps_end, below }
    };
    let lines: Vec<ExplanationLine> = explained.facts.iter().map(line).collect();
    let runs = lines.chunk_by(|one, next| one == next).map(|run| match run.len() {
        1 => run[0].clone(),
        times => ExplanationLine { text: format!("{} ({times} times)", run[0].text), ..run[0].clone() },
    });
    runs.collect()
}

/// The first line, and those below it.
fn in_lines(mut lines: impl Iterator<Item = String>) -> (String, Vec<String>) {
    let first = lines.next().unwrap_or_default();
    let mut below: Vec<String> = lines.by_ref().take(LINES_BELOW_MAX).collect();
    if lines.next().is_some() {
        below.push("…".to_owned());
    }
    (first, below)
}

/// The text with the marked passages between « and », followed by the lines of the explanation.
pub(crate) fn full_text(explained: &Explanation) -> String {
    let mut out = String::new();
    for (words, mark) in explained.pieces() {
        out += &if mark.is_some() { format!("«{words}»") } else { words.to_owned() };
    }
    out += "\n\n";
    for ExplanationLine { label, text, below, .. } in lines(explained) {
        out += &labelled(label, &text);
        for line in below {
            out += &format!("{:<9} {line}\n", "");
        }
    }
    out
}

/// A line with a label and a text; several texts are put one below the other.
pub(crate) fn labelled(label: &str, text: &str) -> String {
    format!("{:<9} {text}\n", format!("{label}:"))
}

/// At most `most` characters, with a mark where text was left out in the middle: the end of a program's output is
/// the most informative, and the beginning shows what it is about.
pub fn short_in_the_middle(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    // A quarter for the beginning, one character for the mark, and the rest for the end.
    let head = most / 4;
    let tail = most.saturating_sub(head + 1);
    text.chars().take(head).chain(['…']).chain(text.chars().skip(count - tail)).collect()
}

/// At most `most` characters, with a mark if text was left out.
pub(crate) fn short(text: &str, most: usize) -> String {
    // Looks at `most` characters at most, however long the text is.
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_with_a_mark() {
        for (text, most, expected) in [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("äöü", 2, "ä…"), ("", 0, "")]
        {
            assert_eq!(short(text, most), expected);
        }
        for (text, most, expected) in
            [("abc", 3, "abc"), ("abcdefghi", 8, "ab…efghi"), ("äöüäö", 4, "ä…äö"), ("", 0, "")]
        {
            assert_eq!(short_in_the_middle(text, most), expected);
        }
    }
}
