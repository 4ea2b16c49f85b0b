use std::collections::BTreeMap;
use std::sync::Arc;

use planproof_model::{ChatRequest, Message, Model, Settings};
use planproof_order::OrderRun as _;
use planproof_sim::{SimKind, SimModel};
use planproof_synth::{Flag, MessageRange, OrderClass, SynthesisOptions, TimeOptions};
use planproof_trace::Tool;
use planproof_trace::faults::{FaultShares, ToolFaults};

use crate::{campaign, cases, run_typed};

/// Failures by class of a simulated model on 200 cases of 3 to 6 actions.
async fn classes(kind: SimKind) -> BTreeMap<OrderClass, usize> {
    let options = SynthesisOptions { actions_max: 6, ..SynthesisOptions::default() };
    let campaign = campaign(Arc::new(SimModel::new(kind)), cases(options, 200));
    let mut classes = BTreeMap::new();
    for outcome in run_typed(&campaign).await {
        if let Some(class) = outcome.verdict.expect("every run is scored").class {
            *classes.entry(class).or_default() += 1;
        }
    }
    classes
}

#[tokio::test]
#[ignore = "slow"]
async fn each_kind_fails_in_its_own_way() {
    for (kind, expected) in [
        (SimKind::Perfect, None),
        (SimKind::Parallel, None),
        (SimKind::InOrder, Some(OrderClass::OrderError)),
        (SimKind::Forgetful, Some(OrderClass::ActionLost)),
        (SimKind::Careless, Some(OrderClass::OrderError)),
        (SimKind::Clumsy, Some(OrderClass::ActError)),
        (SimKind::Endless, Some(OrderClass::Timeout)),
    ] {
        let classes = classes(kind).await;
        assert_eq!(
            classes.keys().copied().collect::<Vec<_>>(),
            expected.into_iter().collect::<Vec<_>>(),
            "{kind:?}"
        );
    }
    assert_eq!(classes(SimKind::Endless).await[&OrderClass::Timeout], 200);
}

/// Where tools fail, each kind that makes a mistake there fails in its class, and whoever makes none passes.
#[tokio::test]
async fn each_kind_mistakes_failing_tools_in_its_own_way() {
    let shares = FaultShares {
        transient: 0.25,
        permanent: 0.1,
        vanish: 0.03,
        empty: 0.05,
        slow: 0.05,
        delay_ms: 1,
        ..FaultShares::default()
    };
    let only =
        |transient: f64, permanent: f64| FaultShares { transient, permanent, ..FaultShares::default() };
    for (kind, shares, number, expected) in [
        (SimKind::Perfect, shares, 300, vec![]),
        (SimKind::NoRetry, only(0.25, 0.1), 80, vec![OrderClass::NoRetry]),
        (SimKind::IgnoresFailures, only(0.25, 0.1), 80, vec![OrderClass::WentOnAfterFailure]),
        (SimKind::GivesUp, only(0.25, 0.1), 80, vec![OrderClass::GaveUp]),
        (SimKind::RetriesForever, only(0.25, 0.1), 80, vec![OrderClass::RetriedForever]),
        (SimKind::InOrder, only(1.0, 0.0), 50, vec![OrderClass::OrderError]),
        // Mistakes about failures are none where nothing fails.
        (SimKind::NoRetry, only(0.0, 0.0), 50, vec![]),
        (SimKind::RetriesForever, only(0.0, 0.0), 50, vec![]),
    ] {
        let options = SynthesisOptions { actions_max: 6, distractors: 2, ..SynthesisOptions::default() };
        let mut failing = cases(options, number).to_vec();
        for case in &mut failing {
            let faults = ToolFaults::of_case(&case.id, 3, shares);
            case.faults = Some(faults).filter(|faults| !faults.is_nothing());
        }
        let campaign = campaign(Arc::new(SimModel::new(kind)), failing);
        let mut classes = BTreeMap::new();
        for outcome in run_typed(&campaign).await {
            if let Some(class) = outcome.verdict.expect("every run is scored").class {
                *classes.entry(class).or_insert(0) += 1;
            }
        }
        assert_eq!(classes.keys().copied().collect::<Vec<_>>(), expected, "{kind:?} {shares} {classes:?}");
    }
}

/// The same in the time form, where a clumsy model fails in more than one way.
#[tokio::test]
#[ignore = "slow"]
async fn each_kind_fails_in_its_own_way_in_time() {
    for (kind, expected) in [
        (SimKind::Perfect, vec![]),
        (SimKind::Parallel, vec![]),
        // Whoever waits for one clock time may be too late for the next.
        (SimKind::InOrder, vec![OrderClass::ActionLost, OrderClass::OrderError]),
        (SimKind::Forgetful, vec![OrderClass::ActionLost]),
        (SimKind::Careless, vec![OrderClass::OrderError]),
        (SimKind::Clumsy, vec![OrderClass::ActError, OrderClass::ActionLost, OrderClass::ParameterError]),
        (SimKind::Endless, vec![OrderClass::Timeout]),
    ] {
        let time = Some(TimeOptions::default());
        let options = SynthesisOptions { actions_max: 6, time, ..SynthesisOptions::default() };
        let campaign = campaign(Arc::new(SimModel::new(kind)), cases(options, 150));
        let mut classes = BTreeMap::new();
        for outcome in run_typed(&campaign).await {
            let verdict = outcome.verdict.expect("every run is scored");
            let restarts = verdict.time.as_ref().expect("it is of the time form").restarts as usize;
            // A model that plans never needs more restarts than there are actions.
            assert_eq!(verdict.flags.contains(&Flag::RestartLimit), kind == SimKind::Endless);
            assert!(restarts <= 6);
            if let Some(class) = verdict.class {
                *classes.entry(class).or_insert(0) += 1;
            }
        }
        assert_eq!(classes.into_keys().collect::<Vec<_>>(), expected, "{kind:?}");
    }
}

/// Forgetting happens as often as the kind's own figures say, within four standard deviations.
#[tokio::test]
async fn mistakes_come_at_the_stated_rate() {
    let options = SynthesisOptions { actions_min: 5, actions_max: 5, ..SynthesisOptions::default() };
    let campaign = campaign(Arc::new(SimModel::new(SimKind::Forgetful)), cases(options, 2000));
    let outcomes = run_typed(&campaign).await;
    let failed = outcomes.iter().filter(|outcome| outcome.passed() == Some(false)).count() as f64;
    let rate = 1.0 - (1.0 - SimKind::Forgetful.mistake_chance(5)).powi(5);
    let spread = (rate * (1.0 - rate) / 2000.0).sqrt();
    assert!((failed / 2000.0 - rate).abs() < 4.0 * spread, "{failed} of 2000, expected {rate}");
}

#[tokio::test]
async fn a_clumsy_model_sometimes_recovers() {
    let campaign =
        campaign(Arc::new(SimModel::new(SimKind::Clumsy)), cases(SynthesisOptions::default(), 200));
    let outcomes = run_typed(&campaign).await;
    let recovered = outcomes
        .iter()
        .filter_map(|outcome| outcome.verdict.as_ref().ok())
        .filter(|verdict| verdict.passed && verdict.flags.contains(&Flag::Class(OrderClass::ActError)))
        .count();
    assert!(recovered > 0);
}

#[tokio::test]
async fn text_it_cannot_read_is_answered_in_words() {
    for text in ["", "Please sort my mail.", "\n\n\n", "Alpha precedes beta."] {
        let request = ChatRequest {
            messages: vec![Message::User { text: text.into() }],
            tools: vec![Tool::without_arguments("mail_sorting", "Sorts mail.")].into(),
            settings: Settings::default(),
            previous: None,
        };
        let reply =
            SimModel::new(SimKind::Careless).chat(&request).await.expect("a simulation always answers");
        assert!(reply.calls.is_empty());
        assert!(reply.text.contains("no tasks"), "{}", reply.text);
    }
}

#[tokio::test]
async fn the_text_alone_decides() {
    // Without the quoted task in the description, the tool's name has to do.
    let text = "Intro.\n\nmail_sorting follows tea_making.\n\nOutro.";
    let request = ChatRequest {
        messages: vec![Message::User { text: text.into() }],
        tools: ["mail_sorting", "tea_making"].map(|name| Tool::without_arguments(name, "")).to_vec().into(),
        settings: Settings::default(),
        previous: None,
    };
    let reply = SimModel::new(SimKind::Perfect).chat(&request).await.expect("a simulation always answers");
    assert_eq!(reply.calls[0].name, "tea_making");
}

/// Where messages change what was said, who forgets that fails in this class and nothing else, and whoever forgets
/// nothing passes.
#[tokio::test]
#[ignore = "slow"]
async fn each_kind_takes_part_in_a_conversation() {
    for (kind, number, expected) in [
        (SimKind::Perfect, 1000, vec![]),
        (SimKind::Parallel, 200, vec![]),
        (SimKind::ForgetsCorrections, 200, vec![OrderClass::MissedCorrection]),
        (SimKind::Forgetful, 200, vec![OrderClass::ActionLost]),
        (SimKind::Endless, 20, vec![OrderClass::Timeout]),
    ] {
        let turns = Some(MessageRange { min: 2, max: 3 });
        let options =
            SynthesisOptions { actions_max: 7, distractors: 2, turns, ..SynthesisOptions::default() };
        let campaign = campaign(Arc::new(SimModel::new(kind)), cases(options, number));
        let mut classes = BTreeMap::new();
        for outcome in run_typed(&campaign).await {
            if let Some(class) = outcome.verdict.expect("every run is scored").class {
                *classes.entry(class).or_insert(0) += 1;
            }
        }
        assert_eq!(classes.keys().copied().collect::<Vec<_>>(), expected, "{kind:?}: {classes:?}");
    }
}
