//! Campaigns read back from the run store: whole and judged again, or as summaries for figures alone.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use planproof_bench::studies::{DissectionReport, TopicErrors};
use planproof_bench::{
    Candidate, LimitReport, Outcome, Pick, Report, ReportInput, RunSummary, SummaryInput, card_from_json,
    pick_smallest,
};
use planproof_order::dissect::report as dissection_report;
use planproof_order::shrink::report as shrink_report;
use planproof_order::synth::{Mutator, Wordings};
use planproof_order::{
    Dissection, OrderCase, OrderOutcome, Shrinking, errors_by_topic, pick_errors, pick_failures,
};
use planproof_report::{CommandLines, ReportedCampaign, TraceSource};
use planproof_store::{Campaign, CaseRow, RunRow, RunState, Store, StoreError, Unit};
use planproof_suite::{Card, Case, Suite, Unscored};
use planproof_trace::Trace;
use planproof_trace::wire::v1::read_trace;

use crate::commands::campaign::{CampaignOptions, Derived, read_candidates, read_trials, shrinker};
use crate::failure::Failure;
use crate::orders;

/// A campaign read back in full.
pub(crate) struct Stored {
    pub(crate) campaign: Campaign,
    pub(crate) suite: Arc<dyn Suite>,
    pub(crate) cases: Vec<Arc<dyn Case>>,
    pub(crate) options: CampaignOptions,
    /// How to resume it.
    pub(crate) commands: CommandLines,
    /// The finished runs, judged again from their traces.
    pub(crate) outcomes: Vec<Outcome>,
    /// What the dissection of its failures showed, as far as it came, and the id of the campaign of its trials.
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

/// The figures of a campaign, of which neither cases nor traces were read.
pub(crate) struct Figures {
    pub(crate) report: Report,
    /// The failures to be shown.
    pub(crate) picks: Vec<Pick>,
    /// A run without a score, if there is one.
    pub(crate) unscored: Option<Unit>,
}

/// What figures need of a campaign's cases and finished runs.
pub(crate) struct Summaries {
    suite: Arc<dyn Suite>,
    cards: Vec<Card>,
    runs: Vec<RunSummary>,
}

/// The traces of a campaign in the run store, read when they are asked for.
pub(crate) struct StoredTraces<'a> {
    pub(crate) store: &'a Store,
    /// Its id, in full.
    pub(crate) campaign: &'a str,
}

impl Stored {
    pub(crate) fn load(store: &Store, name: &str) -> Result<Self, Failure> {
        let mut stored = Self::load_runs(store, find(store, name)?)?;
        let derived = store.derived(&stored.campaign.id)?;
        if let Some(trials) = Derived::Dissection.find(&stored.campaign.id, &derived) {
            stored.dissection = Some(stored.load_dissection(store, trials)?);
        }
        if let Some(candidates) = Derived::Shrinking.find(&stored.campaign.id, &derived) {
            stored.shrinking = Some(stored.load_shrinking(store, candidates)?);
        }
        Ok(stored)
    }

    /// The dissection of its failures, whose trials are that campaign.
    fn load_dissection(&self, store: &Store, trials: Campaign) -> Result<(String, Dissection), Failure> {
        let Self { campaign, cases, options, outcomes, .. } = Self::load_runs(store, trials)?;
        let cases = cases.iter().map(|case| orders::case(&**case)).collect::<Result<_, _>>()?;
        let outcomes = orders::outcomes(&outcomes);
        let wrong = || damaged(&campaign, "its cases are no trials of a dissection");
        let origins = store.origins(&campaign.id)?;
        let records = read_trials(cases, outcomes, origins, self.cases.len()).ok_or_else(wrong)?;
        let how = options.order.dissect.ok_or_else(wrong)?;
        let (failed, outcomes) = self.typed()?;
        let errors = pick_errors(&outcomes, &how, self.options.kept.seed);
        let mutator = Mutator::new(Wordings::shipped(), self.options.order.bank());
        let dissection =
            Dissection::of_trials(&failed, &errors, how, self.options.kept.seed, mutator, records);
        Ok((campaign.id, dissection))
    }

    /// The shrinking of its failures, whose candidates are that campaign.
    fn load_shrinking(&self, store: &Store, candidates: Campaign) -> Result<(String, Shrinking), Failure> {
        let Self { campaign, cases, options, outcomes, .. } = Self::load_runs(store, candidates)?;
        let cases = cases.iter().map(|case| orders::case(&**case)).collect::<Result<_, _>>()?;
        let outcomes = orders::outcomes(&outcomes);
        let wrong = || damaged(&campaign, "its cases are no candidates of a shrinking");
        let origins = store.origins(&campaign.id)?;
        let records = read_candidates(cases, outcomes, origins, self.cases.len()).ok_or_else(wrong)?;
        let how = options.order.shrink.ok_or_else(wrong)?;
        let (failed, outcomes) = self.typed()?;
        let failures = pick_failures(&failed, &outcomes, &how);
        let shrinking = Shrinking::of_candidates(&failed, failures, how, shrinker(), records);
        Ok((campaign.id, shrinking))
    }

    /// Its cases and outcomes as those of orders.
    fn typed(&self) -> Result<(Vec<Arc<OrderCase>>, Vec<OrderOutcome>), Failure> {
        Ok((orders::cases(self.options.order.judge(), &self.cases)?, orders::outcomes(&self.outcomes)))
    }

    fn load_runs(store: &Store, campaign: Campaign) -> Result<Self, Failure> {
        let options = options(&campaign)?;
        let suite = options.suite()?;
        let mut cases = Vec::new();
        for row in store.cases(&campaign.id)? {
            cases.push(case(&*suite, &campaign, &row?)?);
        }
        let mut requests = HashMap::new();
        for row in store.run_summaries(&campaign.id)? {
            let row = row?;
            let asked = row.summary.as_deref().and_then(RunSummary::requests_in);
            requests.extend(asked.map(|asked| (row.unit, asked)));
        }
        let mut outcomes = Vec::new();
        for row in store.runs(&campaign.id)? {
            let row = row?;
            if row.state != RunState::Finished {
                continue;
            }
            let ordinal = row.unit.ordinal;
            let case = cases.get(ordinal as usize).ok_or_else(|| {
                damaged(&campaign, &format!("it has a run of case {ordinal}, which is not there"))
            })?;
            let (judged, _) = judge(store, &campaign, &**case, &row)?;
            outcomes.push(Outcome { requests: requests.get(&row.unit).copied(), ..judged });
        }
        let commands = options.commands(&campaign.agent, store.path());
        Ok(Self { campaign, suite, cases, options, commands, outcomes, dissection: None, shrinking: None })
    }

    /// The campaign summed up.
    pub(crate) fn report(&self) -> Result<Report, Failure> {
        let report = Report::new(ReportInput {
            suite: &*self.suite,
            agent: &self.campaign.agent,
            model: self.campaign.model.as_deref(),
            simulated: self.campaign.simulated,
            cases: &self.cases,
            repeats: self.campaign.repeats,
            outcomes: &self.outcomes,
            synthesis: self.options.synthesis(),
            cost: self.options.cost(&self.campaign.progress),
            ended_by: self.campaign.progress.ended_by.as_deref(),
        });
        let mut report = self.options.completed(report, &self.campaign.progress);
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

    /// What its dissection showed of the errors in cases that `counts`, at most `errors_max` of them, drawn
    /// by its seed; how many there were to draw from, and the failures of every topic in these cases. `None`
    /// without a dissection.
    pub(crate) fn part_of_dissection(
        &self,
        counts: impl Fn(&Card) -> bool,
        errors_max: u32,
    ) -> Result<Option<PartOfDissection>, Failure> {
        let Some((id, dissection)) = &self.dissection else { return Ok(None) };
        let counts = |ordinal: u32| self.cases.get(ordinal as usize).is_some_and(|case| counts(case.card()));
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
            suite: &*self.suite,
            id: &self.campaign.id,
            created_ms: self.campaign.created_ms,
            command_line: &self.campaign.command_line,
            commands: &self.commands,
            seed: self.options.kept.seed,
            cases: &self.cases,
            repeats: self.campaign.repeats,
            outcomes: &self.outcomes,
            report,
            traces,
        }
    }

    /// Why a run has no score, if there is one without.
    pub(crate) fn unscored(&self) -> Option<&Unscored> {
        self.outcomes.iter().find_map(|outcome| outcome.verdict.as_ref().err())
    }
}

impl Summaries {
    /// Reads them; `None` where there is not one of every case and every finished run.
    pub(crate) fn read(store: &Store, campaign: &Campaign) -> Result<Option<Self>, Failure> {
        let suite = options(campaign)?.suite()?;
        // What a dissection or a shrinking shows is not in the summaries.
        if !store.derived(&campaign.id)?.is_empty() {
            return Ok(None);
        }
        let mut cards = Vec::new();
        for row in store.case_summaries(&campaign.id)? {
            let Some(card) = row?.summary.as_deref().and_then(card_from_json) else { return Ok(None) };
            cards.push(card);
        }
        let mut runs = Vec::new();
        for row in store.run_summaries(&campaign.id)? {
            let row = row?;
            let wall = Duration::from_millis(row.wall_ms);
            let class = row.class.as_deref();
            let read = |text: &str| RunSummary::from_json(&*suite, row.unit, row.passed, class, wall, text);
            let Some(summary) = row.summary.as_deref().and_then(read) else { return Ok(None) };
            runs.push(summary);
        }
        Ok(Some(Self { suite, cards, runs }))
    }

    /// The same, from cases and traces where the store has no summaries.
    pub(crate) fn of_stored(store: &Store, campaign: &Campaign) -> Result<Self, Failure> {
        if let Some(summaries) = Self::read(store, campaign)? {
            return Ok(summaries);
        }
        Ok(Self::of(&Stored::load(store, &campaign.id)?))
    }

    /// The same, of a campaign that was read in full.
    pub(crate) fn of(stored: &Stored) -> Self {
        let cards = stored.cases.iter().map(|case| case.card().clone()).collect();
        let runs = stored.outcomes.iter().map(RunSummary::of).collect();
        Self { suite: Arc::clone(&stored.suite), cards, runs }
    }

    /// What the runs of some of the cases come to.
    pub(crate) fn report(
        &self,
        campaign: &Campaign,
        options: &CampaignOptions,
        counts: impl Fn(&Card) -> bool,
    ) -> Report {
        let is_counted = |run: &&RunSummary| self.cards.get(run.ordinal as usize).is_none_or(&counts);
        let runs: Vec<RunSummary> = self.runs.iter().filter(is_counted).cloned().collect();
        let report = Report::of_summaries(self.input(campaign, options, &runs));
        options.completed(report, &campaign.progress)
    }

    /// What the search for a limit that the campaign is came to; `None` if it is none.
    pub(crate) fn limit(&self, campaign: &Campaign, options: &CampaignOptions) -> Option<LimitReport> {
        let plan = options.kept.limit?;
        Some(LimitReport::new(plan, self.input(campaign, options, &self.runs)))
    }

    fn input<'a>(
        &'a self,
        campaign: &'a Campaign,
        options: &CampaignOptions,
        runs: &'a [RunSummary],
    ) -> SummaryInput<'a> {
        SummaryInput {
            suite: &*self.suite,
            agent: &campaign.agent,
            model: campaign.model.as_deref(),
            simulated: campaign.simulated,
            cards: &self.cards,
            repeats: campaign.repeats,
            runs,
            synthesis: options.synthesis(),
            cost: options.cost(&campaign.progress),
            ended_by: campaign.progress.ended_by.as_deref(),
        }
    }
}

impl Figures {
    /// Reads the summaries of a campaign; `None` where there is not one of every case and every finished run, as in
    /// stores of an older planproof.
    pub(crate) fn read(
        store: &Store,
        campaign: &Campaign,
        options: &CampaignOptions,
        findings_max: usize,
    ) -> Result<Option<Self>, Failure> {
        let Some(summaries) = Summaries::read(store, campaign)? else { return Ok(None) };
        let report = summaries.report(campaign, options, |_| true);
        let Summaries { cards, runs, .. } = summaries;
        let candidates = runs.iter().filter_map(|run| Candidate::of(cards.get(run.ordinal as usize)?, run));
        let picks = pick_smallest(candidates, findings_max);
        let unscored = runs.iter().find(|run| run.scored.is_none()).map(|run| {
            let RunSummary { ordinal, repeat, .. } = *run;
            Unit { ordinal, repeat }
        });
        Ok(Some(Self { report, picks, unscored }))
    }
}

/// The campaign of that name, as [`Store::campaign`] finds it.
pub(crate) fn find(store: &Store, name: &str) -> Result<Campaign, Failure> {
    store.campaign(name).map_err(|error| match (&error, store.campaigns()) {
        (StoreError::UnknownCampaign { .. }, Ok(all)) if all.is_empty() => Failure::usage(format!(
            "the run store {} holds no campaign yet; `planproof test` makes one",
            store.path().display()
        )),
        _ => error.into(),
    })
}

/// The options of a campaign.
pub(crate) fn options(campaign: &Campaign) -> Result<CampaignOptions, Failure> {
    CampaignOptions::parse(&campaign.options)
        .map_err(|error| damaged(campaign, &format!("its options: {error}")))
}

/// A run that was judged again, with its trace.
pub(crate) type JudgedRun = (Outcome, Trace);

/// One case of a campaign with one of its runs, judged again from the trace; nothing for the run where it is
/// not finished.
pub(crate) fn load_one(
    store: &Store,
    campaign: &Campaign,
    options: &CampaignOptions,
    unit: Unit,
) -> Result<(Arc<dyn Case>, Option<JudgedRun>), Failure> {
    let Some(row) = store.case(&campaign.id, unit.ordinal)? else {
        return Err(damaged(campaign, &format!("case {} is not there", unit.ordinal)));
    };
    let case = case(&*options.suite()?, campaign, &row)?;
    let run = match store.run(&campaign.id, unit)? {
        Some(row) if row.state == RunState::Finished => Some(judge(store, campaign, &*case, &row)?),
        _ => None,
    };
    Ok((case, run))
}

/// The first case of a campaign; nothing where it has none.
pub(crate) fn first_case(store: &Store, campaign: &Campaign) -> Result<Option<Arc<dyn Case>>, Failure> {
    let suite = options(campaign)?.suite()?;
    store.case(&campaign.id, 0)?.map(|row| case(&*suite, campaign, &row)).transpose()
}

fn case(suite: &dyn Suite, campaign: &Campaign, row: &CaseRow) -> Result<Arc<dyn Case>, Failure> {
    suite.read(&row.json).map_err(|error| damaged(campaign, &format!("case {}: {error}", row.ordinal)))
}

fn judge(
    store: &Store,
    campaign: &Campaign,
    case: &dyn Case,
    row: &RunRow,
) -> Result<(Outcome, Trace), Failure> {
    let trace = load_trace(store, row).map_err(|what| damaged(campaign, &what))?;
    let wall = Duration::from_millis(row.wall_ms.unwrap_or(0));
    let outcome = Outcome::of(case, row.unit, &trace.events, wall);
    Ok((outcome, trace))
}

fn load_trace(store: &Store, row: &RunRow) -> Result<Trace, String> {
    let mut text = String::new();
    for line in store.trace_lines(row.run) {
        text += &line.map_err(|error| error.to_string())?;
        text.push('\n');
    }
    read_trace(&text).map_err(|error| format!("the trace of case {}: {error}", row.unit.ordinal))
}

fn damaged(campaign: &Campaign, what: &str) -> Failure {
    Failure::usage(format!("campaign {} in the run store is damaged: {what}", campaign.id))
}

impl TraceSource for StoredTraces<'_> {
    fn trace(&self, unit: Unit) -> Result<Option<Trace>, String> {
        match self.store.run(self.campaign, unit).map_err(|error| error.to_string())? {
            Some(row) if row.state == RunState::Finished => load_trace(self.store, &row).map(Some),
            _ => Ok(None),
        }
    }
}
