//! What is printed about a campaign that has ended or was read back, and what its command exits with.

use std::io::Write as _;

use planproof_engine::{Finding, OverLimits, Report, is_unscored_for_good};
use planproof_model::prices::Money;
use planproof_output::failure::{ExitCode, Failure};
use planproof_output::print::print_json;
use planproof_output::{layout, progress, tell, terminal};
use planproof_report::gate::GateReport;
use planproof_report::{CommandLines, short_in_the_middle};
use planproof_suite::{SizeUnit, Unscored};
use planproof_tools::process::shell_word;

use crate::arguments::Global;
use crate::commands::gate;
use crate::render::{self, Findings, Seen};

/// Stands above the figures of a replay.
pub(crate) const REPLAY: &str = "REPLAY: the answers came from a recording; no model was asked.";

/// What a report shows of single runs, and how much of the rest.
pub(crate) struct Found<'a> {
    /// The failures to show, in the order of their numbers.
    pub(crate) findings: &'a Findings<'a>,
    /// Why a run has no score, if there is such a run.
    pub(crate) unscored: Option<&'a Unscored>,
    /// The campaign's seed.
    pub(crate) seed: u64,
    /// Whether all tables are shown.
    pub(crate) details: bool,
    /// Whether the campaign is worse than an earlier one, if that was asked.
    pub(crate) gate: Option<&'a GateReport>,
}

/// The report to stdout: one JSON document, or the result, the findings and the tables.
pub(crate) fn print_report(
    unit: SizeUnit,
    report: &Report,
    found: &Found<'_>,
    campaign: &str,
    commands: &CommandLines,
    global: &Global,
) -> Result<(), Failure> {
    let notes = notes(report, found.unscored, &commands.resume(campaign));
    if global.json {
        for note in notes {
            // Stdout is one JSON document.
            tell!("{note}");
        }
        return print_json(&gate::Gated { document: report, gate: found.gate });
    }
    let mut out = terminal::text();
    if report.replay {
        writeln!(out, "{REPLAY}")?;
    }
    writeln!(out, "{}", render::result(report, Some(found.seed)))?;
    write!(out, "{}", findings(found.findings, unit, report.repeats, campaign, commands))?;
    if !found.findings.is_empty() {
        writeln!(out, "The usual causes of each class, and what to try: docs/classes.md\n")?;
    }
    out.write_all(render::figures(report, commands, found.details).as_bytes())?;
    if !found.details && render::has_details(report) {
        let again = commands.line(&format!("runs show {} --details", shell_word(campaign)));
        writeln!(out, "All figures: {again}\n")?;
    }
    for note in cost(report).into_iter().chain(notes) {
        writeln!(out, "{note}\n")?;
    }
    if let Some(seal) = &report.seal {
        writeln!(out, "seal {seal}")?;
    }
    Ok(())
}

/// The findings of a campaign in the run store, each with the command that shows all of it.
pub(crate) fn findings(
    found: &Findings<'_>,
    unit: SizeUnit,
    repeats: u32,
    campaign: &str,
    commands: &CommandLines,
) -> String {
    let see = |finding: &Finding<'_>| {
        let repeat = (repeats > 1).then_some(finding.repeat);
        Seen::Command(commands.see(campaign, &finding.case.card().id, repeat))
    };
    let more = |all| commands.line(&format!("runs show {} --findings {all}", shell_word(campaign)));
    found.text(unit, see, more)
}

/// The cost of the runs, if it is known and not zero.
pub(crate) fn cost(report: &Report) -> Option<String> {
    let cost = report.cost.and_then(Money::from_dollars).filter(|cost| *cost > Money::default())?;
    let about = if report.cost_is_estimate { "at most " } else { "" };
    Some(format!("Cost: {about}{cost}"))
}

/// The remarks on a report's figures: why runs have no score, how requests were changed, and why the campaign ended
/// early.
pub(crate) fn notes(report: &Report, unscored: Option<&Unscored>, resumed: &str) -> Vec<String> {
    let unscored = unscored.map(|why| {
        let again = format!("\nTry them again: {resumed}");
        let is_final = match why {
            Unscored::NoKey { .. } => true,
            Unscored::Outside { reason } => is_unscored_for_good(reason),
            Unscored::CutOff => false,
        };
        let again = if is_final || report.replay || is_from_recording(&report.agent) { "" } else { &again };
        let count = report.all_unscored();
        let runs = if count == 1 { "1 run is" } else { &format!("{count} runs are") };
        let why = terminal::inline(&why.to_string());
        // Only the command stays whole.
        layout::text(&format!("{runs} unscored. Why, for example: {why}")) + again
    });
    let broken = report.broken_setup.as_deref().map(|why| format!("Stopped: {}", broken_setup(why, resumed)));
    unscored
        .into_iter()
        .chain(broken)
        .chain(without_temperature(report))
        .chain(report.changed_requests.iter().map(|change| layout::text(&format!("{change}."))))
        .chain(ended(report, resumed))
        .collect()
}

/// Whether the agent's model answers from a recording alone, so that trying again changes nothing.
fn is_from_recording(agent: &str) -> bool {
    agent.split_once('@').is_some_and(|(_, model)| model.starts_with("replay/"))
}

/// How requests to models without temperature were changed.
fn without_temperature(report: &Report) -> Option<String> {
    let models = &report.without_temperature;
    let (refuse, are) = if models.len() == 1 { ("refuses", "was") } else { ("refuse", "were") };
    (!models.is_empty()).then(|| {
        let names = models.join(", ");
        layout::text(&format!(
            "{names} {refuse} a temperature and {are} asked without one: the same campaign may give other \
             results next time."
        ))
    })
}

/// Which budget ended the campaign, and what to do about it.
fn ended(report: &Report, resumed: &str) -> Option<String> {
    let budget = report.ended_by.as_deref()?;
    let not_run = report.all_not_run();
    let all = report.all_runs() + not_run;
    let noun = if report.repeats > 1 { "runs were not finished" } else { "cases were not run" };
    let dissection = report.dissection.as_ref().map(|it| ("dissection", it.unfinished));
    let shrinking = report.shrinking.as_ref().map(|it| ("shrinking", it.unfinished));
    let unfinished = dissection.into_iter().chain(shrinking).find(|(_, left)| *left > 0);
    // Dissection and shrinking begin after the last run, so they are named only if no run is missing.
    let what = match unfinished.filter(|_| not_run == 0) {
        Some((noun, left)) => format!("the {noun} of {left} failures is not finished"),
        None => format!("{not_run} of {all} {noun}"),
    };
    let again = format!(" Resume with: {resumed}{}", planproof_campaign::larger(budget));
    let again = if report.replay { "" } else { &again };
    Some(format!("Ended by the budget of {budget}: {what}.{again}"))
}

/// Longest cause of a broken set-up in a message, in characters: it has what an agent answered. Reports have all of it.
const WHY_CHARACTERS_MAX: usize = 4000;

/// The message about a campaign whose set-up is broken, with the cause as far as a message can have it. Output of a
/// program is shown after a bar, line by line.
pub(crate) fn broken_setup(why: &str, resumed: &str) -> String {
    // These are the variables of a program that is started for each case.
    let reads_variables = ["PLANPROOF_MCP_URL", "PLANPROOF_QUERY"].iter().any(|name| why.contains(name));
    // So it is said of a command or worker that ended with an error: its file may be another than the one meant.
    let command = match why.contains(" ended with exit ") {
        true if why.contains("the worker ") && reads_variables => {
            ". A worker gets its tasks on stdin and not in variables: a program that reads these is tested with command: \
             instead of worker:, in a new campaign"
        }
        true => {
            ". If the command is wrong, start a new campaign with the right one, because --resume repeats it"
        }
        false => "",
    };
    let why = short_in_the_middle(why, WHY_CHARACTERS_MAX).lines().collect::<Vec<_>>().join("\n  | ");
    format!(
        "the set-up is broken, so nothing can be said about the agent: the campaign was stopped when {why}\n\
         Once that is fixed, resume with `{resumed}`{command}"
    )
}

/// Why nothing can be said of a limit of tokens.
pub(crate) fn tokens_unknown(over: &OverLimits) -> String {
    format!(
        "cannot tell whether --fail-over {} is kept: nobody counted the tokens of this agent; serve it a model with \
         --serve-model, or let it report them",
        over.limits
    )
}

/// How the runs of an agent ended.
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// Without a score, or not run.
    pub(crate) rest: u64,
    /// Those that passed kept the limits on what runs take; the others count as failed.
    pub(crate) is_limited: bool,
}

impl Counts {
    /// Failures found, if they are more than `success_min` (in per cent of the scored runs) allows: 1. Unrun cases, or
    /// runs without a score: 3. Otherwise 0.
    pub(crate) fn exit_code(&self, success_min: Option<f64>) -> ExitCode {
        let is_excused = success_min.is_some_and(|least| self.reaches(least));
        match (self.failed, self.rest) {
            (1.., _) if !is_excused => ExitCode::Failed,
            (_, 1..) => ExitCode::Outside,
            (_, 0) => ExitCode::Passed,
        }
    }

    fn reaches(&self, least: f64) -> bool {
        // Not divided: 55 of 100 is not below 55 %, whatever floating point makes of 0.55.
        100.0 * self.passed as f64 >= least * (self.passed + self.failed) as f64
    }

    pub(super) fn against(&self, least: f64) -> String {
        let Self { passed, failed, is_limited, .. } = self;
        let verdict = if self.reaches(least) { "which reaches" } else { "which is below" };
        let within = if *is_limited { " within the limits" } else { "" };
        format!(
            "{passed} of {} scored runs passed{within}, {verdict} --success-min {least}%",
            passed + failed
        )
    }
}

/// Whether the success rate is certain to be on one side of this percentage, with 95 % confidence. Says which.
pub(super) fn proved(report: &Report, counts: &Counts, least: f64, global: &Global) -> ExitCode {
    let Some(rate) = report.success() else {
        progress::say(global.quiet, &format!("cannot tell whether {least}% is reached: no run has a score"));
        return ExitCode::Outside;
    };
    let [low, high] = [rate.low, rate.high].map(|end| 100.0 * end);
    let (code, what) = match () {
        () if low >= least => (ExitCode::Passed, "proved to reach"),
        () if high < least => (ExitCode::Failed, "proved to be below"),
        () => (ExitCode::Outside, "too few to tell whether they reach"),
    };
    let runs = counts.passed + counts.failed;
    progress::say(
        global.quiet,
        &format!(
            "{} of {runs} scored runs passed ({low:.1} to {high:.1} %), {what} --success-min {least}%",
            counts.passed
        ),
    );
    match (code, counts.rest) {
        (ExitCode::Passed, 1..) => ExitCode::Outside,
        _ => code,
    }
}

/// Explains for a replay why failures are no reason to fail.
pub(super) fn say_as_recorded(report: &Report, global: &Global) {
    let failed = report.all_failed();
    if failed > 0 {
        let runs = if failed == 1 { "1 run".to_owned() } else { format!("{failed} runs") };
        let all = report.all_runs();
        let text = format!("as recorded: {runs} of {all} failed then and now; --require-pass exits with 1");
        progress::say(global.quiet, &text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_leaves_a_short_message() {
        let why = format!("it answered: {}\nthe end", "x\n".repeat(1_000_000));
        let message = broken_setup(&why, "planproof test --resume last");
        assert!(message.contains("when it answered: x") && message.contains("| the end\n"), "{message}");
        assert!(message.chars().count() < 4 * WHY_CHARACTERS_MAX);
    }

    #[test]
    fn failures_are_excused_from_the_minimum_on() {
        use ExitCode::{Failed, Outside, Passed};
        for (passed, failed, rest, least, expected) in [
            (9, 1, 0, None, Failed),
            (10, 0, 0, None, Passed),
            (10, 0, 1, None, Outside),
            (9, 1, 0, Some(90.0), Passed),
            (9, 1, 0, Some(90.1), Failed),
            // 0.55 * 100 is more than 55 in floating point.
            (55, 45, 0, Some(55.0), Passed),
            (9, 1, 1, Some(90.0), Outside),
            (0, 0, 5, Some(90.0), Outside),
            (0, 1, 0, Some(0.1), Failed),
        ] {
            let counts = Counts { passed, failed, rest, is_limited: false };
            assert_eq!(counts.exit_code(least), expected, "{passed} {failed} {rest} {least:?}");
        }
    }
}
