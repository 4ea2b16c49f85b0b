//! Agents that write sub-tasks with their tools and execute them: all at once (one-step), one by one (sequential), or
//! one by one within groups (hierarchical). (Ruan et al. 2023, "TPTU", section 2.3. The feedback to the model, the
//! hierarchical agent, which the paper names and leaves out, and a person's review are ours.)
//!
//! The parts of the paper's framework (section 2.1) are all in the trace: the task instruction as the query; designed
//! prompts as sections of the actor that asks; the tool set; model output as turns; the intermediate output as plans,
//! sub-tasks, calls with their results and faults; and the final answer as the end. The states of sections are those
//! of [`planproof_plan::subtasks::sections`].
//!
//! Each conversation begins with one message that holds everything the model has to know, and continues only if
//! something in a reply has to be mended or a next sub-task is requested, so that any chat server accepts it.
//!
//! # Module layout
//!
//! The agent and its run are here, sub-tasks and their progress in `subtasks/steps.rs`, conversations with the model
//! in `subtasks/conversation.rs`, calls in `subtasks/call.rs`, a person's review in `subtasks/review.rs`, lessons of
//! earlier runs in `subtasks/remembering.rs`, and the prompts in `subtasks/prompts.rs`.

mod call;
mod conversation;
pub mod options;
mod prompts;
mod remembering;
mod review;
mod steps;

use std::fmt;
use std::sync::Arc;

use planproof_model::{BoxFuture, Message, Model};
use planproof_plan::subtasks::{
    Asking, Division, Pair, PlanFault, PlanFaultKind, PlanForm, read_groups, read_next, read_plan_in,
    sections,
};
use planproof_plan::team::review::ReviewReason;
use planproof_trace::{Author, EndReason, EventKind};
use serde_json::Value;

use crate::stop::{Stop, within_limits};
use crate::template::{Placeholder, PromptTemplate, TemplateError};
use crate::{Agent, Ran, RunContext, RunError};
use conversation::Desk;
use options::{FormChoice, SubTaskOptions};
use steps::Steps;

/// How often a model that is asked for one sub-task at a time may repeat the same one.
pub const REPEATS_MAX: usize = 5;

/// An agent that writes sub-tasks and executes them.
#[derive(Clone)]
pub struct SubTaskAgent {
    model: Arc<dyn Model>,
    division: Division,
    options: SubTaskOptions,
    /// The prompt of the planner, if it is the user's.
    template: Option<PromptTemplate>,
    judge: Option<Arc<dyn Model>>,
}

impl SubTaskAgent {
    /// An agent that asks `model` and divides tasks in this way. The model need not support tool calls: it writes the
    /// arguments as text.
    pub fn new(model: Arc<dyn Model>, division: Division, options: SubTaskOptions) -> Self {
        Self { model, division, options, template: None, judge: None }
    }

    /// The prompt with which the planner of such an agent is asked for sub-tasks. (A hierarchical one is asked for
    /// groups before, with another prompt.)
    pub fn template(division: Division, options: SubTaskOptions) -> String {
        let form = match options.form {
            FormChoice::Always(form) => form,
            FormChoice::AsAsked => PlanForm::default(),
        };
        prompts::template(division, form)
    }

    /// The placeholders that it has, and those that it must have.
    pub fn placeholders(division: Division, options: SubTaskOptions) -> Vec<Placeholder> {
        prompts::placeholders(division, options)
    }

    /// The same agent, whose planner is asked with this prompt instead.
    ///
    /// # Errors
    /// A placeholder is missing or unknown, or the text is too long.
    pub fn with_prompt(self, text: &str) -> Result<Self, TemplateError> {
        let template = PromptTemplate::new(text, &prompts::placeholders(self.division, self.options))?;
        Ok(Self { template: Some(template), ..self })
    }

    /// The prompt of the planner.
    fn planner(&self, form: PlanForm) -> PromptTemplate {
        self.template
            .clone()
            .unwrap_or_else(|| PromptTemplate::shipped(prompts::template(self.division, form)))
    }

    /// What the trace notes of the planner's prompt: the division where the prompt is the user's, because its words do
    /// not tell.
    fn about_prompt(&self) -> &'static str {
        if self.template.is_some() { self.division.as_str() } else { "" }
    }

    /// The same agent, with a model that answers what cases leave to a judge, such as whether a sub-task is the right
    /// one.
    #[must_use]
    pub fn with_judge(self, judge: Arc<dyn Model>) -> Self {
        Self { judge: Some(judge), ..self }
    }

    async fn work(&self, run: &RunContext<'_>) -> Result<EndReason, Stop> {
        let tools = run.toolbox.tools();
        let mut desk = Desk::new(&*self.model, self.options, run);
        let mut steps = Steps::default();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        desk.note(Asking::Plan, sections::TOOLS, Author::Environment, &names.join("\n"), "");
        remembering::begin(&desk);
        match self.division {
            Division::AtOnce => {
                let lessons = remembering::of_runs(&desk, Asking::Plan, run.query);
                let form = match self.options.form {
                    FormChoice::Always(form) => form,
                    FormChoice::AsAsked => {
                        run.toolbox.plan_form().and_then(PlanForm::find).unwrap_or_default()
                    }
                };
                let whole = prompts::Whole { task: run.query, tools, group: None, lessons: &lessons };
                let prompt = prompts::planner(&self.planner(form), &whole, "", &[]);
                desk.note_prompt(Asking::Plan, &prompt, self.about_prompt());
                let messages = vec![Message::User { text: prompt }];
                let most = run.limits.sub_tasks();
                let read = |reply: &str| read_plan_in(reply, &names, form, most);
                let pairs = desk.ask_on(Asking::Plan, messages, false, read).await?;
                let list: Value = pairs.iter().map(Pair::to_json).collect();
                desk.note(Asking::Plan, sections::PLAN, Author::Model, &list.to_string(), "");
                pairs.into_iter().for_each(|pair| steps.add(pair, 0));
                if !steps.is_empty() {
                    review::ask(&desk, &mut steps, &ReviewReason::Planned).await?;
                }
                call::carry_out(&mut desk, &mut steps).await?;
                // The plan as the person changed it is the one that was executed.
                if steps.was_changed() {
                    let list = steps.to_json().to_string();
                    desk.note(Asking::Plan, sections::PLAN, Author::User, &list, "");
                }
            }
            Division::OneByOne => self.one_by_one(&mut desk, &mut steps, None, 0).await?,
            Division::Grouped => {
                let lessons = remembering::of_runs(&desk, Asking::Groups, run.query);
                let prompt = prompts::groups(run.query, tools, &lessons);
                let groups = desk.ask(Asking::Groups, prompt, read_groups).await?;
                let list = Value::from(groups.clone()).to_string();
                desk.note(Asking::Groups, sections::GROUPS, Author::Model, &list, "");
                for (number, group) in groups.iter().enumerate() {
                    self.one_by_one(&mut desk, &mut steps, Some(group), number).await?;
                }
            }
        }
        let prompt = prompts::summary(run.query, &steps.results(None));
        let answer = desk.ask(Asking::Summary, prompt, answer).await?;
        Ok(EndReason::Answered { text: answer })
    }

    /// Sub-tasks one by one, until the model says that it is done.
    async fn one_by_one(
        &self,
        desk: &mut Desk<'_>,
        steps: &mut Steps,
        group: Option<&str>,
        number: usize,
    ) -> Result<(), Stop> {
        let run = desk.run();
        let tools = run.toolbox.tools();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let mut is_first = true;
        let template = self.planner(PlanForm::default());
        let lessons = remembering::of_runs(desk, Asking::Next, group.unwrap_or(run.query));
        loop {
            let earlier = steps.results(Some(number));
            let whole = prompts::Whole { task: run.query, tools, group, lessons: &lessons };
            let first = prompts::planner(&template, &whole, &earlier, steps.dropped());
            if is_first {
                desk.note_prompt(Asking::Next, &first, self.about_prompt());
            }
            // Rebuilt from the sub-tasks each time, so that a person's changes are part of the conversation.
            let messages = steps.conversation(first, number);
            let next = desk.ask_on(Asking::Next, messages, false, |reply| read_next(reply, &names)).await?;
            is_first = false;
            let Some(pair) = next else { return Ok(()) };
            let count = steps.len() + 1;
            if let Some(words) = endless(count, run.limits.sub_tasks(), steps.count_of(&pair) + 1) {
                // It is not executed, but the trace shows it.
                let (text, place) = (pair.to_json().to_string(), count.to_string());
                desk.note(Asking::Next, sections::SUB_TASK, Author::Model, &text, &place);
                return Err(desk.broken(Asking::Next, &PlanFault::new(PlanFaultKind::Endless, words)));
            }
            steps.add(pair, number);
            review::ask(desk, steps, &ReviewReason::Planned).await?;
            call::carry_out(desk, steps).await?;
        }
    }
}

/// Why no further sub-task is started, if that is so.
fn endless(count: usize, most: usize, of_same: usize) -> Option<String> {
    // The paper calls this failure endless extension: a sub-task that is solved again and again.
    if of_same > REPEATS_MAX {
        return Some(format!("the same sub-task came up {of_same} times, and {REPEATS_MAX} is the most"));
    }
    (count > most).then(|| format!("there is no end after {most} sub-tasks"))
}

fn answer(reply: &str) -> Result<String, PlanFault> {
    match reply.trim().is_empty() {
        true => Err(PlanFault::new(PlanFaultKind::NoSummary, "the answer is empty: write it")),
        false => Ok(reply.to_owned()),
    }
}

impl Agent for SubTaskAgent {
    fn judge(&self) -> Option<&dyn Model> {
        self.judge.as_deref()
    }

    /// One for the sub-task, unless all of them come at once, and one for the arguments of its call.
    fn turns_per_call(&self) -> u32 {
        2
    }

    fn run<'a>(&'a self, run: RunContext<'a>) -> BoxFuture<'a, Result<Ran, RunError>> {
        Box::pin(async move {
            run.recorder.record(EventKind::Query { text: run.query.to_owned() });
            Ok(within_limits(&run, self.work(&run)).await)
        })
    }
}

impl fmt::Debug for SubTaskAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubTaskAgent")
            .field("division", &self.division)
            .field("options", &self.options)
            .field("model", &self.model.name())
            .finish()
    }
}

#[cfg(test)]
mod tests;
