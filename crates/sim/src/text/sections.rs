//! A text, split at its marks.

use super::instructions::Instructions;
use super::order::Kind;

/// A text of sections; the last one may be incomplete.
#[derive(Debug)]
pub(super) struct Text<'t> {
    sections: Vec<Written<'t>>,
    /// The beginning of a mark that stands at its end, on a line of its own.
    pub(super) begun: &'t str,
    /// What is written next begins a line.
    pub(super) ends_in_break: bool,
}

/// A section of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written<'t> {
    pub(super) kind: Kind,
    pub(super) content: &'t str,
    /// Its mark and its content.
    pub(super) whole: &'t str,
}

impl<'t> Text<'t> {
    /// Finds the marks of a text: leftmost, and the longest at each position. Takes time in proportion to the text.
    pub(super) fn split(text: &'t str, instructions: &Instructions) -> Self {
        let marks: Vec<(usize, Kind)> = find_marks(text, instructions);
        let content = |(at, kind): (usize, Kind), end: usize| Written {
            kind,
            content: &text[at + instructions.mark(kind).len()..end],
            whole: &text[at..end],
        };
        let ends = marks.iter().skip(1).map(|(at, _)| *at).chain([text.len()]);
        let mut sections: Vec<Written<'t>> =
            marks.iter().zip(ends).map(|(mark, end)| content(*mark, end)).collect();
        let tail = sections.last().map_or(text, |section| section.content);
        // The beginning of a mark counts only on a line of its own; in a text without sections, this may be the first
        // line.
        let line = match tail.rfind('\n') {
            Some(end) => tail[end + 1..].trim_start(),
            None if sections.is_empty() => tail.trim_start(),
            None => "",
        };
        let is_begun = !line.is_empty() && instructions.sections.iter().any(|it| it.mark.starts_with(line));
        let begun = if is_begun { line } else { "" };
        if let Some(last) = sections.last_mut() {
            last.content = &last.content[..last.content.len() - begun.len()];
        }
        let before = text.trim_end_matches(' ');
        Self { sections, begun, ends_in_break: before.is_empty() || before.ends_with('\n') }
    }

    /// The sections that are complete, and the last one, which may not be.
    pub(super) fn parts(&self) -> (&[Written<'t>], Option<Written<'t>>) {
        match self.sections.split_last() {
            Some((last, complete)) => (complete, Some(*last)),
            None => (&[], None),
        }
    }

    /// What the first section says.
    pub(super) fn question(&self) -> &'t str {
        self.sections.first().map_or("", |section| section.content.trim())
    }
}

fn find_marks(text: &str, instructions: &Instructions) -> Vec<(usize, Kind)> {
    // Few bytes begin a mark, so most positions need no comparison. No mark is empty: the instructions leave out such
    // sections.
    let mut begins = [false; 256];
    for section in &instructions.sections {
        begins[usize::from(section.mark.as_bytes()[0])] = true;
    }
    let mut marks = Vec::new();
    let mut at = 0;
    while let Some(offset) = text.as_bytes()[at..].iter().position(|byte| begins[usize::from(*byte)]) {
        let start = at + offset;
        // No mark begins at a byte within a character.
        let found = text.get(start..).and_then(|rest| instructions.mark_at(rest));
        at = match found {
            Some(kind) => {
                marks.push((start, kind));
                start + instructions.mark(kind).len()
            }
            None => start + 1,
        };
    }
    marks
}
