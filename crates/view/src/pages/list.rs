//! The list of campaigns.

use maud::{Markup, html};
use planproof_report::html::fragments::{Foreign, counted, date};

use super::frame::{self, NAME_CHARACTERS_MAX, TEXT_CHARACTERS_MAX};
use crate::address::{ListQuery, RunQuery, Wanted};
use crate::site::{ListPage, Shown, Site};
use crate::snapshot::Snapshot;

pub(crate) fn snapshot(site: &Site, query: &ListQuery, page: &ListPage) -> Snapshot {
    let mut snapshot = Snapshot::default();
    snapshot.whole("faults", faults(page));
    snapshot.rows("campaigns", page.campaigns.iter().map(|shown| row(site, shown)).collect());
    snapshot.whole("more", more(site, query, page));
    snapshot
}

pub(crate) fn page(site: &Site, query: &ListQuery, page: &ListPage) -> Markup {
    let state = snapshot(site, query, page);
    let head = html! {
        h1 { "Campaigns" }
        p.who {
            @for (place, path) in site.stores.iter().enumerate() {
                @if place > 0 { ", " }
                code { (Foreign::short(&path.display().to_string(), NAME_CHARACTERS_MAX)) }
            }
        }
    };
    let main = html! {
        section aria-label="Campaigns" {
            form.choice method="get" action=(Wanted::List(ListQuery::default()).address(&site.token)) {
                label { "Agent " input name="agent" value=(query.agent) maxlength="100"; }
                label { "Text " input name="text" value=(query.text) maxlength="100"; }
                button type="submit" { "Show" }
            }
            div #faults { (state.content("faults")) }
            div.scroll {
                table.list {
                    thead {
                        tr {
                            th scope="col" { "Campaign" }
                            th.words scope="col" { "Agent" }
                            th.words scope="col" { "State" }
                            th.words scope="col" { "Runs" }
                            th scope="col" { "Success" }
                            th scope="col" { "Spent" }
                            th scope="col" { "Began" }
                        }
                    }
                    tbody #campaigns { (state.content("campaigns")) }
                }
            }
            div #more { (state.content("more")) }
        }
    };
    let wanted = Wanted::List(query.clone());
    frame::page(site, "planproof: campaigns", Some((&wanted, &state)), &head, &main)
}

fn faults(page: &ListPage) -> Markup {
    html! {
        @for fault in &page.faults {
            p.banner role="alert" { (Foreign::short(fault, TEXT_CHARACTERS_MAX)) }
        }
    }
}

fn row(site: &Site, shown: &Shown) -> Markup {
    let row = &shown.row;
    let address = Wanted::Campaign(shown.store, row.id.clone(), RunQuery::default()).address(&site.token);
    html! {
        tr data-campaign=(Foreign::short(&row.id, NAME_CHARACTERS_MAX)) {
            th scope="row" {
                a href=(address) { (Foreign::short(&row.id, NAME_CHARACTERS_MAX)) }
                @if let Some(label) = &row.label { span.under { (Foreign::short(label, NAME_CHARACTERS_MAX)) } }
            }
            td.words {
                (Foreign::short(&row.agent, NAME_CHARACTERS_MAX))
                @if row.simulated { span.under { "simulation" } }
            }
            td.words.fixed { (frame::standing(shown)) }
            td.words { (frame::progress(shown)) }
            td { (frame::success(shown)) }
            td { (frame::spent(shown).join(" ")) }
            td.fixed { (date(row.created_ms)) }
        }
    }
}

fn more(site: &Site, query: &ListQuery, page: &ListPage) -> Markup {
    let is_filtered = !query.agent.is_empty() || !query.text.is_empty();
    html! {
        @if page.campaigns.is_empty() && (is_filtered || page.faults.is_empty()) {
            p.note {
                @if is_filtered || query.after.is_some() {
                    "No campaign fits, among " (counted(page.examined as u64, "campaign", "campaigns")) " that were looked through."
                } @else {
                    "The run store has no campaign yet. " code.command { "planproof test" } " begins one, and it appears here."
                }
            }
        }
        nav.pages aria-label="Pages" {
            @if query.after.is_some() {
                a href=(Wanted::List(ListQuery { after: None, ..query.clone() }).address(&site.token)) { "Newest" } " "
            }
            @if let Some(next) = &page.next {
                a href=(Wanted::List(next.clone()).address(&site.token)) { "Older campaigns" }
            }
        }
    }
}
