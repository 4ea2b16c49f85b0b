//! Running a campaign that is prepared.

use std::collections::HashSet;
use std::sync::Arc;

use planproof_agents::ServedModel;
use planproof_bench::{CampaignEnd, CampaignError, Outcome, RunProgress, Setup, Supervision, Unit, Work};
use planproof_model::recording::RecordingError;
use planproof_order::{CandidateRecord, Dissection, OrderSuite, Shrinking, TrialRecord};
use planproof_store::Progress;
use planproof_suite::Case;
use tokio_util::sync::CancellationToken;

use super::derived::Derived;
use super::dissect::dissect;
use super::prepared::Prepared;
use super::shrink::shrink;
use crate::arguments::Global;
use crate::commands::serve_model::random_key;
use crate::failure::Failure;
use crate::{orders, progress, signals};

/// What came of a campaign.
pub(in crate::commands) struct Ended {
    /// All outcomes, those of before included, in the order of the cases.
    pub(in crate::commands) outcomes: Vec<Outcome>,
    /// What it took, and what ended it.
    pub(in crate::commands) progress: Progress,
    /// Why it could not go on.
    pub(in crate::commands) failure: Option<Failure>,
    /// What the dissection of its failures showed, as far as it came.
    pub(in crate::commands) dissection: Option<Dissection>,
    /// What shrinking them showed, as far as it came.
    pub(in crate::commands) shrinking: Option<Shrinking>,
}

/// All runs that have not come to their end: what there is to do for a test.
pub(in crate::commands) fn all_at_once(prepared: &Prepared, outcomes: &[Outcome]) -> Vec<Unit> {
    let done: HashSet<Unit> = outcomes.iter().map(Outcome::unit).collect();
    let is_left = |unit: &Unit| !done.contains(unit) && !prepared.left_out.contains(unit);
    prepared.campaign.units().filter(is_left).collect()
}

/// Runs what `next` says is to be run next, given all outcomes so far, until there is nothing. Ctrl-C ends
/// the campaign; what is finished stays in the store. Then dissects its failures, and shrinks them, where
/// that is asked for.
pub(in crate::commands) async fn carry_out(
    prepared: &Prepared,
    global: &Global,
    next: impl Fn(&[Outcome]) -> Vec<Unit>,
) -> Result<Ended, Failure> {
    let leads_on = prepared.options.dissect.is_some() || prepared.options.shrink.is_some();
    let typed = if leads_on {
        orders::cases(prepared.options.judge(), &prepared.campaign.cases)?
    } else {
        Vec::new()
    };
    let writer = prepared.store.writer()?;
    let stop = CancellationToken::new();
    let on_interrupt = stop.clone();
    let requested = signals::stop_requested();
    tokio::spawn(async move {
        requested.await;
        on_interrupt.cancel();
    });
    let mut campaign = prepared.campaign.clone();
    let key = random_key();
    campaign.served = prepared.served.as_ref().map(|(name, served)| ServedModel {
        model: Arc::clone(&served.model),
        name: name.clone(),
        key: key.clone().into(),
    });
    let supervision = Supervision {
        secrets: if prepared.served.is_some() {
            prepared.secrets.with(key)
        } else {
            prepared.secrets.clone()
        },
        meter: prepared.meter.clone(),
        deadline: prepared.budgets.deadline(),
        setup: Arc::new(set_up(prepared)),
    };
    let mut outcomes = prepared.finished.clone();
    let done = outcomes.len();
    let cases = campaign.cases.len() as u64;
    let total = campaign.units().count() as u64;
    let times = match campaign.repeats.get() {
        1 => String::new(),
        repeats => format!(", each {repeats} times"),
    };
    let resumed = if done == 0 { String::new() } else { format!(", {done} done already") };
    let replay = if prepared.replayed.is_some() { ", a replay" } else { "" };
    progress::say(global, &format!("campaign {}: {cases} cases{times}{resumed}{replay}", campaign.id));
    let bar = progress::bar(global, total, done as u64);
    let mut failed = outcomes.iter().filter(|outcome| outcome.passed() == Some(false)).count();
    let budgets = prepared.budgets.to_json()?;
    let mut unwritten: Option<RecordingError> = None;
    // Writes down what came of a run beside the store, which has it already.
    let note = |case: &dyn Case, outcome: &Outcome, unwritten: &mut Option<RecordingError>| {
        if let Some(recording) = &prepared.recording
            && let Err(error) = recording.write_verdict(case, outcome)
        {
            unwritten.get_or_insert(error);
            stop.cancel();
        }
        // A failure of the store ends the campaign with the next run.
        drop(writer.set_progress(&campaign.id, &prepared.progress(&budgets)));
    };
    writer.set_progress(&campaign.id, &prepared.progress(&budgets)).await?;
    prepared.watch_spending(Some(&writer));
    let end = loop {
        let units = next(&outcomes);
        if units.is_empty() {
            break Ok(CampaignEnd::Complete);
        }
        let before = outcomes.len();
        let end = campaign
            .run(Work::new(Some(writer.clone()), &units, &stop).under(supervision.clone()), |progress| {
                let RunProgress::Ended(outcome) = progress else { return };
                failed += usize::from(outcome.passed() == Some(false));
                bar.inc(1);
                bar.set_message(format!("{failed} failed"));
                if let Some(case) = campaign.cases.get(outcome.ordinal as usize) {
                    note(&**case, &outcome, &mut unwritten);
                }
                outcomes.push(*outcome);
            })
            .await;
        // Runs that were refused a request would be asked for again and again.
        if !matches!(end, Ok(CampaignEnd::Complete)) || outcomes.len() == before {
            break end;
        }
    };
    bar.finish_and_clear();
    outcomes.sort_by_key(Outcome::unit);
    let (mut end, mut dissection, mut shrinking) = (end, None, None);
    // What was finished beside the campaign's own runs, and of what.
    let mut further: Option<(Derived, usize)> = None;
    let orders = OrderSuite::new(prepared.options.judge());
    if let (Ok(CampaignEnd::Complete), None, Some(options)) = (&end, &unwritten, prepared.options.dissect) {
        let watch = (writer.clone(), &stop, supervision.clone());
        let mut finished = prepared.trials.iter().filter(|trial| trial.outcome.is_some()).count();
        let observe = |trial: &TrialRecord, outcome: &Outcome| {
            finished += 1;
            note(&*orders.wrap(trial.case.clone()), outcome, &mut unwritten);
        };
        match dissect(prepared, (&campaign, &typed), &outcomes, options, watch, observe, global).await {
            Ok((ended, found)) => (end, dissection) = (Ok(ended), Some(found)),
            Err(error) => end = Err(error),
        }
        further = Some((Derived::Dissection, finished));
    }
    if let (Ok(CampaignEnd::Complete), None, Some(options)) = (&end, &unwritten, prepared.options.shrink) {
        let watch = (writer.clone(), &stop, supervision.clone());
        let mut finished = prepared.candidates.iter().map(|candidate| candidate.outcomes.len()).sum();
        let observe = |candidate: &CandidateRecord, outcome: &Outcome| {
            finished += 1;
            note(&*orders.wrap(candidate.case.clone()), outcome, &mut unwritten);
        };
        match shrink(prepared, (&campaign, &typed), &outcomes, options, watch, observe, global).await {
            Ok((ended, found)) => (end, shrinking) = (Ok(ended), Some(found)),
            Err(error) => end = Err(error),
        }
        further = Some((Derived::Shrinking, finished));
    }
    let mut found = prepared.budgets.clone();
    let refusing = prepared.asked.iter().filter(|model| !model.takes_temperature());
    found.note_without_temperature(refusing.map(|model| model.name().to_owned()));
    found.note_broken_setup(supervision.setup.broken());
    let mut progress = prepared.progress(&found.to_json()?);
    let is_complete = next(&outcomes).is_empty() && (matches!(end, Ok(CampaignEnd::Complete)) || !leads_on);
    progress.ended_by = match &end {
        _ if is_complete => {
            prepared.replayed.as_ref().and_then(|replayed| replayed.recorded.ended_by.clone())
        }
        Ok(CampaignEnd::BudgetUsedUp) => prepared.meter.as_ref().and_then(|meter| meter.used_up()),
        Ok(CampaignEnd::DeadlineReached) => Some(prepared.budgets.time()),
        Ok(CampaignEnd::Complete | CampaignEnd::SetupBroken) | Err(_) => None,
    };
    let kept = writer.set_progress(&campaign.id, &progress).await;
    prepared.watch_spending(None);
    let further = match further {
        None => String::new(),
        Some((of, finished)) => format!(", and so are {finished} of the {} of its failures", of.noun()),
    };
    let hint = format!(
        "{} of {total} runs are finished and kept{further}; go on with `{}`",
        outcomes.len(),
        prepared.commands().resume(&campaign.id)
    );
    let failure = match (unwritten, end, kept) {
        (Some(error), ..) => Some(Failure::outside(format!("{error}\n{hint}"))),
        (None, Err(error), _) => Some(describe(error, &hint)),
        (None, Ok(_), Err(error)) => Some(error.into()),
        (None, Ok(_), Ok(())) => None,
    };
    if failure.is_none()
        && let Some(recording) = &prepared.recording
    {
        let written = recording.write_end(progress.ended_by.as_deref());
        written.map_err(|error| Failure::outside(format!("{error}\n{hint}")))?;
    }
    Ok(Ended { outcomes, progress, failure, dissection, shrinking })
}

/// What is known of the set-up beforehand. Answers from a recording need none, but a program does.
fn set_up(prepared: &Prepared) -> Setup {
    if prepared.replayed.is_some() && prepared.campaign.agent.agent.is_in_process() {
        return Setup::trusted();
    }
    Setup::that_has_worked(prepared.finished.iter().any(|outcome| outcome.verdict.is_ok()))
}

/// Why a campaign could not go on, and how to go on with it.
fn describe(error: CampaignError, hint: &str) -> Failure {
    if let CampaignError::Stopped = error {
        return Failure::outside(format!("interrupted: {hint}"));
    }
    match Failure::from(error) {
        Failure::Outside(what) => Failure::Outside(format!("{what}\n{hint}")),
        Failure::Usage(what) => Failure::Usage(format!("{what}\n{hint}")),
        other => other,
    }
}
