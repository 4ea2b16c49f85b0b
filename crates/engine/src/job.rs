//! The interface between a campaign and the executor of its runs: a job goes out, its trace comes back.
//!
//! The campaign decides which runs are made and when, stores the trace and has it judged; an executor only runs the
//! agent. Everything that a run depends on is in its [`Job`], so another process or machine may execute it: the
//! case's line ([`Case::to_line`]), the agent's name, limits and seed are sent, and events come back for the
//! recorder.

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
use crate::{AgentUnderTest, Campaign, EngineError, acting, judging};

/// One run to be made, and everything that it depends on.
#[derive(Debug, Clone)]
pub struct Job {
    /// What the agent is tested on.
    pub case: Arc<dyn Case>,
    pub agent: AgentUnderTest,
    /// What ends the run.
    pub limits: RunLimits,
    pub seed: u64,
    /// The events of the run before it was cut off, for an agent that can resume it.
    pub earlier: Vec<Event>,
    /// The recallable lessons of earlier runs for an agent with a memory.
    pub memory: Option<Arc<Lessons>>,
}

/// The result of a job, beside the recorded events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executed {
    /// How the run ended.
    pub ran: Ran,
    /// The agent's time, without its waits for rate limits, budgets and repeated attempts.
    pub wall: Duration,
}

/// Executes jobs, several at once.
pub trait JobExecutor: Send + Sync {
    /// Runs the agent, and records everything that it does except the end of the run. Dropping the future ends the
    /// agent. Must be called within a Tokio runtime.
    ///
    /// # Errors
    /// The surroundings that the agent needs are unavailable, or the case's tools cannot be made.
    fn execute<'a>(
        &'a self,
        job: &'a Job,
        recorder: &'a Recorder,
    ) -> BoxFuture<'a, Result<Executed, EngineError>>;
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

    async fn run(&self, job: &Job, recorder: &Recorder) -> Result<Executed, EngineError> {
        let Job { case, agent, limits, seed, earlier, memory } = job;
        let tools =
            case.toolbox().map_err(|source| EngineError::Tools { case: case.card().id.clone(), source })?;
        // Rules stand next to the tools: what the case's own guard denies never happened, and they do not see it.
        let guards = [
            agent.held_to.as_ref().map(|rules| rules.guard()),
            agent.guarded.then(|| case.guard()).flatten(),
        ];
        let toolbox = guards.into_iter().flatten().fold(Arc::clone(&tools), |tools, guard| {
            Arc::new(GuardedTools::new(tools, guard)) as Arc<dyn Toolbox>
        });
        let run = RunContext {
            query: case.prompt(),
            later: case.later(),
            toolbox: &toolbox,
            limits,
            seed: *seed,
            recorder,
            earlier,
            reviewing: self.reviewing.as_ref(),
            memory: memory.as_deref(),
            surroundings: &self.surroundings,
        };
        // Boxed, because each function on the way would hold it twice, and thousands of runs may be in progress.
        let running = Box::pin(async {
            let ran = match &agent.of_suite {
                Some(name) => Box::pin(acting::act(&**case, name, &run)).await,
                None => agent.agent.run(run).await?,
            };
            // A judge's answers cost money, and nobody would read those about such a run.
            let is_of_use =
                !ran.was_stopped && !ran.was_refused && !matches!(ran.end, EndReason::Unscored { .. });
            if !is_of_use {
                return Ok(ran);
            }
            // Done and asked before the run ends, so that all of it is in the trace, and judging again does none of it.
            run_time::uncharged(Box::pin(judging::refer(&**case, recorder))).await;
            let Some(judge) = agent.agent.judge() else { return Ok(ran) };
            // The wait for the judge is not part of the agent's time.
            let asked = Box::pin(judging::ask(judge, &**case, recorder, *seed, ran.end));
            Ok::<_, RunError>(Ran { end: run_time::uncharged(asked).await, ..ran })
        });
        let ((ran, was_refused), wall) = run_time::measured(noting_refusals(running)).await;
        let mut ran = ran?;
        // A refusal counts even if the agent continued after it.
        ran.was_refused |= was_refused;
        // If a tool failed because something outside was unavailable, the agent is not blamed, whatever it made of
        // it.
        if let Some(reason) = tools.outage() {
            ran.end = EndReason::Unscored { reason };
        }
        Ok(Executed { ran, wall })
    }
}

impl JobExecutor for InProcess {
    fn execute<'a>(
        &'a self,
        job: &'a Job,
        recorder: &'a Recorder,
    ) -> BoxFuture<'a, Result<Executed, EngineError>> {
        Box::pin(self.run(job, recorder))
    }
}

/// The surroundings of the campaign's agent, if it is not our code.
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
