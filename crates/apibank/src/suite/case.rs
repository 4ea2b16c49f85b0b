//! A task of level 3 as a case.

use std::sync::{Arc, LazyLock};

use planproof_suite::{
    Card, Case, CaseError, EventNote, Explanation, Gold, GoldCall, Toolbox, Unscored, Verdict,
};
use planproof_trace::Event;
use serde_json::{Map, Value as Json, json};

use super::{ApiDetail, explain, judge, toolbox};
use crate::level3::task::{TaskOrigin, UserTask};
use crate::level3::{data, metrics};
use crate::value::Dict;
use crate::world::{ApiCompat, ApiWorld};

/// The part of the prompt that says how to work. (Ours; the published prompts are few-shot texts for calls in
/// brackets.)
pub(super) const RULES: &str = include_str!("../../prompts/task.txt").trim_ascii_end();

/// Our databases. Every run gets a clone that shares whatever it does not change.
static OWN: LazyLock<ApiWorld> = LazyLock::new(data::own);

/// A task with everything that the engine needs.
#[derive(Debug, Clone)]
pub struct TaskCase {
    task: UserTask,
    /// The databases at the start of a run.
    world: ApiWorld,
    prompt: String,
    card: Card,
}

impl TaskCase {
    /// Parses a task from a JSON line.
    ///
    /// # Errors
    /// Same as [`UserTask::read`] and [`TaskCase::new`].
    pub fn read(line: &str) -> Result<Self, CaseError> {
        Self::new(UserTask::read(line).map_err(CaseError::new)?)
    }

    /// Creates a case from a task.
    ///
    /// # Errors
    /// The requirement is empty, or it is a published task without what it is carried out on.
    pub fn new(task: UserTask) -> Result<Self, CaseError> {
        if task.requirement.trim().is_empty() {
            return Err(CaseError::new(format!("the task `{}` does not say what is wanted", task.id)));
        }
        let world = match (task.origin, &task.data) {
            // A clone shares the tables.
            (TaskOrigin::Own, None) => OWN.clone(),
            (TaskOrigin::Published, Some(data)) => data.world(ApiCompat::Right).map_err(CaseError::new)?,
            (TaskOrigin::Own, Some(_)) => {
                return Err(CaseError::new(format!("the task `{}` is ours and has other tables", task.id)));
            }
            (TaskOrigin::Published, None) => {
                return Err(CaseError::new(format!(
                    "the task `{}` is of the published data, and its line lacks `data`: make the case again from \
                     level-3.json",
                    task.id
                )));
            }
        };
        let detail_sizes = [task.tool_calls().count(), task.requirement.len()];
        let card =
            Card { label: task.kind.clone(), ..Card::counted(&*task.id, task.calls.len(), detail_sizes) };
        let prompt = format!("{}\n\n{RULES}", task.requirement.trim());
        Ok(Self { task, world, prompt, card })
    }

    pub fn task(&self) -> &UserTask {
        &self.task
    }

    /// The databases at the start of a run.
    pub(super) fn world(&self) -> ApiWorld {
        self.world.clone()
    }

    /// Executes the gold calls. Otherwise a run could fail because of an error in its task.
    pub(super) fn prove(&self) -> Result<(), String> {
        let (task, mut world) = (&self.task, self.world());
        let compat = world.compat;
        let calls = task.calls.iter().map(|call| (call.api.as_str(), &call.arguments));
        let made = metrics::make(calls, &mut world).map_err(|fault| fault.to_string())?;
        let worth = metrics::judge(&task.calls, &made, compat);
        let wrong = worth.iter().position(|worth| !matches!(worth, metrics::Worth::Unique(_)));
        match wrong.and_then(|place| Some((place, task.calls.get(place)?))) {
            Some((place, call)) => {
                let call = judge::in_words(call);
                Err(format!("gold call {}, {call}, does not give what the task says", place + 1))
            }
            None => Ok(()),
        }
    }
}

impl Case for TaskCase {
    fn card(&self) -> &Card {
        &self.card
    }

    fn prompt(&self) -> &str {
        &self.prompt
    }

    fn to_line(&self) -> String {
        self.task.to_line()
    }

    fn calls_needed(&self) -> Option<u32> {
        u32::try_from(self.task.calls.len()).ok()
    }

    fn identity(&self) -> String {
        let UserTask { calls, reply, .. } = &self.task;
        json!([crate::level3::task::CASE_SCHEMA, self.prompt, calls, reply]).to_string()
    }

    /// All tools of level 3, over the run's own databases.
    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        Ok(Arc::new(toolbox::Level3Tools::new(self.world())))
    }

    fn judge(&self, events: &[Event]) -> Result<Verdict, Unscored> {
        judge::judge(self, events)
    }

    fn explain(&self, verdict: &Verdict) -> Explanation {
        explain::explain(self, verdict)
    }

    fn notes(&self, verdict: &Verdict, events: &[Event]) -> Option<Vec<EventNote>> {
        Some(explain::notes(verdict, events))
    }

    fn essence(&self, verdict: &Verdict) -> String {
        match ApiDetail::of(verdict) {
            Some(detail) => format!("{} of {} calls", detail.unique, detail.required),
            None => String::new(),
        }
    }

    fn target(&self) -> String {
        self.task.reply.clone()
    }

    fn gold(&self) -> Option<Gold> {
        let call = |call: &crate::level3::task::RequiredCall| GoldCall {
            tool: call.api.clone(),
            arguments: to_json(&call.arguments),
        };
        Some(Gold {
            calls: self.task.calls.iter().map(call).collect(),
            answer: self.task.reply.clone(),
            wrong_answer: "It cannot be done.".to_owned(),
            ..Gold::default()
        })
    }

    fn cells(&self) -> Vec<String> {
        vec![self.task.kind.clone(), self.task.calls.len().to_string()]
    }

    fn run_cells(&self, verdict: &Verdict) -> Vec<String> {
        explain::run_cells(verdict)
    }

    fn metadata(&self, verdict: Option<&Verdict>) -> Map<String, Json> {
        explain::metadata(self, verdict)
    }
}

fn to_json(arguments: &Dict) -> Map<String, Json> {
    match serde_json::to_value(arguments) {
        Ok(Json::Object(map)) => map,
        // Keys are texts, and values were parsed from JSON.
        _ => Map::new(),
    }
}
