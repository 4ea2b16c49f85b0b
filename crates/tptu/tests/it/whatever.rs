//! Whatever text there may be.

use planproof_suite::{Case, CaseSelection, Suite};
use planproof_tptu::evaluation::PaperEvaluation;
use planproof_tptu::plan::PlannedStep;
use planproof_tptu::sub_task::RightPlan;
use planproof_tptu::{Tptu, answer, literal, own, plan, statement, words};
use planproof_trace::notation::parse;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

/// Texts out of what means something to the readers.
fn texts() -> impl Strategy<Value = String> {
    let pieces = [
        "[", "]", "{", "}", "'", "\"", ",", ":", "\\", "\\u", "\n", "```", "sql", "SELECT 1", "with",
        "python", "é", " ", "-", "3", ".5", "1e9", "1,000", "Answer:", ";", "None", "\u{0}", "\u{202e}",
        "😀", "'s",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|pieces| pieces.concat())
}

pub(crate) fn readers_take_whatever_there_is() {
    let mut runner = TestRunner::new(Config { cases: 5_000, failure_persistence: None, ..Config::default() });
    let read = |text: String| {
        for bracket in ['[', '{'] {
            if let Ok(Some(found)) = literal::first(&text, bracket) {
                prop_assert!(text.is_char_boundary(found.end));
            }
        }
        for evaluation in PaperEvaluation::ALL.into_iter().filter(|it| it.is_planning()) {
            let _ = plan::read(evaluation, &[&text]);
            let _ = plan::read(evaluation, &[&text, &text]);
        }
        let _ = (answer::items(&text), statement::last_number(&text));
        let statements = [statement::in_blocks(&text), statement::in_words(&text)];
        prop_assert!(statements.into_iter().flatten().all(|found| text.contains(found)));
        prop_assert!(words::words(&text).iter().all(|word| !word.is_empty()));
        Ok(())
    };
    runner.run(&texts(), read).unwrap();
}

pub(crate) fn every_answer_has_a_verdict() {
    let cases = Tptu::new().load(None, &CaseSelection::First, None).unwrap();
    let mut runner = TestRunner::new(Config { cases: 500, failure_persistence: None, ..Config::default() });
    let strategy = (prop::sample::select(cases), texts());
    let judge = |(case, text): (std::sync::Arc<dyn Case>, String)| {
        let verdict = case.judge(&parse(&format!("answer {}", json!(text))).unwrap()).unwrap();
        prop_assert!(!case.explain(&verdict).gist.contains('\n'));
        Ok(())
    };
    runner.run(&strategy, judge).unwrap();
}

/// Texts out of what means something in sub-tasks.
fn sub_tasks() -> impl Strategy<Value = String> {
    let pieces = [
        "the",
        "square root of",
        "multiply",
        "divide",
        "by",
        "from",
        "subtract",
        "add",
        "sum of",
        "1",
        "20",
        "2.5",
        "forty",
        "one hundred",
        "second",
        "first",
        "...",
        "+",
        "*",
        "/",
        "^",
        "(",
        ")",
        ",",
        "%",
        "per cent of",
        "!",
        "log",
        "base",
        "x",
        "=",
        "n",
        "for",
        "in range(1, 21)",
        "people",
        "women",
        "older than",
        "not",
        "no",
        "result",
        "step 1",
        "it",
        "convert",
        "degrees",
        "Celsius",
        "to",
        "and",
        "then",
        "count",
        "average",
        "most",
        "SELECT",
        "name",
        "Kodo",
        "2^",
        "-",
        "999999999999999999999",
        "0",
        "factorial",
        "gcd of",
        "between",
        "trailing zeros",
        "\u{e9}",
        "'s",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|pieces| pieces.join(" "))
}

pub(crate) fn every_sub_task_has_a_verdict() {
    let questions = own().unwrap();
    let planned = questions.into_iter().filter(|it| it.evaluations.iter().any(|it| it.is_planning()));
    let mut runner = TestRunner::new(Config { cases: 2_000, failure_persistence: None, ..Config::default() });
    let strategy = (prop::sample::select(planned.collect::<Vec<_>>()), sub_tasks());
    let judge = |(question, text): (planproof_tptu::ToolQuestion, String)| {
        let step = |step: &planproof_tptu::GoldStep| PlannedStep {
            tool: step.tool.title().to_owned(),
            subtask: Some(text.clone()),
            returned: None,
        };
        let plan: Vec<PlannedStep> = question.plan.iter().take(1).map(step).collect();
        let right = RightPlan::of(&question).unwrap();
        let compared = plan::judge(&plan, &right).unwrap();
        prop_assert_eq!(&compared, &plan::judge(&plan, &right).unwrap());
        prop_assert_eq!(compared.by_words, vec![1]);
        Ok(())
    };
    runner.run(&strategy, judge).unwrap();
}
