//! The report of a campaign, put together in one place: from its runs, from what is kept of it, and from what its store
//! says of it.

use planproof_engine::{DamagedRunRow, LimitReport, Report, RunSummary, SummaryInput};
use planproof_store::{Fingerprint, Progress};
use planproof_suite::{Card, Suite};

use crate::options::StoredOptions;

/// What a report of a campaign is made from, whether it has just been run or was read back.
pub struct SummedCampaign<'a> {
    /// The kind of its cases.
    pub suite: &'a dyn Suite,
    /// The agent, as on the command line.
    pub agent: &'a str,
    /// The agent's model, where it is known.
    pub model: Option<&'a str>,
    /// A model of the agent is one of our simulations.
    pub simulated: bool,
    /// The data of the cases that it is about so far.
    pub cards: &'a [Card],
    /// How often each case is run.
    pub repeats: u32,
    /// The runs that came to an end.
    pub runs: &'a [RunSummary],
    /// What is kept of it.
    pub options: &'a StoredOptions,
    /// What it took, and what ended it.
    pub progress: &'a Progress,
    /// The key that sealed its runs last, if they were sealed.
    pub seal: Option<Fingerprint>,
    /// The user's name for it.
    pub label: Option<&'a str>,
    /// Runs that are left out, because they differ from what was written.
    pub damaged: Vec<DamagedRunRow>,
}

impl SummedCampaign<'_> {
    /// The report, without the sequels.
    pub fn report(&self) -> Report {
        let mut report = self.completed(Report::of_summaries(self.input()));
        if let Some(limits) = self.options.fail_over {
            report.hold_to(limits, self.cards, self.runs);
        }
        report
    }

    /// The result of a search for a limit, with its report; `None` if the campaign is not such a search.
    pub fn limit(&self) -> Option<LimitReport> {
        let mut found = LimitReport::new(self.options.limit?, self.input());
        found.campaign = self.completed(found.campaign);
        Some(found)
    }

    fn completed(&self, report: Report) -> Report {
        let mut report = self.options.completed(report, self.progress);
        report.seal = self.seal.as_ref().map(ToString::to_string);
        report.label = self.label.map(str::to_owned);
        report.damaged.clone_from(&self.damaged);
        report
    }

    /// The figures alone.
    pub(crate) fn input(&self) -> SummaryInput<'_> {
        SummaryInput {
            suite: self.suite,
            agent: self.agent,
            model: self.model,
            simulated: self.simulated,
            cards: self.cards,
            repeats: self.repeats,
            runs: self.runs,
            synthesis: self.options.synthesis(),
            cost: self.options.cost(self.progress),
            ended_by: self.progress.ended_by.as_deref(),
        }
    }
}
