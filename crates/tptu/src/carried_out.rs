//! Plans of agents that execute them: the pairs in their traces, independent of their answers.

use planproof_plan::subtasks::{Pair, PlanOfRun};
use planproof_suite::Unscored;
use serde_json::Value;

use crate::evaluation::PaperEvaluation;
use crate::fault::OutputFault;
use crate::plan::{self, ComparedPlan, PlannedStep};
use crate::question::ToolQuestion;
use crate::runs::Run;
use crate::sub_task::RightPlan;
use crate::sub_task_questions;

/// The plan as JSON, and how it compares as far as the evaluation considers that.
///
/// # Errors
/// The database cannot be read.
pub(crate) fn judge(
    evaluation: PaperEvaluation,
    question: &ToolQuestion,
    run: &Run<'_>,
    plan: &PlanOfRun,
) -> Result<(String, ComparedPlan), Unscored> {
    // An agent that did nothing lacks the demanded list, which says more than that each of its steps is missing.
    if plan.pairs.is_empty() {
        let faults = vec![OutputFault::NoList { what: "it is empty".to_owned() }];
        return Ok((String::new(), ComparedPlan { faults, by_words: Vec::new() }));
    }
    let mut compared = plan::judge(&steps(run, plan), &RightPlan::of(question)?)?;
    sub_task_questions::apply_judgements(&run.judged, &mut compared);
    // This evaluation is about the tools alone.
    if evaluation == PaperEvaluation::ToolOrder {
        compared.faults.retain(|fault| !fault.is_about_sub_task());
        compared.by_words.clear();
    }
    Ok((plan.pairs.iter().map(Pair::to_json).collect::<Value>().to_string(), compared))
}

/// What is wrong with the sub-tasks of a run without the right answer: another tool, something else to do, a
/// repetition. A missing step shows in the answer.
///
/// # Errors
/// The database cannot be read.
pub(crate) fn causes(question: &ToolQuestion, run: &Run<'_>) -> Result<ComparedPlan, Unscored> {
    let Some(plan) = &run.plan else { return Ok(ComparedPlan::default()) };
    let mut compared = plan::judge(&steps(run, plan), &RightPlan::of(question)?)?;
    compared
        .faults
        .retain(|fault| !matches!(fault, OutputFault::MissingStep { .. } | OutputFault::ExtraStep { .. }));
    Ok(compared)
}

/// The repetition in a run that did not end: a call, or a sub-task.
///
/// # Errors
/// The database cannot be read.
pub(crate) fn repetition(question: &ToolQuestion, run: &Run<'_>) -> Result<Option<OutputFault>, Unscored> {
    if let Some((place, of)) = run.repeated() {
        return Ok(Some(OutputFault::Repeated { place, of }));
    }
    let causes = causes(question, run)?.faults;
    Ok(causes.into_iter().find(|fault| matches!(fault, OutputFault::Repeated { .. })))
}

fn steps(run: &Run<'_>, plan: &PlanOfRun) -> Vec<PlannedStep> {
    let step = |(place, pair): (usize, &Pair)| PlannedStep {
        tool: pair.tool.clone(),
        subtask: Some(pair.text.clone()),
        returned: run.returned.get(&place).cloned(),
    };
    plan.pairs.iter().enumerate().map(step).collect()
}
