//! Agents with a simulated model that is handed the answers, on questions about our own pages.

use std::path::Path;
use std::sync::Arc;

use planproof_qa::questions::{Benchmark, QuestionDetail, Questions, own};
use planproof_suite::{Case, CaseSelection, Class, Data, Suite};
use serde_json::json;

use super::{agents, gold, run};

#[tokio::test]
async fn agents_with_the_key_answer_our_own_questions() {
    for benchmark in [Benchmark::HotpotQa, Benchmark::TriviaQa] {
        let questions = own(benchmark).unwrap();
        for (name, agent) in agents(&gold(questions.iter().map(|it| it as &dyn Case), 0.0)) {
            for question in &questions {
                let events = run(&*agent, question).await;
                let verdict = question.judge(&events).unwrap();
                let detail = QuestionDetail::of(&verdict).unwrap();
                assert!(verdict.passed() && detail.paper, "{name}: {}: {detail:?}", question.id());
                let is_caller = !name.starts_with("direct") && !name.starts_with("cot");
                let calls = if is_caller { question.card().size } else { 0 };
                assert_eq!(detail.calls_total, u64::from(calls), "{name}: {}", question.id());
                assert!(detail.calls.iter().all(|call| !call.is_error), "{name}: {detail:?}");
            }
        }
    }
}

#[tokio::test]
async fn wrong_answers_fail() {
    let questions = own(Benchmark::HotpotQa).unwrap();
    for (name, agent) in agents(&gold(questions.iter().map(|it| it as &dyn Case), 1.0)) {
        for question in &questions {
            let verdict = question.judge(&run(&*agent, question).await).unwrap();
            assert_eq!(verdict.class().map(Class::as_str), Some("wrong_answer"), "{name}");
        }
    }
}

/// The examples of docs/questions.md, read out of it: each passes with its own right answer, by either rule, and so
/// does the prediction that stands there.
#[test]
fn the_documented_examples_pass_with_their_own_answers() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/questions.md");
    let text = std::fs::read_to_string(document).unwrap();
    let blocks: Vec<&str> =
        text.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let [hotpot, trivia, ..] = blocks[..] else { panic!("{blocks:?}") };
    let (trivia, prediction) = trivia.split_once('\n').unwrap();
    for (benchmark, data, more) in
        [(Benchmark::HotpotQa, hotpot, Some(prediction)), (Benchmark::TriviaQa, trivia, None)]
    {
        let suite = Questions::new(benchmark);
        let cases =
            suite.load(Some(Data { text: data, file: "f" }), &CaseSelection::default(), None).unwrap();
        let own = json!({"id": cases[0].card().id, "prediction": cases[0].target()}).to_string();
        for rule in ["official", "paper"] {
            let suite: Arc<dyn Suite> = match suite.scored_with(&[("scoring", rule)]).unwrap() {
                Some(suite) => suite,
                None => Arc::new(suite.clone()),
            };
            for predictions in [Some(&*own), more].into_iter().flatten() {
                let scored = suite.score(&cases, Data { text: predictions, file: "p" }).unwrap();
                assert_eq!(scored.verdicts.len(), 1);
                assert!(scored.missing.is_empty() && scored.verdicts[0].passed(), "{predictions}");
            }
        }
    }
}

#[test]
fn a_question_without_a_prediction_is_missing() {
    for (benchmark, given) in
        [(Benchmark::HotpotQa, r#"{"answer":{}}"#), (Benchmark::TriviaQa, "{}"), (Benchmark::TriviaQa, "")]
    {
        let suite = Questions::new(benchmark);
        let cases = suite.load(None, &CaseSelection::default(), None).unwrap();
        let scored = suite.score(&cases, Data { text: given, file: "p" }).unwrap();
        assert_eq!(scored.missing.len(), cases.len());
        for (case, verdict) in cases.iter().zip(&scored.verdicts) {
            assert_eq!(verdict.class().map(Class::as_str), Some("missing"));
            assert_eq!(case.explain(verdict).gist, "there is no prediction for it");
        }
    }
}
