//! A campaign that is prepared, and what is told of it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use planproof_bench::{Campaign, Outcome, Report, Unit};
use planproof_model::Model;
use planproof_model::metering::Meter;
use planproof_model::recording::ReplayModel;
use planproof_order::{CandidateRecord, Dissection, OrderSuite, Shrinking, TrialRecord, untyped};
use planproof_report::{CommandLines, ReportedCampaign};
use planproof_store::{Progress, Store, Writer};
use planproof_suite::{Card, Suite};
use planproof_trace::Secrets;

use super::budgets::{self, Budgets};
use super::options::StoredOptions;
use super::recorded::RecordedCampaign;
use super::recording::CampaignRecording;
use crate::failure::Failure;
use crate::progress::tell;
use crate::stored::StoredTraces;

/// Most cases of a replay whose differences are told.
const DIFFERENCES_SHOWN_MAX: usize = 5;

/// A campaign about to be run, with what is done of it and what watches over it.
pub(in crate::commands) struct Prepared {
    pub(in crate::commands) store: Store,
    pub(in crate::commands) campaign: Campaign,
    /// The kind of its cases.
    pub(in crate::commands) suite: Arc<dyn Suite>,
    /// What figures need of the campaign's cases.
    pub(in crate::commands) cards: Vec<Card>,
    pub(in crate::commands) options: StoredOptions,
    /// Runs that are done already.
    pub(super) finished: Vec<Outcome>,
    /// Runs that are not begun now, because a recording has no verdict of them.
    pub(super) left_out: HashSet<Unit>,
    /// The model that is served to the agent, and its name.
    pub(super) served: Option<(String, Served)>,
    pub(super) budgets: Budgets,
    /// The models that are asked.
    pub(super) asked: Vec<Arc<dyn Model>>,
    /// Adds up what is paid for; `None` where no model is asked through us.
    pub(super) meter: Option<Arc<Meter>>,
    pub(super) recording: Option<CampaignRecording>,
    pub(super) replayed: Option<Replayed>,
    /// Trials of the dissection that are there already; those without a score are run again.
    pub(super) trials: Vec<TrialRecord>,
    /// The same of the shrinking.
    pub(super) candidates: Vec<CandidateRecord>,
    /// Kept out of traces and recordings.
    pub(super) secrets: Secrets,
}

/// A model that is served, with what it tells the agent counted.
pub(super) struct Served {
    pub(super) model: Arc<dyn Model>,
    pub(super) told: Arc<Meter>,
}

/// What a replay is held to.
pub(super) struct Replayed {
    pub(super) recorded: RecordedCampaign,
    pub(super) models: Vec<Arc<ReplayModel>>,
}

impl Prepared {
    /// What the campaign took so far.
    pub(super) fn progress(&self, budgets: &str) -> Progress {
        let spent = self.meter.as_ref().map(|meter| budgets::to_stored(meter.spent()));
        let told = self.served.as_ref().map(|(_, served)| served.told.spent().usage).unwrap_or_default();
        Progress {
            spent: spent.unwrap_or_default(),
            served_input_tokens: told.input_tokens,
            served_output_tokens: told.output_tokens,
            ended_by: None,
            budgets: budgets.to_owned(),
        }
    }

    /// Books each request in the store when it is answered, so that a campaign that is killed has not lost
    /// what it spent; without a writer no more.
    pub(super) fn watch_spending(&self, writer: Option<&Writer>) {
        let told = self.served.as_ref().map(|(_, served)| &served.told);
        let meters = [self.meter.as_ref(), told];
        let [spent, served] = meters.map(|meter| meter.map_or_else(Weak::new, Arc::downgrade));
        let watcher = writer.map(|writer| -> Arc<dyn Fn() + Send + Sync> {
            let (id, writer) = (self.campaign.id.clone(), Mutex::new(writer.clone()));
            Arc::new(move || {
                // Who comes later notes no less.
                let writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
                let [spent, served] =
                    [&spent, &served].map(|meter| meter.upgrade().map(|meter| meter.spent()));
                let spent = spent.map(budgets::to_stored).unwrap_or_default();
                writer.note_spending(&id, spent, served.map(|served| served.usage).unwrap_or_default());
            })
        });
        for meter in meters.into_iter().flatten() {
            meter.watch(watcher.clone());
        }
    }

    /// How to go on with it.
    pub(in crate::commands) fn commands(&self) -> CommandLines {
        self.options.commands(&self.campaign.agent.name, self.store.path())
    }

    /// Whether that run came to its end when the campaign was recorded, so that a replay can have it too. True where it
    /// is no replay.
    pub(in crate::commands) fn can_run(&self, unit: &Unit) -> bool {
        !self.left_out.contains(unit)
    }

    /// Hands the campaign to `write` as reports take it.
    pub(in crate::commands) fn reported(
        &self,
        outcomes: &[Outcome],
        report: &Report,
        write: impl FnOnce(&ReportedCampaign<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let row = self.store.campaign(&self.campaign.id)?;
        write(&ReportedCampaign {
            suite: &*self.suite,
            id: &row.id,
            created_ms: row.created_ms,
            command_line: &row.command_line,
            commands: &self.commands(),
            seed: self.options.seed(),
            cases: &self.campaign.cases,
            repeats: self.campaign.repeats.get(),
            outcomes,
            report,
            traces: &StoredTraces { store: &self.store, campaign: &row.id },
        })
    }

    /// Whether this is a replay that came as far as its recording, which is whole. Whether it differs is
    /// another question.
    pub(in crate::commands) fn is_as_recorded(&self, outcomes: &[Outcome], progress: &Progress) -> bool {
        let is_same_end = |replayed: &&Replayed| replayed.recorded.ended_by == progress.ended_by;
        self.replayed.as_ref().filter(is_same_end).is_some_and(|replayed| {
            let done: HashSet<Unit> = outcomes.iter().map(Outcome::unit).collect();
            let mut units = self.campaign.units();
            replayed.recorded.has_end() && units.all(|unit| done.contains(&unit) || !self.can_run(&unit))
        })
    }

    /// Tells on stderr in what a replay differs from its recording. Whether it does.
    pub(in crate::commands) fn tell_differences(
        &self,
        outcomes: &[Outcome],
        dissection: Option<&Dissection>,
        shrinking: Option<&Shrinking>,
    ) -> bool {
        let Some(replayed) = &self.replayed else { return false };
        // Those of dissection and shrinking come behind, where there are any.
        let (mut cases, mut outcomes) = (Cow::from(&*self.campaign.cases), Cow::from(outcomes));
        let orders = OrderSuite::new(self.options.judge());
        for trial in dissection.into_iter().flat_map(|dissection| &dissection.trials) {
            let case = orders.wrap(trial.case.clone());
            if let Some(outcome) = &trial.outcome {
                let outcome = untyped(&case, outcome);
                outcomes.to_mut().push(Outcome { ordinal: cases.len() as u32, ..outcome });
            }
            cases.to_mut().push(case);
        }
        for candidate in shrinking.into_iter().flat_map(|shrinking| &shrinking.candidates) {
            let place = cases.len() as u32;
            let case = orders.wrap(candidate.case.clone());
            let of_candidate = candidate.outcomes.values();
            outcomes
                .to_mut()
                .extend(of_candidate.map(|outcome| Outcome { ordinal: place, ..untyped(&case, outcome) }));
            cases.to_mut().push(case);
        }
        let mut differences = replayed.recorded.differences(&cases, &outcomes);
        let misses = replayed.models.iter().flat_map(|model| model.misses());
        // A program may cope with a model that refuses, so that no verdict shows it.
        let untold: Vec<String> =
            misses.filter(|miss| !differences.iter().any(|difference| difference.contains(miss))).collect();
        differences.extend(untold.into_iter().map(|miss| format!("a request that is not recorded: {miss}")));
        if differences.is_empty() {
            return false;
        }
        let path = replayed.recorded.recording.path().display();
        let places =
            if differences.len() == 1 { "1 place" } else { &format!("{} places", differences.len()) };
        tell!("error: the replay differs from its recording {path} in {places}:");
        for difference in differences.iter().take(DIFFERENCES_SHOWN_MAX) {
            tell!("  {difference}");
        }
        if differences.len() > DIFFERENCES_SHOWN_MAX {
            tell!("  and {} more", differences.len() - DIFFERENCES_SHOWN_MAX);
        }
        true
    }
}
