//! A campaign, from its beginning to its report: `planproof test`, and what `bench` and `limit` share with it.

mod agreement;
mod campaign_command;
mod carry_out;
mod cases;
mod lift;
mod like;
mod prepare;
mod prepared;
mod shard;
mod world;

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use planproof_agents::AgentSpec;
use planproof_campaign::StoredGuard;
use planproof_engine::{
    Finding, Outcome, OverLimits, Report, RunSummary, SummaryInput, is_unscored_for_good,
};
use planproof_model::prices::Money;
use planproof_report::gate::GateReport;
use planproof_report::{CommandLines, shell_word};
use planproof_suite::{SizeUnit, Unscored};

use super::bench::ScenarioCases;
use super::from_rules::RuleCases;
use super::gate::{self, Before};
use super::view::Beside;
use super::{print_json, runtime};
use crate::arguments::{AllCasesArguments, CampaignArguments, Global, TestArguments};
use crate::failure::{ExitCode, Failure, unless_closed};
use crate::progress::{self, tell};
use crate::render::{self, Findings, Seen};
use crate::report_files::{ReportFile, ReportFiles, must_differ};
use crate::stream::Stream;
use crate::terminal;

pub(super) use campaign_command::{CampaignCommand, MakesCases};
pub(super) use carry_out::{Ended, carry_out, stop_on_signal};
pub(super) use prepare::{
    Extras, asked, must_concern, named, named_agent, new_campaign, prepare, resume_stored, run_time,
};
pub(super) use prepared::Prepared;
use shard::ShardRun;
pub(super) use world::Outside;

/// Stands above the figures of a replay.
pub(super) const REPLAY: &str = "REPLAY: the answers came from a recording; no model was asked.";

pub(crate) fn run(arguments: &TestArguments, global: &Global) -> Result<ExitCode, Failure> {
    let own = arguments.scenarios.as_deref().map(|file| ScenarioCases::new(file, &arguments.all));
    let drawn = arguments
        .of_rules
        .rules
        .is_some()
        .then(|| RuleCases::new(&arguments.of_rules, arguments.cases, &arguments.all, global));
    let request = CampaignRequest {
        campaign: &arguments.campaign,
        agent: named_agent(&arguments.campaign)?,
        command: match (&own, &drawn) {
            (Some(cases), _) => CampaignCommand::Bench(cases, arguments.all.repeat),
            (None, Some(cases)) => CampaignCommand::Bench(cases, arguments.all.repeat),
            (None, None) => CampaignCommand::Test(arguments),
        },
        all: &arguments.all,
        taken: taken_files(arguments),
        shrink_to: arguments.shrink.shrink_to.as_deref(),
    };
    run_request(&request, global)
}

/// The command line's description of a campaign whose cases are all run.
pub(super) struct CampaignRequest<'a> {
    pub(super) campaign: &'a CampaignArguments,
    /// The agent, if the command line names one.
    pub(super) agent: Option<AgentSpec>,
    pub(super) command: CampaignCommand<'a>,
    pub(super) all: &'a AllCasesArguments,
    /// Other files of the command, with the options that name them.
    pub(super) taken: Vec<(&'a str, &'a Path)>,
    /// Where the smallest failing cases go.
    pub(super) shrink_to: Option<&'a Path>,
}

/// Runs such a campaign to its end, and reports it.
pub(super) fn run_request(request: &CampaignRequest<'_>, global: &Global) -> Result<ExitCode, Failure> {
    if request.command.until_decided() {
        let recording = &request.campaign.recording;
        if request.all.gate.baseline.is_none() {
            return Err(Failure::usage("--cases auto runs until a comparison is decided: name a --baseline"));
        }
        if recording.record.is_some() || recording.replay.is_some() {
            return Err(Failure::usage(
                "--cases auto cannot be recorded or replayed: a replay would not know when to end",
            ));
        }
    }
    if request.all.fail_over.is_some() && request.all.success_min.is_some_and(|least| least.is_proved) {
        return Err(Failure::usage(
            "--success-min P%:proved does not go with --fail-over: its interval is one of right runs; leave `:proved` out",
        ));
    }
    // A campaign may take hours and cost money, so a file that cannot be written is reported before it begins.
    let files = request.all.files.open(global, &request.taken)?;
    let cases_file = match request.shrink_to {
        None => None,
        Some(path) => {
            must_differ(path, &request.taken)?;
            Some(ReportFile::open("--shrink-to", path)?)
        }
    };
    let before = Before::read(&request.all.gate, request.campaign)?;
    let stream = Stream::open(request.campaign.stream.as_deref(), &request.taken)?;
    let shard = ShardRun::open(request, global)?;
    let extras = Extras { before: before.as_ref(), shard: shard.as_ref() };
    let mut prepared = prepare(request.campaign, global, request.agent.clone(), request.command, extras)?;
    prepared.stream = stream;
    let (run, began) = (&prepared.run, Instant::now());
    if run.options.until_decided {
        must_be_told(before.as_ref(), &prepared)?;
    }
    let next = |outcomes: &[Outcome]| match &before {
        Some(before) if run.options.until_decided => before.next(&prepared, outcomes),
        _ => run.all_at_once(outcomes),
    };
    let beside = Beside::start(request.campaign, Some(&run.campaign.id))?;
    let Ended { outcomes, progress, seal, failure, sequels } =
        runtime()?.block_on(async { carry_out(&prepared, global, &stop_on_signal(), next).await })?;
    drop(beside);
    let wall = began.elapsed();
    // The figures come from summaries, as in `runs show`, so that both give the same ones.
    let runs: Vec<RunSummary> = outcomes.iter().map(RunSummary::of).collect();
    let report = Report::of_summaries(SummaryInput {
        suite: &*run.suite,
        agent: &run.campaign.agent.name,
        model: run.campaign.agent.model.as_deref(),
        simulated: run.campaign.agent.simulated,
        cards: &run.cards[..prepared.reached(&outcomes).len()],
        repeats: run.campaign.repeats.get(),
        runs: &runs,
        synthesis: run.options.synthesis(),
        cost: run.options.cost(&progress),
        ended_by: progress.ended_by.as_deref(),
    });
    let mut report = run.options.completed(report, &progress);
    if let Some(limits) = run.options.fail_over {
        report.hold_to(limits, &run.cards[..prepared.reached(&outcomes).len()], &runs);
    }
    report.wall = Some(wall);
    report.seal = seal.map(|seal| seal.to_string());
    // From the store, because a resumed campaign has its label there alone.
    report.label = run.store.campaign(&run.campaign.id)?.label;
    for concluded in sequels.iter().filter_map(|sequel| sequel.concluded.as_ref()) {
        report.add(concluded.study.clone());
    }
    let found = sequels.iter().filter_map(|sequel| sequel.concluded.as_ref());
    let smallest: Vec<&String> = found.flat_map(|concluded| &concluded.found).collect();
    let gate = before.map(|before| before.compare(&prepared, &outcomes)).transpose()?;
    // Writing consumes the files, and it must still be known afterwards whether one of them took stdout.
    let takes_stdout = files.take_stdout();
    let written = write_files(files, &prepared, (&outcomes, &report, gate.as_ref()), global);
    let written = match cases_file {
        // If the campaign was halted, the file keeps its old content: its shrinking may be unfinished.
        Some(file) if failure.is_none() => written
            .and(file.write(global, |out| smallest.iter().try_for_each(|case| writeln!(out, "{case}")))),
        _ => written,
    };
    let written = unless_closed(written);
    // The reports on what is finished are written even if the campaign was halted. Its failure is the one returned; a
    // failure to write them is only printed.
    if let Some(failure) = failure {
        if let Err(failure) = written {
            tell!("{}", failure.describe());
        }
        return Err(failure);
    }
    // Without tables and findings, because nothing can be said about the agent.
    if let Some(why) = &report.broken_setup {
        let commands = prepared.commands();
        tell!("{}", Failure::outside(broken_setup(why, &commands.resume(&run.campaign.id))).describe());
        if global.json && !takes_stdout {
            unless_closed(print_json(&report))?;
        }
        return written.map(|()| ExitCode::Outside);
    }
    if let Some(gate) = gate.as_ref().filter(|_| !global.json) {
        unless_closed(gate::print(gate, takes_stdout, global))?;
    }
    let findings = Findings::of(&run.campaign.cases, &outcomes, request.all.shown.findings);
    let unscored = outcomes.iter().find_map(|outcome| outcome.verdict.as_ref().err());
    let printed = match takes_stdout {
        true => Ok(()),
        false => print_report(
            run.suite.unit(),
            &report,
            &Found {
                findings: &findings,
                unscored,
                seed: run.campaign.seed,
                details: request.all.shown.details,
                gate: gate.as_ref(),
            },
            &run.campaign.id,
            &prepared.commands(),
            global,
        ),
    };
    // Not behind a document on stdout, which has to stay the only one.
    let is_guarded =
        run.campaign.agent.guarded || run.options.guard.as_ref().is_some_and(StoredGuard::enforces);
    let printed = printed.and_then(|()| match is_guarded && !takes_stdout && !global.json {
        true => lift::print(&prepared),
        false => Ok(()),
    });
    written.and(unless_closed(printed))?;
    // A replay that differs from its recording is not a result of the agent, so its verdicts do not count here.
    if prepared.tell_differences(&outcomes, &sequels) {
        return Ok(ExitCode::Outside);
    }
    let AllCasesArguments { require_pass, success_min, .. } = *request.all;
    let over = report.over();
    let is_judged_otherwise = require_pass || success_min.is_some() || gate.is_some() || over.is_some();
    if run.is_as_recorded(&outcomes, &progress) && !is_judged_otherwise {
        say_as_recorded(&report, global);
        return Ok(ExitCode::Passed);
    }
    let right_but_over = over.map_or(0, |over| over.right);
    let counts = Counts {
        passed: report.all_scored() - report.all_failed() - right_but_over,
        failed: report.all_failed() + right_but_over,
        rest: report.all_unscored() + report.all_not_run(),
        is_limited: over.is_some(),
    };
    let code = match success_min {
        Some(least) if least.is_proved => proved(&report, &counts, least.percent, global),
        // The gate says whether failures count, and knows nothing of limits.
        None if gate.is_some() && right_but_over > 0 => ExitCode::Failed,
        None if gate.is_some() => ExitCode::Passed,
        least => {
            let least = least.map(|least| least.percent);
            if let Some(least) = least.filter(|_| counts.failed > 0) {
                progress::say(global, &counts.against(least));
            }
            counts.exit_code(least)
        }
    };
    let code = match over {
        Some(over) if over.tokens_unknown && code == ExitCode::Passed => {
            progress::say(global, &tokens_unknown(over));
            ExitCode::Outside
        }
        _ => code,
    };
    Ok(match gate.as_ref().map_or(ExitCode::Passed, gate::exit_code) {
        ExitCode::Passed => code,
        worse if code == ExitCode::Failed || worse == ExitCode::Failed => ExitCode::Failed,
        unclear => unclear,
    })
}

/// Why nothing can be said of a limit of tokens.
pub(super) fn tokens_unknown(over: &OverLimits) -> String {
    format!(
        "cannot tell whether --fail-over {} is kept: nobody counted the tokens of this agent; serve it a model with \
         --serve-model, or let it report them",
        over.limits
    )
}

/// Makes sure that a campaign of as many cases as it takes has a baseline that it can be compared with, and is not
/// recorded: a replay would not know when to end.
fn must_be_told(before: Option<&Before>, prepared: &Prepared) -> Result<(), Failure> {
    let id = &prepared.run.campaign.id;
    let before = before.ok_or_else(|| {
        Failure::usage(format!(
            "campaign {id} runs as many cases as it takes to compare it with a baseline: name it with --baseline"
        ))
    })?;
    before.compare(prepared, &[]).map(drop)
}

/// Whether the success rate is certain to be on one side of this percentage, with 95 % confidence. Says which.
fn proved(report: &Report, counts: &Counts, least: f64, global: &Global) -> ExitCode {
    let Some(rate) = report.success() else {
        progress::say(global, &format!("cannot tell whether {least}% is reached: no run has a score"));
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
        global,
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

/// The message about a campaign whose set-up is broken. Output of a program is shown after a bar, line by line.
pub(super) fn broken_setup(why: &str, resumed: &str) -> String {
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
    let why = why.lines().collect::<Vec<_>>().join("\n  | ");
    format!(
        "the set-up is broken, so nothing can be said about the agent: the campaign was stopped when {why}\n\
         Once that is fixed, resume with `{resumed}`{command}"
    )
}

/// The files of the campaign itself, with the options that name them.
fn taken_files(arguments: &TestArguments) -> Vec<(&'static str, &Path)> {
    let TestArguments { from, scenarios, draw, .. } = arguments;
    let rules = &arguments.of_rules.rules;
    let named =
        [("--from", from), ("--topics", &draw.shape.topics), ("--scenarios", scenarios), ("--rules", rules)];
    let named = named.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)));
    let files = arguments.campaign.taken_files().into_iter().chain(named);
    files.chain(arguments.all.gate.file().map(|file| ("--baseline", file))).collect()
}

/// Explains for a replay why failures are no reason to fail.
fn say_as_recorded(report: &Report, global: &Global) {
    let failed = report.all_failed();
    if failed > 0 {
        let runs = if failed == 1 { "1 run".to_owned() } else { format!("{failed} runs") };
        let all = report.all_runs();
        let text = format!("as recorded: {runs} of {all} failed then and now; --require-pass exits with 1");
        progress::say(global, &text);
    }
}

/// How the runs of an agent ended.
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    /// Without a score, or not run.
    pub(super) rest: u64,
    /// Those that passed kept the limits on what runs take; the others count as failed.
    pub(super) is_limited: bool,
}

impl Counts {
    /// Failures found, if they are more than `success_min` (in per cent of the scored runs) allows: 1. Unrun cases, or
    /// runs without a score: 3. Otherwise 0.
    pub(super) fn exit_code(&self, success_min: Option<f64>) -> ExitCode {
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

    fn against(&self, least: f64) -> String {
        let Self { passed, failed, is_limited, .. } = self;
        let verdict = if self.reaches(least) { "which reaches" } else { "which is below" };
        let within = if *is_limited { " within the limits" } else { "" };
        format!(
            "{passed} of {} scored runs passed{within}, {verdict} --success-min {least}%",
            passed + failed
        )
    }
}

/// Writes the requested reports about everything that is finished.
fn write_files(
    files: ReportFiles,
    prepared: &Prepared,
    (outcomes, report, gate): (&[Outcome], &Report, Option<&GateReport>),
    global: &Global,
) -> Result<(), Failure> {
    if files.is_empty() {
        return Ok(());
    }
    prepared.reported(outcomes, report, gate, |reported| files.write(reported, global))
}

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
pub(super) fn findings(
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
pub(super) fn cost(report: &Report) -> Option<String> {
    let cost = report.cost.and_then(Money::from_dollars).filter(|cost| *cost > Money::default())?;
    let about = if report.cost_is_estimate { "at most " } else { "" };
    Some(format!("Cost: {about}{cost}"))
}

/// The remarks on a report's figures: why runs have no score, how requests were changed, and why the campaign ended
/// early.
pub(super) fn notes(report: &Report, unscored: Option<&Unscored>, resumed: &str) -> Vec<String> {
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
        render::text(&format!("{runs} unscored. Why, for example: {why}")) + again
    });
    let broken = report.broken_setup.as_deref().map(|why| format!("Stopped: {}", broken_setup(why, resumed)));
    unscored
        .into_iter()
        .chain(broken)
        .chain(without_temperature(report))
        .chain(report.changed_requests.iter().map(|change| render::text(&format!("{change}."))))
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
        render::text(&format!(
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

#[cfg(test)]
mod tests {
    use super::*;

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
