//! `planproof limit`: up to how many actions an agent plans well enough.

use std::collections::HashMap;
use std::io::Write as _;
use std::num::NonZeroU32;

use planproof_bench::{
    CaseSummary, LimitOutcome, LimitPlan, LimitReport, LimitStep, Outcome, RunSummary, SummaryInput, Unit,
};
use planproof_model::prices::Money;
use planproof_report::ReportedCampaign;
use planproof_report::html::{self, HtmlLimits};
use planproof_synth::ACTIONS_MAX;

use super::test::{Asked, Ended, Prepared, StoredOptions, carry_out, larger_budget, prepare};
use super::{print_json, runtime};
use crate::arguments::{CaseArguments, Global, LimitArguments, RecordingArguments, TestArguments};
use crate::failure::{ExitCode, Failure};
use crate::render;
use crate::report_files::{ReportFile, ReportFileArguments};
use crate::stored::{self, StoredTraces};

/// Width of the plot of success, in characters: one for every two points.
const PLOT_WIDTH: usize = 51;

pub(crate) fn run(arguments: &LimitArguments, global: &Global) -> Result<ExitCode, Failure> {
    let plan = plan(arguments)?;
    let page = match &arguments.html {
        Some(path) if path.as_os_str() == "-" && global.json => {
            return Err(Failure::usage("--html - and --json are both for stdout: name a file"));
        }
        Some(path) if *path == arguments.store.store => {
            return Err(Failure::usage(format!(
                "{} is the file of --store: name another one for the report",
                path.display()
            )));
        }
        Some(path) => Some(ReportFile::open("--html", path)?),
        None => None,
    };
    let prepared = prepare(&as_test(arguments), global, Asked::Limit(plan, &arguments.shape))?;
    let plan = prepared.options.limit.unwrap_or(plan);
    let next = |outcomes: &[Outcome]| next_units(&plan, outcomes);
    let Ended { outcomes, progress, failure, .. } =
        runtime()?.block_on(carry_out(&prepared, global, next))?;
    let mut report = sum_up(&plan, &prepared, &outcomes, progress.ended_by.as_deref());
    report.campaign.cost = prepared.options.cost(&progress);
    report.campaign = prepared.options.completed(report.campaign, &progress);
    let is_stdout_taken = page.as_ref().is_some_and(ReportFile::is_stdout);
    if let Some(page) = page {
        write_page(page, &prepared, &report, &outcomes, arguments, global)?;
    }
    if let Some(failure) = failure {
        return Err(failure);
    }
    if global.json {
        print_json(&report)?;
    } else if !is_stdout_taken {
        write!(std::io::stdout(), "{}", text(&report, &prepared.campaign.id))?;
    }
    Ok(exit_code(&report, arguments.at_least))
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

/// The campaign of a search, as `test` takes it. Its cases are drawn level by level.
fn as_test(arguments: &LimitArguments) -> TestArguments {
    TestArguments {
        dissect: Default::default(),
        shrink: Default::default(),
        agent: arguments.agent.clone(),
        agent_options: arguments.agent_options.clone(),
        cases: 0,
        draw: CaseArguments {
            actions: (arguments.from, arguments.to),
            first: 0,
            shape: arguments.shape.clone(),
        },
        from: None,
        repeat: NonZeroU32::MIN,
        concurrency: arguments.concurrency,
        timeout: arguments.timeout,
        iterations: arguments.iterations,
        serve_model: arguments.serve_model.clone(),
        model: arguments.model.clone(),
        judge: arguments.judge.clone(),
        findings: 0,
        files: ReportFileArguments::default(),
        budget: arguments.budget.clone(),
        recording: RecordingArguments::default(),
        store: arguments.store.clone(),
        resume: arguments.resume.clone(),
    }
}

/// What to run next.
fn next_units(plan: &LimitPlan, outcomes: &[Outcome]) -> Vec<Unit> {
    let scores: HashMap<u32, Option<bool>> =
        outcomes.iter().map(|outcome| (outcome.ordinal, outcome.passed())).collect();
    match plan.next(|place| scores.get(&place).copied()) {
        LimitStep::Run(places) => places.into_iter().map(|ordinal| Unit { ordinal, repeat: 0 }).collect(),
        LimitStep::Done => Vec::new(),
    }
}

fn sum_up(
    plan: &LimitPlan,
    prepared: &Prepared,
    outcomes: &[Outcome],
    ended_by: Option<&str>,
) -> LimitReport {
    let cases: Vec<CaseSummary> = prepared.campaign.cases.iter().map(CaseSummary::of).collect();
    let runs: Vec<RunSummary> = outcomes.iter().map(RunSummary::of).collect();
    let agent = &prepared.campaign.agent;
    let options: &StoredOptions = &prepared.options;
    LimitReport::new(
        *plan,
        SummaryInput {
            agent: &agent.name,
            model: agent.model.as_deref(),
            simulated: agent.simulated,
            cases: &cases,
            repeats: 1,
            runs: &runs,
            solver: options.solver(),
            synthesis: options.synthesis(),
            cost: None,
            ended_by,
        },
    )
}

fn write_page(
    page: ReportFile,
    prepared: &Prepared,
    report: &LimitReport,
    outcomes: &[Outcome],
    arguments: &LimitArguments,
    global: &Global,
) -> Result<(), Failure> {
    let row = prepared.store.campaign(&prepared.campaign.id)?;
    let reported = ReportedCampaign {
        id: &row.id,
        created_ms: row.created_ms,
        command_line: &row.command_line,
        store_option: &stored::store_option(&arguments.store),
        seed: prepared.options.seed(),
        cases: &prepared.campaign.cases,
        repeats: 1,
        outcomes,
        report: &report.campaign,
        traces: &StoredTraces { store: &prepared.store, campaign: &row.id },
    };
    page.write(global, |out| html::write_limit(report, &reported, &HtmlLimits::default(), out))
}

/// Below `--at-least`: 1. Not at its end, or not known whether it is below: 3. Otherwise 0.
fn exit_code(report: &LimitReport, at_least: Option<u32>) -> ExitCode {
    match (report.outcome, report.limit, at_least) {
        (LimitOutcome::Found, Some(limit), Some(least)) if limit < least => ExitCode::Failed,
        (LimitOutcome::BelowFrom, _, Some(_)) => ExitCode::Failed,
        (LimitOutcome::NotFinished, ..) => ExitCode::Outside,
        _ if report.campaign.not_run > 0 => ExitCode::Outside,
        _ => ExitCode::Passed,
    }
}

/// The report for a terminal.
fn text(report: &LimitReport, id: &str) -> String {
    let LimitReport { plan, campaign, .. } = report;
    let mut out = format!("{}, {} runs\n", campaign.agent, campaign.runs);
    if campaign.simulated {
        out += "SIMULATION: a simulated model planned; these figures say nothing of any real model.\n";
    }
    out += &format!("\n{}\n", table(report));
    out += "Success in per cent, with Wilson's 95 % intervals. Chance: a random order. In order: the order of mention.\n";
    if plan.early_stop {
        out += "Threshold: by an interval that holds at every look, which early stops need.\n";
    }
    out += &format!("\n{}\n{}\n", plot(report), conclusion(report));
    if campaign.unscored > 0 {
        out += &format!(
            "Unscored: {} runs say nothing of the agent, because something else failed. Try them again: planproof limit \
             --resume {id}\n",
            campaign.unscored
        );
    }
    if let Some(cost) = campaign.cost.and_then(Money::from_dollars).filter(|cost| *cost > Money::default()) {
        let about = if campaign.cost_is_estimate { "at most " } else { "" };
        out += &format!("Cost: {about}{cost}\n");
    }
    if campaign.not_run > 0 {
        let (why, larger) = match &campaign.ended_by {
            Some(budget) => (format!("Ended by the budget of {budget}"), larger_budget(budget)),
            None => ("Not finished".to_owned(), ""),
        };
        out += &format!("{why}. Go on with: planproof limit --resume {id}{larger}\n");
    }
    out
}

fn table(report: &LimitReport) -> comfy_table::Table {
    let mut table =
        render::table(&["Actions", "Runs", "Passed", "% [95 %]", "Chance", "In order", "Threshold"]);
    let dash = || "-".to_owned();
    for level in &report.levels {
        let interval = |low: f64, high: f64| format!("[{}, {}]", render::percent(low), render::percent(high));
        let side = level.side.as_str().replace('_', " ");
        table.add_row([
            level.actions.to_string(),
            format!("{} of {}", level.runs, level.planned),
            level.passed.to_string(),
            level.rate.map_or_else(dash, |rate| {
                format!("{} {}", render::percent(rate), interval(level.low, level.high))
            }),
            level.chance.map_or_else(dash, render::percent),
            level.in_order.map_or_else(dash, render::percent),
            match report.plan.early_stop {
                true => format!("{side} {}", interval(level.sequential_low, level.sequential_high)),
                false => side,
            },
        ]);
    }
    table
}

/// Success by number of actions, a line each: the rate, its interval, both baselines and the threshold.
fn plot(report: &LimitReport) -> String {
    let column = |rate: f64| (rate.clamp(0.0, 1.0) * (PLOT_WIDTH - 1) as f64).round() as usize;
    let mut out = format!("         0 %{:>width$}\n", "100 %", width = PLOT_WIDTH - 2);
    for level in &report.levels {
        let mut line = vec![' '; PLOT_WIDTH];
        line[column(report.plan.threshold)] = '┊';
        line[column(level.low)..=column(level.high)].fill('─');
        for (rate, sign) in [(level.chance, '◇'), (level.in_order, '△'), (level.rate, '●')] {
            if let Some(rate) = rate {
                line[column(rate)] = sign;
            }
        }
        out += &format!("{:>7} │{}│\n", level.actions, line.into_iter().collect::<String>());
    }
    out + "        ● success and its interval ─   ◇ chance   △ in order   ┊ threshold\n"
}

/// The limit in words.
fn conclusion(report: &LimitReport) -> String {
    let LimitReport { plan, .. } = report;
    let threshold = render::percent(plan.threshold);
    let mut out = match (report.outcome, report.limit) {
        (LimitOutcome::Found, Some(limit)) => {
            format!("Limit: {limit} actions, the last number before success falls under {threshold} %.")
        }
        (LimitOutcome::BelowFrom, _) => {
            format!("Limit: below {} actions, where success is under {threshold} % already.", plan.from)
        }
        (LimitOutcome::AboveTo, _) => format!(
            "Limit: {} actions or more; success never fell under {threshold} %. Look further with --from {} --to N.",
            plan.to,
            plan.to + 1
        ),
        _ => "The limit is not known: the search did not come to its end.".to_owned(),
    };
    match (report.limit_low, report.limit_high) {
        (Some(low), Some(high)) => out += &format!(" By the intervals: {low} to {high}."),
        (Some(low), None) => out += &format!(" By the intervals: {low} or more."),
        (None, Some(high)) => out += &format!(" By the intervals: at most {high}."),
        (None, None) => {}
    }
    out
}
