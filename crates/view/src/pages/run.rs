//! A run of a case: the order that the case demands as far as it is kept, the trace, and the verdict once there is one.

use maud::{Markup, html};
use planproof_report::html::fragments::{
    Foreign, board, case_text, checks, counted, facts, pictures, team, trace_items,
};
use planproof_store::{RunStanding, Unit};
use planproof_suite::Explanation;
use planproof_trace::EventKind;

use super::frame::{self, NAME_CHARACTERS_MAX, TEXT_CHARACTERS_MAX};
use crate::address::{RunQuery, Wanted};
use crate::site::{RunPage, Site};
use crate::snapshot::Snapshot;

pub(crate) fn snapshot(site: &Site, page: &RunPage) -> Snapshot {
    let explained = page.outcome.as_ref().and_then(|outcome| outcome.verdict.as_ref().ok());
    let (explained, notes) = match explained {
        Some(verdict) => {
            let (explained, notes) = page.case.explain_run(verdict, &page.following.events);
            (Some(explained), notes.unwrap_or_default())
        }
        None => (None, Vec::new()),
    };
    let mut snapshot = Snapshot { is_over: is_over(page), ..Snapshot::default() };
    snapshot.whole("state", state(page));
    snapshot.whole("case-text", text(page, explained.as_ref()));
    snapshot.whole("board", picture(page, explained.as_ref()));
    snapshot.whole("steps", steps(site, page));
    let following = &page.following;
    snapshot.rows("trace", trace_items(page.case.prompt(), &following.events, &notes, following.is_dated));
    snapshot.whole("verdict", verdict(page, explained.as_ref()));
    snapshot
}

pub(crate) fn page(site: &Site, page: &RunPage) -> Markup {
    let state = snapshot(site, page);
    let row = &page.row;
    let card = page.case.card();
    let wanted = Wanted::Run(page.store, row.id.clone(), page.unit, None);
    let neighbour = |unit: Option<Unit>, words: &str| {
        let address =
            unit.map(|unit| Wanted::Run(page.store, row.id.clone(), unit, None).address(&site.token));
        html! { @if let Some(address) = address { " · " a href=(address) { (words) } } }
    };
    let [before, after] = page.neighbours;
    let campaign = Wanted::Campaign(page.store, row.id.clone(), RunQuery::default());
    let head = html! {
        h1 { "Case " (Foreign::short(&card.id, NAME_CHARACTERS_MAX)) }
        p.who {
            a.back href=(campaign.address(&site.token)) { "Campaign " (Foreign::short(&row.id, NAME_CHARACTERS_MAX)) }
            " · " (Foreign::short(&row.agent, NAME_CHARACTERS_MAX))
            @if row.repeats > 1 { " · repeat " (page.unit.repeat) " of " (row.repeats) }
            (neighbour(before, "run before"))
            (neighbour(after, "run after"))
        }
        @if row.simulated { (planproof_report::html::fragments::banner("the model is simulated")) }
    };
    let main = html! {
        div #state { (state.content("state")) }
        section.case-view aria-label="Case" {
            div #case-text { (state.content("case-text")) }
            div #verdict { (state.content("verdict")) }
            div.columns {
                div {
                    h2 { "Order" }
                    div #board { (state.content("board")) }
                    div #steps { (state.content("steps")) }
                }
                div {
                    h2 { "Trace" }
                    ol.trace #trace { (state.content("trace")) }
                }
            }
        }
    };
    let live = page.after.is_none().then_some((&wanted, &state));
    frame::page(site, &format!("planproof: case {}", card.id), live, &head, &main)
}

/// Whether the run will not change any more, unless it is run again.
fn is_over(page: &RunPage) -> bool {
    page.run.as_ref().is_some_and(|run| run.standing != RunStanding::Started)
}

fn state(page: &RunPage) -> Markup {
    let events = page.following.events.len();
    html! {
        p.run-state data-events=(events) data-calls=(page.calls) {
            @match &page.run {
                None => span.outcome { "not begun" },
                Some(run) if run.damage.is_some() => {
                    span.outcome.damaged { "damaged" }
                    @if let Some(damage) = &run.damage { ": " (Foreign::short(&damage.to_string(), TEXT_CHARACTERS_MAX)) }
                },
                Some(run) if run.standing == RunStanding::Started => {
                    @if page.is_running { span.outcome.running { "running" } } @else { span.outcome { "interrupted" } }
                },
                Some(run) => {
                    span.outcome.(crate::address::word_of(run.standing)) { (crate::address::word_of(run.standing)) }
                    @if let Some(class) = &run.class { " " span.class { (Foreign::short(class, NAME_CHARACTERS_MAX)) } }
                    @if let Some(wall) = run.wall_ms { " in " (frame::wall(wall)) }
                },
            }
            span.quiet { " " (counted(events as u64, "event", "events")) ", " (counted(page.calls as u64, "call", "calls")) " answered" }
        }
        @if !page.following.is_whole() {
            p.note {
                "The events of this run are too large to be shown whole: see "
                code.command { "planproof runs show " (Foreign::short(&page.row.id, NAME_CHARACTERS_MAX)) " --case " (Foreign::short(&page.case.card().id, NAME_CHARACTERS_MAX)) }
            }
        }
    }
}

fn text(page: &RunPage, explained: Option<&Explanation>) -> Markup {
    let plain;
    let explained = match explained {
        Some(explained) => explained,
        None => {
            plain = Explanation { text: page.case.prompt().to_owned(), ..Explanation::default() };
            &plain
        }
    };
    case_text(explained)
}

/// The order that the case demands after the events shown, or another picture of the verdict where there is none.
fn picture(page: &RunPage, explained: Option<&Explanation>) -> Markup {
    let drawn = page.case.board(&page.following.events);
    html! {
        @match (&drawn, explained) {
            (Ok(drawn), _) => div.picture data-events=(page.following.events.len()) { (board(drawn)) },
            (Err(_), Some(explained)) if explained.graph.is_some() => (pictures(explained)),
            (Err(why), _) => p.note { "No drawing: " (why) "." },
        }
        (team(&page.following.events))
    }
}

/// Links to the states before and after one call more or less.
fn steps(site: &Site, page: &RunPage) -> Markup {
    let at = |after: Option<usize>| {
        Wanted::Run(page.store, page.row.id.clone(), page.unit, after).address(&site.token) + "#board"
    };
    let here = page.after.unwrap_or(page.calls).min(page.calls);
    html! {
        nav.pages aria-label="Steps" {
            @if here > 0 { a rel="prev" href=(at(Some(here - 1))) { "← one call back" } " " }
            span.quiet { "call " (here) " of " (page.calls) } " "
            @if page.after.is_some() {
                @if here < page.calls { a rel="next" href=(at(Some(here + 1))) { "one call on →" } " " }
                a href=(at(None)) { "latest" }
            }
        }
    }
}

fn verdict(page: &RunPage, explained: Option<&Explanation>) -> Markup {
    let unscored = page.outcome.as_ref().and_then(|outcome| outcome.verdict.as_ref().err());
    let has_end = page.following.events.last().is_some_and(|event| matches!(event.kind, EventKind::End(_)));
    html! {
        @if let Some(explained) = explained {
            // Of a run that passed it says nothing more.
            @if page.run.as_ref().is_none_or(|run| run.standing != RunStanding::Passed) { p.gist { (Foreign::both_ends(&explained.gist, TEXT_CHARACTERS_MAX)) } }
            (facts(explained))
            @if !explained.checks.is_empty() {
                details.checks {
                    summary { "Constraints" }
                    (checks(explained))
                }
            }
        } @else if let Some(why) = unscored {
            p.note { "Unscored: " (Foreign::both_ends(&why.to_string(), TEXT_CHARACTERS_MAX)) }
        } @else if page.after.is_none() && has_end && page.outcome.is_none() {
            p.note { "The run has ended and is being judged." }
        }
    }
}
