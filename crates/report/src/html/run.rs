//! One run of one case: the paragraph with the violated words marked, the constraints, what was done and what would
//! have been right.

use maud::{Markup, html};
use planproof_bench::{Outcome, violated_places};
use planproof_synth::{ActionId, Case, Class, ConflictVerdict, Flag, Source, Verdict};

use super::NAME_CHARACTERS_MAX;
use super::text::{Foreign, count, counted, seconds};
use crate::conflict::{conflict_lines, false_alarm, missed};
use crate::explanation::{day, late, order_notes, restarts, time_notes, wrong_start};
use crate::stated::{Demand, Stated, duration, span};

/// Most characters shown of a paragraph; that of 64 actions has about half as many.
const PARAGRAPH_CHARACTERS_MAX: usize = 20_000;
/// Most characters shown of the words that state a constraint.
const WORDS_CHARACTERS_MAX: usize = 400;
/// Most places shown that state the same constraint.
const SOURCES_MAX: usize = 3;
/// Most constraints of one case that are shown, and most that are named at one mark.
const CONSTRAINTS_MAX: usize = 200;
/// Most actions shown of a sequence, and most refused calls: an agent can go on for long.
const CALLS_MAX: usize = 100;
/// Most characters shown of why a run ended or a call was refused.
const REASON_CHARACTERS_MAX: usize = 300;

/// The words of an action.
pub(super) fn action<'a>(case: &'a Case, id: &'a ActionId) -> Foreign<'a> {
    let found = case.actions.iter().find(|action| action.id == *id);
    Foreign::short(found.map_or(id.as_str(), |action| &action.text), NAME_CHARACTERS_MAX)
}

/// Actions to choose from: "A, B or C"; with the earliest starts, where there are any: "A from 08:00".
pub(super) fn any_of(case: &Case, ids: &[ActionId], starts: &[u16]) -> Markup {
    html! {
        @for (place, id) in ids.iter().enumerate() {
            @if place > 0 { @if place + 1 == ids.len() { " or " } @else { ", " } }
            b { (action(case, id)) }
            @if let Some(start) = starts.get(place) { " from " (planproof_synth::clock_time(*start)) }
        }
    }
}

/// Actions one after the other: "A, B, C".
fn all_of(case: &Case, ids: &[ActionId]) -> Markup {
    html! {
        @for (place, id) in ids.iter().enumerate().take(CALLS_MAX) {
            @if place > 0 { ", " }
            (action(case, id))
        }
        @if ids.len() > CALLS_MAX { " and " (count((ids.len() - CALLS_MAX) as u64)) " more" }
    }
}

/// What went wrong, in one line.
pub(super) fn gist(case: &Case, verdict: &Verdict) -> Markup {
    let lost = lost(case, verdict);
    html! {
        @match verdict.class {
            None => "passed",
            Some(Class::Timeout) => (ended(verdict)),
            Some(Class::ActError) => {
                @if verdict.flags.contains(&Flag::AgentFailed) { "the agent broke: " (ended(verdict)) }
                @else if let Some(refused) = verdict.refused.first() {
                    "refused: " (Foreign::short(&refused.tool, NAME_CHARACTERS_MAX))
                    "; missing: " (all_of(case, &lost))
                }
            },
            Some(Class::ActionLost) => { "missing: " (all_of(case, &lost)) },
            Some(Class::OrderError) if verdict.time.is_some() => (broken_demand(case, verdict)),
            Some(Class::OrderError) => {
                @match verdict.first_wrong_call.and_then(|wrong| Some((wrong, verdict.calls.get(wrong)?))) {
                    Some((wrong, id)) => { "call " (wrong + 1) ", " (action(case, id)) ", came too early" },
                    None => "calls overlapped that had to come one after the other",
                }
            },
            Some(Class::Repeated) => { "done again: " (all_of(case, &repeated(verdict))) },
            Some(Class::Distractor) => "a tool of no action was called",
            Some(Class::FalseAlarm) => (false_alarm(verdict).unwrap_or_default()),
            Some(Class::ConflictMissed) => (missed(case, verdict)),
            Some(Class::ParameterError) => {
                "a start that cannot be"
                @if let Some(error) = verdict.time.iter().flat_map(|time| &time.parameter_errors).next() {
                    ": " (Foreign::owned(&wrong_start(case, error), REASON_CHARACTERS_MAX))
                }
            },
        }
    }
}

/// The first constraint of the time form that does not hold, or the first task that ended after the day.
fn broken_demand(case: &Case, verdict: &Verdict) -> Markup {
    let violated = verdict.violated.first().and_then(|violated| Stated::find(case, &violated.id));
    let what = match violated {
        Some(stated) => format!("not {}", stated.in_words(case)),
        None => late(case, verdict).into_iter().next().unwrap_or_default(),
    };
    html! { (Foreign::owned(&what, REASON_CHARACTERS_MAX)) }
}

fn ended(verdict: &Verdict) -> Foreign<'_> {
    Foreign::both_ends(verdict.cut_short.as_deref().unwrap_or("for no stated reason"), REASON_CHARACTERS_MAX)
}

/// The actions that were never executed, though they had to be.
fn lost(case: &Case, verdict: &Verdict) -> Vec<ActionId> {
    if !case.is_feasible() {
        return Vec::new();
    }
    let ids = case.actions.iter().map(|action| &action.id);
    ids.filter(|id| !verdict.calls.contains(id)).cloned().collect()
}

/// The actions that were executed again, each once.
fn repeated(verdict: &Verdict) -> Vec<ActionId> {
    let mut found: Vec<ActionId> = Vec::new();
    for (place, id) in verdict.calls.iter().enumerate() {
        if verdict.calls[..place].contains(id) && !found.contains(id) {
            found.push(id.clone());
        }
    }
    found
}

/// The paragraph. Each `mark` holds exactly the words at a violated place, or a sentence of the conflict;
/// `data-constraint` names the constraints that are stated there, and the title says them in full.
pub(super) fn paragraph(case: &Case, verdict: &Verdict) -> Markup {
    let is_violated =
        |stated: &Stated<'_>| matches!(State::of(*stated, verdict), State::Violated | State::InConflict);
    let stated: Vec<Stated<'_>> = Stated::all(case).filter(is_violated).collect();
    let places = violated_places(case, verdict);
    let (pieces, left_out) = pieces(&case.paragraph, &places);
    html! {
        p.paragraph {
            @for (text, place) in pieces {
                @match place {
                    None => (Foreign::whole(text)),
                    Some(place) => (mark(case, text, &stated, &place)),
                }
            }
            @if left_out > 0 { "… (" (count(left_out)) " more characters)" }
        }
    }
}

/// A paragraph with the words at these places marked, which do not overlap and come in order.
pub(super) fn marked(text: &str, places: &[Source]) -> Markup {
    let (pieces, left_out) = pieces(text, places);
    html! {
        p.paragraph {
            @for (text, place) in pieces {
                @if place.is_some() { mark { (Foreign::whole(text)) } } @else { (Foreign::whole(text)) }
            }
            @if left_out > 0 { "… (" (count(left_out)) " more characters)" }
        }
    }
}

fn mark(case: &Case, text: &str, violated: &[Stated<'_>], place: &Source) -> Markup {
    let is_here = |source: &Source| place.start <= source.start && source.end <= place.end;
    let here: Vec<(Stated<'_>, Foreign<'_>)> = violated
        .iter()
        .filter(|stated| stated.sources().iter().any(is_here))
        .take(CONSTRAINTS_MAX)
        .map(|stated| (*stated, constraint_id(*stated)))
        .collect();
    let ids: Vec<&str> = here.iter().map(|(_, id)| id.as_str()).collect();
    let sentences: Vec<String> = here
        .iter()
        .map(|(stated, id)| {
            let name = |text| Foreign::short(text, NAME_CHARACTERS_MAX);
            let (action, demand) = stated.parts(case);
            match demand {
                Demand::Before(after) => {
                    format!("{} before {} ({})", name(action).as_str(), name(after).as_str(), id.as_str())
                }
                Demand::Time(bound) => format!("{} {bound} ({})", name(action).as_str(), id.as_str()),
            }
        })
        .collect();
    let what =
        if case.is_feasible() { "Violated" } else { "Cannot hold together with the other marked words" };
    let title = format!("{what}: {}", sentences.join("; "));
    html! {
        mark data-constraint=(ids.join(" ")) title=(Foreign::short(&title, REASON_CHARACTERS_MAX)) {
            (Foreign::whole(text))
        }
    }
}

fn constraint_id(stated: Stated<'_>) -> Foreign<'_> {
    Foreign::short(stated.id().as_str(), NAME_CHARACTERS_MAX)
}

/// The text in pieces, those at `places` with their place, and the number of characters left out at its end. Places do
/// not overlap and come in order.
fn pieces<'a>(text: &'a str, places: &[Source]) -> (Vec<(&'a str, Option<Source>)>, u64) {
    // Byte offsets of characters are asked for in ascending order, so one pass over the text will do.
    let mut offsets = text.char_indices().map(|(byte, _)| byte).enumerate().peekable();
    let mut byte_of = |character: usize| {
        while offsets.next_if(|(number, _)| *number < character).is_some() {}
        offsets.peek().map_or(text.len(), |(_, byte)| *byte)
    };
    let mut pieces = Vec::with_capacity(2 * places.len() + 1);
    let mut at = 0;
    for place in places.iter().filter(|place| place.end as usize <= PARAGRAPH_CHARACTERS_MAX) {
        let [start, end] = [place.start, place.end].map(|character| byte_of(character as usize));
        if at < start {
            pieces.push((&text[at..start], None));
        }
        pieces.push((&text[start..end], Some(*place)));
        at = end;
    }
    let cut = byte_of(PARAGRAPH_CHARACTERS_MAX);
    if at < cut {
        pieces.push((&text[at..cut], None));
    }
    (pieces, text[cut..].chars().count() as u64)
}

/// A constraint as a sentence.
fn sentence(case: &Case, stated: Stated<'_>) -> Markup {
    let name = |text| Foreign::short(text, NAME_CHARACTERS_MAX);
    html! {
        @match stated.parts(case) {
            (action, Demand::Before(after)) => { b { (name(action)) } " before " b { (name(after)) } },
            (action, Demand::Time(bound)) => { b { (name(action)) } " " (bound.to_string()) },
        }
    }
}

/// How a constraint fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Violated,
    Undetermined,
    Held,
    /// It belongs to the conflict of an infeasible case.
    InConflict,
    /// It belongs to an infeasible case, and not to the conflict.
    Unjudged,
}

impl State {
    fn of(stated: Stated<'_>, verdict: &Verdict) -> Self {
        if verdict.conflict.as_ref().is_some_and(ConflictVerdict::is_infeasible) {
            return if verdict.core.contains(stated.id()) { Self::InConflict } else { Self::Unjudged };
        }
        if verdict.violated.iter().any(|violated| violated.id == *stated.id()) {
            Self::Violated
        } else if verdict.undetermined.contains(stated.id()) {
            Self::Undetermined
        } else {
            Self::Held
        }
    }

    /// The word for it, with a sign that does not need colour.
    fn words(self) -> [&'static str; 2] {
        match self {
            Self::Violated => ["✗", "violated"],
            Self::Undetermined => ["?", "undetermined"],
            Self::Held => ["✓", "held"],
            Self::InConflict => ["✗", "in conflict"],
            Self::Unjudged => ["–", "not judged"],
        }
    }

    /// The class of its item.
    fn class(self) -> &'static str {
        match self {
            Self::Violated | Self::InConflict => "violated",
            Self::Undetermined | Self::Unjudged => "undetermined",
            Self::Held => "held",
        }
    }
}

/// The constraints as sentences, the violated ones first, then the undetermined ones. Of an infeasible case
/// those in conflict come first.
pub(super) fn constraints(case: &Case, verdict: &Verdict) -> Markup {
    let states = [State::InConflict, State::Violated, State::Undetermined, State::Held, State::Unjudged];
    constraint_list(case, verdict, &states)
}

/// The violated constraints as sentences.
pub(super) fn violated_constraints(case: &Case, verdict: &Verdict) -> Markup {
    constraint_list(case, verdict, &[State::InConflict, State::Violated])
}

/// Constraints in these states. Lists state several pairs with the same words, which are shown once for all of them.
fn constraint_list(case: &Case, verdict: &Verdict, states: &[State]) -> Markup {
    let mut groups: Vec<(State, &[Source], Vec<Stated<'_>>)> = Vec::new();
    let wanted: Vec<(State, Stated<'_>)> = states
        .iter()
        .flat_map(|&wanted| Stated::all(case).map(move |stated| (wanted, stated)))
        .filter(|(wanted, stated)| State::of(*stated, verdict) == *wanted)
        .collect();
    for &(state, stated) in wanted.iter().take(CONSTRAINTS_MAX) {
        let alike = groups.iter().position(|(of, sources, _)| *of == state && *sources == stated.sources());
        match alike {
            Some(place) => groups[place].2.push(stated),
            None => groups.push((state, stated.sources(), vec![stated])),
        }
    }
    html! {
        ul.constraints {
            @for (state, sources, group) in &groups { (constraint_group(case, *state, sources, group)) }
        }
        @if let Some(more @ 1..) = wanted.len().checked_sub(CONSTRAINTS_MAX) {
            p.note { (count(more as u64)) " more constraints are left out here." }
        }
    }
}

fn constraint_group(case: &Case, state: State, sources: &[Source], group: &[Stated<'_>]) -> Markup {
    let [sign, word] = state.words();
    let ids: Vec<Foreign<'_>> = group.iter().map(|stated| constraint_id(*stated)).collect();
    html! {
        li.(state.class()) data-constraint=(ids.iter().map(Foreign::as_str).collect::<Vec<_>>().join(" ")) {
            span.state { span aria-hidden="true" { (sign) } " " (word) } " "
            div.pairs-stated {
                @for (stated, id) in group.iter().zip(&ids) {
                    p { (sentence(case, *stated)) " " span.id { (id) } }
                }
            }
            " "
            div.source {
                @for source in sources.iter().take(SOURCES_MAX) {
                    q { (Foreign::short(case.words_at(source), WORDS_CHARACTERS_MAX)) } " "
                }
                @if let Some(more @ 1..) = sources.len().checked_sub(SOURCES_MAX) {
                    "and in " (counted(more as u64, "more place", "more places"))
                }
            }
        }
    }
}

/// What was called and what would have been right, and all else that the verdict says.
pub(super) fn findings(case: &Case, verdict: &Verdict) -> Markup {
    let lost = lost(case, verdict);
    let time = verdict.time.as_ref();
    let [starts, repair_starts]: [&[u16]; 2] =
        time.map_or([&[], &[]], |time| [&time.starts, &time.repair_starts]);
    html! {
        dl.facts {
            @if let Some(form) = &case.time {
                dt { "Day" }
                dd { (day(form)) }
            }
            @if let Some(restarts) = restarts(verdict) {
                dt { "Restarts" }
                dd { (restarts) }
            }
            @for (label, text) in conflict_lines(case, verdict) {
                dt { (capitalised(label)) }
                dd { (Foreign::owned(&text, REASON_CHARACTERS_MAX)) }
            }
            dt { "Called" }
            dd { (sequence(case, &verdict.calls, starts, verdict.first_wrong_call)) }
            @if let Some(answer) = &verdict.answer {
                dt { "Answered" }
                dd {
                    @if answer.is_empty() { "nothing" } @else { (Foreign::both_ends(answer, REASON_CHARACTERS_MAX)) }
                }
            }
            @if !verdict.repair.is_empty() {
                dt { "Right would be" }
                dd.right { (sequence(case, &verdict.repair, repair_starts, None)) }
            }
            (wrong_times(case, verdict))
            @if !lost.is_empty() {
                dt { "Missing" }
                dd { (all_of(case, &lost)) }
            }
            @if !verdict.refused.is_empty() {
                dt { "Refused" }
                dd {
                    @for refused in verdict.refused.iter().take(CALLS_MAX) {
                        p {
                            code { (Foreign::short(&refused.tool, NAME_CHARACTERS_MAX)) } ": "
                            (Foreign::short(&refused.answer, REASON_CHARACTERS_MAX))
                        }
                    }
                    @if let Some(more @ 1..) = verdict.refused.len().checked_sub(CALLS_MAX) {
                        p { "and " (count(more as u64)) " more" }
                    }
                }
            }
            @if verdict.cut_short.is_some() {
                dt { "Ended" }
                dd { (ended(verdict)) }
            }
            @for note in order_notes(verdict) {
                dt { "Note" }
                dd { (note) }
            }
            @for note in time_notes(case, verdict) {
                dt { "Note" }
                dd { (note) }
            }
        }
    }
}

fn capitalised(label: &str) -> String {
    let mut characters = label.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// Starts that cannot be, and tasks that ended after the day.
fn wrong_times(case: &Case, verdict: &Verdict) -> Markup {
    let errors = verdict.time.as_ref().map(|time| time.parameter_errors.as_slice()).unwrap_or_default();
    let late = late(case, verdict);
    html! {
        @if !errors.is_empty() {
            dt { "Wrong starts" }
            dd {
                @for error in errors.iter().take(CALLS_MAX) {
                    p { (Foreign::owned(&wrong_start(case, error), REASON_CHARACTERS_MAX)) }
                }
                @if let Some(more @ 1..) = errors.len().checked_sub(CALLS_MAX) {
                    p { "and " (count(more as u64)) " more" }
                }
            }
        }
        @if !late.is_empty() {
            dt { "Late" }
            dd { @for late in &late { p { (Foreign::short(late, REASON_CHARACTERS_MAX)) } } }
        }
    }
}

/// Actions in a sequence, with the starts that there are, the wrong one marked. Repeats right behind each other are
/// counted where they have no starts, which differ.
fn sequence(case: &Case, ids: &[ActionId], starts: &[u16], wrong: Option<usize>) -> Markup {
    if ids.is_empty() {
        return html! { "nothing" };
    }
    let mut rows: Vec<(usize, &[ActionId])> = Vec::new();
    for row in ids.chunk_by(|one, next| starts.is_empty() && one == next) {
        rows.push((rows.last().map_or(0, |(place, row)| place + row.len()), row));
    }
    html! {
        ol.plan {
            @for &(place, row) in rows.iter().take(CALLS_MAX) {
                // A call that is made too early is never a repeat, so it can only be the first of its row.
                @if wrong == Some(place) {
                    li.wrong title="first wrong call" {
                        (action(case, &row[0])) (when(case, &row[0], starts.get(place))) span.unseen { " (first wrong call)" } (times(row.len()))
                    }
                } @else {
                    li { (action(case, &row[0])) (when(case, &row[0], starts.get(place))) (times(row.len())) }
                }
            }
        }
        @if let Some(more @ 1..) = rows.len().checked_sub(CALLS_MAX) { " and " (count(more as u64)) " more" }
    }
}

/// From when to when an action is done, and how long that takes.
fn when(case: &Case, id: &ActionId, start: Option<&u16>) -> Markup {
    html! {
        @if let Some(start) = start {
            " " span.quiet {
                (span(case, id, *start))
                @if let Some(minutes) = duration(case, id) {
                    ", " (counted(u64::from(minutes), "minute", "minutes"))
                }
            }
        }
    }
}

fn times(repeats: usize) -> Markup {
    html! { @if repeats > 1 { span.quiet { " ×\u{a0}" (repeats) } } }
}

/// What the run took.
pub(super) fn took(outcome: &Outcome) -> String {
    let usage = outcome.usage;
    format!(
        "{} read and {} written by the model, {}",
        counted(usage.input_tokens, "token", "tokens"),
        count(usage.output_tokens),
        seconds(outcome.wall.as_secs_f64())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(start: u32, end: u32) -> Source {
        Source { sentence: 0, sub_sentence: 0, start, end }
    }

    #[test]
    fn pieces_are_cut_at_characters() {
        let (first, second) = (place(0, 2), place(6, 10));
        let (found, left_out) = pieces("Äh, ünser Text", &[first, second]);
        assert_eq!(found, [("Äh", Some(first)), (", ün", None), ("ser ", Some(second)), ("Text", None)]);
        assert_eq!(left_out, 0);
    }

    #[test]
    fn places_beyond_the_text_do_no_harm() {
        let beyond = place(1, 99);
        assert_eq!(pieces("ab", &[beyond]).0, [("a", None), ("b", Some(beyond))]);
        assert_eq!(pieces("", &[beyond]).0, [("", Some(beyond))]);
    }

    #[test]
    fn a_paragraph_too_long_is_cut_before_the_place_that_does_not_fit() {
        let text = "x".repeat(PARAGRAPH_CHARACTERS_MAX + 7);
        let long = PARAGRAPH_CHARACTERS_MAX as u32;
        let (found, left_out) = pieces(&text, &[place(1, 2), place(long - 1, long + 1)]);
        assert_eq!(found.len(), 3);
        assert_eq!(found.iter().map(|(text, _)| text.len()).sum::<usize>(), PARAGRAPH_CHARACTERS_MAX);
        assert_eq!(left_out, 7);
    }
}
