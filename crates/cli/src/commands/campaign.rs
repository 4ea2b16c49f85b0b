//! A campaign, from its beginning to its report: what `test`, `bench` and `limit` share.

mod agreement;
mod carry_out;
mod conclusion;
mod lift;
mod plan;
mod prepare;
mod prepared;
mod request;
mod sequels;
mod shard;

use std::time::Instant;

use planproof_campaign::StoredGuard;
use planproof_engine::{Outcome, Report, RunSummary};
use planproof_output::failure::{ExitCode, Failure, unless_closed};
use planproof_output::print::print_json;
use planproof_output::report_files::{ReportFile, must_differ};
use planproof_output::runtime::runtime;
use planproof_output::{progress, tell};
use planproof_report::gate::GateReport;

use super::gate::{self, Before};
use super::view::Beside;
use crate::arguments::{AllCasesArguments, Global};
use crate::render::Findings;
use crate::report_files::ReportFiles;
use crate::stream::Stream;

pub(crate) use agreement::{Agreement, BesideReplay, are_same, option_in_words};
pub(crate) use carry_out::{Ended, carry_out, stop_on_signal};
pub(crate) use conclusion::{
    Counts, Found, REPLAY, broken_setup, cost, findings, notes, print_report, tokens_unknown,
};
use conclusion::{proved, say_as_recorded};
pub(crate) use plan::{CampaignPlan, CaseSource, WantedCases};
pub(crate) use prepare::{
    Extras, must_concern, named, named_agent, new_campaign, prepare, resume_stored, run_time,
};
pub(crate) use prepared::Prepared;
pub(crate) use request::CampaignRequest;
pub(super) use shard::OneShard;
use shard::ShardRun;

/// Runs such a campaign to its end, and reports it.
pub(super) fn run_request(request: &CampaignRequest<'_>, global: &Global) -> Result<ExitCode, Failure> {
    if request.plan.until_decided {
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
            Some(ReportFile::open("--shrink-to", path)?.of_json())
        }
    };
    let before = Before::read(&request.all.gate, request.campaign)?;
    let stream = Stream::open(request.campaign.stream.as_deref(), &request.taken)?;
    let shard = ShardRun::open(request, global)?;
    let extras = Extras { before: before.as_ref(), shard: shard.as_ref() };
    let mut prepared = prepare(request.campaign, global, request.agent.clone(), &request.plan, extras)?;
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
    let cards = &run.cards[..prepared.reached(&outcomes).len()];
    // From the store, because a resumed campaign has its label there alone.
    let label = run.store.campaign(&run.campaign.id)?.label;
    let mut report = run.summed((cards, &runs), &progress, seal, label.as_deref()).report();
    report.wall = Some(wall);
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
        Some(file) if failure.is_none() => written.and(
            file.write(global.quiet, |out| smallest.iter().try_for_each(|case| writeln!(out, "{case}"))),
        ),
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
                progress::say(global.quiet, &counts.against(least));
            }
            counts.exit_code(least)
        }
    };
    let code = match over {
        Some(over) if over.tokens_unknown && code == ExitCode::Passed => {
            progress::say(global.quiet, &tokens_unknown(over));
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

/// Makes sure that a campaign of as many cases as it takes has a baseline that it can be compared with, and is not
/// recorded: a replay would not know when to end.
fn must_be_told(before: Option<&Before>, prepared: &Prepared) -> Result<(), Failure> {
    let id = &prepared.run.campaign.id;
    let before = before.ok_or_else(|| {
        Failure::usage(format!(
            "campaign {id} runs as many cases as it takes to compare it with a baseline: name it with --baseline"
        ))
    })?;
    before.must_fit_resumed(prepared)
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
