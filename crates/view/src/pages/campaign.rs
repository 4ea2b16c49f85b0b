//! A campaign: its figures, and the table of its runs.

use maud::{Markup, html};
use planproof_report::html::fragments::{
    Foreign, banner, count, counted, date, figure, percent, percent_range, seconds,
};
use planproof_store::{ListedRun, RunStanding};

use super::frame::{self, NAME_CHARACTERS_MAX, TEXT_CHARACTERS_MAX};
use crate::address::{ListQuery, RunQuery, STANDINGS, Wanted, word_of};
use crate::site::{CampaignPage, Shown, Site};
use crate::snapshot::Snapshot;

/// Most characters shown of a command line.
const COMMAND_CHARACTERS_MAX: usize = 2000;

pub(crate) fn snapshot(site: &Site, query: &RunQuery, page: &CampaignPage) -> Snapshot {
    let mut snapshot = Snapshot::default();
    snapshot.whole("figures", figures(&page.shown));
    snapshot.whole("classes", classes(site, query, page));
    snapshot.rows("started", page.started.iter().map(|run| started(site, &page.shown, run)).collect());
    snapshot.rows("runs", page.runs.iter().map(|run| row(site, &page.shown, run)).collect());
    snapshot.whole("more", more(site, query, page));
    snapshot
}

pub(crate) fn page(site: &Site, query: &RunQuery, page: &CampaignPage) -> Markup {
    let state = snapshot(site, query, page);
    let row = &page.shown.row;
    let own = |query: RunQuery| Wanted::Campaign(page.shown.store, row.id.clone(), query);
    let head = html! {
        h1 { (Foreign::short(&row.agent, NAME_CHARACTERS_MAX)) }
        p.who {
            a.back href=(Wanted::List(ListQuery::default()).address(&site.token)) { "All campaigns" }
            " · campaign " b { (Foreign::short(&row.id, NAME_CHARACTERS_MAX)) }
            @if let Some(label) = &row.label { ", " (Foreign::short(label, NAME_CHARACTERS_MAX)) }
            ", began " (date(row.created_ms))
            " · " a href=(Wanted::Report(page.shown.store, row.id.clone()).address(&site.token)) { "Report" }
        }
        p.who { code.command { (Foreign::short(&row.command_line, COMMAND_CHARACTERS_MAX)) } }
        @if row.simulated { (banner("the model is simulated")) }
    };
    let main = html! {
        div #figures { (state.content("figures")) }
        section aria-labelledby="now" {
            h2 #now { "Running now" }
            ul.started #started { (state.content("started")) }
        }
        section aria-labelledby="table" {
            h2 #table { "Runs" }
            form.choice method="get" action=(own(RunQuery::default()).address(&site.token)) {
                label {
                    "Outcome "
                    select name="outcome" {
                        option value="" { "all" }
                        @for (standing, word) in STANDINGS {
                            option value=(word) selected[query.standing == Some(standing)] { (word) }
                        }
                    }
                }
                label { "Class " input name="class" value=(query.class) maxlength="60"; }
                label { "Case or topic " input name="text" value=(query.text) maxlength="100"; }
                button type="submit" { "Show" }
            }
            div #classes { (state.content("classes")) }
            div.scroll {
                table.list {
                    thead {
                        tr {
                            th scope="col" { "Case" }
                            @if row.repeats > 1 { th scope="col" { "Repeat" } }
                            th.words scope="col" { "Outcome" }
                            th.words scope="col" { "Class" }
                            th scope="col" { "Time" }
                        }
                    }
                    tbody #runs { (state.content("runs")) }
                }
            }
            div #more { (state.content("more")) }
        }
    };
    let wanted = own(query.clone());
    frame::page(site, &format!("planproof: {}", row.agent), Some((&wanted, &state)), &head, &main)
}

fn figures(shown: &Shown) -> Markup {
    let row = &shown.row;
    let figures = shown.figures.as_ref();
    let tokens = figures.and_then(|figures| figures.tokens);
    let rate = shown.rate.map(|rate| format!("{rate:.1}"));
    let left = row.total().saturating_sub(row.finished());
    html! {
        section aria-label="Figures" {
            @if let Some(why) = figures.and_then(|figures| figures.broken_setup.as_ref()) {
                p.banner role="alert" {
                    strong { "The set-up is broken:" } " " (Foreign::both_ends(why, TEXT_CHARACTERS_MAX))
                }
            }
            div.figures {
                div.figure.lead data-passed=[figures.map(|it| it.passed)] data-scored=[figures.map(|it| it.scored)]
                    data-rate=[figures.and_then(|it| it.success).map(|it| it.rate)]
                    data-low=[figures.and_then(|it| it.success).map(|it| it.low)]
                    data-high=[figures.and_then(|it| it.success).map(|it| it.high)]
                {
                    p.name { "Passed" }
                    @match figures.and_then(|figures| Some((figures, figures.success?))) {
                        Some((figures, rate)) => {
                            p.value { (percent(rate.rate)) }
                            p { (count(figures.passed)) " of " (counted(figures.scored, "scored run", "scored runs")) }
                            p.quiet { "95 % interval " (percent_range(rate.low, rate.high)) }
                            @if figures.of_runs != row.finished() {
                                p.quiet { "of the first " (count(figures.of_runs)) " runs; brought up to date now and then" }
                            }
                        },
                        None => {
                            p.value { "–" }
                            p.quiet {
                                @if row.passed + row.failed == 0 { "no run has a score yet" }
                                @else { "being worked out, or only in the report: reload the page to see it" }
                            }
                        },
                    }
                    (frame::progress(shown))
                }
                (figure("state", state_word(shown), &html! {
                    @if let Some(budget) = row.progress.ended_by.as_ref().filter(|_| !shown.is_running) {
                        "by the budget of " (Foreign::short(budget, NAME_CHARACTERS_MAX))
                    } @else {
                        (counted(left, "run", "runs")) " left"
                    }
                }))
                (figure("finished", &count(row.finished()), &html! { "of " (counted(row.total(), "run", "runs")) }))
                (figure("rate", &rate.unwrap_or_else(|| "–".to_owned()), &html! {
                    "runs per minute"
                    @if let Some(rate) = shown.rate.filter(|rate| *rate > 0.0 && left > 0) {
                        ", " (seconds(left as f64 / rate * 60.0)) " to go"
                    }
                }))
                @let [paid, unit] = frame::spent(shown);
                (figure("spent", &or_dash(paid), &html! {
                    (unit) @if !unit.is_empty() { "; " }
                    @if shown.budgets.is_empty() { "no budget" } @else { "of " (Foreign::short(&shown.budgets, NAME_CHARACTERS_MAX)) }
                    @if let Some([read, written]) = tokens {
                        br; (count(read)) " read, " (count(written)) " written"
                        // Requests are paid for while their runs go on.
                        @if left > 0 { " in finished runs" }
                    }
                }))
            }
        }
    }
}

fn state_word(shown: &Shown) -> &'static str {
    match () {
        () if shown.is_running => "running",
        () if shown.row.finished() >= shown.row.total() => "finished",
        () => "stopped",
    }
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "–".to_owned() } else { text }
}

/// The classes of failures so far, as links to the runs of each.
fn classes(site: &Site, query: &RunQuery, page: &CampaignPage) -> Markup {
    let classes = page.shown.figures.as_ref().map_or(&[][..], |figures| &figures.classes);
    html! {
        @if !classes.is_empty() {
            p.links {
                @for (class, number) in classes.iter().filter(|(_, number)| *number > 0) {
                    @let wanted = RunQuery { class: (*class).to_owned(), after: None, standing: None, text: query.text.clone() };
                    a href=(address(site, page, wanted)) aria-current=[(query.class == *class).then_some("true")] {
                        span.class { (class) }
                    }
                    " " span.quiet { (count(*number)) } " "
                }
            }
        }
    }
}

fn address(site: &Site, page: &CampaignPage, query: RunQuery) -> String {
    Wanted::Campaign(page.shown.store, page.shown.row.id.clone(), query).address(&site.token)
}

fn address_of_run(site: &Site, shown: &Shown, run: &ListedRun) -> String {
    Wanted::Run(shown.store, shown.row.id.clone(), run.unit, None).address(&site.token)
}

fn started(site: &Site, shown: &Shown, run: &ListedRun) -> Markup {
    html! {
        li {
            a href=(address_of_run(site, shown, run)) { (Foreign::short(&run.case, NAME_CHARACTERS_MAX)) }
            @if shown.row.repeats > 1 { span.quiet { " repeat " (run.unit.repeat) } }
            @if !shown.is_running { span.quiet { " interrupted" } }
        }
    }
}

fn row(site: &Site, shown: &Shown, run: &ListedRun) -> Markup {
    html! {
        tr data-unit=(format!("{}-{}", run.unit.ordinal, run.unit.repeat)) {
            th scope="row" {
                a href=(address_of_run(site, shown, run)) { (Foreign::short(&run.case, NAME_CHARACTERS_MAX)) }
            }
            @if shown.row.repeats > 1 { td { (run.unit.repeat) } }
            td.words { (outcome(shown, run)) }
            td.words {
                @if let Some(class) = &run.class { span.class { (Foreign::short(class, NAME_CHARACTERS_MAX)) } }
            }
            td { @if let Some(wall) = run.wall_ms { (frame::wall(wall)) } }
        }
    }
}

/// How a run stands, in a word.
pub(crate) fn outcome(shown: &Shown, run: &ListedRun) -> Markup {
    html! {
        @if let Some(damage) = &run.damage {
            span.outcome.damaged { "damaged: " (Foreign::short(&damage.to_string(), NAME_CHARACTERS_MAX)) }
        } @else if run.standing == RunStanding::Started && !shown.is_running {
            span.outcome { "interrupted" }
        } @else {
            span.outcome.(word_of(run.standing)) { (word_of(run.standing)) }
        }
    }
}

fn more(site: &Site, query: &RunQuery, page: &CampaignPage) -> Markup {
    html! {
        @if page.runs.is_empty() {
            p.note {
                "No run fits"
                @if page.examined > 0 { ", among " (counted(u64::from(page.examined), "run", "runs")) " that were looked through" }
                "."
            }
        }
        nav.pages aria-label="Pages" {
            @if query.after.is_some() {
                a href=(address(site, page, RunQuery { after: None, ..query.clone() })) { "First runs" } " "
            }
            @if let Some(next) = &page.next {
                a href=(address(site, page, next.clone())) {
                    @if page.runs.len() < crate::limits::RUNS_PER_PAGE { "Look further" } @else { "Next runs" }
                }
            }
        }
    }
}
