//! Plans of agents that execute them: the pairs in their traces, independent of their answers.

use planproof_plan::subtasks::{Pair, PlanOfRun};
use serde_json::Value;

use crate::evaluation::PaperEvaluation;
use crate::fault::OutputFault;
use crate::plan::{self, PlannedStep};
use crate::question::ToolQuestion;
use crate::runs::Run;
use crate::sub_task_questions;

/// The plan as JSON, with the faults that the evaluation considers.
pub(crate) fn judge(
    evaluation: PaperEvaluation,
    question: &ToolQuestion,
    run: &Run,
    plan: &PlanOfRun,
) -> (String, Vec<OutputFault>) {
    // An agent that did nothing lacks the demanded list, which says more than that each of its steps is missing.
    if plan.pairs.is_empty() {
        return (String::new(), vec![OutputFault::NoList { what: "it is empty".to_owned() }]);
    }
    let mut faults = plan::judge(&steps(plan), &question.plan);
    sub_task_questions::apply_judgements(&run.judged, &mut faults);
    // This evaluation is about the tools alone.
    if evaluation == PaperEvaluation::ToolOrder {
        faults.retain(|fault| {
            !matches!(fault, OutputFault::WrongSubtask { .. } | OutputFault::JudgedOther { .. })
        });
    }
    (plan.pairs.iter().map(Pair::to_json).collect::<Value>().to_string(), faults)
}

/// The faults in the sub-tasks of a run without the right answer: another tool, other words, a repetition. A missing
/// step shows in the answer.
pub(crate) fn causes(question: &ToolQuestion, run: &Run) -> Vec<OutputFault> {
    let Some(plan) = &run.plan else { return Vec::new() };
    let faults = plan::judge(&steps(plan), &question.plan);
    let is_cause = |fault: &OutputFault| {
        !matches!(fault, OutputFault::MissingStep { .. } | OutputFault::ExtraStep { .. })
    };
    faults.into_iter().filter(is_cause).collect()
}

/// The repetition in a run that did not end: a call, or a sub-task.
pub(crate) fn repetition(question: &ToolQuestion, run: &Run) -> Option<OutputFault> {
    let of_plan =
        || causes(question, run).into_iter().find(|fault| matches!(fault, OutputFault::Repeated { .. }));
    run.repeated().map(|(place, of)| OutputFault::Repeated { place, of }).or_else(of_plan)
}

fn steps(plan: &PlanOfRun) -> Vec<PlannedStep> {
    let step = |pair: &Pair| PlannedStep { tool: pair.tool.clone(), subtask: Some(pair.text.clone()) };
    plan.pairs.iter().map(step).collect()
}
