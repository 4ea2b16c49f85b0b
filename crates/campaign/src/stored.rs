//! Campaigns read back from the run store: whole and judged again, or as summaries for figures alone. The caller
//! finds the suite of a campaign, as it finds everything with a name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use planproof_engine::{
    DamagedRunRow as Named, FindingCandidate, LimitReport, Outcome, Pick, Report, RunSummary, card_from_json,
    pick_smallest,
};
use planproof_store::{
    CampaignRow, CaseRow, DamagedRun, RunRow, RunState, Seals, Signatures, Store, TracedRun, Unit,
};
use planproof_suite::{Card, Case, Suite, Unscored};
use planproof_trace::Trace;
use planproof_trace::wire::v1::read_trace;

use crate::error::CampaignError;
use crate::options::StoredOptions;
use crate::summary::SummedCampaign;

/// A campaign read back in full.
pub struct StoredCampaign {
    pub row: CampaignRow,
    /// The kind of its cases.
    pub suite: Arc<dyn Suite>,
    /// What was kept of it.
    pub options: StoredOptions,
    pub cases: Vec<Arc<dyn Case>>,
    /// The finished runs, judged again from their traces.
    pub outcomes: Vec<Outcome>,
    /// Runs that are left out, because they differ from what was written.
    pub damaged: Vec<DamagedRun>,
    /// Its seals, which were checked; `None` if it was not sealed.
    pub seals: Option<Seals>,
}

/// A run that was judged again, with its trace.
pub type JudgedRun = (Outcome, Trace);

impl StoredCampaign {
    /// Reads all cases and all traces, and judges them again.
    ///
    /// # Errors
    /// The store fails, or its data of the campaign make no sense.
    pub fn read(
        store: &Store,
        row: CampaignRow,
        suite: Arc<dyn Suite>,
        options: StoredOptions,
    ) -> Result<Self, CampaignError> {
        let mut cases = Vec::new();
        for case in store.cases(&row.id)? {
            cases.push(read_case(&*suite, &row, &case?)?);
        }
        // A signature covers all links before it, so the ends of the chain are enough.
        let seals = store.seals(&row.id, Signatures::Ends)?;
        let mut damaged_runs = seals.as_ref().map(|seals| seals.damaged.clone()).unwrap_or_default();
        let unsealed: HashSet<Unit> = damaged_runs.iter().map(|run| run.unit).collect();
        // How often a run asked the model that was served to it is in no trace.
        let mut requests = HashMap::new();
        for run in store.run_summaries(&row.id)? {
            let run = run?;
            let asked = run.summary.as_deref().and_then(RunSummary::requests_in);
            requests.extend(asked.map(|asked| (run.unit, asked)));
        }
        let mut outcomes = Vec::new();
        for run in store.traced_runs(&row.id)? {
            let TracedRun { row: run, trace } = run?;
            // Runs that do not match the seals are in the list already.
            if run.state != RunState::Finished || unsealed.contains(&run.unit) {
                continue;
            }
            if let Some(damage) = run.damage {
                damaged_runs.push(DamagedRun { unit: run.unit, damage });
                continue;
            }
            let ordinal = run.unit.ordinal;
            let case = cases.get(ordinal as usize).ok_or_else(|| {
                damaged(&row, &format!("it has a run of case {ordinal}, which is not there"))
            })?;
            let (judged, _) = judge(&row, &**case, &run, &trace)?;
            outcomes.push(Outcome { requests: requests.get(&run.unit).copied(), ..judged });
        }
        damaged_runs.sort_by_key(|run| run.unit);
        Ok(Self { row, suite, options, cases, outcomes, damaged: damaged_runs, seals })
    }

    /// The summary of the campaign, without its sequels.
    pub fn report(&self) -> Report {
        let cards: Vec<Card> = self.reached().iter().map(|case| case.card().clone()).collect();
        let runs: Vec<RunSummary> = self.outcomes.iter().map(RunSummary::of).collect();
        let mut report = SummedCampaign {
            suite: &*self.suite,
            agent: &self.row.agent,
            model: self.row.model.as_deref(),
            simulated: self.row.simulated,
            cards: &cards,
            repeats: self.row.repeats,
            runs: &runs,
            options: &self.options,
            progress: &self.row.progress,
            seal: self.seals.as_ref().and_then(Seals::last),
            label: self.row.label.as_deref(),
            damaged: self.named_damage(),
        }
        .report();
        if self.options.limit.is_some() {
            report.not_run = Summaries::of(self).missing_of_search(&self.row, &self.options);
        }
        report
    }

    /// The cases that it is about so far: all, unless it runs until it is decided whether it is worse than another.
    pub fn reached(&self) -> &[Arc<dyn Case>] {
        let last = self.outcomes.iter().map(|outcome| outcome.ordinal).max();
        &self.cases[..self.options.reached(self.cases.len(), last)]
    }

    /// The runs that are left out, because they differ from what was written.
    pub fn named_damage(&self) -> Vec<Named> {
        let case = |unit: Unit| self.cases.get(unit.ordinal as usize).map(|case| case.card().id.clone());
        self.damaged.iter().map(|run| named(run, case(run.unit))).collect()
    }

    /// Why a run has no score, if there is such a run.
    pub fn unscored(&self) -> Option<&Unscored> {
        self.outcomes.iter().find_map(|outcome| outcome.verdict.as_ref().err())
    }
}

/// The data of a campaign's cases and finished runs for figures.
pub struct Summaries {
    suite: Arc<dyn Suite>,
    cards: Vec<Card>,
    runs: Vec<RunSummary>,
    damaged: Vec<DamagedRun>,
    seals: Option<Seals>,
}

impl Summaries {
    /// Reads them; `None` unless there is one for every case and every finished run. They are missing in stores of an
    /// older planproof, and if the campaign led to others, which they do not cover.
    ///
    /// # Errors
    /// The store fails.
    pub fn read(
        store: &Store,
        row: &CampaignRow,
        suite: &Arc<dyn Suite>,
    ) -> Result<Option<Self>, CampaignError> {
        if !store.derived(&row.id)?.is_empty() {
            return Ok(None);
        }
        // Also those of the campaign itself: a report says what its row says.
        let seals = store.seals(&row.id, Signatures::Ends)?;
        let mut damaged = seals.as_ref().map(|seals| seals.damaged.clone()).unwrap_or_default();
        let unsealed: HashSet<Unit> = damaged.iter().map(|run| run.unit).collect();
        let mut cards = Vec::new();
        for case in store.case_summaries(&row.id)? {
            // Without a summary the caller reads the campaign in full and judges it again.
            let Some(card) = case?.summary.as_deref().and_then(card_from_json) else { return Ok(None) };
            cards.push(card);
        }
        let mut runs = Vec::new();
        for run in store.run_summaries(&row.id)? {
            let run = run?;
            if unsealed.contains(&run.unit) {
                continue;
            }
            if let Some(damage) = run.damage {
                damaged.push(DamagedRun { unit: run.unit, damage });
                continue;
            }
            let wall = Duration::from_millis(run.wall_ms);
            let class = run.class.as_deref();
            let read = |text: &str| RunSummary::from_json(&**suite, run.unit, run.passed, class, wall, text);
            let Some(summary) = run.summary.as_deref().and_then(read) else { return Ok(None) };
            runs.push(summary);
        }
        damaged.sort_by_key(|run| run.unit);
        Ok(Some(Self { suite: Arc::clone(suite), cards, runs, damaged, seals }))
    }

    /// The figures of a campaign that was read in full.
    pub fn of(stored: &StoredCampaign) -> Self {
        let cards = stored.cases.iter().map(|case| case.card().clone()).collect();
        let runs = stored.outcomes.iter().map(RunSummary::of).collect();
        let (damaged, seals) = (stored.damaged.clone(), stored.seals.clone());
        Self { suite: Arc::clone(&stored.suite), cards, runs, damaged, seals }
    }

    /// The figures of the runs of some cases.
    pub fn report(
        &self,
        row: &CampaignRow,
        options: &StoredOptions,
        counts: impl Fn(&Card) -> bool,
    ) -> Report {
        let is_counted = |run: &&RunSummary| self.cards.get(run.ordinal as usize).is_none_or(&counts);
        let runs: Vec<RunSummary> = self.runs.iter().filter(is_counted).cloned().collect();
        let mut report = self.summed(row, options, &runs).report();
        if options.limit.is_some() {
            report.not_run = self.missing_of_search(row, options);
        }
        report
    }

    /// How many runs a search for a limit still needs: not all that it planned.
    fn missing_of_search(&self, row: &CampaignRow, options: &StoredOptions) -> u64 {
        self.limit(row, options).map_or(0, |found| found.campaign.not_run)
    }

    /// The runs that are left out, because they differ from what was written.
    pub fn damaged(&self) -> Vec<Named> {
        let case = |unit: Unit| self.cards.get(unit.ordinal as usize).map(|card| card.id.clone());
        self.damaged.iter().map(|run| named(run, case(run.unit))).collect()
    }

    /// Its seals; `None` if it was not sealed. Their signatures were checked only if its traces were read.
    pub fn seals(&self) -> Option<&Seals> {
        self.seals.as_ref()
    }

    /// The result of the search for a limit; `None` if the campaign is not such a search.
    pub fn limit(&self, row: &CampaignRow, options: &StoredOptions) -> Option<LimitReport> {
        Some(LimitReport::new(options.limit?, self.summed(row, options, &self.runs).input()))
    }

    /// The smallest failures, at most `most`.
    pub fn smallest_failures(&self, most: usize) -> Vec<Pick> {
        let case = |run: &RunSummary| self.cards.get(run.ordinal as usize);
        pick_smallest(self.runs.iter().filter_map(|run| FindingCandidate::of(case(run)?, run)), most)
    }

    /// A run without a score, if there is one.
    pub fn unscored(&self) -> Option<Unit> {
        let run = self.runs.iter().find(|run| run.scored.is_none())?;
        Some(Unit { ordinal: run.ordinal, repeat: run.repeat })
    }

    /// The place of the last case with a finished run.
    fn last(&self) -> Option<u32> {
        self.runs.iter().map(|run| run.ordinal).max()
    }

    fn summed<'a>(
        &'a self,
        row: &'a CampaignRow,
        options: &'a StoredOptions,
        runs: &'a [RunSummary],
    ) -> SummedCampaign<'a> {
        SummedCampaign {
            suite: &*self.suite,
            agent: &row.agent,
            model: row.model.as_deref(),
            simulated: row.simulated,
            cards: &self.cards[..options.reached(self.cards.len(), self.last())],
            repeats: row.repeats,
            runs,
            options,
            progress: &row.progress,
            seal: self.seals.as_ref().and_then(Seals::last),
            label: row.label.as_deref(),
            damaged: self.damaged(),
        }
    }
}

/// One case of a campaign with one of its runs, judged again from the trace; `None` for an unfinished run.
///
/// # Errors
/// The store fails, the run is damaged, or the store's data of the campaign make no sense.
pub fn read_one(
    store: &Store,
    row: &CampaignRow,
    suite: &dyn Suite,
    unit: Unit,
) -> Result<(Arc<dyn Case>, Option<JudgedRun>), CampaignError> {
    let Some(case) = store.case(&row.id, unit.ordinal)? else {
        return Err(damaged(row, &format!("case {} is not there", unit.ordinal)));
    };
    let case = read_case(suite, row, &case)?;
    let run = match store.run(&row.id, unit)? {
        Some(TracedRun { row: RunRow { damage: Some(damage), .. }, .. }) => {
            let what = format!("the run of case {}: {damage}", case.card().id);
            return Err(damaged(row, &what));
        }
        Some(TracedRun { row: run, trace }) if run.state == RunState::Finished => {
            Some(judge(row, &*case, &run, &trace)?)
        }
        _ => None,
    };
    Ok((case, run))
}

/// The first case of a campaign; `None` if it has none.
///
/// # Errors
/// Those of [`read_one`].
pub fn read_first_case(
    store: &Store,
    row: &CampaignRow,
    suite: &dyn Suite,
) -> Result<Option<Arc<dyn Case>>, CampaignError> {
    store.case(&row.id, 0)?.map(|case| read_case(suite, row, &case)).transpose()
}

/// The trace of a finished run; `None` if it is unfinished.
///
/// # Errors
/// The store fails, or the trace cannot be read; in words.
pub fn read_stored_trace(store: &Store, campaign: &str, unit: Unit) -> Result<Option<Trace>, String> {
    match store.run(campaign, unit).map_err(|error| error.to_string())? {
        Some(TracedRun { row: RunRow { damage: Some(damage), .. }, .. }) => {
            Err(format!("the run is damaged: {damage}"))
        }
        Some(TracedRun { row: run, trace }) if run.state == RunState::Finished => {
            trace_of(&run, &trace).map(Some)
        }
        _ => Ok(None),
    }
}

/// The error for stored data of a campaign that make no sense, with the reason.
pub fn damaged(row: &CampaignRow, what: &str) -> CampaignError {
    CampaignError::outside(format!(
        "campaign {} in the run store is damaged: {what}; restore a copy of the store, or export the rest with \
         `planproof runs export`",
        row.id
    ))
}

/// A damaged run by the id of its case.
fn named(run: &DamagedRun, case: Option<String>) -> Named {
    let case = case.unwrap_or_else(|| format!("at place {}", run.unit.ordinal));
    Named { case, repeat: run.unit.repeat, why: run.damage.to_string() }
}

/// Damaged runs of a campaign by the ids of their cases, as far as these are readable.
pub fn name_damaged(store: &Store, campaign: &str, damaged: &[DamagedRun]) -> Vec<Named> {
    let case = |unit: Unit| store.case(campaign, unit.ordinal).ok().flatten().map(|case| case.id);
    damaged.iter().map(|run| named(run, case(run.unit))).collect()
}

fn read_case(suite: &dyn Suite, row: &CampaignRow, case: &CaseRow) -> Result<Arc<dyn Case>, CampaignError> {
    suite.read(&case.json).map_err(|error| damaged(row, &format!("case {}: {error}", case.ordinal)))
}

fn judge(row: &CampaignRow, case: &dyn Case, run: &RunRow, trace: &str) -> Result<JudgedRun, CampaignError> {
    let trace = trace_of(run, trace).map_err(|what| damaged(row, &what))?;
    let wall = Duration::from_millis(run.wall_ms.unwrap_or(0));
    let outcome = Outcome::of(case, run.unit, &trace.events, wall);
    Ok((outcome, trace))
}

fn trace_of(run: &RunRow, trace: &str) -> Result<Trace, String> {
    read_trace(trace).map_err(|error| format!("the trace of case {}: {error}", run.unit.ordinal))
}
