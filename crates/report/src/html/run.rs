//! One run of one case: its text with the marked words, what was required, what was done and what would have been
//! right.

use maud::{Markup, html};
use planproof_suite::{Check, CheckState, Content, Explanation, Fact, Mark, SequenceStep};

use super::parts::NAME_CHARACTERS_MAX;
use super::text::{Foreign, count, counted};
use super::{bars, graph, map, timeline};
use crate::campaign::capitalised;

/// Maximum number of characters shown of a text; that of a case of 64 actions has about half as many.
const TEXT_CHARACTERS_MAX: usize = 20_000;
/// Maximum number of characters shown of the words that state a requirement.
const WORDS_CHARACTERS_MAX: usize = 400;
/// Maximum number of places shown that state the same requirement.
const SOURCES_MAX: usize = 3;
/// Maximum number of requirements shown of one case.
const CHECKS_MAX: usize = 200;
/// Maximum number of steps shown of a sequence, and of facts with one label, because an agent can run for long.
const STEPS_MAX: usize = 100;
/// Maximum number of characters shown of why a run ended or a call was refused.
const REASON_CHARACTERS_MAX: usize = 300;

/// What went wrong, in one line.
pub(super) fn gist(explained: &Explanation) -> Markup {
    html! { (Foreign::both_ends(&explained.gist, REASON_CHARACTERS_MAX)) }
}

/// The text of the case. Each `mark` contains exactly the words of a marked place; `data-constraint` names the
/// requirements stated there, and the title says why it is marked.
pub(super) fn text(explained: &Explanation) -> Markup {
    let (pieces, left_out) = pieces(explained);
    html! {
        p.paragraph {
            @for (text, mark) in pieces {
                @match mark {
                    None => (Foreign::whole(text)),
                    Some(mark) if mark.checks.is_empty() && mark.title.is_empty() => mark { (Foreign::whole(text)) },
                    Some(mark) => {
                        mark data-constraint=(ids(mark)) title=(Foreign::short(&mark.title, REASON_CHARACTERS_MAX)) {
                            (Foreign::whole(text))
                        }
                    },
                }
            }
            @if left_out > 0 { "… (" (count(left_out)) " more characters)" }
        }
    }
}

/// A text with the words at these places marked; the places are in order and do not overlap.
pub(super) fn marked(words: &str, places: &[[u32; 2]]) -> Markup {
    let mark = |[start, end]: &[u32; 2]| {
        let (checks, title) = Default::default();
        Mark { start: *start, end: *end, checks, title }
    };
    let (text_of, marks) = (words.to_owned(), places.iter().map(mark).collect());
    text(&Explanation { text: text_of, marks, ..Explanation::default() })
}

fn ids(mark: &Mark) -> String {
    let ids = mark.checks.iter().take(CHECKS_MAX).map(|id| Foreign::short(id, NAME_CHARACTERS_MAX));
    ids.map(|id| id.as_str().to_owned()).collect::<Vec<_>>().join(" ")
}

/// The pieces of a text as far as there is room for them, and the number of characters omitted at its end. A mark
/// that does not fit is dropped.
fn pieces(explained: &Explanation) -> (Vec<(&str, Option<&Mark>)>, u64) {
    let (mut room, mut left_out) = (TEXT_CHARACTERS_MAX, 0);
    let mut shown = Vec::new();
    for (text, mark) in explained.pieces() {
        let characters = text.chars().count();
        match text.char_indices().nth(room) {
            None => shown.push((text, mark)),
            // Once the room is used up, further pieces are cut to nothing, which `retain` removes.
            Some((cut, _)) => {
                shown.push((&text[..cut], None));
                left_out += (characters - room) as u64;
            }
        }
        room = room.saturating_sub(characters);
    }
    shown.retain(|(text, mark)| mark.is_some() || !text.is_empty());
    (shown, left_out)
}

/// The CSS class of a requirement with this state.
fn state_class(state: CheckState) -> &'static str {
    match state {
        CheckState::Violated | CheckState::InConflict => "violated",
        CheckState::Undetermined | CheckState::Unjudged => "undetermined",
        CheckState::Held => "held",
    }
}

/// Everything that is shown of a run: the text, the facts, the requirements, and the trace, if it has one.
pub(super) fn whole(explained: &Explanation, trace: Option<&Markup>) -> Markup {
    html! {
        (text(explained))
        (facts(explained))
        @if explained.checks.is_empty() {
            (pictures(explained))
            @if let Some(trace) = trace { h5 { "Trace" } (trace) }
        } @else if let Some(trace) = trace {
            div.columns {
                div { h5 { "Constraints" } (pictures(explained)) (checks(explained)) }
                div { h5 { "Trace" } (trace) }
            }
        } @else {
            h5 { "Constraints" } (pictures(explained)) (checks(explained))
        }
    }
}

/// Pictures of what was required and done, if there are any.
pub(super) fn pictures(explained: &Explanation) -> Markup {
    html! {
        @if let Some(shown) = &explained.graph { div.picture { (graph::draw(shown)) } }
        @if let Some(shown) = &explained.bars { div.picture { (bars::draw(shown)) } }
    }
}

/// The requirements, as sentences.
pub(super) fn checks(explained: &Explanation) -> Markup {
    check_list(&explained.checks.iter().collect::<Vec<_>>())
}

/// The violated requirements, as sentences.
pub(super) fn broken_checks(explained: &Explanation) -> Markup {
    check_list(&explained.checks.iter().filter(|check| check.state.is_broken()).collect::<Vec<_>>())
}

/// A list of requirements. If the same words state several of them, as in lists, the words are shown once for all
/// of them.
fn check_list(checks: &[&Check]) -> Markup {
    let mut groups: Vec<Vec<&Check>> = Vec::new();
    for check in checks.iter().take(CHECKS_MAX) {
        let alike = groups
            .iter_mut()
            .find(|group| group[0].state == check.state && group[0].sources == check.sources);
        match alike {
            Some(group) => group.push(check),
            None => groups.push(vec![check]),
        }
    }
    html! {
        ul.constraints {
            @for group in &groups { (check_group(group)) }
        }
        @if let Some(more @ 1..) = checks.len().checked_sub(CHECKS_MAX) {
            p.note { (count(more as u64)) " more constraints are left out here." }
        }
    }
}

fn check_group(group: &[&Check]) -> Markup {
    let Some(first) = group.first() else { return Markup::default() };
    let [sign, word] = first.state.words();
    let name = |text| Foreign::short(text, NAME_CHARACTERS_MAX);
    let ids: Vec<Foreign<'_>> = group.iter().map(|check| name(&check.id)).collect();
    html! {
        li.(state_class(first.state)) data-constraint=(ids.iter().map(Foreign::as_str).collect::<Vec<_>>().join(" ")) {
            span.state { span aria-hidden="true" { (sign) } " " (word) } " "
            div.pairs-stated {
                @for (check, id) in group.iter().zip(&ids) {
                    p { b { (name(&check.subject)) } " " (name(&check.demand)) " " span.id { (id) } }
                }
            }
            " "
            div.source {
                @for source in first.sources.iter().take(SOURCES_MAX) {
                    q { (Foreign::short(source, WORDS_CHARACTERS_MAX)) } " "
                }
                @if let Some(more @ 1..) = first.sources.len().checked_sub(SOURCES_MAX) {
                    "and in " (counted(more as u64, "more place", "more places"))
                }
            }
        }
    }
}

/// What was called, what would have been right, and the rest of the verdict. Violations are shown with the
/// requirements, if there are any.
pub(super) fn facts(explained: &Explanation) -> Markup {
    let facts = explained.facts.iter().filter(|fact| fact.label != "violated" || explained.checks.is_empty());
    let mut groups: Vec<Vec<&Fact>> = Vec::new();
    for fact in facts {
        match groups.last_mut() {
            Some(group) if group[0].label == fact.label => group.push(fact),
            _ => groups.push(vec![fact]),
        }
    }
    html! {
        dl.facts {
            @for group in &groups {
                dt { (capitalised(group[0].label)) }
                @if let [fact] = group.as_slice() {
                    dd.right[fact.label == "right"] { (content(&fact.content)) }
                } @else {
                    dd {
                        @for fact in group.iter().take(STEPS_MAX) { p { (content(&fact.content)) } }
                        @if let Some(more @ 1..) = group.len().checked_sub(STEPS_MAX) {
                            p { "and " (count(more as u64)) " more" }
                        }
                    }
                }
            }
        }
    }
}

fn content(content: &Content) -> Markup {
    html! {
        @match content {
            Content::Text(text) => (Foreign::short(text, REASON_CHARACTERS_MAX)),
            Content::Code(text) => pre { (Foreign::short(text, REASON_CHARACTERS_MAX)) },
            Content::Ends(text) => (Foreign::both_ends(text, REASON_CHARACTERS_MAX)),
            Content::Steps(steps) => (sequence(steps)),
            Content::Map(map) => (map::draw(map)),
            Content::Timeline(periods) => (timeline::list(periods)),
        }
    }
}

/// Steps, with the wrong one marked. Equal adjacent steps are counted.
fn sequence(steps: &[SequenceStep]) -> Markup {
    if steps.is_empty() {
        return html! { "nothing" };
    }
    let is_alike = |one: &SequenceStep, next: &SequenceStep| {
        // The first wrong step begins a row even after equal steps, so that its mark does not include those.
        one.text == next.text && one.when == next.when && !next.is_wrong
    };
    let rows: Vec<&[SequenceStep]> = steps.chunk_by(is_alike).collect();
    html! {
        ol.plan {
            @for row in rows.iter().take(STEPS_MAX) {
                @if row[0].is_wrong {
                    li.wrong title="first wrong call" {
                        (step(&row[0])) span.unseen { " (first wrong call)" } (times(row.len()))
                    }
                } @else {
                    li { (step(&row[0])) (times(row.len())) }
                }
            }
        }
        @if let Some(more @ 1..) = rows.len().checked_sub(STEPS_MAX) { " and " (count(more as u64)) " more" }
    }
}

fn step(step: &SequenceStep) -> Markup {
    html! {
        (Foreign::short(&step.text, NAME_CHARACTERS_MAX))
        @if let Some(when) = &step.when { " " span.quiet { (Foreign::short(when, NAME_CHARACTERS_MAX)) } }
    }
}

fn times(repeats: usize) -> Markup {
    html! { @if repeats > 1 { span.quiet { " ×\u{a0}" (repeats) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_too_long_is_cut_before_the_mark_that_does_not_fit() {
        let mark = |start, end| Mark { start, end, checks: Vec::new(), title: String::new() };
        let long = TEXT_CHARACTERS_MAX as u32;
        let text = "x".repeat(TEXT_CHARACTERS_MAX + 7);
        let marks = vec![mark(1, 2), mark(long - 1, long + 1)];
        let explained = Explanation { text, marks, ..Explanation::default() };
        let (found, left_out) = pieces(&explained);
        assert_eq!(found.iter().map(|(text, _)| text.len()).sum::<usize>(), TEXT_CHARACTERS_MAX);
        assert_eq!(found.iter().filter(|(_, mark)| mark.is_some()).count(), 1);
        assert_eq!(left_out, 7);
    }
}
