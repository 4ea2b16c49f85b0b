use std::collections::BTreeMap;

use planproof_sim::SimKind;
use planproof_spec::{MonitorOutcome, SHIPPED};
use planproof_synth::{Flag, OrderClass, SynthesisOptions, TimeOptions};

use super::harness::{How, Run, Way, compiled, run};
use crate::cases;

fn basic() -> SynthesisOptions {
    SynthesisOptions { actions_max: 6, ..SynthesisOptions::default() }
}

fn timed() -> SynthesisOptions {
    SynthesisOptions { time: Some(TimeOptions::default()), ..basic() }
}

/// Agents that call tools. The last one makes all calls before it sees a result.
const CALLING: [&str; 4] = ["react", "pass", "reflexion", "rewoo"];

#[tokio::test]
async fn a_perfect_model_needs_no_correction_and_calls_rightly() {
    for (name, _) in SHIPPED {
        let automaton = compiled(name);
        for (options, count) in [(basic(), 8), (timed(), 4)] {
            let can_pass = CALLING.contains(&name) && (options.time.is_none() || name != "rewoo");
            for case in cases(options, count).iter() {
                for (number, way) in Way::ALL.into_iter().enumerate() {
                    for stops in [false, true] {
                        let output_tokens_max = [None, Some(30), None][number];
                        let how = How { way, stops, output_tokens_max, ..How::PLAIN };
                        let Run { text, outcome, corrections, verdict, .. } =
                            run(case, SimKind::Perfect, &automaton, how).await;
                        assert_eq!(
                            (outcome, corrections),
                            (MonitorOutcome::Finished, 0),
                            "{name}, {how:?}: {text}"
                        );
                        assert!(verdict.passed == can_pass || name == "rewoo", "{name}, {how:?}: {text}");
                    }
                }
            }
        }
    }
}

async fn classes(name: &str, kind: SimKind, options: SynthesisOptions) -> BTreeMap<OrderClass, usize> {
    let automaton = compiled(name);
    let mut classes = BTreeMap::new();
    for case in cases(options, 40).iter() {
        let run = run(case, kind, &automaton, How::PLAIN).await;
        if let Some(class) = run.verdict.class {
            *classes.entry(class).or_default() += 1;
        }
    }
    classes
}

#[tokio::test]
async fn each_kind_fails_in_its_own_way_in_text() {
    for name in CALLING {
        for (kind, expected) in [
            (SimKind::InOrder, Some(OrderClass::OrderError)),
            (SimKind::Forgetful, Some(OrderClass::ActionLost)),
            (SimKind::Careless, Some(OrderClass::OrderError)),
        ] {
            let classes: Vec<OrderClass> = classes(name, kind, basic()).await.into_keys().collect();
            assert_eq!(classes, expected.into_iter().collect::<Vec<_>>(), "{name}, {kind:?}");
        }
    }
    for kind in [SimKind::InOrder, SimKind::Careless] {
        let classes: Vec<OrderClass> = classes("react", kind, timed()).await.into_keys().collect();
        assert_eq!(classes, [OrderClass::OrderError], "{kind:?}");
    }
}

#[tokio::test]
#[ignore = "slow"]
async fn an_endless_model_goes_on_until_it_is_stopped() {
    for name in CALLING {
        for options in [basic(), timed()] {
            let case = &cases(options, 1)[0];
            let run = run(case, SimKind::Endless, &compiled(name), How::PLAIN).await;
            assert!(run.calls.len() > 100, "{name}: {} calls", run.calls.len());
            // It is cut off in the middle of its plan, or the environment never gets to write.
            assert_ne!(run.outcome, MonitorOutcome::Finished, "{name}");
        }
    }
}

#[tokio::test]
async fn a_clumsy_model_is_corrected_or_given_up() {
    for name in CALLING {
        let (mut corrected, mut finished, mut given_up) = (0, 0, 0);
        for case in cases(basic(), 80).iter() {
            let run = run(case, SimKind::Clumsy, &compiled(name), How::PLAIN).await;
            corrected += usize::from(run.corrections > 0 && run.outcome == MonitorOutcome::Finished);
            finished += usize::from(run.outcome == MonitorOutcome::Finished);
            given_up += usize::from(matches!(run.outcome, MonitorOutcome::Failed(_)));
            // Nobody calls a tool that does not exist, and nobody does a task twice.
            let flags = &run.verdict.flags;
            assert!(!flags.contains(&Flag::Class(OrderClass::ActError)), "{name}: {}", run.text);
            assert!(!flags.contains(&Flag::Class(OrderClass::Repeated)), "{name}: {}", run.text);
            assert_eq!(run.verdict.passed, run.outcome == MonitorOutcome::Finished, "{name}: {}", run.text);
        }
        assert!(corrected > 5 && given_up > 2, "{name}: {corrected} corrected, {given_up} given up");
        assert_eq!(finished + given_up, 80);
    }
}

#[tokio::test]
async fn pass_groups_what_may_come_in_any_order() {
    let automaton = compiled("pass");
    let mut groups = 0;
    for case in cases(basic(), 40).iter() {
        let perfect = run(case, SimKind::Perfect, &automaton, How::PLAIN).await;
        groups += perfect.text.matches("in any order").count();
        let in_order = run(case, SimKind::InOrder, &automaton, How::PLAIN).await;
        assert_eq!(in_order.text.matches("[Summary]").count(), in_order.calls.len());
    }
    assert!(groups > 5, "{groups} groups");
}

/// What models and people read, with one case of each form.
#[tokio::test]
async fn texts_read_well() {
    let mut texts = String::new();
    for (name, kind, options) in [
        ("react", SimKind::Perfect, basic()),
        ("pass", SimKind::Perfect, basic()),
        ("rewoo", SimKind::Perfect, basic()),
        ("reflexion", SimKind::Forgetful, basic()),
        ("direct", SimKind::Perfect, basic()),
        ("cot", SimKind::Perfect, timed()),
        ("react", SimKind::Perfect, timed()),
    ] {
        let case = &cases(options, 2)[1];
        let run = run(case, kind, &compiled(name), How::PLAIN).await;
        let question_end = run.text.find("\n[").unwrap_or_default();
        texts.push_str(&format!("{name}@sim/{}{}\n\n", kind.as_str(), &run.text[question_end..]));
    }
    insta::assert_snapshot!(texts);
}
