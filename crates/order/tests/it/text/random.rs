//! Specifications of users: whatever the order of sections, a perfect model keeps to it.

use std::sync::Arc;

use planproof_sim::SimKind;
use planproof_spec::{Automaton, Compat, MonitorOutcome, load};
use planproof_synth::SynthesisOptions;
use proptest::strategy::{Just, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use proptest::{prop_oneof, sample};

use super::harness::{How, Way, compiled, run};
use crate::cases;

/// Specifications that are run.
const SPECS: usize = 150;

/// Sets of marks, some hard to tell apart: thought, label, tool, arguments, result, note, answer.
const MARKS: [[&str; 7]; 3] = [
    ["[Thought]", "[Label]", "[Action]", "[Action Input]", "[Observation]", "[Note]", "[Answer]"],
    ["Think:", "Name:", "Act", "Act with", "Saw:", "Think: again", "So:"],
    ["<t>", "<l>", "<\u{e4}>", "<\u{e4}\u{e4}>", "<r>", "<n>", "<a>"],
];

fn any_formula() -> impl Strategy<Value = String> {
    let call = Just("(next Act Inp)".to_owned());
    let seen = Just("(next Act Inp Obs)".to_owned());
    let named = Just("(next Lbl Act Inp)".to_owned());
    let leaf = prop_oneof![
        3 => sample::select(&["Tht", "Note", "Ans"][..]).prop_map(str::to_owned),
        2 => call,
        2 => seen,
        1 => named,
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        let parts = proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.join(" "));
        let bounds = sample::select(&["", " :min 1", " :max 3", " :min 1 :max 2"][..]);
        let several = proptest::collection::vec(inner.clone(), 2..4).prop_map(|parts| parts.join(" "));
        prop_oneof![
            3 => parts.prop_map(|parts| format!("(next {parts})")),
            2 => several.prop_map(|parts| format!("(or {parts})")),
            3 => (inner.clone(), inner.clone(), bounds.clone())
                .prop_map(|(body, exit, bounds)| format!("(until {body} {exit}{bounds})")),
            1 => (inner, bounds).prop_map(|(body, bounds)| format!("(always {body}{bounds})")),
        ]
    })
}

fn specification(marks: &[&str; 7], formula: &str) -> Option<Arc<Automaton>> {
    let [thought, label, tool, arguments, result, note, answer] = marks;
    let text = format!(
        "(define any (:states (Ques (:text \"[Question]\")) (Tht (:text \"{thought}\")) \
         (Lbl (:text \"{label}\") (:content label (matches \"#E[0-9]+\"))) (Act (:text \"{tool}\") (:content tool)) \
         (Inp (:text \"{arguments}\") (:content arguments)) \
         (Obs (:text \"{result}\") (:flags :env-input) (:handler run-calls)) \
         (Note (:text \"{note}\")) (Ans (:text \"{answer}\"))) (:behavior (next Ques {formula} Ans)))"
    );
    load(&text, Compat::Ours).ok().map(|loaded| loaded.automaton)
}

#[tokio::test]
async fn a_perfect_model_keeps_to_any_order() {
    let cases = cases(SynthesisOptions { actions_max: 4, ..SynthesisOptions::default() }, 10);
    let mut runner = TestRunner::deterministic();
    let (mut run_specs, mut passed) = (0, 0);
    while run_specs < SPECS {
        let formula = any_formula().new_tree(&mut runner).expect("a formula").current();
        let Some(automaton) = specification(&MARKS[run_specs % MARKS.len()], &formula) else { continue };
        run_specs += 1;
        let case = &cases[run_specs % cases.len()];
        for (way, output_tokens_max) in [(Way::Text, None), (Way::PartialTurn, Some(3)), (Way::Chat, None)] {
            let how = How { way, output_tokens_max, ..How::PLAIN };
            let run = run(case, SimKind::Perfect, &automaton, how).await;
            assert_eq!(
                (&run.outcome, run.corrections),
                (&MonitorOutcome::Finished, 0),
                "{formula}, {how:?}: {}",
                run.text
            );
            passed += usize::from(run.verdict.passed);
        }
    }
    // Where the order lets it make its calls, it does.
    assert!(passed > SPECS / 4, "{passed} passed");
}

/// An order from which the tools do not follow makes no run longer than it has to be.
#[tokio::test]
async fn orders_that_need_calls_get_them() {
    let case = &cases(SynthesisOptions::default(), 1)[0];
    let automaton = specification(&MARKS[0], "(until (next Act Inp Obs) Tht :min 30 :max 40)")
        .expect("it is without a fault");
    let run = run(case, SimKind::Perfect, &automaton, How::PLAIN).await;
    assert_eq!((run.outcome, run.calls.len()), (MonitorOutcome::Finished, 30));
    assert_eq!(compiled("react").spec().states.len(), 7);
}
