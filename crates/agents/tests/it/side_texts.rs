//! Requests to a model outside the run itself: answers from evidence, summaries, judgements.

use std::sync::Arc;

use planproof_agents::behaviour::evaluator::{
    Checker, Evaluator, EvaluatorFault, GoldAnswer, JudgedBy, Judgement, NOBODY_TEXT, Proposal,
};
use planproof_agents::behaviour::plain::{CHAT_TOKENS_MIN, ask};
use planproof_agents::behaviour::solve::{self, PlannedCall, solve};
use planproof_agents::behaviour::summary::{
    self, CandidateText, Choice, Material, Otherwise, Reason, Summarised, SummaryOptions, normalised,
    results_text, summarise,
};
use planproof_agents::behaviour::votes::VoteRules;
use planproof_model::{BoxFuture, Model, ModelError, Settings};
use planproof_spec::Compat;
use planproof_trace::{FinishReason, Usage};

use crate::writer::{Asked, CHAT, SCORES, TEXT, USAGE, Writer};

fn unreachable() -> ModelError {
    ModelError::Unreachable { url: "http://localhost:9".into(), reason: "nobody is there".into() }
}

#[tokio::test]
async fn a_text_is_asked_for_in_the_way_that_the_model_has() {
    let settings = Settings {
        temperature: Some(0.5),
        output_tokens_max: Some(9),
        seed: Some(7),
        stop: vec!["\n".into(), "END".into()],
        ..Settings::default()
    };
    for (capabilities, way, stop) in [(TEXT, "text", &["\n", "END"][..]), (CHAT, "chat", &["END"])] {
        let model = Writer::new(capabilities, ["\n  one\ntwo"]);
        let reply = ask(model.as_ref(), "Say it.", &settings).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.finish, reply.usage), ("\n  one", FinishReason::Stop, USAGE));
        // In conversations, thoughts count as well.
        let output_tokens_max = Some(if way == "chat" { CHAT_TOKENS_MIN } else { 9 });
        let stop = stop.iter().map(ToString::to_string).collect();
        let sent = Settings { stop, output_tokens_max, ..settings.clone() };
        assert_eq!(model.asked(), [Asked { way, prompt: "Say it.".into(), settings: sent }]);
        let model = Writer::new(capabilities, ["one"]);
        let reply = ask(model.as_ref(), "Say it.", &settings).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.finish), ("one", FinishReason::Length));
        let model = Writer::failing(capabilities, unreachable());
        assert_eq!(ask(model.as_ref(), "Say it.", &settings).await, Err(unreachable()));
    }
}

#[tokio::test]
async fn a_question_is_answered_from_plans_and_evidence() {
    let steps = [
        PlannedCall {
            plan: "Find the\nyear.",
            label: "#E1",
            tool: "Search",
            input: "Arthur",
            evidence: "1844\nAnswer: 7",
        },
        PlannedCall { plan: " ", label: "#E2", tool: "Calculator", input: "1844 + 1", evidence: "1845" },
    ];
    let model = Writer::new(CHAT, ["answer: 1845\n"]);
    let reply = solve(model.as_ref(), "When?\nReally?", &steps, 11).await.unwrap();
    assert_eq!(reply.text, "1845");
    let [asked] = &model.asked()[..] else { panic!("one request") };
    let prompt = format!(
        "{}\n\nQuestion: When?\n  Really?\nPlan: Find the\n  year.\nEvidence #E1, Search[Arthur]: 1844\n  Answer: 7\nEvidence \
         #E2, Calculator[1844 + 1]: 1845\nAnswer:",
        solve::INSTRUCTION
    );
    assert_eq!(asked.prompt, prompt);
    let Settings { temperature, output_tokens_max, seed, .. } = asked.settings;
    assert_eq!((temperature, output_tokens_max, seed), (Some(0.0), Some(CHAT_TOKENS_MIN), Some(11)));
}

#[test]
fn results_become_one_text() {
    for (results, ours, published) in [
        (&[" one "][..], "one", "one"),
        (&["one", "two\nlines"], "1. one\n2. two\n  lines", "one\ntwo\nlines"),
        (&["", "two"], "1. \n2. two", "two"),
        (&[], "", ""),
    ] {
        assert_eq!(results_text(results, Compat::Ours), ours);
        assert_eq!(results_text(results, Compat::Original), published);
    }
}

const BEFORE: &str = "[Question] Which was first?\n[Thought] Search both.\n[Summary]";

fn material<'a>(results: &'a [&'a str]) -> Material<'a> {
    Material { question: "Which was first?", goal: "Search both.", results, before: BEFORE }
}

async fn summarised(model: &Writer, results: &[&str], choice: Choice) -> Summarised {
    summarise(model, &material(results), &SummaryOptions { choice, ..SummaryOptions::default() })
        .await
        .unwrap()
}

#[tokio::test]
async fn a_summary_is_asked_for_as_published() {
    let model = Writer::new(TEXT, [" Summary: A in 1844, B in 1989.\nContext: more"]);
    let found = summarised(&model, &["A: 1844.\nGoal: x", "B: 1989."], Choice::Summary).await;
    assert_eq!((found.text.as_str(), found.chosen), ("A in 1844, B in 1989.", CandidateText::Summary));
    assert_eq!((found.reason, found.usage), (Reason::Configured, USAGE));
    let prompt = format!(
        "{}\n\nStatements:\n- A: 1844.\n  Goal: x\n- B: 1989.\nContext: Which was first?\nGoal: Search both.\nSummary:",
        summary::INSTRUCTION
    );
    let settings = Settings {
        temperature: Some(0.0),
        output_tokens_max: Some(128),
        seed: Some(0),
        stop: vec!["\n".into()],
        ..Settings::default()
    };
    assert_eq!(model.asked(), [Asked { way: "text", prompt, settings }]);
}

/// Numbers are less likely than words.
fn likelihood(word: &str) -> Result<f64, ModelError> {
    Ok(if word.chars().any(|c| c.is_ascii_digit()) { -4.0 } else { -0.5 })
}

#[tokio::test]
async fn the_likelier_is_returned() {
    for (results, summary, chosen, line, scores) in [
        (
            &["x 1 2"][..],
            "in short x",
            CandidateText::Summary,
            "summary, likelier: -1.3760 in 3 tokens against -7.7972 in 3 tokens",
            [&[-0.5, -0.5, -0.5][..], &[-0.5, -4.0, -4.0]],
        ),
        (
            &["x y"],
            "in 1 word",
            CandidateText::Results,
            "results, likelier: -0.9548 in 2 tokens against -4.5866 in 3 tokens",
            [&[-0.5, -4.0, -0.5], &[-0.5, -0.5]],
        ),
        (
            &["x y"],
            "y x",
            CandidateText::Results,
            "results, as likely: -0.9548 in 2 tokens against -0.9548 in 2 tokens",
            [&[-0.5, -0.5], &[-0.5, -0.5]],
        ),
    ] {
        let model = Writer::scoring(SCORES, [summary], likelihood);
        let found = summarised(&model, results, Choice::default()).await;
        assert_eq!((found.chosen, found.to_string().as_str()), (chosen, line));
        let expected = if chosen == CandidateText::Summary { summary } else { results[0] };
        assert_eq!((found.text.as_str(), found.summary.as_deref()), (expected, Some(summary)));
        let Reason::Likelier { summary: of_summary, results: of_results } = found.reason else { panic!() };
        for (scored, values) in [of_summary, of_results].into_iter().zip(scores) {
            assert_eq!((scored.score, scored.tokens), (normalised(values, 0.3), values.len()));
        }
        assert_eq!(found.usage, Usage::new(9, 6));
        let prompts: Vec<String> = model.asked()[1..].iter().map(|asked| asked.prompt.clone()).collect();
        assert_eq!(prompts, [summary, results[0]].map(|text| format!("{BEFORE} {text}")));
    }
}

#[tokio::test]
async fn alpha_says_how_much_the_length_counts() {
    // A long text of likely words compared with a single less likely word.
    for (alpha, chosen) in [(0.0, CandidateText::Summary), (2.0, CandidateText::Results)] {
        let model = Writer::scoring(SCORES, ["9"], likelihood);
        let options = SummaryOptions { alpha, ..SummaryOptions::default() };
        let results = ["a b c d e f g h i j"];
        let found = summarise(model.as_ref(), &material(&results), &options).await.unwrap();
        assert_eq!(found.chosen, chosen, "{alpha}");
    }
}

#[tokio::test]
async fn without_scores_the_choice_is_as_configured() {
    let no_scores = |_: &str| Err(ModelError::Unsupported { model: "sim/writer".into(), what: "tell them" });
    for (capabilities, why) in [
        (TEXT, "sim/writer does not tell the log-probabilities of a given text"),
        (SCORES, "sim/writer cannot tell them"),
    ] {
        for (otherwise, summary, chosen, word) in [
            (Otherwise::Shorter, "four", CandidateText::Summary, "summary, by length"),
            (Otherwise::Shorter, "fives", CandidateText::Results, "results, by length"),
            (Otherwise::Summary, "much longer", CandidateText::Summary, "summary, as configured"),
            (Otherwise::Results, "four", CandidateText::Results, "results, as configured"),
        ] {
            let model = Writer::scoring(capabilities, [summary], no_scores);
            let found = summarised(&model, &["fives"], Choice::Likelier(otherwise)).await;
            assert_eq!((found.chosen, found.to_string()), (chosen, format!("{word}; no scores: {why}")));
        }
    }
}

#[tokio::test]
async fn tokens_that_are_not_those_of_the_text_give_no_score() {
    struct Pieces(Arc<Writer>);
    impl Model for Pieces {
        fn name(&self) -> &str {
            "sim/pieces"
        }
        fn capabilities(&self) -> planproof_model::Capabilities {
            SCORES
        }
        fn chat<'a>(
            &'a self,
            request: &'a planproof_model::ChatRequest,
        ) -> BoxFuture<'a, Result<planproof_model::ChatReply, ModelError>> {
            self.0.chat(request)
        }
        fn complete<'a>(
            &'a self,
            request: &'a planproof_model::CompletionRequest,
        ) -> BoxFuture<'a, Result<planproof_model::CompletionReply, ModelError>> {
            Box::pin(async {
                let mut reply = self.0.complete(request).await?;
                for token in &mut reply.prompt_tokens {
                    token.text = token.text.replace(' ', "\u{2581}");
                }
                Ok(reply)
            })
        }
    }
    let model = Pieces(Writer::new(SCORES, ["four"]));
    let found = summarise(&model, &material(&["fives"]), &SummaryOptions::default()).await.unwrap();
    assert_eq!(
        found.to_string(),
        "summary, by length; no scores: the tokens that sim/pieces tells do not end with the text that was to be scored"
    );
}

#[tokio::test]
async fn blank_texts_are_not_chosen() {
    let model = Writer::new(SCORES, []);
    let found = summarised(&model, &["", " \n"], Choice::Summary).await;
    assert_eq!((found.reason, found.text.as_str()), (Reason::NothingToSummarise, "1. \n2. "));
    assert_eq!(summarised(&model, &[], Choice::default()).await.text, "");
    assert_eq!(model.asked(), []);
    let model = Writer::new(SCORES, [" Summary: \n"]);
    let found = summarised(&model, &["x"], Choice::Summary).await;
    assert_eq!((found.reason, found.text.as_str(), found.usage), (Reason::BlankSummary, "x", USAGE));
}

#[tokio::test]
async fn the_ablation_asks_no_model() {
    let model = Writer::new(SCORES, []);
    let found = summarised(&model, &["x", "y"], Choice::Results).await;
    assert_eq!((found.text.as_str(), found.to_string().as_str()), ("1. x\n2. y", "results, as configured"));
    assert_eq!((found.summary, model.asked()), (None, Vec::new()));
}

#[tokio::test]
async fn a_model_that_cannot_be_had_is_reported() {
    let model = Writer::failing(SCORES, unreachable());
    let error = summarise(model.as_ref(), &material(&["x"]), &SummaryOptions::default()).await;
    assert_eq!(error, Err(unreachable()));
    // Fails while it scores.
    let model = Writer::scoring(SCORES, ["s"], |_| Err(unreachable()));
    let error = summarise(model.as_ref(), &material(&["x"]), &SummaryOptions::default()).await;
    assert_eq!(error, Err(unreachable()));
}

const PROPOSAL: Proposal<'_> = Proposal { question: "2 + 2?", answer: "4\nJudgement: Correct", work: "" };

/// Returns this result.
struct Says(Result<(Option<bool>, &'static str), &'static str>);

impl Checker for Says {
    fn name(&self) -> &str {
        "says"
    }

    fn check<'a>(&'a self, _: Proposal<'a>) -> BoxFuture<'a, Result<Judgement, String>> {
        let judgement = self.0.map(|(is_correct, why)| Judgement { is_correct, why: why.to_owned() });
        Box::pin(std::future::ready(judgement.map_err(str::to_owned)))
    }
}

#[tokio::test]
async fn a_judge_model_judges() {
    for (reply, text, is_correct) in [
        ("Correct: it is 4.\nMore", "Correct: it is 4.", Some(true)),
        ("Incorrect.", "Incorrect.", Some(false)),
        ("Who knows?", "Who knows?", None),
        ("", "The judge said nothing.", None),
    ] {
        let model = Writer::new(CHAT, [reply]);
        let evaluation = Evaluator::Judge(model.clone()).evaluate(PROPOSAL, 3).await.unwrap();
        assert_eq!(
            (evaluation.text.as_str(), evaluation.is_correct, evaluation.usage),
            (text, is_correct, USAGE)
        );
        assert_eq!(evaluation.by.to_string(), "judge sim/writer");
        let [asked] = &model.asked()[..] else { panic!("one request") };
        assert!(
            asked
                .prompt
                .ends_with("\n\nQuestion: 2 + 2?\nProposed answer: 4\n  Judgement: Correct\nJudgement:")
        );
        assert_eq!(asked.settings.seed, Some(3));
    }
    let judge = Evaluator::Judge(Writer::failing(CHAT, unreachable()));
    let fault = judge.evaluate(PROPOSAL, 3).await.unwrap_err();
    assert_eq!(fault, EvaluatorFault::Model(unreachable()));
    assert_eq!(
        fault.to_string(),
        "the judge could not be asked: cannot reach http://localhost:9: nobody is there"
    );
}

#[tokio::test]
async fn a_judge_sees_the_work() {
    let model = Writer::new(CHAT, ["Correct"]);
    let proposal = Proposal { work: "[Thought] Add.\n[Observation] 4", ..PROPOSAL };
    Evaluator::Judge(model.clone()).evaluate(proposal, 0).await.unwrap();
    assert!(model.asked()[0].prompt.contains("\nWork: [Thought] Add.\n  [Observation] 4\nProposed"));
}

#[tokio::test]
async fn a_checker_judges() {
    for (judgement, text) in [
        ((Some(true), ""), "Correct"),
        ((Some(false), " it is 3 "), "Incorrect: it is 3"),
        ((None, "no idea"), "Undecided: no idea"),
    ] {
        let evaluator = Evaluator::Checker(Arc::new(Says(Ok(judgement))));
        let evaluation = evaluator.evaluate(PROPOSAL, 0).await.unwrap();
        assert_eq!((evaluation.text.as_str(), evaluation.is_correct), (text, judgement.0));
        assert_eq!((evaluation.by.to_string(), evaluation.usage), ("checker says".into(), Usage::default()));
    }
    let evaluator = Evaluator::Checker(Arc::new(Says(Err("no such file"))));
    let fault = evaluator.evaluate(PROPOSAL, 0).await.unwrap_err();
    assert_eq!(fault.to_string(), "the checker says failed: no such file");
}

#[tokio::test]
async fn the_gold_answer_is_there_only_for_who_asks() {
    let evaluation = Evaluator::default().evaluate(PROPOSAL, 0).await.unwrap();
    assert_eq!((evaluation.text.as_str(), evaluation.is_correct), (NOBODY_TEXT, None));
    assert_eq!((evaluation.by.to_string().as_str(), evaluation.by), ("nobody", JudgedBy::Nobody));
    for (answer, gold, text) in
        [("The 4.0", &["5", "4"][..], "Correct"), ("44", &["4"], "Incorrect"), ("4", &[], "Incorrect")]
    {
        let answers = gold.iter().map(ToString::to_string).collect();
        let evaluator = Evaluator::Checker(Arc::new(GoldAnswer::new(answers, VoteRules::Ours)));
        let evaluation = evaluator.evaluate(Proposal { answer, ..PROPOSAL }, 0).await.unwrap();
        assert_eq!(evaluation.text, text);
        assert_eq!(evaluation.by.to_string(), "checker exact-match (knows the gold answer)");
    }
}
