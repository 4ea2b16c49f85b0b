//! What a judge model is asked about a plan, and what follows from its answers: whether text values mean the same as
//! the right ones in other words. Without a judge, values that differ are wrong.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use planproof_plan::entailing;
use planproof_plan::subtasks::judging;
use planproof_suite::questions::Question;
use serde::{Deserialize, Serialize};

use crate::case::RequestCase;
use crate::compared;
use crate::evaluation::LabelTally;
use crate::evaluation::original::PredictionFormat;
use crate::evaluation::ours::entailed::{Beside, OtherWords, beside};
use crate::evaluation::ours::steps_of;
use crate::prediction::PredictedPlan;

/// What a judge said of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedValue {
    /// The step of the predicted plan and the argument: `step 2 prompt`.
    pub value: String,
    /// Whether the value means the same as the right one; `None` if the reply was neither yes nor no, which counts as
    /// no.
    pub is_same: Option<bool>,
}

/// The figures when values with the same meaning count as right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entailed {
    /// Tools with their arguments and values.
    pub(crate) argvalue: LabelTally,
    /// Whether the whole plan is then right.
    pub(crate) plan: bool,
    /// What the judge said, in the order of the steps.
    pub(crate) judged: Vec<JudgedValue>,
}

/// The prediction compared with the plan at that index: 0 is the right plan, followed by the alternatives.
fn held_against(task: &RequestCase, found: &PredictedPlan, alternative: usize) -> Beside {
    let right = compared::right_plan(task, alternative);
    let (steps, _) = steps_of(&right, PredictionFormat::Json);
    let (prediction, format) = compared::as_written(found, Some(&steps));
    beside(&prediction, format, &right)
}

/// The questions for a judge about a prediction that was compared with the plan at that index. Their keys start with
/// `before`.
pub(crate) fn questions(
    task: &RequestCase,
    found: &PredictedPlan,
    alternative: usize,
    before: &str,
) -> Vec<Question> {
    let beside = held_against(task, found, alternative);
    let question = |it: &OtherWords| Question {
        key: format!("{before}{}", it.key),
        text: entailing::question(task.request(), &it.tool, &it.argument, &it.right, &it.planned),
    };
    beside.asked().map(question).collect()
}

/// What follows from a judge's answers, whose keys start with `before`. If the judge was asked nothing about this
/// prediction, everything counts as it does without a judge.
pub(crate) fn entailed<K: Borrow<str> + Ord, V: AsRef<str>>(
    task: &RequestCase,
    found: &PredictedPlan,
    alternative: usize,
    (answers, before): (&BTreeMap<K, V>, &str),
) -> Entailed {
    let beside = held_against(task, found, alternative);
    let mut judged = Vec::new();
    for it in beside.asked() {
        // The number of questions of a run is limited, so a value may have no answer. It then stays wrong.
        if let Some(reply) = answers.get(format!("{before}{}", it.key).as_str()) {
            judged.push(JudgedValue { value: it.key.clone(), is_same: judging::read(reply.as_ref()) });
        }
    }
    let says_same =
        |key: &str| judged.iter().any(|judged| judged.value == key && judged.is_same == Some(true));
    let (argvalue, plan) = beside.counts(says_same);
    Entailed { argvalue, plan, judged }
}
