//! Orders and flows of a topic, read as rules: their automata and the oracle agree on every run.

use std::collections::BTreeSet;
use std::sync::Arc;

use planproof_spec::rules::{RuleSet, session_of};
use planproof_synth::{
    Draw, JudgeOptions, PlanningCase, SynthesisOptions, Synthesizer, TopicBank, Wordings, judge,
};
use planproof_trace::notation;
use serde_json::{Map, Value, json};

const TOPICS: &str = include_str!("../../../../examples/own-tools/release.json");

fn cases(count: u64) -> Vec<PlanningCase> {
    let bank = TopicBank::from_json(TOPICS).expect("the topics are good");
    let options = SynthesisOptions { actions_min: 3, actions_max: 6, ..SynthesisOptions::default() };
    let synthesizer =
        Synthesizer::new(options, Wordings::shipped(), &bank).expect("the options are in range");
    let case = |index| synthesizer.case(7, index, &mut Default::default(), &mut ());
    (0..count).map(|index| case(index).expect("there is room for a case")).collect()
}

/// A run that makes the calls of a case in a random order, with values that are right or made up.
fn random_run(case: &PlanningCase, draw: &mut Draw) -> String {
    let mut order: Vec<usize> = (0..case.actions.len()).collect();
    match case.problem().order().ok().filter(|_| draw.chance(1, 3)) {
        Some(right) => order = right.first_sequence().iter().map(|variable| variable.index()).collect(),
        None => draw.shuffle(&mut order),
    }
    let mut line = String::new();
    for action in order {
        let tool = &case.actions[action].tool;
        let taken = case.flow_arguments(tool).map(|(argument, value)| {
            let value = if draw.chance(1, 5) { json!("made up") } else { value.clone() };
            (argument.to_owned(), value)
        });
        let arguments = Value::Object(taken.collect::<Map<String, Value>>());
        line.push_str(&format!("call {tool} {arguments} | ok {} | ", json!(case.mock_answer(tool))));
    }
    line.push_str("answer \"done\"");
    line
}

/// The words of the rules that a run violates, by the automata.
fn violated_by_rules(case: &PlanningCase, rules: &Arc<RuleSet>, run: &str) -> BTreeSet<String> {
    let events = notation::parse(run).expect("the notation is right");
    let ends = rules.hold(&session_of(&events)).expect("there are few values");
    let stated: BTreeSet<String> =
        case.rules().filter_map(|stated| stated.rule_words(&case.actions)).collect();
    let violated = rules.rules().iter().zip(ends).filter(|(_, end)| !end.verdict.is_held_at_end());
    // A rule binds the cases that ask for both of its tasks.
    violated.filter_map(|(rule, _)| rule.why.clone()).filter(|words| stated.contains(words)).collect()
}

/// The same by the oracle.
fn violated_by_oracle(case: &PlanningCase, run: &str) -> BTreeSet<String> {
    let events = notation::parse(run).expect("the notation is right");
    let verdict = judge(case, &events, JudgeOptions::default()).expect("the run is scored");
    let ids = verdict.violated.iter().map(|it| &it.id).chain(verdict.wrong_values.iter().map(|it| &it.id));
    let ids: Vec<_> = ids.collect();
    let broken = case.rules().filter(|stated| ids.contains(&&stated.id));
    broken.filter_map(|stated| stated.rule_words(&case.actions)).collect()
}

#[test]
fn automata_and_oracle_agree_on_orders_and_flows() {
    let rules = Arc::new(RuleSet::read(TOPICS).expect("the topics are rules"));
    let forgetful = TOPICS.replace(r#""never_after""#, r#""never_before""#);
    let forgetful = Arc::new(RuleSet::read(&forgetful).expect("the topics are rules"));
    let draw = &mut Draw::new(11, 0, "rules of topics");
    let (mut broken, mut caught) = (BTreeSet::new(), 0);
    for case in cases(40) {
        for _ in 0..25 {
            let run = random_run(&case, draw);
            let by_oracle = violated_by_oracle(&case, &run);
            assert_eq!(violated_by_rules(&case, &rules, &run), by_oracle, "{run}");
            caught += usize::from(violated_by_rules(&case, &forgetful, &run) != by_oracle);
            broken.extend(by_oracle);
        }
    }
    assert_eq!(broken.len(), rules.rules().len(), "every rule was broken: {broken:?}");
    assert!(caught > 50, "rules the other way round are noticed");
}
