//! Parts of pages for a server that shows campaigns while they run. They escape and cut all text from outside.

use maud::{Markup, html};
use planproof_suite::{Board, EventNote, Explanation};
use planproof_trace::Event;

pub use super::page::{ServedPage, banner, top};
pub use super::text::{Foreign, count, counted, date, percent, percent_range, seconds};
use super::{events, graph, page, run, summary};

/// The policy of a report, for the header of an answer that is one.
pub fn report_policy() -> String {
    page::policy()
}

/// A card with a figure: its name, its value, and a note.
pub fn figure(name: &str, value: &str, note: &Markup) -> Markup {
    summary::figure(name, value, note)
}

/// A bar of parts, each with its name (`passed`, `failed`, `unscored`, `not run`) and number, with the words below it;
/// empty if all are 0.
pub fn shares(parts: &[(&str, u64)]) -> Markup {
    summary::shares(parts)
}

/// The text of a case with the marked words; without a verdict, none are marked.
pub fn case_text(explained: &Explanation) -> Markup {
    run::text(explained)
}

/// What was called, what would have been right, and the rest of the verdict.
pub fn facts(explained: &Explanation) -> Markup {
    run::facts(explained)
}

/// The requirements of the case as sentences, each with its state.
pub fn checks(explained: &Explanation) -> Markup {
    run::checks(explained)
}

/// Pictures of what was required and done, if there are any.
pub fn pictures(explained: &Explanation) -> Markup {
    run::pictures(explained)
}

/// The rows of the beginning of a trace, each an element `li`, at most some 200; `prompt` is that of the case, and
/// `notes` those of a judged run. Rows keep their places as events follow, except that the last one may change.
pub fn trace_items(prompt: &str, events: &[Event], notes: &[EventNote], is_dated: bool) -> Vec<Markup> {
    events::items(prompt, events, notes, is_dated)
}

/// The graph of sub-tasks of a team, as far as the events go; empty if no team works in the run.
pub fn team(events: &[Event]) -> Markup {
    graph::team(events)
}

/// The order that a case demands, as far as it is kept: each node and each edge names its place (`data-node`,
/// `data-edge`) and each edge its state (`data-state`: `held`, `broken` or `open`). Empty if it is too large.
pub fn board(board: &Board) -> Markup {
    html! { (graph::draw_board(board)) }
}
