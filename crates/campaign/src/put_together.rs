//! The agent of a campaign, assembled with its models.

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use planproof_agents::AgentSpec;
use planproof_engine::{AgentUnderTest, Unit};
use planproof_model::Model;
use planproof_model::metering::{Meter, MeteredModel, Spent};
use planproof_suite::Case;
use planproof_trace::Usage;

use crate::error::CampaignError;
use crate::guard::StoredGuard;
use crate::models::Models;
use crate::options::ProgramOptions;
use crate::prepared::Served;
use crate::recorded::RecordedCampaign;
use crate::world::{FindModel, ModelForm, World};

/// Concurrent runs by default: our own loops only wait for the model, external agents are whole processes.
pub(crate) const CONCURRENCY_IN_PROCESS: usize = 64;
pub(crate) const CONCURRENCY_EXTERNAL: usize = 4;

/// An agent, and the model that is served to it.
type WithModel = (AgentUnderTest, Option<Arc<dyn Model>>);

/// The request for the agent of a campaign.
pub(crate) struct AgentRequest<'a, W> {
    pub(crate) world: &'a W,
    pub(crate) agent: &'a AgentSpec,
    pub(crate) serve_model: Option<&'a str>,
    pub(crate) program: &'a ProgramOptions,
    pub(crate) guard: Option<&'a StoredGuard>,
}

impl<W: World> AgentRequest<'_, W> {
    /// Whether one of its models is handed the right answers.
    pub(crate) fn is_handed_answers(&self) -> bool {
        let names = [self.agent.model(), self.serve_model];
        names.into_iter().flatten().any(|name| self.world.is_handed_answers(name))
    }

    /// The agent, with the served model if there is one. None of its models can be asked yet.
    pub(crate) fn agent(&self, models: &Models<'_, W>) -> Result<WithModel, W::Error> {
        let find_model: &FindModel<'_, W::Error> = &|name, form| models.find(name, form);
        let mut agent = self.world.agent(self.agent, self.program, find_model)?;
        agent.held_to = self.guard.map(StoredGuard::guarding).transpose()?;
        let usage = |what: String| W::Error::from(CampaignError::usage(what));
        if let Some((option, whom)) = self.program.misplaced(self.agent) {
            return Err(usage(format!("{option} is for {whom}")));
        }
        let Some(name) = self.serve_model else {
            return match agent.agent.needs_served_model() {
                Some(place) => Err(usage(format!(
                    "{place} for the model that is served to the agent: name it with --serve-model"
                ))),
                None => Ok((agent, None)),
            };
        };
        if agent.agent.is_in_process() {
            return Err(usage(
                "--serve-model is for a command:, worker: or url: agent; others name their model themselves"
                    .to_owned(),
            ));
        }
        let model = find_model(name, ModelForm::Chat)?;
        // The served model is the one that the agent asks, so reports name it.
        agent.simulated = model.is_simulated();
        agent.asks_real_models = !agent.simulated;
        agent.model = Some(name.to_owned());
        Ok((agent, Some(model)))
    }

    /// The served model, with its name and a meter of what the agent was served, `before` included.
    pub(crate) fn served(&self, model: Option<Arc<dyn Model>>, before: Usage) -> Option<(String, Served)> {
        let (name, model) = self.serve_model.zip(model)?;
        // This second meter counts the tokens that the agent was served, those from a cache included. Budgets and
        // prices are left to the one inside.
        let before = Spent { usage: before, ..Spent::default() };
        let meter = Arc::new(Meter::new(Default::default(), before));
        let model = Arc::new(MeteredModel::new(model, None, Arc::clone(&meter)));
        Some((name.to_owned(), Served { model, meter }))
    }

    /// Makes sure that `runs` concurrent runs can have their connections or processes. A simulated model in process
    /// needs none.
    pub(crate) fn allow_open_files(&self, agent: &AgentUnderTest, runs: usize) -> Result<(), W::Error> {
        let is_in_process = agent.agent.is_in_process()
            && agent.model.as_deref().is_some_and(|model| model.starts_with("sim/"))
            && !self.agent.is_judged_by_program();
        if is_in_process { Ok(()) } else { self.world.allow_runs(runs) }
    }
}

/// Runs that had not ended when the campaign was recorded.
pub(crate) fn left_out(
    recorded: &RecordedCampaign,
    cases: &[Arc<dyn Case>],
    repeats: NonZeroU32,
) -> HashSet<Unit> {
    let runs = (0..)
        .zip(cases)
        .flat_map(|(ordinal, case)| (0..repeats.get()).map(move |repeat| (case, Unit { ordinal, repeat })));
    runs.filter(|(case, unit)| !recorded.has_verdict(&case.card().id, unit.repeat))
        .map(|(_, unit)| unit)
        .collect()
}
