//! Continuing a text from its current end: the common part of all writers.

use super::instructions::Instructions;
use super::order::{Goal, Kind, Place, Role};
use super::sections::{Text, Written};

/// The current goal, and the sections on the way there.
pub(super) struct Plan<N> {
    pub(super) next: N,
    pub(super) goal: Goal,
    pub(super) way: Vec<Kind>,
}

/// Who decides what is written.
pub(super) trait Author {
    /// The next thing to do.
    type Next;

    fn instructions(&self) -> &Instructions;

    /// Where the text is.
    fn place(&self) -> &Place;

    /// The next goal, and how to get there. `None` if nothing can follow.
    fn plan(&self) -> Option<Plan<Self::Next>>;

    /// The content of a section. `again` means that it was written before and is to be rewritten.
    fn content(&self, kind: Kind, plan: &Plan<Self::Next>, again: bool) -> String;

    /// Takes in a section that is complete.
    fn enter(&mut self, kind: Kind, content: &str);

    /// Text before the mark of the next section; usually empty.
    fn before_mark(&self, goal: Goal, out: &mut String) {
        let _ = (goal, out);
    }
}

/// Continues a text up to where the environment has to write, the text may end, or the limit in bytes is reached.
/// Returns whether it has come to an end.
pub(super) fn go_on(author: &mut impl Author, text: &Text<'_>, bytes_max: usize, out: &mut String) -> bool {
    // The complete sections bring the author to the same state as if it had written them itself.
    let (complete, open) = text.parts();
    for section in complete {
        author.enter(section.kind, section.content.trim());
    }
    let (mut begun, mut has_break) = (text.begun, text.ends_in_break);
    // The text may have been cut anywhere, so its end may be half a mark or half a section.
    if let Some(open) = open {
        if begun.is_empty() && is_longer_mark(author, open) {
            begun = open.whole;
        } else {
            has_break = complete_open(author, open, begun.is_empty(), has_break, out);
        }
    }
    while out.len() < bytes_max {
        let Some(plan) = author.plan() else { return true };
        let Some(kind) = plan.way.first().map(|kind| begun_kind(author, *kind, begun)) else { return true };
        if begun.is_empty() {
            if !has_break {
                out.push('\n');
            }
            author.before_mark(plan.goal, out);
        }
        let mark = author.instructions().mark(kind);
        // If the mark has been begun, only its rest is written.
        out.push_str(mark.strip_prefix(begun).unwrap_or(mark));
        (begun, has_break) = ("", false);
        if author.instructions().role(kind) == Role::Given {
            // The environment writes the content, so the model stops after the mark.
            return true;
        }
        let content = author.content(kind, &plan, false);
        out.push(author.instructions().separator(kind));
        out.push_str(&content);
        author.enter(kind, &content);
    }
    false
}

/// Whether the end of a text, which looks like a section, is the beginning of a longer mark: the required one, or one
/// that may come where that section must not.
fn is_longer_mark(author: &impl Author, open: Written<'_>) -> bool {
    let instructions = author.instructions();
    let begins = |kind: Kind| {
        let mark = instructions.mark(kind);
        mark.len() > open.whole.len() && mark.starts_with(open.whole)
    };
    let wanted = author.plan().and_then(|plan| plan.way.first().copied());
    let next = instructions.order.next(author.place());
    wanted.is_some_and(begins) || (!next.contains(&open.kind) && next.into_iter().any(begins))
}

/// Completes the last section of a text, if it is incomplete. Returns whether the next output begins a line.
fn complete_open(
    author: &mut impl Author,
    open: Written<'_>,
    may_go_on: bool,
    has_break: bool,
    out: &mut String,
) -> bool {
    let content = open.content.trim_start();
    let wanted = match author.plan() {
        Some(plan) if may_go_on && author.instructions().role(open.kind) != Role::Given => {
            author.content(open.kind, &plan, content.is_empty())
        }
        _ => String::new(),
    };
    // There is other text already; it stays.
    let Some(rest) = wanted.strip_prefix(content).filter(|_| !wanted.is_empty()) else {
        author.enter(open.kind, content.trim_end());
        return has_break;
    };
    if open.content.is_empty() {
        out.push(author.instructions().separator(open.kind));
    }
    out.push_str(rest);
    author.enter(open.kind, &wanted);
    false
}

/// The kind of section whose mark is written: the required one, unless another has been begun.
fn begun_kind(author: &impl Author, wanted: Kind, begun: &str) -> Kind {
    let instructions = author.instructions();
    let is_it = |kind: &Kind| instructions.mark(*kind).starts_with(begun);
    if is_it(&wanted) {
        return wanted;
    }
    instructions.order.next(author.place()).into_iter().find(is_it).unwrap_or(wanted)
}
