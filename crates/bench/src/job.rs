//! The seam between a campaign and whoever executes its runs: a job goes out, its trace comes back.
//!
//! The campaign decides what is run and when, keeps the trace and has it judged; an executor only lets the agent act.
//! All that a run depends on is in its [`Job`], so another process or machine may execute it: what crosses is the
//! case's line ([`Case::to_line`]), the agent's name, limits and seed, and events come back for the recorder.

use std::sync::Arc;
use std::time::Duration;

use planproof_agents::memory::Lessons;
use planproof_agents::team::Reviewing;
use planproof_agents::{Ran, RunContext, RunError, RunLimits, Surroundings};
use planproof_model::metering::noting_refusals;
use planproof_model::run_time;
use planproof_suite::{BoxFuture, Case, Toolbox};
use planproof_tools::mcp::OVERLAP_HOLD;
use planproof_trace::{EndReason, Event, Recorder};

use crate::guard::GuardedTools;
use crate::served::Replies;
use crate::{AgentUnderTest, Campaign, CampaignError, acting, judging};

/// One run to be made, and all that it depends on.
#[derive(Debug, Clone)]
pub struct Job {
    /// What the agent is tested on.
    pub case: Arc<dyn Case>,
    /// Whom to test.
    pub agent: AgentUnderTest,
    /// What ends the run.
    pub limits: RunLimits,
    /// Its seed.
    pub seed: u64,
    /// What was recorded of the run before it was cut off, for an agent that can resume it.
    pub earlier: Vec<Event>,
    /// What an agent with a memory can recall of earlier runs; nothing without one.
    pub memory: Option<Arc<Lessons>>,
}

/// What came of a job, beside the events that were recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executed {
    /// How the run ended.
    pub ran: Ran,
    /// How long the agent took, without what it waited for because of rate limits, budgets and further attempts.
    pub wall: Duration,
}

/// Executes jobs, several at once.
pub trait Executor: Send + Sync {
    /// Lets the agent act, and records all that it does but the end of the run. Where the future is dropped, the
    /// agent ends. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// What the agent needs around it cannot be had, or the case's tools cannot be made.
    fn execute<'a>(
        &'a self,
        job: &'a Job,
        recorder: &'a Recorder,
    ) -> BoxFuture<'a, Result<Executed, CampaignError>>;
}

/// Executes jobs in this process.
pub(crate) struct InProcess {
    surroundings: Surroundings,
    reviewing: Option<Reviewing>,
}

impl InProcess {
    /// Executes the jobs of this campaign.
    pub(crate) fn new(campaign: &Campaign, reviewing: Option<Reviewing>) -> Self {
        Self { surroundings: surroundings(campaign), reviewing }
    }

    async fn run(&self, job: &Job, recorder: &Recorder) -> Result<Executed, CampaignError> {
        let Job { case, agent, limits, seed, earlier, memory } = job;
        let tools =
            case.toolbox().map_err(|source| CampaignError::Tools { case: case.card().id.clone(), source })?;
        let toolbox: Arc<dyn Toolbox> = match agent.guarded.then(|| case.guard()).flatten() {
            Some(guard) => Arc::new(GuardedTools::new(Arc::clone(&tools), guard)),
            None => Arc::clone(&tools),
        };
        let run = RunContext {
            query: case.prompt(),
            toolbox: &toolbox,
            limits,
            seed: *seed,
            recorder,
            earlier,
            reviewing: self.reviewing.as_ref(),
            memory: memory.as_deref(),
            surroundings: &self.surroundings,
        };
        // Boxed, as each of the functions that it is handed to would hold it twice, and thousands of runs may go on.
        let running = Box::pin(async {
            let ran = match &agent.of_suite {
                Some(name) => Box::pin(acting::act(&**case, name, &run)).await,
                None => agent.agent.run(run).await?,
            };
            let is_of_use =
                !ran.was_stopped && !ran.was_refused && !matches!(ran.end, EndReason::Unscored { .. });
            let Some(judge) = agent.agent.judge().filter(|_| is_of_use) else { return Ok(ran) };
            // The agent is not kept waiting by its judge.
            let asked = Box::pin(judging::ask(judge, &**case, recorder, *seed, ran.end));
            Ok::<_, RunError>(Ran { end: run_time::uncharged(asked).await, ..ran })
        });
        let ((ran, was_refused), wall) = run_time::measured(noting_refusals(running)).await;
        let mut ran = ran?;
        ran.was_refused |= was_refused;
        // What a tool could not do for want of something outside is not held against the agent, whatever it made of it.
        if let Some(reason) = tools.outage() {
            ran.end = EndReason::Unscored { reason };
        }
        Ok(Executed { ran, wall })
    }
}

impl Executor for InProcess {
    fn execute<'a>(
        &'a self,
        job: &'a Job,
        recorder: &'a Recorder,
    ) -> BoxFuture<'a, Result<Executed, CampaignError>> {
        Box::pin(self.run(job, recorder))
    }
}

/// What the campaign's agent has around it, where that is not our code.
fn surroundings(campaign: &Campaign) -> Surroundings {
    let surroundings = Surroundings::new(campaign.token).holding(OVERLAP_HOLD);
    let Some(served) = campaign.served.clone() else { return surroundings };
    let AgentUnderTest { model, simulated, .. } = &campaign.agent;
    let name = model.clone().unwrap_or_else(|| "the simulated model".to_owned());
    let simulated = simulated.then_some(name);
    surroundings.serving(served, move |run| {
        let tools = Arc::clone(run.toolbox.tools());
        Arc::new(Replies::new(tools, run.recorder.clone(), simulated.clone()))
    })
}
