//! Sub-tasks in the words of language models, each marked as right or wrong by a person before any rule was written.

use planproof_tptu::evaluation::PaperEvaluation;
use planproof_tptu::plan::{PlannedStep, judge};
use planproof_tptu::sub_task::RightPlan;
use planproof_tptu::{ToolQuestion, own};

/// The lines of a file: id of the question, number of the step, `right` or `wrong`, and the text.
const FILES: [(&str, &str); 4] = [
    ("reviewed.tsv", include_str!("../data/reviewed.tsv")),
    ("held_out.tsv", include_str!("../data/held_out.tsv")),
    ("held_out_2.tsv", include_str!("../data/held_out_2.tsv")),
    ("sub_tasks.tsv", include_str!("../data/sub_tasks.tsv")),
];

/// The fault in a sub-task among the right ones of its question.
fn fault(question: &ToolQuestion, place: usize, text: &str) -> Option<String> {
    let step = |(index, step): (usize, &planproof_tptu::GoldStep)| PlannedStep {
        tool: step.tool.title().to_owned(),
        subtask: Some(if index + 1 == place { text.to_owned() } else { step.subtask.clone() }),
        returned: None,
    };
    let plan: Vec<PlannedStep> = question.plan.iter().enumerate().map(step).collect();
    let compared = judge(&plan, &RightPlan::of(question).unwrap()).unwrap();
    assert_eq!(compared.by_words.len(), plan.len());
    let others = compared.faults.iter().filter(|fault| fault.step() != Some(place));
    assert_eq!(others.count(), 0, "our own words are right: {:?}", compared.faults);
    assert!(compared.faults.iter().all(|fault| fault.class() == "task_not_understood"));
    compared.faults.first().map(ToString::to_string)
}

pub(crate) fn sub_tasks_are_judged_by_their_meaning() {
    let questions = own().unwrap();
    let mut wrong = Vec::new();
    for (file, text) in FILES {
        let mut counts = [[0; 2]; 2];
        for line in text.lines() {
            let [id, step, mark, text] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let question = questions.iter().find(|it| it.id == id).unwrap_or_else(|| panic!("{id}"));
            assert!(
                question.evaluations.iter().any(|it| it.is_planning() || *it == PaperEvaluation::EndToEnd)
            );
            let fault = fault(question, step.parse().unwrap(), text);
            let is_right = mark == "right";
            assert!(is_right || mark == "wrong", "{line}");
            counts[usize::from(is_right)][usize::from(fault.is_none() == is_right)] += 1;
            println!("{id} {step} {mark}: {text}: {}", fault.as_deref().unwrap_or("passed"));
            if fault.is_none() != is_right {
                wrong.push(format!("{file}: {line}: {fault:?}"));
            }
        }
        let [[not_failed, failed], [not_passed, passed]] = counts;
        println!(
            "{file}: {passed} of {} right ones passed, {failed} of {} wrong ones failed",
            passed + not_passed,
            failed + not_failed
        );
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}
