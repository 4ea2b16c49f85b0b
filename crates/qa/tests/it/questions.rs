//! Agents with a simulated model that is handed the answers, on questions about our own pages.

use planproof_qa::questions::{Benchmark, QuestionDetail, own};
use planproof_suite::{Case, Class};

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
