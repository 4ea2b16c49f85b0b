//! The short answer in an agent's text.

use planproof_measure::ANSWER_MARK;

/// The beginning of the answer's line, which the agent is asked to write; in any case.
pub const ANSWER_LINE: &str = "Answer:";

/// The short answer in an agent's answer. It is the line after the last [`ANSWER_MARK`] or, without a mark or if that
/// line is empty, the text after [`ANSWER_LINE`] in the last line that begins with it, or the whole text; trimmed.
/// (Ours: the published code compares the agent's whole text, and its agents saw the form in worked examples.)
pub fn short_answer(text: &str) -> &str {
    let marked = text.rsplit_once(ANSWER_MARK).map(|(_, rest)| rest.trim_start());
    let marked = marked.and_then(|rest| rest.lines().next()).map(str::trim).filter(|line| !line.is_empty());
    let text = marked.unwrap_or(text);
    // Even a marked answer may carry the label.
    text.lines().rev().find_map(behind_label).unwrap_or_else(|| text.trim())
}

/// The text after the label in a line that begins with it. Bold marks around the label are ignored.
fn behind_label(line: &str) -> Option<&str> {
    let line = line.trim().trim_start_matches('*');
    // The label is ASCII, so a text whose character is cut here does not begin with it.
    let head = line.get(..ANSWER_LINE.len())?;
    let rest = line.get(ANSWER_LINE.len()..)?;
    let rest = rest.trim_start_matches('*').trim();
    (head.eq_ignore_ascii_case(ANSWER_LINE) && !rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_answers_are_found() {
        for (text, expected) in [
            (" Paris\n", "Paris"),
            ("It lies in France.\nanswer: Paris ", "Paris"),
            ("Answer: Rome\nNo.\n**Answer:** Paris", "Paris"),
            ("[Thought] x\n[Answer] Paris\n[Question] y", "Paris"),
            ("[Answer]\nAnswer: Paris", "Paris"),
            ("[Answer] \n", "[Answer]"),
            ("Answer:", "Answer:"),
            ("Answer\u{e9}: x", "Answer\u{e9}: x"),
            ("", ""),
        ] {
            assert_eq!(short_answer(text), expected, "{text:?}");
        }
    }
}
