//! Whatever text there may be.

use planproof_suite::{Case, CaseSelection, Suite};
use planproof_tptu::evaluation::PaperEvaluation;
use planproof_tptu::{Tptu, answer, literal, plan, statement, words};
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
