//! The team: a manager divides the task into a graph of sub-tasks, executors carry them out with tools, a supervisor
//! rewrites a sub-task from the results that it needs, and a deliverer makes the answer. (Zhang et al., "Planning
//! with Multi-Constraints via Collaborative Language Agents" (PMC), section 4; retries, limits and the behaviour
//! after a failure are ours.)
//!
//! Every role is an actor of one trace: `manager`, `supervisor/ID`, `executor/ID` with the id of the sub-task, and
//! `deliverer`. Their messages to each other are sections of the environment, with the states of [`sections`].
//!
//! Independent sub-tasks run in parallel if the model is a real one and the tools allow it. With a simulated model
//! they run one after the other in the order of the graph, so that a trace stays the same byte for byte.
//!
//! # Module layout
//!
//! The run from the first request to the answer is here, its progress in `team/progress.rs`, a sub-task in
//! `team/sub_task.rs`, a person's intervention in `team/review.rs`, the prompts in `team/prompts.rs` and
//! `prompts/team`, options in `team/options.rs`, executors that the manager composes in `team/compose.rs`, constraints
//! that are checked on reports in `team/checked.rs`, the solver in `team/solve.rs`, and an executor's subset of the
//! tools in `team/some_tools.rs`.

mod checked;
mod compose;
mod options;
mod progress;
mod prompts;
mod review;
mod solve;
mod some_tools;
mod sub_task;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use futures::stream::{FuturesUnordered, StreamExt as _};
use planproof_model::run_time::uncharged;
use planproof_model::{BoxFuture, Message, Model, Settings};
use planproof_plan::graph::{GraphFaults, Schedule, SubTask, SubTaskGraph, read_graph};
use planproof_plan::team::review::ReviewReason;
use planproof_plan::team::{Role, sections};
use planproof_tools::Restoring;
use planproof_trace::{Author, EndReason, EventKind, Recorder, Tool};

use crate::asking::outside_of_instructions;
use crate::stop::{Stop, within_limits};
use crate::{Agent, Ran, RunContext, RunError, asking};
pub use options::{Deliver, ManagerPrompt, SupervisorWork, TeamOptions};
pub use progress::REVISIONS_MAX;
use progress::{Progress, Reviewed, to_json};
pub use prompts::{PromptError, TeamPrompts};
pub use review::{ReviewWhen, Reviewer, Reviewing};
use sub_task::SubTaskEnd;

/// How often a manager writes a graph before the run is given up.
pub const GRAPH_TRIES_MAX: u32 = 3;

/// Most characters of a result that others see. A longer one is shown with its beginning and its end.
pub const RESULT_CHARACTERS_MAX: usize = 8_000;

/// Longest text of a section, in bytes: that of a reply, of which a graph is a part.
const SECTION_BYTES_MAX: usize = planproof_plan::limits::TEXT_BYTES_MAX;

/// The text of a reply without text in a conversation, because servers refuse an empty one.
const EMPTY_REPLY: &str = "(no text)";

/// An executor of a team.
#[derive(Clone)]
pub struct Executor {
    /// Its name, by which the manager gives it sub-tasks.
    pub name: String,
    /// What it can do, for the manager and itself.
    pub about: String,
    /// The names of its tools; `None` for all.
    pub tools: Option<Vec<String>>,
    /// The beginning of its prompt instead of the template's; may be empty.
    pub prompt: String,
    /// What does its work.
    pub agent: Arc<dyn Agent>,
}

/// The models of the roles that ask one themselves.
#[derive(Clone)]
pub struct TeamModels {
    pub manager: Arc<dyn Model>,
    pub supervisor: Arc<dyn Model>,
    pub deliverer: Arc<dyn Model>,
}

/// A team as an agent.
#[derive(Clone)]
pub struct TeamAgent {
    models: TeamModels,
    executors: Arc<[Executor]>,
    prompts: TeamPrompts,
    options: TeamOptions,
}

impl TeamAgent {
    /// The name on the command line.
    pub const KIND: &'static str = "team";

    /// The name of the only executor of a team without named executors.
    pub const WORKER: &'static str = "worker";

    /// A team of these models and executors, with the prompts that come with planproof.
    pub fn new(models: TeamModels, executors: Vec<Executor>, options: TeamOptions) -> Self {
        Self { models, executors: executors.into(), prompts: TeamPrompts::shipped(options), options }
    }

    /// The same, with these prompts.
    #[must_use]
    pub fn with_prompts(self, prompts: TeamPrompts) -> Self {
        Self { prompts, ..self }
    }

    /// One model for all roles, and one executor with all tools: our function-calling loop, or `agent`.
    pub fn of_one(model: &Arc<dyn Model>, agent: Arc<dyn Agent>, options: TeamOptions) -> Self {
        let models = TeamModels {
            manager: Arc::clone(model),
            supervisor: Arc::clone(model),
            deliverer: Arc::clone(model),
        };
        Self::new(models, vec![Self::worker(agent)], options)
    }

    /// The executor of a team without named executors: it has all tools.
    pub fn worker(agent: Arc<dyn Agent>) -> Executor {
        Executor {
            name: Self::WORKER.to_owned(),
            about: "You work with the tools that you are given.".to_owned(),
            tools: None,
            prompt: String::new(),
            agent,
        }
    }

    async fn work(&self, run: &RunContext<'_>) -> Result<EndReason, Stop> {
        // A fault of the team's description, not of the agent.
        if let Some(reason) = self.missing_tool(run.toolbox.tools()) {
            return Err(EndReason::Unscored { reason }.into());
        }
        let restored = self.restored(run).await;
        // A restored trace has its query already.
        if restored.is_none() {
            run.recorder.record(EventKind::Query { text: run.query.to_owned() });
        }
        if !self.options.composes {
            return self.work_on(run, restored).await;
        }
        // Executors that were composed before the run was cut off count only if the run resumes.
        let earlier = if restored.is_some() { run.earlier } else { &[] };
        let team = self.with_composed(&RunContext { earlier, ..*run }).await?;
        team.work_on(run, restored).await
    }

    /// The work of these executors, from the graph to the answer.
    async fn work_on(&self, run: &RunContext<'_>, restored: Option<Progress>) -> Result<EndReason, Stop> {
        let mut progress = match restored {
            Some(progress) => progress,
            None => {
                let graph = self.divide(run).await?;
                // It was checked when it was read.
                let faulty = |faults: GraphFaults| failed(Role::Manager, &faults.to_string());
                Progress::new(Schedule::new(graph).map_err(faulty)?)
            }
        };
        let mut revisions = 0;
        self.review(run, &mut progress, &ReviewReason::Planned, &mut revisions).await?;
        self.carry_out(run, &mut progress, &mut revisions).await?;
        progress.note_blocked(run.recorder);
        Ok(match self.options.deliver {
            Deliver::Solver => self.solve(run, &progress).await,
            Deliver::Inference | Deliver::Reporting => self.deliver(run, &progress).await,
        })
    }

    /// The state of the run when it was cut off, if it was and the tools can be restored to their state at that time.
    async fn restored(&self, run: &RunContext<'_>) -> Option<Progress> {
        let (progress, kept) = Progress::of_events(run.earlier)?;
        let kept = run.earlier.get(..kept)?;
        match run.toolbox.restoring() {
            // A call of a user's own tool cannot be repeated for its effect: it might pay or send something twice.
            Restoring::Impossible => return None,
            Restoring::Nothing => {}
            Restoring::Again => {
                for event in kept {
                    if let EventKind::Call(call) = &event.kind {
                        // The result is in the trace already; this call is repeated for its effect on the tools.
                        run.toolbox.execute(call).await;
                    }
                }
            }
        }
        run.recorder.restore(kept).then_some(progress)
    }

    /// Asks the reviewer, if there is one, until the team may continue.
    async fn review(
        &self,
        run: &RunContext<'_>,
        progress: &mut Progress,
        moment: &ReviewReason,
        revisions: &mut u32,
    ) -> Result<(), Stop> {
        let Some(reviewing) = run.reviewing else { return Ok(()) };
        if reviewing.when == ReviewWhen::Planned && *moment != ReviewReason::Planned {
            return Ok(());
        }
        let names = self.executor_names();
        let mut refused = None;
        loop {
            let shown = progress.review(run.query, moment, &names, refused.take());
            let decision = uncharged(reviewing.by.decide(&shown)).await;
            match progress.decide(decision, &names, run.recorder) {
                Reviewed::GoOn => return Ok(()),
                Reviewed::Stopped => return Err(Stop::ByPerson),
                Reviewed::Changed => {}
                Reviewed::Refused(why) => refused = Some(why),
            }
            // Refused changes count, too: a reviewer that repeats one would never end.
            *revisions += 1;
            if *revisions > REVISIONS_MAX {
                let reason = format!("a person changed the work more than {REVISIONS_MAX} times");
                return Err(EndReason::Unscored { reason }.into());
            }
        }
    }

    fn executor_names(&self) -> Vec<&str> {
        self.executors.iter().map(|executor| executor.name.as_str()).collect()
    }

    /// A nonexistent tool that an executor is to have: the fault of the team's description.
    fn missing_tool(&self, tools: &[Tool]) -> Option<String> {
        self.executors.iter().find_map(|executor| {
            let is_missing = |name: &&String| !tools.iter().any(|tool| tool.name == **name);
            let missing = executor.tools.as_ref()?.iter().find(is_missing)?;
            let known: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
            Some(format!(
                "the executor `{}` is to have the tool `{missing}`, which does not exist here; there are {}",
                executor.name,
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            ))
        })
    }

    /// The manager's graph. Its faults are sent back to the manager.
    async fn divide(&self, run: &RunContext<'_>) -> Result<SubTaskGraph, EndReason> {
        let recorder = actor(run.recorder, Role::Manager.as_str());
        let names = self.executor_names();
        let prompt = self.prompts.manager(run.query, &self.executors, run.toolbox.tools());
        let mut messages = vec![Message::User { text: prompt }];
        let mut faults = String::new();
        for _ in 0..GRAPH_TRIES_MAX {
            let reply = ask(&*self.models.manager, &messages, run, &recorder).await?;
            match read_graph(&outside_of_instructions(&reply, &messages), &names) {
                Ok(graph) => {
                    // Found now, a wrong constraint is the manager's fault. Later it would look like the executor's.
                    faults = checked::faults_of_graph(&graph);
                    if faults.is_empty() {
                        note(&recorder, sections::GRAPH, &to_json(&graph), "");
                        return Ok(graph);
                    }
                }
                Err(found) => faults = found.to_string(),
            }
            note(&recorder, sections::FAULTS, &faults, "");
            let text = if reply.trim().is_empty() { EMPTY_REPLY.to_owned() } else { reply };
            messages.push(Message::assistant(text, Vec::new()));
            messages.push(Message::User { text: prompts::mend_graph(&faults) });
        }
        Err(failed(Role::Manager, &format!("no graph in order after {GRAPH_TRIES_MAX} tries: {faults}")))
    }

    /// Runs all sub-tasks that can run.
    async fn carry_out(
        &self,
        run: &RunContext<'_>,
        progress: &mut Progress,
        revisions: &mut u32,
    ) -> Result<(), Stop> {
        let width = self.width(run);
        let mut running = FuturesUnordered::new();
        loop {
            while running.len() < width {
                let Some(next) = progress.next_ready() else { break };
                if progress.schedule.start(&next.id).is_err() {
                    break;
                }
                // Only the results of its direct neighbours, as in the paper. They pass on what comes from further
                // back.
                let results = results_of(progress.schedule.before(&next.id), &progress.ends);
                running.push(self.sub_task(run, next, results));
            }
            // Nothing runs, and nothing can start: whatever is left is blocked.
            let Some((id, end)) = running.next().await else { return Ok(()) };
            // The others are dropped as well, because the run can no longer say anything about the team.
            if let SubTaskEnd::Outage(reason) = end {
                return Err(EndReason::Unscored { reason }.into());
            }
            progress.end(&id, end);
            self.review(run, progress, &ReviewReason::Ended { sub_task: id }, revisions).await?;
        }
    }

    /// How many sub-tasks may run at the same time. If a person is asked after each, they run one after the other, so
    /// that nothing runs while the person changes the work.
    fn width(&self, run: &RunContext<'_>) -> usize {
        let tools = run.toolbox;
        let is_reviewed = run.reviewing.is_some_and(|reviewing| reviewing.when == ReviewWhen::Each);
        let is_simulated = [&self.models.manager, &self.models.supervisor, &self.models.deliverer]
            .iter()
            .any(|model| model.is_simulated());
        match is_simulated || is_reviewed || tools.is_strictly_sequential() || !tools.runs_side_by_side() {
            true => 1,
            false => usize::try_from(self.options.parallel.get()).unwrap_or(usize::MAX),
        }
    }

    /// The answer, from all results and failures.
    async fn deliver(&self, run: &RunContext<'_>, progress: &Progress) -> EndReason {
        let recorder = actor(run.recorder, Role::Deliverer.as_str());
        let graph = progress.schedule.graph();
        let results = results_of(graph.sub_tasks.iter(), &progress.ends);
        let prompt = self.prompts.deliverer(run.query, &graph.constraints, &results);
        match ask(&*self.models.deliverer, &[Message::User { text: prompt }], run, &recorder).await {
            Ok(text) if text.trim().is_empty() => failed(Role::Deliverer, "its answer is empty"),
            Ok(text) => EndReason::Answered { text },
            Err(end) => end,
        }
    }
}

impl Agent for TeamAgent {
    fn run<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Result<Ran, RunError>> {
        Box::pin(async move { Ok(within_limits(&run, self.work(&run)).await) })
    }

    fn can_resume(&self) -> bool {
        true
    }

    /// Those of its slowest executor, each of which has the whole limit for a sub-task.
    fn turns_per_call(&self) -> u32 {
        self.executors.iter().map(|executor| executor.agent.turns_per_call()).max().unwrap_or(1)
    }
}

impl fmt::Debug for TeamAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let executors: Vec<&str> = self.executors.iter().map(|executor| executor.name.as_str()).collect();
        f.debug_struct("TeamAgent")
            .field("manager", &self.models.manager.name())
            .field("executors", &executors)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// What a sub-task gave, for others.
struct ResultText<'a> {
    sub_task: &'a SubTask,
    text: &'a str,
    is_failure: bool,
}

/// The results of these sub-tasks, in order.
fn results_of<'a>(
    sub_tasks: impl Iterator<Item = &'a SubTask>,
    ends: &HashMap<String, SubTaskEnd>,
) -> String {
    let given = sub_tasks.filter_map(|sub_task| {
        let end = ends.get(&sub_task.id)?;
        let (text, is_failure) = (end.text(), !matches!(end, SubTaskEnd::Result(_)));
        Some(prompts::result(&ResultText { sub_task, text, is_failure }))
    });
    given.collect::<Vec<_>>().join("\n\n")
}

/// Asks a model, and records its turn.
///
/// # Errors
/// The end of the run, if the model is unavailable or refuses to write.
async fn ask(
    model: &dyn Model,
    messages: &[Message],
    run: &RunContext<'_>,
    recorder: &Recorder,
) -> Result<String, EndReason> {
    let settings = Settings { temperature: Some(0.0), seed: Some(run.seed), ..Settings::default() };
    asking::ask(model, messages.to_vec(), settings, run, recorder).await
}

/// The end of a run that a role has failed.
fn failed(role: Role, what: &str) -> EndReason {
    EndReason::AgentFailed { reason: format!("{role}: {what}") }
}

/// The recorder of somebody in the team.
fn actor(recorder: &Recorder, name: &str) -> Recorder {
    // Names here consist of valid letters. Without a name the events would still be recorded.
    recorder.as_actor(name).unwrap_or_else(|_| recorder.clone())
}

/// Records a message between the roles. `about` is the id of a sub-task, or empty.
fn note(recorder: &Recorder, state: &str, text: &str, about: &str) {
    noted(recorder, Author::Environment, state, text, about);
}

/// The same by this author.
fn noted(recorder: &Recorder, author: Author, state: &str, text: &str, about: &str) {
    let end = text.floor_char_boundary(SECTION_BYTES_MAX.min(text.len()));
    recorder.record(EventKind::Section {
        state: state.to_owned(),
        author,
        text: text[..end].to_owned(),
        note: about.to_owned(),
    });
}

#[cfg(test)]
mod tests;
