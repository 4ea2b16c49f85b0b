//! The campaign summed up: who was tested, key figures, success by number of actions, classes and flags.

use std::collections::BTreeMap;

use maud::{Markup, html};
use planproof_bench::{ByActions, MonitorUse, Rate, Report};
use planproof_synth::{Class, Flag};

use super::chart::{ONE_LOOK, Point, Series, Style, success_by_actions};
use super::page::{banner, top};
use super::text::{Foreign, count, counted, date, percent, percent_range, seconds};
use super::{NAME_CHARACTERS_MAX, command};
use crate::ReportedCampaign;
use crate::campaign::without_temperature;

/// Most characters shown of why a set-up is broken.
const REASON_CHARACTERS_MAX: usize = 1000;

/// Who was tested with what and when, and a banner if it was a simulation.
pub(super) fn head(campaign: &ReportedCampaign<'_>) -> Markup {
    let report = campaign.report;
    html! {
        header.page {
            (top("campaign report"))
            h1 { (Foreign::short(&report.agent, NAME_CHARACTERS_MAX)) }
            (who(report.model.as_deref()))
            (origin(campaign))
        }
        @if report.simulated { (banner("a simulated model planned")) }
    }
}

/// With which model the agent was tested.
pub(super) fn who(model: Option<&str>) -> Markup {
    html! {
        p.who {
            @match model {
                Some(model) => { "with the model " b { (Foreign::short(model, NAME_CHARACTERS_MAX)) } },
                None => "with a model of its own",
            }
        }
    }
}

/// Where the figures come from.
pub(super) fn origin(campaign: &ReportedCampaign<'_>) -> Markup {
    html! {
        dl.origin {
            div { dt { "Campaign" } dd { code { (Foreign::short(campaign.id, NAME_CHARACTERS_MAX)) } } }
            div { dt { "Began" } dd { (date(campaign.created_ms)) } }
            div { dt { "Seed" } dd { (campaign.seed) } }
            div { dt { "Cases" } dd { (count(campaign.cases.len() as u64)) } }
            @if campaign.repeats > 1 { div { dt { "Repeats" } dd { (campaign.repeats) } } }
            @if let Some(used) = &campaign.report.monitor {
                div { dt { "Continuation" } dd { (continuations(used)) } }
                @if !used.judged_by.is_empty() {
                    div { dt { "Judged by" } dd { (Foreign::short(&judges(used), NAME_CHARACTERS_MAX)) } }
                }
            }
            div.wide {
                dt { "Command" }
                dd { (command(campaign.command_line)) }
            }
        }
    }
}

/// Key figures, and what keeps the campaign from being whole.
pub(super) fn key_figures(campaign: &ReportedCampaign<'_>) -> Markup {
    let report = campaign.report;
    let success = report.success();
    let words = Words::of(report);
    html! {
        section aria-labelledby="figures" {
            h2 #figures.unseen { "Key figures" }
            @if let Some(why) = &report.broken_setup {
                p.banner role="note" {
                    strong { "The set-up is broken:" } " nothing can be said of the agent. The campaign was stopped when "
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
            @if let Some(models) = without_temperature(report) {
                p.banner role="note" {
                    strong { "Without a temperature:" } " " (Foreign::short(&models, NAME_CHARACTERS_MAX))
                    " refused it, so that the same campaign may come out otherwise again."
                }
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
                (figure("Unscored", &count(report.unscored), &html! { "runs that say nothing of the agent" }))
                (figure("Not run", &count(report.not_run), &html! { (words.not_run) }))
                (figure("Chance", &or_dash(report.chance()), &html! { "a random order would pass" }))
                (figure("Order of mention", &or_dash(report.in_order()), &html! {
                    "calling from left to right would pass"
                }))
                (figure("One look", &or_dash(report.one_look()), &html! {
                    "the best of five orders read off the text without planning would pass"
                }))
                (figure("Tokens", &count(report.tokens.input + report.tokens.output), &html! {
                    (count(report.tokens.input)) " read, " (count(report.tokens.output)) " written"
                }))
                @if let Some(used) = &report.monitor {
                    (figure("Corrections", &count(used.corrections), &html! {
                        (counted(used.discarded_tokens, "token", "tokens")) " discarded, "
                        (count(used.repeated_tokens)) " read again"
                    }))
                }
                @if let Some(cost) = report.cost {
                    (figure("Cost", &format!("{cost:.2}\u{a0}USD"), &html! { "at the prices known" }))
                }
                (figure("Agent time", &seconds(report.agent_seconds), &html! {
                    "summed over runs; synthesis took " (seconds(report.synthesis_seconds))
                }))
            }
        }
    }
}

/// How a model was asked to go on, in words.
fn continuations(used: &MonitorUse) -> String {
    used.continuations.iter().map(|word| word.replace('_', " ")).collect::<Vec<_>>().join(", ")
}

fn judges(used: &MonitorUse) -> String {
    used.judged_by.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// What is counted: cases, or their runs where there are several of each.
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
                failed: "cases with a wrong plan",
                not_run: "cases without a finished run",
            },
            _ => Self {
                scored: ["scored run", "scored runs"],
                without: "no run has a score",
                failed: "runs with a wrong plan",
                not_run: "runs that did not come to their end",
            },
        }
    }
}

/// What repeats say: how often all of `k` runs of a case pass, and how many cases are flaky.
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
    let rest =
        if campaign.repeats > 1 { " not finished. Go on with " } else { " no finished run. Go on with " };
    html! {
        (counted(campaign.report.all_not_run(), one, several)) (rest)
        (command(&campaign.command_to_resume()))
    }
}

pub(super) fn or_dash(rate: Option<f64>) -> String {
    rate.map_or("–".to_owned(), percent)
}

pub(super) fn figure(name: &str, value: &str, note: &Markup) -> Markup {
    html! { div.figure { p.name { (name) } p.value { (value) } p.quiet { (note) } } }
}

/// All cases as one bar.
fn proportions(report: &Report) -> Markup {
    let parts = [
        ("passed", report.passed),
        ("failed", report.failed),
        ("unscored", report.unscored),
        ("not run", report.not_run),
    ];
    let all: u64 = parts.iter().map(|(_, cases)| cases).sum();
    if all == 0 {
        return Markup::default();
    }
    let words: Vec<String> = parts
        .iter()
        .filter(|(_, cases)| *cases > 0)
        .map(|(name, cases)| format!("{} {name}", count(*cases)))
        .collect();
    let mut before = 0;
    html! {
        svg.proportions viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" {
            @for (name, cases) in parts.into_iter().filter(|(_, cases)| *cases > 0) {
                @let [x, width] = [before, cases].map(|cases| format!("{:.2}", cases as f64 / all as f64 * 1000.0));
                rect.(name.replace(' ', "-")) x=(x) y="0" width=(width) height="10" {
                    title { (count(cases)) " " (name) }
                }
                @let () = before += cases;
            }
        }
        p.quiet { (words.join(", ")) }
    }
}

/// The infeasible cases, which are in none of the other figures.
pub(super) fn infeasible(report: &Report) -> Markup {
    let Some(found) = &report.infeasible else { return Markup::default() };
    let of_scored = |runs: u64| {
        let share = (found.scored() > 0).then(|| runs as f64 / found.scored() as f64);
        html! { (or_dash(share)) " of scored runs" }
    };
    let interval = |rate: Option<Rate>| {
        html! {
            @if let Some(Rate { rate, low, high }) = rate {
                (percent(rate)) ", 95 % interval " (percent_range(low, high))
            } @else { "no run has a score" }
        }
    };
    html! {
        section aria-labelledby="infeasible" {
            h2 #infeasible { "Infeasible cases" }
            p.intro {
                (counted(found.cases, "case contradicts itself", "cases contradict themselves"))
                " on purpose: the right answer is to do no task and to report which sentences cannot hold together. "
                "They are scored apart, and in no other rate of this page."
            }
            div.figures {
                (figure("Detected", &format!("{} of {}", count(found.detected), count(found.scored())),
                    &interval(found.detection())))
                (figure("Named exactly", &count(found.exact), &html! {
                    (interval(found.exactness())) "; naming all sentences: " (or_dash(found.all_exact))
                }))
                (figure("Named with more", &count(found.superset), &of_scored(found.superset)))
                (figure("Named otherwise", &count(found.other), &of_scored(found.other)))
                (figure("Did tasks", &count(found.acted), &of_scored(found.acted)))
                (figure("False alarms", &format!("{} of {}", count(found.false_alarms), count(report.scored())),
                    &html! { (interval(found.false_alarm_rate(report.scored()))) "; feasible cases" }))
                @if found.unscored + found.not_run > 0 {
                    (figure("Without a score", &count(found.unscored + found.not_run), &html! {
                        (count(found.unscored)) " unscored, " (count(found.not_run)) " not run"
                    }))
                }
            }
        }
    }
}

/// Success by number of actions: the drawing and the same as a table.
pub(super) fn by_actions(report: &Report) -> Markup {
    if report.by_actions.is_empty() {
        return Markup::default();
    }
    let groups = &report.by_actions;
    let actions: Vec<usize> = groups.iter().map(|group| group.actions).collect();
    let measured = |group: &ByActions| Point {
        rate: group.passed as f64 / group.runs.max(1) as f64,
        interval: Some((group.low, group.high)),
    };
    let baseline = |rate: Option<f64>| rate.map(|rate| Point { rate, interval: None });
    let series = [
        Series {
            name: "passed, with 95 % interval",
            style: Style::Measured,
            points: groups.iter().map(|group| Some(measured(group))).collect(),
        },
        Series {
            name: "chance: a random order",
            style: Style::Chance,
            points: groups.iter().map(|group| baseline(group.chance)).collect(),
        },
        Series {
            name: "order of mention",
            style: Style::InOrder,
            points: groups.iter().map(|group| baseline(Some(group.in_order))).collect(),
        },
        Series {
            name: ONE_LOOK,
            style: Style::OneLook,
            points: groups.iter().map(|group| baseline(group.one_look.best())).collect(),
        },
    ];
    html! {
        section aria-labelledby="by-actions" {
            h2 #by-actions { "Success by number of actions" }
            p.intro {
                "A rate means something by its distance from its baselines: calling every tool once in a random order; \
                 calling the tools in the order in which the text mentions their actions; and the best of five orders that \
                 one reads off the text at one style: that one, its reverse, and the one or the other by the first ordering \
                 word, by most of them, or sentence by sentence."
            }
            div.beside {
                (success_by_actions(&actions, &series))
                (actions_table(report))
            }
        }
    }
}

fn actions_table(report: &Report) -> Markup {
    let runs = if report.repeats > 1 { "Runs" } else { "Cases" };
    html! {
        div.scroll tabindex="0" role="region" aria-label="Table of success by number of actions" {
            table {
                thead {
                    tr {
                        th scope="col" { "Actions" }
                        th scope="col" { (runs) }
                        th scope="col" { "Passed" }
                        th scope="col" { "Rate " span.interval { "95 % interval" } }
                        th scope="col" { "Chance" }
                        th scope="col" { "Order of mention" }
                        th scope="col" { "One look" }
                    }
                }
                tbody {
                    @for group in &report.by_actions {
                        @let baselines = [group.chance, Some(group.in_order), group.one_look.best()];
                        (actions_row(&group.actions.to_string(), group.runs, group.passed, group.success(), baselines))
                    }
                }
                @if report.by_actions.len() > 1 {
                    tfoot {
                        @let baselines = [report.chance(), report.in_order(), report.one_look()];
                        (actions_row("all", report.scored(), report.passed, report.success(), baselines))
                    }
                }
            }
        }
    }
}

fn actions_row(
    name: &str,
    runs: u64,
    passed: u64,
    success: Option<Rate>,
    baselines: [Option<f64>; 3],
) -> Markup {
    html! {
        tr {
            th scope="row" { (name) }
            td { (count(runs)) }
            td { (count(passed)) }
            td {
                (or_dash(success.map(|success| success.rate))) " "
                @if let Some(Rate { low, high, .. }) = success { span.interval { (percent_range(low, high)) } }
            }
            @for baseline in baselines { td { (or_dash(baseline)) } }
        }
    }
}

/// The classes and the flags that occurred, each with its meaning and its share.
pub(super) fn classes_and_flags(report: &Report) -> Markup {
    // What cannot occur in such a campaign is not there.
    let classes = Class::ALL.into_iter().filter(|class| report.classes.contains_key(class.as_str()));
    let classes = classes.map(|class| Bar::new(class.as_str(), class_meaning(class), &report.classes));
    let flags = Flag::ALL.into_iter().filter(|flag| report.flags.contains_key(flag.as_str()));
    let flags: Vec<Bar> =
        flags.map(|flag| Bar::new(flag.as_str(), flag_meaning(flag), &report.flags)).collect();
    html! {
        div.beside.even {
            @if report.failed > 0 {
                section aria-labelledby="classes" {
                    h2 #classes { "Failures by class" }
                    p.intro { "Each failure has one class, the first that applies. Shares are of all failures." }
                    (bars(classes, report.failed))
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

fn class_meaning(class: Class) -> &'static str {
    match class {
        Class::Timeout => "A limit of time, turns or output was reached before the agent had finished.",
        Class::ActError => {
            "A refused call (no such tool, or arguments that do not fit) explains a missing action; or the agent broke."
        }
        Class::ActionLost => "An action was never done.",
        Class::ParameterError => "A start time cannot be.",
        Class::OrderError => "Actions were done in an order that the paragraph rules out.",
        Class::Repeated => "An action was done again after it was done.",
        Class::Distractor => "A tool was called that belongs to no action.",
        Class::FalseAlarm => "A conflict was reported, although everything can hold together.",
        Class::ConflictMissed => "A conflict was not reported, or a task was done all the same.",
    }
}

fn flag_meaning(flag: Flag) -> &'static str {
    match flag {
        Flag::Class(Class::ActError) => "A call was refused, or the agent broke.",
        Flag::Class(class) => class_meaning(class),
        Flag::Concurrent => "Calls overlapped in time.",
        Flag::AtOnce => "What has to come one after the other was written in one reply, in the right order.",
        Flag::AgentFailed => "The agent broke instead of finishing.",
        Flag::HeldBack => "A guard held a call back, which was not executed.",
        Flag::RestartLimit => "The day was to be cleared more often than is allowed.",
    }
}

/// How often something occurred.
pub(super) struct Bar {
    name: &'static str,
    meaning: &'static str,
    runs: u64,
}

impl Bar {
    pub(super) fn new(
        name: &'static str,
        meaning: &'static str,
        counts: &BTreeMap<&'static str, u64>,
    ) -> Self {
        Self { name, meaning, runs: counts.get(name).copied().unwrap_or(0) }
    }
}

/// A line for each that occurred: the name, a bar, the count, what it means.
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
