//! The summary of the campaign: what was tested, key figures, success by number of actions, classes and flags.

use std::collections::{BTreeMap, HashSet};

use maud::{Markup, html};
use planproof_engine::{BaselineRates, BySize, DamagedRunRow, MonitorUse, Rate, Report, Sections, Tokens};
use planproof_suite::{ClassInfo, Figure, FlagInfo, Suite, Table};

use super::chart::{Point, Series, Style, success_by_size};
use super::page::{banner, top};
use super::parts::{NAME_CHARACTERS_MAX, command};
use super::text::{Foreign, count, counted, date, percent, percent_range, seconds};
use crate::ReportedCampaign;
use crate::campaign::{capitalised, metric_words, servers, without_temperature};
use crate::guard::guard_lines;

/// Maximum number of characters shown of why a set-up is broken.
pub(super) const REASON_CHARACTERS_MAX: usize = 1000;

/// What was tested, how and when, and a banner if it was a simulation.
pub(super) fn head(campaign: &ReportedCampaign<'_>) -> Markup {
    head_with(campaign, &origin(campaign))
}

/// The same of a search for the limit, which needs only a part of the cases that it has: the others are not missing.
pub(super) fn head_of_search(campaign: &ReportedCampaign<'_>) -> Markup {
    head_with(campaign, &origin_with(campaign, &count(cases_run(campaign))))
}

fn head_with(campaign: &ReportedCampaign<'_>, origin: &Markup) -> Markup {
    let report = campaign.report;
    html! {
        header.page {
            @if campaign.is_of_predictions() {
                (top("report on predictions"))
                h1 { (Foreign::short(&report.agent, NAME_CHARACTERS_MAX)) }
                p.who { "finished before they were scored: nothing was run" }
            } @else {
                (top("campaign report"))
                h1 { (Foreign::short(&report.agent, NAME_CHARACTERS_MAX)) }
                (who(campaign.suite, &report.agent, report.model.as_deref()))
            }
            (origin)
        }
        @if report.simulated { (banner("a simulated model planned")) }
    }
}

/// The agent and the model it was tested with.
pub(super) fn who(suite: &dyn Suite, agent: &str, model: Option<&str>) -> Markup {
    html! {
        p.who {
            @match model {
                Some(model) => { "with the model " b { (Foreign::short(model, NAME_CHARACTERS_MAX)) } },
                None if suite.asks_no_model(agent) => "without a model",
                // An external agent does not report its model, if it has one.
                None => "its model, if it has one, is unknown",
            }
        }
    }
}

/// The tile for tokens.
pub(super) fn tokens(tokens: Option<Tokens>) -> Markup {
    match tokens {
        Some(tokens) => figure(
            "Tokens",
            &count(tokens.total()),
            &html! {
                (count(tokens.input)) " read, " (count(tokens.output)) " written"
            },
        ),
        None => figure("Tokens", "unknown", &html! { "the agent does not report them" }),
    }
}

/// The origin of the figures.
pub(super) fn origin(campaign: &ReportedCampaign<'_>) -> Markup {
    origin_with(campaign, &cases(campaign))
}

fn origin_with(campaign: &ReportedCampaign<'_>, cases: &str) -> Markup {
    html! {
        dl.origin {
            @if let Some(label) = &campaign.report.label {
                div.wide { dt { "Label" } dd { (Foreign::short(label, NAME_CHARACTERS_MAX)) } }
            }
            @if !campaign.is_of_predictions() {
                div { dt { "Campaign" } dd { code { (Foreign::short(campaign.id, NAME_CHARACTERS_MAX)) } } }
                div { dt { "Began" } dd { (date(campaign.created_ms)) } }
            }
            @if let Some(seal) = &campaign.report.seal { div { dt { "Seal" } dd { code { (seal) } } } }
            @if !campaign.is_of_predictions() { div { dt { "Seed" } dd { (campaign.seed) } } }
            div { dt { "Cases" } dd { (cases) } }
            @if campaign.repeats > 1 { div { dt { "Repeats" } dd { (campaign.repeats) } } }
            @if let Some(used) = &campaign.report.monitor {
                div { dt { "Continuation" } dd { (continuations(used)) } }
                @if !used.judged_by.is_empty() {
                    div { dt { "Judged by" } dd { (Foreign::short(&judges(used), NAME_CHARACTERS_MAX)) } }
                }
            }
            @if let Some(guard) = &campaign.report.guard {
                div.wide {
                    dt { "Guard" }
                    dd {
                        (Foreign::short(&guard_lines(guard).swap_remove(0).1, REASON_CHARACTERS_MAX))
                        " (SHA-256 " code { (guard.sha256.get(..12).unwrap_or_default()) } ")"
                    }
                }
            }
            @if let Some(version) = &campaign.report.prompts { div { dt { "Prompts" } dd { code { (version) } } } }
            @if let Some(isolation) = &campaign.report.isolation {
                div.wide {
                    dt { "Isolation" }
                    dd { (Foreign::short(&isolation.to_string(), REASON_CHARACTERS_MAX)) }
                }
            }
            div.wide {
                dt { "Command" }
                dd { (command(campaign.command_line)) }
            }
        }
    }
}

/// How many cases there are, and how many of them have run.
fn cases(campaign: &ReportedCampaign<'_>) -> String {
    let (all, run) = (campaign.cases.len() as u64, cases_run(campaign));
    if run < all { format!("{} of {} run", count(run), count(all)) } else { count(all) }
}

fn cases_run(campaign: &ReportedCampaign<'_>) -> u64 {
    campaign.outcomes.iter().map(|outcome| outcome.ordinal).collect::<HashSet<_>>().len() as u64
}

/// A banner about damaged runs, with what is wrong with each; empty if there are none. `whose` names their
/// campaign.
pub(super) fn damaged(runs: &[DamagedRunRow], whose: &str) -> Markup {
    let named: Vec<String> =
        runs.iter().map(|run| format!("case {}, repeat {}: {}", run.case, run.repeat, run.why)).collect();
    html! {
        @if !runs.is_empty() {
            p.banner role="note" {
                strong { "Damaged:" } " " (counted(runs.len() as u64, "run", "runs")) (whose)
                " of the run store are not what was written and are left out: "
                (Foreign::short(&named.join("; "), REASON_CHARACTERS_MAX))
            }
        }
    }
}

/// Key figures, and what the campaign lacks to be complete.
pub(super) fn key_figures(campaign: &ReportedCampaign<'_>) -> Markup {
    let report = campaign.report;
    let success = report.success();
    let words = Words::of(report);
    html! {
        section aria-labelledby="figures" {
            h2 #figures.unseen { "Key figures" }
            // Only the most specific reason is given: the others leave runs that were not run as well.
            @if let Some(why) = &report.broken_setup {
                p.banner role="note" {
                    strong { "The set-up is broken:" } " nothing can be said about the agent. The campaign was stopped when "
                    (Foreign::both_ends(why, REASON_CHARACTERS_MAX)) " " (not_run(campaign))
                }
            } @else if let Some(budget) = &report.ended_by {
                p.banner role="note" {
                    strong { "Ended early:" } " the budget of " (Foreign::short(budget, NAME_CHARACTERS_MAX))
                    " was used up. " (not_run(campaign))
                }
            } @else if report.all_not_run() > 0 {
                p.banner role="note" { strong { "Not finished:" } " " (not_run(campaign)) }
            }
            (damaged(&report.damaged, ""))
            @for server in servers(report) {
                p { "Server: " (Foreign::short(&server, NAME_CHARACTERS_MAX)) }
            }
            @if let Some(models) = without_temperature(report) {
                p.banner role="note" {
                    strong { "Without a temperature:" } " " (Foreign::short(&models, NAME_CHARACTERS_MAX))
                    " rejected it, so the same campaign may give different results next time."
                }
            }
            @for change in &report.changed_requests {
                p.banner role="note" { (Foreign::short(change, REASON_CHARACTERS_MAX)) "." }
            }
            div.figures {
                div.figure.lead {
                    p.name { "Passed" }
                    @if let Some(success) = success {
                        p.value { (percent(success.rate)) }
                        p { (count(report.passed)) " of " (counted(report.scored(), words.scored[0], words.scored[1])) }
                        p.quiet { "95 % interval " (percent_range(success.low, success.high)) }
                    } @else {
                        p.value { "–" }
                        p { (words.without) }
                    }
                    (proportions(report))
                }
                (figure("Failed", &count(report.failed), &html! { (words.failed) }))
                @if !campaign.is_of_predictions() {
                    (figure("Unscored", &count(report.unscored), &html! { "runs that say nothing about the agent" }))
                    (figure("Not run", &count(report.not_run), &html! { (words.not_run) }))
                }
                @for rate in report.baselines().iter().filter(|rate| rate.best().is_some()) {
                    (figure(rate.baseline.title, &or_dash(rate.best()), &html! { (rate.baseline.who) " would pass" }))
                }
                @for metric in report.metrics.0.iter().filter(|metric| metric.value.is_some()) {
                    @let [value, interval] = metric_words(metric);
                    (figure(metric.title, &value, &html! { @if metric.interval.is_some() { "95 % interval " (interval) } }))
                }
                @if let Some(like) = &report.behaves_like {
                    (figure("Behaves like", &format!("{} of {}", count(like.alike), count(like.cases)), &html! {
                        "cases agree with " (like.does) "; 95 % interval " (percent_range(like.low, like.high))
                    }))
                }
                @if !campaign.is_of_predictions() { (tokens(report.tokens)) }
                @if let Some(used) = &report.monitor {
                    (figure("Corrections", &count(used.corrections), &html! {
                        (counted(used.discarded_tokens, "token", "tokens")) " discarded, "
                        (count(used.repeated_tokens)) " read again"
                    }))
                }
                @if let Some(guard) = &report.guard {
                    @let found = &guard.figures;
                    (figure("Denied calls", &count(found.rejected + found.noted), &html! {
                        (guard_lines(guard).into_iter().skip(1).map(|(label, what)| format!("{label}: {what}"))
                            .collect::<Vec<_>>().join(". "))
                    }))
                }
                @if let Some(cost) = report.cost {
                    (figure("Cost", &format!("{cost:.2}\u{a0}USD"), &html! { "at known prices" }))
                }
                @if !campaign.is_of_predictions() {
                    (figure("Agent time", &seconds(report.agent_seconds), &html! {
                        "summed over runs"
                        @if let Some(made) = report.synthesis_seconds { "; synthesis took " (seconds(made)) }
                    }))
                }
            }
        }
    }
}

/// How a model was asked to continue, in words.
fn continuations(used: &MonitorUse) -> String {
    used.continuations.iter().map(|word| word.replace('_', " ")).collect::<Vec<_>>().join(", ")
}

fn judges(used: &MonitorUse) -> String {
    used.judged_by.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// The words for what is counted: cases, or runs if each case has several.
struct Words {
    scored: [&'static str; 2],
    without: &'static str,
    failed: &'static str,
    not_run: &'static str,
}

impl Words {
    fn of(report: &Report) -> Self {
        match report.repeats {
            0 | 1 => Self {
                scored: ["scored case", "scored cases"],
                without: "no case has a score",
                failed: "cases that went wrong",
                not_run: "cases without a finished run",
            },
            _ => Self {
                scored: ["scored run", "scored runs"],
                without: "no run has a score",
                failed: "runs that went wrong",
                not_run: "runs that did not finish",
            },
        }
    }
}

/// Results over repeats: how often all of `k` runs of a case pass, and the number of flaky cases.
pub(super) fn repeated(report: &Report) -> Markup {
    let Some(repeated) = &report.repeated else { return Markup::default() };
    let cases = repeated.always + repeated.flaky + repeated.never;
    html! {
        section aria-labelledby="repeats" {
            h2 #repeats { "Repeats" }
            p.intro {
                "Each case is run " (report.repeats) " times. Of " (counted(cases, "case", "cases")) " with a score, "
                (count(repeated.always)) " passed every time, " (count(repeated.never)) " never, and "
                strong { (count(repeated.flaky)) " passed sometimes and failed sometimes" }
                ". All intervals allow for runs of one case being alike."
            }
            @if let Some(what) = repeated.what_is_no_repeat() {
                p.intro { strong { (what) } }
            }
            div.scroll tabindex="0" role="region" aria-label="Table of passing all of k runs" {
                table.few {
                    thead {
                        tr {
                            th scope="col" { "Runs (k)" }
                            th scope="col" { "Cases" }
                            th scope="col" { "All k pass (pass^k) " span.interval { "95 % interval" } }
                        }
                    }
                    tbody {
                        @for pass in &repeated.pass_all {
                            tr {
                                th scope="row" { (pass.k) }
                                td { (count(pass.cases)) }
                                td {
                                    (or_dash(pass.rate)) " "
                                    span.interval { (percent_range(pass.low, pass.high)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn not_run(campaign: &ReportedCampaign<'_>) -> Markup {
    let (one, several) =
        if campaign.repeats > 1 { ("run is", "runs are") } else { ("case has", "cases have") };
    let rest = if campaign.repeats > 1 { " not finished." } else { " no finished run." };
    html! {
        (counted(campaign.report.all_not_run(), one, several)) (rest)
        @if let Some(resume) = campaign.command_to_resume() { " Resume with " (command(&resume)) }
    }
}

pub(super) fn or_dash(rate: Option<f64>) -> String {
    rate.map_or("–".to_owned(), percent)
}

pub(super) fn figure(name: &str, value: &str, note: &Markup) -> Markup {
    html! { div.figure { p.name { (name) } p.value { (value) } p.quiet { (note) } } }
}

/// A single bar that stands for all cases.
fn proportions(report: &Report) -> Markup {
    shares(&[
        ("passed", report.passed),
        ("failed", report.failed),
        ("unscored", report.unscored),
        ("not run", report.not_run),
    ])
}

/// A bar of parts, each with its name and number, with the words below it; empty if all are 0.
pub(super) fn shares(parts: &[(&str, u64)]) -> Markup {
    let all: u64 = parts.iter().map(|(_, cases)| cases).sum();
    if all == 0 {
        return Markup::default();
    }
    let words: Vec<String> = parts
        .iter()
        .filter(|(_, cases)| *cases > 0)
        .map(|(name, cases)| format!("{} {name}", count(*cases)))
        .collect();
    // The left end of the next rectangle; `@let` is the only way to add to it within the template.
    let mut before = 0;
    html! {
        svg.proportions viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" {
            @for (name, cases) in parts.iter().filter(|(_, cases)| *cases > 0) {
                @let [x, width] = [before, *cases].map(|cases| format!("{:.2}", cases as f64 / all as f64 * 1000.0));
                rect.(name.replace(' ', "-")) x=(x) y="0" width=(width) height="10" {
                    title { (count(*cases)) " " (name) }
                }
                @let () = before += cases;
            }
        }
        p.quiet { (words.join(", ")) }
    }
}

/// The suite's own sections.
pub(super) fn sections(sections: &Sections) -> Markup {
    html! {
        @for section in sections.0.iter().filter(|section| !section.is_for_programs()) {
            section aria-labelledby=(section.key) {
                h2 id=(section.key) { (section.title) }
                p.intro { (with_code(&Foreign::short(&section.intro, REASON_CHARACTERS_MAX))) }
                @if !section.figures.is_empty() {
                    div.phrases {
                        @for Figure { name, value, note } in section.figures.iter().filter(|it| it.has_value()) {
                            (figure(name, value, &with_code(&Foreign::short(note, REASON_CHARACTERS_MAX))))
                        }
                    }
                }
                @for table in section.tables.iter().filter_map(Table::shown) { (table_of_section(&table)) }
            }
        }
    }
}

/// Text from a suite as shown on a page: text between backticks is set as code.
fn with_code(text: &Foreign<'_>) -> Markup {
    html! {
        @for (place, part) in text.as_str().split('`').enumerate() {
            // Every second part stands between backticks.
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Maximum length of a cell's text that is not wrapped; a table that is too wide for its box can be scrolled.
const FIXED_CHARACTERS_MAX: usize = 24;

fn table_of_section(table: &Table) -> Markup {
    let cell = |text| Foreign::short(text, NAME_CHARACTERS_MAX);
    html! {
        div.scroll tabindex="0" role="region" aria-label=(cell(&table.caption)) {
            table.of-suite {
                @if !table.caption.is_empty() { caption { span { (cell(&table.caption)) } } }
                thead {
                    tr {
                        @for (place, column) in table.columns.iter().enumerate() {
                            th.words[table.has_words(place)] scope="col" { (cell(column)) }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (place, text) in row.iter().enumerate() {
                                @if place == 0 { th scope="row" { (cell(text)) } }
                                @else {
                                    td.fixed[text.chars().count() <= FIXED_CHARACTERS_MAX].words[table.has_words(place)] {
                                        (cell(text))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Success by size, as a drawing and as a table.
pub(super) fn by_size(report: &Report) -> Markup {
    if report.by_size.is_empty() {
        return Markup::default();
    }
    let (groups, overall) = (&report.by_size, report.baselines());
    let sizes: Vec<u32> = groups.iter().map(|group| group.size).collect();
    let measured = |group: &BySize| Point {
        rate: group.passed as f64 / group.runs.max(1) as f64,
        interval: Some((group.low, group.high)),
    };
    let names: Vec<String> = overall
        .iter()
        .map(|rate| format!("{}: {}", rate.baseline.title.to_lowercase(), rate.baseline.who))
        .collect();
    let mut series = vec![Series {
        name: "passed, with 95 % interval",
        style: Style::Measured,
        points: groups.iter().map(|group| Some(measured(group))).collect(),
    }];
    // A suite may have more baselines than there are styles, which then repeat.
    for (place, (name, style)) in names.iter().zip(Style::BASELINES.into_iter().cycle()).enumerate() {
        let point = |group: &BySize| {
            // All groups have the baselines of the suite in the same order.
            let rate = group.baselines.iter().nth(place)?.best()?;
            Some(Point { rate, interval: None })
        };
        series.push(Series { name, style, points: groups.iter().map(point).collect() });
    }
    html! {
        section aria-labelledby="by-size" {
            h2 #by-size { "Success by number of " (report.unit.many) }
            @if !names.is_empty() {
                p.intro { "Read a rate against its baselines. " (names.join("; ")) "." }
            }
            div.beside {
                (success_by_size(report.unit.many, &sizes, &series))
                (size_table(report, &overall))
            }
        }
    }
}

fn size_table(report: &Report, overall: &BaselineRates) -> Markup {
    let runs = if report.repeats > 1 { "Runs" } else { "Cases" };
    html! {
        div.scroll tabindex="0" role="region" aria-label=(format!("Table of success by number of {}", report.unit.many)) {
            table {
                thead {
                    tr {
                        th scope="col" { (capitalised(report.unit.many)) }
                        th scope="col" { (runs) }
                        th scope="col" { "Passed" }
                        th scope="col" { "Rate " span.interval { "95 % interval" } }
                        @for rate in overall.iter() { th scope="col" { (rate.baseline.title) } }
                    }
                }
                tbody {
                    @for group in &report.by_size {
                        (size_row(&group.size.to_string(), group.runs, group.passed, group.success(), &group.baselines))
                    }
                }
                @if report.by_size.len() > 1 {
                    tfoot { (size_row("all", report.scored(), report.passed, report.success(), overall)) }
                }
            }
        }
    }
}

fn size_row(name: &str, runs: u64, passed: u64, success: Option<Rate>, baselines: &BaselineRates) -> Markup {
    html! {
        tr {
            th scope="row" { (name) }
            td { (count(runs)) }
            td { (count(passed)) }
            td {
                (or_dash(success.map(|success| success.rate))) " "
                @if let Some(Rate { low, high, .. }) = success { span.interval { (percent_range(low, high)) } }
            }
            @for rate in baselines.iter() { td { (or_dash(rate.best())) } }
        }
    }
}

/// The classes and flags that occurred, each with its meaning and share.
pub(super) fn classes_and_flags(suite: &dyn Suite, report: &Report) -> Markup {
    // Classes that cannot occur in such a campaign are missing here.
    let classes = suite.classes().iter().filter(|class| report.classes.contains_key(class.name));
    let of = |counts: &BTreeMap<&'static str, u64>, name| counts.get(name).copied().unwrap_or(0);
    let classes =
        classes.map(|ClassInfo { name, meaning, .. }| Bar::new(name, meaning, of(&report.classes, *name)));
    let flags = suite.flags().iter().filter(|flag| report.flags.contains_key(flag.name));
    let flags: Vec<Bar> =
        flags.map(|FlagInfo { name, meaning }| Bar::new(name, meaning, of(&report.flags, *name))).collect();
    html! {
        div.beside.even {
            @if report.failed > 0 {
                section aria-labelledby="classes" {
                    h2 #classes { "Failures by class" }
                    p.intro {
                        "Each failure has one class, the first that applies. Shares are of all failures. The usual causes, and \
                         what to try: docs/classes.md."
                    }
                    (bars(classes, report.failed))
                    @for advice in &report.advice { p.advice { (advice) } }
                }
            }
            @if flags.iter().any(|flag| flag.runs > 0) {
                section aria-labelledby="flags" {
                    h2 #flags { "Flags" }
                    p.intro { "All that applied to scored runs, passed or not. Shares are of all scored runs." }
                    (bars(flags, report.scored()))
                }
            }
        }
    }
}

/// How often something occurred.
pub(super) struct Bar {
    name: &'static str,
    meaning: &'static str,
    runs: u64,
}

impl Bar {
    pub(super) fn new(name: &'static str, meaning: &'static str, runs: u64) -> Self {
        Self { name, meaning, runs }
    }
}

/// A line for each that occurred: the name, a bar, the count and the meaning.
pub(super) fn bars(bars: impl IntoIterator<Item = Bar>, all: u64) -> Markup {
    let (met, absent): (Vec<Bar>, Vec<Bar>) = bars.into_iter().partition(|bar| bar.runs > 0);
    html! {
        dl.bars {
            @for bar in met {
                @let share = bar.runs as f64 / all.max(1) as f64;
                div {
                    dt { (bar.name) }
                    dd.number { (count(bar.runs)) }
                    dd.number.quiet { (percent(share)) }
                    dd.bar aria-hidden="true" {
                        svg viewBox="0 0 100 4" preserveAspectRatio="none" {
                            rect width=(format!("{:.2}", share * 100.0)) height="4" {}
                        }
                    }
                    dd.meaning { (bar.meaning) }
                }
            }
        }
        @if !absent.is_empty() {
            p.quiet {
                "Did not occur: " (absent.iter().map(|bar| bar.name).collect::<Vec<_>>().join(", ")) "."
            }
        }
    }
}
