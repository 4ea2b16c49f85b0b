//! `planproof limit`: the number of actions up to which an agent plans well enough.

use std::collections::HashMap;
use std::io::Write as _;

use planproof_engine::{LimitOutcome, LimitPlan, LimitReport, LimitStep, Outcome, RunSummary, Unit};
use planproof_order::synth::ACTIONS_MAX;
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::print::print_json;
use planproof_output::report_files::ReportFile;
use planproof_output::runtime::runtime;
use planproof_output::table::{self, TextTable};
use planproof_output::{layout, tell, terminal};
use planproof_report::html::{self, HtmlLimits};
use planproof_report::{ReportedCampaign, deciding_interval, limit_is_decided, limit_lines};
use tokio_util::sync::CancellationToken;

use super::source::LimitCases;
use crate::arguments::{Global, LimitArguments};
use crate::commands::campaign::{
    Ended, Extras, Prepared, REPLAY, broken_setup, carry_out, cost, findings, named_agent, notes, prepare,
    stop_on_signal,
};
use crate::commands::view::Beside;
use crate::render::{self, Findings};
use crate::stream::Stream;

/// Width of the plot of success, in characters: one for every two points.
const PLOT_WIDTH: usize = 51;

pub(crate) fn run(arguments: &LimitArguments, global: &Global) -> Result<ExitCode, Failure> {
    let plan = plan(arguments)?;
    let mut taken = arguments.campaign.taken_files();
    taken.extend(arguments.shape.topics.as_deref().map(|path| ("--topics", path)));
    let page = ReportFile::page(arguments.html.as_deref(), &taken, global.json)?;
    let stream = Stream::open(arguments.campaign.stream.as_deref(), &taken)?;
    let mut prepared = prepare(
        &arguments.campaign,
        global,
        named_agent(&arguments.campaign)?,
        &LimitCases::new(plan, arguments).plan(),
        Extras::default(),
    )?;
    prepared.stream = stream;
    // A resumed or replayed search keeps its own plan.
    let plan = prepared.run.options.limit.unwrap_or(plan);
    let next = |outcomes: &[Outcome]| next_units(&plan, &prepared, outcomes);
    let beside = Beside::start(&arguments.campaign, Some(&prepared.run.campaign.id))?;
    let Ended { outcomes, progress, seal, failure, .. } =
        runtime()?.block_on(async { carry_out(&prepared, global, &stop_on_signal(), next).await })?;
    drop(beside);
    let runs: Vec<RunSummary> = outcomes.iter().map(RunSummary::of).collect();
    let label = prepared.run.store.campaign(&prepared.run.campaign.id)?.label;
    let summed = prepared.run.summed((&prepared.run.cards, &runs), &progress, seal, label.as_deref());
    let report =
        summed.limit().ok_or_else(|| Failure::usage("the campaign is no longer a search for a limit"))?;
    let is_stdout_taken = page.as_ref().is_some_and(ReportFile::is_stdout);
    // Written even if the search was halted, because it shows what is finished.
    if let Some(page) = page {
        let write = |reported: &ReportedCampaign<'_>| {
            page.write(global.quiet, |out| html::write_limit(&report, reported, &HtmlLimits::default(), out))
        };
        unless_closed(prepared.reported(&outcomes, &report.campaign, None, write))?;
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    if let Some(why) = &report.campaign.broken_setup {
        let resumed = prepared.commands().resume(&prepared.run.campaign.id);
        tell!("{}", Failure::outside(broken_setup(why, &resumed)).describe());
        if global.json && !is_stdout_taken {
            unless_closed(print_json(&report))?;
        }
        return Ok(ExitCode::Outside);
    }
    let unscored = outcomes.iter().find_map(|outcome| outcome.verdict.as_ref().err());
    let notes = notes(&report.campaign, unscored, &prepared.commands().resume(&prepared.run.campaign.id));
    // Stdout is one document then.
    if global.json || is_stdout_taken {
        notes.iter().for_each(|note| tell!("{note}"));
    }
    let printed = match (global.json, is_stdout_taken) {
        (true, _) => print_json(&report),
        (false, true) => Ok(()),
        (false, false) => {
            let seal = report.campaign.seal.as_ref().map(|seal| format!("seal {seal}\n")).unwrap_or_default();
            let found = Findings::of(&prepared.run.campaign.cases, &outcomes, arguments.findings);
            let (unit, id) = (prepared.run.suite.unit(), &prepared.run.campaign.id);
            let found = findings(&found, unit, 1, id, &prepared.commands());
            write!(terminal::text(), "{}{seal}", text(&report, &found, &notes)).map_err(Failure::from)
        }
    };
    unless_closed(printed)?;
    if prepared.tell_differences(&outcomes, &[]) {
        return Ok(ExitCode::Outside);
    }
    // A replay that is as recorded has passed, unless `--at-least` asks for a verdict on the limit itself.
    Ok(match prepared.run.is_as_recorded(&outcomes, &progress) && arguments.at_least.is_none() {
        true => ExitCode::Passed,
        false => exit_code(&report, arguments.at_least),
    })
}

/// Carries out a search, and prints nothing of it.
pub(crate) async fn quietly(
    arguments: &LimitArguments,
    global: &Global,
    stop: &CancellationToken,
) -> Result<(), Failure> {
    let plan = plan(arguments)?;
    let agent = named_agent(&arguments.campaign)?;
    let prepared = prepare(
        &arguments.campaign,
        global,
        agent,
        &LimitCases::new(plan, arguments).plan(),
        Extras::default(),
    )?;
    let plan = prepared.run.options.limit.unwrap_or(plan);
    let ended = carry_out(&prepared, global, stop, |outcomes| next_units(&plan, &prepared, outcomes)).await?;
    prepared.came_to_its_end(ended)
}

/// The search that the command line asks for.
fn plan(arguments: &LimitArguments) -> Result<LimitPlan, Failure> {
    let LimitArguments { from, to, .. } = *arguments;
    if from < 2 || to as usize > ACTIONS_MAX || from > to {
        return Err(Failure::usage(format!(
            "--from {from} --to {to}: the numbers of actions must be 2 to {ACTIONS_MAX}, the first not above the last"
        )));
    }
    if arguments.at_least.is_some_and(|least| !(from..=to).contains(&least)) {
        return Err(Failure::usage(format!(
            "--at-least must be one of the numbers searched, {from} to {to}"
        )));
    }
    Ok(LimitPlan {
        from,
        to,
        cases_per_pair: arguments.cases_per_pair.get(),
        cases_max: arguments.cases_max.get(),
        threshold: arguments.threshold,
        early_stop: !arguments.no_early_stop,
        past_limit: arguments.past_limit,
    })
}

/// The next cases to run: none if a replay does not have them.
fn next_units(plan: &LimitPlan, prepared: &Prepared, outcomes: &[Outcome]) -> Vec<Unit> {
    // The search keeps no state: its next step follows from all outcomes, so a resumed one takes the same steps.
    let scores: HashMap<u32, Option<bool>> =
        outcomes.iter().map(|outcome| (outcome.ordinal, outcome.passed())).collect();
    match plan.next(|place| scores.get(&place).copied()) {
        LimitStep::Run(places) => {
            let units = places.into_iter().map(|ordinal| Unit { ordinal, repeat: 0 });
            units.filter(|unit| prepared.run.can_run(unit)).collect()
        }
        LimitStep::Done => Vec::new(),
    }
}

/// Below `--at-least`: 1. Unfinished, or not known to be below: 3. Otherwise 0.
fn exit_code(report: &LimitReport, at_least: Option<u32>) -> ExitCode {
    match (report.outcome, report.limit, at_least) {
        (LimitOutcome::Found, Some(limit), Some(least)) if limit < least => ExitCode::Failed,
        (LimitOutcome::BelowFrom, _, Some(_)) => ExitCode::Failed,
        (LimitOutcome::NotFinished, ..) => ExitCode::Outside,
        _ if report.campaign.not_run > 0 => ExitCode::Outside,
        _ => ExitCode::Passed,
    }
}

/// The report for a terminal: what the search came to, the findings, then the figures.
pub(crate) fn text(report: &LimitReport, findings: &str, notes: &[String]) -> String {
    let LimitReport { plan, campaign, .. } = report;
    let mut out = if campaign.replay { format!("{REPLAY}\n") } else { String::new() };
    let what = format!("{}, {}", terminal::inline(&campaign.agent), layout::counted(campaign.runs, "run"));
    out += &format!("{}\n", layout::text(&what));
    if campaign.simulated {
        out += &format!("{}\n", render::simulation());
    }
    out += &format!("\n{}\n{findings}{:#}\n", conclusion(report), table(report));
    let threshold = layout::percent(plan.threshold);
    let intervals = match plan.early_stop {
        true => format!(
            "Success in per cent, with 95 % intervals that hold at every look: a number of actions is decided as soon as its \
             interval lies on one side of {threshold} %."
        ),
        false => "Success in per cent, with Wilson's 95 % intervals.".to_owned(),
    };
    let baselines = "Chance: a random order. In order: the order of mention.";
    out += &format!("{}\n", layout::paragraph(&format!("{intervals} {baselines}")));
    out += &format!("\n{}", plot(report));
    for note in cost(campaign).iter().chain(notes) {
        out += &format!("{note}\n");
    }
    out
}

fn table(report: &LimitReport) -> TextTable {
    let against = format!("vs {} %", layout::percent(report.plan.threshold));
    let mut table = table::table(&["Actions", "Passed", "% [95 %]", &against, "Chance", "In order"]);
    let dash = || "-".to_owned();
    for level in &report.levels {
        let interval = |low: f64, high: f64| format!("[{}, {}]", layout::percent(low), layout::percent(high));
        let side = level.side.as_str().replace('_', " ");
        let (low, high) = deciding_interval(report, level);
        table.add_row([
            level.actions.to_string(),
            format!("{} of {}", level.passed, level.runs),
            level.rate.map_or_else(dash, |rate| format!("{} {}", layout::percent(rate), interval(low, high))),
            side,
            level.chance.map_or_else(dash, layout::percent),
            level.in_order.map_or_else(dash, layout::percent),
        ]);
    }
    table
}

/// Success by number of actions, a line each: the rate, its interval, chance, the order of mention and the threshold.
fn plot(report: &LimitReport) -> String {
    let column = |rate: f64| (rate.clamp(0.0, 1.0) * (PLOT_WIDTH - 1) as f64).round() as usize;
    let mut out = format!("         0 %{:>width$}\n", "100 %", width = PLOT_WIDTH - 2);
    for level in &report.levels {
        let mut line = vec![' '; PLOT_WIDTH];
        line[column(report.plan.threshold)] = '┊';
        let (low, high) = deciding_interval(report, level);
        line[column(low)..=column(high)].fill('─');
        // A later sign covers an earlier one in the same column, and success must be seen.
        for (rate, sign) in [(level.chance, '◇'), (level.in_order, '△'), (level.rate, '●')] {
            if let Some(rate) = rate {
                line[column(rate)] = sign;
            }
        }
        out += &format!("{:>7} │{}│\n", level.actions, line.into_iter().collect::<String>());
    }
    out + "        ● success and its interval ─   ◇ chance   △ in order   ┊ threshold\n"
}

/// The limit in words, and how to learn more.
fn conclusion(report: &LimitReport) -> String {
    let lines = limit_lines(report).into_iter();
    let mut out: String =
        lines.map(|(name, text)| layout::labelled_line(&format!("{name}:"), &text)).collect();
    if let Some(next) = next_search(report) {
        out += &layout::labelled_line("Next:", &next);
    }
    out
}

/// Which further search would tell more; `None` if there is none.
fn next_search(report: &LimitReport) -> Option<String> {
    let mut next = Vec::new();
    if report.outcome != LimitOutcome::NotFinished && !limit_is_decided(report) {
        next.push("more cases decide more: raise --cases-per-pair and --cases-max".to_owned());
    }
    if report.outcome == LimitOutcome::AboveTo && (report.plan.to as usize) < ACTIONS_MAX {
        next.push(format!("look further with --from {} --to N", report.plan.to + 1));
    }
    (!next.is_empty()).then(|| next.join("; "))
}
