//! Sub-tasks, and how far each is.

use std::collections::BTreeMap;

use planproof_model::Message;
use planproof_plan::graph::{SubTask, SubTaskGraph, SubTaskState};
use planproof_plan::subtasks::Pair;
use serde_json::Value;

use super::prompts;

/// A sub-task.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) pair: Pair,
    /// The number of its group, from 0; 0 where there are no groups.
    group: usize,
    /// What came of it; `None` before.
    pub(super) end: Option<StepEnd>,
}

/// What came of a sub-task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StepEnd {
    pub(super) text: String,
    pub(super) is_failure: bool,
}

/// The sub-tasks of a run, in their order.
#[derive(Debug, Default)]
pub(super) struct Steps {
    all: Vec<Step>,
    was_changed: bool,
    /// Those that a person took out.
    dropped: Vec<Pair>,
}

impl Steps {
    pub(super) fn add(&mut self, pair: Pair, group: usize) {
        self.all.push(Step { pair, group, end: None });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// How often a sub-task is among them.
    pub(super) fn count_of(&self, pair: &Pair) -> usize {
        self.all.iter().filter(|step| step.pair == *pair).count()
    }

    /// Whether a person changed them.
    pub(super) fn was_changed(&self) -> bool {
        self.was_changed
    }

    /// Those that a person took out.
    pub(super) fn dropped(&self) -> &[Pair] {
        &self.dropped
    }

    /// The next sub-task to execute, with its index.
    pub(super) fn next(&self) -> Option<(usize, &Step)> {
        self.all.iter().enumerate().find(|(_, step)| step.end.is_none())
    }

    pub(super) fn end(&mut self, place: usize, end: StepEnd) {
        if let Some(step) = self.all.get_mut(place) {
            step.end = Some(end);
        }
    }

    /// All pairs as a list.
    pub(super) fn to_json(&self) -> Value {
        self.all.iter().map(|step| step.pair.to_json()).collect()
    }

    /// The finished sub-tasks, for a model: all of them, or those of the groups before one.
    pub(super) fn results(&self, before_group: Option<usize>) -> String {
        // Those of the group itself are in its conversation.
        let is_shown = |step: &Step| before_group.is_none_or(|group| step.group < group);
        let shown = self.all.iter().enumerate().filter(|(_, step)| is_shown(step));
        let texts = shown.filter_map(|(place, step)| {
            step.end.as_ref().map(|end| prompts::result(place + 1, &step.pair, end))
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// The conversation of a group so far: the first message, and each sub-task with its result.
    pub(super) fn conversation(&self, first: String, group: usize) -> Vec<Message> {
        let mut messages = vec![Message::User { text: first }];
        let of_group = self.all.iter().enumerate().filter(|(_, step)| step.group == group);
        for (place, step) in of_group {
            let Some(end) = &step.end else { continue };
            messages.push(Message::assistant(step.pair.to_json().to_string(), Vec::new()));
            messages.push(Message::User { text: prompts::observation(place + 1, &step.pair, end) });
        }
        messages
    }

    /// The sub-tasks as a graph in which each comes after the previous one, for a person.
    pub(super) fn graph(&self) -> SubTaskGraph {
        let sub_task = |(place, step): (usize, &Step)| SubTask {
            id: (place + 1).to_string(),
            task: step.pair.text.clone(),
            executor: step.pair.tool.clone(),
            after: if place > 0 { vec![place.to_string()] } else { Vec::new() },
            constraints: Vec::new(),
        };
        let sub_tasks = self.all.iter().enumerate().map(sub_task).collect();
        SubTaskGraph { sub_tasks, constraints: Vec::new() }
    }

    /// The states of that graph's sub-tasks.
    pub(super) fn states(&self) -> Vec<SubTaskState> {
        let next = self.next().map(|(place, _)| place);
        let state = |(place, step): (usize, &Step)| match &step.end {
            Some(end) if end.is_failure => SubTaskState::Failed,
            Some(_) => SubTaskState::Finished,
            None if next == Some(place) => SubTaskState::Ready,
            None => SubTaskState::Waiting,
        };
        self.all.iter().enumerate().map(state).collect()
    }

    /// What sub-tasks gave, by their ids.
    pub(super) fn by_id(&self) -> BTreeMap<String, String> {
        let end =
            |(place, step): (usize, &Step)| Some(((place + 1).to_string(), step.end.as_ref()?.text.clone()));
        self.all.iter().enumerate().filter_map(end).collect()
    }

    /// Replaces a pair. It and all later ones count as unfinished then, because later sub-tasks see the results of
    /// earlier ones.
    pub(super) fn replace(&mut self, place: usize, pair: Pair) {
        if let Some(step) = self.all.get_mut(place) {
            step.pair = pair;
            self.was_changed = true;
        }
        self.undo(place);
    }

    /// Removes a sub-task. All later ones count as unfinished then.
    pub(super) fn remove(&mut self, place: usize) {
        if place < self.all.len() {
            self.dropped.push(self.all.remove(place).pair);
            self.was_changed = true;
        }
        self.undo(place);
    }

    /// Has a sub-task and all later ones run again.
    pub(super) fn undo(&mut self, place: usize) {
        self.all.iter_mut().skip(place).for_each(|step| step.end = None);
    }
}
