//! Campaigns of the run store for commands, by their names: as the crate `campaign` reads them back, with the
//! dissections and shrinkings that only campaigns of orders lead to.

use std::sync::Arc;

use planproof_campaign::{JudgedRun, StoredCampaign, Summaries, damaged, read_stored_trace};
use planproof_engine::studies::{DissectionReport, TopicErrors};
use planproof_engine::{Pick, Report};
use planproof_order::dissect::report as dissection_report;
use planproof_order::shrink::report as shrink_report;
use planproof_order::{Dissection, Failed, LedTo, OrderCase, OrderOutcome, Shrinking, errors_by_topic};
use planproof_report::{CommandLines, ReportedCampaign, TraceSource};
use planproof_store::{CampaignRow, Store, StoreError, Unit};
use planproof_suite::{Card, Case};
use planproof_trace::Trace;

use crate::commands::campaign::{CampaignOptions, Derived};
use crate::damage;
use crate::failure::Failure;
use crate::orders;

/// A campaign read back in full, with what it led to.
pub(crate) struct Stored {
    pub(crate) campaign: StoredCampaign,
    pub(crate) options: CampaignOptions,
    /// How to resume it.
    pub(crate) commands: CommandLines,
    /// The dissection of its failures, as far as it got, and the id of the trials' campaign.
    pub(crate) dissection: Option<(String, Dissection)>,
    /// The same of the shrinking of its failures.
    pub(crate) shrinking: Option<(String, Shrinking)>,
}

/// The dissection of some of a campaign's errors.
pub(crate) struct PartOfDissection {
    pub(crate) report: DissectionReport,
    /// How many errors those of the report were drawn from.
    pub(crate) dissected: u64,
    pub(crate) topics: Vec<TopicErrors>,
}

/// The figures of a campaign, without its cases and traces.
pub(crate) struct Figures {
    pub(crate) report: Report,
    /// The failures, the smallest first.
    pub(crate) picks: Vec<Pick>,
    /// A run without a score, if there is one.
    pub(crate) unscored: Option<Unit>,
}

/// The traces of a campaign in the run store, read on demand.
pub(crate) struct StoredTraces<'a> {
    pub(crate) store: &'a Store,
    /// Its id, in full.
    pub(crate) campaign: &'a str,
}

impl Stored {
    pub(crate) fn load(store: &Store, name: &str) -> Result<Self, Failure> {
        let row = find(store, name)?;
        let options = options(&row)?;
        Self::load_with(store, row, options)
    }

    /// The same of a row that was already read, with these options: a stored one may lack a key.
    pub(crate) fn load_with(
        store: &Store,
        row: CampaignRow,
        options: CampaignOptions,
    ) -> Result<Self, Failure> {
        let mut stored = Self::load_runs(store, row, options)?;
        let id = &stored.campaign.row.id;
        let derived = store.derived(id)?;
        let [trials, candidates] = [Derived::Dissection, Derived::Shrinking].map(|it| it.find(id, &derived));
        stored.dissection = trials.map(|trials| stored.load_dissection(store, trials)).transpose()?;
        stored.shrinking = candidates.map(|it| stored.load_shrinking(store, it)).transpose()?;
        Ok(stored)
    }

    fn load_runs(store: &Store, row: CampaignRow, options: CampaignOptions) -> Result<Self, Failure> {
        let commands = options.commands(&row.agent, store.path());
        let campaign = StoredCampaign::read(store, row, options.suite()?, options.kept.clone())?;
        // Damaged runs are left out of everything that follows, which must not happen silently.
        damage::note(store, &campaign.row.id, &campaign.named_damage(), campaign.seals.as_ref());
        Ok(Self { campaign, options, commands, dissection: None, shrinking: None })
    }

    /// The dissection of its failures, whose trials are that campaign.
    fn load_dissection(&self, store: &Store, trials: CampaignRow) -> Result<(String, Dissection), Failure> {
        let options = options(&trials)?;
        let trials = Self::load_runs(store, trials, options)?;
        let wrong = || damaged(&trials.campaign.row, "its cases are not trials of a dissection");
        // From the options of the trials, because the dissection may have been requested only on resume.
        let how = trials.options.order.dissect.ok_or_else(wrong)?;
        let (bank, led_to) = (self.options.order.bank(), trials.led_to(store)?);
        let read = self.with_typed(|failed| Dissection::read(failed, how, bank, led_to))?;
        Ok((trials.campaign.row.id.clone(), read.ok_or_else(wrong)?))
    }

    /// The shrinking of its failures, whose candidates are that campaign.
    fn load_shrinking(&self, store: &Store, candidates: CampaignRow) -> Result<(String, Shrinking), Failure> {
        let options = options(&candidates)?;
        let candidates = Self::load_runs(store, candidates, options)?;
        let wrong = || damaged(&candidates.campaign.row, "its cases are not candidates of a shrinking");
        let how = candidates.options.order.shrink.ok_or_else(wrong)?;
        let led_to = candidates.led_to(store)?;
        let read = self.with_typed(|failed| Shrinking::read(failed, how, led_to))?;
        Ok((candidates.campaign.row.id.clone(), read.ok_or_else(wrong)?))
    }

    /// The same as a campaign that another led to.
    fn led_to(&self, store: &Store) -> Result<LedTo, Failure> {
        Ok(LedTo {
            cases: self.campaign.cases.iter().map(|case| orders::case(&**case)).collect::<Result<_, _>>()?,
            outcomes: orders::outcomes(&self.campaign.outcomes),
            origins: store.origins(&self.campaign.row.id)?,
        })
    }

    /// Its cases and outcomes as those of orders.
    fn typed(&self) -> Result<(Vec<Arc<OrderCase>>, Vec<OrderOutcome>), Failure> {
        Ok((
            orders::cases(self.options.order.judge(), &self.campaign.cases)?,
            orders::outcomes(&self.campaign.outcomes),
        ))
    }

    fn with_typed<T>(&self, read: impl FnOnce(Failed<'_>) -> T) -> Result<T, Failure> {
        let (cases, outcomes) = self.typed()?;
        Ok(read(Failed { cases: &cases, outcomes: &outcomes, seed: self.options.kept.seed }))
    }

    /// The campaign summed up, with what it led to.
    pub(crate) fn report(&self) -> Result<Report, Failure> {
        let mut report = self.campaign.report();
        // Cases of other suites cannot be read as orders, but they never lead to either of these.
        if self.dissection.is_none() && self.shrinking.is_none() {
            return Ok(report);
        }
        let (cases, outcomes) = self.typed()?;
        let of_dissection =
            |(id, found): &(String, Dissection)| dissection_report(id, found, &cases, &outcomes);
        report.dissection = self.dissection.as_ref().map(of_dissection);
        let of_shrinking = |(id, found): &(String, Shrinking)| shrink_report(id, found, &cases, &outcomes);
        report.shrinking = self.shrinking.as_ref().map(of_shrinking);
        Ok(report)
    }

    /// The dissection of the errors in cases that `counts`, at most `errors_max` of them, drawn by its seed; how many
    /// there were to draw from, and the failures of every topic in these cases. `None` without a dissection.
    pub(crate) fn part_of_dissection(
        &self,
        counts: impl Fn(&Card) -> bool,
        errors_max: u32,
    ) -> Result<Option<PartOfDissection>, Failure> {
        let Some((id, dissection)) = &self.dissection else { return Ok(None) };
        let counts =
            |ordinal: u32| self.campaign.cases.get(ordinal as usize).is_some_and(|case| counts(case.card()));
        // The cases are limited before the errors are drawn, so that the draw is from those that count.
        let mut part = dissection.clone();
        part.retain(counts);
        let dissected = part.errors.len() as u64;
        part.draw(errors_max, self.options.kept.seed);
        let (cases, mut outcomes) = self.typed()?;
        outcomes.retain(|outcome| counts(outcome.ordinal));
        Ok(Some(PartOfDissection {
            report: dissection_report(id, &part, &cases, &outcomes),
            dissected,
            topics: errors_by_topic(&cases, &outcomes),
        }))
    }

    /// The campaign as reports take it.
    pub(crate) fn reported<'a>(
        &'a self,
        report: &'a Report,
        traces: &'a dyn TraceSource,
    ) -> ReportedCampaign<'a> {
        ReportedCampaign {
            gate: None,
            suite: &*self.campaign.suite,
            id: &self.campaign.row.id,
            created_ms: self.campaign.row.created_ms,
            command_line: &self.campaign.row.command_line,
            commands: Some(&self.commands),
            seed: self.options.kept.seed,
            cases: self.campaign.reached(),
            repeats: self.campaign.row.repeats,
            outcomes: &self.campaign.outcomes,
            report,
            traces,
        }
    }
}

/// The summaries of a campaign, computed from cases and traces if the store has none.
pub(crate) fn summaries(
    store: &Store,
    campaign: &CampaignRow,
    options: &CampaignOptions,
) -> Result<Summaries, Failure> {
    if let Some(summaries) = Summaries::read(store, campaign, &options.suite()?)? {
        damage::note(store, &campaign.id, &summaries.damaged(), summaries.seals());
        return Ok(summaries);
    }
    Ok(Summaries::of(&Stored::load(store, &campaign.id)?.campaign))
}

impl Figures {
    /// Reads the summaries of a campaign; `None` unless there is one for every case and every finished run, as in
    /// stores of an older planproof.
    pub(crate) fn read(
        store: &Store,
        campaign: &CampaignRow,
        options: &CampaignOptions,
    ) -> Result<Option<Self>, Failure> {
        let Some(summaries) = Summaries::read(store, campaign, &options.suite()?)? else { return Ok(None) };
        damage::note(store, &campaign.id, &summaries.damaged(), summaries.seals());
        Ok(Some(Self {
            report: summaries.report(campaign, &options.kept, |_| true),
            picks: summaries.smallest_failures(usize::MAX),
            unscored: summaries.unscored(),
        }))
    }
}

/// The campaign of that name, as [`Store::campaign`] finds it.
pub(crate) fn find(store: &Store, name: &str) -> Result<CampaignRow, Failure> {
    store.campaign(name).map_err(|error| match (&error, store.campaigns()) {
        (StoreError::UnknownCampaign { .. }, Ok(all)) if all.is_empty() => Failure::usage(format!(
            "the run store {} holds no campaign yet; `planproof test` creates one",
            store.path().display()
        )),
        _ => error.into(),
    })
}

/// The options of a campaign.
pub(crate) fn options(campaign: &CampaignRow) -> Result<CampaignOptions, Failure> {
    CampaignOptions::parse(&campaign.options)
        .map_err(|error| damaged(campaign, &format!("its options: {error}")).into())
}

/// One case of a campaign with one of its runs, judged again from the trace; nothing for the run where it is
/// not finished.
pub(crate) fn load_one(
    store: &Store,
    campaign: &CampaignRow,
    options: &CampaignOptions,
    unit: Unit,
) -> Result<(Arc<dyn Case>, Option<JudgedRun>), Failure> {
    Ok(planproof_campaign::read_one(store, campaign, &*options.suite()?, unit)?)
}

/// The first case of a campaign; nothing where it has none.
pub(crate) fn first_case(store: &Store, campaign: &CampaignRow) -> Result<Option<Arc<dyn Case>>, Failure> {
    let suite = options(campaign)?.suite()?;
    Ok(planproof_campaign::read_first_case(store, campaign, &*suite)?)
}

impl TraceSource for StoredTraces<'_> {
    fn trace(&self, unit: Unit) -> Result<Option<Trace>, String> {
        read_stored_trace(self.store, self.campaign, unit)
    }
}
