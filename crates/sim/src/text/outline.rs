//! The outline of the sections in instructions: their marks, what belongs behind them, and their order.
//!
//! ```text
//! [Thought] <what to do next>
//! Repeat the last section, [Thought], as often as needed. Then write:
//! [Answer] <the answer>
//! ```

use super::instructions::Section;
use super::order::{Formula, Kind, Role};

/// The line before an outline ends with this.
const INTRODUCTION_END: &str = "exactly as it stands here, like this:";

/// Sentences about the sections before them begin so.
const REPEAT: &str = "Repeat the last ";
const INSTEAD: &str = "Instead of the last ";

/// Ends a sentence that leads on to the next section.
const THEN: &str = " Then write:";

/// How deep parts are within others at most.
const DEPTH_MAX: usize = 100;

/// An outline, read.
#[derive(Debug)]
pub(super) struct Outline {
    pub(super) sections: Vec<Section>,
    pub(super) order: Formula,
}

/// A part of an outline, with the number of its sections and how deep it is.
struct Part {
    formula: Formula,
    sections: usize,
    depth: usize,
}

impl Outline {
    /// Finds an outline in a text, with the byte after it. `None` if there is none that is understood.
    pub(super) fn find(text: &str) -> Option<(Self, usize)> {
        let at = text.find(INTRODUCTION_END)? + INTRODUCTION_END.len();
        let rest = text[at..].trim_start_matches(['\n', '\r']);
        let begin = text.len() - rest.len();
        let length = rest.find("\n\n").map_or(rest.len(), |end| end + 1);
        let mut reader = Reader { lines: rest[..length].lines().collect(), at: 0, sections: Vec::new() };
        let parts = reader.parts(usize::MAX)?;
        let order = all(parts)?.formula;
        Some((Self { sections: reader.sections, order }, begin + length))
    }
}

struct Reader<'t> {
    lines: Vec<&'t str>,
    at: usize,
    sections: Vec<Section>,
}

impl Reader<'_> {
    /// Parts with this many sections, and the sentences about these alone.
    fn parts(&mut self, count: usize) -> Option<Vec<Part>> {
        let mut parts: Vec<Part> = Vec::new();
        while let Some(line) = self.lines.get(self.at).map(|line| line.trim_end()) {
            let so_far: usize = parts.iter().map(|part| part.sections).sum();
            let sentence = [REPEAT, INSTEAD].into_iter().find_map(|begin| line.strip_prefix(begin));
            let about = sentence.map(|rest| counted(rest).map_or(usize::MAX, |(about, _)| about));
            // A sentence about more than these sections is not a part of them.
            if so_far >= count && about.is_none_or(|about| about > so_far) {
                break;
            }
            self.at += 1;
            let part = match sentence {
                None => Part { formula: Formula::Section(self.section(line)?), sections: 1, depth: 0 },
                Some(rest) => {
                    let (about, rest) = counted(rest)?;
                    let (_, said) = rest.rsplit_once(", ")?;
                    let part = last(&mut parts, about)?;
                    if line.starts_with(REPEAT) {
                        let (min, max) = times(said.strip_suffix(THEN).unwrap_or(said).strip_suffix('.')?)?;
                        let formula = Formula::Repeated { body: Box::new(part.formula), min, max };
                        Part { formula, sections: part.sections, depth: part.depth + 1 }
                    } else {
                        let (coming, _) = counted(said.strip_prefix("you can write the next ")?)?;
                        let other = all(self.parts(coming)?).filter(|other| other.sections == coming)?;
                        Part {
                            formula: Formula::One(vec![part.formula, other.formula]),
                            sections: part.sections + other.sections,
                            depth: part.depth.max(other.depth) + 1,
                        }
                    }
                }
            };
            if part.depth > DEPTH_MAX {
                return None;
            }
            parts.push(part);
        }
        Some(parts)
    }

    /// The kind of section that a line describes.
    fn section(&mut self, line: &str) -> Option<Kind> {
        let (mark, words) = line.strip_suffix('>')?.split_once(" <")?;
        if mark.is_empty() {
            return None;
        }
        Some(self.sections.iter().position(|section| section.mark == mark).unwrap_or_else(|| {
            self.sections.push(Section::new(mark, words));
            self.sections.len() - 1
        }))
    }
}

/// The number in `section ...` and `4 sections ...`, and what follows.
fn counted(text: &str) -> Option<(usize, &str)> {
    if let Some(rest) = text.strip_prefix("section") {
        return Some((1, rest));
    }
    let (count, rest) = text.split_once(" sections")?;
    Some((count.parse().ok()?, rest))
}

/// Takes the last parts, with this many sections together.
fn last(parts: &mut Vec<Part>, count: usize) -> Option<Part> {
    let (mut at, mut sections) = (parts.len(), 0);
    while sections < count {
        at = at.checked_sub(1)?;
        sections += parts[at].sections;
    }
    (sections == count).then(|| all(parts.split_off(at)))?
}

/// Parts one after the other; `None` if there are none.
fn all(mut parts: Vec<Part>) -> Option<Part> {
    if parts.len() < 2 {
        return parts.pop();
    }
    let sections = parts.iter().map(|part| part.sections).sum();
    let depth = parts.iter().map(|part| part.depth).max()? + 1;
    let formulas = parts.into_iter().map(|part| part.formula).collect();
    Some(Part { formula: Formula::All(formulas), sections, depth })
}

/// How often a part may come.
fn times(words: &str) -> Option<(u32, Option<u32>)> {
    match words {
        "as often as needed" => return Some((0, None)),
        "once or more often" => return Some((1, None)),
        _ => {}
    }
    if let Some(min) = words.strip_suffix(" times or more often") {
        return Some((min.parse().ok()?, None));
    }
    let count = words.strip_suffix(" times in all")?;
    let (min, max) = count.split_once(" to ").unwrap_or((count, count));
    let (min, max): (u32, u32) = (min.parse().ok()?, max.parse().ok()?);
    (min <= max).then_some((min, Some(max)))
}

impl Section {
    fn new(mark: &str, words: &str) -> Self {
        // The words of the specification's author follow a semicolon, and do not matter here.
        let rules = words.split("; ").next().unwrap_or_default();
        let is_question = words.starts_with("the question, given to you");
        let is_given = is_question || words.starts_with("filled in for you");
        let role = if is_given {
            Role::Given
        } else if rules.starts_with("the name of one of the tools") {
            Role::Tool
        } else if rules.starts_with("the arguments of the tool") {
            Role::Arguments
        } else {
            Role::Other
        };
        let is_label = role == Role::Other && rules.split(", ").next() == Some("a label");
        Self { mark: mark.to_owned(), role, is_label, is_question }
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::Order;
    use super::*;

    fn outline(lines: &str) -> Option<Outline> {
        let text = format!(
            "Be kind.\n\nPlease. Each like this, exactly as it stands here, like this:\n\n{lines}\n\nTools: none\n"
        );
        let (outline, end) = Outline::find(&text)?;
        assert!(text[end..].starts_with("\nTools: none"), "{}", &text[end..]);
        Some(outline)
    }

    /// Whether sections, given by the first letters of their marks, are a complete text of the order.
    fn accepts(outline: &Outline, word: &str) -> bool {
        let order = Order::new(&outline.order).expect("it is small");
        let kind = |letter: char| {
            outline.sections.iter().position(|it| it.mark.starts_with(letter)).expect("a mark")
        };
        let end = word.chars().map(kind).fold(order.start(), |place, kind| order.after(&place, kind));
        order.is_end(&end)
    }

    #[track_caller]
    fn check(lines: &str, good: &[&str], bad: &[&str]) {
        let outline = outline(lines).expect("it is understood");
        for word in good {
            assert!(accepts(&outline, word), "{lines}: {word}");
        }
        for word in bad {
            assert!(!accepts(&outline, word), "{lines}: {word}");
        }
    }

    #[test]
    fn outlines_mean_what_they_say() {
        check("Q <q>\nB <b>\nA <a>", &["QBA"], &["", "QA", "QAB", "QBAA"]);
        check(
            "Q <q>\nA <a>\nB <b>\nRepeat the last 2 sections, from A to B, as often as needed. Then write:\nA <a>",
            &["QA", "QABA"],
            &["Q", "QAB", "QAA"],
        );
        check(
            "Q <q>\nInstead of the last section, Q, you can write the next 2 sections:\nA <a>\nB <b>\n\
             Repeat the last 3 sections, from Q to B, once or more often.",
            &["Q", "AB", "QABQ"],
            &["", "A", "QA"],
        );
        check(
            "Q <q>\nRepeat the last section, Q, 2 to 3 times in all.\nInstead of the last section, Q, you can write the \
             next section:\nA <a>\nB <b>",
            &["QQB", "QQQB", "AB"],
            &["QB", "QQQQB", "B"],
        );
        check(
            "B <b>\nInstead of the last section, B, you can write the next section:\nA <a>\n\
             Repeat the last section, A, 3 times in all.\nInstead of the last 2 sections, from B to A, you can write the \
             next section:\nQ <q>",
            &["B", "AAA", "Q"],
            &["A", "BB", "AAQ"],
        );
        check(
            "Q <q>\nRepeat the last section, Q, 0 to 1 times in all. Then write:\nA <a>\n\
             Repeat the last section, A, 2 times or more often.",
            &["AA", "QAAA"],
            &["QA", "QQAA"],
        );
        // Loops within loops that can match nothing.
        check(
            "A <a>\nRepeat the last section, A, as often as needed. Then write:\nB <b>\n\
             Repeat the last section, B, as often as needed.\nRepeat the last 2 sections, from A to B, as often as needed.",
            &["", "ABBA"],
            &[],
        );
    }

    #[test]
    fn what_is_no_outline_is_not_understood() {
        for lines in [
            "",
            "[Q]",
            "[Q] q",
            "[Q] <q",
            "Repeat the last section, [Q], as often as needed.",
            "[Q] <q>\nRepeat the last 2 sections, from [Q] to [Q], as often as needed.",
            "[Q] <q>\nRepeat the last section, [Q], 3 to 2 times in all.",
            "[Q] <q>\nInstead of the last section, [Q], you can write the next 2 sections:\n[A] <a>",
        ] {
            assert!(outline(lines).is_none(), "{lines}");
        }
        let deep = "Repeat the last section, A, as often as needed.\n".repeat(500);
        assert!(outline(&format!("A <a>\n{}", deep.trim_end())).is_none());
    }

    #[test]
    fn the_words_say_who_writes() {
        let outline = outline(
            "a - b <the question, given to you: what to do>\n[T] <the name of one of the tools, and nothing else; x>\n\
             [I] <the arguments of the tool as a JSON object>\nL: <a label, at most 3 characters; the next>\n\
             [O] <filled in for you: what it answered>\n[E] <an answer; the name of one of the tools>",
        )
        .expect("it is understood");
        let found: Vec<_> =
            outline.sections.iter().map(|it| (it.mark.as_str(), it.role, it.is_label)).collect();
        assert_eq!(
            found,
            [
                ("a - b", Role::Given, false),
                ("[T]", Role::Tool, false),
                ("[I]", Role::Arguments, false),
                ("L:", Role::Other, true),
                ("[O]", Role::Given, false),
                ("[E]", Role::Other, false),
            ]
        );
    }
}
