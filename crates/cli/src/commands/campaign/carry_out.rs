//! Running a prepared campaign, and the campaigns that it leads to, with observers.

use indicatif::ProgressBar;
use planproof_campaign::{Begun, Complete, Halted, Watch};
use planproof_engine::{Campaign, CampaignEnd, Outcome, RunProgress, Unit};
use planproof_model::ServerFacts;
use planproof_model::check::ModelCheck;
use planproof_order::{CandidateRecord, Dissection, OrderSuite, Shrinking, TrialRecord};
use planproof_store::{Fingerprint, Progress};
use tokio_util::sync::CancellationToken;

use super::derived::Derived;
use super::dissect::dissect;
use super::prepared::Prepared;
use super::shrink::shrink;
use crate::arguments::Global;
use crate::commands::serve_model::random_key;
use crate::failure::{ExitCode, Failure};
use crate::render::counted;
use crate::stream::Stream;
use crate::terminal::{self, inline};
use crate::{orders, progress, signals};

/// What came of a campaign.
pub(in crate::commands) struct Ended {
    /// All outcomes, including earlier ones, in the order of the cases.
    pub(in crate::commands) outcomes: Vec<Outcome>,
    /// What it took, and what ended it.
    pub(in crate::commands) progress: Progress,
    /// The fingerprint of the key that sealed its runs.
    pub(in crate::commands) seal: Option<Fingerprint>,
    /// Why it could not go on.
    pub(in crate::commands) failure: Option<Failure>,
    /// The dissection of its failures, as far as it got.
    pub(in crate::commands) dissection: Option<Dissection>,
    /// Their shrinking, as far as it got.
    pub(in crate::commands) shrinking: Option<Shrinking>,
}

/// A token that is cancelled by Ctrl-C and similar signals. A second one ends the process immediately: everything
/// finished is in the store. Must be called within a Tokio runtime.
pub(in crate::commands) fn stop_on_signal() -> CancellationToken {
    let stop = CancellationToken::new();
    let on_interrupt = stop.clone();
    signals::on_each(move |count| match count {
        1 => on_interrupt.cancel(),
        _ => {
            progress::tell!("error: interrupted again: what is finished is kept");
            std::process::exit(ExitCode::Outside as i32);
        }
    });
    stop
}

/// Runs what `next` returns, given all outcomes so far, until it returns nothing. `stop` ends the campaign; finished
/// runs stay in the store. Then dissects its failures, and shrinks them, if that is requested.
pub(in crate::commands) async fn carry_out(
    prepared: &Prepared,
    global: &Global,
    stop: &CancellationToken,
    next: impl Fn(&[Outcome]) -> Vec<Unit>,
) -> Result<Ended, Failure> {
    let Prepared { run, order, .. } = prepared;
    let leads_on = order.dissect.is_some() || order.shrink.is_some();
    // Only what follows a campaign reads its cases as orders, and nothing follows one of another suite.
    let typed = if leads_on { orders::cases(order.judge(), &run.campaign.cases)? } else { Vec::new() };
    let (mut dissection, mut shrinking) = (None, None);
    // The finished runs of derived campaigns, with their number.
    let mut further: Option<(Derived, usize)> = None;
    let orders = OrderSuite::new(order.judge());
    let leads_to = async |complete: Complete<'_, '_>| {
        let Complete { campaign, outcomes, writer, stop, supervision, notes } = complete;
        let mut end = CampaignEnd::Complete;
        if let Some(options) = order.dissect {
            let watch = (writer.clone(), stop, supervision.clone());
            let mut finished = prepared.trials.iter().filter(|trial| trial.outcome.is_some()).count();
            let observe = |trial: &TrialRecord, outcome: &Outcome| {
                finished += 1;
                notes.note(&*orders.wrap(trial.case.clone()), outcome);
            };
            let found =
                dissect(prepared, (campaign, &typed), outcomes, options, watch, observe, global).await;
            // Noted before an error is returned, so that the hint below can give the number.
            further = Some((Derived::Dissection, finished));
            let (ended, found) = found?;
            (end, dissection) = (ended, Some(found));
        }
        // What ended the dissection early, or a recording that can no longer be written, also prevents the shrinking.
        if let (CampaignEnd::Complete, true, Some(options)) = (end, notes.are_whole(), order.shrink) {
            let watch = (writer, stop, supervision);
            let mut finished = prepared.candidates.iter().map(|candidate| candidate.outcomes.len()).sum();
            let observe = |candidate: &CandidateRecord, outcome: &Outcome| {
                finished += 1;
                notes.note(&*orders.wrap(candidate.case.clone()), outcome);
            };
            let found = shrink(prepared, (campaign, &typed), outcomes, options, watch, observe, global).await;
            further = Some((Derived::Shrinking, finished));
            let (ended, found) = found?;
            (end, shrinking) = (ended, Some(found));
        }
        Ok(end)
    };
    let mut watcher = Watcher::new(global, prepared);
    let key = random_key();
    let leads_to = leads_on.then_some(leads_to);
    let ended = planproof_campaign::carry_out(run, key, stop, &mut watcher, next, leads_to).await?;
    let further = match further {
        None => String::new(),
        Some((of, finished)) => format!(", and so are {finished} of the {} of its failures", of.noun()),
    };
    // If the store failed, it may contain outcomes that were not reported.
    let finished =
        run.store.campaign(&run.campaign.id).map_or(ended.outcomes.len() as u64, |row| row.finished());
    let hint = format!(
        "{finished} of {} runs{} are finished and kept{further}; resume with `{}`",
        ended.total,
        if prepared.matrix.is_some() { " of this combination" } else { "" },
        prepared.resume_line()
    );
    // A campaign that this one led to has another key if another process ran it, and no report shows its seal.
    if leads_on && ended.failure.is_none() {
        for derived in run.store.derived(&run.campaign.id)? {
            let seal = run.store.last_seal(&derived.id)?.filter(|seal| Some(*seal) != ended.seal);
            if let Some(seal) = seal {
                progress::say(global, &format!("seal of {}: {seal}", derived.id));
            }
        }
    }
    let failure = ended.failure.map(|halted| describe(halted, &hint));
    let planproof_campaign::CampaignOutcome { outcomes, progress, seal, .. } = ended;
    Ok(Ended { outcomes, progress, seal, failure, dissection, shrinking })
}

/// Shows on stderr how a campaign goes.
struct Watcher<'a> {
    global: &'a Global,
    /// It searches for a limit.
    is_search: bool,
    /// Questions to a person use the same stream, so a bar would be in the way.
    is_reviewed: bool,
    bar: ProgressBar,
    failed: u64,
    campaign: &'a Campaign,
    /// Records the campaign's events, if that is requested.
    stream: Option<&'a Stream>,
}

impl<'a> Watcher<'a> {
    fn new(global: &'a Global, prepared: &'a Prepared) -> Self {
        let planproof_campaign::Prepared { campaign, reviewing, options, .. } = &prepared.run;
        let (bar, stream) = (ProgressBar::hidden(), prepared.stream.as_deref());
        let is_search = options.limit.is_some() || options.until_decided;
        Self { global, is_search, is_reviewed: reviewing.is_some(), bar, failed: 0, campaign, stream }
    }
}

impl Watch for Watcher<'_> {
    fn begun(&mut self, begun: &Begun<'_>) {
        let Begun { campaign, cases, repeats, total, seal, done, failed, is_replay } = *begun;
        let times = match repeats {
            1 => String::new(),
            repeats => format!(", each {repeats} times"),
        };
        let resumed = if done == 0 { String::new() } else { format!(", {done} done already") };
        let replay = if is_replay { ", a replay" } else { "" };
        // A search for a limit runs as many of its cases as it takes.
        let most = if self.is_search { "up to " } else { "" };
        let cases = format!("{most}{}", counted(cases, "case"));
        progress::say(self.global, &format!("campaign {campaign}: {cases}{times}{resumed}{replay}"));
        // Said before the first run to whoever keeps what is said; on a terminal, the report below shows it. If all
        // runs are finished, a further key seals at most what a killed process left without an end.
        if done < total && !terminal::is_interactive() {
            progress::say(self.global, &format!("seal {seal}"));
        }
        if !self.is_reviewed {
            self.bar = progress::bar(self.global, total, done);
        }
        self.failed = failed;
        if let Some(stream) = self.stream {
            stream.begun(&self.campaign.agent.name, begun);
        }
    }

    fn checked(&mut self, check: &ModelCheck) {
        // A server that says nothing of itself has no line.
        let summary = check.server.as_ref().map(ServerFacts::summary).filter(|summary| !summary.is_empty());
        if let Some(summary) = summary {
            progress::say(self.global, &inline(&format!("{}: {summary}", check.model)));
        }
        for finding in check.wrong() {
            let mend = finding.mend.as_ref().map(|mend| format!("; {mend}")).unwrap_or_default();
            progress::warn(&inline(&format!("{}: {}: {}{mend}", check.model, finding.about, finding.seen)));
        }
    }

    fn happened(&mut self, progress: &RunProgress) {
        if let Some(stream) = self.stream {
            stream.happened(self.campaign, progress);
        }
        let RunProgress::Ended(outcome) = progress else { return };
        self.failed += u64::from(outcome.passed() == Some(false));
        self.bar.inc(1);
        self.bar.set_message(format!("{} failed", self.failed));
    }

    fn follows(&self) -> bool {
        self.stream.is_some()
    }

    fn over(&mut self) {
        self.bar.finish_and_clear();
        if let Some(stream) = self.stream {
            stream.over(&self.campaign.id);
        }
    }
}

/// Why a campaign could not continue, and how to resume it.
fn describe(halted: Halted, hint: &str) -> Failure {
    let error = match halted {
        Halted::Recording(error) => return Failure::outside(format!("{error}\n{hint}")),
        Halted::Store(error) => planproof_engine::EngineError::Store(error),
        // Without the hint: such a campaign must not be resumed.
        Halted::Altered(lines) => {
            let lines: Vec<String> = lines.iter().map(|line| terminal::inline(line)).collect();
            return Failure::outside(format!(
                "finished runs were changed while the campaign ran:\n{}\nits figures cannot be trusted: start a \
                 new one, with the agent isolated from the run store",
                lines.join("\n")
            ));
        }
        Halted::Runs(planproof_engine::EngineError::Stopped) => {
            return Failure::outside(format!("interrupted: {hint}"));
        }
        Halted::Runs(error) => error,
    };
    match Failure::from(error) {
        Failure::Outside(what) => Failure::Outside(format!("{what}\n{hint}")),
        Failure::Usage(what) => Failure::Usage(format!("{what}\n{hint}")),
        other => other,
    }
}
