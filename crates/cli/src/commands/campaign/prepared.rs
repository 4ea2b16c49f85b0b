//! A prepared campaign, and the messages about it.

use std::borrow::Cow;
use std::sync::Arc;

use planproof_campaign::EndedSequel;
use planproof_doors::SuiteOptions;
use planproof_engine::{Outcome, Report};
use planproof_output::failure::Failure;
use planproof_output::{tell, terminal};
use planproof_report::gate::GateReport;
use planproof_report::{CommandLines, ReportedCampaign};
use planproof_suite::Case;

use super::carry_out::Ended;
use crate::stored::StoredTraces;
use crate::stored_options::commands;
use crate::stream::Stream;

/// Most cases of a replay whose differences are reported.
const DIFFERENCES_SHOWN_MAX: usize = 5;

/// A campaign that is ready to run, with what the command line adds to it.
pub(crate) struct Prepared {
    pub(crate) run: planproof_campaign::Prepared,
    /// What it keeps for its suite.
    pub(crate) of_suite: SuiteOptions,
    /// The matrix that it belongs to, which is resumed as a whole.
    pub(crate) matrix: Option<String>,
    /// Records the events while it is run, if that is requested.
    pub(crate) stream: Option<Arc<Stream>>,
}

impl Prepared {
    /// A campaign that has led to nothing yet.
    pub(super) fn new(run: planproof_campaign::Prepared, of_suite: SuiteOptions) -> Self {
        Self { run, of_suite, matrix: None, stream: None }
    }

    /// How to resume it.
    pub(crate) fn commands(&self) -> CommandLines {
        let planproof_campaign::Prepared { options, campaign, store, .. } = &self.run;
        commands(options, &self.of_suite, &campaign.agent.name, store.path())
    }

    /// How to resume it, or the matrix that it belongs to.
    pub(super) fn resume_line(&self) -> String {
        self.commands().resume(self.matrix.as_deref().unwrap_or(&self.run.campaign.id))
    }

    /// The cases that it is about, given all its outcomes.
    pub(crate) fn reached(&self, outcomes: &[Outcome]) -> &[Arc<dyn Case>] {
        let (cases, last) = (&self.run.campaign.cases, outcomes.iter().map(|outcome| outcome.ordinal).max());
        &cases[..self.run.options.reached(cases.len(), last)]
    }

    /// Passes the campaign to `write` in the form for reports.
    pub(crate) fn reported(
        &self,
        outcomes: &[Outcome],
        report: &Report,
        gate: Option<&GateReport>,
        write: impl FnOnce(&ReportedCampaign<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let planproof_campaign::Prepared { options, campaign, store, suite, .. } = &self.run;
        let row = store.campaign(&campaign.id)?;
        write(&ReportedCampaign {
            suite: &**suite,
            id: &row.id,
            created_ms: row.created_ms,
            command_line: &row.command_line,
            commands: Some(&self.commands()),
            seed: options.seed,
            cases: self.reached(outcomes),
            repeats: campaign.repeats.get(),
            outcomes,
            report,
            traces: &StoredTraces { store, campaign: &row.id },
            gate,
        })
    }

    /// Why it could not be carried out, for commands that print nothing else of it.
    pub(crate) fn came_to_its_end(&self, ended: Ended) -> Result<(), Failure> {
        match (ended.failure, self.run.options.broken_setup(&ended.progress)) {
            (Some(failure), _) => Err(failure),
            (None, Some(why)) => Err(Failure::outside(why)),
            (None, None) => Ok(()),
        }
    }

    /// Reports on stderr how a replay differs from its recording. Returns whether it does.
    pub(crate) fn tell_differences(&self, outcomes: &[Outcome], sequels: &[EndedSequel]) -> bool {
        let Some(replayed) = self.run.replayed() else { return false };
        // Those of sequels follow, if there are any; only then are the lists copied. The ordinal of a case of a sequel
        // becomes its place in the list.
        let (mut cases, mut outcomes) = (Cow::from(&*self.run.campaign.cases), Cow::from(outcomes));
        for sequel in sequels {
            let first = cases.len() as u32;
            let in_list = |outcome: &Outcome| Outcome { ordinal: first + outcome.ordinal, ..outcome.clone() };
            outcomes.to_mut().extend(sequel.outcomes.iter().map(in_list));
            cases.to_mut().extend(sequel.cases.iter().cloned());
        }
        let differences = replayed.differences(&cases, &outcomes);
        if differences.is_empty() {
            return false;
        }
        let path = replayed.recorded.recording.path().display();
        let places =
            if differences.len() == 1 { "1 place" } else { &format!("{} places", differences.len()) };
        tell!("error: the replay differs from its recording {path} in {places}:");
        for difference in differences.iter().take(DIFFERENCES_SHOWN_MAX) {
            tell!("  {}", terminal::inline(difference));
        }
        if differences.len() > DIFFERENCES_SHOWN_MAX {
            tell!("  and {} more", differences.len() - DIFFERENCES_SHOWN_MAX);
        }
        true
    }
}
