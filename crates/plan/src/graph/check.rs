//! The faults of a graph in memory, from any source.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use crate::graph::cycle::cycles;
use crate::graph::fault::{GraphFault, GraphFaults, GraphField, GraphProblem, GraphSite};
use crate::graph::form::{SubTask, SubTaskGraph, WordedConstraint};
use crate::graph::links::{Links, places};
use crate::limits::{
    CONSTRAINT_CHARACTERS_MAX, CONSTRAINTS_MAX, GRAPH_FAULTS_MAX, ID_CHARACTERS_MAX, SUB_TASKS_MAX,
    TASK_CHARACTERS_MAX, TYPED_BYTES_MAX,
};
use crate::words::nearest;

impl SubTaskGraph {
    /// Whether executors of these names can carry the graph out: all checks of
    /// [`read_graph`](crate::graph::read_graph) after parsing. Also for a graph that a person has edited.
    ///
    /// Takes time in proportion to the graph, times its sub-tasks where there are faults.
    ///
    /// # Errors
    /// All faults, in the order of the sub-tasks, followed by those of the whole graph.
    pub fn check(&self, executors: &[&str]) -> Result<(), GraphFaults> {
        let mut faults = Vec::new();
        match self.sub_tasks.len() {
            0 => faults.push(GraphFault::new(GraphSite::graph(), GraphProblem::NoSubTasks)),
            count if count > SUB_TASKS_MAX => {
                let problem = GraphProblem::TooManySubTasks { count, limit: SUB_TASKS_MAX };
                // Alone: checking an oversized graph could take arbitrarily long.
                return Err(GraphFaults { faults: vec![GraphFault::new(GraphSite::graph(), problem)] });
            }
            _ => {}
        }
        // Found for the whole graph at once, and reported below with the sub-tasks that they belong to.
        let structure = self.structure_faults();
        for (place, sub_task) in self.sub_tasks.iter().enumerate() {
            let site = GraphSite::sub_task(place, &sub_task.id);
            let mut problems = Vec::new();
            text(GraphField::Id, &sub_task.id, ID_CHARACTERS_MAX, &mut problems);
            if sub_task.id.contains(char::is_control) {
                problems.push(GraphProblem::IdUnfit);
            }
            text(GraphField::Task, &sub_task.task, TASK_CHARACTERS_MAX, &mut problems);
            self::executor(&sub_task.executor, executors, &mut problems);
            list(GraphField::After, sub_task.after.len(), SUB_TASKS_MAX, &mut problems);
            faults.extend(problems.into_iter().map(|problem| GraphFault::new(site.clone(), problem)));
            constraints(&sub_task.constraints, &site, &mut faults);
            faults.extend(structure.iter().filter(|fault| fault.site.place == Some(place)).cloned());
        }
        constraints(&self.constraints, &GraphSite::graph(), &mut faults);
        faults.extend(structure.into_iter().filter(|fault| fault.site.place.is_none()));
        if faults.is_empty() { Ok(()) } else { Err(GraphFaults { faults }) }
    }

    /// Why its sub-tasks cannot be ordered: duplicate ids, and dependencies on nothing or in a cycle. For a graph of
    /// any size.
    pub(crate) fn structure_faults(&self) -> Vec<GraphFault> {
        let places = places(&self.sub_tasks);
        let mut faults = Vec::new();
        for (place, sub_task) in self.sub_tasks.iter().enumerate() {
            let site = || GraphSite::sub_task(place, &sub_task.id);
            match places.get(sub_task.id.as_str()) {
                Some(first) if *first != place => {
                    faults.push(GraphFault::new(site(), GraphProblem::IdTwice { first: *first }));
                }
                _ => {}
            }
            let problems = dependencies(sub_task, &self.sub_tasks, &places);
            faults.extend(problems.into_iter().map(|problem| GraphFault::new(site(), problem)));
        }
        for cycle in cycles(&Links::new(&self.sub_tasks)) {
            let ids = cycle.into_iter().map(|place| self.sub_tasks[place].id.clone()).collect();
            faults.push(GraphFault::new(GraphSite::graph(), GraphProblem::Cycle { ids }));
        }
        faults
    }
}

/// The faults of a sub-task's dependencies, each once, up to the number that is shown.
fn dependencies(
    sub_task: &SubTask,
    sub_tasks: &[SubTask],
    places: &HashMap<&str, usize>,
) -> Vec<GraphProblem> {
    let mut problems = Vec::new();
    let mut seen = HashSet::new();
    for after in sub_task.after.iter().filter(|after| seen.insert(after.as_str())) {
        if problems.len() == GRAPH_FAULTS_MAX {
            break;
        }
        if *after == sub_task.id {
            problems.push(GraphProblem::AfterItself);
        } else if !places.contains_key(after.as_str()) {
            let others = sub_tasks.iter().map(|it| it.id.as_str()).filter(|id| *id != sub_task.id);
            let nearest = nearest(after, others);
            problems.push(GraphProblem::AfterUnknown { after: after.clone(), nearest });
        }
    }
    problems
}

fn executor(executor: &str, executors: &[&str], problems: &mut Vec<GraphProblem>) {
    if executor.trim().is_empty() {
        problems.push(GraphProblem::TextEmpty { field: GraphField::Executor });
    } else if !executors.contains(&executor) {
        problems.push(GraphProblem::ExecutorUnknown {
            executor: executor.to_owned(),
            nearest: nearest(executor, executors.iter().copied()),
            known: executors.iter().map(|name| (*name).to_owned()).collect(),
        });
    }
}

fn constraints(constraints: &[WordedConstraint], of: &GraphSite, faults: &mut Vec<GraphFault>) {
    let mut problems = Vec::new();
    list(GraphField::Constraints, constraints.len(), CONSTRAINTS_MAX, &mut problems);
    faults.extend(problems.into_iter().map(|problem| GraphFault::new(of.clone(), problem)));
    // The excess is one fault above, and its members are not looked at.
    for (place, constraint) in constraints.iter().enumerate().take(CONSTRAINTS_MAX) {
        let mut problems = Vec::new();
        text(GraphField::Words, &constraint.words, CONSTRAINT_CHARACTERS_MAX, &mut problems);
        typed(constraint.typed.as_ref(), &mut problems);
        let site = of.clone().constraint(place);
        faults.extend(problems.into_iter().map(|problem| GraphFault::new(site.clone(), problem)));
    }
}

fn typed(typed: Option<&Json>, problems: &mut Vec<GraphProblem>) {
    let length = match typed {
        None => 0,
        Some(Json::Object(_)) => typed.map(|typed| typed.to_string().len()).unwrap_or_default(),
        Some(other) => {
            problems.push(GraphProblem::FieldOfOtherKind { field: GraphField::Typed, found: kind(other) });
            return;
        }
    };
    if length > TYPED_BYTES_MAX {
        let field = GraphField::Typed;
        problems.push(GraphProblem::TextTooLong { field, length, limit: TYPED_BYTES_MAX });
    }
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a truth value",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

fn text(field: GraphField, text: &str, limit: usize, problems: &mut Vec<GraphProblem>) {
    let length = text.chars().count();
    if text.trim().is_empty() {
        problems.push(GraphProblem::TextEmpty { field });
    } else if length > limit {
        problems.push(GraphProblem::TextTooLong { field, length, limit });
    }
}

fn list(field: GraphField, count: usize, limit: usize, problems: &mut Vec<GraphProblem>) {
    if count > limit {
        problems.push(GraphProblem::ListTooLong { field, count, limit });
    }
}
