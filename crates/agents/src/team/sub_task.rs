//! One sub-task: rewritten by the supervisor, carried out by its executor.

use std::sync::Arc;

use planproof_model::Message;
use planproof_plan::graph::SubTask;
use planproof_plan::team::{Role, sections};
use planproof_tools::Toolbox;
use planproof_trace::EndReason;

use super::some_tools::SomeTools;
use super::{Executor, SupervisorWork, TeamAgent, actor, ask, checked, note, prompts};
use crate::{RunContext, RunLimits};

/// The share of the whole run's time for one executor, so that one that hangs does not end the others.
const TIME_DIVISOR: u32 = 2;

/// How many reports an executor makes at most if they violate constraints that are checked.
const CHECKS_MAX: u32 = 3;

/// Most characters of a sub-task's id in the name of its actor.
const ACTOR_CHARACTERS_MAX: usize = 40;

/// How a sub-task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SubTaskEnd {
    Result(String),
    /// Without one, for this reason.
    Failed(String),
    /// It never started, for this reason.
    Blocked(String),
    /// Something outside of the team prevented it, so that the run says nothing about the team.
    Outage(String),
}

impl SubTaskEnd {
    /// The report, or the reason.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Result(text) | Self::Failed(text) | Self::Blocked(text) | Self::Outage(text) => text,
        }
    }
}

impl TeamAgent {
    /// Executes a sub-task, and returns how it ended. `results` are the results that it needs, as text.
    pub(super) async fn sub_task(
        &self,
        run: &RunContext<'_>,
        sub_task: SubTask,
        results: String,
    ) -> (String, SubTaskEnd) {
        let end = self.refined(run, &sub_task, &results).await;
        let (state, text) = match &end {
            SubTaskEnd::Result(text) => (sections::RESULT, text),
            SubTaskEnd::Failed(text) | SubTaskEnd::Blocked(text) => (sections::FAILURE, text),
            // Not recorded, so that a resumed run starts the sub-task again.
            SubTaskEnd::Outage(_) => return (sub_task.id, end),
        };
        note(&actor(run.recorder, &actor_name(Role::Executor, &sub_task)), state, text, &sub_task.id);
        (sub_task.id, end)
    }

    async fn refined(&self, run: &RunContext<'_>, sub_task: &SubTask, results: &str) -> SubTaskEnd {
        let Some(executor) = self.executors.iter().find(|executor| executor.name == sub_task.executor) else {
            // The graph was checked against the executors.
            return SubTaskEnd::Failed(format!("there is no executor `{}`", sub_task.executor));
        };
        // Without results there is nothing to rewrite the sub-task from.
        let text = if results.is_empty() {
            sub_task.task.clone()
        } else if self.options.supervisor == SupervisorWork::Pass {
            self.pass(run, sub_task, results)
        } else {
            match self.rewrite(run, sub_task, results).await {
                Ok(text) => text,
                Err(EndReason::Unscored { reason }) => return SubTaskEnd::Outage(reason),
                Err(EndReason::AgentFailed { reason }) => {
                    return SubTaskEnd::Failed(format!("{}: {reason}", Role::Supervisor));
                }
                Err(EndReason::Answered { .. } | EndReason::LimitReached { .. }) => {
                    return SubTaskEnd::Failed(format!("{} ended before it wrote", Role::Supervisor));
                }
            }
        };
        self.execute(run, sub_task, executor, &text).await
    }

    /// The sub-task followed by the results, which nobody has rewritten.
    fn pass(&self, run: &RunContext<'_>, sub_task: &SubTask, results: &str) -> String {
        let recorder = actor(run.recorder, &actor_name(Role::Supervisor, sub_task));
        let text = format!("{}\n\n{results}", sub_task.task);
        note(&recorder, sections::SUB_TASK, &text, &sub_task.id);
        text
    }

    /// The supervisor's text of the sub-task. If the supervisor writes nothing, this is the manager's text followed
    /// by the results.
    async fn rewrite(
        &self,
        run: &RunContext<'_>,
        sub_task: &SubTask,
        results: &str,
    ) -> Result<String, EndReason> {
        let recorder = actor(run.recorder, &actor_name(Role::Supervisor, sub_task));
        let prompt = self.prompts.supervisor(&sub_task.task, results);
        let messages = [Message::User { text: prompt }];
        let text = ask(&*self.models.supervisor, &messages, run, &recorder).await?;
        if !text.trim().is_empty() {
            note(&recorder, sections::SUB_TASK, text.trim(), &sub_task.id);
            return Ok(text.trim().to_owned());
        }
        note(&recorder, sections::FAULTS, "The reply is empty; the sub-task stays as it was.", &sub_task.id);
        Ok(format!("{}\n\n{results}", sub_task.task))
    }

    async fn execute(
        &self,
        run: &RunContext<'_>,
        sub_task: &SubTask,
        executor: &Executor,
        text: &str,
    ) -> SubTaskEnd {
        let recorder = actor(run.recorder, &actor_name(Role::Executor, sub_task));
        note(&recorder, sections::STARTED, &executor.name, &sub_task.id);
        let toolbox: Arc<dyn Toolbox> = match &executor.tools {
            Some(names) => Arc::new(SomeTools::new(run.toolbox, names)),
            None => Arc::clone(run.toolbox),
        };
        let limits = RunLimits { wall: run.limits.wall / TIME_DIVISOR, ..*run.limits };
        let text = format!("{text}{}", checked::report_form(sub_task));
        let first = self.prompts.executor(executor, &text, &sub_task.constraints);
        let mut query = first.clone();
        let mut checks = 0;
        loop {
            let within = RunContext {
                later: &[],
                query: &query,
                toolbox: &toolbox,
                limits: &limits,
                recorder: &recorder,
                // No sub-task is resumed in the middle: one that had not ended starts again.
                earlier: &[],
                ..*run
            };
            let end = report(executor, within).await;
            let SubTaskEnd::Result(report) = &end else { return end };
            let Some(violations) = checked::violations(sub_task, report) else { return end };
            note(&recorder, sections::FAULTS, &violations, &sub_task.id);
            checks += 1;
            if checks == CHECKS_MAX {
                return SubTaskEnd::Failed(format!(
                    "the report of the executor `{}` violates constraints:\n{violations}",
                    executor.name
                ));
            }
            // Built from the first query each time, so that it does not grow with the attempts.
            query = prompts::mend_report(&first, report, &violations);
        }
    }
}

/// What an executor reports to a query.
async fn report(executor: &Executor, within: RunContext<'_>) -> SubTaskEnd {
    let end = match executor.agent.run(within).await {
        Ok(ran) => ran.end,
        Err(error) => return SubTaskEnd::Outage(error.to_string()),
    };
    match end {
        EndReason::Answered { text } if text.trim().is_empty() => {
            SubTaskEnd::Failed(format!("the executor `{}` reported nothing", executor.name))
        }
        EndReason::Answered { text } => SubTaskEnd::Result(text),
        EndReason::LimitReached { limit, value } => {
            SubTaskEnd::Failed(format!("the executor `{}` reached a limit: {limit} {value}", executor.name))
        }
        EndReason::AgentFailed { reason } => {
            SubTaskEnd::Failed(format!("the executor `{}` broke: {reason}", executor.name))
        }
        EndReason::Unscored { reason } => SubTaskEnd::Outage(reason),
    }
}

/// The name of a role's actor for a sub-task: its id, with what may not stand in such a name left out.
fn actor_name(role: Role, sub_task: &SubTask) -> String {
    let is_part = |character: &char| character.is_ascii_alphanumeric() || "_-.".contains(*character);
    let id: String = sub_task.id.chars().filter(is_part).take(ACTOR_CHARACTERS_MAX).collect();
    match id.is_empty() {
        true => role.to_string(),
        false => format!("{role}/{id}"),
    }
}
