//! Plans of agents that execute them: the pairs in their traces, independent of their answers.

use planproof_plan::subtasks::{Pair, PlanOfRun};
use serde_json::Value;

use crate::evaluation::Evaluation;
use crate::fault::Fault;
use crate::plan::{self, Planned};
use crate::question::Question;
use crate::runs::Run;
use crate::sub_task_questions;

/// The plan as JSON, with the faults that the evaluation considers.
pub(crate) fn judge(
    evaluation: Evaluation,
    question: &Question,
    run: &Run,
    plan: &PlanOfRun,
) -> (String, Vec<Fault>) {
    if plan.pairs.is_empty() {
        return (String::new(), vec![Fault::NoList { what: "it is empty".to_owned() }]);
    }
    let mut faults = plan::judge(&steps(plan), &question.plan);
    sub_task_questions::apply_judgements(&run.judged, &mut faults);
    if evaluation == Evaluation::ToolOrder {
        faults.retain(|fault| !matches!(fault, Fault::WrongSubtask { .. } | Fault::JudgedOther { .. }));
    }
    (plan.pairs.iter().map(Pair::to_json).collect::<Value>().to_string(), faults)
}

/// The faults in the sub-tasks of a run without the right answer: another tool, other words, a repetition. A missing
/// step shows in the answer.
pub(crate) fn causes(question: &Question, run: &Run) -> Vec<Fault> {
    let Some(plan) = &run.plan else { return Vec::new() };
    let faults = plan::judge(&steps(plan), &question.plan);
    let is_cause = |fault: &Fault| !matches!(fault, Fault::MissingStep { .. } | Fault::ExtraStep { .. });
    faults.into_iter().filter(is_cause).collect()
}

/// The repetition in a run that did not end: a call, or a sub-task.
pub(crate) fn repetition(question: &Question, run: &Run) -> Option<Fault> {
    let of_plan = || causes(question, run).into_iter().find(|fault| matches!(fault, Fault::Repeated { .. }));
    run.repeated().map(|(place, of)| Fault::Repeated { place, of }).or_else(of_plan)
}

fn steps(plan: &PlanOfRun) -> Vec<Planned> {
    let step = |pair: &Pair| Planned { tool: pair.tool.clone(), subtask: Some(pair.text.clone()) };
    plan.pairs.iter().map(step).collect()
}
