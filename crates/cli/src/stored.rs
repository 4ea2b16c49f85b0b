//! Campaigns of the run store for commands, by their names: as the crate `campaign` reads them back, with their
//! sequels.

use std::path::Path;
use std::sync::Arc;

use planproof_assembly::errors::{CommandFailure, OrFail as _, failure};
use planproof_campaign::{
    BegunSequel, JudgedRun, Leading, PlannedSequel, StoredCampaign, Summaries, damaged, read_stored_trace,
    sequel_id,
};
use planproof_engine::{Pick, Report};
use planproof_output::failure::Failure;
use planproof_report::{CommandLines, ReportedCampaign, TraceSource};
use planproof_store::{CampaignRow, Store, StoreError, Unit};
use planproof_suite::{Case, Concluded, Sequel};
use planproof_trace::Trace;

use crate::damage;
use crate::stored_options::CampaignOptions;

/// A campaign read back in full, with what it led to.
pub(crate) struct Stored {
    pub(crate) campaign: StoredCampaign,
    pub(crate) options: CampaignOptions,
    /// How to resume it.
    pub(crate) commands: CommandLines,
    /// The sequels that were begun, each with what it came to so far.
    pub(crate) sequels: Vec<(PlannedSequel, Concluded)>,
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
        for sequel in stored.campaign.suite.sequels() {
            stored.sequels.extend(stored.begun(store, sequel)?);
        }
        Ok(stored)
    }

    /// What the store has of a sequel of the campaign.
    fn begun(
        &self,
        store: &Store,
        sequel: Arc<dyn Sequel>,
    ) -> Result<Option<(PlannedSequel, Concluded)>, Failure> {
        let id = &self.campaign.row.id;
        let read = |row: CampaignRow| {
            let options = options(&row)?;
            Ok::<_, CommandFailure>(Self::load_runs(store, row, options)?.campaign)
        };
        let Some((begun, how)) = BegunSequel::find(store, id, &*sequel, read)? else { return Ok(None) };
        let planned = PlannedSequel { sequel, how, begun: Some(begun) };
        let concluded = planned
            .concluded(&self.leading())
            .map_err(|error| {
                let derived = sequel_id(id, planned.sequel.name());
                damaged(&CampaignRow { id: derived, ..self.campaign.row.clone() }, &error.what)
            })
            .or_fail()?;
        Ok(concluded.map(|concluded| (planned, concluded)))
    }

    /// The campaign as its sequels see it.
    fn leading(&self) -> Leading<'_> {
        let StoredCampaign { row, options, cases, outcomes, .. } = &self.campaign;
        Leading { id: &row.id, cases, outcomes, seed: options.seed, of_suite: &options.of_suite }
    }

    fn load_runs(store: &Store, row: CampaignRow, options: CampaignOptions) -> Result<Self, Failure> {
        let commands = options.commands(&row.agent, store.path());
        let campaign = StoredCampaign::read(store, row, options.suite()?, options.kept.clone()).or_fail()?;
        // Damaged runs are left out of everything that follows, which must not happen silently.
        damage::note(store, &campaign.row.id, &campaign.named_damage(), campaign.seals.as_ref());
        Ok(Self { campaign, options, commands, sequels: Vec::new() })
    }

    /// The campaign summed up, with its sequels.
    pub(crate) fn report(&self) -> Report {
        let mut report = self.campaign.report();
        self.sequels.iter().for_each(|(_, concluded)| report.add(concluded.study.clone()));
        report
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
    if let Some(summaries) = Summaries::read(store, campaign, &options.suite()?).or_fail()? {
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
        let Some(summaries) = Summaries::read(store, campaign, &options.suite()?).or_fail()? else {
            return Ok(None);
        };
        damage::note(store, &campaign.id, &summaries.damaged(), summaries.seals());
        Ok(Some(Self {
            report: summaries.report(campaign, &options.kept, |_| true),
            picks: summaries.smallest_failures(usize::MAX),
            unscored: summaries.unscored(),
        }))
    }
}

/// The run store must exist: looking creates nothing.
pub(crate) fn must_exist(path: &Path) -> Result<(), Failure> {
    if path.exists() {
        return Ok(());
    }
    Err(Failure::usage(format!("there is no run store {}; `planproof test` creates one", path.display())))
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
        .map_err(|error| failure(damaged(campaign, &format!("its options: {error}"))))
}

/// One case of a campaign with one of its runs, judged again from the trace; nothing for the run where it is
/// not finished.
pub(crate) fn load_one(
    store: &Store,
    campaign: &CampaignRow,
    options: &CampaignOptions,
    unit: Unit,
) -> Result<(Arc<dyn Case>, Option<JudgedRun>), Failure> {
    planproof_campaign::read_one(store, campaign, &*options.suite()?, unit).or_fail()
}

/// The first case of a campaign; nothing where it has none.
pub(crate) fn first_case(store: &Store, campaign: &CampaignRow) -> Result<Option<Arc<dyn Case>>, Failure> {
    let suite = options(campaign)?.suite()?;
    planproof_campaign::read_first_case(store, campaign, &*suite).or_fail()
}

impl TraceSource for StoredTraces<'_> {
    fn trace(&self, unit: Unit) -> Result<Option<Trace>, String> {
        read_stored_trace(self.store, self.campaign, unit)
    }
}
