//! `planproof test`: a campaign.

mod budgets;
mod carry_out;
mod cases;
mod models;
mod options;
mod prepare;
mod recording;

use std::io::Write as _;

use planproof_bench::{Outcome, Report, ReportInput, pick_findings};
use planproof_model::prices::Money;
use planproof_store::Progress;
use planproof_synth::Case;

use super::{print_json, runtime};
use crate::arguments::{Global, TestArguments};
use crate::failure::{ExitCode, Failure};
use crate::render::{self, Marking};
use carry_out::{Ended, carry_out};
use prepare::{Prepared, prepare};

pub(crate) use options::StoredOptions;
pub(crate) use prepare::must_be_no_folder;

/// Most cases of a replay whose differences are told.
const DIFFERENCES_SHOWN_MAX: usize = 5;

pub(crate) fn run(arguments: &TestArguments, global: &Global) -> Result<ExitCode, Failure> {
    let prepared = prepare(arguments, global)?;
    let Ended { outcomes, progress } = runtime()?.block_on(carry_out(&prepared, global))?;
    let summary = Summary {
        id: &prepared.campaign.id,
        agent: &prepared.campaign.agent.name,
        model: prepared.campaign.agent.model.as_deref(),
        simulated: prepared.campaign.agent.simulated,
        cases: &prepared.campaign.cases,
        outcomes: &outcomes,
        options: &prepared.options,
        progress: &progress,
    };
    let report = summary.report();
    match summary.print(&report, arguments.findings, global) {
        // Whoever reads no further wants to know all the same how it went.
        Ok(()) | Err(Failure::OutputClosed) => {}
        Err(failure) => return Err(failure),
    }
    if tell_differences(&prepared, &outcomes) {
        return Ok(ExitCode::Outside);
    }
    Ok(exit_code(&report))
}

/// Failures found: 1. No run with a score, though there should be: 3. Otherwise 0.
fn exit_code(report: &Report) -> ExitCode {
    match (report.failed, report.unscored, report.not_run) {
        (1.., ..) => ExitCode::Failed,
        (0, 1.., _) => ExitCode::Outside,
        (0, 0, 1..) if report.passed == 0 => ExitCode::Outside,
        (0, 0, _) => ExitCode::Passed,
    }
}

/// A campaign as it stands, to be summed up.
pub(crate) struct Summary<'a> {
    /// Its id in the run store.
    pub(crate) id: &'a str,
    pub(crate) agent: &'a str,
    pub(crate) model: Option<&'a str>,
    pub(crate) simulated: bool,
    pub(crate) cases: &'a [Case],
    pub(crate) outcomes: &'a [Outcome],
    pub(crate) options: &'a StoredOptions,
    pub(crate) progress: &'a Progress,
}

impl Summary<'_> {
    /// The campaign summed up.
    pub(crate) fn report(&self) -> Report {
        let spent = self.progress.spent;
        let cost = spent.picodollars.map(|picodollars| Money::from_picodollars(picodollars).dollars());
        let mut report = Report::new(ReportInput {
            agent: self.agent,
            model: self.model,
            simulated: self.simulated,
            cases: self.cases,
            outcomes: self.outcomes,
            solver: self.options.solver(),
            synthesis: self.options.synthesis(),
            cost: cost.filter(|_| !self.options.is_replay()),
            ended_by: self.progress.ended_by.as_deref(),
        });
        report.replay = self.options.is_replay();
        report.cost_is_estimate = report.cost.is_some() && spent.is_estimate;
        // A program's turns are not in its traces; what the model told it that was served to it is counted there.
        if self.options.serve_model.is_some() {
            report.tokens.input = self.progress.served_input_tokens;
            report.tokens.output = self.progress.served_output_tokens;
        }
        report
    }

    /// The report to stdout: one JSON document, or the tables and the worst findings.
    pub(crate) fn print(&self, report: &Report, findings_max: usize, global: &Global) -> Result<(), Failure> {
        if global.json {
            // The document only counts them.
            if let Some(why) = self.unscored(report) {
                eprintln!("{} runs are unscored. {why}", report.unscored);
            }
            if let Some(note) = self.ended(report) {
                eprintln!("{note}");
            }
            return print_json(report);
        }
        let mut out = std::io::stdout().lock();
        if report.replay {
            writeln!(out, "REPLAY: the answers came from a recording; no model was asked.")?;
        }
        writeln!(out, "{}", render::report(report))?;
        let findings = pick_findings(self.cases, self.outcomes, findings_max);
        for (place, finding) in findings.iter().enumerate() {
            let again = format!("planproof runs show {} --case {}", self.id, finding.case.id);
            writeln!(out, "{}", render::finding(place + 1, finding, &again, Marking::for_stdout()))?;
        }
        if let Some(cost) = report.cost.and_then(Money::from_dollars).filter(|cost| *cost > Money::default())
        {
            let about = if report.cost_is_estimate { "at most " } else { "" };
            writeln!(out, "Cost: {about}{cost}\n")?;
        }
        for note in self.unscored(report).into_iter().chain(self.ended(report)) {
            writeln!(out, "{note}\n")?;
        }
        Ok(())
    }

    /// Why runs have no score, and what to do about it.
    fn unscored(&self, report: &Report) -> Option<String> {
        let unscored = self.outcomes.iter().find_map(|outcome| outcome.verdict.as_ref().err())?;
        let again = format!("\nTry them again: planproof test --resume {}", self.id);
        Some(format!("Why, for example: {unscored}{}", if report.replay { "" } else { &again }))
    }

    /// Which budget ended the campaign, and what to do about it.
    fn ended(&self, report: &Report) -> Option<String> {
        let budget = report.ended_by.as_deref()?;
        let ended = format!(
            "Ended by the budget of {budget}: {} of {} cases were not run.",
            report.not_run,
            self.cases.len()
        );
        let again = format!(" Go on with: planproof test --resume {}{}", self.id, budgets::larger(budget));
        Some(format!("{ended}{}", if report.replay { "" } else { &again }))
    }
}

/// Tells on stderr in what a replay differs from its recording. Whether it does.
fn tell_differences(prepared: &Prepared, outcomes: &[Outcome]) -> bool {
    let Some(replayed) = &prepared.replayed else { return false };
    let mut differences = replayed.recorded.differences(&prepared.campaign.cases, outcomes);
    let misses = replayed.models.iter().flat_map(|model| model.misses());
    // A program may cope with a model that refuses, so that no verdict shows it.
    let untold: Vec<String> =
        misses.filter(|miss| !differences.iter().any(|difference| difference.contains(miss))).collect();
    differences.extend(untold.into_iter().map(|miss| format!("a request that is not recorded: {miss}")));
    if differences.is_empty() {
        return false;
    }
    let path = replayed.recorded.recording.path().display();
    let places = if differences.len() == 1 { "1 place" } else { &format!("{} places", differences.len()) };
    eprintln!("error: the replay differs from its recording {path} in {places}:");
    for difference in differences.iter().take(DIFFERENCES_SHOWN_MAX) {
        eprintln!("  {difference}");
    }
    if differences.len() > DIFFERENCES_SHOWN_MAX {
        eprintln!("  and {} more", differences.len() - DIFFERENCES_SHOWN_MAX);
    }
    true
}
