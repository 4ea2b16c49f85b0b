//! The questions to a judge model about sub-tasks, if there is one: whether each means the same as the right one.
//! Without a
//! judge, what its call returned or its words decide.

use std::collections::BTreeMap;

use planproof_plan::subtasks::{PlanOfRun, judging};
use planproof_suite::questions;
use planproof_trace::Event;
use planproof_trace::template::fill;

use crate::fault::OutputFault;
use crate::plan::ComparedPlan;
use crate::question::ToolQuestion;
use crate::tool::ToolName;

/// Prefix of the questions' keys, before the place of the step.
const KEY_PREFIX: &str = "step-";

/// A question for each sub-task with the right tool: for another tool its words do not matter.
pub(crate) fn about(question: &ToolQuestion, events: &[Event]) -> Vec<questions::Question> {
    let Some(plan) = PlanOfRun::of(events) else { return Vec::new() };
    let steps = plan.pairs.iter().zip(&question.plan).enumerate();
    let of_step = steps.filter(|(_, (pair, step))| ToolName::find(&pair.tool) == Some(step.tool));
    let asked = of_step.map(|(place, (pair, step))| questions::Question {
        key: format!("{KEY_PREFIX}{}", place + 1),
        text: fill(
            include_str!("../prompts/compare.txt").trim_end(),
            &[("task", question.question.trim()), ("right", &step.subtask), ("planned", &pair.text)],
        ),
    });
    asked.collect()
}

/// A judge's opinion on the sub-tasks of a run, by their places from 1. Replies that are neither yes nor no are left
/// out.
pub(crate) fn answers(events: &[Event]) -> BTreeMap<usize, bool> {
    let answered = questions::answers(events).into_iter();
    let read = answered.filter_map(|(key, reply)| {
        Some((key.strip_prefix(KEY_PREFIX)?.parse().ok()?, judging::read(reply)?))
    });
    read.collect()
}

/// Lets a judge decide on the sub-tasks about which it was asked: whoever names one wants its opinion.
pub(crate) fn apply_judgements(judged: &BTreeMap<usize, bool>, compared: &mut ComparedPlan) {
    compared.by_words.retain(|place| !judged.contains_key(place));
    let faults = &mut compared.faults;
    let is_judged = |fault: &OutputFault| fault.step().is_some_and(|place| judged.contains_key(&place));
    faults.retain(|fault| !(fault.is_about_sub_task() && is_judged(fault)));
    for (place, _) in judged.iter().filter(|(_, is_right)| !**is_right) {
        // Not in addition to another fault of that step, such as the wrong tool.
        if !faults.iter().any(|fault| fault.step() == Some(*place)) {
            faults.push(OutputFault::JudgedOther { place: *place });
        }
    }
    faults.sort_by_key(OutputFault::step);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By these, simulations know the question and find the sub-tasks.
    #[test]
    fn the_question_has_its_marks() {
        let text = include_str!("../prompts/compare.txt");
        assert!(text.starts_with(judging::MARK));
        for heading in [judging::RIGHT, judging::PLANNED] {
            assert!(text.contains(&format!("\n\n{heading}\n{{{{")), "{heading}");
        }
        assert!(text.contains(judging::YES) && text.contains(judging::NO));
    }

    #[test]
    fn a_judge_decides_instead_of_facts() {
        let lacks = |place| OutputFault::WrongSubtask { place, fact: "x".to_owned() };
        let other = OutputFault::OtherMeaning { place: 5, what: "y".to_owned() };
        let faults = vec![lacks(1), lacks(2), OutputFault::ExtraStep { place: 4 }, other];
        let mut compared = ComparedPlan { faults, by_words: vec![1, 2, 3, 5] };
        let judged = BTreeMap::from([(1, true), (3, false), (4, false), (5, true)]);
        apply_judgements(&judged, &mut compared);
        assert_eq!(compared.by_words, [2]);
        assert_eq!(
            compared.faults,
            [lacks(2), OutputFault::JudgedOther { place: 3 }, OutputFault::ExtraStep { place: 4 }]
        );
    }
}
