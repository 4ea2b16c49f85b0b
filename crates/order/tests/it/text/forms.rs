//! The text form and the tool-calling form are one model; a text may be cut anywhere.

use std::sync::Arc;

use planproof_model::{Capabilities, ChatRequest, CompletionRequest, Message, Model, ModelError, Settings};
use planproof_order::mock_tools;
use planproof_sim::{SimKind, SimModel};
use planproof_spec::{Monitor, MonitorOptions, SHIPPED};
use planproof_synth::{CaseTool, PlanningCase, SynthesisOptions, TimeOptions};
use planproof_tools::SchemaCache;
use planproof_trace::{FinishReason, ToolCall};

use super::harness::{How, Way, compiled, continuation, run, told};
use crate::cases;

const KINDS: [SimKind; 4] = [SimKind::Perfect, SimKind::InOrder, SimKind::Forgetful, SimKind::Careless];

fn both_forms() -> [SynthesisOptions; 2] {
    let basic = SynthesisOptions { actions_max: 6, ..SynthesisOptions::default() };
    [basic.clone(), SynthesisOptions { time: Some(TimeOptions::default()), ..basic }]
}

/// The calls of a run in the tool-calling form.
async fn calls_with_tools(case: &PlanningCase, kind: SimKind) -> Vec<ToolCall> {
    let mocks = mock_tools(case, &SchemaCache::default()).expect("the tools can be made");
    let model = SimModel::new(kind);
    let mut request = ChatRequest {
        messages: vec![Message::User { text: case.query.clone() }],
        previous: None,
        tools: case.tools.iter().map(CaseTool::to_tool).collect(),
        settings: Settings { seed: Some(How::PLAIN.seed), ..Settings::default() },
    };
    let mut made = Vec::new();
    loop {
        let reply = model.chat(&request).await.expect("a simulation always answers");
        let Some(call) = reply.calls.first().cloned() else { return made };
        let text = mocks.answer(&call).text;
        request.messages.push(Message::assistant(String::new(), reply.calls));
        request.messages.push(Message::Tool { id: call.id.clone(), text });
        made.push(call);
    }
}

#[tokio::test]
#[ignore = "slow"]
async fn calls_are_the_same_in_both_forms() {
    for options in both_forms() {
        for case in cases(options, 25).iter() {
            for kind in KINDS {
                let expected = calls_with_tools(case, kind).await;
                for (name, way) in
                    [("react", Way::Text), ("reflexion", Way::Chat), ("pass", Way::PartialTurn)]
                {
                    let run = run(case, kind, &compiled(name), How { way, ..How::PLAIN }).await;
                    let plain = |calls: &[ToolCall]| -> Vec<_> {
                        calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect()
                    };
                    assert_eq!(plain(&run.calls), plain(&expected), "{name}, {kind:?}: {}", run.text);
                }
            }
        }
    }
}

/// What a model writes from the question on, and after each cut the rest of it.
#[tokio::test]
#[ignore = "slow"]
async fn a_text_may_be_cut_anywhere() {
    let settings = Settings { seed: Some(1), ..Settings::default() };
    for options in both_forms() {
        let case = &cases(options, 4)[3];
        let tools: Vec<_> = case.tools.iter().map(CaseTool::to_tool).collect();
        for (name, _) in SHIPPED {
            let automaton = compiled(name);
            let mut monitor = Monitor::new(Arc::clone(&automaton), MonitorOptions::default());
            monitor.question(&case.query);
            for kind in [SimKind::Perfect, SimKind::Careless] {
                let model = SimModel::new(kind);
                // The first stretch, and one after the environment has written.
                let mut text = monitor.text().to_owned();
                for stretch in 0..2 {
                    let end = monitor.question_end();
                    let instructions = told(&automaton, &tools, Way::Text);
                    let (whole, _) =
                        continuation(&model, &instructions, &text, end, &settings, Way::Text).await;
                    // Where the environment wrote the answer, nothing is left.
                    assert!(stretch > 0 || !whole.is_empty());
                    // After its mark the environment is to write.
                    let is_over = !whole.ends_with(']');
                    let cuts = 0..whole.len() + usize::from(is_over);
                    for cut in cuts.filter(|cut| whole.is_char_boundary(*cut)) {
                        let begun = format!("{text}{}", &whole[..cut]);
                        for way in [Way::Text, Way::PartialTurn] {
                            let instructions = told(&automaton, &tools, way);
                            let (rest, finish) =
                                continuation(&model, &instructions, &begun, end, &settings, way).await;
                            assert_eq!(rest, whole[cut..], "{name}, {kind:?}, {way:?}: {begun}");
                            assert_eq!(finish, FinishReason::Stop);
                        }
                    }
                    text.push_str(&whole);
                    text.push_str(" The task \"x\" is done. It took 20 minutes.\n");
                    if is_over {
                        break;
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn plain_texts_are_scored_and_counted() {
    let model = SimModel::new(SimKind::Perfect);
    let mut request = CompletionRequest {
        prompt: "Judge whether it is \u{e9}.".into(),
        settings: Settings { output_tokens_max: Some(0), ..Settings::default() },
        score_prompt: true,
    };
    let reply = model.complete(&request).await.expect("a simulation always answers");
    assert_eq!((reply.text.as_str(), reply.finish), ("", FinishReason::Length));
    assert_eq!(reply.prompt_tokens.len() as u64, reply.usage.input_tokens);
    assert_eq!(reply.usage.output_tokens, 0);
    let spelt: String = reply.prompt_tokens.iter().map(|token| token.text.as_str()).collect();
    assert_eq!(spelt, request.prompt);

    request.settings.output_tokens_max = None;
    request.score_prompt = false;
    let reply = model.complete(&request).await.expect("a simulation always answers");
    assert!(reply.text.starts_with("Correct") && reply.prompt_tokens.is_empty());
    assert_eq!(reply.usage.output_tokens, reply.text.len().div_ceil(4) as u64);

    request.prompt = "Why?".into();
    let reply = model.complete(&request).await.expect("a simulation always answers");
    assert!(reply.text.contains("no tasks"), "{}", reply.text);
}

#[tokio::test]
async fn a_model_can_do_what_it_says() {
    let capabilities = Capabilities { tool_calls: true, ..Capabilities::default() };
    let model = SimModel::with_capabilities(SimKind::Perfect, capabilities);
    assert_eq!(model.capabilities(), capabilities);
    let request =
        CompletionRequest { prompt: "a".into(), settings: Settings::default(), score_prompt: false };
    assert!(matches!(model.complete(&request).await, Err(ModelError::Unsupported { .. })));
}

/// Shipped examples are about nothing that is tested, and use no phrase that states an order.
#[test]
fn shipped_examples_give_nothing_away() {
    let directions = include_str!("../../../../synth/data/directions.json");
    let directions: serde_json::Value = serde_json::from_str(directions).expect("it is JSON");
    // The groups of phrases, but for those that say nothing of an order.
    let groups = directions.as_object().expect("an object").iter().filter(|(name, _)| *name != "neutral");
    let phrases = groups.filter_map(|(_, group)| group.as_object()).flat_map(|group| group.keys().cloned());
    let mut phrases: Vec<String> =
        phrases.filter(|phrase| !["and", "or", "but", "to", "is"].contains(&phrase.as_str())).collect();
    assert!(phrases.len() > 50, "{phrases:?}");
    phrases.extend(["before", "after", "until", "first", "then", "last", "next", "order"].map(str::to_owned));
    let bank = planproof_synth::TopicBank::shipped();
    let activities = bank.topics().iter().flat_map(|topic| &topic.activities);
    phrases.extend(activities.map(|activity| activity.text.to_lowercase()));
    let mut seen = 0;
    for (name, _) in SHIPPED {
        for section in compiled(name).spec().examples.iter().flat_map(|example| &example.sections) {
            let words = |text: &str| -> Vec<String> {
                let words = text.to_lowercase();
                words
                    .split(|c: char| !c.is_alphanumeric())
                    .filter(|word| !word.is_empty())
                    .map(str::to_owned)
                    .collect()
            };
            let content = format!(" {} ", words(&section.content.value).join(" "));
            for phrase in &phrases {
                let phrase_words = words(phrase).join(" ");
                assert!(!content.contains(&format!(" {phrase_words} ")), "{name}: {phrase:?} in {content:?}");
            }
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}

/// A plain question is answered with the plan, as an order without calls is, whether tools are shown or not.
#[tokio::test]
async fn a_plain_question_is_answered_with_the_plan() {
    for case in cases(SynthesisOptions { actions_max: 6, ..SynthesisOptions::default() }, 10).iter() {
        let model = SimModel::new(SimKind::Perfect);
        let expected = calls_with_tools(case, SimKind::Perfect).await;
        let request = ChatRequest {
            messages: vec![
                Message::System {
                    text: "Answer the question. Your whole message is taken for the answer: in short.".into(),
                },
                Message::User { text: case.query.clone() },
            ],
            previous: None,
            tools: Arc::from([]),
            settings: Settings { seed: Some(How::PLAIN.seed), ..Settings::default() },
        };
        let reply = model.chat(&request).await.expect("a simulation always answers");
        assert!(reply.text.starts_with("The plan: "), "{}", reply.text);
        assert_eq!(reply.text.matches(',').count() + 1, expected.len(), "{}", reply.text);
        let run = run(case, SimKind::Perfect, &compiled("direct"), How::PLAIN).await;
        assert!(run.text.contains("The plan: "), "{}", run.text);
    }
}
