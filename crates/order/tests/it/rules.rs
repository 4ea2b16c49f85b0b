//! Orders and flows that a topic states, in campaigns and in words.

use std::sync::Arc;

use planproof_sim::{SimKind, SimModel};
use planproof_suite::{Case as _, CheckState, Suite as _};
use planproof_synth::{
    InfeasibleShare, JudgeOptions, OrderClass, PlanningCase, SynthesisOptions, Synthesizer, TimeOptions,
    TopicBank, Wordings,
};
use planproof_trace::notation;

use crate::{campaign, run_typed, wrap, wrapped};

fn cases(options: SynthesisOptions, count: u64) -> Arc<[PlanningCase]> {
    let bank = TopicBank::from_json(include_str!("../../../../examples/own-tools/release.json"))
        .expect("the topics are good");
    let options = SynthesisOptions { actions_min: 4, actions_max: 6, ..options };
    let synthesizer =
        Synthesizer::new(options, Wordings::shipped(), &bank).expect("the options are in range");
    (0..count)
        .map(|index| synthesizer.case(3, index, &mut Default::default(), &mut ()).expect("there is room"))
        .collect()
}

#[tokio::test]
async fn who_reads_the_rules_passes() {
    let time = Some(TimeOptions::default());
    for options in [
        SynthesisOptions::default(),
        SynthesisOptions { time, ..SynthesisOptions::default() },
        SynthesisOptions { infeasible: InfeasibleShare::new(0.5), ..SynthesisOptions::default() },
    ] {
        let cases = cases(options, 40);
        for kind in [SimKind::Perfect, SimKind::Parallel] {
            let outcomes = run_typed(&campaign(Arc::new(SimModel::new(kind)), &*cases)).await;
            for outcome in &outcomes {
                let verdict = outcome.verdict.as_ref().expect("nothing outside fails");
                let is_guess = kind == SimKind::Parallel && verdict.class == Some(OrderClass::WrongValue);
                assert!(verdict.passed || is_guess, "{kind:?}: {verdict:?}");
            }
        }
    }
}

/// A careless model makes values up; a guard keeps those from being executed.
#[tokio::test]
async fn who_makes_values_up_is_found_out_and_kept_from_it() {
    let cases = cases(SynthesisOptions::default(), 60);
    let mut bare = campaign(Arc::new(SimModel::new(SimKind::Careless)), &*cases);
    let count = |outcomes: &[planproof_order::OrderOutcome]| {
        let verdicts = outcomes.iter().filter_map(|outcome| outcome.verdict.as_ref().ok());
        verdicts.filter(|verdict| !verdict.wrong_values.is_empty()).count()
    };
    assert!(count(&run_typed(&bare).await) > 0);
    bare.agent.guarded = true;
    assert_eq!(count(&run_typed(&bare).await), 0);
}

#[test]
fn a_wrong_value_has_words_of_its_own() {
    let cases = cases(SynthesisOptions::default(), 40);
    let case = cases.iter().find(|case| case.flow_arguments("close_incident").count() == 2);
    let case = case.expect("some case has both flows");
    let order = case.problem().order().expect("the case is feasible").first_sequence();
    let line: String = order
        .iter()
        .map(|variable| {
            let tool = &case.actions[variable.index()].tool;
            let arguments = if tool == "close_incident" { r#"{"number":5}"# } else { "{}" };
            format!("call {tool} {arguments} | ok \"d\" | ")
        })
        .collect();
    let events = notation::parse(&(line + "answer \"\"")).expect("the notation is right");
    let wrapped = &wrapped(std::slice::from_ref(case))[0];
    let verdict = wrapped.judge(&events).expect("the run is scored");
    assert_eq!(verdict.class().map(planproof_suite::Class::as_str), Some("wrong_value"));
    let said = wrapped.explain(&verdict);
    let values: Vec<String> =
        case.flow_arguments("close_incident").map(|(_, value)| value.to_string()).collect();
    let mut expected = vec![
        format!("incident closing passed no session_id, expected {}, which login returned", values[0]),
        format!("incident closing passed number 5, expected {}, which incident lookup returned", values[1]),
    ];
    if case.flow_arguments("create_branch").count() == 1 {
        expected.insert(
            0,
            format!("branch creation passed no session_id, expected {}, which login returned", values[0]),
        );
    }
    let passed = said.facts.iter().filter(|fact| fact.label == "passed");
    assert_eq!(passed.map(|fact| fact.content.to_text()).collect::<Vec<_>>(), expected);
    assert!(said.gist.starts_with(&expected[0]), "{}", said.gist);
    let flow = said
        .checks
        .iter()
        .find(|check| check.sources == ["rule: incident closing takes its number from incident lookup"]);
    assert_eq!(flow.map(|check| check.state), Some(CheckState::Violated));
    let marked = |mark: &planproof_suite::Mark| -> String {
        said.text.chars().skip(mark.start as usize).take((mark.end - mark.start) as usize).collect()
    };
    let marked: Vec<String> = said.marks.iter().map(marked).collect();
    assert!(
        marked.contains(&"incident closing takes its number from incident lookup".to_owned()),
        "{marked:?}"
    );
    let wrong = said.facts.iter().find(|fact| fact.label == "first wrong call").expect("a call is wrong");
    assert!(!wrong.content.to_text().contains("expected"));
    // The class is listed where it can occur alone.
    let suite = planproof_order::OrderSuite::new(JudgeOptions::default());
    let can_occur = |case: &Arc<planproof_order::OrderCase>| {
        let class = suite.classes().iter().find(|it| it.name == "wrong_value").expect("it is a class");
        let class = planproof_suite::Class::find(suite.classes(), class.name).expect("it is a class");
        suite.can_occur(class, &mut [case.card()].into_iter())
    };
    assert!(can_occur(wrapped));
    assert!(!can_occur(&wrap(include_str!("../../../synth/testdata/chain_case.json"))));
}
